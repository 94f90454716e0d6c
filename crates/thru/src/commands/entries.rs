//! Memories, sessions and passages on pages: headings, tables by day and file, a memory whole.

use thru_app::ask::memory::{MemoryEntry, MemoryFiles, WholeMemory, relative};
use thru_app::ask::passage::PassageEntry;
use thru_app::ask::session::SessionEntry;
use thru_core::{
    Agent, Id, Made, Observation, Outcome as CallOutcome, PassageKind, SessionSections, Statement,
    Summary, Timestamp, WorkOutcome,
};
use thru_store::MemoryBody;

use crate::environment::Environment;
use crate::ui::{Page, Tone, age, count, day_and_time, one_line, plural, printable, width};

/// The line above the passages of a session: project, title, age, id.
pub(crate) fn session_heading(page: &mut Page, session: &SessionEntry, environment: &Environment) {
    let project = session.project.as_ref().map_or("no project", |name| name.get().as_str());
    let age = day(session.ended, environment);
    let id = session.id.short();
    // Most sessions are Claude Code's; of others it is said.
    let whose = match session.agent {
        Agent::ClaudeCode => String::new(),
        other => format!("  {}", other.display_name()),
    };
    let tail = format!("  {age}{whose}  {id}");
    let project = one_line(project, (page.columns() / 3).min(30));
    // Three columns between project and title, one more before the age.
    let room = page.columns().saturating_sub(width(&project) + 3);
    let beside = room.saturating_sub(width(&tail) + 1);
    let title = |room| {
        page.paint(Tone::Heading, &format!("{project} · {}", one_line(title(session), room)))
    };
    let id = page.paint(Tone::Id, &id);
    let tail = format!("{}  {id}", page.paint(Tone::Quiet, &format!("  {age}{whose}")));
    if beside >= HEADING {
        page.line(format!("{} {tail}", title(beside)));
    } else {
        let title = title(room);
        page.line(title);
        page.line(tail);
    }
}

/// The age of something of the last two weeks, else its date: "9 months" tells nothing apart.
pub(crate) fn day(at: Option<Timestamp>, environment: &Environment) -> String {
    let now = environment.clock.now();
    match at {
        Some(at) if now.as_second() - at.as_second() >= TWO_WEEKS => date(at, environment),
        _ => age(at, now),
    }
}

/// A date: `2026-03-01`.
pub(crate) fn date(at: Timestamp, environment: &Environment) -> String {
    at.to_zoned(environment.zone().clone()).date().to_string()
}

/// Two weeks, in seconds.
const TWO_WEEKS: i64 = 14 * 86_400;

/// The title of a session.
pub(crate) fn title(session: &SessionEntry) -> &str {
    session.title.as_ref().map_or("untitled", |title| title.get().as_str())
}

/// Columns of the longest name of a tool.
const LONGEST_TOOL: usize = 12;

/// The speaker, in at most a word: `you`, `agent`, or the tool with how it ended.
pub(crate) fn speaker(passage: &PassageEntry) -> String {
    match passage.kind {
        PassageKind::Human => "you".to_owned(),
        PassageKind::Assistant if passage.subagent.is_some() => "subagent".to_owned(),
        PassageKind::Assistant => "agent".to_owned(),
        PassageKind::Tool => {
            let mark = match passage.outcome {
                Some(CallOutcome::Failed) => " ✗",
                Some(CallOutcome::Pending) => " …",
                _ => "",
            };
            let tool = passage.tool.as_ref().map_or("", |tool| tool.get().as_str());
            // Of a server's tool its own name.
            let own = tool.rsplit("__").find(|part| !part.is_empty()).unwrap_or("tool");
            format!("{}{mark}", one_line(own, LONGEST_TOOL - width(mark)))
        }
    }
}

/// Tokens in few characters: `870`, `8.2k`.
fn tokens(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..100_000 => format!("{:.1}k", number as f64 / 1_000.0),
        _ => format!("{}k", count(number / 1_000)),
    }
}

/// A memory as a row of a table.
pub(crate) struct TableRow<'a> {
    /// The memory.
    pub(crate) entry: &'a MemoryEntry,
    /// Its files.
    pub(crate) files: &'a MemoryFiles,
    /// The sign in front of it: `>` for the one that was asked about.
    pub(crate) mark: char,
}

