//! The text index follows the store on a thread of its own, so that reading need not wait for it.

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use thru_store::Store;
use thru_store::index::{Collection, IndexWriter};

use crate::Result;
use crate::stages::{Stage, Stages};

/// The time that new passages may wait for an index commit of their own. (As long as they are few, searches
/// find them before, too.) Every commit makes a segment, and segments cost merging.
const COMMIT_EVERY: Duration = Duration::from_secs(4);

/// Bytes that the index may collect in memory before it writes a segment.
const INDEX_MEMORY: usize = 60_000_000;

/// Follows the store until `news` ends, then commits. Sends the replaced rows whose marks can be cleared.
pub(crate) fn follow(
    store: &Store,
    mut writer: IndexWriter,
    news: &Receiver<()>,
    cleared: &Sender<Vec<(Collection, i64)>>,
    stages: &Stages,
) -> Result<()> {
    let mut committed = Instant::now();
    let mut pending = 0;
    loop {
        match news.recv_timeout(COMMIT_EVERY) {
            Ok(()) => {
                // One pass serves everything announced meanwhile.
                while news.try_recv().is_ok() {}
                pending += stages.time(Stage::Index, || writer.catch_up(store))?;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if pending > 0 && committed.elapsed() >= COMMIT_EVERY {
            let progress = stages.time(Stage::Index, || writer.commit())?;
            let _ = cleared.send(progress.cleared);
            committed = Instant::now();
            pending = 0;
        }
    }
    stages.time(Stage::Index, || writer.catch_up(store))?;
    let progress = stages.time(Stage::Index, || writer.commit())?;
    let _ = cleared.send(progress.cleared);
    stages.time(Stage::Index, || writer.finish())?;
    Ok(())
}

/// Opens the index of a store for a single writing thread.
pub(crate) fn open(layout: &thru_core::Layout, store: &Store) -> Result<IndexWriter> {
    Ok(IndexWriter::open(layout, store, 1, INDEX_MEMORY)?)
}
