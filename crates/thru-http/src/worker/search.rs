//! Search, and the memories around one: in the order of the application's own search.

use axum::http::StatusCode;
use serde_json::{Value, json};
use thru_app::ask::memories::{self, ListMemories, MemoryState};
use thru_app::ask::prompts::{self, ListPrompts, ListedPrompt};
use thru_app::ask::search::{AnswerSize, Found, FoundRow, Search, search as search_memory};
use thru_app::ask::timeline::{Around, AroundWhat, around};
use thru_app::ask::{EntryKind, ProjectScope};
use thru_app::{App, Call};
use thru_core::{Id, IdPrefix, MemoryKind, PassageKind, Timestamp};
use thru_store::MemoryBody;

use super::input::Input;
use super::read::{known_project, observation_kinds, whole};
use super::table::{Row, table};
use super::{Failure, Reply, rows};

/// Results where no number is asked for, and at most.
const USUAL: usize = 20;
const MOST: usize = 100;
/// Memories before and after the one in the middle.
const AROUND: usize = 10;
/// Results that are looked through for those that a filter lets through.
const LOOKED_THROUGH: usize = 1_000;

/// The kinds of results that are wanted.
#[derive(Clone, Default)]
struct Wanted {
    memories: Vec<MemoryKind>,
    prompts: bool,
}

impl Wanted {
    fn read(input: &Input) -> Result<Self, Failure> {
        let named = |names: &[String]| {
            let kinds = names.iter().map(|name| name.parse().map(MemoryKind::Observation));
            kinds.collect::<Result<Vec<MemoryKind>, _>>()
        };
        let types = input.list(&["obs_type"]);
        let wanted = match input.text(&["type"]).as_deref() {
            Some("observations") => Self { memories: observation_kinds(), prompts: false },
            Some("sessions") => Self { memories: vec![MemoryKind::Summary], prompts: false },
            Some("prompts") => Self { memories: Vec::new(), prompts: true },
            Some(name) => Self {
                memories: named(&[name.to_owned()]).map_err(|error| unknown("type", error))?,
                prompts: false,
            },
            None => Self { memories: MemoryKind::all().collect(), prompts: true },
        };
        if types.is_empty() {
            return Ok(wanted);
        }
        let memories = named(&types).map_err(|error| unknown("obs_type", error))?;
        Ok(Self { memories, prompts: false })
    }

    fn kinds(&self) -> Vec<EntryKind> {
        let prompts = self.prompts.then_some(EntryKind::Passage(PassageKind::Human));
        self.memories.iter().copied().map(EntryKind::Memory).chain(prompts).collect()
    }
}

fn unknown(field: &'static str, error: impl ToString) -> Failure {
    Failure::Invalid { field, message: error.to_string() }
}

pub(super) fn search(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    found(input, Wanted::read(input)?, app, call)
}

pub(super) fn observations(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    found(input, Wanted { memories: observation_kinds(), prompts: false }, app, call)
}

fn found(input: &Input, wanted: Wanted, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let query = input.text(&["query"]);
    let names = [
        "type",
        "obs_type",
        "concepts",
        "concept",
        "files",
        "filePath",
        "project",
        "dateStart",
        "dateEnd",
    ];
    if query.is_none() && input.value(&names).is_none() {
        return Err(Failure::Malformed(
            StatusCode::INTERNAL_SERVER_ERROR,
            "Either query or filters required for search".to_owned(),
        ));
    }
    let limit = input.number("limit", USUAL, MOST).max(1);
    let offset = input.number("offset", 0, LOOKED_THROUGH - MOST);
    let mut found = match known_project(input.text(&["project"]).as_deref(), app, call)? {
        None => Vec::new(),
        Some(project) => match &query {
            Some(query) => ranked(input, query, &wanted, project, offset + limit, app, call)?,
            None => filtered(input, &wanted, &project, app, call)?,
        },
    };
    match input.text(&["orderBy"]).as_deref() {
        Some("date_desc") => found.sort_by_key(|row| std::cmp::Reverse(row.at())),
        Some("date_asc") => found.sort_by_key(Row::at),
        _ => {}
    }
    let found: Vec<Row> = found.into_iter().skip(offset).take(limit).collect();
    let query = query.unwrap_or_default();
    Ok(match input.text(&["format"]).as_deref() {
        Some("json") => in_json(&found, &query),
        _ => in_words(&found, &query, app),
    })
}

