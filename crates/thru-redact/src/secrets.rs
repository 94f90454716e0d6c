//! Finds secrets: one pass that looks for all [`keywords`](crate::keywords), and a detailed check with a rule only
//! at its keywords.
//!
//! The same pass serves as the prefilter for raw JSON ([`is_suspicious`]). It must never rule out what
//! [`find`] would find in the decoded text, so its checks allow for escapes.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use memchr::{memchr, memmem};

use crate::edits::{Edit, Reason};
use crate::keywords::{Occurrence, Target, keywords};
use crate::names::{self, Kind, Telling};
use crate::pattern::Pattern;
use crate::rules::{Finder, Follows, RULES, Rule, Start};
use crate::{
    alias, assignment, base64, checks, column, command, cookie, foreign, pairs, parts, private_key,
    protocol, shape, shown, spoken, told, wrap,
};

/// The amount of text that a pattern is matched against. A longer secret is extended to its end
/// afterwards.
const WINDOW: usize = 8 * 1024;

/// The columns of a narrow terminal.
const NARROWEST: usize = 48;

/// The amount of text within braces that is read before and after a keyword.
const BRACES: usize = 4096;

/// The amount of it that the prefilter reads.
const GLANCE: usize = 1024;

/// Returns the pattern of a rule of the table.
fn pattern(index: usize) -> Option<&'static Pattern> {
    static PATTERNS: LazyLock<Vec<OnceLock<Pattern>>> =
        LazyLock::new(|| RULES.iter().map(|_| OnceLock::new()).collect());
    let Finder::Pattern(source) = RULES.get(index)?.finder else {
        return None;
    };
    Some(PATTERNS.get(index)?.get_or_init(|| match source.strip_suffix(r"\b") {
        // A token may be glued to an underscore, which counts as a part of a word.
        Some(stem) if !source.contains("(?P<secret>") => {
            Pattern::composed(format!(r"(?P<secret>{stem})(?:\b|_)"))
        }
        _ => Pattern::at_start(source),
    }))
}

/// True if this text, or the strings of this raw JSON, may contain anything to remove. Fast, with false
/// positives only.
#[cfg(test)]
fn glance(bytes: &[u8]) -> bool {
    keywords(bytes).into_iter().any(|keyword| is_suspicious(bytes, keyword))
}

/// True if the string at `part` of a document, with these keywords, may contain anything to remove.
pub(crate) fn is_suspicious_part(
    document: &str,
    part: &Range<usize>,
    keywords: &[Occurrence],
) -> bool {
    let first = keywords.partition_point(|keyword| keyword.end() <= part.start);
    keywords[first..]
        .iter()
        .take_while(|keyword| keyword.end() <= part.end)
        .filter_map(|keyword| keyword.within(part))
        .any(|keyword| is_suspicious(&document.as_bytes()[part.clone()], keyword))
}

/// True if something to remove may be at a keyword, in text or in raw JSON.
pub(crate) fn is_suspicious(bytes: &[u8], keyword: Occurrence) -> bool {
    let word = keyword.range();
    match keyword.target() {
        Target::Tag | Target::Mark | Target::Percent | Target::Mail | Target::Entity => true,
        Target::Escape => hides_something(bytes, &word),
        Target::Rule(index) => RULES.get(index).is_some_and(|rule| {
            is_possible(rule, bytes, &word) && may_match(index, rule, bytes, &word)
        }),
    }
}

/// True if the pattern of a token matches the characters that are the same in text and raw JSON. Other
/// patterns match characters that JSON escapes, and are not tried.
fn may_match(index: usize, rule: &Rule, bytes: &[u8], word: &Range<usize>) -> bool {
    let (Finder::Pattern(_), Follows::Token(_)) = (rule.finder, rule.follows) else {
        return true;
    };
    let start = match rule.start {
        Start::Before(longest) => run_start(bytes, word.start, longest),
        Start::Word | Start::Anywhere => Some(word.start),
    };
    let (Some(start), Some(pattern)) = (start, pattern(index)) else {
        return false;
    };
    let window = &bytes[start..bytes.len().min(start + GLANCE)];
    let is_same = |byte: &&u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    let length = window.iter().take_while(is_same).count();
    // If the window ends before the text does, the match may continue.
    let token =
        window[..length].iter().take_while(|byte| assignment::is_token_byte(**byte)).count();
    let wraps = !matches!(rule.start, Start::Before(_)) && wrap::is_possible(window, token);
    if length == GLANCE || wraps {
        return true;
    }
    let matches = |window| {
        // What matches up to the end may match more.
        matched(pattern, window).is_some_and(|(whole, secret)| {
            whole.end == length || rule.check.passes(&window[secret])
        })
    };
    std::str::from_utf8(&window[..length]).is_ok_and(matches)
}

