//! The files of the journal: their names, and appending a record to one.
//!
//! It must not interpret records.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::Durability;
use super::disk::Disk;
use crate::error::{At, Error, Result};
use crate::files;

const SUFFIX: &str = ".jsonl";

/// The suffix of a sealed segment's file.
const SEALED: &str = ".zst";

/// The separator between the number of a segment and the id of the process that owns it.
const SPILL: &str = ".spill-";

/// Returns the name of a host's segment. Names sort by number, a segment before its spills.
pub(super) fn name(host: &str, number: u64) -> String {
    format!("{host}-{number:08}{SUFFIX}")
}

/// Returns the path of a segment's sealed file.
pub(super) fn sealed(path: &Path) -> PathBuf {
    let mut sealed = path.as_os_str().to_owned();
    sealed.push(SEALED);
    PathBuf::from(sealed)
}

/// The parsed name of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name<'a> {
    pub(super) host: &'a str,
    pub(super) number: u64,
    pub(super) spill: bool,
}

impl<'a> Name<'a> {
    /// Returns `None` for a name that we never use.
    pub(super) fn parse(name: &'a str) -> Option<Self> {
        let stem = name.strip_suffix(SUFFIX)?;
        let (stem, spill) = match stem.split_once(SPILL) {
            Some((stem, _)) => (stem, true),
            None => (stem, false),
        };
        let (host, number) = stem.rsplit_once('-')?;
        Some(Self { host, number: number.parse().ok()?, spill })
    }
}

/// A segment and the files that hold it. Both exist when sealing was interrupted, or is in progress;
/// the sealed one counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) plain: bool,
    pub(super) sealed: bool,
}

/// Returns all segments, of every host, sorted by name.
pub(super) fn list(dir: &Path) -> Result<Vec<Listed>> {
    let mut found = BTreeMap::<String, (bool, bool)>::new();
    each_file(dir, |file| {
        if let Some(name) = file.strip_suffix(SEALED).filter(|name| name.ends_with(SUFFIX)) {
            found.entry(name.to_owned()).or_default().1 = true;
        } else if file.ends_with(SUFFIX) {
            found.entry(file.to_owned()).or_default().0 = true;
        }
        Ok(())
    })?;
    let listed = |(name, (plain, sealed))| Listed { name, plain, sealed };
    Ok(found.into_iter().map(listed).collect())
}

/// Returns the number of a host's newest segment; 0 before there is any.
pub(super) fn newest(dir: &Path, host: &str) -> Result<u64> {
    let mut newest = 0;
    each_file(dir, |file| {
        let name = Name::parse(file.strip_suffix(SEALED).unwrap_or(file));
        if let Some(name) = name.filter(|name| name.host == host && !name.spill) {
            newest = newest.max(name.number);
        }
        Ok(())
    })?;
    Ok(newest)
}

/// Removes leftovers of killed processes that were sealing or rewriting. The caller ensures that no
/// process does so now.
pub(super) fn remove_leftovers(disk: &dyn Disk, dir: &Path) -> Result<()> {
    let mut removed = false;
    each_file(dir, |file| {
        if file.contains(files::TEMPORARY) {
            let path = dir.join(file);
            disk.remove(&path).at(&path)?;
            removed = true;
        }
        Ok(())
    })?;
    if removed { disk.sync_dir(dir) } else { Ok(()) }
}

/// Returns the size of all files in the directory of a journal in bytes.
pub(super) fn size(dir: &Path) -> Result<u64> {
    let mut size = 0;
    each_file(dir, |file| {
        let path = dir.join(file);
        match fs::metadata(&path) {
            // Sealed since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => size += found.at(&path)?.len(),
        }
        Ok(())
    })?;
    Ok(size)
}

/// Calls `look` with the name of every file. Every name that we write is UTF-8; others are not ours.
fn each_file(dir: &Path, mut look: impl FnMut(&str) -> Result<()>) -> Result<()> {
    let listing = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        listing => listing.at(dir)?,
    };
    for item in listing {
        let item = item.at(dir)?;
        if item.file_type().at(dir)?.is_file()
            && let Some(name) = item.file_name().to_str()
        {
            look(name)?;
        }
    }
    Ok(())
}

