//! A key that cannot be shown by accident.

use std::fmt;

/// Longest accepted key, in characters; real ones have some 200.
const LONGEST: usize = 4_096;

/// A secret for authentication. Neither `Display` nor `Debug` shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Creates a key from typed or stored text; `None` if it is empty, too long, or has characters that
    /// no header may hold.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_key = !text.is_empty()
            && text.len() <= LONGEST
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| Self(text.to_owned()))
    }

    /// Returns the key itself, for sending and storing.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Replaces the key in a text.
    pub fn hide_in(&self, text: &str) -> String {
        text.replace(&self.0, "<key>")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("<key>")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_printed() {
        let key = Key::new(" abc-123\n").unwrap();
        assert_eq!(key.reveal(), "abc-123");
        assert_eq!(format!("{key} {key:?} {:?}", Some(&key)), "<key> <key> Some(<key>)");
        assert_eq!(key.hide_in("bad key abc-123!"), "bad key <key>!");
        for text in ["", "  ", "a b", "a\nb", "schlüssel"] {
            assert_eq!(Key::new(text), None, "{text:?}");
        }
        assert_eq!(Key::new(&"k".repeat(LONGEST + 1)), None);
    }
}
