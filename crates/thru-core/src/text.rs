//! Titles and paths as they are shown.

use std::borrow::Borrow;

/// The most characters that a title has.
pub const TITLE_LENGTH: usize = 100;

/// Directories of files that tools fetch or make.
const MADE_BY_TOOLS: [&str; 8] =
    ["node_modules", "site-packages", "vendor", ".venv", ".cache", "__pycache__", "target", "dist"];

/// Returns true for a path in a directory of files that tools fetch or make.
pub fn is_made_by_tools(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| MADE_BY_TOOLS.contains(&part))
}

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

/// Returns the plural of an English noun: `sessions`, `days`, `memories`, `matches`.
pub fn plural_noun(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if noun.ends_with("ch") => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// Returns the first of some names, and the number of all others: `a, b and 3 more`.
pub fn first_names<S: Borrow<str>>(names: &[S], most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    names[..names.len() - more].join(", ") + &rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_fetch_or_make_is_known_by_its_directory() {
        for path in ["web/node_modules/x/index.js", "target/debug/a", "C:\\p\\dist\\a.js", "vendor"]
        {
            assert!(is_made_by_tools(path), "{path}");
        }
        for path in ["src/cache/mod.rs", "src/target.rs", "docs/vendors.md"] {
            assert!(!is_made_by_tools(path), "{path}");
        }
    }
}
