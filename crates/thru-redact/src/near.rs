//! A drawn value beside a telling name, whatever stands between the two: a call, a flag, a column, a sentence in any language.
//!
//! The last resort of [`crate::assignment`]. It knows no notation, so the value must look drawn, and nothing between the two may
//! tell of something else.

use std::ops::Range;

use crate::checks::{is_made_up, is_masked, is_uuid, letters_in_words, looks_random};
use crate::names::{Kind, Telling, is_compound, is_constant_name};
use crate::value::is_public;

/// The most bytes between a name and its value.
const GAP: usize = 48;
/// The most words between them.
const WORDS: usize = 5;
/// The fewest bytes of a value.
const SHORTEST: usize = 20;
/// The fewest of one that belongs to the name of a constant.
const SHORTEST_OF_CONSTANT: usize = 12;
/// The fewest letters, digits and dashes in a row that a value has.
const RUN: usize = 16;
/// The most bytes of a value.
const LONGEST: usize = 400;

/// The classes that drawn values are made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Small letters, capitals and digits, or base64.
    Mixed,
    /// Hexadecimal digits of a usual length. Digests look the same.
    Hex,
    /// Letters of one case and digits.
    Plain,
    /// The same, but fewer, or hexadecimal digits of another length.
    Short,
    Uuid,
}

/// Words that tell that the value is something else.
#[rustfmt::skip]
const OTHERS: [&str; 43] = [
    "hash", "sha1", "sha256", "sha512", "sha", "digest", "commit", "checksum", "fingerprint", "thumbprint", "etag", "integrity", "uuid",
    "public", "id", "ids", "version", "url", "path", "file", "cache", "nonce", "signature", "revision", "rev", "ref", "image", "session",
    "request", "trace", "kid", "cert", "certificate", "arn", "kms", "branch", "tag", "build", "job", "run", "page", "address", "docker",
];

/// Words before a sign that leave the value to the name before them.
#[rustfmt::skip]
const NEUTRAL: [&str; 22] = [
    "value", "val", "is", "to", "with", "default", "data", "string", "str", "new", "set", "v", "secret", "password", "token", "key", "prod",
    "production", "live", "staging", "now", "content",
];

/// True if, in text or in raw JSON, a value may be near the name around this word. A fast check that rules out most names.
pub(crate) fn is_possible(bytes: &[u8], word: &Range<usize>, name: &Range<usize>) -> bool {
    let written = &bytes[name.clone()];
    if is_other_word(&bytes[word.start..], word.len()) || written.eq_ignore_ascii_case(b"key") {
        return false;
    }
    let is_constant = is_constant_name(written);
    let is_any = is_constant || is_compound(written);
    let fewest = if is_constant { SHORTEST_OF_CONSTANT } else { RUN };
    // In raw JSON, escapes lengthen what stands between.
    let before = if is_any { 2 * GAP } else { 0 };
    let window = &bytes[name.start.saturating_sub(before)..bytes.len().min(name.end + 2 * GAP)];
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    // A run of this length holds one of each `fewest` bytes in a row.
    let mut at = fewest - 1;
    while at < window.len() {
        let back = window[..=at].iter().rev().take_while(is_part).count();
        let ahead = window[at + 1..].iter().take_while(is_part).count();
        let run = &window[at + 1 - back..at + 1 + ahead];
        if back > 0 && run.len() >= fewest {
            let digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
            let is_mixed =
                || run.iter().any(u8::is_ascii_uppercase) && run.iter().any(u8::is_ascii_lowercase);
            if digits > 0 && is_any
                || digits > 2 && !run.contains(&b'-')
                || digits > 1 && is_mixed()
            {
                return true;
            }
        }
        at += fewest + if back > 0 { ahead } else { 0 };
    }
    false
}

/// True for the beginning of another word: `keyboard`, `tokens`, `passed`.
fn is_other_word(text: &[u8], length: usize) -> bool {
    let (word, rest) = text.split_at(length);
    rest.first().is_some_and(u8::is_ascii_lowercase)
        && match word.last() {
            Some(b's') => {
                !rest.starts_with(b"w") && !rest.starts_with(b"p") && !rest.starts_with(b"c")
            }
            Some(b'h') => !rest.starts_with(b"orization"),
            Some(b't' | b'l') => !rest.starts_with(b"s"),
            last => last.is_some_and(u8::is_ascii_lowercase),
        }
}

