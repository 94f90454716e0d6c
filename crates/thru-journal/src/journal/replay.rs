//! Reads the journal: segments by name, records in the order in which they were appended to each.
//!
//! Nothing is repaired or skipped silently: a line that is no record becomes a problem.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use thru_core::Timestamp;

use super::cursor::{Cursor, Position};
use super::record::{self, Content, Unreadable};
use super::scan::{Line, Scan};
use super::segment;
use crate::error::Result;

/// An entry as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its position.
    pub position: Position,
    /// The machine that recorded it.
    pub host: String,
    /// Its idempotency key.
    pub key: String,
    /// The time of the fact.
    pub at: Timestamp,
    /// The type of the body.
    pub kind: String,
    /// The fact itself. It was clean by the rules of its time, which may not satisfy today's.
    pub body: Value,
}

impl Stored {
    pub(super) fn new(position: Position, record: record::Read) -> Self {
        let record::Read { key, host, at, kind, body, .. } = record;
        Self { position, host, key, at, kind, body }
    }
}

/// The kind of problem with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// It is damaged, or was never completely written. In a sealed segment this may apply to everything
    /// that follows.
    Damaged,
    /// Its writer was stopped in the middle of it, before it acknowledged anything, or the power
    /// failed. It begins like a record and ends early; a record that was damaged in its last few bytes
    /// can look the same.
    CutShort,
    /// It is the last line and has no newline: its writer was stopped, or is writing right now. It is
    /// read again next time.
    Unfinished,
    /// It is intact, but written by a newer version of Throughline, with this format if known. It is
    /// kept; after an upgrade, read the journal from its start.
    Newer(Option<u64>),
    /// The segment is not the one that the cursor was made from: it is read from its start again.
    Changed,
    /// The segment is gone, from which this many lines were read.
    Missing(u64),
    /// The segment ends here, and this many lines were read from it.
    Shortened(u64),
    /// Other lines are here than those that were read, this many.
    Replaced(u64),
}

impl ProblemKind {
    /// True if recorded facts may be lost. Other problems are only informative.
    pub const fn is_serious(self) -> bool {
        match self {
            Self::Damaged | Self::Missing(_) | Self::Shortened(_) | Self::Replaced(_) => true,
            Self::CutShort | Self::Unfinished | Self::Newer(_) | Self::Changed => false,
        }
    }
}

/// A problem in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalProblem {
    /// Its position.
    pub position: Position,
    /// Its kind.
    pub kind: ProblemKind,
}

impl fmt::Display for JournalProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.position)?;
        match self.kind {
            ProblemKind::Damaged => f.write_str("the record is damaged"),
            ProblemKind::CutShort => f.write_str("the record was cut short"),
            ProblemKind::Unfinished => f.write_str("the record is not finished"),
            ProblemKind::Newer(Some(version)) => {
                write!(
                    f,
                    "the record was written by a newer version of Throughline (format {version})"
                )
            }
            ProblemKind::Newer(None) => {
                f.write_str("the record was written by a newer version of Throughline")
            }
            ProblemKind::Changed => f.write_str("the segment changed since it was last read"),
            ProblemKind::Missing(lines) => {
                write!(f, "the segment is missing; {lines} lines were read from it")
            }
            ProblemKind::Shortened(lines) => {
                write!(f, "the segment ends here; {lines} lines were read from it")
            }
            ProblemKind::Replaced(lines) => {
                write!(f, "the segment does not hold the {lines} lines that were read from it")
            }
        }
    }
}

/// An item of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A record.
    Entry(Stored),
    /// A line that is no record.
    Problem(JournalProblem),
}

/// An iterator over the journal after a cursor; made by [`Journal::stream`](super::Journal::stream).
///
/// Of entries with the same key the first is yielded. That holds within a stream: a caller that reads
/// in several passes has to remember the keys itself. After an error the stream ends; its cursor stays
/// valid.
#[derive(Debug)]
pub struct Stream {
    dir: PathBuf,
    segments: std::vec::IntoIter<segment::Listed>,
    current: Option<Scan>,
    cursor: Cursor,
    seen: HashSet<u128>,
    duplicates: u64,
    passed_over: &'static [&'static str],
}

impl Stream {
    pub(super) fn new(dir: &Path, cursor: Cursor) -> Result<Self> {
        Ok(Self {
            dir: dir.to_owned(),
            segments: segment::list(dir)?.into_iter(),
            current: None,
            cursor,
            seen: HashSet::new(),
            duplicates: 0,
            passed_over: &[],
        })
    }

