//! The application as a server that runs for hours asks it: every call reads the settings anew, and files stay open
//! from one call to the next.

use std::time::Duration;

use crate::app::App;
use crate::idle::Idle;
use crate::trouble::{Result, Trouble};

/// The time that files stay open without a question.
const UNUSED: Duration = Duration::from_mins(2);

/// The application behind a server.
pub struct Backend {
    app: App,
    idle: Idle,
}

impl Backend {
    /// The application behind a server that starts now.
    pub fn new(app: App) -> Self {
        let open = app.open.clone();
        Self { app, idle: Idle::after(UNUSED, move || open.close()) }
    }

    /// The application as it was started: for the time, the zone and the latest rules of redaction.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Calls the application with the settings as they are now.
    ///
    /// # Errors
    /// Where the settings cannot be read, and as `work`.
    pub fn call<T, E: From<Trouble>>(
        &self,
        work: impl FnOnce(&App) -> Result<T, E>,
    ) -> Result<T, E> {
        let done = self.app.reread().map_err(E::from).and_then(|app| work(&app));
        self.idle.asked();
        done
    }
}
