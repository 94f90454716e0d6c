//! Why there is no answer that can be used, and what a queue of questions has to know of it.

use std::time::Duration;

use thru_outside::{HttpError, Retry, excerpt};

use crate::request::{Request, Usage};

/// Why there is no answer.
///
/// No message holds a key or what was asked. What providers say in theirs is cut to 200 characters.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The provider does not know us, or no longer: the key is missing, wrong, expired, or has no credit.
    #[error("{}; {advice}", spoken("not allowed in", said))]
    Unauthorized {
        /// What the provider says.
        said: String,
        /// What the user can do.
        advice: String,
    },
    /// We ask more often than we may.
    #[error("{}", spoken("asked too often", said))]
    RateLimited {
        /// When we may again.
        after: Option<Duration>,
        /// What the provider says.
        said: String,
    },
    /// The provider has too much to do.
    #[error("{}", spoken("the provider is overloaded", said))]
    Overloaded {
        /// When it hopes to be better.
        after: Option<Duration>,
        /// What it says.
        said: String,
    },
    /// Something is wrong at the provider's.
    #[error("{}", spoken(&format!("the provider failed ({status})"), said))]
    Server {
        /// The status of its answer.
        status: u16,
        /// What it says.
        said: String,
    },
    /// The provider will not take this question: it does not know the model, or something that we send.
    #[error("{}", spoken(&format!("the provider rejects the request ({status})"), said))]
    Rejected {
        /// The status of its answer; 0 where it was not even asked.
        status: u16,
        /// What it says.
        said: String,
    },
    /// It took too long.
    #[error("no answer within {} s", limit.as_secs_f32())]
    Timeout {
        /// How long was waited.
        limit: Duration,
        /// What may have been spent.
        spent: Option<Usage>,
    },
    /// Nobody is there.
    #[error("{}", spoken("cannot be reached", said))]
    Unreachable {
        /// What the system says.
        said: String,
    },
    /// The answer is longer than we read.
    #[error("the answer is longer than {limit} bytes")]
    TooLong {
        /// How much we read.
        limit: usize,
        /// What may have been spent.
        spent: Option<Usage>,
    },
    /// The model declined to answer.
    #[error("{}", spoken("the model declined", said))]
    Refused {
        /// What it says.
        said: String,
        /// What was spent.
        spent: Usage,
    },
    /// The answer reached its longest length before it was whole.
    #[error("the answer was cut off after {} tokens", spent.output)]
    Truncated {
        /// What was spent.
        spent: Usage,
    },
    /// The answer says nothing.
    #[error("the model answered nothing that can be used")]
    Nonsense {
        /// What was spent.
        spent: Usage,
    },
    /// What came is no answer of such a provider.
    #[error("{}", spoken("not understood", said))]
    Protocol {
        /// What is wrong with it.
        said: String,
        /// What may have been spent.
        spent: Option<Usage>,
    },
    /// We were told to stop.
    #[error("stopped")]
    Stopped {
        /// What may have been spent.
        spent: Option<Usage>,
    },
}

impl AskError {
    /// Whether to ask again.
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
            | Self::Nonsense { .. }
            | Self::Protocol { .. } => Retry::Backoff,
            Self::Unauthorized { .. }
            | Self::Rejected { .. }
            | Self::TooLong { .. }
            | Self::Refused { .. }
            | Self::Truncated { .. } => Retry::No,
        }
    }

    /// What was spent although there is no answer. Where it is not known it is estimated, rather too high
    /// than too low: whoever was asked may have answered.
    pub const fn spent(&self) -> Option<Usage> {
        match self {
            Self::Refused { spent, .. } | Self::Truncated { spent } | Self::Nonsense { spent } => {
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

    /// Whether another question to the same provider would fail as well, so that none should be asked
    /// before something changes: the settings, the network, or the time.
    pub const fn concerns_provider(&self) -> bool {
        matches!(
            self,
            Self::Unauthorized { .. }
                | Self::RateLimited { .. }
                | Self::Overloaded { .. }
                | Self::Unreachable { .. }
        )
    }

    /// What became of a request that got no answer.
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
            HttpError::Elsewhere(place) => {
                let said =
                    excerpt(&format!("the answer leads elsewhere ({place}); is the url right?"));
                Self::Rejected { status: 300, said }
            }
            HttpError::Impossible(said) => Self::Rejected { status: 0, said },
        }
    }
}

/// What is wrong, and what somebody says of it, if anything.
fn spoken(what: &str, said: &str) -> String {
    if said.is_empty() { what.to_owned() } else { format!("{what}: {said}") }
}
