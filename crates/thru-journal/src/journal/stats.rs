//! Statistics of the journal.

use std::collections::BTreeMap;

use thru_core::Timestamp;

use super::cursor::Cursor;
use super::replay::Item;
use super::segment::Name;
use super::{Journal, segment};
use crate::error::Result;

/// The result of [`Journal::stats`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments that are shared by all writers of a host and not sealed.
    pub plain: u64,
    /// Sealed segments, including spills.
    pub sealed: u64,
    /// Spills that are not sealed.
    pub spills: u64,
    /// The size of all files in bytes.
    pub bytes_on_disk: u64,
    /// The size of all segments before compression in bytes, as far as they can be read.
    pub bytes: u64,
    /// The records.
    pub records: Count,
    /// The number of further records with the key of an earlier one.
    pub duplicates: u64,
    /// The number of problems that are damage.
    pub problems: u64,
    /// The number of records by kind.
    pub kinds: BTreeMap<String, u64>,
    /// The records by host.
    pub hosts: BTreeMap<String, Count>,
}

/// A number of records and the range of their times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number of records.
    pub records: u64,
    /// The earliest time.
    pub first: Option<Timestamp>,
    /// The latest time.
    pub last: Option<Timestamp>,
}

impl Count {
    fn add(&mut self, at: Timestamp) {
        self.records += 1;
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
    }
}

impl Journal {
    /// Reads the whole journal and counts its contents.
    ///
    /// # Errors
    /// Returns an error if a segment cannot be read. Damage is not an error: it is counted.
    pub fn stats(&self) -> Result<Stats> {
        let mut stats = Stats { bytes_on_disk: self.size()?, ..Stats::default() };
        let segments = segment::list(&self.dir)?;
        for listed in &segments {
            let spill = Name::parse(&listed.name).is_some_and(|name| name.spill);
            match (listed.sealed, spill) {
                (true, _) => stats.sealed += 1,
                (false, true) => stats.spills += 1,
                (false, false) => stats.plain += 1,
            }
        }
        let mut stream = self.stream(Cursor::default())?;
        for item in &mut stream {
            let entry = match item? {
                Item::Entry(entry) => entry,
                Item::Problem(problem) => {
                    stats.problems += u64::from(problem.kind.is_serious());
                    continue;
                }
            };
            stats.records.add(entry.at);
            *stats.kinds.entry(entry.kind).or_default() += 1;
            stats.hosts.entry(entry.host).or_default().add(entry.at);
        }
        stats.duplicates = stream.duplicates();
        stats.bytes = segments.iter().map(|s| stream.cursor().bytes_read(&s.name)).sum();
        Ok(stats)
    }
}
