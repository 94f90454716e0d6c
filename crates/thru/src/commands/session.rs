//! `thru session`: one session.

mod context;
pub(crate) mod load;
mod standing;

use std::collections::BTreeMap;
use thru_app::App;
use thru_app::ask::named;

use serde_json::{Value, json};
use thru_app::Result;
use thru_core::{MemoryKind, Outcome as CallOutcome, PassageKind};
use thru_intake::Intake;
use thru_recall::{ContextLimits, session_context};
use thru_redact::{Clean, Redactor, Report};
use thru_store::{
    MemoryBody, MemoryFilter, MemoryRow, PassageFilter, PassageRow, SessionRow, Store, TouchedFile,
};

use standing::Standing;

use super::search::session_heading;
use super::{Outcome, memories, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, count, cut, day_and_time, one_line, plural, printable};

/// One session.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Outline of a session: prompts, conclusions, files, commands and how they ended
    Show(Show),
    /// Print what a session held, to go on with its work in another one
    Load(Load),
}

/// Prints what it held when its context was last compacted; where it never was, what it holds now.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru session load latest   the last session here that was compacted, else the last one\n  \
    thru session load 4f1c\n\n\
    Exit status: 1 there is nothing to tell.")]
pub(crate) struct Load {
    /// The session's id, or the start of it; or `latest`
    #[arg(default_value = "latest")]
    pub(super) id: String,
    /// Answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The session's id, or the start of it
    id: String,
    /// Show prompts and conclusions whole
    #[arg(long)]
    full: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Command {
    /// The outline of the session whose id starts so.
    pub(crate) fn show(id: &str) -> Self {
        Self::Show(Show { id: id.to_owned(), full: false, json: false })
    }
}

/// What happened in one turn.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    pub(crate) prompt: Option<Told>,
    /// The last thing the agent said.
    pub(crate) conclusion: Option<Told>,
    pub(crate) commands: Vec<RunCommand>,
    pub(crate) calls: u64,
}

/// Something somebody said.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) id: String,
    at: Option<thru_core::Timestamp>,
    pub(crate) text: Clean<String>,
}

/// A command that the agent ran, with how often it ran and how it ended last.
#[derive(Debug)]
pub(crate) struct RunCommand {
    pub(crate) line: String,
    pub(crate) runs: u32,
    pub(crate) outcome: Option<CallOutcome>,
}

/// Commands listed per turn before the rest is only counted.
const COMMANDS_SHOWN: usize = 6;
/// Files listed before the rest is only counted.
const FILES_SHOWN: usize = 12;
/// Statements shown of each part of the summary.
const DIGEST_SHOWN: usize = 4;
/// Lines shown of a prompt or a conclusion.
const LINES_SHOWN: usize = 4;

pub(crate) fn run(command: &Command, environment: &Environment, plain: bool) -> Result<Outcome> {
    let arguments = match command {
        Command::Show(arguments) => arguments,
        Command::Load(arguments) => return load::run(arguments, environment, plain),
    };
    let store = shared::open_store(environment)?;
    let intake = environment.intake()?;
    let session = named::named_session(&store, &arguments.id)?;
    let passages = store.passages(PassageFilter::Session(session.row))?;
    let turns = turns(&store, intake.redactor(), &passages)?;
    let files = store.files_of_session(session.row)?;
    let limits = ContextLimits {
        hot: environment.config.session.max_hot_entries,
        ..ContextLimits::default()
    };
    let context = session_context(&store, intake.redactor(), session.row, limits)?;
    let standing = Standing::of(&store, &session, environment)?;
    let mut page = Page::new(environment, plain);
    if arguments.json {
        let mut whole = as_json(&session, &turns, &files, environment);
        whole["context"] = context::as_json(&store, &context)?;
        whole["standing"] = standing.as_json();
        page.json(&whole)?;
        page.print()?;
        return Ok(Outcome::Done);
    }
    page.line(session_heading(&page, &session, environment));
    let facts = &session.facts;
    let mut about = vec![
        format!(
            "{} to {}",
            day_and_time(session.started, environment.zone()),
            day_and_time(session.ended, environment.zone())
        ),
        plural(u64::from(session.turns), "turn"),
        plural(session.passages, "passage"),
    ];
    if facts.compactions > 0 {
        about.push(plural(u64::from(facts.compactions), "compaction"));
    }
    page.line(page.paint(Tone::Quiet, &about.join(" · ")));
    let mut about = vec![session.key.agent.display_name().to_owned()];
    about.extend(facts.version.clone());
    about.extend(facts.models.iter().filter(|model| !model.starts_with('<')).cloned());
    about.extend(facts.branch.as_ref().map(|branch| format!("branch {branch}")));
    if facts.usage.output > 0 {
        about.push(format!("{} tokens written", count(facts.usage.output)));
    }
    page.line(page.paint(Tone::Quiet, &one_line(&about.join(" · "), page.columns())));
    if let Some(directory) = &facts.directory {
        page.line(page.paint(Tone::Quiet, &one_line(directory, page.columns())));
    }
    if let Some(origin) = &facts.forked_from {
        page.line(page.paint(Tone::Quiet, &format!("continues session {origin}")));
    }
    page.line(page.paint(Tone::Quiet, &one_line(&standing.line(environment), page.columns())));
    show_digest(&mut page, &store, &intake, session.row)?;
    context::show(&mut page, &context, arguments.full, environment);
    for (number, turn) in &turns {
        show_turn(&mut page, *number, turn, arguments.full, environment);
    }
    show_files(&mut page, &files, facts.directory.as_deref());
    page.print()?;
    Ok(Outcome::Done)
}

