//! `--agent`: whose sessions are wanted, in every listing and search alike.

use thru_core::{Agent, UnknownAgent};

/// Whose sessions are wanted.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct OfAgents {
    /// Only sessions of this agent: claude-code, codex, copilot (more than once for several)
    #[arg(long = "agent", value_name = "AGENT", value_parser = named)]
    agents: Vec<Agent>,
}

/// An agent by its name. The error names those that there are; clap names what was given.
fn named(name: &str) -> Result<Agent, String> {
    let names = || Agent::ALL.map(Agent::as_str).join(", ");
    name.parse().map_err(|_: UnknownAgent| format!("it is none of {}", names()))
}

impl OfAgents {
    /// These agents; nothing where all are wanted.
    pub(crate) fn filter(&self) -> Option<Vec<Agent>> {
        (!self.agents.is_empty()).then(|| self.agents.clone())
    }

    /// These agents; none where all are wanted.
    pub(crate) fn agents(&self) -> Vec<Agent> {
        self.agents.clone()
    }
}

/// Whether a table says whose each session is: not where all are one agent's.
pub(crate) fn tell_apart(agents: impl Iterator<Item = Agent>) -> bool {
    let mut agents = agents.peekable();
    let first = agents.peek().copied();
    agents.any(|agent| Some(agent) != first)
}
