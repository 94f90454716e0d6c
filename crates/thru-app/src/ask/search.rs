//! Search: the memories and passages that answer a question, and the policy of what is shown of them.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use thru_agents::hooks::ADAPTERS;
use thru_core::{Agent, Concept, MemoryKind, PassageKind, Timestamp, plain_line};
use thru_recall::{
    Correction, Cut, FoundMemory, Gap, Hit, MeaningUse, Part, SearchRequest, SearchResults,
    SessionHits, Snippet, Spelled, TurnEnds, WorkQuestion, WorkRow, in_english, last_before,
    parse_date, snippet, spelled, without_date, work, work_question,
};
use thru_redact::{Clean, Redactor};
use thru_store::index::tokenizer::Terms;
use thru_store::index::{Collection, EVERYWHERE, IndexFilter, QueryTerms, TextIndex};
use thru_store::{MemoryBody, MemoryRow, PassageRow, Store};

use super::dates::{dates_as_of, time_meant};
use super::memory::{self, MemoryEntry, MemoryFiles};
use super::passage::PassageEntry;
use super::session::SessionEntry;
use super::{EntryKind, ProjectScope, cleaned, named};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::embedding;
use crate::fresh::{self, Freshness, Prepared};
use crate::trouble::Result;

/// Memories shown beside passages that are counted alone.
const MEMORIES: usize = 3;
/// The share of memories among rows that they share with passages: two of five. They say it better, and passages show
/// it.
const MEMORY_SHARE: (usize, usize) = (2, 5);
/// Sessions, and passages of each, that are shown where nothing is a sure answer; of the nearest so many more, and what the
/// others lack.
pub const NEAREST: (usize, usize) = (3, 2);

/// A question.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The query: text, nothing in it is syntax.
    pub query: String,
    /// The projects to search.
    pub project: ProjectScope,
    /// The start of a session's id: only this session, of whatever project unless one is named.
    pub session: Option<String>,
    /// Only sessions of these agents; empty means all.
    pub agents: Vec<Agent>,
    /// Only what touched this file (the end of its path).
    pub file: Option<String>,
    /// The first day, as people write one.
    pub since: Option<String>,
    /// The day after the last one.
    pub until: Option<String>,
    /// Only these kinds; empty means all.
    pub kinds: Vec<EntryKind>,
    /// Only memories with one of these concepts; empty means all.
    pub concepts: Vec<Concept>,
    /// The size of the answer.
    pub size: AnswerSize,
    /// The number of passages before and after each.
    pub context: u32,
    /// True if the nearest are wanted where nothing answers.
    pub nearest: bool,
    /// The ends of its turn that each passage comes with.
    pub turns: TurnEnds,
}

/// The size of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerSize {
    /// At most this many passages, with a few memories beside them; the limit of the user's settings where no number is
    /// given.
    Passages(Option<usize>),
    /// At most this many rows, which memories and passages share.
    Rows(usize),
}

impl Default for AnswerSize {
    fn default() -> Self {
        Self::Passages(None)
    }
}

/// Maximum numbers of memories and passages.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Memories that may be shown.
    memories: usize,
    /// Rows in all.
    rows: usize,
    /// Passages that are looked at.
    passages: usize,
}

impl Search {
    fn limits(&self, app: &App) -> Limits {
        let any = self.kinds.is_empty() && self.concepts.is_empty();
        let memories = any
            || !self.concepts.is_empty()
            || self.kinds.iter().any(|kind| matches!(kind, EntryKind::Memory(_)));
        let passages = any || self.kinds.iter().any(|kind| matches!(kind, EntryKind::Passage(_)));
        let (limit, beside) = match self.size {
            AnswerSize::Passages(limit) => {
                let limit = limit.unwrap_or(app.config.search.limit);
                (limit, MEMORIES)
            }
            AnswerSize::Rows(rows) => (rows, (rows * MEMORY_SHARE.0 / MEMORY_SHARE.1).max(1)),
        };
        let memories = match (memories, passages) {
            (false, _) => 0,
            (true, false) => limit,
            (true, true) => beside,
        };
        let rows = match self.size {
            AnswerSize::Passages(_) if passages => limit + memories,
            _ => limit,
        };
        let passages = if passages { limit } else { 0 };
        Limits { memories, rows, passages }
    }

