//! Directories and files that the user's settings leave out.

use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};
use thru_config::Note;
use thru_intake::identity::PROJECT_FILE;

use crate::app::{App, project_settings};
use crate::trouble::{Remedy, Result, Trouble};

/// The patterns of `capture.ignore`, and what project files say of their directories.
pub struct Exclusions {
    ignored: GlobSet,
}

impl Exclusions {
    /// The exclusions of the user's settings.
    ///
    /// # Errors
    /// Fails if a pattern cannot be used.
    pub fn from_config(app: &App) -> Result<Self> {
        Self::new(&app.config.capture.ignore)
    }

    /// The exclusions of these patterns.
    ///
    /// # Errors
    /// Fails if a pattern cannot be used.
    pub fn new(patterns: &[String]) -> Result<Self> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let glob = Glob::new(pattern).map_err(|error| {
                Trouble::invalid(format!(
                    "`capture.ignore` has a pattern that cannot be used: {error}"
                ))
                .with(Remedy::Set { key: "capture.ignore", value: None })
            })?;
            set.add(glob);
        }
        let ignored = set.build().map_err(|error| {
            Trouble::invalid(format!("`capture.ignore` has too many patterns: {error}"))
        })?;
        Ok(Self { ignored })
    }

    /// True if a file of an agent must never be read.
    pub fn apply_to_file(&self, path: &Path) -> bool {
        self.ignored.is_match(path)
    }

    /// True if the patterns leave out a directory: `a/**` means `a` as well as what lies below it.
    pub fn match_directory(&self, directory: &Path) -> bool {
        self.ignored.is_match(directory) || self.ignored.is_match(directory.join("any"))
    }

    /// True if the history of a directory must not be read: the patterns say so, or its project's own file, which may
    /// say it where it cannot be understood.
    pub fn apply_to(&self, directory: &Path) -> bool {
        self.match_directory(directory)
            || directory
                .ancestors()
                .map(|ancestor| ancestor.join(PROJECT_FILE))
                .find(|file| file.is_file())
                .and_then(|file| project_settings(&file))
                .is_some_and(|project| {
                    let is_unclear = project.notes.iter().any(Note::is_about_what_is_kept);
                    project.config.capture.off || is_unclear
                })
    }
}
