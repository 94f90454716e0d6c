//! Embeddings: texts to vectors, so that similar meanings lie near each other, whatever the words.
//!
//! An [`Embedder`] is the bundled sentence model ([`MiniLm`], run in this process) or a server that the
//! user configured ([`Served`]). Vectors of two models are not comparable; so each model has a name of
//! its own, and vectors must be stored apart by that name.
//!
//! This crate must not know what the texts are or where vectors are kept, read the environment, or use
//! any network that was not configured.

mod error;
mod minilm;
mod served;

use std::sync::atomic::AtomicBool;

pub use error::EmbedError;
pub use minilm::{
    DIMENSIONS as BUNDLED_DIMENSIONS, LoadMode, MiniLm, ModelFiles, NAME as BUNDLED,
    check as check_model, is_common_word, is_word,
};
pub use served::{Dialect, Served, ServedSettings};

/// A model that turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// Returns the name of the model with everything that its vectors depend on: lower-case letters,
    /// digits, `-` and `.`, usable as the name of a folder.
    fn model(&self) -> &str;

    /// Returns the number of components of a vector; `None` if it is unknown before the first one.
    fn dimensions(&self) -> Option<usize>;

    /// Returns a vector of unit length for each text, in order. Text beyond the model's context is cut
    /// off.
    ///
    /// # Errors
    ///
    /// Returns an error if the model fails or `stop` was set.
    fn embed(&self, texts: &[&str], stop: &AtomicBool) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Scales a vector to unit length. A zero vector stays as it is.
fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
}
