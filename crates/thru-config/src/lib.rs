//! Settings: their names, meaning and values, and the origin of each value.
//!
//! Every setting is one row in `settings.rs`, which makes it a field of [`Config`] and a row of [`SETTINGS`], from
//! which `thru config` and the documentation are made. This crate works on text: which file to read is up to the
//! caller (invariant I-9).

mod document;
mod models;
mod resolve;
mod settings;
mod types;
mod value;

pub use document::{EditError, set_value};
pub use models::{Limit, Limits, McpSink};
pub use resolve::{Layer, Loaded, Note, Origin, Resolved, load};
pub use settings::{
    Archive, Budget, Capture, Config, Context, Daemon, Distil, Embedding, Hooks, Journal, Models,
    Output, Owner, Project, Redact, SETTINGS, Search, Session, SessionTracking, Setting, Sinks,
    Summaries, find,
};
pub use types::{
    Color, EmbeddingProvider, Hours, Megabytes, Milliseconds, Minutes, Seconds, WorkerApi,
};
pub use value::{Kind, Value};
