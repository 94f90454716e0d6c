//! The input of a route: its path, its query and its body as one set of values.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::RawPathParams;
use axum::http::{HeaderMap, StatusCode, Uri};
use serde_json::{Map, Value};
use thru_core::Agent;

use super::Failure;
use crate::server::{STREAMS, Shared};

/// The headers that name the client.
const PLATFORM_HEADERS: [&str; 2] = ["x-platform-source", "x-claude-mem-platform-source"];

/// The values of a request. Names that no route knows are ignored.
pub(super) struct Input {
    values: Map<String, Value>,
    /// The name of the client, where a header gives one.
    platform: Option<String>,
    /// The port that the server listens on.
    pub(super) port: u16,
    /// The seconds since it began.
    pub(super) uptime: u64,
    /// Event streams that are open.
    pub(super) streams: usize,
}

impl Input {
    /// Reads a request.
    pub(super) fn read(
        shared: &Arc<Shared>,
        uri: &Uri,
        path: &RawPathParams,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Self, Failure> {
        let mut values = Map::new();
        for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            add(&mut values, name.into_owned(), value.into_owned().into());
        }
        if !body.iter().all(u8::is_ascii_whitespace) {
            let no_object = || {
                Failure::Malformed(StatusCode::BAD_REQUEST, "the body is no JSON object".to_owned())
            };
            let body: Value = serde_json::from_slice(body).map_err(|_| no_object())?;
            let Value::Object(fields) = body else { return Err(no_object()) };
            values.extend(fields);
        }
        values.extend(path.iter().map(|(name, value)| (name.to_owned(), value.into())));
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        Ok(Self {
            values,
            platform: PLATFORM_HEADERS.into_iter().find_map(header).map(str::to_owned),
            port: shared.port,
            uptime: shared.started.elapsed().as_secs(),
            streams: STREAMS - shared.streams.available_permits(),
        })
    }

    /// Returns the first of these values that is there, whatever its type.
    pub(super) fn value(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.values.get(*name)).filter(|value| !value.is_null())
    }

    /// Returns the first of these values that is a text with a word in it, or a number.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| match self.values.get(*name)? {
            Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    /// Returns a number, within its bounds.
    pub(super) fn number(&self, name: &str, usual: usize, most: usize) -> usize {
        let given = self.text(&[name]).and_then(|text| text.trim().parse().ok());
        given.unwrap_or(usual).min(most)
    }

    /// Returns a list: given as one, repeated, as JSON in a text, or separated by commas.
    pub(super) fn list(&self, names: &[&str]) -> Vec<String> {
        let plain = |value: &Value| match value {
            Value::String(text) => Some(text.trim().to_owned()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let all: Vec<String> = match self.value(names) {
            Some(Value::Array(items)) => items.iter().filter_map(plain).collect(),
            Some(Value::String(text)) => match serde_json::from_str::<Vec<Value>>(text) {
                Ok(items) => items.iter().filter_map(plain).collect(),
                Err(_) => text.split(',').map(|item| item.trim().to_owned()).collect(),
            },
            Some(Value::Number(number)) => vec![number.to_string()],
            _ => Vec::new(),
        };
        all.into_iter().filter(|item| !item.is_empty()).collect()
    }

    /// Returns a name that is none of these.
    pub(super) fn other_than(&self, names: &[&str]) -> Option<&str> {
        self.values.keys().map(String::as_str).find(|name| !names.contains(name))
    }

    /// Returns the agent that the client speaks for: Codex where it says so, else Claude Code.
    pub(super) fn agent(&self) -> Agent {
        let named = self.text(&["platformSource", "platform_source"]);
        let platform = named.or_else(|| self.platform.clone()).unwrap_or_default().to_lowercase();
        match platform.contains("codex") || platform.trim() == "transcript" {
            true => Agent::Codex,
            false => Agent::ClaudeCode,
        }
    }
}

/// Adds a value of a query. One that is repeated becomes a list.
fn add(values: &mut Map<String, Value>, name: String, value: Value) {
    match values.get_mut(&name) {
        None => _ = values.insert(name, value),
        Some(Value::Array(items)) => items.push(value),
        Some(first) => *first = Value::Array(vec![first.take(), value]),
    }
}
