//! The result of distilling a session: observations and summaries, each statement with its sources.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Agent, ClaimedRelation, Id, SessionSections, Timestamp, cut, file_name, plain_line};

/// The beginning of the title of a plan that a person approved.
pub const PLAN_APPROVED: &str = "Approved the plan: ";

/// Longest headline, in characters.
const HEADLINE: usize = 100;

/// Least length of an excerpt that ends with a sentence, in characters: a shorter one is cut in the next.
const WHOLE: usize = 40;

/// The type of an observation.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum ObservationType {
    /// Something that was broken was fixed.
    Bugfix,
    /// Something new was added.
    Feature,
    /// The same behaviour in a better form.
    Refactor,
    /// Any other change: documents, configuration, housekeeping.
    Change,
    /// Something was found out, without a change.
    Discovery,
    /// Something was chosen, ruled or approved.
    Decision,
}

/// The kind of knowledge in an observation.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Concept {
    /// The way something works.
    HowItWorks,
    /// The reason why something exists.
    WhyItExists,
    /// A change that was made.
    WhatChanged,
    /// A problem and its solution.
    ProblemSolution,
    /// A trap.
    Gotcha,
    /// A convention of the project.
    Pattern,
    /// Alternatives that were weighed.
    TradeOff,
}

/// The kind of a memory: an observation of some type, or the summary of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryKind {
    /// One distilled unit of memory.
    Observation(ObservationType),
    /// The digest of a session.
    Summary,
}

impl MemoryKind {
    /// Returns every kind, in the order of their codes.
    pub fn all() -> impl Iterator<Item = Self> {
        ObservationType::ALL.into_iter().map(Self::Observation).chain([Self::Summary])
    }

    /// Returns the number of the kind in the store.
    pub fn code(self) -> u8 {
        Self::all().position(|kind| kind == self).unwrap_or_default() as u8
    }

    /// Returns the kind with this number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::all().nth(code.into())
    }

    /// Returns the name shown to people and programs.
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

/// An error for text that is none of the known names.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} `{name}`; there are: {known}")]
pub struct UnknownName {
    what: &'static str,
    name: String,
    known: String,
}

/// The names of all values of a type, in their order.
macro_rules! names {
    ($Type:ty) => {{
        let mut names = [""; <$Type>::ALL.len()];
        let mut at = 0;
        while at < names.len() {
            names[at] = <$Type>::ALL[at].as_str();
            at += 1;
        }
        names
    }};
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

    /// The names of all types.
    pub const NAMES: [&'static str; Self::ALL.len()] = names!(Self);

    /// Returns the name shown to people and programs.
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

    /// The names of all concepts.
    pub const NAMES: [&'static str; Self::ALL.len()] = names!(Self);

    /// Returns the name shown to people and programs.
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

pub(crate) fn named<T: Copy>(
    what: &'static str,
    name: &str,
    all: &[T],
    as_str: fn(T) -> &'static str,
) -> Result<T, UnknownName> {
    all.iter().copied().find(|one| as_str(*one).eq_ignore_ascii_case(name)).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|one| as_str(*one)).collect();
        UnknownName { what, name: name.to_owned(), known: known.join(", ") }
    })
}

/// A statement, and the passages that support it (invariant I-6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Statement {
    /// The statement, in one line.
    pub text: String,
    /// The passages that it was taken from. Empty only if a person wrote the statement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Id>,
}

/// The source of an observation's content. Only statements of a person count as rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Speaker {
    /// A person: a prompt, an answer, a correction.
    Person,
    /// The agent, by its words or its actions.
    #[default]
    Agent,
}

/// The certainty that an observation is correct.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Recognised in prose by its form. It is found by searches, and not put into context packs.
    Low,
    /// Taken from actions, or from a person's words.
    #[default]
    High,
}

