//! The providers, and connections to them.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use thru_outside::{Http, Key, Limits, ServiceUrl, ServiceUrlError};

use crate::anthropic::{self, Anthropic};
use crate::chat::{Chat, Wire};
use crate::claude_cli::ClaudeCli;
use crate::dialect::{Dialect, LengthField};
use crate::error::AskError;
use crate::ollama::{self, Ollama};
use crate::openai::{self, OpenAi};
use crate::request::{Reply, Request};

/// A provider of a model. Asking blocks the thread.
pub trait Provider: Send + Sync {
    /// Returns the provider's name, as in settings.
    fn name(&self) -> &str;

    /// Returns the model that is asked.
    fn model(&self) -> &str;

    /// Returns true if questions stay on this machine.
    fn is_local(&self) -> bool;

    /// Asks once. Retries only a request that was rejected before it cost anything.
    ///
    /// # Errors
    ///
    /// Returns an [`AskError`] if there is no usable answer within the time limit, or if `stop` was set.
    fn ask(&self, request: &Request, stop: &AtomicBool) -> Result<Reply, AskError>;
}

/// The kinds of providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's chat completions, from any vendor.
    OpenAi,
    /// Ollama's own format.
    Ollama,
    /// The user's own `claude`.
    ClaudeCli,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAi, Self::Ollama, Self::ClaudeCli];

    /// Returns its name in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::ClaudeCli => "claude-cli",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = ConnectError;

    fn from_str(text: &str) -> Result<Self, ConnectError> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == text);
        kind.ok_or_else(|| ConnectError::UnknownKind(thru_outside::excerpt(text)))
    }
}

/// Everything needed to ask a provider.
#[derive(Clone)]
pub struct Settings {
    /// The kind of provider.
    pub kind: Kind,
    /// The model's name at this provider.
    pub model: String,
    /// The URL; `None` for the provider's own.
    pub url: Option<String>,
    /// The key. Without one, `claude` uses the user's login.
    pub key: Option<Key>,
    /// Time limit of an answer.
    pub timeout: Duration,
    /// Most bytes of an answer on the wire.
    pub longest_answer: usize,
    /// Ollama: the size of the context window; `None` for as large as a request needs.
    pub num_ctx: Option<u32>,
    /// Ollama: time the model stays in memory afterwards.
    pub keep_alive: String,
    /// `claude`: the program.
    pub program: PathBuf,
    /// `claude`: its environment, from which variables that must not reach it are removed.
    pub environment: Vec<(OsString, OsString)>,
    /// `claude`: an existing folder, outside any project, in which it gets an empty one to work in.
    pub scratch: Option<PathBuf>,
}

impl Settings {
    /// Returns the default settings.
    pub fn new(kind: Kind, model: &str) -> Self {
        Self {
            kind,
            model: model.to_owned(),
            url: None,
            key: None,
            timeout: Duration::from_secs(120),
            longest_answer: 1024 * 1024,
            num_ctx: None,
            keep_alive: "5m".to_owned(),
            program: PathBuf::from("claude"),
            environment: Vec::new(),
            scratch: None,
        }
    }

    /// Returns the environment variable that may hold the key, if there is one for this provider and
    /// URL.
    pub fn key_variable(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Anthropic => Some(anthropic::KEY_VARIABLE),
            Kind::OpenAi => openai::key_variable(&self.service().ok()?),
            Kind::Ollama | Kind::ClaudeCli => None,
        }
    }

    /// Returns true if questions stay on this machine.
    pub fn is_local(&self) -> bool {
        self.kind != Kind::ClaudeCli && self.service().is_ok_and(|service| service.is_loopback())
    }

    fn service(&self) -> Result<ServiceUrl, ServiceUrlError> {
        let usual = match self.kind {
            Kind::Anthropic | Kind::ClaudeCli => anthropic::URL,
            Kind::OpenAi => openai::URL,
            Kind::Ollama => ollama::URL,
        };
        ServiceUrl::parse(self.url.as_deref().unwrap_or(usual))
    }
}