/// Puts memories on a page: by day, then by the file that they are about, with what reading each costs
/// and what it stands for. `day` is the day whose heading stands above, and is left as the last one.
pub(crate) fn table(
    page: &mut Page,
    rows: &[TableRow<'_>],
    day: &mut String,
    environment: &Environment,
) {
    let id_width = rows.iter().map(|row| row.entry.id.len()).max().unwrap_or(5);
    let mut file = String::new();
    for TableRow { entry, files, mark } in rows {
        let when = day_and_time(entry.at, environment.zone());
        let (own_day, time) = when.split_once(' ').unwrap_or((&when, "     "));
        if begin_day(page, own_day, day) {
            file.clear();
        }
        let about = files.about.as_deref().unwrap_or("General");
        if about != file {
            let shown = one_line(about, page.columns().saturating_sub(4));
            page.line(format!("  {}", page.paint(Tone::Quiet, &shown)));
            about.clone_into(&mut file);
        }
        let lead = 3 + id_width + 2 + width(time) + 2 + 9 + 2;
        let (cost, note) = (cost(entry), files.note().unwrap_or_default());
        let mut room = page.columns().saturating_sub(lead);
        let (mut beside, mut below) = (String::new(), String::new());
        // What leaves too little of the title goes below it.
        for (tone, text) in [(Tone::Quiet, &cost), (Tone::Bad, &note)] {
            let needed = width(text) + 2;
            let painted = format!("  {}", page.paint(tone, text));
            match room.checked_sub(needed).filter(|left| *left >= TITLE && below.is_empty()) {
                _ if text.is_empty() => {}
                Some(left) => {
                    room = left;
                    beside.push_str(&painted);
                }
                None => below.push_str(&painted),
            }
        }
        page.line(format!(
            " {mark} {}  {time}  {:9}  {}{beside}",
            page.paint(Tone::Id, &format!("{:id_width$}", entry.id)),
            entry.kind,
            one_line(entry.listed().get(), room.max(20)),
        ));
        if !below.is_empty() {
            page.line(format!("   {below}"));
        }
    }
}

/// Puts the heading of a day on a page, unless it is the `day` whose heading stands above.
fn begin_day(page: &mut Page, own: &str, day: &mut String) -> bool {
    let is_new = own != day;
    if is_new {
        page.gap();
        page.toned(Tone::Heading, own);
        own.clone_into(day);
    }
    is_new
}

/// Puts a passage on a page between memories.
pub(crate) fn between(
    page: &mut Page,
    passage: &PassageEntry,
    day: &mut String,
    environment: &Environment,
) {
    let when = day_and_time(passage.at, environment.zone());
    let (own_day, time) = when.split_once(' ').unwrap_or((&when, ""));
    let tool = passage.tool.as_ref().map_or("", |tool| tool.get().as_str());
    let said = match &passage.command {
        Some(command) => format!("$ {}", command.get()),
        None => passage.text.get().strip_prefix(tool).unwrap_or(passage.text.get()).to_owned(),
    };
    let lead = format!(" > {}  {time}  {}  ", passage.id, speaker(passage));
    let text = one_line(&said, page.columns().saturating_sub(width(&lead)).max(20));
    begin_day(page, own_day, day);
    page.line(format!("{}{text}", page.paint(Tone::Heading, &lead)));
}

/// The fewest columns of a title in a heading beside its time and id.
const HEADING: usize = 20;
/// The fewest columns of a title beside what follows it.
const TITLE: usize = 30;

/// Tokens to read a memory, and those that it stands for, where these are more.
fn cost(memory: &MemoryEntry) -> String {
    match memory.raw_tokens > memory.tokens {
        false => format!("~{}t", tokens(memory.tokens)),
        true => format!("~{}t of {}", tokens(memory.tokens), tokens(memory.raw_tokens)),
    }
}

/// Puts a whole memory on a page.
pub(crate) fn show(page: &mut Page, memory: &WholeMemory, environment: &Environment) {
    let entry = &memory.entry;
    page.gap();
    match &memory.session_entry {
        Some(session) => session_heading(page, session, environment),
        None => page.toned(Tone::Heading, &told_heading(entry)),
    }
    let when = day_and_time(entry.at, environment.zone());
    let turn = if entry.turn > 0 { format!(" · turn {}", entry.turn) } else { String::new() };
    let mut about = vec![format!("{}{turn} · {when}", entry.kind)];
    about.extend(entry.marks());
    about.push(cost(entry));
    page.line(format!(
        "{}  {}",
        page.paint(Tone::Id, &entry.id),
        page.paint(Tone::Quiet, &about.join(" · "))
    ));
    if let Some(note) = memory.files.note() {
        page.toned(Tone::Bad, &format!("{note}: it may no longer hold."));
    }
    if let Some(made) = &memory.made {
        page.toned(Tone::Quiet, &how_made(made));
    }
    page.gap();
    match memory.body.get() {
        MemoryBody::Observation(body) => show_observation(page, memory, body),
        MemoryBody::Summary(body) => show_summary(page, memory, body),
    }
}

/// `made by claude-haiku-4-5 (anthropic, turn/2) · 2,050 tokens · $0.0031 · 1.2 s`
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

fn told_heading(memory: &MemoryEntry) -> String {
    if let Some(named) = &memory.imported {
        let project = memory.project.as_ref().map_or("every project", |name| name.get());
        return format!("{} · {}", printable(project), printable(&named.to_string()));
    }
    let teller = if memory.of_person { "you" } else { "an agent" };
    memory.project.as_ref().map_or_else(
        || format!("Told by {teller}, for every project"),
        |name| format!("{} · told by {teller}", printable(name.get())),
    )
}

fn show_observation(page: &mut Page, memory: &WholeMemory, observation: &Observation) {
    page.toned(Tone::Heading, &printable(&observation.headline()));
    if let Some(narrative) = &observation.narrative {
        page.line(printable(&narrative.text));
    }
    list(page, memory, "Asked", observation.asked.as_slice());
    list(page, memory, "Reported by the agent", observation.report.as_slice());
    list(page, memory, "Facts", &observation.facts);
    for (label, files) in
        [("Changed", &observation.files_modified), ("Read", &observation.files_read)]
    {
        if !files.is_empty() {
            let names: Vec<String> =
                files.iter().map(|path| printable(relative(path, memory.directory()))).collect();
            page.line(format!("{}  {}", page.paint(Tone::Quiet, label), names.join(", ")));
        }
    }
    if !observation.concepts.is_empty() {
        let names: Vec<&str> =
            observation.concepts.iter().map(|concept| concept.as_str()).collect();
        page.line(format!("{}  {}", page.paint(Tone::Quiet, "Concepts"), names.join(", ")));
    }
    if !observation.sources.is_empty() {
        let shown = short_ids(memory, &observation.sources, 12);
        page.line(format!("{}  {shown}", page.paint(Tone::Quiet, "Sources")));
    }
    for merged in &observation.merged {
        let id = page.paint(Tone::Id, &format!("{:.8}", merged.id));
        let title = one_line(&merged.title, 60);
        page.line(format!("{}  {id} {title}", page.paint(Tone::Quiet, "Merged in")));
    }
}

fn show_summary(page: &mut Page, memory: &WholeMemory, summary: &Summary) {
    let outcome = summary.digest.outcome.as_str();
    page.toned(Tone::Heading, &format!("{} ({outcome})", printable(&summary.title)));
    let digest = &summary.digest;
    for (label, statements) in digest.sections() {
        list(page, memory, label, statements);
    }
    if !digest.files.is_empty() {
        let names: Vec<String> =
            digest.files.iter().map(|path| printable(relative(path, memory.directory()))).collect();
        page.line(format!("{}  {}", page.paint(Tone::Quiet, "Changed"), names.join(", ")));
    }
    show_sections(page, &summary.sections, memory.directory());
    if summary.turns.len() > 1 {
        page.gap();
        page.toned(Tone::Quiet, "By turn");
        for (turn, digest) in &summary.turns {
            let text =
                digest.completed.first().or(digest.learned.first()).or(digest.request.as_ref());
            let text = text.map_or("", |statement| statement.text.as_str());
            let mark = if digest.outcome == WorkOutcome::Blocked { " ✗" } else { "" };
            let room = page.columns().saturating_sub(10);
            page.line(format!("  {turn:>4}{mark}  {}", one_line(text, room)));
        }
    }
}

/// The sections that a model wrote beside the digest.
fn show_sections(page: &mut Page, sections: &SessionSections, directory: Option<&str>) {
    let mut list = |label: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            page.toned(Tone::Quiet, label);
        }
        for line in lines {
            page.line(format!("  - {}", printable(&line)));
        }
    };
    let texts = |list: &[Statement]| list.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
    let changes = sections.code_changes.iter();
    let changes =
        changes.map(|one| format!("{}: {}", relative(&one.file, directory), one.description));
    list("Why", sections.key_decisions.iter().map(ToString::to_string).collect());
    list("Errors resolved", sections.errors_resolved.iter().map(ToString::to_string).collect());
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
fn list(page: &mut Page, memory: &WholeMemory, label: &str, statements: &[Statement]) {
    if statements.is_empty() {
        return;
    }
    page.toned(Tone::Quiet, label);
    for statement in statements {
        let sources = short_ids(memory, &statement.sources, 3);
        let sources = if sources.is_empty() { sources } else { format!("  {sources}") };
        let text = printable(&statement.text);
        page.line(format!("  - {text}{}", page.paint(Tone::Quiet, &sources)));
    }
}

fn short_ids(memory: &WholeMemory, ids: &[Id], most: usize) -> String {
    let known = ids.iter().take(most).filter_map(|id| memory.short_ids.get(id));
    let mut shown: Vec<String> = known.cloned().collect();
    if ids.len() > most {
        shown.push(format!("and {} more", ids.len() - most));
    }
    shown.join(" ")
}
