//! What a question means: its vector among the vectors of texts.

use std::cell::{LazyCell, OnceCell};
use std::collections::HashMap;
use std::sync::Arc;

use thru_core::{Layout, chunks};
use thru_store::Result;
use thru_store::index::{Candidate, Question};
use thru_store::vectors::{Among, ModelFolder, Query, Vectors};

use crate::open::OpenFiles;

/// Texts that are looked at because they mean what the question means.
const NEAREST: usize = 200;

/// What a question means.
pub struct Sense {
    vectors: Arc<Vectors>,
    query: Query,
    /// The keys of the texts that come nearest anywhere: passages and memories are both found by them.
    nearest: OnceCell<Vec<u64>>,
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
    pub(crate) fn new(layout: &'a Layout, open: &OpenFiles, awaited: Awaited<'a>) -> Self {
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
        open: &OpenFiles,
        meant: Meant,
    ) -> std::result::Result<(Self, Semantics), String> {
        let (model, vector) = meant?;
        let text = |error: thru_store::StoreError| error.to_string();
        let folder = ModelFolder::at(&layout.vectors(), &model).map_err(text)?;
        if folder.dimensions != Some(vector.len()) {
            return Err(format!("there are no vectors of {model} yet"));
        }
        let vectors = open.vectors(&folder.path, vector.len(), &model).map_err(text)?;
        let query = Query::new(&vector).map_err(text)?;
        let used = Semantics::Used { model, vectors: vectors.len() };
        Ok((Self { vectors, query, nearest: OnceCell::new() }, used))
    }

    /// What means nearly the same, where the question looks.
    pub(crate) fn nearest(&self, question: &Question<'_>) -> Result<Vec<Candidate>> {
        let nearest = |among| -> Vec<u64> {
            let nearest = self.vectors.nearest(&self.query, among, NEAREST);
            nearest.into_iter().map(|(key, _)| key).collect()
        };
        match question.text_keys()? {
            Some(keys) => question.with_texts(&nearest(Among::Keys(&keys))),
            None => question.with_texts(self.nearest.get_or_init(|| nearest(Among::All))),
        }
    }

    /// Where in a text stands what comes nearest, in bytes; nothing where it has no vectors.
    pub(crate) fn place_in(&self, text: &str, key: Option<u64>) -> Option<usize> {
        let chunk = self.vectors.nearest_chunk(&self.query, key?)?;
        // Rules of redaction that came later may have cut it otherwise.
        let chunk = chunks(text).get(chunk).copied()?;
        Some(chunk.as_ptr().addr() - text.as_ptr().addr())
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
