//! The form that all answers share.

use serde::Serialize;

use crate::trouble::Result;

/// The `version` of an answer. Keys may be added to a form; a change that breaks a reader is a new version.
pub const VERSION: u32 = 1;

/// The answer as indented JSON with its keys in alphabetical order, as every surface prints it.
///
/// # Errors
/// Fails only if a part of the answer cannot be written as JSON.
pub fn json(answer: &impl Serialize) -> Result<String> {
    let value = serde_json::to_value(answer)?;
    Ok(serde_json::to_string_pretty(&value)?)
}
