//! Work that is too much for a caller that others wait for, where no daemon does it: a process is left behind that
//! ends with the work. Of several, one works; the others end at once.

use std::sync::Mutex;
use std::time::Duration;

use thru_daemon::{detach, let_others_go_first};
use thru_intake::Intake;
use thru_store::index::rows_behind;
use thru_store::{SCHEMA_VERSION, Store};

use super::is_running;
use crate::app::App;
use crate::call::{Call, Patience};
use crate::ingest::intake::{IntakeReport, ingest_recorded};
use crate::trouble::Result;

/// Bytes of the journal that are ingested while a session waits to start: about a hundred records, which is
/// more than an interrupted turn leaves behind.
pub const BACKLOG: u64 = 400 * 1024;
/// Sessions distilled while a session waits to start.
pub const SESSIONS: usize = 4;
/// Rows that the text indexes may be behind: fewer than a search reads without them.
pub const ROWS: u64 = 1_000;

/// The time to wait for another process that writes: it may be at something else than this work.
const PATIENCE: Duration = Duration::from_secs(60);

/// Held while this process does the work itself.
static WORKING: Mutex<()> = Mutex::new(());

/// True if there is more to ingest, to distil or to index than the start of a session waits for.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn is_behind(app: &App, store: &Store) -> Result<bool> {
    Ok(store.schema_version()? < SCHEMA_VERSION
        || Intake::news(&app.layout, app.host(), store)? > BACKLOG
        || store.stale_sessions()?.len() > SESSIONS
        || rows_behind(&app.layout, store)? > ROWS)
}

/// Leaves a process behind that ingests what hooks recorded, unless a daemon does. A process that starts no other does it
/// on a thread.
pub fn hand_over(app: &App) {
    if is_running(app) {
        return;
    }
    if app.machine.program.is_none() {
        // One that starts no other process goes on itself, and outlives the question.
        let app = app.clone();
        let _ = std::thread::Builder::new().spawn(move || {
            // Of several, one works.
            let Ok(_working) = WORKING.try_lock() else { return };
            let _ = ingest_recorded(&app, Call::unattended(Patience::Within(PATIENCE)));
        });
        return;
    }
    let _ = app.machine.start(&["intake", "--left-behind"]);
}

/// Does the work of the process that was left behind, politely.
///
/// # Errors
/// Fails if journal, archive or store cannot be read or written, and if another process does the work.
pub fn work_left_behind(app: &App, call: Call<'_>) -> Result<IntakeReport> {
    detach();
    let_others_go_first();
    ingest_recorded(app, call.patient(Patience::Within(PATIENCE)))
}
