//! The application as a server that runs for hours asks it: every call reads the settings anew, and files stay open
//! from one call to the next.

use std::time::Duration;

use thru_store::Readers;

use crate::app::App;
use crate::idle::Idle;
use crate::trouble::{Result, Trouble};

/// The time that files stay open without a question.
const UNUSED: Duration = Duration::from_mins(2);
/// The time that the store stays open without a question. A rebuild waits that long before it replaces the store, and the
/// last to close it tidies up its log.
const STORE_UNUSED: Duration = Duration::from_secs(2);

/// The application behind a server.
pub struct Backend {
    app: App,
    files: Idle,
    store: Idle,
}

impl Backend {
    /// The application behind a server that starts now.
    pub fn new(mut app: App) -> Self {
        app.open.readers = Readers::keeping();
        let (files, readers) = (app.open.clone(), app.open.readers.clone());
        Self {
            app,
            files: Idle::after(UNUSED, move || files.close()),
            store: Idle::after(STORE_UNUSED, move || readers.close()),
        }
    }

    /// The application as it was started: for the time, the zone and the latest rules of redaction.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Calls the application with the settings as they are now.
    ///
    /// # Errors
    /// Fails if the settings cannot be read, and as `work`.
    pub fn call<T, E: From<Trouble>>(
        &self,
        work: impl FnOnce(&App) -> Result<T, E>,
    ) -> Result<T, E> {
        let done = self.app.reread().map_err(E::from).and_then(|app| work(&app));
        self.files.asked();
        self.store.asked();
        done
    }
}
