//! The daemon, seen from hooks and commands: tell it that there is news, have it started, look whether it
//! watches. Nobody needs it: what it does, whoever runs next does as well. Nothing here waits.

use thru_config::Config;
use thru_core::Layout;
use thru_daemon::{Paths, is_held, spawn};

use crate::environment::{daemon_paths, variables};

/// `off` in this variable: no daemon is started, whatever the settings say. For machines that are made
/// anew for every run.
const SWITCH: &str = "THROUGHLINE_DAEMON";

/// The files of the daemon of a home.
pub(crate) fn paths(layout: &Layout, config: &Config) -> Paths {
    // Beside our other files, unless it is said to lie elsewhere.
    let configured = config.socket_path().map(|path| layout.run().join(path));
    daemon_paths(layout, configured.as_deref())
}

/// Tells the daemon, if there is one, that there is news.
pub(crate) fn poke(layout: &Layout, config: &Config) {
    thru_daemon::poke(&paths(layout, config).socket);
}

/// Has a daemon started, if none runs. Whether it can be, it finds out by itself.
pub(crate) fn start(layout: &Layout, config: &Config) {
    if switched_off(config).is_some() || is_watching(layout, config) {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    // Of several that start at once, one gets the lock; the others end.
    let _ = spawn(&program, &["daemon", "run", "--detached"], variables());
}

/// What keeps a daemon from being started, if anything does.
pub(crate) fn switched_off(config: &Config) -> Option<&'static str> {
    let value = std::env::var(SWITCH).unwrap_or_default().to_lowercase();
    if matches!(value.trim(), "off" | "0" | "false" | "no") {
        return Some(SWITCH);
    }
    match (config.daemon_enabled(), config.tracking_enabled()) {
        (false, _) => Some("daemon.enabled"),
        (_, false) => Some("session_tracking.enabled"),
        (true, true) => None,
    }
}

/// Whether a daemon runs, and so somebody watches the transcripts.
pub(crate) fn is_watching(layout: &Layout, config: &Config) -> bool {
    is_held(&paths(layout, config).lock).unwrap_or(false)
}
