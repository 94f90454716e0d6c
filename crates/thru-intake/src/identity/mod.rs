//! The project that a working directory belongs to.
//!
//! Read from the files of git; `git` itself is never started. The answer depends on the disk of today, so
//! intake writes it to the journal: a rebuild years later gives the same projects.

mod git;
mod remote;

use std::fs;
use std::path::{Path, PathBuf};

use thru_core::{HeadLog, ProjectKey, worktree_root};

/// The name of the file that names a project.
pub const PROJECT_FILE: &str = ".throughline.toml";

/// The projects that a directory may belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The projects that the directory says it is part of, the most specific first.
    pub claims: Vec<Claim>,
    /// The project that it is by its location alone.
    pub own: ProjectKey,
}

/// A project that a directory says it is part of. Whatever is unpacked or cloned can say so; see [`Identity::settle`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The project.
    pub project: ProjectKey,
    /// The directory that claims it for all below.
    pub root: PathBuf,
    /// True if the claim refers to a repository elsewhere that does not know the directory.
    pub is_foreign: bool,
}

/// The project of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The project.
    pub project: ProjectKey,
    /// The root that claimed it; `None` if it follows from the location.
    pub root: Option<PathBuf>,
    /// A claim that was not granted.
    pub refused: Option<Refused>,
}

/// A claim to a project that is known from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The claim.
    pub claim: Claim,
    /// A directory of the project, if one is known.
    pub known_at: Option<String>,
}

impl Identity {
    /// Grants the first claim to a project that is known from nowhere else: the one that is claimed for the first time, or from below
    /// the same root before. Any other claim waits for a person, who merges the directory's own project into the claimed one.
    ///
    /// `directories_of` lists the directories that are known of a project.
    ///
    /// # Errors
    /// Returns the error of `directories_of`.
    pub fn settle<E>(
        &self,
        mut directories_of: impl FnMut(&ProjectKey) -> Result<Vec<String>, E>,
    ) -> Result<Settled, E> {
        let mut refused = None;
        for claim in &self.claims {
            let known = directories_of(&claim.project)?;
            let is_first = known.is_empty() && !claim.is_foreign;
            if is_first || claim.covers_any(&known) {
                let root = Some(claim.root.clone());
                return Ok(Settled { project: claim.project.clone(), root, refused });
            }
            let known_at = known.into_iter().next();
            refused.get_or_insert_with(|| Refused { claim: claim.clone(), known_at });
        }
        Ok(Settled { project: self.own.clone(), root: None, refused })
    }

    /// Grants the first claim, whatever is known: for history that is older than this memory.
    pub fn trusted(&self) -> Settled {
        let (project, root) = match self.claims.first() {
            Some(claim) => (claim.project.clone(), Some(claim.root.clone())),
            None => (self.own.clone(), None),
        };
        Settled { project, root, refused: None }
    }
}

impl Claim {
    /// True if one of these directories lies below the root, by its path or in reality.
    fn covers_any(&self, directories: &[String]) -> bool {
        let mut paths = directories.iter().map(Path::new);
        if paths.clone().any(|path| path.starts_with(&self.root)) {
            return true;
        }
        let real = |path: &Path| fs::canonicalize(path).ok();
        real(&self.root).is_some_and(|root| {
            paths.any(|path| real(path).is_some_and(|path| path.starts_with(&root)))
        })
    }
}

/// Finds the projects that a directory may belong to. The directory need not exist any more: a deleted worktree is below its
/// repository, or in a folder beside it that has its name.
///
/// `home` is the user's home directory: a repository there (dotfiles) does not claim the folders below it.
/// `declared` reads the name from a project file, if it gives one.
pub fn identify(
    directory: &Path,
    home: Option<&Path>,
    declared: &dyn Fn(&Path) -> Option<String>,
) -> Identity {
    let mut claims = Vec::new();
    // The nearest project file or repository decides, not the outermost.
    for ancestor in directory.ancestors() {
        if ancestor.as_os_str().is_empty() || (Some(ancestor) == home && ancestor != directory) {
            break;
        }
        if let Some(name) = declared(&ancestor.join(PROJECT_FILE)) {
            let project = ProjectKey::named(&name);
            claims.push(Claim { project, root: ancestor.to_owned(), is_foreign: false });
        }
        let Some(repository) = git::Repository::at(ancestor) else { continue };
        let common = ProjectKey::repository(&text(repository.common_directory()));
        let remote = repository.remote().map(|remote| ProjectKey::remote(&remote));
        let root = repository.root();
        let is_foreign = root.is_none();
        let own = if is_foreign { ProjectKey::own(&text(ancestor)) } else { common.clone() };
        let claimed = remote.or(is_foreign.then_some(common));
        let root = root.unwrap_or_else(|| ancestor.to_owned());
        // A worktree that its repository knows is the project that the same folder of the main work tree is.
        for claim in &mut claims {
            let below = claim.root.strip_prefix(ancestor).unwrap_or(Path::new(""));
            let main = root.join(below);
            let named = declared(&main.join(PROJECT_FILE)).map(|name| ProjectKey::named(&name));
            if named.as_ref() == Some(&claim.project) {
                claim.root = main;
            }
        }
        claims.extend(claimed.map(|project| Claim { project, root, is_foreign }));
        return Identity { claims, own };
    }
    let path = text(directory);
    let is_gone = !directory.exists();
    match worktree_root(&path) {
        Some(root) if is_gone && Some(Path::new(root)) != home && claims.is_empty() => {
            identify(Path::new(root), home, declared)
        }
        // A directory that exists could have linked itself to a repository.
        Some(_) if !is_gone => Identity { claims, own: ProjectKey::own(&path) },
        _ => Identity { claims, own: ProjectKey::directory(&path) },
    }
}

