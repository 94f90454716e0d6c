//! The pack of a prompt: only what bears on it, and mostly nothing.
//!
//! These ways lead from a prompt to memories: its words, its meaning, the files, issues and names that it has, and
//! the identifiers in it, which are searched for in the passages that memories were made from. Their values add
//! up, so that two weak ways make a strong one, and only memories of enough value are injected, or those whose turn says
//! enough of what the prompt is about. A prompt that asks about earlier work, and says little else, gets the last sessions.

use std::collections::{BTreeMap, HashMap, HashSet};

use thru_core::{Id, Layout, MemoryKind, PassageKind};
use thru_store::index::{EVERYWHERE, IndexFilter, QueryTerms, TextIndex};
use thru_store::{MemoryBody, MemoryFilter, MemoryRow, Result, Store};

use super::answering::{Answer, answering};
use super::detail::{adds, details, whole};
use super::earlier::by_turns;
use super::named::{by_files, by_identifiers, by_references};
use super::render::{Section, recorded};
use super::said::{cut, tell_the_same, words_of};
use super::speaker::TitleSpeaker;
use super::words::{Cues, cues};
use super::{Draft, PackRequest};
use crate::freshness::{Freshness, Since};
use crate::meaning::LazyMeaning;
use crate::memories::{MemoryHit, find_memories, open};
use crate::query::analyse;
use crate::rank::related;
use crate::tiers::{Tier, WARM_BY_WORDS, WARM_LINES, WARM_WITH_MEANING};

/// Number of memories that are compared by words and meaning.
pub(super) const WEIGHED: usize = 200;
/// The rarest known words of a prompt, which together count fully: a long prompt is about few things.
const RAREST: usize = 6;
/// The share of a prompt's words that must be known for the others not to be missed.
const KNOWN: f32 = 0.5;
/// The weight of a word in a title.
const IN_TITLE: f32 = 1.5;
/// The value of a word that only one memory of the project holds.
const RARE: f32 = 0.06;
/// The share of the words that counts as all of them, and its value.
const ALL: f32 = 0.9;
const WHOLE: f32 = 0.5;
/// The memories of a project among which one is rare.
pub(super) const MANY: f32 = 50.0;
/// A second memory is injected only if its value is nearly that of the first.
const SHARE_OF_BEST: f32 = 0.95;
/// Memories per file, or per identifier: the latest.
pub(super) const PER_CUE: usize = 2;
/// The value of meaning, relative to words: a cosine far above chance counts as much as all of the prompt's
/// words.
const MEANING: f32 = 2.0;
/// The value of an identifier in the memory: enough alone, …
pub(super) const IDENTIFIER: f32 = 0.8;
/// … in at most so many.
pub(super) const RARELY: usize = 4;
/// The value of a name with a hyphen that the memory marks as one: not enough alone.
const MARKED: f32 = 0.3;
/// The value of belonging to the last sessions, if nothing else is asked for.
const PAST: f32 = 1.0;
/// The value of a memory that has no title but an excerpt: it holds words of many things and is about none.
const EXCERPT: f32 = 0.7;
/// A prompt about earlier work with no more telling words than this asks for all of it.
const FEW_WORDS: usize = 3;
/// Memories after one in which a later one of the same work is looked for.
const LATER: usize = 20;
/// Characters of what stands behind a title.
const DETAIL: usize = 440;

/// The way from a prompt to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// The value is a share of what is enough alone; it adds nothing to the others.
    Turn,
    Words,
    Meaning,
    File,
    Identifier,
    Past,
}

/// A memory that may bear on the prompt.
struct Bearing {
    memory: MemoryRow,
    /// The value of each way.
    ways: BTreeMap<Way, f32>,
    reasons: Vec<String>,
    /// The passage of its turn that a name was found in.
    passage: Option<Id>,
}

impl Bearing {
    /// The sum of all ways but its turn.
    fn value(&self) -> f32 {
        let ways = self.ways.iter().filter(|(way, _)| **way != Way::Turn);
        let value: f32 = ways.map(|(_, value)| value).sum();
        if self.memory.is_untitled() { EXCERPT * value } else { value }
    }

    /// Its share of what is enough.
    fn share(&self) -> f32 {
        let limit = match self.ways.contains_key(&Way::Meaning) {
            true => WARM_WITH_MEANING,
            false => WARM_BY_WORDS,
        };
        let of_turn = self.ways.get(&Way::Turn).copied().unwrap_or_default();
        (self.value() / limit).max(of_turn)
    }
}

/// Memories by id.
#[derive(Default)]
pub(super) struct Bearings(HashMap<Id, Bearing>);

