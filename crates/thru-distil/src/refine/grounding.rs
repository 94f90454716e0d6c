//! Grounding of answers: only statements that the record supports are believed. A statement that names a
//! file, an identifier, a command, a code or a number missing from the material is dropped and counted;
//! so is one that would steer its reader.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use thru_core::{
    Agent, ClaimedRelation, CodeChange, Digest, ErrorResolved, Id, KeyDecision, Observation,
    ObservationType, RefinedSession, SessionId, SessionSections, Statement, Timestamp, WorkOutcome,
};

use super::answer::{ClaimedObservation, OBSERVATIONS, SessionAnswer, TurnAnswer, TurnSummary};
use super::fence;
use super::lookup;
use super::material::Material;
use super::names::{self, Kind, Name};
use super::session::SessionInput;
use super::turn::TurnInput;
use crate::text::{FACT, one_line, unmarked, visible};
use crate::{prose, title};

/// Longest narrative, in characters.
const NARRATIVE: usize = 600;

/// Longest sentence of a narrative, and longest text beside a statement, in characters.
const SENTENCE: usize = 400;

/// Most facts of an observation.
const FACTS: usize = 6;

/// Most items of a list.
const LIST: usize = 8;

/// Most passages named as sources of a statement, or of an observation.
const SOURCES: usize = 8;

/// Most files named as changed in a digest.
const FILES: usize = 6;

/// Longest tag, in characters.
const TAG: usize = 40;

/// Facts about a turn that the caller knows and no model does.
#[derive(Clone, Copy, Debug)]
pub struct TurnFacts<'a> {
    /// The agent that ran the session.
    pub agent: Agent,
    /// The session.
    pub session: &'a SessionId,
    /// A key of the turn's content: equal exactly if the content is equal.
    pub content_key: &'a [u8],
    /// The number of the turn.
    pub turn: u32,
    /// The time of the last of its passages.
    pub at: Option<Timestamp>,
    /// Tokens (estimated) of its passages.
    pub raw_tokens: u64,
    /// The outcome of the turn as distilled: it follows from what was done, not from a model.
    pub outcome: WorkOutcome,
}

/// The believed part of an answer about a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grounded {
    /// Observations, each with sources.
    pub observations: Vec<Observation>,
    /// The digest of the turn.
    pub digest: Digest,
    /// Counts of dropped statements.
    pub dropped: Dropped,
}

/// The believed part of an answer about a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroundedSession {
    /// The session.
    pub session: RefinedSession,
    /// Counts of dropped statements.
    pub dropped: Dropped,
}

/// Counts of dropped statements, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Dropped {
    /// Statements that name an unknown file, and unknown files in lists.
    pub files: u32,
    /// Statements that name an unknown identifier.
    pub identifiers: u32,
    /// Statements that name a command that did not run.
    pub commands: u32,
    /// Statements that name an unknown error code or hash.
    pub codes: u32,
    /// Statements that name an unknown number.
    pub numbers: u32,
    /// Statements that steer the reader or contain the tags of a fence.
    pub steering: u32,
    /// Citations of missing lines.
    pub cites: u32,
    /// Observations that were dropped whole, with everything in them.
    pub observations: u32,
    /// Statements that were believed, for comparison.
    pub kept: u32,
}

impl Dropped {
    /// Returns the number of dropped statements.
    pub const fn statements(&self) -> u32 {
        self.files + self.identifiers + self.commands + self.codes + self.numbers + self.steering
    }

    /// Adds the counts of another.
    pub const fn add(&mut self, other: Self) {
        self.files += other.files;
        self.identifiers += other.identifiers;
        self.commands += other.commands;
        self.codes += other.codes;
        self.numbers += other.numbers;
        self.steering += other.steering;
        self.cites += other.cites;
        self.observations += other.observations;
        self.kept += other.kept;
    }

    const fn count(&mut self, reason: DropReason) {
        match reason {
            DropReason::Named(Kind::File) => self.files += 1,
            DropReason::Named(Kind::Identifier) => self.identifiers += 1,
            DropReason::Named(Kind::Command) => self.commands += 1,
            DropReason::Named(Kind::Code) => self.codes += 1,
            DropReason::Named(Kind::Number | Kind::Line) => self.numbers += 1,
            DropReason::Steers => self.steering += 1,
        }
    }
}

