//! Refining, the pure part: questions to a model about a finished turn or session, and the believed part
//! of its answers.
//!
//! Recorded text is data: it is fenced, and nothing in it closes the fence. An answer is believed only
//! where the record contains what it names; the rest is dropped and counted. No I/O, no provider: the
//! caller hands in passages and answer texts, and gets requests and memories.

mod answer;
mod call;
mod fence;
mod grounding;
mod item;
mod lookup;
mod material;
mod names;
mod profile;
mod prompt;
mod schema;
mod session;
mod turn;

#[cfg(test)]
mod tests;

use thru_core::{FileTouch, Id, Outcome, PassageKind};

pub use answer::{
    ClaimedChange, ClaimedDecision, ClaimedError, ClaimedFact, ClaimedObservation, SessionAnswer,
    TurnAnswer, TurnSummary, Unusable,
};
pub use grounding::{Dropped, Grounded, GroundedSession, TurnFacts, ground_session, ground_turn};
pub use material::Material;
pub use profile::{Activity, ActivityProfile};
pub use prompt::{Request, SESSION_PROMPT_VERSION, TURN_PROMPT_VERSION};
pub use session::{SessionInput, SessionMaterial};
pub use turn::TurnInput;

use crate::event::Event;
use crate::moment::{Moment, wants_text};

/// One passage of a turn, with all of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnMoment {
    /// The passage's id.
    pub passage: Id,
    /// The speaker, and the form of the passage.
    pub kind: PassageKind,
    /// True if it comes from a subagent.
    pub is_subagent: bool,
    /// The tool that ran.
    pub tool: Option<String>,
    /// The command line, where the tool is a shell.
    pub command: Option<String>,
    /// The outcome of the call; `None` for prose.
    pub outcome: Option<Outcome>,
    /// Files that the call named.
    pub files: Vec<FileTouch>,
    /// The whole text, cleaned.
    pub text: String,
}

impl TurnMoment {
    /// The passage as distilling sees it.
    pub(crate) fn event(&self) -> Event {
        let wants = wants_text(self.kind, self.tool.as_deref(), self.outcome, self.is_subagent);
        Event::from_moment(Moment {
            id: self.passage,
            turn: 0,
            kind: self.kind,
            is_subagent: self.is_subagent,
            tool: self.tool.clone(),
            command: self.command.clone(),
            outcome: self.outcome,
            at: None,
            files: self.files.clone(),
            length: self.text.len() as u64,
            text: if wants { self.text.clone() } else { String::new() },
        })
    }
}

/// Upper bounds on a request, in tokens (estimated).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The record alone.
    pub record: u64,
    /// The whole request: prompt, record and the form of the answer. Never exceeded.
    pub request: u64,
}

impl Limits {
    /// The default for a turn: the whole record of most turns, the important part of a long one.
    pub const TURN: Self = Self { record: 2_000, request: 4_000 };

    /// The default for a session.
    pub const SESSION: Self = Self { record: 3_500, request: 6_000 };

    /// Returns the room for a record beside a prompt of this size.
    const fn room(self, overhead: u64) -> u64 {
        let left = self.request.saturating_sub(overhead);
        if left < self.record { left } else { self.record }
    }
}