impl Bearings {
    /// Adds a way; a second file adds no value.
    pub(super) fn add(&mut self, memory: MemoryRow, way: Way, value: f32, reason: Option<String>) {
        let new = Bearing { memory, ways: BTreeMap::new(), reasons: Vec::new(), passage: None };
        let bearing = self.0.entry(new.memory.id).or_insert(new);
        let worth = bearing.ways.entry(way).or_default();
        *worth = worth.max(value);
        bearing.reasons.extend(reason.filter(|reason| !bearing.reasons.contains(reason)));
    }

    /// Notes the passage that a name was found in.
    pub(super) fn cite(&mut self, memory: Id, passage: Option<Id>) {
        if let Some(bearing) = self.0.get_mut(&memory) {
            bearing.passage = passage.or(bearing.passage);
        }
    }
}

pub(super) fn drafts(
    layout: &Layout,
    store: &Store,
    request: &PackRequest<'_>,
    prompt: &str,
    meaning: &LazyMeaning<'_>,
    weighed: &mut Vec<(Id, f32)>,
) -> Result<(Vec<Draft>, String)> {
    if let Some(why) = super::words::deserves_silence(prompt) {
        return Ok((Vec::new(), format!("silent: {why}")));
    }
    let mut cues = cues(prompt);
    // Its name stands in any of its memories.
    let name = request.project.as_deref().map(letters);
    cues.words.retain(|word| name.as_deref() != Some(letters(word).as_str()));
    if cues.call.is_none() {
        return Ok((Vec::new(), "silent: the prompt calls for no memory".to_owned()));
    }
    let mut bearings = Bearings::default();
    // `rocket.trace.v1` is written like a file.
    let names = by_files(store, request, &cues, &mut bearings)?;
    cues.identifiers.extend(names);
    let passages = TextIndex::open(layout, store)?;
    let indexes = (&passages, &open(layout, store)?);
    by_words_and_meaning(indexes, store, request, &cues, meaning, &mut bearings)?;
    by_identifiers(&passages, store, request, &cues, &mut bearings)?;
    by_references(layout, store, request, &cues, &mut bearings)?;
    weighed.extend(bearings.0.values().map(|bearing| (bearing.memory.id, bearing.share())));
    weighed.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    bearings.0.retain(|_, bearing| bearing.share() >= 1.0);
    if cues.asks_about_past && cues.words.len() <= FEW_WORDS && bearings.0.is_empty() {
        of_last_sessions(store, request, &mut bearings)?;
    }
    let mut found: Vec<Bearing> = bearings.0.into_values().collect();
    found.retain(|bearing| may_be_told(&bearing.memory, request));
    if found.iter().any(|bearing| bearing.memory.flags.is_rule) {
        let superseded = super::standing::superseded(store, request)?;
        found.retain(|bearing| !superseded.contains(&bearing.memory.id));
    }
    // Ordered before the cut, so that ties do not depend on the order of a hash map.
    found.sort_by(|a, b| {
        b.share()
            .total_cmp(&a.share())
            .then_with(|| b.memory.at.cmp(&a.memory.at))
            .then_with(|| a.memory.id.cmp(&b.memory.id))
    });
    let best = found.first().map_or(0.0, Bearing::share);
    found.retain(|bearing| bearing.share() >= SHARE_OF_BEST * best);
    found.truncate(WARM_LINES);
    let latest = found.into_iter().map(|bearing| latest_of_its_work(store, request, bearing));
    let mut found = latest.collect::<Result<Vec<Bearing>>>()?;
    let mut seen = HashSet::new();
    found.retain(|one| may_be_told(&one.memory, request) && seen.insert(one.memory.id));
    if found.is_empty() {
        return Ok((Vec::new(), "silent: nothing bears on the prompt enough".to_owned()));
    }
    let note = format!("looked for {}", cues.words.join(" "));
    let query = analyse(&cues.words.join(" "));
    let drafts = found.into_iter().map(|bearing| draft(store, request, bearing, &query));
    Ok((drafts.collect::<Result<_>>()?, note))
}

