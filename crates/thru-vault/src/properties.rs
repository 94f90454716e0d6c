//! The properties of ours in a note that a person, or another machine, may have changed.

use crate::base::is_same;
use crate::front::{Front, Property, Value};
use crate::note::{Note, first_newline};
use crate::plan::Splices;

/// Properties of ours. Their value follows from memory, whatever a person wrote.
const OURS: [&str; 10] = [
    "type",
    "project",
    "created",
    "updated",
    "status",
    "archived_date",
    "archived_reason",
    "error",
    "archive_error",
    "thru_id",
];

/// The status of a session's note that could not be compacted.
pub(crate) const FAILED: &str = "compaction_failed";

/// Lists of which some members are ours.
const SHARED: [&str; 2] = ["tags", "aliases"];

/// Returns a key of which all or some is ours.
pub(crate) fn known_key(key: &str) -> Option<&'static str> {
    OURS.into_iter().chain(SHARED).find(|known| *known == key)
}

/// True for a property whose value follows from memory alone.
pub(crate) fn is_ours(key: &str) -> bool {
    OURS.contains(&key)
}

/// The properties that say why a note could not be compacted.
const ERRORS: [&str; 2] = ["error", "archive_error"];

/// The machine on which compacting a note may have failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failed {
    /// On this one.
    Here,
    /// On another one, if the note says so: it is active, and nothing failed here.
    Elsewhere,
    /// On none: the note is archived, or can never be.
    Nowhere,
}

/// Puts properties into a note, given its properties as they were written last. Those of the person's stay.
pub(crate) fn put(
    properties: &[Property],
    (note, front): (&Note<'_>, &Front),
    base: Option<&Note<'_>>,
    splices: &mut Splices,
) {
    let newline = note.newline();
    let base_front = base.and_then(|base| Front::read(base).ok().map(|front| (front, base)));
    let in_base =
        |key: &str| base_front.as_ref().and_then(|(front, base)| front.value(key, base.source));
    let end = note.front.as_ref().map_or(note.body, |block| block.end);
    let failed = failed(properties);
    let mut added = String::new();
    for property in properties {
        let known = front.value(property.key, note.source);
        let wanted = Property {
            key: property.key,
            value: match (&property.value, &known) {
                (Value::Text(wanted), Some(Value::Text(known))) => {
                    Value::Text(standing(property.key, wanted, known, failed).to_owned())
                }
                (wanted, known) => united(wanted, known, &in_base(property.key)),
            },
        };
        match front.range(property.key) {
            None => added.push_str(&wanted.lines(newline)),
            Some(_) if known.as_ref() == Some(&wanted.value) => {}
            Some(range) => {
                if known.is_some() || is_ours(property.key) {
                    // A note may have line breaks of both kinds.
                    let newline = first_newline(&note.source[range.clone()]);
                    splices.replace(range, wanted.lines(newline));
                }
            }
        }
    }
    for key in OURS {
        let is_wanted = properties.iter().any(|property| property.key == key);
        let is_of_other = failed == Failed::Elsewhere && ERRORS.contains(&key);
        if !is_wanted
            && !is_of_other
            && in_base(key).is_some()
            && let Some(range) = front.range(key)
        {
            splices.replace(range, String::new());
        }
    }
    if !added.is_empty() {
        if note.front.is_none() {
            added = format!("---{newline}{added}---{newline}");
        }
        splices.insert(end, added);
    }
}

/// Returns the place where compacting the note may have failed.
fn failed(properties: &[Property]) -> Failed {
    let has = |key: &str| properties.iter().find(|property| property.key == key);
    let is_active = has("status")
        .is_some_and(|status| matches!(&status.value, Value::Text(status) if status == "active"));
    match ERRORS.iter().any(|key| has(key).is_some()) {
        true => Failed::Here,
        false if is_active => Failed::Elsewhere,
        false => Failed::Nowhere,
    }
}

/// Returns the text that a property gets. Two machines know different sessions: the first and the last day of both hold.
/// What failed on another machine, and was said first, stands until the note is archived: neither writes over the other
/// again and again.
fn standing<'t>(key: &str, wanted: &'t str, known: &'t str, failed: Failed) -> &'t str {
    match key {
        "created" | "archived_date" if !known.is_empty() => wanted.min(known),
        "updated" => wanted.max(known),
        "status" if failed == Failed::Elsewhere && known == FAILED => known,
        key if ERRORS.contains(&key) && !known.is_empty() => known,
        _ => wanted,
    }
}

/// Returns the value that a property gets: of a list, what is wanted with what a person added to it.
fn united(wanted: &Value, known: &Option<Value>, base: &Option<Value>) -> Value {
    let Value::Members(wanted) = wanted else { return wanted.clone() };
    let known = match known {
        None => return Value::Members(wanted.clone()),
        Some(Value::Members(known)) => known.clone(),
        Some(Value::Text(text)) => {
            Vec::from_iter(Some(text.clone()).filter(|text| !text.is_empty()))
        }
    };
    let was: &[String] = match base {
        Some(Value::Members(base)) => base,
        _ => &[],
    };
    // In the person's order, and what the person took out stays out.
    let mut all = known.clone();
    let missing = wanted
        .iter()
        .filter(|one| !known.contains(one) && !was.iter().any(|was| is_same(was, one)));
    all.extend(missing.cloned());
    Value::Members(all)
}
