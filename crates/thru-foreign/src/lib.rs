//! Memories of other programs, read so that they can be imported.
//!
//! It must not write, not even beside the files it reads where that can be avoided, and does not fail for what a single
//! row or file holds.

mod claude_mem;
mod folders;
pub mod markdown;

use std::collections::BTreeSet;
use std::path::PathBuf;

use thru_core::{Concept, ForeignSource, ObservationType, Timestamp};

pub use claude_mem::read as read_claude_mem;
pub use folders::{basic_memory_folders, read as read_markdown};

/// A memory as another program keeps it. Nothing of it is redacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignMemory {
    /// Its name there, as people see it.
    pub name: String,
    /// The name, made unique among machines: it stays when the memory is read again.
    pub identity: String,
    /// The number of things that it stands for, and the kind of them.
    pub holds: Holds,
    /// One line.
    pub title: String,
    /// The text below the title.
    pub text: Option<String>,
    /// The type, translated.
    pub kind: Option<ObservationType>,
    /// Single facts.
    pub facts: Vec<String>,
    /// The kinds of knowledge in it.
    pub concepts: BTreeSet<Concept>,
    /// The files that were read.
    pub files_read: Vec<String>,
    /// The files that were changed.
    pub files_modified: Vec<String>,
    /// The time when it was made.
    pub at: Option<Timestamp>,
    /// The project's name there.
    pub project: Option<String>,
    /// The id that the coding agent gave to the session it comes from.
    pub session: Option<String>,
}

/// The contents of a memory, counted so that an import can be compared with its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holds {
    /// An observation.
    #[default]
    Observation,
    /// The summary of a session.
    Summary,
    /// So many prompts of a session.
    Prompts(u64),
    /// A note, or a part of one.
    Note,
}

/// The memories of another program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignMemories {
    /// The memories, in the order in which they are kept there.
    pub memories: Vec<ForeignMemory>,
    /// Rows and files without any text.
    pub empty: u64,
    /// Files that could not be read, and why.
    pub problems: Vec<(PathBuf, String)>,
}

/// An error that leaves nothing to read.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// The database cannot be opened or read.
    #[error("{path} cannot be read: {source}")]
    Database {
        /// The database.
        path: PathBuf,
        /// The reason.
        #[source]
        source: rusqlite::Error,
    },
    /// The database is of another program.
    #[error("{path} is no database of {program}")]
    OtherProgram {
        /// The database.
        path: PathBuf,
        /// The program.
        program: ForeignSource,
    },
}

/// Characters of a text that are kept. Longer ones come from no memory.
const LONGEST: usize = 100_000;

/// Returns the text without blanks around it, `None` if nothing is left.
fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(LONGEST).collect())
}
