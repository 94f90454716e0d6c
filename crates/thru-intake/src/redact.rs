//! Applies today's redaction rules, and a text that the user names, to all data that is already kept.
//!
//! Everything is rewritten under its own ids: first the journal and the archive, because everything else is
//! made of them, then store and index, then the other files in the data directory. A run that was stopped
//! can be repeated and resumes.

use std::sync::atomic::AtomicBool;

use thru_core::SourceKind;
use thru_journal::archive::EntryName;
use thru_journal::journal::Damaged;
use thru_redact::{Redactor, Report, Sought, UserRule};
use thru_store::Store;
use thru_store::index::remove_other_indexes;

use crate::cleaning::Mark;
use crate::projector::Projector;
use crate::scan::DataPart;
use crate::sessions::Indexer;
use crate::{Intake, IntakeError, IntakeLock, OnLoss, Result};

/// The replacement of a given text: `[redacted:given]`.
pub(crate) const GIVEN: &str = "given";

/// A text that must not be kept, for as long as one command runs.
pub(crate) struct Given {
    /// Finds it anywhere.
    pub(crate) sought: Sought,
    /// Removes it from text that the user's own rules do not apply to.
    pub(crate) redactor: Redactor,
}

/// Counts of the changes made by the rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedactionReport {
    /// Records of the journal that were rewritten.
    pub records: u64,
    /// Archived files that were rewritten.
    pub rewritten: usize,
    /// Archived files that are kept exactly as they were, because the user chose that.
    pub verbatim: usize,
    /// True if store and index were rebuilt.
    pub rebuilt: bool,
    /// True if vectors of removed texts may be left, see [`IntakeError::NotSwept`].
    pub is_unswept: bool,
    /// Other files that were rewritten, by their names in the data directory.
    pub files: Vec<String>,
    /// Copies of the store that were removed.
    pub removed: Vec<String>,
    /// Counts of text removed from journal and archive.
    pub redacted: Report,
}

/// The fate of an archived file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    Rewritten,
    /// It is kept exactly as it is, because the user chose that.
    Verbatim,
    Unchanged,
}

impl RedactionReport {
    pub(crate) const fn note(&mut self, fate: Fate) {
        match fate {
            Fate::Rewritten => self.rewritten += 1,
            Fate::Verbatim => self.verbatim += 1,
            Fate::Unchanged => {}
        }
    }
}

impl Intake {
    /// Adds one more text that must not be kept, which is recorded nowhere.
    ///
    /// # Errors
    /// Fails if the text is empty or too long to search for.
    pub fn redacting(self, text: &str) -> Result<Self> {
        let sought = Sought::new(GIVEN, text)?;
        let mut rules: Vec<UserRule> = self
            .rules
            .iter()
            .map(|(name, pattern)| UserRule { name: name.clone(), pattern: pattern.clone() })
            .collect();
        rules.push(sought.rule().clone());
        let allow = &self.options.allow;
        let redactor = Redactor::new(&[sought.rule().clone()], allow)?;
        Ok(Self {
            redactor: Redactor::new(&rules, allow)?,
            given: Some(Given { sought, redactor }),
            ..self
        })
    }