    fn filter(&self, app: &App, store: &Store) -> Result<(IndexFilter, Option<String>)> {
        let date = |text: &Option<String>| {
            let now = app.clock.now();
            text.as_deref().map(|text| parse_date(text, now, app.zone())).transpose()
        };
        let project = match (&self.project, &self.session) {
            // The id says it all.
            (ProjectScope::Here, Some(_)) => None,
            (scope, _) => scope.find(app, store)?,
        };
        let session = match &self.session {
            Some(id) => Some(vec![named::named_session(app, store, id)?.row]),
            None => None,
        };
        let (mut kinds, mut passages): (Vec<MemoryKind>, Vec<PassageKind>) = Default::default();
        for kind in &self.kinds {
            match kind {
                EntryKind::Memory(kind) => kinds.push(*kind),
                EntryKind::Passage(kind) => passages.push(*kind),
            }
        }
        let filter = IndexFilter {
            projects: project.as_ref().map(|one| store.project_rows(one.row)).transpose()?,
            sessions: session,
            agents: (!self.agents.is_empty()).then(|| self.agents.clone()),
            file: self.file.clone(),
            since: date(&self.since)?,
            until: date(&self.until)?,
            kinds: (!kinds.is_empty()).then_some(kinds),
            passages: (!passages.is_empty()).then_some(passages),
            concepts: (!self.concepts.is_empty()).then(|| self.concepts.clone()),
        };
        Ok((filter, project.map(|project| project.name)))
    }
}

/// The verdict on a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Something seems to answer it.
    #[serde(rename = "found")]
    Answered,
    /// Nothing seems to; the nearest is shown, as wanted.
    #[serde(rename = "unsure")]
    Nearest,
    /// Nothing seems to, and nothing is shown.
    Nothing,
}

/// The answer to a question.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Found {
    /// The version of this form.
    pub version: u32,
    /// `search`.
    pub kind: &'static str,
    /// The query.
    pub query: String,
    /// The name of the project that was searched; `None` for all.
    pub project: Option<Clean<String>>,
    /// The terms that were searched for.
    pub terms: Vec<String>,
    /// Words of the query that nothing holds, and what they were read as.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<Correction>,
    /// Words of the query that the answer lacks: those that nothing mentions, and names that belong to something else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// The answer to a question about time or work; nothing is searched for then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkDone>,
    /// Confidence that the passages answer the question, from 0 to 1.
    pub confidence: f32,
    /// True if this seems to answer it.
    pub is_confident: bool,
    /// The use made of meaning.
    pub meaning: MeaningUse,
    /// The number of passages and memories that are too new to be searched.
    pub left_out: u64,
    /// The memories that were considered, best first.
    pub memories: Vec<RankedMemory>,
    /// The sessions that were considered, best first.
    pub sessions: Vec<RankedSession>,
    /// The work done to bring the answer up to date.
    pub preparation: Prepared,
    /// The verdict.
    pub verdict: Verdict,
    /// True if there is more than the size of the answer lets through.
    #[serde(skip)]
    pub has_more: bool,
    /// True if only memories were searched.
    #[serde(skip)]
    pub only_memories: bool,
    /// The number of passages that were looked at closely.
    #[serde(skip)]
    pub considered: usize,
    /// Files whose path ends like the one that was asked for, where nothing was found.
    #[serde(skip)]
    pub known_files: Vec<String>,
    #[serde(skip)]
    shown: Vec<RowAt>,
}

/// The sessions that answer a question about time or work.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkDone {
    /// The question: `done`, `latest`, `open` or `touched`.
    pub question: &'static str,
    /// The file that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The time that was asked about: its first moment, and the first one after it.
    #[serde(skip)]
    pub time: Option<(Timestamp, Timestamp)>,
    /// The sessions, the latest first.
    pub sessions: Vec<WorkSession>,
    /// The last session before the time that was asked about, where there is none in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<WorkSession>,
}

