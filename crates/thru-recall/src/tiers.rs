//! Three tiers of memory: not three stores, but three rules by which the one ranking lets a memory in.
//!
//! What is at hand is told without being asked, what bears on something is told where there is a cue,
//! and everything else waits for a question.

use std::fmt;

use serde::{Deserialize, Serialize};
use thru_core::Timestamp;

/// How long what happened in a project counts as at hand.
pub const HOT_HOURS: i64 = 24;

/// Memories that a prompt is given at most.
pub const WARM_LINES: usize = 2;

/// What a memory must be worth to a prompt to be told, where only words can be compared: it holds such a
/// share of the prompt's telling words, weighted by how rare they are, or less and is borne out by a file or
/// an identifier.
pub const WARM_BY_WORDS: f32 = 0.4;

/// … and where meaning can be compared as well, which adds to the words.
pub const WARM_WITH_MEANING: f32 = 0.65;

/// A prompt of more words than this is a cue by itself: it says what it is about.
pub const WARM_WORDS: usize = 10;

/// By which rule a memory is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// Of this session, or of the project's last sessions and at most [`HOT_HOURS`] old. Bounded, and
    /// always told to a session that starts.
    Hot,
    /// Chosen by what it is worth here and now. A prompt is told it only on a cue, only where it bears on
    /// the prompt enough ([`WARM_BY_WORDS`], [`WARM_WITH_MEANING`]), and never more than [`WARM_LINES`].
    Warm,
    /// Everything. Only on request: search, timeline, tools.
    Cold,
}

impl Tier {
    /// The name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }

    /// The tier of a memory that a session is told when it starts or goes on. One without a time is
    /// as old as can be.
    pub fn at_start(at: Option<Timestamp>, is_of_session: bool, now: Timestamp) -> Self {
        match at {
            _ if is_of_session => Self::Hot,
            Some(at) if is_hot(at, now) => Self::Hot,
            _ => Self::Warm,
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether something of that time is still at hand. Clocks that went ahead do no harm.
pub(crate) fn is_hot(at: Timestamp, now: Timestamp) -> bool {
    now.as_second() - at.as_second() <= HOT_HOURS * 3_600
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_parts_hot_from_warm() {
        let now: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        let at = |text: &str| Some(text.parse().unwrap());
        for (then, is_of_session, tier) in [
            (at("2026-11-20T11:59:00Z"), false, Tier::Hot),
            (at("2026-11-19T12:00:00Z"), false, Tier::Hot),
            (at("2026-11-19T11:59:59Z"), false, Tier::Warm),
            (at("2026-11-20T12:30:00Z"), false, Tier::Hot),
            (at("2024-01-01T00:00:00Z"), true, Tier::Hot),
            (None, false, Tier::Warm),
        ] {
            assert_eq!(Tier::at_start(then, is_of_session, now), tier, "{then:?}");
        }
        assert_eq!(serde_json::to_string(&Tier::Cold).unwrap(), "\"cold\"");
    }
}
