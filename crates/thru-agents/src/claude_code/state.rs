//! The state that a reader carries from one read of a file to the next.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use thru_core::{SessionId, SourceKind, Timestamp, Usage};

use super::calls::OpenCalls;
use crate::state::{self, InvalidState};

/// The version of the saved state. A reader of another version cannot resume from it and reads the file
/// anew.
const VERSION: u32 = 1;

/// Answers remembered because their token counts may still grow. The records of one answer are close
/// together in the file.
const ANSWERS: usize = 32;

/// Messages of subagents remembered to skip repetitions.
const EMBEDDED: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    version: u32,
    pub(super) kind: SourceKind,
    pub(super) session: SessionId,
    /// The subagent whose file this is.
    pub(super) agent_id: Option<String>,
    pub(super) turn: u32,
    pub(super) next_ordinal: u32,
    pub(super) open: OpenCalls,
    /// The time of the file's first record, if known. Older records were copied into the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) begun: Option<Timestamp>,
    /// The boundary whose summary is still to follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) boundary: Option<String>,
    /// True if the agent gave the session a title (the summary of an old version is not one).
    pub(super) has_title: bool,
    answers: VecDeque<(String, Usage)>,
    embedded: VecDeque<String>,
}

impl State {
    pub(super) fn new(kind: SourceKind, session: SessionId) -> Self {
        Self {
            version: VERSION,
            kind,
            session,
            agent_id: None,
            turn: 0,
            next_ordinal: 0,
            open: OpenCalls::default(),
            begun: None,
            boundary: None,
            has_title: false,
            answers: VecDeque::new(),
            embedded: VecDeque::new(),
        }
    }

    pub(super) fn load(text: &str) -> Result<Self, InvalidState> {
        state::load(text, VERSION)
    }

    pub(super) fn save(&self) -> String {
        // Consists of strings and numbers, which always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the tokens in `usage` that were not counted for that answer before. Every record of an
    /// answer repeats its tokens, early ones sometimes with placeholders, so the largest numbers count,
    /// once.
    pub(super) fn newly_used(&mut self, answer: String, usage: Usage) -> Usage {
        if let Some((_, counted)) = self.answers.iter_mut().rfind(|(known, _)| *known == answer) {
            let new = combine(usage, *counted, u64::saturating_sub);
            *counted = combine(*counted, usage, u64::max);
            return new;
        }
        push_bounded(&mut self.answers, (answer, usage), ANSWERS);
        usage
    }

    /// True if this message of a subagent is not among those seen lately.
    pub(super) fn is_new_message(&mut self, uuid: &str) -> bool {
        if uuid.is_empty() {
            return true;
        }
        let is_new = !self.embedded.iter().any(|seen| seen == uuid);
        if is_new {
            push_bounded(&mut self.embedded, uuid.to_owned(), EMBEDDED);
        }
        is_new
    }
}

fn combine(a: Usage, b: Usage, each: impl Fn(u64, u64) -> u64) -> Usage {
    Usage {
        input: each(a.input, b.input),
        output: each(a.output, b.output),
        cache_creation: each(a.cache_creation, b.cache_creation),
        cache_read: each(a.cache_read, b.cache_read),
    }
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, bound: usize) {
    if queue.len() == bound {
        queue.pop_front();
    }
    queue.push_back(item);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_counted_once_at_its_largest() {
        let mut state = State::new(SourceKind::Main, SessionId::new("s"));
        let usage = |output| Usage { input: 10, output, ..Usage::default() };
        let mut total = Usage::default();
        for (answer, output) in [("a", 1), ("b", 5), ("a", 1), ("a", 70), ("b", 5)] {
            total.add(&state.newly_used(answer.to_owned(), usage(output)));
        }
        assert_eq!(total, Usage { input: 20, output: 75, ..Usage::default() });
    }

    #[test]
    fn a_state_of_another_form_is_refused() {
        let state = State::new(SourceKind::Main, SessionId::new("s"));
        assert_eq!(State::load(&state.save()).unwrap(), state);
        assert!(matches!(State::load("{}"), Err(InvalidState::Damaged(_))));
        assert!(matches!(State::load(r#"{"version":9}"#), Err(InvalidState::OtherVersion(9))));
    }
}
