//! The record of the vault on this machine: the hashes of notes as we wrote them last, and what could not be written.
//!
//! It lies in the data directory, never in the vault. Without it notes are only added to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thru_core::{Id, Timestamp, content_hash};
use thru_journal::files::{create_dir_private, remove, replace};

use crate::base::base_of;
use crate::error::{Result, VaultError};
use crate::folder::{Folder, Stamp};
use crate::merge::Earlier;
use crate::note::{LineId, Note};
use crate::plan::Plan;

const VERSION: u32 = 1;
const INDEX: &str = "notes.json";

/// The record of one vault.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    version: u32,
    #[serde(skip)]
    folder: PathBuf,
    /// The stamp of its file as it was read or written last.
    #[serde(skip)]
    file: Option<Stamp>,
    /// The folder of the vault that it is about.
    pub vault: PathBuf,
    /// The notes, by their ids.
    #[serde(default)]
    pub notes: BTreeMap<Id, Written>,
    /// Sessions whose note could not be compacted or archived, by the id of the note.
    #[serde(default)]
    pub failures: BTreeMap<Id, Failure>,
    /// The loss that keeps changes from being taken in.
    #[serde(default)]
    pub loss: Option<Loss>,
    /// The state that all notes were found to follow.
    #[serde(default)]
    pub follows: Option<Followed>,
    /// The last time at which every note was compared with memory.
    #[serde(default)]
    pub synced: Option<Timestamp>,
    /// The time up to which sessions that are over have their closing entry.
    #[serde(default)]
    pub closed: Option<Timestamp>,
    /// The time since which notes may have to follow: a session was over, and its note alone was written.
    #[serde(default)]
    pub behind: Option<Timestamp>,
    /// True if the views of Obsidian were written.
    #[serde(default)]
    pub has_views: bool,
    /// Notes that were left as they are, and why.
    #[serde(default)]
    pub left: BTreeMap<String, String>,
    /// Conflict copies, by path.
    #[serde(default)]
    pub copies: BTreeSet<String>,
    /// Notes of the person's, which are not read again while they stay as they are.
    #[serde(default)]
    pub others: BTreeMap<String, Stamp>,
    /// Notes of sessions that a person archived, or took out of the archive, by their status: they are to be moved.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub moving: BTreeSet<Id>,
    /// The hashes of notes that are on their way to another place, by their paths there.
    #[serde(default)]
    pub archiving: BTreeMap<String, Id>,
    /// The texts that lines had before, by note.
    #[serde(default)]
    pub earlier: BTreeMap<Id, Earlier>,
    /// Lines that another machine wrote, by note.
    #[serde(default)]
    pub foreign: BTreeMap<Id, BTreeSet<LineId>>,
    /// What was told in notes whose lines have no id yet, by note and text.
    #[serde(default)]
    pub unmarked: BTreeMap<Id, BTreeMap<String, LineId>>,
    /// Texts of people that others took the place of, which a note is to set apart.
    #[serde(default)]
    pub apart: BTreeMap<Id, BTreeSet<String>>,
}

/// A note as it was written last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Its path below the vault.
    pub path: String,
    /// Its stamp.
    pub stamp: Stamp,
    /// The number of our lines in it.
    pub lines: usize,
    /// True if we wrote it as it is.
    pub by_us: bool,
    /// The hash of its text.
    pub hash: Id,
    /// The hash of what is kept of it; `None` if that is its text, as an older version kept it.
    #[serde(default)]
    base: Option<Id>,
    /// The length in bytes of what is kept of it.
    #[serde(default)]
    length: u64,
    /// The hash of the plan that it was found to follow.
    #[serde(default)]
    plan: Option<Id>,
    /// The hashes of the titles that we gave it: its heading, and the alias of it.
    #[serde(default)]
    titles: BTreeSet<Id>,
}

/// A state of what notes follow from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Followed {
    /// A hash of the settings and the program.
    pub rules: Id,
    /// A hash of the files of the store.
    pub files: Id,
    /// The moment of the store, as its owner writes it.
    pub moment: String,
}

/// A compaction or an archive that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// True if the knowledge was written, and only the archive failed.
    pub is_archive: bool,
    /// The error.
    pub error: String,
    /// The time.
    pub at: Timestamp,
}

