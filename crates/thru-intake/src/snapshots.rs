//! The content of a session before its context was compacted, from the rows of the store.

use std::collections::HashMap;

use jiff::SignedDuration;
use thru_core::{
    Id, Observation, RefinedSession, SessionKey, Snapshot, SnapshotContent, Speaker, Statement,
    Timestamp,
};
use thru_distil::{Moment, SnapshotMaker, snapshot_wants_text};
use thru_redact::{Clean, Report};
use thru_store::{PassageFilter, PassageRow, RefinementRow, Store, TurnFilter};

use crate::distil::{decide, kept_apart, says_any};
use crate::operations::Refined;
use crate::overlay::{Models, TurnContent};
use crate::{Intake, Result};

/// The time by which a hook and a transcript may differ about the same compaction.
const SAME_MOMENT: SignedDuration = SignedDuration::from_secs(2);

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

impl Intake {
    /// Lays the latest answer of a model about a whole session over a snapshot of it: one that came after that
    /// moment and before the next compaction, or that is about the session as it is now.
    pub(crate) fn overlay_snapshot(
        &self,
        store: &Store,
        session: i64,
        mut snapshot: Snapshot,
    ) -> Result<Snapshot> {
        let answers = store.refinements(session)?;
        // What a person forgot or wrote over must not come back in a model's words.
        if answers.iter().all(|row| !row.is_whole) || store.is_decided_about(&snapshot.session)? {
            return Ok(snapshot);
        }
        let now = store.session_state(session)?.and_then(|state| state.content);
        let now = now.map(|content| content.hash).filter(|_| snapshot.event.is_empty());
        let compacted = store.compactions(session)?.into_iter().filter_map(|one| one.at);
        let kept = store.snapshots(session)?.into_iter().map(|one| one.snapshot.at);
        // A hook and a transcript tell of the same compaction.
        let since = snapshot.at.checked_add(SAME_MOMENT).unwrap_or(snapshot.at);
        let next = compacted.chain(kept).filter(|at| *at > since).min();
        let is_of_it = |row: &&RefinementRow| {
            let is_later = row.at >= snapshot.at && next.is_none_or(|next| row.at < next);
            row.is_whole && (is_later || now == Some(row.content))
        };
        let answer = answers.iter().rev().find(is_of_it);
        let answer =
            answer.and_then(|row| serde_json::from_str::<Refined<RefinedSession>>(&row.body).ok());
        if let Some(answer) = answer {
            overlay(&mut snapshot.content, answer.refined);
        }
        Ok(snapshot)
    }
}

/// Lays what a model made of a session over the content of a snapshot. Requests and rulings stay in the
/// person's words, and the state of the work as it was recorded.
fn overlay(content: &mut SnapshotContent, made: RefinedSession) {
    let RefinedSession { title, digest, sections } = made;
    if !title.is_empty() {
        content.title = title;
    }
    let said = |text: String, sources: &[Id]| Statement { text, sources: sources.to_vec() };
    let decisions = sections.key_decisions.iter();
    let errors = sections.errors_resolved.iter();
    let lists = [
        (&mut content.done, [sections.outcomes, digest.completed].concat()),
        (&mut content.learned, digest.learned),
        (
            &mut content.decisions,
            decisions.map(|one| said(one.to_string(), &one.decision.sources)).collect(),
        ),
        (
            &mut content.resolved,
            errors.map(|one| said(one.to_string(), &one.error.sources)).collect(),
        ),
    ];
    for (known, mut told) in lists {
        known.retain(|one| told.iter().all(|other| other.text != one.text));
        told.append(known);
        *known = told;
    }
    if !digest.next_steps.is_empty() {
        content.next_steps = digest.next_steps;
    }
    content.context = sections.context;
    for change in sections.code_changes {
        let file = content.files.iter_mut().find(|file| file.path == change.file);
        if let Some(file) = file {
            file.what = Some(change.description);
        }
    }
    let topics = sections.topics.into_iter().map(|topic| topic.text).chain(sections.tags);
    let mut topics: Vec<String> = topics.collect();
    content.topics.retain(|topic| !topics.contains(topic));
    topics.append(&mut content.topics);
    topics.dedup();
    content.topics = topics;
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
