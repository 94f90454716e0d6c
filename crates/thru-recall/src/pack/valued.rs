//! The observations that a pack may tell, by their value: type, age, branch, and files in current work.

use std::collections::{HashMap, HashSet};

use thru_core::{
    Concept, FileState, MemoryKind, ObservationType, Timestamp, WorkOutcome, file_name, is_trunk,
};
use thru_store::{MemoryBody, MemoryFilter, MemoryRow, Result, SessionPlace, Store};

use super::said::{days, days_between};
use super::{Occasion, PackRequest};
use crate::freshness::{Freshness, Presence};
use crate::memories::normal;

/// Observations that are valued: the latest …
const LATEST: usize = 300;
/// … the latest decisions, and those about a file in current work.
const DECISIONS: usize = 60;
const BY_FILE: usize = 120;
/// Files of the project that are checked for recent changes …
const FILES_LOOKED_AT: usize = 150;
/// … which are those in this time.
pub(super) const LATELY_DAYS: f64 = 3.0;
/// The time after which an observation's value by age is halved.
const HALF_LIFE_DAYS: f64 = 14.0;
/// Number of the best observations whose files are checked on disk.
const CHECKED: usize = 80;

/// A memory that may be injected, and its value.
pub(super) struct Valued {
    pub(super) memory: MemoryRow,
    pub(super) files: Vec<FileState>,
    pub(super) place: SessionPlace,
    /// True if it is of the branch that is checked out, unless that is a trunk.
    pub(super) is_of_branch: bool,
    /// True if its session left work undone.
    pub(super) is_unfinished: bool,
    /// True for a person's saying about all things of a kind, or all times.
    pub(super) holds_in_general: bool,
    value: f64,
    reasons: Vec<String>,
    /// Checked on disk once, and only if it may matter.
    freshness: Option<Freshness>,
}

pub(super) fn is_open(summary: &MemoryRow) -> bool {
    summary.outcome.is_some_and(WorkOutcome::is_open)
}

/// Observations with their values, the best first.
pub(super) fn observations(
    store: &Store,
    request: &PackRequest<'_>,
    about: Option<i64>,
    since: Option<Timestamp>,
    summaries: &[MemoryRow],
) -> Result<Vec<Valued>> {
    let lately = if about.is_none() { changed_lately(store, request)? } else { Vec::new() };
    let found = candidates(store, request, about, since, &lately)?;
    let found = with_concepts(store, &request.limits.concepts, found)?;
    let unfinished: HashSet<i64> = summaries
        .iter()
        .filter(|summary| is_open(summary))
        .filter_map(|summary| summary.session)
        .collect();
    let places = places(store, &found)?;
    let rows: Vec<i64> = found.iter().map(|memory| memory.row).collect();
    let mut files = store.files_of_memories(&rows)?;
    let branch = request.branch.as_deref().filter(|branch| !is_trunk(branch));
    let mut valued: Vec<Valued> = found
        .into_iter()
        .map(|memory| {
            let place = memory.session.and_then(|row| places.get(&row)).cloned();
            let files = files.remove(&memory.row).unwrap_or_default();
            let mut valued = by_itself(memory, files, place.unwrap_or_default(), request);
            let changed =
                valued.files.iter().find(|file| file.modified && lately.contains(&file.path));
            if let Some(name) = changed.map(|file| file_name(&file.path).to_owned()) {
                valued.add(0.8, format!("names {name}, which changed lately"));
            }
            valued.is_of_branch = branch.is_some() && valued.place.branch.as_deref() == branch;
            if valued.is_of_branch {
                valued.add(0.6, "from this branch".to_owned());
            }
            valued.is_unfinished =
                valued.memory.session.is_some_and(|row| unfinished.contains(&row));
            if valued.is_unfinished {
                valued.add(0.4, "its session did not finish".to_owned());
            }
            valued
        })
        .collect();
    valued.sort_by(|a, b| {
        b.value
            .total_cmp(&a.value)
            .then_with(|| b.memory.at.cmp(&a.memory.at))
            .then_with(|| a.memory.id.cmp(&b.memory.id))
    });
    let mut seen = HashSet::new();
    valued.retain(|one| seen.insert(normal(&one.memory.title)));
    for one in valued.iter_mut().take(CHECKED) {
        if one.freshness(request).is_gone() {
            one.add(-0.6, "its files are gone".to_owned());
        }
    }
    valued.sort_by(|a, b| b.value.total_cmp(&a.value));
    Ok(valued)
}

impl Valued {
    fn add(&mut self, value: f64, reason: String) {
        self.value += value;
        self.reasons.push(reason);
    }

    pub(super) fn reason(&self) -> String {
        format!("value {:.2}: {}", self.value, self.reasons.join(", "))
    }

    fn freshness(&mut self, request: &PackRequest<'_>) -> Freshness {
        let root = self.place.directory.as_deref();
        *self.freshness.get_or_insert_with(|| Freshness::check(&self.files, root, request.disk))
    }
}

