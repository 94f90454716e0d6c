//! The layout of the data directory. Paths only: nothing here touches the disk.

use std::path::{Path, PathBuf};

/// The layout of one data directory (`$THROUGHLINE_HOME`).
#[derive(Clone, Debug)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    /// Returns the layout below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the data directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of the journal's segments.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }

    /// Returns the directory of the archived transcripts, which has a folder for each agent.
    pub fn archive(&self) -> PathBuf {
        self.root.join("archive")
    }

    /// Returns the path of the SQLite database.
    pub fn database(&self) -> PathBuf {
        self.root.join("memory.db")
    }

    /// Returns the directory of the text index.
    pub fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    /// Returns the directory of the vectors, which has a folder for each model.
    pub fn vectors(&self) -> PathBuf {
        self.root.join("vectors")
    }

    /// Returns the path of the user's redaction rules for hooks: a copy of those in the journal.
    pub fn rules(&self) -> PathBuf {
        self.root.join("rules.json")
    }

    /// Returns the path of the notes on summaries still to be written into projects, and on projects
    /// where that is impossible.
    pub fn summaries(&self) -> PathBuf {
        self.run().join("summaries")
    }

    /// Returns the directory of locks, and of the notes that hooks leave for each other.
    pub fn run(&self) -> PathBuf {
        self.root.join("run")
    }
}
