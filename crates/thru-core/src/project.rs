//! The identity of a project, shared by all its sessions.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The identity of a project: stable text of the form `scheme:value`.
///
/// `remote:github.com/owner/name` for a git remote, `git:/path/to/.git` for a repository without one,
/// `dir:/path` for a directory outside git, `name:chosen` if set in `.throughline.toml`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

    /// Wraps a key read from the store.
    pub fn from_stored(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
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

#[cfg(test)]
mod tests {
    use super::*;

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
