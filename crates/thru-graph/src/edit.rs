//! Edits of files whose texts make facts: manifests, configuration and source code.

use std::collections::BTreeMap;

use thru_core::Id;

use crate::manifest::{self, Form, Thing};
use crate::symbols::{self, Language, SymbolChange};

/// How much of a file a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// Some of its lines.
    Lines,
    /// A part whose first line may be cut off at its beginning.
    Part,
}

/// What an edit of a file changes in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// The passage.
    pub passage: Id,
    /// The file, as the agent wrote its path.
    pub path: String,
    /// The changes.
    pub(crate) changes: Changes,
}

/// The changes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    /// Packages, languages and settings by name, with the version or the value that they have now; `None` for those that
    /// were taken out.
    Manifest(BTreeMap<(Thing, String), Option<String>>),
    /// Functions and types.
    Source(Vec<SymbolChange>),
}

/// The content of a file that is read.
enum Content {
    Manifest(Form),
    Source(Language),
}

impl Content {
    fn of(path: &str) -> Option<Self> {
        Form::of(path).map(Self::Manifest).or_else(|| Language::of(path).map(Self::Source))
    }
}

/// Returns true if the texts of edits of this file are needed: they say what a project depends on, how it is set up, or what
/// its code defines.
pub fn makes_facts(path: &str) -> bool {
    Content::of(path).is_some()
}

/// Reads a call that changed a file: its text as it is kept, tool and input first.
pub fn file_edit(passage: Id, path: &str, text: &str) -> Option<FileEdit> {
    let content = Content::of(path)?;
    let fragments = fragments(path, text);
    let changes = match content {
        Content::Manifest(form) => {
            let changes = manifest::changes(form, &fragments);
            (!changes.is_empty()).then_some(Changes::Manifest(changes))
        }
        Content::Source(language) => {
            let changes = symbols::changes(language, &fragments);
            (!changes.is_empty()).then_some(Changes::Source(changes))
        }
    };
    Some(FileEdit { passage, path: path.to_owned(), changes: changes? })
}

/// A part of a file before and after an edit.
pub(crate) struct Fragment {
    pub(crate) old: String,
    pub(crate) new: String,
    /// How much of the file the new part is.
    pub(crate) extent: Extent,
}

/// Returns what an edit replaces and what it puts there, part by part; nothing is replaced by a new file.
fn fragments(path: &str, text: &str) -> Vec<Fragment> {
    if text.contains("*** Begin Patch") {
        return patched(path, text);
    }
    const OLD: [&str; 2] = ["\nold_string: ", "\nold_str: "];
    const NEW: [&str; 2] = ["\nnew_string: ", "\nnew_str: "];
    const WHOLE: [&str; 2] = ["\ncontent: ", "\nfile_text: "];
    // What follows the text: other members of the input, and the result.
    const ENDS: [&str; 6] = [
        "\nreplace_all: ",
        "\nThe file ",
        "\nFile created ",
        "\nold_string: ",
        "\nold_str: ",
        "\nFile ",
    ];
    let until = |text: &str| -> String {
        let end = ENDS.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
        text[..end].to_owned()
    };
    let find = |text: &str, marks: [&str; 2]| {
        marks.iter().find_map(|mark| text.find(mark).map(|at| (at, at + mark.len())))
    };
    // Clients write the two in any order.
    let at = |marks| find(text, marks).map_or(usize::MAX, |(at, _)| at);
    let is_old_first = at(OLD) <= at(NEW);
    let (first, second) = if is_old_first { (OLD, NEW) } else { (NEW, OLD) };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, one)) = find(rest, first) {
        let Some((end, other)) = find(&rest[one..], second) else { break };
        let both = (rest[one..one + end].to_owned(), until(&rest[one + other..]));
        let (old, new) = if is_old_first { both } else { (both.1, both.0) };
        found.push(Fragment { old, new, extent: Extent::Part });
        rest = &rest[one + other..];
        if found.len() >= 50 {
            break;
        }
    }
    if found.is_empty()
        && let Some((_, at)) = find(text, WHOLE)
    {
        found.push(Fragment { old: String::new(), new: until(&text[at..]), extent: Extent::Whole });
    }
    found
}

/// Returns the parts of a patch that change one file, each with the lines that stay in both.
fn patched(path: &str, text: &str) -> Vec<Fragment> {
    let mut found: Vec<Fragment> = Vec::new();
    let (mut is_own, mut extent) = (false, Extent::Lines);
    // One place of the file says nothing of the next.
    let mut is_next = true;
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("*** ") {
            is_own = head.split_once(": ").is_some_and(|(_, named)| named.trim() == path);
            extent = if head.starts_with("Add File") { Extent::Whole } else { Extent::Lines };
            is_next = true;
        } else if line.starts_with("@@") {
            is_next = true;
        } else if is_own {
            if std::mem::take(&mut is_next) {
                found.push(Fragment { old: String::new(), new: String::new(), extent });
            }
            let Some(part) = found.last_mut() else { continue };
            let (mark, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
            for (text, other) in [(&mut part.old, "+"), (&mut part.new, "-")] {
                if mark != other {
                    text.push_str(rest);
                    text.push('\n');
                }
            }
        }
    }
    found
}
