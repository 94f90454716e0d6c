//! Files that stay open from one question to the next. Nothing is cached that could differ from the files:
//! each question checks that they are still those that were opened.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use thru_store::index::OpenIndexes;
use thru_store::vectors::Vectors;
use thru_store::{Readers, Result};

/// Indexes and vectors that stay open for a long-lived process: mapping some hundred megabytes anew for
/// each question takes longer than the search itself.
#[derive(Clone, Default)]
pub struct OpenFiles {
    /// The indexes.
    pub indexes: OpenIndexes,
    vectors: Arc<Mutex<Option<Opened>>>,
    /// The readers of the store. By default each opens it anew.
    pub readers: Readers,
}

/// An opened folder of a model's vectors.
struct Opened {
    folder: PathBuf,
    vectors: Arc<Vectors>,
}

impl OpenFiles {
    /// Returns the current vectors of a folder.
    pub(crate) fn vectors(
        &self,
        folder: &Path,
        dimensions: usize,
        model: &str,
    ) -> Result<Arc<Vectors>> {
        let mut known = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Closes indexes and vectors: replaced files take disk space for as long as they are open.
    pub fn close(&self) {
        self.indexes.close();
        *self.vectors.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl std::fmt::Debug for OpenFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OpenFiles")
    }
}
