//! File names that every system and every link can hold.

use thru_core::bare_words;
use unicode_normalization::UnicodeNormalization;

/// The most bytes of a name. Encrypted folders take about 140.
const LONGEST: usize = 120;
/// The most bytes of the words in the name of a session's note.
const LONGEST_SLUG: usize = 60;

/// Names of devices on Windows, whatever ending follows.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Returns a name without what file systems or links give a meaning.
pub fn file_name(name: &str) -> String {
    let mut kept = String::new();
    for character in name.nfc() {
        let is_meant = matches!(
            character,
            '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '#' | '^' | '[' | ']' | '%'
        ) || character.is_control()
            || thru_core::is_invisible(character);
        kept.push(if is_meant { ' ' } else { character });
    }
    let kept = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    let kept = thru_core::head(&kept, LONGEST);
    let kept = kept.trim_end_matches(['.', ' ']).trim_start_matches(['.', ' ']);
    if kept.is_empty() {
        return "unnamed".to_owned();
    }
    if is_device(kept) { format!("{kept}_") } else { kept.to_owned() }
}

/// Returns words for a name, in lower case with dashes between them.
pub(crate) fn slug(title: &str) -> String {
    let title: String = title.nfc().collect();
    let mut slug = String::new();
    for word in bare_words(&title).split(' ') {
        if slug.len() + word.len() >= LONGEST_SLUG {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(word);
    }
    if slug.is_empty() { "session".to_owned() } else { slug }
}

/// Returns the form of a name by which file systems that fold case take two names for one.
pub fn folded(name: &str) -> String {
    if name.is_ascii() {
        // Most are: a vault has thousands of paths.
        return name.to_ascii_lowercase();
    }
    name.nfc().flat_map(char::to_lowercase).collect()
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let numbered = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    DEVICES.contains(&stem.as_str())
        || numbered.is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']))
}

/// Returns the name of the note that a file is a conflict copy of, both without the ending: of Syncthing, Dropbox, Nextcloud and Obsidian Sync. Those
/// of iCloud (`name 2`) and OneDrive (`name-HOST`) look like names of people, and are known by the id in them.
pub fn conflict_copy(name: &str) -> Option<&str> {
    if let Some((of, rest)) = name.split_once(".sync-conflict-") {
        let parts: Vec<&str> = rest.split('-').collect();
        let is_number = |part: &str, length| {
            part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        return matches!(parts[..], [day, time, _] if is_number(day, 8) && is_number(time, 6))
            .then_some(of);
    }
    let (of, note) = name.strip_suffix(')')?.rsplit_once(" (")?;
    note.to_lowercase().contains("conflicted copy").then_some(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_nothing_that_means_something() {
        for (name, expected) in [
            ("src/index.rs (rocket)", "src index.rs (rocket)"),
            ("a: b [c] #d ^e | f", "a b c d e f"),
            ("con", "con_"),
            ("COM1.txt", "COM1.txt_"),
            ("LPT10", "LPT10"),
            (".hidden.", "hidden"),
            ("", "unnamed"),
            ("e\u{301}t\u{e9}", "\u{e9}t\u{e9}"),
            ("%%x%%", "x"),
        ] {
            assert_eq!(file_name(name), expected);
        }
        assert!(file_name(&"日本".repeat(100)).len() <= LONGEST);
        assert_eq!(slug("Why a lock per file, and not one?"), "why-a-lock-per-file-and-not-one");
        assert_eq!(slug("…"), "session");
        assert_eq!(folded("Été"), folded("e\u{301}te\u{301}".to_uppercase().as_str()));
    }

    #[test]
    fn conflict_copies_are_recognised() {
        for (name, of) in [
            ("a.sync-conflict-20261122-101010-ABCDEFG", "a"),
            ("a (Ann's conflicted copy 2026-11-22)", "a"),
            ("a (b) (Conflicted copy laptop 202611221010)", "a (b)"),
            ("a (conflicted copy 2026-11-22 101010)", "a"),
        ] {
            assert_eq!(conflict_copy(name), Some(of));
        }
        for name in ["a (b)", "a.sync-conflict-notes", "index.rs (rocket)"] {
            assert_eq!(conflict_copy(name), None);
        }
    }
}
