//! Bringing history in: what hooks recorded, what transcripts say.

pub mod catch_up;
pub mod exclusions;
pub mod jobs;
pub mod journal;
