//! The weights in force. They were fitted once, by softmax regression; `docs/recall.md` says on which data,
//! and how well they generalise.

use super::passages::PassageFeatures;
use super::sessions::SessionFeatures;

/// The weight of each feature in each of the two orders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weights {
    /// In the order of [`super::PASSAGE_FEATURES`].
    pub(super) passages: PassageFeatures,
    /// In the order of [`super::SESSION_FEATURES`].
    pub(super) sessions: SessionFeatures,
}

/// The weights in force.
pub(super) const WEIGHTS: Weights = Weights {
    passages: [
        2.19, 2.88, 3.40, 1.55, 2.70, 4.45, 0.93, -2.15, -2.97, 2.00, -1.53, 2.86, 0.00, 6.00,
        1.25, 1.50,
    ],
    sessions: [
        1.72, 0.73, 0.59, 1.25, 0.69, 0.51, 0.27, 0.65, -0.17, 1.28, 1.19, 1.29, -2.03, 1.62, 0.68,
        0.40, 6.00, 1.50, 1.00, 1.00,
    ],
};
