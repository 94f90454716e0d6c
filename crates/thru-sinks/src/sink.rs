//! A server, and deliveries to it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use thru_outside::{Key, Limits, ServiceUrl};

use crate::error::{ConnectError, SinkError};
use crate::http::HttpLine;
use crate::message::{self, Request};
use crate::program::ProgramLine;

/// The way to reach a server.
#[derive(Clone, Debug)]
pub enum Transport {
    /// By streamable HTTP, at this address.
    Url(String),
    /// A program that is started for it.
    Command {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
        /// Its whole environment.
        environment: Vec<(OsString, OsString)>,
        /// Its working directory; `None` for ours.
        folder: Option<PathBuf>,
    },
}

/// Everything needed to deliver something.
#[derive(Clone)]
pub struct Settings {
    /// The way to reach the server.
    pub transport: Transport,
    /// True if the server may be another machine.
    pub allow_remote: bool,
    /// The bearer token.
    pub key: Option<Key>,
    /// Time limit of an answer.
    pub timeout: Duration,
    /// Most bytes of an answer on the wire.
    pub longest_answer: usize,
}

impl Settings {
    /// Returns the default settings.
    pub const fn new(transport: Transport) -> Self {
        Self {
            transport,
            allow_remote: false,
            key: None,
            timeout: Duration::from_secs(30),
            longest_answer: 1024 * 1024,
        }
    }

    fn limits(&self) -> Limits {
        Limits { time: self.timeout, size: self.longest_answer }
    }
}

/// A delivery: a tool of the server and its arguments.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The tool's name.
    pub tool: String,
    /// Its arguments, an object.
    pub arguments: Value,
}

/// A server for deliveries. The connection is kept between deliveries and closed on drop.
pub struct Sink {
    settings: Settings,
    connection: Mutex<Option<Connection>>,
}

/// An initialised connection to a server.
struct Connection {
    line: Box<dyn Line>,
    /// The id of the last request.
    last: u64,
}

/// A transport to a server.
pub(crate) trait Line: Send {
    /// Sends a message and waits for its answer.
    fn ask(&mut self, request: &Request, stop: &AtomicBool) -> Result<Value, SinkError>;

    /// Sends a message that has no answer.
    fn tell(&mut self, message: &Value, stop: &AtomicBool) -> Result<(), SinkError>;

    /// Records the protocol version that both sides speak.
    fn agree(&mut self, version: String);

    /// Returns true if the server keeps a session for us, which it may forget.
    fn has_session(&self) -> bool;

    /// Returns true if the other side is gone.
    fn is_over(&mut self) -> bool;
}

impl Sink {
    /// Checks the settings. Nothing is sent or started yet.
    ///
    /// # Errors
    ///
    /// Returns a [`ConnectError`] if the URL is invalid, not encrypted, or on another machine without
    /// permission.
    pub fn connect(settings: Settings) -> Result<Self, ConnectError> {
        if let Transport::Url(url) = &settings.transport {
            let service = ServiceUrl::parse(url)?;
            if !service.is_loopback() && !settings.allow_remote {
                return Err(ConnectError::Remote(service.host().to_owned()));
            }
            if !service.is_encrypted() && !service.is_nearby() {
                return Err(ConnectError::NotEncrypted(service.to_string()));
            }
        }
        Ok(Self { settings, connection: Mutex::new(None) })
    }

    /// Delivers one thing. Concurrent deliveries wait for each other.
    ///
    /// # Errors
    ///
    /// Returns a [`SinkError`] if the server did not confirm the delivery.
    pub fn deliver(&self, delivery: &Delivery, stop: &AtomicBool) -> Result<(), SinkError> {
        let mut kept = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        // A failed connection is dropped, so that the next delivery begins anew.
        let mut last = kept.take();
        let is_new = last.as_mut().is_none_or(|connection| connection.line.is_over());
        let mut connection = match last {
            Some(connection) if !is_new => connection,
            _ => self.open(stop)?,
        };
        let mut answered = connection.call(delivery, stop);
        if !is_new && answered.as_ref().is_err_and(|error| connection.is_forgotten(error)) {
            connection = self.open(stop)?;
            answered = connection.call(delivery, stop);
        }
        let answer = answered?;
        // It answered, with whatever result.
        *kept = Some(connection);
        message::delivered(message::result(&answer)?, delivery)
    }

    /// Opens a connection to the server and initialises it.
    fn open(&self, stop: &AtomicBool) -> Result<Connection, SinkError> {
        let mut connection = Connection { line: self.line()?, last: 1 };
        let answer = connection.line.ask(&Request::initialize(1), stop)?;
        connection.line.agree(message::version(message::result(&answer)?)?);
        connection.line.tell(&message::initialized(), stop)?;
        Ok(connection)
    }

    fn line(&self) -> Result<Box<dyn Line>, SinkError> {
        let limits = self.settings.limits();
        match &self.settings.transport {
            Transport::Url(url) => {
                let rejected = |error| SinkError::Rejected { code: 0, said: format!("{error}") };
                let service = ServiceUrl::parse(url).map_err(rejected)?;
                Ok(Box::new(HttpLine::new(service, self.settings.key.clone(), limits)))
            }
            Transport::Command { program, arguments, environment, folder } => {
                let mut command = Command::new(program);
                command.args(arguments).env_clear().envs(environment.iter().cloned());
                if let Some(folder) = folder {
                    command.current_dir(folder);
                }
                Ok(Box::new(ProgramLine::start(&mut command, limits)?))
            }
        }
    }
}

impl Connection {
    fn call(&mut self, delivery: &Delivery, stop: &AtomicBool) -> Result<Value, SinkError> {
        self.last += 1;
        self.line.ask(&Request::call(self.last, delivery), stop)
    }

    /// Returns true if an error says that the server forgot our session, and therefore did nothing.
    fn is_forgotten(&self, error: &SinkError) -> bool {
        self.line.has_session() && matches!(error, SinkError::Rejected { code: 404, .. })
    }
}
