//! What several commands show of memories: tables by day and file, one whole, JSON.

use std::collections::HashMap;
use thru_app::App;

use serde_json::{Value, json};
use thru_app::Result;
use thru_core::{
    ErrorResolved, FileState, KeyDecision, Made, MemoryKind, Merged, Observation, SessionSections,
    Statement, Summary, WorkOutcome,
};
use thru_recall::Freshness;
use thru_redact::{Clean, Redactor, Report};
use thru_store::{MemoryBody, MemoryFilter, MemoryRow, SessionFilter, SessionRow, Store};

use crate::environment::Environment;
use crate::ui::{Page, Tone, count, day_and_time, one_line, plural, printable, width};
use thru_app::ask::memory::session_of;
use thru_app::disk::RealDisk;

/// What became of the files that a memory names.
pub(crate) fn freshness(
    store: &Store,
    memory: &MemoryRow,
    session: Option<&SessionRow>,
) -> Result<Freshness> {
    let files = store.files_of_memories(&[memory.row])?.remove(&memory.row).unwrap_or_default();
    Ok(freshness_of(&files, session))
}

fn freshness_of(files: &[FileState], session: Option<&SessionRow>) -> Freshness {
    let root = session.and_then(|session| session.facts.directory.as_deref());
    Freshness::of(files, root, &RealDisk)
}

/// A memory that was merged into another by itself.
pub(crate) struct Merge {
    /// The one that was taken in.
    pub(crate) merged: Merged,
    /// The one that took it in.
    pub(crate) into: MemoryRow,
}

/// Every automatic merge, the latest first. Read as far as somebody asks: it looks into every memory.
pub(crate) fn merges(store: &Store) -> Result<impl Iterator<Item = Result<Merge>>> {
    let memories = store.memories(&MemoryFilter::default())?.into_iter();
    Ok(memories.flat_map(|into| match store.body_of(&into) {
        Ok(MemoryBody::Observation(body)) => {
            let merges = body.merged.into_iter();
            merges.map(|merged| Ok(Merge { merged, into: into.clone() })).collect()
        }
        Ok(MemoryBody::Summary(_)) => Vec::new(),
        Err(error) => vec![Err(error.into())],
    }))
}

/// Tokens in few characters: `870`, `8.2k`.
pub(crate) fn tokens(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..100_000 => format!("{:.1}k", number as f64 / 1_000.0),
        _ => format!("{}k", count(number / 1_000)),
    }
}

/// A memory as a row of a table.
pub(crate) struct TableRow<'a> {
    /// The memory.
    pub(crate) memory: &'a MemoryRow,
    /// What stands in front of it: `>` for the one that was asked about.
    pub(crate) mark: char,
}

/// Puts memories on a page: by day, then by the file that they are about, with what reading each costs
/// and what it stands for.
pub(crate) fn table(
    page: &mut Page,
    store: &Store,
    redactor: &Redactor,
    rows: &[TableRow<'_>],
    environment: &App,
) -> Result<()> {
    let numbers: Vec<i64> = rows.iter().map(|row| row.memory.row).collect();
    let files = store.files_of_memories(&numbers)?;
    let sessions: HashMap<i64, SessionRow> = sessions(store, rows)?;
    let ids =
        rows.iter().map(|row| store.short_id(&row.memory.id)).collect::<Result<Vec<_>, _>>()?;
    let id_width = ids.iter().map(String::len).max().unwrap_or(5);
    let (mut day, mut file) = (String::new(), String::new());
    for (row, id) in rows.iter().zip(&ids) {
        let memory = row.memory;
        let session = memory.session.and_then(|row| sessions.get(&row));
        let when = day_and_time(memory.at, environment.zone());
        let (own_day, time) = when.split_once(' ').unwrap_or((&when, "     "));
        if own_day != day {
            page.gap();
            page.line(page.paint(Tone::Heading, own_day));
            own_day.clone_into(&mut day);
            file.clear();
        }
        let files = files.get(&memory.row).map_or(&[][..], Vec::as_slice);
        let about = files
            .iter()
            .find(|file| file.modified)
            .or(files.first())
            .map_or_else(|| "General".to_owned(), |file| relative(&file.path, session).to_owned());
        if about != file {
            let shown = one_line(&about, page.columns().saturating_sub(4));
            page.line(format!("  {}", page.paint(Tone::Quiet, &shown)));
            file = about;
        }
        let cost = cost(memory);
        let note = freshness_of(files, session).note();
        let note = note.map_or_else(String::new, |note| format!("  {note}"));
        let room = page
            .columns()
            .saturating_sub(id_width + width(time) + 10 + width(&cost) + width(&note) + 9)
            .max(20);
        let title = redactor.clean_text(&memory.title, &mut Report::default());
        let title = one_line(title.get(), room);
        page.line(format!(
            " {} {}  {time}  {:9}  {title}  {}{}",
            row.mark,
            page.paint(Tone::Id, &format!("{id:id_width$}")),
            memory.kind,
            page.paint(Tone::Quiet, &cost),
            page.paint(Tone::Bad, &note),
        ));
    }
    Ok(())
}

/// What reading a memory costs, and what it stands for.
fn cost(memory: &MemoryRow) -> String {
    match memory.raw_tokens {
        0 => format!("~{}t", tokens(memory.tokens)),
        raw => format!("~{}t of {}", tokens(memory.tokens), tokens(raw)),
    }
}

fn sessions(store: &Store, rows: &[TableRow<'_>]) -> Result<HashMap<i64, SessionRow>> {
    let mut numbers: Vec<i64> = rows.iter().filter_map(|row| row.memory.session).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let filter = SessionFilter { rows: Some(numbers), ..SessionFilter::default() };
    Ok(store.sessions(&filter)?.into_iter().map(|session| (session.row, session)).collect())
}

/// A path without the directory that its session worked in.
pub(crate) fn relative<'p>(path: &'p str, session: Option<&SessionRow>) -> &'p str {
    session
        .and_then(|session| session.facts.directory.as_deref())
        .and_then(|directory| path.strip_prefix(directory))
        .and_then(|rest| rest.strip_prefix(['/', '\\']))
        .unwrap_or(path)
}