/// The findings of a pass over a text.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The secrets, neither sorted nor disjoint.
    pub(crate) edits: Vec<Edit>,
    /// A privacy tag may be there.
    pub(crate) tags: bool,
    /// The text contains escapes that may hide more.
    pub(crate) escapes: bool,
    /// The text contains escapes of a URL.
    pub(crate) percents: bool,
    /// The text may contain the escapes of mails.
    pub(crate) mail: bool,
    /// The text contains entities of HTML.
    pub(crate) entities: bool,
    /// The text contains marks that may hide more.
    pub(crate) marks: bool,
}

/// Finds the secrets that the table describes.
pub(crate) fn find(text: &str, is_allowed: impl Fn(&str, &str) -> bool) -> Findings {
    let bytes = text.as_bytes();
    let mut findings = Findings {
        marks: memchr(0, bytes).is_some(),
        escapes: is_document(bytes),
        ..Findings::default()
    };
    // The progress of each rule, so that none examines the same text twice.
    let mut done = [0_usize; RULES.len()];
    for keyword in keywords(bytes) {
        let word = keyword.range();
        match keyword.target() {
            Target::Tag => findings.tags = true,
            Target::Mark => findings.marks = true,
            Target::Percent => findings.percents = true,
            Target::Entity => findings.entities = true,
            Target::Mail => findings.mail = true,
            Target::Escape => findings.escapes |= hides_something(bytes, &word),
            Target::Rule(index) => {
                let Some(rule) = RULES.get(index) else { continue };
                let done = &mut done[index];
                if word.start >= *done
                    && is_possible(rule, bytes, &word)
                    && let Some(found) = look(index, rule, text, word.clone(), *done)
                {
                    *done = found.whole.end;
                    // What has a name of its own is called by it.
                    let is_known = |edit: &Edit| {
                        let (start, end) = (edit.range.start, edit.range.end);
                        let mut known = findings.edits.iter().rev().take(4);
                        known.any(|other| start < other.range.end && end <= other.range.end)
                    };
                    if rule.finder == Finder::Shape && found.edits.iter().any(is_known) {
                        continue;
                    }
                    let whole = &text[found.whole];
                    let edits = found.edits.into_iter();
                    let edits = edits.filter(|edit| !is_allowed(whole, &text[edit.range.clone()]));
                    findings.edits.extend(edits);
                }
            }
        }
    }
    if memchr(b'$', bytes).is_some() {
        let given = alias::find(text).into_iter();
        let given =
            given.filter(|(range, _)| !is_allowed(&text[range.clone()], &text[range.clone()]));
        findings
            .edits
            .extend(given.map(|(range, rule)| Edit::new(range, Reason::Assigned(rule.into()))));
    }
    findings
}

/// True for what may be JSON with lines in its strings: tables and blocks are only seen when they are decoded.
fn is_document(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(b'{' | b'[')) && memmem::find(bytes, br"\n").is_some()
}

/// The result of a detailed check.
struct Found {
    /// The range that the rule examined as one unit.
    whole: Range<usize>,
    /// The edits; none if it turned out not to be a secret.
    edits: Vec<Edit>,
}

