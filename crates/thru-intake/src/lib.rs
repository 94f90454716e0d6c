//! Intake: the only writer of the store. Journal and archive in, rows out, exactly once.
//!
//! Whoever has something to bring in (import, later hooks and the daemon) calls this crate, which
//! holds the intake lock while it works. A file of an agent is first copied to the archive; the store
//! is then made from the archive's lines, and the cursor that says how far moves in the same
//! transaction as the rows (invariant I-3). Killed at any point, the next run goes on from there.
//!
//! It must not rank, print, or ask the environment for anything.

mod adopt;
mod compactions;
mod copy;
mod decisions;
mod distilling;
mod embedding;
mod error;
mod events;
mod excerpts;
mod forget;
pub mod identity;
mod import;
mod indexing;
mod jobs;
mod laying_over;
mod lock;
mod operations;
mod pending;
mod plan;
mod projector;
mod rebuild;
mod reclean;
mod refining;
mod restore;
mod sessions;
mod snapshots;
mod stages;
mod traces;
mod verify;
mod write;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thru_core::{Clock, Id, Layout, SessionKey, SourceKind, Timestamp};
use thru_journal::archive::{Archive, EntryName};
use thru_journal::journal::{Journal, Sealed};
use thru_redact::{Clean, Redactor, Report, UserRule};

use decisions::Decisions;
use thru_store::{SourceRecord, SourceRow, Store};

pub use adopt::{Adopted, Exported};
pub use compactions::Moment;
pub use distilling::{DistilProgress, Which};
pub use embedding::{Coverage, Embedded, Embedding};
pub use error::{IntakeError, Result};
pub use excerpts::CodeExcerpt;
pub use forget::Forgotten;
pub use import::{How, ImportReport, Progress};
pub use lock::IntakeLock;
pub use operations::{Operation, Refined, RetiredEpisode, Told};
pub use pending::Pending;
pub use plan::{Plan, SourceProblem};
pub use rebuild::RebuildReport;
pub use reclean::Recleaned;
pub use refining::{Again, REUSED};
pub use restore::Restored;
pub use sessions::{Indexed, IndexedSessions};
pub use snapshots::Before;
pub use stages::{Stage, Stages};
pub use traces::{Part, Scan, Trace};
pub use verify::{Finding, Verification};

/// Everything that intake works with. Made by the binary; nothing here comes from the environment.
pub struct Intake {
    layout: Layout,
    archive: Archive,
    journal: Journal,
    redactor: Redactor,
    /// Stands for the rules of the redactor, without what was given for one command only.
    fingerprint: String,
    given: Option<reclean::Given>,
    rules: BTreeMap<String, String>,
    forgotten: HashSet<SessionKey>,
    clock: Arc<dyn Clock>,
    options: Options,
}

/// How to work.
#[derive(Clone, Debug)]
pub struct Options {
    /// Keep transcripts in the archive exactly as they are.
    pub verbatim: bool,
    /// Threads that read and compress.
    pub threads: usize,
    /// The user's home directory: a repository there does not swallow what lies below it.
    pub home: Option<PathBuf>,
    /// What tells this machine's journal segments from another's.
    pub host: String,
    /// Regular expressions of what is never redacted.
    pub allow: Vec<String>,
    /// Make observations and summaries.
    pub distil: bool,
    /// When a session is idle, or over.
    pub limits: thru_lifecycle::Limits,
    /// Index sessions that were left without being asked.
    pub index_left: bool,
    /// Have a model asked about what happened since then; never, where there is none.
    pub refine_since: Option<Timestamp>,
    /// Have what is known of sessions delivered that went on since then; never, where there is none.
    pub deliver_since: Option<Timestamp>,
    /// Reads the name that a project's own file gives, if it gives one.
    pub declared: Declared,
}

/// Reads the name that a project's own file gives its project, if it gives one.
#[derive(Clone)]
pub struct Declared(Arc<NameOf>);

