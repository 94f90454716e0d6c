//! Errors of the application: a kind for programs, a message for people, and a remedy that each surface words its own
//! way.

use std::error::Error;
use std::fmt;

use thru_config::EditError;
use thru_intake::IntakeError;
use thru_refine::RefineError;
use thru_store::StoreError;
use thru_summaries::SummariesError;

/// A result of the application.
pub type Result<T, E = Trouble> = std::result::Result<T, E>;

/// The reason why a request was not carried out.
pub struct Trouble(Box<Inner>);

struct Inner {
    kind: TroubleKind,
    /// The message; that of `source` where there is none.
    message: Option<String>,
    remedy: Option<Remedy>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The class of a [`Trouble`], for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TroubleKind {
    /// The request itself makes no sense: a bad date, an empty text, a setting of the wrong type.
    Invalid,
    /// What was named does not exist.
    NotFound,
    /// The name fits several things.
    Ambiguous,
    /// The request is understood and declined: a setting or the state of things forbids it.
    Refused,
    /// What is to be changed is no longer what the caller saw.
    Conflict,
    /// Another process is at work; the same request may succeed later.
    Busy,
    /// The caller stopped waiting.
    Cancelled,
    /// Reading, writing or another program failed.
    Failed,
}

/// The next step for the person or the agent that met a [`Trouble`]. Surfaces word it: the command line names a
/// command, MCP a tool.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Remedy {
    /// Look something up in a list.
    See(Listing),
    /// Name one of these instead.
    Choose(Vec<String>),
    /// Use a longer prefix; these would do.
    WriteMore(Vec<String>),
    /// One of these names was probably meant; the list holds all.
    DidYouMean {
        /// Near names, the nearest first.
        names: Vec<String>,
        /// The list that holds all names.
        all: Listing,
    },
    /// Read the session with this id as a session.
    OpenSession(String),
    /// Import history.
    Import,
    /// Make store and index again from journal and archive.
    Rebuild,
    /// Run the checks.
    Doctor,
    /// Change a setting.
    Set {
        /// The setting's key.
        key: &'static str,
        /// The value to give it, where one is known.
        value: Option<String>,
    },
    /// Look at a setting and where it was set.
    ShowSetting(&'static str),
    /// A session was named where this action wants a memory.
    NotASession(MemoryAction),
    /// A passage was named where this action wants a memory.
    NotAPassage(MemoryAction),
    /// Forget the memory instead, or tell what is known better.
    ForgetOrRemember,
    /// Repeat the request with explicit consent.
    Confirm,
    /// Try again later.
    TryAgain,
    /// Advice that holds on every surface and names no command.
    Advice(String),
    /// Steps for a person at a terminal, where they are more than one command.
    ByHand(&'static str),
    /// A command line to run, for advice that only a terminal can follow.
    Run {
        /// The command with its arguments, without `thru`.
        command: String,
        /// The purpose, as a clause that follows the command: "says why".
        purpose: String,
    },
}

/// An action that only memories allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryAction {
    /// Forgetting it.
    Forget,
    /// Correcting it.
    Edit,
}

/// A list that a surface can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Listing {
    /// Projects.
    Projects,
    /// Sessions of this project.
    Sessions,
    /// Sessions of all projects.
    AllSessions,
    /// Sessions that are not indexed yet.
    Unindexed,
    /// Ids of memories and passages, as searches show them.
    Ids,
    /// Ids of memories, as searches and contexts show them.
    Memories,
    /// Decisions of the user.
    Decisions,
    /// Jobs.
    Jobs,
    /// Redaction rules.
    Rules,
    /// Settings.
    Settings,
    /// Model providers.
    Providers,
    /// Summaries that compactions left.
    Summaries,
}

impl Listing {
    /// The command line that shows it, without `thru`.
    pub const fn command(self) -> &'static str {
        match self {
            Self::Projects => "projects",
            Self::Sessions => "sessions",
            Self::AllSessions => "sessions --all",
            Self::Unindexed => "sessions --unindexed",
            Self::Ids | Self::Memories => "search",
            Self::Decisions => "log",
            Self::Jobs => "jobs",
            Self::Rules => "redact list",
            Self::Settings => "config show",
            Self::Providers => "models",
            Self::Summaries => "summaries list",
        }
    }
}

