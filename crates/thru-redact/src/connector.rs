//! Names and values with more between them than a sign: tables, markup, commands that set variables, sentences.
//!
//! Everything is matched from the end of a name, within a fixed number of bytes, so it is linear on any input.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::{memchr, memmem};

use crate::checks::{has_irregular_case, is_uuid};
use crate::made::{self, Made};
use crate::names::{Kind, Telling, is_constant_name};
use crate::pattern::{Group, Pattern, Set};
use crate::shown;
use crate::value::{self, Manner};

/// The most bytes after a name that are read.
const AFTER: usize = 400;
/// The most bytes before a name that are read.
const BEFORE: usize = 160;

/// The fewest bytes of a name that is looked at here: `pass` and `auth` are words of everyday.
const SHORTEST: usize = 5;

/// A way in which a value follows its name.
struct Connector {
    /// From the end of the name on; its group `v` is the value.
    pattern: Pattern,
    manner: Manner,
    /// What must stand before the name.
    before: Option<Pattern>,
}

const fn connector(manner: Manner, pattern: &'static str) -> Connector {
    Connector { pattern: Pattern::at_start(pattern), manner, before: None }
}

const fn behind(manner: Manner, pattern: &'static str, before: &'static str) -> Connector {
    let before = Some(Pattern::anywhere(before));
    Connector { pattern: Pattern::at_start(pattern), manner, before }
}

