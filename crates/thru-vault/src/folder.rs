//! The folder of the vault: notes are read, found and written without following a link, whole or not at all, and without
//! losing what another program writes at the same moment.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use thru_core::{Id, content_hash};
use thru_journal::files::{create_dir_private, private, sync_dir};
use walkdir::WalkDir;

use crate::attributes;
use crate::error::{Result, VaultError};
use crate::note::LARGEST;

/// The times that a write is tried against another program.
const TRIES: usize = 3;
/// The mark in the names of files that are being written. They begin with a dot, which hides them from editors.
const UNFINISHED: &str = ".thru-";

/// The mark of a file that is being removed.
const REMOVED: &str = "removed";

/// The folder that holds our notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
}

/// The state by which an unchanged file is recognised without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The length in bytes.
    pub size: u64,
    /// The time of the last change, in nanoseconds.
    pub changed: u64,
    /// The number of the file in its file system.
    pub file: u64,
}

impl Stamp {
    pub(crate) fn new(metadata: &Metadata) -> Self {
        let changed = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let file = 0;
        let changed =
            changed.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        Self { size: metadata.len(), changed, file }
    }
}

/// A note on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its path below the vault, with `/` between the parts.
    pub path: String,
    /// Its stamp.
    pub stamp: Stamp,
}

/// The content of a note on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its text.
    pub text: String,
    /// Its stamp.
    pub stamp: Stamp,
}

/// Everything that lies in the vault.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// The notes, by path.
    pub notes: Vec<Found>,
    /// Files of writes that a killed process did not finish.
    pub unfinished: Vec<PathBuf>,
}

impl Folder {
    /// Returns the vault at a path.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of a file in it.
    pub fn path(&self, relative: &str) -> PathBuf {
        relative.split('/').fold(self.root.clone(), |path, name| path.join(name))
    }

    /// Returns the stamp of a file in it; `None` if there is none.
    pub fn stamp(&self, relative: &str) -> Option<Stamp> {
        let metadata = fs::symlink_metadata(self.path(relative)).ok()?;
        metadata.is_file().then(|| Stamp::new(&metadata))
    }