/// More that vanished at once than a person removes by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// The number of notes that are gone.
    pub notes: usize,
    /// The number of lines that are gone from notes that are there.
    pub lines: usize,
    /// The number of lines that there were.
    pub of: usize,
}

impl Loss {
    /// More notes at once are not removed by hand.
    const NOTES: usize = 10;
    /// The share of lines that is not removed by hand, …
    const SHARE: usize = 5;
    /// … unless there are no more than this.
    const FEW: usize = 10;

    /// True if it is too much to be taken in without being asked.
    pub const fn is_large(&self) -> bool {
        self.notes > Self::NOTES || self.lines > Self::FEW && self.lines * Self::SHARE > self.of
    }
}

impl Record {
    fn new(folder: &Path, vault: &Path) -> Self {
        Self {
            version: VERSION,
            folder: folder.to_owned(),
            file: None,
            vault: vault.to_owned(),
            notes: BTreeMap::new(),
            failures: BTreeMap::new(),
            loss: None,
            follows: None,
            synced: None,
            closed: None,
            behind: None,
            has_views: false,
            left: BTreeMap::new(),
            copies: BTreeSet::new(),
            others: BTreeMap::new(),
            moving: BTreeSet::new(),
            archiving: BTreeMap::new(),
            earlier: BTreeMap::new(),
            foreign: BTreeMap::new(),
            unmarked: BTreeMap::new(),
            apart: BTreeMap::new(),
        }
    }

