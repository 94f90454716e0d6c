//! What models were asked, what that cost, and what they made of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Digest, Observation, ProjectKey, SessionKey};

/// Money, in millionths of a US dollar.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Micros(pub u64);

impl Micros {
    /// So many cents.
    pub const fn from_cents(cents: u64) -> Self {
        Self(cents.saturating_mul(10_000))
    }

    /// Both together.
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
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

/// What a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Observations and a digest of one turn.
    Turn,
    /// The summary of a session.
    Session,
    /// To see whether it answers.
    Test,
}

impl Purpose {
    /// The name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Session => "session",
            Self::Test => "test",
        }
    }
}

/// A question to a model. It is recorded before it is sent, with the most that it may cost: what was spent
/// counts although the answer, or we, got lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Question {
    /// What for.
    pub purpose: Purpose,
    /// The session that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionKey>,
    /// The project of that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectKey>,
    /// Who is asked, as the settings name it.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// The most that it may come to.
    pub spent: Spent,
}

/// What was spent, or may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Spent {
    /// Tokens that were sent.
    pub input: u64,
    /// Tokens that came back.
    pub output: u64,
    /// Money, where anybody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Micros>,
}

impl Spent {
    /// Tokens both ways.
    pub const fn tokens(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        let cost = match (self.cost, other.cost) {
            (Some(one), Some(other)) => Some(one.plus(other)),
            (one, other) => one.or(other),
        };
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cost,
        }
    }
}

/// How something was made by a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Made {
    /// Who was asked, as the settings name it.
    pub provider: String,
    /// The model that answered, as it says.
    pub model: String,
    /// The prompt, and its version.
    pub prompt: String,
    /// What it took.
    pub spent: Spent,
    /// Milliseconds until the answer was there.
    pub latency_ms: u64,
    /// Statements that were not believed.
    #[serde(default)]
    pub dropped: u64,
}

/// What a model made of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RefinedTurn {
    /// Its observations. None is an answer, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
    /// Its digest.
    #[serde(default)]
    pub digest: Digest,
}

impl RefinedTurn {
    /// Shows every text that it holds, paths included.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        self.observations.iter_mut().for_each(|observation| observation.texts(each));
        self.digest.texts(each);
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
    }

    #[test]
    fn what_nobody_knows_adds_nothing() {
        let known = Spent { input: 1, output: 2, cost: Some(Micros(3)) };
        let unknown = Spent { input: 10, output: 20, cost: None };
        assert_eq!(known.plus(unknown), Spent { input: 11, output: 22, cost: Some(Micros(3)) });
    }
}
