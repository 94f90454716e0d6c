//! The graph as clients of Graphiti know it: its records, by its names, over what Throughline keeps.
//!
//! A group is a project, an episode is a session as it was indexed or a memory that was told, and an edge is a fact. Nothing of
//! Graphiti's own is kept: ids and times are those of the facts.

mod episodes;
mod facts;
mod nodes;

pub use episodes::{Provenance, episodes, provenance};
pub(crate) use facts::full_id;
pub use facts::{FindFacts, edge, find_facts};
pub use nodes::{FindNodes, find_nodes};

use jiff::tz::TimeZone;
use serde::Serialize;
use thru_core::{EntityKind, Id, Timestamp};
use thru_intake::Operation;
use thru_recall::parse_date;
use thru_redact::{Clean, Redactor};
use thru_store::{FactTime, MemoryRow, ProjectName, Store};

use super::graph::{EntityEntry, FactEntry, OpenGraph};
use super::{Opened, ProjectScope, cleaned, named};
use crate::app::App;
use crate::call::Call;
use crate::trouble::{Result, Trouble};

/// The group of what belongs to no project. As the group of a request it is Graphiti's default: the caller's own project.
pub const DEFAULT_GROUP: &str = "main";

/// A thing: Graphiti's entity node.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// Its id.
    pub uuid: Id,
    /// Its name.
    pub name: Clean<String>,
    /// `Entity`, and its kind.
    pub labels: Vec<String>,
    /// The time of the first fact about it.
    pub created_at: Option<Timestamp>,
    /// What holds of it now.
    pub summary: Clean<String>,
    /// Its group.
    pub group_id: Clean<String>,
    /// What Graphiti has no field for.
    pub attributes: NodeAttributes,
}

/// What a node says beyond Graphiti's fields.
#[derive(Clone, Debug, Serialize)]
pub struct NodeAttributes {
    /// Its exact key.
    pub key: Clean<String>,
}

/// A fact: Graphiti's entity edge, in full.
#[derive(Clone, Debug, Serialize)]
pub struct Edge {
    /// The fact in short.
    #[serde(flatten)]
    pub short: ShortEdge,
    /// The episodes that show it.
    pub episodes: Vec<Id>,
    /// The time from which it is no longer believed to hold.
    pub expired_at: Option<Timestamp>,
    /// The time of the episode that first shows it.
    pub reference_time: Option<Timestamp>,
    /// What Graphiti has no field for.
    pub attributes: EdgeAttributes,
    /// The things at both ends.
    #[serde(skip)]
    pub nodes: Vec<Node>,
}

/// A fact as Graphiti puts it where it lists the provenance of episodes.
#[derive(Clone, Debug, Serialize)]
pub struct ShortEdge {
    /// Its id.
    pub uuid: Id,
    /// The relation.
    pub name: Clean<String>,
    /// The fact as a sentence.
    pub fact: Clean<String>,
    /// The thing that it is about.
    pub source_node_uuid: Id,
    /// The other end.
    pub target_node_uuid: Id,
    /// Its group.
    pub group_id: Clean<String>,
    /// The time at which it was first known.
    pub created_at: Option<Timestamp>,
    /// The first moment at which it held.
    pub valid_at: Option<Timestamp>,
    /// The first moment at which it no longer held.
    pub invalid_at: Option<Timestamp>,
}

/// What an edge says beyond Graphiti's fields.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EdgeAttributes {
    /// The limits within which it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Clean<String>>,
    /// A remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Clean<String>>,
    /// The reason for which it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<&'static str>,
    /// The fact that took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<Id>,
    /// The short ids of the records that show it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<String>,
    /// True if it was told, and follows from no record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
}

/// A session, or a memory that was told: Graphiti's episode.
#[derive(Clone, Debug, Serialize)]
pub struct Episode {
    /// Its id.
    pub uuid: Id,
    /// Its title.
    pub name: Clean<String>,
    /// Its summary, or the text that was told.
    pub content: Clean<String>,
    /// The time at which it was indexed or told.
    pub created_at: Option<Timestamp>,
    /// `message` for a session, `text` for what was told.
    pub source: &'static str,
    /// Where it comes from.
    pub source_description: String,
    /// Its group.
    pub group_id: Clean<String>,
    /// The time of its latest record.
    pub valid_at: Option<Timestamp>,
}

