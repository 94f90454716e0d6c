//! The common part of all providers that are asked over HTTP.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;
use thru_core::{Micros, find_object};
use thru_outside::{Http, HttpRequest, HttpResponse, Key, Method, ServiceUrl};

use crate::dialect::Dialect;
use crate::error::AskError;
use crate::provider::Provider;
use crate::refusal::{Refusal, discreet};
use crate::request::{Reply, Request, Stop, Usage, tokens};

/// A wire format.
pub(crate) trait Wire: Send + Sync {
    /// Builds the request body in this format.
    fn body(&self, model: &str, request: &Request, dialect: Dialect) -> Value;

    /// Returns the reason a request cannot be sent at all.
    fn objection(&self, _request: &Request) -> Option<String> {
        None
    }

    /// Parses an answer; `None` if it is not in this format.
    fn hear(&self, body: &Value) -> Option<Heard>;
}

/// A provider's answer, before it is checked.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) structured: Option<Value>,
    pub(crate) model: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) stopped: Option<Stop>,
    pub(crate) cost: Option<Micros>,
}

/// A provider that is asked over HTTP.
pub(crate) struct Chat<W> {
    pub(crate) wire: W,
    pub(crate) name: &'static str,
    pub(crate) model: String,
    pub(crate) service: ServiceUrl,
    pub(crate) url: String,
    pub(crate) http: Http,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) key: Option<Key>,
    /// Advice for the user if the key is rejected.
    pub(crate) advice: String,
    /// The server's dialect, as far as it is known.
    pub(crate) dialect: Mutex<Dialect>,
}

impl<W: Wire> Provider for Chat<W> {
    fn name(&self) -> &str {
        self.name
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn is_local(&self) -> bool {
        self.service.is_loopback()
    }

    fn ask(&self, request: &Request, stop: &AtomicBool) -> Result<Reply, AskError> {
        if let Some(said) = self.wire.objection(request) {
            return Err(AskError::Rejected { status: 0, said });
        }
        let started = Instant::now();
        let mut dialect = *self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        // Ends because every step leaves something out.
        loop {
            let body = self.wire.body(&self.model, request, dialect);
            let response = self.send(&body, request, stop)?;
            if response.is_success() {
                *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
                let heard = self.understand(&response, request)?;
                return heard.into_reply(request, &self.model, started);
            }
            let refusal = Refusal::from_response(&response);
            match dialect.without(refusal.status, &refusal.words, request) {
                Some(simpler) => dialect = simpler,
                None => return Err(self.error(refusal, request)),
            }
        }
    }
}

impl<W: Wire> Chat<W> {
    fn send(
        &self,
        body: &Value,
        request: &Request,
        stop: &AtomicBool,
    ) -> Result<HttpResponse, AskError> {
        let headers: Vec<(&'static str, &str)> =
            self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let body = body.to_string().into_bytes();
        let http_request = HttpRequest {
            method: Method::Post,
            url: &self.url,
            headers: &headers,
            body,
            is_enough: &|_| false,
        };
        self.http.send(&http_request, stop).map_err(|error| AskError::from_http(error, request))
    }

    /// Reads an answer by its content, whatever its header says.
    fn understand(&self, response: &HttpResponse, request: &Request) -> Result<Heard, AskError> {
        let failed = |said: String| AskError::Protocol { said, spent: Some(request.estimate()) };
        let body: Value = serde_json::from_slice(&response.body).map_err(|error| {
            let what = match response.kind() {
                kind if kind.contains("html") => "a web page; is the url right?".to_owned(),
                _ if error.is_eof() => "the answer is cut off".to_owned(),
                kind => format!("the answer is not JSON but {kind:?}"),
            };
            failed(thru_outside::excerpt(&what))
        })?;
        if let Some(heard) = self.wire.hear(&body) {
            return Ok(heard);
        }
        // Some servers report success and then an error.
        match body.get("error").filter(|error| !error.is_null()) {
            Some(error) => {
                let status = error["code"].as_u64().and_then(|code| u16::try_from(code).ok());
                Err(self.error(Refusal::told(status.unwrap_or(500), &body), request))
            }
            None => Err(failed("the answer is of another format; is the url right?".to_owned())),
        }
    }

    fn error(&self, refusal: Refusal, request: &Request) -> AskError {
        refusal.into_error(request, self.key.as_ref(), &self.advice)
    }
}

impl Heard {
    /// Returns the answer, if it is usable.
    pub(crate) fn into_reply(
        self,
        request: &Request,
        model: &str,
        started: Instant,
    ) -> Result<Reply, AskError> {
        let text = without_thoughts(&self.text).to_owned();
        let stopped = self.stopped.unwrap_or(Stop::Complete);
        let usage = self.usage.unwrap_or_else(|| Usage {
            input: request.input_estimate(),
            output: tokens(self.text.len()),
            cached_input: 0,
            estimated: true,
        });
        if stopped == Stop::Refused {
            return Err(AskError::Refused { said: discreet(&text, request, None), spent: usage });
        }
        let structured =
            self.structured.or_else(|| request.schema.as_ref().and_then(|_| find_object(&text)));
        if stopped == Stop::Length && structured.is_none() && request.schema.is_some() {
            return Err(AskError::Truncated { spent: usage });
        }
        if text.trim().is_empty() && structured.is_none() {
            return Err(match stopped {
                Stop::Length => AskError::Truncated { spent: usage },
                _ => AskError::Unusable { spent: usage },
            });
        }
        Ok(Reply {
            text,
            structured,
            model: self.model.unwrap_or_else(|| model.to_owned()),
            usage,
            latency: started.elapsed(),
            stopped,
            cost: self.cost,
        })
    }
}

/// Returns the text after the thoughts that some local models put before it.
fn without_thoughts(text: &str) -> &str {
    let text = text.trim_start();
    match text.strip_prefix("<think>") {
        Some(thoughts) => thoughts.split_once("</think>").map_or("", |(_, said)| said.trim_start()),
        None => text,
    }
}

/// Returns the token count at a path of a document; 0 if it is missing.
pub(crate) fn count(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}
