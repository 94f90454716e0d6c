//! Settings: what can be set, what it means, and where each value came from.
//!
//! Every setting is one row of [`SETTINGS`]; parsing, `thru config` and the documentation all read that
//! table. This crate works on text: who reads which file is the caller's business (invariant I-9).

mod document;
mod embedding;
mod models;
mod resolve;
mod settings;
mod value;

pub use document::{EditError, set_value};
pub use embedding::{EmbeddingProvider, EmbeddingSettings};
pub use models::{Limit, Limits, McpSink, Models};
pub use resolve::{Config, Layer, Loaded, Note, Origin, Resolved, load};
pub use settings::{SETTINGS, Setting, find};
pub use value::{Kind, Value};
