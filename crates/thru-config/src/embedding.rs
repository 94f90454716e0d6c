//! What is said of embeddings: whose, which, and where.

use std::time::Duration;

use crate::resolve::Config;

/// Who turns texts into vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddingProvider {
    /// Nobody.
    None,
    /// The model that comes with the program.
    Bundled,
    /// Ollama.
    Ollama,
    /// OpenAI, or whatever speaks like it.
    OpenAi,
}

/// The settings of `embedding`.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddingSettings<'a>(pub(crate) &'a Config);

impl<'a> EmbeddingSettings<'a> {
    /// `embedding.provider`.
    pub fn provider(self) -> EmbeddingProvider {
        match self.0.text("embedding.provider") {
            "bundled" => EmbeddingProvider::Bundled,
            "ollama" => EmbeddingProvider::Ollama,
            "openai" => EmbeddingProvider::OpenAi,
            _ => EmbeddingProvider::None,
        }
    }

    /// `embedding.model`, where it is set.
    pub fn model(self) -> Option<&'a str> {
        self.text("embedding.model")
    }

    /// `embedding.url`, where it is set.
    pub fn url(self) -> Option<&'a str> {
        self.text("embedding.url")
    }

    /// `embedding.folder`, where it is set.
    pub fn folder(self) -> Option<&'a str> {
        self.text("embedding.folder")
    }

    /// `embedding.timeout_seconds`.
    pub fn timeout(self) -> Duration {
        Duration::from_secs(self.0.integer("embedding.timeout_seconds"))
    }

    fn text(self, key: &str) -> Option<&'a str> {
        Some(self.0.text(key).trim()).filter(|text| !text.is_empty())
    }
}
