//! The parts of a file search that all agents share: listing folders, collecting problems, reading sizes
//! and times.

use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use thru_core::{Agent, SessionId, SourceKind, Timestamp};

use crate::{Discovery, Problem, Source};

/// A search in progress, with the files and problems found so far.
pub(crate) struct Search<'s> {
    /// True for files and folders to leave out.
    pub(crate) skip: &'s dyn Fn(&Path) -> bool,
    pub(crate) found: Discovery,
}

impl<'s> Search<'s> {
    pub(crate) fn new(skip: &'s dyn Fn(&Path) -> bool) -> Self {
        Self { skip, found: Discovery::default() }
    }

    /// Returns the results, sorted.
    pub(crate) fn finish(mut self) -> Discovery {
        self.found
            .sources
            .sort_by(|a, b| (&a.archive_name, &a.path).cmp(&(&b.archive_name, &b.path)));
        self.found.problems.sort_by(|a, b| a.path.cmp(&b.path));
        self.found
    }

    /// Adds the file at `path`, if it exists.
    pub(crate) fn file(
        &mut self,
        agent: Agent,
        path: &Path,
        kind: SourceKind,
        session: &str,
        agent_id: Option<&str>,
        archive_name: String,
    ) {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => self.found.sources.push(Source {
                agent,
                kind,
                session: SessionId::new(session),
                agent_id: agent_id.map(str::to_owned),
                path: path.to_path_buf(),
                archive_name,
                size: metadata.len(),
                modified: modified(&metadata),
            }),
            // Not a regular file: a link to a folder, a pipe.
            Ok(_) => {}
            // Deleted since its folder was listed, or a dangling link.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.problem(path, &error),
        }
    }

    /// Returns the entries of a folder. A missing folder is empty; one that cannot be read is a problem.
    pub(crate) fn entries(&mut self, folder: &Path) -> Vec<(PathBuf, String, DirEntry)> {
        let mut entries = Vec::new();
        let listing = match fs::read_dir(folder) {
            Ok(listing) => listing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return entries,
            Err(error) => {
                self.problem(folder, &error);
                return entries;
            }
        };
        for entry in listing {
            match entry {
                Ok(entry) => match entry.file_name().into_string() {
                    Ok(name) => entries.push((entry.path(), name, entry)),
                    Err(_) => self.problem(&entry.path(), &"the name is not Unicode"),
                },
                Err(error) => self.problem(folder, &error),
            }
        }
        entries
    }

    pub(crate) fn problem(&mut self, path: &Path, message: &dyn std::fmt::Display) {
        let message = message.to_string();
        self.found.problems.push(Problem { path: path.to_path_buf(), message });
    }
}

/// Returns the time of the last write to a file.
pub(crate) fn modified(metadata: &Metadata) -> Option<Timestamp> {
    metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok())
}
