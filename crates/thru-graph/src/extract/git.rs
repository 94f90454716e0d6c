//! Branches, commits with their files, renames and merges, as git itself told of them.

use thru_core::{Entity, EntityKind, Object, Relation, Timestamp};
use thru_distil::{GitStep, Step};

use super::{Extractor, SessionCourse, project};
use crate::opening::{Claim, Commit};
use crate::path::{Root, join};

/// Most files of one commit.
const FILES: usize = 100;

/// Characters of a hash that name a commit.
const HASH: usize = 7;

/// The files that the next commit will hold.
#[derive(Default)]
pub(super) struct Staged {
    /// Files that changed since the last commit.
    changed: Vec<Entity>,
    added: Vec<Entity>,
}

impl Staged {
    pub(super) fn changed(&mut self, file: &Entity) {
        if !self.changed.contains(file) && self.changed.len() < 10 * FILES {
            self.changed.push(file.clone());
        }
    }

    fn add(&mut self, files: impl IntoIterator<Item = Entity>) {
        for file in files {
            if !self.added.contains(&file) && self.added.len() < FILES {
                self.added.push(file);
            }
        }
    }
}

/// Returns the branch that a session began on, as far as it is sure.
pub(super) fn first_branch<'s>(session: &SessionCourse<'s>, root: &Root) -> Option<&'s str> {
    if let Some(first) = session.first_branch {
        return Some(first).filter(|branch| is_branch(branch));
    }
    let own = root.worktree("", ".");
    let mut shell = String::new();
    let first = session.steps.iter().find_map(|step| {
        let from = if step.is_subagent { "" } else { shell.as_str() };
        // A commit in another worktree says nothing of this one.
        let is_own =
            root.holds(from, &step.git_folder) && root.worktree(from, &step.git_folder) == own;
        let first = step.git.iter().filter(|_| is_own).find_map(|git| match git {
            GitStep::Committed { branch: Some(branch), .. } | GitStep::OnBranch(branch) => {
                Some(Some(branch.as_str()))
            }
            // It was another one before.
            GitStep::SwitchedTo(_) => Some(None),
            _ => None,
        });
        if let Some(folder) = step.moved_to.as_deref().filter(|_| !step.is_subagent) {
            shell = join(&shell, folder);
        }
        first
    });
    first.unwrap_or(session.branch).filter(|branch| is_branch(branch))
}

fn is_branch(name: &str) -> bool {
    !name.is_empty() && name != "HEAD" && !name.starts_with("detached")
}

impl Extractor {
    /// Says on which branch the session began.
    pub(super) fn starts_on_branch(&mut self, step: &Step, at: Timestamp) {
        let place = self.root.worktree("", ".");
        if let Some(branch) = self.branches.get(&place).cloned() {
            self.on_branch(step, &place, &branch, at);
        }
    }

    fn on_branch(&mut self, step: &Step, place: &str, branch: &str, at: Timestamp) {
        self.branches.insert(place.to_owned(), branch.to_owned());
        let claim = Claim::Value {
            subject: project(),
            relation: Relation::OnBranch,
            object: Some(Object::Entity(Entity::new(EntityKind::Branch, branch))),
            scope: place.to_owned(),
            note: String::new(),
        };
        self.open(step, at, &["branch", place], claim);
    }

