//! Questions to the graph: what is true now, what was true then, and the record that shows each.

pub mod changed;
pub mod entity;
pub mod export;
pub mod facts;
pub mod path;
pub mod problems;
pub mod why;
mod words;

use std::borrow::Cow;
use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{EndReason, EntityKind, EvidenceRole, Id, Relation, Timestamp};
use thru_redact::{Clean, Redactor};
use thru_store::{EntityRow, FactRow, Store};

use super::{Opened, ProjectScope, cleaned};
use crate::app::App;
use crate::call::Call;
use crate::fresh::Prepared;
use crate::trouble::{Result, Trouble};
use crate::words::without_middle;

/// Things that one name may mean, …
const NAMED: usize = 6;
/// … and that the words of a question may.
pub(super) const MEANT: usize = 12;

/// A thing that facts are about.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EntityEntry {
    /// Its kind.
    pub kind: EntityKind,
    /// Its key within its project.
    pub key: Clean<String>,
    /// The name shown to people.
    pub name: Clean<String>,
    /// The name of its project.
    pub project: Option<Clean<String>>,
    /// Its id: the same on every machine and after every rebuild.
    pub id: Id,
    /// Its row.
    #[serde(skip)]
    pub row: i64,
}

impl EntityEntry {
    pub(super) fn new(store: &Store, redactor: &Redactor, entity: &EntityRow) -> Result<Self> {
        let own = entity.project.map(|row| store.project_key(row)).transpose()?.flatten();
        let id = Self::id_of(own.as_ref().map_or("", |key| key.as_str()), entity);
        let project = entity.project.map(|row| store.project_name(row)).transpose()?.flatten();
        let project = project.map(|name| cleaned(redactor, &name));
        // The project itself has no other key within itself.
        let name = match (entity.kind, &project) {
            (EntityKind::Project, Some(name)) => name.clone(),
            _ => cleaned(redactor, &entity.name),
        };
        let key = cleaned(redactor, &entity.key);
        Ok(Self { kind: entity.kind, key, name, project, id, row: entity.row })
    }

    /// Returns the id of a thing of the project with this key.
    fn id_of(project: &str, entity: &EntityRow) -> Id {
        let kind = entity.kind.as_str();
        let parts = ["entity", project, kind, &entity.key];
        Id::derive(&parts.map(str::as_bytes))
    }
}

/// The end of a fact.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FactEndEntry {
    /// The first moment at which it no longer held.
    pub at: Timestamp,
    /// The reason.
    pub reason: EndReason,
    /// The id of the fact that took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Id>,
}

/// A fact, with the records that show it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FactEntry {
    /// Its id.
    pub id: Id,
    /// The thing that it is about.
    pub subject: EntityEntry,
    /// The relation.
    pub relation: Relation,
    /// The other end, if that is a thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<EntityEntry>,
    /// The other end, if that is a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Clean<String>>,
    /// The limits within which it holds.
    #[serde(skip_serializing_if = "is_empty")]
    pub scope: Clean<String>,
    /// A remark.
    #[serde(skip_serializing_if = "is_empty")]
    pub note: Clean<String>,
    /// The first moment at which it held.
    pub from: Timestamp,
    /// Its end; missing while it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<FactEndEntry>,
    /// The passages that show it, by their shortest ids.
    pub evidence: Vec<EvidenceEntry>,
}

/// A passage that shows something of a fact.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EvidenceEntry {
    /// Its part.
    pub role: EvidenceRole,
    /// The shortest id that names it alone.
    pub id: String,
}

fn is_empty(text: &Clean<String>) -> bool {
    text.get().is_empty()
}

impl FactEntry {
    /// Returns the words for its other end.
    pub fn object_shown(&self) -> &str {
        match (&self.object, &self.value) {
            (Some(entity), _) => entity.name.get(),
            (None, Some(value)) => value.get(),
            (None, None) => "",
        }
    }

    /// Returns the id of the passage that shows best how it stands: the one that ended it, else the one that began it.
    pub fn shown_by(&self) -> Option<&str> {
        let of = |role| self.evidence.iter().find(move |one| one.role == role);
        let shown = of(EvidenceRole::Closed).filter(|_| self.end.is_some());
        shown.or_else(|| of(EvidenceRole::Opened)).map(|one| one.id.as_str())
    }

