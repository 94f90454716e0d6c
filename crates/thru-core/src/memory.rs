//! What distilling makes of a session: observations and summaries, each statement with its sources.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Id, Timestamp, file_name};

/// What an observation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservationType {
    /// Something was broken and works now.
    Bugfix,
    /// Something new was made.
    Feature,
    /// The same behaviour in a better form.
    Refactor,
    /// Any other change: documents, configuration, housekeeping.
    Change,
    /// Something was found out; nothing was changed.
    Discovery,
    /// Something was chosen, ruled or approved.
    Decision,
}

/// What kind of knowledge an observation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Concept {
    /// How something works.
    HowItWorks,
    /// Why something is there.
    WhyItExists,
    /// What was changed.
    WhatChanged,
    /// A problem and what solved it.
    ProblemSolution,
    /// A trap.
    Gotcha,
    /// A way of doing things here.
    Pattern,
    /// What was weighed against what.
    TradeOff,
}

/// What a memory is: an observation of some type, or the summary of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryKind {
    /// One distilled unit of memory.
    Observation(ObservationType),
    /// The digest of a session.
    Summary,
}

impl MemoryKind {
    /// Every kind, in the order of their codes.
    pub fn all() -> impl Iterator<Item = Self> {
        ObservationType::ALL.into_iter().map(Self::Observation).chain([Self::Summary])
    }

    /// The number that stands for the kind in the store.
    pub fn code(self) -> u8 {
        Self::all().position(|kind| kind == self).unwrap_or_default() as u8
    }

    /// The kind of that number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::all().nth(code.into())
    }

    /// The name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Observation(kind) => kind.as_str(),
            Self::Summary => "summary",
        }
    }
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for MemoryKind {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let all: Vec<Self> = Self::all().collect();
        named("type", name, &all, Self::as_str)
    }
}

/// The text names nothing of what is listed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} `{name}`; there are: {known}")]
pub struct UnknownName {
    what: &'static str,
    name: String,
    known: String,
}

impl ObservationType {
    /// Every type, in the order of their codes.
    pub const ALL: [Self; 6] = [
        Self::Bugfix,
        Self::Feature,
        Self::Refactor,
        Self::Change,
        Self::Discovery,
        Self::Decision,
    ];

    /// The name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bugfix => "bugfix",
            Self::Feature => "feature",
            Self::Refactor => "refactor",
            Self::Change => "change",
            Self::Discovery => "discovery",
            Self::Decision => "decision",
        }
    }
}

impl Concept {
    /// Every concept.
    pub const ALL: [Self; 7] = [
        Self::HowItWorks,
        Self::WhyItExists,
        Self::WhatChanged,
        Self::ProblemSolution,
        Self::Gotcha,
        Self::Pattern,
        Self::TradeOff,
    ];

    /// The name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HowItWorks => "how-it-works",
            Self::WhyItExists => "why-it-exists",
            Self::WhatChanged => "what-changed",
            Self::ProblemSolution => "problem-solution",
            Self::Gotcha => "gotcha",
            Self::Pattern => "pattern",
            Self::TradeOff => "trade-off",
        }
    }
}

impl fmt::Display for ObservationType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Concept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ObservationType {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("type", name, &Self::ALL, Self::as_str)
    }
}

impl FromStr for Concept {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("concept", name, &Self::ALL, Self::as_str)
    }
}

fn named<T: Copy>(
    what: &'static str,
    name: &str,
    all: &[T],
    as_str: fn(T) -> &'static str,
) -> Result<T, UnknownName> {
    all.iter().copied().find(|one| as_str(*one) == name.to_ascii_lowercase()).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|one| as_str(*one)).collect();
        UnknownName { what, name: name.to_owned(), known: known.join(", ") }
    })
}

/// One thing that is said, and the passages that show it (invariant I-6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// What is said, in one line.
    pub text: String,
    /// The passages that it was taken from. Empty only where a person wrote the statement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Id>,
}

/// Who said what an observation holds. Only what a person said counts as a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Speaker {
    /// A person: a prompt, an answer, a correction.
    Person,
    /// The agent, in words or in deeds.
    #[default]
    Agent,
}

/// How sure it is that an observation says what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Taken from prose by its shape. Found by a search; not put into packs.
    Low,
    /// Taken from what was done, or from a person's words.
    #[default]
    High,
}

