//! The reasons for closing a session.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thru_core::Timestamp;

/// The closing of a session: its content up to then is to be indexed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Close {
    /// The time of the close.
    pub at: Timestamp,
    /// The reason for the close.
    pub reason: CloseReason,
}

/// The reason for closing a session. Its text is stored with every close: it must not change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// The agent reported the end, with this reason.
    Agent(String),
    /// A person or an agent requested it, with this reason.
    Asked(String),
    /// No activity for as long as [`Limits`](crate::Limits) allow.
    Inactivity,
    /// It lasted as long as [`Limits`](crate::Limits) allow.
    MaxDuration,
    /// The person switched to another session.
    Left,
}

/// An error for text that is not a reason.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no reason to close a session")]
pub struct UnknownReason(String);

const AGENT: &str = "agent:";
const ASKED: &str = "asked:";
const INACTIVITY: &str = "inactivity_timeout";
const MAX_DURATION: &str = "max_session_duration";
const LEFT: &str = "left";

impl CloseReason {
    /// True if it was caused by the passage of time only.
    pub const fn is_timeout(&self) -> bool {
        matches!(self, Self::Inactivity | Self::MaxDuration)
    }

    /// True if neither the agent nor a person said that it is over.
    pub const fn is_assumed(&self) -> bool {
        self.is_timeout() || matches!(self, Self::Left)
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(text) => write!(f, "{AGENT}{text}"),
            Self::Asked(text) => write!(f, "{ASKED}{text}"),
            Self::Inactivity => f.write_str(INACTIVITY),
            Self::MaxDuration => f.write_str(MAX_DURATION),
            Self::Left => f.write_str(LEFT),
        }
    }
}

impl FromStr for CloseReason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(said) = text.strip_prefix(AGENT) {
            return Ok(Self::Agent(said.to_owned()));
        }
        if let Some(said) = text.strip_prefix(ASKED) {
            return Ok(Self::Asked(said.to_owned()));
        }
        match text {
            INACTIVITY => Ok(Self::Inactivity),
            MAX_DURATION => Ok(Self::MaxDuration),
            LEFT => Ok(Self::Left),
            _ => Err(UnknownReason(text.to_owned())),
        }
    }
}

impl Serialize for CloseReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CloseReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_keep_their_text() {
        for (reason, text) in [
            (CloseReason::Agent("clear".into()), "agent:clear"),
            (CloseReason::Asked("task_complete".into()), "asked:task_complete"),
            (CloseReason::Asked("agent:clear".into()), "asked:agent:clear"),
            (CloseReason::Agent(String::new()), "agent:"),
            (CloseReason::Inactivity, "inactivity_timeout"),
            (CloseReason::MaxDuration, "max_session_duration"),
            (CloseReason::Left, "left"),
        ] {
            assert_eq!(reason.to_string(), text);
            assert_eq!(text.parse(), Ok(reason));
        }
        assert!("because".parse::<CloseReason>().is_err());
    }
}
