//! Verifies that the data on disk is intact and that its parts agree.

use std::collections::HashSet;

use thru_core::SourceKind;
use thru_journal::archive::EntryName;
use thru_store::index::{Collection, TextIndex};
use thru_store::{Store, StoreError};

use crate::sessions::Indexer;
use crate::{Intake, Result};

/// A fault, or something worth knowing.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// The file, or part of the system.
    pub place: String,
    /// The problem.
    pub message: String,
    /// True if something is damaged or missing; otherwise it is worth knowing and resolves itself.
    pub serious: bool,
}

/// Counts and findings of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Verification {
    /// Records of the journal.
    pub journal_records: u64,
    /// Archived files.
    pub archived_files: u64,
    /// Lines of the archive.
    pub archived_lines: u64,
    /// Bytes of the archive, unpacked.
    pub archived_bytes: u64,
    /// Bytes of the archive, on disk.
    pub archived_bytes_on_disk: u64,
    /// Passages in the store.
    pub passages: u64,
    /// Passages in the index.
    pub indexed: u64,
    /// Memories in the index of memories.
    #[serde(skip)]
    pub memories: u64,
    /// The problems found.
    pub findings: Vec<Finding>,
}

impl Verification {
    /// Returns true if nothing is damaged or missing.
    pub fn is_clean(&self) -> bool {
        !self.findings.iter().any(|finding| finding.serious)
    }

    fn note(&mut self, place: impl Into<String>, message: impl Into<String>, serious: bool) {
        self.findings.push(Finding { place: place.into(), message: message.into(), serious });
    }
}

impl Intake {
    /// Reads journal and archive to their ends and compares store and index with them.
    ///
    /// # Errors
    /// Fails if the check itself is not possible.
    pub fn verify(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Verification> {
        let mut found = Verification::default();
        self.verify_journal(&mut found)?;
        let entries = self.archive.entries()?;
        let store = match Store::open_to_read(&self.layout) {
            Ok(store) => Some(store),
            // Nothing was ever imported.
            Err(StoreError::Missing { .. }) if entries.is_empty() => None,
            Err(error) => {
                found.note("memory.db", error.to_string(), true);
                None
            }
        };
        for (number, entry) in entries.iter().enumerate() {
            self.verify_entry(entry, store.as_ref(), &mut found)?;
            progress(number as u64 + 1, entries.len() as u64);
        }
        if let Some(store) = &store {
            let archived: HashSet<&str> = entries.iter().map(EntryName::as_str).collect();
            for source in store.sources()? {
                let is_archived = source.kind != SourceKind::Hooks;
                if is_archived && !archived.contains(source.entry.as_str()) {
                    found.note(format!("archive/{}", source.entry), "is missing", true);
                }
            }
            self.verify_store(store, &mut found)?;
        }
        Ok(found)
    }

    fn verify_journal(&self, found: &mut Verification) -> Result<()> {
        let journal = self.journal.verify()?;
        found.journal_records = journal.entries;
        for problem in journal.problems {
            found.note("journal", problem.to_string(), problem.kind.is_serious());
        }
        Ok(())
    }

    fn verify_entry(
        &self,
        entry: &EntryName,
        store: Option<&Store>,
        found: &mut Verification,
    ) -> Result<()> {
        let Some(report) = self.archive.verify(entry)? else { return Ok(()) };
        found.archived_files += 1;
        found.archived_lines += report.lines;
        found.archived_bytes += report.raw_bytes;
        found.archived_bytes_on_disk += report.compressed_bytes;
        for problem in report.problems {
            found.note(format!("archive/{entry}"), problem, true);
        }
        if report.torn {
            let message = "ends in a block that was not finished; the next import closes it off";
            found.note(format!("archive/{entry}"), message, false);
        }
        let Some(store) = store else { return Ok(()) };
        let kind =
            self.archive.reader(entry)?.and_then(|reader| reader.info().map(|info| info.kind));
        if kind.is_none_or(|kind| kind == SourceKind::Attachment) {
            return Ok(());
        }
        let held = store.cursor(entry.as_str())?.unwrap_or_default().lines;
        if held < report.lines {
            let message = format!("{} lines are not in the store yet", report.lines - held);
            found.note(format!("archive/{entry}"), message, false);
        } else if held > report.lines {
            let message =
                format!("the store holds {} lines more than the archive", held - report.lines);
            found.note(format!("archive/{entry}"), message, true);
        }
        Ok(())
    }

    fn verify_store(&self, store: &Store, found: &mut Verification) -> Result<()> {
        for problem in store.integrity_problems()? {
            found.note("memory.db", problem, true);
        }
        for problem in store.contradictions()? {
            found.note("memory.db", problem, true);
        }
        let projections = self.projections(Indexer::without_transcripts(self));
        for projection in projections.all() {
            projection.verify(store, &mut |finding| found.findings.push(finding))?;
        }
        found.passages = store.counts()?.passages;
        for collection in Collection::ALL {
            self.verify_index(store, collection, found)?;
        }
        Ok(())
    }

    fn verify_index(
        &self,
        store: &Store,
        collection: Collection,
        found: &mut Verification,
    ) -> Result<()> {
        let what = match collection {
            Collection::Passages => "passages",
            Collection::Memories => "memories",
        };
        let index = TextIndex::open_collection(&self.layout, store, collection)?;
        if index.rows_left_out > 0 {
            let message = format!("{} {what} are not in the index yet", index.rows_left_out);
            found.note("index", message, false);
        }
        let (indexed, missing, stale) = index.compare(store)?;
        match collection {
            Collection::Passages => found.indexed = indexed,
            Collection::Memories => found.memories = indexed,
        }
        if missing > 0 && index.rows_left_out == 0 {
            found.note("index", format!("{missing} {what} of the store are missing"), true);
        }
        if stale > 0 {
            found.note("index", format!("{stale} entries belong to no {what}"), true);
        }
        Ok(())
    }
}