    /// Lists every note, by path. Hidden files and folders are passed over, and links are not followed.
    ///
    /// # Errors
    /// Fails if the vault does not exist or cannot be read.
    pub fn scan(&self) -> Result<Scan> {
        if !self.root.is_dir() {
            return Err(VaultError::Missing(self.root.clone()));
        }
        let mut scan = Scan::default();
        let walk = WalkDir::new(&self.root).min_depth(1).sort_by_file_name();
        let mut entries = walk.into_iter();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    // Removed meanwhile.
                    if error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
                    {
                        continue;
                    }
                    let path = error.path().unwrap_or(&self.root).to_owned();
                    return Err(VaultError::io(&path, error.into()));
                }
            };
            let Some(name) = entry.file_name().to_str() else { continue };
            if name.starts_with('.') {
                match entry.file_type().is_dir() {
                    true => entries.skip_current_dir(),
                    false if name.contains(UNFINISHED) => scan.unfinished.push(entry.into_path()),
                    false => {}
                }
                continue;
            }
            if !entry.file_type().is_file() || !name.ends_with(".md") {
                continue;
            }
            let (Some(path), Ok(metadata)) = (self.relative(entry.path()), entry.metadata()) else {
                continue;
            };
            scan.notes.push(Found { path, stamp: Stamp::new(&metadata) });
        }
        Ok(scan)
    }

    fn relative(&self, path: &Path) -> Option<String> {
        let parts = path.strip_prefix(&self.root).ok()?.components();
        let names = parts.map(|part| part.as_os_str().to_str()).collect::<Option<Vec<_>>>()?;
        Some(names.join("/"))
    }

    /// Returns the path of a file below the vault, if no link leads to it.
    fn checked(&self, relative: &str) -> Result<PathBuf> {
        let mut path = self.root.clone();
        for part in Path::new(relative).components() {
            let Component::Normal(name) = part else {
                return Err(VaultError::Refused(self.root.join(relative)));
            };
            path.push(name);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.file_type().is_symlink() => {
                    return Err(VaultError::Refused(path));
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(VaultError::io(&path, error));
                }
                _ => {}
            }
        }
        Ok(path)
    }

    /// Reads a note; `None` if it does not exist, is no text, or is longer than any that we edit.
    ///
    /// # Errors
    /// Fails if it cannot be read, or a link leads to it.
    pub fn read(&self, relative: &str) -> Result<Option<Content>> {
        read(&self.checked(relative)?)
    }

    /// Writes a note that does not exist yet.
    ///
    /// # Errors
    /// Fails if something with its name exists, or it cannot be written.
    pub fn create(&self, relative: &str, text: &str) -> Result<Stamp> {
        let path = self.checked(relative)?;
        if let Some(folder) = path.parent() {
            create_dir_private(folder)?;
        }
        let unfinished = Unfinished::write(&path, text, None)?;
        // A link fails where the name exists; renaming would replace it.
        match fs::hard_link(&unfinished.path, &path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(VaultError::Exists(path));
            }
            // File systems without links.
            Err(_) if fs::symlink_metadata(&path).is_err() => {
                fs::rename(&unfinished.path, &path)
                    .map_err(|error| VaultError::io(&path, error))?;
            }
            Err(_) => return Err(VaultError::Exists(path)),
        }
        drop(unfinished);
        stamp_of(&path)
    }

    /// Replaces a note that was read as `known`. If another program wrote it since, `again` is given its content and
    /// returns what to write instead; `None` leaves it.
    ///
    /// # Errors
    /// Fails if it cannot be written, or another program writes it again and again.
    pub fn replace(
        &self,
        relative: &str,
        known: &str,
        text: &str,
        again: &mut dyn FnMut(&str) -> Option<String>,
    ) -> Result<Option<(String, Stamp)>> {
        let path = self.checked(relative)?;
        let (mut known, mut text) = (known.to_owned(), text.to_owned());
        for _ in 0..TRIES {
            let metadata = fs::metadata(&path).map_err(|error| VaultError::io(&path, error))?;
            #[cfg(unix)]
            if std::os::unix::fs::MetadataExt::nlink(&metadata) > 1 {
                return Err(VaultError::Linked(path));
            }
            let unfinished = Unfinished::write(&path, &text, Some(&metadata))?;
            let meanwhile = match exchange(&unfinished.path, &path, &known, &text)? {
                None => return Ok(Some((text, stamp_of(&path)?))),
                Some(meanwhile) => meanwhile,
            };
            drop(unfinished);
            match again(&meanwhile) {
                Some(next) if next == meanwhile => return Ok(None),
                Some(next) => (known, text) = (meanwhile, next),
                None => return Ok(None),
            }
        }
        Err(VaultError::Busy(path))
    }

    /// Removes a note, if its content is still this.
    ///
    /// # Errors
    /// Fails if it cannot be removed, or was changed.
    pub fn remove(&self, relative: &str, known: &str) -> Result<()> {
        let path = self.checked(relative)?;
        // It is looked at where no other program writes it any more.
        let aside = beside(&path, REMOVED);
        match fs::rename(&path, &aside) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(VaultError::io(&path, error)),
        }
        let came_out = fs::read(&aside).map_err(|error| VaultError::io(&aside, error))?;
        if came_out == known.as_bytes() {
            thru_journal::files::remove(&aside)?;
            return Ok(());
        }
        put_back(&aside, &path)?;
        Err(VaultError::Busy(path))
    }

    /// Clears up after a killed process. A version that came out of an exchange, and that is not known, is the last copy
    /// of what a person wrote: it becomes a note with a name that says so, whose path is returned.
    ///
    /// # Errors
    /// Fails if a file cannot be read, renamed or removed.
    pub fn clear_up(
        &self,
        unfinished: &Path,
        is_known: impl Fn(&Id) -> bool,
    ) -> Result<Option<PathBuf>> {
        let name = unfinished.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let target = name.strip_prefix('.').and_then(|name| name.rsplit_once(UNFINISHED));
        let Some((target, mark)) = target else { return Ok(None) };
        let written = mark.split('-').next().unwrap_or_default();
        let path = unfinished.with_file_name(target);
        if written == REMOVED {
            let text = read(unfinished)?.map(|content| content_hash(content.text.as_bytes()));
            match text.is_some_and(|hash| is_known(&hash)) {
                true => drop(thru_journal::files::remove(unfinished)?),
                false => put_back(unfinished, &path)?,
            }
            return Ok(None);
        }
        let here = read(&path)?.map(|content| content_hash(content.text.as_bytes()));
        let is_exchanged = here.is_some_and(|hash| hash.to_string() == written);
        let came_out = read(unfinished)?.map(|content| content_hash(content.text.as_bytes()));
        let is_lost =
            is_exchanged && came_out.is_some_and(|hash| Some(hash) != here && !is_known(&hash));
        if is_lost {
            let stem = target.strip_suffix(".md").unwrap_or(target);
            let kept = unfinished.with_file_name(format!("{stem} (conflicted copy, recovered).md"));
            fs::rename(unfinished, &kept).map_err(|error| VaultError::io(&kept, error))?;
            return Ok(Some(kept));
        }
        thru_journal::files::remove(unfinished)?;
        Ok(None)
    }
}