impl Trouble {
    /// Makes a trouble of a kind with its message.
    pub fn new(kind: TroubleKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: Some(message.into()), remedy: None, source: None }))
    }

    /// Makes one of kind [`TroubleKind::Invalid`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(TroubleKind::Invalid, message)
    }

    /// Makes one of kind [`TroubleKind::NotFound`].
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(TroubleKind::NotFound, message)
    }

    /// Makes one of kind [`TroubleKind::Ambiguous`].
    pub fn ambiguous(message: impl Into<String>) -> Self {
        Self::new(TroubleKind::Ambiguous, message)
    }

    /// Makes one of kind [`TroubleKind::Refused`].
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(TroubleKind::Refused, message)
    }

    /// Makes one of kind [`TroubleKind::Busy`].
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(TroubleKind::Busy, message)
    }

    /// Makes one of kind [`TroubleKind::Failed`].
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(TroubleKind::Failed, message)
    }

    /// The caller stopped waiting.
    pub fn cancelled() -> Self {
        Self::new(TroubleKind::Cancelled, "the call was cancelled")
    }

    /// Wraps an error of a library.
    pub fn from_error(
        kind: TroubleKind,
        remedy: Option<Remedy>,
        error: impl Error + Send + Sync + 'static,
    ) -> Self {
        Self(Box::new(Inner { kind, message: None, remedy, source: Some(Box::new(error)) }))
    }

    /// Adds the remedy.
    #[must_use]
    pub fn with(mut self, remedy: Remedy) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    /// Adds advice that holds on every surface.
    #[must_use]
    pub fn advise(self, advice: impl Into<String>) -> Self {
        self.with(Remedy::Advice(advice.into()))
    }

    /// Adds a command line as the remedy: `purpose` is a clause that follows it, such as "says why".
    #[must_use]
    pub fn run(self, command: impl Into<String>, purpose: impl Into<String>) -> Self {
        self.with(Remedy::Run { command: command.into(), purpose: purpose.into() })
    }

    /// The class of the trouble.
    pub fn kind(&self) -> TroubleKind {
        self.0.kind
    }

    /// The next step, where one is known.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.0.remedy.as_ref()
    }

    /// The kind of the input or output error at the root of the trouble, if there is one.
    pub fn io_kind(&self) -> Option<std::io::ErrorKind> {
        let mut cause: Option<&(dyn Error + 'static)> = match &self.0.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        };
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<std::io::Error>() {
                return Some(error.kind());
            }
            if let Some(trouble) = error.downcast_ref::<Self>() {
                return trouble.io_kind();
            }
            cause = error.source();
        }
        None
    }

    /// True if the data directory cannot be written.
    pub fn is_read_only(&self) -> bool {
        let source = self.0.source.as_deref();
        source.and_then(|source| source.downcast_ref()).is_some_and(IntakeError::is_read_only)
    }

    /// The message with those of its causes, separated by colons.
    pub fn message(&self) -> String {
        format!("{self:#}")
    }
}

impl fmt::Display for Trouble {
    /// Writes the message; with `{:#}` also those of the causes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = match (&self.0.message, &self.0.source) {
            (Some(message), _) => message.clone(),
            (None, Some(source)) => source.to_string(),
            (None, None) => String::new(),
        };
        let mut cause = self.source().filter(|_| f.alternate());
        while let Some(error) = cause {
            let words = error.to_string();
            // Many errors end with the words of their cause.
            if !text.ends_with(&words) {
                text.push_str(": ");
                text.push_str(&words);
            }
            cause = error.source();
        }
        f.write_str(&text)
    }
}

impl fmt::Debug for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self:#} ({:?})", self.0.kind, self.0.remedy)
    }
}

impl Error for Trouble {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.0.source.as_deref()?;
        match self.0.message {
            Some(_) => Some(source),
            None => source.source(),
        }
    }
}

/// Adds a message in front of an error.
pub trait Context<T> {
    /// Adds a message.
    ///
    /// # Errors
    /// Those of the result, or one with this message where there is no value.
    fn context(self, message: impl Into<String>) -> Result<T>;

    /// Adds a message that is made only where it is needed.
    ///
    /// # Errors
    /// As [`Context::context`].
    fn with_context<M: Into<String>>(self, message: impl FnOnce() -> M) -> Result<T>;
}

impl<T, E: Into<Trouble>> Context<T> for std::result::Result<T, E> {
    fn context(self, message: impl Into<String>) -> Result<T> {
        self.with_context(|| message)
    }

