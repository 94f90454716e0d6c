//! Recall: one engine answers every question from every surface.
//!
//! The store's index gives candidates and evidence; here they become features, features become an order,
//! and the order becomes an answer in which every hit can explain itself. Nothing here writes, prints or
//! waits for a model.
//! prints or waits for a model.

mod activity;
mod alike;
mod answer;
mod date;
mod deed;
mod freshness;
mod memories;
mod open;
mod order;
mod pack;
mod query;
mod rank;
mod sense;
mod session_context;
mod snippet;
mod tiers;
mod timeline;
mod usage;
mod when;

pub use activity::{Activity, ActivityRequest, Work, activity};
pub use answer::{Answer, FoundMemory, Hit, Request, SessionHits, search};
pub use date::{InvalidDate, parse_date};
pub use freshness::{Disk, Freshness, Presence};
pub use memories::{MemoryHit, find_memories};
pub use open::OpenFiles;
pub use order::{Asked, Ordered, order};
pub use pack::{
    IDLE_TIMEOUT, LONGEST_PACK, Limits, Occasion, Pack, PackLine, PackRequest, calls_for_memory,
    deserves_silence, fenced, pack, recorded,
};
pub use query::analyse;
pub use rank::{
    CONFIDENT, Evidence, Found, PASSAGE_FEATURES, Part, PassageFeatures, PassageScore, Ranking,
    SESSION_FEATURES, SIGNALS, SessionFeatures, SessionScore, Signals, WEIGHTS, Weights, rank,
};
pub use sense::{Awaited, Meant, Semantics, Sense, words_only};
pub use session_context::{
    ContextLimits, HotMemory, RecentEvent, RecentFile, SessionContext, session_context,
};
pub use snippet::{Snippet, snippet};
pub use tiers::{HOT_HOURS, Tier, WARM_BY_WORDS, WARM_LINES, WARM_WITH_MEANING, WARM_WORDS};
pub use timeline::{Anchor, Timeline, timeline};
pub use usage::{OccasionUsage, SessionUsage, Usage, usage};
pub use when::{When, mentioned};