/// Returns the branch checked out in the repository of a directory.
pub fn branch(directory: &Path) -> Option<String> {
    directory.ancestors().find_map(git::Repository::at)?.branch()
}

/// Returns the log of HEAD of the worktree that a directory lies in, if its repository knows the worktree. `home` is the
/// user's home directory: a repository there says nothing of the folders below it.
pub(crate) fn head_log(directory: &Path, home: Option<&Path>) -> Option<HeadLog> {
    let mut ancestors = directory
        .ancestors()
        .take_while(|ancestor| Some(*ancestor) != home || *ancestor == directory);
    let repository = ancestors.find_map(git::Repository::at)?;
    repository.root()?;
    Some(HeadLog::parse(&repository.head_log()?, repository.branch().as_deref()))
}

fn text(path: &Path) -> String {
    let path: PathBuf = path.components().collect();
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, content: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn undeclared(_: &Path) -> Option<String> {
        None
    }

    fn key(directory: &Path) -> String {
        identify(directory, None, &undeclared).trusted().project.as_str().to_owned()
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
    fn a_worktree_joins_the_named_project_of_its_repository_if_that_knows_it() {
        let home = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(home.path()).unwrap();
        write(&root.join("a/.git/HEAD"), "ref: refs/heads/main\n");
        for worktree in ["w", "forged"] {
            let own = root.join("a/.git/worktrees").join(worktree);
            let link = root.join(worktree).join(".git");
            write(&link, &format!("gitdir: {}\n", own.display()));
            write(&own.join("commondir"), "../..\n");
            write(&own.join("HEAD"), "ref: refs/heads/w\n");
            if worktree == "w" {
                write(&own.join("gitdir"), &format!("{}\n", link.display()));
            }
        }
        let declared = |path: &Path| {
            let named = ["a", "w", "forged"].map(|name| root.join(name).join(PROJECT_FILE));
            named.iter().any(|named| named == path).then(|| "rocket".to_owned())
        };
        let known = |project: &ProjectKey| {
            let is_rocket = *project == ProjectKey::named("rocket");
            Ok::<_, ()>(if is_rocket { vec![text(&root.join("a"))] } else { Vec::new() })
        };
        let settled = |directory: &str| {
            identify(&root.join(directory), None, &declared).settle(known).unwrap()
        };
        assert_eq!(settled("w").project, ProjectKey::named("rocket"));
        assert!(settled("forged").refused.is_some());
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
        assert_eq!(
            found.trusted().project.as_str(),
            format!("dir:{}", root.join(".worktrees/x").display())
        );
    }

    #[test]
    fn a_repository_in_the_home_directory_does_not_swallow_what_lies_below() {
        let home = tempfile::tempdir().unwrap();
        write(&home.path().join(".git/config"), CONFIG);
        write(&home.path().join(".git/HEAD"), "ref: refs/heads/main\n");
        let notes = home.path().join("notes");
        let found = identify(&notes, Some(home.path()), &undeclared);
        assert_eq!(found.trusted().project.as_str(), format!("dir:{}", notes.display()));
        let found = identify(home.path(), Some(home.path()), &undeclared);
        assert_eq!(found.trusted().project.as_str(), "remote:github.com/acme/rocket");
    }

    #[test]
    fn a_project_file_decides() {
        let home = tempfile::tempdir().unwrap();
        write(&home.path().join("a/.git/config"), CONFIG);
        write(&home.path().join("a/.git/HEAD"), "ref: refs/heads/main\n");
        write(&home.path().join("a/part/.throughline.toml"), "");
        let declared = |path: &Path| path.exists().then(|| "part".to_owned());
        let found = identify(&home.path().join("a/part/src"), None, &declared);
        assert_eq!(found.trusted().project.as_str(), "name:part");
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
