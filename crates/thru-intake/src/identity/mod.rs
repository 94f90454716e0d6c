//! The project that a working directory belongs to.
//!
//! Read from the files of git; `git` itself is never started. The answer depends on the disk of today, so
//! intake writes it to the journal: a rebuild years later gives the same projects.

mod git;
mod remote;

use std::path::{Path, PathBuf};

use thru_core::{ProjectKey, worktree_root};

/// The name of the file that names a project.
pub const PROJECT_FILE: &str = ".throughline.toml";

/// Finds the project of a directory. The directory need not exist any more: a deleted worktree is below its
/// repository, or in a folder beside it that has its name.
///
/// `home` is the user's home directory: a repository there (dotfiles) does not claim the folders below it.
/// `declared` reads the name from a project file, if it gives one.
pub fn identify(
    directory: &Path,
    home: Option<&Path>,
    declared: &dyn Fn(&Path) -> Option<String>,
) -> ProjectKey {
    // The nearest project file or repository decides, not the outermost.
    for ancestor in directory.ancestors() {
        if ancestor.as_os_str().is_empty() || (Some(ancestor) == home && ancestor != directory) {
            break;
        }
        if let Some(name) = declared(&ancestor.join(PROJECT_FILE)) {
            return ProjectKey::named(&name);
        }
        if let Some(repository) = git::Repository::at(ancestor) {
            return match repository.remote() {
                Some(remote) => ProjectKey::remote(&remote),
                None => ProjectKey::repository(&text(repository.common_directory())),
            };
        }
    }
    let path = text(directory);
    match worktree_root(&path) {
        Some(root) if Some(Path::new(root)) != home => identify(Path::new(root), home, declared),
        _ => ProjectKey::directory(&path),
    }
}

/// Returns the branch checked out in the repository of a directory.
pub fn branch(directory: &Path) -> Option<String> {
    directory.ancestors().find_map(git::Repository::at)?.branch()
}

fn text(path: &Path) -> String {
    let path: PathBuf = path.components().collect();
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(path: &Path, content: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn undeclared(_: &Path) -> Option<String> {
        None
    }

    fn key(directory: &Path) -> String {
        identify(directory, None, &undeclared).as_str().to_owned()
    }

    const CONFIG: &str =
        "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@github.com:Acme/Rocket.git\n";

    #[test]
    fn clones_worktrees_and_folders_of_one_remote_are_one_project() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        write(&root.join("a/.git/config"), CONFIG);
        write(&root.join("a/.git/HEAD"), "ref: refs/heads/main\n");
        write(
            &root.join("b/.git/config"),
            &CONFIG.replace("git@github.com:", "https://u:p@github.com/"),
        );
        write(&root.join("b/.git/HEAD"), "ref: refs/heads/main\n");
        // A worktree of `a`, and a folder inside it.
        write(
            &root.join("w/.git"),
            &format!("gitdir: {}\n", root.join("a/.git/worktrees/w").display()),
        );
        write(&root.join("a/.git/worktrees/w/commondir"), "../..\n");
        write(&root.join("a/.git/worktrees/w/HEAD"), "ref: refs/heads/w\n");
        write(&root.join("w/src/deep/file"), "");
        for directory in ["a", "b", "w", "w/src/deep", "a/deleted/long/ago"] {
            assert_eq!(key(&root.join(directory)), "remote:github.com/acme/rocket", "{directory}");
        }
    }

    #[test]
    fn a_repository_without_remote_is_its_common_directory() {
        let home = tempfile::tempdir().unwrap();
        write(&home.path().join("a/.git/HEAD"), "ref: refs/heads/main\n");
        let common = home.path().join("a/.git");
        assert_eq!(key(&home.path().join("a/src")), format!("git:{}", common.display()));
    }

    #[test]
    fn outside_git_it_is_the_directory() {
        let home = tempfile::tempdir().unwrap();
        let notes = home.path().join("notes");
        assert_eq!(key(&notes), format!("dir:{}", notes.display()));
    }

    #[test]
    fn a_gone_worktree_belongs_to_its_repository() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        write(&root.join("a/.git/config"), CONFIG);
        write(&root.join("a/.git/HEAD"), "ref: refs/heads/main\n");
        for gone in
            ["a/.worktrees/x", "a/.claude/worktrees/x/src", "a__worktrees/x", "a.worktrees/x"]
        {
            assert_eq!(key(&root.join(gone)), "remote:github.com/acme/rocket", "{gone}");
        }
        // The repository is gone as well.
        let gone = root.join("b");
        for worktree in ["b/.worktrees/x", "b__worktrees/x/src"] {
            assert_eq!(key(&root.join(worktree)), format!("dir:{}", gone.display()), "{worktree}");
        }
        let found = identify(&root.join(".worktrees/x"), Some(root), &undeclared);
        assert_eq!(found.as_str(), format!("dir:{}", root.join(".worktrees/x").display()));
    }

    #[test]
    fn a_repository_in_the_home_directory_does_not_swallow_what_lies_below() {
        let home = tempfile::tempdir().unwrap();
        write(&home.path().join(".git/config"), CONFIG);
        write(&home.path().join(".git/HEAD"), "ref: refs/heads/main\n");
        let notes = home.path().join("notes");
        let found = identify(&notes, Some(home.path()), &undeclared);
        assert_eq!(found.as_str(), format!("dir:{}", notes.display()));
        let found = identify(home.path(), Some(home.path()), &undeclared);
        assert_eq!(found.as_str(), "remote:github.com/acme/rocket");
    }

    #[test]
    fn a_project_file_decides() {
        let home = tempfile::tempdir().unwrap();
        write(&home.path().join("a/.git/config"), CONFIG);
        write(&home.path().join("a/.git/HEAD"), "ref: refs/heads/main\n");
        write(&home.path().join("a/part/.throughline.toml"), "");
        let declared = |path: &Path| path.exists().then(|| "part".to_owned());
        let found = identify(&home.path().join("a/part/src"), None, &declared);
        assert_eq!(found.as_str(), "name:part");
    }

    #[test]
    fn broken_git_files_are_no_repository() {
        let home = tempfile::tempdir().unwrap();
        write(&home.path().join("a/.git"), "gitdir: /nowhere/at/all\n");
        write(&home.path().join("b/.git"), "\u{0}\u{1}");
        for directory in ["a", "b"] {
            let path = home.path().join(directory);
            assert_eq!(key(&path), format!("dir:{}", path.display()));
        }
    }
}
