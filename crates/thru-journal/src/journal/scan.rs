//! Reads one segment line by line, in bounded memory whatever is in it.
//!
//! It must not look into records.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memchr;

use super::cursor::{Cursor, Position, Read};
use super::record::MAX_RECORD_BYTES;
use super::segment;
use crate::checked;
use crate::error::{At, Result};

/// The longest line that can be a record.
const MAX_LINE: usize = MAX_RECORD_BYTES + checked::OVERHEAD;

/// A segment being read.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) name: String,
    path: PathBuf,
    reader: BufReader<File>,
    pub(super) read: Read,
    /// The line read last, without its newline.
    pub(super) line: Vec<u8>,
}

pub(super) enum Line {
    /// It is in [`Scan::line`].
    Whole,
    /// Longer than any record; what it says is not kept.
    TooLong,
    /// The segment ends before the line does.
    Unfinished,
    /// The segment ends here.
    End,
}

impl Scan {
    /// Opens a segment where the cursor stands; says whether that place is no longer there.
    pub(super) fn open(dir: &Path, name: String, cursor: &Cursor) -> Result<(Self, bool)> {
        let path = dir.join(&name);
        let mut file = File::open(&path).at(&path)?;
        let mut read = cursor.get(&name);
        let fits = read.bytes <= file.metadata().at(&path)?.len()
            && segment::ends_a_line(&mut file, read.bytes).at(&path)?;
        if !fits {
            read = Read::default();
        }
        file.seek(SeekFrom::Start(read.bytes)).at(&path)?;
        let reader = BufReader::with_capacity(64 * 1024, file);
        Ok((Self { name, path, reader, read, line: Vec::new() }, !fits))
    }

    pub(super) fn position(&self) -> Position {
        let Read { bytes, lines } = self.read;
        Position { segment: self.name.clone(), line: lines + 1, offset: bytes }
    }

    pub(super) fn read_line(&mut self) -> Result<Line> {
        self.line.clear();
        let mut length = 0_u64;
        loop {
            let available = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                available => available.at(&self.path)?,
            };
            if available.is_empty() {
                return Ok(if length == 0 { Line::End } else { Line::Unfinished });
            }
            let newline = memchr(b'\n', available);
            let part = &available[..newline.unwrap_or(available.len())];
            length += part.len() as u64;
            let fits = length <= MAX_LINE as u64;
            if fits {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(newline.is_some());
            self.reader.consume(used);
            if newline.is_some() {
                self.read.bytes += length + 1;
                self.read.lines += 1;
                return Ok(if fits { Line::Whole } else { Line::TooLong });
            }
        }
    }
}
