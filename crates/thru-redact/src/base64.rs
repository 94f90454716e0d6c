//! Base64: decodes it, to see if it holds a secret.
//!
//! Texts are full of base64, so only that is decoded which begins as the base64 of a secret does, or stands near a word
//! that tells of it.

use std::ops::Range;

use crate::names::Telling;
use crate::value;

/// The base64 of what secrets begin with, in lower case.
#[rustfmt::skip]
pub(crate) const BEGINNINGS: [&str; 45] = [
    "z2hwx", "z2hvx", "z2hzx", "z2h1x", "z2l0ahvix3bhdf", "z2xwyxqt", "qutjq", "qvnjq", "c2styw50l", "c2stchjvai", "c2stb3itdjet", "c2tfbgl2zv", "c2tfdgvzdf", "cmtfbgl2zv", "eg94yi", "eg94cc", "egfwcc", "qul6y", "bnbtx", "chlwas", "zg9wx3yxx", "r09du1byl", "eweyos", "d2hzzwnf", "c2hwyxrf", "zgnrcl9wyxrf", "ahzzl", "cg9zdgdyzxm6ly", "cg9zdgdyzxnxbdovl", "bxlzcww6ly", "bw9uz29ky", "cmvkaxm6ly", "yw1xcdovl", "ahr0chm6ly9ob29rcy5zbgfja", "rgvmyxvsdevuzhbvaw50c1byb3rvy29s", "qudflvnfq1jfvc1lrv", "z2xzyv", "bglux2fwav", "qvrbvfqz", "c2jwx", "zgfwa", "ls0tls1crudjti", "eyjhdxro", "eyj0exblijoic2vydmljzv9hy2nvdw50", "uhvuvfktvxnlci1lzx",
];

/// The base64 of the names of secrets, as it reads at each of the three places in a group, in lower case.
#[rustfmt::skip]
pub(crate) const NAMES: [&str; 18] = [
    "ueftu1dpuk", "bbu1nxt1je", "qqvntv09sr", "u0vdukvu", "nfq1jfv", "trunsrv", "ve9lru", "rps0vo", "ut0tft", "cgfzc3dvcm",
    "bhc3n3b3jk", "wyxnzd29yz", "qvbjx0tfw", "fqsv9lrv", "buelfs0vz", "x0tfwt", "9lrvk9", "fs0vzp",
];

/// Words near which everything in base64 is decoded, in lower case.
pub(crate) const CONTEXTS: [&str; 16] = [
    "kind: secret",
    "kind\":\"secret\"",
    "kind\": \"secret\"",
    "kind\\\":\\\"secret",
    "kind\\\": \\\"secret",
    "base64 -d",
    "base64 --decode",
    "b64decode(",
    "atob(",
    ".dockerconfigjson",
    "frombase64string",
    "{.data.",
    "_b64=",
    "_b64: ",
    "_base64=",
    "_base64: ",
];

/// The most bytes of base64 that are decoded.
const LONGEST: usize = 64 * 1024;
/// The bytes before a telling word that are searched, and after it.
const NEAR: (usize, usize) = (1200, 4096);
/// The fewest bytes of base64 that are decoded near a telling word.
const SHORTEST: usize = 16;

/// The keys of a Kubernetes secret whose values are none.
const HARMLESS_KEYS: [&str; 10] = [
    "user",
    "username",
    "host",
    "hostname",
    "port",
    "name",
    "namespace",
    "ca.crt",
    "tls.crt",
    "database",
];

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Returns the base64 that begins here, with its padding; lines of one block are taken together.
fn run(bytes: &[u8], start: usize) -> Range<usize> {
    let rest = &bytes[start..bytes.len().min(start + LONGEST)];
    let length = rest.iter().take_while(|byte| is_base64(**byte)).count();
    let padding = rest[length..].iter().take(2).take_while(|byte| **byte == b'=').count();
    start..start + length + padding
}