/// A memory whole, every text cleaned by today's rules.
pub(crate) fn whole(
    store: &Store,
    redactor: &Redactor,
    memory: &MemoryRow,
) -> Result<Clean<MemoryBody>> {
    let body = store.body_of(memory)?;
    Ok(redactor.clean_texts(body, MemoryBody::texts, &mut Report::default()))
}

/// Puts a whole memory on a page.
pub(crate) fn show(
    page: &mut Page,
    store: &Store,
    redactor: &Redactor,
    memory: &MemoryRow,
    environment: &Environment,
) -> Result<()> {
    let session = session_of(store, memory)?;
    let whole = whole(store, redactor, memory)?;
    let short_id = store.short_id(&memory.id)?;
    page.gap();
    match &session {
        Some(session) => page.line(super::search::session_heading(page, session, environment)),
        None => page.line(page.paint(Tone::Heading, &told_heading(store, memory)?)),
    }
    let when = day_and_time(memory.at, environment.zone());
    let turn = if memory.turn > 0 { format!(" · turn {}", memory.turn) } else { String::new() };
    let mut about = vec![format!("{}{turn} · {when}", memory.kind)];
    about.extend(marks(memory).map(str::to_owned));
    about.push(cost(memory));
    page.line(format!(
        "{}  {}",
        page.paint(Tone::Id, &short_id),
        page.paint(Tone::Quiet, &about.join(" · "))
    ));
    if let Some(note) = freshness(store, memory, session.as_ref())?.note() {
        page.line(page.paint(Tone::Bad, &format!("{note}: it may no longer hold.")));
    }
    if let Some(made) = store.made(memory)? {
        page.line(page.paint(Tone::Quiet, &how_made(&made)));
    }
    page.gap();
    match whole.get() {
        MemoryBody::Observation(observation) => {
            show_observation(page, store, observation, session.as_ref())?;
        }
        MemoryBody::Summary(summary) => show_summary(page, store, summary, session.as_ref())?,
    }
    Ok(())
}

/// `made by claude-haiku-4-5 (anthropic, turn/1) · 2,050 tokens · $0.0031 · 1.2 s`
fn how_made(made: &Made) -> String {
    let model = printable(&made.model);
    let mut parts = vec![
        format!("made by {model} ({}, {})", made.provider, made.prompt),
        format!("{} tokens", count(made.spent.tokens())),
    ];
    parts.extend(made.spent.cost.map(|cost| cost.to_string()));
    parts.push(format!("{:.1} s", made.latency_ms as f64 / 1e3));
    if made.dropped > 0 {
        parts.push(format!("{} dropped", plural(made.dropped, "statement")));
    }
    parts.join(" · ")
}