/// The reason a provider cannot be asked with these settings.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// There is no such provider.
    #[error("there is no provider {0:?}; there are anthropic, openai, ollama and claude-cli")]
    UnknownKind(String),
    /// No model was named.
    #[error("no model is named")]
    NoModel,
    /// The URL is invalid.
    #[error("invalid url: {0}")]
    InvalidUrl(#[from] ServiceUrlError),
    /// A key is needed and missing.
    #[error("there is no key{}", variable.map(|name| format!("; set {name} or store one")).unwrap_or_default())]
    NoKey {
        /// The variable that may hold it.
        variable: Option<&'static str>,
    },
    /// The prompt and a key would travel unencrypted to another machine.
    #[error("{0} is not encrypted; use https://")]
    NotEncrypted(String),
    /// There is no folder for `claude` to work in.
    #[error("no working folder is set for claude")]
    NoScratch,
}

/// Creates a provider from settings. Nothing is sent yet.
///
/// # Errors
///
/// Returns a [`ConnectError`] if no model is named, the URL is invalid or not encrypted, or a key or
/// folder is missing.
pub fn connect(settings: &Settings) -> Result<Box<dyn Provider>, ConnectError> {
    if settings.model.trim().is_empty() {
        return Err(ConnectError::NoModel);
    }
    if settings.kind == Kind::ClaudeCli {
        let scratch = settings.scratch.clone().ok_or(ConnectError::NoScratch)?;
        return Ok(Box::new(ClaudeCli::new(settings, scratch)));
    }
    let service = settings.service()?;
    if !service.is_encrypted() && !service.is_nearby() {
        return Err(ConnectError::NotEncrypted(service.to_string()));
    }
    let old = Dialect::new(LengthField::MaxTokens);
    let key = settings.key.as_ref();
    match settings.kind {
        Kind::OpenAi => {
            let bearer = key.map(|key| ("authorization", format!("Bearer {}", key.reveal())));
            let (url, dialect) = (openai::url(&service), openai::dialect(&service));
            let needs_key = settings.key_variable().is_some();
            chat(settings, OpenAi, service, url, bearer.into_iter().collect(), dialect, needs_key)
        }
        Kind::Ollama => {
            let wire =
                Ollama { num_ctx: settings.num_ctx, keep_alive: settings.keep_alive.clone() };
            let bearer = key.map(|key| ("authorization", format!("Bearer {}", key.reveal())));
            let url = service.join("/api/chat");
            chat(settings, wire, service, url, bearer.into_iter().collect(), old, false)
        }
        Kind::Anthropic | Kind::ClaudeCli => {
            let (name, version) = anthropic::VERSION;
            let mut headers = vec![(name, version.to_owned())];
            headers.extend(key.map(|key| ("x-api-key", key.reveal().to_owned())));
            let url = match service.path().ends_with("/v1") {
                true => service.join("/messages"),
                false => service.join("/v1/messages"),
            };
            let needs_key = !service.is_loopback();
            chat(settings, Anthropic, service, url, headers, old, needs_key)
        }
    }
}

fn chat<W: Wire + 'static>(
    settings: &Settings,
    wire: W,
    service: ServiceUrl,
    url: String,
    headers: Vec<(&'static str, String)>,
    dialect: Dialect,
    needs_key: bool,
) -> Result<Box<dyn Provider>, ConnectError> {
    let variable = settings.key_variable();
    if needs_key && settings.key.is_none() {
        return Err(ConnectError::NoKey { variable });
    }
    let limits = Limits { time: settings.timeout, size: settings.longest_answer };
    Ok(Box::new(Chat {
        wire,
        name: settings.kind.name(),
        model: settings.model.clone(),
        http: Http::new(&service, limits),
        service,
        url,
        headers,
        key: settings.key.clone(),
        advice: variable.map_or_else(
            || "store a key that is valid there".to_owned(),
            |name| format!("set {name} to a key that is valid, or store one"),
        ),
        dialect: Mutex::new(dialect),
    }))
}
