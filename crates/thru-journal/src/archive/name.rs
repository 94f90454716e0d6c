//! Names of archive entries, safe as paths on every platform. It does no I/O.

use std::fmt;

/// The longest component of a name in bytes: every platform allows 255, and the suffixes of our own
/// files have to fit.
const MAX_COMPONENT: usize = 200;

/// Names that Windows reserves for devices, with any extension.
const DEVICES: [&str; 22] = [
    "CON", "PRN", "AUX", "NUL", "COM1", "COM2", "COM3", "COM4", "COM5", "COM6", "COM7", "COM8",
    "COM9", "LPT1", "LPT2", "LPT3", "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9",
];

/// The name of an archive entry: components separated by `/`, for example
/// `claude-code/-home-u-project/0fe553fc.jsonl`.
///
/// A component that some file system could not hold is changed and gets a hash of its original, so that
/// no two become equal. The original is not needed: the archive file itself describes its source
/// ([`SourceInfo`](super::SourceInfo)). Changing a changed name again leaves it as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryName(String);

/// An error for a name that an archive entry cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` cannot name an archive entry: {reason}")]
pub struct InvalidEntryName {
    name: String,
    reason: &'static str,
}

impl EntryName {
    /// Checks a name and makes it safe.
    ///
    /// # Errors
    /// [`InvalidEntryName`] if the name has an empty or relative component, a backslash or a control
    /// character.
    pub fn new(name: &str) -> Result<Self, InvalidEntryName> {
        let refuse = |reason| Err(InvalidEntryName { name: name.to_owned(), reason });
        if name.contains('\\') {
            return refuse("it has a backslash");
        }
        if name.chars().any(char::is_control) {
            return refuse("it has a control character");
        }
        let mut safe = String::with_capacity(name.len());
        for component in name.split('/') {
            match component {
                "" => return refuse("it has an empty component"),
                "." | ".." => return refuse("it has a relative component"),
                _ => {}
            }
            if !safe.is_empty() {
                safe.push('/');
            }
            push_safe(&mut safe, component);
        }
        Ok(Self(safe))
    }

    /// Wraps a name found on disk; returns `None` if it is not one that we would have written.
    pub(super) fn stored(name: String) -> Option<Self> {
        Self::new(&name).ok().filter(|safe| safe.0 == name)
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn push_safe(out: &mut String, component: &str) {
    let reserved = |c: char| matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*');
    let stem = component.split('.').next().unwrap_or(component).trim_end_matches(' ');
    let device = DEVICES.iter().any(|device| device.eq_ignore_ascii_case(stem));
    let dangling = component.ends_with(['.', ' ']);
    if component.len() <= MAX_COMPONENT && !component.contains(reserved) && !device && !dangling {
        out.push_str(component);
        return;
    }
    let hash = blake3::hash(component.as_bytes()).to_hex();
    let mark = &hash.as_str()[..16];
    // As a prefix, so that it is no device with any extension.
    if device {
        out.push('_');
    }
    let room = MAX_COMPONENT - mark.len() - 2;
    let kept = component.floor_char_boundary(room.min(component.len()));
    out.extend(component[..kept].chars().map(|c| if reserved(c) { '_' } else { c }));
    out.push('~');
    out.push_str(mark);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_names_stay_as_they_are() {
        for name in
            ["claude-code/-home-u-p/0fe553fc.jsonl", "a", "x/.hidden", "ü/日本", "console.txt"]
        {
            assert_eq!(EntryName::new(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in
            ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "a\\b", "a\0b", "a\nb"]
        {
            assert!(EntryName::new(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_name_that_a_file_system_may_not_hold_is_changed() {
        for name in ["a:b", "what?", "con", "NUL.txt", "com1.tar.gz", "aux .x", "dot.", "space "] {
            let safe = EntryName::new(name).unwrap();
            assert_ne!(safe.as_str(), name);
            assert!(safe.as_str().contains('~'), "{safe}");
        }
        assert_ne!(EntryName::new("a:b").unwrap(), EntryName::new("a?b").unwrap());
        let long = "é".repeat(300);
        assert!(EntryName::new(&long).unwrap().as_str().len() <= MAX_COMPONENT);
    }

    proptest! {
        #[test]
        fn safe_names_are_safe_and_final(name in "[a-zA-Z0-9 .:*~é-]{1,8}(/[a-zA-Z. ?|é]{1,260}){0,2}") {
            if let Ok(safe) = EntryName::new(&name) {
                prop_assert_eq!(EntryName::stored(safe.as_str().to_owned()), Some(safe.clone()));
                for component in safe.as_str().split('/') {
                    prop_assert!(component.len() <= MAX_COMPONENT);
                    prop_assert!(!component.contains(['<', '>', ':', '"', '|', '?', '*', '\\']));
                    prop_assert!(!component.ends_with(['.', ' ']));
                }
            }
        }
    }
}
