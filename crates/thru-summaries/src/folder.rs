//! The folder of summaries of a project: written whole or not at all, by one process at a time.
//!
//! ```text
//! .claude/summaries/
//!     .gitignore, .lock, index.json, latest -> {session}
//!     {session}/summary.md, metadata.json             the newest
//!     {session}/{time}/summary.md, metadata.json      older ones
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thru_core::{Snapshot, Timestamp};
use thru_journal::files::{self, Replacement};
use thru_redact::Clean;

use crate::index::{Index, Metadata, json};
use crate::listing::{
    METADATA, SUMMARY, UNFINISHED, change, discard, folder_name, last_loaded, metadata, of_session,
    prune, remove_unfinished, removed, summaries,
};
use crate::markdown::{Excerpt, markdown};
use crate::safely::{is_file, is_folder, is_name, make_folder, read, remove, replace};
use crate::{ProjectConfig, Result, SummariesError};

const CONFIG: &str = "config.json";
const LOCK: &str = ".lock";
/// The time to wait for another process.
const PATIENCE: Duration = Duration::from_millis(200);

/// A folder of summaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// An existing directory.
    root: PathBuf,
    /// The path from there to the summaries.
    names: &'static [&'static str],
}

/// Options of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Maximum number of summaries in the index, and of those kept of one session.
    pub max: usize,
    /// True to include short excerpts of code.
    pub code_snippets: bool,
    /// True to write what the user removed, too.
    pub restores: bool,
}

/// The outcome of writing a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The path of the summary. An old one is removed again if there are enough newer ones.
    pub summary: PathBuf,
    /// Notes on options of the project without effect.
    pub notes: Vec<String>,
}

/// Counts of a deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Number of deleted summaries.
    pub summaries: usize,
}

