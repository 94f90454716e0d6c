//! Search: candidates, their order, and the passages themselves.

mod excerpts;
mod literal;

use std::collections::{HashMap, HashSet};

use thru_core::{ASKING_TOOLS, Layout, Outcome, PassageKind};
use thru_redact::{Clean, Redactor, Report};
use thru_store::index::{Candidates, Collection, EVERYWHERE, IndexFilter, QueryTerms};
use thru_store::{PassageRow, Result, SessionRow, Store};

use crate::decision::{
    DECISIONS, asks_how_it_stands, asks_why, decided, decisions_first, newest_first, overruling,
    reversal,
};
use crate::dedup::Shown;
use crate::gaps::{Asked, Gap, gaps};
use crate::how_to::Told;
use crate::meaning::{LazyMeaning, MeaningUse, PendingEmbedding};
use crate::memories::{MemoryHit, find_memories};
use crate::open::OpenFiles;
use crate::order::{OrderRequest, Ordered, order_by};
use crate::query::analyse;
use crate::rank::{CONFIDENT, PassageScore, Ranking, SessionScore};
use crate::snippet::Snippet;
use crate::work::sessions_by_row;
use excerpts::{Excerpts, LEADERS, is_plan};
use literal::quoted;

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
    let Ordered { terms, candidates, ranking, meaning_use, how_to, .. } =
        order_by(&index, &of_memories, store, &order, &meaning)?;
    let mut results = SearchResults {
        confidence: ranking.confidence,
        is_enough: ranking.is_enough,
        considered: candidates.found.len(),
        left_out: index.rows_left_out,
        terms,
        meaning_use,
        ..SearchResults::default()
    };
    let mut wanted = first_screen(&ranking, &candidates, request);
    let asks_how = how_to.is_some();
    let told: Vec<Told> = match how_to {
        Some(how) => how.commands(store, &ranking, &candidates)?,
        None => Vec::new(),
    };
    let mut leading: Vec<PassageScore> = told.iter().map(|told| told.score).collect();
    let decided = decided(&request.query, &results.terms);
    if let Some(subject) = &decided {
        let about: Vec<usize> = (0..results.terms.terms.len())
            .filter(|at| subject.terms.contains(&results.terms.terms[*at]))
            .collect();
        leading = overruling(store, &ranking, &candidates, &results.terms, &about)?;
    }
    let mut changed = None;
    if leading.is_empty() && asks_how_it_stands(&request.query) {
        changed = reversal(store, &wanted, &candidates, &results.terms)?;
        second(&mut wanted, |score| changed.is_some_and(|one| one.candidate == score.candidate));
    }
    if leading.is_empty() {
        leading.extend(quoted(store, &request.query, &ranking, &candidates, &results.terms)?);
        results.is_enough |= !leading.is_empty();
    }
    let leads = |score: &PassageScore| leading.iter().any(|one| one.candidate == score.candidate);
    wanted.retain(|score| !leads(score));
    wanted.splice(0..0, leading.iter().copied());
    results.is_enough |= told.iter().any(|told| told.is_all);
    let rows: Vec<i64> = wanted.iter().map(|score| candidates.found[score.candidate].row).collect();
    let mut passages: HashMap<i64, PassageRow> =
        store.passages_of_rows(&rows)?.into_iter().map(|passage| (passage.row, passage)).collect();
    let mut hits: Vec<(usize, Hit)> = Vec::new();
    let mut intents: Vec<(usize, Hit)> = Vec::new();
    let mut shown = Shown::default();
    // What stands beside a hit as an end of its turn needs no line of its own.
    let mut in_turns: HashSet<i64> = HashSet::new();
    let excerpts = Excerpts::of(&request.query, &results.terms, &candidates, &told, &meaning);
    let on_screen: HashSet<i64> = rows.iter().copied().take(request.limit).collect();
    for (place, score) in wanted.iter().enumerate() {
        if hits.len() == request.limit {
            break;
        }
        // A row that was replaced since it was indexed is gone; its successor is found by itself.
        let Some(passage) = passages.remove(&candidates.found[score.candidate].row) else {
            continue;
        };
        let is_skipped = |tool: &String| request.skip_tools.contains(tool);
        if in_turns.contains(&passage.row) || passage.tool.as_ref().is_some_and(is_skipped) {
            continue;
        }
        let text = clean(store, redactor, &passage)?;
        if shown.is_near_duplicate(passage.session, text.get()) {
            results.near_duplicates += 1;
            continue;
        }
        let is_plan = is_plan(&passage, text.get());
        let is_held = candidates.found[score.candidate].holds_any();
        let is_unsaid = match passage.kind {
            PassageKind::Human => !is_held && is_order(text.get()),
            PassageKind::Assistant => is_intent(text.get()) || is_asking(text.get()),
            PassageKind::Tool => false,
        };
        let mut turn = match request.turns {
            TurnEnds::None => None,
            TurnEnds::Both => Some(turn(store, redactor, &passage)?),
            TurnEnds::Answer => {
                let is_told = |row: i64| on_screen.contains(&row) || in_turns.contains(&row);
                let is_leader = hits.len() < LEADERS;
                let result = answer(store, redactor, &passage, text.get(), is_leader)?;
                let result = result.filter(|(found, _)| !is_told(found.row));
                result.map(|result| HitTurn { result: Some(result), ..HitTurn::default() })
            }
        };
        if let Some(HitTurn { result: Some((_, text)), excerpt: own, .. }) = &mut turn {
            *own = Some(excerpts.outcome(text));
        }
        // What a plan led to is told by others, unless its last words speak of what is asked.
        if is_plan && request.turns == TurnEnds::Answer {
            turn = turn.filter(|turn| {
                turn.excerpt.as_ref().is_some_and(|own| !own.get().marks.is_empty())
            });
        }
        let kept = match is_unsaid {
            true => &mut intents,
            false => {
                let ends = turn.iter().flat_map(|turn| turn.prompt.iter().chain(&turn.result));
                in_turns.extend(ends.map(|(end, _)| end.row));
                &mut hits
            }
        };
        let hit = Hit {
            short_id: store.short_id(&passage.id)?,
            snippet: text.derive(|_| Snippet::default()),
            context: context(store, redactor, &passage, request.context)?,
            turn,
            rank: 0,
            passage,
            text,
            score: *score,
        };
        kept.push((place, hit));
    }
    let room = request.limit.saturating_sub(hits.len());
    hits.extend(intents.into_iter().take(room));
    hits.sort_by_key(|(place, _)| *place);
    // What answers a question stands before it.
    for at in 1..hits.len() {
        let (asked, answer) = (&hits[at - 1].1, &hits[at].1);
        let turn = |hit: &Hit| (hit.passage.source, hit.passage.turn);
        let is_answer = answer.passage.kind == PassageKind::Assistant
            && turn(asked) == turn(answer)
            && !answer.score.is_beside();
        if is_answer && asked.passage.kind == PassageKind::Human && is_asking(asked.text.get()) {
            hits.swap(at - 1, at);
        }
    }
    let mut hits: Vec<Hit> = (1..).zip(hits).map(|(rank, (_, hit))| Hit { rank, ..hit }).collect();
    // A passage beside an answer belongs to it; after the last answer it only fills the page.
    while hits.last().is_some_and(|hit| hit.score.is_beside() && !leads(&hit.score)) {
        hits.pop();
    }
    let on_page: Vec<usize> = hits.iter().map(|hit| hit.score.candidate).collect();
    let shown: Vec<i64> = hits.iter().map(|hit| hit.passage.session).collect();
    let mut sessions = sessions_by_row(store, shown)?;
    for score in &ranking.sessions {
        let Some(session) = sessions.remove(&score.session) else { continue };
        let (own, rest) = hits.into_iter().partition(|hit| hit.passage.session == score.session);
        hits = rest;
        results.sessions.push(SessionHits { session, score: *score, hits: own });
    }
    let best = ranking.passages.first().map(|score| candidates.found[score.candidate].session);
    best_passage_first(&mut results.sessions, best);
    // The sessions of what leads come first.
    let place = |session: &SessionHits| {
        let own = leading
            .iter()
            .position(|score| candidates.found[score.candidate].session == session.session.row);
        own.unwrap_or(leading.len())
    };
    results.sessions.sort_by_key(place);
    if let Some(changed) = changed {
        let own = candidates.found[changed.candidate].session;
        second(&mut results.sessions, |session| session.session.row == own);
    }
    if told.is_empty() && decided.is_none() {
        for session in &mut results.sessions {
            last_first(&mut session.hits, &candidates);
        }
        if asks_how && let Some(first) = results.sessions.first_mut() {
            command_second(&mut first.hits, &candidates);
        }
    }
    excerpts.cut(&mut results.sessions);
    let asked = (&results.terms, decided.as_ref());
    let (memories, left_out) = memories(layout, store, redactor, request, asked, &meaning)?;
    results.memories = memories;
    if !told.is_empty() {
        // Beside a command that worked, only a person's word says more of how to do it.
        results.memories.retain(|one| one.hit.memory.flags.is_from_person && one.hit.is_sure());
    }
    results.left_out += left_out;
    let near = results.memories.iter().filter(|one| one.hit.is_near());
    let mut beside: Vec<&str> = near.map(|one| one.title.get().as_str()).collect();
    for SessionHits { session, .. } in &results.sessions {
        let of_session = [session.title.as_deref(), session.project_name.as_deref()];
        beside.extend(of_session.into_iter().flatten());
        beside.push(session.key.agent.as_str());
    }
    let asked = Asked {
        query: &request.query,
        terms: &results.terms,
        filter: &order.filter,
        is_word: request.is_word,
        passages: &index,
        memories: &of_memories,
    };
    results.gaps = gaps(&asked, &candidates, &on_page, &beside)?;
    if let Some((from, until)) = request.when {
        let hits = results.sessions.iter().flat_map(|session| &session.hits);
        let near = results.memories.iter().filter(|one| one.hit.is_near());
        let shown = hits.map(|hit| hit.passage.at).chain(near.map(|one| one.hit.memory.at));
        let mut times = shown.flatten().map(|at| at.as_millisecond()).peekable();
        if times.peek().is_some() && !times.any(|at| (from..until).contains(&at)) {
            results.gaps.push(Gap::OtherTime);
        }
    }
    Ok(results)
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

