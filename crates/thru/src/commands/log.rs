//! `thru log`: the decisions of the user, and the merges that were made automatically.

use thru_app::Result;
use thru_app::ask::log::{AskLog, LogSubject, log};

use crate::environment::Environment;
use crate::ui::{Outcome, Tone, day_and_time, one_line};

/// The latest first. An id can be given to `thru undo`, but for sessions that were forgotten.
#[derive(Debug, clap::Args)]
pub(crate) struct LogArguments {
    /// How many to show
    #[arg(long, short = 'n', default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    limit: u16,
    /// Show all of them
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Show automatic merges instead of decisions
    #[arg(long)]
    merges: bool,
    /// Show agents' notes that you have not agreed to
    #[arg(long, conflicts_with = "merges")]
    agents: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &LogArguments, environment: &Environment) -> Result<Outcome> {
    let subject = match arguments {
        LogArguments { merges: true, .. } => LogSubject::Merges,
        LogArguments { agents: true, .. } => LogSubject::AgentNotes,
        LogArguments { .. } => LogSubject::Decisions,
    };
    let limit = if arguments.all { usize::MAX } else { arguments.limit.into() };
    let request = AskLog { limit, subject, cursor: None };
    let log = log(environment, &request, environment.progress().call())?;
    environment.answer(arguments.json, &log, |page| {
        if log.entries.is_empty() {
            page.line(match subject {
                LogSubject::Decisions => "No decisions yet.",
                LogSubject::Merges => "Nothing was merged.",
                LogSubject::AgentNotes => "No note of an agent is waiting for you.",
            });
        } else {
            for entry in &log.entries {
                let id = page.paint(Tone::Id, &entry.id);
                let when = page.paint(Tone::Quiet, &day_and_time(entry.at, environment.zone()));
                let undone = if entry.undone_by.is_some() { "undone: " } else { "" };
                let room = page.columns().saturating_sub(entry.id.len() + 20).max(70);
                let text = one_line(&format!("{undone}{}", entry.text.get()), room);
                page.line(format!("{id}  {when}  {text}"));
            }
            page.gap();
            page.toned(
                Tone::Quiet,
                match subject {
                    LogSubject::AgentNotes => {
                        "New sessions are not given these. `thru edit ID --agree` accepts one, `thru forget ID` hides it."
                    }
                    LogSubject::Decisions | LogSubject::Merges => "`thru undo ID` undoes one.",
                });
        }
    })?;
    Ok(Outcome::found(!log.entries.is_empty()))
}
