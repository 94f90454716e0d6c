//! The changes of a person to a note: the note on disk against the note as we wrote it last.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use crate::base::{hashed, is_same};
use crate::escape::unescaped;
use crate::front::Front;
use crate::note::{Line, LineId, Note};
use crate::properties::known_key;

/// Sections in which a new list item is something to remember.
const TOLD_IN: [&str; 8] = [
    "Decisions Made",
    "Key Decisions",
    "Gotchas & Troubleshooting",
    "Patterns & Best Practices",
    "Common Pitfalls",
    "Preferences",
    "Rules",
    "Remember",
];

/// A change of a person to a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A line of ours has another text.
    Edited {
        /// The line.
        line: LineId,
        /// Its words before, or their hash.
        before: String,
        /// The new text, without a category.
        text: String,
        /// The word in brackets before it.
        category: Option<String>,
    },
    /// The box of a task of ours was ticked, or is no longer.
    Ticked {
        /// The line.
        line: LineId,
        /// True if it is done.
        is_done: bool,
    },
    /// A line of ours is gone.
    Removed {
        /// The line.
        line: LineId,
    },
    /// A new list item in a section of ours.
    Told(Told),
}

/// A list item that a person wrote into a section of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The heading of the section.
    pub section: String,
    /// Its text, without a category.
    pub text: String,
    /// The word in brackets before it.
    pub category: Option<String>,
    /// Its text on disk, behind which the id goes.
    pub range: Range<usize>,
}

/// Returns the changes of a person, in the order of the note.
pub fn changes(base: &str, disk: &str) -> Vec<Change> {
    let (base, disk) = (Note::parse(base), Note::parse(disk));
    let mut changes = Vec::new();
    let before: HashMap<&LineId, _> = base.own_lines().collect();
    let mut here = HashSet::new();
    for (id, line) in disk.own_lines() {
        here.insert(id);
        let Some(known) = before.get(id) else { continue };
        let words = line.words(disk.source);
        let before = known.words(base.source);
        if !is_same(&before, &words) {
            let (category, text) = without_category(&words);
            let (category, text) = (category.map(str::to_owned), unescaped(text));
            changes.push(Change::Edited { line: id.clone(), before, text, category });
        }
        if line.task.is_some() && known.task.is_some() && line.is_done() != known.is_done() {
            changes.push(Change::Ticked { line: id.clone(), is_done: line.is_done() });
        }
    }
    for (id, _) in base.own_lines().filter(|(id, _)| !here.contains(id)) {
        changes.push(Change::Removed { line: id.clone() });
    }
    changes.extend(told(&base, &disk).into_iter().map(Change::Told));
    changes
}

/// Finds the items of the top level that a person wrote into sections of ours, and did not write before.
fn told(base: &Note<'_>, disk: &Note<'_>) -> Vec<Told> {
    let known: HashSet<String> = base
        .lines
        .iter()
        .filter(|line| line.id.is_none())
        .map(|line| line.words(base.source))
        .collect();
    let told = disk.lines.iter().filter_map(|line| {
        let section = told_in(disk, line)?;
        let words = line.words(disk.source);
        if words.is_empty() || known.contains(&words) || known.contains(&hashed(&words)) {
            return None;
        }
        let (category, text) = without_category(&words);
        Some(Told {
            section: section.to_owned(),
            text: unescaped(text),
            category: category.map(str::to_owned),
            range: line.text.clone(),
        })
    });
    told.collect()
}

/// Returns the section of ours that a person told this item in: one of the top level without an id.
pub(crate) fn told_in(note: &Note<'_>, line: &Line) -> Option<&'static str> {
    let is_item = line.id.is_none() && line.depth == 0 && !line.is_quoted && line.task.is_none();
    let section = note.section_of(line).filter(|_| is_item)?;
    TOLD_IN.into_iter().find(|own| own.eq_ignore_ascii_case(section))
}

/// Splits the category off a line: `[decision] text`.
pub(crate) fn without_category(words: &str) -> (Option<&str>, &str) {
    let split = words.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match split {
        Some((category, text))
            if !category.is_empty() && !category.contains(['[', '(', ')', '\\']) =>
        {
            (Some(category), text)
        }
        _ => (None, words),
    }
}

/// Returns the note with an id behind each of these texts of it, where no line break or id came between.
pub fn with_ids(disk: &str, told: &[(Range<usize>, LineId)]) -> String {
    let mut splices = crate::plan::Splices::default();
    for (range, id) in told {
        splices.insert(range.end, format!(" {id}"));
    }
    splices.apply(disk)
}

/// True if a note holds anything but headings, lines of ours and properties that we write.
pub fn holds_other_text(text: &str) -> bool {
    let rest = only_lines(text, &BTreeSet::new());
    let note = Note::parse_front(&rest);
    let is_text = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
    rest[note.body..].lines().any(is_text)
        || Front::read(&note)
            .is_ok_and(|front| front.lines().any(|(key, _)| known_key(key).is_none()))
}

/// Returns a note without the lines of ours but these.
pub fn only_lines(text: &str, kept: &BTreeSet<LineId>) -> String {
    let note = Note::parse(text);
    let mut splices = crate::plan::Splices::default();
    for (_, line) in note.own_lines().filter(|(id, _)| !kept.contains(id)) {
        crate::plan::remove(&note, line, &mut splices);
    }
    splices.apply(text)
}

/// Returns a note without anything of ours that people do not see: no id behind a line, and no id in the properties.
pub fn without_ids(text: &str) -> String {
    let note = Note::parse(text);
    let mut splices = crate::plan::Splices::default();
    for line in note.lines.iter().filter(|line| line.id.is_some() || line.is_copy) {
        let own = &text[line.own.clone()];
        let end = line.own.start + own.trim_end().len();
        splices.replace(line.text.end..end.max(line.text.end), String::new());
    }
    if let Some(range) = Front::read(&note).ok().and_then(|front| front.range("thru_id")) {
        splices.replace(range, String::new());
    }
    splices.apply(text)
}