/// A session in the answer to a question about work.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkSession {
    /// The session.
    #[serde(flatten)]
    pub entry: SessionEntry,
    /// The time that it is listed under.
    pub at: Option<Timestamp>,
    /// What it did in the time that was asked about, beside what its title says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<Clean<String>>,
    /// The prompts of that time, where little is known of what it did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Clean<String>>,
    /// The steps that it left open, or recorded as open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Clean<String>>,
}

/// The place of a row in [`Found`].
#[derive(Clone, Copy, Debug)]
enum RowAt {
    Memory(usize),
    Passage(usize, usize),
}

/// A row of an answer.
#[derive(Clone, Copy, Debug)]
pub enum FoundRow<'a> {
    /// A memory.
    Memory(&'a RankedMemory),
    /// A passage.
    Passage(&'a RankedPassage),
}

impl Found {
    /// True if what was found is near at best. Where no word is lacking for which no other stands, it may answer from a lower
    /// confidence on than that of a sure answer.
    pub fn is_unsure(&self) -> bool {
        const LIKELY: f32 = 0.1;
        let may_answer = self.confidence >= LIKELY && !self.gaps.iter().any(Gap::is_telling);
        self.verdict == Verdict::Nearest && !may_answer
    }

    /// True if the question asks for a time, which each passage then says of itself.
    pub fn asks_when(&self) -> bool {
        const ASKING: [&str; 4] = ["when", "what time", "wann", "how long ago"];
        let query = self.query.to_lowercase();
        ASKING.iter().any(|words| {
            query.strip_prefix(words).is_some_and(|rest| rest.starts_with(' '))
                || query.contains(&format!(" and {words} "))
        })
    }

    /// The rows to show: memories first, then passages, best first.
    pub fn rows(&self) -> impl Iterator<Item = FoundRow<'_>> {
        self.shown.iter().map(|row| match *row {
            RowAt::Memory(at) => FoundRow::Memory(&self.memories[at]),
            RowAt::Passage(session, hit) => {
                FoundRow::Passage(&self.sessions[session].passages[hit])
            }
        })
    }

    /// The memories to show, best first.
    pub fn shown_memories(&self) -> impl Iterator<Item = &RankedMemory> {
        self.rows().filter_map(|row| match row {
            FoundRow::Memory(memory) => Some(memory),
            FoundRow::Passage(_) => None,
        })
    }

    /// The nearest of what was considered, best first, whatever the verdict: memories that are near, then passages.
    pub fn nearest(&self, most: usize) -> Vec<FoundRow<'_>> {
        let mut passages: Vec<&RankedPassage> =
            self.sessions.iter().flat_map(|session| &session.passages).collect();
        passages.sort_by_key(|passage| passage.rank);
        let memories = self.memories.iter().take(1).map(FoundRow::Memory);
        memories.chain(passages.into_iter().map(FoundRow::Passage)).take(most).collect()
    }

    /// What to say before the answer in plain words: the words that were read as others, and those that nothing mentions.
    /// The text is not cleaned for a terminal.
    pub fn remarks(&self) -> Vec<String> {
        let read =
            self.corrections.iter().map(|one| format!("for `{}` read `{}`", one.typed, one.read));
        let read: Vec<String> = read.collect();
        let read =
            (!read.is_empty()).then(|| format!("Not found as written: {}.", read.join(", ")));
        let gaps = Gap::sentences(&self.gaps);
        read.into_iter().chain((!gaps.is_empty()).then_some(gaps)).collect()
    }

    /// The sessions to show with their passages: where nothing is a sure answer the [`NEAREST`], unless the `whole` is wanted.
    pub fn shown_sessions(
        &self,
        whole: bool,
    ) -> impl Iterator<Item = (&RankedSession, &[RankedPassage])> {
        let is_short = self.is_unsure() && !whole;
        let (sessions, hits) = if is_short { NEAREST } else { (usize::MAX, usize::MAX) };
        let lacking = sessions.saturating_sub(self.sessions.len());
        let nearest = hits.saturating_mul(lacking.saturating_add(2));
        self.sessions.iter().take(sessions).enumerate().map(move |(place, session)| {
            let most = if place == 0 { nearest } else { hits };
            (session, &session.passages[..most.min(session.passages.len())])
        })
    }

    /// The number of passages to show.
    pub fn shown_passages(&self) -> usize {
        self.shown.iter().filter(|row| matches!(row, RowAt::Passage(..))).count()
    }
}