    /// Removes everything that the redaction rules match from the kept data, and rebuilds store and index.
    /// Line numbers and ids stay.
    ///
    /// # Errors
    /// Fails if the journal, the archive or the store cannot be written.
    pub fn apply_rules(
        &self,
        lock: &IntakeLock,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RedactionReport> {
        let mut outcome = RedactionReport::default();
        self.mark_cleaning(lock, &Mark::begun(&self.fingerprint))?;
        outcome.records = self.rewrite_journal(&mut outcome.redacted)?;
        let entries = self.archive.entries()?;
        for (number, entry) in entries.iter().enumerate() {
            let fate = self.clean_entry(entry, &mut outcome.redacted)?;
            outcome.note(fate);
            progress(number as u64 + 1, entries.len() as u64);
        }
        self.redact_store(&mut outcome)?;
        self.redact_elsewhere(&mut outcome)?;
        Ok(outcome)
    }

    /// Rebuilds store and index if they were made by other rules, if their records changed, or if they may
    /// hold the given text.
    fn redact_store(&self, outcome: &mut RedactionReport) -> Result<()> {
        let Some(store) = Store::open_if_there(&self.layout)? else { return Ok(()) };
        // Also needed if an earlier run stopped between archive and store, and for files kept verbatim:
        // their rows were clean by the rules of their time. A given text may also be among the words of
        // removed rows in the index, so none of the old index is kept.
        let is_current = store.redactor().ok() == Some(Some(self.fingerprint.clone()));
        drop(store);
        if is_current && outcome.records == 0 && self.given.is_none() {
            return self.keep_store(outcome);
        }
        // A text that must go is in the old store: it cannot stay, whatever else it holds.
        let never = AtomicBool::new(false);
        self.remake(OnLoss::Accept, &self.fingerprint, &never, &mut |_| {})?;
        outcome.rebuilt = true;
        Ok(())
    }

    /// Notes that a store which was clean by these rules is clean by those of today, which are fewer.
    ///
    /// # Errors
    /// Fails if the store cannot be read or written.
    pub fn keep_clean(&self, _lock: &IntakeLock, rules: &str) -> Result<()> {
        let Some(store) = Store::open_if_there(&self.layout)? else { return Ok(()) };
        let was_clean = store.redactor()?.as_deref() == Some(rules);
        drop(store);
        if !was_clean {
            return Ok(());
        }
        let mut store = self.open_store(&mut |_, _, _| {})?;
        let batch = store.begin()?;
        batch.set_redactor(&self.fingerprint)?;
        Ok(batch.commit()?)
    }

    /// Notes that the store holds nothing that the rules match.
    pub(crate) fn keep_store(&self, outcome: &mut RedactionReport) -> Result<()> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        let batch = store.begin()?;
        batch.set_redactor(&self.fingerprint)?;
        batch.commit()?;
        remove_other_indexes(&self.layout, &store)?;
        outcome.is_unswept = self.is_left_unswept()?;
        Ok(())
    }

    /// Removes what the rules match from everything that is neither journal, archive nor store.
    pub(crate) fn redact_elsewhere(&self, outcome: &mut RedactionReport) -> Result<()> {
        let projections = self.projections(Indexer::without_transcripts(self));
        projections.all().try_for_each(|one| one.redact(&self.redactor))?;
        for (part, path) in self.other_files() {
            let name = self.name_of(&path);
            if part == DataPart::Backup {
                // Not in use while we hold the lock, and the store is complete.
                thru_journal::files::remove(&path)?;
                outcome.removed.push(name);
            } else if let Ok((Some(clean), _)) = self.cleaned_file(&path) {
                thru_journal::files::replace(&path, &clean)?;
                outcome.files.push(name);
            }
        }
        Ok(())
    }

    /// Rewrites the journal without the text that must go, and returns the number of changed records.
    pub(crate) fn rewrite_journal(&self, report: &mut Report) -> Result<u64> {
        // The content of damaged lines is unknown, and a user who names a text wants it gone with
        // certainty.
        let damaged = if self.given.is_some() { Damaged::Remove } else { Damaged::Keep };
        let done =
            self.journal.rewrite_with(damaged, &mut |stored| self.change_of(stored, report))?;
        Ok(done.replaced.values().chain(done.removed.values()).sum())
    }

    /// Rewrites an archived file, unless it is kept exactly as it is.
    pub(crate) fn clean_entry(&self, entry: &EntryName, report: &mut Report) -> Result<Fate> {
        Ok(match self.is_verbatim(entry)? {
            true => Fate::Verbatim,
            false if self.redact_entry(entry, report)? => Fate::Rewritten,
            false => Fate::Unchanged,
        })
    }

    /// Returns true if an archived file is kept exactly as it is. A file that holds the given text is not:
    /// a user who names a text wants it gone.
    fn is_verbatim(&self, entry: &EntryName) -> Result<bool> {
        let Some(mut reader) = self.archive.reader(entry)? else { return Ok(false) };
        if !reader.blocks().iter().any(|block| block.verbatim) {
            return Ok(false);
        }
        let Some(given) = &self.given else { return Ok(true) };
        for lines in reader.blocks_from(0) {
            if lines?.iter().any(|(_, line)| given.sought.is_in(line)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn redact_entry(&self, entry: &EntryName, report: &mut Report) -> Result<bool> {
        let Some(info) = self.archive.reader(entry)?.and_then(|reader| reader.info().cloned())
        else {
            return Ok(false);
        };
        if info.kind == SourceKind::Attachment {
            return Ok(self
                .archive
                .rewrite(entry, |line| self.redactor.clean_bytes(line, report))?);
        }
        let mut projector = Projector::resume(&info, entry, None).ok_or(IntakeError::WorkerLost)?;
        Ok(self.archive.rewrite(entry, |line| projector.clean(&self.redactor, line, report))?)
    }
}
