//! `thru capture`: pause recording.

use anyhow::{Result, bail};

use super::Outcome;
use crate::environment::Environment;

/// Commands.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// To be built
    Pause,
}

pub(crate) fn run(_command: &Command, _environment: &Environment, _plain: bool) -> Result<Outcome> {
    bail!("not built yet")
}
