//! The ways from the names in a prompt to memories: files, identifiers, issues and pull requests.

use std::collections::HashSet;

use thru_core::{Id, Layout, MemoryKind, PassageKind, file_name};
use thru_store::index::{IndexFilter, TextIndex};
use thru_store::{MemoryFilter, Result, Store};

use super::PackRequest;
use super::prompt::{
    Bearings, IDENTIFIER, PER_CUE, RARELY, WEIGHED, Way, is_dotted, is_of_code, tells,
};
use super::words::Cues;
use crate::memories::{MemoryHit, find_memories, open};
use crate::query::analyse;

/// The value of a named file: not enough alone.
const FILE: f32 = 0.3;
/// The value of an identifier in what the agent wrote in the memory's turn, if few sessions have it: enough alone where
/// only words can be compared; …
const IN_PROSE: f32 = 0.5;
/// … and in another passage of the turn: not enough alone.
const IN_ITS_TURN: f32 = 0.3;
/// Passages examined per identifier. One that occurs more often says little.
const PASSAGES: usize = 200;
const COMMON_SESSIONS: usize = 12;
/// Files of a project that may end in the name that a prompt uses.
const FILES_OF_A_NAME: usize = 50;

/// Finds the latest memories with a file that the prompt names. Returns the names that no file has.
pub(super) fn by_files(
    store: &Store,
    request: &PackRequest<'_>,
    cues: &Cues,
    bearings: &mut Bearings,
) -> Result<Vec<String>> {
    let mut names = Vec::new();
    if request.projects.is_empty() {
        return Ok(names);
    }
    for file in &cues.files {
        let wanted = file.to_lowercase();
        let ends_so = |path: &String| {
            let path = path.to_lowercase().replace('\\', "/");
            path == wanted || path.ends_with(&format!("/{wanted}"))
        };
        let files: Vec<String> = store
            .files_named(&request.projects, file_name(file))?
            .into_iter()
            .filter(ends_so)
            .take(FILES_OF_A_NAME)
            .collect();
        if files.is_empty() {
            names.extend(Some(file.clone()).filter(|name| is_dotted(name)));
            continue;
        }
        let memories = store.memories(&MemoryFilter {
            projects: Some(request.projects.clone()),
            files: Some(files),
            kinds: Some(MemoryKind::all().filter(|kind| *kind != MemoryKind::Summary).collect()),
            limit: Some(PER_CUE),
            ..MemoryFilter::default()
        })?;
        for memory in memories {
            bearings.add(memory, Way::File, FILE, Some(format!("names {file}")));
        }
    }
    Ok(names)
}

/// Finds memories of turns that contain an identifier of the prompt.
pub(super) fn by_identifiers(
    index: &TextIndex,
    store: &Store,
    request: &PackRequest<'_>,
    cues: &Cues,
    bearings: &mut Bearings,
) -> Result<()> {
    if cues.identifiers.is_empty() || request.projects.is_empty() {
        return Ok(());
    }
    let filter = of_projects(request);
    for identifier in &cues.identifiers {
        let terms = analyse(identifier);
        let candidates = index.candidates(&terms, &filter, PASSAGES)?;
        // All of it: its parts alone are ordinary words.
        let holds_all = |contributions: &[f32]| contributions.iter().all(|one| *one > 0.0);
        let rows: Vec<i64> = candidates
            .found
            .iter()
            .filter(|candidate| holds_all(&candidate.contributions))
            .map(|candidate| candidate.row)
            .collect();
        // A frequent identifier says nothing, and which of its many passages came first is arbitrary.
        if rows.len() >= PASSAGES {
            continue;
        }
        let mut passages = store.passages_of_rows(&rows)?;
        let sessions: HashSet<i64> = passages.iter().map(|passage| passage.session).collect();
        if sessions.len() > COMMON_SESSIONS {
            continue;
        }
        passages.sort_by_key(|passage| std::cmp::Reverse((passage.at, passage.id)));
        let wanted = identifier.to_lowercase();
        let is_rare = sessions.len() <= RARELY && is_of_code(identifier);
        let mut places: Vec<(i64, u32, Option<Id>)> = Vec::new();
        for passage in &passages {
            let is_place = |place: &(i64, u32, Option<Id>)| {
                (place.0, place.1) == (passage.session, passage.turn)
            };
            let at = match places.iter().position(is_place) {
                Some(at) => at,
                None if places.len() < PER_CUE => {
                    places.push((passage.session, passage.turn, None));
                    places.len() - 1
                }
                None => continue,
            };
            if is_rare
                && passage.kind == PassageKind::Assistant
                && places[at].2.is_none()
                && store.text_of(passage)?.to_lowercase().contains(&wanted)
            {
                places[at].2 = Some(passage.id);
            }
        }
        for (session, turn, said) in places {
            let of_session = MemoryFilter { session: Some(session), ..MemoryFilter::default() };
            let mut memories = store.memories(&of_session)?;
            memories.retain(|memory| memory.turn == turn && memory.kind != MemoryKind::Summary);
            let mut telling = None;
            for (at, memory) in memories.iter().enumerate() {
                if tells(store, memory, |text| text.to_lowercase().contains(&wanted))? {
                    telling = Some(at);
                    break;
                }
            }
            let (value, reason) = match telling {
                Some(_) => (IDENTIFIER, format!("tells of {identifier}")),
                None if said.is_some() => (IN_PROSE, format!("its turn speaks of {identifier}")),
                None => (IN_ITS_TURN, format!("{identifier} stands in its turn")),
            };
            if let Some(memory) = memories.into_iter().nth(telling.unwrap_or_default()) {
                let id = memory.id;
                bearings.add(memory, Way::Identifier, value, Some(reason));
                bearings.cite(id, said);
            }
        }
    }
    Ok(())
}

/// Finds the memories that tell of an issue or a pull request.
pub(super) fn by_references(
    layout: &Layout,
    store: &Store,
    request: &PackRequest<'_>,
    cues: &Cues,
    bearings: &mut Bearings,
) -> Result<()> {
    if cues.references.is_empty() || request.projects.is_empty() {
        return Ok(());
    }
    let index = open(layout, store)?;
    let filter = of_projects(request);
    for number in &cues.references {
        let hits = find_memories(store, &index, &analyse(number), &filter, None, WEIGHED)?;
        let mut telling = Vec::new();
        for MemoryHit { memory, .. } in hits {
            let is_summary = memory.kind == MemoryKind::Summary;
            if !is_summary && tells(store, &memory, |text| refers_to(text, number))? {
                telling.push(memory);
            }
        }
        telling.sort_by_key(|memory| std::cmp::Reverse((memory.at, memory.id)));
        for memory in telling.into_iter().take(PER_CUE) {
            let reason = format!("tells of #{number}");
            bearings.add(memory, Way::Identifier, IDENTIFIER, Some(reason));
        }
    }
    Ok(())
}

/// True for `#41`, `/issues/41` and `/pull/41`.
fn refers_to(text: &str, number: &str) -> bool {
    text.match_indices(number).any(|(at, _)| {
        let ends = !text[at + number.len()..].starts_with(|c: char| c.is_ascii_digit());
        ends && text[..at].ends_with(['#', '/'])
    })
}

pub(super) fn of_projects(request: &PackRequest<'_>) -> IndexFilter {
    IndexFilter { projects: Some(request.projects.clone()), ..IndexFilter::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_the_whole_number_behind_its_mark() {
        assert!(refers_to("Closes #41.", "41") && refers_to("see host/a/b/pull/41", "41"));
        assert!(!refers_to("#410 and 41 ms", "41") && !refers_to("#141", "41"));
    }
}
