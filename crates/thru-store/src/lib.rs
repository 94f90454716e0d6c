//! The store: one SQLite database for records and, beside it, a text index and vectors.
//!
//! Database and index are projections of journal and archive, the vectors a cache: all may be thrown
//! away at any time (invariant I-4).
//!
//! This crate hides SQL and Tantivy: callers see rows and hits in the vocabulary of `thru-core`. Only
//! `thru-intake` writes (it holds the intake lock); all crates may read. It must not read transcripts,
//! rank results or print.
//!
//! What reads fails if the database cannot be read, and what writes if it cannot be written. Functions say how they fail
//! only where they fail otherwise.

#![expect(
    clippy::missing_errors_doc,
    reason = "the usual errors are named above, once for all functions"
)]

mod error;
mod files;
pub mod index;
mod query;
mod readers;
mod schema;
mod statements;
mod store;
mod text;
pub mod vectors;
mod write;

pub use error::{Result, StoreError};
pub use query::*;
pub use readers::Readers;
pub use schema::{NEWEST as SCHEMA_VERSION, Progress};
pub use store::{Snapshot, Store, StoreFile};
pub use write::{
    Batch, CompactionEvent, Fate, LifecycleEvent, NewEvent, NewImport, NewMemory, NewOpening,
    NewRefinement, NewTurn, OpenEvent, ReportedCompaction, SourceStamp, StoredOpening,
    TranscriptPassage, UnfoldedKey, Written,
};