/// One distilled unit of memory from one turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Derived from the first passage that it was made from, so that it stays the same while its
    /// session grows.
    pub id: Id,
    /// The turn it comes from.
    pub turn: u32,
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: ObservationType,
    /// What happened and why it matters, in at most 80 characters.
    pub title: String,
    /// The same in a few sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrative: Option<Statement>,
    /// Single facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Statement>,
    /// What kind of knowledge it holds.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub concepts: BTreeSet<Concept>,
    /// Files that were looked at, as the agent wrote their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_read: Vec<String>,
    /// Files that were changed, as the agent wrote their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<String>,
    /// The passages that it was made from, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Id>,
    /// Who said it.
    #[serde(default)]
    pub speaker: Speaker,
    /// How sure it is.
    #[serde(default)]
    pub certainty: Certainty,
    /// Whether it holds from then on ("always", "never", "use X instead"): a person's rule.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rule: bool,
    /// When the last of its passages was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Tokens (estimated) of the passages that it stands for.
    #[serde(default)]
    pub raw_tokens: u64,
    /// Observations that said nearly the same and were merged into this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<Merged>,
}

/// An observation that was merged into another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    /// Its id, by which the merge can be undone.
    pub id: Id,
    /// Its title.
    pub title: String,
}

/// How a session, or a turn of it, ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkOutcome {
    /// What was asked for was done.
    Completed,
    /// Something stands in the way: the last checks failed, or the agent said so.
    Blocked,
    /// It ended in the middle of the work.
    #[default]
    InProgress,
    /// Nothing came of it.
    Abandoned,
}

impl WorkOutcome {
    /// Whether there is something left to do.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Blocked | Self::InProgress)
    }

    /// The name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::InProgress => "in progress",
            Self::Abandoned => "abandoned",
        }
    }
}

/// What became of a request: the digest of a turn or of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Digest {
    /// What the person asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Statement>,
    /// What was looked into.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub investigated: Vec<Statement>,
    /// What was found out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<Statement>,
    /// What was done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub completed: Vec<Statement>,
    /// What remains to be done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<Statement>,
    /// What was decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Statement>,
    /// What was asked and not answered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<Statement>,
    /// Files that were changed, as the agent wrote their paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How it ended.
    pub outcome: WorkOutcome,
}

/// The digest of a session and of each of its turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Derived from agent and session.
    pub id: Id,
    /// What the session was about, in at most 80 characters.
    pub title: String,
    /// The session as a whole.
    pub digest: Digest,
    /// Its turns that had work in them, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<(u32, Digest)>,
    /// When the session was last active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Tokens (estimated) of the session's passages.
    #[serde(default)]
    pub raw_tokens: u64,
}

impl Observation {
    /// Shows every text that it holds, files included: no ids, no names of kinds.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        each(&mut self.title);
        for statement in self.narrative.iter_mut().chain(&mut self.facts) {
            each(&mut statement.text);
        }
        self.files_read.iter_mut().chain(&mut self.files_modified).for_each(&mut *each);
        for merged in &mut self.merged {
            each(&mut merged.title);
        }
    }

    /// What a search looks in.
    pub fn search_text(&self) -> String {
        let statements = self.narrative.iter().chain(&self.facts);
        let mut text = self.title.clone();
        for line in statements.map(|statement| statement.text.as_str()) {
            text.push('\n');
            text.push_str(line);
        }
        for file in self.files_modified.iter().chain(&self.files_read) {
            text.push('\n');
            // Whole paths repeat the directories of the project in every observation.
            text.push_str(file_name(file));
        }
        text
    }

    /// Tokens (estimated) that reading all of it costs.
    pub fn tokens(&self) -> u64 {
        let statements = self.narrative.iter().chain(&self.facts);
        estimated_tokens(&self.title)
            + statements.map(|statement| estimated_tokens(&statement.text)).sum::<u64>()
    }
}

impl Digest {
    /// Every list of statements; the request stands alone.
    pub const fn lists_mut(&mut self) -> [&mut Vec<Statement>; 6] {
        [
            &mut self.investigated,
            &mut self.learned,
            &mut self.completed,
            &mut self.next_steps,
            &mut self.decisions,
            &mut self.open_questions,
        ]
    }

