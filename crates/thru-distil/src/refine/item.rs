//! One item of a record, in forms of different lengths.

use thru_core::{Id, estimated_tokens};

/// The importance of an item, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A person's prompt, answer or refusal.
    Person,
    /// The agent's last words: its conclusion.
    Conclusion,
    /// A failure or a commit.
    Event,
    /// A change.
    Change,
    /// A check that passed.
    Check,
    /// The agent's other prose.
    Prose,
    /// Any other call.
    Call,
    /// A look at something.
    Look,
}

/// Shares of a record, in the order in which room is assigned: lowest rank, form, and share of the room
/// (in percent).
const PASSES: [(Rank, usize, u64); 8] = [
    (Rank::Conclusion, 1, 60),
    (Rank::Look, 0, 75),
    (Rank::Event, 1, 85),
    (Rank::Check, 1, 100),
    (Rank::Conclusion, 2, 100),
    (Rank::Event, 2, 100),
    (Rank::Look, 1, 100),
    (Rank::Look, 2, 100),
];

/// One line of a record, with optional indented lines below it.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The passages that it was taken from.
    pub(super) passages: Vec<Id>,
    pub(super) rank: Rank,
    /// The text, shortest form first. Never empty.
    pub(super) forms: Vec<String>,
}

impl Item {
    pub(super) fn new(passage: Id, rank: Rank, forms: Vec<String>) -> Self {
        let mut item = Self { passages: vec![passage], rank, forms };
        item.forms.dedup();
        item
    }

    /// Returns a form, or the longest there is.
    pub(super) fn form(&self, at: usize) -> &str {
        self.forms.get(at).or_else(|| self.forms.last()).map_or("", String::as_str)
    }

    /// Returns the cost of a form in tokens; an upper bound if line numbers are short.
    fn cost(&self, form: usize) -> u64 {
        const NUMBER: u64 = 3;
        self.forms.get(form).map_or(0, |text| estimated_tokens(text) + NUMBER)
    }
}

/// Items chosen to fit, in their order, as numbered lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) text: String,
    /// The passages behind each number, from 1.
    pub(super) cites: Vec<Vec<Id>>,
}

impl Record {
    /// Fits as many items as possible, in as long a form as possible, into `room` tokens: the important
    /// ones first, and among equals the later ones.
    pub(super) fn fit(items: &[Item], room: u64, left_out: usize) -> Self {
        // Tokens of the line that reports omissions.
        const CLOSING: u64 = 12;
        let room = room.saturating_sub(CLOSING);
        let mut order: Vec<usize> = (0..items.len()).rev().collect();
        order.sort_by_key(|at| items.get(*at).map(|item| item.rank));
        let mut chosen: Vec<Option<usize>> = vec![None; items.len()];
        let mut taken = 0;
        for (rank, form, share) in PASSES {
            let room = room * share / 100;
            for &at in &order {
                let (Some(item), Some(choice)) = (items.get(at), chosen.get_mut(at)) else {
                    continue;
                };
                let form = form.min(item.forms.len().saturating_sub(1));
                if item.rank > rank || choice.is_some_and(|known| known >= form) {
                    continue;
                }
                let before = choice.map_or(0, |known| item.cost(known));
                let after = item.cost(form);
                if taken - before + after <= room {
                    taken = taken - before + after;
                    *choice = Some(form);
                }
            }
        }
        let mut record = Self::default();
        let mut missing = left_out;
        for (item, choice) in items.iter().zip(chosen) {
            let Some(text) = choice.and_then(|form| item.forms.get(form)) else {
                missing += item.passages.len();
                continue;
            };
            record.cites.push(item.passages.clone());
            record.text.push_str(&format!("[{}] {text}\n", record.cites.len()));
        }
        if missing > 0 && !record.text.is_empty() {
            record.text.push_str(&format!("({missing} more left out)\n"));
        }
        record.text = thru_core::defused(record.text.trim_end()).into_owned();
        record
    }
}
