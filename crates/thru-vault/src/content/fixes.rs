//! What the graph tells: errors with what ended them, and what a project is built of.

use std::collections::{BTreeSet, HashMap, HashSet};

use thru_core::{Id, Observation};

use super::{GraphFact, Tells, day};
use crate::escape::{code, escaped};
use crate::note::LineId;
use crate::plan::{PlannedLine, Shows};

/// The most facts of one kind in a note.
const MOST: usize = 20;

/// Facts by what notes ask for: their places among all, in order.
pub(super) struct Facts<'m> {
    all: &'m [GraphFact],
    /// Fixes, by the passages that show them.
    by_passage: HashMap<Id, Vec<usize>>,
    /// Fixes, by project and file.
    by_file: HashMap<(&'m str, &'m str), Vec<usize>>,
    /// The parts of projects.
    parts: HashMap<&'m str, Vec<usize>>,
}

impl<'m> Facts<'m> {
    pub(super) fn new(all: &'m [GraphFact]) -> Self {
        let mut by_passage: HashMap<Id, Vec<usize>> = HashMap::new();
        let mut by_file: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
        let mut parts: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, fact) in all.iter().enumerate() {
            let project = fact.project.as_str();
            match &fact.tells {
                Tells::Fixed { file, .. } => {
                    for passage in &fact.passages {
                        by_passage.entry(*passage).or_default().push(place);
                    }
                    if let Some(file) = file {
                        by_file.entry((project, file)).or_default().push(place);
                    }
                }
                Tells::BuiltOf(_) => parts.entry(project).or_default().push(place),
            }
        }
        Self { all, by_passage, by_file, parts }
    }

    /// Returns the symptoms and the solution of a fix, as lines below its title.
    pub(super) fn of_memory(&self, fix: &Observation) -> Vec<PlannedLine> {
        let parent = LineId::new(&fix.id);
        let fixes: BTreeSet<usize> = self.shown_by(fix).collect();
        let lines = self.at(fixes.iter()).flat_map(|fact| nested(fact, &fix.id, &parent));
        // One change may end several errors, and one error may come from several checks.
        let mut told = HashSet::new();
        lines.filter(|line| told.insert(line.id.clone())).collect()
    }

    /// Returns what was fixed in a file and belongs to none of these memories.
    pub(super) fn of_file<'k>(
        &self,
        project: &str,
        path: &str,
        known: impl Iterator<Item = &'k Observation>,
    ) -> Vec<PlannedLine> {
        let Some(fixes) = self.by_file.get(&(project, path)) else { return Vec::new() };
        let known: BTreeSet<usize> = known.flat_map(|one| self.shown_by(one)).collect();
        let lines = self.at(fixes.iter().filter(|place| !known.contains(place))).flat_map(|fact| {
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
    pub(super) fn parts(&self, project: &str, note: &Id) -> Vec<PlannedLine> {
        let parts = self.at(self.parts.get(project).into_iter().flatten());
        let lines = parts.filter_map(|fact| match &fact.tells {
            Tells::BuiltOf(part) => {
                let parts: [&[u8]; 3] = [b"part", note.as_bytes(), fact.id.as_bytes()];
                Some(PlannedLine::derived(&parts, escaped(part)))
            }
            Tells::Fixed { .. } => None,
        });
        lines.collect()
    }

    /// Returns the facts at these places, as many as a note shows.
    fn at<'p>(
        &self,
        places: impl Iterator<Item = &'p usize>,
    ) -> impl Iterator<Item = &'m GraphFact> {
        let all = self.all;
        places.take(MOST).filter_map(move |place| all.get(*place))
    }

    /// Returns the places of the fixes that a memory was made of.
    fn shown_by(&self, memory: &Observation) -> impl Iterator<Item = usize> {
        memory.sources.iter().filter_map(|passage| self.by_passage.get(passage)).flatten().copied()
    }
}

fn nested(fact: &GraphFact, of: &Id, parent: &LineId) -> Vec<PlannedLine> {
    let Tells::Fixed { problem, by, file } = &fact.tells else { return Vec::new() };
    let solution = match file {
        Some(_) => format!("solution: changed {}", code(by)),
        None => format!("solution: commit {}", code(by)),
    };
    let lines = [format!("symptom: {}", code(problem)), solution].into_iter().map(|text| {
        let id = LineId::new(&Id::derive(&[b"fix", of.as_bytes(), text.as_bytes()]));
        let parent = Some(parent.clone());
        PlannedLine { id, group: None, parent, task: None, text, shows: Shows::Derived }
    });
    lines.collect()
}
