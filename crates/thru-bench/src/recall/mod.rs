//! `recall`: how often labelled questions are answered, by the path that `thru search` takes.

mod baseline;
mod confidence;
mod conversation;
mod engine;
mod explain;
mod fit;
mod labelled;
mod labels;
mod locomo;
mod longmemeval;
mod stop_words;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

/// What to measure.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A folder with `sessions.jsonl`, `questions.jsonl` and `commits.jsonl`
    #[arg(long, value_name = "DIR", requires = "transcripts")]
    pub(crate) set: Option<PathBuf>,
    /// The folder that the files named in `sessions.jsonl` lie in
    #[arg(long, value_name = "DIR")]
    pub(crate) transcripts: Option<PathBuf>,
    /// Only sessions of this agent, and questions about them
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Write the rankings, a line per question
    #[arg(long, value_name = "FILE")]
    pub(crate) run_file: Option<PathBuf>,
    /// Say for each miss where the gold session and records ended up
    #[arg(long)]
    pub(crate) explain_misses: bool,
    /// Measure with each feature left out in turn, the others fitted anew
    #[arg(long)]
    pub(crate) ablate: bool,
    /// Fit the weights, and measure each project by weights that were fitted on the others
    #[arg(long)]
    pub(crate) fit: bool,
    /// Look for words only
    #[arg(long)]
    pub(crate) words_only: bool,
    /// Keep the vectors in this folder from one run to the next
    #[arg(long, value_name = "DIR")]
    pub(crate) vectors: Option<PathBuf>,
    /// The LoCoMo benchmark (`locomo10.json`)
    #[arg(long, value_name = "FILE")]
    pub(crate) locomo: Option<PathBuf>,
    /// The LongMemEval benchmark (`longmemeval_s.json`)
    #[arg(long, value_name = "FILE")]
    pub(crate) longmemeval: Option<PathBuf>,
}

/// Measures what was asked for.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut measured = false;
    if let (Some(set), Some(transcripts)) = (&arguments.set, &arguments.transcripts) {
        labelled::run(set, transcripts, arguments)?;
        measured = true;
    }
    if let Some(file) = &arguments.locomo {
        locomo::run(file)?;
        measured = true;
    }
    if let Some(file) = &arguments.longmemeval {
        longmemeval::run(file)?;
        measured = true;
    }
    if !measured {
        bail!("nothing to measure: give --set with --transcripts, --locomo or --longmemeval");
    }
    Ok(())
}
