//! What a session held before its context was compacted, from what the store has of it.

use thru_core::{SnapshotContent, Timestamp};
use thru_distil::{Moment, SnapshotMaker, snapshot_wants_text};
use thru_redact::{Clean, Report};
use thru_store::{PassageFilter, PassageRow, Store};

use crate::distilling::{decide, kept_apart};
use crate::laying_over::Laid;
use crate::{Intake, Result};

/// Up to where a session is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// What was written until this time: a hook says when.
    Time(Timestamp),
    /// What stands before this place of a source: a transcript says where. Of other sources, the
    /// subagents', counts what is no later than the last passage before it.
    Place {
        /// The row of the source.
        source: i64,
        /// Passages of the source before it.
        ordinal: u32,
    },
}

impl Intake {
    /// What a session held before that; nothing where nothing was recorded of it. Reads the store as it
    /// is: whoever asks brings in first what there is.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn snapshot_content(
        &self,
        store: &Store,
        session_row: i64,
        before: Before,
    ) -> Result<Clean<SnapshotContent>> {
        let Some(session) = store.session(session_row)? else { return Ok(Clean::default()) };
        let decisions = store.memory_decisions()?;
        let mut maker = SnapshotMaker::new(&session.key, &session.facts, kept_apart(&decisions));
        let mut touches = store.touches_of_session(session_row)?;
        let mut passages = store.passages(PassageFilter::Session(session_row))?;
        before.keep(&mut passages);
        for passage in passages {
            let touched = touches.remove(&passage.row).unwrap_or_default();
            let mut moment = Moment {
                length: passage.length(),
                id: passage.id,
                turn: passage.turn,
                kind: passage.kind,
                is_subagent: passage.agent_id.is_some(),
                tool: passage.tool.clone(),
                command: passage.command.clone(),
                outcome: passage.outcome,
                at: passage.at,
                files: touched.into_iter().map(|touch| touch.file).collect(),
                text: String::new(),
            };
            if snapshot_wants_text(&moment) {
                moment.text = store.text_of(&passage)?;
            }
            maker.add(moment);
        }
        let content = maker.finish(|distillate| {
            let mut laid = Laid::of(distillate);
            decide(&decisions, &mut laid);
            let mut distillate = laid.into_distillate();
            // Where a person wrote another title, the words below it say what it said before.
            for observation in &mut distillate.observations {
                let edit = decisions.get(&observation.id).map(|decision| &decision.edit);
                if edit.is_some_and(|edit| edit.title.is_some() && edit.narrative.is_none()) {
                    observation.narrative = None;
                }
            }
            distillate
        });
        // The passages were clean when they were stored; the rules may be newer.
        Ok(self.redactor().clean_texts(content, SnapshotContent::texts, &mut Report::default()))
    }
}

impl Before {
    fn keep(self, passages: &mut Vec<PassageRow>) {
        match self {
            Self::Time(time) => passages.retain(|passage| passage.at.is_none_or(|at| at <= time)),
            Self::Place { source, ordinal } => {
                let own = passages
                    .iter()
                    .filter(|passage| passage.source == source && passage.ordinal < ordinal);
                let last = own.filter_map(|passage| passage.at).max();
                passages.retain(|passage| match passage.source == source {
                    true => passage.ordinal < ordinal,
                    false => passage.at.is_some_and(|at| last.is_some_and(|last| at <= last)),
                });
            }
        }
    }
}
