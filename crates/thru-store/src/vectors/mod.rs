//! Vectors of texts: embeddings by a language model, to find texts with similar meaning.
//!
//! They are only a cache: a vector is identified by a key, which is a hash of the text that it was made
//! from, and is stored in a folder for its model. It refers to no row of the store, so that vectors
//! survive a rebuild, and anything lost or damaged is made again from the texts. One process at a time
//! writes (see [`VectorWriter`]); [`Vectors`] takes no lock and keeps using the files that it opened.
//!
//! A folder holds immutable segments, `<number>.vectors` (see `segment.rs` for their format). A long
//! text has several vectors, one for each chunk: its key then occurs several times in a row. Vectors
//! are kept as 8-bit integers, which costs hardly any recall, and as their signs alone, to skip most of
//! them quickly.
//!
//! This module must not know models, embedded texts, or the owner of a key.

mod best;
mod compose;
mod folder;
mod kernel;
mod merging;
mod models;
mod quantised;
mod scope;
mod search;
mod segment;
#[cfg(test)]
mod tests;
mod writer;

use std::path::PathBuf;

pub use models::ModelFolder;
pub use quantised::Query;
pub use scope::Among;
pub use search::Vectors;
pub use writer::VectorWriter;

use crate::error::{Result, StoreError};

/// The maximum number of vectors of a text.
pub const MOST_CHUNKS: usize = 8;

/// Returns the key of a text, which identifies its vectors. Never 0, which means no text.
pub fn text_key(text: &str) -> u64 {
    let mut key = [0; 8];
    key.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(key).max(1)
}

/// The maximum number of dimensions. Models that run beside an editor have some hundred; twice as many
/// as the largest known keeps every sum of products far from overflowing 32 bits.
const MOST_DIMENSIONS: usize = 8_192;

/// A segment that cannot be used. Its texts have to be embedded again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentProblem {
    /// The file.
    pub path: PathBuf,
    /// A description of the problem.
    pub detail: String,
}

/// The common properties of all vectors of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    dimensions: usize,
    /// The first half of a hash of the model's name.
    model: [u8; 16],
}

impl Shape {
    fn new(dimensions: usize, model: &str) -> Result<Self> {
        if dimensions == 0 || dimensions > MOST_DIMENSIONS || !dimensions.is_multiple_of(8) {
            return Err(StoreError::Vectors {
                detail: format!(
                    "{dimensions} dimensions, not a multiple of 8 up to {MOST_DIMENSIONS}"
                ),
            });
        }
        let mut half = [0; 16];
        half.copy_from_slice(&blake3::hash(model.as_bytes()).as_bytes()[..16]);
        Ok(Self { dimensions, model: half })
    }
}
