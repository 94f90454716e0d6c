//! Reads what a model answered, in whatever form it came: the JSON that was asked for, JSON of other
//! types, JSON in the midst of prose, or the tags by which other observers answer.

mod json;
mod xml;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;
use thru_core::{Concept, ObservationType};

use super::prompt;
use crate::text::find_ignoring_case;

/// Longest answer that is read, in bytes. Who asks bounds what is received.
const LONGEST: usize = 8 * 1024 * 1024;

/// Most observations of one turn.
pub(super) const OBSERVATIONS: usize = 4;

/// Most facts of one observation.
const FACTS: usize = 8;

/// Most items of a list.
const LIST: usize = 10;

/// Most files of a list.
const FILES: usize = 24;

/// Most citations of one statement.
const CITES: usize = 16;

/// Longest text that is looked at, in bytes: what is kept of it is far shorter.
const TEXT: usize = 4 * 1024;

/// Why nothing in an answer can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// There is no text in it.
    #[error("the answer is empty")]
    Empty,
    /// It is longer than anything that was asked for.
    #[error("the answer is too long")]
    TooLong,
    /// It is neither JSON nor tags.
    #[error("the answer has none of the forms that can be read")]
    NoForm,
    /// It says nothing of what was asked.
    #[error("the answer says nothing of what was asked")]
    NothingSaid,
    /// It repeats what the model was told.
    #[error("the answer repeats the prompt")]
    Echo,
}

/// What a model said of a turn. Nothing of it is believed yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnAnswer {
    /// What it observed. None is an answer, too.
    pub observations: Vec<SaidObservation>,
    /// How it sums the turn up.
    pub summary: TurnSummary,
}

/// An observation as a model said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaidObservation {
    /// What it is about.
    pub kind: ObservationType,
    /// Its title.
    pub title: String,
    /// What happened.
    pub narrative: String,
    /// Single facts.
    pub facts: Vec<SaidFact>,
    /// What kind of knowledge it holds.
    pub concepts: BTreeSet<Concept>,
    /// Files that were looked at.
    pub files_read: Vec<String>,
    /// Files that were changed.
    pub files_modified: Vec<String>,
    /// Numbers of lines in the record.
    pub cite: Vec<u32>,
}

/// A fact as a model said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaidFact {
    /// What is said.
    pub text: String,
    /// Numbers of lines in the record.
    pub cite: Vec<u32>,
}

/// The summary of a turn, or of a session, as a model said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnSummary {
    /// What was asked.
    pub request: String,
    /// What was looked into.
    pub investigated: Vec<String>,
    /// What was found out.
    pub learned: Vec<String>,
    /// What was done.
    pub completed: Vec<String>,
    /// What is left to do.
    pub next_steps: Vec<String>,
}

/// What a model said of a session. Nothing of it is believed yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionAnswer {
    /// What it was about.
    pub title: String,
    /// How it sums the session up.
    pub summary: TurnSummary,
    /// What it was about, in words.
    pub topics: Vec<String>,
    /// What became of files.
    pub code_changes: Vec<SaidChange>,
    /// What was decided.
    pub key_decisions: Vec<SaidDecision>,
    /// What went wrong and was put right.
    pub errors_resolved: Vec<SaidError>,
    /// What came of it.
    pub outcomes: Vec<String>,
    /// What whoever goes on has to know.
    pub context: Vec<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
}

/// What became of a file, as a model said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaidChange {
    /// The file.
    pub file: String,
    /// What was changed in it.
    pub description: String,
}

/// A decision as a model said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaidDecision {
    /// What was chosen.
    pub decision: String,
    /// Why.
    pub rationale: String,
    /// What else was weighed.
    pub alternatives: Vec<String>,
    /// Numbers of lines in the record.
    pub cite: Vec<u32>,
}

/// An error that was resolved, as a model said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaidError {
    /// What went wrong.
    pub error: String,
    /// Why.
    pub root_cause: String,
    /// What put it right.
    pub fix: String,
    /// How that was checked.
    pub verification: String,
    /// Numbers of lines in the record.
    pub cite: Vec<u32>,
}

impl TurnAnswer {
    /// Reads an answer that is JSON already.
    pub fn from_value(value: &Value) -> Result<Self, Unusable> {
        json::turn(value).and_then(Self::checked)
    }

    /// Reads an answer that is text.
    pub fn from_text(text: &str) -> Result<Self, Unusable> {
        let text = readable(text)?;
        match json::within(text) {
            Some(value) => Self::from_value(&value),
            None => xml::turn(text).ok_or_else(|| unreadable(text)).and_then(Self::checked),
        }
    }

    fn checked(self) -> Result<Self, Unusable> {
        let said = self.observations.iter().flat_map(|one| {
            let facts = one.facts.iter().map(|fact| fact.text.as_str());
            [one.title.as_str(), one.narrative.as_str()].into_iter().chain(facts)
        });
        let repeats = said.chain(self.summary.texts()).any(repeats_prompt);
        if repeats { Err(Unusable::Echo) } else { Ok(self) }
    }
}

