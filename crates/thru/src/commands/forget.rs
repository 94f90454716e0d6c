//! `thru forget`: memories, sessions, or everything of a project or before a day.

use std::path::PathBuf;
use thru_app::App;
use thru_app::ask::named;

use thru_app::Result;
use thru_capture::session::Session;
use thru_core::SessionKey;
use thru_intake::{Intake, IntakeLock, Operation};
use thru_recall::parse_date;
use thru_redact::Report;
use thru_store::{MemoryFilter, MemoryRow, SessionFilter, SessionRow, Store};

use super::search::session_heading;
use super::{Outcome, memories, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, one_line, plural, size};
use thru_app::compaction;

/// A memory that is forgotten is in no answer any more, also after a rebuild; `thru undo` brings it
/// back. A session that is forgotten is removed from archive, store and index for good; a tombstone
/// without content stays, so that no import brings it back. The agent's own files are left alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru forget k3f9a m2x7p                 two memories\n  \
    thru forget --session 4f1c              a session for good\n  \
    thru forget --project rocket --before 2025-01-01")]
#[command(group(
    clap::ArgGroup::new("target")
        .required(true)
        .multiple(true)
        .args(["ids", "session", "project", "before"])
))]
#[group(skip)]
pub(crate) struct Arguments {
    /// Ids of memories
    #[arg(conflicts_with_all = ["session", "project", "before"])]
    ids: Vec<String>,
    /// A session (the start of its id is enough)
    #[arg(long, short, conflicts_with_all = ["project", "before"])]
    session: Option<String>,
    /// All sessions of this project, and what you told of it
    #[arg(long, short)]
    project: Option<String>,
    /// Sessions that ended before this day: `2026-03-01`, `3 months ago`
    #[arg(long)]
    before: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

const INSTEAD: memories::Instead = memories::Instead {
    of_session: "name it with `--session`",
    of_passage: "`thru forget --session` forgets a session, `thru redact` takes texts out of all of them",
};

/// What is to be forgotten.
#[derive(Default)]
struct Targets {
    memories: Vec<Target>,
    sessions: Vec<SessionRow>,
}

/// Targets listed one by one in a preview.
const LISTED: usize = 10;

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let store = shared::open_store(environment)?;
    let intake = environment.intake()?;
    let targets = targets(arguments, environment, &store)?;
    let mut page = Page::new(environment, plain);
    if targets.memories.is_empty() && targets.sessions.is_empty() {
        page.line("There is nothing of that to forget.");
        page.print()?;
        return Ok(Outcome::Nothing);
    }
    if !arguments.yes {
        preview(&mut page, &targets, &store, &intake, environment)?;
        std::mem::replace(&mut page, Page::new(environment, plain)).print()?;
        if !environment.terminal.interactive {
            return Err(advised("nothing was forgotten", "add `--yes` if you mean it"));
        }
        if !shared::ask(environment, "Forget it?", false)? {
            page.line("Nothing was changed.");
            page.print()?;
            return Ok(Outcome::Nothing);
        }
    }
    drop(store);
    let lock = shared::lock(&intake, environment)?;
    let mut is_unswept = false;
    if !targets.memories.is_empty() {
        is_unswept |= forget_memories(&targets.memories, environment, &intake, &lock)?;
        let count = count_of_memories(targets.memories.len());
        page.line(format!("Forgot {count}. `thru undo` brings one back."));
    }
    if !targets.sessions.is_empty() {
        let keys: Vec<&SessionKey> = targets.sessions.iter().map(|session| &session.key).collect();
        // Should one of them go on, hooks must not record it again.
        for key in &keys {
            Session::of(&environment.layout, key).set_forgotten()?;
        }
        // While it is known where they lie.
        let left = remove_summaries(environment, &targets.sessions)?;
        let forgotten = intake.forget(&lock, &keys)?;
        is_unswept |= forgotten.is_unswept;
        let passages = targets.sessions.iter().map(|session| session.passages).sum();
        page.line(format!(
            "Forgot {}: {} and {} ({}) are gone.",
            match &keys[..] {
                [key] => format!("session {}", key.id),
                keys => plural(keys.len() as u64, "session"),
            },
            plural(passages, "passage"),
            plural(forgotten.archived as u64, "archived file"),
            size(forgotten.bytes)
        ));
        for path in left {
            let path = environment.shown(&path);
            page.line(format!("Its summary in {path} could not be removed: remove it yourself."));
        }
    }
    if is_unswept {
        page.line(page.paint(Tone::Bad, shared::UNSWEPT));
    }
    page.print()?;
    Ok(Outcome::Done)
}

