//! Changes that a session took back: what `git restore` and its like undid is not left in the tree.

use thru_core::{Outcome, Timestamp};
use thru_store::PassageRow;

use super::typed::Typed;

/// A command that took changes back.
struct Undoing {
    at: Option<Timestamp>,
    /// The paths as they were typed; empty for everything.
    paths: Vec<String>,
    is_stash: bool,
}

/// The commands of a session that took changes back, and that no later one brought back.
pub(super) struct TakenBack(Vec<Undoing>);

impl TakenBack {
    /// Reads them from the calls of a session, the newest first.
    pub(super) fn by(calls: &[PassageRow]) -> Self {
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
    pub(super) fn holds(&self, file: &str, changed: Option<Timestamp>) -> bool {
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
