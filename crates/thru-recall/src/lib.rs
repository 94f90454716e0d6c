//! Recall: one engine answers every question from every surface.
//!
//! The store's index gives candidates and evidence; here they become features, features become an order,
//! and the order becomes an answer in which every hit can explain itself. Nothing here writes, prints or
//! waits for a model.

mod action;
mod activity;
mod date;
mod decision;
mod dedup;
mod english;
mod freshness;
mod gaps;
mod how_to;
mod languages;
mod meaning;
mod memories;
mod open;
mod order;
mod pack;
mod query;
mod query_time;
mod rank;
mod recorded;
mod search;
mod session_context;
mod snippet;
mod spelling;
mod tiers;
mod timeline;
mod unfinished;
mod usage;
mod work;

pub use activity::{Activity, ActivityRequest, Work, activity};
pub use date::{InvalidDate, parse_date};
pub use english::in_english;
pub use freshness::{Disk, Freshness, Presence, Since};
pub use gaps::Gap;
pub use meaning::{MeaningUse, PendingEmbedding, QueryEmbedding, without_embedding};
pub use memories::MemoryHit;
pub use open::OpenFiles;
pub use order::{OrderRequest, Ordered, order};
pub use pack::{
    IDLE_TIMEOUT, LONGEST_PACK, Limits, Occasion, Pack, PackLine, PackRequest, agent_notes,
    calls_for_memory, deserves_silence, fenced, orders_held_back, pack, recorded,
};
pub use query::analyse;
pub use query_time::{QueryTime, find_query_time};
pub use rank::{CONFIDENT, Found, Part, PassageScore, Ranking, SessionMeaning, SessionScore};
pub use search::{
    FoundMemory, Hit, HitTurn, SearchRequest, SearchResults, SessionHits, TurnEnds, search,
};
pub use session_context::{
    ContextLimits, HotMemory, RecentEvent, RecentFile, SessionContext, session_context,
};
pub use snippet::{Cut, Snippet, snippet};
pub use spelling::{Correction, Spelled, spelled};
pub use tiers::{HOT_HOURS, Tier, WARM_BY_WORDS, WARM_LINES, WARM_WITH_MEANING, WARM_WORDS};
pub use timeline::{Anchor, Timeline, timeline};
pub use usage::{LaterUsage, OccasionUsage, SessionUsage, Usage, later_usage, recalls, usage};
pub use work::{WorkQuestion, WorkRow, last_before, without_date, work, work_question};
