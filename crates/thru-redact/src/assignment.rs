//! `name = value` in any notation: environment files, YAML, JSON, code, shell options, XML.
//!
//! Works on bytes, so that the prefilter can be used on JSON that is still escaped: there, whatever
//! [`is_possible`] rules out must not be an assignment that [`find`] would find in the decoded text. It
//! reads at most a fixed number of bytes around a name, so it is linear on any input.

use std::ops::Range;

use crate::connector;
use crate::made;
use crate::names::{self, Kind, LONGEST, Telling};
use crate::near;
use crate::spoken;
use crate::told;
use crate::value::{self, Manner};

/// The most bytes of a value that are read.
pub(crate) const LOOK: usize = 256;
/// The most blanks on either side of the sign between name and value.
const BLANKS: usize = 16;

/// The value that a sign gives to a name.
struct Assignment {
    value: Range<usize>,
    quoted: bool,
    /// The value stopped at a backslash: in raw JSON, it may continue.
    cut_by_escape: bool,
    /// It is compared with it, or stands beside it in a list: most such values are names.
    beside: Option<Beside>,
}

/// A way in which a name and a value stand together without a sign that gives one to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    /// `NAME == "value"`
    Compared,
    /// `"NAME", "value"`
    Listed,
}

impl Beside {
    /// True if the value may be a secret all the same.
    fn admits(self, telling: Telling, name: &[u8], value: &str) -> bool {
        match self {
            Self::Compared => value::is_said(telling, name, value, false),
            Self::Listed => {
                let is_drawn = value.bytes().any(|byte| byte.is_ascii_digit());
                let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase());
                let may_be =
                    is_drawn || !value.contains([' ', '_', '-']) && (value.len() >= 12 || !is_word);
                // Names of methods stand in lists.
                may_be && !made::holds_word(value)
            }
        }
    }
}

/// A name whose value may be a secret.
pub(crate) struct TellingName {
    range: Range<usize>,
    telling: Telling,
}

/// Returns the name that the word at this position belongs to, in text or in raw JSON; `None` if it tells nothing, as most.
pub(crate) fn telling_name(bytes: &[u8], word: &Range<usize>) -> Option<TellingName> {
    let range = name_at(bytes, word);
    let telling = names::judge(&bytes[range.clone()])?;
    Some(TellingName { range, telling })
}

/// True if, in text or in raw JSON, there may be a secret value of this name around the word at this position.
pub(crate) fn is_possible(bytes: &[u8], word: &Range<usize>, name: &TellingName) -> bool {
    let plain = read(bytes, word, name).is_some_and(|found| {
        let value = &bytes[found.value.clone()];
        found.cut_by_escape
            || names::is_constant_name(&bytes[name.range.clone()])
            || found.quoted && next_part(bytes, &found.value).is_some()
            || value.iter().any(|byte| {
                !byte.is_ascii_alphabetic() && !matches!(byte, b'_' | b'-' | b'.' | b' ')
            })
            || value.iter().skip(1).any(u8::is_ascii_uppercase)
                && value.iter().any(u8::is_ascii_lowercase)
            || (value.len() >= 10 && value.iter().all(u8::is_ascii_lowercase))
            || value.iter().filter(|byte| matches!(byte, b' ' | b'-' | b'.' | b'_')).count()
                >= if value.len() >= 8 { 1 } else { 2 }
    });
    plain
        || connector::is_possible(bytes, &name.range)
        || near::is_possible(bytes, word, &name.range)
        || may_be_told(bytes, word, name)
        || told::may_be_comment(bytes, name.range.start)
        || spoken::may_be_remark(bytes, name.range.start)
}

/// True if a value may be told near the name around this word: that of a password.
fn may_be_told(bytes: &[u8], word: &Range<usize>, name: &TellingName) -> bool {
    // Every word for one has this letter, and names of keys and tokens are many.
    let may_be = bytes[word.clone()].iter().any(|byte| byte.eq_ignore_ascii_case(&b'p'));
    may_be && name.telling.kind == Kind::Password && told::is_possible(bytes, &name.range)
}

/// A secret value with a name.
pub(crate) struct Named {
    /// From the name to the end of the value.
    pub(crate) whole: Range<usize>,
    /// The secret.
    pub(crate) secret: Range<usize>,
    /// The rule's name.
    pub(crate) rule: &'static str,
}

