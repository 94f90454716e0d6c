//! The identity of a project, shared by all its sessions.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ForeignSource;

/// The identity of a project: stable text of the form `scheme:value`.
///
/// `remote:github.com/owner/name` for a git remote, `git:/path/to/.git` for a repository without one,
/// `dir:/path` for a directory outside git, `name:chosen` if set in `.throughline.toml`, `own:/path` for a directory that names a
/// repository elsewhere which does not know it,
/// `claude-mem:name` for a project that only imported memories name.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize,
)]
#[serde(transparent)]
pub struct ProjectKey(String);

impl ProjectKey {
    /// Returns the key of a repository with this normalised remote.
    pub fn remote(normalised: &str) -> Self {
        Self(format!("remote:{normalised}"))
    }

    /// Returns the key of a repository without a remote, by its common directory.
    pub fn repository(common_dir: &str) -> Self {
        Self(format!("git:{common_dir}"))
    }

    /// Returns the key of a directory outside git.
    pub fn directory(path: &str) -> Self {
        Self(format!("dir:{path}"))
    }

    /// Returns the key for a name that the user chose.
    pub fn named(name: &str) -> Self {
        Self(format!("name:{name}"))
    }

    /// Returns the key of a directory that is kept apart from the project it may look like.
    pub fn own(path: &str) -> Self {
        Self(format!("own:{path}"))
    }

    /// Returns the key of a project of another program, known by no more than the name that it has there. No directory
    /// joins it by itself.
    pub fn foreign(source: ForeignSource, name: &str) -> Self {
        Self(format!("{source}:{name}"))
    }

    /// Returns true for the key of a project of another program.
    pub fn is_foreign(&self) -> bool {
        self.0.split_once(':').is_some_and(|(scheme, _)| scheme.parse::<ForeignSource>().is_ok())
    }

    /// Wraps a key read from the store.
    pub fn from_stored(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the directory, if this is the key of one outside git.
    pub fn outside_git(&self) -> Option<&str> {
        self.0.strip_prefix("dir:")
    }

    /// Returns a short name for people: the last part of the path, or the chosen name.
    pub fn default_name(&self) -> &str {
        let value = self.0.split_once(':').map_or(self.0.as_str(), |(_, value)| value);
        let value = value.strip_suffix("/.git").unwrap_or(value);
        value.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or("(root)")
    }
}

impl fmt::Display for ProjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Endings of the names of folders that hold the worktrees of the repository beside them, `rocket__worktrees` say.
const BESIDE: [&str; 4] = ["__worktrees", ".worktrees", "-worktrees", "_worktrees"];

/// Returns the repository whose worktree a path is in, as far as the path itself says: `/p/rocket` for
/// `/p/rocket/.worktrees/x`, `/p/rocket/.claude/worktrees/x` and `/p/rocket__worktrees/x`, and below them.
pub fn worktree_root(path: &str) -> Option<&str> {
    let mut before = Part::default();
    for part in parts(path).filter(|part| part.end < path.len()) {
        let root = match part.name {
            ".worktrees" | ".trees" => Some(before.end),
            "worktrees" if is_hidden(before.name) => Some(before.start),
            name => BESIDE.iter().find_map(|ending| {
                let name = name.strip_suffix(ending)?;
                (!name.is_empty()).then_some(part.start + name.len())
            }),
        };
        if let Some(root) = root {
            let root = path[..root].trim_end_matches(['/', '\\']);
            return (!holds_projects(root)).then_some(root);
        }
        before = part;
    }
    None
}

/// Returns the names that a folder of the worktrees of several repositories gives to one of them: both parts after
/// `worktrees`, of which one is the repository and the other the branch or a number.
pub fn worktree_names(path: &str) -> impl Iterator<Item = &str> {
    let is_folder = |part: &Part<'_>| matches!(part.name, "worktrees" | ".worktrees");
    parts(path).skip_while(move |part| !is_folder(part)).skip(1).take(2).map(|part| part.name)
}

/// Returns true for a branch whose name says nothing about the work on it.
pub fn is_trunk(branch: &str) -> bool {
    ["main", "master", "trunk", "develop", "HEAD"].contains(&branch)
}

/// True for a directory that is no project of its own although an agent may have worked there: the root, a home
/// directory, or a folder of temporary files.
pub fn holds_projects(path: &str) -> bool {
    let names: Vec<&str> =
        parts(path).map(|part| part.name).filter(|name| !name.ends_with(':')).collect();
    match names[..] {
        [] | ["root" | "tmp" | "home" | "Users" | "private" | "var" | "mnt" | "opt"] => true,
        ["private", "tmp"] => true,
        [.., folder, _] => matches!(folder, "home" | "Users"),
        _ => false,
    }
}

fn is_hidden(name: &str) -> bool {
    name.len() > 1 && name.starts_with('.')
}

/// A part of a path, and its place there.
#[derive(Clone, Copy, Default)]
struct Part<'p> {
    name: &'p str,
    start: usize,
    end: usize,
}

