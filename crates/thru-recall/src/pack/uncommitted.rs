//! Changes that a session left uncommitted: what `git restore` and its like undid is not left in the tree.

use std::collections::HashMap;

use thru_core::{Digest, Outcome, PassageKind, Timestamp};
use thru_store::{Newest, PassageRow, Result, Store};

use super::said::files_not_named;
use super::sessions::{Digested, UNCOMMITTED};
use super::typed::Typed;
use super::valued::Valued;
use crate::action::from_directory;

/// The files that a session changed and left so, if it committed nothing that is known.
pub(super) fn not_committed(
    store: &Store,
    (summary, body): &Digested<'_>,
    observations: &[Valued],
) -> Result<Option<String>> {
    const LOOKED_AT: usize = 250;
    let Digest { state, files, next_steps, .. } = &body.digest;
    let is_told = |text: &str| text.to_lowercase().contains("not committed");
    let has_landed = state.as_ref().is_some_and(|state| !state.text.ends_with(UNCOMMITTED));
    let (Some(session), false) = (summary.session, has_landed) else { return Ok(None) };
    if files.is_empty() || next_steps.iter().any(|step| is_told(&step.text)) {
        return Ok(None);
    }
    let place = store.places_of_sessions(&[session])?.remove(&session).unwrap_or_default();
    let kind = Some(PassageKind::Tool);
    let calls =
        store.newest_passages(session, Newest { kind, within: LOOKED_AT, limit: LOOKED_AT })?;
    // A script may have committed, or one in the background.
    let commits = |line: &str| line.split([' ', '\n']).any(|word| word == "commit");
    if calls.iter().filter_map(|call| call.command.as_deref()).any(commits) {
        return Ok(None);
    }
    let own = observations.iter().filter(|one| one.memory.session == summary.session);
    let mut changed: HashMap<&str, Option<Timestamp>> = HashMap::new();
    for file in own.flat_map(|one| &one.files).filter(|file| file.modified) {
        let latest = changed.entry(&file.path).or_default();
        *latest = (*latest).max(file.at);
    }
    let taken_back = TakenBack::by(&calls);
    // Not what git is mostly told to ignore: temporary files, and what tools keep for themselves.
    let is_aside = |path: &str| {
        path.starts_with(['~', '$'])
            || path.starts_with("/tmp/")
            || path.split('/').any(|part| part.starts_with('.') && part.len() > 2)
    };
    let files = files.iter().filter_map(|whole| {
        let path = from_directory(whole, place.directory.as_deref());
        let changed = changed.get(whole.as_str()).copied().flatten();
        (!is_aside(path) && !taken_back.holds(path, changed)).then_some(path)
    });
    let files: Vec<&str> = files.collect();
    let more = if files.len() > 3 { " and others" } else { "" };
    let names = files_not_named(files.iter().copied(), "");
    Ok(names.map(|names| format!("Not committed when it ended: {names}{more}")))
}

/// A command that took changes back.
struct Undoing {
    at: Option<Timestamp>,
    /// The paths as they were typed; empty for everything.
    paths: Vec<String>,
    is_stash: bool,
}

/// The commands of a session that took changes back, and that no later one brought back.
struct TakenBack(Vec<Undoing>);

impl TakenBack {
    /// Reads them from the calls of a session, the newest first.
    fn by(calls: &[PassageRow]) -> Self {
        let mut undoings: Vec<Undoing> = Vec::new();
        for call in calls.iter().rev().filter(|call| call.outcome != Some(Outcome::Failed)) {
            for typed in call.command.iter().flat_map(|line| Typed::of_line(line)) {
                if brings_back(&typed) {
                    undoings.retain(|undoing| !undoing.is_stash);
                }
                undoings.extend(paths(&typed).map(|paths| Undoing {
                    at: call.at,
                    paths,
                    is_stash: typed.of_git().is_some_and(|(order, _)| order == "stash"),
                }));
            }
        }
        Self(undoings)
    }

