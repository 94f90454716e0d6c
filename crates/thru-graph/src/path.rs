//! Paths within a repository: one file has one key, whichever worktree it was changed in.

use thru_core::worktree_root;

/// The place of a session, from which paths are taken.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    directory: Option<String>,
}

impl Root {
    /// Returns the place of a session that started in this directory.
    pub(crate) fn new(directory: Option<&str>) -> Self {
        let directory = directory.map(tidy);
        Self { directory: directory.filter(|directory| directory.len() > 1) }
    }

    /// Returns the key of a file: its path within the repository, as far as the session's own directory and the path itself say
    /// where that is; else the whole path.
    pub(crate) fn key(&self, path: &str) -> Option<String> {
        let whole = self.whole(path);
        let key = self.within(&whole).unwrap_or(&whole);
        let is_path = !key.is_empty() && key != "." && !key.contains(['\n', '$', '*']);
        (is_path && key.len() < 400).then(|| key.to_owned())
    }

    /// Returns the whole path of a file, from the session's directory.
    fn whole(&self, path: &str) -> String {
        let path = path.replace('\\', "/");
        let is_whole = path.starts_with(['/', '~']) || path.get(1..3) == Some(":/");
        match &self.directory {
            Some(directory) if !is_whole => tidy(&format!("{directory}/{path}")),
            _ => tidy(&path),
        }
    }

    fn within<'p>(&self, path: &'p str) -> Option<&'p str> {
        let below = |root: &str| path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        let directory = self.directory.as_deref()?;
        // A worktree of the session's repository, or the one that the session is in.
        let own = worktree_of(path).and_then(|(root, rest)| {
            let is_own = directory == root
                || directory.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
            is_own.then_some(rest)
        });
        own.or_else(|| below(directory)).or_else(|| (path == directory).then_some(""))
    }

    /// Returns the worktree that a folder is in, the session's own directory for any other.
    pub(crate) fn worktree(&self, shell: &str, folder: &str) -> String {
        let whole = self.whole(&join(shell, folder));
        let own = self.directory.clone().unwrap_or_default();
        match worktree_of(&whole).map(|(_, rest)| rest.len()) {
            Some(0) => whole,
            Some(rest) => whole[..whole.len() - rest - 1].to_owned(),
            None => own,
        }
    }

    /// Returns true if a folder lies within the session's repository, as far as its path says.
    pub(crate) fn holds(&self, shell: &str, folder: &str) -> bool {
        self.within(&self.whole(&join(shell, folder))).is_some() || self.directory.is_none()
    }

    /// Returns the folder of a check within the project; empty for the project itself, the whole path outside.
    pub(crate) fn folder(&self, shell: &str, folder: &str) -> String {
        let folder = self.whole(&join(shell, folder));
        self.within(&folder).unwrap_or(&folder).to_owned()
    }
}

/// Returns a folder as it is seen from another: it is relative if it starts with a dot.
pub(crate) fn join(from: &str, folder: &str) -> String {
    match folder.starts_with('.') && !from.is_empty() {
        true => format!("{from}/{folder}"),
        false => folder.to_owned(),
    }
}

/// Returns the repository of a worktree and the path within that: `/p/kiln` and `src/a.rs` of
/// `/p/kiln/.worktrees/glaze/src/a.rs`.
fn worktree_of(path: &str) -> Option<(&str, &str)> {
    // The shortest start of the path that lies in a worktree is that worktree.
    let root = worktree_root(path)?;
    let ends = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > root.len());
    let end = ends.chain([path.len()]).find(|end| worktree_root(&path[..*end]) == Some(root))?;
    Some((root, path.get(end + 1..).unwrap_or_default()))
}

/// Returns a path without `.`, `..` and doubled separators.
fn tidy(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    let start = if path.starts_with('/') { "/" } else { "" };
    format!("{start}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_key_in_all_worktrees() {
        let root = Root::new(Some("/p/kiln/"));
        for (path, key) in [
            ("/p/kiln/src/a.rs", "src/a.rs"),
            ("src/a.rs", "src/a.rs"),
            ("./src/../src//a.rs", "src/a.rs"),
            ("/p/kiln/.worktrees/glaze/src/a.rs", "src/a.rs"),
            ("/p/kiln__worktrees/glaze/src/a.rs", "src/a.rs"),
            ("/p/other/src/a.rs", "/p/other/src/a.rs"),
        ] {
            assert_eq!(root.key(path).as_deref(), Some(key), "{path}");
        }
        let worktree = Root::new(Some("/p/kiln/.worktrees/glaze"));
        assert_eq!(worktree.key("/p/kiln/.worktrees/glaze/src/a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(root.key("$HOME/x"), None);
        assert_eq!(Root::new(None).key("src/a.rs").as_deref(), Some("src/a.rs"));
    }

    #[test]
    fn a_folder_is_taken_from_the_shell() {
        let root = Root::new(Some("/p/kiln"));
        assert_eq!(root.folder("", "."), "");
        assert_eq!(root.folder("./web", "."), "web");
        assert_eq!(root.folder("./web", "./src"), "web/src");
        assert_eq!(root.folder("./web", "/p/kiln/api"), "api");
        assert_eq!(root.folder("", "/elsewhere"), "/elsewhere");
    }
}