/// A score with its features, those that add or take most first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Score {
    /// The score.
    pub total: f32,
    /// The features.
    #[serde(rename = "features", serialize_with = "by_name")]
    #[schemars(with = "std::collections::BTreeMap<String, Feature>")]
    pub parts: Vec<Part>,
}

fn by_name<S: Serializer>(parts: &[Part], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(parts.iter().map(|part| (part.name, Feature::from(part))))
}

/// A feature of a score.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(super) struct Feature {
    value: f32,
    weight: f32,
    contribution: f32,
}

impl From<&Part> for Feature {
    fn from(part: &Part) -> Self {
        Self { value: part.value, weight: part.weight, contribution: part.contribution() }
    }
}

/// A memory among the answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RankedMemory {
    /// The memory.
    #[serde(flatten)]
    pub entry: MemoryEntry,
    /// Its score, comparable within one answer.
    pub score: f32,
    /// The share of the query's words that it holds, from 0 to 1, rare words weighing more.
    pub coverage: f32,
    /// The cosine of its vector and the query's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f32>,
    /// Its files as they are now.
    #[serde(flatten)]
    pub files: MemoryFiles,
    /// The part of what it tells that has to do with the question, beside its title.
    #[serde(skip)]
    pub told: Option<Clean<Snippet>>,
}

/// A session among the answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RankedSession {
    /// The session.
    #[serde(flatten)]
    pub entry: SessionEntry,
    /// Its score.
    pub score: Score,
    /// Its passages, best first.
    pub passages: Vec<RankedPassage>,
}

/// A passage among the answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RankedPassage {
    /// The passage.
    #[serde(flatten)]
    pub entry: PassageEntry,
    /// Its rank, from 1.
    pub rank: usize,
    /// The part of its text that matches.
    #[serde(serialize_with = "snippet_text")]
    #[schemars(with = "String")]
    pub snippet: Clean<Snippet>,
    /// Its score.
    pub score: Score,
    /// The passages before and after it, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<PassageEntry>,
    /// The prompt that it answers, if turns were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PassageEntry>,
    /// The last words of the agent in its turn, if turns were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<PassageEntry>,
    /// The part of the result that matches, else its beginning.
    #[serde(skip)]
    pub excerpt: Option<Clean<Snippet>>,
}

fn snippet_text<S: Serializer>(snippet: &Clean<Snippet>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&snippet.get().text)
}

/// Answers a question from the memory of this machine, brought up to date as far as the time of a question allows.
///
/// Words that stand everywhere find something for every question. Rows are shown only where a memory is near the
/// question or the passages seem to answer it, or where the nearest is wanted.
///
/// # Errors
/// Fails if a project, session or date cannot be understood, or store, index or vectors cannot be read.
pub fn search(app: &App, request: &Search, call: Call<'_>) -> Result<Found> {
    fresh::of_whole_index(app, call, || answer(app, request, call))
}

