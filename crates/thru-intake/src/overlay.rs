//! The overlay: the answers of models over the distilled memories of a session.
//!
//! An answer holds for the content that the model was shown: once that changes, the distilled memories
//! count again. It replaces what the agent did and said, never what a person said or overwrote; the
//! memories it replaces are kept.
//!
//! Text that a person had forgotten or overwritten must not come back in other words. So a turn keeps its
//! distilled memories if a person decided about one of them, and a session in which a person decided about
//! anything gets no summary of a model. Forgetting a model's memory also forgets those it replaced; of
//! several answers the one counts that a person decided about.

use std::collections::{BTreeMap, HashMap, HashSet};

use thru_core::{
    Digest, Distillate, Id, MemoryDecision, Observation, RefinedSession, RefinedTurn, SessionKey,
    Speaker, Statement, Summary,
};
use thru_lifecycle::content::ContentHash;
use thru_store::{NewMemory, NewTurn, RefinementRow};

use crate::operations::Refined;
use crate::refine::summary_id;

/// Decisions of people about memories.
pub(crate) type MemoryDecisions = HashMap<Id, MemoryDecision>;

/// The answers of models about a session.
#[derive(Default)]
pub(crate) struct Models {
    /// The answers about each turn, the earliest first.
    turns: BTreeMap<u32, Vec<ModelAnswer>>,
    /// The answer about the whole session as it is now.
    whole: Option<RefinedSession>,
    /// True if only answers that people decided about are laid over.
    only_decided: bool,
}

/// The answer of a model about a turn.
struct ModelAnswer {
    made: RefinedTurn,
    /// True if the turn still has the content that the model was shown.
    holds: bool,
}

/// The parts of a turn that matter here.
#[derive(Clone, Copy)]
pub(crate) struct TurnContent {
    pub(crate) turn: u32,
    pub(crate) hash: ContentHash,
    pub(crate) tokens: u64,
}

impl TurnContent {
    pub(crate) const fn from_turn(turn: &NewTurn) -> Self {
        Self { turn: turn.turn, hash: turn.content.hash, tokens: turn.tokens }
    }
}

/// The memories of a session, distilled and of models.
#[derive(Default)]
pub(crate) struct Overlay {
    distillate: Distillate,
    refined: Vec<Observation>,
    /// Distilled observations that a refined one replaces.
    superseded: HashSet<Id>,
    /// Those, and summaries, that were replaced by something a person had forgotten.
    forgotten: HashSet<Id>,
    /// Those that are replaced by something a person reworded.
    overwritten: HashSet<Id>,
    /// The summary that replaces the distilled one.
    summary: Option<Summary>,
}

impl Models {
    /// Takes the answers about turns that still exist, and the one about the whole session as it is now. An
    /// answer belongs to the turn of its sources: turns of the same words share their hash.
    pub(crate) fn from_rows(
        session: &SessionKey,
        rows: &[RefinementRow],
        whole: Option<ContentHash>,
        turns: &[TurnContent],
        turn_of: &HashMap<Id, u32>,
    ) -> Self {
        let known: HashMap<u32, &TurnContent> = turns.iter().map(|one| (one.turn, one)).collect();
        let mut models = Self::default();
        for row in rows.iter().filter(|row| !row.is_whole) {
            let Ok(answer) = serde_json::from_str::<Refined<RefinedTurn>>(&row.body) else {
                continue;
            };
            let mut made = answer.refined;
            let Some(turn) = sources(&made).find_map(|id| turn_of.get(id)).copied() else {
                continue;
            };
            let now = known.get(&turn);
            name(session, turn, now.map_or(0, |now| now.tokens), &mut made.observations);
            let holds = now.is_some_and(|now| now.hash == row.content);
            models.turns.entry(turn).or_default().push(ModelAnswer { made, holds });
        }
        let of_all = rows.iter().rfind(|row| row.is_whole && Some(row.content) == whole);
        models.whole = of_all
            .and_then(|row| serde_json::from_str::<Refined<RefinedSession>>(&row.body).ok())
            .map(|made| made.refined);
        models
    }

