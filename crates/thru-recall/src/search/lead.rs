//! The lead of a screen: what stands first on it, whatever its rank.

use thru_core::Outcome;
use thru_store::index::{Candidates, QueryTerms};
use thru_store::{Result, Store};

use super::literal::quoted;
use super::{Hit, SessionHits};
use crate::decision::{asks_what_may_have_changed, decided, overruling, reversal};
use crate::how_to::{HowTo, Told};
use crate::rank::{PassageScore, Ranking};

/// The passages that lead, and what the question asks for, as far as that decides over the order.
pub(super) struct Lead {
    passages: Vec<PassageScore>,
    /// The commands that did it.
    pub(super) told: Vec<Told>,
    /// The subject of a question what was decided.
    pub(super) decided: Option<QueryTerms>,
    /// A later change of what the first passage says, which stands second.
    changed: Option<PassageScore>,
    asks_how: bool,
    is_quoted: bool,
}

impl Lead {
    /// Finds what leads: commands that did it, changes of mind about what was decided, or a passage that is quoted; beside the
    /// passages that are `wanted`.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(super) fn put_first(
        store: &Store,
        query: &str,
        (ranking, candidates, terms): (&Ranking, &Candidates, &QueryTerms),
        how_to: Option<HowTo>,
        wanted: &mut Vec<PassageScore>,
    ) -> Result<Self> {
        let asks_how = how_to.is_some();
        let told = match how_to {
            Some(how) => how.commands(store, ranking, candidates)?,
            None => Vec::new(),
        };
        let mut passages: Vec<PassageScore> = told.iter().map(|told| told.score).collect();
        let decided = decided(query, terms);
        if let Some(subject) = &decided {
            let is_about = |at: &usize| subject.terms.contains(&terms.terms[*at]);
            let about: Vec<usize> = (0..terms.terms.len()).filter(is_about).collect();
            passages = overruling(store, ranking, candidates, terms, &about)?;
        }
        let mut changed = None;
        if passages.is_empty() && asks_what_may_have_changed(query) {
            changed = reversal(store, wanted, candidates, terms)?;
            second(wanted, |score| changed.is_some_and(|one| one.candidate == score.candidate));
        }
        let mut is_quoted = false;
        if passages.is_empty() {
            passages.extend(quoted(store, query, ranking, candidates, terms)?);
            is_quoted = !passages.is_empty();
        }
        let lead = Self { passages, told, decided, changed, asks_how, is_quoted };
        wanted.retain(|score| !lead.leads(score));
        wanted.splice(0..0, lead.passages.iter().copied());
        Ok(lead)
    }

    /// Returns true if a passage is one of those that lead.
    pub(super) fn leads(&self, score: &PassageScore) -> bool {
        self.passages.iter().any(|one| one.candidate == score.candidate)
    }

    /// Returns true if what leads answers the question, however much the rest has to do with it.
    pub(super) fn is_enough(&self) -> bool {
        self.is_quoted || self.told.iter().any(|told| told.is_all)
    }

    /// Puts the sessions of what leads first, and in each session the answer that holds.
    pub(super) fn arrange(&self, sessions: &mut [SessionHits], candidates: &Candidates) {
        let session = |score: &PassageScore| candidates.found[score.candidate].session;
        sessions.sort_by_key(|one| {
            let own = self.passages.iter().position(|score| session(score) == one.session.row);
            own.unwrap_or(self.passages.len())
        });
        if let Some(changed) = &self.changed {
            second(sessions, |one| one.session.row == session(changed));
        }
        if self.told.is_empty()
            && self.decided.is_none()
            && self.asks_how
            && let Some(first) = sessions.first_mut()
        {
            command_second(&mut first.hits, candidates);
        }
    }
}

/// The share of what the best passage holds of a question how to do something that a command holds which may have done it.
const DID: f32 = 0.4;

/// Puts the first command that worked behind the best answer to a question how to do something, where none is sure to do it.
fn command_second(hits: &mut [Hit], candidates: &Candidates) {
    let held = |hit: &Hit| candidates.found[hit.score.candidate].held();
    let most = hits.iter().map(held).fold(0.0, f32::max);
    second(hits, |hit| {
        let has_worked = hit.passage.outcome == Some(Outcome::Succeeded);
        hit.passage.command.is_some() && has_worked && held(hit) >= most * DID
    });
}

/// Moves an item that stands further behind to the second place.
fn second<T>(items: &mut [T], is_it: impl Fn(&T) -> bool) {
    if let Some(at) = items.iter().position(is_it).filter(|at| *at > 1) {
        items[1..=at].rotate_right(1);
    }
}
