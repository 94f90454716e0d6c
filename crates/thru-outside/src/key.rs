//! A key, which nobody sees by accident.

use std::fmt;

/// The longest key that we take; real ones have some 200 characters.
const LONGEST: usize = 4_096;

/// What somebody lets us in with. Printing it, for people or for debugging, does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key as somebody typed or stored it; `None` if it cannot be one: it is empty, longer than any, or
    /// has characters that no header may hold.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_key = !text.is_empty()
            && text.len() <= LONGEST
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| Self(text.to_owned()))
    }

    /// The key itself, for whoever sends or stores it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// A text without the key.
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
