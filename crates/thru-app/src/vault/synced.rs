//! The outcome of bringing vault and memory together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use thru_core::{Id, Timestamp};
use thru_vault::Loss;

use crate::answer;

/// The outcome of bringing vault and memory together.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "vault-synced")]
pub struct VaultSynced {
    version: u32,
    /// The folder of the vault.
    pub vault: PathBuf,
    /// Notes that were made.
    pub created: usize,
    /// Notes that were changed.
    pub changed: usize,
    /// Notes that are gone, because memory no longer holds what they were about.
    pub removed: usize,
    /// Notes that are as they should be.
    pub unchanged: usize,
    /// Notes that have to be changed, but were written by another program a moment ago.
    pub waiting: usize,
    /// The paths of these.
    #[serde(skip)]
    pub(super) waits: BTreeSet<String>,
    /// Changes of people that were taken in.
    pub taken: Taken,
    /// Notes that cannot be written, by path, and why.
    pub left: BTreeMap<String, String>,
    /// Conflict copies.
    pub copies: BTreeSet<String>,
    /// The notes that copies are of, with their paths, by the paths of the copies.
    #[serde(skip)]
    pub(super) forks: BTreeMap<String, (Id, String)>,
    /// The loss that was not taken in.
    pub loss: Option<LossFound>,
    /// Sessions that were compacted.
    pub compacted: Vec<CompactedNote>,
    /// Sessions that could not be.
    pub failed: Vec<FailedNote>,
    /// The time that it took, in milliseconds.
    pub milliseconds: u64,
    /// The time of the next look: notes that wait.
    #[serde(skip)]
    pub due: Option<Timestamp>,
    /// True if notes were compared with memory, and not only looked for changes of people.
    #[serde(skip)]
    pub is_compared: bool,
}

impl VaultSynced {
    /// The outcome for a vault before anything was done.
    pub(super) fn new(vault: &Path) -> Self {
        Self {
            version: answer::VERSION,
            vault: vault.to_owned(),
            created: 0,
            changed: 0,
            removed: 0,
            unchanged: 0,
            waiting: 0,
            waits: BTreeSet::new(),
            taken: Taken::default(),
            left: BTreeMap::new(),
            copies: BTreeSet::new(),
            forks: BTreeMap::new(),
            loss: None,
            compacted: Vec::new(),
            failed: Vec::new(),
            milliseconds: 0,
            due: None,
            is_compared: false,
        }
    }
}

impl VaultSynced {
    /// Notes that a note has to be changed later.
    pub(super) fn wait(&mut self, path: &str) {
        self.waiting += 1;
        self.waits.insert(path.to_owned());
    }
}

/// Numbers of changes that were taken in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// Lines with another text.
    pub edited: usize,
    /// New lines.
    pub told: usize,
    /// Lines that are gone.
    pub removed: usize,
    /// Tasks that were ticked, or opened again.
    pub ticked: usize,
    /// Notes that are gone.
    pub notes: usize,
    /// Sessions whose note has another status.
    pub statuses: usize,
}

impl Taken {
    /// True if nothing was.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns their sum.
    pub const fn sum(&self) -> usize {
        let Self { edited, told, removed, ticked, notes, statuses } = self;
        *edited + *told + *removed + *ticked + *notes + *statuses
    }
}

/// More that vanished at once than a person removes by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LossFound {
    /// Notes that are gone.
    pub notes: usize,
    /// Lines that are gone.
    pub lines: usize,
    /// Lines that there were.
    pub of: usize,
}

impl From<Loss> for LossFound {
    fn from(Loss { notes, lines, of }: Loss) -> Self {
        Self { notes, lines, of }
    }
}

/// A session whose note was compacted and archived.
#[derive(Clone, Debug, Serialize)]
pub struct CompactedNote {
    /// The session.
    pub session: String,
    /// Its note, as it was named.
    pub note: String,
    /// The limit that it reached; `None` if it was compacted by hand.
    pub reached: Option<String>,
    /// The notes that were given what it says.
    pub updated: Vec<String>,
    /// The path of the archived note.
    pub archived_to: String,
}

/// A session whose note could not be compacted or archived.
#[derive(Clone, Debug, Serialize)]
pub struct FailedNote {
    /// The session.
    pub session: String,
    /// The path of its note.
    pub note: String,
    /// True if only the archive failed.
    pub is_archive: bool,
    /// The error.
    pub error: String,
}
