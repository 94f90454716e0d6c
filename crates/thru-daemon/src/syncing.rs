//! Syncs hooks' writes soon after their pokes, on a thread of its own, since a step may take longer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::log::Log;
use crate::mailbox::Mailbox;
use crate::work::Service;

/// Starts the thread. It ends with the daemon, after a last sync.
pub(crate) fn start(
    mailbox: Arc<Mailbox>,
    service: Arc<dyn Service>,
    delay: Duration,
    log: Arc<Log>,
) -> std::io::Result<JoinHandle<()>> {
    thread::Builder::new().name("sync".to_owned()).spawn(move || {
        let mut failed = false;
        loop {
            let goes_on = mailbox.wait_for_sync(delay);
            let error = match catch_unwind(AssertUnwindSafe(|| service.sync())) {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => Some("it panicked".to_owned()),
            };
            // Logged once: it may fail for every event of a session.
            if let (Some(error), false) = (&error, failed) {
                log.error(&format!("sync failed: {error}"));
            }
            failed = error.is_some();
            if !goes_on {
                return;
            }
        }
    })
}
