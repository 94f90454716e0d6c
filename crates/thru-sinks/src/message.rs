//! The messages of MCP that a delivery needs: JSON-RPC 2.0.

use serde_json::{Value, json};
use thru_core::rpc;
use thru_outside::{excerpt, excerpt_unless_echo};

use crate::error::SinkError;
use crate::sink::Delivery;

/// The protocol versions in which these messages are the same; the newest is offered.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// A message that expects an answer.
pub(crate) struct Request {
    /// The id of the request and of its answer.
    pub(crate) id: u64,
    pub(crate) body: Value,
}

impl Request {
    /// Builds the request that begins a session.
    pub(crate) fn initialize(id: u64) -> Self {
        let us = json!({ "name": "throughline", "version": env!("CARGO_PKG_VERSION") });
        let offer = json!({ "protocolVersion": VERSIONS[0], "capabilities": {}, "clientInfo": us });
        Self::new(id, "initialize", &offer)
    }

    /// Builds a tool call.
    pub(crate) fn call(id: u64, delivery: &Delivery) -> Self {
        let call = json!({ "name": delivery.tool, "arguments": delivery.arguments });
        Self::new(id, "tools/call", &call)
    }

    fn new(id: u64, method: &str, params: &Value) -> Self {
        Self { id, body: rpc::request(id, method, params) }
    }

    /// Returns true if a message is the answer.
    pub(crate) fn is_answered_by(&self, message: &Value) -> bool {
        message["id"] == self.id && message.get("method").is_none()
    }
}

/// Builds the notification that ends initialisation.
pub(crate) fn initialized() -> Value {
    rpc::notification("notifications/initialized")
}

/// Returns our answer to a request of the server; `None` for any other message. Only `ping` is
/// supported.
pub(crate) fn answer(message: &Value) -> Option<Value> {
    let (id, method) = (message.get("id")?, message.get("method")?);
    Some(match method.as_str() {
        Some("ping") => rpc::result(id, &json!({})),
        _ => rpc::error(id, rpc::NO_METHOD, "not supported"),
    })
}

/// Returns the result in an answer.
pub(crate) fn result(answer: &Value) -> Result<&Value, SinkError> {
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        let said = excerpt(error["message"].as_str().unwrap_or_default());
        let code = error["code"].as_i64().unwrap_or_default();
        // The other codes are internal errors of the server.
        return Err(match code {
            rpc::INTERNAL | -32_099..=-32_000 => SinkError::Failed(said),
            _ => SinkError::Rejected { code, said },
        });
    }
    answer.get("result").ok_or_else(|| SinkError::Protocol("an answer without a result".to_owned()))
}

/// Returns the version that the server chose.
pub(crate) fn version(result: &Value) -> Result<String, SinkError> {
    let version = result["protocolVersion"].as_str().unwrap_or_default();
    if VERSIONS.contains(&version) {
        return Ok(version.to_owned());
    }
    Err(SinkError::Protocol(excerpt(&format!("the server speaks version {version:?} of MCP"))))
}

/// Checks that the tool succeeded.
pub(crate) fn delivered(result: &Value, delivery: &Delivery) -> Result<(), SinkError> {
    if result["isError"] != true {
        return Ok(());
    }
    let texts = result["content"].as_array().into_iter().flatten();
    let said: Vec<&str> = texts.filter_map(|content| content["text"].as_str()).collect();
    let mut sent = Vec::new();
    strings(&delivery.arguments, &mut sent);
    let said = excerpt_unless_echo(&said.join(" "), sent);
    // The official servers report this as a tool's own error.
    if said.starts_with("Unknown tool") {
        return Err(SinkError::Rejected { code: rpc::BAD_PARAMS, said });
    }
    Err(SinkError::Failed(said))
}

/// Collects all strings in a document.
fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
