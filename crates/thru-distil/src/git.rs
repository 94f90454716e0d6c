//! What git did in a call of a shell, as its words and its output show it.

use crate::commits::{self, Commit};
use crate::shell::{CommandLine, Simple};

/// Most paths that one call of git names.
const PATHS: usize = 100;

/// Most lines of an output that are looked at for a branch.
const LINES: usize = 200;

/// A step of git, or of the tools of a forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitStep {
    /// This branch is checked out, and may have been before.
    OnBranch(String),
    /// This branch was checked out instead of another.
    SwitchedTo(String),
    /// These paths were added to the next commit; empty means all that changed.
    Added(Vec<String>),
    /// A file was renamed.
    Renamed(String, String),
    /// A commit was made.
    Committed {
        /// Its short hash.
        hash: String,
        /// Its branch, if git told it.
        branch: Option<String>,
        /// The first line of its message.
        subject: String,
        /// The issues that its message closes.
        closes: Vec<u64>,
        /// Paths that git printed with it.
        paths: Vec<String>,
    },
    /// A branch was merged into the one that is checked out.
    Merged(String),
    /// A pull request was merged.
    MergedPullRequest(u64),
}

/// Returns the words of a command of git, from the subcommand on.
pub(crate) fn words(command: &Simple) -> Option<Vec<&str>> {
    // Some put a proxy before it.
    let at = command.words.iter().take(2).position(|word| word == "git")?;
    if command.is_looking() {
        return None;
    }
    let mut words = command.words.iter().skip(at + 1).map(String::as_str).peekable();
    while let Some(word) = words.next_if(|word| word.starts_with('-')) {
        // Another folder may be another repository.
        if word == "-C" || word.starts_with("--git-dir") {
            return None;
        }
        if word == "-c" {
            words.next();
        }
    }
    Some(words.collect())
}

/// Returns what git did in a line.
pub(crate) fn steps(
    line: &CommandLine,
    result: &str,
    is_done: bool,
    mut printed: Vec<Commit>,
) -> Vec<GitStep> {
    let mut steps = Vec::new();
    let mut paths = commits::printed_paths(result);
    for words in line.commands.iter().filter_map(words) {
        let plain =
            || words.iter().skip(1).filter(|word| !word.starts_with('-')).copied().take(PATHS);
        match words.first().copied().unwrap_or_default() {
            "add" | "stage" if is_done || !printed.is_empty() => {
                let named: Vec<String> = plain().map(str::to_owned).collect();
                let is_all = words.iter().any(|word| matches!(*word, "-A" | "--all" | "-u" | "."));
                steps.push(GitStep::Added(if is_all { Vec::new() } else { named }));
            }
            "mv" if is_done => {
                if let [from, to] = plain().collect::<Vec<_>>()[..] {
                    steps.push(GitStep::Renamed(from.to_owned(), to.to_owned()));
                }
            }
            "commit" if !printed.is_empty() => {
                if commits::has_flag(&words, 'a', "--all") {
                    steps.push(GitStep::Added(Vec::new()));
                }
                let Commit { hash, branch, subject, closes, .. } = printed.remove(0);
                let Some(hash) = hash else { continue };
                let (renamed, paths) = std::mem::take(&mut paths);
                steps.extend(renamed.into_iter().map(|(from, to)| GitStep::Renamed(from, to)));
                steps.push(GitStep::Committed { hash, branch, subject, closes, paths });
            }
            "merge" if is_done && merges(result) => {
                let named = plain().next().filter(|name| !name.contains(['$', '~', '^']));
                let name = named.map(|name| name.trim_start_matches("origin/"));
                steps.extend(name.map(|name| GitStep::Merged(name.to_owned())));
            }
            "checkout" | "switch" => {
                let printed = result.lines().take(LINES).filter_map(switched_to);
                let made = || {
                    let at =
                        words.iter().position(|word| matches!(*word, "-b" | "-c" | "-B" | "-C"))?;
                    words.get(at + 1).filter(|_| is_done).copied()
                };
                let branch = printed.last().or_else(made).filter(|name| is_branch(name));
                steps.extend(branch.map(|name| GitStep::SwitchedTo(name.to_owned())));
            }
            "status" => {
                let is_short = words.iter().any(|word| matches!(*word, "-b" | "--branch" | "-sb"));
                let branch = status_branch(result, is_short).filter(|name| is_branch(name));
                steps.extend(branch.map(|name| GitStep::OnBranch(name.to_owned())));
            }
            "rebase" if is_done => {
                let branch = result.lines().take(LINES).find_map(rebased);
                let branch = branch.filter(|name| is_branch(name));
                steps.extend(branch.map(|name| GitStep::OnBranch(name.to_owned())));
            }
            _ => {}
        }
    }
    steps
}

