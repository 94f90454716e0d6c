//! Events with a number of ours in them: sent by hooks, looked for in journal and store. Each is to be
//! there once.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use rusqlite::Connection;
use thru_capture::failures;
use thru_core::{Layout, Timestamp};
use thru_journal::journal::{Cursor, Item, Journal};

/// The fate of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) sent: usize,
    /// Not in the journal.
    pub(crate) lost: usize,
    /// In the journal more than once.
    pub(crate) doubled: usize,
    /// In the journal and not once in the store.
    pub(crate) not_in_store: usize,
    /// Hooks that were ended by their own watch since then, and say so.
    pub(crate) late: usize,
}

/// Looks for the events with these marks, which were sent after that time.
pub(crate) fn look_for(
    home: &Path,
    since: Timestamp,
    sent: impl Iterator<Item = u64>,
) -> Result<Kept> {
    let layout = Layout::new(home);
    let mut keys: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for item in Journal::open(layout.journal(), "bench")?.stream(Cursor::default())? {
        if let Item::Entry(stored) = item?
            && let Some(mark) = stored.body["payload"]["mark"].as_u64()
        {
            keys.entry(mark).or_default().push(stored.key);
        }
    }
    let late = failures::list(&layout);
    let late = late
        .iter()
        .filter(|failure| failure.at >= since && failure.reason.contains("longer than a second"));
    let mut kept = Kept { late: late.count(), ..Kept::default() };
    let database = Connection::open(layout.database())?;
    let mut rows = database.prepare("SELECT count(*) FROM events WHERE key = ?1")?;
    for mark in sent {
        kept.sent += 1;
        let keys = keys.get(&mark).map_or(&[][..], Vec::as_slice);
        kept.lost += usize::from(keys.is_empty());
        kept.doubled += usize::from(keys.len() > 1);
        for key in keys {
            let rows: u64 = rows.query_row([key], |row| row.get(0))?;
            kept.not_in_store += usize::from(rows != 1);
        }
    }
    Ok(kept)
}
