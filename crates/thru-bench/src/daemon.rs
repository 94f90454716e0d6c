//! `daemon`.
use anyhow::Result;
use clap::Args;
#[derive(Args)]
pub(crate) struct Arguments {}
pub(crate) fn run(_: &Arguments) -> Result<()> {
    Ok(())
}