impl Folder {
    /// Returns the folder of a project's summaries.
    pub fn in_project(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), names: &[".claude", "summaries"] }
    }

    /// Returns a directory that the user chose for the summaries of all projects.
    pub fn elsewhere(directory: impl Into<PathBuf>) -> Self {
        Self { root: directory.into(), names: &[] }
    }

    /// Returns true if it is in a project.
    pub fn is_in_project(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns its path.
    pub fn path(&self) -> PathBuf {
        self.names.iter().fold(self.root.clone(), |path, name| path.join(name))
    }

    /// Returns true if the folder exists.
    pub fn is_there(&self) -> bool {
        self.look().is_ok_and(|path| path.is_some())
    }

    /// Returns the project's own config, and notes on options without effect.
    pub fn project_config(&self) -> (ProjectConfig, Vec<String>) {
        let text = self.look().ok().flatten().and_then(|path| read(&path.join(CONFIG)).ok());
        text.flatten().map_or_else(Default::default, |text| ProjectConfig::read(&text))
    }

    /// Writes a snapshot, as the newest summary of its session or in its place among the older ones.
    /// Writing the same one again changes nothing.
    ///
    /// # Errors
    /// Fails if the folder cannot be written, a link is in the way, or the user removed it. Existing summaries stay.
    pub fn write(
        &self,
        snapshot: &Clean<Snapshot>,
        excerpts: &[Clean<Excerpt>],
        options: &Options,
    ) -> Result<Written> {
        let snapshot = snapshot.get();
        let id = name_of(snapshot)?;
        let path = self.make()?;
        let (config, notes) = self.project_config();
        let excerpts: Vec<&Excerpt> = excerpts
            .iter()
            .filter(|_| options.code_snippets && !config.no_code)
            .map(Clean::get)
            .collect();
        let text = markdown(snapshot, &excerpts);
        let _lock = lock(&path)?;
        let is_removed = removed(&path).get(id).is_some_and(|latest| snapshot.at <= *latest);
        if is_removed && !options.restores {
            return Err(SummariesError::Removed(id.to_owned()));
        }
        let session = path.join(id);
        make_folder(&session, true)?;
        remove_unfinished(&session)?;
        let known = metadata(&session, id)?;
        let is_older = known
            .as_ref()
            .is_some_and(|known| known.event != snapshot.event && known.timestamp > snapshot.at);
        let summary = if is_older {
            let name = folder_name(snapshot.at);
            let about = Metadata::from_snapshot(snapshot, format!("{id}/{name}/{SUMMARY}"));
            let kept = session.join(&name);
            match is_folder(&kept)? {
                // The same one, perhaps with text removed that must not be kept.
                true => {
                    replace(&kept.join(SUMMARY), text.as_bytes())?;
                    replace(&kept.join(METADATA), &json(&about))?;
                }
                false => put_aside(&session, &name, &text, &about)?,
            }
            kept.join(SUMMARY)
        } else {
            if let Some(known) = known.filter(|known| known.event != snapshot.event) {
                let name = folder_name(known.timestamp);
                let about = Metadata { summary_path: format!("{id}/{name}/{SUMMARY}"), ..known };
                if let Some(text) = read(&session.join(SUMMARY))? {
                    put_aside(&session, &name, &text, &about)?;
                }
            }
            let about = Metadata::from_snapshot(snapshot, format!("{id}/{SUMMARY}"));
            // Both are written in full before either is moved into place.
            let summary = prepared(&session.join(SUMMARY), text.as_bytes())?;
            let about = prepared(&session.join(METADATA), &json(&about))?;
            summary.commit()?;
            about.commit()?;
            session.join(SUMMARY)
        };
        let max = config.most(options.max);
        prune(&session, max)?;
        change(&path, Some(id), max, |index| {
            if is_removed {
                index.removed.remove(id);
            }
        })?;
        Ok(Written { summary, notes })
    }

    /// Lists the summaries, the newest first, and the session whose summary was last asked for.
    ///
    /// # Errors
    /// Fails if the folder cannot be read.
    pub fn list(&self) -> Result<Index> {
        match self.look()? {
            Some(path) => {
                let (last_loaded, removed) = (last_loaded(&path), removed(&path));
                let summaries = summaries(&path)?;
                Ok(Index { summaries, last_loaded, removed, ..Index::default() })
            }
            None => Ok(Index::default()),
        }
    }

    /// Returns the newest summary of a session, as it was written.
    ///
    /// # Errors
    /// Fails if the folder cannot be read.
    pub fn read(&self, id: &str) -> Result<Option<String>> {
        let Some(path) = self.look()?.filter(|_| is_name(id)) else { return Ok(None) };
        match is_folder(&path.join(id))? {
            true => read(&path.join(id).join(SUMMARY)),
            false => Ok(None),
        }
    }

    /// Returns true if anything exists at the path of a session's summaries, even behind a link, which is
    /// not followed.
    pub fn has_session(&self, id: &str) -> bool {
        is_name(id) && fs::symlink_metadata(self.path().join(id)).is_ok()
    }

    /// Notes that the summary of a session was asked for. Returns true if there is one.
    ///
    /// # Errors
    /// Fails if the folder cannot be written.
    pub fn note_loaded(&self, id: &str, options: &Options) -> Result<bool> {
        let Some(path) = self.look()?.filter(|_| is_name(id)) else { return Ok(false) };
        if !is_folder(&path.join(id))? {
            return Ok(false);
        }
        let _lock = lock(&path)?;
        let max = self.project_config().0.most(options.max);
        change(&path, Some(id), max, |index| index.last_loaded = Some(id.to_owned()))?;
        Ok(true)
    }

    /// Deletes the summaries of a session at the user's word: they are not written again unasked. Journal and store are not
    /// touched.
    ///
    /// # Errors
    /// Fails if the session has none, or the folder cannot be written.
    pub fn delete(&self, id: &str, options: &Options) -> Result<Deleted> {
        self.take_out(id, options, |index, latest| {
            if let Some(latest) = latest {
                index.removed.insert(id.to_owned(), latest);
            }
        })
    }

    /// Deletes the summaries of a session that is forgotten, and every word of them.
    ///
    /// # Errors
    /// As [`Folder::delete`].
    pub fn forget(&self, id: &str, options: &Options) -> Result<Deleted> {
        self.take_out(id, options, |index, _| _ = index.removed.remove(id))
    }

    fn take_out(
        &self,
        id: &str,
        options: &Options,
        note: impl FnOnce(&mut Index, Option<Timestamp>),
    ) -> Result<Deleted> {
        let unknown = || SummariesError::Unknown(id.to_owned());
        let path = self.look()?.filter(|_| is_name(id)).ok_or_else(unknown)?;
        let _lock = lock(&path)?;
        let session = path.join(id);
        if !is_folder(&session)? {
            return Err(unknown());
        }
        let summaries = of_session(&session, id)?;
        let latest = summaries.iter().map(|one| one.timestamp).max();
        // Links in it are removed, not followed.
        discard(&path, id)?;
        change(&path, None, self.project_config().0.most(options.max), |index| {
            index.last_loaded = index.last_loaded.take().filter(|loaded| loaded != id);
            note(index, latest);
        })?;
        Ok(Deleted { summaries: summaries.len() })
    }

    /// Returns the path of the folder, if it exists and no link leads to it.
    fn look(&self) -> Result<Option<PathBuf>> {
        let mut path = self.root.clone();
        if !is_folder(&path)? {
            return Ok(None);
        }
        for name in self.names {
            path.push(name);
            if !is_folder(&path)? {
                return Ok(None);
            }
        }
        Ok(Some(path))
    }

    fn make(&self) -> Result<PathBuf> {
        let mut path = self.root.clone();
        match self.names.is_empty() {
            // The user's own directory may not exist yet, and may be behind links.
            true => files::create_dir_private(&path)?,
            false if !is_folder(&path)? => return Err(SummariesError::NoProject(path)),
            false => {}
        }
        for (number, name) in self.names.iter().enumerate() {
            path.push(name);
            make_folder(&path, number + 1 == self.names.len())?;
        }
        let ignored = path.join(".gitignore");
        if !is_file(&ignored)? {
            replace(&ignored, b"*\n")?;
        }
        Ok(path)
    }
}

