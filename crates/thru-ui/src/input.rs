//! A line of text that is typed, with its cursor.

use thru_app::words::printable;

/// Longest text, in bytes: a paste of a whole file is no query.
const LONGEST: usize = 1_000;

/// A line of text with a cursor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    text: String,
    /// Bytes before the cursor.
    cursor: usize,
}

impl Input {
    /// A line with the cursor behind it.
    pub(crate) fn new(text: &str) -> Self {
        let mut input = Self::default();
        input.insert(text);
        input
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text before the cursor.
    pub(crate) fn before(&self) -> &str {
        &self.text[..self.cursor]
    }

    /// Writes text at the cursor, on one line.
    pub(crate) fn insert(&mut self, text: &str) {
        for character in printable(text).chars() {
            let character = if character.is_whitespace() { ' ' } else { character };
            if self.text.len() + character.len_utf8() > LONGEST {
                break;
            }
            self.text.insert(self.cursor, character);
            self.cursor += character.len_utf8();
        }
    }

    /// Removes the character before the cursor.
    pub(crate) fn backspace(&mut self) {
        self.remove_from(self.left_of_cursor());
    }

    /// Removes the character behind the cursor.
    pub(crate) fn delete(&mut self) {
        if self.cursor < self.text.len() {
            self.text.remove(self.cursor);
        }
    }

    /// Removes the word before the cursor.
    pub(crate) fn delete_word(&mut self) {
        let word = self.before().trim_end().rfind(' ').map_or(0, |space| space + 1);
        self.remove_from(word);
    }

    /// Removes everything before the cursor.
    pub(crate) fn delete_line(&mut self) {
        self.remove_from(0);
    }

    pub(crate) fn left(&mut self) {
        self.cursor = self.left_of_cursor();
    }

    pub(crate) fn right(&mut self) {
        let next = self.text[self.cursor..].chars().next();
        self.cursor += next.map_or(0, char::len_utf8);
    }

    pub(crate) fn home(&mut self) {
        self.cursor = 0;
    }

    pub(crate) fn end(&mut self) {
        self.cursor = self.text.len();
    }

    fn left_of_cursor(&self) -> usize {
        self.before().char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn remove_from(&mut self, from: usize) {
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_at_its_cursor() {
        let mut input = Input::new("one two\nthree");
        assert_eq!(input.text(), "one two three");
        input.delete_word();
        assert_eq!(input.text(), "one two ");
        input.home();
        input.right();
        input.insert("数");
        input.backspace();
        input.delete();
        assert_eq!((input.text(), input.before()), ("oe two ", "o"));
        input.end();
        input.delete_line();
        assert!(input.is_empty());
        input.backspace();
        input.insert(&"x".repeat(5_000));
        assert_eq!(input.text().len(), LONGEST);
    }
}