fn answer(app: &App, request: &Search, call: Call<'_>) -> Result<Found> {
    call.check()?;
    let query = in_english(&request.query).unwrap_or_else(|| request.query.clone());
    let mut embedding = embedding::embed_question(app, &query);
    let store = fresh::open(app, Freshness::AsItIs, call)?;
    let intake = app.intake_beside(&store)?;
    let (filter, project) = request.filter(app, &store)?;
    let (store, preparation) =
        fresh::for_question(app, &intake, store, filter.projects.as_deref(), call)?;
    let redactor = intake.redactor();
    let limits = request.limits(app);
    // One more of each tells whether there are more.
    let one_more = |most: usize| match request.size {
        AnswerSize::Rows(_) if most > 0 => most + 1,
        _ => most,
    };
    let index = app.open.indexes.index(&app.layout, &store, Collection::Passages)?;
    let now = dates_as_of(app, &store, &query, filter.projects.as_deref())?;
    let within = (&filter, project.as_deref());
    let mut work = answer_work(app, &store, redactor, (request, &query, now), &index, within)?;
    let spelled = match work {
        Some(_) => Spelled::default(),
        None => {
            let memories = app.open.indexes.index(&app.layout, &store, Collection::Memories)?;
            let query = without_date(&query, now, app.zone());
            let projects = filter.projects.clone().map(|own| [own, vec![EVERYWHERE]].concat());
            let within = IndexFilter { projects, ..IndexFilter::default() };
            spelled(&[&index, &memories], &within, &query, thru_embed::is_word)?
        }
    };
    if !spelled.corrections.is_empty() {
        embedding = embedding::embed_question(app, &spelled.query);
    }
    let recall = SearchRequest {
        query: spelled.query,
        filter,
        turns: request.turns,
        when: time_meant(app, &query, now),
        open: app.open.clone(),
        limit: one_more(limits.passages),
        context: request.context,
        memories: one_more(limits.memories),
        skip_tools: skipped_tools(app),
        is_word: Some(thru_embed::is_word),
    };
    let mut results = SearchResults::default();
    let mut judged = Judged::of_work();
    if work.is_none() {
        let embedding = Box::new(|| embedding.wait());
        results = thru_recall::search(&app.layout, &store, redactor, &recall, embedding)?;
        if limits.passages > 0 {
            // What has no title is told by its passages, and what is far from the question only where they tell nothing.
            let tell = !results.sessions.is_empty();
            results
                .memories
                .retain(|found| !found.hit.memory.is_untitled() && (found.hit.is_near() || !tell));
        }
        if let Some(when) = recall.when.filter(|_| results.gaps == [Gap::OtherTime]) {
            // What was done then is nearer than the same words of another time.
            let within = (recall.filter.projects.as_deref(), when);
            work = done_then(app, &store, redactor, (request, &query), &index, within)?;
        }
        match work {
            Some(_) => results = SearchResults { gaps: results.gaps, ..SearchResults::default() },
            None => judged = judge(&results, request, limits),
        }
    }
    let known_files = match (&request.file, judged.verdict) {
        (Some(file), Verdict::Nothing) => store.files_like(file)?,
        _ => Vec::new(),
    };
    let is_confident = work.is_some() || results.is_confident();
    let mut gaps = results.gaps;
    // Other words stand for common ones.
    let is_common = |word: &String| thru_embed::is_common_word(&word.to_lowercase());
    gaps.retain(|gap| match gap {
        Gap::Unknown { word, is_name: false } | Gap::Unsaid { word } => !is_common(word),
        _ => true,
    });
    let hits = results.sessions.iter().flat_map(|session| &session.hits);
    let texts = || {
        let titles = results.memories.iter().map(|found| &found.title);
        hits.clone().map(|hit| &hit.text).chain(titles).map(|text| text.get().as_str())
    };
    let corrections: Vec<Correction> =
        spelled.corrections.into_iter().map(|one| one.as_written(texts())).collect();
    Ok(Found {
        version: answer::VERSION,
        kind: "search",
        query: request.query.clone(),
        corrections: corrections
            .into_iter()
            .map(|one| Correction { read: cleaned(redactor, &one.read).into_inner(), ..one })
            .collect(),
        gaps,
        work,
        project: project.map(|name| cleaned(redactor, &name)),
        terms: results.terms.terms.clone(),
        confidence: results.confidence,
        is_confident,
        meaning: results.meaning_use,
        left_out: results.left_out,
        memories: ranked_memories(&store, redactor, results.memories, &results.terms)?,
        sessions: results
            .sessions
            .into_iter()
            .map(|session| ranked_session(app, redactor, session))
            .collect(),
        preparation,
        verdict: judged.verdict,
        has_more: judged.has_more,
        only_memories: limits.passages == 0,
        considered: results.considered,
        known_files,
        shown: judged.shown,
    })
}

