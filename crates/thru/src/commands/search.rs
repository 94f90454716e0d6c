//! `thru search`: find where something was said or done.

use serde_json::{Value, json};
use thru_app::App;
use thru_app::Result;
use thru_app::ask::{memory, named};
use thru_core::{Agent, Concept, MemoryKind, Outcome as CallOutcome, PassageKind};
use thru_recall::{Answer, FoundMemory, Hit, Part, Request, Semantics, mentioned, parse_date};
use thru_redact::{Clean, Redactor};
use thru_store::index::IndexFilter;
use thru_store::{PassageRow, SessionRow, Store};

use super::memories::{self, TableRow};
use super::of_agents::OfAgents;
use super::{Outcome, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, age, count, cut, one_line, plural, printable, width};
use thru_app::embedding;
use thru_app::fresh;

/// A query is text: nothing in it is syntax.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru search why does the importer lock the database\n  \
    thru search E0502 --file src/lib.rs\n  \
    thru search retry budget --since '2 weeks ago' --all\n  \
    thru search cache --type decision\n\n\
    Searches the project you stand in, or everything where you stand in none.")]
pub(crate) struct Arguments {
    /// What to look for
    #[arg(required = true)]
    query: Vec<String>,
    /// Only this project
    #[arg(long, short, conflicts_with = "all")]
    pub(crate) project: Option<String>,
    /// In all projects
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Only this session (the start of its id is enough)
    #[arg(long, short)]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) of: OfAgents,
    /// Only passages that touched this file (the end of its path is enough)
    #[arg(long, short)]
    pub(crate) file: Option<String>,
    /// Not before: `2026-03-01`, `yesterday`, `2 weeks ago`
    #[arg(long)]
    pub(crate) since: Option<String>,
    /// Before: as --since
    #[arg(long)]
    pub(crate) until: Option<String>,
    /// How many passages to show
    #[arg(long, short = 'n', value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: Option<u16>,
    /// Show this many passages before and after each
    #[arg(long, short = 'C', default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=50))]
    context: u32,
    /// Only memories of this type: bugfix, feature, refactor, change, discovery, decision, summary
    #[arg(long = "type", value_name = "TYPE")]
    kinds: Vec<MemoryKind>,
    /// Only memories with this concept: how-it-works, why-it-exists, what-changed, problem-solution,
    /// gotcha, pattern, trade-off
    #[arg(long = "concept", value_name = "CONCEPT")]
    concepts: Vec<Concept>,
    /// Say what each score is made of
    #[arg(long)]
    explain: bool,
    /// Show what comes nearest even where nothing answers
    #[arg(long)]
    nearest: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let query = arguments.query.join(" ");
    let meaning = embedding::of_question(environment, &query);
    let store = shared::open_store_as_it_is(environment)?;
    let intake = environment.intake_beside(&store)?;
    let (filter, scope) = scope(arguments, environment, &store)?;
    let shown = shared::Shown::new(environment);
    let call = shown.call();
    let (store, prepared) =
        fresh::for_question(environment, &intake, store, filter.projects.as_deref(), call)?;
    let limit = arguments.limit.map_or_else(|| environment.config.search.limit, usize::from);
    let only_memories = !arguments.kinds.is_empty() || !arguments.concepts.is_empty();
    let when = time_meant(environment, &query);
    let request = Request {
        query,
        when,
        filter,
        limit: if only_memories { 0 } else { limit },
        context: arguments.context,
        memories: if only_memories { limit } else { MEMORIES },
        open: environment.open.clone(),
    };
    let answer = thru_recall::search(
        &environment.layout,
        &store,
        intake.redactor(),
        &request,
        Box::new(|| meaning.wait()),
    )?;
    let is_empty = answer.is_nothing(arguments.nearest);
    let mut page = Page::new(environment, plain);
    if arguments.json {
        let mut json = as_json(&answer, &request, &scope, &store, environment)?;
        json["preparation"] = json!(prepared);
        page.json(&json)?;
    } else if only_memories && !is_empty {
        show_memories(&mut page, &answer, &store, intake.redactor(), environment)?;
    } else if is_empty {
        page.line(format!("Nothing found{}.", scope.phrase()));
        if !answer.sessions.is_empty() {
            let line =
                "Some words were found, but nothing that seems to answer: `--nearest` shows it.";
            page.line(line);
        }
        if scope.project.is_some() {
            page.line("Add `--all` to look in every project.");
        }
        if let Some(file) = &arguments.file {
            let known = store.files_like(file)?;
            if !known.is_empty() {
                page.line(format!("Files of that name that were touched: {}", known.join(", ")));
            }
        }
    } else {
        remembered(&mut page, &answer, &store, environment)?;
        show(&mut page, &answer, arguments, environment, &scope);
    }
    if !arguments.json {
        shared::show_prepared(&mut page, &prepared);
    }
    page.print()?;
    Ok(if is_empty { Outcome::Nothing } else { Outcome::Done })
}

