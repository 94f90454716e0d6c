//! Search: candidates, their order, and the passages themselves.

mod excerpts;
mod later;
mod lead;
mod literal;
mod reader;
mod saying;

use std::collections::{HashMap, HashSet};

use thru_core::{Layout, Timestamp};
use thru_redact::{Clean, Redactor, Report};
use thru_store::index::{Candidates, Collection, EVERYWHERE, IndexFilter, QueryTerms};
use thru_store::{PassageRow, Result, SessionRow, Store};

use crate::decision::{
    DECISIONS, asks_for_state, asks_why, decided, decisions_first, later_first, newest_first,
};
use crate::gaps::{Asked, Gap, gaps};
use crate::meaning::{LazyMeaning, MeaningUse, PendingEmbedding};
use crate::memories::{MemoryHit, find_memories};
use crate::open::OpenFiles;
use crate::order::{OrderRequest, Ordered, order_by};
use crate::query::analyse;
use crate::rank::{CONFIDENT, PassageScore, Ranking, SessionScore};
use crate::snippet::Snippet;
use crate::work::sessions_by_row;
use excerpts::Excerpts;
use later::{Asks, last_answers_first, last_session_first, without_overtaken};
use lead::Lead;
use reader::Reader;
pub(crate) use saying::is_order;

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
    /// The ends of its turn that each hit comes with.
    pub turns: TurnEnds,
    /// The time that the question is about, from and until, in milliseconds since 1970.
    pub when: Option<(i64, i64)>,
    /// Files that stay open for the next question.
    pub open: OpenFiles,
    /// Maximum number of memories. They do not compete with passages.
    pub memories: usize,
    /// Tools whose calls are not shown.
    pub skip_tools: Vec<String>,
    /// Tells words of English, in lower case: what is none and is mentioned by nothing is a name.
    pub is_word: Option<fn(&str) -> bool>,
}

/// The ends of its turn that a hit comes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnEnds {
    /// None.
    #[default]
    None,
    /// Where the hit asks, what answers it, unless that is a hit itself.
    Answer,
    /// The prompt, and the last words of the agent.
    Both,
}

/// The results of a search: sessions, best first, each with its passages, best first.
#[derive(Clone, Debug, Default)]
pub struct SearchResults {
    /// Sessions with at least one of the passages.
    pub sessions: Vec<SessionHits>,
    /// Confidence that this answers the question at all, from 0 to 1.
    pub confidence: f32,
    /// See [`Ranking::is_enough`].
    pub is_enough: bool,
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
    /// The words of the question that the answer lacks.
    pub gaps: Vec<Gap>,
}