type NameOf = dyn Fn(&Path) -> Option<String> + Send + Sync;

impl Declared {
    /// Reads names by this function.
    pub fn by(read: impl Fn(&Path) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// No project has a file of its own.
    pub fn never() -> Self {
        Self::by(|_| None)
    }

    fn read(&self, file: &Path) -> Option<String> {
        (self.0)(file)
    }
}

impl std::fmt::Debug for Declared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Declared")
    }
}

impl Intake {
    /// Puts the parts together, with the rules of redaction that the journal holds. Nothing is created
    /// before there is something to write.
    ///
    /// # Errors
    /// Where the journal cannot be read, or a rule or the host's name cannot be used.
    pub fn new(layout: Layout, clock: Arc<dyn Clock>, options: Options) -> Result<Self> {
        let store = Store::open_to_read(&layout).ok();
        Self::beside(store.as_ref(), layout, clock, options)
    }

    /// The same beside the store of this home, if there is one that can be read.
    ///
    /// # Errors
    /// As [`Intake::new`].
    pub fn beside(
        store: Option<&Store>,
        layout: Layout,
        clock: Arc<dyn Clock>,
        options: Options,
    ) -> Result<Self> {
        let journal = Journal::open(layout.journal(), &options.host)?;
        let Decisions { rules, forgotten, .. } = decisions::decisions(store, &journal)?;
        let user_rules: Vec<UserRule> = rules
            .iter()
            .map(|(name, pattern)| UserRule { name: name.clone(), pattern: pattern.clone() })
            .collect();
        let redactor = Redactor::new(&user_rules, &options.allow)?;
        Ok(Self {
            archive: Archive::new(layout.archive()),
            fingerprint: redactor.fingerprint(),
            redactor,
            given: None,
            journal,
            layout,
            rules,
            forgotten,
            clock,
            options,
        })
    }

    /// The redactor, with the user's rules.
    pub const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The user's rules of redaction: patterns by name.
    pub const fn rules(&self) -> &BTreeMap<String, String> {
        &self.rules
    }

    /// Sessions that the user had forgotten.
    pub fn forgotten(&self) -> impl Iterator<Item = &SessionKey> {
        self.forgotten.iter()
    }

    /// Where everything lies.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A record that a passage was made from, cleaned by today's rules: a line of an archived file, or
    /// what a hook recorded.
    ///
    /// # Errors
    /// Where archive or journal cannot be read.
    pub fn source_record(
        &self,
        source: &SourceRow,
        record: &SourceRecord,
    ) -> Result<Option<Clean<Vec<u8>>>> {
        match source.kind {
            SourceKind::Hooks => self.recorded_event(record.id.as_str()),
            _ => self.archived_record(&source.entry, record.line),
        }
    }

    /// The record on a line (from 1) of an archived file, cleaned by today's rules.
    ///
    /// # Errors
    /// Where the archive cannot be read.
    pub fn archived_record(&self, entry: &str, line: u64) -> Result<Option<Clean<Vec<u8>>>> {
        let Ok(entry) = EntryName::new(entry) else { return Ok(None) };
        let Some(mut reader) = self.archive.reader(&entry)? else { return Ok(None) };
        let record = reader.read_line(line.saturating_sub(1))?;
        Ok(record.map(|record| self.redactor.clean_json_line(&record, &mut Report::default())))
    }

    /// Compresses the segments of the journal that get no more records.
    ///
    /// # Errors
    /// Where the journal cannot be read or written.
    pub fn seal_journal(&self, _lock: &IntakeLock) -> Result<Sealed> {
        Ok(self.journal.seal()?)
    }

    /// A name for a new store that no other store in this home has.
    fn new_generation(&self) -> Id {
        let now = self.clock.now().as_nanosecond().to_le_bytes();
        let process = std::process::id().to_le_bytes();
        Id::derive(&[b"generation", &now, &process])
    }
}
