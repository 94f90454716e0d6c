//! The server on the socket: one thread accepts, and one more serves each of a few connections.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use interprocess::local_socket::Stream;
use serde_json::{Value, json};
use thru_core::rpc::{Message, Unread, read};

use crate::client::Timed;
use crate::frame::{Form, FrameError, LARGEST, MessageReader, write_message};
use crate::identity::Hello;
use crate::log::Log;
use crate::mailbox::Mailbox;
use crate::rpc::{self, RpcError, RpcResult};
use crate::socket::{Socket, SocketFile, is_same_user};
use crate::work::{Service, ToolError};

/// Connections served at a time. Hooks connect and are gone; this is for those that stay.
const MOST_CONNECTIONS: usize = 16;
/// Default and maximum time that a client waits for the step it asked for.
const WAIT: Duration = Duration::from_mins(1);
const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// The state shared by connections.
pub(crate) struct ServerState {
    pub(crate) hello: Hello,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) service: Arc<dyn Service>,
    pub(crate) tools_enabled: bool,
    pub(crate) patience: Duration,
    pub(crate) log: Arc<Log>,
    /// The last status that the loop published.
    pub(crate) status: Mutex<Value>,
    pub(crate) connections: AtomicUsize,
}

/// The accepting thread.
pub(crate) struct Server {
    file: SocketFile,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts to accept connections.
    pub(crate) fn start(socket: Socket, shared: Arc<ServerState>) -> std::io::Result<Self> {
        let file = socket.file().clone();
        let accept = move || {
            while !shared.mailbox.is_stopped() {
                match socket.accept() {
                    Ok(stream) => receive(stream, &shared),
                    // Too many open files, say: it passes, and a busy loop makes it worse.
                    Err(_) => thread::sleep(Duration::from_millis(50)),
                }
            }
        };
        let thread = thread::Builder::new().name("accept".to_owned()).spawn(accept)?;
        Ok(Self { file, thread: Some(thread) })
    }

    pub(crate) fn is_reachable(&self) -> bool {
        self.file.is_in_place()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // If the socket file is gone, the thread cannot be woken. It ends with the process.
        let awake = self.file.knock();
        self.file.remove();
        if let Some(thread) = self.thread.take().filter(|_| awake) {
            let _ = thread.join();
        }
    }
}