    /// True for a file that was taken back after its last change.
    fn holds(&self, file: &str, changed: Option<Timestamp>) -> bool {
        let ends = |longer: &str, shorter: &str| {
            let rest = longer.strip_suffix(shorter);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let is_of = |path: &String| {
            let path = path.trim_start_matches("./").trim_end_matches('/');
            let is_below = file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
            matches!(path, "." | "*") || is_below || ends(file, path) || ends(path, file)
        };
        self.0.iter().any(|undoing| {
            let is_later = undoing.at.is_none() || changed.is_none() || undoing.at >= changed;
            is_later && (undoing.paths.is_empty() || undoing.paths.iter().any(is_of))
        })
    }
}

/// Returns the paths that a command takes back or removes, none for all; `None` for a command that does neither.
fn paths(typed: &Typed) -> Option<Vec<String>> {
    let named = |words: &[String]| {
        words.iter().filter(|word| !word.starts_with('-')).cloned().collect::<Vec<_>>()
    };
    let has = |words: &[String], options: &[&str]| {
        words.iter().any(|word| options.contains(&word.as_str()))
    };
    if typed.program() == "rm" {
        return Some(named(&typed.words[1..])).filter(|paths| !paths.is_empty());
    }
    let (order, rest) = typed.of_git()?;
    match order {
        // Without a mark, a word may be the name of a branch.
        "checkout" => {
            let is_file = |path: &String| path.contains('.') || has(rest, &["--"]);
            Some(named(rest).into_iter().filter(is_file).collect())
                .filter(|paths: &Vec<String>| !paths.is_empty())
        }
        "rm" => Some(named(rest)).filter(|paths| !paths.is_empty()),
        "restore" if has(rest, &["--staged", "-S"]) && !has(rest, &["--worktree", "-W"]) => None,
        "restore" => Some(named(rest)).filter(|paths| !paths.is_empty()),
        "reset" => has(rest, &["--hard"]).then(Vec::new),
        "clean" => {
            let is_forced = |word: &String| {
                word == "--force"
                    || word.starts_with('-') && !word.starts_with("--") && word.contains('f')
            };
            rest.iter().any(is_forced).then(Vec::new)
        }
        "stash" => match rest.first().map(String::as_str) {
            Some("push" | "save") => {
                let paths = rest.iter().skip_while(|word| *word != "--").skip(1);
                Some(paths.cloned().collect())
            }
            None => Some(Vec::new()),
            Some(option) => option.starts_with('-').then(Vec::new),
        },
        _ => None,
    }
}

fn brings_back(typed: &Typed) -> bool {
    let first = |rest: &[String]| rest.first().cloned().unwrap_or_default();
    typed.of_git().is_some_and(|(order, rest)| {
        order == "stash" && matches!(first(rest).as_str(), "pop" | "apply")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<Vec<String>> {
        Typed::of_line(line).iter().find_map(paths)
    }

    #[test]
    fn commands_that_take_changes_back_are_known() {
        for (line, paths) in [
            ("git checkout -- src/a.rs b.rs", Some(vec!["src/a.rs", "b.rs"])),
            ("cd /p && git restore .", Some(vec!["."])),
            ("git restore --staged a.rs", None),
            ("git reset --hard HEAD~1", Some(vec![])),
            ("git reset a.rs", None),
            ("git stash -u", Some(vec![])),
            ("git stash list", None),
            ("git stash push -m x -- a.rs", Some(vec!["a.rs"])),
            ("git clean -fd", Some(vec![])),
            ("git clean -n", None),
            ("rm -f a.rs", Some(vec!["a.rs"])),
            ("git checkout main", None),
            ("git checkout -b fix/kiln", None),
            ("git status", None),
        ] {
            let paths = paths.map(|paths| paths.into_iter().map(str::to_owned).collect());
            assert_eq!(of(line), paths, "{line}");
        }
        assert!(brings_back(&Typed::of_line("git stash pop")[0]));
    }

    #[test]
    fn a_file_counts_as_taken_back_until_it_changes_again() {
        let at = |hour: i64| Timestamp::from_second(hour * 3_600).ok();
        let undoing = |paths: &[&str]| Undoing {
            at: at(2),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            is_stash: false,
        };
        let one = TakenBack(vec![undoing(&["./src/a.rs", "docs/"])]);
        assert!(one.holds("src/a.rs", at(1)) && one.holds("docs/kiln.md", at(1)));
        assert!(!one.holds("src/a.rs", at(3)) && !one.holds("src/ba.rs", at(1)));
        assert!(TakenBack(vec![undoing(&[])]).holds("src/b.rs", None));
    }
}
