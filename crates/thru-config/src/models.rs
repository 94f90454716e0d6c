//! Settings that are read together: limits, prices, sinks.

use crate::settings::{Budget, Models, Sinks};

/// A limit on the cost of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Tokens, both ways.
    pub tokens: u64,
    /// US cents.
    pub cents: u64,
}

/// Limits on the cost of models for a day and a month, in total and for one project.
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

impl Models {
    /// Returns the name of the provider, if one is set.
    pub fn provider(&self) -> Option<&str> {
        Some(self.provider.as_str()).filter(|provider| *provider != "none")
    }

    /// Returns the name of the fallback, if one is set.
    pub fn fallback(&self) -> Option<&str> {
        Some(self.fallback.as_str()).filter(|provider| *provider != "none")
    }

    /// Returns the cents for a million tokens sent and answered, if the user set both.
    pub fn prices(&self) -> Option<(u64, u64)> {
        let cents = |cents| u64::try_from(cents).ok();
        Some((cents(self.input_price_cents)?, cents(self.output_price_cents)?))
    }
}

impl Budget {
    /// Returns the limits by time and scope.
    pub const fn limits(&self) -> Limits {
        Limits {
            daily: Limit { tokens: self.daily_tokens, cents: self.daily_cents },
            monthly: Limit { tokens: self.monthly_tokens, cents: self.monthly_cents },
            project_daily: Limit {
                tokens: self.project_daily_tokens,
                cents: self.project_daily_cents,
            },
            project_monthly: Limit {
                tokens: self.project_monthly_tokens,
                cents: self.project_monthly_cents,
            },
        }
    }
}

impl Sinks {
    /// Returns the server that insights are delivered to, if one is set.
    pub fn mcp(&self) -> Option<McpSink<'_>> {
        Some(McpSink {
            target: self.mcp.as_deref()?,
            allow_remote: self.mcp_allow_remote,
            summary_tool: &self.mcp_summary_tool,
            memory_tool: &self.mcp_memory_tool,
        })
    }
}
