//! The shapes of the events of a session. Their meaning is decided elsewhere.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{self, Text};

/// One line of a transcript.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(rename = "type", borrow, deserialize_with = "json::text")]
    pub(super) kind: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) id: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) timestamp: Text<'a>,
    /// The subagent that the event belongs to.
    #[serde(deserialize_with = "json::text")]
    pub(super) agent_id: Text<'a>,
    #[serde(deserialize_with = "json::object")]
    pub(super) data: Option<Data<'a>>,
}

/// The content of an event, with the members of all types of events.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Data<'a> {
    // Metadata of the session.
    #[serde(borrow, deserialize_with = "json::text")]
    pub(super) session_id: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) copilot_version: Text<'a>,
    #[serde(deserialize_with = "json::object")]
    pub(super) context: Option<Context<'a>>,
    #[serde(deserialize_with = "json::text")]
    pub(super) title: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) summary_content: Text<'a>,
    #[serde(deserialize_with = "json::count")]
    pub(super) pre_compaction_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    pub(super) post_compaction_tokens: Option<u64>,
    #[serde(borrow)]
    pub(super) model_metrics: Option<&'a RawValue>,

    // Messages, calls and their results.
    #[serde(deserialize_with = "json::text")]
    pub(super) content: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) source: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) model: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) parent_tool_call_id: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) tool_call_id: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) tool_name: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) success: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// The directory and branch of a session.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Context<'a> {
    #[serde(borrow, deserialize_with = "json::text")]
    pub(super) cwd: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) branch: Text<'a>,
}

/// Tokens used by a model over a session.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ModelUse {
    #[serde(deserialize_with = "json::object")]
    pub(super) usage: Option<Tokens>,
}

/// Token counts. Those read from a cache are included in the input.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Tokens {
    #[serde(deserialize_with = "json::count")]
    pub(super) input_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    pub(super) output_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    pub(super) cache_read_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    pub(super) cache_write_tokens: Option<u64>,
}

impl<'a> Record<'a> {
    /// Parses a line that went through [`json::mend`]. Anything but an object is a record without a
    /// type.
    pub(super) fn parse(line: &'a str) -> Result<Self, serde_json::Error> {
        json::record(line)
    }
}
