//! The files of the journal: their names, and how a record gets to the end of one.
//!
//! It must not look into records.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::Durability;
use crate::error::{At, Error, Result};
use crate::files;

const SUFFIX: &str = ".jsonl";

/// The name of a host's segment. Names sort by number, a segment before its spills.
pub(super) fn name(host: &str, number: u64) -> String {
    format!("{host}-{number:08}{SUFFIX}")
}

/// The names of all segments, of every host, sorted.
pub(super) fn list(dir: &Path) -> Result<Vec<String>> {
    let listing = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listing => listing.at(dir)?,
    };
    let mut names = Vec::new();
    for item in listing {
        let item = item.at(dir)?;
        if item.file_type().at(&item.path())?.is_file()
            // Every name that we write is UTF-8.
            && let Ok(name) = item.file_name().into_string()
            && name.ends_with(SUFFIX)
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The number of a host's newest segment.
pub(super) fn newest(dir: &Path, host: &str) -> Result<Option<u64>> {
    let number = |name: &str| {
        let number = name.strip_prefix(host)?.strip_prefix('-')?.strip_suffix(SUFFIX)?;
        number.parse::<u64>().ok()
    };
    Ok(list(dir)?.iter().filter_map(|name| number(name)).max())
}

/// Opens a shared segment for appending, and makes it if need be.
pub(super) fn open(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    files::private(options.read(true).append(true).create(true)).open(path).at(path)
}

/// Makes a segment that nobody else writes.
pub(super) fn create_spill(dir: &Path, host: &str, number: u64) -> Result<(PathBuf, File)> {
    let process = std::process::id();
    let mut attempt = 0;
    loop {
        let path = dir.join(format!("{host}-{number:08}.spill-{process}-{attempt}{SUFFIX}"));
        match files::create_new_private(&path) {
            // Of an earlier process with our id, or of another journal in this one.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
            Err(error) => return Err(Error::io(&path, error)),
            Ok(file) => return Ok((path, file)),
        }
    }
}

/// Puts a record at the end of a segment that nobody else writes at this moment.
pub(super) fn append(
    file: &mut File,
    path: &Path,
    record: &[u8],
    durability: Durability,
) -> Result<()> {
    let len = file.metadata().at(path)?.len();
    if len == 0 {
        // Its name first, whoever made it: a synced record must not vanish with its file.
        path.parent().map_or(Ok(()), files::sync_dir)?;
    }
    let written = if ends_a_line(file, len).at(path)? {
        file.write_all(record)
    } else {
        file.write_all(&[b"\n", record].concat())
    };
    if let Err(error) = written {
        // Gives back the room that a part took. If that fails, the next writer closes the part off.
        let _ = file.set_len(len);
        return Err(Error::io(path, error));
    }
    match durability {
        Durability::Buffered => Ok(()),
        Durability::Synced => file.sync_data().at(path),
    }
}

/// Whether a record may start here: not behind one that was cut short.
pub(super) fn ends_a_line(file: &mut File, len: u64) -> io::Result<bool> {
    if len == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(len - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
