//! The reasons why an archived file cannot be restored.

/// An archived file that cannot be restored.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The archived name is not one that discovery produces.
    #[error("`{0}` is not the archived name of an agent's file")]
    NotAnArchiveName(String),
    /// The path leads out of the folder that it must stay in.
    #[error("`{0}` leads out of the agent's folder")]
    Escapes(String),
}
