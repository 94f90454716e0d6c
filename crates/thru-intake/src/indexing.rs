//! The text index follows the store on a thread of its own, so that reading need not wait for it.

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use thru_core::Layout;
use thru_store::index::{Collection, IndexWriter, guarded};
use thru_store::{Store, StoreError};

use crate::stages::{Stage, Stages};
use crate::{IntakeError, Result};

/// The time that new passages may wait for an index commit of their own. (As long as they are few, searches
/// find them before, too.) Every commit makes a segment, and segments cost merging.
const COMMIT_EVERY: Duration = Duration::from_secs(4);

/// Bytes that the index may collect in memory before it writes a segment.
const INDEX_MEMORY: usize = 60_000_000;

/// Follows the store until `news` ends, then commits. Sends the replaced rows whose marks can be cleared. Where an index
/// cannot be written on, for damage, it is made again.
pub(crate) fn follow(
    layout: &Layout,
    store: &Store,
    news: &Receiver<()>,
    cleared: &Sender<Vec<(Collection, i64)>>,
    stages: &Stages,
) -> Result<()> {
    let followed =
        open(layout, store).and_then(|writer| follow_with(store, writer, news, cleared, stages));
    match followed {
        Err(error) if is_of_store(&error) => {
            while news.recv().is_ok() {}
            let _ = cleared.send(catch_up(layout, store)?);
            Ok(())
        }
        followed => followed,
    }
}

fn follow_with(
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

/// Brings the indexes up to the store at once, and returns the replaced rows whose marks can be cleared. Merges what rows
/// were removed from: their texts stay in the index's files until then. Indexes that turn out to be damaged are made again.
pub(crate) fn catch_up(layout: &Layout, store: &Store) -> Result<Vec<(Collection, i64)>> {
    let work = || -> Result<_> {
        let mut writer = open(layout, store)?;
        writer.catch_up(store)?;
        let progress = writer.commit()?;
        if !progress.cleared.is_empty() {
            writer.merge_cleared(&progress.cleared)?;
        }
        writer.finish()?;
        Ok(progress.cleared)
    };
    guarded(layout, work, is_of_store, |damage| {
        damage.remove()?;
        Ok(())
    })
}

/// Reads the indexes without the intake lock: damage is an error, since who removes them needs the lock.
pub(crate) fn reading<T>(layout: &Layout, work: impl Fn() -> Result<T>) -> Result<T> {
    guarded(layout, work, is_of_store, |damage| Err(StoreError::from(damage).into()))
}

fn is_of_store(error: &IntakeError) -> bool {
    matches!(error, IntakeError::Store(_))
}

/// Opens the index of a store for a single writing thread.
pub(crate) fn open(layout: &Layout, store: &Store) -> Result<IndexWriter> {
    Ok(IndexWriter::open(layout, store, 1, INDEX_MEMORY)?)
}
