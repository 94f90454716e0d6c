//! A session as a whole: the findings of the detectors, merged, and the summary over them.

use std::collections::BTreeSet;
use std::ops::Range;

use thru_core::{
    Agent, Distillate, Id, Observation, ObservationType, SeenCommit, Statement, WorkRecord,
};

use crate::agent_text::AgentText;
use crate::event::Event;
use crate::fixes::Fixes;
use crate::segment::Turn;
use crate::text::one_line;
use crate::{decisions, discovery, merge, object, outside, plans, report, summary, undone, work};

/// Length from which a text reports something, in bytes.
const TELLING: usize = 160;

/// Length of the report of a part of a turn, and of a turn that changed nothing, in bytes.
const PART: usize = 320;
const FINDING: usize = 420;

/// Longest prompt kept with an observation, in characters.
pub(crate) const ASKED: usize = 150;

/// Length up to which a prompt says too little without the proposal that it answers, in characters.
const SHORT: usize = 40;

/// The input of the detectors.
#[derive(Debug)]
pub(crate) struct Session<'s> {
    pub(crate) agent: Agent,
    pub(crate) id: &'s str,
    pub(crate) user_title: Option<&'s str>,
    /// May belong to another session: old clients write titles of others into a transcript.
    pub(crate) agent_title: Option<&'s str>,
    /// The branch, where the session stayed on one.
    pub(crate) branch: Option<&'s str>,
    pub(crate) kept_apart: &'s BTreeSet<Id>,
    /// Commits that the repository told of, the session's own among them.
    pub(crate) commits: &'s [SeenCommit],
    pub(crate) events: &'s [Event],
    pub(crate) turns: Vec<Turn>,
    pub(crate) fixes: Fixes,
}

/// An observation and its place in the session.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) place: usize,
    pub(crate) observation: Observation,
}

impl Session<'_> {
    /// Returns the place of the last event that changed a file.
    pub(crate) fn last_edit(&self) -> Option<usize> {
        self.events.iter().rposition(|event| !event.modified.is_empty())
    }

    /// Creates an observation without text, anchored at the event of this place.
    pub(crate) fn blank(
        &self,
        detector: &str,
        ordinal: usize,
        place: usize,
        kind: ObservationType,
    ) -> Observation {
        let anchor = self.events.get(place);
        let id = anchor.map_or(Id::from_bytes([0; Id::BYTES]), |event| event.id);
        let id = Id::derive(&[
            b"observation",
            self.agent.as_str().as_bytes(),
            self.id.as_bytes(),
            id.as_bytes(),
            detector.as_bytes(),
            &(ordinal as u64).to_le_bytes(),
        ]);
        let turn = anchor.map_or(0, |event| event.turn);
        Observation {
            at: anchor.and_then(|event| event.at),
            raw_tokens: anchor.map_or(0, |event| event.tokens),
            ..Observation::new(id, turn, kind, String::new())
        }
    }

    /// Adds the words that led to an observation, and the agent's report of it. A decision is words already.
    fn add_words(&self, turn: &Turn, draft: &mut Draft) {
        if draft.observation.kind == ObservationType::Decision {
            return;
        }
        draft.observation.asked = self.asked(turn);
        let segment = turn.segments.iter().find(|segment| segment.range.contains(&draft.place));
        let closing = segment
            .and_then(|segment| self.closing(segment.range.clone()))
            .or_else(|| self.closing(turn.range.clone()));
        let Some((at, written)) = closing else { return };
        // A later part of the turn, or the message of a commit, tells the rest.
        let is_last = segment.is_none_or(|one| one.range.end == turn.range.end);
        let is_whole = is_last && draft.observation.narrative.is_none();
        let text = match draft.observation.kind {
            _ if !is_whole => report::short(&written.report, PART),
            ObservationType::Discovery => report::short(&written.report, FINDING),
            _ => &written.report,
        };
        let text = match self.is_red_at(at) {
            true => report::without_claims(text),
            false => text.to_owned(),
        };
        // What the title and the message of a commit say is not said again.
        let narrative = draft.observation.narrative.iter().map(|said| said.text.as_str());
        let known =
            narrative.fold(draft.observation.title.clone(), |known, said| known + " " + said);
        let text = report::without_known(&text, &known);
        draft.observation.report = Some(self.statement(text, &[at]));
    }

    /// Returns the text that reports these events, and its place: the last one, or one before it where the last
    /// hardly says anything.
    pub(crate) fn closing(&self, range: Range<usize>) -> Option<(usize, &AgentText)> {
        let texts = range.rev().filter_map(|at| Some((at, self.events.get(at)?.agent_text()?)));
        let mut texts = texts.take(4).filter(|(_, written)| !written.report.is_empty()).peekable();
        let last = texts.peek().copied();
        let tells = |text: &AgentText| {
            text.report.len() >= TELLING && !report::answers_notice(&text.report)
        };
        texts.find(|(_, written)| tells(written)).or(last)
    }

    /// Returns true if the last check before this place failed.
    pub(crate) fn is_red_at(&self, place: usize) -> bool {
        let checks = &self.fixes.checks;
        let before = checks.partition_point(|(at, _)| *at < place);
        before.checked_sub(1).and_then(|last| checks.get(last)).is_some_and(|(_, failed)| *failed)
    }

    /// Returns the prompt of a turn; where it is short, with the proposal that it answers.
    fn asked(&self, turn: &Turn) -> Option<Statement> {
        let at = turn.range.start;
        let request = self.events.get(at)?.request()?;
        let text = request.text.clone()?;
        if text.chars().count() > SHORT {
            let text = request.context.clone().unwrap_or_else(|| one_line(&text, ASKED));
            return Some(self.statement(text, &[at]));
        }
        let before =
            (0..at).rev().take(40).find_map(|at| Some((at, self.events.get(at)?.agent_text()?)));
        match before.and_then(|(at, written)| Some((at, written.remaining.questions.last()?))) {
            Some((proposed, question)) => {
                Some(self.statement(format!("{text} (to: {question})"), &[proposed, at]))
            }
            None => Some(self.statement(text, &[at])),
        }
    }

    /// Returns the numbers and titles of the pull requests that were seen in the session.
    pub(crate) fn pull_requests(&self) -> impl Iterator<Item = (u64, &str)> {
        let runs = self.events.iter().filter_map(Event::run);
        runs.flat_map(|run| &run.pull_requests).map(|(number, title)| (*number, title.as_str()))
    }

    /// Builds a statement with the events that show it.
    pub(crate) fn statement(&self, text: String, places: &[usize]) -> Statement {
        Statement { text, sources: self.ids(places) }
    }

    /// Returns the passages of these events, each once, in the order of the session.
    pub(crate) fn ids(&self, places: &[usize]) -> Vec<Id> {
        let mut places = places.to_vec();
        places.sort_unstable();
        places.dedup();
        let mut ids: Vec<Id> = Vec::with_capacity(places.len());
        for event in places.into_iter().filter_map(|place| self.events.get(place)) {
            if !ids.contains(&event.id) {
                ids.push(event.id);
            }
        }
        ids
    }
}

