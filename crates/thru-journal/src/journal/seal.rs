//! Sealing: segments that get no more records are compressed.
//!
//! `<segment>.zst` replaces `<segment>` and is the same segment: `zstdcat` prints its lines, and
//! positions are those of the lines before compression. Killed at any point, this leaves one of the two
//! or both, and readers take the sealed one. A segment with a sealed file beside it gets no more
//! appends, and the lock of the plain one is held from the first look at it until it is gone.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::Duration;

use zstd::bulk::{Compressor, Decompressor};

use super::append::lock;
use super::segment::{Listed, Name};
use super::{Journal, disk, scan, segment};
use crate::error::{At, Error, Result};

/// Strong enough: level 19 takes ten times as long for a few percent of text like ours.
const LEVEL: i32 = 9;

/// The result of [`Journal::seal`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sealed {
    /// The number of sealed segments.
    pub segments: u64,
    /// Their length before.
    pub bytes: u64,
    /// Their length now.
    pub sealed_bytes: u64,
    /// The number of segments that have to wait because another process is writing them.
    pub busy: u64,
}

impl Journal {
    /// Compresses every segment that gets no more records: those before the newest of their host, and
    /// spills that their writers left. Takes no time if there is none.
    ///
    /// Any number of processes may append and read meanwhile, but only one may seal or rewrite.
    ///
    /// # Errors
    /// Returns an error if a segment cannot be read, or the disk cannot be written.
    pub fn seal(&self) -> Result<Sealed> {
        self.leave_spill();
        segment::remove_leftovers(&*self.disk, &self.dir)?;
        let segments = segment::list(&self.dir)?;
        let mut newest = HashMap::<&str, u64>::new();
        for name in segments.iter().filter_map(|listed| Name::parse(&listed.name)) {
            if !name.spill {
                let number = newest.entry(name.host).or_default();
                *number = name.number.max(*number);
            }
        }
        let mut done = Sealed::default();
        for listed in segments.iter().filter(|listed| listed.plain) {
            let Some(name) = Name::parse(&listed.name) else { continue };
            if name.spill || listed.sealed || newest.get(name.host) > Some(&name.number) {
                self.seal_one(listed, name, &mut done)?;
            }
        }
        Ok(done)
    }

    fn seal_one(&self, listed: &Listed, name: Name<'_>, done: &mut Sealed) -> Result<()> {
        let path = self.dir.join(&listed.name);
        let sealed = segment::sealed(&path);
        let file = match OpenOptions::new().read(true).append(true).open(&path) {
            // A spill that was never used.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened.at(&path)?,
        };
        if !lock(&file, Duration::ZERO) {
            done.busy += 1;
            return Ok(());
        }
        let mut content = std::fs::read(&path).at(&path)?;
        if content.is_empty() {
            // Opened by a writer that came too late, or never used.
            return self.remove(&path);
        }
        if listed.sealed {
            let (unpacked, whole) = scan::read_whole(&path)?.unwrap_or_default();
            if whole && unpacked.starts_with(&content) {
                return self.remove(&path);
            }
            // Damaged content may only be replaced by what it certainly was.
            if unpacked.is_empty() || !content.starts_with(&unpacked) {
                // Two segments with the same name: a file was copied here. Both are kept.
                let free = segment::free_spill_path(&self.dir, name)?;
                self.disk.rename(&path, &free).at(&path)?;
                return self.disk.sync_dir(&self.dir);
            }
        }
        if !content.ends_with(b"\n") {
            // Terminates a record that was cut short, as the next writer would.
            content.push(b'\n');
        }
        let packed = pack(&path, &content)?;
        disk::replace(&*self.disk, &self.dir, &sealed, &packed)?;
        self.remove(&path)?;
        done.segments += 1;
        done.bytes += content.len() as u64;
        done.sealed_bytes += packed.len() as u64;
        Ok(())
    }

    /// Removes the plain file of a segment. That is made durable before anything else happens: text
    /// that a later rewrite removes must not come back with it.
    fn remove(&self, path: &Path) -> Result<()> {
        self.disk.remove(path).at(path)?;
        self.disk.sync_dir(&self.dir)
    }
}

/// Compresses a segment, and checks that the result can be read.
pub(super) fn pack(path: &Path, content: &[u8]) -> Result<Vec<u8>> {
    let packed = Compressor::new(LEVEL).and_then(|mut compressor| {
        compressor.include_checksum(true)?;
        compressor.compress(content)
    });
    let packed = packed.at(path)?;
    // The plain file is removed next, and cannot be recovered.
    let unpacked = Decompressor::new().and_then(|mut zstd| zstd.decompress(&packed, content.len()));
    if unpacked.at(path)? == content {
        Ok(packed)
    } else {
        Err(Error::corrupt(path, "the compressed segment does not unpack to its content"))
    }
}
