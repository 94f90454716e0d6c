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

use thru_core::Snapshot;
use thru_journal::files::{self, Replacement};
use thru_redact::Clean;

use crate::index::{Index, Metadata, json};
use crate::listing::{
    METADATA, SUMMARY, UNFINISHED, change, discard, folder_name, last_loaded, metadata, of_session,
    prune, remove_unfinished, renew, summaries,
};
use crate::markdown::{Excerpt, markdown};
use crate::safely::{is_file, is_folder, is_name, make_folder, read, remove, replace};
use crate::{Result, SummariesError, Wishes};

const CONFIG: &str = "config.json";
const LOCK: &str = ".lock";
/// How long a process waits for another one.
const PATIENCE: Duration = Duration::from_millis(200);

/// Where summaries lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Must be there.
    root: PathBuf,
    /// What leads from there to the summaries.
    names: &'static [&'static str],
}

/// How summaries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many the index lists, and how many of a session are kept.
    pub max: usize,
    /// Put short pieces of code into them.
    pub code_snippets: bool,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The summary. An older one is gone again where there are enough that are newer.
    pub summary: PathBuf,
    /// What in the project's own wishes has no effect.
    pub notes: Vec<String>,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Summaries.
    pub summaries: usize,
}

impl Folder {
    /// Where the summaries of a project lie.
    pub fn in_project(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), names: &[".claude", "summaries"] }
    }

    /// A directory that the user chose for the summaries of all projects.
    pub fn elsewhere(directory: impl Into<PathBuf>) -> Self {
        Self { root: directory.into(), names: &[] }
    }

    /// Whether it lies in a project.
    pub fn is_in_project(&self) -> bool {
        !self.names.is_empty()
    }

    /// Its path.
    pub fn path(&self) -> PathBuf {
        self.names.iter().fold(self.root.clone(), |path, name| path.join(name))
    }

    /// Whether there are summaries.
    pub fn is_there(&self) -> bool {
        self.look().is_ok_and(|path| path.is_some())
    }

    /// What the project wishes, and what of it has no effect.
    pub fn wishes(&self) -> (Wishes, Vec<String>) {
        let text = self.look().ok().flatten().and_then(|path| read(&path.join(CONFIG)).ok());
        text.flatten().map_or_else(Default::default, |text| Wishes::read(&text))
    }

    /// Writes what a session held, as its newest summary or as the older one that it is. Written twice,
    /// it is there once.
    ///
    /// # Errors
    /// Where the folder cannot be written, or a link stands in the way. What was there stays.
    pub fn write(
        &self,
        snapshot: &Clean<Snapshot>,
        excerpts: &[Clean<Excerpt>],
        options: &Options,
    ) -> Result<Written> {
        let snapshot = snapshot.get();
        let id = name_of(snapshot)?;
        let path = self.make()?;
        let (wishes, notes) = self.wishes();
        let excerpts: Vec<&Excerpt> = excerpts
            .iter()
            .filter(|_| options.code_snippets && !wishes.no_code)
            .map(Clean::get)
            .collect();
        let text = markdown(snapshot, &excerpts);
        let _lock = lock(&path)?;
        let session = path.join(id);
        make_folder(&session, true)?;
        remove_unfinished(&session)?;
        let known = metadata(&session, id)?;
        let is_older = known
            .as_ref()
            .is_some_and(|known| known.event != snapshot.event && known.timestamp > snapshot.at);
        let summary = if is_older {
            let name = folder_name(snapshot.at);
            let about = Metadata::of(snapshot, format!("{id}/{name}/{SUMMARY}"));
            let kept = session.join(&name);
            match is_folder(&kept)? {
                // It is the same one, maybe with words taken out that must not be kept.
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
            let about = Metadata::of(snapshot, format!("{id}/{SUMMARY}"));
            // Both are whole before either takes its place.
            let summary = prepared(&session.join(SUMMARY), text.as_bytes())?;
            let about = prepared(&session.join(METADATA), &json(&about))?;
            summary.commit()?;
            about.commit()?;
            session.join(SUMMARY)
        };
        let max = wishes.most(options.max);
        prune(&session, max)?;
        renew(&path, id, max)?;
        Ok(Written { summary, notes })
    }

    /// The summaries that are there, the newest first, and which was asked for last.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn list(&self) -> Result<Index> {
        match self.look()? {
            Some(path) => {
                let last_loaded = last_loaded(&path);
                Ok(Index { summaries: summaries(&path)?, last_loaded, ..Index::default() })
            }
            None => Ok(Index::default()),
        }
    }

    /// The newest summary of a session, as it was written.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn read(&self, id: &str) -> Result<Option<String>> {
        let Some(path) = self.look()?.filter(|_| is_name(id)) else { return Ok(None) };
        match is_folder(&path.join(id))? {
            true => read(&path.join(id).join(SUMMARY)),
            false => Ok(None),
        }
    }

    /// Whether anything lies where the summaries of a session would, be it behind a link that is not
    /// followed.
    pub fn holds(&self, id: &str) -> bool {
        is_name(id) && fs::symlink_metadata(self.path().join(id)).is_ok()
    }

    /// Notes that the summary of a session was asked for. Says whether there is one.
    ///
    /// # Errors
    /// Where the folder cannot be written.
    pub fn note_loaded(&self, id: &str, options: &Options) -> Result<bool> {
        let Some(path) = self.look()?.filter(|_| is_name(id)) else { return Ok(false) };
        if !is_folder(&path.join(id))? {
            return Ok(false);
        }
        let _lock = lock(&path)?;
        let max = self.wishes().0.most(options.max);
        change(&path, Some(id), max, |index| index.last_loaded = Some(id.to_owned()))?;
        Ok(true)
    }

    /// Removes the summaries of a session. What journal and store hold stays.
    ///
    /// # Errors
    /// Where there is none, or the folder cannot be written.
    pub fn delete(&self, id: &str, options: &Options) -> Result<Deleted> {
        let unknown = || SummariesError::Unknown(id.to_owned());
        let path = self.look()?.filter(|_| is_name(id)).ok_or_else(unknown)?;
        let _lock = lock(&path)?;
        let session = path.join(id);
        if !is_folder(&session)? {
            return Err(unknown());
        }
        let deleted = Deleted { summaries: of_session(&session, id)?.len() };
        // Links in it are removed, not followed.
        discard(&path, id)?;
        change(&path, None, self.wishes().0.most(options.max), |index| {
            index.last_loaded = index.last_loaded.take().filter(|loaded| loaded != id);
        })?;
        Ok(deleted)
    }

    /// The folder, where it is there and no link leads to it.
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
            // The user's own choice may not be there yet, and may lie behind links of his.
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

/// Puts a summary with what is known of it into a folder of its own, which is there whole or not at all.
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
        // Nothing can be done about a failure; the leftover goes with the next summary.
        let _ = remove(&unfinished);
    }
    written
}

fn prepared(path: &Path, content: &[u8]) -> Result<Replacement> {
    is_file(path)?;
    let mut replacement = Replacement::of(path)?;
    replacement.write(content)?;
    Ok(replacement)
}
