//! What people do about work that failed: have it tried again, or let it be.

use thru_store::{Batch, JobKind, JobRow};

use crate::{Intake, IntakeLock, Result};

impl Intake {
    /// Has jobs tried again: they are due now, and as if they had never failed. Gives those that there
    /// are.
    ///
    /// # Errors
    /// Where the store cannot be written.
    pub fn retry_jobs(&self, lock: &IntakeLock, numbers: &[i64]) -> Result<Vec<JobRow>> {
        let now = self.clock.now();
        self.for_jobs(lock, numbers, |batch, kind, session| batch.retry_job(kind, session, now))
    }

    /// Takes jobs out of the queue: nobody tries them again, until somebody asks for what they were for.
    /// Gives those that there were.
    ///
    /// # Errors
    /// Where the store cannot be written.
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
        // What a newer version has to do is for that version.
        jobs.retain(|job| numbers.contains(&job.number) && job.kind.is_some());
        let batch = store.begin()?;
        for job in &jobs {
            let Some(kind) = job.kind else { continue };
            act(&batch, kind, job.session)?;
            // No question waits for what failed; this one may be tried by the next.
            if kind == JobKind::Index
                && let Some(course) = batch.course(job.session)?
            {
                batch.set_indexing(job.session, course.indexing.given_back())?;
            }
        }
        batch.commit()?;
        Ok(jobs)
    }
}
