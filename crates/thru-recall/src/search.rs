//! Search: candidates, their order, and the passages themselves.

use std::collections::HashMap;

use thru_core::Layout;
use thru_redact::{Clean, Redactor, Report};
use thru_store::index::{Collection, EVERYWHERE, IndexFilter, QueryTerms};
use thru_store::{PassageRow, Result, SessionFilter, SessionRow, Store};

use crate::dedup::Shown;
use crate::meaning::{LazyMeaning, MeaningUse, PendingEmbedding};
use crate::memories::{MemoryHit, find_memories};
use crate::open::OpenFiles;
use crate::order::{OrderRequest, Ordered, order_by};
use crate::query::analyse;
use crate::rank::{CONFIDENT, PassageScore, SessionScore};
use crate::snippet::{Snippet, snippet};

/// Length of a snippet, in characters.
const SNIPPET_LENGTH: usize = 240;

/// A search.
#[derive(Clone, Debug, Default)]
pub struct SearchRequest {
    /// The query, as typed.
    pub query: String,
    /// The rows to search. Kinds and concepts limit memories only.
    pub filter: IndexFilter,
    /// Maximum number of passages; with 0, only memories are searched.
    pub limit: usize,
    /// Number of passages to return before and after each hit.
    pub context: u32,
    /// The time that the question is about, from and until, in milliseconds since 1970.
    pub when: Option<(i64, i64)>,
    /// Files that stay open for the next question.
    pub open: OpenFiles,
    /// Maximum number of memories. They do not compete with passages.
    pub memories: usize,
}

/// The results of a search: sessions, best first, each with its passages, best first.
#[derive(Clone, Debug, Default)]
pub struct SearchResults {
    /// Sessions with at least one of the passages.
    pub sessions: Vec<SessionHits>,
    /// Confidence that this answers the question at all, from 0 to 1.
    pub confidence: f32,
    /// True if a passage holds so much of the question that it counts as an answer whatever the confidence.
    pub holds_enough: bool,
    /// Number of candidate passages that hold any word of the question.
    pub considered: usize,
    /// The terms that were searched for.
    pub terms: QueryTerms,
    /// Number of passages and memories that are newer than the index and too many to scan.
    pub left_out: u64,
    /// Memories that hold words of the question or mean nearly the same, best first.
    pub memories: Vec<FoundMemory>,
    /// Number of passages left out because a hit of the same session says nearly the same.
    pub near_duplicates: usize,
    /// The use made of meaning.
    pub meaning_use: MeaningUse,
}

impl SearchResults {
    /// Returns true if the hits seem to answer the question.
    pub fn is_confident(&self) -> bool {
        self.confidence >= CONFIDENT
            || self.holds_enough
            || self.memories.iter().any(|found| found.hit.is_sure())
    }

    /// Returns true if nothing was found; with `nearest`, if not even something near was.
    pub fn is_nothing(&self, nearest: bool) -> bool {
        let is_empty = self.sessions.is_empty() && self.memories.is_empty();
        is_empty || !nearest && !self.sessions.is_empty() && !self.is_confident()
    }
}

/// A memory among the results.
#[derive(Clone, Debug)]
pub struct FoundMemory {
    /// The memory and its score.
    pub hit: MemoryHit,
    /// The shortest unambiguous prefix of its id.
    pub short_id: String,
    /// Its title.
    pub title: Clean<String>,
}

/// A session among the results.
#[derive(Clone, Debug)]
pub struct SessionHits {
    /// The session.
    pub session: SessionRow,
    /// Its score, by features.
    pub score: SessionScore,
    /// Its passages, best first.
    pub hits: Vec<Hit>,
}

/// A passage among the results.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The passage.
    pub passage: PassageRow,
    /// The shortest unambiguous prefix of its id.
    pub short_id: String,
    /// Its text.
    pub text: Clean<String>,
    /// The part of the text that matches.
    pub snippet: Clean<Snippet>,
    /// Its score, by features.
    pub score: PassageScore,
    /// Its rank in the results, from 1.
    pub rank: usize,
    /// The passages before and after it, in order, without itself.
    pub context: Vec<(PassageRow, Clean<String>)>,
}

