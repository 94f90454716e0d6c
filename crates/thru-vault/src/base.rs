//! The version that three are compared by: a note as it was written last, of which only hashes are kept.
//!
//! It says which lines of ours are as they were, and no word of what they said. So a secret that memory no longer holds
//! is not kept in it, and taking one out of memory takes nothing from it.

use thru_core::{Id, IdPrefix, content_hash};

use crate::front::{Front, Property, Value};
use crate::note::Note;
use crate::properties::known_key;

/// The beginning of a text of which only the hash is kept.
const MARK: &str = "hash:";

/// Returns a note with hashes in the place of its texts: its lines of ours, other list items, and properties of ours.
pub(crate) fn base_of(text: &str) -> String {
    let note = Note::parse(text);
    let mut base = String::new();
    if let Ok(front) = Front::read(&note) {
        let properties = front.lines().filter_map(|(key, _)| {
            let value = match front.value(key, text)? {
                Value::Text(text) => Value::Text(hashed(&text)),
                Value::Members(all) => Value::Members(all.iter().map(|one| hashed(one)).collect()),
            };
            Some(Property { key: known_key(key)?, value }.lines("\n"))
        });
        base = format!("---\n{}---\n", properties.collect::<String>());
    }
    for line in &note.lines {
        let task = match (line.task, line.is_done()) {
            (None, _) => "",
            (Some(_), false) => "[ ] ",
            (Some(_), true) => "[x] ",
        };
        let words = hashed(&line.words(text));
        let id = line.id.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
        base.push_str(&format!("- {task}{words}{id}\n"));
    }
    base
}

/// Returns the hash of a text, as it stands in its place.
pub(crate) fn hashed(text: &str) -> String {
    format!("{MARK}{}", content_hash(text.as_bytes()))
}

/// True if a text is the one that was written last: that is known by its hash, or as it was.
pub(crate) fn is_same(last: &str, text: &str) -> bool {
    last == text || hash_in(last).is_some_and(|hash| hash == content_hash(text.as_bytes()))
}

/// Returns the hash of a text that was written last.
pub(crate) fn hash_of(last: &str) -> Id {
    hash_in(last).unwrap_or_else(|| content_hash(last.as_bytes()))
}

fn hash_in(last: &str) -> Option<Id> {
    last.strip_prefix(MARK)?.parse::<IdPrefix>().ok()?.complete()
}