/// The summary of a session, where there is one.
pub(crate) fn summary_of(store: &Store, session: i64) -> Result<Option<MemoryRow>> {
    let filter = MemoryFilter {
        session: Some(session),
        kinds: Some(vec![MemoryKind::Summary]),
        ..MemoryFilter::default()
    };
    Ok(store.memories(&filter)?.pop())
}

/// Where a session stands, in one line.
pub(crate) fn standing_line(
    store: &Store,
    session: &SessionRow,
    environment: &App,
) -> Result<String> {
    Ok(Standing::of(store, session, environment)?.line(environment))
}

/// How the session ended, in a few lines.
fn show_digest(page: &mut Page, store: &Store, intake: &Intake, session: i64) -> Result<()> {
    let Some(memory) = summary_of(store, session)? else { return Ok(()) };
    let whole = memories::whole(store, intake.redactor(), &memory)?;
    let MemoryBody::Summary(summary) = whole.get() else { return Ok(()) };
    let id = page.paint(Tone::Id, &store.short_id(&memory.id)?);
    page.gap();
    page.line(format!("{id}  {}", summary.digest.outcome.as_str()));
    let room = page.columns().saturating_sub(11);
    for (label, statements) in
        [("Done", &summary.digest.completed), ("Next", &summary.digest.next_steps)]
    {
        for statement in statements.iter().take(DIGEST_SHOWN) {
            let label = page.paint(Tone::Quiet, &format!("   {label:6}"));
            page.line(format!("{label}  {}", one_line(&statement.text, room)));
        }
    }
    Ok(())
}

/// Puts the passages of a session into turns. Subagents are counted, not quoted.
pub(crate) fn turns(
    store: &Store,
    redactor: &Redactor,
    passages: &[PassageRow],
) -> Result<BTreeMap<u32, Turn>> {
    let mut turns: BTreeMap<u32, Turn> = BTreeMap::new();
    for passage in passages.iter().filter(|passage| passage.agent_id.is_none()) {
        let turn = turns.entry(passage.turn).or_default();
        match passage.kind {
            PassageKind::Human => turn.prompt = Some(told(store, redactor, passage)?),
            // Only the last one is read: the text of all the others would be read for nothing.
            PassageKind::Assistant => {}
            PassageKind::Tool => {
                turn.calls += 1;
                if let Some(line) = &passage.command {
                    note_command(&mut turn.commands, line, passage.outcome);
                }
            }
        }
    }
    let mut last: BTreeMap<u32, &PassageRow> = BTreeMap::new();
    let spoken = |passage: &&PassageRow| {
        passage.kind == PassageKind::Assistant && passage.agent_id.is_none()
    };
    last.extend(passages.iter().filter(spoken).map(|passage| (passage.turn, passage)));
    for (number, passage) in last {
        turns.entry(number).or_default().conclusion = Some(told(store, redactor, passage)?);
    }
    Ok(turns)
}

fn told(store: &Store, redactor: &Redactor, passage: &PassageRow) -> Result<Told> {
    Ok(Told {
        id: store.short_id(&passage.id)?,
        at: passage.at,
        text: redactor.clean_text(&store.text_of(passage)?, &mut Report::default()),
    })
}

fn note_command(commands: &mut Vec<RunCommand>, line: &str, outcome: Option<CallOutcome>) {
    match commands.iter_mut().find(|command| command.line == line) {
        Some(command) => {
            command.runs += 1;
            command.outcome = outcome;
        }
        None => commands.push(RunCommand { line: line.to_owned(), runs: 1, outcome }),
    }
}