/// Answers a question. Waits for the query embedding only after the words were looked up. All texts pass
/// the redactor once more: its rules may be newer than they are.
///
/// # Errors
/// Fails if the store, the index or the vectors cannot be read.
pub fn search(
    layout: &Layout,
    store: &Store,
    redactor: &Redactor,
    request: &SearchRequest,
    embedding: PendingEmbedding<'_>,
) -> Result<SearchResults> {
    let _snapshot = store.snapshot()?;
    let meaning = LazyMeaning::new(layout, &request.open, embedding);
    if request.limit == 0 {
        let terms = analyse(&request.query);
        let (memories, left_out) = memories(layout, store, redactor, request, &terms, &meaning)?;
        let meaning_use = meaning.meaning_use();
        return Ok(SearchResults {
            memories,
            terms,
            left_out,
            meaning_use,
            ..SearchResults::default()
        });
    }
    let index = request.open.indexes.index(layout, store, Collection::Passages)?;
    let filter = IndexFilter { kinds: None, concepts: None, ..request.filter.clone() };
    let order = OrderRequest { query: request.query.clone(), filter, when: request.when };
    let Ordered { terms, candidates, ranking, meaning_use, .. } =
        order_by(&index, store, &order, &meaning)?;
    let mut results = SearchResults {
        confidence: ranking.confidence,
        holds_enough: ranking.holds_enough,
        considered: candidates.found.len(),
        left_out: index.rows_left_out,
        terms,
        meaning_use,
        ..SearchResults::default()
    };
    let wanted = &ranking.passages[..ranking.passages.len().min(request.limit * 2)];
    let rows: Vec<i64> = wanted.iter().map(|score| candidates.found[score.candidate].row).collect();
    let mut passages: HashMap<i64, PassageRow> =
        store.passages_of_rows(&rows)?.into_iter().map(|passage| (passage.row, passage)).collect();
    let mut hits: Vec<Hit> = Vec::new();
    let mut shown = Shown::default();
    for score in wanted {
        if hits.len() == request.limit {
            break;
        }
        // A row that was replaced since it was indexed is gone; its successor is found by itself.
        let Some(passage) = passages.remove(&candidates.found[score.candidate].row) else {
            continue;
        };
        let text = clean(store, redactor, &passage)?;
        if shown.is_near_duplicate(passage.session, text.get()) {
            results.near_duplicates += 1;
            continue;
        }
        let candidate = &candidates.found[score.candidate];
        // Only its meaning matches: the snippet begins at the nearest chunk.
        let nearest = match candidate.contributions.iter().any(|one| *one > 0.0) {
            true => None,
            false => meaning.get().and_then(|query| query.place_in(text.get(), candidate.text_key)),
        };
        let snippet =
            text.derive(|text| snippet(text, &results.terms, SNIPPET_LENGTH, nearest.unwrap_or(0)));
        hits.push(Hit {
            short_id: store.short_id(&passage.id)?,
            snippet,
            context: context(store, redactor, &passage, request.context)?,
            rank: hits.len() + 1,
            passage,
            text,
            score: *score,
        });
    }
    // A passage beside an answer belongs to it; after the last answer it only fills the page.
    while hits.last().is_some_and(|hit| hit.score.is_beside()) {
        hits.pop();
    }
    let shown: Vec<i64> = hits.iter().map(|hit| hit.passage.session).collect();
    let mut sessions: HashMap<i64, SessionRow> = store
        .sessions(&SessionFilter { rows: Some(shown), ..SessionFilter::default() })?
        .into_iter()
        .map(|session| (session.row, session))
        .collect();
    for score in &ranking.sessions {
        let Some(session) = sessions.remove(&score.session) else { continue };
        let (own, rest) = hits.into_iter().partition(|hit| hit.passage.session == score.session);
        hits = rest;
        results.sessions.push(SessionHits { session, score: *score, hits: own });
    }
    let (memories, left_out) =
        memories(layout, store, redactor, request, &results.terms, &meaning)?;
    results.memories = memories;
    results.left_out += left_out;
    Ok(results)
}

fn memories(
    layout: &Layout,
    store: &Store,
    redactor: &Redactor,
    request: &SearchRequest,
    terms: &QueryTerms,
    meaning: &LazyMeaning<'_>,
) -> Result<(Vec<FoundMemory>, u64)> {
    if request.memories == 0 {
        return Ok((Vec::new(), 0));
    }
    let mut filter = request.filter.clone();
    // Memories that hold everywhere hold in the requested projects, too.
    if let Some(projects) = &mut filter.projects {
        projects.push(EVERYWHERE);
    }
    let index = request.open.indexes.index(layout, store, Collection::Memories)?;
    let found = find_memories(store, &index, terms, &filter, meaning.get(), request.memories)?
        .into_iter()
        // The nearest vector may still be far away.
        .filter(|hit| hit.words() > 0 || hit.is_near())
        .map(|hit| {
            Ok(FoundMemory {
                short_id: store.short_id(&hit.memory.id)?,
                title: redactor.clean_text(&hit.memory.title, &mut Report::default()),
                hit,
            })
        })
        .collect::<Result<_>>()?;
    Ok((found, index.rows_left_out))
}

fn clean(store: &Store, redactor: &Redactor, passage: &PassageRow) -> Result<Clean<String>> {
    Ok(redactor.clean_text(&store.text_of(passage)?, &mut Report::default()))
}

fn context(
    store: &Store,
    redactor: &Redactor,
    passage: &PassageRow,
    reach: u32,
) -> Result<Vec<(PassageRow, Clean<String>)>> {
    let mut found = Vec::new();
    if reach == 0 {
        return Ok(found);
    }
    let from = passage.ordinal.saturating_sub(reach);
    for ordinal in (from..=passage.ordinal.saturating_add(reach)).filter(|o| *o != passage.ordinal)
    {
        if let Some(neighbour) = store.passage_at(passage.session, passage.source, ordinal)? {
            let text = clean(store, redactor, &neighbour)?;
            found.push((neighbour, text));
        }
    }
    Ok(found)
}