static CONNECTORS: [Connector; 57] = [
    // <b>NAME:</b> value<br>
    connector(
        Manner::Quoted,
        r#"[ \t]*[:=]?[ \t]*(?:</?[a-z]{1,8}>[ \t]*){1,3}(?P<v>[^<>\s]{6,})[ \t]*<"#,
    ),
    // | `NAME` | `value` |
    connector(
        Manner::Plain,
        r#"[`*_]{0,3}[ \t]*\|[ \t]*[`*"']{0,3}(?P<v>[^\s`|"']{6,})[`*"']{0,3}[ \t]*\|"#,
    ),
    // NAME | value, as psql shows a row
    behind(
        Manner::Setting,
        r"[ \t]*\|[ \t]*(?P<v>[^\s|]{6,})[ \t]*(?:[\r\n]|\z)",
        r"(?:^|\n)[ \t>+]{0,8}$",
    ),
    // │ NAME │ value │
    connector(Manner::Plain, "[ \\t]*(?u:[│┃])[ \\t]*(?P<v>(?u:[^\\s│┃|]){6,})[ \\t]*(?u:[│┃])"),
    // **NAME**: `value`
    connector(Manner::Plain, r#"["'`]?(?:\*\*|__)[ \t]*[:=][ \t]*[`"']?(?P<v>[^\s`"']{6,})"#),
    connector(Manner::Plain, r#"["'`]?[:=](?:\*\*|__)[ \t]*[`"']?(?P<v>[^\s`"']{6,})"#),
    // <add key="NAME" value="value"/>
    connector(
        Manner::Quoted,
        r#"\\{0,3}["'](?:\s{1,8}[A-Za-z:_-]{1,30}\s?=\s?["'][^"<>]{0,60}["']){0,3}\s{1,8}value\s?=\s?\\{0,3}["'](?P<v>[^"'<>\\]{4,})\\{0,3}["']"#,
    ),
    // <string name="NAME">value</string>, <key>NAME</key><string>value</string>
    connector(Manner::Quoted, r#"\\{0,3}["'][^<>]{0,60}>(?P<v>[^<>\n]{4,128})</"#),
    connector(
        Manner::Quoted,
        r"</[A-Za-z]{1,10}>[\s+>|0-9]{0,40}<[A-Za-z]{1,10}(?: [^<>]{0,60})?>(?P<v>[^<>\n]{4,128})</",
    ),
    // <a:NAME Type="x">value</a:NAME>
    connector(Manner::Quoted, r"[ \t][^<>]{1,80}>(?P<v>[^<>\s]{4,})</"),
    // setNAME("value")
    connector(Manner::Call, r#"\(\s?\\{0,3}["'](?P<v>[^\s"'\\]{4,})\\{0,3}["']\s?\)"#),
    // variable "NAME" { default = "value" }
    connector(
        Manner::Quoted,
        r#"\\{0,3}["']?\s{0,8}(?:[:=]|=>)?\s{0,8}\{[^{}]{0,240}?\b(?:default|value)\\{0,3}["']?\s{0,8}[:=]\s{0,8}\\{0,3}["'](?P<v>[^"'\n\\]{4,})\\{0,3}["']"#,
    ),
    // string NAME { get; set; } = "value"
    connector(Manner::Quoted, r#"\s{0,4}\{\s?get;[^}]{0,30}\}\s?=\s?@?"(?P<v>[^"\n]{4,})""#),
    // name: NAME, and the value on the next line
    connector(
        Manner::Quoted,
        r#"["']?[,:]?[ \t]*\r?\n(?:[ \t]*["']?\w{1,24}["']?[ \t]?[:=][^\n]{0,80}\n){0,3}[ \t+>|0-9]{0,40}(?:- )?["']?[Vv]alue["']?[ \t]?[:=][ \t]*["']?(?P<v>[^\s"']{4,})"#,
    ),
    // NAME: |, and the value on the next line
    connector(
        Manner::Setting,
        r#"["']?[ \t]?:[ \t]*[|>][+-]?[ \t]*\r?\n(?:[ \t]{0,8}[0-9]{1,6}(?:(?u:[ \t|→])|: ))?[ \t+>|]{0,16}(?P<v>\S{4,})[ \t]*(?:\n|\z)"#,
    ),
    // "NAME":, and the value in quotation marks on the next line; the lines may be numbered
    connector(
        Manner::Quoted,
        r#"["']?[ \t]*:[ \t]*\r?\n[ \t+>|0-9]{0,24}["'](?P<v>[^"'\n\\]{4,})["']"#,
    ),
    // NAME = """value"""
    connector(
        Manner::Quoted,
        r#"[ \t]*=[ \t]*(?:"""|''')(?:\r?\n[ \t+>|0-9]{0,24})?(?P<v>[^\s"']{4,})"#,
    ),
    // NAME: [-old-]{+value+}
    connector(Manner::Plain, r"[ \t]*[:=][ \t]*(?:\[-[^\]\n]{0,80}-\])?\{\+(?P<v>[^\s+}]{4,})\+\}"),
    // fill("NAME").with("value"), 'NAME', with: 'value', "NAME" with "value"
    connector(
        Manner::Quoted,
        r#"[\\"'\]/i)}]{1,6}(?:,? with:?|\.value ?=|\.(?:type|fill|send_?[kK]eys|setValue|set|input|enterText|typeText|val)\(|,)[ ]?\\{0,3}["'](?P<v>[^"'\n\\]{4,})\\{0,3}["']"#,
    ),
    // <NAME><Value>value</Value>, <NAME><![CDATA[value]]>
    connector(
        Manner::Quoted,
        r">\s{0,8}(?:<[Vv]alue>|<!\[CDATA\[)(?P<v>[^<>\s\]]{4,})(?:</|\]\]>)",
    ),
    // ["NAME"]=> string(7) "value" of PHP
    connector(Manner::Quoted, r#"["']\] ?=>[\s+>|0-9]{0,24}string\(\d{1,4}\) "(?P<v>[^"\n]{4,})""#),
    // "NAME": {"S": "value"} of DynamoDB
    connector(
        Manner::Quoted,
        r#"\\{0,3}["'] ?: ?\{ ?\\{0,3}["']S\\{0,3}["'] ?: ?\\{0,3}["'](?P<v>[^"'\n\\]{4,})"#,
    ),
    // 3) "NAME" and 4) "value" of Redis
    connector(
        Manner::Quoted,
        r#"\\{0,3}"(?:\r?\n[ \t+>|]{0,8}|\\{1,3}n)\d{1,4}\) \\{0,3}"(?P<v>[^"\n\\]{4,})"#,
    ),
    // {NAME, "value"} in Erlang, (NAME . "value") in Lisp
    behind(Manner::Quoted, r#"[ ]?[,.] ?(?:<<)?\\{0,3}"(?P<v>[^"\n\\]{4,})\\{0,3}""#, r"[{(][ ]?$"),
    // Const NAME As String = "value"
    connector(
        Manner::Quoted,
        r#"(?i)[ \t]+(?:as[ \t]+)?string[ \t]*=[ \t]*\\{0,3}["'](?P<v>[^"'\n\\]{4,})\\{0,3}["']"#,
    ),
    // name="NAME", an empty line, and the value in a form of several parts
    connector(
        Manner::Plain,
        r#""\r?\n[ \t+>|0-9]{0,24}\r?\n(?:[ \t]{0,8}[0-9]{1,6}(?:(?u:[\t|→])|: ))?[ \t+>|]{0,16}(?P<v>\S{4,})"#,
    ),
    // NAME and VALUE in two columns
    behind(
        Manner::Plain,
        r"(?:[ \t]{2,24}|\t)(?P<v>\S{6,})[ \t]*(?:[\r\n\\]|\z)",
        r"(?:(?:^|\n)[ \t+>0-9]{0,24}|(?:id|name|css|xpath)[:=])$",
    ),
    // Input NAME  place  value
    behind(
        Manner::Plain,
        r"[ \t]{2,8}\S{1,60}[ \t]{2,8}(?P<v>\S{6,})[ \t]*(?:[\r\n\\]|\z)",
        r"(?i)\b(?:input|type|enter|fill)\b[^\n]{0,20}$",
    ),
    // NAME是value, NAMEは value
    connector(
        Manner::Plain,
        "[\"'`]{0,2}[ \\t]?(?:的值|の値|값)?(?:是|为|為|は|：|를|는|은|이)[ \\t]?(?u:[\"'`「“]){0,2}(?P<v>[!-~]{6,})",
    ),
    // NAME and VALUE with a word or two between them, in any language
    connector(
        Manner::Constant,
        r#"[ \t]+(?:[^\s:=]{1,16}[ \t]+){0,2}["'`]?(?P<v>[A-Za-z0-9_./+=-]{20,})["'`]?(?:[\s.,;)]|\z)"#,
    ),
    // printf 'NAME=%s' 'value'
    connector(Manner::Quoted, r#"=%s(?:\\{1,2}n)?["'] ["'](?P<v>[^"'\n\\]{4,})["']"#),
    // <NAME value="value"/>
    behind(Manner::Quoted, r#"[ \t]+value ?= ?\\{0,3}["'](?P<v>[^"'<>\\]{4,})\\{0,3}["']"#, "<$"),
    // NAME value, alone on a line of settings
    behind(
        Manner::Plain,
        r"[ \t]+(?P<v>[^\s]{6,})[ \t]*(?:[\r\n]|\z)",
        r"(?:^|\n)[ \t>|+-]{0,16}$",
    ),
    // set system login user name NAME value: settings of devices of a network
    behind(
        Manner::Plain,
        r#"[ \t]+(?:\d )?["']?(?P<v>[^\s"']{6,})"#,
        r"(?:^|\n|[#>$+-] ?)(?:set (?:system|interfaces|vpn|service|security|protocols|access|firewall|snmp|wireless)|username|user|neighbor|aaa|ntp|crypto|enable|ppp)[ \t](?:[\w./:-]{1,40}[ \t]){0,12}$",
    ),
    // process.env.NAME || "value", ${NAME:-value}
    connector(
        Manner::Quoted,
        r#"["']?[\])]{0,2}[ \t]*(?:\|\||\?\?|\bor\b)[ \t]*["'`](?P<v>[^"'`\n]{4,})["'`]"#,
    ),
    // NAME = process.env.OTHER || "value"
    connector(
        Manner::Quoted,
        r#"["']?[ \t]*[:=][ \t]*[^\s"'`;|]{1,60}[ \t]*(?:\|\||\?\?|\?:|\bor\b)[ \t]*\\{0,3}["'`](?P<v>[^"'`\n\\]{4,})\\{0,3}["'`]"#,
    ),
    // var("NAME").unwrap_or("value"), fetch('NAME') { 'value' }
    connector(
        Manner::Quoted,
        r#"\\{0,3}["'][\])]{0,2}(?:\.(?:unwrap_or(?:_else)?|or_?[eE]lse|get_?[oO]r_?[eE]lse|default(?:_?[vV]alue)?)\(| ?\{ ?)(?:\|_?\| ?|\(\) ?-> ?)?\\{0,3}["'](?P<v>[^"'\n\\]{4,})\\{0,3}["']"#,
    ),
    // def NAME(): return "value"
    connector(
        Manner::Quoted,
        r#"\([^()"'\n]{0,60}\)[^"'\n{};:]{0,40}[{:]?[\s+>|*0-9]{0,40}return\s{1,4}\\{0,3}["'](?P<v>[^"'\n\\]{4,})\\{0,3}["']"#,
    ),
    // "NAME";s:7:"value" of PHP
    connector(Manner::Quoted, r#"\\{0,3}";s:\d{1,4}:\\{0,3}"(?P<v>[^"\n\\]{4,})"#),
    // NAMEs = ["user", "value"]
    connector(
        Manner::Quoted,
        r#"["']?[ \t]{0,4}[:=][ \t]{0,4}[\[({][ \t]{0,4}\\{0,3}["'][^"'\n\\]{1,64}\\{0,3}["'],[ \t]{0,4}\\{0,3}["'](?P<v>[^"'\n\\]{6,})\\{0,3}["']"#,
    ),
    connector(Manner::Plain, r#":-["']?(?P<v>[^\s"'`{}$]{4,})["']?\}"#),
    // "NAME", "\"value\""
    connector(Manner::Quoted, r#"["'][ \t]*,[ \t]*"\\{1,3}"(?P<v>[^"\\]{4,})\\{1,3}""#),
    // NAME=word word …
    connector(
        Manner::Quoted,
        r#"\\{0,3}["']?[ \t]*(?:[:=]|=>|>)?[ \t]*\\{0,3}["'`]?(?P<v>(?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b"#,
    ),
    // passphrase: word word word word
    connector(
        Manner::Quoted,
        r"[ \t]*[:=][ \t]*(?P<v>(?:[a-z]{4,9} ){3,7}[a-z]{4,9})[ \t]*(?:[\r\n]|\z)",
    ),
    // user NAME and password value
    behind(
        Manner::Plain,
        r"[ \t]+(?P<v>\S{6,})",
        r"(?i)\b(?:user(?:name)?|login|log(?:ged)? in with|account|admin)[ \t]+\S{1,64}[ \t]*(?:and|with|,|/)[ \t]*(?:the |a )?$",
    ),
    // (NAME value)
    behind(Manner::Plain, r"[ \t]+(?P<v>[^\s()]{6,})\)", r"\($"),
    // set NAME value, alone on a line
    behind(
        Manner::Setting,
        r#"[ \t]+["']?(?P<v>[^\s"']{6,})["']?[ \t]*(?:[\r\n]|\z)"#,
        r"(?:^|\n)[ \t>|+-]{0,16}set[ \t]+$",
    ),
    // NAME alone on a line, and value alone on the next one
    behind(
        Manner::Plain,
        r"[ \t:*_`]{0,4}\r?\n[ \t>|+*`]{0,8}(?P<v>[^\s`\\]{6,})[`*]{0,2}[ \t]*(?:[\r\n]|\z)",
        r"(?:^|\n)[ \t>|+*_#-]{0,16}$",
    ),
    // key: NAME, value: VALUE
    behind(
        Manner::Plain,
        r#"[ \t]*,[ \t]*[Vv]alue[ \t]*[:=][ \t]*["']?(?P<v>[^\s,}"']{6,})"#,
        r"(?i)(?:name|key)[ \t]*[:=][ \t]*$",
    ),
    // NAME by lazy { "value" }
    connector(Manner::Quoted, r#"[ \t]+by lazy ?\{\s{0,8}\\{0,3}"(?P<v>[^"\n\\]{4,})"#),
    // NAME --value 'value'
    connector(
        Manner::Quoted,
        r#"["']?(?:[ \t]+--?[a-z-]{1,20}[= ]\S{1,40}){0,2}[ \t]+--value[ =]["']?(?P<v>[^\s"']{4,})"#,
    ),
    // ENV NAME value
    behind(
        Manner::Plain,
        r#"["']?[ \t]+(?:(?:-b|--body|-v|--value)[ =])?["']?(?P<v>[^\s"']{4,})"#,
        r#"(?i)(?:^|[\s;&|"'`\[>(:+-])(?:ENV|ARG|setenv|setx|set(?:[ \t]+-[a-z]+)+|(?:secrets?|config|configure|env|variable)[ \t]+(?:set|put|add|create)(?:[ \t]+--?[a-z-]+)*)[ \t]+["']?$"#,
    ),
    // A command that sets what it names: git config user.NAME value
    behind(
        Manner::Plain,
        r#"["']?[ \t]+(?:--?[a-z-]{1,16}[= ])?["']?(?P<v>[^\s"']{4,})"#,
        r#"(?i)(?:^|[\s;&|"'`\[>(:+$-])(?:git|consul|crudini|composer|rclone|gh|glab|vault|heroku|flyctl|fly|vercel|netlify|npm|yarn|pnpm|poetry|bundle|dotnet|pulumi|firebase|wrangler|supabase|wp|etcdctl|snap|defaults|uci|dconf|occ|openstack|kubectl)[ \t][^\n|;&]{0,60}\b(?:set|put|config|create|add|write)\b[^\n|;&]{0,100}[\s/.:]$"#,
    ),
    // requirepass value
    behind(Manner::Directive, r"[ \t]+(?P<v>[^\s]{4,})", r"(?:^|[^\w-])$"),
    // use the NAME value
    behind(
        Manner::Plain,
        r#"[ \t]+["'`]?(?P<v>[A-Za-z0-9_./+=-]{20,})["'`]?(?:[\s.,;)]|\z)"#,
        r"(?i)\b(?:use|using|with|try|set|is)[ \t]+(?:(?:the|this|my|our|a)[ \t]+)?(?:\w{1,20}[ \t]+)?$",
    ),
    // machine NAME login NAME password value
    behind(
        Manner::Argument,
        r"[ \t]+(?P<v>[^\s]{4,})",
        r"(?i)(?:(?:machine|login|account|user|port|default)[ \t]+\S{1,80}\s+|^\s*|\n[ \t]*(?:auth_pass |sentinel auth-pass \S+ )?)$",
    ),
    // NAME,value
    behind(
        Manner::Plain,
        r#"["']?,["']?(?P<v>[^\s,"']{6,})["']?(?:,|\r?\n|\z)"#,
        r#"(?:^|\n)["']?$"#,
    ),
];

/// A sentence that tells a value.
static SAID: Pattern = Pattern::at_start(
    r#"["'`)*]{0,3}(?:[ \t]+\([^()\n]{1,40}\))?(?:[ \t]+(?:for|of|on|in|to|from|at|with|you|we|i|he|she|they|wurde|für|von|del|della|de|di|do|da|du|per|para)[ \t]+[^\n.:;,"'`]{1,40}?)?(?P<sign>[ \t]*(?:(?u:[:=→])|=>)[ \t]|[ \t]+(?:(?u:[-–—])[ \t]|->[ \t]|(?:(?:has|have|had)[ \t]+been|got)[ \t]+(?:set|changed|reset|updated|rotated)[ \t]+(?:to|from)[ \t]*:?[ \t]|(?:changed|reset|updated|rotated|switched)[ \t]+(?:to|from)[ \t]*:?[ \t]|(?:is|was|are|ends up being|becomes|ist|heißt|lautet|est|es|è|é|to|auf)(?:[ \t]+(?:now|(?:re)?set to|changed (?:to|from)|still|just|currently))?[ \t]*:?[ \t]))[ \t]{0,8}(?P<mark>(?u:["'`\u{201c}*]){0,2})(?P<v>(?u:[^\s"'`\u{201c}\u{201d}]){4,})"#,
);
/// A value alone on the line below a sentence that announces it.
static ANNOUNCED: Pattern = Pattern::at_start(
    r#"(?:[^\n:]{0,60}:[ \t]*(?:\r?\n[ \t>|+*]{0,8}){1,3}|[ \t](?:is|was) (?:generated|created|set|reset)[^\n:]{0,40}: )(?P<v>[^\s"'\\]{8,})[ \t]*(?:\r?\n|\z)"#,
);
/// A value in brackets behind its name.
static BRACKETED: Pattern = Pattern::at_start(r#"[ \t]+\([`"']?(?P<v>[^\s()"'`]{6,})[`"']?\)"#);
/// A value right behind its name, after [`USING`].
static USED: Pattern = Pattern::at_start(r#"[ \t]+["'`]?(?P<v>[^\s"'`]{6,})"#);
/// Words before a name whose value follows at once: `with the password VALUE`.
static USING: Pattern = Pattern::anywhere(
    r"(?i)\b(?:using|with|use|by|and)[ \t]+(?:(?:the|this|that|my|your|our|a)[ \t]+)?$",
);
/// The beginning of a sentence that sets a value.
static SETTING: Pattern = Pattern::anywhere(
    r"(?i)\b(?:set|setting|chang(?:e|ed|ing)|reset|updated?|rotated?|switch(?:ed)?|my|our|use)\b[^.\n]{0,60}$",
);
/// A login with its two halves.
static LOGIN: Pattern = Pattern::at_start(
    r#"s?(?:[ \t]+(?:for|of|on|to)[ \t]+[^\n:;.]{1,40}|[ \t]\([^()\n]{1,40}\))?[ \t]{0,2}(?:(?u:[:=→-])|->)?[ \t]+(?:(?:are|is)[ \t]+)?["'`]?[\w.@+-]{2,40}["'`]?(?:[ \t]{0,2}[/:|][ \t]{0,2}|[ \t](?:and|-)[ \t])["'`]?(?P<v>[^\s"'`]{6,})"#,
);
/// A value behind the name of a constant, with a word or two between them in any language.
static OF_CONSTANT: Pattern = Pattern::at_start(
    r#"["'`]?[ \t]+(?:[^\s:=]{1,16}[ \t]+){0,2}(?u:["'`«「“])?(?P<v>[!#-&(-_a-~]{8,})"#,
);
/// A value before the name of a constant.
static BEFORE_CONSTANT: Pattern = Pattern::anywhere(
    r#"[ \t](?u:["'`«「“])?(?P<v>[!#-&(-_a-~]{8,})(?u:["'`»」”])?[ \t]+(?:[^\s:=,;(]{1,12}[ \t]+){1,4}["'`]?$"#,
);
/// A value before its name.
static AS_NAMED: Pattern = Pattern::anywhere(
    r#"(?:^|[\s("'`])(?P<v>[^\s"'`]{6,})["'`]?[ \t]+(?:(?:(?u:[-–—])[ \t]+)?(?:that|which|this)[ \t]+)?(?P<verb>as|is|for)[ \t]+(?:(?:the|my|a|your|its|their|our)[ \t]+)?(?:\w{1,20}[ \t]+)?["'`]?$"#,
);

/// A value before its name in an object: `"value": "…", "name": "NAME"`.
static LABELLED: Pattern = Pattern::anywhere(
    r#"["']value\\{0,3}["']\s{0,4}:\s{0,4}\\{0,3}["'](?P<v>[^"'\\]{4,})\\{0,3}["'],\s{0,40}\\{0,3}["'](?:name|key)\\{0,3}["']\s{0,4}:\s{0,4}\\{0,3}["']$"#,
);

/// Patterns of sentences, from the end of a name on.
static SENTENCES: [&Pattern; 6] = [&SAID, &BRACKETED, &ANNOUNCED, &USED, &LOGIN, &OF_CONSTANT];

/// All that may follow a name, tried at once.
static BEHIND: LazyLock<Set> = LazyLock::new(|| {
    let connectors = CONNECTORS.iter().map(|connector| &connector.pattern);
    Set::new(&connectors.chain(SENTENCES).map(Pattern::source).collect::<Vec<_>>())
});

/// True if, in text or in raw JSON, a value may be near this name. A fast check that rules out most names.
pub(crate) fn is_possible(bytes: &[u8], name: &Range<usize>) -> bool {
    let after = &bytes[name.end..bytes.len().min(name.end + AFTER)];
    let before = &bytes[name.start.saturating_sub(BEFORE)..name.start];
    (name.len() >= SHORTEST || is_short(bytes, name))
        && (may_follow(&bytes[name.clone()], before, after)
            || may_precede(before)
            || is_constant_name(&bytes[name.clone()]) && last_words(before, 5).any(is_long_value))
}

/// True for a short name that is no word of everyday, or stands where a login is told.
fn is_short(bytes: &[u8], name: &Range<usize>) -> bool {
    let word = &bytes[name.clone()];
    if word.eq_ignore_ascii_case(b"pwd") {
        return true;
    }
    // `<string name="pass">value</string>`, `my pass is value`
    let is_quoted = || {
        [&b"\">"[..], b"\\\">", b"><![CDATA["].iter().any(|end| bytes[name.end..].starts_with(end))
    };
    let before = &bytes[name.start.saturating_sub(8)..name.start];
    let is_owned = || {
        OWNERS.iter().any(|owner| {
            let start = before.len().checked_sub(owner.len());
            start.is_some_and(|start| before[start..].eq_ignore_ascii_case(owner.as_bytes()))
        })
    };
    // `user bob pass VALUE`
    let is_login = || {
        let before = &bytes[name.start.saturating_sub(80)..name.start];
        let mut words = before.rsplit(|byte| *byte <= b' ').filter(|word| !word.is_empty());
        let user = words.nth(1).unwrap_or_default();
        [&b"user"[..], b"username", b"login"].iter().any(|known| user.eq_ignore_ascii_case(known))
    };
    word.eq_ignore_ascii_case(b"pass")
        && (is_quoted() || is_login() || before.ends_with(b" ") && is_owned())
}

/// Words before `pass` that make it a password.
#[rustfmt::skip]
const OWNERS: [&str; 16] = [
    ", ", "the ", "wifi ", "wi-fi ", "wlan ", "admin ", "root ", "db ", "login ", "sudo ", "user ", "server ", "mail ", "vpn ", "ssh ", "my ",
];

/// True if what is behind the name may lead to a value.
fn may_follow(name: &[u8], before: &[u8], after: &[u8]) -> bool {
    let is_decoration =
        |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'*' | b'_' | b')' | b']' | b'}' | b'\\');
    let skipped = after.iter().take(12).take_while(|byte| is_decoration(byte)).count();
    let blanks =
        after[skipped..].iter().take(8).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = &after[skipped + blanks..];
    let near = |within: usize| &rest[..rest.len().min(within)];
    let has = |part: &[u8], within: usize| memmem::find(near(within), part).is_some();
    let begins = |start: &[u8]| {
        name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
    };
    let found = match rest.first() {
        _ if after[..skipped].contains(&b'*') => rest.first() == Some(&b':') || has(b":", 4),
        Some(0xe2..=0xef) => holds_value(near(64)),
        Some(b'|') if rest.get(1) == Some(&b'|') => {
            (has(b"\"", 8) || has(b"'", 8) || has(b"`", 8)) && holds_value(near(64))
        }
        Some(b'|') => {
            let mut cells = near(300)[1..].split(|byte| *byte == b'|');
            cells.next().is_some_and(|cell| !cell.trim_ascii().contains(&b' ') && holds_value(cell))
        }
        Some(b'{') if skipped > 0 && (has(b"'", 6) || has(b"\"", 6)) => true,
        Some(b';') => skipped > 0 && rest.starts_with(b";s:"),
        Some(b'-') => blanks > 0 && holds_value(near(64)),
        Some(b'{') => has(b"default", 260) || has(b"value", 260) || has(b"get;", 32),
        Some(b'<') => rest.get(1) == Some(&b'/'),
        Some(b'?') => true,
        Some(b'(') => holds_value(near(64)) || has(b"return", 120),
        Some(b'>') => has(b"</", AFTER),
        Some(b'/') => has(b",", 8),
        Some(b'.') if skipped > 0 => has(b"(", 16) || has(b"=", 16) || has(b",", 8),
        Some(b'.') => has(b"\"", 6),
        Some(b'w') if skipped > 0 => rest.starts_with(b"with "),
        Some(b'[') => has(b"{+", 100),
        Some(b':')
            if rest.get(1) == Some(&b' ')
                && first_words(&rest[1..], 1)
                    .any(|word| may_be_value(word) || is_made_up(word)) =>
        {
            true
        }
        Some(b'=' | b':') if has(b"{", 4) && has(b"alue", 300) => true,
        Some(b'=' | b':') if SIGNS.iter().any(|sign| has(sign, 48)) => true,
        Some(b'=' | b':')
            if begins(b"cred") && near(4).iter().any(|byte| b"[({".contains(byte)) =>
        {
            true
        }
        Some(b'=') => has(b"\"\"\"", 8) || has(b"'''", 8) || has(b"{+", 100) || has(b"string(", 48),
        Some(b',') => {
            let next = rest.get(1).is_some_and(u8::is_ascii_graphic);
            let is_quoted = has(b"\"", 12) || has(b"'", 12);
            has(b"\"\\", 16) || is_quoted || has(b"alue", 64) || (is_constant_name(name) && next)
        }
        Some(b':') => {
            let value = rest[1..].iter().find(|byte| **byte != b' ');
            value.is_some_and(|byte| match byte {
                b'{' => has(b"{+", 8) || has(b"S", 8),
                b'[' => has(b"[-", 8) && has(b"{+", 100),
                b'\n' | b'\r' => has(b"\"", 40) || has(b"'", 40) || has(b"alue:", 64),
                b'\\' => has(b"\\n", 4) && (has(b"\"", 40) || has(b"'", 40) || has(b"alue:", 64)),
                _ => b"|>*_-<".contains(byte),
            }) && !rest.starts_with(b":-}")
        }
        Some(b'\n' | b'\r' | b'n' | b'r') if skipped + blanks > 0 || rest[0] < b' ' => {
            first_words(rest, 1).any(holds_value)
                || has(b"alue", 64)
                || has(b") ", 16)
                || memmem::find(before, b"name=").is_some()
        }
        Some(b's') if skipped > 0 => true,
        Some(b'a' | b'A' | b's') if blanks > 0 && is_typed(rest) => true,
        _ if (blanks >= 2 || after[skipped..].first() == Some(&b'\t'))
            && first_words(rest, 2).any(holds_value) =>
        {
            true
        }
        Some(_) if skipped > 0 && blanks > 0 && has(b"=", 32) && has(b"</", 200) => true,
        _ if blanks == 0 => skipped > 0 && has(b"alue", AFTER),
        _ => is_verb(rest),
    };
    found
        || (skipped > 0 && has(b"alue=", 200))
        || is_announced(rest)
        || (begins(b"cred") && is_login(rest))
        || [&b"mnemonic"[..], b"passphrase"]
            .iter()
            .any(|end| name.to_ascii_lowercase().ends_with(end))
        || (blanks > 0 && is_constant_name(name) && first_words(rest, 3).any(is_long_value))
        || rest.starts_with(b"=%s")
        || (blanks > 0 && (rest.starts_with(b"value") || rest.starts_with(b"by lazy")))
        || (blanks > 0 && first_words(rest, 3).any(may_be_value) && may_be_argument(name, before))
}

/// True if a colon ends the line, so that a value may stand alone on the next one.
fn is_announced(rest: &[u8]) -> bool {
    let near = &rest[..rest.len().min(64)];
    let Some(colon) = memchr(b':', near) else { return false };
    let line = &near[colon + 1..];
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let blanks = line.iter().take_while(|byte| **byte == b' ').count();
    let ends_line = line.get(blanks).is_some_and(is_end) || line[blanks..].starts_with(br"\n");
    ends_line
        || line.starts_with(b" ")
            && [&b"is "[..], b"was "].iter().any(|verb| rest.starts_with(verb))
}

/// Signs of an expression whose second part is a value.
const SIGNS: [&[u8]; 4] = [b"||", b"??", b"?:", b" or "];

/// True for a type, with a value behind it.
fn is_typed(rest: &[u8]) -> bool {
    [&b"As String"[..], b"as string", b"string ="].iter().any(|start| rest.starts_with(start))
}

/// True if the text holds a digit, a mark of a password or words that are joined by hyphens.
fn holds_value(text: &[u8]) -> bool {
    let is_mark = |byte: &u8| b"!@#$%^&*?+~=;".contains(byte);
    text.iter().any(|byte| byte.is_ascii_digit() || is_mark(byte))
        || text.iter().filter(|byte| matches!(byte, b'-' | b'.')).count() >= 2
}

/// True for a word that is as long as a password, and may be one.
fn is_long_value(word: &[u8]) -> bool {
    word.len() >= 8 && may_be_value(word)
}

/// True if a word may be a value, of letters alone too.
fn may_be_value(word: &[u8]) -> bool {
    holds_value(word) || has_irregular_case(word) || is_made_up(word)
}

/// True for a word that people make up as a password.
fn is_made_up(word: &[u8]) -> bool {
    let word = std::str::from_utf8(word).unwrap_or_default();
    let word = word.trim_end_matches(['.', ',', '"', '\'', '`']);
    made::made(word).is_some_and(|made| made != Made::Word || word.len() >= 12)
}

/// Returns the first words of the text.
fn first_words(text: &[u8], count: usize) -> impl Iterator<Item = &[u8]> {
    let near = &text[..text.len().min(160)];
    near.split(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
        .filter(|word| !word.is_empty())
        .take(count)
}

/// Returns the last words of a text that a blank ends.
fn last_words(text: &[u8], count: usize) -> impl Iterator<Item = &[u8]> {
    let text = text.strip_suffix(b"`").unwrap_or(text);
    let count = if text.last() == Some(&b' ') { count } else { 0 };
    text.rsplit(|byte| matches!(byte, b' ' | b'\n')).filter(|word| !word.is_empty()).take(count)
}

/// True if a user and a value may follow: `: admin / VALUE`.
fn is_login(rest: &[u8]) -> bool {
    let near = &rest[..rest.len().min(64)];
    let is_first = |sign: &u8| matches!(sign, b'/' | b'|');
    let places = [
        near.iter().position(is_first),
        near.iter().rposition(|sign| *sign == b':'),
        memmem::find(near, b" and ").map(|at| at + 4),
    ];
    places.into_iter().flatten().any(|at| first_words(&rest[at + 1..], 1).any(holds_value))
}

/// True if a sentence that tells a value goes on here.
fn is_verb(rest: &[u8]) -> bool {
    let verbs = [
        "is", "was", "are", "ist", "lautet", "est", "es", "è", "é", "to", "or", "auf", "heißt",
        "ends", "becomes", "has", "have", "got", "changed", "reset", "rotated", "updated",
    ]
    .map(str::as_bytes);
    let places = [
        "for", "of", "on", "in", "to", "from", "at", "with", "you", "we", "i", "he", "she", "they",
        "wurde", "für", "von", "del", "della", "de", "di", "do", "da", "du", "per", "para",
    ]
    .map(str::as_bytes);
    let mut words = first_words(rest, 12);
    let Some(first) = words.next() else { return false };
    if verbs.contains(&without_colon(first)) && tells(first_words(rest, 6).skip(1)) {
        return true;
    }
    places.contains(&first)
        && words.by_ref().any(|word| {
            word.ends_with(b":") || verbs.contains(&word) || matches!(word, b"=" | b"=>" | b"->")
        })
        && tells(words)
}

fn without_colon(word: &[u8]) -> &[u8] {
    word.strip_suffix(b":").unwrap_or(word)
}

/// True if a value comes next, but for adverbs.
fn tells<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> bool {
    let adverbs: [&[u8]; 14] = [
        b"now",
        b"set",
        b"to",
        b"still",
        b"just",
        b"currently",
        b"up",
        b"being",
        b"been",
        b"changed",
        b"reset",
        b"updated",
        b"rotated",
        b"from",
    ];
    words.find(|word| !adverbs.contains(&without_colon(word))).is_some_and(may_be_value)
}

/// True if the name may be that of an argument: `ENV NAME`, `login NAME password`.
fn may_be_argument(name: &[u8], before: &[u8]) -> bool {
    let near = before[before.len().saturating_sub(64)..].to_ascii_lowercase();
    let has = |part: &[u8]| memmem::find(&near, part).is_some();
    let words = near.trim_ascii_end();
    let words = words.strip_suffix(b"\"").or_else(|| words.strip_suffix(b"'")).unwrap_or(words);
    let words = words.trim_ascii_end();
    let leads = [&b"the "[..], b"this ", b"my ", b"our ", b"use ", b"using ", b"with "];
    let sets = [&b"env"[..], b"arg", b"set", b"put", b"add", b"create", b"setx"];
    let orders =
        [&b" set "[..], b" put ", b"config ", b" create ", b" add ", b" write ", b"--set "];
    let last = words.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let line = near.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_device = line.starts_with(b"set ") && near.ends_with(b" ");
    let is_flag = last.len() <= 12 && last.starts_with(b"-");
    (is_argument_name(name)
        && (near.len() < 64 || has(b"login") || has(b"machine") || has(b"\n") || has(b"\\n")))
        || is_flag
        || is_device
        || line.iter().all(|byte| b" \t>|+-".contains(byte))
        || is_directive(name)
        || leads.iter().any(|word| near.ends_with(word))
        || sets.iter().any(|word| words.ends_with(word))
        || near.last().is_some_and(|last| b" /.".contains(last))
            && orders.iter().any(|word| has(word))
        || ((near.ends_with(b"and ")
            || near.ends_with(b"with ")
            || near.ends_with(b", ")
            || near.ends_with(b"/ "))
            && [&b"user"[..], b"login", b"admin", b"account"].iter().any(|word| has(word)))
}

/// True if a value may stand before its name, as in "use VALUE as the password".
fn may_precede(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(48)..];
    let is_label = || {
        memmem::find(near, b"name").or_else(|| memmem::find(near, b"key")).is_some()
            && memmem::find(before, b"value").is_some()
    };
    (near.ends_with(b"\"") && is_label())
        || near.ends_with(b" ")
            && [&b" as "[..], b" is ", b" for "].iter().any(|word| {
                memmem::rfind(near, word).is_some_and(|at| {
                    let value = &before[..before.len() - near.len() + at];
                    let value = &value[value.len().saturating_sub(24)..];
                    value.iter().any(|byte| byte.is_ascii_digit() || *byte == b'-')
                })
            })
}

/// Returns the secret that a name tells.
pub(crate) fn find(text: &str, name: &Range<usize>, telling: Telling) -> Option<Range<usize>> {
    if name.len() < SHORTEST && !is_short(text.as_bytes(), name) {
        return None;
    }
    let after_end = text.floor_char_boundary(text.len().min(name.end + AFTER));
    let after = text.get(name.end..after_end)?;
    let before_start = text.ceil_char_boundary(name.start.saturating_sub(BEFORE));
    let before = text.get(before_start..name.start)?;
    let word = &text.as_bytes()[name.clone()];
    let behind = BEHIND.matches(after);
    for (connector, _) in CONNECTORS.iter().zip(&behind).filter(|(_, follows)| **follows) {
        let may_stand = match connector.manner {
            Manner::Argument => is_argument_name(word),
            Manner::Directive => is_directive(word),
            Manner::Call => sets(word),
            Manner::Constant => is_constant_name(word),
            Manner::Quoted | Manner::Plain | Manner::Setting => true,
        };
        if !may_stand || connector.before.as_ref().is_some_and(|must| !must.is_match(before)) {
            continue;
        }
        let groups = connector.pattern.captures(after);
        let Some(found) = groups.and_then(|groups| groups.name("v")) else { continue };
        // `"NAME", "key": value`
        let rest = after[found.end()..].trim_start_matches('\\');
        let closed = rest.strip_prefix(['"', '\'']);
        if closed.is_some_and(|rest| rest.trim_start_matches(' ').starts_with(':')) {
            continue;
        }
        let mut given = found.as_str();
        if connector.manner != Manner::Quoted {
            let Some(end) = value::plain_end(after.as_bytes(), found.start(), false) else {
                continue;
            };
            given = given.get(..end - found.start()).unwrap_or(given);
        }
        let named = value::secret_part(telling, word, given, connector.manner);
        if let Some(part) = named {
            return Some(
                name.end + found.start() + part.start..name.end + found.start() + part.end,
            );
        }
    }
    said(before, after, &behind[CONNECTORS.len()..], word, telling).map(|range| match range {
        Place::After(range) => name.end + range.start..name.end + range.end,
        Place::Before(range) => before_start + range.start..before_start + range.end,
    })
}

/// True for names that their value follows after a blank alone, at the beginning of a line.
fn is_argument_name(name: &[u8]) -> bool {
    ["password", "auth_pass"].iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// True for the name of a call that is given a secret to keep, and not to look at or to look up.
fn sets(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    ["get", "verify", "check", "hash", "compare", "find", "is_", "has", "test", "valid", "match"]
        .iter()
        .all(|verb| !lower.starts_with(verb.as_bytes()))
}

/// True for names that are words of no language, so that their value follows after a blank anywhere.
fn is_directive(name: &[u8]) -> bool {
    ["requirepass", "masterauth", "bindpw", "rootpw", "olcrootpw", "insecure-password", "dbpw"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

enum Place {
    After(Range<usize>),
    Before(Range<usize>),
}

/// Returns the secret in a sentence about it.
fn said(
    before: &str,
    after: &str,
    follows: &[bool],
    name: &[u8],
    telling: Telling,
) -> Option<Place> {
    let behind = |pattern: &'static Pattern| {
        let at = SENTENCES.iter().position(|sentence| std::ptr::eq(*sentence, pattern))?;
        if *follows.get(at)? { pattern.captures(after) } else { None }
    };
    if let Some(groups) = behind(&SAID)
        && let Some(found) = groups.name("v")
    {
        let end = value::plain_end(after.as_bytes(), found.start(), false).unwrap_or(found.start());
        let value = after.get(found.start()..end.min(found.end())).unwrap_or_default();
        let value = value.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
        let sign = groups.name("sign").map_or("", |sign| sign.as_str()).trim();
        let sets = SETTING.is_match(before);
        let marked = groups.name("mark").is_some_and(|mark| !mark.as_str().is_empty())
            || (sets && sign != "to");
        let is_sign = sign != "to" || sets;
        if is_sign
            && !value.is_empty()
            && (value::is_said(telling, name, value, marked || is_constant_name(name))
                || value::is_said_word(telling, name, value)
                || sets && telling.kind != Kind::Password && is_uuid(value))
        {
            return Some(Place::After(found.start()..found.start() + value.len()));
        }
    }
    if let Some(found) = behind(&BRACKETED).and_then(|groups| groups.name("v"))
        && (value::is_said(telling, name, found.as_str(), false)
            || telling.kind == Kind::Password && made::is_made(found.as_str()))
    {
        return Some(Place::After(found.range()));
    }
    if is_announced(after.trim_start_matches([' ', '\t', '"', '\'', '`', '*', ')']).as_bytes())
        && let Some(found) = behind(&ANNOUNCED).and_then(|groups| groups.name("v"))
        && !shown::is_prompt(found.as_str())
        && value::is_said(telling, name, found.as_str(), false)
    {
        return Some(Place::After(found.range()));
    }
    if telling.kind == Kind::Password
        && USING.is_match(before)
        && let Some(found) = behind(&USED).and_then(|groups| groups.name("v"))
    {
        let value = found.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
        if !value.is_empty()
            && (value::is_said(telling, name, value, false)
                || value::is_said_word(telling, name, value))
        {
            return Some(Place::After(found.start()..found.start() + value.len()));
        }
    }
    if before.ends_with(['"', '\''])
        && let Some(found) = LABELLED.captures(before).and_then(|groups| groups.name("v"))
        && let Some(part) = value::secret_part(telling, name, found.as_str(), Manner::Quoted)
    {
        return Some(Place::Before(found.start() + part.start..found.start() + part.end));
    }
    if [" as", " is", " for"].iter().any(|verb| before.contains(verb))
        && let Some(groups) = AS_NAMED.captures(before)
        && let (Some(found), Some(verb)) = (groups.name("v"), groups.name("verb"))
        && (telling.kind == Kind::Password || verb.as_str() == "as")
        && (value::is_said(telling, name, found.as_str(), true)
            || telling.kind == Kind::Password
                && verb.as_str() == "as"
                && is_made_up(found.as_str().as_bytes()))
    {
        return Some(Place::Before(found.range()));
    }
    if is_constant_name(name) {
        let trimmed = |found: Group<'_>| {
            let value = found.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
            let is_said = !value.is_empty() && value::is_said(telling, name, value, false);
            is_said.then(|| found.start()..found.start() + value.len())
        };
        if first_words(after.as_bytes(), 3).any(is_long_value)
            && let Some(found) = behind(&OF_CONSTANT).and_then(|groups| groups.name("v"))
            && let Some(range) = trimmed(found)
        {
            return Some(Place::After(range));
        }
        if last_words(before.as_bytes(), 5).any(is_long_value)
            && let Some(found) =
                BEFORE_CONSTANT.captures(before).and_then(|groups| groups.name("v"))
            && let Some(range) = trimmed(found)
        {
            return Some(Place::Before(range));
        }
    }
    if name.to_ascii_lowercase().starts_with(b"cred")
        && let Some(found) = behind(&LOGIN).and_then(|groups| groups.name("v"))
    {
        let value = found.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
        let password = Telling { kind: Kind::Password, rule: telling.rule };
        if value::is_said(password, name, value, true) || made::is_made(value) {
            return Some(Place::After(found.start()..found.start() + value.len()));
        }
    }
    None
}