/// The moments that a request is about.
#[derive(Clone, Debug, Default)]
pub struct AsOf {
    /// The moment at which facts held.
    pub of: Option<String>,
    /// The moment at which they were known.
    pub at: Option<String>,
    /// True for those that ended, too.
    pub include_invalid: bool,
}

impl AsOf {
    fn time(&self, app: &App) -> Result<FactTime> {
        let of = self.of.as_deref().map(|text| moment(app, text)).transpose()?;
        let at = self.at.as_deref().map(|text| moment(app, text)).transpose()?;
        Ok(match (self.include_invalid, of, at) {
            (true, ..) => FactTime::Ever,
            (false, None, None) => FactTime::Now,
            (false, of, at) => FactTime::At(of.or(at).unwrap_or_else(|| app.clock.now()), at),
        })
    }

    fn known(&self, app: &App) -> Result<Option<Timestamp>> {
        self.at.as_deref().map(|text| moment(app, text)).transpose()
    }
}

/// Reads a moment as Graphiti does: without a zone it is UTC.
pub(crate) fn moment(app: &App, text: &str) -> Result<Timestamp> {
    let wrong = |error| Trouble::invalid(format!("Invalid date filter: {error}"));
    parse_date(text, app.clock.now(), &TimeZone::UTC).map_err(wrong)
}

/// Returns the name of a group: letters, digits, `-` and `_`, as Graphiti wants them.
pub fn group_of(project: Option<&str>) -> String {
    let is_fit = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    match project {
        Some(name) => name.chars().map(|c| if is_fit(c) { c } else { '-' }).collect(),
        None => DEFAULT_GROUP.to_owned(),
    }
}

fn group(redactor: &Redactor, project: Option<&Clean<String>>) -> Clean<String> {
    cleaned(redactor, &group_of(project.map(|name| name.get().as_str())))
}

/// Returns the projects that a group names, by their name, their key, or the name of their group.
pub(crate) fn projects_of_group(app: &App, store: &Store, group: &str) -> Result<Vec<ProjectName>> {
    let is_named = |project: &ProjectName| {
        project.key.as_str() == group
            || project.name.eq_ignore_ascii_case(group)
            || group_of(Some(&project.name)).eq_ignore_ascii_case(group)
    };
    let named: Vec<ProjectName> = store.project_names()?.into_iter().filter(is_named).collect();
    match named.is_empty() && group == DEFAULT_GROUP {
        true => Ok(named::current_project(app, store)?.into_iter().collect()),
        false => Ok(named),
    }
}

/// Opens the graph of groups: the caller's project, if none is given; unknown groups are empty.
fn open(app: &App, groups: &[String], call: Call<'_>) -> Result<OpenGraph> {
    let opened = Opened::up_to_date(app, call)?;
    let projects = match groups {
        [] => match ProjectScope::Here.find(app, &opened.store)? {
            Some(here) => Some(opened.store.project_rows(here.row)?),
            None => None,
        },
        groups if groups.iter().any(|group| group == "*") => None,
        groups => {
            let mut rows = Vec::new();
            for group in groups {
                for project in projects_of_group(app, &opened.store, group)? {
                    rows.extend(opened.store.project_rows(project.row)?);
                }
            }
            Some(rows)
        }
    };
    Ok(OpenGraph { opened, projects })
}

impl Node {
    fn new(redactor: &Redactor, entity: &EntityEntry, facts: &[FactEntry]) -> Self {
        /// Most sentences of a summary.
        const SENTENCES: usize = 5;
        let own = facts.iter().filter(|fact| {
            fact.subject.id == entity.id
                || fact.object.as_ref().is_some_and(|object| object.id == entity.id)
        });
        let holding = own.clone().filter(|fact| fact.end.is_none());
        let sentences: Vec<String> = holding.take(SENTENCES).map(FactEntry::sentence).collect();
        Self {
            uuid: entity.id,
            name: entity.name.clone(),
            labels: vec!["Entity".to_owned(), label(entity.kind)],
            created_at: own.map(|fact| fact.from).min(),
            summary: cleaned(redactor, &sentences.join("; ")),
            group_id: group(redactor, entity.project.as_ref()),
            attributes: NodeAttributes { key: entity.key.clone() },
        }
    }

