//! The input about a turn: the person's prompt, the agent's actions and its words, each at a length that
//! fits the room.

use std::collections::HashMap;

use thru_core::{Id, Outcome, PassageKind};

use super::call::{self, CallEntry};
use super::fence;
use super::item::{Item, Rank, Record};
use super::profile::ActivityProfile;
use super::prompt::{self, Request};
use super::{Limits, TurnMoment};

/// Characters of a prompt, by form. Long ones hand over plans, which the actions repeat.
const PROMPT: [usize; 3] = [300, 1_000, 2_400];

/// Characters of the agent's last text, by form.
const REPORT: [usize; 3] = [300, 1_200, 3_600];

/// Characters of the agent's other texts, by form.
const ASIDE: [usize; 3] = [140, 400, 900];

/// Fewest bytes of prose that make a turn without actions worth a request.
const SLIGHT: usize = 400;

/// Most passages behind one line.
const FOLDED: usize = 40;

/// The part of a turn that a model is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnInput {
    record: Record,
    is_slight: bool,
}

impl TurnInput {
    /// Builds the input from the passages of one turn, in order.
    pub fn new(moments: &[TurnMoment], limits: Limits) -> Self {
        let (items, left_out) = items(moments);
        let record = Record::fit(&items, limits.room(*prompt::BESIDE_TURN), left_out);
        let said: usize = moments
            .iter()
            .filter(|moment| moment.kind == PassageKind::Assistant)
            .map(|moment| moment.text.len())
            .sum();
        let was_done = items
            .iter()
            .any(|item| matches!(item.rank, Rank::Event | Rank::Change | Rank::Check | Rank::Call));
        let is_slight = record.text.is_empty() || !was_done && said < SLIGHT;
        Self { record, is_slight }
    }

    /// Returns the record without its surroundings.
    pub fn record(&self) -> &str {
        &self.record.text
    }

    /// Returns the passages behind each number in the record, from 1.
    pub fn cites(&self) -> &[Vec<Id>] {
        &self.record.cites
    }

    /// Returns true if the turn is not worth a request: no actions and hardly any prose.
    pub const fn is_slight(&self) -> bool {
        self.is_slight
    }

    /// Builds the request about the turn.
    pub fn request(&self, profile: &ActivityProfile) -> Request {
        prompt::turn(&self.record.text, profile)
    }
}

/// Returns the items of a turn, and the number of calls not worth a line.
fn items(moments: &[TurnMoment]) -> (Vec<Item>, usize) {
    let last_said = moments
        .iter()
        .rposition(|moment| moment.kind == PassageKind::Assistant && !moment.is_subagent);
    let mut items: Vec<(Item, Option<String>)> = Vec::new();
    let mut left_out = 0;
    let mut edits: HashMap<String, usize> = HashMap::new();
    for (at, moment) in moments.iter().enumerate() {
        let told = match moment.kind {
            PassageKind::Human => CallEntry::Item(Box::new(person(moment))),
            PassageKind::Assistant if moment.is_subagent => CallEntry::Nothing,
            PassageKind::Assistant => {
                CallEntry::Item(Box::new(agent(moment, Some(at) == last_said)))
            }
            PassageKind::Tool => call::entry(moment),
        };
        match told {
            CallEntry::Item(item) if item.forms.iter().all(String::is_empty) => {}
            CallEntry::Item(item) => items.push((*item, None)),
            CallEntry::Look(what) => look(&mut items, moment.passage, what),
            CallEntry::Edit(path, item) => {
                // Edits of one file between two runs are one change.
                match edits.get(&path).and_then(|known| items.get_mut(*known)) {
                    Some((known, _)) if known.passages.len() < FOLDED => {
                        call::fold_edit(known, *item);
                    }
                    _ => {
                        edits.insert(path, items.len());
                        items.push((*item, None));
                    }
                }
            }
            CallEntry::Run(key, item) => {
                if item.rank <= Rank::Check {
                    edits.clear();
                }
                match items.last_mut() {
                    Some((last, Some(known))) if *known == key && last.passages.len() < FOLDED => {
                        call::fold_run(last, *item);
                    }
                    _ => items.push((*item, Some(key))),
                }
            }
            CallEntry::LeftOut => left_out += 1,
            CallEntry::Nothing => {}
        }
    }
    (items.into_iter().map(|(item, _)| item).collect(), left_out)
}

/// Adds to the preceding looks, if nothing else happened since.
fn look(items: &mut Vec<(Item, Option<String>)>, passage: Id, what: String) {
    const KEY: &str = "look";
    /// Characters of a line that lists looks.
    const LINE: usize = 400;
    if let Some((last, Some(key))) = items.last_mut()
        && key == KEY
        && last.passages.len() < FOLDED
    {
        last.passages.push(passage);
        let is_known = last.forms.iter().any(|form| form.contains(&what));
        if let Some(form) = last.forms.first_mut().filter(|form| !is_known && form.len() < LINE) {
            form.push_str(", ");
            form.push_str(&what);
        }
        return;
    }
    let item = Item::new(passage, Rank::Look, vec![format!("LOOKED AT {what}")]);
    items.push((item, Some(KEY.to_owned())));
}

fn person(moment: &TurnMoment) -> Item {
    let said = fence::own(&moment.text);
    Item::new(moment.passage, Rank::Person, forms("PERSON", &said, PROMPT))
}

fn agent(moment: &TurnMoment, is_last: bool) -> Item {
    let said = fence::own(&moment.text);
    match is_last {
        true => Item::new(moment.passage, Rank::Conclusion, forms("AGENT", &said, REPORT)),
        false => Item::new(moment.passage, Rank::Prose, forms("AGENT", &said, ASIDE)),
    }
}

fn forms(who: &str, said: &str, limits: [usize; 3]) -> Vec<String> {
    if said.trim().is_empty() {
        return vec![String::new()];
    }
    limits.iter().map(|limit| format!("{who}: {}", fence::line(said, *limit))).collect()
}

/// Returns the outcome of a call as shown.
pub(super) const fn outcome(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Failed) => " → failed",
        Some(Outcome::Pending) => " → not finished",
        Some(Outcome::Succeeded) | None => "",
    }
}

#[cfg(test)]
mod tests;
