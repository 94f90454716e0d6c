//! The schedule for retrying failed work: pure functions of the number of attempts.

use std::time::Duration;

use thru_core::Id;

/// The waits between attempts, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first failure.
    pub first: Duration,
    /// The factor by which each wait is longer than the previous one.
    pub factor: u32,
    /// The longest wait.
    pub longest: Duration,
    /// The number of failures after which it is given up.
    pub limit: u32,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(30),
            factor: 4,
            longest: Duration::from_secs(6 * 60 * 60),
            limit: 5,
        }
    }
}

/// The decision about failed work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Try again after this wait.
    After(Duration),
    /// Leave it to people.
    GiveUp,
}

impl Backoff {
    /// Returns the decision after `failures` of the work with this id. The wait is up to a fifth
    /// shorter than the policy says, by an amount derived from the id: work that failed together is not
    /// retried together.
    pub fn after(&self, failures: u32, work: Id) -> Retry {
        if failures >= self.limit {
            return Retry::GiveUp;
        }
        let factor = self.factor.saturating_pow(failures.saturating_sub(1));
        let wait = self.first.saturating_mul(factor).min(self.longest);
        let [high, low, ..] = *work.as_bytes();
        let share = u32::from(u16::from_be_bytes([high, low]));
        let earlier = wait / 5 / u32::from(u16::MAX) * share;
        Retry::After(wait.saturating_sub(earlier))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NO_JITTER: Id = Id::from_bytes([0; Id::BYTES]);

    #[test]
    fn waits_grow_until_it_is_given_up() {
        let patient = Backoff { limit: 8, ..Backoff::default() };
        let waits: Vec<_> = (1..9).map(|failures| patient.after(failures, NO_JITTER)).collect();
        let after = |seconds| Retry::After(Duration::from_secs(seconds));
        assert_eq!(
            waits,
            [
                after(30),
                after(120),
                after(480),
                after(1_920),
                after(7_680),
                after(21_600),
                after(21_600),
                Retry::GiveUp
            ]
        );
        assert_eq!(Backoff::default().after(4, NO_JITTER), after(1_920));
        assert_eq!(Backoff::default().after(5, NO_JITTER), Retry::GiveUp);
    }

    proptest! {
        #[test]
        fn no_number_is_too_large(first: u64, factor: u32, longest: u64, failures: u32, id: [u8; 10]) {
            let (first, longest) = (Duration::from_secs(first), Duration::from_secs(longest));
            let backoff = Backoff { first, factor, longest, limit: u32::MAX };
            let id = Id::from_bytes(id);
            let wait = backoff.after(failures, id);
            prop_assert_eq!(wait, backoff.after(failures, id));
            if let (Retry::After(wait), Retry::After(full)) = (wait, backoff.after(failures, NO_JITTER)) {
                prop_assert!(full / 5 * 4 <= wait && wait <= full && full <= longest);
            }
        }
    }
}