/// The latest memory of the work that one tells of: of several notes on the same, the last one says how it is.
fn latest_of_its_work(
    store: &Store,
    request: &PackRequest<'_>,
    mut bearing: Bearing,
) -> Result<Bearing> {
    // What a session did is no note on one thing.
    if bearing.memory.kind == MemoryKind::Summary {
        return Ok(bearing);
    }
    let row = bearing.memory.row;
    let files = store.files_of_memories(&[row])?.remove(&row).unwrap_or_default();
    let files: Vec<String> =
        files.into_iter().filter(|file| file.modified).map(|file| file.path).collect();
    if files.is_empty() || request.projects.is_empty() {
        return Ok(bearing);
    }
    let later = store.memories(&MemoryFilter {
        projects: Some(request.projects.clone()),
        files: Some(files),
        kinds: Some(MemoryKind::all().filter(|kind| *kind != MemoryKind::Summary).collect()),
        since: bearing.memory.at,
        limit: Some(LATER),
        ..MemoryFilter::default()
    })?;
    let told = words_of(&bearing.memory.title);
    let is_later =
        |other: &MemoryRow| (other.at, other.turn) > (bearing.memory.at, bearing.memory.turn);
    let mut same = later.into_iter().filter(|other| {
        is_later(other)
            && !other.flags.is_uncertain
            && tell_the_same(&told, &words_of(&other.title))
    });
    // The latest comes first.
    if let Some(latest) = same.next() {
        bearing.reasons.push(format!("the latest about \"{}\"", cut(&bearing.memory.title, 60)));
        bearing.memory = latest;
    }
    Ok(bearing)
}

/// The letters and digits of a name, however it is spelled.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns true if a memory may be put into a pack at all.
pub(super) fn may_be_told(memory: &MemoryRow, request: &PackRequest<'_>) -> bool {
    // Its agent has this session's own work in its context.
    let is_own = request.session.is_some() && memory.session == request.session;
    let kinds = &request.limits.kinds;
    let is_new = !is_own && !request.told.contains(&memory.id);
    is_new && !memory.flags.is_uncertain && (kinds.is_empty() || kinds.contains(&memory.kind))
}

/// Finds memories that hold the prompt's telling words, or mean nearly the same.
fn by_words_and_meaning(
    (passages, memories): (&TextIndex, &TextIndex),
    store: &Store,
    request: &PackRequest<'_>,
    cues: &Cues,
    meaning: &LazyMeaning<'_>,
    bearings: &mut Bearings,
) -> Result<()> {
    let terms = analyse(&cues.words.join(" "));
    let mut projects = request.projects.clone();
    projects.push(EVERYWHERE);
    let filter = IndexFilter {
        projects: Some(projects),
        concepts: (!request.limits.concepts.is_empty()).then(|| request.limits.concepts.clone()),
        ..IndexFilter::default()
    };
    let hits = find_memories(store, memories, &terms, &filter, meaning.get(), WEIGHED)?;
    by_turns((passages, memories), store, request, (&terms, &cues.words), &hits, bearings)?;
    let memories = store.memories_of_projects(&request.projects)?;
    let telling = Telling::of(cues, &terms, &hits, memories);
    // A single telling word must be all that the prompt says, or be supported by meaning.
    let enough = cues.words.len().clamp(1, 2);
    // The title of a session says less than its observations, which are found as well.
    let observations: Vec<MemoryHit> =
        hits.into_iter().filter(|hit| hit.memory.kind != MemoryKind::Summary).collect();
    for name in cues.words.iter().filter(|word| is_compound(word)) {
        let whole = format!("={}", name.to_lowercase());
        let is_marked = |text: &str| {
            ["`", "/"].iter().any(|mark| text.to_lowercase().contains(&whole.replace('=', mark)))
        };
        let mut marking = Vec::new();
        for hit in &observations {
            let holds = hit.held.iter().any(|at| terms.terms.get(*at) == Some(&whole));
            if holds && tells(store, &hit.memory, is_marked)? {
                marking.push(&hit.memory);
            }
        }
        for memory in marking.iter().filter(|_| marking.len() <= RARELY) {
            let reason = Some(format!("names {name}"));
            bearings.add((*memory).clone(), Way::Identifier, MARKED, reason);
        }
    }
    for identifier in cues.identifiers.iter().filter(|name| is_of_code(name)) {
        let whole = format!("={}", identifier.to_lowercase());
        let is_whole = |at: &usize| terms.terms.get(*at) == Some(&whole);
        let tells = |hit: &&MemoryHit| hit.held.iter().any(is_whole);
        let telling: Vec<&MemoryHit> = observations.iter().filter(tells).collect();
        // What many tell of says nothing about which.
        for hit in telling.iter().filter(|_| telling.len() <= RARELY) {
            let reason = format!("tells of {identifier}");
            bearings.add(hit.memory.clone(), Way::Identifier, IDENTIFIER, Some(reason));
        }
    }
    for hit in observations {
        if let Some(cosine) = hit.similarity {
            let related = related(hit.similarity);
            let reason = format!("means nearly the same ({cosine:.2})");
            let reason = Some(reason).filter(|_| related > 0.0);
            bearings.add(hit.memory.clone(), Way::Meaning, MEANING * related, reason);
        }
        let (words, value) = telling.value(&hit);
        if words >= enough || words > 0 && hit.similarity.is_some() {
            let held = hit.held.iter().filter_map(|at| terms.terms.get(*at));
            let held: Vec<&str> = held.map(String::as_str).collect();
            bearings.add(hit.memory, Way::Words, value, Some(format!("holds {}", held.join(", "))));
        }
    }
    Ok(())
}

