//! What the daemon does: brings in what hooks recorded, and the transcripts that they named.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use thru_daemon::{News, Outcome, Service, ToolError, Work, WorkError};
use thru_intake::Directories;

use super::super::import;
use crate::environment::Environment;

/// How far back sessions are looked at again.
const RECENT: jiff::SignedDuration = jiff::SignedDuration::from_hours(48);
/// How long another process that writes is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Brings in what there is.
pub(super) struct Bringing<'a> {
    environment: &'a Environment,
    passages: u64,
}

impl<'a> Bringing<'a> {
    pub(super) const fn new(environment: &'a Environment) -> Self {
        Self { environment, passages: 0 }
    }

    fn bring_in(&mut self, stop: &AtomicBool) -> Result<Outcome> {
        let environment = self.environment;
        let intake = environment.intake()?;
        let Some(lock) = intake.try_lock(PATIENCE)? else {
            let again = environment.clock.now() + PATIENCE;
            return Ok(Outcome { due: Some(again), busy: false });
        };
        let exclusions = import::Exclusions::of(environment)?;
        let excluded = |directory: &Path| exclusions.apply_to(directory);
        let directories = Directories { excluded: &excluded };
        intake.take_events(&lock, &mut |_, _, _| {})?;
        let mut recorded = intake.recorded_sources(environment.clock.now() - RECENT)?;
        recorded.sources.retain(|source| !exclusions.apply_to_file(&source.path));
        let plan = intake.plan(recorded, Some(&excluded))?;
        let report =
            intake.import(&lock, plan, &directories, stop, &mut |_, _, _| {}, &mut |_| {})?;
        intake.seal_journal(&lock)?;
        self.passages += report.written.passages;
        Ok(Outcome::default())
    }
}

impl Work for Bringing<'_> {
    fn bring_in(&mut self, _: &News, stop: &AtomicBool) -> Result<Outcome, WorkError> {
        Bringing::bring_in(self, stop).map_err(|error| format!("{error:#}").into())
    }

    fn watched(&mut self) -> Vec<PathBuf> {
        vec![self.environment.claude_directory.join("projects")]
    }

    fn status(&mut self) -> Value {
        json!({ "passages": self.passages })
    }
}

/// What is done while work goes on.
pub(super) struct Aside;

impl Service for Aside {
    fn call(&self, tool: &str, _: &Value) -> Result<Value, ToolError> {
        Err(ToolError::Unknown(tool.chars().take(60).collect()))
    }

    fn sync(&self) -> Result<(), WorkError> {
        Ok(())
    }
}