    /// Keeps only answers that people decided about; all else is left as distilled.
    pub(crate) fn only_decided(self) -> Self {
        Self { only_decided: true, whole: None, ..self }
    }

    /// Lays the answers over a distillate. A name that the user gave the session stays.
    pub(crate) fn over(
        self,
        session: &SessionKey,
        is_named: bool,
        distillate: Distillate,
        decisions: &MemoryDecisions,
    ) -> Overlay {
        let Self { turns, whole, only_decided } = self;
        let is_decided = |id: &Id| is_decided(decisions, id);
        let summaries = distillate.summary.iter().map(|summary| summary.id);
        let mut is_touched = summaries.chain([summary_id(session)]).any(|id| is_decided(&id));
        // A merged observation also stands for those merged into it.
        let touched: HashSet<u32> = distillate
            .observations
            .iter()
            .filter(|one| is_decided(&one.id) || one.merged.iter().any(|one| is_decided(&one.id)))
            .map(|one| one.turn)
            .collect();
        is_touched |= !touched.is_empty();
        let mut overlay = Overlay { distillate, ..Overlay::default() };
        for (turn, answers) in turns {
            let is_overlaid = !only_decided && !touched.contains(&turn);
            is_touched |= overlay.overlay_turn(turn, answers, is_overlaid, decisions);
        }
        let distilled = overlay.distillate.summary.as_ref();
        if decisions.get(&summary_id(session)).is_some_and(|decision| decision.forgotten) {
            overlay.forgotten.extend(distilled.map(|summary| summary.id));
        }
        overlay.summary = whole
            .filter(|_| !is_touched)
            .zip(distilled)
            .map(|(whole, distilled)| summary_of(session, is_named, whole, distilled));
        overlay
    }
}

/// Returns true if a person had a memory forgotten, or overwrote it.
fn is_decided(decisions: &MemoryDecisions, id: &Id) -> bool {
    decisions.get(id).is_some_and(|decision| decision.forgotten || !decision.edit.is_empty())
}

/// Returns true if a person overwrote a memory.
pub(crate) fn is_edited(decisions: &MemoryDecisions, id: &Id) -> bool {
    decisions.get(id).is_some_and(|decision| !decision.edit.is_empty())
}

/// The passages that an answer names, those of its observations first.
fn sources(made: &RefinedTurn) -> impl Iterator<Item = &Id> {
    let Digest { request, investigated, learned, completed, next_steps, .. } = &made.digest;
    let lists = [investigated, learned, completed, next_steps];
    let statements = request.iter().chain(lists.into_iter().flatten());
    let observations = made.observations.iter().flat_map(|one| &one.sources);
    observations.chain(statements.flat_map(|statement: &Statement| &statement.sources))
}

/// Sets the ids of an answer's observations. The ids include the titles: a decision about one observation
/// does not carry over to another when another model answers.
fn name(session: &SessionKey, turn: u32, tokens: u64, observations: &mut [Observation]) {
    let count = observations.len() as u64;
    let mut titles: HashMap<String, u64> = HashMap::new();
    for observation in observations {
        let same = titles.entry(observation.title.clone()).or_default();
        observation.id = Id::derive(&[
            b"refined",
            session.agent.as_str().as_bytes(),
            session.id.as_str().as_bytes(),
            &turn.to_le_bytes(),
            observation.title.as_bytes(),
            &same.to_le_bytes(),
        ]);
        *same += 1;
        observation.turn = turn;
        observation.raw_tokens = tokens / count.max(1);
    }
}

impl ModelAnswer {
    fn is_decided_about(&self, decisions: &MemoryDecisions) -> bool {
        self.made.observations.iter().any(|one| is_decided(decisions, &one.id))
    }