/// True for two words with a hyphen between them: the name of a package, a repository, a branch, or English.
fn is_compound(word: &str) -> bool {
    let mut parts = word.split('-');
    let is_part = |part: &str| part.len() > 1 && part.chars().all(|c| c.is_ascii_alphanumeric());
    word.contains('-') && parts.all(is_part) && word.starts_with(|c: char| c.is_ascii_lowercase())
}

/// True for `rocket.trace.v1`.
pub(super) fn is_dotted(name: &str) -> bool {
    name.matches('.').count() > 1 && !name.contains('/')
}

/// True for a name that stands in code, and hardly for a product: `take_lock`, `lock::take`, `takeLock`.
pub(super) fn is_of_code(identifier: &str) -> bool {
    let starts_small = identifier.starts_with(|c: char| c.is_ascii_lowercase());
    identifier.contains(['_', ':'])
        || is_dotted(identifier)
        || starts_small && identifier.chars().any(|c| c.is_ascii_uppercase())
}

/// The words of a prompt with their weights in the project.
struct Telling {
    words: Vec<Word>,
    /// True if one of them names a file or something in the code.
    is_name: bool,
    /// The weight of the rarest of the known words.
    most: f32,
    /// The share of the words that is known, from 0 to 1; 1 from half of them on.
    known: f32,
    /// The trust in rarity, which says little where there are few memories.
    trust: f32,
}

/// A word of a prompt: itself, and its parts if it is a name.
struct Word {
    /// Its terms, by their places in the query, with their weights: 1 if one memory holds it, 0 if all do.
    terms: Vec<(usize, String, f32)>,
    /// The weight of its rarest term.
    weight: f32,
}

impl Telling {
    fn of(cues: &Cues, query: &QueryTerms, hits: &[MemoryHit], memories: u64) -> Self {
        let memories = (memories as f32).max(hits.len() as f32);
        let rarity = |held: f32, of: f32| ((of - held + 0.5) / (held + 0.5)).ln_1p();
        let weigh = |at: usize| match hits.iter().filter(|hit| hit.held.contains(&at)).count() {
            0 => 0.0,
            held => (rarity(held as f32, memories) / rarity(1.0, memories)).clamp(0.0, 1.0),
        };
        let words: Vec<Word> = cues
            .words
            .iter()
            .map(|word| {
                let places = analyse(word).terms.into_iter().filter_map(|term| {
                    Some((query.terms.iter().position(|known| *known == term)?, term))
                });
                let terms: Vec<_> = places.map(|(at, term)| (at, term, weigh(at))).collect();
                let weight = terms.iter().map(|(.., weight)| *weight).fold(0.0, f32::max);
                Word { terms, weight }
            })
            .filter(|word| !word.terms.is_empty())
            .collect();
        let mut known: Vec<f32> =
            words.iter().map(|word| word.weight).filter(|weight| *weight > 0.0).collect();
        let share = known.len() as f32 / (KNOWN * words.len() as f32);
        known.sort_by(|a, b| b.total_cmp(a));
        Self {
            words,
            is_name: !cues.files.is_empty() || !cues.identifiers.is_empty(),
            most: known.iter().take(RAREST).sum(),
            known: share.min(1.0),
            trust: (rarity(1.0, memories) / rarity(1.0, MANY)).min(1.0),
        }
    }

    /// The number of words that a memory holds, and their value: both as a share of the prompt, and by
    /// itself.
    fn value(&self, hit: &MemoryHit) -> (usize, f32) {
        let title = analyse(&hit.memory.title).terms;
        let (mut count, mut all, mut value) = (0, 0.0, 0.0);
        for word in &self.words {
            let of_all: f32 = word.terms.iter().map(|(.., weight)| weight).sum();
            let held = word.terms.iter().filter(|(at, ..)| hit.held.contains(at));
            let of_held: f32 = held.clone().map(|(.., weight)| weight).sum();
            let share = if of_all > 0.0 { of_held / of_all } else { 0.0 };
            let is_in_title = held.clone().any(|(_, term, _)| title.contains(term));
            count += usize::from(share >= 0.5);
            all += share;
            value += word.weight * share * if is_in_title { IN_TITLE } else { 1.0 };
        }
        // All of several words are enough, however common they are in the project; and so is a name.
        let whole =
            if (self.words.len() > 1 || self.is_name) && all >= ALL * self.words.len() as f32 {
                WHOLE
            } else {
                0.0
            };
        let rare = match self.most > 0.0 {
            true => (value / self.most * self.known * RARE * value).sqrt(),
            false => 0.0,
        };
        // Where there are few memories, nothing is rare: then the share of the words counts.
        let share = all / self.words.len().max(1) as f32;
        let value = self.trust * rare + (1.0 - self.trust) * share;
        (count, value.max(whole))
    }
}