/// Returns the base64 that begins here, if it holds a secret.
pub(crate) fn find(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if start > 0
        && (is_base64(bytes[start - 1])
            && !bytes[start.saturating_sub(2)..start].starts_with(b"\\"))
    {
        return None;
    }
    let found = run(bytes, start);
    // A part of a group of four may be cut off.
    let whole = found.start
        ..found.end - (text[found.clone()].trim_end_matches('=').len() % 4 == 1) as usize;
    let decoded = decode_lossy(&text[whole])?;
    // The first line of a block holds little more than the head of the key.
    if decoded.starts_with("-----BEGIN ") && decoded.contains("PRIVATE KEY-----") {
        return Some(found.start..block_end(text, &found));
    }
    holds_secret(&decoded).then_some(found)
}

/// Returns the end of a block of base64 whose first line this is: its lines are of one length, but for the last.
fn block_end(text: &str, first: &Range<usize>) -> usize {
    let bytes = text.as_bytes();
    let mut end = first.end;
    while end - first.start < LONGEST {
        let between = bytes[end..].iter().take(80);
        let between = between.take_while(|byte| b" \t\r\n+>#|*".contains(byte)).count();
        let line = run(bytes, end + between);
        let is_broken = memchr::memchr(b'\n', &bytes[end..end + between]).is_some();
        // What a colon ends is the name of something else.
        let is_name = bytes.get(line.end) == Some(&b':');
        let is_over = bytes[end - 1] == b'=';
        if !is_broken || is_name || is_over || line.len() < 4 || line.len() > first.len() {
            break;
        }
        end = line.end;
        if line.len() < first.len() {
            break;
        }
    }
    end
}

/// True if the base64 around this name may hold a secret, in text or in raw JSON.
pub(crate) fn may_be_within(bytes: &[u8], name: &Range<usize>) -> bool {
    let near = &bytes[name.start.saturating_sub(SHORTEST)..bytes.len().min(name.end + SHORTEST)];
    near.iter().filter(|byte| is_base64(**byte)).count() >= name.len() + SHORTEST / 2
}

/// Returns the base64 around this name from `floor` on, and true if it holds a secret.
pub(crate) fn find_within(
    text: &str,
    name: &Range<usize>,
    floor: usize,
) -> Option<(Range<usize>, bool)> {
    let bytes = text.as_bytes();
    let floor = floor.max(name.start.saturating_sub(LONGEST));
    let before = bytes[floor..name.start].iter().rev().take_while(|byte| is_base64(**byte));
    let found = run(bytes, name.start - before.count());
    let length = text[found.clone()].trim_end_matches('=').len();
    let whole = found.start..found.end - usize::from(length % 4 == 1);
    let decoded = decode_lossy(text.get(whole)?)?;
    let holds = found.len() > SHORTEST && holds_secret(&decoded);
    Some((found, holds))
}

/// Returns the secrets in base64 near a telling word, from `floor` on, and the end of what was searched.
pub(crate) fn find_near(
    text: &str,
    word: &Range<usize>,
    floor: usize,
) -> (Vec<Range<usize>>, usize) {
    let bytes = text.as_bytes();
    let is_manifest = bytes[word.start].eq_ignore_ascii_case(&b'k');
    let mut at = floor.max(word.start.saturating_sub(NEAR.0)).min(bytes.len());
    let ceiling = bytes.len().min(word.end + NEAR.1);
    let mut found = Vec::new();
    while at < ceiling {
        if !is_base64(bytes[at]) {
            at += 1;
            continue;
        }
        let run = run(bytes, at);
        at = run.end.max(at + 1);
        if run.len() < if is_manifest { 8 } else { SHORTEST } || run.len() % 4 == 1 {
            continue;
        }
        let Some(decoded) = decode_text(&text[run.clone()]) else { continue };
        let is_value = is_manifest && is_manifest_value(&text[..run.start], &decoded);
        let is_password = || {
            let text = decoded.trim_end();
            value::is_said(Telling::PASSWORD, b"password", text, false)
                || value::is_said_word(Telling::PASSWORD, b"password", text)
        };
        if is_value || run.len() >= SHORTEST && (holds_secret(&decoded) || is_password()) {
            found.push(run);
        }
    }
    (found, ceiling)
}