impl SearchResults {
    /// Returns true if the hits seem to answer the question.
    pub fn is_confident(&self) -> bool {
        let is_found = self.confidence >= CONFIDENT
            || self.is_enough
            || self.memories.iter().any(|found| found.hit.is_sure());
        is_found && !self.gaps.iter().any(Gap::is_telling)
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
    /// Its turn, if that was asked for.
    pub turn: Option<HitTurn>,
}

/// The ends of the turn of a hit, as far as they are not the hit itself.
#[derive(Clone, Debug, Default)]
pub struct HitTurn {
    /// The prompt that it answers.
    pub prompt: Option<(PassageRow, Clean<String>)>,
    /// The last words of the agent in it; behind a question of the agent, the reply.
    pub result: Option<(PassageRow, Clean<String>)>,
    /// The part of the result that matches, else its beginning.
    pub excerpt: Option<Clean<Snippet>>,
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
        let decided = decided(&request.query, &terms);
        let asked = (&terms, decided.as_ref());
        let (memories, left_out) = memories(layout, store, redactor, request, asked, &meaning)?;
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
    let of_memories = request.open.indexes.index(layout, store, Collection::Memories)?;
    let filter = IndexFilter { kinds: None, concepts: None, ..request.filter.clone() };
    let order = OrderRequest { query: request.query.clone(), filter, when: request.when };
    let Ordered { terms, candidates, mut ranking, meaning_use, how_to, .. } =
        order_by(&index, &of_memories, store, &order, &meaning)?;
    if let Some(when) = request.when {
        keep_time(&mut ranking, &candidates, when);
    }
    let mut results = SearchResults {
        confidence: ranking.confidence,
        is_enough: ranking.is_enough,
        considered: candidates.found.len(),
        left_out: index.rows_left_out,
        terms,
        meaning_use,
        ..SearchResults::default()
    };
    // A question about a time is not one about the present.
    let state = request.when.is_none() && asks_for_state(&request.query);
    let asks = Asks { state, how: how_to.is_some() };
    let mut wanted = first_screen(&ranking, &candidates, request);
    last_answers_first(store, (&ranking, &candidates), asks, &mut wanted)?;
    let found = (&ranking, &candidates, &results.terms);
    let lead = Lead::put_first(store, &request.query, found, how_to, &mut wanted)?;
    results.is_enough |= lead.is_enough();
    let excerpts = Excerpts::of(&request.query, &results.terms, &candidates, &lead.told, &meaning);
    let reader = Reader { store, redactor, request, candidates: &candidates, excerpts: &excerpts };
    let (mut hits, near_duplicates) = reader.hits(&wanted)?;
    results.near_duplicates = near_duplicates;
    // A passage beside an answer belongs to it; after the last answer it only fills the page.
    while hits.last().is_some_and(|hit| hit.score.is_beside() && !lead.leads(&hit.score)) {
        hits.pop();
    }
    let on_page: Vec<usize> = hits.iter().map(|hit| hit.score.candidate).collect();
    results.sessions = by_session(store, hits, &ranking.sessions)?;
    let best = ranking.passages.first().map(|score| candidates.found[score.candidate].session);
    best_passage_first(&mut results.sessions, best);
    let overtaken = match state {
        true => last_session_first(&mut results.sessions),
        false => HashSet::new(),
    };
    lead.arrange(&mut results.sessions, &candidates);
    excerpts.cut(&mut results.sessions);
    let asked = (&results.terms, lead.decided.as_ref());
    let (memories, left_out) = memories(layout, store, redactor, request, asked, &meaning)?;
    results.memories = memories;
    if !lead.told.is_empty() {
        // Beside a command that worked, only a person's word says more of how to do it.
        results.memories.retain(|one| one.hit.memory.flags.is_from_person && one.hit.is_sure());
    }
    results.memories = without_overtaken(results.memories, &overtaken);
    results.left_out += left_out;
    prefer_time(&mut results, request.when);
    let asked = Asked {
        query: &request.query,
        terms: &results.terms,
        filter: &order.filter,
        is_word: request.is_word,
        passages: &index,
        memories: &of_memories,
    };
    let beside = beside(&results.sessions, &results.memories);
    results.gaps = gaps(&asked, &candidates, &on_page, &beside)?;
    if request.when.is_some_and(|when| is_of_other_time(&results, when)) {
        results.gaps.push(Gap::OtherTime);
    }
    Ok(results)
}

/// Hits by session, in the order of the sessions.
fn by_session(
    store: &Store,
    mut hits: Vec<Hit>,
    order: &[SessionScore],
) -> Result<Vec<SessionHits>> {
    let shown: Vec<i64> = hits.iter().map(|hit| hit.passage.session).collect();
    let mut sessions = sessions_by_row(store, shown)?;
    let mut found = Vec::new();
    for score in order {
        let Some(session) = sessions.remove(&score.session) else { continue };
        let (own, rest) = hits.into_iter().partition(|hit| hit.passage.session == score.session);
        hits = rest;
        found.push(SessionHits { session, score: *score, hits: own });
    }
    Ok(found)
}

/// The titles, projects and agents that a screen names beside its passages.
fn beside<'r>(sessions: &'r [SessionHits], memories: &'r [FoundMemory]) -> Vec<&'r str> {
    let near = memories.iter().filter(|one| one.hit.is_near());
    let mut beside: Vec<&str> = near.map(|one| one.title.get().as_str()).collect();
    for SessionHits { session, .. } in sessions {
        let of_session = [session.title.as_deref(), session.project_name.as_deref()];
        beside.extend(of_session.into_iter().flatten());
        beside.push(session.key.agent.as_str());
    }
    beside
}

/// Passages of the time that is asked about beside which none of another time is shown.
const OF_TIME: usize = 5;

/// Drops passages of other times than the one that is asked about, and sessions without others, where enough are of that time.
fn keep_time(ranking: &mut Ranking, candidates: &Candidates, (from, until): (i64, i64)) {
    let is_then = |score: &PassageScore| {
        !score.is_beside() && (from..until).contains(&candidates.found[score.candidate].at)
    };
    if ranking.passages.iter().filter(|score| is_then(score)).count() >= OF_TIME {
        ranking.passages.retain(is_then);
        let session = |score: &PassageScore| candidates.found[score.candidate].session;
        let sessions: HashSet<i64> = ranking.passages.iter().map(session).collect();
        ranking.sessions.retain(|score| sessions.contains(&score.session));
    }
}

/// Drops memories of other times than the one that is asked about, where a passage is of that time.
fn prefer_time(results: &mut SearchResults, when: Option<(i64, i64)>) {
    let Some((from, until)) = when else { return };
    let is_then =
        |at: Option<Timestamp>| at.is_some_and(|at| (from..until).contains(&at.as_millisecond()));
    let mut hits = results.sessions.iter().flat_map(|session| &session.hits);
    if hits.any(|hit| is_then(hit.passage.at)) {
        results.memories.retain(|one| is_then(one.hit.memory.at));
    }
}

/// Returns true if the times of what was found are known, and all outside of the one that is asked about.
fn is_of_other_time(results: &SearchResults, (from, until): (i64, i64)) -> bool {
    let hits = results.sessions.iter().flat_map(|session| &session.hits);
    let near = results.memories.iter().filter(|one| one.hit.is_near());
    let shown = hits.map(|hit| hit.passage.at).chain(near.map(|one| one.hit.memory.at));
    let mut times = shown.flatten().map(|at| at.as_millisecond()).peekable();
    times.peek().is_some() && !times.any(|at| (from..until).contains(&at))
}

/// The session of the best passage is shown before the best session unless its nearness is so much less.
const FARTHER: f32 = 0.4;

/// Puts the session of the best passage first, or second if what it did as a whole has less to do with the question: a
/// passage of another matter may share more of its words.
fn best_passage_first(sessions: &mut [SessionHits], best: Option<i64>) {
    let Some(at) = sessions.iter().position(|one| Some(one.session.row) == best) else { return };
    let (first, own) = (sessions[0].score.nearness(), sessions[at].score.nearness());
    let place = usize::from(first == 0.0 || own < first - FARTHER);
    if at > place {
        sessions[place..=at].rotate_right(1);
    }
}

/// Lines of the first screen. Those after it come in their order.
const SCREEN: usize = 10;
/// Lines of one session before the next ones are shown.
const LINES_PER_SESSION: usize = 3;
/// The best session has as many as it likes where it holds the best passage and the next is worth less than this share of it.
const LEADS: f32 = 0.9;
/// Sessions that have a line each, where there is room, if they are worth this share of the best.
const SESSIONS_SHOWN: usize = 5;
const WORTH_A_LINE: f32 = 0.7;

/// The passages to show, twice as many as there is room for: the best of the best sessions, then the best that there are with
/// few lines a session, then what is left of those.
fn first_screen(
    ranking: &Ranking,
    candidates: &Candidates,
    request: &SearchRequest,
) -> Vec<PassageScore> {
    let most = request.limit * 2;
    if request.filter.sessions.is_some() {
        return ranking.passages.iter().take(most).copied().collect();
    }
    let session = |score: &PassageScore| candidates.found[score.candidate].session;
    let lines = |score: &&PassageScore| !score.is_beside();
    let screen = request.limit.min(SCREEN);
    let shown = SESSIONS_SHOWN.min(screen / 2);
    let mut chosen: HashSet<usize> = HashSet::new();
    let mut count: HashMap<i64, usize> = HashMap::new();
    let best = ranking.sessions.first().map_or(0.0, |best| best.score);
    let worth = |session: &&SessionScore| session.score >= best * WORTH_A_LINE;
    let leader = ranking
        .sessions
        .first()
        .filter(|_| ranking.sessions.get(1).is_none_or(|next| next.score < best * LEADS))
        .filter(|leader| ranking.passages.first().is_none_or(|one| session(one) == leader.session));
    // What only stands beside an answer takes no room from another session.
    let room = |score: &PassageScore| match leader {
        Some(leader) if leader.session == session(score) && !score.is_beside() => SCREEN,
        _ => LINES_PER_SESSION,
    };
    for best in ranking.sessions.iter().take(shown).take_while(worth) {
        let mut own = ranking.passages.iter().filter(|score| session(score) == best.session);
        if let Some(score) = own.find(lines) {
            chosen.insert(score.candidate);
            count.insert(best.session, 1);
        }
    }
    for score in &ranking.passages {
        if chosen.len() >= screen {
            break;
        }
        let lines = count.entry(session(score)).or_default();
        if *lines < room(score) && chosen.insert(score.candidate) {
            *lines += 1;
        }
    }
    let (mut first, rest): (Vec<PassageScore>, Vec<PassageScore>) =
        ranking.passages.iter().copied().partition(|score| chosen.contains(&score.candidate));
    first.extend(rest);
    first.truncate(most);
    first
}

/// The memories that answer, with the number of rows that the index lacks. A question what was `decided` is about that alone.
fn memories(
    layout: &Layout,
    store: &Store,
    redactor: &Redactor,
    request: &SearchRequest,
    (terms, decided): (&QueryTerms, Option<&QueryTerms>),
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
    let (terms, most) = match decided {
        Some(subject) => (subject, request.memories.max(DECISIONS)),
        None => (terms, request.memories),
    };
    let found: Vec<FoundMemory> =
        find_memories(store, &index, terms, &filter, meaning.get(), most)?
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
    let found = match decided {
        Some(_) => newest_first(found, request.memories),
        None if asks_why(&request.query) => decisions_first(found),
        None => later_first(found),
    };
    Ok((found, index.rows_left_out))
}

#[cfg(test)]
mod tests {
    use thru_core::PassageKind;
    use thru_store::index::Candidate;

