//! Two clocks: the one on the wall, which may be set and goes on while the machine sleeps, and one that
//! only ever counts. Where they disagree, something happened that nobody told us of.

use std::sync::Arc;
use std::time::{Duration, Instant};

use thru_core::{Clock, Timestamp};

/// Notices when the clock on the wall does not show what was to be expected.
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

    /// How far the clock on the wall went too far or not far enough since this was last asked.
    pub(crate) fn jump(&mut self) -> Duration {
        let now = (self.wall.now(), Instant::now());
        let counted = now.1.duration_since(self.seen.1);
        let shown = now.0.as_millisecond() - self.seen.0.as_millisecond();
        self.seen = now;
        let counted = i64::try_from(counted.as_millis()).unwrap_or(i64::MAX);
        Duration::from_millis(shown.abs_diff(counted))
    }

    /// How long until a moment; none, if it is over.
    pub(crate) fn until(&self, moment: Timestamp) -> Duration {
        let left = moment.as_millisecond().saturating_sub(self.now().as_millisecond());
        Duration::from_millis(u64::try_from(left).unwrap_or(0))
    }
}
