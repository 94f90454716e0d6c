//! The hash of a session's content, by which an unchanged session is recognised.
//!
//! It is computed over the *filtered* conversation, in the order of the transcript. The filter keeps:
//!
//! - prompts of people;
//! - texts of the main agent;
//! - of each tool call of the main agent: the tool's name, the command line, the files that it names
//!   (each once, in the order of their names), and its outcome.
//!
//! It leaves out the output of tools, everything from subagents, and empty prose. Thinking, injected
//! context and prompts written by a machine never become passages, so they are already excluded. Every
//! run of white space counts as one space, and none at the ends.
//!
//! The hash is SHA-256 over [`FILTER_VERSION`] and then, for each message, a byte for its kind and its
//! fields, each preceded by its length, so that the encoding is unambiguous. Raise the version whenever
//! the filter or this encoding changes; hashes of different versions cannot be compared.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use thru_core::{Outcome, PassageKind};

/// The version of the filter, which is stored with each hash.
pub const FILTER_VERSION: u32 = 1;

/// A passage of a session, reduced to what the filter uses. `F` yields the paths of files.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a, F> {
    /// Its kind.
    pub kind: PassageKind,
    /// True if it belongs to a subagent.
    pub is_subagent: bool,
    /// The text; it is ignored for a tool call.
    pub text: &'a str,
    /// The tool that ran.
    pub tool: Option<&'a str>,
    /// The command line, if the tool is a shell.
    pub command: Option<&'a str>,
    /// The files that the call named.
    pub files: F,
    /// The outcome of the call.
    pub outcome: Option<Outcome>,
}

/// The hash of a filtered conversation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; Self::BYTES]);

impl ContentHash {
    /// The length of a hash in bytes.
    pub const BYTES: usize = 32;
    /// The number of bytes that are displayed.
    const SHOWN: usize = 8;

    /// Returns the hash with exactly these bytes, as read from the store.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the hash.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

/// The first 16 hex digits, as displayed.
impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..Self::SHOWN].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// All hex digits, as stored in records.
impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        serializer.serialize_str(&digits)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = String::deserialize(deserializer)?;
        let is_hash =
            digits.len() == 2 * Self::BYTES && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let mut bytes = [0; Self::BYTES];
        for (place, byte) in bytes.iter_mut().enumerate() {
            let pair = digits.get(2 * place..2 * place + 2).filter(|_| is_hash);
            *byte = pair
                .and_then(|pair| u8::from_str_radix(pair, 16).ok())
                .ok_or_else(|| serde::de::Error::custom("no hash of a conversation"))?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

/// The hash and size of a session's filtered conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// The hash over all of it.
    pub hash: ContentHash,
    /// The number of messages that the filter kept.
    pub messages: u64,
}

/// Filters and hashes a session, message by message.
#[derive(Clone, Debug)]
pub struct ContentHasher {
    hasher: Sha256,
    messages: u64,
}

impl Default for ContentHasher {
    fn default() -> Self {
        Self::new()
    }
}

impl ContentHasher {
    /// Starts with an empty conversation.
    pub fn new() -> Self {
        let hasher = Sha256::new_with_prefix(FILTER_VERSION.to_le_bytes());
        Self { hasher, messages: 0 }
    }

    /// Adds the next message, if the filter keeps it.
    pub fn add<'a, F>(&mut self, message: Message<'a, F>)
    where
        F: IntoIterator<Item = &'a str>,
    {
        if message.is_subagent {
            return;
        }
        if message.kind.is_prose() {
            let text = plain(message.text);
            if text.is_empty() {
                return;
            }
            self.hasher.update([message.kind.code()]);
            self.field(&text);
        } else {
            self.hasher.update([message.kind.code()]);
            self.field(&plain(message.tool.unwrap_or_default()));
            self.field(&plain(message.command.unwrap_or_default()));
            let mut files: Vec<String> = message.files.into_iter().map(plain).collect();
            files.sort_unstable();
            files.dedup();
            self.length(files.len());
            files.iter().for_each(|file| self.field(file));
            self.hasher.update([message.outcome.map_or(u8::MAX, Outcome::code)]);
        }
        self.messages += 1;
    }

    /// Returns the hash and number of all kept messages.
    pub fn finish(self) -> Content {
        Content { hash: ContentHash(self.hasher.finalize().into()), messages: self.messages }
    }

    fn field(&mut self, text: &str) {
        self.length(text.len());
        self.hasher.update(text);
    }

    fn length(&mut self, length: usize) {
        self.hasher.update((length as u64).to_le_bytes());
    }
}

