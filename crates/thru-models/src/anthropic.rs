//! Anthropic's Messages API.

use serde_json::{Value, json};

use crate::chat::{Heard, Wire, count};
use crate::dialect::{Dialect, Form};
use crate::request::{Request, Stop, Usage};

pub(crate) const URL: &str = "https://api.anthropic.com";
pub(crate) const KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";

/// The version of the format, which every request names.
pub(crate) const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn body(&self, model: &str, request: &Request, dialect: Dialect) -> Value {
        let mut body = json!({
            "model": model,
            "max_tokens": request.max_output_tokens,
            "messages": [{ "role": "user", "content": dialect.prompt(request) }],
        });
        if !request.system.is_empty() {
            body["system"] = request.system.as_str().into();
        }
        if let Some(temperature) = request.temperature.filter(|_| dialect.has_temperature) {
            body["temperature"] = temperature.into();
        }
        // This API has no JSON mode without a schema.
        if let Some(schema) = request.schema.as_ref().filter(|_| dialect.form == Form::Schema) {
            body["output_config"] =
                json!({ "format": { "type": "json_schema", "schema": schema } });
        }
        body
    }

    fn hear(&self, body: &Value) -> Option<Heard> {
        let blocks = body["content"].as_array()?;
        let texts = blocks.iter().filter(|block| block["type"] == "text");
        let text: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
        let stopped = body["stop_reason"].as_str().map(|reason| match reason {
            "end_turn" | "stop_sequence" => Stop::Complete,
            "max_tokens" | "model_context_window_exceeded" => Stop::Length,
            "refusal" => Stop::Refused,
            other => Stop::Other(other.to_owned()),
        });
        Some(Heard {
            text: text.join("\n"),
            model: body["model"].as_str().map(str::to_owned),
            usage: body["usage"].is_object().then(|| usage(&body["usage"])),
            stopped,
            ..Heard::default()
        })
    }
}

/// Returns the token counts of this format, in which cached tokens are no part of the input.
pub(crate) fn usage(told: &Value) -> Usage {
    let cached_input = count(told, "/cache_read_input_tokens");
    let fresh = count(told, "/input_tokens") + count(told, "/cache_creation_input_tokens");
    Usage {
        input: fresh + cached_input,
        output: count(told, "/output_tokens"),
        cached_input,
        estimated: false,
    }
}
