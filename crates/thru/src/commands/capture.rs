//! `thru capture`: pause recording, or go on.

use thru_app::Result;
use thru_app::keep::capture::{pause_capture, resume_capture};

use super::shared;
use crate::environment::Environment;
use crate::ui::Outcome;

/// While recording is paused, hooks keep nothing: not what is said, not what is done. The agent works
/// on as always and keeps its own transcripts: once you go on, they are read as a whole.
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "Examples:\n  \
    thru capture pause             until you say otherwise\n  \
    thru capture pause --for 2h    for two hours; also 30m, 1d, 1h30m\n  \
    thru capture resume            end the pause now")]
pub(crate) enum Command {
    /// Record nothing until told otherwise, or for a time
    Pause {
        /// How long: `30m`, `2h`, `1d`
        #[arg(long = "for", value_name = "TIME")]
        length: Option<String>,
    },
    /// Resume recording
    Resume,
}

pub(crate) fn run(command: &Command, environment: &Environment) -> Result<Outcome> {
    let mut page = environment.page();
    match command {
        Command::Pause { length } => {
            let paused = pause_capture(&environment.app, length.as_deref())?;
            page.line(format!("Recording is {}.", shared::pause_text(paused.end(), environment)));
            page.line(
                "Agents still write their transcripts, which are read as a whole once you resume. Put what \
                 must never be read into `capture.ignore` or between <private> tags.",
            );
        }
        Command::Resume => {
            let was_paused = resume_capture(&environment.app)?;
            page.line(if was_paused {
                "Recording continues."
            } else {
                "Recording was not paused."
            });
        }
    }
    page.print()
}