/// The reason a statement is dropped.
#[derive(Clone, Copy, Debug)]
enum DropReason {
    Named(Kind),
    Steers,
}

/// Returns the believed part of an answer about a turn. The material is the whole text of the turn's
/// passages, not only what was sent.
pub fn ground_turn(
    answer: &TurnAnswer,
    input: &TurnInput,
    material: &Material,
    about: &TurnFacts<'_>,
) -> Grounded {
    let mut ground = Ground::new(material, input.cites());
    let mut observations: Vec<Observation> = Vec::new();
    for (ordinal, said) in answer.observations.iter().take(OBSERVATIONS).enumerate() {
        let Some(observation) = ground.observation(said, ordinal, about) else {
            ground.dropped.observations += 1;
            continue;
        };
        if !observations.iter().any(|known| known.title == observation.title) {
            observations.push(observation);
        }
    }
    let mut digest = ground.digest(&answer.summary);
    let decided = observations.iter().filter(|one| one.kind == ObservationType::Decision);
    digest.decisions = decided
        .map(|one| Statement { text: one.title.clone(), sources: one.sources.clone() })
        .collect();
    digest.outcome = about.outcome;
    Grounded { observations, digest, dropped: ground.dropped }
}

/// Returns the believed part of an answer about a session.
pub fn ground_session(
    answer: &SessionAnswer,
    input: &SessionInput,
    material: &Material,
    outcome: WorkOutcome,
) -> GroundedSession {
    let mut ground = Ground::new(material, input.cites());
    let title = ground.title(&answer.title).map(|(title, _)| title).unwrap_or_default();
    let mut digest = ground.digest(&answer.summary);
    digest.outcome = outcome;
    let sections = SessionSections {
        topics: ground.statements(&answer.topics, FACT),
        code_changes: ground.code_changes(answer),
        key_decisions: ground.key_decisions(answer),
        errors_resolved: ground.errors_resolved(answer),
        outcomes: ground.statements(&answer.outcomes, FACT),
        context: ground.statements(&answer.context, SENTENCE),
        tags: ground.tags(&answer.tags),
    };
    digest.decisions = sections.key_decisions.iter().map(|one| one.decision.clone()).collect();
    GroundedSession { session: RefinedSession { title, digest, sections }, dropped: ground.dropped }
}

/// Looks statements up in the material.
struct Ground<'m> {
    material: &'m Material,
    cites: &'m [Vec<Id>],
    /// The places of each name found so far, so that each is searched once.
    places: HashMap<Name, Vec<usize>>,
    dropped: Dropped,
}

/// The places of the names of a statement: those of its rarest name.
type Rarest = Vec<usize>;

impl<'m> Ground<'m> {
    fn new(material: &'m Material, cites: &'m [Vec<Id>]) -> Self {
        Self { material, cites, places: HashMap::new(), dropped: Dropped::default() }
    }

    fn observation(
        &mut self,
        said: &ClaimedObservation,
        ordinal: usize,
        about: &TurnFacts<'_>,
    ) -> Option<Observation> {
        let (title, rarest) = match said.title.trim().is_empty() {
            true => self.title(prose::sentences(&said.narrative).next().unwrap_or_default())?,
            false => self.title(&said.title)?,
        };
        let cited = self.cited(&said.cite);
        let mut facts: Vec<Statement> = Vec::new();
        for fact in said.facts.iter().take(FACTS) {
            let own = self.cited(&fact.cite);
            facts.extend(self.statement(&fact.text, own, &cited, FACT));
        }
        let narrative = self.narrative(&said.narrative, &cited);
        let mut sources: Vec<Id> = Vec::new();
        let told = narrative.iter().chain(&facts).flat_map(|statement| &statement.sources);
        for id in cited.iter().chain(told) {
            if sources.len() < SOURCES && !sources.contains(id) {
                sources.push(*id);
            }
        }
        if sources.is_empty() {
            sources = self.sources_of(&rarest);
        }
        let id = Id::derive(&[
            b"refined",
            about.agent.as_str().as_bytes(),
            about.session.as_str().as_bytes(),
            about.content_key,
            &(ordinal as u64).to_le_bytes(),
        ]);
        // Spoken by the agent, and no rule: only a person can rule.
        Some(Observation {
            narrative,
            facts,
            concepts: said.concepts.clone(),
            files_read: self.files(&said.files_read, false),
            files_modified: self.files(&said.files_modified, true),
            relations: self.relations(&said.relations),
            sources,
            at: about.at,
            raw_tokens: about.raw_tokens,
            ..Observation::new(id, about.turn, said.kind, title)
        })
    }

