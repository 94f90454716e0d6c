//! What all providers have in common that are asked over HTTP.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;
use thru_outside::{Answer, Call, Http, Key, Place, Verb};

use crate::answer_text::find_object;
use crate::dialect::Dialect;
use crate::error::AskError;
use crate::prices::Micros;
use crate::provider::Provider;
use crate::refusal::{Refusal, discreet};
use crate::request::{Reply, Request, Stop, Usage, tokens};

/// A wire format.
pub(crate) trait Wire: Send + Sync {
    /// What is asked, in this format.
    fn body(&self, model: &str, request: &Request, dialect: Dialect) -> Value;

    /// Why a request cannot be asked at all.
    fn objection(&self, _request: &Request) -> Option<String> {
        None
    }

    /// What an answer says; `None` if it is not of this format.
    fn hear(&self, body: &Value) -> Option<Heard>;
}

/// What a provider answered, before anybody looked whether it can be used.
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
    pub(crate) place: Place,
    pub(crate) url: String,
    pub(crate) http: Http,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) key: Option<Key>,
    /// What the user can do if the key is not taken.
    pub(crate) advice: String,
    /// What the server understands, as far as it is known by now.
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
        self.place.is_loopback()
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
            let answer = self.send(&body, request, stop)?;
            if answer.is_success() {
                *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
                let heard = self.understand(&answer, request)?;
                return heard.into_reply(request, &self.model, started);
            }
            let refusal = Refusal::of(&answer);
            match dialect.without(refusal.status, &refusal.words, request) {
                Some(simpler) => dialect = simpler,
                None => return Err(self.error(refusal, request)),
            }
        }
    }
}

impl<W: Wire> Chat<W> {
    fn send(&self, body: &Value, request: &Request, stop: &AtomicBool) -> Result<Answer, AskError> {
        let headers: Vec<(&'static str, &str)> =
            self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let body = body.to_string().into_bytes();
        let call = Call {
            verb: Verb::Post,
            url: &self.url,
            headers: &headers,
            body,
            is_enough: &|_| false,
        };
        self.http.send(&call, stop).map_err(|error| AskError::from_http(error, request))
    }

    /// Goes by what an answer is, not by what its header says it is.
    fn understand(&self, answer: &Answer, request: &Request) -> Result<Heard, AskError> {
        let failed = |said: String| AskError::Protocol { said, spent: Some(request.estimate()) };
        let body: Value = serde_json::from_slice(&answer.body).map_err(|error| {
            let what = match answer.kind() {
                kind if kind.contains("html") => "a web page; is the url right?".to_owned(),
                _ if error.is_eof() => "the answer is cut off".to_owned(),
                kind => format!("the answer is no JSON but {kind:?}"),
            };
            failed(thru_outside::excerpt(&what))
        })?;
        if let Some(heard) = self.wire.hear(&body) {
            return Ok(heard);
        }
        // Some say that all is well, and then that it is not.
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
    /// The answer, if it can be used.
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
                _ => AskError::Nonsense { spent: usage },
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

/// What was said after the thoughts that some local models put before it.
fn without_thoughts(text: &str) -> &str {
    let text = text.trim_start();
    match text.strip_prefix("<think>") {
        Some(thoughts) => thoughts.split_once("</think>").map_or("", |(_, said)| said.trim_start()),
        None => text,
    }
}

/// A number of tokens at this place of a document; none where it is missing.
pub(crate) fn count(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}
