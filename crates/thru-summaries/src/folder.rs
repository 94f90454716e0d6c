//! The folder of summaries of a project: written whole or not at all, by one process at a time.
//!
//! ```text
//! .claude/summaries/
//!     .gitignore, .lock, index.json, latest -> {session}
//!     {session}/summary.md, metadata.json             the newest
//!     {session}/{time}/summary.md, metadata.json      older ones
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thru_core::{Snapshot, Timestamp};
use thru_journal::files::{self, Replacement};
use thru_redact::Clean;

use crate::index::{Index, Metadata};
use crate::markdown::{Excerpt, markdown};
use crate::safely::{is_file, is_folder, is_name, make_folder, read, replace};
use crate::{Result, SummariesError, Wishes};

const SUMMARY: &str = "summary.md";
const METADATA: &str = "metadata.json";
const INDEX: &str = "index.json";
const LATEST: &str = "latest";
const CONFIG: &str = "config.json";
const LOCK: &str = ".lock";
/// How names begin of what is not whole yet.
const UNFINISHED: &str = ".new-";
/// How long a process waits for another one.
const PATIENCE: Duration = Duration::from_millis(200);
/// Entries of a folder that are looked at: what else lies there is not ours.
const ENTRIES: usize = 5_000;

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
    /// How many the index lists.
    pub max: usize,
    /// Put short pieces of code into them.
    pub code_snippets: bool,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The summary.
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
        let max = wishes.max.map_or(options.max, |wished| wished.min(options.max));
        renew(&path, max, |_| ())?;
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

    /// Whether there is any summary of a session.
    pub fn holds(&self, id: &str) -> bool {
        let path = self.look().ok().flatten().filter(|_| is_name(id));
        path.is_some_and(|path| is_folder(&path.join(id)).unwrap_or(false))
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
        renew(&path, options.max, |index| index.last_loaded = Some(id.to_owned()))?;
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
        // Links in it are removed, not followed. Out of the way first: half of it must not be listed.
        let gone = path.join(format!("{UNFINISHED}{id}"));
        remove(&gone)?;
        fs::rename(&session, &gone).map_err(|error| SummariesError::io(&session, error))?;
        remove(&gone)?;
        renew(&path, options.max, |index| {
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

/// A moment as the name of a folder.
fn folder_name(at: Timestamp) -> String {
    at.strftime("%Y%m%dT%H%M%S%3fZ").to_string()
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

/// Removes what killed processes left unfinished. The lock is held.
fn remove_unfinished(folder: &Path) -> Result<()> {
    for name in names(folder)? {
        let is_leftover = [SUMMARY, METADATA, INDEX, LATEST]
            .iter()
            .any(|own| name.strip_prefix(own).is_some_and(|rest| rest.starts_with(".tmp-")));
        if is_leftover || name.starts_with(UNFINISHED) {
            remove(&folder.join(name))?;
        }
    }
    Ok(())
}

/// Removes a file, a link, or a folder with all that is in it; links are not followed.
fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SummariesError::io(path, error))
        }
        _ => Ok(()),
    }
}

/// Makes the index and the link to the newest again from what is there. The lock is held.
fn renew(path: &Path, max: usize, change: impl FnOnce(&mut Index)) -> Result<()> {
    remove_unfinished(path)?;
    let mut index =
        Index { summaries: summaries(path)?, last_loaded: last_loaded(path), ..Index::default() };
    index.summaries.truncate(max);
    change(&mut index);
    let newest = index.summaries.first().map(|newest| newest.session_id.clone());
    replace(&path.join(INDEX), &json(&index))?;
    point(&path.join(LATEST), newest.as_deref())
}

/// Has a link lead to the newest; where links are not possible, a file says its name.
fn point(link: &Path, to: Option<&str>) -> Result<()> {
    match (fs::symlink_metadata(link), to) {
        (Ok(found), _) if found.is_dir() => {
            return Err(SummariesError::Refused(link.to_owned()));
        }
        (Ok(_), Some(to)) if fs::read_link(link).is_ok_and(|known| known == Path::new(to)) => {
            return Ok(());
        }
        (_, None) => return remove(link),
        _ => {}
    }
    let to = to.unwrap_or_default();
    let new = link.with_extension("tmp-link");
    remove(&new)?;
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(to, &new).and_then(|()| fs::rename(&new, link));
    #[cfg(not(unix))]
    let linked: io::Result<()> = Err(io::ErrorKind::Unsupported.into());
    if linked.is_ok() {
        return Ok(());
    }
    remove(&new)?;
    // A rename takes the place of a link too.
    Ok(files::replace(link, format!("{to}\n").as_bytes())?)
}

/// Every summary that is there, the newest first.
fn summaries(path: &Path) -> Result<Vec<Metadata>> {
    let mut all = Vec::new();
    for name in names(path)? {
        if is_name(&name) && is_folder(&path.join(&name)).unwrap_or(false) {
            all.extend(of_session(&path.join(&name), &name)?);
        }
    }
    all.sort_by(|a, b| (b.timestamp, &a.session_id).cmp(&(a.timestamp, &b.session_id)));
    Ok(all)
}

fn of_session(session: &Path, id: &str) -> Result<Vec<Metadata>> {
    let mut found: Vec<Metadata> = metadata(session, id)?
        .map(|about| Metadata { summary_path: format!("{id}/{SUMMARY}"), ..about })
        .into_iter()
        .collect();
    for name in names(session)? {
        let folder = session.join(&name);
        if is_name(&name)
            && is_folder(&folder).unwrap_or(false)
            && let Some(about) = metadata(&folder, id)?
            // Somebody was killed when it was set aside already, and nothing had taken its place yet.
            && !found.iter().any(|known| known.event == about.event)
        {
            found.push(Metadata { summary_path: format!("{id}/{name}/{SUMMARY}"), ..about });
        }
    }
    Ok(found)
}

/// What is said of the summary in a folder; nothing where that cannot be read, or is of another session.
fn metadata(folder: &Path, id: &str) -> Result<Option<Metadata>> {
    let text = match read(&folder.join(METADATA)) {
        Err(SummariesError::Refused(_)) => None,
        text => text?,
    };
    let about = text.and_then(|text| serde_json::from_str::<Metadata>(&text).ok());
    Ok(about.filter(|about| about.session_id == id))
}

fn last_loaded(path: &Path) -> Option<String> {
    let text = read(&path.join(INDEX)).ok().flatten()?;
    let index: Index = serde_json::from_str(&text).ok()?;
    index.last_loaded.filter(|id| is_name(id))
}

/// The names of what lies in a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).map_err(|error| SummariesError::io(folder, error))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.take(ENTRIES).collect();
    names.sort();
    Ok(names)
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}