/// One distilled unit of memory from one turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Observation {
    /// Derived from the first passage that it was made from, so that it stays the same while its
    /// session grows.
    pub id: Id,
    /// The turn that it comes from.
    pub turn: u32,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ObservationType,
    /// A title of at most 100 characters: the event and why it matters. Empty where no line of the turn is sure to say
    /// that alone: [`Self::headline`] stands for it.
    #[serde(default)]
    pub title: String,
    /// The same in a few sentences: a commit's message, a person's or a model's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrative: Option<Statement>,
    /// The person's words that led to it; where these are few, with the proposal that they answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Statement>,
    /// The agent's closing text, cleaned and cut at a sentence. Observations of one turn may share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Statement>,
    /// Single facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Statement>,
    /// The kinds of knowledge in it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub concepts: BTreeSet<Concept>,
    /// The files that were read, as the agent wrote their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_read: Vec<String>,
    /// The files that were changed, as the agent wrote their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<String>,
    /// The passages that it was made from, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Id>,
    /// The person or the agent who said it.
    #[serde(default)]
    pub speaker: Speaker,
    /// Its certainty.
    #[serde(default)]
    pub certainty: Certainty,
    /// True if it holds from then on ("always", "never", "use X instead"): a person's rule.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rule: bool,
    /// True if the words are an agent's, and a person agreed to them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_agreed: bool,
    /// The time of the last of its passages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Tokens (estimated) of the passages that it stands for.
    #[serde(default)]
    pub raw_tokens: u64,
    /// Near-duplicates that were merged into this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<Merged>,
    /// Relations that a model claims: candidates for facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<ClaimedRelation>,
}

/// An observation that was merged into another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Merged {
    /// Its id, by which the merge can be undone.
    pub id: Id,
    /// Its title.
    pub title: String,
}

/// The outcome of a session, or of a turn of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkOutcome {
    /// The request was fulfilled.
    Completed,
    /// The work is blocked: the last checks failed, or the agent reported an obstacle.
    Blocked,
    /// The session ended in the middle of the work.
    #[default]
    InProgress,
    /// The work had no result.
    Abandoned,
}

impl WorkOutcome {
    /// True if there is work left to do.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Blocked | Self::InProgress)
    }

    /// Returns the name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::InProgress => "in progress",
            Self::Abandoned => "abandoned",
        }
    }
}

/// The digest of a turn or of a session: the request and its results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(default)]
pub struct Digest {
    /// The person's request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Statement>,
    /// Subjects of investigation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub investigated: Vec<Statement>,
    /// Findings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<Statement>,
    /// Completed work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub completed: Vec<Statement>,
    /// Work that remains to be done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<Statement>,
    /// Decisions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Statement>,
    /// Questions that were not answered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<Statement>,
    /// The files that were changed, as the agent wrote their paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The last step of the work on its way to the main branch: checked, committed, pushed, merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Statement>,
    /// The outcome.
    pub outcome: WorkOutcome,
    /// True if a model told of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_refined: bool,
}

impl Digest {
    /// Returns its statements below the labels that people read, in the order in which they are shown.
    pub fn sections(&self) -> [(&'static str, &[Statement]); 8] {
        [
            ("Asked for", self.request.as_slice()),
            ("Looked into", &self.investigated),
            ("Learned", &self.learned),
            ("Done", &self.completed),
            ("Decided", &self.decisions),
            ("State", self.state.as_slice()),
            ("Next", &self.next_steps),
            ("Open questions", &self.open_questions),
        ]
    }
}

/// The digest of a session and of each of its turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Summary {
    /// Derived from agent and session.
    pub id: Id,
    /// The subject of the session, in at most 100 characters.
    pub title: String,
    /// The session as a whole.
    pub digest: Digest,
    /// The digests of its turns that contain work, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<(u32, Digest)>,
    /// The additional sections written by a model.
    #[serde(default, skip_serializing_if = "SessionSections::is_empty")]
    pub sections: SessionSections,
    /// The time of the session's last activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Tokens (estimated) of the session's passages.
    #[serde(default)]
    pub raw_tokens: u64,
}

