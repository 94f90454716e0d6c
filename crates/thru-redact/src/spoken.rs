//! Secrets of which the text beside them speaks: a remark that asks to keep a value, or tells what it is, and lists of codes.
//!
//! Within a fixed number of lines around a word, so it is linear on any input.

use std::ops::Range;

use memchr::memchr;

use crate::checks::{Check, is_uuid, looks_random};
use crate::made::{self, Made};
use crate::names::{Kind, Telling};
use crate::told::{self, is_about_else, line_around};

/// Words by which people ask that something be kept.
#[rustfmt::skip]
pub(crate) const WARNINGS: [&str; 42] = [
    "keep private", "keep it private", "keep this private", "keep them private", "kept private", "do not publish", "don't publish", "never publish",
    "do not share", "don't share", "not share this", "never share", "do not commit", "don't commit", "never commit", "remove before push",
    "remove before commit", "keep secret", "keep it secret", "keep this secret", "kept secret", "do not leak", "don't leak", "whoever knows",
    "whoever has", "anyone who knows", "anyone who has", "anyone with th", "anyone with it", "like a password", "shared secret", "is secret",
    "is a secret", "to unlock", "unlocks the", "nicht weitergeben", "nicht committen", "no compartir", "no lo compartas", "ne pas partager",
    "non condividere", "não compartilh",
];

/// Words that announce codes, each of which lets in once.
#[rustfmt::skip]
pub(crate) const CODES: [&str; 13] = [
    "recovery code", "backup code", "2fa code", "mfa code", "scratch code", "one-time code", "rescue code", "emergency code", "backup-code",
    "wiederherstellungscode", "códigos de recuperación", "codes de secours", "codici di backup",
];

/// Signs of a remark.
const SIGNS: [&str; 7] = ["# ", "// ", "-- ", "/* ", "<- ", "<-- ", "← "];

/// The most bytes of a remark before the word in it.
const REMARK: usize = 96;
/// The most lines above a remark that it may speak of, and the most of a list.
const ABOVE: usize = 2;
const LIST: usize = 16;

/// Returns the secrets that a warning speaks of: in its line, or if there are none in the lines beside it.
pub(crate) fn warned(text: &str, word: &Range<usize>) -> Vec<Range<usize>> {
    let Some(line) = line_around(text, word.start) else { return Vec::new() };
    let kept = |line: &Range<usize>, is_same: bool| -> Vec<Range<usize>> {
        let given = given(text, line.clone()).into_iter();
        let kept = given.filter(|(name, value)| {
            let value = &text[value.clone()];
            !is_about_else(&name.replace('_', "-"))
                && (is_kept(value) || is_same && (is_code(value) || is_phrase(value)))
        });
        kept.map(|(_, value)| value).collect()
    };
    let found = kept(&line, true);
    if !found.is_empty() || !is_remark(&text[line.clone()]) {
        return found;
    }
    let mut at = line.start;
    for _ in 0..ABOVE {
        let Some(above) = told::line_above(text, at) else { break };
        let found = kept(&above, false);
        if !found.is_empty() {
            return found;
        }
        at = above.start;
    }
    let below = told::next_line(text, line.end);
    below.map(|below| kept(&below, false)).unwrap_or_default()
}

/// The most bytes before a remark, and behind it, that may hold what it speaks of.
const NEAR: usize = 320;

/// True if, in text or in raw JSON, something stands near a warning that it may speak of.
pub(crate) fn may_be_warned(bytes: &[u8], word: &Range<usize>) -> bool {
    let near = bytes[word.start.saturating_sub(NEAR)..bytes.len().min(word.end + NEAR)].iter();
    // Codes are digits alone; words are joined by hyphens.
    let mut run = 0;
    for byte in near {
        run = if byte.is_ascii_digit() || *byte == b'-' { run + 1 } else { 0 };
        if run > 1 || *byte == b'-' {
            return true;
        }
    }
    false
}

/// True if, in text or in raw JSON, a remark may hold the name that starts here.
pub(crate) fn may_be_remark(bytes: &[u8], start: usize) -> bool {
    let near = &bytes[start.saturating_sub(REMARK)..start];
    // A blank ends each sign, and a line may begin with a bracket.
    let is_sign = |blank: &usize| {
        near[*blank] == b' '
            && match &near[..*blank] {
                [.., b'#', b'#'] => false,
                [.., b'#'] | [.., b'/', b'/' | b'*'] | [.., b'-' | b'<', b'-'] => true,
                [.., 0x86, 0x90] => true,
                _ => false,
            }
    };
    let is_bracket = |at: &usize| matches!(near[..*at], [] | [.., b'\n' | b'n']);
    let sign = (0..near.len()).find(is_sign).or_else(|| memchr(b'(', near).filter(is_bracket));
    let Some(sign) = sign.map(|sign| start - near.len() + sign) else { return false };
    told::holds_password(&bytes[sign.saturating_sub(NEAR)..sign], usize::MAX)
}

