//! The application as a server that runs for hours asks it: every call reads the settings anew, and files stay open
//! from one call to the next.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use thru_app::idle::Idle;
use thru_app::{App, Call, Result};

/// The time that files stay open without a question.
const UNUSED: Duration = Duration::from_mins(2);

/// The arguments of `session_tracking_sync_history`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncHistory {
    /// Only this project.
    pub project: Option<String>,
    /// Used in the last so many days; 0 means all.
    pub days: u32,
    /// Maximum number of sessions.
    pub max_sessions: Option<usize>,
}

/// Reports that the program makes.
#[derive(Clone)]
pub struct Reports {
    /// The preview of a sync of history.
    pub sync_history: Arc<dyn Fn(&App, &SyncHistory, Call<'_>) -> Result<Value> + Send + Sync>,
    /// The state of the memory.
    pub status: Arc<dyn Fn(&App, Call<'_>) -> Result<Value> + Send + Sync>,
}

/// The application behind a server.
pub(crate) struct Backend {
    app: App,
    reports: Reports,
    idle: Idle,
}

impl Backend {
    pub(crate) fn new(app: App, reports: Reports) -> Self {
        let open = app.open.clone();
        Self { app, reports, idle: Idle::after(UNUSED, move || open.close()) }
    }

    /// The application as it was started: for the time, the zone and the latest rules of redaction.
    pub(crate) fn app(&self) -> &App {
        &self.app
    }

    pub(crate) fn reports(&self) -> &Reports {
        &self.reports
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