impl Summary {
    /// Returns the id of the summary of a session.
    pub fn id_of(agent: Agent, session: &str) -> Id {
        Id::derive(&[b"summary", agent.as_str().as_bytes(), session.as_bytes()])
    }
}

impl Statement {
    /// Calls `each` with the text.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        let Self { text, sources: _ } = self;
        each(text);
    }
}

impl Observation {
    /// Creates an observation that says no more than its title, made by the agent from nothing.
    pub const fn new(id: Id, turn: u32, kind: ObservationType, title: String) -> Self {
        Self {
            id,
            turn,
            kind,
            title,
            narrative: None,
            asked: None,
            report: None,
            facts: Vec::new(),
            concepts: BTreeSet::new(),
            files_read: Vec::new(),
            files_modified: Vec::new(),
            sources: Vec::new(),
            speaker: Speaker::Agent,
            certainty: Certainty::High,
            is_rule: false,
            is_agreed: false,
            at: None,
            raw_tokens: 0,
            merged: Vec::new(),
            relations: Vec::new(),
        }
    }

    /// Calls `each` with every text, file names included: no ids, no names of kinds.
    ///
    /// The redactor sees what this shows, and nothing else. Here and in the other functions of this name each
    /// field is named, so that a new one does not compile until it is shown or passed over.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        let Self {
            title,
            narrative,
            asked,
            report,
            facts,
            files_read,
            files_modified,
            merged,
            relations,
            id: _,
            turn: _,
            kind: _,
            concepts: _,
            sources: _,
            speaker: _,
            certainty: _,
            is_rule: _,
            is_agreed: _,
            at: _,
            raw_tokens: _,
        } = self;
        each(title);
        let statements = narrative.iter_mut().chain(asked).chain(report).chain(facts);
        statements.for_each(|statement| statement.texts(each));
        files_read.iter_mut().chain(files_modified).for_each(&mut *each);
        for Merged { title, id: _ } in merged {
            each(title);
        }
        for ClaimedRelation { subject, object, relation: _ } in relations {
            each(subject);
            each(object);
        }
    }

    /// Returns true if it has no title and something was said that stands for it in the headline.
    pub fn is_untitled(&self) -> bool {
        self.title.is_empty() && self.said_first().is_some()
    }

    /// Returns the title; where there is none, the beginning of what was said, in quotation marks.
    pub fn headline(&self) -> Cow<'_, str> {
        if !self.title.is_empty() {
            return Cow::Borrowed(&self.title);
        }
        match self.said_first() {
            Some(said) => Cow::Owned(format!("“{}”", beginning(&said.text, HEADLINE - 2))),
            None => {
                let names: Vec<&str> =
                    self.files_modified.iter().take(3).map(|file| file_name(file)).collect();
                Cow::Owned(plain_line(&format!("Changed {}", names.join(", ")), HEADLINE))
            }
        }
    }

    /// Returns the statement that stands for a title where there is none.
    fn said_first(&self) -> Option<&Statement> {
        self.statements().chain(&self.asked).next()
    }

    /// Returns its statements but the person's words, in reading order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.narrative.iter().chain(&self.report).chain(&self.facts)
    }

    /// Returns the text that searches look in.
    pub fn search_text(&self) -> String {
        let statements = self.statements().chain(&self.asked).map(|said| said.text.as_str());
        let title = Some(self.title.as_str()).filter(|title| !title.is_empty());
        let mut text = title.into_iter().chain(statements).collect::<Vec<_>>().join("\n");
        for file in self.files_modified.iter().chain(&self.files_read) {
            text.push('\n');
            // Whole paths would repeat the directories of the project in every observation.
            text.push_str(file_name(file));
        }
        text
    }

    /// Returns the tokens (estimated) of all of it.
    pub fn tokens(&self) -> u64 {
        let statements = self.statements().chain(&self.asked);
        estimated_tokens(&self.title)
            + statements.map(|statement| estimated_tokens(&statement.text)).sum::<u64>()
    }
}

