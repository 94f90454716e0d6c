//! Error responses of providers, in any wire format.

use std::time::Duration;

use serde_json::Value;
use thru_outside::{HttpResponse, Key, excerpt_unless_echo};

use crate::error::AskError;
use crate::request::Request;

/// Longest wait that a provider can ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// A response that is no answer.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// The time to wait before asking again.
    pub(crate) after: Option<Duration>,
    /// The messages for people and the codes for programs, in one text.
    pub(crate) words: String,
    /// The message for people.
    message: String,
}

impl Refusal {
    /// Parses a response with an error status.
    pub(crate) fn from_response(response: &HttpResponse) -> Self {
        let text = String::from_utf8_lossy(&response.body);
        let mut refusal = match serde_json::from_str::<Value>(&text) {
            Ok(body) => Self::told(response.status, &body),
            // A page is for people with a browser.
            Err(_) if response.kind().contains("html") || text.trim_start().starts_with('<') => {
                Self::said(response.status, "a web page; is the url right?")
            }
            Err(_) => Self::said(response.status, &text),
        };
        let number = |name: &str| response.header(name).trim().parse::<u64>().ok();
        let after = number("retry-after-ms")
            .map(Duration::from_millis)
            .or_else(|| number("retry-after").map(Duration::from_secs));
        refusal.after = after.map(|after| after.min(LONGEST_WAIT));
        refusal
    }

    /// Parses an error document.
    pub(crate) fn told(status: u16, body: &Value) -> Self {
        let error = body.get("error").unwrap_or(body);
        let text = |value: &Value, name: &str| value[name].as_str().map(str::to_owned);
        let message = error
            .as_str()
            .map(str::to_owned)
            .or_else(|| text(error, "message"))
            .or_else(|| text(body, "message"))
            .or_else(|| text(body, "detail"))
            .or_else(|| text(&body["detail"][0], "msg"))
            .unwrap_or_default();
        let marks = ["type", "code", "param"].map(|name| text(error, name).unwrap_or_default());
        let words = format!("{message} {}", marks.join(" "));
        Self { status, after: None, words, message }
    }

    /// Wraps an error in plain words.
    pub(crate) fn said(status: u16, text: &str) -> Self {
        Self { status, after: None, words: text.to_owned(), message: text.to_owned() }
    }

    /// Converts it into the error that a queue acts on.
    pub(crate) fn into_error(self, request: &Request, key: Option<&Key>, advice: &str) -> AskError {
        let said = discreet(&self.message, request, key);
        let (status, after) = (self.status, self.after);
        let words = self.words.to_ascii_lowercase();
        let is_without_credit = ["insufficient_quota", "credit balance", "billing"]
            .iter()
            .any(|mark| words.contains(mark));
        match status {
            401..=403 => AskError::Unauthorized { said, advice: advice.to_owned() },
            400 | 429 if is_without_credit => {
                AskError::Unauthorized { said, advice: "the account needs credit".to_owned() }
            }
            429 => AskError::RateLimited { after, said },
            503 | 529 => AskError::Overloaded { after, said },
            408 | 500.. => AskError::Server { status, said },
            _ => AskError::Rejected { status, said },
        }
    }
}

/// Returns a provider's message without the key and without the prompt.
pub(crate) fn discreet(said: &str, request: &Request, key: Option<&Key>) -> String {
    let said = key.map_or_else(|| said.to_owned(), |key| key.hide_in(said));
    excerpt_unless_echo(&said, [request.system.as_str(), request.prompt.as_str()])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request() -> Request {
        Request {
            system: "You look at what a person did.".to_owned(),
            prompt: "The person\nfixed the login of Example Corp.".to_owned(),
            schema: None,
            schema_name: String::new(),
            max_output_tokens: 100,
            temperature: None,
        }
    }

    #[test]
    fn messages_are_found_in_every_form() {
        for body in [
            json!({ "type": "error", "error": { "type": "x", "message": "no" } }),
            json!({ "error": "no" }),
            json!({ "message": "no" }),
            json!({ "detail": "no" }),
            json!({ "detail": [{ "msg": "no", "input": "all that was asked" }] }),
            json!({ "object": "error", "message": "no" }),
        ] {
            assert_eq!(Refusal::told(400, &body).message, "no", "{body}");
        }
    }

    #[test]
    fn neither_key_nor_prompt_is_repeated() {
        let key = Key::new("abcdefgh12345678").unwrap();
        let said =
            discreet("Incorrect API key provided: abcdefgh12345678.", &request(), Some(&key));
        assert_eq!(said, "Incorrect API key provided: <key>.");
        for echo in ["bad input: person fixed the login of Exa", "You look at what a person did."] {
            assert_eq!(discreet(echo, &request(), None), "(it repeats what was sent)");
        }
        assert_eq!(discreet("the person was wrong", &request(), None), "the person was wrong");
    }

    #[test]
    fn no_credit_is_no_reason_to_ask_again() {
        for (status, body) in [
            (
                429,
                json!({ "error": { "message": "You exceeded your quota", "code": "insufficient_quota" } }),
            ),
            (400, json!({ "error": { "message": "Your credit balance is too low" } })),
            (402, json!({ "error": { "message": "Insufficient credits" } })),
        ] {
            let error = Refusal::told(status, &body).into_error(&request(), None, "");
            assert!(matches!(error, AskError::Unauthorized { .. }), "{error:?}");
        }
    }
}
