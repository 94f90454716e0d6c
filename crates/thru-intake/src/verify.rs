//! Verifies that the data on disk is intact and that its parts agree.

use std::collections::{BTreeMap, HashMap, HashSet};

use thru_core::{Id, SourceKind};
use thru_journal::archive::EntryName;
use thru_journal::journal::{Cursor, Item};
use thru_store::index::{Collection, Damage, TextIndex};
use thru_store::{OperationRow, SourceRow, Store, StoreError};

use crate::sessions::Indexer;
use crate::{Intake, Result, decisions};

/// The thoroughness of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// All but what takes time on a large store: the texts are not unpacked.
    Cheap,
    /// Everything.
    Whole,
}

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

    /// Returns true if something of journal or archive is damaged or missing, which nothing else can replace.
    pub fn has_lost_truth(&self) -> bool {
        self.findings.iter().any(|finding| {
            finding.serious && (finding.place == "journal" || finding.place.starts_with("archive/"))
        })
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
    pub fn verify(&self, depth: Depth, progress: &mut dyn FnMut(u64, u64)) -> Result<Verification> {
        let mut found = Verification::default();
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
        self.verify_journal(store.as_ref(), &mut found)?;
        let sources: HashMap<String, SourceRow> = match &store {
            Some(store) => {
                store.sources()?.into_iter().map(|row| (row.entry.clone(), row)).collect()
            }
            None => HashMap::new(),
        };
        for (number, entry) in entries.iter().enumerate() {
            self.verify_entry(entry, sources.get(entry.as_str()), store.is_some(), &mut found)?;
            progress(number as u64 + 1, entries.len() as u64);
        }
        let is_transcript = |source: &&SourceRow| source.kind != SourceKind::Hooks;
        if store.is_some()
            && found.archived_lines > 0
            && !sources.values().any(|row| is_transcript(&row))
        {
            let message = format!("holds nothing of {} archived files", found.archived_files);
            found.note("memory.db", message, true);
        }
        if let Some(store) = &store {
            let archived: HashSet<&str> = entries.iter().map(EntryName::as_str).collect();
            let mut missing: Vec<&SourceRow> = sources
                .values()
                .filter(is_transcript)
                .filter(|source| !archived.contains(source.entry.as_str()))
                .collect();
            missing.sort_by(|one, other| one.entry.cmp(&other.entry));
            for source in missing {
                let message = match source.lines {
                    0 => "is missing".to_owned(),
                    lines => format!("is missing, with {lines} lines that the store holds"),
                };
                found.note(format!("archive/{}", source.entry), message, true);
            }
            self.verify_store(store, depth, &mut found)?;
        }
        Ok(found)
    }

    /// Reads the journal, and compares it with what the store made of it.
    fn verify_journal(&self, store: Option<&Store>, found: &mut Verification) -> Result<()> {
        let cursor = store.map(Store::journal_cursor).transpose()?.flatten();
        for problem in self.journal.missing(&decisions::cursor(cursor))? {
            found.note("journal", problem.to_string(), true);
        }
        let mut operations: HashMap<String, OperationRow> = match store {
            Some(store) => {
                store.operations()?.into_iter().map(|row| (row.key.clone(), row)).collect()
            }
            None => HashMap::new(),
        };
        let (mut keys, mut altered) = (HashSet::new(), 0_u64);
        for item in self.journal.stream(Cursor::default())? {
            match item? {
                Item::Entry(entry) => {
                    found.journal_records += 1;
                    if let Some(row) = operations.remove(&entry.key)
                        && (row.kind != entry.kind || row.body != entry.body)
                    {
                        altered += 1;
                    }
                    keys.insert(hash(&entry.key));
                }
                Item::Problem(problem) => {
                    found.note("journal", problem.to_string(), problem.kind.is_serious());
                }
            }
        }
        if altered > 0 {
            let message = format!("{altered} decisions are not as the journal has them");
            found.note("memory.db", message, true);
        }
        let mut lost = BTreeMap::<&str, u64>::new();
        if let Some(store) = store {
            store.journal_keys(&mut |name, key| {
                if !keys.contains(&hash(key)) {
                    *lost.entry(name).or_default() += 1;
                }
            })?;
        }
        if !lost.is_empty() {
            let lost: Vec<String> =
                lost.iter().map(|(name, number)| format!("{name} {number}")).collect();
            let message =
                format!("records that the store was made of are missing: {}", lost.join(", "));
            found.note("journal", message, true);
        }
        Ok(())
    }

    fn verify_entry(
        &self,
        entry: &EntryName,
        source: Option<&SourceRow>,
        has_store: bool,
        found: &mut Verification,
    ) -> Result<()> {
        let Some(report) = self.archive.verify(entry)? else { return Ok(()) };
        found.archived_files += 1;
        found.archived_lines += report.lines;
        found.archived_bytes += report.raw_bytes;
        found.archived_bytes_on_disk += report.compressed_bytes;
        let place = format!("archive/{entry}");
        for problem in report.problems {
            found.note(&place, problem, true);
        }
        let info = self.archive.reader(entry)?.and_then(|reader| reader.info().cloned());
        // Attachments are replaced as a whole: one that ends in the middle was cut off.
        let kind = info.map(|info| info.kind).or(source.map(|source| source.kind));
        let is_cut = report.torn && kind == Some(SourceKind::Attachment);
        if is_cut {
            found.note(&place, "is cut off", true);
        } else if report.torn {
            let message = "ends in a block that was not finished; what is added next closes it off";
            found.note(&place, message, false);
        }
        if !has_store || kind.is_none_or(|kind| kind == SourceKind::Attachment) {
            return Ok(());
        }
        let held = source.map_or(0, |source| source.lines);
        if held < report.lines {
            let message = format!("{} lines are not in the store yet", report.lines - held);
            found.note(place, message, false);
        } else if held > report.lines {
            let message =
                format!("the store holds {} lines more than the archive", held - report.lines);
            found.note(place, message, true);
        }
        Ok(())
    }

    fn verify_store(&self, store: &Store, depth: Depth, found: &mut Verification) -> Result<()> {
        let is_whole = depth == Depth::Whole;
        for problem in store.integrity_problems(is_whole)? {
            found.note("memory.db", problem, true);
        }
        if is_whole {
            for problem in store.text_problems()? {
                found.note("memory.db", problem, true);
            }
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
        if let Some(damage) = Damage::of(&self.layout, store, collection)? {
            let message = format!("that of {what} is damaged: {damage}");
            found.note("index", message, true);
            return Ok(());
        }
        let index = TextIndex::open_collection(&self.layout, store, collection)?;
        if index.rows_left_out > 0 {
            let message = format!("{} {what} are not in the index yet", index.rows_left_out);
            found.note("index", message, false);
        }
        let (_, missing, stale) = index.compare(store)?;
        // Without the rows that searches look through in memory.
        let committed = TextIndex::open_committed(&self.layout, store, collection)?;
        let (indexed, ..) = committed.compare(store)?;
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

/// Shortens a key, so that a long journal needs little memory.
fn hash(key: &str) -> Id {
    Id::derive(&[key.as_bytes()])
}
