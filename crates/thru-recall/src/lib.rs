//! Recall: one engine answers every question, whoever asks.
//!
//! The store's index gives candidates and evidence; here they become features, features become an
//! order, and the order becomes an answer whose every hit can explain itself. Nothing here writes,
//! prints or waits for a model.

mod answer;
mod date;
mod query;
mod rank;
mod snippet;

pub use answer::{Answer, Hit, Request, SessionHits, order, search};
pub use date::{InvalidDate, parse_date};
pub use query::analyse;
pub use rank::{PassageScore, Ranking, SessionScore, WEIGHTS, Weights, rank};
pub use snippet::{Snippet, snippet};
