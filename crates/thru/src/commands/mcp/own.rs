//! The memory of this machine, as MCP asks it. Each call reads the settings anew: they may change while the
//! server runs.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use thru_app::{Patience, Progress};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use thru_app::Result;
use thru_intake::Intake;
use thru_mcp::{
    Around, Call, Close, Forget, Forgotten, Found, Get, ListUnindexed, Memory, Piece, Place,
    Project, Remember, Remembered, Search, Session, SessionName, SessionTold, SyncHistory,
    Timeline, Trouble,
};
use thru_redact::{Clean, Redactor, Report};
use thru_store::Store;

use super::idle::Idle;
use super::{keeping, reading, searching};
use crate::commands::shared;
use crate::environment::Environment;
use crate::failure;
use crate::ui::printable;

/// How long files stay open without a question.
const UNUSED: Duration = Duration::from_mins(2);

/// The time that a call waits for another process that writes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Progress that goes to the client.
struct Heard<'a, F>(&'a F);

impl<F: Fn(&str) + Send + Sync> Progress for Heard<'_, F> {
    fn note(&self, message: &str) {
        (self.0)(message);
    }
}

/// The memory of this machine.
pub(super) struct OwnMemory {
    environment: Environment,
    /// As of the latest call.
    redactor: Mutex<Option<Redactor>>,
    idle: Idle,
}

impl OwnMemory {
    pub(super) fn new(environment: Environment) -> Self {
        let open = environment.open.clone();
        let idle = Idle::after(UNUSED, move || open.close());
        Self { environment, redactor: Mutex::default(), idle }
    }

    /// Does something with the settings and rules as they are now.
    fn with<T>(&self, work: impl FnOnce(&Environment, &Intake) -> Result<T>) -> Result<T, Trouble> {
        self.again(|environment| {
            let intake = environment.intake()?;
            self.know(&intake);
            work(environment, &intake)
        })
    }

    /// Does something with the settings as they are now.
    fn again<T>(&self, work: impl FnOnce(&Environment) -> Result<T>) -> Result<T, Trouble> {
        let now =
            self.environment.reread().map(|app| Environment { app, ..self.environment.clone() });
        let done = now.and_then(|now| work(&now));
        self.idle.asked();
        done.map_err(|error| trouble(&error))
    }

    fn know(&self, intake: &Intake) {
        *self.latest() = Some(intake.redactor().clone());
    }

    fn latest(&self) -> MutexGuard<'_, Option<Redactor>> {
        self.redactor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the store as it is, for somebody who may stop waiting.
    fn for_call<T>(
        &self,
        call: &Call,
        work: impl FnOnce(&Environment, &Intake, Store, thru_app::Call<'_>) -> Result<T>,
    ) -> Result<T, Trouble> {
        let tell = |message: &str| call.tell(message);
        let heard = Heard(&tell);
        let inner = thru_app::Call::new(&heard, Patience::Within(PATIENCE), call.cancelled());
        if call.is_cancelled() {
            return Err(Trouble::Cancelled);
        }
        self.again(|environment| {
            let store = shared::open_store_as_it_is(environment)?;
            let intake = environment.intake_beside(&store)?;
            self.know(&intake);
            work(environment, &intake, store, inner)
        })
    }
}

fn trouble(error: &thru_app::Trouble) -> Trouble {
    Trouble::new(failure::whole(error))
}

/// Text as it may be shown. What nobody sees goes first: it may keep the parts of a secret apart.
pub(super) fn cleaned(redactor: &Redactor, text: &str) -> Clean<String> {
    redactor.clean_text(&printable(text), &mut Report::default())
}

impl Memory for OwnMemory {
    fn search(&self, asked: &Search, call: &Call) -> Result<Found, Trouble> {
        self.for_call(call, |environment, intake, store, call| {
            searching::search(environment, intake, store, asked, call)
        })
    }

    fn timeline(&self, asked: &Timeline, call: &Call) -> Result<Option<Around>, Trouble> {
        self.for_call(call, |environment, intake, store, call| {
            searching::timeline(environment, intake, store, asked, call)
        })
    }

    fn get(&self, asked: &Get, call: &Call) -> Result<Vec<Piece>, Trouble> {
        self.for_call(call, |environment, intake, store, call| {
            reading::get(environment, intake, store, asked, call)
        })
    }

    fn session(&self, asked: &Session, call: &Call) -> Result<SessionTold, Trouble> {
        self.for_call(call, |environment, intake, store, call| {
            reading::session(environment, intake, store, asked, call)
        })
    }

    fn remember(&self, asked: &Remember) -> Result<Remembered, Trouble> {
        self.with(|environment, _| keeping::remember(environment, asked))
    }

    fn forget(&self, asked: &Forget) -> Result<Forgotten, Trouble> {
        self.with(|environment, intake| keeping::forget(environment, intake, asked))
    }

    fn close(&self, asked: &Close) -> Result<Clean<Value>, Clean<Value>> {
        keeping::close(&self.environment, asked)
    }

    fn list_unindexed(&self, asked: &ListUnindexed) -> Result<Clean<Value>, Trouble> {
        self.with(|environment, intake| keeping::list_unindexed(environment, intake, asked))
    }

    fn sync_history(&self, asked: &SyncHistory) -> Result<Clean<Value>, Trouble> {
        self.with(|environment, intake| keeping::sync_history(environment, intake, asked))
    }

    fn status(&self) -> Result<Clean<Value>, Trouble> {
        self.with(keeping::status)
    }

    fn context(&self, project: &Place, call: &Call) -> Result<Clean<String>, Trouble> {
        if call.is_cancelled() {
            return Err(Trouble::Cancelled);
        }
        self.with(|environment, _| reading::context(environment, project))
    }

    fn sessions(&self, most: usize) -> Result<Vec<SessionName>, Trouble> {
        self.with(|environment, intake| reading::latest_sessions(environment, intake, most))
    }

    fn project(&self) -> Result<Option<Project>, Trouble> {
        self.with(reading::project)
    }

    fn clean(&self, text: &str) -> Clean<String> {
        match self.latest().as_ref() {
            Some(redactor) => redactor.clean_text(text, &mut Report::default()),
            // Where rules cannot be read, nothing that was recorded was either.
            None => Redactor::builtin().clean_text(text, &mut Report::default()),
        }
    }

    fn now(&self) -> (Timestamp, TimeZone) {
        (self.environment.clock.now(), self.environment.zone().clone())
    }
}
