//! The providers that there are, and how one is reached.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use thru_outside::{Http, HttpError, Key, Limits, Place, PlaceError};

use crate::anthropic::{self, Anthropic};
use crate::chat::{Chat, Wire};
use crate::claude_cli::ClaudeCli;
use crate::dialect::{Dialect, LengthField};
use crate::error::AskError;
use crate::ollama::{self, Ollama};
use crate::openai::{self, OpenAi};
use crate::request::{Reply, Request};

/// Where a model is asked. Asking takes a thread for as long as it takes.
pub trait Provider: Send + Sync {
    /// The provider's name, as settings know it.
    fn name(&self) -> &str;

    /// The model that is asked.
    fn model(&self) -> &str;

    /// Whether what is asked stays on this machine.
    fn is_local(&self) -> bool;

    /// Asks once. Nothing is tried again but what was rejected before it cost anything.
    fn ask(&self, request: &Request, stop: &AtomicBool) -> Result<Reply, AskError>;
}

/// The providers that we can talk to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's chat completions, from whomever.
    OpenAi,
    /// Ollama's own format.
    Ollama,
    /// The user's own `claude`.
    ClaudeCli,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAi, Self::Ollama, Self::ClaudeCli];

    /// What settings call it.
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

/// All that is needed to ask a provider.
#[derive(Clone)]
pub struct Settings {
    /// Which one.
    pub kind: Kind,
    /// The model's name at this provider.
    pub model: String,
    /// Where it is; the provider's own place if not set.
    pub url: Option<String>,
    /// The key. `claude` uses what the user signed in with unless there is one.
    pub key: Option<Key>,
    /// How long an answer may take.
    pub timeout: Duration,
    /// How many bytes an answer may have on its way.
    pub longest_answer: usize,
    /// Ollama: the size of the window; as large as a request needs if not set.
    pub num_ctx: Option<u32>,
    /// Ollama: how long the model stays in memory afterwards.
    pub keep_alive: String,
    /// `claude`: the program.
    pub program: PathBuf,
    /// `claude`: the environment that it is given, without what must not reach it.
    pub environment: Vec<(OsString, OsString)>,
    /// `claude`: an existing folder in which it is given an empty one to work in, outside of any project.
    pub scratch: Option<PathBuf>,
}

impl Settings {
    /// The usual settings.
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

    /// The environment variable that may hold the key, where there is one for this provider and place.
    pub fn key_variable(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Anthropic => Some(anthropic::KEY_VARIABLE),
            Kind::OpenAi => openai::key_variable(&self.place().ok()?),
            Kind::Ollama | Kind::ClaudeCli => None,
        }
    }

    /// Whether what is asked stays on this machine.
    pub fn is_local(&self) -> bool {
        self.kind != Kind::ClaudeCli && self.place().is_ok_and(|place| place.is_loopback())
    }

    fn place(&self) -> Result<Place, PlaceError> {
        let usual = match self.kind {
            Kind::Anthropic | Kind::ClaudeCli => anthropic::URL,
            Kind::OpenAi => openai::URL,
            Kind::Ollama => ollama::URL,
        };
        Place::parse(self.url.as_deref().unwrap_or(usual))
    }
}

/// Why a provider cannot be asked with these settings.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// There is no such provider.
    #[error("there is no provider {0:?}; there are anthropic, openai, ollama and claude-cli")]
    UnknownKind(String),
    /// No model was named.
    #[error("no model is named")]
    NoModel,
    /// The URL is none.
    #[error("the url is not usable: {0}")]
    Place(#[from] PlaceError),
    /// There is no key where one is needed.
    #[error("there is no key{}", variable.map(|name| format!("; set {name} or store one")).unwrap_or_default())]
    NoKey {
        /// The variable that may hold it.
        variable: Option<&'static str>,
    },
    /// What is asked, and a key, would travel far and open for everybody.
    #[error("{0} is not encrypted; use https://")]
    NotEncrypted(String),
    /// There is no folder for `claude` to work in.
    #[error("no folder is named in which claude may work")]
    NoScratch,
    /// The network cannot be used.
    #[error(transparent)]
    Http(#[from] HttpError),
}

/// Makes a provider of settings. Nothing is sent yet.
pub fn connect(settings: &Settings) -> Result<Box<dyn Provider>, ConnectError> {
    if settings.model.trim().is_empty() {
        return Err(ConnectError::NoModel);
    }
    if settings.kind == Kind::ClaudeCli {
        let scratch = settings.scratch.clone().ok_or(ConnectError::NoScratch)?;
        return Ok(Box::new(ClaudeCli::new(settings, scratch)));
    }
    let place = settings.place()?;
    if !place.is_encrypted() && !place.is_nearby() {
        return Err(ConnectError::NotEncrypted(place.to_string()));
    }
    let old = Dialect::new(LengthField::MaxTokens);
    let key = settings.key.as_ref();
    match settings.kind {
        Kind::OpenAi => {
            let bearer = key.map(|key| ("authorization", format!("Bearer {}", key.reveal())));
            let (url, dialect) = (openai::url(&place), openai::dialect(&place));
            let needs_key = settings.key_variable().is_some();
            chat(settings, OpenAi, place, url, bearer.into_iter().collect(), dialect, needs_key)
        }
        Kind::Ollama => {
            let wire =
                Ollama { num_ctx: settings.num_ctx, keep_alive: settings.keep_alive.clone() };
            let bearer = key.map(|key| ("authorization", format!("Bearer {}", key.reveal())));
            let url = place.join("/api/chat");
            chat(settings, wire, place, url, bearer.into_iter().collect(), old, false)
        }
        Kind::Anthropic | Kind::ClaudeCli => {
            let (name, version) = anthropic::VERSION;
            let mut headers = vec![(name, version.to_owned())];
            headers.extend(key.map(|key| ("x-api-key", key.reveal().to_owned())));
            let url = match place.path().ends_with("/v1") {
                true => place.join("/messages"),
                false => place.join("/v1/messages"),
            };
            let needs_key = !place.is_loopback();
            chat(settings, Anthropic, place, url, headers, old, needs_key)
        }
    }
}

fn chat<W: Wire + 'static>(
    settings: &Settings,
    wire: W,
    place: Place,
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
        http: Http::new(&place, limits)?,
        place,
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
