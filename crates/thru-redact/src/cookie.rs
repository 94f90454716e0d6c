//! Cookies: the values that stand for a session.

use std::ops::Range;

use crate::checks::{is_filler, is_masked, is_reference, looks_random};

/// The most bytes of a header that are read.
const LONGEST: usize = 4096;

/// Parts of the names of cookies that stand for a session.
const SESSIONS: [&str; 13] = [
    "sess",
    "sid",
    "auth",
    "token",
    "jwt",
    "remember",
    "csrf",
    "xsrf",
    "login",
    "identity",
    "credential",
    "secret",
    "access",
];

/// True if, in text or in raw JSON, cookies may follow the word that ends here.
pub(crate) fn is_possible(bytes: &[u8], end: usize) -> bool {
    bytes[end..].iter().take(12).any(|byte| matches!(byte, b':' | b'=' | b' '))
}

/// Returns the secret values in the header whose name ends here, and all of the header.
pub(crate) fn find(text: &str, end: usize) -> Option<(Range<usize>, Vec<Range<usize>>)> {
    let bytes = text.as_bytes();
    let start = value_start(bytes, end)?;
    let near = &bytes[start..bytes.len().min(start + LONGEST)];
    let length = near
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\'))
        .unwrap_or(near.len());
    let stop = text.floor_char_boundary(start + length);
    let secrets = find_in_value(text.get(start..stop)?);
    (!secrets.is_empty()).then(|| {
        (
            end..stop,
            secrets.into_iter().map(|range| start + range.start..start + range.end).collect(),
        )
    })
}

/// Returns the start of the first pair: after `Cookie: `, `"cookie": "`, `--cookie '`.
fn value_start(bytes: &[u8], end: usize) -> Option<usize> {
    let mut at = end;
    let mut signs = 0;
    while let Some(byte) = bytes.get(at).filter(|_| at < end + 12) {
        match byte {
            b':' | b'=' => signs += 1,
            b' ' | b'"' | b'\'' | b'\\' | b'`' | b'2' => {}
            _ => break,
        }
        at += 1;
    }
    let separated = signs > 0 || bytes.get(end) == Some(&b' ');
    (at > end && signs <= 1 && separated).then_some(at)
}

/// Returns the secret values in `name=value; name=value`.
pub(crate) fn find_in_value(header: &str) -> Vec<Range<usize>> {
    let mut secrets = Vec::new();
    let mut at = 0;
    for pair in header.split(';') {
        if let Some((name, value)) = pair.split_once('=') {
            let start = at + name.len() + 1;
            let value = value.trim_end();
            if is_session(name.trim(), value) {
                secrets.push(start..start + value.len());
            }
        }
        at += pair.len() + 1;
    }
    secrets
}

fn is_session(name: &str, value: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_name = !name.is_empty()
        && name.len() <= 80
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if !is_name
        || value.len() < 8
        || value.contains(char::is_whitespace)
        || is_masked(value)
        || is_filler(value)
        || is_reference(value)
    {
        return false;
    }
    let telling = SESSIONS.iter().any(|word| lower.contains(word));
    let varied = value.bytes().any(|byte| byte.is_ascii_digit()) || looks_random(value);
    (telling && varied && !value.contains('('))
        || (value.len() >= 24 && looks_random(value) && !lower.starts_with("_ga"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_found_and_settings_are_not() {
        let values = |text: &str| -> Vec<String> {
            let end = text.to_ascii_lowercase().find("cookie").unwrap() + 6;
            let found = find(text, end).map(|(_, secrets)| secrets).unwrap_or_default();
            found.into_iter().map(|range| text[range].to_owned()).collect()
        };
        assert_eq!(values("Cookie: theme=dark; sessionid=a8f3kl09xq; lang=en"), ["a8f3kl09xq"]);
        assert_eq!(values("Set-Cookie: connect.sid=s%3Aa8f3kl09; Path=/"), ["s%3Aa8f3kl09"]);
        assert_eq!(values(r#"{"cookie":"auth_token=a8f3kl09xq"}"#), ["a8f3kl09xq"]);
        assert_eq!(values("curl --cookie 'sid=a8f3kl09xq' x"), ["a8f3kl09xq"]);
        assert!(values("Cookie: theme=dark-mode-2; _ga=GA1.2.123456.78").is_empty());
        assert!(values("cookie jar is here").is_empty());
    }
}
