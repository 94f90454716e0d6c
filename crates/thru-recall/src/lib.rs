//! Recall: one engine answers every question, whoever asks.
//!
//! The store's index gives candidates and evidence; here they become features, features become an
//! order, and the order becomes an answer whose every hit can explain itself. Nothing here writes,
//! prints or waits for a model.

mod answer;
mod date;
mod freshness;
mod memories;
mod pack;
mod query;
mod rank;
mod snippet;
mod timeline;
mod usage;

pub use answer::{Answer, FoundMemory, Hit, Request, SessionHits, order, search};
pub use date::{InvalidDate, parse_date};
pub use freshness::{Disk, Freshness, Presence};
pub use memories::{MemoryHit, find_memories};
pub use pack::{
    LONGEST_PACK, Limits, Occasion, Pack, PackLine, PackRequest, deserves_silence, pack,
};
pub use query::analyse;
pub use rank::{PassageScore, Ranking, SessionScore, WEIGHTS, Weights, rank};
pub use snippet::{Snippet, snippet};
pub use timeline::{Anchor, Timeline, timeline};
pub use usage::{OccasionUsage, SessionUsage, Usage, usage};
