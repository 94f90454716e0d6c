//! Three tiers of memory: not three stores, but three rules by which the one ranking lets a memory in.
//!
//! Hot memories are injected without a cue, warm ones on a cue, and cold ones wait for a question.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thru_core::Timestamp;

/// The time for which activity in a project counts as hot.
pub const HOT_HOURS: i64 = 24;

/// Maximum number of memories for a prompt.
pub const WARM_LINES: usize = 2;

/// The value from which a memory is injected at a prompt if only words can be compared: the share of the
/// prompt's telling words that it holds, rare words weighing more, plus the support of files and
/// identifiers.
pub const WARM_BY_WORDS: f32 = 0.4;

/// … and the value if meaning can be compared as well, which adds to the words.
pub const WARM_WITH_MEANING: f32 = 0.65;

/// A prompt of more words than this is a cue by itself.
pub const WARM_WORDS: usize = 10;

/// The rule that let a memory in.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// From this session, or from the project's last sessions and at most [`HOT_HOURS`] old. Bounded, and
    /// always injected when a session starts.
    Hot,
    /// Chosen by its value here and now. Injected at a prompt only on a cue, only with enough value
    /// ([`WARM_BY_WORDS`], [`WARM_WITH_MEANING`]), and never more than [`WARM_LINES`].
    Warm,
    /// Everything else. Only on request: search, timeline, tools.
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

    /// Returns the tier of a memory when a session starts or resumes. One without a time counts as oldest.
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

/// Returns true if that time still counts as hot. Times in the future do.
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
