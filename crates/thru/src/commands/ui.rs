//! `thru ui`: the memory in the terminal.

use thru_app::ask::ProjectScope;
use thru_app::{Result, Trouble};
use thru_ui::{Leave, Options};

use super::{resume, shared};
use crate::environment::Environment;
use crate::failure;
use crate::ui::Outcome;

/// Shows the current project, or everything outside of one. `F1` shows the keys.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru ui                the latest sessions and memories of this project\n  \
    thru ui retry budget   begin with a search\n  \
    thru ui --all")]
pub(crate) struct UiArguments {
    /// The query to begin with
    query: Vec<String>,
    #[command(flatten)]
    within: shared::InProjects,
}

pub(crate) fn run(arguments: &UiArguments, environment: &Environment) -> Result<Outcome> {
    open(&arguments.query.join(" "), arguments.within.scope(), environment)
}

/// Opens the terminal UI with a query.
pub(crate) fn open(
    query: &str,
    project: ProjectScope,
    environment: &Environment,
) -> Result<Outcome> {
    if !environment.terminal.interactive {
        return Err(Trouble::refused("`thru ui` needs a terminal")
            .advise("`thru search` and `thru sessions` print what there is"));
    }
    let options = Options {
        query: query.to_owned(),
        project,
        color: environment.has_color(),
        wording: failure::whole,
    };
    let stop = shared::cancellation()?;
    match thru_ui::run(environment, &options, &stop)? {
        Leave::Quit => Ok(Outcome::Done),
        Leave::Resume(session) => resume::run(&resume::ResumeArguments::of(session), environment),
    }
}
