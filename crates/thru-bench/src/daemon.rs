//! `daemon`.
use clap::Args;
use anyhow::Result;
#[derive(Args)]
pub(crate) struct Arguments {}
pub(crate) fn run(_: &Arguments) -> Result<()> { Ok(()) }
