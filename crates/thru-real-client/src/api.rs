//! A scripted stand-in for the Messages API and the Responses API.

use std::io::{self, BufWriter, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use thru_testkit::http::{Listener, ReceivedRequest, read};

use crate::message::Message;
use crate::request::Request;
use crate::responses;
use crate::script::{Script, ScriptedAnswer};

/// A server on loopback, at a port that the system chose. It runs until it is dropped.
pub struct MessagesApi {
    shared: Arc<Shared>,
    listener: Listener,
}

struct Shared {
    script: Script,
    requests: Mutex<Vec<Request>>,
    messages: AtomicU64,
}

impl MessagesApi {
    /// Starts a server that answers from a script.
    ///
    /// # Errors
    /// Fails if no port on loopback can be bound.
    pub fn start(script: Script) -> io::Result<Self> {
        let shared =
            Arc::new(Shared { script, requests: Mutex::default(), messages: AtomicU64::new(0) });
        let listener = Listener::start({
            let shared = Arc::clone(&shared);
            move |connection, _| shared.serve(connection)
        })?;
        Ok(Self { shared, listener })
    }

    /// Returns the base URL of the server.
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// Returns all requests to the model so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the requests so far and clears them, so that [`MessagesApi::requests`] starts over.
    pub fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut *self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shared {
    fn serve(&self, connection: &TcpStream) -> io::Result<()> {
        let Some(incoming) = read(connection)? else { return Ok(()) };
        let port = connection.local_addr()?.port();
        let mut writer = BufWriter::new(connection);
        self.answer(&incoming, port, &mut writer)?;
        writer.flush()
    }

    fn answer(
        &self,
        incoming: &ReceivedRequest,
        port: u16,
        writer: &mut impl Write,
    ) -> io::Result<()> {
        let path = incoming.path.split('?').next().unwrap_or_default();
        let size = incoming.body.len();
        let body = match (incoming.method.as_str(), path) {
            ("POST", "/v1/messages" | "/v1/responses") => serde_json::from_slice(&incoming.body)?,
            ("POST", "/v1/messages/count_tokens") => {
                return write_json(writer, 200, &json!({ "input_tokens": size / 4 }));
            }
            _ => return write_error(writer, 404),
        };
        let request = Request::new(body);
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let blocks = match self.script.answer(&request) {
            ScriptedAnswer::Message(blocks) => blocks,
            ScriptedAnswer::Error(status) => return write_error(writer, status),
        };
        let serial = self.messages.fetch_add(1, Ordering::Relaxed);
        // The port distinguishes the messages of several servers in one session.
        let id = format!("{port}{serial:06}");
        let message = Message { id, model: request.model(), size, blocks: &blocks };
        if path == "/v1/responses" {
            respond(writer, 200, "text/event-stream")?;
            return responses::stream(writer, &message.id, size, &blocks);
        }
        if !request.is_streaming() {
            return write_json(writer, 200, &message.whole());
        }
        respond(writer, 200, "text/event-stream")?;
        message.stream(writer)
    }
}

/// Begins a response; what follows is its body, until the connection is closed.
fn respond(writer: &mut impl Write, status: u16, kind: &str) -> io::Result<()> {
    // The client goes by the number and not by the phrase.
    write!(
        writer,
        "HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n"
    )
}

fn write_json(writer: &mut impl Write, status: u16, body: &Value) -> io::Result<()> {
    respond(writer, status, "application/json")?;
    write!(writer, "{body}")
}

fn write_error(writer: &mut impl Write, status: u16) -> io::Result<()> {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    let error = json!({ "type": kind, "message": format!("scripted {status}") });
    write_json(writer, status, &json!({ "type": "error", "error": error }))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::script::{calls, fails, message, says};

    fn post(api: &MessagesApi, path: &str, body: &Value) -> String {
        let mut stream = TcpStream::connect(api.url().trim_start_matches("http://")).unwrap();
        let body = body.to_string();
        let length = body.len();
        write!(stream, "POST {path} HTTP/1.1\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn it_answers_and_remembers_what_it_was_asked() {
        let call = calls("Bash", json!({ "command": "ls" }));
        let script =
            Script::new().on("list", [message([says("I look."), call])]).on("boom", [fails(529)]);
        let api = MessagesApi::start(script).unwrap();
        let ask = |prompt: &str, stream: bool| {
            let messages = json!([{ "role": "user", "content": prompt }]);
            let tools = json!([{ "name": "Bash" }]);
            let body =
                json!({ "model": "m", "stream": stream, "tools": tools, "messages": messages });
            post(&api, "/v1/messages?beta=true", &body)
        };

        let streamed = ask("list", true);
        assert!(streamed.starts_with("HTTP/1.1 200"), "{streamed}");
        let at = |text: &str| streamed.find(text).unwrap_or_else(|| panic!("{text}: {streamed}"));
        assert!(at("message_start") < at("I look.") && at("I look.") < at("partial_json"));
        assert!(
            at("partial_json") < at("\"stop_reason\":\"tool_use\"")
                && at("tool_use") < at("message_stop")
        );

        let whole = ask("list", false);
        let body: Value = serde_json::from_str(whole.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(body["content"][1]["input"]["command"], "ls");
        assert_eq!(body["stop_reason"], "tool_use");

        assert!(ask("boom", true).starts_with("HTTP/1.1 529"));
        assert!(post(&api, "/v1/messages/count_tokens", &json!({})).contains("input_tokens"));
        assert!(post(&api, "/v1/models", &json!({})).starts_with("HTTP/1.1 404"));
        assert_eq!(api.take_requests().len(), 3);
        assert!(api.requests().is_empty());
    }
}
