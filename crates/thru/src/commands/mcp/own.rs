//! The memory of this machine, as MCP asks it. Each call reads the settings anew: they may change while the
//! server runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use thru_intake::Intake;
use thru_mcp::{
    Around, Call, Close, Forget, Forgotten, Found, Get, ListUnindexed, Memory, Piece, Place,
    Project, Remember, Remembered, Search, Session, SessionName, SessionTold, SyncHistory,
    Timeline, Trouble,
};
use thru_recall::OpenVectors;
use thru_redact::{Clean, Redactor, Report};

use super::{keeping, reading, searching};
use crate::asking::Asker;
use crate::environment::Environment;
use crate::failure;
use crate::ui::printable;

/// The memory of this machine.
pub(super) struct OwnMemory {
    environment: Environment,
    /// As of the latest call.
    redactor: Mutex<Option<Redactor>>,
    vectors: OpenVectors,
}

impl OwnMemory {
    pub(super) fn new(environment: Environment) -> Self {
        Self { environment, redactor: Mutex::default(), vectors: OpenVectors::default() }
    }

    /// Does something with the settings and rules as they are now.
    fn with<T>(&self, work: impl FnOnce(&Environment, &Intake) -> Result<T>) -> Result<T, Trouble> {
        let now = || {
            let environment = self.environment.again()?;
            let intake = environment.intake()?;
            *self.latest() = Some(intake.redactor().clone());
            work(&environment, &intake)
        };
        now().map_err(|error| trouble(&error))
    }

    fn latest(&self) -> MutexGuard<'_, Option<Redactor>> {
        self.redactor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, for somebody who may stop waiting.
    fn for_call<T>(
        &self,
        call: &Call,
        work: impl FnOnce(&Environment, &Intake, &Asker<'_>) -> Result<T>,
    ) -> Result<T, Trouble> {
        let tell = |message: &str| call.tell(message);
        let asker = Asker { tell: &tell, is_gone: call.cancelled() };
        if call.is_cancelled() {
            return Err(Trouble::Cancelled);
        }
        self.with(|environment, intake| work(environment, intake, &asker))
    }
}

fn trouble(error: &anyhow::Error) -> Trouble {
    Trouble::new(failure::whole(error))
}

/// Text as it may be shown. What nobody sees goes first: it may keep the parts of a secret apart.
pub(super) fn cleaned(redactor: &Redactor, text: &str) -> Clean<String> {
    redactor.clean_text(&printable(text), &mut Report::default())
}

impl Memory for OwnMemory {
    fn search(&self, asked: &Search, call: &Call) -> Result<Found, Trouble> {
        self.for_call(call, |environment, intake, asker| {
            searching::search(environment, intake, asked, asker, &self.vectors)
        })
    }

    fn timeline(&self, asked: &Timeline, call: &Call) -> Result<Option<Around>, Trouble> {
        self.for_call(call, |environment, intake, asker| {
            searching::timeline(environment, intake, asked, asker)
        })
    }

    fn get(&self, asked: &Get, call: &Call) -> Result<Vec<Piece>, Trouble> {
        self.for_call(call, |environment, intake, asker| {
            reading::get(environment, intake, asked, asker)
        })
    }

    fn session(&self, asked: &Session, call: &Call) -> Result<SessionTold, Trouble> {
        self.for_call(call, |environment, intake, asker| {
            reading::session(environment, intake, asked, asker)
        })
    }

    fn remember(&self, asked: &Remember) -> Result<Remembered, Trouble> {
        self.with(|environment, intake| keeping::remember(environment, intake, asked))
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
        self.for_call(call, |environment, _, _| reading::context(environment, project))
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
        (self.environment.clock.now(), self.environment.zone.clone())
    }
}
