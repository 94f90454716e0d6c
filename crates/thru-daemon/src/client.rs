//! A client of the daemon.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use interprocess::local_socket::Stream;
use interprocess::local_socket::traits::Stream as _;
use serde_json::{Value, json};
use thru_core::rpc;

use crate::frame::{Form, FrameError, MessageReader, write_message};
use crate::identity::Hello;
use crate::socket;

/// A connection to a daemon.
#[derive(Debug)]
pub struct Client {
    stream: Stream,
    reader: MessageReader,
    number: u64,
}

/// The error of a call.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The request could not be sent, or no answer came in time.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The daemon refused.
    #[error("{message}")]
    Refused {
        /// The JSON-RPC error code.
        code: i64,
        /// The message of the error.
        message: String,
    },
    /// The answer is malformed.
    #[error("the daemon sent a malformed answer")]
    Malformed,
}

impl Client {
    /// Connects to the daemon that listens on a socket.
    ///
    /// # Errors
    /// Fails if no daemon listens there, or it runs as another user.
    pub fn connect(socket: &Path, patience: Duration) -> io::Result<Self> {
        let stream = socket::connect(socket, patience)?;
        Ok(Self { stream, reader: MessageReader::new(), number: 0 })
    }

    /// Calls a method and waits up to `patience` for the answer.
    ///
    /// # Errors
    /// Returns [`CallError::Io`] if the request cannot be sent or no answer comes in time,
    /// [`CallError::Refused`] if the daemon answers with an error, and [`CallError::Malformed`] if the
    /// answer is malformed.
    pub fn call(
        &mut self,
        method: &str,
        params: Value,
        patience: Duration,
    ) -> Result<Value, CallError> {
        self.number += 1;
        let request = rpc::request(self.number, method, &params);
        let mut stream = Timed { stream: &self.stream, deadline: Instant::now() + patience };
        write_message(&mut stream, Form::Framed, request.to_string().as_bytes())?;
        let message = match self.reader.next(&mut stream) {
            Ok(Some(message)) => message,
            Ok(None) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Err(FrameError::Io(error)) => return Err(error.into()),
            Err(FrameError::TooLong) => return Err(CallError::Malformed),
        };
        let mut answer: Value =
            serde_json::from_slice(&message).map_err(|_| CallError::Malformed)?;
        match rpc::outcome(&mut answer) {
            Some(Ok(result)) => Ok(result),
            Some(Err((code, message))) => Err(CallError::Refused { code, message }),
            None => Err(CallError::Malformed),
        }
    }

    /// Asks the daemon to identify itself.
    ///
    /// # Errors
    /// See [`Client::call`].
    pub fn hello(&mut self, patience: Duration) -> Result<Hello, CallError> {
        let answer = self.call("hello", json!({}), patience)?;
        serde_json::from_value(answer).map_err(|_| CallError::Malformed)
    }

    /// Returns the daemon's status.
    ///
    /// # Errors
    /// See [`Client::call`].
    pub fn status(&mut self, patience: Duration) -> Result<Value, CallError> {
        self.call("status", json!({}), patience)
    }

    /// Makes the daemon ingest pending data, and waits until that is done.
    ///
    /// # Errors
    /// See [`Client::call`].
    pub fn ingest(&mut self, patience: Duration) -> Result<Value, CallError> {
        let milliseconds = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        let params = json!({ "wait": true, "timeout_ms": milliseconds });
        self.call("wake", params, patience + Duration::from_millis(500))
    }

    /// Calls an MCP tool and returns the text of its result.
    ///
    /// # Errors
    /// See [`Client::call`].
    pub fn call_tool(
        &mut self,
        name: &str,
        arguments: &Value,
        patience: Duration,
    ) -> Result<String, CallError> {
        let params = json!({ "name": name, "arguments": arguments });
        let answer = self.call("tools/call", params, patience)?;
        let text = answer.pointer("/content/0/text").and_then(Value::as_str);
        text.map(str::to_owned).ok_or(CallError::Malformed)
    }

    /// Asks the daemon to end.
    pub(crate) fn stop(&mut self, patience: Duration) -> Result<(), CallError> {
        self.call("stop", json!({}), patience).map(|_| ())
    }
}

/// A stream with one deadline for all operations together.
pub(crate) struct Timed<'a> {
    pub(crate) stream: &'a Stream,
    pub(crate) deadline: Instant,
}

impl Timed<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.deadline.checked_duration_since(Instant::now()) {
            Some(left) if !left.is_zero() => Ok(Some(left)),
            _ => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Windows pipes have no timeouts; the other side's timeout must do there.
        let _ = self.stream.set_recv_timeout(self.left()?);
        (&mut &*self.stream).read(buffer)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.stream.set_send_timeout(self.left()?);
        (&mut &*self.stream).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
