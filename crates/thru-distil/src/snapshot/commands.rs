//! Commands that work, and commands that failed and were abandoned.

use std::collections::HashMap;

use thru_core::{Id, Statement};

use super::recency;
use crate::checks::Status;
use crate::event::{Action, Event, Run};
use crate::text::{cut, one_line};

/// Most commands in a snapshot.
const MOST: usize = 30;

/// Most commands that are tracked.
const FOLLOWED: usize = 10_000;

/// Most failed commands.
const FAILED: usize = 6;

/// Passages after which a run counts half.
const HALF_LIFE: f64 = 120.0;

/// Lowest weight of a command that ever ran, however long ago.
const EVER: f64 = 0.3;

/// Commands with the frequency and recency of their runs.
#[derive(Debug, Default)]
pub(super) struct Commands {
    known: HashMap<u64, Known>,
    /// Calls the person declined, in the person's words.
    declined: Vec<Statement>,
}

#[derive(Debug)]
struct Known {
    shown: String,
    id: Id,
    uses: Vec<usize>,
    last: usize,
    /// The reason for its failure, if it failed last.
    failure: Option<Option<String>>,
    has_worked: bool,
}

impl Commands {
    /// Adds the events of a passage.
    pub(super) fn add(&mut self, place: usize, event: &Event) {
        match &event.action {
            Action::Declined(declined) => {
                self.declined.push(Statement {
                    text: format!("The user declined: \"{}\"", cut(&declined.words, 200)),
                    sources: vec![event.id],
                });
                if self.declined.len() > FAILED {
                    self.declined.remove(0);
                }
            }
            Action::Ran(run)
                if !run.is_looking && !is_everyday(run) && self.known.len() < FOLLOWED =>
            {
                let known = self.known.entry(run.key).or_insert_with(|| Known {
                    shown: String::new(),
                    id: event.id,
                    uses: Vec::new(),
                    last: place,
                    failure: None,
                    has_worked: false,
                });
                known.uses.push(place);
                known.last = place;
                known.shown.clone_from(&run.shown);
                match &run.status {
                    Status::Green => {
                        known.id = event.id;
                        known.has_worked = true;
                        known.failure = None;
                    }
                    Status::Red(line) => {
                        known.id = if known.has_worked { known.id } else { event.id };
                        known.failure = Some(line.clone());
                    }
                    Status::Unknown => {}
                }
            }
            _ => {}
        }
    }

    /// Returns the commands that worked, the most useful first, and the failures, the latest first.
    pub(super) fn finish(self, end: usize) -> (Vec<Statement>, Vec<Statement>) {
        let mut known: Vec<Known> = self.known.into_values().collect();
        known.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.shown.cmp(&b.shown)));
        let mut failed: Vec<Statement> = self.declined.into_iter().rev().collect();
        let given_up = known.iter().filter(|one| !one.has_worked && !one.shown.is_empty());
        failed.extend(given_up.filter_map(|one| {
            let why = one.failure.as_ref()?;
            let why = why.as_ref().map_or_else(String::new, |why| format!(": {}", cut(why, 120)));
            let text = one_line(&format!("`{}` failed{why}", one.shown), 260);
            Some(Statement { text, sources: vec![one.id] })
        }));
        failed.truncate(FAILED);
        let mut worked: Vec<(f64, Known)> = known
            .into_iter()
            // A command left running in the background is not known to have failed.
            .filter(|one| one.has_worked || one.failure.is_none())
            // A one-off command line is of no use later.
            .filter(|one| one.uses.len() > 1 || !is_makeshift(&one.shown))
            .map(|one| (value(&one, end), one))
            .collect();
        worked.sort_by(|a, b| b.0.total_cmp(&a.0));
        worked.truncate(MOST);
        let worked = worked
            .into_iter()
            .map(|(_, one)| Statement { text: one.shown, sources: vec![one.id] })
            .collect();
        (worked, failed)
    }
}

/// Returns true if every agent knows the command in every project.
fn is_everyday(run: &Run) -> bool {
    const EVERYDAY: &[&str] = &[
        "git add",
        "git commit",
        "git status",
        "git diff",
        "git log",
        "git show",
        "git push",
        "git pull",
        "git fetch",
        "git branch",
        "git checkout",
        "git switch",
        "git stash",
        "git restore",
        "git rev-parse",
        "git ls-files",
        "git remote",
        "git blame",
        "mkdir",
        "rm",
        "rmdir",
        "cp",
        "mv",
        "touch",
        "chmod",
        "kill",
        "pkill",
        "pgrep",
        "git merge-base",
        "git",
    ];
    EVERYDAY.contains(&run.family.as_str()) && run.commits.is_empty()
        || run.family.starts_with("git commit")
        || run.family.starts_with("git add")
}

/// Returns true if a command line is a small program of its own.
fn is_makeshift(shown: &str) -> bool {
    const SIGNS: [&str; 6] = ["$(", " -c \"", " -e \"", "; do ", "for ", "while "];
    SIGNS.iter().any(|sign| shown.contains(sign)) || shown.ends_with('…')
}

fn value(one: &Known, end: usize) -> f64 {
    one.uses.iter().map(|place| EVER + recency(*place, end, HALF_LIFE)).sum()
}