    fn with_context<M: Into<String>>(self, message: impl FnOnce() -> M) -> Result<T> {
        self.map_err(|error| {
            let source: Trouble = error.into();
            let (kind, remedy) = (source.kind(), source.remedy().cloned());
            let message = Some(message().into());
            Trouble(Box::new(Inner { kind, message, remedy, source: Some(Box::new(source)) }))
        })
    }
}

impl<T> Context<T> for Option<T> {
    fn context(self, message: impl Into<String>) -> Result<T> {
        self.ok_or_else(|| Trouble::failed(message))
    }

    fn with_context<M: Into<String>>(self, message: impl FnOnce() -> M) -> Result<T> {
        self.ok_or_else(|| Trouble::failed(message()))
    }
}

/// Errors that mean a failure below, with no remedy of their own.
macro_rules! failures {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Trouble {
            fn from(error: $error) -> Self {
                Self::from_error(TroubleKind::Failed, None, error)
            }
        })*
    };
}

failures![
    std::io::Error,
    serde_json::Error,
    jiff::Error,
    thru_journal::Error,
    thru_embed::EmbedError,
    thru_models::KeyError,
    thru_redact::RuleError,
];

/// Errors in what was asked for.
macro_rules! invalid {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Trouble {
            fn from(error: $error) -> Self {
                Self::from_error(TroubleKind::Invalid, None, error)
            }
        })*
    };
}

invalid![thru_foreign::ForeignError, thru_core::InvalidIdPrefix, thru_recall::InvalidDate];

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        let (kind, remedy) = of_store(&error);
        Self::from_error(kind, remedy, error)
    }
}

/// Advice where the disk is full.
const FREE_SPACE: &str = "free some space and run the command again: it continues where it stopped";
/// Advice where the data directory cannot be written.
const PERMISSIONS: &str =
    "check the owner and the permissions of the data directory (`thru config path`)";

fn of_store(error: &StoreError) -> (TroubleKind, Option<Remedy>) {
    use TroubleKind::{Busy, Failed, NotFound, Refused};
    let advice = |text: &str| Some(Remedy::Advice(text.to_owned()));
    let by_hand = |steps| Some(Remedy::ByHand(steps));
    match error {
        StoreError::Missing { .. } => (NotFound, Some(Remedy::Import)),
        StoreError::Busy { .. } => {
            (Busy, advice("wait for the other `thru` to finish, then try again"))
        }
        StoreError::DiskFull { .. } => (Failed, by_hand(FREE_SPACE)),
        StoreError::ReadOnly { .. } => (Failed, by_hand(PERMISSIONS)),
        StoreError::Corrupt { .. } => (Failed, Some(Remedy::Rebuild)),
        StoreError::SchemaTooNew { .. } => {
            (Refused, by_hand("install the newer version of Throughline"))
        }
        StoreError::SqliteTooOld { .. } => {
            (Failed, by_hand("build with the bundled SQLite (the default)"))
        }
        StoreError::Vectors { .. }
        | StoreError::Io { .. }
        | StoreError::Sqlite(_)
        | StoreError::Index(_) => (Failed, None),
    }
}

impl From<IntakeError> for Trouble {
    fn from(error: IntakeError) -> Self {
        use TroubleKind::{Busy, Failed, NotFound, Refused};
        let advice = |text: &str| Some(Remedy::Advice(text.to_owned()));
        let by_hand = |steps| Some(Remedy::ByHand(steps));
        let (kind, remedy) = match &error {
            IntakeError::Store(error) => of_store(error),
            IntakeError::Journal(thru_journal::Error::DiskFull { .. }) => {
                (Failed, by_hand(FREE_SPACE))
            }
            error if error.is_read_only() => (Failed, by_hand(PERMISSIONS)),
            IntakeError::Locked { .. } => {
                (Busy, advice("wait until it is done; what it imports need not be imported again"))
            }
            IntakeError::Embedding => {
                (Busy, advice("wait until it is done; the daemon also does it"))
            }
            IntakeError::WouldLose(_) => (
                Refused,
                by_hand(
                    "restore `journal/` and `archive/` from a backup, then rebuild; `thru verify` says what is \
                     missing, `thru rebuild --accept-loss` continues without it",
                ),
            ),
            IntakeError::NotSwept => (Failed, Some(Remedy::Rebuild)),
            IntakeError::Embed(_) => (Failed, Some(Remedy::Doctor)),
            IntakeError::Interrupted => {
                (Failed, by_hand("run the command again: it continues where it stopped"))
            }
            IntakeError::NoTranscript(id) => (
                NotFound,
                Some(Remedy::Run {
                    command: format!("session show {id}"),
                    purpose: "shows what was recorded".to_owned(),
                }),
            ),
            IntakeError::NotArchived(_) => (
                NotFound,
                by_hand(
                    "put `archive/` back from a backup and try again; `thru verify` says what else is missing",
                ),
            ),
            IntakeError::NoSession(_) => (NotFound, Some(Remedy::See(Listing::Sessions))),
            IntakeError::Exists(_) => (
                Refused,
                advice(
                    "nothing was changed; move the file away first if you want the archived one",
                ),
            ),
            IntakeError::WorkerLost => (
                Failed,
                by_hand("this is a bug in Throughline; run it again with RUST_BACKTRACE=1"),
            ),
            IntakeError::Journal(_)
            | IntakeError::Rule(_)
            | IntakeError::Restore(_)
            | IntakeError::Io { .. } => (Failed, None),
        };
        Self::from_error(kind, remedy, error)
    }
}