/// A memory, and the session that it comes from.
pub(crate) type Target = (MemoryRow, Option<SessionKey>);

/// The memory whose id starts so, to be forgotten.
pub(crate) fn target(store: &Store, id: &str) -> Result<Target> {
    let memory = memories::required(store, id, &INSTEAD)?;
    let session = memories::session_of(store, &memory)?.map(|session| session.key);
    Ok((memory, session))
}

/// Forgets memories, and says whether vectors of them may be left. `thru undo` brings each back.
pub(crate) fn forget_memories(
    targets: &[Target],
    environment: &App,
    intake: &Intake,
    lock: &IntakeLock,
) -> Result<bool> {
    let operations: Vec<Operation> = targets
        .iter()
        .map(|(memory, session)| Operation::MemoryForgotten {
            memory: memory.id,
            session: session.clone(),
        })
        .collect();
    let is_unswept = shared::is_unswept(intake.record_and_apply(lock, &operations))?;
    let sessions: Vec<SessionKey> =
        targets.iter().filter_map(|(_, session)| session.clone()).collect();
    compaction::write_again(environment, Some(&sessions))?;
    Ok(is_unswept)
}

/// Removes the summaries that compactions of these sessions left in projects. Gives those that stay.
fn remove_summaries(environment: &Environment, sessions: &[SessionRow]) -> Result<Vec<PathBuf>> {
    let store = shared::open_store_as_it_is(environment)?;
    let mut left = Vec::new();
    for session in sessions {
        left.extend(compaction::remove(environment, &store, session)?);
    }
    Ok(left)
}

fn targets(arguments: &Arguments, environment: &App, store: &Store) -> Result<Targets> {
    let mut targets = Targets::default();
    for id in &arguments.ids {
        let target = target(store, id)?;
        if !targets.memories.iter().any(|(known, _)| known.id == target.0.id) {
            targets.memories.push(target);
        }
    }
    if let Some(id) = &arguments.session {
        targets.sessions.push(named::named_session(store, id)?);
    }
    if arguments.project.is_none() && arguments.before.is_none() {
        return Ok(targets);
    }
    let projects = match &arguments.project {
        Some(name) => Some(store.project_rows(named::named_project(store, name)?.row)?),
        None => None,
    };
    let before = match &arguments.before {
        Some(text) => Some(parse_date(text, environment.clock.now(), environment.zone())?),
        None => None,
    };
    let filter =
        SessionFilter { projects: projects.clone(), until: before, ..SessionFilter::default() };
    targets.sessions = store.sessions(&filter)?;
    if let Some(before) = before {
        // One that began before that day and went on is still in use.
        targets.sessions.retain(|session| session.ended.is_none_or(|ended| ended < before));
    }
    // What was told goes with its project; without one named, a day is about sessions.
    if projects.is_some() {
        let told = MemoryFilter { projects, until: before, ..MemoryFilter::default() };
        let told = store.memories(&told)?.into_iter().filter(|memory| memory.flags.is_told);
        targets.memories = told.map(|memory| (memory, None)).collect();
    }
    Ok(targets)
}

fn preview(
    page: &mut Page,
    targets: &Targets,
    store: &Store,
    intake: &Intake,
    environment: &Environment,
) -> Result<()> {
    for (memory, _) in targets.memories.iter().take(LISTED) {
        let title = intake.redactor().clean_text(&memory.title, &mut Report::default());
        let id = page.paint(Tone::Id, &store.short_id(&memory.id)?);
        let title = one_line(title.get(), page.columns().saturating_sub(20));
        page.line(format!("{id}  {:9}  {title}", memory.kind));
    }
    more(page, targets.memories.len());
    for session in targets.sessions.iter().take(LISTED) {
        page.line(session_heading(page, session, environment));
    }
    more(page, targets.sessions.len());
    if !targets.memories.is_empty() {
        let count = count_of_memories(targets.memories.len());
        page.line(format!("{count}: `thru undo` can bring back each."));
    }
    if !targets.sessions.is_empty() {
        let passages = targets.sessions.iter().map(|session| session.passages).sum();
        page.line(format!(
            "{} with {}. This cannot be undone.",
            plural(targets.sessions.len() as u64, "session"),
            plural(passages, "passage")
        ));
    }
    Ok(())
}

fn more(page: &mut Page, listed: usize) {
    if listed > LISTED {
        page.line(page.paint(Tone::Quiet, &format!("… and {} more", listed - LISTED)));
    }
}

fn count_of_memories(number: usize) -> String {
    match number {
        1 => "1 memory".to_owned(),
        _ => format!("{number} memories"),
    }
}
