//! Notes of what sessions were about: files and folders, projects, the wishes of people, patterns.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use thru_core::{Id, Observation, Timestamp};

use super::fixes::Facts;
use super::{
    Dated, Memory, Names, SessionMemory, counted, day, is_decision, is_gotcha, is_pattern,
    is_preference, is_shown, memory_lines, project_folder, project_tag, put, sections,
};
use crate::escape::code;
use crate::front::Property;
use crate::names::file_name;
use crate::plan::{Plan, PlannedLine};

/// A file, or a folder, has a note of its own once so many memories touch it.
const FEWEST: usize = 3;
/// The most lines of a section that only points elsewhere.
const POINTED: usize = 20;

const SECTIONS: [&str; 6] = [
    "Overview",
    "Key Decisions",
    "Gotchas & Troubleshooting",
    "Recent Changes",
    "Related Entities",
    "References",
];
const TOPIC_SECTIONS: [&str; 2] = ["Patterns & Best Practices", "References"];
const PREFERENCE_SECTIONS: [&str; 2] = ["Preferences", "References"];

/// Something that sessions were about.
#[derive(Clone, Debug)]
pub(super) struct Entity<'m> {
    /// The id of its note.
    pub(super) note: Id,
    /// Its name as it is shown in links.
    pub(super) shown: String,
    name: String,
    /// The path of a file or folder.
    path: String,
    project: Option<&'m str>,
    kind: Kind,
    /// The memories about it, with the sessions that they come from.
    memories: Vec<(&'m Observation, Option<&'m SessionMemory>)>,
}

/// A note of what sessions of one project were about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its id.
    pub note: Id,
    /// Its name, as it is written first.
    pub name: String,
    /// The project.
    pub project: String,
    /// True if it holds wishes and rules of people.
    pub is_preferences: bool,
    /// True if it is one of all projects since.
    pub is_promoted: bool,
    /// The memories in it.
    pub memories: Vec<Id>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A file or folder.
    Component,
    /// What belongs to no file of a project.
    Project,
    /// Wishes and rules of people.
    Preferences,
    /// Patterns that hold in several projects.
    Patterns,
}

/// Everything that has a note.
#[derive(Default)]
pub(super) struct Entities<'m> {
    all: Vec<Entity<'m>>,
    /// The entities of each session, by place.
    by_session: HashMap<Id, BTreeSet<usize>>,
    /// The tellers of what was told, where these are not the user.
    tellers: HashMap<Id, &'m str>,
}

impl<'m> Entities<'m> {
    /// Finds what the archived sessions, and what was told, are about.
    pub(super) fn new(memory: &'m Memory) -> Self {
        let mut entities = Self::default();
        let archived = memory.sessions.iter().filter(|session| memory.is_compacted(session));
        let mut projects: BTreeMap<&str, Vec<&SessionMemory>> = BTreeMap::new();
        for session in archived {
            projects.entry(session.project.as_str()).or_default().push(session);
        }
        let mut places: HashMap<(Option<&str>, String), usize> = HashMap::new();
        for (project, sessions) in &projects {
            let components = Components::new(sessions);
            for session in sessions {
                for one in session.observations.iter().filter(|one| is_shown(one)) {
                    let (name, project, kind) = if is_preference(one) {
                        (String::new(), Some(*project), Kind::Preferences)
                    } else if is_pattern(one) {
                        (String::new(), None, Kind::Patterns)
                    } else {
                        match components.of(session, one) {
                            Some(path) => (path, Some(*project), Kind::Component),
                            None => (String::new(), Some(*project), Kind::Project),
                        }
                    };
                    entities.add(&mut places, (name, project, kind), one, Some(session));
                }
            }
        }
        for told in memory.told.iter().filter(|told| told.written_in.is_none()) {
            let project = told.project.as_deref();
            let kind = match project.is_none() || is_preference(&told.observation) {
                true => Kind::Preferences,
                false => Kind::Project,
            };
            entities.add(&mut places, (String::new(), project, kind), &told.observation, None);
            let teller = told.teller.as_deref().map(|teller| (told.observation.id, teller));
            entities.tellers.extend(teller);
        }
        entities.name_components();
        entities
    }

