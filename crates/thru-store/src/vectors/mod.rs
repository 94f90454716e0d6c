//! Vectors of texts: what a model of language made of them, to find texts that mean the same.
//!
//! A cache and nothing else: a vector is named by a key, which is a hash of the text that it was made
//! from, and lies in a folder of its model. No row of the store is named here, so that vectors outlive a
//! rebuild, and whatever is lost or damaged is made again from the texts. One process at a time writes
//! (see [`VectorWriter`]); [`Vectors`] takes no lock and goes on with what it opened.
//!
//! A folder holds immutable segments, `<number>.vectors` (see `segment.rs` for their form). A long text
//! has several vectors, one for each chunk: its key then occurs several times, next to each other.
//! Vectors are kept as whole numbers of 8 bits, which costs next to nothing of what is found, and as
//! their signs alone, to pass over most of them quickly.
//!
//! Nothing here may know a model, what is embedded, or whom a key belongs to.

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

/// The most vectors that one text may have.
pub const MOST_CHUNKS: usize = 8;

/// The key of a text: what its vectors are called. Never 0, which stands for no text.
pub fn text_key(text: &str) -> u64 {
    let mut key = [0; 8];
    key.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(key).max(1)
}

/// The most dimensions of a vector. Models that run beside an editor have some hundred; twice as many
/// as the largest known keeps every sum of products far from the end of 32 bits.
const MOST_DIMENSIONS: usize = 8_192;

/// A segment that cannot be used. Its texts are to be embedded again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentProblem {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub detail: String,
}

/// What all vectors of a folder have in common.
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
                    "{dimensions} dimensions; a multiple of 8 up to {MOST_DIMENSIONS} can be kept"
                ),
            });
        }
        let mut half = [0; 16];
        half.copy_from_slice(&blake3::hash(model.as_bytes()).as_bytes()[..16]);
        Ok(Self { dimensions, model: half })
    }
}
