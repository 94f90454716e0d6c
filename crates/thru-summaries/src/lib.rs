//! Snapshots of sessions at their compactions, as files that people and agents can read: a folder for each
//! session, an index, and a link to the newest.
//!
//! Journal and store hold the same; the files can be made again at any time. They are in projects, which
//! others may have written: nothing here follows a link out of the folder, and nothing read there can make
//! us write more, or elsewhere. The crate takes paths and values; it must not know the store, ask the
//! environment, or print.
//! environment, or print.

mod config;
mod error;
mod folder;
mod index;
mod listing;
mod markdown;
mod safely;

pub use config::ProjectConfig;
pub use error::{Result, SummariesError};
pub use folder::{Deleted, Folder, Options, Written};
pub use index::{Index, Metadata};
pub use markdown::{Excerpt, markdown};