/// Returns the text with each run of white space replaced by one space, and none at the ends.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.push_str(word);
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(kind: PassageKind, text: &str) -> Message<'_, Vec<&str>> {
        Message {
            kind,
            is_subagent: false,
            text,
            tool: None,
            command: None,
            files: Vec::new(),
            outcome: None,
        }
    }

    fn ran<'a>(tool: &'a str, command: &'a str, files: &[&'a str]) -> Message<'a, Vec<&'a str>> {
        Message {
            tool: Some(tool),
            command: Some(command),
            files: files.to_vec(),
            outcome: Some(Outcome::Succeeded),
            ..said(PassageKind::Tool, "")
        }
    }

    fn content<'a>(messages: impl IntoIterator<Item = Message<'a, Vec<&'a str>>>) -> Content {
        let mut hasher = ContentHasher::new();
        messages.into_iter().for_each(|message| hasher.add(message));
        hasher.finish()
    }

    #[test]
    fn the_form_does_not_change_without_a_new_version() {
        let content = content([
            said(PassageKind::Human, "Fix the login"),
            ran("Bash", "cargo test", &[]),
            ran("Edit", "", &["src/login.rs"]),
            said(PassageKind::Assistant, "Done."),
        ]);
        assert_eq!((FILTER_VERSION, content.messages), (1, 4));
        assert_eq!(content.hash.to_string(), "0fa85373f83e9b06");
    }

    #[test]
    fn messages_kept_by_the_filter_matter() {
        let call = || ran("Edit", "", &["a", "b"]);
        let base = content([said(PassageKind::Human, "x"), call()]);
        for changed in [
            content([said(PassageKind::Assistant, "x"), call()]),
            content([said(PassageKind::Human, "y"), call()]),
            content([call(), said(PassageKind::Human, "x")]),
            content([said(PassageKind::Human, "x"), ran("Write", "", &["a", "b"])]),
            content([said(PassageKind::Human, "x"), ran("Edit", "a", &["b"])]),
            content([said(PassageKind::Human, "x"), ran("Edit", "", &["a b"])]),
            content([said(PassageKind::Human, "x"), ran("Edit", "", &["a"])]),
            content([
                said(PassageKind::Human, "x"),
                Message { outcome: Some(Outcome::Failed), ..call() },
            ]),
            content([said(PassageKind::Human, "x"), Message { outcome: None, ..call() }]),
        ] {
            assert_ne!(changed.hash, base.hash);
        }
        let reordered = content([said(PassageKind::Human, "x"), ran("Edit", "", &["b", "a", "b"])]);
        assert_eq!(reordered, base);
    }

    fn any_message() -> impl Strategy<Value = (PassageKind, String)> {
        (prop::sample::select(PassageKind::ALL.to_vec()), "[ab \n\u{a0}]{0,4}")
    }

    /// Returns the message for generated input: prose by its text, a tool by its command.
    fn message((kind, text): &(PassageKind, String)) -> Message<'_, Vec<&str>> {
        if kind.is_prose() { said(*kind, text) } else { ran("Bash", text, &[]) }
    }

    /// The filter as a list, instead of a hash.
    fn kept(messages: &[(PassageKind, String)]) -> Vec<(PassageKind, String)> {
        messages
            .iter()
            .map(|(kind, text)| (*kind, plain(text)))
            .filter(|(kind, text)| !kind.is_prose() || !text.is_empty())
            .collect()
    }

    proptest! {
        #[test]
        fn hashes_are_equal_where_the_filtered_messages_are(
            one in prop::collection::vec(any_message(), 0..4),
            other in prop::collection::vec(any_message(), 0..4),
        ) {
            let (first, second) = (content(one.iter().map(message)), content(other.iter().map(message)));
            prop_assert_eq!(first == second, kept(&one) == kept(&other));
            prop_assert_eq!(first.messages, kept(&one).len() as u64);
        }

        #[test]
        fn messages_left_out_by_the_filter_do_not_matter(
            messages in prop::collection::vec(any_message(), 0..6),
            output in ".{0,20}",
            place in any::<prop::sample::Index>(),
            kind in prop::sample::select(PassageKind::ALL.to_vec()),
        ) {
            let base = content(messages.iter().map(message));
            let mut noisy: Vec<_> = messages.iter().map(message).collect();
            for message in noisy.iter_mut().filter(|message| !message.kind.is_prose()) {
                message.text = &output;
            }
            let place = place.index(noisy.len() + 1);
            let of_subagent = Message { is_subagent: true, ..said(kind, &output) };
            noisy.splice(place..place, [of_subagent, said(PassageKind::Human, " \t\r\n ")]);
            prop_assert_eq!(content(noisy), base);
        }
    }
}