    /// The distilled observations that this answer replaces.
    fn superseded<'a>(
        &self,
        turn: u32,
        distillate: &'a Distillate,
    ) -> impl Iterator<Item = &'a Observation> {
        distillate
            .observations
            .iter()
            .filter(move |one| one.turn == turn && one.speaker == Speaker::Agent && !one.is_rule)
            .filter(|one| covers(&self.made, one))
    }

    /// The ids that one of its observations replaces: those made of the same passages, else all that the
    /// answer replaces.
    fn superseded_by(
        &self,
        observation: &Observation,
        turn: u32,
        distillate: &Distillate,
    ) -> Vec<Id> {
        let is_of_same = |one: &&Observation| {
            one.sources.iter().any(|source| observation.sources.contains(source))
        };
        let ids = |one: &Observation| one.id;
        let of_same: Vec<Id> =
            self.superseded(turn, distillate).filter(is_of_same).map(ids).collect();
        match of_same.is_empty() && self.holds {
            // The model has not seen later additions to the turn.
            true => self.superseded(turn, distillate).map(ids).collect(),
            false => of_same,
        }
    }
}

/// Changes, rulings and the outcome are known from the distilled summary.
fn summary_of(
    session: &SessionKey,
    is_named: bool,
    whole: RefinedSession,
    distilled: &Summary,
) -> Summary {
    let RefinedSession { title, digest: made, sections } = whole;
    let mut digest = distilled.digest.clone();
    overlay_digest(&mut digest, made);
    Summary {
        id: summary_id(session),
        title: if is_named || title.is_empty() { distilled.title.clone() } else { title },
        digest,
        sections,
        ..distilled.clone()
    }
}

/// Returns true if an answer about a turn covers a distilled observation. An observation with changes that
/// the model left out stays.
fn covers(made: &RefinedTurn, distilled: &Observation) -> bool {
    let is_told = |path: &String| {
        made.observations.iter().any(|observation| observation.files_modified.contains(path))
    };
    !made.observations.is_empty() && distilled.files_modified.iter().all(is_told)
}

fn digest_of(summary: &mut Summary, turn: u32) -> Option<&mut Digest> {
    summary.turns.iter_mut().find(|(number, _)| *number == turn).map(|(_, digest)| digest)
}

/// Lays a model's digest over a distilled one. Changes, decisions and the outcome are known from the record
/// of the work; the rest a model says better.
fn overlay_digest(digest: &mut Digest, made: Digest) {
    let Digest { request, investigated, learned, completed, next_steps, .. } = made;
    digest.is_refined = true;
    digest.request = request.or(digest.request.take());
    let lists = [
        (&mut digest.investigated, investigated),
        (&mut digest.learned, learned),
        (&mut digest.completed, completed),
        (&mut digest.next_steps, next_steps),
    ];
    for (known, made) in lists {
        if !made.is_empty() {
            *known = made;
        }
    }
}

impl Overlay {
    /// Lays answers over a turn, and returns true if people decided about any of them.
    fn overlay_turn(
        &mut self,
        turn: u32,
        answers: Vec<ModelAnswer>,
        is_overlaid: bool,
        decisions: &MemoryDecisions,
    ) -> bool {
        let is_touched = answers.iter().any(|answer| answer.is_decided_about(decisions));
        let is_edited = |id: &Id| is_edited(decisions, id);
        for answer in &answers {
            for one in answer.made.observations.iter().filter(|one| is_decided(decisions, &one.id))
            {
                let mut away = answer.superseded_by(one, turn, &self.distillate);
                // An overwritten observation is never replaced.
                away.retain(|id| !is_edited(id));
                let decision = decisions.get(&one.id);
                if decision.is_some_and(|decision| decision.forgotten) {
                    self.forgotten.extend(away);
                } else if decision.is_some_and(|decision| decision.edit.rewords(one)) {
                    self.overwritten.extend(away);
                } else {
                    self.superseded.extend(away);
                }
            }
        }
        let stands = is_overlaid.then(|| {
            answers.iter().rposition(|answer| {
                answer.holds && (!is_touched || answer.is_decided_about(decisions))
            })
        });
        let stands = stands.flatten();
        if let Some(answer) = stands.and_then(|place| answers.get(place)) {
            let superseded = answer.superseded(turn, &self.distillate).map(|one| one.id);
            self.superseded.extend(superseded);
            self.refined.extend(answer.made.observations.iter().cloned());
            let summary = self.distillate.summary.as_mut();
            if let Some(digest) = summary.and_then(|summary| digest_of(summary, turn))
                && !is_touched
            {
                overlay_digest(digest, answer.made.digest.clone());
            }
        }
        // An overwritten observation stays, whatever else counts.
        for one in answers.into_iter().rev().flat_map(|answer| answer.made.observations) {
            if is_edited(&one.id) && self.refined.iter().all(|known| known.id != one.id) {
                self.refined.push(one);
            }
        }
        self.superseded.extend(&self.overwritten);
        is_touched
    }