/// Runs the detailed check of a rule at a keyword.
fn look(index: usize, rule: &Rule, text: &str, word: Range<usize>, done: usize) -> Option<Found> {
    let secret = |range| Edit::new(range, Reason::Secret(rule.name.into()));
    let found = |whole, edits: Vec<Range<usize>>| Found {
        whole,
        edits: edits.into_iter().map(secret).collect(),
    };
    match rule.finder {
        Finder::Command => {
            let (whole, secrets) = command::find(text, word);
            (!secrets.is_empty()).then(|| found(whole, secrets))
        }
        Finder::Shape => {
            let (range, rule) = shape::find(text.as_bytes(), word.end, false)?;
            let edit = Edit::new(range.clone(), Reason::Secret(rule.into()));
            Some(Found { whole: range, edits: vec![edit] })
        }
        Finder::Shown => {
            let secrets = shown::find(text, &word);
            (!secrets.is_empty()).then(|| found(word, secrets))
        }
        Finder::Warned | Finder::Codes | Finder::Cipher | Finder::Parts => {
            let secrets = match rule.finder {
                Finder::Warned => spoken::warned(text, &word),
                Finder::Codes => spoken::codes(text, &word),
                Finder::Cipher => alias::keys(text, &word),
                _ => parts::find(text, &word),
            };
            (!secrets.is_empty()).then(|| found(word, secrets))
        }
        Finder::Protocol => {
            let secret = protocol::find(text, &word)?;
            Some(found(word.start..secret.end, vec![secret]))
        }
        Finder::Login => {
            let secrets = told::find_login(text, &word);
            (!secrets.is_empty()).then(|| found(word, secrets))
        }
        Finder::Foreign => {
            let Some((range, rule)) = foreign::find(text, &word) else {
                return in_table(text, word.clone(), Some(foreign::telling(&text[word])));
            };
            let edit = Edit::new(range.clone(), Reason::Assigned(rule.into()));
            let whole = word.start.min(range.start)..word.end.max(range.end);
            Some(Found { whole, edits: vec![edit] })
        }
        Finder::Cookie => {
            let (whole, secrets) = cookie::find(text, word.end)?;
            Some(found(whole, secrets))
        }
        Finder::Base64 => {
            let range = base64::find(text, word.start)?;
            Some(found(range.clone(), vec![range]))
        }
        Finder::Base64Within => {
            let (whole, holds) = base64::find_within(text, &word, done)?;
            let secrets = if holds { vec![whole.clone()] } else { Vec::new() };
            Some(found(whole, secrets))
        }
        Finder::Base64Near => {
            let (secrets, end) = base64::find_near(text, &word, done);
            let start = secrets.first().map_or(word.start, |first| first.start.min(word.start));
            let end = text.floor_char_boundary(end.max(word.end));
            Some(found(start..end, secrets))
        }
        Finder::Assignment => {
            let name = assignment::telling_name(text.as_bytes(), &word)?;
            let Some(named) = assignment::find(text, &word, &name) else {
                return in_table(text, word, None);
            };
            let edit = Edit::new(named.secret, Reason::Assigned(named.rule.into()));
            Some(Found { whole: named.whole, edits: vec![edit] })
        }
        Finder::PrivateKey => {
            let key = private_key::find(text, word.start)?;
            Some(found(key.clone(), vec![key]))
        }
        Finder::Pattern(_) => {
            let start = match rule.start {
                Start::Before(longest) => run_start(text.as_bytes(), word.start, longest)?,
                Start::Word | Start::Anywhere => word.start,
            };
            let window = &text[start..text.floor_char_boundary(text.len().min(start + WINDOW))];
            let pattern = pattern(index)?;
            let plain = matched(pattern, window);
            let joined = match rule.start {
                Start::Before(_) => None,
                Start::Word | Start::Anywhere => {
                    wrap::join(window, word.end - start, plain.is_none())
                }
            };
            let joined = joined.and_then(|joined| {
                let (whole, secret) = matched(pattern, &joined.text)?;
                // More of it stands on the next line, or else it is matched as it is. A line that is shorter than any
                // terminal is wide holds all of it.
                let line = text[..start].rsplit('\n').next().map_or(0, str::len);
                let is_wide = !joined.is_bare() || line + joined.first >= NARROWEST;
                let goes_on =
                    plain.as_ref().is_none_or(|(_, plain)| plain.end == joined.first && is_wide);
                // What is masked on the next line must not hide a token that stands by itself.
                let passes = rule.check.passes(&joined.text[secret.clone()]);
                (goes_on && passes && joined.spans(&secret))
                    .then(|| (joined.before(whole), joined.before(secret)))
            });
            let (whole, secret) = joined.or(plain)?;
            let glued = rule.start == Start::Word && !begins_word(text.as_bytes(), word.start);
            let value = &window[secret.clone()];
            let is_closed = secret.end < whole.end;
            let passes = rule.check.passes(value)
                && (!is_closed || rule.check.may_be_as_long(value))
                && (!glued || checks::looks_random(value));
            let mut range = start + secret.start..start + secret.end;
            if rule.name.ends_with("webhook") {
                range.start = address_start(text, range.start);
            }
            let mut whole = range.start.min(start)..start + whole.end;
            if !passes {
                return Some(found(whole, Vec::new()));
            }
            if secret.end + 4 >= WINDOW {
                let rest = text.as_bytes()[range.end..].iter();
                range.end += rest.take_while(|byte| assignment::is_token_byte(**byte)).count();
                whole.end = whole.end.max(range.end);
            }
            Some(found(whole, vec![range]))
        }
    }
}

