//! The snapshot that a hook keeps before a compaction, while the agent waits.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use thru_agents::agents;
use thru_intake::{CompactionMoment, DistilScope};
use thru_store::Store;

use super::{is_quick, is_to_be_upgraded, keep, note};
use crate::app::App;
use crate::call::{Call, Patience};
use crate::ingest::catch_up::{Effort, TranscriptScope, ingest};
use crate::trouble::Result;

/// The time that a hook waits for a process that ingests.
const PATIENCE: Duration = Duration::from_millis(250);

/// Ingests a session up to now, keeps its snapshot and writes its files, as far as time allows until `deadline`. The rest
/// is done later.
///
/// # Errors
/// Fails if settings, journal or store cannot be used.
pub fn keep_within(
    app: &App,
    moment: CompactionMoment,
    transcript: &Path,
    deadline: Instant,
) -> Result<()> {
    note(app, &moment)?;
    // The agent does not wait for that.
    if is_to_be_upgraded(app)? {
        return Ok(());
    }
    let intake = app.intake()?;
    let left = deadline.saturating_duration_since(Instant::now());
    let Some(lock) = intake.try_lock(PATIENCE.min(left))? else { return Ok(()) };
    let sessions = [moment.session.clone()];
    let found = agents::discover_session(moment.session.agent, transcript, &moment.session.id);
    let effort = Effort { scope: DistilScope::These(&sessions), thorough: false };
    let stop = stop_at(deadline);
    let call = Call::unwatched(Patience::Within(Duration::ZERO), &stop);
    // Only this one of all that are missing: an agent waits.
    let ingested = ingest(app, &lock, TranscriptScope::Found(found), effort, call)?;
    if !ingested.report.interrupted {
        let store = Store::open_to_read(&app.layout)?;
        let is_quick = match store.session_by_key(&moment.session)? {
            Some(row) => is_quick(&store, row)?,
            None => true,
        };
        drop(store);
        if is_quick {
            keep(app, &intake, &lock, moment)?;
        }
    }
    Ok(())
}

/// A flag that is set at a time.
fn stop_at(deadline: Instant) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // Without it, the deadline of the whole hook still holds.
    let _ = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        flag.store(true, Ordering::Relaxed);
    });
    stop
}
