//! What lies in the journal and is not in the store yet.

use thru_journal::journal::Item;
use thru_store::Store;

use crate::{Intake, Result, decisions};

/// Records that wait to be brought in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// How many.
    pub records: u64,
    /// Lines among them that are no records.
    pub problems: u64,
}

impl Intake {
    /// What of the journal a store has not applied yet; everything where there is no store. Reads
    /// what waits and nothing else.
    ///
    /// # Errors
    /// Where store or journal cannot be read.
    pub fn pending(&self, store: Option<&Store>) -> Result<Pending> {
        let cursor = match store {
            // Decisions are never further behind.
            Some(store) => store.events_cursor()?,
            None => None,
        };
        let mut pending = Pending::default();
        for item in self.journal.stream(decisions::cursor(cursor))? {
            match item? {
                // Recorded by those who write the store, in the transaction that uses it.
                Item::Entry(entry) if entry.kind == "directory-placed" => {}
                Item::Entry(_) => pending.records += 1,
                Item::Problem(_) => pending.problems += 1,
            }
        }
        Ok(pending)
    }
}