/// Returns the branch that git says it checked out.
fn switched_to(line: &str) -> Option<&str> {
    const STARTS: [&str; 4] = [
        "Switched to branch '",
        "Switched to a new branch '",
        "Already on '",
        "Switched to and reset branch '",
    ];
    STARTS.iter().find_map(|start| line.trim().strip_prefix(start)?.strip_suffix('\''))
}

/// Returns the branch in the head of a status: `On branch fix/pump`, and `## fix/pump...origin/fix/pump` in a short one.
fn status_branch(result: &str, is_short: bool) -> Option<&str> {
    let first = result.lines().next()?;
    if let Some(branch) = first.strip_prefix("On branch ") {
        return Some(branch);
    }
    if !is_short {
        return None;
    }
    // Other commands of the line may print headings.
    let mut heads = result.lines().take(LINES).filter_map(|line| line.strip_prefix("## "));
    let with_remote = heads.find_map(|head| Some(head.split_once("...")?.0));
    with_remote.or_else(|| first.strip_prefix("## "))
}

/// Returns the branch that git says it rebased.
fn rebased(line: &str) -> Option<&str> {
    // Progress is overwritten within the line.
    let (_, rest) = line.split_once("Successfully rebased and updated refs/heads/")?;
    rest.trim_end().strip_suffix('.')
}

fn is_branch(name: &str) -> bool {
    !name.is_empty()
        && name.len() < 120
        && !name.starts_with('-')
        && !name.contains(['$', ' ', '~', '^', ':', '\'', '"'])
}

fn merges(result: &str) -> bool {
    result
        .lines()
        .take(LINES)
        .any(|line| line.starts_with("Merge made by") || line == "Fast-forward")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    fn done(command: &str, result: &str) -> Vec<GitStep> {
        let line = shell::parse(command);
        steps(&line, result, true, commits::parse(&line, result))
    }

    #[test]
    fn commits_renames_and_merges_are_read() {
        assert_eq!(
            done(
                "git add src/a.rs && git commit -m 'Melt\n\nCloses #7'",
                "[main abc1234] Melt\n 2 files changed\n create mode 100644 src/b.rs\n rename src/{c.rs => d.rs} (90%)"
            ),
            [
                GitStep::Added(vec!["src/a.rs".to_owned()]),
                GitStep::Renamed("src/c.rs".to_owned(), "src/d.rs".to_owned()),
                GitStep::Committed {
                    hash: "abc1234".to_owned(),
                    branch: Some("main".to_owned()),
                    subject: "Melt".to_owned(),
                    closes: vec![7],
                    paths: vec!["src/b.rs".to_owned(), "src/d.rs".to_owned()],
                },
            ]
        );
        assert_eq!(
            done("git mv a.rs b.rs", ""),
            [GitStep::Renamed("a.rs".to_owned(), "b.rs".to_owned())]
        );
        assert_eq!(
            done("git merge fix/kiln", "Updating a..b\nFast-forward"),
            [GitStep::Merged("fix/kiln".to_owned())]
        );
        assert_eq!(done("git merge fix/kiln", "Already up to date."), []);
        assert_eq!(done("git -C ../other commit -m x", "[main abc1234] x"), []);
    }

    #[test]
    fn the_branch_is_read_where_git_tells_it() {
        let on = |name: &str| vec![GitStep::OnBranch(name.to_owned())];
        for (command, result, expected) in [
            (
                "git checkout -b fix/kiln",
                "Switched to a new branch 'fix/kiln'",
                vec![GitStep::SwitchedTo("fix/kiln".to_owned())],
            ),
            ("git status", "On branch fix/kiln\nnothing to commit", on("fix/kiln")),
            ("git status -sb", "## fix/kiln", on("fix/kiln")),
            (
                "cat a.md && git status --short --branch",
                "## Use\n## main...origin/main",
                on("main"),
            ),
            ("cat a.md && git status --short --branch", "# Use\n## Glazes", vec![]),
            ("git status -sb", "## HEAD (no branch)", vec![]),
            (
                "git rebase origin/main",
                "Rebasing (1/1)\rSuccessfully rebased and updated refs/heads/fix/kiln.",
                on("fix/kiln"),
            ),
        ] {
            assert_eq!(done(command, result), expected, "{command}: {result}");
        }
    }
}
