//! Texts to vectors, as the settings have it: whose model, where its files lie, and what a question means.

mod chosen;
pub mod fill;
mod lazy;
pub mod own;
mod query;
mod state;

pub use chosen::{Chosen, KeyAt, may_see};
pub use lazy::Lazy;
pub use query::{EmbeddedQuery, EmbeddingTask, embed_prompt, embed_question, pending};
pub(crate) use state::StateForm;
pub use state::{State, who_embeds};
