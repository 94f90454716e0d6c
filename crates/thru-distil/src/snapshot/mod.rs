//! What a session holds at one moment: enough to go on with when its context is gone.

use std::collections::BTreeSet;

use thru_core::{Distillate, Id, PassageKind, SessionFacts, SessionKey, SnapshotContent};

use crate::moment::{Distiller, Moment};

/// Whether a snapshot looks at the text of such a passage: at all of the main conversation, and of
/// subagents at what distilling looks at.
pub fn snapshot_wants_text(kind: PassageKind, is_subagent: bool) -> bool {
    !is_subagent || kind == PassageKind::Human
}

/// Takes the passages of one session up to a moment, in their order, and makes a snapshot of them.
#[derive(Debug)]
pub struct SnapshotMaker {
    distiller: Distiller,
}

impl SnapshotMaker {
    /// A maker for one session. Observations in `kept_apart` are not merged into others.
    pub fn new(session: &SessionKey, facts: &SessionFacts, kept_apart: BTreeSet<Id>) -> Self {
        Self { distiller: Distiller::new(session, facts, kept_apart) }
    }

    /// Takes the next passage: those of the transcript itself first, then those of each subagent.
    pub fn add(&mut self, moment: Moment) {
        self.distiller.add(moment);
    }

    /// What came of it. What was distilled of the session goes through `decided` first: people may have
    /// had some of it forgotten.
    pub fn finish(self, decided: impl FnOnce(Distillate) -> Distillate) -> SnapshotContent {
        let distillate = decided(self.distiller.finish());
        let mut content = SnapshotContent::default();
        if let Some(summary) = distillate.summary {
            content.title = summary.title;
            content.objective = summary.digest.request;
            content.outcome = summary.digest.outcome;
            content.done = summary.digest.completed;
            content.learned = summary.digest.learned;
            content.decisions = summary.digest.decisions;
            content.next_steps = summary.digest.next_steps;
            content.open_questions = summary.digest.open_questions;
        }
        content
    }
}
