//! Saved reader state. It has a version, because a reader of another version cannot resume from it.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The saved state of a reader cannot be used. The file has to be read from its beginning.
#[derive(Debug, thiserror::Error)]
pub enum InvalidState {
    /// The text is not the state of a reader.
    #[error("the saved state of the reader is damaged")]
    Damaged(#[from] serde_json::Error),
    /// The state was saved by a reader of another version.
    #[error("the saved state of the reader has version {0}, which this build does not read")]
    OtherVersion(u32),
}

/// Parses state that a reader of this version saved.
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