impl Arguments {
    /// A search for these words and nothing else.
    pub(crate) fn of(query: &str) -> Self {
        Self {
            query: query.split(' ').map(str::to_owned).collect(),
            project: None,
            all: true,
            session: None,
            of: OfAgents::default(),
            file: None,
            since: None,
            until: None,
            limit: Some(5),
            context: 0,
            kinds: Vec::new(),
            concepts: Vec::new(),
            explain: false,
            nearest: false,
            json: false,
        }
    }
}

/// Where a search looks, in words.
pub(crate) struct Scope {
    pub(crate) project: Option<String>,
}

impl Scope {
    fn phrase(&self) -> String {
        self.project.as_ref().map_or_else(String::new, |name| format!(" in project {name}"))
    }
}

/// Where a search looks.
pub(crate) fn scope(
    arguments: &Arguments,
    environment: &App,
    store: &Store,
) -> Result<(IndexFilter, Scope)> {
    let now = environment.clock.now();
    let date = |text: &Option<String>| {
        text.as_deref().map(|text| parse_date(text, now, environment.zone())).transpose()
    };
    let project = match (&arguments.project, arguments.all || arguments.session.is_some()) {
        (Some(name), _) => Some(named::named_project(store, name)?),
        (None, true) => None,
        (None, false) => named::current_project(environment, store)?,
    };
    let session = match &arguments.session {
        Some(id) => Some(vec![named::named_session(store, id)?.row]),
        None => None,
    };
    let filter = IndexFilter {
        projects: project.as_ref().map(|project| store.project_rows(project.row)).transpose()?,
        sessions: session,
        agents: arguments.of.filter(),
        file: arguments.file.clone(),
        since: date(&arguments.since)?,
        until: date(&arguments.until)?,
        kinds: (!arguments.kinds.is_empty()).then(|| arguments.kinds.clone()),
        concepts: (!arguments.concepts.is_empty()).then(|| arguments.concepts.clone()),
    };
    Ok((filter, Scope { project: project.map(|project| project.name) }))
}

/// Memories shown beside passages.
const MEMORIES: usize = 3;

/// The memories that answer, in a line each: what was made of the passages below.
fn remembered(page: &mut Page, answer: &Answer, store: &Store, environment: &App) -> Result<()> {
    let shown: Vec<&FoundMemory> =
        answer.memories.iter().filter(|found| found.hit.is_near()).collect();
    if shown.is_empty() {
        return Ok(());
    }
    let id_width = shown.iter().map(|found| found.short_id.len()).max().unwrap_or(5);
    page.line(page.paint(Tone::Heading, "In short"));
    for found in shown {
        let memory = &found.hit.memory;
        let id = page.paint(Tone::Id, &format!("{:id_width$}", found.short_id));
        let age = age(memory.at, environment.clock.now());
        let session = memory::session_of(store, memory)?;
        let stale = memories::freshness(store, memory, session.as_ref())?.note();
        let stale = stale.map_or_else(String::new, |note| format!("  {note}"));
        let used = id_width + 17 + age.len() + width(&stale);
        let title = one_line(found.title.get(), page.columns().saturating_sub(used).max(20));
        let age = page.paint(Tone::Quiet, &age);
        let stale = page.paint(Tone::Bad, &stale);
        page.line(format!("  {id}  {:10}{title}  {age}{stale}", memory.kind));
    }
    Ok(())
}