    /// Returns the words for the thing that it is about: a session is marked as one, its title being a sentence.
    fn subject_shown(&self) -> Cow<'_, str> {
        let name = self.subject.name.get().as_str();
        match self.subject.kind {
            EntityKind::Session => Cow::Owned(format!("session “{name}”")),
            _ => Cow::Borrowed(name),
        }
    }

    /// Returns it as one sentence.
    pub fn sentence(&self) -> String {
        self.sentence_of(&self.subject_shown(), self.object_shown(), self.scope.get())
    }

    /// Returns it as one sentence of about this length: long names are cut in their middle, so that both ends of it are told.
    pub fn sentence_within(&self, most: usize) -> String {
        let (subject, object) = (self.subject_shown(), self.object_shown());
        let scope = self.scope.get().as_str();
        let whole = self.sentence_of(&subject, object, scope);
        let length = |text: &str| text.chars().count();
        let over = length(&whole).saturating_sub(most);
        let is_told =
            matches!(self.relation, Relation::Decided | Relation::Ruled | Relation::Replaces);
        if over == 0 || is_told {
            return whole;
        }
        // How it was run matters less than what was.
        let scope = without_middle(scope, length(scope).saturating_sub(over).max(LEAST));
        let whole = self.sentence_of(&subject, object, &scope);
        let over = length(&whole).saturating_sub(most);
        let (one, other) = (length(&subject), length(object));
        let room = (one + other).saturating_sub(over);
        // The longer name gives way first.
        let for_one = if other <= room / 2 { room - other } else { one.min(room / 2) };
        self.sentence_of(
            &without_middle(&subject, for_one.max(LEAST)),
            &without_middle(object, room.saturating_sub(for_one).max(LEAST)),
            &scope,
        )
    }

    fn sentence_of(&self, subject: &str, object: &str, scope: &str) -> String {
        let within = if scope.is_empty() { String::new() } else { format!(" ({scope})") };
        let verb = match self.relation {
            Relation::Outcome if object == "pass" => return format!("{subject} passes{within}"),
            Relation::Outcome => return format!("{subject} fails{within}"),
            Relation::FailedWith => "failed with",
            Relation::FixedBy => "was fixed by",
            Relation::Committed => "committed",
            Relation::Touches => "changed",
            Relation::OnBranch => "is on branch",
            Relation::DependsOn => "depends on",
            Relation::Toolchain => "is built with",
            Relation::RenamedTo => "was renamed to",
            Relation::MergedInto if self.object.is_none() => {
                return format!("{subject} was merged");
            }
            Relation::MergedInto => "was merged into",
            Relation::Closes => "closes",
            Relation::Decided if !self.note.get().is_empty() => {
                return format!("Decided, {}: {object}", self.note.get());
            }
            Relation::Decided => return format!("Decided: {object}"),
            Relation::Ruled => return format!("Rule: {object}"),
            Relation::Sets => {
                return format!("{subject} sets {object} to {}", self.note.get());
            }
            Relation::Replaces => "replaces",
            Relation::Defines => "defines",
            Relation::Edited => {
                let key = self.object.as_ref().map_or("", |object| object.key.get().as_str());
                let file = key.rsplit_once('#').map_or(key, |(file, _)| file);
                return format!("{subject} changed {object} in {file}");
            }
            Relation::MovedTo => "was moved to",
        };
        let note = match (self.note.get().as_str(), self.relation) {
            ("", _) => String::new(),
            (version, Relation::DependsOn | Relation::Toolchain) => format!(" {version}"),
            (remark, _) => format!(", {remark}"),
        };
        format!("{subject} {verb} {object}{note}{within}")
    }
}

/// Characters that tell a name.
const LEAST: usize = 24;

