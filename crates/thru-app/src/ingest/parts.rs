//! The parts of intake, put together by the settings.

use std::sync::{Arc, PoisonError};

use thru_intake::{Declared, Intake, IntakeError, Options};
use thru_redact::RuleError;
use thru_store::Store;

use crate::app::App;
use crate::ask::named::declared_name;
use crate::trouble::{Context, Remedy, Result};
use crate::{deliver, models};

impl App {
    /// The parts of intake, put together by the settings.
    ///
    /// # Errors
    /// Fails if the journal cannot be read or a rule of the user's cannot be used.
    pub fn intake(&self) -> Result<Intake> {
        let (layout, clock) = (self.layout.clone(), Arc::clone(&self.clock));
        self.noted(Intake::new(layout, clock, self.options()))
    }

    /// The same beside the store of this home, which is open already.
    ///
    /// # Errors
    /// As [`App::intake`].
    pub fn intake_beside(&self, store: &Store) -> Result<Intake> {
        let (layout, clock) = (self.layout.clone(), Arc::clone(&self.clock));
        self.noted(Intake::with_store(Some(store), layout, clock, self.options()))
    }

    fn noted(&self, made: thru_intake::Result<Intake>) -> Result<Intake> {
        let allow = self.config.get("redact.allow");
        let intake = match (made, allow) {
            (Err(error @ IntakeError::Rule(RuleError::Allow { .. })), Some(allow)) => {
                return Err(error)
                    .with_context(|| format!("{}: `{}`", allow.origin, allow.key))
                    .map_err(|trouble| trouble.with(Remedy::ShowSetting("redact.allow")));
            }
            (made, _) => made?,
        };
        let mut latest = self.redactor.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = Some(intake.redactor().clone());
        Ok(intake)
    }

    fn options(&self) -> Options {
        Options {
            verbatim: self.config.archive.verbatim,
            threads: self.threads(),
            home: self.home.clone(),
            host: self.machine.host.clone(),
            allow: self.config.redact.allow.clone(),
            distil: self.config.distil.enabled,
            limits: self.limits(),
            index_left: self.config.session.auto_archive_on_end,
            refine_since: models::since(&self.config, self.clock.now()),
            deliver_since: deliver::since(&self.config, self.clock.now()),
            declared: Declared::by(declared_name),
            projections: thru_intake::projections(),
        }
    }
}
