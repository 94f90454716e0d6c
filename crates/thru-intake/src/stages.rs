//! Time spent per stage of an import.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

/// A stage of intake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading source files.
    Read,
    /// Privacy tags and secrets.
    Redact,
    /// Compressing and writing the archive.
    Archive,
    /// Making passages of records.
    Parse,
    /// Writing rows.
    Store,
    /// Making observations and summaries.
    Distil,
    /// Writing the text index.
    Index,
}

impl Stage {
    /// Every stage, in the order of the flow.
    pub const ALL: [Self; 7] = [
        Self::Read,
        Self::Redact,
        Self::Archive,
        Self::Parse,
        Self::Store,
        Self::Distil,
        Self::Index,
    ];

    /// Its name in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Redact => "redact",
            Self::Archive => "archive",
            Self::Parse => "parse",
            Self::Store => "store",
            Self::Distil => "distil",
            Self::Index => "index",
        }
    }
}

/// Time spent per stage, summed over threads.
#[derive(Debug, Default)]
pub struct Stages {
    nanoseconds: [AtomicU64; Stage::ALL.len()],
}

impl Stages {
    /// Runs `work` and adds its time to a stage.
    pub(crate) fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let spent = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds[stage as usize].fetch_add(spent, Ordering::Relaxed);
        result
    }

    /// Returns the time spent on a stage.
    pub fn spent(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.nanoseconds[stage as usize].load(Ordering::Relaxed))
    }
}

impl Serialize for Stages {
    /// Seconds by the name of the stage.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let seconds = |stage: Stage| (stage.as_str(), self.spent(stage).as_secs_f64());
        serializer.collect_map(Stage::ALL.into_iter().map(seconds))
    }
}
