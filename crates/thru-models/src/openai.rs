//! Chat completions in OpenAI's format, which many others serve: OpenRouter, LM Studio, llama.cpp, vLLM.

use serde_json::{Value, json};
use thru_core::Micros;
use thru_outside::ServiceUrl;

use crate::chat::{Heard, Wire, count};
use crate::dialect::{Dialect, Form, LengthField};
use crate::request::{Request, Stop, Usage};

pub(crate) const URL: &str = "https://api.openai.com";
pub(crate) const KEY_VARIABLE: &str = "OPENAI_API_KEY";
const HOST: &str = "api.openai.com";
pub(crate) const ROUTER_KEY_VARIABLE: &str = "OPENROUTER_API_KEY";
const ROUTER_HOST: &str = "openrouter.ai";

pub(crate) struct OpenAi;

/// Returns the URL of completions below an address with or without the version.
pub(crate) fn url(service: &ServiceUrl) -> String {
    const END: &str = "/chat/completions";
    let path = service.path();
    let is_version = |part: &str| {
        part.starts_with('v') && part[1..].starts_with(|letter: char| letter.is_ascii_digit())
    };
    if path.ends_with(END) {
        service.to_string()
    } else if path.split('/').any(is_version) {
        service.join(END)
    } else {
        service.join(&format!("/v1{END}"))
    }
}

/// Returns the variable that holds the key for a server. A key is never sent to another vendor.
pub(crate) fn key_variable(service: &ServiceUrl) -> Option<&'static str> {
    match service.host() {
        HOST => Some(KEY_VARIABLE),
        ROUTER_HOST => Some(ROUTER_KEY_VARIABLE),
        _ => None,
    }
}

/// Returns the dialect to begin with: OpenAI's own models want the new field for the length, most others
/// the old one.
pub(crate) fn dialect(service: &ServiceUrl) -> Dialect {
    Dialect::new(match service.host() {
        HOST => LengthField::MaxCompletionTokens,
        _ => LengthField::MaxTokens,
    })
}

impl Wire for OpenAi {
    fn body(&self, model: &str, request: &Request, dialect: Dialect) -> Value {
        let mut messages = Vec::new();
        if !request.system.is_empty() {
            messages.push(json!({ "role": "system", "content": request.system }));
        }
        messages.push(json!({ "role": "user", "content": dialect.prompt(request) }));
        let mut body = json!({ "model": model, "messages": messages, "stream": false });
        body[dialect.length.name()] = request.max_output_tokens.into();
        if let Some(temperature) = request.temperature.filter(|_| dialect.has_temperature) {
            body["temperature"] = temperature.into();
        }
        if let Some(schema) = &request.schema {
            match dialect.form {
                Form::Schema => {
                    let schema =
                        json!({ "name": request.schema_name, "strict": true, "schema": schema });
                    body["response_format"] =
                        json!({ "type": "json_schema", "json_schema": schema });
                }
                Form::Object => body["response_format"] = json!({ "type": "json_object" }),
                Form::Text => {}
            }
        }
        body
    }

    fn hear(&self, body: &Value) -> Option<Heard> {
        let choice = body["choices"].get(0)?;
        let message = choice.get("message")?;
        let refusal = message["refusal"].as_str().filter(|refusal| !refusal.is_empty());
        let stopped = match choice["finish_reason"].as_str() {
            _ if refusal.is_some() => Some(Stop::Refused),
            Some("stop") => Some(Stop::Complete),
            Some("length") => Some(Stop::Length),
            Some("content_filter") => Some(Stop::Refused),
            Some(other) => Some(Stop::Other(other.to_owned())),
            None => None,
        };
        let told = &body["usage"];
        let usage = told.is_object().then(|| Usage {
            input: count(told, "/prompt_tokens"),
            output: count(told, "/completion_tokens"),
            cached_input: count(told, "/prompt_tokens_details/cached_tokens"),
            estimated: false,
        });
        Some(Heard {
            text: refusal.map_or_else(|| text(&message["content"]), str::to_owned),
            model: body["model"].as_str().map(str::to_owned),
            usage,
            stopped,
            cost: told["cost"].as_f64().map(Micros::from_dollars),
            ..Heard::default()
        })
    }
}

/// Returns the text of a message, which may come in parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_named_once() {
        for (service, wanted) in [
            ("http://localhost:1234", "http://localhost:1234/v1/chat/completions"),
            ("http://localhost:1234/", "http://localhost:1234/v1/chat/completions"),
            ("http://localhost:1234/v1", "http://localhost:1234/v1/chat/completions"),
            ("http://localhost:1234/v1/", "http://localhost:1234/v1/chat/completions"),
            ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
            ("https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions"),
            ("https://host/v1beta/openai/", "https://host/v1beta/openai/chat/completions"),
            ("https://host/x/chat/completions", "https://host/x/chat/completions"),
        ] {
            assert_eq!(url(&ServiceUrl::parse(service).unwrap()), wanted);
        }
    }

    #[test]
    fn a_key_goes_to_whom_it_belongs() {
        let variable = |text: &str| key_variable(&ServiceUrl::parse(text).unwrap());
        assert_eq!(variable(URL), Some(KEY_VARIABLE));
        assert_eq!(variable("https://openrouter.ai/api/v1"), Some(ROUTER_KEY_VARIABLE));
        assert_eq!(variable("https://api.openai.com.example.net"), None);
        assert_eq!(variable("http://localhost:1234"), None);
    }
}
