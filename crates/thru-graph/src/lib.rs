//! The temporal graph: facts with the time they held, from what agents did.
//!
//! [`extract()`] reads the course of one session and returns [`Opening`]s: what it shows, each with the key of the facts that it
//! bears on. [`fold()`] makes the facts of one key of all its openings, in whatever order these came in. So a session that is
//! imported late, replaced or forgotten needs nothing of its own: its openings come or go, and their keys are folded again.
//! One fact takes the place of another only where both have the same key, never because they look alike.
//!
//! Pure functions: no I/O, no clock, no model. Tool calls with their results and a person's decisions make facts, as do the decisions
//! and the links that a model claimed before, which are marked; prose makes none.

mod edit;
mod extract;
mod fold;
mod manifest;
mod opening;
mod path;
mod settings;
mod symbols;

pub use edit::{FileEdit, file_edit, makes_facts};
pub use extract::{SessionCourse, extract};
pub use fold::{SessionOpening, fold};
pub use opening::{Claim, Commit, Edit, FoldKey, Opening, Problem};

/// Must change whenever the same sessions give different facts: all are then extracted again.
pub const VERSION: u32 = 8;
