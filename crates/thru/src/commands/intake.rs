//! `thru intake`: brings in what hooks recorded.

use anyhow::{Result, bail};

use super::Outcome;
use crate::environment::Environment;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_arguments: &Arguments, _environment: &Environment) -> Result<Outcome> {
    bail!("not built yet")
}
