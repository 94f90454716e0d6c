//! Errors as people see them: what happened, and what to do next.

use std::io::Write;
use std::process::ExitCode;

use thru_config::EditError;
use thru_intake::IntakeError;
use thru_store::StoreError;

use crate::ui::printable;

/// An error that comes with advice.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Advised {
    message: String,
    hint: String,
}

/// An error with advice.
pub(crate) fn advised(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Advised { message: message.into(), hint: hint.into() }.into()
}

/// Prints an error. A pipe that the reader closed is none.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    let closed_pipe = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe);
    if closed_pipe {
        return ExitCode::SUCCESS;
    }
    let mut stderr = std::io::stderr();
    // Nobody is left to tell when even this fails.
    let _ = writeln!(stderr, "error: {}", sentence(&format!("{error:#}")));
    if let Some(hint) = hint(error) {
        let _ = writeln!(stderr, "hint: {}", sentence(&hint));
    }
    ExitCode::from(2)
}

/// An error with its advice, in one text.
pub(crate) fn whole(error: &anyhow::Error) -> String {
    let message = sentence(&format!("{error:#}"));
    match hint(error) {
        Some(hint) => format!("{message} {}", sentence(&hint)),
        None => message,
    }
}

/// A sentence with its full stop, and nothing in it that could steer a terminal.
fn sentence(text: &str) -> String {
    let text = printable(text.trim_end());
    let stop = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{text}{stop}")
}

fn hint(error: &anyhow::Error) -> Option<String> {
    for cause in error.chain() {
        if let Some(advised) = cause.downcast_ref::<Advised>() {
            return Some(advised.hint.clone());
        }
        if let Some(error) = cause.downcast_ref::<IntakeError>() {
            return error.hint();
        }
        if let Some(error) = cause.downcast_ref::<StoreError>() {
            return error.hint().map(str::to_owned);
        }
        if let Some(EditError::UnknownKey { suggestion, .. }) = cause.downcast_ref::<EditError>() {
            return Some(suggestion.map_or_else(
                || "`thru config show` lists the settings".to_owned(),
                |key| format!("did you mean `{key}`?"),
            ));
        }
    }
    None
}
