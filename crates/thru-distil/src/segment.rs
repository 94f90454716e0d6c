//! A session in pieces of one intent each: turns, and within them the work that led to one commit.

use std::ops::Range;

use crate::event::{Action, Event};
use crate::tasks::Tasks;

/// Most segments of a turn that end at a commit.
const BY_COMMIT: usize = 16;

/// Most tasks that are kept of a segment.
const TASKS: usize = 12;

/// Most files listed as read.
pub(crate) const READ: usize = 5;

/// A piece of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) range: Range<usize>,
    /// The tasks that were in progress in it.
    pub(crate) tasks: Vec<String>,
    /// True if it is the first of its turn.
    pub(crate) is_first: bool,
}

/// A turn.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) number: u32,
    pub(crate) range: Range<usize>,
    pub(crate) segments: Vec<Segment>,
    /// True if it is a question to memory: the agent retells what other sessions said.
    pub(crate) asks_memory: bool,
}

/// Sorts the events by time: passages of subagents, which come last, move to where their work was done.
pub(crate) fn in_order(events: Vec<Event>) -> Vec<Event> {
    let is_apart = |event: &Event| event.is_subagent && event.turn == 0;
    if !events.iter().any(is_apart) || events.iter().all(is_apart) {
        return events;
    }
    let (apart, mut main): (Vec<Event>, Vec<Event>) = events.into_iter().partition(is_apart);
    // Sorting keeps the order of the main transcript even where its times do not.
    let mut keyed = Vec::with_capacity(main.len() + apart.len());
    let mut latest = None;
    for (place, event) in main.drain(..).enumerate() {
        latest = latest.max(event.at);
        keyed.push((latest, 0, place, event));
    }
    let end = keyed.iter().filter_map(|(at, ..)| *at).max();
    let mut last_at = None;
    for (place, event) in apart.into_iter().enumerate() {
        last_at = event.at.or(last_at);
        // Without a time, or before everything else, it goes to the end.
        let at = last_at.or(end);
        keyed.push((at, 1, place, event));
    }
    keyed.sort_by_key(|(at, apart, place, _)| (*at, *apart, *place));
    let mut turn =
        keyed.iter().find(|(_, apart, ..)| *apart == 0).map_or(0, |(.., event)| event.turn);
    keyed
        .into_iter()
        .map(|(_, apart, _, mut event)| {
            match apart {
                0 => turn = event.turn,
                _ => event.turn = turn,
            }
            event
        })
        .collect()
}

/// Splits a session into turns and their segments.
pub(crate) fn turns(events: &[Event]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut tasks = Tasks::default();
    let mut start = 0;
    while let Some(first) = events.get(start) {
        let length = events[start..].iter().take_while(|event| event.turn == first.turn).count();
        let range = start..start + length;
        let segments = segments(events, range.clone(), &mut tasks);
        let own = &events[range.clone()];
        let asks_memory =
            own.iter().any(|event| event.asks_memory) && !own.iter().any(Event::is_work);
        turns.push(Turn { number: first.turn, range, segments, asks_memory });
        start += length;
    }
    turns
}

/// Returns true if a task only checks or reports other work.
fn is_checking(task: &str) -> bool {
    let first = task.split_whitespace().next().unwrap_or_default();
    ["run", "verify", "test", "check", "commit", "review", "final", "validate", "push"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(first))
}

fn segments(events: &[Event], range: Range<usize>, tasks: &mut Tasks) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut start = range.start;
    let current = |tasks: &Tasks| {
        tasks.current().filter(|task| !is_checking(task)).map(str::to_owned).into_iter().collect()
    };
    let mut begun: Vec<String> = current(tasks);
    for at in range.clone() {
        let Some(event) = events.get(at) else { break };
        if let Action::Tasks(change) = &event.action {
            let task = tasks.apply(change).filter(|task| !begun.contains(task));
            // Running checks belongs to the work they check.
            begun.extend(task.filter(|task| !is_checking(task) && begun.len() < TASKS));
        }
        let has_commit = event.run().is_some_and(|run| !run.commits.is_empty());
        if has_commit && segments.len() < BY_COMMIT {
            let is_first = segments.is_empty();
            let done = std::mem::replace(&mut begun, current(tasks));
            segments.push(Segment { range: start..at + 1, tasks: done, is_first });
            start = at + 1;
        }
    }
    if start < range.end {
        let rest = events.get(start..range.end).unwrap_or_default();
        let has_edits = rest.iter().any(|event| !event.modified.is_empty());
        let has_commits = rest.iter().filter_map(Event::run).any(|run| !run.commits.is_empty());
        match segments.last_mut() {
            Some(last) if !has_edits && !has_commits => last.range.end = range.end,
            _ => {
                let is_first = segments.is_empty();
                segments.push(Segment { range: start..range.end, tasks: begun, is_first });
            }
        }
    }
    segments
}

/// Returns the files that were read and not changed, up to the limit of the list.
pub(crate) fn files_read(events: &[Event], modified: &[String]) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let changed: std::collections::HashSet<&str> = modified.iter().map(String::as_str).collect();
    for file in events.iter().flat_map(|event| &event.read) {
        if files.len() >= READ {
            break;
        }
        if !files.contains(file) && !changed.contains(file.as_str()) {
            files.push(file.clone());
        }
    }
    files
}
