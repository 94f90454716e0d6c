//! A server on two pipes, until the input ends.

use std::io::{BufRead, Write};
use std::time::Duration;

use rmcp::service::serve_directly;
use thru_app::App;

use crate::pipe::{Pipe, Stopper};
use crate::profile::Profile;
use crate::server::Server;

/// Most calls worked on at the same time. Each holds the store and an index open.
pub(crate) const WORKERS: usize = 4;
/// Time for cancelled work to finish after the end.
const LAST_WORK: Duration = Duration::from_millis(200);

/// Serves the application until the input ends, the output is closed, or the [`Stopper`] is used.
///
/// No handshake is required: a request before `initialise` is served like any other, and one that names
/// its revision (2026-07-28) needs none.
///
/// # Errors
///
/// Returns an error if a thread or the runtime cannot be created.
pub fn serve(
    app: App,
    profile: Profile,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    stopper: impl FnOnce(Stopper),
) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(WORKERS)
        .build()?;
    let pipe = Pipe::new(input, output)?;
    stopper(pipe.stopper());
    let served = runtime.block_on(async {
        let running = serve_directly(Server::new(app, profile), pipe, None);
        running.waiting().await
    });
    runtime.shutdown_timeout(LAST_WORK);
    served.map(drop).map_err(std::io::Error::other)
}
