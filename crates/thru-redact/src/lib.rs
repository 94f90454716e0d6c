//! Privacy: what must not be kept is taken out here, before anything is written or shown.
//!
//! [`Clean`] is the only form in which text reaches the journal, the archive, the store, the index
//! or an output (invariant I-5), and only the [`Redactor`] makes one.

mod clean;
mod redactor;

pub use clean::Clean;
pub use redactor::{Redactor, Report};
