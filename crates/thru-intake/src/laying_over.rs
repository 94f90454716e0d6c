//! What models made of a session, over what was distilled without one.
//!
//! What a model made holds for the content that it was shown: once that changes, what was distilled counts
//! again. It takes the place of what the agent did and said, never of what a person said or wrote over;
//! what it takes the place of is kept.

use std::collections::{BTreeMap, HashMap, HashSet};

use thru_core::{
    Digest, Distillate, Id, Observation, RefinedSession, RefinedTurn, SessionKey, Speaker, Summary,
};
use thru_lifecycle::content::ContentHash;
use thru_store::{NewMemory, NewTurn, RefinementRow};

use crate::operations::Refined;
use crate::refining::summary_id;

/// What models made of the turns of a session as they are now.
#[derive(Default)]
pub(crate) struct Models {
    turns: BTreeMap<u32, RefinedTurn>,
    /// The turns' sizes in tokens.
    tokens: BTreeMap<u32, u64>,
    /// What one made of the session as it is now.
    whole: Option<RefinedSession>,
}

/// What a session is remembered as.
#[derive(Default)]
pub(crate) struct Laid {
    distillate: Distillate,
    refined: Vec<Observation>,
    /// Distilled observations that a refined one takes the place of.
    superseded: HashSet<Id>,
    /// The summary that takes the place of the distilled one.
    summary: Option<Summary>,
}

impl Models {
    /// Takes what holds: of several the latest.
    pub(crate) fn of(rows: &[RefinementRow], whole: ContentHash, turns: &[NewTurn]) -> Self {
        if rows.is_empty() {
            return Self::default();
        }
        let latest: HashMap<ContentHash, &RefinementRow> =
            rows.iter().filter(|row| !row.is_whole).map(|row| (row.content, row)).collect();
        let mut models = Self::default();
        for turn in turns {
            let made = latest
                .get(&turn.content.hash)
                .and_then(|row| serde_json::from_str::<Refined<RefinedTurn>>(&row.body).ok());
            if let Some(made) = made {
                models.turns.insert(turn.turn, made.refined);
                models.tokens.insert(turn.turn, turn.tokens);
            }
        }
        let of_all = rows.iter().rfind(|row| row.is_whole && row.content == whole);
        models.whole = of_all
            .and_then(|row| serde_json::from_str::<Refined<RefinedSession>>(&row.body).ok())
            .map(|made| made.refined);
        models
    }

    /// Lays it over what was distilled. What the user called the session, no model calls otherwise.
    pub(crate) fn over(
        self,
        session: &SessionKey,
        is_named: bool,
        mut distillate: Distillate,
    ) -> Laid {
        let Self { turns, tokens, whole } = self;
        let superseded = distillate
            .observations
            .iter()
            .filter(|one| one.speaker == Speaker::Agent && !one.is_rule)
            .filter(|one| turns.get(&one.turn).is_some_and(|made| covers(made, one)))
            .map(|one| one.id)
            .collect();
        let mut refined = Vec::new();
        for (turn, made) in turns {
            let count = made.observations.len() as u64;
            for (ordinal, mut observation) in made.observations.into_iter().enumerate() {
                observation.id = Id::derive(&[
                    b"refined",
                    session.agent.as_str().as_bytes(),
                    session.id.as_str().as_bytes(),
                    &turn.to_le_bytes(),
                    &(ordinal as u64).to_le_bytes(),
                ]);
                observation.turn = turn;
                observation.raw_tokens = tokens.get(&turn).copied().unwrap_or(0) / count.max(1);
                refined.push(observation);
            }
            let summary = distillate.summary.as_mut();
            if let Some(digest) = summary.and_then(|summary| digest_of(summary, turn)) {
                lay_over_digest(digest, made.digest);
            }
        }
        let summary = whole
            .zip(distillate.summary.as_ref())
            .map(|(whole, distilled)| summary_of(session, is_named, whole, distilled));
        Laid { distillate, refined, superseded, summary }
    }
}

/// What was changed, who ruled what, and how it ended is known from what was done.
fn summary_of(
    session: &SessionKey,
    is_named: bool,
    whole: RefinedSession,
    distilled: &Summary,
) -> Summary {
    let RefinedSession { title, digest: made, sections } = whole;
    let mut digest = distilled.digest.clone();
    lay_over_digest(&mut digest, made);
    Summary {
        id: summary_id(session),
        title: if is_named || title.is_empty() { distilled.title.clone() } else { title },
        digest,
        sections,
        ..distilled.clone()
    }
}

/// Whether what a model made of a turn says all of what was distilled: an observation that knows of changes
/// which the model left out stays.
fn covers(made: &RefinedTurn, distilled: &Observation) -> bool {
    let is_told = |path: &String| {
        made.observations.iter().any(|observation| observation.files_modified.contains(path))
    };
    !made.observations.is_empty() && distilled.files_modified.iter().all(is_told)
}

fn digest_of(summary: &mut Summary, turn: u32) -> Option<&mut Digest> {
    summary.turns.iter_mut().find(|(number, _)| *number == turn).map(|(_, digest)| digest)
}

/// What was changed, decided, and how it ended is known from what was done. The rest a model says better.
fn lay_over_digest(digest: &mut Digest, made: Digest) {
    let Digest { request, investigated, learned, completed, next_steps, .. } = made;
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

impl Laid {
    /// What was distilled, and nothing else.
    pub(crate) fn of(distillate: Distillate) -> Self {
        Self { distillate, ..Self::default() }
    }

    /// What was distilled.
    pub(crate) fn into_distillate(self) -> Distillate {
        self.distillate
    }

    /// All observations, those that were superseded too.
    pub(crate) fn observations(&self) -> impl Iterator<Item = &Observation> {
        self.distillate.observations.iter().chain(&self.refined)
    }

    /// All observations, those that were superseded too.
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

    /// Nothing takes the place of what a person wrote over.
    pub(crate) fn let_stand(&mut self, is_edited: impl Fn(&Id) -> bool) {
        self.superseded.retain(|id| !is_edited(id));
    }

    /// Changes what summaries say.
    pub(crate) fn change_summaries(&mut self, change: impl Fn(Summary) -> Summary) {
        self.distillate.summary = self.distillate.summary.take().map(&change);
        self.summary = self.summary.take().map(&change);
    }

    /// Shows every text that it holds, files included.
    pub(crate) fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        self.observations_mut().for_each(|observation| observation.texts(each));
        let summaries = self.distillate.summary.iter_mut().chain(&mut self.summary);
        summaries.for_each(|summary| summary.texts(each));
    }

    /// What the session is called.
    pub(crate) fn title(&self) -> Option<&str> {
        let summary = self.summary.as_ref().or(self.distillate.summary.as_ref());
        summary.map(|summary| summary.title.as_str())
    }

    /// What is stored of it.
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
