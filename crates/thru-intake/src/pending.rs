//! Records of the journal that are not in the store yet.

use thru_journal::journal::{Cursor, Item};
use thru_store::Store;

use crate::{Intake, Result, decisions};

/// Records that wait to be applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Number of records.
    pub records: u64,
    /// Lines among them that are not records.
    pub problems: u64,
}

/// The kind of the records that only the writer of the store makes, in the transaction that uses them.
const BY_WRITER: &str = "directory-placed";

impl Intake {
    /// Counts the records that a store has not applied yet; all of them without a store. Reads only those.
    ///
    /// # Errors
    /// Fails if the store or the journal cannot be read.
    pub fn pending(&self, store: Option<&Store>) -> Result<Pending> {
        let cursor = match store {
            // The cursor of decisions is never further behind.
            Some(store) => store.events_cursor()?,
            None => None,
        };
        let mut pending = Pending::default();
        for item in self.journal.stream(decisions::cursor(cursor))? {
            match item? {
                Item::Entry(entry) if entry.kind == BY_WRITER => {}
                Item::Entry(_) => pending.records += 1,
                Item::Problem(_) => pending.problems += 1,
            }
        }
        Ok(pending)
    }

    /// Returns true if the journal shows that there was a store once.
    ///
    /// # Errors
    /// Fails if the journal cannot be read.
    pub fn had_store(&self) -> Result<bool> {
        for item in self.journal.stream(Cursor::default())? {
            if matches!(item?, Item::Entry(entry) if entry.kind == BY_WRITER) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