fn parts(path: &str) -> impl Iterator<Item = Part<'_>> {
    let mut start = 0;
    path.split(['/', '\\'])
        .map(move |name| {
            let part = Part { name, start, end: start + name.len() };
            start = part.end + 1;
            part
        })
        .filter(|part| !part.name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_names_its_repository() {
        for (path, root) in [
            ("/p/rocket/.worktrees/fuel", Some("/p/rocket")),
            ("/p/rocket/.worktrees/fuel/src/tank", Some("/p/rocket")),
            ("/p/rocket/.claude/worktrees/fuel", Some("/p/rocket")),
            ("/p/rocket/.cursor/worktrees/fuel/app", Some("/p/rocket")),
            ("/p/rocket/.trees/fuel", Some("/p/rocket")),
            ("/p/rocket__worktrees/fuel", Some("/p/rocket")),
            ("/p/rocket.worktrees/fuel/src", Some("/p/rocket")),
            ("/p/rocket-worktrees/fuel", Some("/p/rocket")),
            ("/p/rocket/.worktrees/fuel/.claude/worktrees/pump", Some("/p/rocket")),
            (r"C:\p\rocket\.worktrees\fuel", Some(r"C:\p\rocket")),
            // The folder itself holds no checkout.
            ("/p/rocket/.worktrees", None),
            ("/p/rocket__worktrees", None),
            ("/p/rocket/worktrees/fuel", None),
            // A home directory holds the worktrees of any repository.
            ("/home/ada/.worktrees/fuel/src", None),
            ("/Users/ada/.codex/worktrees/4f2a/rocket", None),
            (r"C:\Users\ada\.codex\worktrees\4f2a\rocket", None),
            ("/.worktrees/fuel", None),
            ("/p/rocket", None),
            ("", None),
        ] {
            assert_eq!(worktree_root(path), root, "{path}");
        }
    }

    #[test]
    fn a_folder_of_worktrees_names_the_repositories() {
        for (path, names) in [
            ("/Users/ada/.codex/worktrees/4f2a/rocket/src", vec!["4f2a", "rocket"]),
            ("/home/ada/.worktrees/rocket", vec!["rocket"]),
            ("/home/ada/rocket", vec![]),
        ] {
            assert_eq!(worktree_names(path).collect::<Vec<_>>(), names, "{path}");
        }
    }

    #[test]
    fn home_directories_are_no_projects() {
        for path in ["/", "/root", "/home/ada", "/Users/ada", r"C:\Users\ada", "C:", "/tmp"] {
            assert!(holds_projects(path), "{path}");
        }
        for path in ["/home/ada/rocket", "/workspace", "/p/rocket", r"C:\Users\ada\rocket"] {
            assert!(!holds_projects(path), "{path}");
        }
    }

    #[test]
    fn a_project_is_called_by_the_last_part_of_its_key() {
        for (key, name) in [
            (ProjectKey::remote("github.com/acme/rocket"), "rocket"),
            (ProjectKey::repository("/home/u/rocket/.git"), "rocket"),
            (ProjectKey::directory("/home/u/notes/"), "notes"),
            (ProjectKey::directory(r"C:\work\notes"), "notes"),
            (ProjectKey::directory("/"), "(root)"),
            (ProjectKey::named("the rocket"), "the rocket"),
        ] {
            assert_eq!(key.default_name(), name, "{key}");
        }
    }
}
