//! The shapes of the lines of a rollout. Their meaning is decided elsewhere.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{self, Text};

/// One line of a rollout.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Record<'a> {
    #[serde(borrow, deserialize_with = "json::text")]
    pub(super) timestamp: Text<'a>,
    #[serde(rename = "type", deserialize_with = "json::text")]
    pub(super) kind: Text<'a>,
    #[serde(deserialize_with = "json::object")]
    pub(super) payload: Option<Payload<'a>>,
}

/// The content of a line. It has the members of all types of lines, as no name is used for two purposes.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(rename = "type", borrow, deserialize_with = "json::text")]
    pub(super) kind: Text<'a>,

    // Metadata in `session_meta` and `turn_context`.
    #[serde(deserialize_with = "json::text")]
    pub(super) id: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) timestamp: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) forked_from_id: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) parent_thread_id: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) cwd: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) cli_version: Text<'a>,
    #[serde(borrow)]
    pub(super) source: Option<&'a RawValue>,
    #[serde(deserialize_with = "json::object")]
    pub(super) git: Option<Git<'a>>,
    #[serde(deserialize_with = "json::text")]
    pub(super) model: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) turn_id: Text<'a>,

    // Messages, calls and their outputs.
    #[serde(deserialize_with = "json::text")]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(deserialize_with = "json::text")]
    pub(super) message: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) name: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) namespace: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) call_id: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) action: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) output: Option<&'a RawValue>,

    // Events about calls, tokens and the thread.
    #[serde(borrow)]
    pub(super) command: Option<&'a RawValue>,
    #[serde(deserialize_with = "json::text")]
    pub(super) aggregated_output: Text<'a>,
    #[serde(borrow)]
    pub(super) exit_code: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) success: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(deserialize_with = "json::object")]
    pub(super) item: Option<Box<Payload<'a>>>,
    #[serde(deserialize_with = "json::object")]
    pub(super) info: Option<TokenInfo>,
    #[serde(deserialize_with = "json::text")]
    pub(super) thread_name: Text<'a>,
}

/// The git state of the thread's directory.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Git<'a> {
    #[serde(borrow, deserialize_with = "json::text")]
    pub(super) branch: Text<'a>,
}

/// Tokens used by the thread so far, and by the last answer.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenInfo {
    #[serde(deserialize_with = "json::object")]
    pub(super) total_token_usage: Option<Tokens>,
    #[serde(deserialize_with = "json::object")]
    pub(super) last_token_usage: Option<Tokens>,
}

/// Token counts. Those read from a cache are included in the input.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(deserialize_with = "json::count")]
    pub(super) input_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    pub(super) cached_input_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    pub(super) cache_write_input_tokens: Option<u64>,
    #[serde(deserialize_with = "json::count")]
    pub(super) output_tokens: Option<u64>,
}

impl<'a> Record<'a> {
    /// Parses a line that went through [`json::mend`]. Anything but an object is a record without a
    /// type.
    pub(super) fn parse(line: &'a str) -> Result<Self, serde_json::Error> {
        json::record(line)
    }
}