    /// Returns the memories to show: the distilled ones, with those of models in their place.
    pub(crate) fn into_shown(self) -> Distillate {
        let Self { mut distillate, refined, superseded, summary, .. } = self;
        distillate.observations.retain(|one| !superseded.contains(&one.id));
        distillate.observations.extend(refined);
        distillate.summary = summary.or(distillate.summary);
        distillate
    }

    /// Returns true if this memory was replaced by one that a person had forgotten.
    pub(crate) fn is_forgotten(&self, id: &Id) -> bool {
        self.forgotten.contains(id)
    }

    /// Returns true if this memory is replaced by one that a person reworded.
    pub(crate) fn is_overwritten(&self, id: &Id) -> bool {
        self.overwritten.contains(id)
    }

    /// Those that were distilled, superseded ones included.
    pub(crate) fn distilled(&self) -> &[Observation] {
        &self.distillate.observations
    }

    /// Those that models made.
    pub(crate) fn refined(&self) -> &[Observation] {
        &self.refined
    }

    /// All observations, superseded ones included.
    pub(crate) fn observations(&self) -> impl Iterator<Item = &Observation> {
        self.distillate.observations.iter().chain(&self.refined)
    }

    /// The ids of all memories.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Id> {
        let summaries = self.distillate.summary.iter().chain(&self.summary);
        self.observations().map(|one| one.id).chain(summaries.map(|one| one.id))
    }

    /// All observations, superseded ones included.
    pub(crate) fn observations_mut(&mut self) -> impl Iterator<Item = &mut Observation> {
        self.distillate.observations.iter_mut().chain(&mut self.refined)
    }

    /// Leaves out observations and summaries by their ids.
    pub(crate) fn retain(&mut self, is_wanted: impl Fn(&Id) -> bool) {
        self.distillate.observations.retain(|one| is_wanted(&one.id));
        self.refined.retain(|one| is_wanted(&one.id));
        self.distillate.summary = self.distillate.summary.take().filter(|one| is_wanted(&one.id));
        self.summary = self.summary.take().filter(|one| is_wanted(&one.id));
    }

    /// Changes every summary.
    pub(crate) fn change_summaries(&mut self, change: impl Fn(Summary) -> Summary) {
        self.distillate.summary = self.distillate.summary.take().map(&change);
        self.summary = self.summary.take().map(&change);
    }

    /// Calls `each` with every text, file names included.
    pub(crate) fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        let Self {
            distillate: Distillate { observations, summary: distilled },
            refined,
            summary,
            superseded: _,
            forgotten: _,
            overwritten: _,
        } = self;
        observations.iter_mut().chain(refined).for_each(|observation| observation.texts(each));
        distilled.iter_mut().chain(summary).for_each(|summary| summary.texts(each));
    }

    /// The title of the session.
    pub(crate) fn title(&self) -> Option<&str> {
        let summary = self.summary.as_ref().or(self.distillate.summary.as_ref());
        summary.map(|summary| summary.title.as_str())
    }

    /// Converts everything to stored memories.
    pub(crate) fn memories(
        &self,
        observation: &dyn Fn(&Observation) -> NewMemory,
        summary: &dyn Fn(&Summary) -> NewMemory,
    ) -> Vec<NewMemory> {
        let distilled = self.distillate.observations.iter().map(|one| {
            let memory = observation(one);
            match self.superseded.contains(&one.id) {
                true => memory.superseded(),
                false => memory,
            }
        });
        let refined = self.refined.iter().map(|one| observation(one).refined());
        let of_model = self.summary.iter().map(|one| summary(one).refined());
        let summaries = self.distillate.summary.iter().map(|one| match self.summary {
            Some(_) => summary(one).superseded(),
            None => summary(one),
        });
        distilled.chain(refined).chain(summaries).chain(of_model).collect()
    }
}
