//! Titles and paths as they are shown.

/// The most characters that a title has.
pub const TITLE_LENGTH: usize = 100;

/// Returns the last component of a path of any system.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
