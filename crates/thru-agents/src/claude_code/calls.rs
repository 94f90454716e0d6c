//! The tool calls that still wait for results, with their passages.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use thru_core::Id;

/// Calls remembered. An interrupted call may never get a result, so the oldest are dropped.
const OPEN: usize = 512;

/// A tool call without a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    /// The agent's id of the call.
    pub(super) tool_use: String,
    /// The uuid of the record that made it.
    pub(super) record: String,
    /// The passage of the call; `None` if it was made in a private turn.
    pub(super) passage: Option<Id>,
    /// True if the call asks a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) asks: bool,
}

/// The calls that wait for results, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct OpenCalls(VecDeque<OpenCall>);

impl OpenCalls {
    pub(super) fn add(&mut self, call: OpenCall) {
        if self.0.len() == OPEN {
            self.0.pop_front();
        }
        self.0.push_back(call);
    }

    /// Removes and returns the call that a result belongs to. Call ids can be masked and therefore
    /// ambiguous, so a call that also matches the record named by the result is preferred.
    pub(super) fn take(&mut self, tool_use: &str, record: &str) -> Option<OpenCall> {
        let same_id = |call: &OpenCall| !tool_use.is_empty() && call.tool_use == tool_use;
        let same_record = |call: &OpenCall| !record.is_empty() && call.record == record;
        let at = self
            .0
            .iter()
            .rposition(|call| same_id(call) && same_record(call))
            .or_else(|| self.0.iter().rposition(same_id))
            .or_else(|| self.0.iter().rposition(same_record))?;
        self.0.remove(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool_use: &str, record: &str, passage: u8) -> OpenCall {
        let passage = Some(Id::from_bytes([passage; Id::BYTES]));
        OpenCall { tool_use: tool_use.into(), record: record.into(), passage, asks: false }
    }

    #[test]
    fn the_record_decides_between_calls_with_one_id() {
        let mut calls = OpenCalls::default();
        for n in 1..=3 {
            calls.add(call("masked", &format!("r{n}"), n));
        }
        assert_eq!(calls.take("masked", "r2"), Some(call("masked", "r2", 2)));
        assert_eq!(calls.take("masked", "r2"), Some(call("masked", "r3", 3)));
        assert_eq!(calls.take("unknown", "r1"), Some(call("masked", "r1", 1)));
        assert_eq!(calls.take("", ""), None);
    }
}