/// Returns the first sentences of a text, as many as fit, or the beginning of the first.
fn beginning(text: &str, limit: usize) -> String {
    let room = text.char_indices().nth(limit).map_or(text.len(), |(at, _)| at);
    let ends = |end: &str| text[..room].rfind(end).map(|at| at + end.len() - 1);
    let end = [". ", "! ", "; "].into_iter().filter_map(ends).max();
    match end.filter(|end| room < text.len() && text[..*end].chars().count() >= WHOLE) {
        Some(end) => text[..end].trim_end_matches(';').to_owned(),
        None => cut(text, limit),
    }
}

impl Digest {
    /// Returns every list of statements; the request is not in a list.
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

    /// Calls `each` with every text, file names included.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        let Self {
            request,
            investigated,
            learned,
            completed,
            next_steps,
            decisions,
            open_questions,
            files,
            state,
            outcome: _,
            is_refined: _,
        } = self;
        let lists = [investigated, learned, completed, next_steps, decisions, open_questions];
        let statements = request.iter_mut().chain(lists.into_iter().flatten()).chain(state);
        statements.for_each(|statement| statement.texts(each));
        files.iter_mut().for_each(&mut *each);
    }

    /// Returns every statement, in reading order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.request
            .iter()
            .chain(&self.investigated)
            .chain(&self.learned)
            .chain(&self.completed)
            .chain(&self.next_steps)
            .chain(&self.decisions)
            .chain(&self.open_questions)
            .chain(&self.state)
    }
}

impl Summary {
    /// Calls `each` with every text, file names included.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        let Self { title, digest, turns, sections, id: _, at: _, raw_tokens: _ } = self;
        each(title);
        digest.texts(each);
        for (_, digest) in turns {
            digest.texts(each);
        }
        sections.texts(each);
    }

    /// Returns the text that searches look in: the session as a whole, and the turns that a model told of. The
    /// observations tell of the others.
    pub fn search_text(&self) -> String {
        let told = self.turns.iter().map(|(_, digest)| digest).filter(|digest| digest.is_refined);
        let statements = self.digest.statements().chain(told.flat_map(Digest::statements));
        let SessionSections { topics, key_decisions, errors_resolved, outcomes, context, .. } =
            &self.sections;
        let lists = [topics, outcomes, context].into_iter().flatten();
        let mut text = self.title.clone();
        for line in statements
            .chain(lists)
            .map(|statement| statement.text.clone())
            .chain(key_decisions.iter().map(ToString::to_string))
            .chain(errors_resolved.iter().map(ToString::to_string))
        {
            text.push('\n');
            text.push_str(&line);
        }
        text
    }

    /// Returns the tokens (estimated) of the digest of the session.
    pub fn tokens(&self) -> u64 {
        let statements = self.digest.statements();
        estimated_tokens(&self.title)
            + statements.map(|statement| estimated_tokens(&statement.text)).sum::<u64>()
    }
}

/// The decisions of people about a distilled memory: they apply whenever the session is distilled
/// again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct MemoryDecision {
    /// The memory must not be remembered.
    pub forgotten: bool,
    /// The memory must not be merged into another.
    pub kept_apart: bool,
    /// The edits.
    pub edit: MemoryEdit,
}

/// A person's edit of a memory. Only the fields that are set change.
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
    /// True if it holds from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_rule: Option<bool>,
    /// True if a person stands behind what an agent recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreed: Option<bool>,
}

