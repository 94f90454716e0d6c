//! What goes in: passages as distilling sees them.

use std::collections::BTreeSet;

use thru_core::{
    Agent, Distillate, FileTouch, Id, Outcome, PassageKind, SessionFacts, SessionKey, Timestamp,
};

/// One passage of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The passage's id.
    pub id: Id,
    /// The turn, from 1; 0 before the first prompt.
    pub turn: u32,
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
    /// When it was written.
    pub at: Option<Timestamp>,
    /// Files that the call named.
    pub files: Vec<FileTouch>,
    /// Length of the whole text in bytes.
    pub length: u64,
    /// The text, where [`wants_text`] asks for it; else empty.
    pub text: String,
}

/// Whether distilling looks at the text of such a passage: reading it costs.
pub fn wants_text(
    kind: PassageKind,
    _tool: Option<&str>,
    _outcome: Option<Outcome>,
    _is_subagent: bool,
) -> bool {
    kind.is_prose()
}

/// Takes the passages of one session in their order and makes its observations and summary.
#[derive(Debug)]
pub struct Distiller {
    _agent: Agent,
}

impl Distiller {
    /// A distiller for one session. Observations in `kept_apart` are not merged into others.
    pub fn new(session: &SessionKey, _facts: &SessionFacts, _kept_apart: BTreeSet<Id>) -> Self {
        Self { _agent: session.agent }
    }

    /// Takes the next passage: those of the transcript itself first, then those of each subagent.
    pub fn add(&mut self, _moment: Moment) {}

    /// What came of it.
    pub fn finish(self) -> Distillate {
        Distillate::default()
    }
}