/// Returns the secret value of the name around the word at this position.
pub(crate) fn find(text: &str, word: &Range<usize>, named: &TellingName) -> Option<Named> {
    let bytes = text.as_bytes();
    let TellingName { range: name, telling } = named;
    if is_in_template(bytes, name.start) {
        return None;
    }
    if let Some(found) = read(bytes, word, named) {
        let start = text.ceil_char_boundary(found.value.start);
        let end = text.floor_char_boundary(found.value.end);
        let written = &bytes[name.clone()];
        let manner = match found.quoted {
            true => Manner::Quoted,
            // `/pass:VALUE`
            false
                if bytes[found.value.start - 1] == b':' && bytes[..name.start].ends_with(b"/") =>
            {
                Manner::Argument
            }
            false if is_setting(bytes, name.start, &found.value) => Manner::Setting,
            false => Manner::Plain,
        };
        let given = text.get(start..end)?;
        if let Some(phrase) = phrase_in_quotes(text, name.start, written, start) {
            let whole = name.start..phrase.end;
            return Some(Named { whole, secret: phrase, rule: telling.rule });
        }
        if found.quoted && found.beside.is_none() {
            let (whole, end) = joined(text, start..end);
            if end > start + given.len()
                && value::secret_part(*telling, written, &whole, manner).is_some()
            {
                let (whole, secret) = (name.start..end, start..end);
                return Some(Named { whole, secret, rule: telling.rule });
            }
        }
        let may_be = found.beside.is_none_or(|beside| beside.admits(*telling, written, given));
        if may_be && let Some(part) = value::secret_part(*telling, written, given, manner) {
            let mut secret = start + part.start..start + part.end;
            if secret.end - start >= LOOK - 4 {
                let rest = bytes[secret.end..].iter();
                secret.end += rest.take_while(|byte| is_token_byte(**byte)).count();
            }
            return Some(Named { whole: name.start..secret.end, secret, rule: telling.rule });
        }
    }
    let is_connected = connector::is_possible(bytes, name);
    let connected = is_connected.then(|| connector::find(text, name, *telling)).flatten();
    let is_near = || near::is_possible(bytes, word, name);
    let near = || is_near().then(|| near::find(text, name, *telling)).flatten();
    let told = || may_be_told(bytes, word, named).then(|| told::find(text, name)).flatten();
    let commented = || told::commented(text, name.start, *telling);
    let remarked = || {
        let may_be = spoken::may_be_remark(bytes, name.start);
        may_be.then(|| spoken::remarked(text, name.start, *telling)).flatten()
    };
    let secret = connected.or_else(near).or_else(told).or_else(commented).or_else(remarked)?;
    let whole = name.start.min(secret.start)..name.end.max(secret.end);
    Some(Named { whole, secret, rule: telling.rule })
}