/// True if the title of a memory, or what stands behind it, does.
pub(super) fn tells(
    store: &Store,
    memory: &MemoryRow,
    holds: impl Fn(&str) -> bool,
) -> Result<bool> {
    Ok(holds(&memory.title) || details(&store.body_of(memory)?).iter().any(|text| holds(text)))
}

/// Finds the summaries of the project's last sessions.
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
        let reason = "the prompt asks what was done".to_owned();
        bearings.add(summary, Way::Past, PAST, Some(reason));
    }
    Ok(())
}

fn draft(
    store: &Store,
    request: &PackRequest<'_>,
    bearing: Bearing,
    query: &QueryTerms,
) -> Result<Draft> {
    let value = bearing.value();
    let Bearing { memory, reasons, passage, .. } = bearing;
    let places = store.places_of_sessions(memory.session.as_slice())?;
    let place = places.into_values().next().unwrap_or_default();
    let root = place.directory.as_deref();
    let files = store.files_of_memories(&[memory.row])?.remove(&memory.row).unwrap_or_default();
    let stale = Freshness::check(&files, root, request.disk).note();
    let since = Since::look(store, memory.project, &files, root, place.ended.or(memory.at))?;
    let body = store.body_of(&memory)?;
    let title = recorded(&memory.title, 200);
    let detail = detail(store, (&memory, passage), &body, query)?;
    let (mut text, detail) = match detail {
        _ if memory.flags.is_rule => (format!("The user ruled: \"{title}\""), detail),
        // The report begins with what stands for the title.
        Some(report) if memory.is_untitled() => (recorded(&report, 200 + DETAIL), None),
        detail => (TitleSpeaker::of(store, &memory, &body)?.mark(&title), detail),
    };
    if let Some(detail) = detail {
        text.truncate(text.trim_end_matches(['…', '.']).len());
        text.push_str(". ");
        text.push_str(&recorded(&detail, DETAIL));
    }
    let at = memory.at.map(|at| at.to_zoned(request.zone.clone()).date().to_string());
    let notes: Vec<String> = at.into_iter().chain(stale).chain(since.notes()).collect();
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

/// What stands behind the title, from the sentence on that answers: in the report as it was written, with its code and
/// its links, in what else the agent wrote of a name, or in what was kept of it.
fn detail(
    store: &Store,
    (memory, passage): (&MemoryRow, Option<Id>),
    body: &MemoryBody,
    query: &QueryTerms,
) -> Result<Option<String>> {
    let (title, report) = match body {
        MemoryBody::Observation(body) => (&body.title, body.report.as_ref()),
        MemoryBody::Summary(body) => (&body.title, None),
    };
    let kept = details(body);
    if memory.is_untitled() && passage.is_none() {
        return Ok(kept.into_iter().next().map(|report| whole(&report, 200 + DETAIL)));
    }
    let mut texts = kept.clone();
    for id in report.iter().flat_map(|report| &report.sources).chain(&passage) {
        if let Some(passage) = store.passage(id)?.filter(|it| it.kind == PassageKind::Assistant) {
            texts.push(store.text_of(&passage)?);
        }
    }
    let mut best: Option<Answer> = None;
    for text in &texts {
        let answer = answering(text, query, title, DETAIL);
        // What was kept is the more readable of two.
        let is_better = |one: &Answer| {
            best.as_ref().is_none_or(|it| one.worth > it.worth)
                && adds(&one.text, std::slice::from_ref(title))
        };
        if answer.as_ref().is_some_and(is_better) {
            best = answer;
        }
    }
    Ok(best.map(|answer| answer.text).or_else(|| Some(whole(kept.first()?, DETAIL))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_dots_is_of_code() {
        assert!(is_of_code("rocket.trace.v1") && is_of_code("take_lock"));
        assert!(!is_of_code("Next.js") && !is_of_code("docs/v1.2.md") && !is_of_code("Kiln"));
    }
}