    /// Shows every text that it holds, files included.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        if let Some(request) = &mut self.request {
            each(&mut request.text);
        }
        for statement in self.lists_mut().into_iter().flatten() {
            each(&mut statement.text);
        }
        self.files.iter_mut().for_each(&mut *each);
    }

    /// Every statement, in the order in which it is read.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.request
            .iter()
            .chain(&self.investigated)
            .chain(&self.learned)
            .chain(&self.completed)
            .chain(&self.next_steps)
            .chain(&self.decisions)
            .chain(&self.open_questions)
    }
}

impl Summary {
    /// Shows every text that it holds, files included.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        each(&mut self.title);
        self.digest.texts(each);
        for (_, digest) in &mut self.turns {
            digest.texts(each);
        }
    }

    /// What a search looks in: the session as a whole, not its turns again.
    pub fn search_text(&self) -> String {
        let mut text = self.title.clone();
        for statement in self.digest.statements() {
            text.push('\n');
            text.push_str(&statement.text);
        }
        text
    }

    /// Tokens (estimated) that reading the digest of the session costs.
    pub fn tokens(&self) -> u64 {
        let statements = self.digest.statements();
        estimated_tokens(&self.title)
            + statements.map(|statement| estimated_tokens(&statement.text)).sum::<u64>()
    }
}

/// What people decided about a memory that was distilled: it holds whenever the session is distilled
/// again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct MemoryDecision {
    /// It is not to be remembered.
    pub forgotten: bool,
    /// It is not to be merged into another.
    pub kept_apart: bool,
    /// What was written over it.
    pub edit: MemoryEdit,
}

/// What a person wrote over a memory. Only what is set changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct MemoryEdit {
    /// Another title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Another text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub narrative: Option<String>,
    /// Another type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ObservationType>,
    /// Whether it holds from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_rule: Option<bool>,
}

impl MemoryEdit {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Writes it over an observation.
    pub fn apply(&self, observation: &mut Observation) {
        if let Some(title) = &self.title {
            observation.title.clone_from(title);
        }
        if let Some(narrative) = &self.narrative {
            // A person's words need no evidence.
            observation.narrative =
                Some(Statement { text: narrative.clone(), sources: Vec::new() });
        }
        if let Some(kind) = self.kind {
            observation.kind = kind;
        }
        if let Some(is_rule) = self.is_rule {
            observation.is_rule = is_rule;
            // Ruling is a person's act, whoever said the words first.
            if is_rule {
                observation.speaker = Speaker::Person;
            }
        }
    }

    /// Adds what was written later.
    pub fn merge(&mut self, later: Self) {
        self.title = later.title.or(self.title.take());
        self.narrative = later.narrative.or(self.narrative.take());
        self.kind = later.kind.or(self.kind);
        self.is_rule = later.is_rule.or(self.is_rule);
    }
}

/// A file that a memory names, and what was known of it then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// The path as the agent wrote it.
    pub path: String,
    /// Whether it was changed.
    pub modified: bool,
    /// When that was.
    pub at: Option<Timestamp>,
    /// The hash of its whole content ([`content_hash`]), where the agent wrote all of it.
    pub content: Option<Id>,
}

/// The hash of a file's content, by which it is recognised as unchanged.
pub fn content_hash(content: &[u8]) -> Id {
    Id::derive(&[b"content", content])
}

/// Everything that distilling makes of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distillate {
    /// Observations in the order of the session.
    pub observations: Vec<Observation>,
    /// Nothing where nothing happened.
    pub summary: Option<Summary>,
}

/// Tokens that a text costs a model, estimated without its tokenizer: a quarter of the ASCII
/// characters plus one for every two others, rounded up. Within a fifth of the real number for English prose and
/// code; never far below it for other scripts.
pub fn estimated_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let others = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    (ascii + 2 * others).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for kind in ObservationType::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        for concept in Concept::ALL {
            assert_eq!(concept.as_str().parse(), Ok(concept));
        }
        assert_eq!(
            "bug".parse::<ObservationType>().unwrap_err().to_string(),
            "there is no type `bug`; there are: bugfix, feature, refactor, change, discovery, decision"
        );
    }

    #[test]
    fn tokens_grow_with_the_text() {
        assert_eq!(estimated_tokens(""), 0);
        assert_eq!(estimated_tokens("four"), 1);
        assert_eq!(estimated_tokens("fives"), 2);
        assert_eq!(estimated_tokens("日本語です"), 3);
    }
}
