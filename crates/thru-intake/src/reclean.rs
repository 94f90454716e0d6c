//! Applying today's rules of redaction to what is kept already.

use thru_core::SourceKind;
use thru_journal::archive::EntryName;
use thru_redact::Report;
use thru_store::Store;

use crate::projector::Projector;
use crate::{Intake, IntakeError, IntakeLock, Result};

/// What applying the rules changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recleaned {
    /// Archived files that were written again.
    pub rewritten: usize,
    /// Archived files that are kept exactly as they were, because the user chose that.
    pub verbatim: usize,
    /// What was taken out.
    pub redacted: Report,
}

impl Intake {
    /// Takes out of the archive what the rules of redaction find in it, and makes what came of the
    /// changed files again. Line numbers and ids stay. Run again after a crash, it goes on.
    ///
    /// # Errors
    /// Where archive or store cannot be written.
    pub fn apply_rules(
        &self,
        lock: &IntakeLock,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Recleaned> {
        let mut outcome = Recleaned::default();
        let entries = self.archive.entries()?;
        for (number, entry) in entries.iter().enumerate() {
            if self.is_verbatim(entry)? {
                outcome.verbatim += 1;
            } else if self.reclean(entry, &mut outcome.redacted)? {
                outcome.rewritten += 1;
            }
            progress(number as u64 + 1, entries.len() as u64);
        }
        // Also where an earlier run stopped between archive and store, and for files that are kept as
        // they were: what came of them was clean by the rules of its time.
        let store = Store::open_if_there(&self.layout)?;
        if store
            .is_some_and(|store| store.redactor().ok() != Some(Some(self.redactor.fingerprint())))
        {
            self.rebuild(lock, &std::sync::atomic::AtomicBool::new(false), &mut |_| {})?;
        }
        Ok(outcome)
    }

    fn is_verbatim(&self, entry: &EntryName) -> Result<bool> {
        let reader = self.archive.reader(entry)?;
        Ok(reader.is_some_and(|reader| reader.blocks().iter().any(|block| block.verbatim)))
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
