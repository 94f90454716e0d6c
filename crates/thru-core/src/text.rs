//! What texts and paths are to those who read them.

/// Characters that a title has at most.
pub const TITLE_LENGTH: usize = 80;

/// The last component of a path, whatever system wrote it.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Whether nobody sees the character, though models and programs read it: marks of writing direction,
/// joiners, tags and the like. Control characters are not among them.
pub const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e01ef}'
    )
}
