//! A model that is loaded, and the one that a process keeps for its own questions.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use thru_embed::{EmbedError, Embedder, MiniLm, ModelFiles, Served};
use thru_recall::QueryEmbedding;

use crate::app::App;

/// A model that is ready.
pub(super) enum Model {
    Bundled(MiniLm),
    Served(Arc<Served>),
}

impl Model {
    pub(super) fn as_embedder(&self) -> &dyn Embedder {
        match self {
            Self::Bundled(model) => model,
            Self::Served(model) => model.as_ref(),
        }
    }

    /// The same on threads of their own, which have the priority of who asks, and do not wait for others.
    pub(super) fn with_threads(&self, threads: usize) -> Self {
        match self {
            Self::Bundled(model) => Self::Bundled(model.with_threads(threads)),
            Self::Served(model) => Self::Served(Arc::clone(model)),
        }
    }

    /// The vector of one text.
    pub(super) fn vector(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let vectors = self.as_embedder().embed(&[text], &AtomicBool::new(false))?;
        let none = || EmbedError::Failed("it gave no vector".to_owned());
        vectors.into_iter().next().ok_or_else(none)
    }
}

/// A daemon's model, asked within its process.
pub trait Embeds: Send + Sync {
    /// Embeds a query, by the settings of this application.
    ///
    /// # Errors
    /// Fails if embedding is off, or the model cannot embed it; the text says why.
    fn embed(&self, app: &App, text: &str) -> QueryEmbedding;
}

/// The bundled model as this process uses it for its own questions. Files of a folder stay mapped once they are, so
/// that there is one of it; a server is asked anew each time.
#[derive(Clone, Default)]
pub struct OwnModel {
    mapped: Arc<Mutex<Option<Mapped>>>,
    pub(super) daemon: Option<Arc<dyn Embeds>>,
}

/// The files, and the model that was loaded from them.
type Mapped = (ModelFiles, Arc<Model>);

impl OwnModel {
    /// The model of the daemon that this process is: a second one would take as much memory again, and stay.
    pub fn of_daemon(daemon: Arc<dyn Embeds>) -> Self {
        Self { daemon: Some(daemon), ..Self::default() }
    }

    /// Loads these files, unless they are mapped.
    pub(super) fn bundled(
        &self,
        files: &ModelFiles,
        load: impl FnOnce() -> Result<Model, EmbedError>,
    ) -> Result<Arc<Model>, EmbedError> {
        let mut known = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref().filter(|(from, _)| from == files) {
            Some((_, model)) => Ok(Arc::clone(model)),
            None => Ok(Arc::clone(&known.insert((files.clone(), Arc::new(load()?))).1)),
        }
    }
}
