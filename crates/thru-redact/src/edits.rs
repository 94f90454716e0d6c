//! Replacements to make in a text: found in several ways, sorted, merged where they overlap, and
//! applied in one pass.
//!
//! Nothing here decides what is secret. Overlapping edits are both applied: an overlap must never make
//! the replaced range smaller.

use std::borrow::Cow;
use std::ops::Range;

use crate::Report;

/// The placeholder for text that a user marked as private.
pub(crate) const PRIVATE: &str = "[private]";
/// The beginning of every placeholder for a secret.
pub(crate) const REDACTED: &str = "[redacted:";

/// The reason for replacing a range of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The value given to a telling name; holds the rule's name.
    Assigned(Cow<'static, str>),
    /// A secret known by its own form; holds the rule's name.
    Secret(Cow<'static, str>),
    /// Text between system tags.
    System,
    /// Text that a user marked as private.
    Private,
    /// Several rounds of cleaning combined; holds the resulting text.
    Rewritten(String),
}

impl Reason {
    /// Returns the precedence of the reason: the highest names the replacement of overlapping edits.
    const fn rank(&self) -> u8 {
        match self {
            Self::Assigned(_) => 0,
            Self::Secret(_) => 1,
            Self::System => 2,
            Self::Private => 3,
            Self::Rewritten(_) => 4,
        }
    }

    fn write_replacement(&self, output: &mut Vec<u8>) {
        match self {
            Self::Assigned(name) | Self::Secret(name) => {
                output.extend_from_slice(REDACTED.as_bytes());
                output.extend_from_slice(name.as_bytes());
                output.push(b']');
            }
            Self::System => {}
            Self::Private => output.extend_from_slice(PRIVATE.as_bytes()),
            Self::Rewritten(text) => output.extend_from_slice(text.as_bytes()),
        }
    }
}

/// A range of bytes to replace, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The bytes to replace.
    pub(crate) range: Range<usize>,
    /// The reason, which also determines the replacement.
    pub(crate) reason: Reason,
}

impl Edit {
    pub(crate) const fn new(range: Range<usize>, reason: Reason) -> Self {
        Self { range, reason }
    }
}

/// Sorts the edits and merges those that overlap.
pub(crate) fn join(mut edits: Vec<Edit>) -> Vec<Edit> {
    if edits.len() < 2 {
        return edits;
    }
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut joined: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match joined.last_mut() {
            Some(last) if edit.range.start < last.range.end => {
                // Of two rules for the same text the one with the longer keyword comes last, and is
                // more specific.
                let (old, new) = (last.reason.rank(), edit.reason.rank());
                if new > old || (new == old && edit.range == last.range) {
                    last.reason = edit.reason;
                }
                last.range.end = last.range.end.max(edit.range.end);
            }
            _ => joined.push(edit),
        }
    }
    joined
}

/// Applies the edits, which must be sorted and disjoint, as [`join`] returns them.
pub(crate) fn apply(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut output = Vec::with_capacity(bytes.len() + 16 * edits.len().min(64));
    let mut done = 0;
    for edit in edits {
        output.extend_from_slice(&bytes[done..edit.range.start]);
        edit.reason.write_replacement(&mut output);
        done = edit.range.end;
    }
    output.extend_from_slice(&bytes[done..]);
    output
}

/// As [`apply`], for text. The edits must begin and end at character boundaries.
pub(crate) fn apply_to_text(text: &str, edits: &[Edit]) -> String {
    let bytes = apply(text.as_bytes(), edits);
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Counts the edits in the report.
pub(crate) fn count(edits: &[Edit], report: &mut Report) {
    for edit in edits {
        match &edit.reason {
            Reason::Assigned(name) | Reason::Secret(name) => report.count_secret(name),
            Reason::Private => report.private += 1,
            Reason::System | Reason::Rewritten(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_edits_become_one_and_the_stronger_reason_names_it() {
        let edits = join(vec![
            Edit::new(6..9, Reason::Private),
            Edit::new(0..4, Reason::Assigned("password".into())),
            Edit::new(2..7, Reason::Secret("jwt".into())),
            Edit::new(9..10, Reason::System),
        ]);
        assert_eq!(edits, [Edit::new(0..9, Reason::Private), Edit::new(9..10, Reason::System)]);
        assert_eq!(apply_to_text("0123456789a", &edits), "[private]a");
    }
}
