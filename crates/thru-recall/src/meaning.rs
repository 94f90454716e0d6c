//! The meaning of a query: its vector among the vectors of texts.

use std::cell::{LazyCell, OnceCell};
use std::collections::HashMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Layout, chunks};
use thru_store::Result;
use thru_store::index::{Candidate, Question};
use thru_store::vectors::{Among, ModelFolder, Query, Vectors};

use crate::open::OpenFiles;

/// Number of texts that are examined because of their meaning.
const NEAREST: usize = 200;

/// A query's vector among the vectors of texts.
pub(crate) struct QueryMeaning {
    vectors: Arc<Vectors>,
    query: Query,
    /// The keys of the nearest texts anywhere: both passages and memories are found by them.
    nearest: OnceCell<Vec<(u64, f32)>>,
}

/// The candidates nearest to a question in meaning.
pub(crate) struct Nearest {
    /// In the order of rows.
    pub(crate) candidates: Vec<Candidate>,
    /// The cosine of the farthest: every other text is at least as far away.
    pub(crate) farthest: f32,
}

/// The name of the model and the query embedding, or the reason why there is none, for people.
pub type QueryEmbedding = std::result::Result<(String, Vec<f32>), String>;

/// A query embedding that is computed while the words are looked up, and then waited for.
pub type PendingEmbedding<'a> = Box<dyn FnOnce() -> QueryEmbedding + 'a>;

/// The use that a search made of meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MeaningUse {
    /// Vectors were compared.
    Compared {
        /// The model of the vectors.
        model: String,
        /// Number of vectors.
        vectors: usize,
    },
    /// Only words were searched for.
    Without {
        /// The reason, for people.
        without: String,
    },
}

impl Default for MeaningUse {
    fn default() -> Self {
        Self::Without { without: "not asked for".to_owned() }
    }
}

/// Returns no query embedding, for this reason.
pub fn without_embedding<'a>(reason: impl Into<String>) -> PendingEmbedding<'a> {
    let reason = reason.into();
    Box::new(move || Err(reason))
}

/// The meaning of a query, computed on first use and kept.
pub(crate) struct LazyMeaning<'a>(LazyCell<Found, Box<dyn FnOnce() -> Found + 'a>>);

type Found = (Option<QueryMeaning>, MeaningUse);

impl<'a> LazyMeaning<'a> {
    pub(crate) fn new(layout: &'a Layout, open: &OpenFiles, pending: PendingEmbedding<'a>) -> Self {
        let open = open.clone();
        Self(LazyCell::new(Box::new(move || match QueryMeaning::open(layout, &open, pending()) {
            Ok((meaning, meaning_use)) => (Some(meaning), meaning_use),
            Err(reason) => (None, MeaningUse::Without { without: reason }),
        })))
    }

    /// Returns the meaning, waiting for it the first time.
    pub(crate) fn get(&self) -> Option<&QueryMeaning> {
        self.0.0.as_ref()
    }

    /// Returns the use made of it, waiting for it the first time.
    pub(crate) fn meaning_use(&self) -> MeaningUse {
        self.0.1.clone()
    }
}

impl QueryMeaning {
    /// Opens the vectors of the model that made the query embedding.
    ///
    /// # Errors
    /// Returns the reason why they cannot be compared, for people.
    fn open(
        layout: &Layout,
        open: &OpenFiles,
        embedding: QueryEmbedding,
    ) -> std::result::Result<(Self, MeaningUse), String> {
        let (model, vector) = embedding?;
        let text = |error: thru_store::StoreError| error.to_string();
        let folder = ModelFolder::at(&layout.vectors(), &model).map_err(text)?;
        if folder.dimensions != Some(vector.len()) {
            return Err(format!("there are no vectors of {model} yet"));
        }
        let vectors = open.vectors(&folder.path, vector.len(), &model).map_err(text)?;
        let query = Query::new(&vector).map_err(text)?;
        let used = MeaningUse::Compared { model, vectors: vectors.len() };
        Ok((Self { vectors, query, nearest: OnceCell::new() }, used))
    }

    /// Returns the candidates nearest in meaning, within the question's filter.
    pub(crate) fn nearest(&self, question: &Question<'_>) -> Result<Nearest> {
        let nearest = |among| self.vectors.nearest(&self.query, among, NEAREST);
        let within;
        let nearest: &[(u64, f32)] = match question.text_keys()? {
            Some(keys) => {
                within = nearest(Among::Keys(&keys));
                &within
            }
            None => self.nearest.get_or_init(|| nearest(Among::All)),
        };
        let keys: Vec<u64> = nearest.iter().map(|(key, _)| *key).collect();
        Ok(Nearest {
            candidates: question.with_texts(&keys)?,
            farthest: nearest.last().map_or(0.0, |(_, cosine)| *cosine),
        })
    }

    /// Returns the byte offset of the nearest chunk in a text; `None` if the text has no vectors.
    pub(crate) fn place_in(&self, text: &str, key: Option<u64>) -> Option<usize> {
        let chunk = self.vectors.nearest_chunk(&self.query, key?)?;
        // Newer redaction rules may have moved the chunks.
        let chunk = chunks(text).get(chunk).copied()?;
        Some(chunk.as_ptr().addr() - text.as_ptr().addr())
    }

    /// Returns the cosine of each candidate's text and the question.
    pub(crate) fn similarity(&self, candidates: &[Candidate]) -> Vec<Option<f32>> {
        let mut keys: Vec<u64> = candidates.iter().filter_map(|one| one.text_key).collect();
        keys.sort_unstable();
        keys.dedup();
        let all = self.vectors.nearest(&self.query, Among::Keys(&keys), keys.len());
        let by_key: HashMap<u64, f32> = all.into_iter().collect();
        candidates.iter().map(|one| by_key.get(&one.text_key?).copied()).collect()
    }
}
