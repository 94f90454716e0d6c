//! Texts to vectors: what means the same lies near each other, whatever words it uses.
//!
//! An [`Embedder`] is the bundled sentence model ([`MiniLm`], run in this process) or a server that the
//! user configured ([`Served`]). Vectors of two models have nothing to do with each other; so each model has
//! a name of its own, and whoever keeps vectors keeps them apart by it.
//!
//! It must not know what the texts are or where vectors are kept, read the environment, or reach for any
//! network that was not configured.

mod error;
mod minilm;
mod served;

use std::sync::atomic::AtomicBool;

pub use error::EmbedError;
pub use minilm::{
    DIMENSIONS as BUNDLED_DIMENSIONS, MiniLm, NAME as BUNDLED, Use, check as check_model,
};
pub use served::{Dialect, Served, ServedSettings};

/// Something that turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// The name of the model with everything that its vectors depend on: lower-case letters, digits, `-`
    /// and `.`, usable as the name of a folder.
    fn model(&self) -> &str;

    /// How many components a vector has, as far as that is known before the first one was made.
    fn dimensions(&self) -> Option<usize>;

    /// A vector of unit length for each text, in their order. What a model cannot take in at once it
    /// leaves out at the end of the text.
    ///
    /// # Errors
    /// When the model fails, or `stop` was set meanwhile.
    fn embed(&self, texts: &[&str], stop: &AtomicBool) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Scales a vector to unit length. One of nothing but zeros stays as it is.
fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
}
