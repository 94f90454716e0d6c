//! A loopback server that plays a provider, with good and bad responses. For tests.

use serde_json::{Value, json};

pub use crate::http::{ReceivedRequest, Response, Server as ModelServer};

/// Input tokens that every scripted answer reports.
pub const INPUT_TOKENS: u64 = 1_000;
/// Output tokens that every scripted answer reports.
pub const OUTPUT_TOKENS: u64 = 50;

/// Returns an answer in Anthropic's format.
pub fn anthropic(text: &str) -> Response {
    Response::json(200, anthropic_body(text, "end_turn"))
}

/// Returns an answer in Anthropic's format, as a document.
pub fn anthropic_body(text: &str, stop_reason: &str) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5-20251001",
        "content": [{ "type": "text", "text": text }],
        "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {
            "input_tokens": 200, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 800,
            "output_tokens": OUTPUT_TOKENS,
        },
    })
}

/// Returns an answer in OpenAI's format.
pub fn openai(text: &str) -> Response {
    Response::json(200, openai_body(text, "stop"))
}

/// Returns an answer in OpenAI's format, as a document.
pub fn openai_body(text: &str, finish_reason: &str) -> Value {
    let message = json!({ "role": "assistant", "content": text, "refusal": null });
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "some-model-2026",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish_reason }],
        "usage": {
            "prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS, "total_tokens": 1_050,
            "prompt_tokens_details": { "cached_tokens": 800 },
        },
    })
}

/// Returns an answer in Ollama's format.
pub fn ollama(text: &str) -> Response {
    Response::json(200, ollama_body(text, "stop"))
}

/// Returns an answer in Ollama's format, as a document.
pub fn ollama_body(text: &str, done_reason: &str) -> Value {
    json!({
        "model": "llama3.2:3b", "created_at": "2026-08-01T00:00:00Z",
        "message": { "role": "assistant", "content": text },
        "done": true, "done_reason": done_reason, "total_duration": 1, "load_duration": 1,
        "prompt_eval_count": INPUT_TOKENS, "eval_count": OUTPUT_TOKENS,
    })
}

/// Returns an error in the format of Anthropic and OpenAI.
pub fn error(status: u16, kind: &str, message: &str) -> Response {
    let error = json!({ "type": kind, "message": message, "param": null, "code": null });
    Response::json(status, json!({ "type": "error", "error": error }))
}

/// Returns the document that was sent, if it was one.
pub fn body(asked: &ReceivedRequest) -> Value {
    serde_json::from_slice(&asked.body).unwrap_or_default()
}
