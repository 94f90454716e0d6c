//! The file of the running program: an upgrade replaces it, and a daemon of the old one should not live on
//! for days.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::paths::{FileVersion, file_version};

/// The program file as it was when the daemon started.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    was: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    id: FileVersion,
    length: u64,
    modified: Option<SystemTime>,
}

/// The state of the program file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramState {
    Same,
    Replaced,
    Gone,
}

impl Program {
    /// Records the current file of the program at a path.
    ///
    /// # Errors
    /// Fails if the file cannot be examined.
    pub fn at(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), was: State::of(path)? })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a mark that tells this build from others of the same version.
    pub fn build(&self) -> String {
        let modified =
            self.was.modified.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        format!("{:x}-{:x}", self.was.length, modified.map_or(0, |at| at.as_secs()))
    }

    pub(crate) fn state(&self) -> ProgramState {
        match State::of(&self.path) {
            Ok(state) if state == self.was => ProgramState::Same,
            Ok(_) => ProgramState::Replaced,
            Err(error) if error.kind() == io::ErrorKind::NotFound => ProgramState::Gone,
            // Unreadable: assume no change.
            Err(_) => ProgramState::Same,
        }
    }
}

impl State {
    fn of(path: &Path) -> io::Result<Self> {
        let file = std::fs::metadata(path)?;
        Ok(Self { id: file_version(&file), length: file.len(), modified: file.modified().ok() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_replaced_or_removed_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thru");
        std::fs::write(&path, "old").unwrap();
        let program = Program::at(&path).unwrap();
        assert_eq!(program.state(), ProgramState::Same);
        std::fs::write(folder.path().join("new"), "new").unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        assert_eq!(program.state(), ProgramState::Replaced);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(program.state(), ProgramState::Gone);
    }
}