    /// Makes the node of a value, or of a name that was told.
    fn named(
        name: Clean<String>,
        label: &str,
        group_id: Clean<String>,
        created_at: Option<Timestamp>,
    ) -> Self {
        let uuid = Id::derive(&[
            b"entity",
            group_id.get().as_bytes(),
            label.as_bytes(),
            name.get().as_bytes(),
        ]);
        let labels = vec!["Entity".to_owned(), label.to_owned()];
        let (key, summary) = (name.clone(), name.clone().map(|_| String::new()));
        let attributes = NodeAttributes { key };
        Self { uuid, name, labels, created_at, summary, group_id, attributes }
    }
}

/// Returns the label of a kind of things: `PullRequest`.
fn label(kind: EntityKind) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| {
            first.to_uppercase().chain(letters).collect::<String>()
        })
    };
    kind.as_str().split('-').map(capital).collect()
}

impl Edge {
    fn new(redactor: &Redactor, fact: &FactEntry, episodes: Vec<Id>) -> Self {
        let group_id = group(redactor, fact.subject.project.as_ref());
        let facts = std::slice::from_ref(fact);
        let source = Node::new(redactor, &fact.subject, facts);
        let target = match &fact.object {
            Some(object) => Node::new(redactor, object, facts),
            None => {
                let value = cleaned(redactor, fact.object_shown());
                Node::named(value, "Value", group_id.clone(), Some(fact.from))
            }
        };
        let told = |text: &Clean<String>| Some(text.clone()).filter(|text| !text.get().is_empty());
        let end = fact.end.as_ref();
        let mut records: Vec<String> = fact.evidence.iter().map(|one| one.id.clone()).collect();
        records.dedup();
        Self {
            short: ShortEdge {
                uuid: fact.id,
                name: cleaned(redactor, fact.relation.as_str()),
                fact: cleaned(redactor, &fact.sentence()),
                source_node_uuid: source.uuid,
                target_node_uuid: target.uuid,
                group_id,
                created_at: Some(fact.from),
                valid_at: Some(fact.from),
                invalid_at: end.map(|end| end.at),
            },
            episodes,
            expired_at: end.map(|end| end.at),
            reference_time: Some(fact.from),
            attributes: EdgeAttributes {
                scope: told(&fact.scope),
                note: told(&fact.note),
                ended: end.map(|end| end.reason.as_str()),
                ended_by: end.and_then(|end| end.by),
                records,
                told: false,
            },
            nodes: vec![source, target],
        }
    }
}

/// Returns the statements that were told, the latest first: each is a memory, and holds until that is forgotten.
fn told_edges(graph: &OpenGraph) -> Result<Vec<Edge>> {
    let (store, redactor) = (graph.store(), graph.opened.intake.redactor());
    let mut edges = Vec::new();
    for row in store.operations()?.iter().rev().filter(|row| row.undone.is_none()) {
        let Some(Operation::MemoryRecorded(recorded)) = Operation::read(&row.kind, &row.body)
        else {
            continue;
        };
        let Some(states) = recorded.states else { continue };
        let id = thru_intake::RecordedMemory::id(&row.key);
        let Some(memory) = store.memory(&id)?.filter(|memory| graph.holds(memory)) else {
            continue;
        };
        let project = memory.project.map(|row| store.project_name(row)).transpose()?.flatten();
        let group_id = cleaned(redactor, &group_of(project.as_deref()));
        let node =
            |name: &str| Node::named(cleaned(redactor, name), "Told", group_id.clone(), row.at);
        let (source, target) = (node(&states.source), node(&states.target));
        let text = recorded.text.as_deref().unwrap_or(&recorded.title);
        edges.push(Edge {
            short: ShortEdge {
                uuid: id,
                name: cleaned(redactor, &states.relation),
                fact: cleaned(redactor, text),
                source_node_uuid: source.uuid,
                target_node_uuid: target.uuid,
                group_id,
                created_at: row.at,
                valid_at: row.at,
                invalid_at: None,
            },
            episodes: vec![id],
            expired_at: None,
            reference_time: row.at,
            attributes: EdgeAttributes { told: true, ..EdgeAttributes::default() },
            nodes: vec![source, target],
        });
    }
    Ok(edges)
}

impl OpenGraph {
    /// True if a memory belongs to the projects that are asked about.
    fn holds(&self, memory: &MemoryRow) -> bool {
        match (&self.projects, memory.project) {
            (Some(projects), Some(project)) => projects.contains(&project),
            _ => true,
        }
    }
}