impl MemoryEdit {
    /// True if it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// True if it gives an observation another title or text.
    pub fn rewords(&self, observation: &Observation) -> bool {
        let said = observation.narrative.as_ref().map(|said| &said.text);
        self.title.as_ref().is_some_and(|title| *title != observation.title)
            || self.narrative.as_ref().is_some_and(|text| Some(text) != said)
    }

    /// Applies the edit to an observation.
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
        let of_agent = observation.speaker == Speaker::Agent;
        if let Some(is_rule) = self.is_rule {
            observation.is_rule = is_rule;
            // A rule is a person's act, regardless of the original speaker.
            if is_rule {
                observation.speaker = Speaker::Person;
            }
        }
        if self.agreed == Some(true) {
            observation.speaker = Speaker::Person;
            // To agree makes nothing a rule, and no words the person's own.
            observation.is_agreed = of_agent && !observation.is_rule && self.title.is_none();
        }
    }

    /// Merges a later edit.
    pub fn merge(&mut self, later: Self) {
        self.title = later.title.or(self.title.take());
        self.narrative = later.narrative.or(self.narrative.take());
        self.kind = later.kind.or(self.kind);
        self.is_rule = later.is_rule.or(self.is_rule);
        self.agreed = later.agreed.or(self.agreed);
    }
}

/// A file that a memory names, and its state at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// The path as the agent wrote it.
    pub path: String,
    /// True if it was changed.
    pub modified: bool,
    /// The time of the access.
    pub at: Option<Timestamp>,
    /// The hash of its whole content ([`content_hash`]), if the agent wrote all of it.
    pub content: Option<Id>,
}

/// Returns the hash of a file's content, by which an unchanged file is recognised.
pub fn content_hash(content: &[u8]) -> Id {
    Id::derive(&[b"content", content])
}

/// The result of distilling one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distillate {
    /// Observations in the order of the session.
    pub observations: Vec<Observation>,
    /// The summary; `None` if nothing happened.
    pub summary: Option<Summary>,
}

/// Estimates the tokens of a text without a tokenizer: a quarter of the ASCII characters plus one for
/// every two others, rounded up. Within a fifth of the real number for English prose and code; never
/// far below it for other scripts.
pub fn estimated_tokens(text: &str) -> u64 {
    quarter_tokens(text).div_ceil(4)
}

/// Estimates the quarters of tokens of a text, which add up over its parts.
pub fn quarter_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let others = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    ascii + 2 * others
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
    fn without_a_title_the_beginning_of_the_report_stands_for_it() {
        let id = Id::derive(&[b"kiln"]);
        let kind = ObservationType::Discovery;
        let said = |text: &str| Some(Statement { text: text.to_owned(), sources: Vec::new() });
        let untitled = |report: &str| Observation {
            report: said(report),
            ..Observation::new(id, 1, kind, String::new())
        };
        let titled = Observation::new(id, 1, kind, "The relay is polled".to_owned());
        assert_eq!(titled.headline(), "The relay is polled");
        assert_eq!(untitled("It is the relay.").headline(), "“It is the relay.”");
        let long = "The damper opens late since the relay is polled. The burner's own relay drives both, but only while the kiln fires.";
        assert_eq!(untitled(long).headline(), "“The damper opens late since the relay is polled.”");
        let endless = untitled(&"damper ".repeat(40)).headline().into_owned();
        assert!(endless.ends_with("damper…”") && endless.chars().count() <= HEADLINE);
        let changed = Observation {
            files_modified: vec!["/p/kiln.rs".to_owned(), "/p/cone.rs".to_owned()],
            ..Observation::new(id, 1, ObservationType::Change, String::new())
        };
        assert_eq!(changed.headline(), "Changed kiln.rs, cone.rs");
    }

    #[test]
    fn tokens_grow_with_the_text() {
        assert_eq!(estimated_tokens(""), 0);
        assert_eq!(estimated_tokens("four"), 1);
        assert_eq!(estimated_tokens("fives"), 2);
        assert_eq!(estimated_tokens("日本語です"), 3);
    }
}
