//! Checks: how they ended, and what happened since they last ran.

use std::collections::{HashMap, HashSet};

use thru_core::{Entity, EntityKind, Timestamp};
use thru_distil::{CheckRun, Failure, Step};

use super::Extractor;
use crate::opening::{Claim, Problem};

/// Most edits that are kept between two runs: the latest.
const EDITS: usize = 12;

/// A command in a folder.
type RunKey = (String, String);

/// The runs of a session so far.
#[derive(Default)]
pub(super) struct Runs {
    /// Edits and acts before the last run of each command.
    before: HashMap<RunKey, (usize, usize)>,
    /// Runs that passed and were not followed by one that failed: the same again says nothing new.
    green: HashMap<RunKey, HashSet<(String, String)>>,
    /// Openings of runs that passed since the last commit, with their commands.
    uncommitted: Vec<(RunKey, usize)>,
}

impl Runs {
    /// Returns the openings of runs whose work goes into a commit.
    pub(super) fn committed(&mut self) -> impl Iterator<Item = usize> {
        std::mem::take(&mut self.uncommitted).into_iter().map(|(_, place)| place)
    }
}

/// True for a check that looks at the same wherever in its repository it runs: `pnpm --filter web build`.
fn names_package(check: &CheckRun) -> bool {
    check.command.starts_with("pnpm ")
        && check.filter.split(' ').any(|word| matches!(word, "--filter" | "-F"))
}

impl Extractor {
    pub(super) fn check(&mut self, step: &Step, check: &CheckRun, shell: &str, at: Timestamp) {
        let folder = match names_package(check) {
            true => String::new(),
            false => self.root.folder(shell, &check.folder),
        };
        let place = self.root.worktree(shell, &check.folder);
        let branch = self.branches.get(&place).cloned().unwrap_or_default();
        let key = (check.command.clone(), folder.clone());
        let (edits, acts) = self.runs.before.get(&key).copied().unwrap_or_default();
        let acted = check.is_prepared || self.acts > acts;
        // What it makes is news to other checks, not to itself.
        self.acts += usize::from(check.makes);
        self.runs.before.insert(key.clone(), (self.edits.len(), self.acts));
        if check.passed {
            let what = (branch.clone(), check.filter.clone());
            if !self.runs.green.entry(key.clone()).or_default().insert(what) {
                return;
            }
            self.runs.uncommitted.push((key, self.openings.len()));
        } else {
            self.runs.green.remove(&key);
            self.runs.uncommitted.retain(|(known, _)| *known != key);
        }
        let from = edits.max(self.edits.len().saturating_sub(EDITS));
        let failures = check.failures.iter();
        let failures = failures.map(|one| self.problem(one, &check.command, shell, &check.folder));
        let claim = Claim::Run {
            command: Entity::new(EntityKind::Command, check.command.clone()),
            branch,
            filter: check.filter.clone(),
            passed: check.passed,
            failures: failures.collect(),
            is_whole: check.is_whole,
            edits: self.edits[from..].to_vec(),
            acted,
            commit: None,
            folder: folder.clone(),
        };
        self.open(step, at, &["run", &check.command, &folder], claim);
    }

    /// Returns the test or the error that a check failed with. The same message in another file is another error.
    fn problem(&self, failure: &Failure, command: &str, shell: &str, folder: &str) -> Problem {
        let file = failure.file.as_deref().and_then(|file| {
            let folder = self.root.folder(shell, folder);
            let is_whole = file.starts_with('/') || folder.is_empty();
            self.root.key(&if is_whole { file.to_owned() } else { format!("{folder}/{file}") })
        });
        let kind = if failure.is_test { EntityKind::Test } else { EntityKind::Error };
        let key = match &file {
            Some(file) if !failure.is_test && !failure.key.contains(file.as_str()) => {
                format!("{} ({file})", failure.key)
            }
            Some(_) => failure.key.clone(),
            None if failure.is_test => failure.key.clone(),
            // Any program may say so.
            None => format!("{} ({command})", failure.key),
        };
        Problem { entity: Entity::new(kind, key), file }
    }
}
