//! The text index. No code outside this folder knows Tantivy.
//!
//! One process at a time writes it (the one that holds the intake lock). Its commit names the last row
//! of the store that it holds; later rows are searched in a small index in memory. It lies in a folder
//! named after the generation of its store: an index of another store is never read.

mod collection;
mod damage;
mod directory;
mod evidence;
mod fields;
mod meant;
mod question;
mod search;
mod spelling;
mod texts;
pub mod tokenizer;
mod writer;

use std::path::PathBuf;

use thru_core::Layout;

pub use collection::{Collection, EVERYWHERE};
pub use damage::{Damage, guarded, is_guarded};
pub use evidence::Candidate;
pub use question::{Candidates, IndexFilter, QueryTerms, Question};
pub use search::{OpenIndexes, TextIndex};
pub use texts::{IndexedText, KeyedText, WaitingTexts};
pub use writer::{IndexProgress, IndexWriter, is_missing, remove_other_indexes, rows_behind};

/// The layout version of the index. A changed meaning of a column, or other terms, needs a new number:
/// an index with an older one is built again.
const FORMAT: u32 = 5;

/// Returns the directory of the index for the store of this generation.
pub(crate) fn directory(layout: &Layout, generation: &str, collection: Collection) -> PathBuf {
    layout.index().join(format!("{generation}-{FORMAT}{}", collection.suffix()))
}