/// Returns the secrets in the column or the list that the word at this position is the heading of; what its name tells is given
/// if it is in another language.
fn in_table(text: &str, word: Range<usize>, telling: Option<Telling>) -> Option<Found> {
    let assigned = |range, rule: &'static str| Edit::new(range, Reason::Assigned(rule.into()));
    if column::is_possible(text.as_bytes(), word.clone())
        && let Some(column) = column::find(text, word.clone(), telling)
    {
        let edits = column.secrets.into_iter().map(|range| assigned(range, column.rule));
        return Some(Found { whole: column.name, edits: edits.collect() });
    }
    let name = assignment::name_at(text.as_bytes(), &word);
    let telling = telling.or_else(|| names::judge(&text.as_bytes()[name.clone()]))?;
    let secrets = match telling.kind {
        Kind::Password if name.len() > 4 => told::listed(text, &name),
        Kind::Secret => told::listed(text, &name),
        _ => Vec::new(),
    };
    let secrets = match secrets.is_empty() {
        true if column::is_possible(text.as_bytes(), word) => {
            column::find_beside(text, name.clone(), telling.kind == Kind::Password)
        }
        _ => secrets,
    };
    let secrets = match telling.kind {
        // `(user / password)`
        Kind::Password if secrets.is_empty() && stands_by_slash(text.as_bytes(), &name) => {
            pairs::find(text, &name)
        }
        _ => secrets,
    };
    let edits: Vec<_> = secrets.into_iter().map(|range| assigned(range, "password")).collect();
    (!edits.is_empty()).then_some(Found { whole: name, edits })
}

/// True if a slash stands just before a name, or soon behind it.
fn stands_by_slash(bytes: &[u8], name: &Range<usize>) -> bool {
    let near = &bytes[name.start.saturating_sub(3)..bytes.len().min(name.end + 48)];
    memmem::find(near, b" / ").is_some() || near.starts_with(b"/")
}

/// Returns the start of the address that goes on here: all of the address of a webhook is secret.
fn address_start(text: &str, place: usize) -> usize {
    let bytes = &text.as_bytes()[place.saturating_sub(256)..place];
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-._~:/@%?&=".contains(byte);
    let start = place - bytes.iter().rev().take_while(is_part).count();
    ["https://", "http://"]
        .iter()
        .find_map(|scheme| text[start..place].rfind(scheme))
        .map_or(place, |at| start + at)
}

/// Returns what the pattern matches at the start of the text, and the secret in it.
fn matched(pattern: &Pattern, text: &str) -> Option<(Range<usize>, Range<usize>)> {
    if !pattern.source().contains("(?P<secret>") {
        return pattern.find(text).map(|found| (found.clone(), found));
    }
    let groups = pattern.captures(text)?;
    let secret = groups.name("secret").map_or_else(|| groups.range(), |secret| secret.range());
    Some((groups.range(), secret))
}

/// Returns the start of the run of letters and digits before this position, if it is not too long.
fn run_start(bytes: &[u8], end: usize, longest: usize) -> Option<usize> {
    let floor = end.saturating_sub(longest);
    // Long ones are base64.
    let is_part = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || (longest > 32 && matches!(byte, b'_' | b'+' | b'/' | b'-'))
    };
    let length = bytes[floor..end].iter().rev().take_while(is_part).count();
    let mut start = end - length;
    // The letter of an escape is not part of the run.
    if start > 0 && bytes[start - 1] == b'\\' {
        start = (start + 1).min(end);
    }
    begins_word(bytes, start).then_some(start)
}

