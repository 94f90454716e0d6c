//! The order of candidates for a question: candidates by words, by meaning and by neighbourhood, then
//! [`rank`].

use std::collections::{HashMap, HashSet};

use thru_core::{ASKING_TOOLS, Layout, PassageKind, is_memory_question, loads_tools};
use thru_store::index::{
    Candidate, Candidates, Collection, IndexFilter, QueryTerms, Question, TextIndex,
};
use thru_store::{Result, Store};

use crate::how_to::HowTo;
use crate::meaning::{LazyMeaning, MeaningUse, PendingEmbedding, QueryMeaning};
use crate::open::OpenFiles;
use crate::pack::cues;
use crate::query::{add_forms, analyse, is_foreign};
use crate::rank::{Found, Own, Ranking, SessionMeaning, rank};

/// Number of candidates by words that are examined closely.
const DEPTH: usize = 1_000;
/// The number of best candidates whose neighbours become candidates too: an answer such as "yes, the second
/// one" shares neither words nor meaning with its question.
const WITH_NEIGHBOURS: usize = 80;
/// The number of best sessions whose memories are compared with the question.
const WITH_MEMORIES: usize = 40;
/// Maximum distance of a neighbour, in passages.
const REACH: u32 = 2;

/// A query with its filter and time.
#[derive(Clone, Debug, Default)]
pub struct OrderRequest {
    /// The query, as typed.
    pub query: String,
    /// The rows to search.
    pub filter: IndexFilter,
    /// The time that the question is about, from and until, in milliseconds since 1970.
    pub when: Option<(i64, i64)>,
}

/// An order with all its intermediate results.
#[derive(Clone, Debug, Default)]
pub struct Ordered {
    /// The terms that were searched for.
    pub terms: QueryTerms,
    /// The candidates that were examined.
    pub candidates: Candidates,
    /// Evidence about the candidates beside their words.
    pub found: Found,
    /// The order of passages and of sessions.
    pub ranking: Ranking,
    /// The use made of meaning.
    pub meaning_use: MeaningUse,
    /// The question as one how to run something.
    pub(crate) how_to: Option<HowTo>,
}

/// Orders the store's passages and sessions by how well they answer a question.
///
/// # Errors
/// Fails if the index, the store or the vectors cannot be read.
pub fn order(
    layout: &Layout,
    index: &TextIndex,
    store: &Store,
    request: &OrderRequest,
    embedding: PendingEmbedding<'_>,
) -> Result<Ordered> {
    let memories = TextIndex::open_collection(layout, store, Collection::Memories)?;
    let meaning = LazyMeaning::new(layout, &OpenFiles::default(), embedding);
    order_by(index, &memories, store, request, &meaning)
}

/// [`order`], for a caller that needs the query embedding for more.
pub(crate) fn order_by(
    index: &TextIndex,
    memories: &TextIndex,
    store: &Store,
    request: &OrderRequest,
    meaning: &LazyMeaning<'_>,
) -> Result<Ordered> {
    let mut terms = analyse(&request.query);
    add_forms(&mut terms, &request.query, index)?;
    let question = index.ask(&terms, &request.filter)?;
    let mut all = match terms.terms.is_empty() {
        true => Vec::new(),
        false => question.best(DEPTH)?,
    };
    let query_meaning = meaning.get();
    let mut farthest = 0.0;
    if let Some(query_meaning) = query_meaning {
        let nearest = query_meaning.nearest(&question)?;
        farthest = nearest.farthest;
        add(&mut all, nearest.candidates);
    }
    let mut commands = Vec::new();
    let how_to = HowTo::read(&request.query);
    if let Some(how) = &how_to {
        commands = how.rows(index, &request.filter)?;
        commands.sort_unstable();
        add(&mut all, question.with_rows(&commands)?);
    }
    let idf = question.known_idf();
    let questions = mark_retelling(store, &mut all)?;
    let mut candidates = Candidates { found: all, idf, documents: index.documents() };
    let is_foreign = is_foreign(&request.query, terms.language);
    let names = terms.names.clone();
    let typed = request.query.split_whitespace().count();
    let mut found =
        Found { when: request.when, is_foreign, names, typed, commands, ..Found::default() };
    found.similarity = similarity(query_meaning, &candidates);
    let beside = neighbours(store, &question, &candidates.found, &found)?;
    if !beside.is_empty() {
        add(&mut candidates.found, beside);
        mark(&questions, &mut candidates.found);
        found.similarity = similarity(query_meaning, &candidates);
    }
    found.named_file = touching(&question, &candidates.found, &request.query)?;
    if let Some(query_meaning) = query_meaning {
        found.sessions = session_meaning(memories, query_meaning, &candidates.found, &found)?;
        let may_be_change = names_nothing(&request.query);
        add_titles(&mut found, query_meaning, &candidates.found, farthest, may_be_change);
    }
    mark_replies(store, &mut candidates)?;
    let ranking = rank(&candidates, &found);
    drop(question);
    let meaning_use = meaning.meaning_use();
    Ok(Ordered { terms, candidates, found, ranking, meaning_use, how_to })
}

