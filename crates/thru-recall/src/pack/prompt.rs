//! What a prompt is given: only what bears on it, and mostly nothing.
//!
//! Three ways lead from a prompt to memories: its words, the files that it names, and the identifiers
//! in it, which are looked for in the passages that memories were made from. A prompt that asks what
//! was done is told of the last sessions.

use std::collections::HashMap;

use thru_core::{Id, Layout, MemoryKind, file_name};
use thru_store::index::{EVERYWHERE, IndexFilter, TextIndex};
use thru_store::{MemoryBody, MemoryFilter, MemoryFlags, MemoryRow, Result, Store};

use super::render::{Section, recorded};
use super::words::{Cues, cues};
use super::{Draft, PackRequest};
use crate::freshness::Freshness;
use crate::memories::{find_memories, open};
use crate::query::analyse;
use crate::tiers::{Tier, WARM_LINES, WARM_SIMILARITY};

/// Memories that are weighed by their words.
const WEIGHED: usize = 20;
/// Compared with the best one, what others must reach.
const SHARE_OF_BEST: f32 = 0.6;
/// Memories that one file, or one identifier, brings along: the latest.
const PER_CUE: usize = 2;
/// What a named file and a named identifier are worth beside the words (at most 1).
const FILE: f32 = 0.6;
const IDENTIFIER: f32 = 0.8;
const PAST: f32 = 0.5;
/// Passages that hold an identifier which are looked at. One that stands in more says little.
const PASSAGES: usize = 200;
const COMMON_SESSIONS: usize = 12;
/// Files of a project that may end as the prompt writes it.
const FILES_OF_A_NAME: usize = 50;

/// A memory that bears on the prompt.
struct Bearing {
    memory: MemoryRow,
    value: f32,
    reasons: Vec<String>,
}

/// Memories by id.
#[derive(Default)]
struct Bearings(HashMap<Id, Bearing>);

impl Bearings {
    fn add(&mut self, memory: MemoryRow, value: f32, reason: String) {
        let id = memory.id;
        let known = self.0.entry(id);
        let bearing = known.or_insert_with(|| Bearing { memory, value: 0.0, reasons: Vec::new() });
        if !bearing.reasons.contains(&reason) {
            bearing.value += value;
            bearing.reasons.push(reason);
        }
    }
}

pub(super) fn drafts(
    layout: &Layout,
    store: &Store,
    request: &PackRequest<'_>,
    prompt: &str,
) -> Result<(Vec<Draft>, String)> {
    if let Some(why) = super::words::deserves_silence(prompt) {
        return Ok((Vec::new(), format!("silent: {why}")));
    }
    let cues = cues(prompt);
    if cues.call.is_none() {
        return Ok((Vec::new(), "silent: the prompt calls for no memory".to_owned()));
    }
    let mut bearings = Bearings::default();
    by_words(layout, store, request, &cues, &mut bearings)?;
    by_files(store, request, &cues, &mut bearings)?;
    by_identifiers(layout, store, request, &cues, &mut bearings)?;
    if cues.asks_about_past && bearings.0.is_empty() {
        of_last_sessions(store, request, &mut bearings)?;
    }
    let mut found: Vec<Bearing> = bearings.0.into_values().collect();
    found.retain(|bearing| may_be_told(&bearing.memory, request));
    // Rank before telling, so that ties do not depend on the order of a hash map.
    found.sort_by(|a, b| {
        b.value
            .total_cmp(&a.value)
            .then_with(|| b.memory.at.cmp(&a.memory.at))
            .then_with(|| a.memory.id.cmp(&b.memory.id))
    });
    found.truncate(WARM_LINES);
    if found.is_empty() {
        return Ok((Vec::new(), "silent: nothing bears on the prompt enough".to_owned()));
    }
    let note = format!("looked for {}", cues.words.join(" "));
    let drafts =
        found.into_iter().map(|bearing| draft(store, request, bearing)).collect::<Result<_>>()?;
    Ok((drafts, note))
}

/// Whether a memory may be put into a pack at all.
fn may_be_told(memory: &MemoryRow, request: &PackRequest<'_>) -> bool {
    // What this session did, its agent has in its context.
    let is_own = request.session.is_some() && memory.session == request.session;
    let kinds = &request.limits.kinds;
    let is_new = !is_own && !request.told.contains(&memory.id);
    is_new && !memory.flags.is_uncertain && (kinds.is_empty() || kinds.contains(&memory.kind))
}

/// Memories that hold enough of the prompt's telling words.
fn by_words(
    layout: &Layout,
    store: &Store,
    request: &PackRequest<'_>,
    cues: &Cues,
    bearings: &mut Bearings,
) -> Result<()> {
    let terms = analyse(&cues.words.join(" "));
    let index = open(layout, store)?;
    let mut projects = request.projects.clone();
    projects.push(EVERYWHERE);
    let filter = IndexFilter {
        projects: Some(projects),
        concepts: (!request.limits.concepts.is_empty()).then(|| request.limits.concepts.clone()),
        ..IndexFilter::default()
    };
    let hits = find_memories(store, &index, &terms, &filter, WEIGHED)?;
    let best = hits.first().map_or(0.0, |hit| hit.score);
    // One telling word alone must be all that the prompt says.
    let enough = cues.words.len().clamp(1, 2);
    for hit in hits {
        if hit.words >= enough
            && hit.coverage >= WARM_SIMILARITY
            && hit.score >= SHARE_OF_BEST * best
        {
            let reason = format!("holds {:.0} % of its telling words", hit.coverage * 100.0);
            bearings.add(hit.memory, hit.coverage * hit.score / best, reason);
        }
    }
    Ok(())
}

