//! Having a model make memories better: turns that are over, and sessions that were left.
//!
//! [`Refiner::run`] takes what waits in the queue, asks the providers of a [`Chain`] one after the other,
//! believes of the answer what the record holds, and hands that to intake. Before a question is sent it is in
//! the journal, with the most that it may cost, and that fits into the [`Meter`]'s limits. Without an answer
//! everything stays as it was distilled without a model (invariant I-10).
//!
//! It must not read settings or the environment, decide whom to ask, write to the store but through intake,
//! or put anything that a model said anywhere before it was looked up, cleaned and fenced.

mod asking;
mod budget;
mod chain;
mod questions;
mod refiner;

pub use budget::{Exhausted, Meter, start_of_day, start_of_month};
pub use chain::{Chain, Link};
pub use questions::{Believed, Material, Question, of_session, of_turn};
pub use refiner::{Permission, RefineError, Refiner, Report, Settings, Told, ready};
