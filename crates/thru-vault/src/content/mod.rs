//! The notes that memory calls for: of sessions, of what they were about, and of the projects.

mod entity;
mod fixes;
mod index;
mod notes;
mod pointer;
mod session;

pub use entity::Subject;
pub use notes::Notes;
pub use pointer::ARCHIVED;

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::tz::TimeZone;
use thru_core::{
    Certainty, Concept, Id, Observation, ObservationType, SessionKey, Speaker, Statement, Summary,
    Timestamp, WorkRecord,
};

use crate::escape::escaped;
use crate::names::{file_name, slug};
use crate::note::LineId;
use crate::plan::{PlannedLine, Section, Shows};
use notes::Names;

/// What memory holds of one session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionMemory {
    /// The session.
    pub key: SessionKey,
    /// The name of its project.
    pub project: String,
    /// Its title.
    pub title: Option<String>,
    /// The time of its first record.
    pub started: Timestamp,
    /// The time of its last record.
    pub ended: Timestamp,
    /// The time at which it was over, if it is.
    pub closed: Option<Timestamp>,
    /// The directory that it worked in.
    pub directory: Option<String>,
    /// The branch that was checked out last.
    pub branch: Option<String>,
    /// Its summary.
    pub summary: Option<Summary>,
    /// Its observations, in order.
    pub observations: Vec<Observation>,
}

/// A memory that a person or an agent recorded outside of sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldMemory {
    /// The memory.
    pub observation: Observation,
    /// The name of its project; `None` if it holds in all.
    pub project: Option<String>,
    /// The one who told it, if that was not the user.
    pub teller: Option<String>,
    /// The note and the section that a person wrote it into.
    pub written_in: Option<(Id, String)>,
}

/// A fact of the graph that notes show while it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphFact {
    /// Its id.
    pub id: Id,
    /// The name of its project.
    pub project: String,
    /// The first moment at which it held.
    pub from: Timestamp,
    /// The passages that show it.
    pub passages: Vec<Id>,
    /// The thing that it tells.
    pub tells: Tells,
}

/// The thing that a fact of the graph tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tells {
    /// An error, or a test that failed, is gone.
    Fixed {
        /// The error or test.
        problem: String,
        /// The file or the commit that it went with.
        by: String,
        /// The key of that, if it is a file.
        file: Option<String>,
    },
    /// A project is built of something: a package or a language, with its version.
    BuiltOf(String),
}

/// Decisions about the vault that are journalled.
#[derive(Clone, Debug, Default)]
pub struct Decided {
    /// Sessions whose note is archived, with the day of it and the reason.
    pub archived: HashMap<SessionKey, Archived>,
    /// Sessions whose note was taken out of the archive. They stay out until they are compacted by hand.
    pub taken_out: HashSet<SessionKey>,
    /// Lines that a person removed, by note.
    pub hidden: HashMap<Id, HashSet<LineId>>,
    /// Notes that a person deleted.
    pub hidden_notes: HashSet<Id>,
    /// Notes of one project that a person made notes of all, with the time.
    pub promoted: HashMap<Id, Timestamp>,
    /// Texts that a person put in the place of ours, by note and line.
    pub texts: HashMap<Id, HashMap<LineId, String>>,
    /// Tasks that a person ticked, or opened again.
    pub done: HashMap<LineId, bool>,
}

/// The archive of a session's note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    /// The time.
    pub at: Timestamp,
    /// The reason.
    pub reason: String,
}

/// Everything that notes are made of.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The sessions, earliest first.
    pub sessions: Vec<SessionMemory>,
    /// What was recorded outside of sessions, earliest first.
    pub told: Vec<ToldMemory>,
    /// What the graph tells of files and projects, latest first.
    pub facts: Vec<GraphFact>,
    /// The decisions about the vault.
    pub decided: Decided,
    /// Sessions whose compaction failed: the error, and true if only the archive failed.
    pub failed: HashMap<SessionKey, (String, bool)>,
    /// The names that notes have on disk, by id.
    pub names: HashMap<Id, String>,
}

impl Memory {
    /// Returns the notes that it calls for.
    pub fn notes(&self) -> Notes<'_> {
        Notes::new(self)
    }

    /// Returns the notes of what sessions of single projects were about.
    pub fn subjects(&self) -> Vec<Subject> {
        entity::Entities::new(self).subjects(self)
    }

    /// Returns the day on which a note was promoted.
    fn promoted_at(&self, note: &Id) -> String {
        day(self.decided.promoted.get(note).copied().unwrap_or_default())
    }

    /// Returns the id of the note of a session.
    pub fn note_of(session: &SessionKey) -> Id {
        Id::derive(&[
            b"session note",
            session.agent.as_str().as_bytes(),
            session.id.as_str().as_bytes(),
        ])
    }

    /// True if what is known of a session stands in the notes of what it was about. If only its archive failed, it does, and
    /// so it does once the note was taken out of the archive again.
    pub fn is_compacted(&self, session: &SessionMemory) -> bool {
        self.decided.archived.contains_key(&session.key)
            || self.decided.taken_out.contains(&session.key)
            || self.failed.get(&session.key).is_some_and(|(_, is_archive)| *is_archive)
    }
}

/// The mark of text that was taken out.
const TAKEN_OUT: &str = "[redacted:";

