//! What the agent says that it chose and why, and what it says did not work: found by the shape of a
//! sentence, so never more than likely, and always in its own words.

use std::sync::LazyLock;

use regex::Regex;
use thru_core::{Id, Statement};

use super::recency;
use crate::pattern;
use crate::phrase::without_openers;
use crate::prose::{self, LineKind};
use crate::text::{capitalised, one_line, unmarked};

/// Sentences of each kind that are kept.
const MOST: usize = 16;

/// Sentences of each kind that are followed: of more than that, the earlier half is let go.
const FOLLOWED: usize = 1_000;

/// After so many passages a sentence counts for half.
const HALF_LIFE: f64 = 120.0;

/// What a sentence counts for however long ago it was said.
const EVER: f64 = 0.25;

/// The shortest and the longest sentence, in bytes.
const LENGTH: std::ops::Range<usize> = 36..360;

/// What names a choice or a cause.
static CHOICE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:instead of|rather than|root cause|because|turns out|decided|chose|chosen|going with|trade-?off|the (?:issue|problem|fix|bug|cause) (?:is|was)|so that|in favou?r of|must (?:be|not|use)|by design|on purpose|deliberately)\b",
    )
});

/// What names a choice or a cause outright.
static STRONG: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:root cause|decided|chose|going with|the (?:issue|problem|fix|bug|cause) (?:is|was)|by design|instead of)\b",
    )
});

/// What makes a guess or a plan to look of it.
static DOUBT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:(?:now )?let me (?:check|see|look|verify|also|read|try|first|understand|investigate|trace)|if |unless |whether )|\b(?:likely|may|might|maybe|perhaps|probably|could|possibly|let me know|would you)\b",
    )
});

/// What tells that something did not work.
static SETBACK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:(?:doesn['’]t|didn['’]t|does not|did not|won['’]t|can['’]t|cannot|isn['’]t) (?:\w+ )?(?:work|help|exist|support(?:ed)?|fix|possible|available|allowed)|reverted|reverting|revert (?:that|this|it|the)|dead end|gave up|no luck|not possible|still fails|approach (?:fail|does|did|is wrong))",
    )
});

/// How sentences begin that lose nothing without it.
const OPENINGS: [&str; 7] =
    ["Now let me ", "Let me ", "Now I'll ", "I'll ", "Now ", "So ", "I need to "];

/// Sentences with where they were said.
#[derive(Debug, Default)]
pub(super) struct Sayings {
    choices: Vec<Said>,
    setbacks: Vec<Said>,
}

#[derive(Debug)]
struct Said {
    place: usize,
    id: Id,
    text: String,
    weight: f64,
}

impl Sayings {
    /// Takes one text of the agent.
    pub(super) fn add(&mut self, place: usize, id: Id, text: &str) {
        let matches = |pattern: &LazyLock<Option<Regex>>, sentence: &str| {
            pattern.as_ref().is_some_and(|pattern| pattern.is_match(sentence))
        };
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
                list.push(Said { place, id, text, weight });
                if list.len() > FOLLOWED {
                    list.drain(..FOLLOWED / 2);
                }
            }
        }
    }

    /// Choices and setbacks, those that matter most first.
    pub(super) fn finish(self, end: usize) -> (Vec<Statement>, Vec<Statement>) {
        let best = |mut said: Vec<Said>| -> Vec<Statement> {
            let value = |one: &Said| one.weight * (EVER + recency(one.place, end, HALF_LIFE));
            said.sort_by(|a, b| value(b).total_cmp(&value(a)));
            said.truncate(MOST);
            let statements = said.into_iter();
            statements.map(|one| Statement { text: one.text, sources: vec![one.id] }).collect()
        };
        (best(self.choices), best(self.setbacks))
    }
}