/// Serves a connection on a thread of its own, unless there are too many.
fn receive(stream: Stream, shared: &Arc<ServerState>) {
    if shared.mailbox.is_stopped() || !is_same_user(&stream) {
        return;
    }
    if shared.connections.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
        shared.connections.fetch_sub(1, Ordering::Relaxed);
        // Most likely a poke, and a superfluous one does no harm.
        shared.mailbox.poke(None);
        return;
    }
    let there = Arc::clone(shared);
    let answer = move || {
        // A panic is a bug in one answer; it must not use up a slot for ever.
        let _ = catch_unwind(AssertUnwindSafe(|| serve(&stream, &there)));
        there.connections.fetch_sub(1, Ordering::Relaxed);
    };
    if thread::Builder::new().name("answer".to_owned()).spawn(answer).is_err() {
        shared.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve(stream: &Stream, shared: &ServerState) {
    let mut reader = MessageReader::new();
    let timed = || Timed { stream, deadline: Instant::now() + shared.patience };
    loop {
        let (message, is_last) = match reader.next(&mut timed()) {
            Ok(Some(message)) => (shared.respond(&message), false),
            // Opened and closed without a message: a hook's poke.
            Ok(None) if reader.form().is_none() => return shared.mailbox.poke(None),
            // The same on a Windows pipe.
            Err(FrameError::Io(error))
                if reader.form().is_none() && error.kind() == ErrorKind::BrokenPipe =>
            {
                return shared.mailbox.poke(None);
            }
            Ok(None) | Err(FrameError::Io(_)) => return,
            Err(error @ FrameError::TooLong) => {
                let error = RpcError::new(RpcError::NO_REQUEST, error.to_string());
                (Some(rpc::answer(&Value::Null, Err(error))), true)
            }
        };
        if let Some(message) = message {
            let form = reader.form().unwrap_or(Form::Framed);
            if write_message(&mut timed(), form, &message).is_err() {
                return;
            }
        }
        if is_last {
            return;
        }
    }
}

impl ServerState {
    /// Returns the answer to a message, if it wants one.
    fn respond(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.mailbox.asked();
        match read(message) {
            Err(Unread { id, code, why, .. }) => {
                Some(rpc::answer(&id, Err(RpcError::new(code, why))))
            }
            Ok(request) => {
                let answer = self.answer(&request);
                let id = request.id?;
                let message = rpc::answer(&id, answer);
                if message.len() <= LARGEST {
                    return Some(message);
                }
                let error = RpcError::new(RpcError::INTERNAL, "the answer is too long");
                Some(rpc::answer(&id, Err(error)))
            }
        }
    }

    fn answer(&self, request: &Message) -> RpcResult {
        let params = request.params.as_ref().unwrap_or(&Value::Null);
        match request.method.as_str() {
            "hello" => serde_json::to_value(&self.hello)
                .map_err(|error| RpcError::new(RpcError::INTERNAL, error.to_string())),
            "status" => Ok(self.status()),
            "stop" => {
                self.log.info("asked to end");
                self.mailbox.stop();
                Ok(json!({ "stopping": true }))
            }
            "wake" if params["wait"] == json!(true) => self.wake(params),
            "wake" => {
                self.mailbox.poke(None);
                Ok(json!({ "woken": true }))
            }
            "tools/call" => self.call(params),
            _ => Err(RpcError::new(RpcError::NO_METHOD, "there is no such method")),
        }
    }

    fn status(&self) -> Value {
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let (Value::Object(fields), Some(bytes)) = (&mut status, memory()) {
            fields.insert("memory_bytes".to_owned(), bytes.into());
        }
        status
    }

    /// Has news ingested and waits for that.
    fn wake(&self, params: &Value) -> RpcResult {
        let wait = params["timeout_ms"].as_u64().map_or(WAIT, Duration::from_millis);
        let deadline = Instant::now() + wait.min(LONGEST_WAIT);
        let (waiter, told) = sync_channel(1);
        self.mailbox.poke(Some(waiter));
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match told.recv_timeout(left.min(Duration::from_millis(200))) {
                Ok(done) => return Ok(json!({ "woken": true, "done": done })),
                Err(RecvTimeoutError::Timeout) if !self.mailbox.is_stopped() && !left.is_zero() => {
                }
                Err(RecvTimeoutError::Timeout) if !self.mailbox.is_stopped() => {
                    return Err(RpcError::new(RpcError::TIMEOUT, "the wait timed out"));
                }
                Err(_) => return Err(RpcError::new(RpcError::INTERNAL, "the daemon is ending")),
            }
        }
    }

    /// Calls a tool and wraps its result in the form of MCP.
    fn call(&self, params: &Value) -> RpcResult {
        if !self.tools_enabled {
            return Err(RpcError::new(RpcError::REFUSED, "the settings do not allow tools here"));
        }
        let Some(name) = params["name"].as_str() else {
            return Err(RpcError::new(RpcError::PARAMS, "a call needs the name of a tool"));
        };
        let none = json!({});
        let arguments = match &params["arguments"] {
            Value::Null => &none,
            arguments => arguments,
        };
        let called = catch_unwind(AssertUnwindSafe(|| self.service.call(name, arguments)));
        let content = |value: &Value, failed: bool| {
            let text = value.to_string();
            json!({ "content": [{ "type": "text", "text": text }], "isError": failed })
        };
        match called {
            Ok(Ok(result)) => Ok(content(&result, false)),
            Ok(Err(ToolError::Failed(error))) => {
                let mut answer = content(&error, true);
                answer["structuredContent"] = error;
                Ok(answer)
            }
            Ok(Err(error)) => Err(RpcError::new(RpcError::PARAMS, error.to_string())),
            Err(_) => {
                self.log.error("a tool panicked");
                Err(RpcError::new(RpcError::INTERNAL, "the tool panicked"))
            }
        }
    }
}

/// Returns the memory of this process in bytes, where that is cheap to know.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
