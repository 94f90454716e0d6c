//! Questions to models, their costs and their results.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Digest, Observation, ProjectKey, SessionKey};

/// Money, in millionths of a US dollar.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    JsonSchema,
    Deserialize,
)]
#[serde(transparent)]
pub struct Micros(pub u64);

impl Micros {
    /// Returns an amount of cents.
    pub const fn from_cents(cents: u64) -> Self {
        Self(cents.saturating_mul(10_000))
    }

    /// Returns an amount of dollars; nothing for what is no amount of money.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast keeps to the range of the type, and nothing is negative"
    )]
    pub fn from_dollars(dollars: f64) -> Self {
        Self((dollars.max(0.0) * 1e6).round() as u64)
    }
}

impl Add for Micros {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Micros {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self(0), Add::add)
    }
}

/// `$0.0042`, `$1.20`: two decimals, four where that would be less than ten cents.
impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = match self.0 {
            0 => "$0".to_owned(),
            1..100_000 => format!("${:.4}", self.0 as f64 / 1e6),
            _ => format!("${:.2}", self.0 as f64 / 1e6),
        };
        f.pad(&shown)
    }
}

/// The purpose of a question to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Observations and a digest of one turn.
    Turn,
    /// The summary of a session.
    Session,
    /// A check that it answers.
    Test,
}

impl Purpose {
    /// Returns the name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Session => "session",
            Self::Test => "test",
        }
    }
}

/// A question to a model. It is recorded before it is sent, with the maximum that it may cost, so that
/// the cost counts even if the answer, or our process, is lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Question {
    /// Its purpose.
    pub purpose: Purpose,
    /// The session that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionKey>,
    /// The project of that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectKey>,
    /// The provider, as named in the settings.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The maximum that it may cost.
    pub spent: Spent,
}

/// An actual or maximum cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Spent {
    /// Tokens that were sent.
    pub input: u64,
    /// Tokens that were received.
    pub output: u64,
    /// Money, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Micros>,
}

impl Spent {
    /// Returns the sum of tokens sent and received.
    pub const fn tokens(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Returns the sum of both.
    pub fn plus(self, other: Self) -> Self {
        let cost = match (self.cost, other.cost) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cost,
        }
    }
}

/// The circumstances under which a model made something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Made {
    /// The provider, as named in the settings.
    pub provider: String,
    /// The model that answered, as it identifies itself.
    pub model: String,
    /// The prompt, and its version.
    pub prompt: String,
    /// Its cost.
    pub spent: Spent,
    /// Milliseconds until the answer.
    pub latency_ms: u64,
    /// The number of statements rejected for lack of evidence.
    #[serde(default)]
    pub dropped: u64,
}

/// The result of a model about a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RefinedTurn {
    /// Its observations. An empty list is a valid answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
    /// Its digest.
    #[serde(default)]
    pub digest: Digest,
}

impl RefinedTurn {
    /// Calls `each` with every text, file names included.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        let Self { observations, digest } = self;
        observations.iter_mut().for_each(|observation| observation.texts(each));
        digest.texts(each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_as_people_write_it() {
        for (micros, shown) in
            [(0, "$0"), (4_200, "$0.0042"), (99_999, "$0.1000"), (1_204_000, "$1.20")]
        {
            assert_eq!(Micros(micros).to_string(), shown);
        }
        assert_eq!(Micros::from_dollars(0.012_345_6), Micros(12_346));
        assert_eq!(Micros::from_dollars(-1.0), Micros(0));
        assert_eq!(Micros::from_dollars(f64::NAN), Micros(0));
    }

    #[test]
    fn an_unknown_cost_adds_nothing() {
        let known = Spent { input: 1, output: 2, cost: Some(Micros(3)) };
        let unknown = Spent { input: 10, output: 20, cost: None };
        assert_eq!(known.plus(unknown), Spent { input: 11, output: 22, cost: Some(Micros(3)) });
    }
}
