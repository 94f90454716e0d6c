//! Cleans a transcript line by line on its way into the archive and to the reader, and drops what a
//! wholly private prompt set off. Tracks private turns only; what is secret is for the redactor to
//! decide.

use thru_core::{Agent, SourceKind};
use thru_redact::{Clean, Redactor, Report};

use crate::{claude_code, codex, copilot, json};

/// The carry between two cleaners while a private turn lasts.
const PRIVATE_TURN: &str = "private-turn";

/// The meaning of a line for private turns.
pub(crate) enum Heard {
    /// No effect: the line belongs to the current turn.
    Nothing,
    /// A prompt, which ends one turn and begins the next.
    Prompt(String),
    /// A text that can begin a private turn but never ends one: a copy of a prompt, or an instruction
    /// from one agent to another.
    Echo(String),
    /// An entry that is independent of the others.
    Entry(String),
}

/// Cleans the lines of one file, in order.
///
/// A wholly private prompt is not stored, and neither is what its turn produced: its record and all that
/// follow, until the next prompt, keep only ids and types.
#[derive(Clone, Debug)]
pub struct Cleaner {
    agent: Agent,
    kind: SourceKind,
    in_private_turn: bool,
}

impl Cleaner {
    /// Returns a cleaner for a file of this kind that continues where another one stopped, or begins if
    /// there is no carry. An unknown carry counts as a private turn: too little is kept, never too much.
    pub fn resume(agent: Agent, kind: SourceKind, carry: Option<&str>) -> Self {
        Self { agent, kind, in_private_turn: carry.is_some() }
    }

    /// Returns the carry for [`Cleaner::resume`]; `None` outside of a private turn.
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
        // Nearly every line returns here: it cannot hold a privacy tag, and is outside of a private
        // turn.
        if !self.in_private_turn && !mentions_private(line) {
            return false;
        }
        let text = json::mend(line.trim_ascii());
        // Parsed as leniently as the readers do.
        match json::leniently(&text, |text| self.hear(text)).unwrap_or(Heard::Nothing) {
            Heard::Nothing => {}
            Heard::Prompt(said) => self.in_private_turn = redactor.is_wholly_private(&said),
            Heard::Echo(said) => self.in_private_turn |= redactor.is_wholly_private(&said),
            Heard::Entry(said) => return redactor.is_wholly_private(&said),
        }
        self.in_private_turn
    }

    /// Returns the meaning of a line; `None` if it cannot be parsed.
    fn hear(&self, line: &str) -> Option<Heard> {
        match self.agent {
            Agent::ClaudeCode => claude_code::heard(self.kind, line),
            Agent::Codex => codex::heard(self.kind, line),
            Agent::Copilot => copilot::heard(self.kind, line),
        }
    }
}

/// True if the line contains `private` in any case, as every privacy tag does.
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

    /// A line with a duplicate member is parsed by the lenient parser only.
    #[test]
    fn a_private_prompt_is_heard_where_a_member_is_there_twice() {
        let redactor = Redactor::builtin();
        for (agent, line) in [
            (
                Agent::ClaudeCode,
                r#"{"type":"user","type":"user","message":{"content":"<private>hush</private>"}}"#,
            ),
            (
                Agent::Codex,
                r#"{"type":"event_msg","type":"event_msg","payload":{"type":"user_message","message":"<private>hush</private>"}}"#,
            ),
            (
                Agent::Copilot,
                r#"{"type":"user.message","type":"user.message","data":{"content":"<private>hush</private>"}}"#,
            ),
        ] {
            let mut cleaner = Cleaner::resume(agent, SourceKind::Main, None);
            cleaner.clean(&redactor, line.as_bytes(), &mut Report::default());
            assert_eq!(cleaner.carry().as_deref(), Some(PRIVATE_TURN), "{agent:?}");
        }
    }

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