/// Answers a question about time or work; `None` for other questions, and where there is nothing to say.
fn answer_work(
    app: &App,
    store: &Store,
    redactor: &Redactor,
    (request, query, now): (&Search, &str, Timestamp),
    index: &TextIndex,
    (filter, project): (&IndexFilter, Option<&str>),
) -> Result<Option<WorkDone>> {
    let Some(mut question) = work_question(query, now, app.zone()).filter(|_| is_plain(request))
    else {
        return Ok(None);
    };
    let mut projects = filter.projects.clone();
    match &mut question {
        WorkQuestion::Touched { .. } => {}
        WorkQuestion::Done { of, .. } | WorkQuestion::Latest { of } => {
            if !of.is_empty() && !project.is_some_and(|name| is_part(of, name)) {
                let rows = projects_called(store, of)?;
                if rows.is_empty() {
                    // It asks for more than work.
                    return Ok(None);
                }
                projects = Some(rows);
            }
        }
        WorkQuestion::Open { of } => {
            if let Some((rows, rest)) = project_in(store, of)? {
                (projects, *of) = (Some(rows), rest);
            }
        }
    }
    tell_work(app, store, redactor, index, question, (projects.as_deref(), &request.agents))
}

/// True for a question that is about no part of a session alone.
fn is_plain(request: &Search) -> bool {
    request.session.is_none()
        && request.file.is_none()
        && request.kinds.is_empty()
        && request.concepts.is_empty()
}

/// Lists the sessions of a time, those of the agents that the question names; `None` where there are none.
fn done_then(
    app: &App,
    store: &Store,
    redactor: &Redactor,
    (request, query): (&Search, &str),
    index: &TextIndex,
    (projects, (from, until)): (Option<&[i64]>, (i64, i64)),
) -> Result<Option<WorkDone>> {
    let time = Timestamp::from_millisecond(from).ok().zip(Timestamp::from_millisecond(until).ok());
    let Some((from, until)) = time.filter(|_| is_plain(request)) else { return Ok(None) };
    let named = |agent: &Agent| {
        let is_name = |word: &str| word.eq_ignore_ascii_case(agent.as_str());
        query.split(|c: char| !c.is_alphanumeric() && c != '-').any(is_name)
    };
    let agents = match request.agents.is_empty() {
        true => Agent::ALL.into_iter().filter(named).collect(),
        false => request.agents.clone(),
    };
    let question = WorkQuestion::Done { from, until, of: String::new() };
    let told = tell_work(app, store, redactor, index, question, (projects, &agents))?;
    Ok(told.filter(|told| !told.sessions.is_empty()))
}

/// Tells the sessions that answer a question about work, of all agents where none is given; `None` where there is nothing to say.
fn tell_work(
    app: &App,
    store: &Store,
    redactor: &Redactor,
    index: &TextIndex,
    question: WorkQuestion,
    (projects, agents): (Option<&[i64]>, &[Agent]),
) -> Result<Option<WorkDone>> {
    let is_of_agents = |row: &WorkRow| agents.is_empty() || agents.contains(&row.session.key.agent);
    let told = |row: WorkRow| WorkSession {
        entry: SessionEntry::new(app, redactor, &row.session),
        at: row.at,
        done: row.done.iter().map(|deed| cleaned(redactor, deed)).collect(),
        asked: row.asked.iter().map(|prompt| cleaned(redactor, prompt)).collect(),
        steps: row.steps.iter().map(|step| cleaned(redactor, step)).collect(),
    };
    let found = work(store, index, &question, projects)?.into_iter();
    let sessions: Vec<WorkSession> = found.filter(is_of_agents).map(told).collect();
    let before = match &question {
        WorkQuestion::Done { from, .. } if sessions.is_empty() => {
            last_before(store, *from, projects)?.filter(is_of_agents).map(told)
        }
        _ => None,
    };
    // That nothing is open answers a question about all that is.
    let is_answer = matches!(&question, WorkQuestion::Open { of } if of.is_empty());
    if sessions.is_empty() && before.is_none() && !is_answer {
        return Ok(None);
    }
    let (name, file, time) = match question {
        WorkQuestion::Touched { file } => ("touched", Some(file), None),
        WorkQuestion::Done { from, until, .. } => ("done", None, Some((from, until))),
        WorkQuestion::Latest { .. } => ("latest", None, None),
        WorkQuestion::Open { .. } => ("open", None, None),
    };
    Ok(Some(WorkDone { question: name, file, time, sessions, before }))
}