/// The shares of the score of the first answer of a session, and of what it holds of the question, with which a later one
/// answers as well.
const AS_GOOD: f32 = 0.9;

/// Puts the last of the answers of a session that are about as good before the others: what was said first may have been wrong.
fn last_first(hits: &mut [Hit], candidates: &Candidates) {
    let found = |hit: &Hit| &candidates.found[hit.score.candidate];
    let held = |hit: &Hit| found(hit).held();
    let at = |hit: &Hit| (found(hit).at, found(hit).ordinal);
    let asks =
        |hit: &Hit| hit.text.get().trim_end_matches(['*', ')', '"', ' ', '\n']).ends_with('?');
    let is_answer = |hit: &Hit| hit.passage.kind == PassageKind::Assistant && !asks(hit);
    let Some(first) = hits.first().filter(|hit| is_answer(hit)) else { return };
    let (score, most, first) = (first.score.score, held(first), at(first));
    let is_as_good = |hit: &Hit| {
        is_answer(hit)
            && at(hit) > first
            && hit.score.score >= score * AS_GOOD
            && held(hit) >= most * AS_GOOD
    };
    let later = (1..hits.len()).filter(|place| is_as_good(&hits[*place]));
    if let Some(last) = later.max_by_key(|place| at(&hits[*place])) {
        hits[..=last].rotate_right(1);
    }
}

