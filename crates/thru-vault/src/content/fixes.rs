//! What the graph tells: errors with what ended them, and what a project is built of.

use std::collections::HashSet;

use thru_core::{Id, Observation};

use super::{GraphFact, Memory, Tells, day};
use crate::escape::{code, escaped};
use crate::note::LineId;
use crate::plan::{PlannedLine, Shows};

/// The most facts of one kind in a note.
const MOST: usize = 20;

/// Returns the symptoms and the solution of a fix, as lines below its title.
pub(super) fn of_memory(fix: &Observation, memory: &Memory) -> Vec<PlannedLine> {
    let parent = LineId::new(&fix.id);
    let fixes = memory.facts.iter().filter(|fact| is_shown_by(fact, fix)).take(MOST);
    let lines = fixes.flat_map(|fact| nested(fact, &fix.id, &parent));
    // One change may end several errors, and one error may come from several checks.
    let mut told = HashSet::new();
    lines.filter(|line| told.insert(line.id.clone())).collect()
}

/// Returns what was fixed in a file and belongs to none of these memories.
pub(super) fn of_file<'m>(
    project: &str,
    path: &str,
    memory: &Memory,
    known: impl Iterator<Item = &'m Observation>,
) -> Vec<PlannedLine> {
    let known: Vec<&Observation> = known.collect();
    let is_here = |fact: &&GraphFact| {
        matches!(&fact.tells, Tells::Fixed { file: Some(file), .. } if file == path)
            && fact.project == project
            && !known.iter().any(|one| is_shown_by(fact, one))
    };
    let fixes = memory.facts.iter().filter(is_here).take(MOST);
    let lines = fixes.flat_map(|fact| {
        let Tells::Fixed { problem, .. } = &fact.tells else { return Vec::new() };
        let text = format!("[gotcha] {}: {}", day(fact.from), code(problem));
        let title = PlannedLine::derived(&[b"fixed", fact.id.as_bytes()], text);
        let parent = title.id.clone();
        let solution = nested(fact, &fact.id, &parent).into_iter().skip(1);
        std::iter::once(title).chain(solution).collect()
    });
    lines.collect()
}

/// Returns what a project is built of.
pub(super) fn parts(project: &str, note: &Id, memory: &Memory) -> Vec<PlannedLine> {
    let facts = memory.facts.iter().filter(|fact| fact.project == project);
    let parts = facts.filter_map(|fact| match &fact.tells {
        Tells::BuiltOf(part) => {
            let parts: [&[u8]; 3] = [b"part", note.as_bytes(), fact.id.as_bytes()];
            Some(PlannedLine::derived(&parts, escaped(part)))
        }
        Tells::Fixed { .. } => None,
    });
    parts.take(MOST).collect()
}

fn nested(fact: &GraphFact, of: &Id, parent: &LineId) -> Vec<PlannedLine> {
    let Tells::Fixed { problem, by, .. } = &fact.tells else { return Vec::new() };
    let texts =
        [format!("symptom: {}", code(problem)), format!("solution: a change of {}", code(by))];
    let lines = texts.into_iter().map(|text| PlannedLine {
        id: LineId::new(&Id::derive(&[b"fix", of.as_bytes(), text.as_bytes()])),
        group: None,
        parent: Some(parent.clone()),
        task: None,
        text,
        shows: Shows::Derived,
    });
    lines.collect()
}

/// True if a memory was made of what shows a fix.
fn is_shown_by(fact: &GraphFact, memory: &Observation) -> bool {
    matches!(fact.tells, Tells::Fixed { .. })
        && fact.passages.iter().any(|passage| memory.sources.contains(passage))
}
