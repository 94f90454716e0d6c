//! `thru view`: the page in a browser.

use std::path::Path;
use std::process::{Command, Stdio};

use thru_app::background::control;
use thru_app::{App, Result};

use crate::environment::Environment;
use crate::ui::{Outcome, Tone};

/// The daemon serves the page on this machine alone, from then until it ends. The link works once, within a minute.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru view                  open the page\n  \
    thru view --no-open        only print the link, for another browser\n  \
    thru view --end-sessions   sign every open page out first")]
pub(crate) struct ViewArguments {
    /// Print the link and open nothing
    #[arg(long)]
    no_open: bool,
    /// End the sessions of all pages that were opened before
    #[arg(long)]
    end_sessions: bool,
}

pub(crate) fn run(arguments: &ViewArguments, environment: &Environment) -> Result<Outcome> {
    let link = control::view(environment, arguments.end_sessions)?;
    let mut page = environment.page();
    page.line(&link);
    let is_opened =
        !arguments.no_open && environment.terminal.interactive && open(&link, environment);
    let next = match is_opened {
        true => "Opened in your browser. `thru view` makes another link.",
        false => "Open it in a browser on this machine, within a minute. It works once.",
    };
    page.toned(Tone::Quiet, next);
    page.print()
}

/// Hands the link to the system. Returns false where there is no browser to be seen.
fn open(link: &str, app: &App) -> bool {
    let (program, words): (&str, &[&str]) = match (cfg!(windows), cfg!(target_os = "macos")) {
        (true, _) => ("rundll32", &["url.dll,FileProtocolHandler"]),
        (_, true) => ("open", &[]),
        _ => ("xdg-open", &[]),
    };
    let has_display =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| app.machine.has_variable(name));
    if !cfg!(windows) && !cfg!(target_os = "macos") && !has_display {
        return false;
    }
    let mut command = Command::new(program);
    command.args(words).arg(link).current_dir(Path::new("/"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