/// Memories alone, as a table.
fn show_memories(
    page: &mut Page,
    answer: &Answer,
    store: &Store,
    redactor: &Redactor,
    environment: &App,
) -> Result<()> {
    let mut found: Vec<&FoundMemory> = answer.memories.iter().collect();
    found.sort_by_key(|found| std::cmp::Reverse(found.hit.memory.at));
    let rows: Vec<TableRow<'_>> =
        found.iter().map(|found| TableRow { memory: &found.hit.memory, mark: ' ' }).collect();
    memories::table(page, store, redactor, &rows, environment)?;
    page.gap();
    let line = "`thru show ID…` tells them whole, `thru timeline ID` what happened around one.";
    page.line(page.paint(Tone::Quiet, line));
    Ok(())
}

fn show(
    page: &mut Page,
    answer: &Answer,
    arguments: &Arguments,
    environment: &Environment,
    scope: &Scope,
) {
    let ids = answer.sessions.iter().flat_map(|session| &session.hits);
    let id_width = ids.map(|hit| hit.short_id.len()).max().unwrap_or(5);
    for session in &answer.sessions {
        page.gap();
        page.line(session_heading(page, &session.session, environment));
        if arguments.explain {
            let score = &session.score;
            let line = format!("  session {:.2}: {}", score.score, made_of(&score.parts()));
            page.line(page.paint(Tone::Quiet, &line));
        }
        for hit in &session.hits {
            for (before, text) in
                hit.context.iter().filter(|(p, _)| p.ordinal < hit.passage.ordinal)
            {
                page.line(context_line(page, before, text, id_width));
            }
            hit_lines(page, hit, id_width);
            for (after, text) in hit.context.iter().filter(|(p, _)| p.ordinal > hit.passage.ordinal)
            {
                page.line(context_line(page, after, text, id_width));
            }
            if arguments.explain {
                let line = format!(
                    "#{} {:.2}: {}",
                    hit.rank,
                    hit.score.score,
                    made_of(&hit.score.parts())
                );
                page.line(page.paint(Tone::Quiet, &format!("  {:id_width$}  {line}", "")));
            }
        }
    }
    page.gap();
    if answer.sessions.is_empty() {
        return;
    }
    let hits: usize = answer.sessions.iter().map(|session| session.hits.len()).sum();
    let sessions = plural(answer.sessions.len() as u64, "session");
    let mut footer = format!("{} of {sessions}{}", plural(hits as u64, "passage"), scope.phrase());
    if scope.project.is_some() {
        footer.push_str(" (`--all` looks everywhere)");
    }
    page.line(page.paint(Tone::Quiet, &format!("{footer}. `thru show ID` shows one whole.")));
    if arguments.explain {
        let terms = answer.terms.terms.join(" ");
        let line = format!(
            "Looked for: {terms}. {} passages looked at closely; confidence {:.2}.",
            count(answer.considered as u64),
            answer.confidence
        );
        page.line(page.paint(Tone::Quiet, &line));
        page.line(page.paint(Tone::Quiet, &semantics(&answer.semantics)));
    }
    if answer.left_out > 0 {
        let line = format!(
            "{} new passages or memories are not in the index yet and were not searched; `thru import` brings it up to date.",
            count(answer.left_out)
        );
        page.line(page.paint(Tone::Bad, &line));
    }
}

