//! The turns of the last session that are told: the one that its title names, and what was done after it. A title never
//! stands with the report of another turn.

use thru_core::{MemoryKind, ObservationType, file_name};
use thru_store::{MemoryBody, MemoryRow, Newest, Result, Store};

use super::detail::{came_of, whole};
use super::said::{alike, cut, names_something, tell_the_same, words_of};
use super::sessions::{Digested, REPORT, TITLE, landed_as};
use super::speaker::TitleSpeaker;
use super::valued::Valued;

/// Pieces of work of one turn from which on their titles tell more than the report of one.
const SEVERAL: usize = 3;
/// Turns at the end of a session whose answers are told: an earlier one was answered by the work since.
const LAST_TURNS: u32 = 2;

/// What a turn did.
pub(super) struct Report {
    pub(super) turn: u32,
    pub(super) text: String,
}

/// The observations of a session, in the order of its turns.
pub(super) struct Turns<'v> {
    own: Vec<&'v Valued>,
    /// The turn that the title of the session names.
    named: Option<u32>,
}

impl<'v> Turns<'v> {
    pub(super) fn of(
        store: &Store,
        own: impl Iterator<Item = &'v Valued>,
        title: &str,
    ) -> Result<Self> {
        let mut own: Vec<&Valued> = own.collect();
        own.sort_by_key(|one| (one.memory.turn, one.memory.at, one.memory.row));
        let words = words_of(title);
        let is_same = |one: &&&Valued| alike(&one.memory.title, title);
        let is_alike = |one: &&&Valued| tell_the_same(&words_of(&one.memory.title), &words);
        let named = own.iter().rfind(is_same).or_else(|| own.iter().rfind(is_alike));
        let mut named = named.map(|one| one.memory.turn);
        // The title may be the request of a turn.
        for one in &own {
            if named.is_none()
                && let MemoryBody::Observation(body) = store.body_of(&one.memory)?
                && let Some(asked) = &body.asked
                && (alike(&asked.text, title) || tell_the_same(&words_of(&asked.text), &words))
            {
                named = Some(one.memory.turn);
            }
        }
        // Without another turn, it can only name this one.
        let only =
            own.first().zip(own.last()).map(|(one, last)| (one.memory.turn, last.memory.turn));
        named = named.or(only.filter(|(first, last)| first == last).map(|(only, _)| only));
        Ok(Self { own, named })
    }

    /// What came of the work that the title names.
    pub(super) fn work(&self, store: &Store, digested: &Digested<'_>) -> Result<Option<Report>> {
        let (_, body) = digested;
        let Some(turn) = self.named else { return Ok(None) };
        let (same, others): (Vec<&Valued>, Vec<&Valued>) =
            self.turn(turn).partition(|one| alike(&one.memory.title, &body.title));
        let titles = titles(&others, SEVERAL - 1).filter(|_| same.is_empty());
        let text = match titles {
            Some(titles) => Some(titles),
            None => {
                let told = same.into_iter().chain(others.into_iter().rev());
                self.report(store, told, digested)?
            }
        };
        Ok(text.map(|text| Report { turn, text }))
    }

    /// What the last turn after that did, if it is worth its line: not what only keeps the books, nor small talk.
    pub(super) fn after(&self, store: &Store, digested: &Digested<'_>) -> Result<Option<Report>> {
        let (summary, body) = digested;
        let Some(session) = summary.session else { return Ok(None) };
        let newest = store.newest_passages(session, Newest { kind: None, within: 1, limit: 1 })?;
        let ended = newest.first().map_or(0, |passage| passage.turn);
        let has_code = self.own.iter().any(|one| changes_code(one));
        let is_after = |one: &&&Valued| self.named.is_none_or(|named| one.memory.turn > named);
        let mut turns: Vec<u32> =
            self.own.iter().rev().filter(is_after).map(|one| one.memory.turn).collect();
        turns.dedup();
        for turn in turns {
            let is_late = turn + LAST_TURNS > ended;
            let own: Vec<&Valued> = self
                .turn(turn)
                .filter(|one| is_late || !one.memory.is_untitled())
                .filter(|one| !has_code || one.memory.is_untitled() || changes_code(one))
                .collect();
            if let Some(titles) = titles(&own, SEVERAL) {
                return Ok(Some(Report { turn, text: titles }));
            }
            for one in own.iter().rev().filter(|one| !is_decision(&one.memory)) {
                let report = self.report(store, [*one], digested)?;
                let is_titled = !one.memory.is_untitled() && !alike(&one.memory.title, &body.title);
                let title = match is_titled {
                    true => {
                        let whole = store.body_of(&one.memory)?;
                        let speaker = TitleSpeaker::of(store, &one.memory, &whole)?;
                        Some(speaker.mark(&cut(&one.memory.title, TITLE)))
                    }
                    false => None,
                };
                let text = match (title, report) {
                    (Some(title), Some(report)) => format!("{title}: {report}"),
                    (Some(only), None) => only,
                    (None, Some(only)) if stands_alone(&only) => only,
                    (None, _) => continue,
                };
                return Ok(Some(Report { turn, text }));
            }
        }
        Ok(None)
    }

    fn turn(&self, turn: u32) -> impl Iterator<Item = &'v Valued> {
        self.own.iter().copied().filter(move |one| one.memory.turn == turn)
    }

    /// The first of these reports that says more than how the session ended. A decision is told by itself.
    fn report(
        &self,
        store: &Store,
        own: impl IntoIterator<Item = &'v Valued>,
        (_, body): &Digested<'_>,
    ) -> Result<Option<String>> {
        for one in own.into_iter().filter(|one| !is_decision(&one.memory)) {
            let text = came_of(&store.body_of(&one.memory)?, landed_as(body), REPORT);
            if text.is_some() {
                return Ok(text);
            }
        }
        Ok(None)
    }
}

/// The titles of several pieces of work.
fn titles(own: &[&Valued], fewest: usize) -> Option<String> {
    let work = own.iter().map(|one| &one.memory);
    let work = work.filter(|memory| is_work(memory) && !memory.is_untitled());
    let titles: Vec<&str> = work.map(|memory| memory.title.as_str()).collect();
    (titles.len() >= fewest).then(|| whole(&titles.join("; "), REPORT))
}

/// True if a report without a title says what it is about.
fn stands_alone(report: &str) -> bool {
    const WORDS: usize = 8;
    names_something(report) || report.split_whitespace().count() >= WORDS
}

fn is_decision(memory: &MemoryRow) -> bool {
    memory.kind == MemoryKind::Observation(ObservationType::Decision)
}

fn is_work(memory: &MemoryRow) -> bool {
    let is_finding = memory.kind == MemoryKind::Observation(ObservationType::Discovery);
    !is_finding && !is_decision(memory)
}

/// True for work on more than documents.
fn changes_code(one: &Valued) -> bool {
    let is_document = |path: &str| [".md", ".txt"].iter().any(|end| file_name(path).ends_with(end));
    one.files.iter().any(|file| file.modified && !is_document(&file.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_without_a_title_names_something_or_is_a_sentence() {
        assert!(stands_alone("Rewired `kiln.rs`."));
        assert!(stands_alone("The kiln holds its heat now with the second brick wall."));
        assert!(!stands_alone("Started the second worker."));
    }
}
