//! What is said of models: whose, which, and how much they may cost.

use std::time::Duration;

use crate::resolve::Config;

/// The settings of `models` and `budget`.
#[derive(Clone, Copy, Debug)]
pub struct Models<'a>(pub(crate) &'a Config);

/// A limit on what models may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Tokens, both ways.
    pub tokens: u64,
    /// US cents.
    pub cents: u64,
}

/// How much models may cost in a day and in a month, all told and for one project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// In a day.
    pub daily: Limit,
    /// In a month.
    pub monthly: Limit,
    /// In a day, for one project.
    pub project_daily: Limit,
    /// In a month, for one project.
    pub project_monthly: Limit,
}

/// A server that insights are delivered to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McpSink<'a> {
    /// `sinks.mcp`: a URL, or a command.
    pub target: &'a str,
    /// `sinks.mcp_allow_remote`.
    pub allow_remote: bool,
    /// `sinks.mcp_summary_tool`.
    pub summary_tool: &'a str,
    /// `sinks.mcp_memory_tool`.
    pub memory_tool: &'a str,
}

impl<'a> Models<'a> {
    /// `models.provider`, where one is set.
    pub fn provider(self) -> Option<&'a str> {
        Some(self.0.text("models.provider")).filter(|provider| *provider != "none")
    }

    /// `models.fallback`, where one is set.
    pub fn fallback(self) -> Option<&'a str> {
        Some(self.0.text("models.fallback")).filter(|provider| *provider != "none")
    }

    /// A text of `models`, where it is set.
    pub fn text(self, key: &str) -> Option<&'a str> {
        Some(self.0.text(key).trim()).filter(|text| !text.is_empty())
    }

    /// `models.off`.
    pub fn off(self) -> bool {
        self.0.flag("models.off")
    }

    /// `models.claude_api_key`.
    pub fn claude_uses_key(self) -> bool {
        self.0.flag("models.claude_api_key")
    }

    /// `models.timeout_seconds`.
    pub fn timeout(self) -> Duration {
        Duration::from_secs(self.0.integer("models.timeout_seconds"))
    }

    /// `models.context_tokens`.
    pub fn context_tokens(self) -> u64 {
        self.0.integer("models.context_tokens")
    }

    /// `models.turn_tokens`.
    pub fn turn_tokens(self) -> u64 {
        self.0.integer("models.turn_tokens")
    }

    /// `models.session_tokens`.
    pub fn session_tokens(self) -> u64 {
        self.0.integer("models.session_tokens")
    }

    /// `models.answer_tokens`.
    pub fn answer_tokens(self) -> u64 {
        self.0.integer("models.answer_tokens")
    }

    /// `models.concurrency`.
    pub fn concurrency(self) -> usize {
        usize::try_from(self.0.integer("models.concurrency")).unwrap_or(1)
    }

    /// `models.requests_per_minute`.
    pub fn requests_per_minute(self) -> u32 {
        u32::try_from(self.0.integer("models.requests_per_minute")).unwrap_or(u32::MAX)
    }

    /// Cents for a million tokens sent and answered, where the user says so.
    pub fn prices(self) -> Option<(u64, u64)> {
        let cents = |key| u64::try_from(self.0.signed(key)).ok();
        Some((cents("models.input_price_cents")?, cents("models.output_price_cents")?))
    }

    /// All that `budget` says.
    pub fn limits(self) -> Limits {
        let limit = |name: &str| Limit {
            tokens: self.0.integer(&format!("budget.{name}_tokens")),
            cents: self.0.integer(&format!("budget.{name}_cents")),
        };
        Limits {
            daily: limit("daily"),
            monthly: limit("monthly"),
            project_daily: limit("project_daily"),
            project_monthly: limit("project_monthly"),
        }
    }
}