fn name_of(snapshot: &Snapshot) -> Result<&str> {
    let id = snapshot.session.id.as_str();
    match is_name(id) {
        true => Ok(id),
        false => Err(SummariesError::NoName(id.chars().take(60).collect())),
    }
}

fn lock(path: &Path) -> Result<File> {
    let path = path.join(LOCK);
    is_file(&path)?;
    let mut options = OpenOptions::new();
    let file = files::private(options.read(true).write(true).create(true).truncate(false))
        .open(&path)
        .map_err(|error| SummariesError::io(&path, error))?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => return Err(SummariesError::Busy(path)),
            Err(TryLockError::Error(error)) => return Err(SummariesError::io(&path, error)),
        }
    }
}

/// Moves a summary and its metadata into a folder of their own, complete or not at all.
fn put_aside(session: &Path, name: &str, text: &str, about: &Metadata) -> Result<()> {
    let target = session.join(name);
    if is_folder(&target)? {
        return Ok(());
    }
    let unfinished = session.join(format!("{UNFINISHED}{name}"));
    make_folder(&unfinished, true)?;
    let written = replace(&unfinished.join(SUMMARY), text.as_bytes())
        .and_then(|()| replace(&unfinished.join(METADATA), &json(about)))
        .and_then(|()| {
            fs::rename(&unfinished, &target).map_err(|error| SummariesError::io(&target, error))
        });
    if written.is_err() {
        // The leftover is removed with the next summary.
        let _ = remove(&unfinished);
    }
    written
}

fn prepared(path: &Path, content: &[u8]) -> Result<Replacement> {
    is_file(path)?;
    let mut replacement = Replacement::begin(path)?;
    replacement.write(content)?;
    Ok(replacement)
}