    /// Reads the record in a folder, for the vault at a path. That of another vault does not count.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    pub fn open(folder: &Path, vault: &Path) -> Result<Self> {
        let new = Self::new(folder, vault);
        let path = folder.join(INDEX);
        let file = stamp(&path);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(new),
            Err(error) => return Err(VaultError::io(&path, error)),
        };
        // A damaged record is as good as none: then notes are only added to.
        let known: Option<Self> = serde_json::from_slice(&bytes).ok();
        let known = known.filter(|known| known.version == VERSION && known.vault == vault);
        Ok(known.map_or(new, |known| Self { folder: folder.to_owned(), file, ..known }))
    }

    /// Returns the record as it lies on disk now: this one, unless another process wrote it since, or it is of another vault.
    ///
    /// # Errors
    /// As [`Record::open`].
    pub fn reopened(self, folder: &Path, vault: &Path) -> Result<Self> {
        let is_same = self.folder == folder && self.vault == vault;
        let is_current = self.file.is_some() && self.file == stamp(&folder.join(INDEX));
        if is_same && is_current { Ok(self) } else { Self::open(folder, vault) }
    }

    /// True if any of these files, by their paths below the vault, is not as it was written or seen last.
    pub fn differs(&self, files: &BTreeSet<String>, folder: &Folder) -> bool {
        let mut unknown: BTreeSet<&str> = files.iter().map(String::as_str).collect();
        let notes = self.notes.values().map(|note| (note.path.as_str(), note.stamp));
        let others = self.others.iter().map(|(path, stamp)| (path.as_str(), *stamp));
        for (path, known) in notes.chain(others) {
            if unknown.remove(path) && folder.stamp(path) != Some(known) {
                return true;
            }
        }
        let is_news = |path: &str| match folder.path(path).symlink_metadata() {
            Ok(found) => found.is_dir() || path.ends_with(".md"),
            // A folder that is gone, with what lay in it.
            Err(_) => {
                let is_below = |note: &String| {
                    note.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
                };
                self.notes.values().map(|note| &note.path).chain(self.others.keys()).any(is_below)
            }
        };
        unknown.into_iter().any(is_news)
    }

    /// Writes it.
    ///
    /// # Errors
    /// Fails if the disk cannot be written.
    pub fn save(&mut self) -> Result<()> {
        create_dir_private(&self.folder)?;
        let path = self.folder.join(INDEX);
        let json = serde_json::to_vec(self).map_err(|error| VaultError::Record {
            path: path.clone(),
            detail: error.to_string(),
        })?;
        replace(&path, &json)?;
        self.file = stamp(&path);
        Ok(())
    }

    /// Returns what is known of a note as it was written last: its lines, with hashes in the place of their texts.
    pub fn base(&self, note: &Id) -> Option<String> {
        let written = self.notes.get(note)?;
        let text = std::fs::read_to_string(self.base_path(note)).ok()?;
        (content_hash(text.as_bytes()) == written.base.unwrap_or(written.hash)).then_some(text)
    }

    /// True if this is the text that a note had last.
    pub fn is_last(&self, note: &Id, text: &str) -> bool {
        self.notes.get(note).is_some_and(|last| last.hash == content_hash(text.as_bytes()))
    }

    /// Notes the text that a note has from now on, written by us or by a person.
    ///
    /// # Errors
    /// Fails if the disk cannot be written.
    pub fn note(
        &mut self,
        note: Id,
        path: &str,
        stamp: Stamp,
        text: &str,
        by_us: bool,
    ) -> Result<()> {
        let before = self.base(&note);
        let base = base_of(text);
        let base_hash = content_hash(base.as_bytes());
        if before.as_ref() != Some(&base) {
            if let Some(before) = before {
                self.earlier.entry(note).or_default().add(&before, text);
            }
            create_dir_private(&self.folder)?;
            let path = self.base_path(&note);
            // No sync: one that a power cut damages is known by its hash, and as good as none.
            std::fs::write(&path, &base).map_err(|error| VaultError::io(&path, error))?;
        }
        let written = Written {
            path: path.to_owned(),
            stamp,
            lines: Note::parse(text).own_lines().count(),
            by_us,
            hash: content_hash(text.as_bytes()),
            base: Some(base_hash),
            length: base.len() as u64,
            plan: None,
            titles: self.titles(&note),
        };
        self.notes.insert(note, written);
        Ok(())
    }

    /// Notes that a note follows a plan, which has this hash.
    pub fn planned(&mut self, plan: &Plan, hash: Id) {
        if let Some(written) = self.notes.get_mut(&plan.id) {
            written.plan = Some(hash);
            written.titles = plan.titles();
        }
    }

    /// Returns the hashes of the titles that we gave a note last.
    pub fn titles(&self, note: &Id) -> BTreeSet<Id> {
        self.notes.get(note).map(|written| written.titles.clone()).unwrap_or_default()
    }

    /// True if a note was found to follow the plan with this hash, and nothing else is to be put into it.
    pub fn is_as_planned(&self, note: &Id, plan: Id) -> bool {
        let is_told = self.unmarked.get(note).is_some_and(|told| !told.is_empty())
            || self.apart.contains_key(note);
        self.notes.get(note).is_some_and(|written| {
            let base = std::fs::metadata(self.base_path(note));
            written.plan == Some(plan)
                && !is_told
                && base.is_ok_and(|base| base.len() == written.length)
        })
    }

    /// Keeps only hashes of the texts that an older version kept.
    ///
    /// # Errors
    /// Fails if the disk cannot be written.
    pub fn drop_texts(&mut self) -> Result<()> {
        let old = self.notes.iter().filter(|(_, written)| written.base.is_none());
        let old: Vec<Id> = old.map(|(note, _)| *note).collect();
        for note in &old {
            let path = self.base_path(note);
            let Some(text) = self.base(note) else {
                remove(&path)?;
                continue;
            };
            let base = base_of(&text);
            std::fs::write(&path, &base).map_err(|error| VaultError::io(&path, error))?;
            if let Some(written) = self.notes.get_mut(note) {
                written.base = Some(content_hash(base.as_bytes()));
                written.length = base.len() as u64;
            }
        }
        if old.is_empty() { Ok(()) } else { self.save() }
    }

    /// Forgets every note: they are written as for the first time.
    ///
    /// # Errors
    /// Fails if the disk cannot be written.
    pub fn forget(&mut self) -> Result<()> {
        for note in std::mem::take(&mut self.notes).keys() {
            remove(&self.base_path(note))?;
        }
        *self = Self::new(&self.folder, &self.vault);
        self.save()
    }

    /// Drops a note.
    ///
    /// # Errors
    /// Fails if the disk cannot be written.
    pub fn drop_note(&mut self, note: &Id) -> Result<()> {
        self.notes.remove(note);
        remove(&self.base_path(note))?;
        Ok(())
    }

    fn base_path(&self, note: &Id) -> PathBuf {
        self.folder.join(format!("{note}.md"))
    }
}

/// Returns the stamp of a file.
fn stamp(path: &Path) -> Option<Stamp> {
    std::fs::metadata(path).ok().map(|metadata| Stamp::new(&metadata))
}
