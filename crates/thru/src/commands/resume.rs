//! `thru resume`: go on with a session in its agent.

use std::process::Command;

use thru_app::Result;
use thru_app::ingest::rebuild::{self, ResumableSession};

use crate::environment::Environment;
use crate::ui::{Outcome, plural};

/// Starts the agent of a session with that session, in its directory. A transcript that the agent has deleted is
/// restored first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru resume            the latest session of this project\n  \
    thru resume 4f1c\n  \
    thru resume --print    only print the command")]
pub(crate) struct ResumeArguments {
    /// The session's id, or the start of it; or `latest`
    #[arg(default_value = "latest")]
    session: String,
    /// Print the command and do not run it; a transcript that the agent has deleted is restored all the same
    #[arg(long)]
    print: bool,
    /// Answer as JSON, and do not run it
    #[arg(long)]
    json: bool,
}

impl ResumeArguments {
    /// Resumes the session with this id.
    pub(crate) fn of(session: String) -> Self {
        Self { session, print: false, json: false }
    }
}

pub(crate) fn run(arguments: &ResumeArguments, environment: &Environment) -> Result<Outcome> {
    let session =
        rebuild::resumable(environment, &arguments.session, environment.progress().call())?;
    let mut page = environment.page();
    let is_run = !arguments.print && !arguments.json && environment.terminal.interactive;
    if arguments.json {
        page.json(&session)?;
    } else {
        if !session.restored.is_empty() {
            let files = plural(session.restored.len() as u64, "file");
            environment.tell(&format!("Restored {files} that the agent did not have."))?;
        }
        if !is_run {
            page.verbatim(&session.shell_line());
        }
    }
    page.print()?;
    if is_run { resume(&session) } else { Ok(Outcome::Done) }
}

/// Runs the agent, in place of this process where the system can do that.
fn resume(session: &ResumableSession) -> Result<Outcome> {
    let [program, words @ ..] = session.command.as_slice() else { return Ok(Outcome::Nothing) };
    let mut command = Command::new(program);
    command.args(words).current_dir(&session.directory);
    #[cfg(unix)]
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    #[cfg(not(unix))]
    let error = match command.status() {
        Ok(status) if status.success() => return Ok(Outcome::Done),
        Ok(_) => return Ok(Outcome::Wrong),
        Err(error) => error,
    };
    Err(thru_app::machine::not_started(program, &error)
        .advise("`thru resume --print` prints the command"))
}
