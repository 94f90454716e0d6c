//! The effects of a session: what its agent had remembered, and what other sessions made of what they were told of it.

use std::collections::{BTreeSet, HashMap, HashSet};

use thru_core::{Id, MemoryKind, Timestamp, bare_words};
use thru_store::{MemoryFilter, MemoryRow, PassageFilter, SessionRow, Store};

use crate::trouble::Result;

/// The share of the telling words of a memory that makes another text repeat it, …
const REPEATED: f64 = 0.7;
/// … and the fewest words by which a text is known again.
const FEWEST: usize = 3;

/// The effects of sessions.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Memories beside their own.
    pub(super) memories: Vec<MemoryRow>,
    /// Rows of the sessions that were told of them.
    pub(super) told: BTreeSet<i64>,
}

/// Finds the effects of a session. A memory that repeats what its session was told hands it on, and so do those that
/// repeat that one.
pub(super) fn effects(store: &Store, session: &SessionRow) -> Result<Effects> {
    let mut effects = Effects { memories: notes(store, session)?, told: BTreeSet::new() };
    let own =
        MemoryFilter { session: Some(session.row), superseded: true, ..MemoryFilter::default() };
    let mut handed_on: HashMap<Id, HashSet<String>> = HashMap::new();
    for memory in store.memories(&own)?.iter().chain(&effects.memories) {
        handed_on.insert(memory.id, telling_words(&memory.title));
    }
    // In the order of time: what is made of a memory comes before it is told itself.
    for injection in store.injections(None)? {
        let told: Vec<HashSet<String>> = injection
            .memories
            .iter()
            .filter_map(|(id, _)| handed_on.get(id))
            .filter(|words| words.len() >= FEWEST)
            .cloned()
            .collect();
        let is_told = injection.memories.iter().any(|(id, _)| handed_on.contains_key(id));
        if injection.session == session.row || !is_told {
            continue;
        }
        effects.told.insert(injection.session);
        for memory in made_since(store, injection.session, injection.at)? {
            if handed_on.contains_key(&memory.id) {
                continue;
            }
            let words = telling_words(&store.body_of(&memory)?.search_text());
            if told.iter().any(|told| repeats(&words, told)) {
                handed_on.insert(memory.id, telling_words(&memory.title));
                effects.memories.push(memory);
            }
        }
    }
    Ok(effects)
}

/// The notes that the session's agent had remembered, whatever they pass for: those in the calls of its tools.
fn notes(store: &Store, session: &SessionRow) -> Result<Vec<MemoryRow>> {
    let mut notes = store.memories(&MemoryFilter { notes: true, ..MemoryFilter::default() })?;
    if notes.is_empty() {
        return Ok(notes);
    }
    let mut calls = Vec::new();
    for passage in store.passages(PassageFilter::Session(session.row))? {
        let mut names = passage.tool.iter().chain(&passage.command);
        if names.any(|name| name.contains("remember")) {
            calls.push(bare_words(&store.text_of(&passage)?));
        }
    }
    notes.retain(|note| {
        let title = bare_words(&note.title);
        calls.iter().any(|call| call.contains(&title))
    });
    Ok(notes)
}

/// The observations of a session from a time on. Its summary says no more of those that are forgotten.
fn made_since(store: &Store, session: i64, since: Option<Timestamp>) -> Result<Vec<MemoryRow>> {
    let kinds = MemoryKind::all().filter(|kind| *kind != MemoryKind::Summary).collect();
    let session = Some(session);
    let filter = MemoryFilter { session, since, kinds: Some(kinds), ..MemoryFilter::default() };
    Ok(store.memories(&filter)?)
}

/// True if a text holds most of the telling words of another.
fn repeats(text: &HashSet<String>, told: &HashSet<String>) -> bool {
    let shared = told.intersection(text).count();
    shared as f64 >= REPEATED * told.len() as f64
}

/// The words of a text that tell it from others, in lower case.
fn telling_words(text: &str) -> HashSet<String> {
    bare_words(text)
        .split(' ')
        .filter(|word| word.chars().count() > 3 || word.chars().any(|c| c.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}
