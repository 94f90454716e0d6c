//! Cleans a transcript line by line on its way into the archive and to the reader, and leaves out what
//! a wholly private prompt set off. Keeps the state that this needs; decides nothing else about what
//! is secret (that is the redactor's).

use thru_core::SourceKind;
use thru_redact::{Clean, Redactor, Report};

use super::history::Entry;
use super::prompt;
use super::record::Record;
use crate::json;

/// What is carried while a private turn goes on.
const PRIVATE_TURN: &str = "private-turn";

/// Cleans the lines of one file, in their order.
///
/// A prompt that is wholly private is not stored, nor is what its turn produced: its record and all
/// that follow, until the next prompt, keep ids and types only.
#[derive(Clone, Debug)]
pub struct Cleaner {
    kind: SourceKind,
    in_private_turn: bool,
}

impl Cleaner {
    /// A cleaner for a file of this kind that goes on where another one stopped, or, without a carry,
    /// begins. A carry that nobody knows counts as a private turn: too little is kept, never too much.
    pub fn resume(kind: SourceKind, carry: Option<&str>) -> Self {
        Self { kind, in_private_turn: carry.is_some() }
    }

    /// What [`Cleaner::resume`] needs; something only while a private turn goes on.
    pub fn carry(&self) -> Option<String> {
        self.in_private_turn.then(|| PRIVATE_TURN.to_owned())
    }

    /// Cleans one line, with or without its newline.
    pub fn clean(
        &mut self,
        redactor: &Redactor,
        line: &[u8],
        report: &mut Report,
    ) -> Clean<Vec<u8>> {
        if self.is_private(redactor, line) {
            redactor.blank_json_line(line, report)
        } else {
            redactor.clean_json_line(line, report)
        }
    }

    fn is_private(&mut self, redactor: &Redactor, line: &[u8]) -> bool {
        // Nearly every line ends here: it cannot hold a privacy tag, and no private turn goes on.
        if !self.in_private_turn && !mentions_private(line) {
            return false;
        }
        let text = json::mend(line.trim_ascii());
        let prompt = match self.kind {
            // Every entry stands for itself.
            SourceKind::PromptHistory => {
                let typed = Entry::parse(&text).and_then(|entry| entry.typed());
                return typed.is_some_and(|typed| redactor.is_wholly_private(&typed));
            }
            SourceKind::Attachment | SourceKind::Hooks => return self.in_private_turn,
            SourceKind::Main => Record::parse(&text).ok().and_then(|record| prompt::typed(&record)),
            // What the parent agent tells a subagent starts nothing that ends a private turn.
            SourceKind::Subagent => match self.in_private_turn {
                true => return true,
                false => Record::parse(&text).ok().and_then(|record| prompt::told(&record)),
            },
        };
        if let Some(prompt) = prompt {
            self.in_private_turn = redactor.is_wholly_private(&prompt);
        }
        self.in_private_turn
    }
}

/// Whether `private` stands in the line, in any case: every privacy tag holds the word.
fn mentions_private(line: &[u8]) -> bool {
    const WORD: &[u8] = b"private";
    // `v` is the rarest of its letters.
    memchr::memchr2_iter(b'v', b'V', line).any(|at| {
        at.checked_sub(3)
            .and_then(|start| line.get(start..start + WORD.len()))
            .is_some_and(|word| word.eq_ignore_ascii_case(WORD))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_found_in_any_case() {
        for (line, found) in [
            ("<private>", true),
            ("\\u003cPRIVATE\\u003e", true),
            ("vPrivatE", true),
            ("priv", false),
            ("v", false),
            ("privatv", false),
        ] {
            assert_eq!(mentions_private(line.as_bytes()), found, "{line}");
        }
    }
}
