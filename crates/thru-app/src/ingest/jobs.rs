//! The queue: work that waits, and work that failed.

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{SessionId, Timestamp};
use thru_store::{JobKind, JobRow};

use crate::app::App;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::models::Models;
use crate::models::distil::Refined;
use crate::trouble::{Listing, Remedy, Result, Trouble};
use crate::words::printable;
use crate::{answer, background, deliver};

/// The queue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Jobs {
    version: u32,
    kind: &'static str,
    /// The number of jobs that were given up.
    pub dead: usize,
    /// All jobs, those that are due first.
    pub jobs: Vec<JobEntry>,
}

/// A job in the queue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JobEntry {
    /// Its number.
    pub number: i64,
    /// The name of its kind.
    #[serde(rename = "what")]
    pub name: &'static str,
    /// Its kind; `None` if only a newer version knows it.
    #[serde(skip)]
    pub kind: Option<JobKind>,
    /// The turn that it is about; `None` for the whole session.
    pub turn: Option<u32>,
    /// The session that it is for.
    pub session_id: SessionId,
    /// The reason for it.
    pub reason: String,
    /// Its state.
    pub state: JobState,
    /// The number of failed attempts.
    pub attempts: u32,
    /// The time it was created.
    pub created: Option<Timestamp>,
    /// The earliest time of the next attempt.
    pub due: Option<Timestamp>,
    /// The error of the last attempt.
    pub error: Option<String>,
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It is tried when its time comes.
    Waiting,
    /// It failed too often to be tried again by itself.
    Dead,
}

impl From<JobRow> for JobEntry {
    fn from(job: JobRow) -> Self {
        Self {
            number: job.number,
            name: job.kind.map_or("other", JobKind::as_str),
            turn: job.kind.map(JobKind::turn).filter(|turn| *turn > 0),
            kind: job.kind,
            session_id: job.key.id,
            reason: job.reason,
            state: if job.is_dead { JobState::Dead } else { JobState::Waiting },
            attempts: job.attempts,
            created: job.created,
            due: job.due.filter(|_| !job.is_dead),
            error: job.error.as_deref().map(printable),
        }
    }
}

impl Jobs {
    /// Checks that there are jobs with these numbers.
    ///
    /// # Errors
    /// Names the first number that no job has.
    pub fn check(&self, numbers: &[i64]) -> Result<()> {
        let is_known = |number: i64| self.jobs.iter().any(|job| job.number == number);
        match numbers.iter().find(|number| !is_known(**number)) {
            Some(number) => {
                let message = format!("there is no job {number}; it may be done by now");
                Err(Trouble::not_found(message).with(Remedy::See(Listing::Jobs)))
            }
            None => Ok(()),
        }
    }
}

/// The jobs that a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobSelection {
    /// All of them.
    All,
    /// Those with these numbers.
    Numbers(Vec<i64>),
}

/// Jobs that are tried again.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RetriedJobs {
    version: u32,
    kind: &'static str,
    /// Their numbers.
    pub retried: Vec<i64>,
}

/// Jobs that were taken out of the queue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CancelledJobs {
    version: u32,
    kind: &'static str,
    /// Their numbers.
    pub cancelled: Vec<i64>,
}

/// The outcome of working the queue off.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JobsRun {
    version: u32,
    kind: &'static str,
    /// Turns that a model looked at.
    pub turns: u64,
    /// Sessions that a model looked at.
    pub sessions: u64,
    /// Things that were delivered.
    pub delivered: usize,
    /// The limit that ended it, in words.
    pub exhausted: Option<&'static str>,
    /// The first reason why it ended early.
    pub trouble: Option<String>,
    /// The outcome of asking, whole.
    #[serde(skip)]
    pub refined: Refined,
    /// The reason why no more was delivered.
    #[serde(skip)]
    pub delivery_trouble: Option<String>,
}

/// Lists the queue.
///
/// # Errors
/// Fails if the store cannot be read. Without a store there is no work.
pub fn list(app: &App, call: Call<'_>) -> Result<Jobs> {
    let jobs = match fresh::open(app, Freshness::AsItIs, call) {
        Err(trouble) if trouble.remedy() == Some(&Remedy::Import) => Vec::new(),
        opened => opened?.jobs()?,
    };
    let dead = jobs.iter().filter(|job| job.is_dead).count();
    let jobs = jobs.into_iter().map(JobEntry::from).collect();
    Ok(Jobs { version: answer::VERSION, kind: "jobs", dead, jobs })
}

/// Has jobs tried again now, as if they had never failed.
///
/// # Errors
/// Fails if there is no such job, or the store cannot be used.
pub fn retry(app: &App, selection: &JobSelection, call: Call<'_>) -> Result<RetriedJobs> {
    let jobs = list(app, call)?;
    let numbers = match selection {
        JobSelection::All => jobs.jobs.iter().map(|job| job.number).collect(),
        JobSelection::Numbers(numbers) => {
            jobs.check(numbers)?;
            numbers.clone()
        }
    };
    let intake = app.intake()?;
    let retried = intake.retry_jobs(&call.lock(&intake)?, &numbers)?;
    background::poke(app);
    Ok(RetriedJobs { version: answer::VERSION, kind: "jobs", retried: numbers_of(&retried) })
}

/// Removes jobs from the queue.
///
/// # Errors
/// Fails if there is no such job, or the store cannot be used.
pub fn cancel(app: &App, numbers: &[i64], call: Call<'_>) -> Result<CancelledJobs> {
    list(app, call)?.check(numbers)?;
    let intake = app.intake()?;
    let cancelled = intake.cancel_jobs(&call.lock(&intake)?, numbers)?;
    Ok(CancelledJobs { version: answer::VERSION, kind: "jobs", cancelled: numbers_of(&cancelled) })
}

fn numbers_of(jobs: &[JobRow]) -> Vec<i64> {
    jobs.iter().map(|job| job.number).collect()
}

/// Asks the questions that are due, and delivers what is due.
///
/// # Errors
/// Fails if there is no store, another process is asking, or settings, journal or store cannot be used. A provider or
/// server that does not answer is no error.
pub fn run(app: &App, call: Call<'_>) -> Result<JobsRun> {
    drop(fresh::open(app, Freshness::AsItIs, call)?);
    let refined: Refined = match Models::from_config(app)? {
        Some(models) => models.run(app, None, call.cancelled(), &|_| {})?.into(),
        None => Refined::default(),
    };
    let delivered = deliver::deliver(app, call.cancelled())?;
    Ok(JobsRun {
        version: answer::VERSION,
        kind: "jobs",
        turns: refined.turns,
        sessions: refined.sessions,
        delivered: delivered.things,
        exhausted: refined.exhausted,
        trouble: refined.trouble.clone().or_else(|| delivered.trouble.clone()),
        refined,
        delivery_trouble: delivered.trouble,
    })
}