    /// Returns the relations whose two ends the record names, as far as these are names of a known form.
    fn relations(&mut self, said: &[ClaimedRelation]) -> Vec<ClaimedRelation> {
        let mut relations: Vec<ClaimedRelation> = Vec::new();
        for one in said {
            let is_named = self.text(&one.subject).is_some() && self.text(&one.object).is_some();
            if is_named && !relations.contains(one) {
                relations.push(one.clone());
            }
        }
        relations
    }

    fn title(&mut self, said: &str) -> Option<(String, Rarest)> {
        let shaped = title::shaped(said);
        let title = one_line(&shaped, thru_core::TITLE_LENGTH);
        // The whole statement is checked: nothing may hide beyond the cut of a title.
        let rarest = self.checked(said)?;
        title.chars().any(char::is_alphanumeric).then_some((title, rarest))
    }

    /// Returns the sentences that are grounded.
    fn narrative(&mut self, said: &str, cited: &[Id]) -> Option<Statement> {
        let mut text = String::new();
        let mut found: Rarest = Vec::new();
        for sentence in said.lines().flat_map(prose::sentences) {
            let sentence = one_line(&unmarked(sentence), SENTENCE);
            let length = text.chars().count() + sentence.chars().count() + 1;
            if sentence.is_empty() || length > NARRATIVE {
                continue;
            }
            let Some(rarest) = self.checked(&sentence) else { continue };
            if found.is_empty() {
                found = rarest;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&sentence);
        }
        if !text.chars().any(char::is_alphanumeric) {
            return None;
        }
        let sources = if cited.is_empty() { self.sources_of(&found) } else { cited.to_vec() };
        Some(Statement { text, sources })
    }

    /// Returns one statement, with its own citations, those of its parent, or the passages that contain
    /// the names in it.
    fn statement(
        &mut self,
        said: &str,
        own: Vec<Id>,
        around: &[Id],
        limit: usize,
    ) -> Option<Statement> {
        let rarest = self.checked(said)?;
        let text = one_line(&unmarked(said), limit);
        if !text.chars().any(char::is_alphanumeric) {
            return None;
        }
        let sources = match (own.is_empty(), rarest.is_empty(), around.is_empty()) {
            (false, ..) => own,
            (true, true, false) => around.to_vec(),
            _ => self.sources_of(&rarest),
        };
        Some(Statement { text, sources })
    }

    fn statements(&mut self, said: &[String], limit: usize) -> Vec<Statement> {
        let mut statements: Vec<Statement> = Vec::new();
        for said in said.iter().take(LIST) {
            let (said, cites) = super::answer::without_cites(said);
            let own = self.cited(&cites);
            let Some(statement) = self.statement(said, own, &[], limit) else { continue };
            if !statements.iter().any(|known| known.text == statement.text) {
                statements.push(statement);
            }
        }
        statements
    }

    fn digest(&mut self, said: &TurnSummary) -> Digest {
        let request = std::slice::from_ref(&said.request);
        let request = if said.request.trim().is_empty() { &[] } else { request };
        Digest {
            request: self.statements(request, SENTENCE).pop(),
            investigated: self.statements(&said.investigated, FACT),
            learned: self.statements(&said.learned, FACT),
            completed: self.statements(&said.completed, FACT),
            next_steps: self.statements(&said.next_steps, FACT),
            files: self.material.modified().take(FILES).map(str::to_owned).collect(),
            ..Digest::default()
        }
    }

    fn code_changes(&mut self, answer: &SessionAnswer) -> Vec<CodeChange> {
        let mut changes: Vec<CodeChange> = Vec::new();
        for said in &answer.code_changes {
            let Some(file) = self.file(&said.file, true) else { continue };
            let Some(description) = self.text(&said.description) else { continue };
            if !changes.iter().any(|known| known.file == file) {
                changes.push(CodeChange { file, description });
            }
        }
        changes
    }