    fn add(
        &mut self,
        places: &mut HashMap<(Option<&'m str>, String), usize>,
        (path, project, kind): (String, Option<&'m str>, Kind),
        observation: &'m Observation,
        session: Option<&'m SessionMemory>,
    ) {
        let key = format!("{kind:?} {path}");
        let place = *places.entry((project, key.clone())).or_insert_with(|| {
            let note = Id::derive(&[
                b"entity note",
                project.unwrap_or_default().as_bytes(),
                key.as_bytes(),
            ]);
            let at = project.unwrap_or("all projects");
            let (name, shown) = match kind {
                Kind::Component => (String::new(), path.clone()),
                Kind::Project => (format!("{at} (project)"), at.to_owned()),
                Kind::Preferences => (format!("Preferences ({at})"), "Preferences".to_owned()),
                Kind::Patterns => (format!("Patterns ({at})"), "Patterns".to_owned()),
            };
            let name = file_name(&name);
            self.all.push(Entity { note, shown, name, path, project, kind, memories: Vec::new() });
            self.all.len() - 1
        });
        self.all[place].memories.push((observation, session));
        if let Some(session) = session {
            self.by_session.entry(Memory::note_of(&session.key)).or_default().insert(place);
        }
    }

    fn teller(&self, told: &Observation) -> Option<&str> {
        self.tellers.get(&told.id).copied()
    }

    /// Gives each file and folder the shortest end of its path that no other of its project has.
    fn name_components(&mut self) {
        let components = |entity: &&Entity<'_>| entity.kind == Kind::Component;
        let paths: Vec<(Option<&str>, String)> = self
            .all
            .iter()
            .filter(components)
            .map(|one| (one.project, one.shown.clone()))
            .collect();
        for entity in self.all.iter_mut().filter(|one| one.kind == Kind::Component) {
            let path = entity.shown.clone();
            let parts: Vec<&str> = path.split('/').collect();
            let mut taken = 1;
            let tail = loop {
                let tail = parts[parts.len().saturating_sub(taken)..].join("/");
                let is_unique = paths.iter().filter(|(project, other)| {
                    *project == entity.project
                        && (*other == tail || other.ends_with(&format!("/{tail}")))
                });
                if taken >= parts.len() || is_unique.count() <= 1 {
                    break tail;
                }
                taken += 1;
            };
            entity.name = file_name(&format!("{tail} ({})", entity.project.unwrap_or_default()));
            entity.shown = tail;
        }
    }

    /// Returns the default names of their notes.
    pub(super) fn names(&self) -> impl Iterator<Item = (Id, String)> {
        self.all.iter().map(|entity| (entity.note, entity.name.clone()))
    }

    /// Returns those of single projects.
    pub(super) fn subjects(&self, memory: &Memory) -> Vec<Subject> {
        let of_one = self.all.iter().filter_map(|entity| Some((entity, entity.project?)));
        let subjects = of_one.map(|(entity, project)| Subject {
            note: entity.note,
            name: entity.name.clone(),
            project: project.to_owned(),
            is_preferences: entity.kind == Kind::Preferences,
            is_promoted: memory.decided.promoted.contains_key(&entity.note),
            memories: entity.memories.iter().map(|(one, _)| one.id).collect(),
        });
        subjects.collect()
    }

    /// Returns those that are notes of all projects since, each with its name and project.
    pub(super) fn promoted<'s>(
        &'s self,
        memory: &'s Memory,
    ) -> impl Iterator<Item = (Id, &'s str, &'m str)> {
        let promoted = self.all.iter();
        let promoted = promoted.filter(|entity| memory.decided.promoted.contains_key(&entity.note));
        promoted.filter_map(|entity| Some((entity.note, entity.name.as_str(), entity.project?)))
    }

    /// Returns those that an archived session told something of.
    pub(super) fn of_session(&self, session: &SessionMemory) -> impl Iterator<Item = &Entity<'m>> {
        let places = self.by_session.get(&Memory::note_of(&session.key));
        places.into_iter().flatten().filter_map(|place| self.all.get(*place))
    }

