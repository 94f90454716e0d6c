//! Applying today's rules of redaction, and a text that somebody named, to what is kept already.
//!
//! Everything is written again under the ids it has: journal and archive first, because everything
//! else is made of them, then store and index, then whatever else lies in the data directory. Stopped
//! at any point and run again, it goes on.

use std::sync::atomic::AtomicBool;

use thru_core::SourceKind;
use thru_journal::archive::EntryName;
use thru_journal::journal::Damaged;
use thru_redact::{Redactor, Report, Sought, UserRule};
use thru_store::Store;
use thru_store::index::remove_other_indexes;

use crate::projector::Projector;
use crate::traces::Part;
use crate::{Intake, IntakeError, IntakeLock, Result};

/// What stands where a given text stood: `[redacted:given]`.
pub(crate) const GIVEN: &str = "given";

/// A text that must not be kept, for as long as one command runs.
pub(crate) struct Given {
    /// Finds it wherever it stands.
    pub(crate) sought: Sought,
    /// Takes it out of what the user's own rules do not apply to.
    pub(crate) redactor: Redactor,
}

/// What applying the rules changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recleaned {
    /// Records of the journal that were written again.
    pub records: u64,
    /// Archived files that were written again.
    pub rewritten: usize,
    /// Archived files that are kept exactly as they were, because the user chose that.
    pub verbatim: usize,
    /// Whether store and index were made again.
    pub rebuilt: bool,
    /// Whether vectors of what was taken out may be left, see [`IntakeError::NotSwept`].
    pub is_unswept: bool,
    /// Other files that were written again, by their names in the data directory.
    pub files: Vec<String>,
    /// Copies of the store that were removed.
    pub removed: Vec<String>,
    /// What was taken out of journal and archive.
    pub redacted: Report,
}

impl Intake {
    /// The same with one more text that must not be kept, which is recorded nowhere.
    ///
    /// # Errors
    /// Where the text is empty or too long to look for.
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

    /// Takes out what the rules of redaction find in what is kept, and makes store and index again.
    /// Line numbers and ids stay.
    ///
    /// # Errors
    /// Where journal, archive or store cannot be written.
    pub fn apply_rules(
        &self,
        lock: &IntakeLock,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Recleaned> {
        let mut outcome = Recleaned::default();
        outcome.records = self.rewrite_journal(&mut outcome.redacted)?;
        let entries = self.archive.entries()?;
        for (number, entry) in entries.iter().enumerate() {
            if self.is_verbatim(entry)? {
                outcome.verbatim += 1;
            } else if self.reclean(entry, &mut outcome.redacted)? {
                outcome.rewritten += 1;
            }
            progress(number as u64 + 1, entries.len() as u64);
        }
        self.reclean_store(lock, &mut outcome)?;
        for (part, path) in self.other_files() {
            let name = self.name_of(&path);
            if part == Part::Backup {
                // Nobody is at work on it while we hold the lock, and the store was made whole.
                thru_journal::files::remove(&path)?;
                outcome.removed.push(name);
            } else if let Ok((Some(clean), _)) = self.cleaned_file(&path) {
                thru_journal::files::replace(&path, &clean)?;
                outcome.files.push(name);
            }
        }
        Ok(outcome)
    }

    /// Makes store and index again where they were made by other rules, of records that are others now,
    /// or may hold the given text.
    fn reclean_store(&self, lock: &IntakeLock, outcome: &mut Recleaned) -> Result<()> {
        let Some(store) = Store::open_if_there(&self.layout)? else { return Ok(()) };
        // Also where an earlier run stopped between archive and store, and for files that are kept as
        // they were: what came of them was clean by the rules of its time. A given text may also lie in
        // words of the index whose rows are gone, so nothing of the old index is kept.
        let is_current = store.redactor().ok() == Some(Some(self.fingerprint.clone()));
        if is_current && outcome.records == 0 && self.given.is_none() {
            remove_other_indexes(&self.layout, &store)?;
            outcome.is_unswept = self.is_left_unswept()?;
            return Ok(());
        }
        drop(store);
        self.rebuild(lock, &AtomicBool::new(false), &mut |_| {})?;
        outcome.rebuilt = true;
        Ok(())
    }

    /// Writes the journal again without what must go, and says how many records that changed.
    fn rewrite_journal(&self, report: &mut Report) -> Result<u64> {
        // Nobody can say what damaged lines hold: who names a text wants it gone with certainty.
        let damaged = if self.given.is_some() { Damaged::Remove } else { Damaged::Keep };
        let done =
            self.journal.rewrite_with(damaged, &mut |stored| self.change_of(stored, report))?;
        Ok(done.replaced.values().chain(done.removed.values()).sum())
    }

    /// Whether an archived file is to be kept exactly as it is. Not where it holds the given text: who
    /// names a text wants it gone.
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

    fn reclean(&self, entry: &EntryName, report: &mut Report) -> Result<bool> {
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