/// Makes entries of facts, in their order. What was not known yet at a moment is left out, ends included.
fn entries(
    store: &Store,
    redactor: &Redactor,
    facts: &[FactRow],
    known: Option<Timestamp>,
) -> Result<Vec<FactEntry>> {
    // Hundreds of small reads: outside of a transaction, each of them takes a lock of its own.
    let _snapshot = store.snapshot()?;
    let rows: Vec<i64> = facts.iter().map(|fact| fact.row).collect();
    let mut evidence = store.evidence_of(&rows)?;
    // Most facts of an answer are about the same few things.
    let mut things: HashMap<i64, EntityEntry> = HashMap::new();
    let mut thing = |entity: &EntityRow| -> Result<EntityEntry> {
        if let Some(known) = things.get(&entity.row) {
            return Ok(known.clone());
        }
        let new = EntityEntry::new(store, redactor, entity)?;
        things.insert(entity.row, new.clone());
        Ok(new)
    };
    let entry = |fact: &FactRow| -> Result<FactEntry> {
        let is_known = |at: Timestamp| known.is_none_or(|known| at <= known);
        let end = fact.end.as_ref().filter(|end| is_known(end.at));
        let shown = evidence.remove(&fact.row).unwrap_or_default().into_iter();
        let shown = shown.filter(|one| end.is_some() || one.role != EvidenceRole::Closed);
        let shown = shown
            .map(|one| Ok(EvidenceEntry { role: one.role, id: store.short_id(&one.passage)? }));
        Ok(FactEntry {
            id: fact.id,
            subject: thing(&fact.subject)?,
            relation: fact.relation,
            object: fact.object.as_ref().map(&mut thing).transpose()?,
            value: fact.value.as_ref().map(|value| cleaned(redactor, value)),
            scope: cleaned(redactor, &fact.scope),
            note: cleaned(redactor, &fact.note),
            from: fact.from,
            end: end.map(|end| FactEndEntry { at: end.at, reason: end.reason, by: end.by }),
            evidence: shown.collect::<Result<_>>()?,
        })
    };
    facts.iter().map(entry).collect()
}

/// Returns the relations that an answer is made of: those asked for; else all, but what every edit of code says only where one
/// of these things is code.
pub(super) fn relations_about(named: &[EntityRow], asked: Vec<Relation>) -> Option<Vec<Relation>> {
    if !asked.is_empty() {
        return Some(asked);
    }
    let is_about_code = named.iter().any(|one| one.kind == EntityKind::Symbol);
    let plain = Relation::ALL.iter().filter(|relation| !relation.is_of_code());
    (!is_about_code).then(|| plain.copied().collect())
}

/// A store that is open for a question about the projects of a scope.
pub(super) struct OpenGraph {
    pub(super) opened: Opened,
    /// Rows of the projects; `None` for all.
    pub(super) projects: Option<Vec<i64>>,
}

impl OpenGraph {
    fn new(app: &App, scope: &ProjectScope, call: Call<'_>) -> Result<Self> {
        let opened = Opened::up_to_date(app, call)?;
        let project = scope.find(app, &opened.store)?;
        let projects = project.map(|one| opened.store.project_rows(one.row)).transpose()?;
        Ok(Self { opened, projects })
    }

    pub(super) fn store(&self) -> &Store {
        &self.opened.store
    }

    pub(super) fn entries(
        &self,
        facts: &[FactRow],
        known: Option<Timestamp>,
    ) -> Result<Vec<FactEntry>> {
        entries(&self.opened.store, self.opened.intake.redactor(), facts, known)
    }

    /// Returns the things that a whole name means: a project, and what is called like it; else what its end or its words name.
    fn called(&self, name: &str, most: usize) -> Result<Vec<EntityRow>> {
        let projects = self.projects.as_deref();
        let mut found = self.store().project_entities(projects, name)?;
        found.extend(match found.is_empty() {
            true => self.store().entities_named(projects, name, most)?,
            false => self.store().entities_called(projects, name, most)?,
        });
        found.truncate(most);
        Ok(found)
    }

    /// Returns what a name means, at most `most` things.
    ///
    /// # Errors
    /// Fails if it means nothing, or the store cannot be read.
    fn named(&self, name: &str, most: usize) -> Result<Vec<EntityRow>> {
        let found = self.called(name, most)?;
        match found.is_empty() {
            true => Err(Trouble::not_found(format!("no fact is about `{name}`"))
                .advise("name a file, command, test, error, commit, branch or package")),
            false => Ok(found),
        }
    }

    fn preparation(self) -> Prepared {
        self.opened.preparation
    }
}
