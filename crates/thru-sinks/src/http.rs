//! MCP over streamable HTTP.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;
use thru_outside::{Http, HttpRequest, HttpResponse, Key, Limits, Method, ServiceUrl, excerpt};

use crate::error::SinkError;
use crate::events;
use crate::message::Request;
use crate::sink::Line;

/// Limits of the request that ends the session. Nothing depends on it.
const FAREWELL: Limits = Limits { time: Duration::from_secs(1), size: 64 * 1024 };

/// Longest wait that a server can ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The name by which servers that tell their clients apart know this one, in the header `APP`.
const APP: &str = "throughline";

/// A server and our session there, if it keeps any.
pub(crate) struct HttpLine {
    http: Http,
    service: ServiceUrl,
    key: Option<Key>,
    session: Option<String>,
    version: Option<String>,
}

impl HttpLine {
    pub(crate) fn new(service: ServiceUrl, key: Option<Key>, limits: Limits) -> Self {
        let http = Http::new(&service, limits);
        Self { http, service, key, session: None, version: None }
    }

    fn send(
        &self,
        http: &Http,
        method: Method,
        message: Option<&Value>,
        is_enough: &(dyn Fn(&HttpResponse) -> bool + Sync),
        stop: &AtomicBool,
    ) -> Result<HttpResponse, SinkError> {
        let bearer = self.key.as_ref().map(|key| format!("Bearer {}", key.reveal()));
        let mut headers = vec![("accept", "application/json, text/event-stream"), ("app", APP)];
        headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
        headers.extend(self.session.as_deref().map(|session| ("mcp-session-id", session)));
        headers.extend(self.version.as_deref().map(|version| ("mcp-protocol-version", version)));
        let body = message.map(|message| message.to_string().into_bytes()).unwrap_or_default();
        let url = self.service.to_string();
        let request = HttpRequest { method, url: &url, headers: &headers, body, is_enough };
        Ok(http.send(&request, stop)?)
    }

    fn error(&self, response: &HttpResponse) -> SinkError {
        let text = String::from_utf8_lossy(&response.body);
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        let said = body["error"]["message"].as_str().or(body["error"].as_str()).unwrap_or(&text);
        let said = self.key.as_ref().map_or_else(|| said.to_owned(), |key| key.hide_in(said));
        let (status, said) = (response.status, excerpt(&said));
        match status {
            401 | 403 => SinkError::Unauthorized { status, said },
            429 => {
                let seconds = response.header("retry-after").trim().parse().ok();
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
        let find = |response: &HttpResponse| {
            events::messages(&response.body).find(|message| request.is_answered_by(message))
        };
        let is_stream = |response: &HttpResponse| response.kind() == "text/event-stream";
        let is_enough = |response: &HttpResponse| is_stream(response) && find(response).is_some();
        let response = self.send(&self.http, Method::Post, Some(&request.body), &is_enough, stop);
        if response.is_err() {
            // A server that does not answer need not be told that we are done.
            self.session = None;
        }
        let response = response?;
        if !response.is_success() {
            return Err(self.error(&response));
        }
        let session = response.header("mcp-session-id");
        if !session.is_empty() {
            self.session = Some(session.to_owned());
        }
        let message = match is_stream(&response) {
            true => find(&response),
            false => {
                serde_json::from_slice(&response.body).ok().filter(|it| request.is_answered_by(it))
            }
        };
        message.ok_or_else(|| {
            let kind = response.kind();
            SinkError::Protocol(excerpt(&format!(
                "no answer of an MCP server, but {kind:?}; is the url right?"
            )))
        })
    }

    fn tell(&mut self, message: &Value, stop: &AtomicBool) -> Result<(), SinkError> {
        // Nothing that must be read follows.
        let response = self.send(&self.http, Method::Post, Some(message), &|_| true, stop)?;
        if response.is_success() { Ok(()) } else { Err(self.error(&response)) }
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
            let http = Http::new(&self.service, FAREWELL);
            _ = self.send(&http, Method::Delete, None, &|_| true, &AtomicBool::new(false));
        }
    }
}
