//! Work that can stop before it is done, and be continued.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::{IntakeError, Result};

/// The moment at which work stops before it is done: a caller cancels it, or its time is over.
#[derive(Clone, Copy)]
pub(crate) struct Until<'a> {
    pub(crate) cancelled: &'a AtomicBool,
    time: Option<Instant>,
}

impl<'a> Until<'a> {
    /// Work that takes the time it needs.
    pub(crate) const fn cancelled(cancelled: &'a AtomicBool) -> Self {
        Self { cancelled, time: None }
    }

    pub(crate) fn within(cancelled: &'a AtomicBool, within: Duration) -> Self {
        Self { cancelled, time: Instant::now().checked_add(within) }
    }

    pub(crate) fn is_now(self) -> bool {
        self.is_cancelled() || self.left().is_some_and(|left| left.is_zero())
    }

    pub(crate) fn is_cancelled(self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the time that is left, if there is a limit.
    pub(crate) fn left(self) -> Option<Duration> {
        self.time.map(|time| time.saturating_duration_since(Instant::now()))
    }
}

/// Has threads take one item after another, in order, until none is left or the moment comes. Each takes one item at least,
/// so that every part of the work goes on. Returns the number of items taken.
pub(crate) fn share<'i, T: Sync>(
    items: &'i [T],
    threads: usize,
    until: Until<'_>,
    work: impl Fn(&'i T) -> Result<()> + Sync,
) -> Result<usize> {
    let next = AtomicUsize::new(0);
    let take = || -> Result<()> {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(item)?;
            if until.is_now() {
                break;
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| -> Result<()> {
        let threads: Vec<_> =
            (0..threads.max(1).min(items.len())).map(|_| scope.spawn(take)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| IntakeError::WorkerLost)?)
    })?;
    Ok(next.into_inner().min(items.len()))
}
