//! Deeds: telling, correcting, forgetting and undoing, redacting, closing sessions, exporting, changing settings.

pub mod capture;
pub mod close;
pub mod edit;
mod effects;
pub mod export;
pub mod forget;
pub mod graphiti;
pub mod projects;
pub mod redact;
pub mod remember;
pub mod settings;
mod teller;
pub mod undo;

use thru_intake::IntakeError;

use crate::app::App;
use crate::trouble::Result;

/// Returns true if an action was done and vectors may be left of what it took out, which is no failure.
fn is_unswept<T>(outcome: Result<T, IntakeError>) -> Result<bool> {
    match outcome {
        Err(IntakeError::NotSwept) => Ok(true),
        outcome => Ok(outcome.map(|_| false)?),
    }
}

/// Gives hooks the redaction rules as they are now.
fn share_rules(app: &App) -> Result<()> {
    Ok(thru_capture::rules::write(&app.layout, app.intake()?.rules())?)
}
