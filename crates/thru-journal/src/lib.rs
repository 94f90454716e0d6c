//! The durable data: the journal and the archive.
//!
//! - [`journal`]: an append-only log of what cannot be computed again.
//! - [`archive`]: compressed copies of the agents' own transcript files, taken as they grow.
//!
//! Both are plain files that ordinary tools can read: a journal segment is one record a line, and `zstd
//! -dc` turns an archive file back into the transcript. Everything else that Throughline keeps is
//! derived from these two.
//!
//! This crate does not know what the records mean, and it does not access the environment, the wall
//! clock or the home directory: paths, names and times are arguments (invariant I-9). Text comes in as
//! [`Clean`](thru_redact::Clean), or as explicitly verbatim blocks of the archive (I-5).

pub mod archive;
mod checked;
mod error;
pub mod files;
pub mod journal;

pub use error::{Error, Result};
