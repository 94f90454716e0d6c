//! The passages that are shown, and what stands beside them.

use std::collections::{HashMap, HashSet};

use thru_core::{Outcome, PassageKind};
use thru_redact::{Clean, Redactor, Report};
use thru_store::index::Candidates;
use thru_store::{PassageRow, Result, Store};

use super::excerpts::{Excerpts, LEADERS, asks_person, is_plan};
use super::saying::{is_asking, is_intent, is_order};
use super::{Hit, HitTurn, SearchRequest, TurnEnds};
use crate::dedup::Shown;
use crate::rank::PassageScore;
use crate::snippet::Snippet;

/// Passages behind a call among which the agent speaks of it.
const NEXT: u32 = 6;

/// The means to read passages.
pub(super) struct Reader<'a, 'm> {
    pub(super) store: &'a Store,
    pub(super) redactor: &'a Redactor,
    pub(super) request: &'a SearchRequest,
    pub(super) candidates: &'a Candidates,
    pub(super) excerpts: &'a Excerpts<'a, 'm>,
}

impl Reader<'_, '_> {
    /// Reads the passages that are wanted, as far as there is room, with the number of those that repeat others.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(super) fn hits(&self, wanted: &[PassageScore]) -> Result<(Vec<Hit>, usize)> {
        let Self { store, request, candidates, .. } = self;
        let rows: Vec<i64> =
            wanted.iter().map(|score| candidates.found[score.candidate].row).collect();
        let passages = store.passages_of_rows(&rows)?;
        let mut passages: HashMap<i64, PassageRow> =
            passages.into_iter().map(|passage| (passage.row, passage)).collect();
        let mut hits: Vec<(usize, Hit)> = Vec::new();
        let mut unsaid: Vec<(usize, Hit)> = Vec::new();
        let (mut shown, mut near_duplicates) = (Shown::default(), 0);
        // What stands beside a hit as an end of its turn needs no line of its own.
        let mut in_turns: HashSet<i64> = HashSet::new();
        let on_screen: HashSet<i64> = rows.iter().copied().take(request.limit).collect();
        for (place, score) in wanted.iter().enumerate() {
            if hits.len() == request.limit {
                break;
            }
            // A row that was replaced since it was indexed is gone; its successor is found by itself.
            let Some(passage) = passages.remove(&candidates.found[score.candidate].row) else {
                continue;
            };
            let is_skipped = |tool: &String| request.skip_tools.contains(tool);
            if in_turns.contains(&passage.row) || passage.tool.as_ref().is_some_and(is_skipped) {
                continue;
            }
            let text = self.text(&passage)?;
            if shown.is_near_duplicate(passage.session, text.get()) {
                near_duplicates += 1;
                continue;
            }
            let is_told = |row: i64| on_screen.contains(&row) || in_turns.contains(&row);
            let turn = self.turn(&passage, text.get(), hits.len() < LEADERS, is_told)?;
            let is_held = candidates.found[score.candidate].holds_any();
            let is_unsaid = match passage.kind {
                PassageKind::Human => !is_held && is_order(text.get()),
                PassageKind::Assistant => is_intent(text.get()) || is_asking(text.get()),
                PassageKind::Tool => false,
            };
            if !is_unsaid {
                let ends = turn.iter().flat_map(|turn| turn.prompt.iter().chain(&turn.result));
                in_turns.extend(ends.map(|(end, _)| end.row));
            }
            let hit = Hit {
                short_id: store.short_id(&passage.id)?,
                snippet: text.derive(|_| Snippet::default()),
                context: self.context(&passage)?,
                turn,
                rank: 0,
                passage,
                text,
                score: *score,
            };
            if is_unsaid { unsaid.push((place, hit)) } else { hits.push((place, hit)) }
        }
        let room = request.limit.saturating_sub(hits.len());
        hits.extend(unsaid.into_iter().take(room));
        hits.sort_by_key(|(place, _)| *place);
        let mut hits: Vec<Hit> = hits.into_iter().map(|(_, hit)| hit).collect();
        answers_first(&mut hits);
        let hits = (1..).zip(hits).map(|(rank, hit)| Hit { rank, ..hit }).collect();
        Ok((hits, near_duplicates))
    }

    /// The ends of the turn of a passage that are shown with it.
    fn turn(
        &self,
        passage: &PassageRow,
        text: &str,
        is_leader: bool,
        is_told: impl Fn(i64) -> bool,
    ) -> Result<Option<HitTurn>> {
        let mut turn = match self.request.turns {
            TurnEnds::None => return Ok(None),
            TurnEnds::Both => self.ends(passage)?,
            TurnEnds::Answer => {
                let result = self.outcome(passage, text, is_leader)?;
                let Some(result) = result.filter(|(found, _)| !is_told(found.row)) else {
                    return Ok(None);
                };
                HitTurn { result: Some(result), ..HitTurn::default() }
            }
        };
        turn.excerpt = turn.result.as_ref().map(|(_, text)| self.excerpts.outcome(text));
        // What a plan led to is told by others, unless its last words speak of what is asked.
        let tells = turn.excerpt.as_ref().is_some_and(|own| !own.get().marks.is_empty());
        let is_own = !is_plan(passage, text) || self.request.turns == TurnEnds::Both;
        Ok(Some(turn).filter(|_| is_own || tells))
    }

    /// The prompt of the turn of a passage and the agent's last words in it, without the passage itself.
    fn ends(&self, passage: &PassageRow) -> Result<HitTurn> {
        let read = |found: Option<PassageRow>| {
            let other = found.filter(|found| found.row != passage.row);
            other.map(|found| self.text(&found).map(|text| (found, text))).transpose()
        };
        let (prompt, result) = self.store.ends_of_turn(passage)?;
        Ok(HitTurn { prompt: read(prompt)?, result: read(result)?, excerpt: None })
    }

    /// The outcome of a passage that asks: the last words of the agent behind a prompt, and the reply to a question of the
    /// agent that the passage does not hold; of a call that failed and is a leader what the agent made of it.
    fn outcome(
        &self,
        passage: &PassageRow,
        text: &str,
        is_leader: bool,
    ) -> Result<Option<(PassageRow, Clean<String>)>> {
        let has_failed = passage.outcome == Some(Outcome::Failed);
        let may_ask = asks_person(passage.tool.as_deref());
        let found = match passage.kind {
            PassageKind::Human => self.store.ends_of_turn(passage)?.1,
            PassageKind::Assistant if is_asking(text) => self.store.reply_to(passage)?,
            PassageKind::Tool if has_failed && may_ask => self.store.reply_to(passage)?,
            PassageKind::Tool if has_failed && is_leader => self.next_words(passage)?,
            _ => None,
        };
        let Some(found) = found else { return Ok(None) };
        let text = self.text(&found)?;
        let says = passage.kind == PassageKind::Tool
            || found.kind == PassageKind::Human
            || !is_intent(text.get()) && !is_asking(text.get());
        Ok(says.then_some((found, text)))
    }

    /// The next words of the agent that made a call, but for those that only say what it does next.
    fn next_words(&self, call: &PassageRow) -> Result<Option<PassageRow>> {
        for ordinal in call.ordinal + 1..=call.ordinal + NEXT {
            let next = self.store.passage_at(call.session, call.source, ordinal)?;
            let next = next.filter(|next| {
                next.agent_id == call.agent_id && next.kind == PassageKind::Assistant
            });
            if let Some(next) = next
                && !is_intent(&self.store.text_of(&next)?)
            {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    fn text(&self, passage: &PassageRow) -> Result<Clean<String>> {
        Ok(self.redactor.clean_text(&self.store.text_of(passage)?, &mut Report::default()))
    }

    /// The passages before and after one, as many as are requested.
    fn context(&self, passage: &PassageRow) -> Result<Vec<(PassageRow, Clean<String>)>> {
        let reach = self.request.context;
        let mut found = Vec::new();
        if reach == 0 {
            return Ok(found);
        }
        let around = passage.ordinal.saturating_sub(reach)..=passage.ordinal.saturating_add(reach);
        for ordinal in around.filter(|ordinal| *ordinal != passage.ordinal) {
            let near = self.store.passage_at(passage.session, passage.source, ordinal)?;
            if let Some(near) = near {
                let text = self.text(&near)?;
                found.push((near, text));
            }
        }
        Ok(found)
    }
}

/// Puts what answers a question before it.
fn answers_first(hits: &mut [Hit]) {
    for at in 1..hits.len() {
        let (asked, answer) = (&hits[at - 1], &hits[at]);
        let turn = |hit: &Hit| (hit.passage.source, hit.passage.turn);
        let is_answer = answer.passage.kind == PassageKind::Assistant
            && turn(asked) == turn(answer)
            && !answer.score.is_beside();
        if is_answer && asked.passage.kind == PassageKind::Human && is_asking(asked.text.get()) {
            hits.swap(at - 1, at);
        }
    }
}
