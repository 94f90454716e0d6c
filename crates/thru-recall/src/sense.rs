//! What a question means: its vector among the vectors of texts.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use thru_core::Layout;
use thru_store::Result;
use thru_store::index::{Candidate, Question};
use thru_store::vectors::{Among, ModelFolder, Query, Vectors};

/// Texts that are looked at because they mean what the question means.
const NEAREST: usize = 200;

/// What a question means.
pub struct Sense {
    vectors: Arc<Vectors>,
    query: Query,
}

/// Vectors that stay open from one question to the next, for whoever is asked again and again: mapping some
/// hundred megabytes anew for each takes longer than to look for anything in them.
#[derive(Clone, Default)]
pub struct OpenVectors(Arc<Mutex<Option<Opened>>>);

/// The folder of a model, and what lies in it.
struct Opened {
    folder: PathBuf,
    vectors: Arc<Vectors>,
}

impl OpenVectors {
    /// The vectors of a folder as they are now.
    fn of(&self, folder: &Path, dimensions: usize, model: &str) -> Result<Arc<Vectors>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = known.as_ref()
            && opened.folder == folder
            && opened.vectors.is_current()?
        {
            return Ok(Arc::clone(&opened.vectors));
        }
        let vectors = Arc::new(Vectors::open(folder, dimensions, model)?);
        *known = Some(Opened { folder: folder.to_owned(), vectors: Arc::clone(&vectors) });
        Ok(vectors)
    }
}

impl std::fmt::Debug for OpenVectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OpenVectors")
    }
}

/// The vector of a question with the name of the model that made it; or why there is none, for people.
pub type Meant = std::result::Result<(String, Vec<f32>), String>;

/// Waits for what a question means, which is found out while its words are looked up.
pub type Awaited<'a> = Box<dyn FnOnce() -> Meant + 'a>;

/// What meaning did for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// Texts were compared.
    Used {
        /// By which model's vectors.
        model: String,
        /// How many vectors there are.
        vectors: usize,
    },
    /// Only words were looked for.
    Without {
        /// Why, for people.
        reason: String,
    },
}

impl Default for Semantics {
    fn default() -> Self {
        Self::Without { reason: "nobody asked for it".to_owned() }
    }
}

/// Nobody finds out what the question means.
pub fn words_only<'a>(reason: impl Into<String>) -> Awaited<'a> {
    let reason = reason.into();
    Box::new(move || Err(reason))
}

/// What a question means, opened when it is first wanted and kept for whoever wants it next.
pub(crate) struct Meaning<'a>(LazyCell<Found, Box<dyn FnOnce() -> Found + 'a>>);

type Found = (Option<Sense>, Semantics);

impl<'a> Meaning<'a> {
    pub(crate) fn new(layout: &'a Layout, open: &OpenVectors, awaited: Awaited<'a>) -> Self {
        let open = open.clone();
        Self(LazyCell::new(Box::new(move || match Sense::open(layout, &open, awaited()) {
            Ok((sense, semantics)) => (Some(sense), semantics),
            Err(reason) => (None, Semantics::Without { reason }),
        })))
    }

    /// Waits for it, the first time.
    pub(crate) fn sense(&self) -> Option<&Sense> {
        self.0.0.as_ref()
    }

    /// What it did; waits for it, the first time.
    pub(crate) fn semantics(&self) -> Semantics {
        self.0.1.clone()
    }
}

impl Sense {
    /// Opens the vectors of the model that made the question's.
    ///
    /// # Errors
    /// Why they cannot be compared, for people.
    pub fn open(
        layout: &Layout,
        open: &OpenVectors,
        meant: Meant,
    ) -> std::result::Result<(Self, Semantics), String> {
        let (model, vector) = meant?;
        let text = |error: thru_store::StoreError| error.to_string();
        let folder = ModelFolder::at(&layout.vectors(), &model).map_err(text)?;
        if folder.dimensions != Some(vector.len()) {
            return Err(format!("there are no vectors of {model} yet"));
        }
        let vectors = open.of(&folder.path, vector.len(), &model).map_err(text)?;
        let query = Query::new(&vector).map_err(text)?;
        let used = Semantics::Used { model, vectors: vectors.len() };
        Ok((Self { vectors, query }, used))
    }

    /// What means nearly the same, where the question looks.
    pub(crate) fn nearest(&self, question: &Question<'_>) -> Result<Vec<Candidate>> {
        let keys = question.text_keys()?;
        let among = keys.as_deref().map_or(Among::All, Among::Keys);
        let nearest = self.vectors.nearest(&self.query, among, NEAREST);
        let keys: Vec<u64> = nearest.into_iter().map(|(key, _)| key).collect();
        question.with_texts(&keys)
    }

    /// The cosine of each candidate's text and the question.
    pub(crate) fn similarity(&self, candidates: &[Candidate]) -> Vec<Option<f32>> {
        let mut keys: Vec<u64> = candidates.iter().filter_map(|one| one.text_key).collect();
        keys.sort_unstable();
        keys.dedup();
        let all = self.vectors.nearest(&self.query, Among::Keys(&keys), keys.len());
        let by_key: HashMap<u64, f32> = all.into_iter().collect();
        candidates.iter().map(|one| by_key.get(&one.text_key?).copied()).collect()
    }
}