/// True between the braces of a template, where names and calls stand and no values: `{{ .Values.password | b64enc }}`.
fn is_in_template(bytes: &[u8], at: usize) -> bool {
    let near = &bytes[at.saturating_sub(LONGEST)..at];
    let open = memchr::memmem::rfind(near, b"{{");
    open.is_some_and(|open| {
        let inner = &near[open + 2..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b" -._$|()".contains(byte);
        inner.first().is_some_and(|first| b" -.".contains(first)) && inner.iter().all(is_part)
    })
}

/// Returns the words that all of a quoted `"NAME=word word"` gives to a password.
fn phrase_in_quotes(text: &str, name: usize, written: &[u8], start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mark = *bytes.get(name.checked_sub(1)?)?;
    let is_quoted = matches!(mark, b'"' | b'\'') && bytes[start - 1] == b'=';
    if !is_quoted || !names::is_constant_name(written) {
        return None;
    }
    let near = &text[start..text.floor_char_boundary(text.len().min(start + LOOK))];
    let value = &near[..near.find([char::from(mark), '\n'])?];
    let is_password = names::judge(written).is_some_and(|telling| telling.kind == Kind::Password);
    let is_phrase = value.contains(' ') && is_password && made::is_phrase(value, true);
    is_phrase.then(|| start..start + value.len())
}

/// The most parts of a value that code joins.
const PARTS: usize = 16;

/// Returns the text whose first part stands here, as in `"one" + "other"`, and the end of its last part.
fn joined(text: &str, first: Range<usize>) -> (String, usize) {
    let mut whole = text[first.clone()].to_owned();
    let mut last = first;
    for _ in 0..PARTS {
        let Some(next) = next_part(text.as_bytes(), &last) else { break };
        let Some(part) = text.get(next.clone()) else { break };
        whole.push_str(part);
        last = next;
    }
    (whole, last.end)
}

/// Returns the quoted part that is joined to the one that ends here: by a sign, or by standing alone on the next line.
fn next_part(bytes: &[u8], part: &Range<usize>) -> Option<Range<usize>> {
    let (backslashes, mark, after) = quote_at(bytes, part.end)?;
    let near = &bytes[after..bytes.len().min(after + 96)];
    let (mut at, mut signs, mut breaks) = (0, 0, 0);
    while let Some(byte) = near.get(at) {
        match byte {
            b'+' | b'.' | b'&' | b'~' => signs += 1,
            b'\n' => breaks += 1,
            b'\\' if near.get(at + 1) == Some(&b'n') && backslashes == 0 => {
                breaks += 1;
                at += 1;
            }
            b' ' | b'\t' | b'\r' | b'\\' => {}
            _ => break,
        }
        at += 1;
    }
    let open = near[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    let opens = near.get(at) == Some(&mark) && open == backslashes;
    let is_joined = (1..=2).contains(&signs) && breaks <= 1 || signs == 0 && breaks == 1;
    let start = after + at + 1;
    (opens && is_joined).then(|| start..closing_quote(bytes, start, backslashes, mark))
}

/// True if nothing but a setting can stand here: `NAME=value` between blanks, or `NAME: value` alone on its line.
fn is_setting(bytes: &[u8], name: usize, value: &Range<usize>) -> bool {
    let before = &bytes[name.saturating_sub(LONGEST)..name];
    let owner =
        before.iter().rev().take_while(|byte| is_name_byte(**byte) || **byte == b'.').count();
    let before = &before[..before.len() - owner];
    let next = bytes.get(value.end);
    if bytes[value.start - 1] == b'=' {
        // `-o user=a,NAME=value`
        let is_listed =
            before.last() == Some(&b',') && next.is_none_or(|next| b", \n".contains(next));
        let opens = before.last().is_none_or(|last| b" \t\n+&?=\"'".contains(last));
        // `{user=a, NAME=value}`
        let is_last = || matches!(next, Some(b'}' | b']')) && before.ends_with(b" ");
        return is_listed
            || opens && next.is_none_or(|next| b" \t\n\r\\\"'&".contains(next))
            || is_last();
    }
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_first = line.len() < LONGEST
        && line.iter().all(|byte| b" \t+>|-".contains(byte) || byte.is_ascii_digit());
    is_first
        && bytes[..value.start].ends_with(b": ")
        && next.is_none_or(|next| matches!(next, b'\n' | b'\r'))
}

/// Returns the secret in a value that is known to belong to this name, as in a JSON object.
pub(crate) fn find_in_pair(name: &str, value: &str) -> Option<(Range<usize>, &'static str)> {
    if !may_be_pair(name, value) {
        return None;
    }
    let telling = names::judge(name.as_bytes())?;
    let part = value::secret_part(telling, name.as_bytes(), value, Manner::Quoted)?;
    Some((part, telling.rule))
}

/// True if a value that belongs to this name may be a secret.
pub(crate) fn is_telling(name: &str) -> bool {
    name.len() <= LONGEST && names::judge(name.as_bytes()).is_some()
}

/// A fast check that rules out most pairs.
fn may_be_pair(name: &str, value: &str) -> bool {
    value.len() >= 6 && value.len() <= 8192 && name.len() <= LONGEST
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Bytes that tokens are made of.
pub(crate) const fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~')
}

/// Returns the start of the run of name or token bytes that ends here, excluding the letter of an
/// escape before it: in raw JSON the `n` of `\nkey` is not part of the name.
fn run_start(bytes: &[u8], end: usize) -> usize {
    let floor = end.saturating_sub(LONGEST);
    let mut start = end;
    while start > floor && is_name_byte(bytes[start - 1]) {
        start -= 1;
    }
    if start > 0 && bytes[start - 1] == b'\\' {
        let escape = if bytes[start..end].starts_with(b"u") { 5 } else { 1 };
        start = (start + escape).min(end);
    }
    start
}

/// Words that make a key of the word after them: `API key`.
const BEFORE_KEY: [&str; 28] = [
    "hmac",
    "aes",
    "jwt",
    "session",
    "webhook",
    "deploy",
    "cipher",
    "preshared",
    "pre-shared",
    "shared",
    "wpa",
    "wpa2",
    "wpa3",
    "wifi",
    "wlan",
    "vpn",
    "api",
    "access",
    "secret",
    "private",
    "license",
    "signing",
    "encryption",
    "master",
    "account",
    "auth",
    "app",
    "service",
];

/// Returns the start of the name that the word belongs to.
fn name_start(bytes: &[u8], word: &Range<usize>) -> usize {
    let start = run_start(bytes, word.start);
    // `"acme.auth.token"`, `-Dacme.auth.token`, `--acme.auth.token`
    if start > 1 && bytes[start - 1] == b'.' {
        let parts = &bytes[start.saturating_sub(LONGEST)..start];
        let is_part = |byte: &&u8| is_name_byte(**byte) || **byte == b'.';
        let whole = start - parts.iter().rev().take_while(is_part).count();
        let opens = whole == 0 || matches!(bytes[whole - 1], b'"' | b'\'' | b'\n' | b'\\' | b'<');
        if opens || [&b"-D"[..], b"--"].iter().any(|sign| bytes[whole..start].starts_with(sign)) {
            return whole;
        }
    }
    if start != word.start || start == 0 || !bytes[word.clone()].eq_ignore_ascii_case(b"key") {
        return start;
    }
    // `acme.api.key` in files of properties.
    if bytes[start - 1] == b'.' {
        return run_start(bytes, start - 1);
    }
    if bytes[start - 1] != b' ' {
        return start;
    }
    let before = &bytes[..start - 1];
    BEFORE_KEY
        .iter()
        .filter(|known| {
            before.len() >= known.len()
                && before[before.len() - known.len()..].eq_ignore_ascii_case(known.as_bytes())
        })
        .map(|known| before.len() - known.len())
        .find(|at| *at == 0 || !bytes[at - 1].is_ascii_alphanumeric())
        .unwrap_or(start)
}

fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    let ceiling = at + BLANKS;
    while at < ceiling {
        match bytes.get(at) {
            Some(b' ' | b'\t') => at += 1,
            Some(b'\\') if bytes.get(at + 1) == Some(&b't') => at += 2,
            _ => break,
        }
    }
    at
}

/// Returns the end of the blanks and line breaks that begin here, as text or raw JSON has them.
fn skip_lines(bytes: &[u8], start: usize) -> usize {
    let near = &bytes[start..bytes.len().min(start + 48)];
    let mut at = 0;
    while at < near.len() {
        match near[at..] {
            [b' ' | b'\t' | b'\n' | b'\r', ..] => at += 1,
            [b'\\', b'n' | b't' | b'r', ..] => at += 2,
            _ => break,
        }
    }
    start + at
}

/// Returns the backslashes before a quotation mark, the mark, and the end of both.
fn quote_at(bytes: &[u8], start: usize) -> Option<(usize, u8, usize)> {
    let mut at = start;
    while at < start + 8 && bytes.get(at) == Some(&b'\\') {
        at += 1;
    }
    let mark = *bytes.get(at)?;
    matches!(mark, b'"' | b'\'' | b'`').then_some((at - start, mark, at + 1))
}

/// Returns the end of the name that the word belongs to.
fn name_end(bytes: &[u8], word: &Range<usize>) -> usize {
    let rest = &bytes[word.end..bytes.len().min(word.end + 24)];
    word.end + rest.iter().take_while(|byte| is_name_byte(**byte)).count()
}

/// Returns the name that the word belongs to.
pub(crate) fn name_at(bytes: &[u8], word: &Range<usize>) -> Range<usize> {
    name_start(bytes, word)..name_end(bytes, word)
}

fn read(
    bytes: &[u8],
    word: &Range<usize>,
    TellingName { range, telling }: &TellingName,
) -> Option<Assignment> {
    let (start, end) = (range.start, range.end);
    let quoted_name = quote_at(bytes, end);
    let mut at = quoted_name.map_or(end, |(_, _, after)| after);
    let is_in_braces = || bytes[..start].ends_with(b"{");
    if bytes.get(at) == Some(&b']') || bytes.get(at) == Some(&b'}') && is_in_braces() {
        at += 1;
    } else if bytes.get(at) == Some(&b'[') {
        // `char NAME[] = "value"`, `NAME[16] = "value"`
        let digits = bytes[at + 1..].iter().take(6).take_while(|byte| byte.is_ascii_digit());
        let close = at + 1 + digits.count();
        if bytes.get(close) == Some(&b']') {
            at = close + 1;
        }
    }
    let blanks_start = at;
    at = skip_blanks(bytes, at);
    // `NAME [what it was]: VALUE`
    if at > blanks_start && bytes[at..].starts_with(b"[") {
        let inner = &bytes[at..bytes.len().min(at + 40)];
        let close = inner.windows(2).position(|pair| pair == b"]:");
        at += close.map_or(0, |close| close + 1);
    }
    // `NAME........VALUE`
    let dots = bytes[at..].iter().take(64).take_while(|byte| **byte == b'.').count();
    if dots > 3 {
        let (value, quoted, cut_by_escape) =
            value_at(bytes, skip_blanks(bytes, at + dots), None, false)?;
        return Some(Assignment { value, quoted, cut_by_escape, beside: None });
    }
    let sign = *bytes.get(at)?;
    let next = bytes.get(at + 1).copied();
    let mut must_be_quoted = false;
    let mut beside = None;
    let mut closes_at_bracket = false;
    let mut may_be_typed = false;
    let after_sign = match (sign, next) {
        // In LDIF, two colons stand before base64.
        (b':', Some(b':')) if bytes[..end].ends_with(b"userPassword") => at + 2,
        (b'=', Some(b'=')) => {
            must_be_quoted = true;
            beside = Some(Beside::Compared);
            at + 2 + usize::from(bytes.get(at + 2) == Some(&b'='))
        }
        (b':', Some(b':')) | (b'=', Some(b'~')) => return None,
        // `arn:aws:secretsmanager:eu-west-1:123:secret:NAME`
        (b':', Some(next))
            if next.is_ascii_alphanumeric() && bytes[..word.start].ends_with(b":") =>
        {
            return None;
        }
        // `${NAME:?message}`: the shell is told to fail.
        (b':', Some(b'?' | b'+')) if bytes.get(at + 2) != Some(&b'=') => return None,
        (b'|', Some(b'|')) | (b'?', Some(b'?')) if bytes.get(at + 2) == Some(&b'=') => at + 3,
        (b':' | b'?' | b'+', Some(b'=')) | (b'=', Some(b'>')) | (b'?', Some(b':')) => at + 2,
        // In R.
        (b'<', Some(b'-')) => at + 2,
        (b':', _) => {
            may_be_typed = true;
            at + 1
        }
        (b'=', _) => at + 1,
        (b'>', _) => {
            closes_at_bracket = true;
            at + 1
        }
        (b',', _) if quoted_name.is_some() => {
            must_be_quoted = true;
            beside = Some(Beside::Listed);
            at + 1
        }
        // `--password value`, or `PASSWORD 'value'` as in SQL.
        _ if at > blanks_start => at,
        _ => return None,
    };
    let name = &bytes[range.clone()];
    if after_sign == at && !name.starts_with(b"--") && !is_short_option(name) {
        // In SQL, in the files of Gradle, IPsec and web servers, in Lisp and behind `#define`.
        let is_joined = name.iter().any(|byte| matches!(byte, b'-' | b'_'));
        let is_password = telling.kind == Kind::Password || is_joined;
        let is_word = name.len() < 8 && !name.eq_ignore_ascii_case(b"psk");
        if quote_at(bytes, at).is_none() || !is_password || is_word {
            return None;
        }
    } else if closes_at_bracket && (start == 0 || bytes[start - 1] != b'<') {
        return None;
    }
    if name == b"PASS" && sign == b':' {
        // The report of a test.
        return None;
    }
    let mut at = after_tag(bytes, skip_blanks(bytes, after_sign));
    if may_be_typed && let Some(after) = after_type(bytes, at) {
        at = after;
    }
    if must_be_quoted && let Some(after) = after_value_label(bytes, at) {
        at = after;
    }
    let closing = if closes_at_bracket { Some(b'<') } else { None };
    let in_query = start > 0 && matches!(bytes[start - 1], b'?' | b'&');
    let (value, quoted, cut_by_escape) = value_at(bytes, at, closing, in_query)?;
    // `"password", "minLength": 8`
    let is_name = || {
        let (_, _, after) = quote_at(bytes, value.end)?;
        Some(bytes.get(skip_blanks(bytes, after)) == Some(&b':'))
    };
    if must_be_quoted && (!quoted || beside == Some(Beside::Listed) && is_name() == Some(true)) {
        return None;
    }
    Some(Assignment { value, quoted, cut_by_escape, beside })
}

/// Returns the start of the value behind a tag of YAML that says no more than its type.
fn after_tag(bytes: &[u8], start: usize) -> usize {
    let tag = ["!unsafe ", "!!str ", "!!binary "]
        .iter()
        .find(|tag| bytes[start..].starts_with(tag.as_bytes()));
    skip_blanks(bytes, start + tag.map_or(0, |tag| tag.len()))
}

/// True for `-password` and `-passwd`.
fn is_short_option(name: &[u8]) -> bool {
    [&b"-password"[..], b"-passwd", b"-passphrase"].contains(&name)
}

/// Returns the start of the value after the type in `name: Type = "value"`.
fn after_type(bytes: &[u8], start: usize) -> Option<usize> {
    for (at, byte) in bytes.iter().enumerate().skip(start).take(40) {
        match byte {
            b'=' if at > start => {
                let value = skip_blanks(bytes, at + 1);
                return quote_at(bytes, value).map(|_| value);
            }
            b'&' | b'<' | b'>' | b'[' | b']' | b'|' | b' ' | b'\'' | b'?' | b'.' | b':' => {}
            _ if byte.is_ascii_alphanumeric() => {}
            _ => return None,
        }
    }
    None
}

/// Returns the start of the value after the label in `"name": "DB_PASSWORD", "value": "…"`.
fn after_value_label(bytes: &[u8], start: usize) -> Option<usize> {
    let (_, _, label) = quote_at(bytes, start)?;
    let label = label + if bytes[label..].starts_with(b"Parameter") { 9 } else { 0 };
    bytes.get(label..label + 5)?.eq_ignore_ascii_case(b"value").then_some(())?;
    let (_, _, after) = quote_at(bytes, label + 5)?;
    let at = skip_blanks(bytes, after);
    (bytes.get(at) == Some(&b':')).then(|| skip_blanks(bytes, at + 1))
}

/// Returns the value that begins here, true if it is quoted, and true if it stopped at a backslash.
fn value_at(
    bytes: &[u8],
    start: usize,
    closing: Option<u8>,
    in_query: bool,
) -> Option<(Range<usize>, bool, bool)> {
    let mut open = after_constructor(bytes, start).unwrap_or(start);
    // The only value of a list, or one of several parts.
    if matches!(bytes.get(open), Some(b'[' | b'(')) {
        let inner = skip_lines(bytes, open + 1);
        open = if quote_at(bytes, inner).is_some() { inner } else { open };
    }
    // A prefix as in `b"…"`, `r"…"`, `@"…"` and `$'…'`.
    if bytes
        .get(open)
        .is_some_and(|byte| matches!(byte, b'b' | b'r' | b'f' | b'u' | b'@' | b'$' | b'L' | b'N'))
        && quote_at(bytes, open + 1).is_some()
    {
        open += 1;
    }
    if closing.is_none()
        && let Some(value) = quoted_by_word(bytes, open)
    {
        return Some((value, true, false));
    }
    if closing.is_none()
        && let Some((backslashes, mark, value)) = quote_at(bytes, open)
    {
        let end = closing_quote(bytes, value, backslashes, mark);
        return (end > value).then_some((value..end, true, false));
    }
    if let Some(closing) = closing {
        let near = &bytes[start..bytes.len().min(start + LOOK)];
        let length = near.iter().position(|byte| *byte <= b' ' || *byte == closing)?;
        return (near[length] == closing).then_some((start..start + length, true, false));
    }
    let end = value::plain_end(bytes, start, in_query)?;
    let cut_by_escape = bytes.get(end) == Some(&b'\\') && bytes.get(end + 1) == Some(&b'u');
    (end > start || cut_by_escape).then_some((start..end, false, cut_by_escape))
}

/// Returns the value in `q{…}` of Perl and `%q(…)` of Ruby, in `{…};` of ODBC, and what a shell's `$(echo …)` says.
fn quoted_by_word(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let near = &bytes[start..bytes.len().min(start + LOOK)];
    let echoes = [
        "\"$(echo -n ",
        "\"$(echo ",
        "$(echo -n '",
        "$(echo '",
        "$(echo -n ",
        "$(echo ",
        "$(printf %s ",
    ];
    let words = ["q{", "q(", "q[", "qq{", "qq(", "%q(", "%q{", "%Q("];
    let begins = |open: &&&str| near.starts_with(open.as_bytes());
    let odbc = near.starts_with(b"{").then_some("{");
    let open = echoes.iter().chain(&words).find(begins).copied().or(odbc)?;
    let close = match open.as_bytes().last()? {
        b'\'' => b'\'',
        b'{' => b'}',
        b'[' => b']',
        _ => b')',
    };
    let inner = &near[open.len()..];
    let is_value =
        |byte: &&u8| byte.is_ascii_graphic() && **byte != close && !b"\"'`{".contains(byte);
    let length = inner.iter().take_while(is_value).count();
    let ends = inner.get(length) == Some(&close)
        && (odbc.is_none() || inner.get(length + 1) == Some(&b';'));
    let start = start + open.len();
    (ends && length > 3).then(|| start..start + length)
}

/// The last words of calls that only wrap the text that they are given.
#[rustfmt::skip]
const CONSTRUCTORS: [&str; 17] = [
    "byte", "Some", "Ok", "Just", "from", "new", "String", "Secret", "SecretString", "SecretStr", "bcrypt", "make", "hash", "hashpw",
    "hashSync", "quote", "encrypt",
];

/// Returns the start of the quoted argument in `Some("…")` or `SecretString::from("…")`.
fn after_constructor(bytes: &[u8], start: usize) -> Option<usize> {
    let near = &bytes[start..bytes.len().min(start + 40)];
    let length = near.iter().position(|byte| *byte == b'(')?;
    let name = near[..length].rsplit(|byte| !byte.is_ascii_alphanumeric()).next()?;
    let is_call = near[..length].iter().all(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'[' | b']')
    });
    let is_known = CONSTRUCTORS.iter().any(|known| known.as_bytes() == name);
    (is_call && is_known && quote_at(bytes, start + length + 1).is_some())
        .then_some(start + length + 1)
}

