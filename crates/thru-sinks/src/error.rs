//! Failures of deliveries.

use std::time::Duration;

use thru_outside::{HttpError, Retry, ServiceUrlError, excerpt};

/// The reason nothing can be delivered with these settings.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL is invalid.
    #[error("invalid url: {0}")]
    InvalidUrl(#[from] ServiceUrlError),
    /// The server is another machine.
    #[error("{0} is another machine, and deliveries to other machines are not allowed")]
    Remote(String),
    /// Deliveries would travel unencrypted to another machine.
    #[error("{0} is not encrypted; use https://")]
    NotEncrypted(String),
}

/// The reason a delivery did not arrive, as far as is known. Messages of servers are cut to 200
/// characters; a tool's message is kept only if it does not repeat the delivery.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The server cannot be reached.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// The time limit was exceeded.
    #[error("no answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    /// The `stop` flag was set.
    #[error("stopped")]
    Stopped,
    /// The answer is longer than this many bytes.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    /// Authentication failed.
    #[error("authentication failed ({status}): {said}")]
    Unauthorized {
        /// The HTTP status.
        status: u16,
        /// The server's message.
        said: String,
    },
    /// The rate limit is exceeded.
    #[error("too many deliveries")]
    RateLimited {
        /// The time to wait, if the server named one.
        after: Option<Duration>,
    },
    /// The server failed.
    #[error("the server failed ({status}): {said}")]
    Server {
        /// The HTTP status.
        status: u16,
        /// The server's message.
        said: String,
    },
    /// The server rejects this delivery: it has no such tool, or the tool no such arguments.
    #[error("the server rejects the delivery ({code}): {said}")]
    Rejected {
        /// The code: an HTTP status if positive, a JSON-RPC error if negative.
        code: i64,
        /// The server's message.
        said: String,
    },
    /// The tool was called and failed.
    #[error("the tool failed: {0}")]
    Failed(String),
    /// The response is no valid MCP.
    #[error("protocol error: {0}")]
    Protocol(String),
}

impl SinkError {
    /// Returns advice on trying again.
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
            HttpError::Redirect(target) => Self::Rejected {
                code: 300,
                said: excerpt(&format!("the answer is a redirect to {target}; is the url right?")),
            },
            HttpError::Impossible(said) => Self::Rejected { code: 0, said },
        }
    }
}