/// The rows of all projects of a name: two clones of a repository may be two projects.
fn projects_called(store: &Store, name: &str) -> Result<Vec<i64>> {
    let mut rows = Vec::new();
    for project in store.project_names()? {
        if project.name.eq_ignore_ascii_case(name) {
            rows.extend(store.project_rows(project.row)?);
        }
    }
    Ok(rows)
}

/// Returns true if words are among those of a project's name: "the api" in `rocket-api`.
fn is_part(words: &str, name: &str) -> bool {
    let terms = |text: &str| {
        let mut terms = Vec::new();
        Terms::default().tokenize(text, |term, _| terms.push(term.to_owned()));
        terms
    };
    let name = terms(name);
    terms(words).iter().all(|term| name.contains(term))
}

/// The rows of the projects that words name, and the rest of the words; `None` if they name no project.
fn project_in(store: &Store, words: &str) -> Result<Option<(Vec<i64>, String)>> {
    let words: Vec<&str> = words.split(' ').collect();
    for length in [2, 1] {
        for at in 0..=words.len().saturating_sub(length) {
            let named = words.iter().skip(at).take(length).copied().collect::<Vec<_>>().join(" ");
            let rows = projects_called(store, &named)?;
            if !rows.is_empty() {
                let rest: Vec<&str> =
                    words[..at].iter().chain(words.iter().skip(at + length)).copied().collect();
                return Ok(Some((rows, rest.join(" "))));
            }
        }
    }
    Ok(None)
}

/// The rows to show, and what to say of them.
struct Judged {
    verdict: Verdict,
    has_more: bool,
    shown: Vec<RowAt>,
}

impl Judged {
    /// The verdict on a question about time or work.
    const fn of_work() -> Self {
        Self { verdict: Verdict::Answered, has_more: false, shown: Vec::new() }
    }
}

fn judge(results: &SearchResults, request: &Search, limits: Limits) -> Judged {
    let memories = || results.memories.iter().enumerate();
    // It shares words with the question, but nothing of its session does.
    let is_alone = |found: &FoundMemory| {
        let is_on_screen = |row| results.sessions.iter().any(|one| one.session.row == row);
        limits.passages > 0 && !found.hit.memory.session.is_none_or(is_on_screen)
    };
    let near: Vec<RowAt> = memories()
        .filter(|(_, found)| found.hit.is_near())
        .filter(|(_, found)| found.hit.is_sure() || !is_alone(found))
        .map(|(at, _)| RowAt::Memory(at))
        .collect();
    let mut has_more = near.len() > limits.memories;
    let mut shown: Vec<RowAt> = near.into_iter().take(limits.memories).collect();
    // Some words stand everywhere: what does not seem to answer is only shown as what comes nearest.
    let answers = results.is_confident() || limits.passages == 0 && !shown.is_empty();
    let mut verdict = Verdict::Answered;
    if !answers && !request.nearest {
        shown.clear();
    }
    if answers || request.nearest {
        let mut hits: Vec<(usize, RowAt)> = Vec::new();
        for (at, session) in results.sessions.iter().enumerate() {
            for (place, hit) in session.hits.iter().enumerate() {
                hits.push((hit.rank, RowAt::Passage(at, place)));
            }
        }
        hits.sort_by_key(|(rank, _)| *rank);
        let room = limits.rows.saturating_sub(shown.len());
        has_more |= hits.len() > room;
        shown.extend(hits.into_iter().take(room).map(|(_, row)| row));
        if !answers {
            verdict = Verdict::Nearest;
        }
    }
    if shown.is_empty() && request.nearest {
        let far = memories().take(limits.rows);
        shown.extend(far.map(|(at, _)| RowAt::Memory(at)));
        verdict = Verdict::Nearest;
    }
    if shown.is_empty() {
        verdict = Verdict::Nothing;
    }
    Judged { verdict, has_more, shown }
}