impl From<RefineError> for Trouble {
    fn from(error: RefineError) -> Self {
        match error {
            RefineError::Intake(error) => error.into(),
            RefineError::Store(error) => error.into(),
            RefineError::Asking => Self::from_error(TroubleKind::Busy, None, error)
                .advise("it may be the daemon: try again when it is done"),
            RefineError::Busy => Self::from_error(TroubleKind::Busy, Some(Remedy::TryAgain), error),
            RefineError::Settings(_) => Self::from_error(TroubleKind::Invalid, None, error),
            _ => Self::from_error(TroubleKind::Failed, None, error),
        }
    }
}

impl From<SummariesError> for Trouble {
    fn from(error: SummariesError) -> Self {
        use TroubleKind::{Busy, Failed, NotFound, Refused};
        let (kind, remedy) = match &error {
            SummariesError::Refused(_) => {
                let advice = "remove it, if you do not know it".to_owned();
                (Refused, Some(Remedy::Advice(advice)))
            }
            SummariesError::Busy(_) => (Busy, Some(Remedy::TryAgain)),
            SummariesError::Unknown(_) => (NotFound, Some(Remedy::See(Listing::Summaries))),
            _ => (Failed, None),
        };
        Self::from_error(kind, remedy, error)
    }
}

impl From<EditError> for Trouble {
    fn from(error: EditError) -> Self {
        let remedy = match &error {
            EditError::UnknownKey { suggestion: Some(key), .. } => {
                Some(Remedy::DidYouMean { names: vec![(*key).to_owned()], all: Listing::Settings })
            }
            EditError::UnknownKey { .. } => Some(Remedy::See(Listing::Settings)),
            _ => None,
        };
        Self::from_error(TroubleKind::Invalid, remedy, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_or_read_only_disk_has_advice_and_is_named_once() {
        let path = std::path::PathBuf::from("/home/ada/memory");
        let full = IntakeError::Journal(thru_journal::Error::DiskFull { path: path.clone() });
        assert_eq!(Trouble::from(full).remedy(), Some(&Remedy::ByHand(FREE_SPACE)));
        let source = std::io::Error::from(std::io::ErrorKind::ReadOnlyFilesystem);
        let locked = Trouble::from(IntakeError::Io { path, source });
        assert_eq!(locked.remedy(), Some(&Remedy::ByHand(PERMISSIONS)));
        assert_eq!(locked.message().matches("read-only").count(), 1, "{}", locked.message());
    }

    #[test]
    fn a_message_names_its_causes_once() {
        let cause = std::io::Error::other("no space");
        let error = Err::<(), _>(cause).context("the file cannot be written").unwrap_err();
        assert_eq!(error.to_string(), "the file cannot be written");
        assert_eq!(error.message(), "the file cannot be written: no space");
        assert_eq!(Trouble::from(std::io::Error::other("no space")).message(), "no space");
        assert_eq!(error.io_kind(), Some(std::io::ErrorKind::Other));
    }

    #[test]
    fn context_keeps_kind_and_remedy() {
        let error =
            Err::<(), _>(Trouble::not_found("there is no session `x`").with(Remedy::Doctor));
        let error = error.context("nothing was closed").unwrap_err();
        assert_eq!((error.kind(), error.remedy()), (TroubleKind::NotFound, Some(&Remedy::Doctor)));
    }
}