/// True for a value of a Kubernetes secret: all of them are secret, but for users and the like.
fn is_manifest_value(before: &str, decoded: &str) -> bool {
    let line = before.rsplit(['\n', '{', ',']).next().unwrap_or_default();
    let Some((key, between)) = line.rsplit_once(':') else { return false };
    let key =
        key.trim_matches(|part: char| part.is_whitespace() || matches!(part, '"' | '\'' | '\\'));
    between.trim_matches([' ', '"', '\'', '\\']).is_empty()
        && !HARMLESS_KEYS.contains(&key.to_ascii_lowercase().as_str())
        && decoded.len() >= 6
        && decoded.bytes().any(|byte| byte.is_ascii_alphabetic())
        && decoded.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_punctuation())
        && !decoded.starts_with("-----BEGIN CERT")
        && !crate::checks::is_filler(decoded)
        && !crate::checks::is_masked(decoded)
}

/// True if the decoded text holds a secret itself.
pub(crate) fn holds_secret(decoded: &str) -> bool {
    crate::secrets::find(decoded, |_, _| false).edits.iter().any(|edit| {
        matches!(&edit.reason, crate::edits::Reason::Secret(_) | crate::edits::Reason::Assigned(_))
    })
}

/// Returns the decoded text up to the first byte that is none.
fn decode_lossy(text: &str) -> Option<String> {
    let decoded = decode(text)?;
    match String::from_utf8(decoded) {
        Ok(text) => Some(text),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            std::str::from_utf8(&bytes[..valid]).ok().map(str::to_owned)
        }
    }
}

/// Returns the decoded bytes; `None` if the text is no base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4 + 2);
    let (mut word, mut bits) = (0_u32, 0);
    for byte in text.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits).to_le_bytes()[0]);
        }
    }
    (text.len() % 4 != 1).then_some(bytes)
}

/// Returns the decoded text, if it is text.
pub(crate) fn decode_text(text: &str) -> Option<String> {
    let decoded = String::from_utf8(decode(text)?).ok()?;
    let is_text = |part: char| !part.is_control() || matches!(part, '\n' | '\r' | '\t');
    decoded.chars().all(is_text).then_some(decoded)
}

/// True for the base64 of `user:password`.
pub(crate) fn is_login(value: &str) -> bool {
    value.len() >= 12
        && value.len().is_multiple_of(4)
        && value.len() <= 512
        && decode_text(value).is_some_and(|text| {
            text.is_ascii()
                && text.split_once(':').is_some_and(|(user, password)| {
                    let is_user =
                        |byte: u8| byte.is_ascii_alphanumeric() || b"._@+-".contains(&byte);
                    user.len() >= 2
                        && user.bytes().all(is_user)
                        && password.len() >= 4
                        && !crate::checks::is_filler(password)
                        && !crate::checks::is_masked(password)
                })
        })
}

/// Returns the characters in base64 that these bytes alone determine, if `shift` bytes of others stand before them in a group.
pub(crate) fn encode_at(bytes: &[u8], shift: usize) -> String {
    const CHARACTERS: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
    let first = (6 - shift * 8 % 6) % 6;
    let character = |at: usize| {
        let value = (at..at + 6).fold(0, |value, at| value << 1 | bit(at));
        char::from(CHARACTERS[usize::from(value)])
    };
    (first..bytes.len() * 8)
        .step_by(6)
        .take_while(|at| at + 6 <= bytes.len() * 8)
        .map(character)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        assert_eq!(decode_text("YWRtaW46aHVudGVyMg==").as_deref(), Some("admin:hunter2"));
        assert!(is_login("YWRtaW46aHVudGVyMg=="));
        assert!(!is_login("dXNlcjpwYXNzd29yZA=="));
        assert_eq!(decode("a.b"), None);
        assert_eq!(decode("abcde"), None);
    }
}