/// The share of what the best passage holds of a question how to do something that a command holds which may have done it.
const DID: f32 = 0.4;

/// Puts the first command that worked behind the best answer to a question how to do something, where none is sure to do it.
fn command_second(hits: &mut [Hit], candidates: &Candidates) {
    let held = |hit: &Hit| candidates.found[hit.score.candidate].held();
    let most = hits.iter().map(held).fold(0.0, f32::max);
    second(hits, |hit| {
        let has_worked = hit.passage.outcome == Some(Outcome::Succeeded);
        hit.passage.command.is_some() && has_worked && held(hit) >= most * DID
    });
}

/// Moves an item that stands further behind to the second place.
fn second<T>(items: &mut [T], is_it: impl Fn(&T) -> bool) {
    if let Some(at) = items.iter().position(is_it).filter(|at| *at > 1) {
        items[1..=at].rotate_right(1);
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

/// Longest line of intent, and what may stand before its announcement, in bytes.
const LONGEST_INTENT: usize = 160;
const BEFORE_INTENT: usize = 50;

/// Returns true if a text only says what comes next, as a heading or in words: "Good, that works. Now let me update `x`:".
/// What it led to stands beside it.
fn is_intent(text: &str) -> bool {
    const BEGINNINGS: [&str; 17] = [
        "let me ",
        "now let me ",
        "now let's ",
        "let's ",
        "now i'll ",
        "i'll ",
        "i will ",
        "now i need ",
        "now i have ",
        "i now have ",
        "now update ",
        "first, let me ",
        "next, ",
        "now the ",
        "i'm checking ",
        "i'm reading ",
        "i'm going to ",
    ];
    const ENDS: [&str; 3] = [". ", "! ", "? "];
    let text = text.trim();
    if text.len() > LONGEST_INTENT || text.contains('\n') {
        return false;
    }
    if text.starts_with('#') {
        return true;
    }
    let lower = text.to_lowercase().replace('’', "'");
    let precedes = lower.strip_suffix(':').is_some_and(|said| !said.contains([':', ';']));
    let is_clause = !ENDS.iter().any(|end| lower.contains(end));
    if is_clause && (precedes || lower.starts_with("now ")) {
        return true;
    }
    let last = lower.trim_end_matches(['.', ':', '!']);
    let last = [". ", "! ", ": "].iter().filter_map(|end| last.rfind(end)).max();
    let sentence = last.filter(|at| *at <= BEFORE_INTENT).map_or(0, |at| at + 2);
    BEGINNINGS
        .iter()
        .any(|beginning| [&lower, &lower[sentence..]].iter().any(|one| one.starts_with(beginning)))
}

/// Words of the longest order that says nothing of what it is about: "commit", "go on".
const LONGEST_ORDER: usize = 2;

/// Returns true for an order that only makes sense where it was given.
fn is_order(text: &str) -> bool {
    text.split_whitespace().take(LONGEST_ORDER + 1).count() <= LONGEST_ORDER
}

/// Returns true if a text asks at least as much as it says: the answer is in what follows.
fn is_asking(text: &str) -> bool {
    let (mut asked, mut said) = (0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace().map(|word| word.trim_end_matches(['*', '"', ')']));
        while let Some(word) = words.next() {
            let is_last = words.clone().next().is_none();
            let is_number = word.trim_end_matches('.').chars().all(|c| c.is_ascii_digit());
            if word.ends_with('?') {
                asked += 1;
            } else if is_last || word.ends_with(['.', '!']) && !is_number {
                said += 1;
            }
        }
    }
    asked > 0 && asked >= said
}

fn turn(store: &Store, redactor: &Redactor, passage: &PassageRow) -> Result<HitTurn> {
    let read = |found: Option<PassageRow>| {
        let other = found.filter(|found| found.row != passage.row);
        other.map(|found| clean(store, redactor, &found).map(|text| (found, text))).transpose()
    };
    let (prompt, result) = store.ends_of_turn(passage)?;
    Ok(HitTurn { prompt: read(prompt)?, result: read(result)?, excerpt: None })
}

/// The outcome of a passage that asks: the last words of the agent behind a prompt, and the reply to a question of the agent
/// that the passage does not hold; of a call that failed and is a leader what the agent made of it.
fn answer(
    store: &Store,
    redactor: &Redactor,
    passage: &PassageRow,
    text: &str,
    is_leader: bool,
) -> Result<Option<(PassageRow, Clean<String>)>> {
    let has_failed = passage.outcome == Some(Outcome::Failed);
    let may_ask = passage.tool.as_deref().is_some_and(|tool| ASKING_TOOLS.contains(&tool));
    let found = match passage.kind {
        PassageKind::Human => store.ends_of_turn(passage)?.1,
        PassageKind::Assistant if is_asking(text) => store.reply_to(passage)?,
        PassageKind::Tool if has_failed && may_ask => store.reply_to(passage)?,
        PassageKind::Tool if has_failed && is_leader => next_words(store, passage)?,
        _ => None,
    };
    let Some(found) = found else { return Ok(None) };
    let text = clean(store, redactor, &found)?;
    let says = passage.kind == PassageKind::Tool
        || found.kind == PassageKind::Human
        || !is_intent(text.get()) && !is_asking(text.get());
    Ok(says.then_some((found, text)))
}

/// Passages behind a call among which the agent speaks of it.
const NEXT: u32 = 6;

/// The next words of the agent that made a call.
fn next_words(store: &Store, call: &PassageRow) -> Result<Option<PassageRow>> {
    for ordinal in call.ordinal + 1..=call.ordinal + NEXT {
        let next = store.passage_at(call.session, call.source, ordinal)?;
        let next = next.filter(|next| next.agent_id == call.agent_id);
        if let Some(next) = next.filter(|next| next.kind == PassageKind::Assistant) {
            return Ok(Some(next));
        }
    }
    Ok(None)
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
        None => found,
    };
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

#[cfg(test)]
mod tests {
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
    fn announcements_are_told_from_answers() {
        for (text, wanted) in [
            ("Now let me update `x`:", true),
            ("Good catch. Let me check how it is configured.", true),
            ("Good, review committed. Now let me create tasks.", true),
            ("I’m checking the parser now", true),
            ("These are the changes to the parser:", true),
            ("Now fix the parser in `x`.", true),
            ("Now it works. The parser was wrong.", false),
            ("The parser was wrong. These are the changes:", false),
            (
                "The cause is the lock that two writers take at the same time. Let me mend it.",
                false,
            ),
            (
                "Let me know whether the first plan or the second one suits.\nThe first is shorter.",
                false,
            ),
            ("The lock was the cause.", false),
            ("## The cause of the lock", true),
            ("## The cause\n\nTwo writers took the lock.", false),
        ] {
            assert_eq!(is_intent(text), wanted, "{text}");
        }
    }

    #[test]
    fn orders_that_say_nothing_are_told_from_others() {
        for (text, wanted) in [("commit", true), ("Go on.", true), ("use the lock", false)] {
            assert_eq!(is_order(text), wanted, "{text}");
        }
    }

    #[test]
    fn questions_are_told_from_answers() {
        for (text, wanted) in [
            ("Which of the two locks do you mean?", true),
            ("Good. Which of the two?", true),
            ("1. Should the lock stay?\n2. Or **which** one goes?\n\nThen I go on.", true),
            ("The lock was the cause. It is gone now. Should I commit that?", false),
            ("The cause was the lock in search.rs.", false),
            ("", false),
        ] {
            assert_eq!(is_asking(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_session_that_leads_has_more_lines_than_one_among_equals() {
        assert_eq!(lines(&[4.0, 1.0]), [10, 0]);
        assert_eq!(lines(&[2.0, 2.0, 2.0, 2.0]), [3, 3, 2, 2]);
        assert_eq!(lines(&[2.0]), [10]);
    }
}