/// Returns the drawn value near this name.
pub(crate) fn find(text: &str, name: &Range<usize>, telling: Telling) -> Option<Range<usize>> {
    let word = text.get(name.clone())?;
    let is_compound = is_compound(word.as_bytes());
    let is_constant = is_constant_name(word.as_bytes());
    let admits = |form: Form, gap: &str| match form {
        Form::Short => is_constant && telling.kind != Kind::SomeKey && gap.len() <= 24,
        Form::Mixed => telling.kind != Kind::SomeKey || is_compound,
        Form::Plain => is_compound || telling.kind == Kind::Password,
        Form::Hex => {
            (is_compound || telling.kind == Kind::Password) && telling.kind != Kind::SomeKey
        }
        Form::Uuid => {
            is_compound && matches!(telling.kind, Kind::Key | Kind::Secret) && gap.len() <= 16
        }
    };
    let found = behind(text, name.end, &admits);
    // `token` and `secret` are words of many sentences.
    found.or_else(|| is_compound.then(|| ahead(text, name.start, &admits)).flatten())
}

/// Returns the value behind the name that ends here.
fn behind(text: &str, end: usize, admits: &impl Fn(Form, &str) -> bool) -> Option<Range<usize>> {
    let ceiling = text.floor_char_boundary(text.len().min(end + GAP + LONGEST));
    let line = text.get(end..ceiling)?.split(['\n', '\r']).next()?;
    if let Some(found) = below(text, end, line, admits) {
        return Some(found);
    }
    for run in runs(line).take(2 * WORDS) {
        if run.start > GAP {
            return None;
        }
        let Some(form) = form_of(line, &run) else { continue };
        let gap = &line[..run.start];
        let owner = gap.rfind([':', '=']).map(|sign| gap[..sign].trim_end());
        let owned = owner.is_none_or(|owner| {
            let word = last_word(owner);
            word.is_empty() || NEUTRAL.contains(&word.to_ascii_lowercase().as_str())
        });
        let is_one = owned && joins(gap) && admits(form, gap);
        return is_one.then(|| end + run.start..end + run.end);
    }
    None
}

/// Returns the value alone on the line below the name that ends a line, as in a heading or on a page with labels.
fn below(
    text: &str,
    end: usize,
    line: &str,
    admits: &impl Fn(Form, &str) -> bool,
) -> Option<Range<usize>> {
    let is_mark = |part: char| part.is_whitespace() || "\"'`*:_|>#=".contains(part);
    if line.len() > 8 || !line.trim_matches(is_mark).is_empty() {
        return None;
    }
    let ceiling = text.floor_char_boundary(text.len().min(end + line.len() + LONGEST));
    let rest = text.get(end + line.len()..ceiling)?;
    let start = rest.len() - rest.trim_start_matches(is_mark).len();
    if rest[..start].matches('\n').count() > 3 {
        return None;
    }
    let next = rest[start..].split(['\n', '\r']).next()?;
    let run = runs(next).next()?;
    let is_alone = run.start == 0 && next[run.end..].trim_matches(is_mark).is_empty();
    let form = form_of(next, &run).filter(|_| is_alone)?;
    let start = end + line.len() + start;
    admits(form, "").then(|| start + run.start..start + run.end)
}

/// Returns the value before the name that starts here, as in `use VALUE as NAME`.
fn ahead(text: &str, start: usize, admits: &impl Fn(Form, &str) -> bool) -> Option<Range<usize>> {
    let floor = text.ceil_char_boundary(start.saturating_sub(GAP + LONGEST));
    let line = text.get(floor..start)?.rsplit(['\n', '\r']).next()?;
    let floor = start - line.len();
    let run = runs(line).filter(|run| run.len() >= SHORTEST_OF_CONSTANT).last()?;
    let form = form_of(line, &run)?;
    let gap = &line[run.end..];
    // What begins a line is the id of a commit or of a row.
    let head = line[..run.start].trim();
    let begins = head.is_empty() || head.ends_with(":\"");
    let is_told = !begins && gap.starts_with([' ', '"', '\'', '`']);
    let is_one = is_told
        && gap.len() <= GAP
        && gap.contains(' ')
        && !gap.contains([':', '=', ',', '(', '[', '{', '<', '|', '/'])
        && joins(gap)
        && admits(form, gap);
    is_one.then(|| floor + run.start..floor + run.end)
}

/// True if what stands between a name and a value joins the two.
fn joins(gap: &str) -> bool {
    let ends = [". ", "; ", "? ", "! ", "),", "},", "],", "\",\"", "&&", "||", "->"];
    let words =
        || gap.split(|part: char| !part.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    !ends.iter().any(|end| gap.contains(end))
        && !gap.contains("://")
        && words().count() <= WORDS
        && !words().any(|word| OTHERS.contains(&word.to_ascii_lowercase().as_str()))
}

/// Returns the last run of letters and digits of a text.
fn last_word(text: &str) -> &str {
    let text = text.trim_end_matches(|part: char| !part.is_ascii_alphanumeric());
    text.rsplit(|part: char| !part.is_ascii_alphanumeric()).next().unwrap_or_default()
}

/// Returns the runs of characters that values are made of.
fn runs(line: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = line.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+/.~".contains(&byte);
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !is_part(bytes[at]) {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && is_part(bytes[at]) {
            at += 1;
        }
        let mut end = at;
        while end > start && matches!(bytes[end - 1], b'.' | b'-') {
            end -= 1;
        }
        if end == at {
            end += bytes[at..].iter().take(2).take_while(|byte| **byte == b'=').count();
            at = end;
        }
        (start < bytes.len()).then_some(start..end)
    })
}