    fn key_decisions(&mut self, answer: &SessionAnswer) -> Vec<KeyDecision> {
        let mut decisions = Vec::new();
        for said in answer.key_decisions.iter().take(LIST) {
            let own = self.cited(&said.cite);
            let Some(decision) = self.statement(&said.decision, own, &[], FACT) else { continue };
            decisions.push(KeyDecision {
                decision,
                rationale: self.text(&said.rationale),
                alternatives: said.alternatives.iter().filter_map(|one| self.text(one)).collect(),
            });
        }
        decisions
    }

    fn errors_resolved(&mut self, answer: &SessionAnswer) -> Vec<ErrorResolved> {
        let mut errors = Vec::new();
        for said in answer.errors_resolved.iter().take(LIST) {
            let own = self.cited(&said.cite);
            let Some(error) = self.statement(&said.error, own, &[], FACT) else { continue };
            errors.push(ErrorResolved {
                error,
                root_cause: self.text(&said.root_cause),
                fix: self.text(&said.fix),
                verification: self.text(&said.verification),
            });
        }
        errors
    }

    fn tags(&mut self, said: &[String]) -> Vec<String> {
        let mut tags: Vec<String> = Vec::new();
        for said in said.iter().take(LIST) {
            let Some(tag) = self.text(said).map(|tag| one_line(&tag, TAG).to_lowercase()) else {
                continue;
            };
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        tags
    }

    /// Returns a text beside a statement, which shares the statement's sources.
    fn text(&mut self, said: &str) -> Option<String> {
        let text = one_line(&unmarked(said), SENTENCE);
        if !text.chars().any(char::is_alphanumeric) {
            return None;
        }
        self.checked(said).map(|_| text)
    }

    fn files(&mut self, said: &[String], modified: bool) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for said in said {
            if let Some(file) = self.file(said, modified)
                && !files.contains(&file)
            {
                files.push(file);
            }
        }
        files
    }

    fn file(&mut self, said: &str, modified: bool) -> Option<String> {
        if said.trim().is_empty() {
            return None;
        }
        let file = self.material.file(said, modified).map(str::to_owned);
        if file.is_none() {
            self.dropped.count(DropReason::Named(Kind::File));
        }
        file
    }

    /// Returns the passages behind citations; counts the missing ones.
    fn cited(&mut self, cites: &[u32]) -> Vec<Id> {
        let mut ids: BTreeSet<(u32, usize)> = BTreeSet::new();
        let mut sources = Vec::new();
        for &cite in cites {
            let passages =
                usize::try_from(cite).ok().and_then(|cite| self.cites.get(cite.checked_sub(1)?));
            let Some(passages) = passages else {
                self.dropped.cites += 1;
                continue;
            };
            for (at, id) in passages.iter().enumerate() {
                if sources.len() < SOURCES && ids.insert((cite, at)) && !sources.contains(id) {
                    sources.push(*id);
                }
            }
        }
        sources
    }

    fn sources_of(&self, places: &[usize]) -> Vec<Id> {
        let mut sources: Vec<Id> = Vec::new();
        for id in places.iter().filter_map(|place| self.material.passage(*place)) {
            if sources.len() < SOURCES && !sources.contains(&id) {
                sources.push(id);
            }
        }
        if sources.is_empty() { self.material.chief() } else { sources }
    }

    /// Returns the places of the rarest name of a text, if all names are found and nothing in it steers.
    /// Otherwise counts it as dropped.
    fn checked(&mut self, said: &str) -> Option<Rarest> {
        match self.check(said) {
            Ok(rarest) => {
                self.dropped.kept += 1;
                Some(rarest)
            }
            Err(reason) => {
                self.dropped.count(reason);
                None
            }
        }
    }

    fn check(&mut self, said: &str) -> Result<Rarest, DropReason> {
        let said: String = visible(said).collect();
        if fence::holds_tag(&said) || fence::steers(&said) {
            return Err(DropReason::Steers);
        }
        let mut rarest: Option<Rarest> = None;
        for name in names::find(&said) {
            let kind = name.kind;
            let places = self.places(name);
            if places.is_empty() {
                return Err(DropReason::Named(kind));
            }
            if rarest.as_ref().is_none_or(|known| places.len() < known.len()) {
                rarest = Some(places);
            }
        }
        Ok(rarest.unwrap_or_default())
    }

    fn places(&mut self, name: Name) -> Vec<usize> {
        if let Some(known) = self.places.get(&name) {
            return known.clone();
        }
        let places = lookup::places(self.material, &name);
        self.places.insert(name, places.clone());
        places
    }
}

#[cfg(test)]
mod tests;