/// True if an open and locked segment may grow: its name still refers to it, and it was not sealed.
/// Once this is false it stays so, because names are not reused.
pub(super) fn may_grow(path: &Path, open: &Metadata) -> Result<bool> {
    Ok(files::is_still(path, open)? && !sealed(path).try_exists().at(path)?)
}

/// Creates a segment that only this process writes. While the file is open, its lock keeps it from
/// being sealed.
pub(super) fn create_spill(
    disk: &dyn Disk,
    dir: &Path,
    host: &str,
    number: u64,
) -> Result<(PathBuf, File)> {
    for attempt in 0_u64.. {
        let path = dir.join(spill_name(host, number, attempt));
        let file = match disk.create_new(&path) {
            // Of an earlier process with our id, or of another journal in this one.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            created => created.at(&path)?,
        };
        let ours = match file.try_lock() {
            // Files cannot be locked here, so nothing is sealed either.
            Ok(()) | Err(TryLockError::Error(_)) => true,
            // It is being sealed already.
            Err(TryLockError::WouldBlock) => false,
        };
        if ours && may_grow(&path, &file.metadata().at(&path)?)? {
            return Ok((path, file));
        }
    }
    Err(Error::Unrecordable("there is no free name for a segment".to_owned()))
}

/// Returns a free path for a segment whose name is taken: it is read like a spill.
pub(super) fn free_spill_path(dir: &Path, name: Name<'_>) -> Result<PathBuf> {
    for attempt in 0_u64.. {
        let path = dir.join(spill_name(name.host, name.number, attempt));
        if !path.try_exists().at(&path)? && !sealed(&path).try_exists().at(&path)? {
            return Ok(path);
        }
    }
    Err(Error::Unrecordable("there is no free name for a segment".to_owned()))
}

fn spill_name(host: &str, number: u64, attempt: u64) -> String {
    format!("{host}-{number:08}{SPILL}{}-{attempt}{SUFFIX}", std::process::id())
}

/// Appends a record to a segment of `len` bytes, which must not have another writer at this moment.
pub(super) fn append(
    disk: &dyn Disk,
    (path, file): (&Path, &File),
    len: u64,
    record: &[u8],
    durability: Durability,
) -> Result<()> {
    if len == 0 {
        // Its directory entry first, whichever process created it: a synced record must not vanish with
        // its file.
        path.parent().map_or(Ok(()), |dir| disk.sync_dir(dir))?;
    }
    let written = if ends_a_line(file, len).at(path)? {
        disk.write(file, record)
    } else {
        disk.write(file, &[b"\n", record].concat())
    };
    if let Err(error) = written {
        // Frees the space of a partial write. If that fails, the next writer terminates the part.
        let _ = disk.cut(file, len);
        return Err(Error::io(path, error));
    }
    match durability {
        Durability::Buffered => Ok(()),
        Durability::Synced => disk.sync(file).at(path),
    }
}

/// True if a record may start here: not after one that was cut short.
fn ends_a_line(file: &File, len: u64) -> io::Result<bool> {
    if len == 0 {
        return Ok(true);
    }
    let mut last = [0];
    files::read_exact_at(file, &mut last, len - 1)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whose_they_are() {
        let shared = name("my-host-7", 12);
        let parsed = Name { host: "my-host-7", number: 12, spill: false };
        assert_eq!(Name::parse(&shared), Some(parsed));
        let own = spill_name("h", 3, 1);
        assert_eq!(Name::parse(&own), Some(Name { host: "h", number: 3, spill: true }));
        for foreign in ["h.jsonl", "h-x.jsonl", "notes.txt", "h-00000001.jsonl.zst", ""] {
            assert_eq!(Name::parse(foreign), None, "{foreign}");
        }
    }
}