/// The cosine of what was said in each candidate. A title of work is short and near to many questions: see [`add_titles`].
fn similarity(meaning: Option<&QueryMeaning>, candidates: &Candidates) -> Vec<Option<f32>> {
    let Some(meaning) = meaning else { return Vec::new() };
    let mut similarity = meaning.similarity(&candidates.found);
    for (similarity, candidate) in similarity.iter_mut().zip(&candidates.found) {
        *similarity = similarity.filter(|_| candidate.kind.is_prose());
    }
    similarity
}

/// Returns true if a question names neither a file nor anything in the code: it may ask for a change by what it did.
fn names_nothing(query: &str) -> bool {
    let cues = cues(query);
    cues.files.is_empty() && cues.identifiers.is_empty()
}

/// Number of titles of work that tell how much of it the question is about.
const TITLES: usize = 3;

/// Adds the cosines of the titles of commits and pull requests: of all the mean of the nearest [`TITLES`], where no other is
/// nearer than `farthest`, and of each session the nearest if the question `may_be_change`.
fn add_titles(
    found: &mut Found,
    meaning: &QueryMeaning,
    all: &[Candidate],
    farthest: f32,
    may_be_change: bool,
) {
    let has_title =
        |one: &&Candidate| !one.kind.is_prose() && one.text_key.is_some() && !one.is_echo;
    let titled: Vec<Candidate> = all.iter().filter(has_title).cloned().collect();
    let mut nearest: HashMap<u64, f32> = HashMap::new();
    for (candidate, cosine) in titled.iter().zip(meaning.similarity(&titled)) {
        let (Some(key), Some(cosine)) = (candidate.text_key, cosine) else { continue };
        nearest.insert(key, cosine);
        if may_be_change {
            let title = &mut found.sessions.entry(candidate.session).or_default().title;
            *title = title.max(cosine);
        }
    }
    if nearest.is_empty() {
        return;
    }
    let mut cosines: Vec<f32> = nearest.into_values().map(|cosine| cosine.max(farthest)).collect();
    cosines.sort_by(|a, b| b.total_cmp(a));
    cosines.resize(TITLES, farthest);
    found.titles = Some(cosines.iter().sum::<f32>() / TITLES as f32);
}

/// Passages of a turn among which its calls are looked up.
const TURN: u32 = 200;

/// A turn: its source, and its number.
type TurnKey = (i64, u32);

/// Marks what was said in turns whose only calls ask memory: the agent retells there what other sessions said. Returns
/// these turns.
fn mark_retelling(store: &Store, all: &mut [Candidate]) -> Result<HashSet<TurnKey>> {
    let echoes = all.iter().filter(|candidate| candidate.is_echo);
    let turns: HashMap<TurnKey, &Candidate> =
        echoes.map(|echo| ((echo.source, echo.turn), echo)).collect();
    let mut questions = HashSet::new();
    for (key, echo) in turns {
        let calls = store.calls_around(echo.session, echo.source, echo.turn, echo.ordinal, TURN)?;
        let only_asks = calls.iter().all(|(tool, command)| {
            tool.as_deref().is_some_and(loads_tools)
                || is_memory_question(tool.as_deref(), command.as_deref(), std::iter::empty())
        });
        if only_asks {
            questions.insert(key);
        }
    }
    mark(&questions, all);
    Ok(questions)
}

/// Tool calls among which those that asked the person are looked for.
const MAY_ASK: usize = 200;

