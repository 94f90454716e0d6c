//! Refining memories with a model: turns that are over, and sessions that were left.
//!
//! [`Refiner::run`] takes questions from the queue, asks the providers of a [`Chain`] one after the
//! other, keeps the part of the answer that the record supports, and hands that to intake. Before a
//! question is sent, it is journalled with the most that it may cost, which must fit into the
//! [`Meter`]'s limits. Without an answer, memories stay as they were distilled without a model
//! (invariant I-10).
//!
//! This crate must not read settings or the environment, choose providers, write to the store except
//! through intake, or store model output that was not grounded, cleaned and fenced.

mod asking;
mod budget;
mod chain;
mod questions;
mod refiner;

pub use budget::{Exhausted, Meter, start_of_day, start_of_month};
pub use chain::{Chain, ChainLink};
pub use questions::{Grounding, Material, Question, activity_profile, of_session, of_turn};
pub use refiner::{Permission, RefineError, RefineEvent, Refiner, Report, Settings, ready};
