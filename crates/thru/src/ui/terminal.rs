//! The terminal: what it can show, and reading from it unseen.

use std::io::IsTerminal;

use crate::process::Process;

/// The terminal that output goes to.
#[derive(Clone, Debug)]
pub struct Terminal {
    /// True if questions can be asked.
    pub interactive: bool,
    /// True if input comes from a terminal.
    pub input: bool,
    /// True if results go to a terminal.
    pub output: bool,
    /// True if progress goes to a terminal.
    pub errors: bool,
    /// True if the user wants no colour anywhere (<https://no-color.org>).
    pub no_color: bool,
    /// Columns.
    pub width: usize,
    /// Lines.
    pub height: usize,
    /// The user's pager.
    pub pager: String,
    /// True if the user chose how `less` behaves.
    pub less_is_set: bool,
}

impl Terminal {
    /// The terminal of the process that runs this code.
    pub fn current(process: &Process) -> Self {
        let output = std::io::stdout().is_terminal();
        let size = terminal_size::terminal_size();
        let (width, height) =
            size.map_or((100, 40), |(width, height)| (width.0.into(), height.0.into()));
        Self {
            interactive: output && std::io::stdin().is_terminal(),
            input: std::io::stdin().is_terminal(),
            output,
            errors: std::io::stderr().is_terminal(),
            width,
            height,
            ..Self::none(process)
        }
    }

    /// The columns that a line on standard error may take.
    pub(crate) fn error_columns(&self) -> usize {
        if self.errors { self.width } else { usize::MAX }
    }

    /// No terminal: output goes to a file or a pipe.
    pub fn none(process: &Process) -> Self {
        let pager = process.variable("PAGER").map(|pager| pager.to_string_lossy().into_owned());
        Self {
            interactive: false,
            input: false,
            output: false,
            errors: false,
            no_color: process.variable("NO_COLOR").is_some(),
            width: 100,
            height: 40,
            pager: pager
                .filter(|pager| !pager.trim().is_empty())
                .unwrap_or_else(|| "less".to_owned()),
            less_is_set: process.variables.iter().any(|(name, _)| name == "LESS"),
        }
    }
}

/// While it lives, typed characters are not shown.
pub(crate) struct Unseen {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

impl Unseen {
    /// Switches the echo off; does nothing where input is no terminal.
    pub(crate) fn begin() -> Self {
        #[cfg(unix)]
        {
            use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
            let before = tcgetattr(std::io::stdin()).ok();
            if let Some(mut quiet) = before.clone() {
                quiet.local_modes.remove(LocalModes::ECHO);
                let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &quiet);
            }
            Self { before }
        }
        #[cfg(not(unix))]
        Self {}
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(before) = &self.before {
            use rustix::termios::{OptionalActions, tcsetattr};
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}
