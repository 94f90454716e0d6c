//! Intake: the only writer of the store. Journal and archive in, rows out, exactly once.
//!
//! Everything that ingests data (imports, hooks, the daemon) calls this crate, which holds the intake lock
//! while it works. An agent's file is first copied to the archive; the store is then made from the
//! archive's lines, and the cursor of that file moves in the same transaction as the rows (invariant I-3).
//! After a kill at any point, the next run resumes from there.
//!
//! It must not rank, print, or ask the environment for anything.

mod adopt;
mod cleaning;
mod commits;
mod compactions;
mod copy;
mod decisions;
mod distil;
mod embedding;
mod error;
mod events;
mod excerpts;
mod forget;
pub mod identity;
mod import;
mod imported;
mod indexing;
mod jobs;
mod lock;
mod loss;
mod operations;
mod overlay;
mod parts;
mod pending;
mod plan;
mod projection;
mod projector;
mod rebuild;
mod redact;
mod refine;
mod restore;
mod scan;
mod sessions;
mod snapshots;
mod stages;
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
use projection::Projections;
use sessions::Indexer;
use thru_store::{SourceRecord, SourceRow, Store};

pub use adopt::{Adopted, Exported};
pub use cleaning::{Cleaned, Cleaning};
pub use compactions::CompactionMoment;
pub use distil::{DistilProgress, DistilScope};
pub use embedding::{Coverage, Embedded, Embedding};
pub use error::{IntakeError, Result};
pub use excerpts::CodeExcerpt;
pub use forget::Forgotten;
pub use import::{ImportOptions, ImportReport, Progress};
pub use imported::ImportedMemory;
pub use lock::IntakeLock;
pub use loss::{Loss, OnLoss};
pub use operations::{
    LineChange, Operation, RecordedMemory, Refined, RetiredEpisode, Triplet, WrittenIn,
};
pub use pending::Pending;
pub use plan::{Plan, SourceProblem};
pub use projection::{Projection, SessionContent, SharedProjection, projections};
pub use rebuild::RebuildReport;
pub use redact::RedactionReport;
pub use refine::{REUSED, RetryPolicy};
pub use restore::Restored;
pub use scan::{DataPart, Scan, Trace};
pub use sessions::{Indexed, IndexedSessions};
pub use snapshots::SnapshotEnd;
pub use stages::{Stage, Stages};
pub use verify::{Depth, Finding, Verification};

/// The context that intake works in. Made by the binary; nothing here comes from the environment.
pub struct Intake {
    layout: Layout,
    archive: Archive,
    journal: Journal,
    redactor: Redactor,
    /// The fingerprint of the redactor's rules, without those given for one command only.
    fingerprint: String,
    given: Option<redact::Given>,
    rules: BTreeMap<String, String>,
    forgotten: HashSet<SessionKey>,
    clock: Arc<dyn Clock>,
    options: Options,
}

/// Options of intake.
#[derive(Clone)]
pub struct Options {
    /// Keep transcripts in the archive exactly as they are.
    pub verbatim: bool,
    /// Threads that read and compress.
    pub threads: usize,
    /// The user's home directory: a repository there does not claim the folders below it.
    pub home: Option<PathBuf>,
    /// The name that tells this machine's journal segments from those of others.
    pub host: String,
    /// Regular expressions for text that is never redacted.
    pub allow: Vec<String>,
    /// Make observations and summaries.
    pub distil: bool,
    /// Limits after which a session is idle, or over.
    pub limits: thru_lifecycle::Limits,
    /// Index sessions that were left, without being asked.
    pub index_left: bool,
    /// Ask a model about turns and sessions since then; `None` for never.
    pub refine_since: Option<Timestamp>,
    /// Deliver sessions that continued since then; `None` for never.
    pub deliver_since: Option<Timestamp>,
    /// Reads the project name from a project's own file.
    pub declared: Declared,
    /// Projections beside episodes; see [`projections`].
    pub projections: Vec<SharedProjection>,
}

impl Options {
    /// The options that hold without settings: distil and index all, ask no model, deliver nowhere.
    pub fn new(host: impl Into<String>, threads: usize) -> Self {
        Self {
            verbatim: false,
            threads,
            home: None,
            host: host.into(),
            allow: Vec::new(),
            distil: true,
            limits: thru_lifecycle::Limits::default(),
            index_left: true,
            refine_since: None,
            deliver_since: None,
            declared: Declared::never(),
            projections: projections(),
        }
    }
}

/// Reads the name of a project from its own file, if the file gives one.
#[derive(Clone)]
pub struct Declared(Arc<NameOf>);

type NameOf = dyn Fn(&Path) -> Option<String> + Send + Sync;

impl Declared {
    /// Reads names with this function.
    pub fn by(read: impl Fn(&Path) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// Reads no names.
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
    /// Combines the parts with the redaction rules of the journal. Creates nothing before there is
    /// something to write.
    ///
    /// # Errors
    /// Fails if the journal cannot be read, or a rule or the host's name is invalid.
    pub fn new(layout: Layout, clock: Arc<dyn Clock>, options: Options) -> Result<Self> {
        let store = Store::open_to_read(&layout).ok();
        Self::with_store(store.as_ref(), layout, clock, options)
    }

    /// [`Intake::new`] with the store of this home at hand, if one can be read.
    ///
    /// # Errors
    /// See [`Intake::new`].
    pub fn with_store(
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

    /// The user's redaction rules: patterns by name.
    pub const fn rules(&self) -> &BTreeMap<String, String> {
        &self.rules
    }

    /// Sessions that the user had forgotten.
    pub fn forgotten(&self) -> impl Iterator<Item = &SessionKey> {
        self.forgotten.iter()
    }

    /// The layout of the data directory.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the record that a passage was made from, cleaned by today's rules: a line of an archived
    /// file, or a hook's record.
    ///
    /// # Errors
    /// Fails if the archive or the journal cannot be read.
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

    /// Returns the record on a line (from 1) of an archived file, cleaned by today's rules.
    ///
    /// # Errors
    /// Fails if the archive cannot be read.
    pub fn archived_record(&self, entry: &str, line: u64) -> Result<Option<Clean<Vec<u8>>>> {
        let Ok(entry) = EntryName::new(entry) else { return Ok(None) };
        let Some(mut reader) = self.archive.reader(&entry)? else { return Ok(None) };
        let record = reader.read_line(line.saturating_sub(1))?;
        Ok(record.map(|record| self.redactor.clean_json_line(&record, &mut Report::default())))
    }

    /// Compresses the journal segments that get no more records.
    ///
    /// # Errors
    /// Fails if the journal cannot be read or written.
    pub fn seal_journal(&self, _lock: &IntakeLock) -> Result<Sealed> {
        Ok(self.journal.seal()?)
    }

    /// Returns the projections of a run with this indexer.
    fn projections<'a>(&'a self, episodes: Indexer<'a>) -> Projections<'a> {
        Projections::new(episodes, &self.options.projections)
    }

    /// Returns a name for a new store that no other store in this home has.
    fn new_generation(&self) -> Id {
        let now = self.clock.now().as_nanosecond().to_le_bytes();
        let process = std::process::id().to_le_bytes();
        Id::derive(&[b"generation", &now, &process])
    }
}
