//! The application, and where its answers are shown.

use std::io::Write;
use std::ops::Deref;
use std::sync::Arc;

use serde::Serialize;
use thru_agents::Homes;
use thru_app::{App, Context, Result};
use thru_config::Color;
use thru_core::Layout;

use crate::process::Process;
use crate::ui::{Outcome, Page, Shown, Streams, Terminal, fold};

/// The application, and the terminal that its answers are shown on.
#[derive(Clone)]
pub(crate) struct Environment {
    /// The application.
    pub(crate) app: App,
    /// The terminal.
    pub(crate) terminal: Terminal,
    /// The standard streams.
    pub(crate) streams: Streams,
    /// True if there is to be no colour and no pager, whatever the settings say.
    pub(crate) plain: bool,
    /// The time to use colour.
    pub(crate) color: Color,
}

impl Deref for Environment {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl Environment {
    /// The environment of a process.
    ///
    /// # Errors
    /// Fails if there is no home directory, or the settings cannot be read.
    pub(crate) fn from_process(
        process: &Process,
        terminal: Terminal,
        streams: Streams,
        plain: bool,
    ) -> Result<Self> {
        let directory = process.directory.clone();
        let directory = directory.context("the current directory cannot be read")?;
        let app = App::open(process.places()?, Arc::new(process.machine()), directory)?;
        let color = app.config.output.color;
        Ok(Self { app, terminal, streams, plain, color })
    }

    /// True if output is coloured.
    pub(crate) fn has_color(&self) -> bool {
        let color = match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => self.terminal.output && !self.terminal.no_color,
        };
        color && !self.plain
    }

    /// The progress of a call, for as long as it is held.
    pub(crate) fn progress(&self) -> Shown {
        self.progress_unless(false)
    }

    /// The same without stages, if it is to be quiet.
    pub(crate) fn progress_unless(&self, quiet: bool) -> Shown {
        Shown::new(&self.terminal, &self.streams, quiet)
    }

    /// An empty page for the output.
    pub(crate) fn page(&self) -> Page {
        let pager = self.config.output.pager && !self.plain;
        Page::new(&self.terminal, self.streams.output(), self.has_color(), pager)
    }

    /// Prints an answer: as JSON if that is wanted, else as `show` puts it.
    ///
    /// # Errors
    /// Fails if standard output cannot be written to.
    pub(crate) fn answer<T: Serialize>(
        &self,
        json: bool,
        answer: &T,
        show: impl FnOnce(&mut Page),
    ) -> Result<Outcome> {
        let mut page = self.page();
        page.put(json, answer, show)?;
        page.print()
    }

    /// Writes a line beside the output, on standard error.
    ///
    /// # Errors
    /// Fails if standard error cannot be written to.
    pub(crate) fn tell(&self, line: &str) -> std::io::Result<()> {
        writeln!(self.streams.errors(), "{}", fold(line, self.terminal.error_columns()))
    }

    /// The same terminal for another home: for the demo.
    pub(crate) fn in_home(&self, layout: Layout, homes: Homes) -> Self {
        Self { app: self.app.in_home(layout, homes), ..self.clone() }
    }
}
