//! Prompts that a reader labelled.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use thru_core::Timestamp;

/// The need of earlier sessions that a prompt has.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Need {
    /// Without it the session goes wrong, or looks for long.
    Needs,
    /// It saves something.
    Helps,
    None,
}

/// A record that tells what a prompt needs.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Record {
    /// The path of its transcript.
    pub(super) session: String,
    pub(super) time: Timestamp,
    pub(super) quote: String,
}

/// A labelled prompt.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Label {
    /// The path of its transcript.
    pub(super) session: String,
    pub(super) time: Timestamp,
    /// Its number in the session.
    pub(super) n: u32,
    /// Its beginning.
    pub(super) prompt: String,
    pub(super) need: Need,
    /// What would help, in the reader's words.
    pub(super) what: String,
    #[serde(rename = "where")]
    pub(super) records: Vec<Record>,
}

/// Reads labels, one a line.
pub(super) fn labels(path: &Path) -> Result<Vec<Label>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| Ok(serde_json::from_str(line)?)).collect()
}
