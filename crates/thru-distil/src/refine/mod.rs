//! Refining, as far as it is pure: what a model is asked about a turn that is over and about a session
//! that has ended, and what of its answer is believed.
//!
//! Recorded text is data: it is fenced, and nothing in it closes the fence. An answer is believed only
//! where the record holds what it names; the rest is dropped and counted. No I/O, no provider: whoever
//! asks the model hands in passages and texts of answers, and gets requests and memories.

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
    SaidChange, SaidDecision, SaidError, SaidFact, SaidObservation, SessionAnswer, TurnAnswer,
    TurnSummary, Unusable,
};
pub use grounding::{About, Dropped, Grounded, GroundedSession, ground_session, ground_turn};
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
    /// Who speaks.
    pub kind: PassageKind,
    /// Whether a subagent did or said it.
    pub is_subagent: bool,
    /// The tool that ran.
    pub tool: Option<String>,
    /// The command line, where the tool is a shell.
    pub command: Option<String>,
    /// How the call ended; nothing for prose.
    pub outcome: Option<Outcome>,
    /// Files that the call named.
    pub files: Vec<FileTouch>,
    /// The whole text, clean.
    pub text: String,
}

impl TurnMoment {
    /// The passage as distilling sees it.
    pub(crate) fn event(&self) -> Event {
        let wants = wants_text(self.kind, self.tool.as_deref(), self.outcome, self.is_subagent);
        Event::of(Moment {
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

/// How much is sent, in tokens (estimated).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The record alone.
    pub record: u64,
    /// The whole request: prompt, record and the form of the answer. Never exceeded.
    pub request: u64,
}

impl Limits {
    /// What is sent about a turn unless the user chose otherwise: the record of most turns whole, of a
    /// long one what matters.
    pub const TURN: Self = Self { record: 2_000, request: 4_000 };

    /// What is sent about a session unless the user chose otherwise.
    pub const SESSION: Self = Self { record: 3_500, request: 6_000 };

    /// What a record may take beside a prompt of this size.
    const fn room(self, overhead: u64) -> u64 {
        let left = self.request.saturating_sub(overhead);
        if left < self.record { left } else { self.record }
    }
}