/// The latest memories that name a file which the prompt names.
fn by_files(
    store: &Store,
    request: &PackRequest<'_>,
    cues: &Cues,
    bearings: &mut Bearings,
) -> Result<()> {
    if request.projects.is_empty() {
        return Ok(());
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
            bearings.add(memory, FILE, format!("names {file}"));
        }
    }
    Ok(())
}

/// Memories of turns in which an identifier of the prompt stands.
fn by_identifiers(
    layout: &Layout,
    store: &Store,
    request: &PackRequest<'_>,
    cues: &Cues,
    bearings: &mut Bearings,
) -> Result<()> {
    if cues.identifiers.is_empty() || request.projects.is_empty() {
        return Ok(());
    }
    let index = TextIndex::open(layout, store)?;
    let filter = IndexFilter { projects: Some(request.projects.clone()), ..IndexFilter::default() };
    for identifier in &cues.identifiers {
        let terms = analyse(identifier);
        let candidates = index.candidates(&terms, &filter, PASSAGES)?;
        // What stands everywhere says nothing, and which of many came first depends on nothing that lasts.
        if candidates.found.len() >= PASSAGES {
            continue;
        }
        // All of it: its parts alone are ordinary words.
        let holds_all = |contributions: &[f32]| contributions.iter().all(|one| *one > 0.0);
        let rows: Vec<i64> = candidates
            .found
            .iter()
            .filter(|candidate| holds_all(&candidate.contributions))
            .map(|candidate| candidate.row)
            .collect();
        let mut passages = store.passages_of_rows(&rows)?;
        let sessions: std::collections::HashSet<i64> =
            passages.iter().map(|passage| passage.session).collect();
        if sessions.len() > COMMON_SESSIONS {
            continue;
        }
        passages.sort_by_key(|passage| std::cmp::Reverse((passage.at, passage.id)));
        let mut places: Vec<(i64, u32)> = Vec::new();
        for passage in &passages {
            let place = (passage.session, passage.turn);
            if !places.contains(&place) && places.len() < PER_CUE {
                places.push(place);
            }
        }
        for (session, turn) in places {
            let of_session = MemoryFilter { session: Some(session), ..MemoryFilter::default() };
            let mut memories = store.memories(&of_session)?;
            memories.retain(|memory| memory.turn == turn && memory.kind != MemoryKind::Summary);
            if let Some(memory) = memories.into_iter().next() {
                bearings.add(memory, IDENTIFIER, format!("{identifier} stands in its turn"));
            }
        }
    }
    Ok(())
}

/// The summaries of the project's last sessions.
fn of_last_sessions(
    store: &Store,
    request: &PackRequest<'_>,
    bearings: &mut Bearings,
) -> Result<()> {
    let summaries = store.memories(&MemoryFilter {
        projects: Some(request.projects.clone()),
        kinds: Some(vec![MemoryKind::Summary]),
        limit: Some(PER_CUE),
        ..MemoryFilter::default()
    })?;
    for summary in summaries {
        bearings.add(summary, PAST, "the prompt asks what was done".to_owned());
    }
    Ok(())
}

fn draft(store: &Store, request: &PackRequest<'_>, bearing: Bearing) -> Result<Draft> {
    let Bearing { memory, value, reasons } = bearing;
    let places = store.places_of_sessions(memory.session.as_slice())?;
    let root = places.into_values().next().and_then(|place| place.directory);
    let files = store.files_of_memories(&[memory.row])?.remove(&memory.row).unwrap_or_default();
    let stale = Freshness::of(&files, root.as_deref(), request.disk).note();
    let mut text = recorded(&memory.title, 200);
    let MemoryFlags { is_of_person, is_rule, .. } = memory.flags;
    if is_of_person && memory.kind != MemoryKind::Summary {
        text = format!("the user {}: \"{text}\"", if is_rule { "ruled" } else { "said" });
    }
    let detail = match store.body_of(&memory)? {
        MemoryBody::Observation(body) => body.narrative.or(body.facts.into_iter().next()),
        MemoryBody::Summary(body) => body.digest.completed.into_iter().next(),
    };
    if let Some(detail) = detail.filter(|detail| !detail.text.contains(&memory.title)) {
        text.push_str(". ");
        text.push_str(&recorded(&detail.text, 240));
    }
    let at = memory.at.map(|at| at.to_zoned(request.zone.clone()).date().to_string());
    let notes: Vec<String> = at.into_iter().chain(stale).collect();
    if !notes.is_empty() {
        text.push_str(&format!(" ({})", notes.join("; ")));
    }
    Ok(Draft {
        section: Section::Relevant,
        tier: Tier::Warm,
        reason: format!("{} (value {value:.2})", reasons.join(", ")),
        text,
        memory: Some(memory),
    })
}