    /// Returns those of a project that are files or folders, the most told of first.
    pub(super) fn key_entities(&self, project: &str) -> Vec<&Entity<'m>> {
        let mut all: Vec<&Entity<'m>> =
            self.all.iter().filter(|one| one.project == Some(project)).collect();
        all.sort_by_key(|one| (std::cmp::Reverse(one.memories.len()), one.name.clone()));
        all.truncate(POINTED);
        all
    }

    /// Makes their notes.
    pub(super) fn plans<'s>(
        &'s self,
        memory: &'s Memory,
        facts: &'s Facts<'_>,
        names: &'s Names,
    ) -> impl Iterator<Item = Plan> + 's {
        self.all.iter().map(|entity| self.plan(entity, memory, facts, names))
    }

    fn plan(&self, entity: &Entity<'m>, memory: &Memory, facts: &Facts<'_>, names: &Names) -> Plan {
        let times = || entity.memories.iter().filter_map(|(one, _)| one.at);
        let mut sessions: Vec<&SessionMemory> =
            entity.memories.iter().filter_map(|(_, session)| *session).collect();
        sessions.sort_by_key(|session| (std::cmp::Reverse(session.ended), session.key.clone()));
        sessions.dedup_by_key(|session| &session.key);
        let archived = |session: &&SessionMemory| {
            memory.decided.archived.get(&session.key).map(|archived| archived.at)
        };
        let created = times().min().unwrap_or_default();
        let last = times().chain(sessions.iter().filter_map(archived)).max().unwrap_or_default();
        let mut all = match entity.kind {
            Kind::Component | Kind::Project => sections(&SECTIONS),
            Kind::Preferences => sections(&PREFERENCE_SECTIONS),
            Kind::Patterns => sections(&TOPIC_SECTIONS),
        };
        let derived = |kind: &[u8], of: &Id, text: String| {
            PlannedLine::derived(&[kind, entity.note.as_bytes(), of.as_bytes()], text)
        };
        put(&mut all, "Overview", [derived(b"overview", &entity.note, overview(entity))]);
        for (one, _) in &entity.memories {
            let section = match entity.kind {
                Kind::Preferences => "Preferences",
                Kind::Patterns => "Patterns & Best Practices",
                _ if is_decision(one) || one.is_rule => "Key Decisions",
                _ if is_gotcha(one) => "Gotchas & Troubleshooting",
                _ => continue,
            };
            let mut lines = memory_lines(one, Dated::Yes, self.teller(one));
            if is_gotcha(one) {
                lines.extend(facts.of_memory(one));
            }
            put(&mut all, section, lines);
        }
        match (entity.kind, entity.project) {
            (Kind::Component, Some(project)) => {
                let known =
                    entity.memories.iter().map(|(one, _)| *one).filter(|one| is_gotcha(one));
                let lines = facts.of_file(project, &entity.path, known);
                put(&mut all, "Gotchas & Troubleshooting", lines);
            }
            (Kind::Project, Some(project)) => {
                put(&mut all, "Overview", facts.parts(project, &entity.note));
            }
            _ => {}
        }
        let is_told = |one: &Observation| is_decision(one) || is_gotcha(one) || one.is_rule;
        let others = entity.memories.iter().rev().filter(|(one, _)| !is_told(one)).take(POINTED);
        // Their text stands in the notes of their sessions.
        let titles = others.flat_map(|(one, _)| {
            memory_lines(one, Dated::Yes, self.teller(one)).into_iter().take(1)
        });
        put(&mut all, "Recent Changes", titles);
        let is_empty = |name: &str| all.iter().any(|one| one.name == name && one.lines.is_empty());
        let links = if is_empty("Recent Changes") { POINTED } else { 0 };
        for session in sessions.iter().take(links) {
            let note = Memory::note_of(&session.key);
            let title = session.title.as_deref().unwrap_or("session");
            let text = format!("{}: {}", day(session.ended), names.link(&note, title));
            put(&mut all, "Recent Changes", [derived(b"change", &note, text)]);
        }
        for other in self.related(entity) {
            let text = format!("relates_to {}", names.link(&other.note, &other.shown));
            put(&mut all, "Related Entities", [derived(b"related", &other.note, text)]);
        }
        for session in &sessions {
            let note = Memory::note_of(&session.key);
            let text = format!("[[{}]] - Archived session (compacted)", names.get(&note));
            put(&mut all, "References", [derived(b"reference", &note, text)]);
        }
        Plan {
            id: entity.note,
            folder: folder(entity, memory),
            name: names.get(&entity.note),
            properties: properties(entity, memory, created, last),
            title: match entity.kind {
                Kind::Component => entity.shown.clone(),
                _ => entity.name.clone(),
            },
            sections: all,
            points_to: None,
        }
    }

    /// Finds the files and folders that the same sessions told of most often.
    fn related(&self, entity: &Entity<'m>) -> Vec<&Entity<'m>> {
        let sessions: BTreeSet<Id> = entity
            .memories
            .iter()
            .filter_map(|(_, session)| Some(Memory::note_of(&(*session)?.key)))
            .collect();
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for place in sessions.iter().filter_map(|session| self.by_session.get(session)).flatten() {
            *shared.entry(*place).or_default() += 1;
        }
        let mut related: Vec<(usize, &Entity<'m>)> = shared
            .into_iter()
            .filter_map(|(place, times)| Some((times, self.all.get(place)?)))
            .filter(|(times, other)| {
                *times >= 2 && other.note != entity.note && other.kind == Kind::Component
            })
            .collect();
        related.sort_by_key(|(times, other)| (std::cmp::Reverse(*times), other.name.clone()));
        related.into_iter().take(5).map(|(_, other)| other).collect()
    }
}

/// Returns a sentence about an entity. It counts nothing: two machines know different sessions.
fn overview(entity: &Entity<'_>) -> String {
    let project = entity.project.unwrap_or_default();
    match entity.kind {
        Kind::Component => format!("{} of {project}", code(&entity.shown)),
        _ => format!("what was found in {project} and belongs to no single file"),
    }
}

fn folder(entity: &Entity<'_>, memory: &Memory) -> String {
    match (entity.project, entity.kind) {
        (Some(project), _) if !memory.decided.promoted.contains_key(&entity.note) => {
            format!("{}/entities", project_folder(project))
        }
        (None, Kind::Patterns) => "global/topics".to_owned(),
        (_, _) => "global/entities".to_owned(),
    }
}

fn properties(
    entity: &Entity<'_>,
    memory: &Memory,
    created: Timestamp,
    last: Timestamp,
) -> Vec<Property> {
    let is_promoted = memory.decided.promoted.contains_key(&entity.note);
    let (kind, tag) = match entity.kind {
        Kind::Patterns => ("topic", "pattern"),
        Kind::Component => ("entity", "component"),
        Kind::Project => ("entity", "project"),
        Kind::Preferences => ("entity", "preferences"),
    };
    let mut tags = vec![kind.to_owned(), tag.to_owned()];
    tags.extend(entity.project.map(project_tag));
    vec![
        Property::text("type", kind),
        Property::text("project", entity.project.filter(|_| !is_promoted).unwrap_or("global")),
        Property::members("tags", tags),
        Property::text("created", day(created)),
        Property::text("updated", day(last)),
        Property::text("thru_id", entity.note.to_string()),
    ]
}

/// The files and folders of a project that have a note.
struct Components {
    files: BTreeMap<String, usize>,
    folders: BTreeMap<String, usize>,
}

impl Components {
    fn new(sessions: &[&SessionMemory]) -> Self {
        let mut paths = Vec::new();
        for session in sessions {
            for one in session.observations.iter().filter(|one| is_shown(one)) {
                let own: BTreeSet<String> = files(session, one).collect();
                paths.push(own);
            }
        }
        let count = |names: &mut dyn Iterator<Item = &str>| -> BTreeMap<String, usize> {
            let counts = counted(names).into_iter().filter(|(_, number)| *number >= FEWEST);
            counts.map(|(name, number)| (name.to_owned(), number)).collect()
        };
        let folders: Vec<BTreeSet<&str>> = paths
            .iter()
            .map(|own| own.iter().filter_map(|path| Some(path.rsplit_once('/')?.0)).collect())
            .collect();
        Self {
            files: count(&mut paths.iter().flatten().map(String::as_str)),
            folders: count(&mut folders.iter().flatten().copied()),
        }
    }

    /// Returns the file, else the folder, that a memory is about: of those with a note, the one told of most.
    fn of(&self, session: &SessionMemory, one: &Observation) -> Option<String> {
        let best = |names: &BTreeMap<String, usize>, paths: &[String]| {
            let known = paths.iter().filter_map(|path| Some((names.get(path)?, path)));
            known
                .max_by_key(|(number, path)| (**number, std::cmp::Reverse(*path)))
                .map(|(_, path)| path.clone())
        };
        let paths: Vec<String> = files(session, one).collect();
        let folders: Vec<String> =
            paths.iter().filter_map(|path| Some(path.rsplit_once('/')?.0.to_owned())).collect();
        best(&self.files, &paths).or_else(|| best(&self.folders, &folders))
    }
}

/// Returns the files of a memory below the directory of its session: those that were changed, else those that were read.
fn files(session: &SessionMemory, one: &Observation) -> impl Iterator<Item = String> {
    let paths = if one.files_modified.is_empty() { &one.files_read } else { &one.files_modified };
    let directory = session.directory.as_deref().unwrap_or_default().replace('\\', "/");
    let relative: Vec<String> = paths
        .iter()
        .filter_map(|path| {
            let path = path.replace('\\', "/");
            let below = path.strip_prefix(&directory).map(|rest| rest.trim_start_matches('/'));
            let own = match below {
                Some(below) if !directory.is_empty() => below.to_owned(),
                _ => path.trim_start_matches("./").to_owned(),
            };
            let is_elsewhere =
                own.starts_with(['/', '~']) || own.contains(':') || own.contains("..");
            (!own.is_empty() && !is_elsewhere).then_some(own)
        })
        .collect();
    relative.into_iter()
}