/// Results of a query, best first.
fn ranked(
    input: &Input,
    query: &str,
    wanted: &Wanted,
    project: ProjectScope,
    most: usize,
    app: &App,
    call: Call<'_>,
) -> Result<Vec<Row>, Failure> {
    let concepts = input.list(&["concepts", "concept"]);
    let concepts = concepts.iter().map(|name| name.parse()).collect::<Result<_, _>>();
    let request = Search {
        query: query.to_owned(),
        project,
        file: input.list(&["files", "filePath"]).into_iter().next(),
        since: date(input, &["dateStart", "date_start", "date_from"]),
        until: date(input, &["dateEnd", "date_end", "date_to"]),
        kinds: wanted.kinds(),
        concepts: concepts.map_err(|error| unknown("concepts", error))?,
        size: AnswerSize::Rows(most),
        ..Search::default()
    };
    let answer = search_memory(app, &request, call)?;
    let ids = answer.shown_memories().map(|memory| memory.entry.full_id.to_string()).collect();
    let mut memories = whole(ids, app, call)?;
    let mut take = |id: Id| {
        let at = memories.iter().position(|memory| memory.entry.full_id == id)?;
        Some(Row::Memory(Box::new(memories.swap_remove(at))))
    };
    let rows = answer.rows().filter_map(|row| match row {
        FoundRow::Memory(memory) => take(memory.entry.full_id),
        FoundRow::Passage(passage) => prompt_of(&answer, passage.entry.full_id),
    });
    Ok(rows.collect())
}

fn prompt_of(answer: &Found, id: Id) -> Option<Row> {
    answer.sessions.iter().find_map(|session| {
        let passage = session.passages.iter().find(|passage| passage.entry.full_id == id)?;
        let (entry, session) = (passage.entry.clone(), session.entry.clone());
        Some(Row::Prompt(Box::new(ListedPrompt { entry, session })))
    })
}

/// Results without a query, the latest first.
fn filtered(
    input: &Input,
    wanted: &Wanted,
    project: &ProjectScope,
    app: &App,
    call: Call<'_>,
) -> Result<Vec<Row>, Failure> {
    let mut found: Vec<Row> = Vec::new();
    let request = ListMemories {
        project: project.clone(),
        session: None,
        kinds: wanted.memories.clone(),
        state: MemoryState::InForce,
        since: date(input, &["dateStart", "date_start", "date_from"]),
        until: date(input, &["dateEnd", "date_end", "date_to"]),
        cursor: None,
        limit: LOOKED_THROUGH,
    };
    if !wanted.memories.is_empty() {
        let listed = memories::list(app, &request, call)?.memories;
        let ids = listed.iter().map(|memory| memory.entry.full_id.to_string()).collect();
        let concepts = input.list(&["concepts", "concept"]);
        let files = input.list(&["files", "filePath"]);
        for memory in whole(ids, app, call)? {
            let MemoryBody::Observation(body) = memory.body.get() else {
                if concepts.is_empty() && files.is_empty() {
                    found.push(Row::Memory(Box::new(memory)));
                }
                continue;
            };
            let has_concept = |name: &String| body.concepts.iter().any(|one| one.as_str() == name);
            let has_file = |end: &String| {
                body.files_read.iter().chain(&body.files_modified).any(|path| path.ends_with(end))
            };
            if (concepts.is_empty() || concepts.iter().any(has_concept))
                && (files.is_empty() || files.iter().any(has_file))
            {
                found.push(Row::Memory(Box::new(memory)));
            }
        }
    }
    let is_dated = request.since.is_some() || request.until.is_some();
    if wanted.prompts && wanted.memories.is_empty() && !is_dated {
        let request = ListPrompts { project: project.clone(), limit: LOOKED_THROUGH };
        let listed = prompts::list(app, &request, call)?.prompts.into_iter();
        found.extend(listed.map(|prompt| Row::Prompt(Box::new(prompt))));
    }
    Ok(found)
}

