//! Ollama's own format: only this one sets the size of the context window. Otherwise a long prompt is
//! truncated silently.

use serde_json::{Value, json};

use crate::chat::{Heard, Wire, count};
use crate::dialect::{Dialect, Form};
use crate::request::{Request, Stop, Usage};

pub(crate) const URL: &str = "http://localhost:11434";

/// Smallest context window, and the unit of larger ones. A model is reloaded for each size, so there are
/// few of them.
const SMALLEST_WINDOW: u64 = 4_096;

/// Tokens of the model's own template around the messages.
const FRAME: u64 = 256;

pub(crate) struct Ollama {
    /// The context window that the user wants; `None` to follow the request.
    pub(crate) num_ctx: Option<u32>,
    /// Time the model stays in memory afterwards.
    pub(crate) keep_alive: String,
}

impl Ollama {
    /// Returns an upper bound of the tokens of request and answer. Code has few bytes to a token, so
    /// this counts three instead of four.
    fn needed(request: &Request) -> u64 {
        request.input_estimate() * 4 / 3 + u64::from(request.max_output_tokens) + FRAME
    }

    fn window(&self, request: &Request) -> u64 {
        self.num_ctx.map_or_else(
            || Self::needed(request).max(SMALLEST_WINDOW).next_power_of_two(),
            u64::from,
        )
    }
}

impl Wire for Ollama {
    fn body(&self, model: &str, request: &Request, dialect: Dialect) -> Value {
        let mut messages = Vec::new();
        if !request.system.is_empty() {
            messages.push(json!({ "role": "system", "content": request.system }));
        }
        messages.push(json!({ "role": "user", "content": dialect.prompt(request) }));
        let mut options = json!({
            "num_ctx": self.window(request),
            "num_predict": request.max_output_tokens,
        });
        if let Some(temperature) = request.temperature.filter(|_| dialect.has_temperature) {
            options["temperature"] = temperature.into();
        }
        let mut body = json!({
            "model": model,
            "messages": messages,
            "stream": false,
            "options": options,
            "keep_alive": self.keep_alive,
        });
        if dialect.has_think {
            body["think"] = false.into();
        }
        if let Some(schema) = &request.schema {
            match dialect.form {
                Form::Schema => body["format"] = schema.clone(),
                Form::Object => body["format"] = "json".into(),
                Form::Text => {}
            }
        }
        body
    }

    fn objection(&self, request: &Request) -> Option<String> {
        let (window, needed) = (self.window(request), Self::needed(request));
        (needed > window).then(|| {
            format!("about {needed} tokens do not fit into a window (num_ctx) of {window}")
        })
    }

    fn hear(&self, body: &Value) -> Option<Heard> {
        let message = body.get("message")?;
        let stopped = body["done_reason"].as_str().map(|reason| match reason {
            "stop" => Stop::Complete,
            "length" => Stop::Length,
            other => Stop::Other(other.to_owned()),
        });
        // Some versions do not count a cached prompt.
        let usage = body["eval_count"].is_u64().then(|| Usage {
            input: count(body, "/prompt_eval_count"),
            output: count(body, "/eval_count"),
            cached_input: 0,
            estimated: false,
        });
        Some(Heard {
            text: message["content"].as_str().unwrap_or_default().to_owned(),
            model: body["model"].as_str().map(str::to_owned),
            usage,
            stopped,
            ..Heard::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(prompt: usize) -> Request {
        Request {
            system: String::new(),
            prompt: "x".repeat(prompt),
            schema: None,
            schema_name: String::new(),
            max_output_tokens: 1_000,
            temperature: None,
        }
    }

    #[test]
    fn the_window_holds_question_and_answer() {
        let free = Ollama { num_ctx: None, keep_alive: String::new() };
        assert_eq!(free.window(&request(10)), 4_096);
        assert_eq!(free.window(&request(12_000)), 8_192);
        assert_eq!(free.objection(&request(1_000_000)), None);
        let fixed = Ollama { num_ctx: Some(4_096), keep_alive: String::new() };
        assert_eq!(fixed.window(&request(12_000)), 4_096);
        let said = fixed.objection(&request(12_000)).unwrap();
        assert_eq!(said, "about 5256 tokens do not fit into a window (num_ctx) of 4096");
    }
}
