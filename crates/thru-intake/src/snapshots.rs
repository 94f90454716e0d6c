//! The content of a session before its context was compacted, from the rows of the store.

use std::collections::HashMap;

use thru_core::{Id, Observation, SessionKey, SnapshotContent, Speaker, Statement, Timestamp};
use thru_distil::{Moment, SnapshotMaker, snapshot_wants_text};
use thru_redact::{Clean, Report};
use thru_store::{PassageFilter, PassageRow, Store, TurnFilter};

use crate::distil::{decide, kept_apart, says_any};
use crate::overlay::{Models, TurnContent};
use crate::{Intake, Result};

/// The end of the part of a session that a snapshot covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotEnd {
    /// Everything until this time, which a hook gave.
    Time(Timestamp),
    /// Everything before this position in a source, which a transcript gave. Of other sources, those of
    /// subagents, everything no later than the last passage before it.
    Position {
        /// The row of the source.
        source: i64,
        /// Number of passages of the source before it.
        ordinal: u32,
    },
}

impl Intake {
    /// Returns the content of a session up to that end, empty if the store does not know the session. Reads the
    /// store as it is: the caller freshens it first.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn snapshot_content(
        &self,
        store: &Store,
        session_row: i64,
        end: SnapshotEnd,
    ) -> Result<Clean<SnapshotContent>> {
        let Some(session) = store.session(session_row)? else { return Ok(Clean::default()) };
        let decisions = store.memory_decisions()?;
        let mut maker = SnapshotMaker::new(&session.key, &session.facts, kept_apart(&decisions));
        let mut touches = store.touches_of_session(session_row)?;
        let mut passages = store.passages(PassageFilter::Session(session_row))?;
        end.keep(&mut passages);
        let turn_of = passages.iter().map(|passage| (passage.id, passage.turn)).collect();
        let models = match decisions.is_empty() {
            true => Models::default(),
            false => decided_models(store, session_row, &session.key, &turn_of)?,
        };
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
        let (mut unwanted, mut shown) = (Vec::new(), Vec::new());
        let mut content = maker.finish(|distillate| {
            let mut overlay = models.over(&session.key, false, distillate, &decisions);
            unwanted = decide(&decisions, &mut overlay);
            let mut distillate = overlay.into_shown();
            // The text below an overwritten title still has the old words.
            for observation in &mut distillate.observations {
                let edit = decisions.get(&observation.id).map(|decision| &decision.edit);
                if edit.is_some_and(|edit| edit.title.is_some() && edit.narrative.is_none()) {
                    observation.narrative = None;
                }
            }
            shown.clone_from(&distillate.observations);
            distillate
        });
        drop_unwanted(&mut content, &unwanted, &shown);
        // The passages were clean when they were stored; the rules may be newer.
        Ok(self.redactor().clean_texts(content, SnapshotContent::texts, &mut Report::default()))
    }
}

/// The answers of models that people decided about; the rest cover more than a snapshot does.
fn decided_models(
    store: &Store,
    row: i64,
    session: &SessionKey,
    turn_of: &HashMap<Id, u32>,
) -> Result<Models> {
    let refinements = store.refinements(row)?;
    if refinements.is_empty() {
        return Ok(Models::default());
    }
    let turns = store.turns(&TurnFilter { session: Some(row), ..TurnFilter::default() })?;
    let contents: Vec<TurnContent> = turns
        .iter()
        .map(|turn| TurnContent { turn: turn.turn, hash: turn.content, tokens: turn.tokens })
        .collect();
    Ok(Models::from_rows(session, &refinements, None, &contents, turn_of).only_decided())
}

/// Leaves out statements that the agent made together with unwanted ones. The person's own words stay.
fn drop_unwanted(content: &mut SnapshotContent, unwanted: &[Observation], shown: &[Observation]) {
    if unwanted.is_empty() {
        return;
    }
    let is_told = |statement: &Statement| {
        shown.iter().any(|one| {
            let said = one.narrative.as_ref().map(|narrative| narrative.text.as_str());
            statement.text.starts_with(said.unwrap_or(&one.title))
        })
    };
    let is_same_breath = |statement: &Statement| {
        let of_agent = unwanted.iter().filter(|one| one.speaker == Speaker::Agent);
        of_agent.flat_map(|one| &one.sources).any(|source| statement.sources.contains(source))
    };
    content.next_steps.retain(|one| !says_any(one, unwanted));
    for said in [&mut content.decisions, &mut content.failed] {
        said.retain(|one| is_told(one) || !says_any(one, unwanted) && !is_same_breath(one));
    }
}

impl SnapshotEnd {
    fn keep(self, passages: &mut Vec<PassageRow>) {
        match self {
            Self::Time(time) => passages.retain(|passage| passage.at.is_none_or(|at| at <= time)),
            Self::Position { source, ordinal } => {
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