/// Distils a session.
pub(crate) fn distil(session: &Session<'_>) -> Distillate {
    let mut drafts: Vec<Draft> = Vec::new();
    for turn in &session.turns {
        let before = drafts.len();
        let is_only = turn.segments.len() == 1;
        for segment in &turn.segments {
            drafts.extend(work::observe(session, turn, segment, !is_only));
        }
        let has_work = drafts.len() > before;
        decisions::observe(session, turn, &mut drafts);
        plans::put_into_work(&mut drafts, before, session.kept_apart);
        if !has_work {
            let found = if turn.asks_memory { None } else { discovery::observe(session, turn) };
            let unnamed =
                || turn.segments.first().map(|one| work::observe(session, turn, one, true));
            drafts.extend(found.or_else(|| unnamed().flatten()));
        }
        for draft in &mut drafts[before..] {
            session.add_words(turn, draft);
        }
    }
    drafts.sort_by_key(|draft| draft.place);
    decisions::settle(&mut drafts, session.kept_apart);
    decisions::settle_findings(&mut drafts);
    let mut ids = BTreeSet::new();
    let drafts = drafts.into_iter().map(|draft| without_empty(draft.observation));
    // Passages with equal ids (in a damaged transcript) would give observations with equal ids.
    let drafts =
        drafts.filter(|observation| tells(observation) && ids.insert(observation.id)).collect();
    let observations = merge::merged(drafts, session.kept_apart);
    let mut observations = merge::with_commits(observations, session.kept_apart);
    outside::tell(session, &mut observations);
    object::complete(session, &mut observations);
    undone::settle(&mut observations);
    let summary = summary::summarise(session, &observations);
    Distillate { observations, summary }
}

/// Returns true if an observation says anything.
fn tells(observation: &Observation) -> bool {
    !observation.title.is_empty()
        || observation.statements().next().is_some()
        || !observation.files_modified.is_empty()
}

/// Returns true if an observation tells of a commit.
pub(crate) fn is_committed(observation: &Observation) -> bool {
    observation.facts.iter().any(|fact| WorkRecord::of(&fact.text) == Some(WorkRecord::Commit))
}

/// Drops statements without words.
fn without_empty(mut observation: Observation) -> Observation {
    observation.facts.retain(|fact| !fact.text.is_empty());
    for statement in [&mut observation.narrative, &mut observation.asked, &mut observation.report] {
        *statement = statement.take().filter(|statement| !statement.text.is_empty());
    }
    observation
}
