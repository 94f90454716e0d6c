//! `thru install`: connect agents.

use anyhow::{Result, bail};

use super::Outcome;
use crate::environment::Environment;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(
    _arguments: &Arguments,
    _environment: &Environment,
    _plain: bool,
) -> Result<Outcome> {
    bail!("not built yet")
}
