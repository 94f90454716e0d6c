//! The positions of everything in a text of JSON: enough to change a part and leave the rest as it is.
//!
//! A tree that prints itself again (as of a JSON library) loses the layout that people and formatters gave
//! the text. Here only positions are taken from the text; changes are made to the text itself.

use std::ops::Range;

use serde::de::IgnoredAny;

/// Deeper than any settings. The walk is recursive and must end before the stack does.
const DEEPEST: usize = 100;

/// A value and where it stands.
#[derive(Debug)]
pub(crate) struct Node {
    /// From its first byte to behind its last.
    pub(crate) span: Range<usize>,
    pub(crate) shape: Shape,
}

#[derive(Debug)]
pub(crate) enum Shape {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Other,
}

#[derive(Debug)]
pub(crate) struct Member {
    /// Position of the key's first quote.
    pub(crate) start: usize,
    pub(crate) key: String,
    pub(crate) value: Node,
}

/// Something in a container that can be cut out: an item, or a member with its key.
pub(crate) trait Child {
    fn span(&self) -> Range<usize>;
}

impl Child for Node {
    fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

impl Child for Member {
    fn span(&self) -> Range<usize> {
        self.start..self.value.span.end
    }
}

impl Node {
    /// The members of an object.
    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.shape {
            Shape::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The items of an array.
    pub(crate) fn items(&self) -> Option<&[Node]> {
        match &self.shape {
            Shape::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The value of a key; of several with one name the last counts, as in JavaScript.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.members()?.iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }
}

/// The mark of byte order that some editors begin a file with.
const MARK: char = '\u{feff}';

/// Parses a text. A mark of byte order is passed over.
pub(crate) fn parse(text: &str) -> Result<Node, String> {
    let start = if text.starts_with(MARK) { MARK.len_utf8() } else { 0 };
    // The walk below trusts the text, so that it can be short.
    serde_json::from_str::<IgnoredAny>(&text[start..]).map_err(|error| error.to_string())?;
    Walk { text, at: start }.value(0).ok_or_else(|| "it is nested too deeply".to_owned())
}

/// True if a text is white space.
pub(crate) fn is_blank(text: &str) -> bool {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

struct Walk<'t> {
    text: &'t str,
    at: usize,
}

impl Walk<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space and returns the next byte.
    fn skip_blank(&mut self) -> Option<u8> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.peek()
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        if depth > DEEPEST {
            return None;
        }
        let first = self.skip_blank()?;
        let start = self.at;
        let shape = match first {
            b'{' => {
                let mut members = Vec::new();
                self.children(b'}', |walk| {
                    let start = walk.at;
                    let key = walk.string()?;
                    walk.skip_blank()?;
                    // The colon.
                    walk.at += 1;
                    members.push(Member { start, key, value: walk.value(depth + 1)? });
                    Some(())
                })?;
                Shape::Object(members)
            }
            b'[' => {
                let mut items = Vec::new();
                self.children(b']', |walk| {
                    items.push(walk.value(depth + 1)?);
                    Some(())
                })?;
                Shape::Array(items)
            }
            b'"' => {
                self.string()?;
                Shape::Other
            }
            _ => {
                while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
                {
                    self.at += 1;
                }
                Shape::Other
            }
        };
        Some(Node { span: start..self.at, shape })
    }

    /// Walks the children between two brackets.
    fn children(
        &mut self,
        close: u8,
        mut child: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.at += 1;
        while self.skip_blank()? != close {
            child(self)?;
            if self.skip_blank()? == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        Some(())
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let written = self.text.get(start..self.at)?;
        // Half of a surrogate pair is JSON and no text. No key that we look for has one.
        Some(serde_json::from_str(written).unwrap_or_else(|_| written.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_found_where_it_stands() {
        let text = "\u{feff} {\"a\" : [1, -2.5e+3 ,\"}\\\"\"],\r\n\t\"b\\u0062\":{ },\"b\":null}\n";
        let root = parse(text).unwrap();
        let spans = |nodes: &[Node]| -> Vec<String> {
            nodes.iter().map(|node| text[node.span.clone()].to_owned()).collect()
        };
        assert_eq!(spans(root.get("a").unwrap().items().unwrap()), ["1", "-2.5e+3", "\"}\\\"\""]);
        assert_eq!(&text[root.get("bb").unwrap().span.clone()], "{ }");
        assert_eq!(&text[root.members().unwrap()[2].span()], "\"b\":null");
        assert_eq!(&text[root.span.end..], "\n");
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in ["", "{", "{\"a\":1,}", "// a\n{}", "{} {}", "{'a':1}", "nul"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
        let deep = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&deep(100)).is_ok());
        assert!(parse(&deep(100_000)).is_err());
    }
}
