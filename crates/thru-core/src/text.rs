//! Titles and paths as they are shown.

/// The most characters that a title has.
pub const TITLE_LENGTH: usize = 100;

/// Returns the last component of a path of any system.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns a text as a part of an address. Of the characters that have a meaning in addresses, `plain` ones stay.
pub fn percent_encoded(text: &str, plain: &[u8]) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            byte if plain.contains(&byte) => encoded.push(char::from(byte)),
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// Returns the plural of an English noun: `sessions`, `days`, `memories`.
pub fn plural_noun(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}
