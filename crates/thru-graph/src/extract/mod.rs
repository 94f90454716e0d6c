//! From the course of one session to what it shows.

mod candidates;
mod git;
mod manifests;
mod people;
mod runs;
mod symbols;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use thru_core::{Entity, EntityKind, Id, Object, Observation, Relation, SessionKey, Timestamp};
use thru_distil::Step;

use crate::edit::{Changes, FileEdit};
use crate::opening::{Claim, Edit, FoldKey, Opening};
use crate::path::{Root, join};

use git::Staged;
use runs::Runs;
use symbols::Move;

/// Most openings of one session: far more than people and agents do in one.
const MOST: usize = 20_000;

/// The course of a session, and what is known of it as a whole.
#[derive(Clone, Copy, Debug)]
pub struct SessionCourse<'s> {
    /// Its key.
    pub key: &'s SessionKey,
    /// Its title.
    pub title: Option<&'s str>,
    /// The directory that it started in.
    pub directory: Option<&'s str>,
    /// The branch that was checked out at its beginning.
    pub first_branch: Option<&'s str>,
    /// The branch that was checked out last.
    pub branch: Option<&'s str>,
    /// Its passages, in order.
    pub steps: &'s [Step],
    /// What edits of files changed in them, in the same order.
    pub edits: &'s [FileEdit],
    /// What was distilled of it.
    pub observations: &'s [Observation],
    /// What models made of it, where one is set.
    pub refined: &'s [Observation],
}

/// Returns what a session shows, in its order.
pub fn extract(session: &SessionCourse<'_>) -> Vec<Opening> {
    let mut extractor = Extractor::new(session);
    let mut edits: BTreeMap<Id, Vec<&FileEdit>> = BTreeMap::new();
    for edit in session.edits {
        edits.entry(edit.passage).or_default().push(edit);
    }
    for step in session.steps {
        extractor.step(step, &edits.remove(&step.id).unwrap_or_default());
        if extractor.openings.len() >= MOST {
            break;
        }
    }
    extractor.moved();
    let dialogues = people::dialogues(session.steps);
    extractor.people(session.observations, &dialogues);
    extractor.candidates(session.refined, &dialogues);
    extractor.openings
}

/// The state of a session while its steps are read.
struct Extractor {
    session: Entity,
    root: Root,
    /// The folder in which the shell stands.
    shell: String,
    /// The branch that is checked out, by worktree.
    branches: HashMap<String, String>,
    /// The time of the last step: clocks may go backwards, sessions do not.
    at: Option<Timestamp>,
    edits: Vec<Edit>,
    /// Commands so far that may have changed something.
    acts: usize,
    staged: Staged,
    runs: Runs,
    moves: Vec<Move>,
    openings: Vec<Opening>,
}

impl Extractor {
    fn new(session: &SessionCourse<'_>) -> Self {
        let key = format!("{}/{}", session.key.agent.as_str(), session.key.id);
        let name = session.title.map_or_else(|| session.key.id.short(), str::to_owned);
        let root = Root::new(session.directory);
        let mut branches = HashMap::new();
        if let Some(branch) = git::first_branch(session, &root) {
            branches.insert(root.worktree("", "."), branch.to_owned());
        }
        Self {
            session: Entity::new(EntityKind::Session, key).named(name),
            root,
            shell: String::new(),
            branches,
            at: None,
            edits: Vec::new(),
            acts: 0,
            staged: Staged::default(),
            runs: Runs::default(),
            moves: Vec::new(),
            openings: Vec::new(),
        }
    }

    fn step(&mut self, step: &Step, edits: &[&FileEdit]) {
        let is_first = self.at.is_none();
        self.at = self.at.max(step.at);
        let Some(at) = self.at else { return };
        if is_first {
            self.starts_on_branch(step, at);
        }
        for path in &step.modified {
            if let Some(file) = self.file(path) {
                self.staged.changed(&file);
                self.edits.push(Edit { file, passage: step.id, at });
            }
        }
        for FileEdit { path, changes, .. } in edits {
            match changes {
                Changes::Manifest(changes) => self.manifest(step, path, changes, at),
                Changes::Source(changes) => self.source(step, path, changes, at),
            }
        }
        // Subagents have shells of their own.
        let shell = if step.is_subagent { String::new() } else { self.shell.clone() };
        for check in &step.checks {
            self.check(step, check, &shell, at);
        }
        self.git(step, &shell, at);
        self.acts += usize::from(step.acts);
        if let Some(folder) = step.moved_to.as_deref().filter(|_| !step.is_subagent) {
            self.shell = join(&shell, folder);
        }
    }

    /// Returns the file at a path, if that is one.
    fn file(&self, path: &str) -> Option<Entity> {
        Some(Entity::new(EntityKind::File, self.root.key(path)?))
    }

    fn open(&mut self, step: &Step, at: Timestamp, key: &[&str], claim: Claim) {
        self.openings.push(Opening { key: FoldKey::new(key), at, passage: step.id, claim });
    }

    fn event(
        &mut self,
        step: &Step,
        at: Timestamp,
        key: &[&str],
        (subject, relation, object): (Entity, Relation, Object),
    ) {
        self.open(step, at, key, Claim::Event { subject, relation, object, note: String::new() });
    }
}

/// The project that everything here belongs to: it needs no key of its own within itself.
fn project() -> Entity {
    Entity::new(EntityKind::Project, ".")
}
