//! Failures of a question, with everything that a queue of questions needs to know of them.

use std::time::Duration;

use thru_outside::{HttpError, Retry, excerpt};

use crate::request::{Request, Usage};

/// The reason there is no usable answer.
///
/// No message holds a key or the prompt. Messages of providers are cut to 200 characters.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Authentication failed: the key is missing, wrong, expired, or has no credit.
    #[error("{}; {advice}", spoken("authentication failed", said))]
    Unauthorized {
        /// The provider's message.
        said: String,
        /// Advice for the user.
        advice: String,
    },
    /// The rate limit is exceeded.
    #[error("{}", spoken("rate limited", said))]
    RateLimited {
        /// The time to wait, if the provider named one.
        after: Option<Duration>,
        /// The provider's message.
        said: String,
    },
    /// The provider is overloaded.
    #[error("{}", spoken("the provider is overloaded", said))]
    Overloaded {
        /// The time to wait, if the provider named one.
        after: Option<Duration>,
        /// The provider's message.
        said: String,
    },
    /// The provider failed.
    #[error("{}", spoken(&format!("the provider failed ({status})"), said))]
    Server {
        /// The HTTP status.
        status: u16,
        /// The provider's message.
        said: String,
    },
    /// The provider rejects this request: it does not know the model, or something else in it.
    #[error("{}", rejection(*status, said))]
    Rejected {
        /// The HTTP status; 0 if the request was not sent.
        status: u16,
        /// The provider's message.
        said: String,
    },
    /// The time limit was exceeded.
    #[error("no answer within {} s", limit.as_secs_f32())]
    Timeout {
        /// The time limit.
        limit: Duration,
        /// Tokens that may have been spent.
        spent: Option<Usage>,
    },
    /// The server cannot be reached.
    #[error("{}", spoken("cannot be reached", said))]
    Unreachable {
        /// The system's message.
        said: String,
    },
    /// The answer is too long.
    #[error("the answer is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
        /// Tokens that may have been spent.
        spent: Option<Usage>,
    },
    /// The model declined to answer.
    #[error("{}", spoken("the model declined", said))]
    Refused {
        /// The provider's message.
        said: String,
        /// Tokens that were spent.
        spent: Usage,
    },
    /// The answer reached its maximum length before it was complete.
    #[error("the answer was cut off after {} tokens", spent.output)]
    Truncated {
        /// Tokens that were spent.
        spent: Usage,
    },
    /// The answer has no usable content.
    #[error("the model's answer is unusable")]
    Unusable {
        /// Tokens that were spent.
        spent: Usage,
    },
    /// The response is not in the provider's format.
    #[error("{}", spoken("protocol error", said))]
    Protocol {
        /// The difference.
        said: String,
        /// Tokens that may have been spent.
        spent: Option<Usage>,
    },
    /// The `stop` flag was set.
    #[error("stopped")]
    Stopped {
        /// Tokens that may have been spent.
        spent: Option<Usage>,
    },
}

impl AskError {
    /// Returns advice on asking again.
    pub const fn retry(&self) -> Retry {
        match self {
            Self::RateLimited { after: Some(after), .. }
            | Self::Overloaded { after: Some(after), .. } => Retry::After(*after),
            Self::Stopped { .. } => Retry::After(Duration::ZERO),
            Self::RateLimited { .. }
            | Self::Overloaded { .. }
            | Self::Server { .. }
            | Self::Timeout { .. }
            | Self::Unreachable { .. }
            | Self::Unusable { .. }
            | Self::Protocol { .. } => Retry::Backoff,
            Self::Unauthorized { .. }
            | Self::Rejected { .. }
            | Self::TooLong { .. }
            | Self::Refused { .. }
            | Self::Truncated { .. } => Retry::No,
        }
    }

    /// Returns the tokens spent although there is no answer. Unknown amounts are estimated, rather too
    /// high than too low: the provider may have answered.
    pub const fn spent(&self) -> Option<Usage> {
        match self {
            Self::Refused { spent, .. } | Self::Truncated { spent } | Self::Unusable { spent } => {
                Some(*spent)
            }
            Self::Timeout { spent, .. }
            | Self::TooLong { spent, .. }
            | Self::Protocol { spent, .. }
            | Self::Stopped { spent } => *spent,
            Self::Unauthorized { .. }
            | Self::RateLimited { .. }
            | Self::Overloaded { .. }
            | Self::Server { .. }
            | Self::Rejected { .. }
            | Self::Unreachable { .. } => None,
        }
    }

    /// Returns true if any other question to the same provider would fail as well, so that none should
    /// be asked until the settings, the network, or the time changes.
    pub const fn concerns_provider(&self) -> bool {
        matches!(
            self,
            Self::Unauthorized { .. }
                | Self::RateLimited { .. }
                | Self::Overloaded { .. }
                | Self::Unreachable { .. }
        )
    }

    /// Converts the failure of an HTTP request.
    pub(crate) fn from_http(error: HttpError, request: &Request) -> Self {
        let spent = error.was_sent().then(|| request.estimate());
        match error {
            HttpError::Unreachable(said) => Self::Unreachable { said },
            HttpError::Timeout(limit) => Self::Timeout { limit, spent },
            HttpError::Stopped => Self::Stopped { spent },
            HttpError::TooLong(limit) => Self::TooLong { limit, spent },
            HttpError::Broken(said) => {
                Self::Protocol { said: excerpt(&format!("the connection broke: {said}")), spent }
            }
            HttpError::Redirect(target) => {
                let said =
                    excerpt(&format!("the answer is a redirect to {target}; is the url right?"));
                Self::Rejected { status: 300, said }
            }
            HttpError::Impossible(said) => Self::Rejected { status: 0, said },
        }
    }
}

/// Joins a description and the other side's message, if there is one.
fn rejection(status: u16, said: &str) -> String {
    match status {
        0 => said.to_owned(),
        status => spoken(&format!("the provider rejects the request ({status})"), said),
    }
}

fn spoken(what: &str, said: &str) -> String {
    if said.is_empty() { what.to_owned() } else { format!("{what}: {said}") }
}
