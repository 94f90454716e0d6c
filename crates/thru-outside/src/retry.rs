//! Advice on retrying.

use std::time::Duration;

/// If and when to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Not before this time has passed.
    After(Duration),
    /// Later, with growing delays.
    Backoff,
    /// Never with the same settings.
    No,
}
