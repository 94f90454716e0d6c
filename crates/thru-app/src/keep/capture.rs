//! Pausing and resuming capture.

use jiff::Span;
use thru_capture::pause::{self, Pause};
use thru_core::Timestamp;

use crate::app::App;
use crate::background;
use crate::trouble::{Result, Trouble};

/// Pauses capture for a time such as `30m`, `2h` or `1d`, or until it is resumed.
///
/// # Errors
/// Fails if the time cannot be understood or the pause cannot be written.
pub fn pause_capture(app: &App, length: Option<&str>) -> Result<Pause> {
    let paused = match length {
        Some(length) => Pause::Until(end_of(app, length)?),
        None => Pause::Open,
    };
    pause::set(&app.layout, paused)?;
    Ok(paused)
}

/// Resumes capture. Returns true if it was paused.
///
/// # Errors
/// Fails if the pause cannot be removed.
pub fn resume_capture(app: &App) -> Result<bool> {
    let was_paused = pause::clear(&app.layout)?;
    background::poke(app);
    Ok(was_paused)
}

/// The end of a pause of this length that begins now.
fn end_of(app: &App, length: &str) -> Result<Timestamp> {
    let wrong = || {
        Trouble::invalid(format!("`{length}` is no length of time"))
            .advise("write a number and its unit, such as `30m`, `2h` or `1d`")
    };
    let span: Span = length.trim().parse().map_err(|_| wrong())?;
    let now = app.clock.now();
    // In the user's time zone, where a day may have 23 hours.
    let end = now.to_zoned(app.zone().clone()).checked_add(span).map_err(|_| wrong())?;
    match end.timestamp() > now {
        true => Ok(end.timestamp()),
        false => Err(wrong()),
    }
}
