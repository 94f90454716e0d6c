//! The application as a server that runs for hours asks it: every call reads the settings anew, and files stay open
//! from one call to the next.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use thru_app::idle::Idle;
use thru_app::{App, Call, Result};

/// The time that files stay open without a question.
const UNUSED: Duration = Duration::from_mins(2);

/// Makes the report on the state of the memory.
pub type StatusReport = Arc<dyn Fn(&App, Call<'_>) -> Result<Value> + Send + Sync>;

/// The application behind a server.
pub(crate) struct Backend {
    app: App,
    status: StatusReport,
    idle: Idle,
}

impl Backend {
    pub(crate) fn new(app: App, status: StatusReport) -> Self {
        let open = app.open.clone();
        Self { app, status, idle: Idle::after(UNUSED, move || open.close()) }
    }

    /// The application as it was started: for the time, the zone and the latest rules of redaction.
    pub(crate) fn app(&self) -> &App {
        &self.app
    }

    /// The state of the memory.
    pub(crate) fn status(&self, app: &App, call: Call<'_>) -> Result<Value> {
        (self.status)(app, call)
    }

    /// Calls the application with the settings as they are now.
    pub(crate) fn call<T, E: From<thru_app::Trouble>>(
        &self,
        work: impl FnOnce(&App) -> Result<T, E>,
    ) -> Result<T, E> {
        let done = self.app.reread().map_err(E::from).and_then(|app| work(&app));
        self.idle.asked();
        done
    }
}
