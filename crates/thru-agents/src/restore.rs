//! Errors of putting an archived file back.

/// The file cannot be put back.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// Its name in the archive is not one that discovery gives.
    #[error("`{0}` is not the archived name of an agent's file")]
    NotAnArchiveName(String),
    /// Its path leads out of the folder that it must stay in.
    #[error("`{0}` leads out of the agent's folder")]
    Escapes(String),
}