/// True if a word may begin here. In raw JSON, and in JSON within text, the letters of an escape just
/// before do not count.
fn begins_word(bytes: &[u8], start: usize) -> bool {
    match start.checked_sub(1) {
        Some(before) if bytes[before].is_ascii_alphanumeric() || bytes[before] == b'_' => {
            bytes[start.saturating_sub(6)..before].contains(&b'\\')
        }
        _ => true,
    }
}

/// True if the keyword is unlike any part of a word or name, so that it counts within one: `backup_ghp_…`.
fn may_be_glued(bytes: &[u8], word: &Range<usize>) -> bool {
    let keyword = &bytes[word.clone()];
    let is_mark = |byte: &u8| matches!(byte, b'_' | b'-' | b'.');
    match bytes[word.start - 1] {
        b'_' => keyword.len() >= 4,
        // `sk-` and the like follow a dash in many names.
        b'-' => false,
        before => {
            // A word of small letters, and then capitals: base64 is no such word.
            let near = &bytes[word.start.saturating_sub(16)..word.start];
            let letters = near.iter().rev().take_while(|byte| byte.is_ascii_lowercase()).count();
            let is_word = before.is_ascii_lowercase()
                && letters >= 3
                && near
                    .iter()
                    .rev()
                    .nth(letters)
                    .is_none_or(|byte| !assignment::is_token_byte(*byte));
            let hump = keyword[..2].iter().all(u8::is_ascii_uppercase);
            let has_mark = keyword.iter().any(is_mark);
            has_mark && keyword.len() >= 5 || is_word && keyword.len() >= 4 && (has_mark || hump)
        }
    }
}

/// True if this position is inside words joined by dashes, such as `task-sk-…`. Many patterns include
/// dashes, and trying them again after every dash of a long run would take unbounded time.
fn follows_dash(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[start.saturating_sub(8)..start];
    let dashes = before.iter().rev().take_while(|byte| **byte == b'-').count();
    dashes > 0 && (dashes == 8 || !begins_word(bytes, start - dashes))
}

/// True if a detailed check is worthwhile, in text or in raw JSON.
fn is_possible(rule: &Rule, bytes: &[u8], word: &Range<usize>) -> bool {
    match rule.finder {
        Finder::Assignment => {
            return assignment::telling_name(bytes, word).is_some_and(|name| {
                assignment::is_possible(bytes, word, &name)
                    || column::is_possible(bytes, word.clone())
            });
        }
        Finder::PrivateKey => return private_key::is_possible(bytes, word.start),
        Finder::Command => {
            return begins_word(bytes, word.start) && command::is_possible(bytes, word);
        }
        Finder::Shape => return shape::find(bytes, word.end, true).is_some(),
        Finder::Shown => return shown::is_possible(bytes, word),
        Finder::Protocol => return protocol::is_possible(bytes, word),
        Finder::Foreign | Finder::Codes | Finder::Cipher => return true,
        Finder::Warned => return spoken::may_be_warned(bytes, word),
        Finder::Parts => return parts::is_possible(bytes, word),
        Finder::Login => return told::may_be_login(bytes, word),
        Finder::Cookie => return cookie::is_possible(bytes, word.end),
        Finder::Base64Near => return true,
        Finder::Base64Within => return base64::may_be_within(bytes, word),
        Finder::Base64 => {
            return bytes[word.end..].iter().take(12).all(|byte| assignment::is_token_byte(*byte));
        }
        Finder::Pattern(_) => {}
    }
    if !rule.beside.is_empty() && !stands_beside(bytes, word.start, rule.beside) {
        return false;
    }
    if rule.start == Start::Word {
        let keyword = &bytes[word.clone()];
        let stands = begins_word(bytes, word.start)
            && (keyword.contains(&b'_') || !follows_dash(bytes, word.start));
        if !stands && !may_be_glued(bytes, word) {
            return false;
        }
    }
    let rest = &bytes[word.end..];
    match rule.follows {
        Follows::Token(length) => {
            let is_token = |byte: &&u8| {
                assignment::is_token_byte(**byte) || matches!(byte, b'%' | b'$' | b'@')
            };
            let near = &rest[..rest.len().min(length)];
            let found = near.iter().take_while(is_token).count();
            let wraps = || wrap::is_possible(&bytes[word.start..], word.len() + found);
            found == length || (!matches!(rule.start, Start::Before(_)) && wraps())
        }
        Follows::Sign => rest.iter().take(40).any(|byte| matches!(byte, b':' | b'=' | b',')),
        Follows::Credentials => credentials_follow(rest),
        Follows::Pipe => reader_follows(rest),
        Follows::Word => true,
    }
}