    pub(super) fn git(&mut self, step: &Step, shell: &str, at: Timestamp) {
        // Another directory may be another repository.
        if step.git.is_empty() || !self.root.holds(shell, &step.git_folder) {
            return;
        }
        let place = self.root.worktree(shell, &step.git_folder);
        let folder = join(shell, &step.git_folder);
        for one in &step.git {
            match one {
                GitStep::OnBranch(branch) | GitStep::SwitchedTo(branch) => {
                    self.now_on(step, &place, branch, at);
                }
                GitStep::Added(paths) => self.added(paths, &folder),
                GitStep::Renamed(from, to) => self.renamed(step, from, to, at),
                GitStep::Committed { hash, branch, subject, closes, paths } => {
                    if let Some(branch) = branch {
                        self.now_on(step, &place, branch, at);
                    }
                    self.committed(step, hash, subject, (closes, paths), at);
                }
                GitStep::Merged(branch) => {
                    let Some(into) = self.branches.get(&place).cloned() else { continue };
                    let object = Object::Entity(Entity::new(EntityKind::Branch, into));
                    let subject = Entity::new(EntityKind::Branch, branch.as_str());
                    self.event(
                        step,
                        at,
                        &["merged", branch],
                        (subject, Relation::MergedInto, object),
                    );
                }
                GitStep::MergedPullRequest(number) => {
                    let number = number.to_string();
                    let subject = Entity::new(EntityKind::PullRequest, format!("#{number}"));
                    let object = Object::Value("merged".to_owned());
                    self.event(
                        step,
                        at,
                        &["merged", "#", &number],
                        (subject, Relation::MergedInto, object),
                    );
                }
            }
        }
    }

    fn now_on(&mut self, step: &Step, place: &str, branch: &str, at: Timestamp) {
        let is_known = self.branches.get(place).is_some_and(|known| known == branch);
        if !is_known && is_branch(branch) {
            self.on_branch(step, place, branch, at);
        }
    }

    fn added(&mut self, paths: &[String], folder: &str) {
        if paths.is_empty() {
            let changed = self.staged.changed.clone();
            return self.staged.add(changed);
        }
        for path in paths {
            let Some(named) = self.file(&join_path(folder, path)) else { continue };
            let below = format!("{}/", named.key);
            let changed = self.staged.changed.iter();
            let mut files: Vec<Entity> =
                changed.filter(|file| file.key.starts_with(&below)).cloned().collect();
            // What has an extension is no folder.
            let is_file = named.key.rsplit('/').next().is_some_and(|name| name.contains('.'));
            if files.is_empty() && is_file {
                files.push(named);
            }
            self.staged.add(files);
        }
    }

    fn renamed(&mut self, step: &Step, from: &str, to: &str, at: Timestamp) {
        let (Some(from), Some(to)) = (self.file(from), self.file(to)) else { return };
        // Into a folder, or with a pattern: the new path is not known.
        let has_extension =
            |file: &Entity| file.key.rsplit('/').next().is_some_and(|name| name.contains('.'));
        if from == to || has_extension(&from) && !has_extension(&to) {
            return;
        }
        let key = from.key.clone();
        self.event(step, at, &["renamed", &key], (from, Relation::RenamedTo, Object::Entity(to)));
    }

    fn committed(
        &mut self,
        step: &Step,
        hash: &str,
        subject: &str,
        (closes, paths): (&[u64], &[String]),
        at: Timestamp,
    ) {
        let short = hash.get(..HASH).unwrap_or(hash).to_lowercase();
        let commit =
            Entity::new(EntityKind::Commit, short.as_str()).named(format!("{short} {subject}"));
        for place in self.runs.committed() {
            if let Some(Claim::Run { commit: after, .. }) =
                self.openings.get_mut(place).map(|opening| &mut opening.claim)
            {
                *after = Some(Commit { commit: commit.clone(), passage: step.id, at });
            }
        }
        let key = ["commit", short.as_str()];
        let session = self.session.clone();
        self.event(step, at, &key, (session, Relation::Committed, Object::Entity(commit.clone())));
        let printed: Vec<Entity> = paths.iter().filter_map(|path| self.file(path)).collect();
        self.staged.add(printed);
        let files = std::mem::take(&mut self.staged.added);
        self.staged.changed.retain(|file| !files.contains(file));
        for file in files {
            self.event(step, at, &key, (commit.clone(), Relation::Touches, Object::Entity(file)));
        }
        for number in closes {
            let issue = Entity::new(EntityKind::Issue, format!("#{number}"));
            self.event(step, at, &key, (commit.clone(), Relation::Closes, Object::Entity(issue)));
        }
    }
}

/// Returns a path as a command names it, from the folder that the command runs in.
fn join_path(folder: &str, path: &str) -> String {
    match path.starts_with(['/', '~']) || folder.is_empty() {
        true => path.to_owned(),
        false => format!("{folder}/{path}"),
    }
}
