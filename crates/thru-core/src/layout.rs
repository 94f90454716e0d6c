//! Where things lie inside the data directory. Names only: nothing here touches the disk.

use std::path::{Path, PathBuf};

/// The layout of one data directory (`$THROUGHLINE_HOME`).
#[derive(Clone, Debug)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    /// The layout below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The data directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Segments of the journal.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }

    /// Compressed copies of the agents' transcripts, a folder per agent.
    pub fn archive(&self) -> PathBuf {
        self.root.join("archive")
    }

    /// The SQLite database of the store.
    pub fn database(&self) -> PathBuf {
        self.root.join("memory.db")
    }

    /// The text index.
    pub fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    /// Vectors of texts, a folder per model.
    pub fn vectors(&self) -> PathBuf {
        self.root.join("vectors")
    }

    /// The user's rules of redaction, for hooks: a copy of what the journal says.
    pub fn rules(&self) -> PathBuf {
        self.root.join("rules.json")
    }

    /// Notes of summaries that are still to be written into projects, and of projects where that is not
    /// possible.
    pub fn summaries(&self) -> PathBuf {
        self.run().join("summaries")
    }

    /// Locks, and the notes that hooks leave for each other.
    pub fn run(&self) -> PathBuf {
        self.root.join("run")
    }
}
