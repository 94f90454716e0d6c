//! Whether to try something again.

use std::time::Duration;

/// Whether to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Not before this time has passed.
    After(Duration),
    /// Some time later, and later still if that is in vain.
    Backoff,
    /// Never with the same settings.
    No,
}
