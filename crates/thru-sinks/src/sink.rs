//! A server, and how something is delivered to it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use thru_outside::{Http, Key, Limits, Place};

use crate::error::{ConnectError, SinkError};
use crate::http::HttpLine;
use crate::message::{self, Request};
use crate::program::ProgramLine;

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum Reach {
    /// By streamable HTTP, at this address.
    Url(String),
    /// By a program that is started for it.
    Command {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
        /// All of its environment.
        environment: Vec<(OsString, OsString)>,
        /// The folder that it works in; ours if not set.
        folder: Option<PathBuf>,
    },
}

/// All that is needed to deliver something.
#[derive(Clone)]
pub struct Settings {
    /// Where to.
    pub reach: Reach,
    /// Whether the server may be another machine.
    pub allow_remote: bool,
    /// What lets us in there, as a bearer token.
    pub key: Option<Key>,
    /// How long an answer may take.
    pub timeout: Duration,
    /// How many bytes an answer may have on its way.
    pub longest_answer: usize,
}

impl Settings {
    /// The usual settings.
    pub const fn new(reach: Reach) -> Self {
        Self {
            reach,
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

/// What is delivered: a tool of the server, and what it is called with.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The tool's name.
    pub tool: String,
    /// Its arguments, an object.
    pub arguments: Value,
}

/// A server that things are delivered to. The connection to it is kept between deliveries, and given up
/// when this is dropped.
pub struct Sink {
    settings: Settings,
    connection: Mutex<Option<Connection>>,
}

/// A server that knows who we are.
struct Connection {
    line: Box<dyn Line>,
    /// The number of the last request.
    last: u64,
}

/// A way to talk to a server.
pub(crate) trait Line: Send {
    /// Sends a message and waits for its answer.
    fn ask(&mut self, request: &Request, stop: &AtomicBool) -> Result<Value, SinkError>;

    /// Sends a message that has no answer.
    fn tell(&mut self, message: &Value, stop: &AtomicBool) -> Result<(), SinkError>;

    /// Takes note of the version of the protocol that both sides speak.
    fn agree(&mut self, version: String);

    /// Whether the server has a session for us, which it may forget.
    fn has_session(&self) -> bool;

    /// Whether nobody is there any more.
    fn is_over(&mut self) -> bool;
}

impl Sink {
    /// Looks at the settings. Nothing is sent or started yet.
    pub fn connect(settings: Settings) -> Result<Self, ConnectError> {
        if let Reach::Url(url) = &settings.reach {
            let place = Place::parse(url)?;
            if !place.is_loopback() && !settings.allow_remote {
                return Err(ConnectError::Remote(place.host().to_owned()));
            }
            if !place.is_encrypted() && !place.is_nearby() {
                return Err(ConnectError::NotEncrypted(place.to_string()));
            }
            Http::new(&place, settings.limits())?;
        }
        Ok(Self { settings, connection: Mutex::new(None) })
    }

    /// Delivers one thing. Another delivery waits meanwhile.
    pub fn deliver(&self, delivery: &Delivery, stop: &AtomicBool) -> Result<(), SinkError> {
        let mut kept = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        // What fails is given up, so that the next delivery begins anew.
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
        // It answered, whatever it said.
        *kept = Some(connection);
        message::delivered(message::result(&answer)?, delivery)
    }

    /// Reaches the server, and tells it who we are.
    fn open(&self, stop: &AtomicBool) -> Result<Connection, SinkError> {
        let mut connection = Connection { line: self.line()?, last: 1 };
        let answer = connection.line.ask(&Request::initialize(1), stop)?;
        connection.line.agree(message::version(message::result(&answer)?)?);
        connection.line.tell(&message::initialized(), stop)?;
        Ok(connection)
    }

    fn line(&self) -> Result<Box<dyn Line>, SinkError> {
        let limits = self.settings.limits();
        match &self.settings.reach {
            Reach::Url(url) => {
                let rejected = |error| SinkError::Rejected { code: 0, said: format!("{error}") };
                let place = Place::parse(url).map_err(rejected)?;
                Ok(Box::new(HttpLine::new(place, self.settings.key.clone(), limits)?))
            }
            Reach::Command { program, arguments, environment, folder } => {
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

    /// Whether an error says that the server no longer knows us, and did nothing therefore.
    fn is_forgotten(&self, error: &SinkError) -> bool {
        self.line.has_session() && matches!(error, SinkError::Rejected { code: 404, .. })
    }
}