    use super::*;
    use crate::rank::{Found, rank};

    /// The lines of each session on the first screen, for sessions of twelve answers that hold so much of a question.
    fn lines(sessions: &[f32]) -> Vec<usize> {
        let answers = (1i64..).zip(sessions).flat_map(|(session, words)| {
            (0..12).map(move |ordinal| Candidate {
                row: session * 100 + i64::from(ordinal),
                key: u64::from(ordinal),
                session,
                source: session,
                ordinal: ordinal * 10,
                turn: ordinal,
                kind: PassageKind::Assistant,
                is_subagent: false,
                is_echo: false,
                at: 0,
                length: 50,
                text_key: None,
                contributions: vec![*words],
                proximity: 0.0,
            })
        });
        let candidates = Candidates { found: answers.collect(), idf: vec![1.0], documents: 2_000 };
        let ranking = rank(&candidates, &Found::default());
        let request = SearchRequest { limit: SCREEN, ..SearchRequest::default() };
        let first = first_screen(&ranking, &candidates, &request);
        let of = |session: i64| {
            let shown = first.iter().take(SCREEN);
            shown.filter(|score| candidates.found[score.candidate].session == session).count()
        };
        (1i64..).take(sessions.len()).map(of).collect()
    }

    #[test]
    fn a_session_that_leads_has_more_lines_than_one_among_equals() {
        assert_eq!(lines(&[4.0, 1.0]), [10, 0]);
        assert_eq!(lines(&[2.0, 2.0, 2.0, 2.0]), [3, 3, 2, 2]);
        assert_eq!(lines(&[2.0]), [10]);
    }
}
