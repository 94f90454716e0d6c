//! A model that is loaded when it is first used, and may be let go between.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::trouble::{Result, Trouble};
use thru_daemon::release_pages;
use thru_embed::{BUNDLED_DIMENSIONS, EmbedError, Embedder, LoadMode};

use super::chosen::Chosen;
use super::own::Model;
use crate::app::App;

/// The chosen model, loaded when it is first used, and again after it was let go.
pub struct Lazy {
    chosen: Chosen,
    name: String,
    threads: usize,
    loaded: Mutex<Option<Loaded>>,
    /// Held by who asks for one text: a server that does not answer must not take up all who could ask.
    asking: Mutex<()>,
}

#[derive(Clone)]
struct Loaded {
    model: Arc<Model>,
    used: Instant,
}

impl Lazy {
    /// The chosen model on so many threads.
    pub fn new(chosen: Chosen, threads: usize) -> Self {
        let name = chosen.model();
        let (loaded, asking) = (Mutex::new(None), Mutex::new(()));
        Self { chosen, name, threads, loaded, asking }
    }

    /// Whose it is.
    pub const fn chosen(&self) -> &Chosen {
        &self.chosen
    }

    fn loaded(&self) -> Result<Loaded, EmbedError> {
        let mut slot = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let mut loaded = match slot.take() {
            Some(loaded) => loaded,
            None => {
                let model = Arc::new(self.chosen.load(LoadMode::Verified, self.threads)?);
                // They were packed, and are needed no more.
                release_pages();
                Loaded { model, used: Instant::now() }
            }
        };
        loaded.used = Instant::now();
        *slot = Some(loaded.clone());
        Ok(loaded)
    }

    /// Embeds a query, beside other users of the model.
    ///
    /// # Errors
    /// Fails if the model cannot be loaded or asked.
    pub fn question(&self, app: &App, text: &str) -> Result<Vec<f32>> {
        let text = self.chosen.cleaned(app, text)?;
        let _asking = match self.chosen {
            Chosen::Bundled(_) => Some(self.asking.lock().unwrap_or_else(PoisonError::into_inner)),
            Chosen::Served(..) => match self.asking.try_lock() {
                Ok(asking) => Some(asking),
                Err(_) => {
                    return Err(Trouble::busy("the embedding server is already being asked"));
                }
            },
        };
        Ok(self.loaded()?.model.with_threads(1).vector(&text)?)
    }

    /// Drops the model after this time without use. Returns true if it is still loaded.
    pub fn let_go_after(&self, unused: Duration) -> bool {
        let mut slot = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_some_and(|loaded| loaded.used.elapsed() >= unused) {
            *slot = None;
        }
        slot.is_some()
    }
}

impl Embedder for Lazy {
    fn model(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> Option<usize> {
        match self.chosen {
            Chosen::Bundled(_) => Some(BUNDLED_DIMENSIONS),
            Chosen::Served(..) => None,
        }
    }

    fn embed(&self, texts: &[&str], stop: &AtomicBool) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.loaded()?.model.with_threads(self.threads).as_embedder().embed(texts, stop)
    }
}