/// The line above the passages of a session: project, title, age, id.
pub(crate) fn session_heading(page: &Page, session: &SessionRow, environment: &App) -> String {
    let project = session.project_name.as_deref().unwrap_or("no project");
    let age = age(session.ended, environment.clock.now());
    let id = session.key.id.short();
    // Most sessions are Claude Code's; of others it is said.
    let whose = match session.key.agent {
        Agent::ClaudeCode => String::new(),
        other => format!("  {}", other.display_name()),
    };
    let tail = format!("  {age}{whose}  {id}");
    let project = one_line(project, 30);
    let room = page.columns().saturating_sub(width(&project) + width(&tail) + 3).max(20);
    let title = one_line(session.title.as_deref().unwrap_or("untitled"), room);
    let quiet = page.paint(Tone::Quiet, &format!("  {age}{whose}"));
    let id = page.paint(Tone::Id, &id);
    format!("{} {quiet}  {id}", page.paint(Tone::Heading, &format!("{project} · {title}")))
}

/// Who speaks, in at most a word: `you`, `agent`, or the tool with how it ended.
pub(crate) fn speaker(passage: &PassageRow) -> String {
    match passage.kind {
        PassageKind::Human => "you".to_owned(),
        PassageKind::Assistant if passage.agent_id.is_some() => "subagent".to_owned(),
        PassageKind::Assistant => "agent".to_owned(),
        PassageKind::Tool => {
            let mark = match passage.outcome {
                Some(CallOutcome::Failed) => " ✗",
                Some(CallOutcome::Pending) => " …",
                _ => "",
            };
            let tool = passage.tool.as_deref().filter(|tool| !tool.is_empty()).unwrap_or("tool");
            format!("{}{mark}", one_line(tool, 14))
        }
    }
}

fn hit_lines(page: &mut Page, hit: &Hit, id_width: usize) {
    let speaker = speaker(&hit.passage);
    let snippet = marked(page, &hit.snippet);
    let id = page.paint(Tone::Id, &format!("{:id_width$}", hit.short_id));
    let indent = id_width + 4 + 10;
    let tone =
        if hit.passage.outcome == Some(CallOutcome::Failed) { Tone::Bad } else { Tone::Quiet };
    let speaker = page.paint(tone, &format!("{speaker:10}"));
    let lines = wrap(&snippet, page.columns().saturating_sub(indent).max(30));
    for (number, line) in lines.iter().enumerate() {
        match number {
            0 => page.line(format!("  {id}  {speaker}{line}")),
            _ => page.line(format!("{:indent$}{line}", "")),
        }
    }
}

fn context_line(
    page: &Page,
    passage: &PassageRow,
    text: &Clean<String>,
    id_width: usize,
) -> String {
    let room = page.columns().saturating_sub(id_width + 14).max(30);
    let text = one_line(text.get(), room);
    page.paint(Tone::Quiet, &format!("  {:id_width$}  {:10}{text}", "", speaker(passage)))
}

/// A piece of a line: its text, and whether it was looked for.
type Piece<'a> = (&'a str, bool);

/// The snippet in words, what was looked for painted.
fn marked(page: &Page, snippet: &Clean<thru_recall::Snippet>) -> Vec<Word> {
    let snippet = snippet.get();
    let mut words = Vec::new();
    let mut start = 0;
    for word in snippet.text.split(' ') {
        let range = start..start + word.len();
        start = range.end + 1;
        let mut pieces: Vec<Piece<'_>> = Vec::new();
        let mut at = range.start;
        for mark in snippet.marks.iter().filter(|m| m.start < range.end && m.end > range.start) {
            let (from, to) = (mark.start.max(range.start), mark.end.min(range.end));
            pieces.push((&snippet.text[at..from], false));
            pieces.push((&snippet.text[from..to], true));
            at = to;
        }
        pieces.push((&snippet.text[at..range.end], false));
        let painted = pieces
            .iter()
            .map(|(text, found)| {
                let text = printable(text);
                if *found { page.paint(Tone::Match, &text) } else { text }
            })
            .collect();
        words.push(Word { painted, plain: printable(word) });
    }
    words
}

/// A word of a snippet, as it looks and as it reads.
struct Word {
    painted: String,
    plain: String,
}

/// Puts words on lines of at most this many columns.
fn wrap(words: &[Word], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = usize::MAX;
    for word in words {
        let width = width(&word.plain);
        match lines.last_mut() {
            Some(line) if used.saturating_add(1 + width) <= columns => {
                line.push(' ');
                line.push_str(&word.painted);
                used += 1 + width;
            }
            _ => {
                let fits = width <= columns;
                lines.push(if fits { word.painted.clone() } else { cut(&word.plain, columns) });
                used = width;
            }
        }
    }
    lines
}

