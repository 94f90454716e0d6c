//! Actions on failed jobs: try them again, or cancel them.

use thru_store::{Batch, JobKind, JobRow};

use crate::{Intake, IntakeLock, Result};

impl Intake {
    /// Makes jobs due now, with no failures counted. Returns those that exist.
    ///
    /// # Errors
    /// Fails if the store cannot be written.
    pub fn retry_jobs(&self, lock: &IntakeLock, numbers: &[i64]) -> Result<Vec<JobRow>> {
        let now = self.clock.now();
        self.for_jobs(lock, numbers, |batch, kind, session| batch.retry_job(kind, session, now))
    }

    /// Removes jobs from the queue. They are not tried again until their work is requested anew. Returns those
    /// that existed.
    ///
    /// # Errors
    /// Fails if the store cannot be written.
    pub fn cancel_jobs(&self, lock: &IntakeLock, numbers: &[i64]) -> Result<Vec<JobRow>> {
        self.for_jobs(lock, numbers, |batch, kind, session| match kind {
            JobKind::Index => batch.remove_job(kind, session).map(drop),
            _ => batch.let_question_be(kind, session),
        })
    }

    fn for_jobs(
        &self,
        _lock: &IntakeLock,
        numbers: &[i64],
        act: impl Fn(&Batch<'_>, JobKind, i64) -> thru_store::Result<()>,
    ) -> Result<Vec<JobRow>> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        let mut jobs = store.jobs()?;
        // Jobs of a newer version are left to that version.
        jobs.retain(|job| numbers.contains(&job.number) && job.kind.is_some());
        let batch = store.begin()?;
        for job in &jobs {
            let Some(kind) = job.kind else { continue };
            act(&batch, kind, job.session)?;
            // A failed job makes no question wait; the next question may retry it.
            if kind == JobKind::Index
                && let Some(state) = batch.session_state(job.session)?
            {
                batch.set_indexing(job.session, state.indexing.given_back())?;
            }
        }
        batch.commit()?;
        Ok(jobs)
    }
}