    /// Excludes the records of these kinds, which are not parsed: damage in them is not reported.
    #[must_use]
    pub fn without(self, kinds: &'static [&'static str]) -> Self {
        Self { passed_over: kinds, ..self }
    }

    /// Returns the position after the last yielded item.
    pub const fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// Returns the number of entries skipped because an earlier entry has their key.
    pub const fn duplicates(&self) -> u64 {
        self.duplicates
    }

    fn step(&mut self) -> Result<Option<Item>> {
        loop {
            let Some(segment) = &mut self.current else {
                let Some(listed) = self.segments.next() else {
                    return Ok(None);
                };
                let opened = Scan::open(&self.dir, listed.name, &self.cursor)?;
                // A segment without records may be gone since it was listed.
                let Some((segment, changed)) = opened else { continue };
                let position = segment.position();
                self.current = Some(segment);
                if changed {
                    let kind = ProblemKind::Changed;
                    return Ok(Some(Item::Problem(JournalProblem { position, kind })));
                }
                continue;
            };
            let position = segment.position();
            let record = match segment.read_line()? {
                Line::End => {
                    self.current = None;
                    continue;
                }
                Line::Unfinished => {
                    self.current = None;
                    let kind = ProblemKind::Unfinished;
                    return Ok(Some(Item::Problem(JournalProblem { position, kind })));
                }
                Line::Broken => {
                    self.current = None;
                    let kind = ProblemKind::Damaged;
                    return Ok(Some(Item::Problem(JournalProblem { position, kind })));
                }
                Line::TooLong => {
                    self.cursor.set(&segment.name, segment.read);
                    let kind = ProblemKind::Damaged;
                    return Ok(Some(Item::Problem(JournalProblem { position, kind })));
                }
                Line::Whole
                    if record::kind_of(&segment.line)
                        .is_some_and(|kind| self.passed_over.contains(&kind)) =>
                {
                    self.cursor.set(&segment.name, segment.read);
                    continue;
                }
                Line::Whole => record::decode(&segment.line),
            };
            self.cursor.set(&segment.name, segment.read);
            let kind = match record {
                Ok(Content::Record(record)) if self.seen.insert(short_hash(&record.key)) => {
                    return Ok(Some(Item::Entry(Stored::new(position, record))));
                }
                Ok(Content::Record(_)) => {
                    self.duplicates += 1;
                    continue;
                }
                Ok(Content::Rewritten(_)) => continue,
                Err(Unreadable::Damaged) if record::is_cut_short(&segment.line) => {
                    ProblemKind::CutShort
                }
                Err(Unreadable::Damaged) => ProblemKind::Damaged,
                Err(Unreadable::Newer(version)) => ProblemKind::Newer(version),
            };
            return Ok(Some(Item::Problem(JournalProblem { position, kind })));
        }
    }
}

impl Iterator for Stream {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.step().transpose();
        if let Some(Err(_)) = item {
            self.current = None;
            self.segments = Vec::new().into_iter();
        }
        item
    }
}

/// Shortens a key to half a hash, so that a long replay needs little memory.
fn short_hash(key: &str) -> u128 {
    let mut short = [0; 16];
    short.copy_from_slice(&blake3::hash(key.as_bytes()).as_bytes()[..16]);
    u128::from_le_bytes(short)
}

/// The contents of a journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// The entries, each key once.
    pub entries: Vec<Stored>,
    /// The problems.
    pub problems: Vec<JournalProblem>,
    /// The position from which to continue.
    pub cursor: Cursor,
}

impl Replay {
    pub(super) fn collect(mut stream: Stream) -> Result<Self> {
        let mut replay = Self::default();
        for item in &mut stream {
            match item? {
                Item::Entry(entry) => replay.entries.push(entry),
                Item::Problem(problem) => replay.problems.push(problem),
            }
        }
        replay.cursor = stream.cursor;
        Ok(replay)
    }
}

/// The result of [`Journal::verify`](super::Journal::verify).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// The number of segments.
    pub segments: usize,
    /// The number of readable entries.
    pub entries: u64,
    /// The number of further entries with the key of an earlier one.
    pub duplicates: u64,
    /// The problems.
    pub problems: Vec<JournalProblem>,
}

impl Verification {
    pub(super) fn of(mut stream: Stream) -> Result<Self> {
        let segments = stream.segments.len();
        let mut found = Self { segments, ..Self::default() };
        for item in &mut stream {
            match item? {
                Item::Entry(_) => found.entries += 1,
                Item::Problem(problem) => found.problems.push(problem),
            }
        }
        found.duplicates = stream.duplicates;
        Ok(found)
    }
}
