//! What commands do to changes that no commit holds.

use crate::shell::git_order;

/// Most paths of a command that are looked at.
const PATHS: usize = 40;

/// The files that a command is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Paths {
    /// All files of the folder.
    All,
    /// The files of these paths as they were typed, and those below them.
    These(Vec<String>),
}

impl Paths {
    /// Reads the arguments of a command, apart from its options. `None` if it is given no path.
    pub fn of(words: &[String]) -> Option<Self> {
        let paths = words.iter().filter(|word| !word.starts_with('-')).take(PATHS);
        let paths: Vec<String> = paths.cloned().collect();
        let is_all = |path: &String| matches!(path.as_str(), "." | "./" | ":/" | "*" | ":");
        match paths.iter().any(is_all) {
            true => Some(Self::All),
            false if paths.is_empty() => None,
            false => Some(Self::These(paths)),
        }
    }

    /// True for a file that one of the paths names, or that lies below it. Either may be typed from another folder than
    /// the other.
    pub fn hold(&self, file: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(paths) => paths.iter().any(|path| is_at(file, path)),
        }
    }
}

fn is_at(file: &str, path: &str) -> bool {
    let path = path.trim_start_matches("./").trim_end_matches(['/', '*']);
    let file = file.trim_start_matches("./");
    let ends = |longer: &str, shorter: &str| {
        longer.strip_suffix(shorter).is_some_and(|before| before.ends_with('/'))
    };
    let is_below = || {
        file.split_once(&format!("{path}/"))
            .is_some_and(|(before, _)| before.is_empty() || before.ends_with('/'))
    };
    !path.is_empty() && (file == path || ends(file, path) || ends(path, file) || is_below())
}

/// What a command does to changes that no commit holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undoing {
    /// Takes back the changes of files that git knows.
    Restores(Paths),
    /// Puts changes aside.
    Stashes(Paths),
    /// Brings back what was put aside.
    Returns,
}

impl Undoing {
    /// Reads the words of one command, the program first.
    pub fn of(words: &[String]) -> Option<Self> {
        let (program, rest) = words.split_first()?;
        let (order, rest) =
            git_order(rest).filter(|_| program.rsplit('/').next() == Some("git"))?;
        Self::of_git(order, rest)
    }

    fn of_git(order: &str, rest: &[String]) -> Option<Self> {
        let has = |options: &[&str]| rest.iter().any(|word| options.contains(&word.as_str()));
        let mark = rest.iter().position(|word| word == "--");
        let marked = mark.map(|at| &rest[at + 1..]);
        match order {
            "checkout" => match marked {
                Some(paths) => Paths::of(paths),
                None if has(&["-b", "-B", "--orphan", "--track", "-t", "--detach"]) => None,
                // Without a mark, a word may be the name of a branch.
                None => Paths::of(&files_among(rest)),
            }
            .map(Self::Restores),
            "restore" if has(&["--staged", "-S"]) && !has(&["--worktree", "-W"]) => None,
            "restore" => Paths::of(&without_values(rest, &["-s", "--source"])).map(Self::Restores),
            "reset" => has(&["--hard"]).then_some(Self::Restores(Paths::All)),
            "stash" => match rest.first().map(String::as_str) {
                Some("pop" | "apply") => Some(Self::Returns),
                Some("push") => {
                    let paths = without_values(&rest[1..], &["-m", "--message"]);
                    Some(Self::Stashes(Paths::of(marked.unwrap_or(&paths)).unwrap_or(Paths::All)))
                }
                // A word behind `save` is its message.
                None | Some("save") => Some(Self::Stashes(Paths::All)),
                Some(option) if option.starts_with('-') => {
                    let paths = marked.and_then(Paths::of);
                    Some(Self::Stashes(paths.unwrap_or(Paths::All)))
                }
                Some(_) => None,
            },
            _ => None,
        }
    }
}

/// The words that name a file by its ending, and the folder itself.
fn files_among(words: &[String]) -> Vec<String> {
    let is_file = |word: &&String| {
        let ending = word.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
        let is_ending = |ending: &str| {
            (1..=5).contains(&ending.len()) && ending.starts_with(|c: char| c.is_ascii_lowercase())
        };
        word.as_str() == "." || ending.is_some_and(|(_, ending)| is_ending(ending))
    };
    words.iter().filter(is_file).cloned().collect()
}

/// The words without those that belong to an option.
fn without_values(words: &[String], options: &[&str]) -> Vec<String> {
    let mut is_value = false;
    let is_own =
        |word: &&String| !std::mem::replace(&mut is_value, options.contains(&word.as_str()));
    words.iter().filter(is_own).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell_commands;

    #[test]
    fn commands_that_take_changes_back_are_known() {
        use Undoing::{Restores, Returns, Stashes};
        let these =
            |paths: &[&str]| Paths::These(paths.iter().map(|path| (*path).to_owned()).collect());
        for (line, undoing) in [
            ("git checkout -- src/a.rs b.rs", Some(Restores(these(&["src/a.rs", "b.rs"])))),
            ("git checkout HEAD~1 -- src docs", Some(Restores(these(&["src", "docs"])))),
            ("git checkout src/a.rs", Some(Restores(these(&["src/a.rs"])))),
            ("git checkout .", Some(Restores(Paths::All))),
            ("git checkout main", None),
            ("git checkout release-1.2", None),
            ("git checkout -b fix/kiln.rs", None),
            ("git -C /p restore src/a.rs", Some(Restores(these(&["src/a.rs"])))),
            ("git restore -s HEAD~1 a.rs", Some(Restores(these(&["a.rs"])))),
            ("git restore .", Some(Restores(Paths::All))),
            ("git restore --staged a.rs", None),
            ("git restore -S -W a.rs", Some(Restores(these(&["a.rs"])))),
            ("git reset --hard HEAD~1", Some(Restores(Paths::All))),
            ("git reset a.rs", None),
            ("git stash", Some(Stashes(Paths::All))),
            ("git stash -u", Some(Stashes(Paths::All))),
            ("git stash push -m kiln", Some(Stashes(Paths::All))),
            ("git stash push -m kiln -- a.rs", Some(Stashes(these(&["a.rs"])))),
            ("git stash push a.rs", Some(Stashes(these(&["a.rs"])))),
            ("git stash save half a kiln", Some(Stashes(Paths::All))),
            ("git stash pop", Some(Returns)),
            ("git stash list", None),
            ("git clean", None),
            ("git status", None),
            ("echo git stash", None),
        ] {
            assert_eq!(Undoing::of(&shell_commands(line)[0].words), undoing, "{line}");
        }
    }

    #[test]
    fn paths_hold_files_by_their_ends() {
        let paths = |path: &str| Paths::These(vec![path.to_owned()]);
        for (path, file, holds) in [
            ("src/a.rs", "/p/src/a.rs", true),
            ("./src/", "/p/src/a.rs", true),
            ("/p/src/a.rs", "src/a.rs", true),
            ("docs", "docs/kiln.md", true),
            ("a.rs", "/p/src/aa.rs", false),
            ("src", "/p/src2/a.rs", false),
            ("", "a.rs", false),
        ] {
            assert_eq!(paths(path).hold(file), holds, "{path} {file}");
        }
        assert!(Paths::All.hold("a.rs"));
    }
}