/// The name of the project that a memory belongs to.
fn project_of(store: &Store, memory: &MemoryRow) -> Result<Option<String>> {
    match memory.project {
        Some(project) => Ok(store.project_name(project)?),
        None => Ok(None),
    }
}

fn told_heading(store: &Store, memory: &MemoryRow) -> Result<String> {
    let teller = if memory.flags.is_of_person { "you" } else { "an agent" };
    Ok(project_of(store, memory)?.map_or_else(
        || format!("Told by {teller}, for every project"),
        |name| format!("{} · told by {teller}", printable(&name)),
    ))
}

/// What else there is to say of a memory, in a word or two each.
pub(crate) fn marks(memory: &MemoryRow) -> impl Iterator<Item = &'static str> {
    let flags = memory.flags;
    [
        (flags.is_rule, "rule"),
        (flags.is_of_person && !flags.is_told, "said by the user"),
        (flags.is_uncertain, "uncertain"),
        (flags.is_edited, "edited"),
        (flags.is_refined, "by a model"),
        (flags.is_superseded, "superseded by what a model made"),
    ]
    .into_iter()
    .filter_map(|(is_so, mark)| is_so.then_some(mark))
}

fn show_observation(
    page: &mut Page,
    store: &Store,
    observation: &Observation,
    session: Option<&SessionRow>,
) -> Result<()> {
    page.line(page.paint(Tone::Heading, &printable(&observation.title)));
    if let Some(narrative) = &observation.narrative {
        page.line(printable(&narrative.text));
    }
    list(page, store, "Facts", &observation.facts)?;
    for (label, files) in
        [("Changed", &observation.files_modified), ("Read", &observation.files_read)]
    {
        if !files.is_empty() {
            let names: Vec<String> =
                files.iter().map(|path| printable(relative(path, session))).collect();
            page.line(format!("{}  {}", page.paint(Tone::Quiet, label), names.join(", ")));
        }
    }
    if !observation.concepts.is_empty() {
        let names: Vec<&str> =
            observation.concepts.iter().map(|concept| concept.as_str()).collect();
        page.line(format!("{}  {}", page.paint(Tone::Quiet, "Concepts"), names.join(", ")));
    }
    if !observation.sources.is_empty() {
        let shown = short_ids(store, &observation.sources, 12)?;
        page.line(format!("{}  {shown}", page.paint(Tone::Quiet, "Sources")));
    }
    for merged in &observation.merged {
        let id = page.paint(Tone::Id, &merged.id.to_string());
        let title = one_line(&merged.title, 60);
        page.line(format!("{}  {id} {title}", page.paint(Tone::Quiet, "Merged in")));
    }
    Ok(())
}

fn show_summary(
    page: &mut Page,
    store: &Store,
    summary: &Summary,
    session: Option<&SessionRow>,
) -> Result<()> {
    let outcome = summary.digest.outcome.as_str();
    page.line(page.paint(Tone::Heading, &format!("{} ({outcome})", printable(&summary.title))));
    let digest = &summary.digest;
    list(page, store, "Asked for", digest.request.as_slice())?;
    for (label, statements) in [
        ("Looked into", &digest.investigated),
        ("Learned", &digest.learned),
        ("Done", &digest.completed),
        ("Decided", &digest.decisions),
        ("Next", &digest.next_steps),
        ("Open questions", &digest.open_questions),
    ] {
        list(page, store, label, statements)?;
    }
    if !digest.files.is_empty() {
        let names: Vec<String> =
            digest.files.iter().map(|path| printable(relative(path, session))).collect();
        page.line(format!("{}  {}", page.paint(Tone::Quiet, "Changed"), names.join(", ")));
    }
    show_sections(page, &summary.sections, session);
    if summary.turns.len() > 1 {
        page.gap();
        page.line(page.paint(Tone::Quiet, "By turn"));
        for (turn, digest) in &summary.turns {
            let text =
                digest.completed.first().or(digest.learned.first()).or(digest.request.as_ref());
            let text = text.map_or("", |statement| statement.text.as_str());
            let mark = if digest.outcome == WorkOutcome::Blocked { " ✗" } else { "" };
            let room = page.columns().saturating_sub(10);
            page.line(format!("  {turn:>4}{mark}  {}", one_line(text, room)));
        }
    }
    Ok(())
}

