//! MCP over streamable HTTP.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;
use thru_outside::{Answer, Call, Http, Key, Limits, Place, Verb, excerpt};

use crate::error::SinkError;
use crate::events;
use crate::message::Request;
use crate::sink::Line;

/// Limits of the request that ends the session. Nothing depends on it.
const FAREWELL: Limits = Limits { time: Duration::from_secs(1), size: 64 * 1024 };

/// Longest wait that a server can ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// A server and our session there, if it keeps any.
pub(crate) struct HttpLine {
    http: Http,
    place: Place,
    key: Option<Key>,
    session: Option<String>,
    version: Option<String>,
}

impl HttpLine {
    pub(crate) fn new(place: Place, key: Option<Key>, limits: Limits) -> Self {
        let http = Http::new(&place, limits);
        Self { http, place, key, session: None, version: None }
    }

    fn send(
        &self,
        http: &Http,
        verb: Verb,
        message: Option<&Value>,
        is_enough: &(dyn Fn(&Answer) -> bool + Sync),
        stop: &AtomicBool,
    ) -> Result<Answer, SinkError> {
        let bearer = self.key.as_ref().map(|key| format!("Bearer {}", key.reveal()));
        let mut headers = vec![("accept", "application/json, text/event-stream")];
        headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
        headers.extend(self.session.as_deref().map(|session| ("mcp-session-id", session)));
        headers.extend(self.version.as_deref().map(|version| ("mcp-protocol-version", version)));
        let body = message.map(|message| message.to_string().into_bytes()).unwrap_or_default();
        let url = self.place.to_string();
        let call = Call { verb, url: &url, headers: &headers, body, is_enough };
        Ok(http.send(&call, stop)?)
    }

    fn error(&self, answer: &Answer) -> SinkError {
        let text = String::from_utf8_lossy(&answer.body);
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        let said = body["error"]["message"].as_str().or(body["error"].as_str()).unwrap_or(&text);
        let said = self.key.as_ref().map_or_else(|| said.to_owned(), |key| key.hide_in(said));
        let (status, said) = (answer.status, excerpt(&said));
        match status {
            401 | 403 => SinkError::Unauthorized { status, said },
            429 => {
                let seconds = answer.header("retry-after").trim().parse().ok();
                let after = seconds.map(|seconds| Duration::from_secs(seconds).min(LONGEST_WAIT));
                SinkError::RateLimited { after }
            }
            408 | 500.. => SinkError::Server { status, said },
            _ => SinkError::Rejected { code: status.into(), said },
        }
    }
}

impl Line for HttpLine {
    fn ask(&mut self, request: &Request, stop: &AtomicBool) -> Result<Value, SinkError> {
        let find = |answer: &Answer| {
            events::messages(&answer.body).find(|message| request.is_answered_by(message))
        };
        let is_stream = |answer: &Answer| answer.kind() == "text/event-stream";
        let is_enough = |answer: &Answer| is_stream(answer) && find(answer).is_some();
        let answer = self.send(&self.http, Verb::Post, Some(&request.body), &is_enough, stop);
        if answer.is_err() {
            // A server that does not answer need not be told that we are done.
            self.session = None;
        }
        let answer = answer?;
        if !answer.is_success() {
            return Err(self.error(&answer));
        }
        let session = answer.header("mcp-session-id");
        if !session.is_empty() {
            self.session = Some(session.to_owned());
        }
        let message = match is_stream(&answer) {
            true => find(&answer),
            false => {
                serde_json::from_slice(&answer.body).ok().filter(|it| request.is_answered_by(it))
            }
        };
        message.ok_or_else(|| {
            let kind = answer.kind();
            SinkError::Protocol(excerpt(&format!(
                "no answer of an MCP server, but {kind:?}; is the url right?"
            )))
        })
    }

    fn tell(&mut self, message: &Value, stop: &AtomicBool) -> Result<(), SinkError> {
        // Nothing that must be read follows.
        let answer = self.send(&self.http, Verb::Post, Some(message), &|_| true, stop)?;
        if answer.is_success() { Ok(()) } else { Err(self.error(&answer)) }
    }

    fn agree(&mut self, version: String) {
        self.version = Some(version);
    }

    fn has_session(&self) -> bool {
        self.session.is_some()
    }

    fn is_over(&mut self) -> bool {
        false
    }
}

impl Drop for HttpLine {
    fn drop(&mut self) {
        if self.session.is_some() {
            let http = Http::new(&self.place, FAREWELL);
            _ = self.send(&http, Verb::Delete, None, &|_| true, &AtomicBool::new(false));
        }
    }
}
