//! Private keys in armour: `-----BEGIN … PRIVATE KEY-----` and the key after it, complete or truncated.
//!
//! The header alone is not a secret, and neither is a header followed by words.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;

use crate::pattern::Pattern;

/// The beginning of the header, for the prefilter.
pub(crate) const HEAD: &str = "-----begin ";

/// The maximum distance of a footer from its header.
const LONGEST: usize = 64 * 1024;

/// The header, with the name of the kind of key.
static HEAD_PATTERN: Pattern = Pattern::at_start(
    r"-----BEGIN (?:(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----",
);

/// A body without a footer: lines of base64, with the separators between lines in source code, in
/// escaped strings and in listings with line numbers.
static BODY_PATTERN: LazyLock<Pattern> = LazyLock::new(|| {
    let between = r#"(?:\s|\\+[nrt]|["'`+,\\>|]|\n-|\d{1,6}(?:→|\t|:|\|))*"#;
    let headers = r"(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]{1,120}";
    let lines = format!(r"(?:{between}{headers})*(?:{between}[A-Za-z0-9+/=]{{16,}})+");
    let last_line = r"(?:\s|\\+[nrt]|\d{1,6}(?:→|\t))+[A-Za-z0-9+/=]{1,15}";
    // The separator after a short last line is not part of it.
    Pattern::composed(format!(
        r#"(?P<ended>{lines}{last_line})(?:\s|\\|["'`]|\z)|(?P<cut>{lines})"#
    ))
});

/// True if the header of a private key may begin here, in text or in raw JSON.
pub(crate) fn is_possible(bytes: &[u8], start: usize) -> bool {
    let window = &bytes[start..bytes.len().min(start + 80)];
    memmem::find(window, b"PRIVATE KEY").is_some()
        || memmem::find(window, b"OpenVPN Static key").is_some()
}

/// Returns the private key whose header begins here.
pub(crate) fn find(text: &str, start: usize) -> Option<Range<usize>> {
    let window_end = text.floor_char_boundary(text.len().min(start + 80));
    let body_start = start + HEAD_PATTERN.find(text.get(start..window_end)?)?.end;
    let body_limit = text.floor_char_boundary(text.len().min(body_start + LONGEST));
    let rest = &text[body_start..body_limit];
    // Only up to the next dashes: they belong to the footer, or else to the header of the next key.
    if let Some(length) = rest.find("-----")
        // In a diff another dash comes first.
        && let dash = usize::from(rest[length + 5..].starts_with('-'))
        && let length = length + dash
        && let Some(foot) = rest[length + 5..].strip_prefix("END ")
        && let Some(foot_length) =
            foot.get(..foot.floor_char_boundary(64)).and_then(|near| near.find("-----"))
        && base64_bytes(&rest[..length]) >= 32
    {
        return Some(start..body_start + length + 5 + 4 + foot_length + 5);
    }
    let groups = BODY_PATTERN.captures(rest)?;
    let body = groups.name("ended").or_else(|| groups.name("cut"))?;
    (base64_bytes(body.as_str()) >= 32).then(|| start..body_start + body.end())
}

/// Returns the number of bytes in runs of base64 too long for words.
fn base64_bytes(body: &str) -> usize {
    body.split(|character: char| {
        !(character.is_ascii_alphanumeric() || matches!(character, '+' | '/' | '='))
    })
    .map(str::len)
    .filter(|length| *length >= 16)
    .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

    fn head() -> String {
        ["-----BEGIN RSA PRIV", "ATE KEY-----"].concat()
    }

    fn foot() -> String {
        ["-----END RSA PRIV", "ATE KEY-----"].concat()
    }

    #[test]
    fn whole_and_cut_off_keys_are_found() {
        for text in [
            format!("{}\n{BODY}\n{BODY}\n{}", head(), foot()),
            format!("{}\\n{BODY}\\n{BODY}\\nab==\\n{}", head(), foot()),
            format!("{}\n     2→{BODY}\n     3→{BODY}", head()),
            format!("{}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{BODY}", head()),
            format!("{}\" +\n  \"{BODY}\" +\n  \"{BODY}", head()),
        ] {
            assert_eq!(find(&text, 0), Some(0..text.len()), "{text}");
        }
    }

    #[test]
    fn a_head_without_a_key_is_no_secret() {
        for text in [
            head(),
            format!("{} and so on, in words only", head()),
            format!("{}\n...\n{}", head(), foot()),
            "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC".to_owned(),
        ] {
            assert_eq!(find(&text, 0), None, "{text}");
        }
    }
}