/// The time that a question speaks of, in milliseconds since 1970: from, until.
pub(crate) fn time_meant(environment: &App, query: &str) -> Option<(i64, i64)> {
    mentioned(query, environment.clock.now(), environment.zone())
        .map(|when| (when.from.as_millisecond(), when.until.as_millisecond()))
}

/// What a score is made of: what adds or takes most first.
pub(crate) fn made_of(parts: &[Part]) -> String {
    let shown = parts.iter().filter(|part| part.contribution().abs() >= 0.005).map(|part| {
        format!("{} {:.2} × {:.2} = {:.2}", part.name, part.value, part.weight, part.contribution())
    });
    shown.collect::<Vec<_>>().join("; ")
}

/// Whether meaning was compared, and with what.
pub(crate) fn semantics(semantics: &Semantics) -> String {
    match semantics {
        Semantics::Used { model, vectors } => {
            format!("Meaning: compared with {} ({model}).", plural(*vectors as u64, "vector"))
        }
        Semantics::Without { reason } => {
            format!("Meaning: not compared, {}. Words alone were looked for.", printable(reason))
        }
    }
}

fn as_json(
    answer: &Answer,
    request: &Request,
    scope: &Scope,
    store: &Store,
    environment: &App,
) -> Result<Value> {
    let sessions: Vec<Value> = answer
        .sessions
        .iter()
        .map(|session| {
            let mut value = super::sessions::session_json(&session.session, environment);
            value["score"] = score_json(session.score.score, &session.score.parts());
            value["passages"] = session.hits.iter().map(hit_json).collect();
            value
        })
        .collect();
    let memories = answer
        .memories
        .iter()
        .map(|found| {
            let session = memory::session_of(store, &found.hit.memory)?;
            let mut value =
                memories::memory_json(store, &found.hit.memory, &found.title, session.as_ref())?;
            value["score"] = json!(found.hit.score);
            value["coverage"] = json!(found.hit.coverage);
            if let Some(similarity) = found.hit.similarity {
                value["similarity"] = json!(similarity);
            }
            let freshness = memories::freshness(store, &found.hit.memory, session.as_ref())?;
            value["files_changed_since"] = json!(freshness.changed);
            value["files_gone_since"] = json!(freshness.gone);
            Ok(value)
        })
        .collect::<Result<Vec<Value>>>()?;
    Ok(json!({
        "version": 1,
        "kind": "search",
        "query": request.query,
        "project": scope.project,
        "terms": answer.terms.terms,
        "confidence": answer.confidence,
        "is_confident": answer.is_confident(),
        "meaning": match &answer.semantics {
            Semantics::Used { model, vectors } => json!({ "model": model, "vectors": vectors }),
            Semantics::Without { reason } => json!({ "without": reason }),
        },
        "left_out": answer.left_out,
        "memories": memories,
        "sessions": sessions,
    }))
}

fn score_json(total: f32, parts: &[Part]) -> Value {
    let features: serde_json::Map<String, Value> = parts
        .iter()
        .map(|part| {
            let of = json!({
                "value": part.value,
                "weight": part.weight,
                "contribution": part.contribution(),
            });
            (part.name.to_owned(), of)
        })
        .collect();
    json!({ "total": total, "features": features })
}

fn hit_json(hit: &Hit) -> Value {
    let mut value = super::show::passage_json(&hit.passage, &hit.short_id, &hit.text);
    value["rank"] = json!(hit.rank);
    value["snippet"] = json!(hit.snippet.get().text);
    value["score"] = score_json(hit.score.score, &hit.score.parts());
    if !hit.context.is_empty() {
        value["context"] = hit
            .context
            .iter()
            .map(|(passage, text)| {
                super::show::passage_json(passage, &passage.id.to_string(), text)
            })
            .collect();
    }
    value
}
