//! Two clocks: the wall clock, which may be set and goes on while the machine sleeps, and one that only
//! counts. A difference between them means that something happened unnoticed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use thru_core::{Clock, Timestamp};

/// Detects jumps of the wall clock.
pub(crate) struct Clockwork {
    wall: Arc<dyn Clock>,
    seen: (Timestamp, Instant),
}

impl Clockwork {
    pub(crate) fn new(wall: Arc<dyn Clock>) -> Self {
        let seen = (wall.now(), Instant::now());
        Self { wall, seen }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.wall.now()
    }

    /// Returns how far the wall clock has jumped, in either direction, since the last call.
    pub(crate) fn jump(&mut self) -> Duration {
        let now = (self.wall.now(), Instant::now());
        let counted = now.1.duration_since(self.seen.1);
        let shown = now.0.as_millisecond() - self.seen.0.as_millisecond();
        self.seen = now;
        let counted = i64::try_from(counted.as_millis()).unwrap_or(i64::MAX);
        Duration::from_millis(shown.abs_diff(counted))
    }

    /// Returns the time until a moment; zero if it is past.
    pub(crate) fn until(&self, moment: Timestamp) -> Duration {
        let left = moment.as_nanosecond().saturating_sub(self.now().as_nanosecond()).max(0);
        Duration::from_nanos(u64::try_from(left).unwrap_or(u64::MAX))
    }
}