/// True if the name of a session's note is the one that we gave it, and may hold what was taken out of its title since.
pub fn is_name_outdated(session: &SessionMemory, name: &str) -> bool {
    let is_ours = name.starts_with(&day(session.started))
        && name.ends_with(&format!("-{}", id_in_name(session)));
    let is_cleaned = session.title.as_ref().is_some_and(|title| title.contains(TAKEN_OUT));
    is_ours && is_cleaned && name != session_name(session)
}

fn session_name(session: &SessionMemory) -> String {
    let title = session.title.as_deref().unwrap_or("session");
    file_name(&format!("{}-{}-{}", day(session.started), slug(title), id_in_name(session)))
}

/// Returns the part of a session's id that the names of files hold. It never changes, whatever is shown of the id elsewhere.
fn id_in_name(session: &SessionMemory) -> String {
    session.key.id.as_str().chars().take(8).collect()
}

/// Returns a day as people and Obsidian write it. In UTC: two machines write the same.
fn day(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d").to_string()
}

/// Returns a day with the time of day, in UTC.
fn minute(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Returns the folder of a project.
fn project_folder(project: &str) -> String {
    format!("projects/{}", file_name(project))
}

/// Returns the tag of a project.
fn project_tag(project: &str) -> String {
    let parts =
        project.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| !part.is_empty());
    format!("project/{}", parts.collect::<Vec<_>>().join("-"))
}

/// True if a line of a memory begins with its day.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dated {
    Yes,
    No,
}

/// Returns the lines of a memory: its title, and below it the text and the facts. A teller stands behind the category, where no
/// edit of the line makes it part of the title.
fn memory_lines(memory: &Observation, dated: Dated, teller: Option<&str>) -> Vec<PlannedLine> {
    let teller = teller.map(|teller| format!(", {teller}")).unwrap_or_default();
    let category = if memory.is_rule { "rule" } else { memory.kind.as_str() };
    let date = match (dated, memory.at) {
        (Dated::Yes, Some(at)) => format!("{}: ", day(at)),
        _ => String::new(),
    };
    let id = LineId::new(&memory.id);
    let nested = |parts: &[&[u8]], text: String, shows| PlannedLine {
        id: LineId::new(&Id::derive(parts)),
        group: None,
        parent: Some(id.clone()),
        task: None,
        text,
        shows,
    };
    let headline = memory.headline();
    let mut lines = vec![PlannedLine {
        id: id.clone(),
        group: None,
        parent: None,
        task: None,
        text: format!("[{category}{teller}] {date}{}", escaped(&headline)),
        shows: Shows::Title(memory.id),
    }];
    let narrative = memory.narrative.as_ref().map(|one| one.text.as_str());
    // A longer text would be cut, and an edit of the line would cut the memory.
    if let Some(text) = narrative.filter(|text| says_more(text, &headline))
        && text.chars().count() <= crate::escape::LONGEST
    {
        let parts: [&[u8]; 2] = [b"text", memory.id.as_bytes()];
        lines.push(nested(&parts, escaped(text), Shows::Text(memory.id)));
    }
    // Where work is recorded, and its steps, stand in the note of its session.
    let is_told = |fact: &&Statement| dated == Dated::No || WorkRecord::of(&fact.text).is_none();
    for fact in memory.facts.iter().filter(is_told) {
        let is_new = says_more(&fact.text, &headline)
            && narrative.is_none_or(|text| says_more(&fact.text, text));
        if is_new {
            let parts: [&[u8]; 3] = [b"fact", memory.id.as_bytes(), fact.text.as_bytes()];
            lines.push(nested(&parts, escaped(&fact.text), Shows::Derived));
        }
    }
    let mut seen = HashSet::new();
    lines.retain(|line| seen.insert(line.id.clone()));
    lines
}

/// True if a text says something that another does not.
fn says_more(text: &str, than: &str) -> bool {
    let bare = thru_core::bare_words(text);
    !bare.is_empty() && !thru_core::bare_words(than).contains(&bare)
}

/// The memories that stand in notes.
fn is_shown(memory: &Observation) -> bool {
    memory.certainty == Certainty::High
}

fn is_decision(memory: &Observation) -> bool {
    memory.kind == ObservationType::Decision
}

fn is_gotcha(memory: &Observation) -> bool {
    memory.kind == ObservationType::Bugfix || memory.concepts.contains(&Concept::Gotcha)
}

fn is_preference(memory: &Observation) -> bool {
    memory.is_rule && memory.speaker == Speaker::Person
}

fn is_pattern(memory: &Observation) -> bool {
    memory.concepts.contains(&Concept::Pattern) && !is_preference(memory)
}

/// Makes the sections of a note of these names, all empty.
fn sections(names: &[&'static str]) -> Vec<Section> {
    names.iter().map(|name| Section { name, lines: Vec::new() }).collect()
}

fn section<'s>(sections: &'s mut [Section], name: &str) -> Option<&'s mut Vec<PlannedLine>> {
    sections.iter_mut().find(|section| section.name == name).map(|section| &mut section.lines)
}

/// Adds lines to a section.
fn put(all: &mut [Section], name: &str, lines: impl IntoIterator<Item = PlannedLine>) {
    if let Some(section) = section(all, name) {
        let lines =
            lines.into_iter().filter(|line| section.iter().all(|known| known.id != line.id));
        let lines: Vec<PlannedLine> = lines.collect();
        section.extend(lines);
    }
}

/// Counts how often each of these occurs.
fn counted<'t>(things: impl Iterator<Item = &'t str>) -> BTreeMap<&'t str, usize> {
    let mut counts = BTreeMap::new();
    for thing in things {
        *counts.entry(thing).or_default() += 1;
    }
    counts
}
