//! `thru close`: a session is over for now; index it, so that the next agent finds it.

use thru_app::Result;
use thru_app::keep::close::{self, Close, Closed, Closer};

use crate::environment::Environment;
use crate::failure;
use crate::ui::Outcome;

/// Close a session for now, and index it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru close\n  \
    thru close 0f8fad5b --reason story_complete\n\n\
    Without an id: the session that runs the command, else the one that is at work in \
    this project; it is an error if there is none. A session that goes on afterwards is recorded as before; closing it \
    again indexes what was added, and does nothing where nothing was.")]
pub(crate) struct CloseArguments {
    /// The session (the start of its id is enough)
    session: Option<String>,
    /// Why, in a word: kept with the session
    #[arg(long, short)]
    reason: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &CloseArguments, environment: &Environment) -> Result<Outcome> {
    let CloseArguments { session, reason, json } = arguments;
    let request =
        Close { session: session.clone(), reason: reason.clone(), closer: Closer::Command };
    let closed = close::close(&environment.app, &request, environment.progress().call());
    match (closed, json) {
        (Err(error), true) => {
            let failed = Closed::failed(session.as_deref(), failure::whole(&error));
            environment.answer(true, &failed, |_| {})?;
            Ok(Outcome::Wrong)
        }
        (closed, json) => {
            let closed = closed?;
            environment.answer(*json, &closed, |page| page.line(&closed.message))
        }
    }
}
