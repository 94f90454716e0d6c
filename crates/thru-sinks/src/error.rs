//! Why something was not delivered.

use std::time::Duration;

use thru_outside::{HttpError, PlaceError, Retry, excerpt};

/// Why nothing can be delivered with these settings.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL is none.
    #[error("the url is not usable: {0}")]
    Place(#[from] PlaceError),
    /// It is another machine.
    #[error("{0} is another machine, and nothing is delivered there unless that is allowed")]
    Remote(String),
    /// What is delivered would travel far and open for everybody.
    #[error("{0} is not encrypted; use https://")]
    NotEncrypted(String),
    /// The network cannot be used.
    #[error(transparent)]
    Http(#[from] HttpError),
}

/// Why a delivery did not arrive, as far as we know. Of what servers say, a message holds 200 characters,
/// and what a tool says only if it does not repeat what was delivered.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// Nobody is there.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// It took too long.
    #[error("no answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    /// We were told to stop.
    #[error("stopped")]
    Stopped,
    /// The answer is longer than we read.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    /// It does not let us in.
    #[error("not allowed in ({status}): {said}")]
    Unauthorized {
        /// The status of its answer.
        status: u16,
        /// What it says.
        said: String,
    },
    /// We deliver more often than we may.
    #[error("too many deliveries")]
    RateLimited {
        /// When we may again.
        after: Option<Duration>,
    },
    /// Something is wrong with the server.
    #[error("the server failed ({status}): {said}")]
    Server {
        /// The status of its answer.
        status: u16,
        /// What it says.
        said: String,
    },
    /// The server does not take this: it has no such tool, or the tool no such arguments.
    #[error("the server rejects the delivery ({code}): {said}")]
    Rejected {
        /// Its number for that: of HTTP if positive, of JSON-RPC if negative.
        code: i64,
        /// What it says.
        said: String,
    },
    /// The tool was called and failed.
    #[error("the tool failed: {0}")]
    Failed(String),
    /// What came is no answer of such a server.
    #[error("not understood: {0}")]
    Protocol(String),
}

impl SinkError {
    /// Whether to try again.
    pub const fn retry(&self) -> Retry {
        match self {
            Self::RateLimited { after: Some(after) } => Retry::After(*after),
            Self::Stopped => Retry::After(Duration::ZERO),
            Self::Unreachable(_)
            | Self::Timeout(_)
            | Self::RateLimited { after: None }
            | Self::Server { .. }
            | Self::Failed(_)
            | Self::Protocol(_) => Retry::Backoff,
            Self::TooLong(_) | Self::Unauthorized { .. } | Self::Rejected { .. } => Retry::No,
        }
    }
}

impl From<HttpError> for SinkError {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Unreachable(said) => Self::Unreachable(said),
            HttpError::Timeout(limit) => Self::Timeout(limit),
            HttpError::Stopped => Self::Stopped,
            HttpError::TooLong(limit) => Self::TooLong(limit),
            HttpError::Broken(said) => {
                Self::Protocol(excerpt(&format!("the connection broke: {said}")))
            }
            HttpError::Elsewhere(place) => Self::Rejected {
                code: 300,
                said: excerpt(&format!("the answer leads elsewhere ({place}); is the url right?")),
            },
            HttpError::Impossible(said) => Self::Rejected { code: 0, said },
        }
    }
}
