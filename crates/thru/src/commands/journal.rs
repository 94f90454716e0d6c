//! `thru journal`: look into the journal.

use anyhow::{Result, bail};

use super::Outcome;
use crate::environment::Environment;

/// Commands.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// To be built
    Stats,
}

pub(crate) fn run(_command: &Command, _environment: &Environment, _plain: bool) -> Result<Outcome> {
    bail!("not built yet")
}

/// Bytes that the journal takes.
pub(crate) fn size(layout: &thru_core::Layout) -> u64 {
    let Ok(listing) = std::fs::read_dir(layout.journal()) else { return 0 };
    listing.flatten().filter_map(|item| item.metadata().ok()).map(|metadata| metadata.len()).sum()
}