/// What a model said beside the digest.
fn show_sections(page: &mut Page, sections: &SessionSections, session: Option<&SessionRow>) {
    let mut list = |label: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            page.line(page.paint(Tone::Quiet, label));
        }
        for line in lines {
            page.line(format!("  - {}", printable(&line)));
        }
    };
    let reasoned = |decision: &KeyDecision| {
        let mut line = decision.decision.text.clone();
        line.extend(decision.rationale.iter().map(|reason| format!(" (because: {reason})")));
        if !decision.alternatives.is_empty() {
            line.push_str(&format!(" (instead of: {})", decision.alternatives.join("; ")));
        }
        line
    };
    let resolved = |error: &ErrorResolved| {
        let parts = [
            Some(error.error.text.clone()),
            error.root_cause.as_ref().map(|cause| format!("cause: {cause}")),
            error.fix.as_ref().map(|fix| format!("fix: {fix}")),
            error.verification.as_ref().map(|seen| format!("verified: {seen}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    };
    let texts = |list: &[Statement]| list.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
    let changes = sections.code_changes.iter();
    let changes =
        changes.map(|one| format!("{}: {}", relative(&one.file, session), one.description));
    list("Why", sections.key_decisions.iter().map(reasoned).collect());
    list("Errors resolved", sections.errors_resolved.iter().map(resolved).collect());
    list("Changes", changes.collect());
    list("Outcomes", texts(&sections.outcomes));
    list("To go on", texts(&sections.context));
    list("Topics", texts(&sections.topics));
    if !sections.tags.is_empty() {
        page.line(format!(
            "{}  {}",
            page.paint(Tone::Quiet, "Tags"),
            printable(&sections.tags.join(", "))
        ));
    }
}

/// Statements below a label, each with the passages that show it.
fn list(page: &mut Page, store: &Store, label: &str, statements: &[Statement]) -> Result<()> {
    if statements.is_empty() {
        return Ok(());
    }
    page.line(page.paint(Tone::Quiet, label));
    for statement in statements {
        let sources = short_ids(store, &statement.sources, 3)?;
        let sources = if sources.is_empty() { sources } else { format!("  {sources}") };
        let text = printable(&statement.text);
        page.line(format!("  - {text}{}", page.paint(Tone::Quiet, &sources)));
    }
    Ok(())
}

fn short_ids(store: &Store, ids: &[thru_core::Id], most: usize) -> Result<String> {
    let mut shown =
        ids.iter().take(most).map(|id| store.short_id(id)).collect::<Result<Vec<_>, _>>()?;
    if ids.len() > most {
        shown.push(format!("and {} more", ids.len() - most));
    }
    Ok(shown.join(" "))
}

/// A memory without its body, for programs.
pub(crate) fn memory_json(
    store: &Store,
    memory: &MemoryRow,
    title: &Clean<String>,
    session: Option<&SessionRow>,
) -> Result<Value> {
    Ok(json!({
        "id": store.short_id(&memory.id)?,
        "full_id": memory.id,
        "kind": if memory.kind == MemoryKind::Summary { "summary" } else { "observation" },
        "type": memory.kind.as_str(),
        "title": title.get(),
        "at": memory.at,
        "turn": memory.turn,
        "session": session.map(|session| session.key.id.as_str()),
        "project": project_of(store, memory)?,
        "rule": memory.flags.is_rule,
        "uncertain": memory.flags.is_uncertain,
        "of_person": memory.flags.is_of_person,
        "told": memory.flags.is_told,
        "edited": memory.flags.is_edited,
        "refined": memory.flags.is_refined,
        "superseded": memory.flags.is_superseded,
        "outcome": memory.outcome.map(WorkOutcome::as_str),
        "tokens": memory.tokens,
        "raw_tokens": memory.raw_tokens,
    }))
}

/// A memory whole, for programs.
pub(crate) fn whole_json(store: &Store, redactor: &Redactor, memory: &MemoryRow) -> Result<Value> {
    let session = session_of(store, memory)?;
    let title = redactor.clean_text(&memory.title, &mut Report::default());
    let mut value = memory_json(store, memory, &title, session.as_ref())?;
    let freshness = freshness(store, memory, session.as_ref())?;
    value["files_changed_since"] = json!(freshness.changed);
    value["files_gone_since"] = json!(freshness.gone);
    if let Some(made) = store.made(memory)? {
        value["made"] = serde_json::to_value(made)?;
    }
    value["body"] = match whole(store, redactor, memory)?.get() {
        MemoryBody::Observation(observation) => serde_json::to_value(observation)?,
        MemoryBody::Summary(summary) => serde_json::to_value(summary)?,
    };
    Ok(value)
}