/// Makes calls that asked the person words of the agent, which the person answered: what they hold was decided there.
fn mark_replies(store: &Store, candidates: &mut Candidates) -> Result<()> {
    let all = &mut candidates.found;
    let is_call = |one: &Candidate| one.kind == PassageKind::Tool && !one.is_echo;
    let mut calls: Vec<(f32, i64)> =
        all.iter().filter(|one| is_call(one)).map(|one| (one.held(), one.row)).collect();
    calls.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let rows: Vec<i64> = calls.into_iter().take(MAY_ASK).map(|(_, row)| row).collect();
    let asking = store.calls_of_tools(&rows, &ASKING_TOOLS)?;
    for one in all.iter_mut().filter(|one| asking.contains(&one.row)) {
        one.kind = PassageKind::Assistant;
    }
    Ok(())
}

fn mark(questions: &HashSet<TurnKey>, all: &mut [Candidate]) {
    for candidate in all {
        candidate.is_echo |= questions.contains(&(candidate.source, candidate.turn));
    }
}

/// Adds the missing candidates, in the order of rows.
fn add(all: &mut Vec<Candidate>, more: Vec<Candidate>) {
    all.extend(more);
    all.sort_by_key(|candidate| candidate.row);
    all.dedup_by_key(|candidate| candidate.row);
}

/// The neighbours of the best candidates.
fn neighbours(
    store: &Store,
    question: &Question<'_>,
    all: &[Candidate],
    found: &Found,
) -> Result<Vec<Candidate>> {
    let own = Own::of(all, &found.similarity);
    let mut best: Vec<usize> = (0..all.len()).collect();
    best.sort_by(|a, b| {
        let by_key = || all[*a].key.cmp(&all[*b].key);
        own.both[*b].total_cmp(&own.both[*a]).then_with(by_key)
    });
    best.truncate(WITH_NEIGHBOURS);
    let mut rows = Vec::new();
    for candidate in best.into_iter().map(|at| &all[at]) {
        let (session, source) = (candidate.session, candidate.source);
        rows.extend(store.rows_around(session, source, candidate.ordinal, REACH)?);
    }
    rows.sort_unstable();
    rows.dedup();
    rows.retain(|row| all.binary_search_by_key(row, |known| known.row).is_err());
    question.with_rows(&rows)
}

/// What the memories of the best sessions have to do with the question.
fn session_meaning(
    memories: &TextIndex,
    meaning: &QueryMeaning,
    all: &[Candidate],
    found: &Found,
) -> Result<HashMap<i64, SessionMeaning>> {
    let own = Own::of(all, &found.similarity);
    let mut best: HashMap<i64, f32> = HashMap::new();
    for (candidate, both) in all.iter().zip(own.both) {
        let of_session = best.entry(candidate.session).or_insert(both);
        *of_session = of_session.max(both);
    }
    let mut sessions: Vec<(i64, f32)> = best.into_iter().collect();
    sessions.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let sessions: Vec<i64> =
        sessions.iter().take(WITH_MEMORIES).map(|(session, _)| *session).collect();
    let (no_words, everything) = (QueryTerms::default(), IndexFilter::default());
    let of_them = memories.ask(&no_words, &everything)?.of_sessions(&sessions)?;
    let cosines = meaning.similarity(&of_them);
    let mut sums: HashMap<i64, (f32, usize)> = HashMap::new();
    let mut meant: HashMap<i64, SessionMeaning> = HashMap::new();
    for (memory, cosine) in of_them.iter().zip(cosines) {
        let Some(cosine) = cosine else { continue };
        let (sum, count) = sums.entry(memory.session).or_default();
        (*sum, *count) = (*sum + cosine, *count + 1);
        let of_session = meant.entry(memory.session).or_default();
        of_session.centroid = *sum / *count as f32;
        of_session.nearest = of_session.nearest.max(cosine);
        // The memory of no turn is the one of the whole session.
        if memory.turn == 0 {
            of_session.summary = of_session.summary.max(cosine);
        }
    }
    Ok(meant)
}

/// For each candidate, true if it touched a file that the question names; empty if it names none.
fn touching(question: &Question<'_>, all: &[Candidate], query: &str) -> Result<Vec<bool>> {
    let files = cues(query).files;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let rows = question.rows_touching(&files)?;
    Ok(all.iter().map(|candidate| rows.binary_search(&candidate.row).is_ok()).collect())
}
