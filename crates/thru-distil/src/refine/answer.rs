//! Reads a model's answer in any form: the JSON that was asked for, JSON of other types, JSON amid
//! prose, or the tags that other observers use.

mod json;
mod xml;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;
use thru_core::{ClaimedRelation, Concept, ObservationType, Relation};

use super::prompt;
use crate::text::find_ignoring_case;

/// Longest answer that is read, in bytes. The caller limits how much is received.
const LONGEST: usize = 8 * 1024 * 1024;

/// Most observations of one turn.
pub(super) const OBSERVATIONS: usize = 4;

/// Most facts of one observation.
const FACTS: usize = 8;

/// Most relations of one observation.
const RELATIONS: usize = 6;

/// Most items of a list.
const LIST: usize = 10;

/// Most files of a list.
const FILES: usize = 24;

/// Most citations of one statement.
const CITES: usize = 16;

/// Longest text that is looked at, in bytes; far less of it is kept.
const TEXT: usize = 4 * 1024;

/// The reason an answer is unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It has no text.
    #[error("the answer is empty")]
    Empty,
    /// It is longer than any valid answer.
    #[error("the answer is too long")]
    TooLong,
    /// It is neither JSON nor tags.
    #[error("the answer has none of the forms that can be read")]
    NoForm,
    /// It has nothing of what was asked for.
    #[error("the answer says nothing of what was asked")]
    NoContent,
    /// It repeats the prompt.
    #[error("the answer repeats the prompt")]
    Echo,
}

/// A model's answer about a turn. Unverified: see [`ground_turn`](super::ground_turn).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnAnswer {
    /// The observations. An empty list is a valid answer.
    pub observations: Vec<ClaimedObservation>,
    /// The model's summary of the turn.
    pub summary: TurnSummary,
}

/// An observation as a model claims it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedObservation {
    /// The type of the observation.
    pub kind: ObservationType,
    /// Its title.
    pub title: String,
    /// The narrative.
    pub narrative: String,
    /// Single facts.
    pub facts: Vec<ClaimedFact>,
    /// The kinds of knowledge it holds.
    pub concepts: BTreeSet<Concept>,
    /// Files that were read.
    pub files_read: Vec<String>,
    /// Files that were modified.
    pub files_modified: Vec<String>,
    /// Relations between things in it.
    pub relations: Vec<ClaimedRelation>,
    /// Numbers of the cited lines of the record.
    pub cite: Vec<u32>,
}

/// A fact as a model claims it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimedFact {
    /// The statement.
    pub text: String,
    /// Numbers of the cited lines of the record.
    pub cite: Vec<u32>,
}

/// The summary of a turn, or of a session, as a model gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnSummary {
    /// The request.
    pub request: String,
    /// Things that were investigated.
    pub investigated: Vec<String>,
    /// Findings.
    pub learned: Vec<String>,
    /// Completed work.
    pub completed: Vec<String>,
    /// Work that is left to do.
    pub next_steps: Vec<String>,
}

/// A model's answer about a session. Unverified: see [`ground_session`](super::ground_session).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionAnswer {
    /// A title for the session.
    pub title: String,
    /// The model's summary of the session.
    pub summary: TurnSummary,
    /// Its topics, as keywords.
    pub topics: Vec<String>,
    /// Changes to files.
    pub code_changes: Vec<ClaimedChange>,
    /// Decisions that were made.
    pub key_decisions: Vec<ClaimedDecision>,
    /// Errors that were resolved.
    pub errors_resolved: Vec<ClaimedError>,
    /// The results of the session.
    pub outcomes: Vec<String>,
    /// Facts that the next session needs to know.
    pub context: Vec<String>,
    /// Keywords to find it by.
    pub tags: Vec<String>,
}

/// A change to a file, as a model claims it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimedChange {
    /// The file.
    pub file: String,
    /// A description of the change.
    pub description: String,
}

/// A decision as a model claims it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimedDecision {
    /// The option that was chosen.
    pub decision: String,
    /// The reason.
    pub rationale: String,
    /// Alternatives that were considered.
    pub alternatives: Vec<String>,
    /// Numbers of the cited lines of the record.
    pub cite: Vec<u32>,
}

/// An error that was resolved, as a model claims it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimedError {
    /// The error.
    pub error: String,
    /// Its cause.
    pub root_cause: String,
    /// The fix.
    pub fix: String,
    /// The check that confirmed the fix.
    pub verification: String,
    /// Numbers of the cited lines of the record.
    pub cite: Vec<u32>,
}

impl TurnAnswer {
    /// Reads an answer that is already JSON.
    ///
    /// # Errors
    ///
    /// Returns [`Unusable`] if it has none of the expected members, is the schema itself, or repeats the
    /// prompt.
    pub fn from_value(value: &Value) -> Result<Self, Unusable> {
        json::turn(value).and_then(Self::checked)
    }

    /// Reads an answer that is text.
    ///
    /// # Errors
    ///
    /// Returns [`Unusable`] if the text is empty, too long, in no known form, or repeats the prompt.
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
    /// Reads an answer that is already JSON.
    ///
    /// # Errors
    ///
    /// Returns [`Unusable`] if it has none of the expected members, is the schema itself, or repeats the
    /// prompt.
    pub fn from_value(value: &Value) -> Result<Self, Unusable> {
        json::session(value).and_then(Self::checked)
    }

    /// Reads an answer that is text.
    ///
    /// # Errors
    ///
    /// Returns [`Unusable`] if the text is empty, too long, in no known form, or repeats the prompt.
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
            true => Err(Unusable::NoContent),
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

/// Characteristic sentences of the prompts.
static PROMPT: LazyLock<Vec<String>> = LazyLock::new(|| {
    const LEAST: usize = 40;
    let sentences = prompt::texts().into_iter().flat_map(|text| text.split(['.', ':', ';', '\n']));
    sentences
        .map(|sentence| sentence.trim().to_ascii_lowercase())
        .filter(|sentence| sentence.len() >= LEAST && !sentence.contains("{{"))
        .collect()
});

/// Returns true if a text contains a sentence of the prompt.
fn repeats_prompt(text: &str) -> bool {
    let text = &text[..text.floor_char_boundary(64 * 1024)];
    PROMPT.iter().any(|sentence| find_ignoring_case(text, sentence).is_some())
}

/// Returns the observation type closest to a name.
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

/// Returns the concept with this name, if it is one.
fn concept_of(name: &str) -> Option<Concept> {
    let name = name.trim().to_ascii_lowercase().replace(['_', ' '], "-");
    name.parse().ok()
}

/// Returns the relation with this name, if a model may claim it.
fn relation_of(name: &str) -> Option<Relation> {
    let name = name.trim().to_ascii_uppercase().replace(['-', ' '], "_");
    name.parse().ok().filter(|relation| Relation::CLAIMED.contains(relation))
}

/// Returns the numbers in a text: `[1]`, `1, 2`.
fn numbers_in(text: &str) -> Vec<u32> {
    let text = &text[..text.floor_char_boundary(200)];
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .take(CITES)
        .collect()
}

/// Splits the citations off the end of a text; returns the rest and their numbers.
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

/// Returns the part of a text that is looked at.
fn bounded(text: &str) -> &str {
    let text = text.trim();
    &text[..text.floor_char_boundary(TEXT)]
}

#[cfg(test)]
mod tests;
