//! The vault: memory as Markdown notes that Obsidian, any editor and git open, and that people may edit.
//!
//! The truth is the journal. In a note only the lines that end in an id of ours, and some properties, are ours; every
//! other byte is the person's and comes back unchanged. Notes follow from memory alone, so that two machines write the
//! same bytes.
//!
//! *Must not* know the store or the journal, follow a link below the vault, print a parsed note, or read a clock.

mod attributes;
mod base;
mod changes;
mod content;
mod error;
mod escape;
mod folder;
mod front;
mod merge;
mod names;
mod note;
mod plan;
mod properties;
mod record;
mod threshold;

pub use changes::{Change, Told, changes, holds_other_text, only_lines, with_ids, without_ids};
pub use content::{
    ARCHIVED, Archived, Decided, GraphFact, Memory, Notes, SessionMemory, Subject, Tells,
    ToldMemory, is_name_outdated,
};
pub use error::{Result, VaultError};
pub use folder::{Content, Folder, Found, Scan, Stamp};
pub use front::{Front, Property, Unreadable, Value};
pub use merge::{Earlier, merged, with_apart};
pub use names::{conflict_copy, file_name, folded};
pub use note::{LineId, Note};
pub use plan::{Plan, PlannedLine, Refusal, Section, Shows};
pub use record::{Failure, Followed, Loss, Record, Written};
pub use threshold::{Size, Thresholds};

/// Returns the id in the properties of a note, if it is one of ours.
pub fn note_id(text: &str) -> Option<thru_core::Id> {
    let note = Note::parse_front(text);
    let id = Front::read(&note).ok()?.text("thru_id", text)?;
    id.parse::<thru_core::IdPrefix>().ok()?.complete()
}
