//! The few files of git that identify a repository.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::remote::normalise;

/// More than a git file of this kind ever has, in bytes.
const LARGEST_FILE: u64 = 1024 * 1024;

/// Bytes of the end of a log that are read: some thousand lines.
const LONGEST_LOG: u64 = 512 * 1024;

/// A repository on disk.
pub(super) struct Repository {
    directory: PathBuf,
    own: PathBuf,
    common: PathBuf,
}

impl Repository {
    /// Returns the repository whose work tree, or a worktree of it, is this directory.
    pub(super) fn at(directory: &Path) -> Option<Self> {
        let dot_git = directory.join(".git");
        let own = if fs::metadata(&dot_git).ok()?.is_dir() {
            dot_git
        } else {
            let text = read(&dot_git)?;
            directory.join(text.strip_prefix("gitdir:")?.trim())
        };
        // Any folder may be named `.git`; a repository has a HEAD.
        if !own.join("HEAD").exists() {
            return None;
        }
        let common = match read(&own.join("commondir")) {
            Some(common) => own.join(common.trim()),
            None => own.clone(),
        };
        let common = fs::canonicalize(&common).unwrap_or(common);
        Some(Self { directory: directory.to_owned(), own, common })
    }

    /// The directory whose repository this is: the main work tree, for each of its worktrees. `None` if the directory
    /// points to a repository that does not point back, as anything that was unpacked or written here can.
    pub(super) fn root(&self) -> Option<PathBuf> {
        let own = fs::canonicalize(&self.own).ok()?;
        let directory = fs::canonicalize(&self.directory).ok()?;
        if own == self.common {
            let is_here = own == directory.join(".git") || self.work_tree() == Some(directory);
            return is_here.then(|| self.directory.clone());
        }
        // A linked worktree: git keeps the path of its `.git` file in the repository.
        let back = PathBuf::from(read(&own.join("gitdir"))?.trim());
        let knows_it = own.parent() == Some(&self.common.join("worktrees"))
            && fs::canonicalize(own.join(back)).ok() == Some(directory.join(".git"));
        let is_folder = self.common.file_name().is_some_and(|name| name == ".git");
        let main = self.common.parent().filter(|_| is_folder).unwrap_or(&self.common);
        knows_it.then(|| main.to_owned())
    }

    /// The work tree that the configuration of a repository elsewhere names: a submodule's.
    fn work_tree(&self) -> Option<PathBuf> {
        let config = read(&self.common.join("config"))?;
        let value = |line: &str| {
            let (key, value) = line.split_once('=')?;
            let is_wanted = key.trim().eq_ignore_ascii_case("worktree");
            is_wanted.then(|| value.trim().trim_matches('"').to_owned())
        };
        let named = config.lines().find_map(value)?;
        fs::canonicalize(self.common.join(named)).ok()
    }

    /// The branch checked out in this worktree.
    pub(super) fn branch(&self) -> Option<String> {
        let head = read(&self.own.join("HEAD"))?;
        head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
    }

    /// The end of the log of this worktree's HEAD. Links are not followed.
    pub(super) fn head_log(&self) -> Option<Vec<u8>> {
        let folder = self.own.join("logs");
        let path = folder.join("HEAD");
        if !fs::symlink_metadata(&folder).ok()?.is_dir()
            || !fs::symlink_metadata(&path).ok()?.is_file()
        {
            return None;
        }
        let mut file = fs::File::open(&path).ok()?;
        let length = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LONGEST_LOG))).ok()?;
        let mut end = Vec::new();
        file.take(LONGEST_LOG).read_to_end(&mut end).ok()?;
        Some(end)
    }

    /// The directory that all worktrees of the repository share.
    pub(super) fn common_directory(&self) -> &Path {
        &self.common
    }

    /// The normalised address of the remote `origin`, or of the only remote.
    pub(super) fn remote(&self) -> Option<String> {
        let config = read(&self.common.join("config"))?;
        let remotes = remotes(&config);
        let url = match remotes.iter().find(|(name, _)| name == "origin") {
            Some((_, url)) => url,
            None if remotes.len() == 1 => &remotes[0].1,
            None => return None,
        };
        normalise(url)
    }
}

/// Names and first addresses of the remotes in a git configuration.
fn remotes(config: &str) -> Vec<(String, String)> {
    let mut remotes: Vec<(String, String)> = Vec::new();
    let mut section = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line
                .strip_prefix("[remote \"")
                .and_then(|rest| rest.split_once("\"]"))
                .map(|(name, _)| name.to_owned());
        } else if let (Some(name), Some((key, value))) = (&section, line.split_once('='))
            && key.trim().eq_ignore_ascii_case("url")
            && !remotes.iter().any(|(known, _)| known == name)
        {
            remotes.push((name.clone(), value.trim().trim_matches('"').to_owned()));
        }
    }
    remotes
}

fn read(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.len() <= LARGEST_FILE)
        .then(|| fs::read_to_string(path).ok())
        .flatten()
}
