//! The transcripts that may be read unasked: by the daemon, and before a question is answered.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use thru_capture::pause;
use thru_core::Layout;
use thru_journal::files;

use crate::app::App;
use crate::setup::surroundings::has_hooks;
use crate::trouble::Result;

/// The transcripts that are read unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// All that agents keep.
    All,
    /// Those that hooks named.
    Recorded,
    /// None.
    Nothing,
}

/// The end of unasked reading by the user, until the user asks for what needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An import of the history was stopped. Sessions with hooks are read on.
    Import,
    /// Everything was uninstalled.
    Uninstall,
}

fn path(layout: &Layout) -> PathBuf {
    layout.run().join("reading-stopped")
}

fn watching_path(layout: &Layout) -> PathBuf {
    layout.run().join("watching-asked")
}

/// Returns the transcripts that may be read unasked now.
pub fn reading(app: &App) -> Reading {
    if !app.config.session_tracking.enabled
        || pause::current(&app.layout, app.clock.now()).is_some()
    {
        return Reading::Nothing;
    }
    match stopped(&app.layout) {
        None => Reading::All,
        Some(Stop::Import) => Reading::Recorded,
        Some(Stop::Uninstall) => Reading::Nothing,
    }
}

/// Returns the transcripts that a daemon may read as they are written: one that was only started for what it serves, as the
/// page, reads no more than hooks named.
pub fn watching(app: &App) -> Reading {
    match reading(app) {
        Reading::All if !(is_watching_asked(&app.layout) || watches_unasked(app)) => {
            Reading::Recorded
        }
        reading => reading,
    }
}

fn watches_unasked(app: &App) -> bool {
    app.config.daemon.watch || has_hooks(app)
}

/// Notes that the user started a daemon, or an agent with hooks, and so wants transcripts to be watched.
///
/// # Errors
/// Fails if the mark cannot be written.
pub fn ask_to_watch(layout: &Layout) -> Result<()> {
    if !is_watching_asked(layout) {
        files::create_dir_private(&layout.run())?;
        fs::write(watching_path(layout), b"")?;
    }
    Ok(())
}

/// Takes back that transcripts are to be watched.
///
/// # Errors
/// Fails if the mark cannot be removed.
pub fn stop_watching(layout: &Layout) -> Result<()> {
    files::remove(&watching_path(layout))?;
    Ok(())
}

fn is_watching_asked(layout: &Layout) -> bool {
    watching_path(layout).exists()
}

/// True if the daemon may be started unasked, by a command: hooks are installed, or the settings say so, and the user
/// stopped nothing since.
pub fn wants_daemon(app: &App) -> bool {
    stopped(&app.layout).is_none() && watches_unasked(app)
}

/// Returns the stop that holds. A mark that cannot be understood counts as the farther one: too little is read, never
/// too much.
pub fn stopped(layout: &Layout) -> Option<Stop> {
    match fs::read(path(layout)) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Ok(text) if text.trim_ascii() == b"import" => Some(Stop::Import),
        _ => Some(Stop::Uninstall),
    }
}

/// Stops unasked reading. What was uninstalled stays so.
///
/// # Errors
/// Fails if the mark cannot be written.
pub fn stop(layout: &Layout, why: Stop) -> Result<()> {
    let text = match why {
        Stop::Import if stopped(layout) == Some(Stop::Uninstall) => return Ok(()),
        Stop::Import => "import",
        Stop::Uninstall => "uninstall",
    };
    if why == Stop::Uninstall {
        stop_watching(layout)?;
    }
    files::create_dir_private(&layout.run())?;
    Ok(files::replace(&path(layout), text.as_bytes())?)
}

/// Takes unasked reading up again, if it was stopped for this reason.
///
/// # Errors
/// Fails if the mark cannot be removed.
pub fn resume(layout: &Layout, after: Stop) -> Result<()> {
    match stopped(layout) == Some(after) {
        true => resume_all(layout),
        false => Ok(()),
    }
}

/// Takes unasked reading up again, whatever stopped it.
///
/// # Errors
/// Fails if the mark cannot be removed.
pub fn resume_all(layout: &Layout) -> Result<()> {
    files::remove(&path(layout))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_holds_until_it_is_taken_back() {
        let home = tempfile::tempdir().unwrap();
        let layout = Layout::new(home.path());
        assert_eq!(stopped(&layout), None);
        for why in [Stop::Import, Stop::Uninstall] {
            stop(&layout, why).unwrap();
            assert_eq!(stopped(&layout), Some(why));
        }
        stop(&layout, Stop::Import).unwrap();
        resume(&layout, Stop::Import).unwrap();
        assert_eq!(
            stopped(&layout),
            Some(Stop::Uninstall),
            "an import takes back its own stop only"
        );
        resume(&layout, Stop::Uninstall).unwrap();
        assert_eq!(stopped(&layout), None);
        fs::write(path(&layout), b"\xff").unwrap();
        assert_eq!(stopped(&layout), Some(Stop::Uninstall));
    }
}
