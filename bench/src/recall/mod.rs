//! `recall`: how often labelled questions are answered, by the path that `thru search` takes.

mod baseline;
mod confidence;
mod engine;
mod labelled;
mod labels;
mod screen;
mod seen;
mod stop_words;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

/// The arguments of `recall`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A folder with `sessions.jsonl`, `questions.jsonl` and `commits.jsonl`
    #[arg(long, value_name = "DIR")]
    pub(crate) set: PathBuf,
    /// The folder that the files named in `sessions.jsonl` lie in
    #[arg(long, value_name = "DIR")]
    pub(crate) transcripts: PathBuf,
    /// More questions over the same sessions, counted by themselves
    #[arg(long, value_name = "FILE")]
    pub(crate) also: Vec<PathBuf>,
    /// Keep what is imported in this folder from one run to the next
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Only sessions of this agent, and questions about them
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Look for words only
    #[arg(long)]
    pub(crate) words_only: bool,
    /// Keep the vectors in this folder from one run to the next
    #[arg(long, value_name = "DIR")]
    pub(crate) vectors: Option<PathBuf>,
}

/// Measures a labelled set.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    labelled::run(arguments)
}