/// Returns the secret that a remark with this name speaks of: before it on its line, or above it if it has one of its own.
pub(crate) fn remarked(text: &str, start: usize, telling: Telling) -> Option<Range<usize>> {
    let line = line_around(text, start)?;
    let head = &text[line.start..start];
    let bracket = head.trim_start().starts_with('(').then(|| head.len() - head.trim_start().len());
    let sign = SIGNS.iter().filter_map(|sign| head.find(sign)).min().or(bracket)?;
    if head.len() - sign > REMARK || is_about_else(&head[sign..]) {
        return None;
    }
    let is_secret = |value: &str| {
        let is_drawn = || {
            looks_random(value) && value.len() >= 16 && made::is_certain(value) && !is_uuid(value)
        };
        if telling.kind == Kind::Password { is_kept(value) } else { is_drawn() }
    };
    let find = |part: Range<usize>| {
        let mut given = given(text, part).into_iter();
        let is_one = |(name, value): &(&str, Range<usize>)| {
            !is_about_else(&name.replace('_', "-")) && is_secret(&text[value.clone()])
        };
        given.find(is_one).map(|(_, value)| value)
    };
    if !head[..sign].trim().is_empty() {
        // `0x… <- deployer key`
        let code = head[..sign].trim();
        let open = line.start + head.find(code)?;
        let is_alone = head[sign..].starts_with(['<', '←']) && !code.contains(' ');
        let is_key = code.trim_start_matches("0x").len() == 64 && looks_random(code);
        if is_alone && (is_key || is_secret(code)) {
            return Some(open..open + code.len());
        }
        return find(line.start..line.start + sign);
    }
    // A heading speaks of what is below.
    if bracket.is_none() && head[sign..].split_whitespace().count() < 3 {
        return None;
    }
    let mut at = line.start;
    for _ in 0..=ABOVE {
        let above = told::line_above(text, at)?;
        at = above.start;
        if let Some(found) = find(above) {
            return Some(found);
        }
    }
    None
}

/// Returns the codes behind these words and in the lines below.
pub(crate) fn codes(text: &str, word: &Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(first) = line_around(text, word.end) else { return found };
    let mut line = word.end..first.end;
    for nth in 0..LIST {
        let before = found.len();
        let mut at = line.start;
        for piece in text[line.clone()].split_inclusive([' ', '\t', ',', '|', ';']) {
            let is_around = |part: char| !part.is_ascii_alphanumeric();
            let inner = piece.trim_start_matches(is_around);
            let start = at + piece.len() - inner.len();
            let inner = inner.trim_end_matches(is_around);
            if is_one_of_codes(inner) {
                found.push(start..start + inner.len());
            }
            at += piece.len();
        }
        let is_empty = text[line.clone()].trim().is_empty();
        if nth > 0 && !is_empty && found.len() == before || line.end >= text.len() {
            break;
        }
        let Some(next) = told::next_line(text, line.end) else { break };
        line = next;
    }
    if found.len() > 1 { found } else { Vec::new() }
}

/// True for one code of several: digits, or groups of digits and letters.
fn is_one_of_codes(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let groups: Vec<&str> = value.split('-').collect();
    let is_group = |group: &&str| {
        (3..=8).contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if digits == value.len() {
        return (6..=10).contains(&digits) && Check::Number.passes(value);
    }
    let changes = value.as_bytes().windows(2);
    let changes = changes.filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
    match groups.len() {
        1 => (8..=16).contains(&value.len()) && changes.count() > 2 && is_group_of_code(value),
        2..=5 => digits > 1 && groups.iter().all(is_group) && groups[0].len() == groups[1].len(),
        _ => false,
    }
}

fn is_group_of_code(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        || value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

/// True for what is a secret if a text asks to keep it: drawn, numbered, or several words that are joined.
fn is_kept(value: &str) -> bool {
    let is_one = match made::made(value) {
        Some(Made::Joined) => value.split('-').count() > 2,
        Some(Made::Numbered) => true,
        Some(_) => false,
        None => !is_uuid(value),
    };
    is_one && made::is_certain(value)
}

/// True for the digits of a code.
fn is_code(value: &str) -> bool {
    (4..=8).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_digit())
        && Check::Number.passes(value)
}

/// True for words with blanks between them.
fn is_phrase(value: &str) -> bool {
    value.contains(' ') && made::is_phrase(value, false)
}

/// True for a line that is nothing but a remark.
fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    ["#", "//", "--", "/*", "*", "<!--", ";", "<-", "("].iter().any(|sign| line.starts_with(sign))
}

/// Returns what a line gives: what stands between quotation marks, and what a sign gives to a name; each with its name.
fn given(text: &str, line: Range<usize>) -> Vec<(&str, Range<usize>)> {
    let whole = &text[line.clone()];
    let mut found = Vec::new();
    let mut at = 0;
    let mut name = "";
    while let Some(next) = whole[at..].find(['"', '\'', '`', '=', ':']) {
        let place = at + next;
        let sign = whole.as_bytes()[place];
        let rest = &whole[place + 1..];
        at = place + 1;
        match sign {
            b'=' | b':' => {
                let before = whole[..place].trim_end();
                let is_part = |part: char| part.is_ascii_alphanumeric() || "_-.".contains(part);
                name = &before[before.trim_end_matches(is_part).len()..];
                let value = rest.trim_start_matches([' ', '\t']);
                let is_given = sign == b'=' || value.len() < rest.len();
                let end = value.find(|part: char| part.is_whitespace() || "\"'`;,".contains(part));
                let value_at = place + 1 + rest.len() - value.len();
                let end = value_at + end.unwrap_or(value.len());
                if is_given && !name.is_empty() && end > value_at {
                    found.push((name, line.start + value_at..line.start + end));
                    at = end;
                }
            }
            mark => {
                let before = whole[..place].bytes().next_back();
                let opens = before.is_none_or(|before| !before.is_ascii_alphanumeric())
                    || whole[..place].ends_with(['b', 'r', 'f', 'S']);
                let Some(length) = rest.find(char::from(mark)).filter(|_| opens) else { continue };
                // `'Name: VALUE'`
                let label = rest[..length].find(": ").map_or(0, |label| label + 2);
                found.push((name, line.start + at + label..line.start + at + length));
                at += length + 1;
                name = "";
            }
        }
    }
    found
}