/// Returns the end of a quoted value: its mark after as many backslashes as at the start, the end of
/// the line, or the limit of bytes to read.
fn closing_quote(bytes: &[u8], start: usize, backslashes: usize, mark: u8) -> usize {
    let ceiling = bytes.len().min(start + LOOK);
    let mut before = 0;
    for (at, byte) in bytes.iter().enumerate().take(ceiling).skip(start) {
        match *byte {
            b'\\' => before += 1,
            found if found == mark && before == backslashes => return at - before,
            b'\n' if at == start || bytes[at - 1] != b'\\' => return at,
            _ => before = 0,
        }
        if *byte != b'\\' {
            before = 0;
        }
    }
    ceiling
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for word in names::WORDS {
            for (at, _) in text.to_ascii_lowercase().match_indices(word) {
                let word = at..at + word.len();
                let name = telling_name(text.as_bytes(), &word);
                if let Some(name) = name
                    && let Some(named) = find(text, &word, &name)
                {
                    let line = format!("{} {}", named.rule, &text[named.secret]);
                    if !found.contains(&line) {
                        found.push(line);
                    }
                    assert!(is_possible(text.as_bytes(), &word, &name), "{text}");
                }
            }
        }
        found
    }

    #[test]
    fn values_are_found_in_many_notations() {
        for (text, expected) in [
            ("DB_PASSWORD=hunter2", "password hunter2"),
            ("password: 'hunter2'", "password hunter2"),
            (r#"{"password":"p\"hunter2"}"#, r#"password p\"hunter2"#),
            (r#"{\"password\": \"hunter2\"}"#, "password hunter2"),
            ("mysql --password hunter2 -h x", "password hunter2"),
            ("<password>hunter2</password>", "password hunter2"),
            ("CREATE USER a WITH PASSWORD 'hunter2'", "password hunter2"),
            ("const apiKey: string = \"a8F3kL09xQ2mZ7pR4sT1\";", "api-key a8F3kL09xQ2mZ7pR4sT1"),
            ("os.environ[\"FOO_TOKEN\"] = 'a8F3kL09xQ2mZ7pR4sT1'", "token a8F3kL09xQ2mZ7pR4sT1"),
            ("{\"name\": \"DB_PASSWORD\", \"value\": \"hunter2\"}", "password hunter2"),
            ("?access_token=a8F3kL09xQ2mZ7pR4sT1&x=1", "token a8F3kL09xQ2mZ7pR4sT1"),
            ("password: Tr0ub4dor&3xyz", "password Tr0ub4dor&3xyz"),
            ("DB_PASSWORD=a;b(c)?d1,e", "password a;b(c)?d1,e"),
            ("/x?password=hunter2&next=1", "password hunter2"),
            ("Server=a;Password=hun;ter2;Encrypt=True", "password hun;ter2"),
            ("ENV DB_PASSWORD hunter2", "password hunter2"),
            ("password <- \"hunter2\"", "password hunter2"),
            ("ssh root@h (password hunter2)", "password hunter2"),
            ("config system admin\n set passwd hunter2\n", "password hunter2"),
            ("Password\nhunter2\n", "password hunter2"),
            ("key: DB_PASSWORD, value: hunter2", "password hunter2"),
            ("password (prod): Hunter22xyZ", "password Hunter22xyZ"),
            ("password is: m1rr0r-382", "password m1rr0r-382"),
            ("WPA2 key: hunter2", "password hunter2"),
            ("ARGS+=(--env \"DB_PASSWORD=hunter2\")", "password hunter2"),
            ("| `DB_PASSWORD` | `hunter2` |", "password hunter2"),
            ("<add key=\"Password\" value=\"hunter2\" />", "password hunter2"),
            ("<string name=\"db_password\">hunter2</string>", "password hunter2"),
            ("variable \"db_password\" {\n  default = \"hunter2\"", "password hunter2"),
            ("- name: DB_PASSWORD\n  value: hunter2", "password hunter2"),
            ("password: |\n  hunter2\n", "password hunter2"),
            ("process.env.PASSWORD || 'hunter2'", "password hunter2"),
            ("machine h login bob\n  password hunter2", "password hunter2"),
            ("requirepass hunter2", "password hunter2"),
            ("my password is hunter2, ok", "password hunter2"),
            ("use hunter2 as my password", "password hunter2"),
            ("client_secret := `a8F3kL09xQ2mZ7pR4sT1`", "secret a8F3kL09xQ2mZ7pR4sT1"),
            ("ENV['FOO_TOKEN'] ||= 'a8F3kL09xQ2mZ7pR4sT1'", "token a8F3kL09xQ2mZ7pR4sT1"),
            ("acme.api.key=a8F3kL09xQ2mZ7pR4sT1", "api-key a8F3kL09xQ2mZ7pR4sT1"),
            ("<string name=\"db_password\" a=\"b\">hunter2</string>", "password hunter2"),
            ("DB_PASSWORD是hunter2，", "password hunter2"),
            ("DB_PASSWORD\thunter2", "password hunter2"),
            ("Input Password  id=pw  hunter2", "password hunter2"),
            ("set interfaces pppoe 0 password hunter2", "password hunter2"),
            ("Your password is as follows:\n\nHunter22xyZ\n", "password Hunter22xyZ"),
        ] {
            assert_eq!(values(text), [expected], "{text}");
        }
    }

    #[test]
    fn code_and_references_are_left_alone() {
        for text in [
            "password: string",
            "password = getPassword1()",
            "token=$TOKEN",
            "api_key: ${API_KEY}",
            "if password == 'hunter2'",
            "apiKey: process.env.OPENAI_API_KEY_2",
            "max_tokens: 4096",
            "tokenizer_key = get_key1()",
            "PWD=/home/user1/work",
            "--- PASS: TestPassword/short_1",
            "password: user1.password2",
            "token::Kind1",
        ] {
            assert!(values(text).is_empty(), "{text}");
        }
    }
}
