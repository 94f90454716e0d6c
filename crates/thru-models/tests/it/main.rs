//! Asking providers that are played by a server of our own, which speaks their formats and has their
//! faults.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]

mod claude;
mod faults;
mod formats;
mod settings;
mod throttled;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::json;
use thru_models::{AskError, Key, Kind, Provider, Reply, Request, Settings, connect};
use thru_testkit::provider::{ModelServer, Response};

/// A flag that is never set.
pub(crate) static GO_ON: AtomicBool = AtomicBool::new(false);

/// A key that must never be shown.
pub(crate) const KEY: &str = "key-0123456789";

/// The providers that are asked over HTTP.
pub(crate) const OVER_HTTP: [Kind; 3] = [Kind::Anthropic, Kind::OpenAi, Kind::Ollama];

pub(crate) fn settings(kind: Kind, url: &str) -> Settings {
    let mut settings = Settings::new(kind, "some-model");
    settings.url = Some(url.to_owned());
    settings.key = Key::new(KEY);
    settings.timeout = Duration::from_secs(30);
    settings
}

pub(crate) fn provider(kind: Kind, server: &ModelServer) -> Box<dyn Provider> {
    connect(&settings(kind, &server.url())).unwrap()
}

/// A question with a schema.
pub(crate) fn request() -> Request {
    Request {
        system: "You are a librarian of everything that was done.".to_owned(),
        prompt: "Say what is done about the cellar door.".to_owned(),
        schema: Some(json!({
            "type": "object",
            "properties": { "title": { "type": "string" } },
            "required": ["title"],
            "additionalProperties": false,
        })),
        schema_name: "observation".to_owned(),
        max_output_tokens: 500,
        temperature: Some(0.5),
    }
}

/// Asks a server that gives these responses.
pub(crate) fn ask(
    kind: Kind,
    responses: impl IntoIterator<Item = Response>,
) -> Result<Reply, AskError> {
    provider(kind, &ModelServer::start(responses).unwrap()).ask(&request(), &GO_ON)
}
