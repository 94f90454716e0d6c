//! Titles and paths as they are shown.

/// The most characters that a title has.
pub const TITLE_LENGTH: usize = 100;

/// Returns the last component of a path of any system.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns the plural of an English noun: `sessions`, `days`, `memories`.
pub fn plural_noun(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}