fn ranked_memories(
    store: &Store,
    redactor: &Redactor,
    found: Vec<FoundMemory>,
    terms: &QueryTerms,
) -> Result<Vec<RankedMemory>> {
    let entries = memory::entries(store, redactor, found.iter().map(|one| &one.hit.memory))?;
    found
        .iter()
        .zip(entries)
        .map(|(found, (entry, files))| {
            Ok(RankedMemory {
                told: told(store, redactor, &found.hit.memory, terms)?,
                entry,
                score: found.hit.score,
                coverage: found.hit.coverage,
                similarity: found.hit.similarity,
                files,
            })
        })
        .collect()
}

/// Characters of what is told of a memory.
const TOLD: usize = 320;

/// What a memory tells beside its title: its own sentences, else those of the agent's report.
fn told(
    store: &Store,
    redactor: &Redactor,
    memory: &MemoryRow,
    terms: &QueryTerms,
) -> Result<Option<Clean<Snippet>>> {
    let MemoryBody::Observation(body) = store.body_of(memory)? else { return Ok(None) };
    let is_report = body.narrative.is_none();
    let Some(said) = body.narrative.or(body.report) else { return Ok(None) };
    let cut = Cut { length: TOLD, ..Cut::default() };
    // It is short: what it is about stands at its beginning.
    let told = cleaned(redactor, &plain_line(&said.text, TOLD));
    let told = told.derive(|text| snippet(text, terms, &cut));
    let said = told.get().text.trim_end_matches(['.', '…']).to_lowercase();
    let is_more = memory.is_untitled() || !memory.title.to_lowercase().contains(&said);
    Ok(Some(told).filter(|told| is_more && !(is_report && told.get().marks.is_empty())))
}

fn ranked_session(app: &App, redactor: &Redactor, session: SessionHits) -> RankedSession {
    RankedSession {
        entry: SessionEntry::new(app, redactor, &session.session),
        score: Score { total: session.score.score, parts: session.score.parts() },
        passages: session.hits.into_iter().map(|hit| ranked_passage(redactor, hit)).collect(),
    }
}

fn ranked_passage(redactor: &Redactor, hit: Hit) -> RankedPassage {
    let end = |found: Option<(PassageRow, Clean<String>)>| {
        found.map(|(passage, text)| {
            PassageEntry::new(redactor, &passage, passage.id.to_string(), text)
        })
    };
    let turn = hit.turn.unwrap_or_default();
    RankedPassage {
        prompt: end(turn.prompt),
        result: end(turn.result),
        excerpt: turn.excerpt,
        entry: PassageEntry::new(redactor, &hit.passage, hit.short_id, hit.text),
        rank: hit.rank,
        snippet: hit.snippet,
        score: Score { total: hit.score.score, parts: hit.score.parts() },
        context: hit
            .context
            .into_iter()
            .map(|(passage, text)| {
                PassageEntry::new(redactor, &passage, passage.id.to_string(), text)
            })
            .collect(),
    }
}

/// The tools whose calls are not worth a result. Answers of the user always are.
fn skipped_tools(app: &App) -> Vec<String> {
    let asks = |tool: &String| ADAPTERS.iter().any(|adapter| adapter.capture.asks_user(tool));
    app.config.capture.skip_tools.iter().filter(|tool| !asks(tool)).cloned().collect()
}