/// True if this text stands within the same braces.
fn stands_beside(bytes: &[u8], place: usize, text: &str) -> bool {
    let is_brace = |byte: &u8| matches!(byte, b'{' | b'}');
    let before = bytes[place.saturating_sub(BRACES)..place].rsplit(is_brace).next();
    let after = bytes[place..bytes.len().min(place + BRACES)].split(is_brace).next();
    let mut parts = [before, after].into_iter().flatten();
    parts.any(|part| memmem::find(part, text.as_bytes()).is_some())
}

/// True if something like `user:password@` or `token@` comes before the path of a URL.
fn credentials_follow(rest: &[u8]) -> bool {
    for (at, byte) in rest.iter().enumerate().take(640) {
        match byte {
            b'@' if at >= 20 || rest[..at].contains(&b':') => return true,
            b'/' | b'"' | b'\'' | b'<' | b'>' | b'`' | 0..=b' ' => return false,
            _ => {}
        }
    }
    false
}

/// True if a command that reads a password follows behind a pipe on the same line.
fn reader_follows(rest: &[u8]) -> bool {
    let line = &rest[..rest.len().min(260)];
    let Some(pipe) = memchr(b'|', line) else { return false };
    let reader = &rest[pipe..rest.len().min(pipe + 64)];
    let readers = [
        "-S",
        "login",
        "passwd",
        "kinit",
        "cryptsetup",
        " su",
        "realm join",
        "secret",
        "env add",
        "env:set",
        "insert",
        "base64",
        "-token",
        "-stdin",
    ];
    readers.iter().any(|name| memmem::find(reader, name.as_bytes()).is_some())
}

/// True if the escape that begins here stands for a printable ASCII character, which a keyword or a tag
/// may contain, or belongs to a word of another language.
fn hides_something(bytes: &[u8], word: &Range<usize>) -> bool {
    word.len() > 4
        || &bytes[word.clone()] == br"\/"
        || matches!(bytes.get(word.end), Some(b'2'..=b'7'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for (index, rule) in RULES.iter().enumerate() {
            assert_eq!(
                pattern(index).is_some(),
                matches!(rule.finder, Finder::Pattern(_)),
                "{}",
                rule.name
            );
        }
    }

    #[test]
    fn the_patterns_take_little_memory() {
        let sizes = (0..RULES.len()).filter_map(|index| Some((pattern(index)?.size(), index)));
        let sizes: Vec<_> = sizes.collect();
        let total: usize = sizes.iter().map(|(size, _)| size).sum();
        let (largest, index) = sizes.into_iter().max().unwrap();
        // A large bound on the length of a value makes a pattern large.
        assert!(total < 6 << 20, "{total}");
        assert!(largest < 128 << 10, "{}: {largest}", RULES[index].name);
    }

    #[test]
    fn hostile_text_takes_one_walk() {
        // Each of these would take minutes if any text were examined repeatedly.
        for unit in [
            "password=",
            "eyJ",
            "-----BEGIN PRIVATE KEY-----",
            "eyJaaaaaaaaaa.",
            "://",
            "://a:b",
            "sk-",
            "--sk-",
            "-eyJ",
            "xxxx.glpat-",
            "token: \"",
            "authorization: bearer ",
            "key=\\\"",
            "0123456789:AA",
            "\\u00",
            "password,\n",
            "UEFTU1dPUkQ",
            "-----BEGIN PRIVATE KEY-----AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
        ] {
            let text = unit.repeat(300_000 / unit.len());
            let _ = find(&text, |_, _| false);
            let _ = glance(text.as_bytes());
        }
    }
}