impl SessionAnswer {
    /// Reads an answer that is JSON already.
    pub fn from_value(value: &Value) -> Result<Self, Unusable> {
        json::session(value).and_then(Self::checked)
    }

    /// Reads an answer that is text.
    pub fn from_text(text: &str) -> Result<Self, Unusable> {
        let text = readable(text)?;
        match json::within(text) {
            Some(value) => Self::from_value(&value),
            None => xml::session(text).ok_or_else(|| unreadable(text)).and_then(Self::checked),
        }
    }

    fn checked(self) -> Result<Self, Unusable> {
        let lists = [&self.topics, &self.outcomes, &self.context];
        let said = lists.into_iter().flatten().map(String::as_str).chain(self.summary.texts());
        let repeats = said.chain([self.title.as_str()]).any(repeats_prompt);
        if repeats {
            return Err(Unusable::Echo);
        }
        match self == Self::default() {
            true => Err(Unusable::NothingSaid),
            false => Ok(self),
        }
    }
}

impl TurnSummary {
    fn texts(&self) -> impl Iterator<Item = &str> {
        let lists = [&self.investigated, &self.learned, &self.completed, &self.next_steps];
        let listed = lists.into_iter().flatten().map(String::as_str);
        std::iter::once(self.request.as_str()).chain(listed)
    }
}

fn readable(text: &str) -> Result<&str, Unusable> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    match text.len() {
        0 => Err(Unusable::Empty),
        1..=LONGEST => Ok(text),
        _ => Err(Unusable::TooLong),
    }
}

fn unreadable(text: &str) -> Unusable {
    if repeats_prompt(text) { Unusable::Echo } else { Unusable::NoForm }
}

/// Sentences of the prompts by which they are recognised.
static PROMPT: LazyLock<Vec<String>> = LazyLock::new(|| {
    const LEAST: usize = 40;
    let sentences = prompt::texts().into_iter().flat_map(|text| text.split(['.', ':', ';', '\n']));
    sentences
        .map(|sentence| sentence.trim().to_ascii_lowercase())
        .filter(|sentence| sentence.len() >= LEAST && !sentence.contains("{{"))
        .collect()
});

/// Whether a text holds a sentence of the prompt.
fn repeats_prompt(text: &str) -> bool {
    let text = &text[..text.floor_char_boundary(64 * 1024)];
    PROMPT.iter().any(|sentence| find_ignoring_case(text, sentence).is_some())
}

/// The type that a name means: the nearest there is.
fn kind_of(name: &str) -> ObservationType {
    let name = name.trim().to_ascii_lowercase();
    if let Ok(kind) = name.parse() {
        return kind;
    }
    #[rustfmt::skip]
    const NEAREST: [(&str, ObservationType); 22] = [
        ("fix", ObservationType::Bugfix), ("bug", ObservationType::Bugfix),
        ("feat", ObservationType::Feature), ("add", ObservationType::Feature),
        ("implement", ObservationType::Feature), ("enhance", ObservationType::Feature),
        ("refactor", ObservationType::Refactor), ("perf", ObservationType::Refactor),
        ("optimi", ObservationType::Refactor), ("cleanup", ObservationType::Refactor),
        ("deci", ObservationType::Decision), ("choice", ObservationType::Decision),
        ("chose", ObservationType::Decision), ("trade", ObservationType::Decision),
        ("chang", ObservationType::Change), ("chore", ObservationType::Change),
        ("doc", ObservationType::Change), ("config", ObservationType::Change),
        ("test", ObservationType::Change), ("update", ObservationType::Change),
        ("build", ObservationType::Change), ("style", ObservationType::Change),
    ];
    let nearest = NEAREST.iter().find(|(start, _)| name.contains(start));
    nearest.map_or(ObservationType::Discovery, |(_, kind)| *kind)
}

/// The concept that a name means, if it is one.
fn concept_of(name: &str) -> Option<Concept> {
    let name = name.trim().to_ascii_lowercase().replace(['_', ' '], "-");
    name.parse().ok()
}

/// Numbers in a text: `[1]`, `1, 2`.
fn numbers_in(text: &str) -> Vec<u32> {
    let text = &text[..text.floor_char_boundary(200)];
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .take(CITES)
        .collect()
}

/// A text without the citations at its end, and their numbers.
pub(super) fn without_cites(text: &str) -> (&str, Vec<u32>) {
    let mut text = text.trim();
    let mut cites = Vec::new();
    while cites.len() < CITES
        && let Some((before, inside)) =
            text.trim_end_matches('.').strip_suffix(']').and_then(|text| text.rsplit_once('['))
        && !inside.is_empty()
        && inside.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | ' '))
    {
        cites.splice(0..0, numbers_in(inside));
        text = before.trim_end();
    }
    (text, cites)
}

/// As much of a text as is looked at.
fn bounded(text: &str) -> &str {
    let text = text.trim();
    &text[..text.floor_char_boundary(TEXT)]
}

#[cfg(test)]
mod tests;