/// The value of an observation by its type and age.
fn by_itself(
    memory: MemoryRow,
    files: Vec<FileState>,
    place: SessionPlace,
    request: &PackRequest<'_>,
) -> Valued {
    let value = match memory.kind {
        MemoryKind::Observation(ObservationType::Decision) => 0.9,
        MemoryKind::Observation(ObservationType::Bugfix) => 0.7,
        MemoryKind::Observation(ObservationType::Feature | ObservationType::Discovery) => 0.6,
        MemoryKind::Observation(ObservationType::Refactor) => 0.5,
        MemoryKind::Observation(ObservationType::Change) | MemoryKind::Summary => 0.4,
    };
    let age = memory.at.map_or(f64::MAX, |at| days_between(at, request.now));
    let reasons = vec![memory.kind.to_string()];
    let holds_in_general = memory.flags.is_from_person && holds_in_general(&memory.title);
    let mut valued = Valued {
        memory,
        files,
        place,
        is_of_branch: false,
        is_unfinished: false,
        holds_in_general,
        value,
        reasons,
        freshness: None,
    };
    let recency = 0.5_f64.powf(age / HALF_LIFE_DAYS);
    if recency > 0.05 {
        valued.add(recency, format!("{} old", days(age)));
    }
    let is_about_itself = matches!(request.occasion, Occasion::Compact);
    if valued.memory.flags.is_correction && !is_about_itself {
        valued.add(-0.6, "a correction of that moment".to_owned());
    } else if valued.memory.flags.is_from_person {
        valued.add(0.3, "the user said it".to_owned());
        if valued.holds_in_general {
            valued.add(0.4, "it holds in general".to_owned());
        }
    }
    valued
}

/// True for a saying about all times, or about all things of a kind. "All the runs" and "all 4 prompts" are those at hand.
fn holds_in_general(title: &str) -> bool {
    const ALWAYS: [&str; 4] = ["always", "everywhere", "forward", "never"];
    const ALL: [&str; 6] = ["all", "any", "anything", "each", "every", "everything"];
    #[rustfmt::skip]
    const AT_HAND: [&str; 13] = [
        "at", "her", "his", "its", "my", "of", "our", "that", "the", "their", "these", "this", "those",
    ];
    let lower = title.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_kind = |at: usize| {
        words.get(at + 1).is_none_or(|next| {
            !AT_HAND.contains(next) && !next.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    words
        .iter()
        .enumerate()
        .any(|(at, word)| ALWAYS.contains(word) || ALL.contains(word) && is_kind(at))
        || lower.contains("from now on")
}

/// Observations that may be injected.
fn candidates(
    store: &Store,
    request: &PackRequest<'_>,
    about: Option<i64>,
    since: Option<Timestamp>,
    lately: &[String],
) -> Result<Vec<MemoryRow>> {
    let kinds: Vec<MemoryKind> = match request.limits.kinds.is_empty() {
        true => MemoryKind::all().filter(|kind| *kind != MemoryKind::Summary).collect(),
        false => request.limits.kinds.clone(),
    };
    let latest = MemoryFilter {
        projects: about.is_none().then(|| request.projects.clone()),
        session: about,
        kinds: Some(kinds.clone()),
        since,
        limit: Some(LATEST),
        ..MemoryFilter::default()
    };
    let decision = MemoryKind::Observation(ObservationType::Decision);
    let decisions = MemoryFilter {
        kinds: Some(kinds.into_iter().filter(|kind| *kind == decision).collect()),
        limit: Some(DECISIONS),
        ..latest.clone()
    };
    let by_file =
        MemoryFilter { files: Some(lately.to_vec()), limit: Some(BY_FILE), ..latest.clone() };
    let everywhere = MemoryFilter { projects: None, session: None, global: true, ..latest.clone() };
    let mut found = store.memories(&latest)?;
    // The other queries are for observations that the latest leave out.
    if found.len() == LATEST {
        found.extend(store.memories(&decisions)?);
        if !lately.is_empty() {
            found.extend(store.memories(&by_file)?);
        }
    }
    if about.is_none() {
        found.extend(store.memories(&everywhere)?);
    }
    let mut seen = HashSet::new();
    found.retain(|memory| {
        seen.insert(memory.row)
            // Rules have a section of their own.
            && (!memory.flags.is_rule || since.is_some())
            && !memory.flags.is_uncertain
            && (about.is_some() || request.session.is_none() || memory.session != request.session)
    });
    Ok(found)
}

/// Keeps those with one of the requested concepts.
fn with_concepts(
    store: &Store,
    wanted: &[Concept],
    found: Vec<MemoryRow>,
) -> Result<Vec<MemoryRow>> {
    if wanted.is_empty() {
        return Ok(found);
    }
    let mut kept = Vec::new();
    for memory in found {
        if let MemoryBody::Observation(body) = store.body_of(&memory)?
            && body.concepts.iter().any(|concept| wanted.contains(concept))
        {
            kept.push(memory);
        }
    }
    Ok(kept)
}

/// Files of the project that recently changed on this disk: the current work.
fn changed_lately(store: &Store, request: &PackRequest<'_>) -> Result<Vec<String>> {
    if request.projects.is_empty() {
        return Ok(Vec::new());
    }
    let files = store.files_changed_last(&request.projects, FILES_LOOKED_AT)?;
    Ok(files
        .into_iter()
        .filter(|path| match request.disk.look(path, None) {
            Presence::There { modified: Some(modified) } => {
                days_between(modified, request.now) <= LATELY_DAYS
            }
            _ => false,
        })
        .collect())
}

pub(super) fn places<'a>(
    store: &Store,
    memories: impl IntoIterator<Item = &'a MemoryRow>,
) -> Result<HashMap<i64, SessionPlace>> {
    let mut rows: Vec<i64> = memories.into_iter().filter_map(|memory| memory.session).collect();
    rows.sort_unstable();
    rows.dedup();
    store.places_of_sessions(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_for_all_things_of_a_kind_is_general() {
        for general in ["Store no key in any log", "Every kiln needs a damper", "Always fire twice"]
        {
            assert!(holds_in_general(general), "{general}");
        }
        for order in ["Move all the kilns to the shed", "Fire all 4 kilns", "Paint the kiln"] {
            assert!(!holds_in_general(order), "{order}");
        }
    }
}