/// Returns a date as people write one; programs give milliseconds, too.
fn date(input: &Input, names: &[&str]) -> Option<String> {
    let text = input.text(names)?;
    let milliseconds = text.parse().ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    Some(milliseconds.map_or(text, |at| at.to_string()))
}

fn in_json(found: &[Row], query: &str) -> Reply {
    let (mut observations, mut sessions, mut prompts) =
        (Vec::new(), Vec::new(), Vec::<Value>::new());
    for row in found {
        match row {
            Row::Prompt(prompt) => prompts.push(rows::prompt(prompt)),
            Row::Memory(memory) if row.is_summary() => sessions.push(rows::memory(memory)),
            Row::Memory(memory) => observations.push(rows::memory(memory)),
        }
    }
    Reply::Json(json!({
        "observations": observations,
        "sessions": sessions,
        "prompts": prompts,
        "totalResults": found.len(),
        "query": query,
    }))
}

fn in_words(found: &[Row], query: &str, app: &App) -> Reply {
    if found.is_empty() {
        return Reply::Tool(format!("No results found matching \"{query}\""));
    }
    let prompts = found.iter().filter(|row| matches!(row, Row::Prompt(_))).count();
    let sessions = found.iter().filter(|row| row.is_summary()).count();
    let observations = found.len() - prompts - sessions;
    let head = format!(
        "Found {} result(s) matching \"{query}\" ({observations} obs, {sessions} sessions, {prompts} prompts)\n",
        found.len()
    );
    Reply::Tool(head + &table(found, None, app.zone()))
}

/// The memories around one, around the best for a query, or around a moment.
pub(super) fn timeline(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let (anchor, query) = (input.text(&["anchor"]), input.text(&["query"]));
    let named = input.text(&["project"]);
    let Some(project) = known_project(named.as_deref(), app, call)? else {
        return Ok(Reply::Tool(format!("No project \"{}\" found", named.unwrap_or_default())));
    };
    let (what, about) = match (anchor, query) {
        (Some(anchor), None) => (anchored(&anchor, project), format!("anchor: {anchor}")),
        (None, Some(query)) => {
            let about = format!("query: \"{query}\"");
            (AroundWhat::Query { query, project }, about)
        }
        (None, None) | (Some(_), Some(_)) => {
            let text = "Error: Must provide either \"anchor\" or \"query\", and not both";
            return Ok(Reply::ToolError(text.to_owned()));
        }
    };
    let request = Around {
        anchor: what,
        before: input.number("depth_before", AROUND, MOST),
        after: input.number("depth_after", AROUND, MOST),
        kinds: Vec::new(),
        agents: Vec::new(),
    };
    let found = around(app, &request, call)?;
    let all = found.before.iter().chain(found.anchor.iter()).chain(&found.after);
    let ids = all.map(|row| row.entry.full_id.to_string()).collect();
    let middle = found.anchor.as_ref().map(|_| found.before.len());
    let rows: Vec<Row> =
        whole(ids, app, call)?.into_iter().map(|memory| Row::Memory(Box::new(memory))).collect();
    if rows.is_empty() {
        return Ok(Reply::Tool(format!("No context found around {about}")));
    }
    let head = format!("# Timeline around {about}\n{} item(s)\n", rows.len());
    Ok(Reply::Tool(head + &table(&rows, middle, app.zone())))
}

/// Reads an anchor: `12`, `#12`, `S12`, `P9`, or a moment.
fn anchored(anchor: &str, project: ProjectScope) -> AroundWhat {
    let number = anchor.trim().trim_start_matches('#').trim_start_matches(['S', 'P']);
    match number.parse().ok().and_then(IdPrefix::of_number) {
        Some(start) => AroundWhat::Id(start.as_str().to_owned()),
        None => AroundWhat::Moment { at: anchor.to_owned(), project },
    }
}
