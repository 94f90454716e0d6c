//! The saved state of readers, with a version: a reader of another form cannot go on.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The saved state of a reader cannot be used. Read the file from its beginning.
#[derive(Debug, thiserror::Error)]
pub enum InvalidState {
    /// It is not what a reader saves.
    #[error("the saved state of the reader is damaged")]
    Damaged(#[from] serde_json::Error),
    /// It was saved by a reader of another version.
    #[error("the saved state of the reader has version {0}, which this build does not read")]
    OtherVersion(u32),
}

/// Reads what a reader of this version saved.
pub(crate) fn load<T: DeserializeOwned>(text: &str, version: u32) -> Result<T, InvalidState> {
    #[derive(Deserialize)]
    struct Form {
        version: u32,
    }
    let form: Form = serde_json::from_str(text)?;
    if form.version != version {
        return Err(InvalidState::OtherVersion(form.version));
    }
    Ok(serde_json::from_str(text)?)
}
