//! Bringing history in: what hooks recorded, what transcripts say; the jobs that follow from it; what the archive is for.

pub mod catch_up;
pub mod exclusions;
pub mod foreign;
pub mod import;
pub mod intake;
pub mod jobs;
pub mod journal;
mod parts;
pub mod reading;
pub mod rebuild;
pub mod sync_history;