/// Returns the form of a drawn value; `None` if it is none.
fn form_of(line: &str, run: &Range<usize>) -> Option<Form> {
    let value = line.get(run.clone())?;
    let bytes = value.as_bytes();
    let before = line[..run.start].chars().next_back();
    let after = line[run.end..].chars().next();
    let is_part_of_more = before.is_some_and(|before| "@#%$&\\?".contains(before))
        || after.is_some_and(|after| "@(:?#%".contains(after));
    if bytes.len() < SHORTEST_OF_CONSTANT
        || is_part_of_more
        || is_public(value)
        || is_masked(value)
        || is_made_up(value)
    {
        return None;
    }
    if is_uuid(value) {
        return Some(Form::Uuid);
    }
    let has = |test: fn(&u8) -> bool| bytes.iter().any(test);
    let is_base64 = has(|byte| matches!(byte, b'+' | b'/'));
    if !looks_random(value)
        || letters_in_words(bytes) * 10 > bytes.len() * 5
        || has(|byte| matches!(byte, b'.' | b'~'))
        || is_base64
            && !(bytes.len() == 40 || value.ends_with('=') && bytes.len().is_multiple_of(4))
        || !has(u8::is_ascii_digit)
    {
        return None;
    }
    let is_plain = bytes.iter().all(u8::is_ascii_alphanumeric);
    if bytes.len() < SHORTEST {
        return is_plain.then_some(Form::Short);
    }
    let (upper, lower) = (has(u8::is_ascii_uppercase), has(u8::is_ascii_lowercase));
    if upper && lower {
        return Some(Form::Mixed);
    }
    if bytes.iter().all(u8::is_ascii_hexdigit) {
        let is_usual = matches!(bytes.len(), 32 | 40 | 48 | 64 | 128);
        return Some(if is_usual { Form::Hex } else { Form::Short });
    }
    is_plain.then_some(if bytes.len() >= 24 { Form::Plain } else { Form::Short })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    fn found<'a>(text: &'a str, word: &str) -> Option<&'a str> {
        let start = text.find(word).unwrap();
        let name = start..start + word.len();
        let telling = names::judge(word.as_bytes()).unwrap();
        let secret = find(text, &name, telling)?;
        assert!(is_possible(text.as_bytes(), &name, &name), "{text}");
        Some(&text[secret])
    }

    #[test]
    fn drawn_values_beside_a_name_are_found() {
        let (mixed, hex) = ("q7Xv2LmP0RtZs9KdW4hY8bNc3", "5f2018a2c109e394a6174e9aa4331ddc");
        for (text, value) in [
            (format!("Mets {mixed} dans la variable ACME_TOKEN, merci"), mixed),
            (format!("use {hex} as ACME_SECRET_KEY for now"), hex),
            (format!("### ACME_TOKEN\n\n`{mixed}`\n"), mixed),
            (format!("wacht ACME_TOKEN op {mixed}"), mixed),
            (format!("wg set wg0 ACME_TOKEN <(echo {mixed})"), mixed),
            (format!("acme reset-ACME_TOKEN {mixed}"), mixed),
            (format!("put(ACME_TOKEN, of({mixed}))"), mixed),
        ] {
            let name = if text.contains("ACME_TOKEN") { "ACME_TOKEN" } else { "ACME_SECRET_KEY" };
            assert_eq!(found(&text, name), Some(value), "{text}");
        }
    }

    #[test]
    fn values_of_others_stay() {
        let (mixed, hex) =
            ("q7Xv2LmP0RtZs9KdW4hY8bNc3", "5f2018a2c109e394a6174e9aa4331ddc0a1b2c3d");
        for text in [
            format!("{hex} rotate ACME_TOKEN"),
            format!("ACME_TOKEN was added in commit {hex}"),
            format!("ACME_TOKEN=$X BUILD={mixed}"),
            format!("ACME_TOKEN is missing. See {mixed}"),
            format!("ACME_TOKEN\n{mixed} is a build"),
            format!("ACME_TOKEN (public part: {mixed})"),
            format!("ACME_TOKEN from https://acme.io/{mixed}"),
        ] {
            assert_eq!(found(&text, "ACME_TOKEN"), None, "{text}");
        }
    }
}
