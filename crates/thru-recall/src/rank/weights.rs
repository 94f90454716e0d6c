//! The weights in force. `thru-bench recall --fit` makes them; `docs/recall.md` has what they were made
//! on and how far they hold elsewhere.

use super::passages::PassageFeatures;
use super::sessions::SessionFeatures;

/// What each feature counts in each of the two orders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// In the order of [`super::PASSAGE_FEATURES`].
    pub passages: PassageFeatures,
    /// In the order of [`super::SESSION_FEATURES`].
    pub sessions: SessionFeatures,
}

/// The weights in force.
pub const WEIGHTS: Weights = Weights {
    passages: [2.2, 2.8, 3.0, 1.85, 2.6, 2.7, 0.7, -1.8, -2.3, -1.15, 1.95, 1.0, 1.0],
    sessions: [
        1.64, 1.02, 0.67, 1.25, 0.79, 0.68, 0.71, 0.71, 0.0, 1.34, 1.3, 1.37, -2.25, 1.48, 0.75,
        0.3, 0.3,
    ],
};
