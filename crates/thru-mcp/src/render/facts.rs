//! Facts as one line each.

use thru_app::ask::graph::FactEntry;
use thru_app::ask::graph::changed::ChangeList;
use thru_app::ask::graph::facts::FactList;
use thru_app::ask::graph::problems::ProblemList;
use thru_app::words::{day_and_time, plural};
use thru_core::{plain_line, plural_noun};
use thru_recall::recorded;

use super::Renderer;

/// Width of the words of a fact, with its end. Twenty rows stay below 1,000 tokens.
const LONGEST: usize = 150;

impl Renderer {
    /// Renders the facts about a thing.
    pub(crate) fn facts(&self, found: &FactList) -> String {
        let mut text = self.fact_rows(&found.facts, "fact");
        if found.facts.is_empty() && found.ended > 0 {
            text.push_str("It had facts that no longer hold: history=true.\n");
        }
        self.more(&mut text, found.more);
        self.notes(&mut text, &found.preparation);
        text
    }

    /// Renders open problems.
    pub(crate) fn problems(&self, found: &ProblemList) -> String {
        let mut text = self.fact_rows(&found.problems, "open problem");
        self.more(&mut text, found.more);
        self.notes(&mut text, &found.preparation);
        text
    }

    /// Renders what changed.
    pub(crate) fn changes(&self, found: &ChangeList) -> String {
        let mut text = self.fact_rows(&found.facts, "change");
        self.more(&mut text, found.more);
        self.notes(&mut text, &found.preparation);
        text
    }

    fn more(&self, text: &mut String, more: bool) {
        if more {
            text.push_str("There are more; a higher limit shows them.\n");
        }
    }

    /// `k3f9a | 2026-03-01 14:05 | cargo test fails (on main)`
    fn fact_rows(&self, facts: &[FactEntry], noun: &str) -> String {
        if facts.is_empty() {
            return format!("No {}.\n", plural_noun(noun));
        }
        let number = plural(facts.len() as u64, noun);
        let mut text = format!("{number}, latest first; id of the record | since | fact\n");
        for fact in facts {
            let since = day_and_time(Some(fact.from), &self.zone);
            let end = fact.end.as_ref().map_or(String::new(), |end| {
                format!(", until {}: {}", day_and_time(Some(end.at), &self.zone), end.reason)
            });
            let room = LONGEST.saturating_sub(end.len());
            let words = self.cleaned(&fact.sentence_within(room));
            let words = plain_line(&words, room).replace('|', "¦");
            let id = fact.shown_by().unwrap_or("-");
            text.push_str(&format!("{id} | {since} | {}{end}\n", recorded(&words, room)));
        }
        text
    }
}