fn show_turn(page: &mut Page, number: u32, turn: &Turn, full: bool, environment: &App) {
    page.gap();
    match &turn.prompt {
        Some(prompt) => {
            let when = day_and_time(prompt.at, environment.zone());
            let heading = page.paint(Tone::Heading, &format!("{number}. You"));
            let about = page.paint(Tone::Quiet, &when);
            let id = page.paint(Tone::Id, &prompt.id);
            page.line(format!("{heading}  {about}  {id}"));
            quote(page, &prompt.text, full);
        }
        None => {
            let heading = if number == 0 { "Before the first prompt" } else { "Without a prompt" };
            page.line(page.paint(Tone::Heading, heading));
        }
    }
    for command in turn.commands.iter().take(COMMANDS_SHOWN) {
        let (mark, tone) = match command.outcome {
            Some(CallOutcome::Failed) => ("✗", Tone::Bad),
            Some(CallOutcome::Pending) => ("…", Tone::Quiet),
            _ => ("✓", Tone::Good),
        };
        let runs = if command.runs > 1 { format!(" (×{})", command.runs) } else { String::new() };
        let room = page.columns().saturating_sub(8 + runs.len());
        let line = one_line(&command.line, room);
        page.line(format!("   {} $ {line}{runs}", page.paint(tone, mark)));
    }
    let hidden = turn.commands.len().saturating_sub(COMMANDS_SHOWN);
    let shown: u64 =
        turn.commands.iter().take(COMMANDS_SHOWN).map(|command| u64::from(command.runs)).sum();
    if turn.calls > shown {
        let commands = if hidden > 0 {
            format!("{}, ", plural(hidden as u64, "more command"))
        } else {
            String::new()
        };
        let line = format!("   {commands}{} in all", plural(turn.calls, "tool call"));
        page.line(page.paint(Tone::Quiet, &line));
    }
    if let Some(conclusion) = &turn.conclusion {
        let heading = page.paint(Tone::Quiet, "   Agent");
        let id = page.paint(Tone::Id, &conclusion.id);
        page.line(format!("{heading}  {id}"));
        quote(page, &conclusion.text, full);
    }
}

fn quote(page: &mut Page, text: &Clean<String>, full: bool) {
    let text = printable(text.get());
    let lines: Vec<&str> = text.lines().filter(|line| full || !line.trim().is_empty()).collect();
    let shown = if full { lines.len() } else { LINES_SHOWN };
    let columns = page.columns().saturating_sub(3);
    for line in lines.iter().take(shown) {
        page.line(format!("   {}", if full { (*line).to_owned() } else { cut(line, columns) }));
    }
    if lines.len() > shown {
        let more = plural((lines.len() - shown) as u64, "more line");
        page.line(page.paint(Tone::Quiet, &format!("   … {more}")));
    }
}

fn show_files(page: &mut Page, files: &[TouchedFile], directory: Option<&str>) {
    let modified: Vec<&TouchedFile> = files.iter().filter(|file| file.modified > 0).collect();
    if files.is_empty() {
        return;
    }
    page.gap();
    let heading =
        format!("Files: {} changed, {} read", modified.len(), files.len() - modified.len());
    page.line(page.paint(Tone::Heading, &heading));
    for file in modified.iter().take(FILES_SHOWN) {
        let path = directory
            .and_then(|directory| file.path.strip_prefix(directory))
            .map_or(file.path.as_str(), |path| path.trim_start_matches(['/', '\\']));
        let path = one_line(path, page.columns().saturating_sub(20));
        page.line(format!(
            "   {path}  {}",
            page.paint(Tone::Quiet, &plural(file.modified, "change"))
        ));
    }
    if modified.len() > FILES_SHOWN {
        let more = plural((modified.len() - FILES_SHOWN) as u64, "more file");
        page.line(page.paint(Tone::Quiet, &format!("   … {more}")));
    }
}

fn as_json(
    session: &thru_store::SessionRow,
    turns: &BTreeMap<u32, Turn>,
    files: &[TouchedFile],
    environment: &App,
) -> Value {
    let said = |told: &Option<Told>| {
        told.as_ref().map(|told| json!({ "id": told.id, "at": told.at, "text": told.text.get() }))
    };
    let turns: Vec<Value> = turns
        .iter()
        .map(|(number, turn)| {
            let commands: Vec<Value> = turn
                .commands
                .iter()
                .map(|command| json!({ "command": command.line, "runs": command.runs, "outcome": command.outcome }))
                .collect();
            json!({
                "turn": number,
                "prompt": said(&turn.prompt),
                "conclusion": said(&turn.conclusion),
                "commands": commands,
                "tool_calls": turn.calls,
            })
        })
        .collect();
    let files: Vec<Value> = files
        .iter()
        .map(
            |file| json!({ "path": file.path, "modified": file.modified, "touched": file.touched }),
        )
        .collect();
    json!({
        "version": 1,
        "kind": "session",
        "session": super::sessions::session_json(session, environment),
        "turns": turns,
        "files": files,
    })
}