fn stamp_of(path: &Path) -> Result<Stamp> {
    let metadata = fs::symlink_metadata(path).map_err(|error| VaultError::io(path, error))?;
    Ok(Stamp::new(&metadata))
}

fn read(path: &Path) -> Result<Option<Content>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(VaultError::io(path, error)),
    };
    let metadata = file.metadata().map_err(|error| VaultError::io(path, error))?;
    if !metadata.is_file() {
        return Err(VaultError::Refused(path.to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| VaultError::io(path, error))?;
    let text = Some(bytes).filter(|bytes| bytes.len() as u64 <= LARGEST);
    let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(text.map(|text| Content { text, stamp: Stamp::new(&metadata) }))
}

/// Returns the path of a hidden file beside a note. The mark says what it is.
fn beside(note: &Path, mark: &str) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = note.file_name().unwrap_or_default().to_string_lossy();
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    note.with_file_name(format!(".{name}{UNFINISHED}{mark}-{process}-{number}"))
}

/// Puts a note back that was moved aside. If it was saved again meanwhile, that is the later version.
fn put_back(aside: &Path, path: &Path) -> Result<()> {
    let linked = fs::hard_link(aside, path);
    // File systems without links.
    if linked.is_err() && fs::symlink_metadata(path).is_err() {
        return fs::rename(aside, path).map_err(|error| VaultError::io(path, error));
    }
    thru_journal::files::remove(aside)?;
    Ok(())
}

/// A file beside a note, which is removed when it is dropped.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Writes one for a note that is made, or for one that is replaced and has these properties.
    fn write(target: &Path, text: &str, like: Option<&Metadata>) -> Result<Self> {
        let path = beside(target, &content_hash(text.as_bytes()).to_string());
        let at = |error| VaultError::io(&path, error);
        let mut file: File =
            private(OpenOptions::new().write(true).create_new(true)).open(&path).map_err(at)?;
        let unfinished = Self { path: path.clone() };
        file.write_all(text.as_bytes()).map_err(at)?;
        if let Some(like) = like {
            attributes::keep(target, like, &file).map_err(at)?;
        }
        file.sync_all().map_err(at)?;
        Ok(unfinished)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Nothing can be done about a failure: a leftover is hidden, and cleared up by the next scan.
        let _ = fs::remove_file(&self.path);
    }
}

/// Puts a new file in the place of a note and looks at what came out. If that is not `known`, it is put back and returned.
fn exchange(new: &Path, path: &Path, known: &str, ours: &str) -> Result<Option<String>> {
    let at = |error: io::Error| VaultError::io(path, error);
    let content = |path: &Path| -> Result<String> {
        let bytes = fs::read(path).map_err(|error| VaultError::io(path, error))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, new, CWD, path, RenameFlags::EXCHANGE) {
            Ok(()) => {
                let mut came_out = content(new)?;
                if came_out == known {
                    path.parent().map_or(Ok(()), sync_dir)?;
                    // A program that had the note open writes into what came out.
                    came_out = content(new)?;
                    if came_out == known {
                        return Ok(None);
                    }
                }
                let mut expected = ours.to_owned();
                loop {
                    renameat_with(CWD, new, CWD, path, RenameFlags::EXCHANGE)
                        .map_err(|error| at(error.into()))?;
                    let out = content(new)?;
                    if out == expected {
                        return Ok(Some(came_out));
                    }
                    // It was saved over what was there: it is later than what was just put back.
                    (expected, came_out) = (came_out, out);
                }
            }
            // Some network and FUSE file systems.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            Err(error) => return Err(at(error.into())),
        }
    }
    let here = content(path)?;
    if here != known {
        return Ok(Some(here));
    }
    fs::rename(new, path).map_err(at)?;
    path.parent().map_or(Ok(()), sync_dir)?;
    Ok(None)
}
