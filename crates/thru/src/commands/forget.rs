//! `thru forget`: take a session out, for good.

use anyhow::Result;

use super::search::session_heading;
use super::{Outcome, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, plural, size};

/// Removes a session from archive, store and index. A tombstone without content stays, so that no
/// import brings it back. The agent's own files are left alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The session's id, or the start of it
    session: String,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let store = shared::open_store(environment)?;
    let session = shared::named_session(&store, &arguments.session)?;
    drop(store);
    let mut page = Page::new(environment, plain);
    if !arguments.yes {
        page.line(session_heading(&page, &session, environment));
        page.line(format!(
            "{} in {}. This cannot be undone.",
            plural(session.passages, "passage"),
            plural(u64::from(session.turns), "turn")
        ));
        std::mem::replace(&mut page, Page::new(environment, plain)).print()?;
        if !environment.terminal.interactive {
            return Err(advised("nothing was forgotten", "add `--yes` if you mean it"));
        }
        if !shared::ask(environment, "Forget it?", false)? {
            page.line("Nothing was changed.");
            page.print()?;
            return Ok(Outcome::Nothing);
        }
    }
    let intake = environment.intake()?;
    let lock = shared::lock(&intake)?;
    let forgotten = intake.forget(&lock, &session.key)?;
    page.line(format!(
        "Forgot session {}: {} and {} ({}) are gone.",
        session.key.id,
        plural(session.passages, "passage"),
        plural(forgotten.archived as u64, "archived file"),
        size(forgotten.bytes)
    ));
    page.print()?;
    Ok(Outcome::Done)
}
