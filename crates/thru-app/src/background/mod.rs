//! The daemon, seen from hooks and commands: poke it, start it, see if it runs. Nothing depends on it: the next
//! command or hook does the same work. Nothing here waits.

pub mod control;
pub mod embedding;
pub mod handover;
pub mod refining;
pub mod service;
mod vault;
pub mod work;

use std::path::PathBuf;

use thru_config::{Config, WorkerApi};
use thru_daemon::{Paths, is_held};

use crate::app::App;
use crate::ingest::reading::wants_daemon;

/// The files of the daemon of this home.
pub fn paths(app: &App) -> Paths {
    // Beside our other files, unless it is said to lie elsewhere.
    let configured =
        app.config.hooks.socket_path.as_deref().map(|path| app.layout.run().join(path));
    app.machine.daemon_paths(&app.layout, configured.as_deref())
}

/// Tells the daemon, if there is one, that there is news.
pub fn poke(app: &App) {
    thru_daemon::poke(&paths(app).socket);
}

/// Starts a daemon where none runs and none is forbidden. The daemon itself finds out if it can run.
pub fn start(app: &App) {
    if app.machine.daemon_switched_off(&app.config).is_some() || is_running(app) {
        return;
    }
    // Of several that start at once, one gets the lock; the others end.
    let _ = app.machine.start(&["daemon", "run", "--detached"]);
}

/// The same for a command, which starts one only where the user's doings ask for it.
pub fn start_if_wanted(app: &App) {
    if wants_daemon(app) {
        start(app);
    }
}

/// True if a daemon runs.
pub fn is_running(app: &App) -> bool {
    is_held(&paths(app).lock).unwrap_or(false)
}

/// True if the daemon listens whenever it runs.
pub fn listens_always(config: &Config) -> bool {
    config.http.enabled || config.http.worker_api != WorkerApi::Off
}

/// The file that holds the address of the page while it is served, and says if a page was opened.
pub fn page_file(app: &App) -> PathBuf {
    app.layout.run().join("http.address")
}

/// Returns the address of the page, where the daemon serves it.
pub fn page_address(app: &App) -> Option<String> {
    let text = std::fs::read_to_string(page_file(app)).ok()?;
    // A daemon that was killed leaves the file.
    is_running(app).then(|| text.lines().next().unwrap_or_default().to_owned())
}

/// The second line of the file with the address once a page was opened there.
pub const OPENED: &str = "opened";

/// True if a page was opened at the address that a daemon has, or left behind: it may still be open.
pub fn was_page_opened(app: &App) -> bool {
    let text = std::fs::read_to_string(page_file(app)).unwrap_or_default();
    text.lines().nth(1) == Some(OPENED)
}
