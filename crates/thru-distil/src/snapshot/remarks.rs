//! Choices with their reasons, and setbacks, in the agent's own words: recognised by sentence shape, so
//! never more than likely.

use std::sync::LazyLock;

use crate::pattern::Regex;
use thru_core::{Id, Statement};

use super::recency;
use crate::pattern;
use crate::phrase::without_openers;
use crate::prose::{self, LineKind};
use crate::text::{capitalised, one_line, unmarked};

/// Most sentences of each kind that are kept.
const MOST: usize = 16;

/// Most sentences of each kind that are tracked: beyond that, the earlier half is dropped.
const FOLLOWED: usize = 1_000;

/// Passages after which a sentence counts half.
const HALF_LIFE: f64 = 120.0;

/// Lowest weight of a sentence, however long ago it was said.
const EVER: f64 = 0.25;

/// The shortest and the longest sentence, in bytes.
const LENGTH: std::ops::Range<usize> = 36..360;

/// Phrases that name a choice or a cause.
static CHOICE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:instead of|rather than|root cause|because|turns out|decided|chose|chosen|going with|trade-?off|the (?:issue|problem|fix|bug|cause) (?:is|was)|so that|in favou?r of|must (?:be|not|use)|by design|on purpose|deliberately)\b",
    )
});

/// Phrases that name a choice or a cause outright.
static STRONG: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:root cause|decided|chose|going with|the (?:issue|problem|fix|bug|cause) (?:is|was)|by design|instead of)\b",
    )
});

/// Phrases that make it a guess, or a plan to look.
static DOUBT: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:(?:now )?let me (?:check|see|look|verify|also|read|try|first|understand|investigate|trace)|if |unless |whether )|\b(?:likely|may|might|maybe|perhaps|probably|could|possibly|let me know|would you)\b",
    )
});

/// Phrases that report a setback.
static SETBACK: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:(?:doesn['’]t|didn['’]t|does not|did not|won['’]t|can['’]t|cannot|isn['’]t) (?:\w+ )?(?:work|help|exist|support(?:ed)?|fix|possible|available|allowed)|reverted|reverting|revert (?:that|this|it|the)|dead end|gave up|no luck|not possible|still fails|approach (?:fail|does|did|is wrong))",
    )
});

/// Beginnings that can be dropped from a sentence.
const OPENINGS: [&str; 7] =
    ["Now let me ", "Let me ", "Now I'll ", "I'll ", "Now ", "So ", "I need to "];

/// Choices and setbacks that the agent wrote of.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    choices: Vec<Remark>,
    setbacks: Vec<Remark>,
}

#[derive(Debug)]
struct Remark {
    place: usize,
    id: Id,
    text: String,
    weight: f64,
}

impl Remarks {
    /// Adds one text of the agent.
    pub(super) fn add(&mut self, place: usize, id: Id, text: &str) {
        let matches = |pattern: &LazyLock<Regex>, sentence: &str| pattern.is_match(sentence);
        if !matches(&CHOICE, text) && !matches(&SETBACK, text) {
            return;
        }
        for line in prose::lines(text).filter(|line| line.kind != LineKind::Blank) {
            for sentence in prose::sentences(line.text) {
                if !LENGTH.contains(&sentence.len()) || sentence.ends_with(['?', ':']) {
                    continue;
                }
                let is_setback = matches(&SETBACK, sentence);
                if !is_setback && !matches(&CHOICE, sentence) {
                    continue;
                }
                if matches(&DOUBT, sentence) {
                    continue;
                }
                let weight = if matches(&STRONG, sentence) { 2.0 } else { 1.0 };
                let bare = without_openers(sentence);
                let bare = OPENINGS.iter().find_map(|open| bare.strip_prefix(open)).unwrap_or(bare);
                let text = capitalised(&one_line(&unmarked(bare), 320));
                let list = if is_setback { &mut self.setbacks } else { &mut self.choices };
                list.push(Remark { place, id, text, weight });
                if list.len() > FOLLOWED {
                    list.drain(..FOLLOWED / 2);
                }
            }
        }
    }

    /// Returns choices and setbacks, the most important first.
    pub(super) fn finish(self, end: usize) -> (Vec<Statement>, Vec<Statement>) {
        let best = |mut remarks: Vec<Remark>| -> Vec<Statement> {
            let value = |one: &Remark| one.weight * (EVER + recency(one.place, end, HALF_LIFE));
            remarks.sort_by(|a, b| value(b).total_cmp(&value(a)));
            remarks.truncate(MOST);
            let statements = remarks.into_iter();
            statements.map(|one| Statement { text: one.text, sources: vec![one.id] }).collect()
        };
        (best(self.choices), best(self.setbacks))
    }
}
