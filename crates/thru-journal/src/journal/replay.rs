//! Reads the journal: segments by name, records in the order they were appended to each.
//!
//! Nothing is repaired or skipped in silence: what is no record comes out as a problem.

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
    /// Where it is.
    pub position: Position,
    /// The machine that recorded it.
    pub host: String,
    /// Its idempotency key.
    pub key: String,
    /// When it happened.
    pub at: Timestamp,
    /// What the body is about.
    pub kind: String,
    /// The fact itself. It was clean by the rules of its time, which proves nothing by today's.
    pub body: Value,
}

impl Stored {
    pub(super) fn new(position: Position, record: record::Read) -> Self {
        let record::Read { key, host, at, kind, body, .. } = record;
        Self { position, host, key, at, kind, body }
    }
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// It is not what was written, or was never written to its end. In a sealed segment this may be
    /// true of all that follows.
    Damaged,
    /// Its writer was stopped in the middle of it, before it acknowledged anything, or the power
    /// failed. It begins as a record and ends early; a record that was damaged in its last few bytes
    /// can look the same.
    CutShort,
    /// It is the last and has no newline: its writer was stopped, or is at work right now. It is
    /// looked at again next time.
    Unfinished,
    /// It is whole, but written by a newer version of Throughline, of this format if it says so. It
    /// is kept; after an upgrade, read the journal from its start.
    Newer(Option<u64>),
    /// The segment is not the one that the cursor was made from: it is read from its start again.
    Changed,
}

impl ProblemKind {
    /// Whether something that was kept may be lost. Otherwise it is worth knowing and no more.
    pub const fn is_serious(self) -> bool {
        match self {
            Self::Damaged => true,
            Self::CutShort | Self::Unfinished | Self::Newer(_) | Self::Changed => false,
        }
    }
}

/// Something in the journal that is no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalProblem {
    /// Where it is.
    pub position: Position,
    /// What it is.
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
        }
    }
}

/// What a stream yields.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A record.
    Entry(Stored),
    /// Something that is none.
    Problem(JournalProblem),
}

/// The journal behind a cursor; made by [`Journal::stream`](super::Journal::stream).
///
/// Of entries with the same key the first is yielded. That holds within a stream: who reads in
/// several goes has to remember the keys itself. After an error the stream ends; its cursor stays
/// good.
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

    /// The same stream without the records of these kinds, which are not even looked at: whether they
    /// are whole is for others to see.
    #[must_use]
    pub fn without(self, kinds: &'static [&'static str]) -> Self {
        Self { passed_over: kinds, ..self }
    }

    /// Where the stream stands: behind what it yielded last.
    pub const fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// How many entries were passed over because an entry before them has their key.
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
                // What had no record may be gone since we looked.
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

/// Half a hash stands for a key, so that the memory of a long replay stays small.
fn short_hash(key: &str) -> u128 {
    let mut short = [0; 16];
    short.copy_from_slice(&blake3::hash(key.as_bytes()).as_bytes()[..16]);
    u128::from_le_bytes(short)
}

/// Everything in the journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// The entries, each key once.
    pub entries: Vec<Stored>,
    /// What is no entry.
    pub problems: Vec<JournalProblem>,
    /// Where the next reading starts.
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

/// What [`Journal::verify`](super::Journal::verify) found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// How many segments there are.
    pub segments: usize,
    /// How many entries can be read.
    pub entries: u64,
    /// How many more have the key of one before them.
    pub duplicates: u64,
    /// What is wrong.
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
