//! `thru summaries`: the files that compactions leave in projects.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use thru_app::App;
use thru_app::Trouble;
use thru_app::app::settings;
use thru_app::ask::named;

use serde_json::json;
use thru_app::Result;
use thru_core::Snapshot;
use thru_store::{SessionFilter, SessionRow, Store};
use thru_summaries::{Folder, Index, SummariesError};

use super::{Outcome, session, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, day_and_time, one_line, plural};
use thru_app::compaction;
use thru_app::setup::project_root;

/// The files that compactions leave in a project, under `.claude/summaries`. Journal and store hold the
/// same: files can be removed and made again.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the summaries of the project you stand in, the newest first
    List {
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the files again from what is remembered
    Rebuild(Rebuild),
    /// Print what a session held, as `thru session load` does
    Load(session::Load),
    /// Remove the files of a session; what is remembered of it stays
    Delete(Delete),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru summaries rebuild                   all sessions of the project you stand in\n  \
    thru summaries rebuild --project rocket\n  \
    thru summaries rebuild --session 4f1c\n\n\
    Exit status: 1 there was nothing to write.")]
pub(crate) struct Rebuild {
    /// All sessions of this project
    #[arg(long, short, conflicts_with = "session")]
    project: Option<String>,
    /// One session (the start of its id is enough)
    #[arg(long, short)]
    session: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    /// The session's id, or the start of it
    id: String,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &Command, environment: &Environment, plain: bool) -> Result<Outcome> {
    match command {
        Command::List { json } => list(*json, environment, plain),
        Command::Rebuild(arguments) => rebuild(arguments, environment, plain),
        Command::Load(arguments) => {
            session::run(&session::Command::Load(arguments.clone()), environment, plain)
        }
        Command::Delete(arguments) => delete(arguments, environment, plain),
    }
}

fn list(as_json: bool, environment: &Environment, plain: bool) -> Result<Outcome> {
    let folder = folder_here(environment);
    let index = folder.list().map_err(said)?;
    let mut page = Page::new(environment, plain);
    if as_json {
        page.json(&json!({
            "version": 1,
            "kind": "summaries",
            "folder": folder.path(),
            "summaries": index.summaries,
            "last_loaded": index.last_loaded,
        }))?;
    } else if index.summaries.is_empty() {
        page.line("There are no summaries here: no session was compacted in this project yet.");
        page.line(
            page.paint(Tone::Quiet, "`thru summaries rebuild` writes those of earlier ones."),
        );
    } else {
        table(&mut page, &index, environment);
        page.gap();
        let place = environment.shown(&folder.path());
        let number = match index.summaries.len() {
            1 => "1 summary".to_owned(),
            number => format!("{number} summaries"),
        };
        page.line(page.paint(Tone::Quiet, &format!("{number} in {place}.")));
    }
    if !as_json {
        for note in folder.wishes().1 {
            page.line(page.paint(Tone::Quiet, &format!("Of `config.json` there, {note}.")));
        }
    }
    page.print()?;
    Ok(if index.summaries.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

fn table(page: &mut Page, index: &Index, environment: &App) {
    // What a session was about matters more than what started the compaction.
    let has_trigger = page.columns() >= 70;
    let trigger = |text: &str| match has_trigger {
        true => format!("{:6}  ", one_line(text, 6)),
        false => String::new(),
    };
    let room = page.columns().saturating_sub(8 + 2 + 16 + 2 + if has_trigger { 8 } else { 0 });
    let heading = format!("{:8}  {:16}  {}TITLE", "SESSION", "COMPACTED", trigger("WHY"));
    page.line(page.paint(Tone::Quiet, &heading));
    for one in &index.summaries {
        let id: String = one.session_id.chars().take(8).collect();
        let mark = match index.last_loaded.as_deref() == Some(one.session_id.as_str()) {
            true => "loaded last · ",
            false => "",
        };
        let title = format!("{mark}{}", one.title);
        page.line(format!(
            "{}  {}  {}{}",
            page.paint(Tone::Id, &format!("{id:8}")),
            day_and_time(Some(one.timestamp), environment.zone()),
            trigger(&one.trigger),
            one_line(&title, room.max(20)),
        ));
    }
}

fn rebuild(arguments: &Rebuild, environment: &Environment, plain: bool) -> Result<Outcome> {
    let store = shared::open_store(environment)?;
    let intake = environment.intake()?;
    let sessions = wanted(arguments, environment, &store)?;
    let (mut written, mut failed) = (0_u64, Vec::new());
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for session in &sessions {
        for held in compaction::held(&intake, &store, session)? {
            let Some(root) = held.get().directory.clone().map(PathBuf::from) else { continue };
            let (config, _) = settings(&environment.config_file, &root)?;
            if !config.summaries.enabled {
                failed.push((root, "`summaries.enabled` is off there".to_owned()));
                continue;
            }
            let folder = compaction::folder(environment, &config, &root);
            match compaction::write_to(
                environment,
                &folder,
                &intake,
                &store,
                session.row,
                &held,
                &config,
            ) {
                Ok(_) => {
                    written += 1;
                    folders.insert(folder.path());
                }
                Err(error) => failed.push((root, error.to_string())),
            }
        }
    }
    failed.sort();
    failed.dedup();
    let mut page = Page::new(environment, plain);
    if arguments.json {
        let failures = failed.iter().map(|(root, why)| json!({ "directory": root, "error": why }));
        page.json(&json!({
            "version": 1,
            "kind": "summaries-rebuilt",
            "written": written,
            "folders": folders,
            "failed": failures.collect::<Vec<_>>(),
        }))?;
    } else {
        let summaries = if written == 1 { "1 summary" } else { &format!("{written} summaries") };
        match (written, failed.is_empty()) {
            (0, true) => page.line("There is nothing to write: no session of these was compacted."),
            (0, false) => {}
            _ => page.line(format!(
                "Wrote {summaries} of {} into {}.",
                plural(sessions.len() as u64, "session"),
                match folders.iter().collect::<Vec<_>>()[..] {
                    [folder] => environment.shown(folder),
                    ref folders => plural(folders.len() as u64, "folder"),
                }
            )),
        }
        for (root, why) in &failed {
            let line = format!("Not in {}: {why}", environment.shown(root));
            page.line(page.paint(Tone::Bad, &one_line(&line, page.columns().max(60))));
        }
    }
    page.print()?;
    Ok(match (written, failed.is_empty()) {
        (_, false) => Outcome::Wrong,
        (0, true) => Outcome::Nothing,
        _ => Outcome::Done,
    })
}

fn wanted(arguments: &Rebuild, environment: &App, store: &Store) -> Result<Vec<SessionRow>> {
    if let Some(id) = &arguments.session {
        return Ok(vec![named::named_session(store, id)?]);
    }
    let project = match &arguments.project {
        Some(name) => named::named_project(store, name)?,
        None => named::current_project(environment, store)?.ok_or_else(|| {
            advised("nothing is known of the project you stand in", "name one with `--project`")
        })?,
    };
    let projects = Some(store.project_rows(project.row)?);
    Ok(store.sessions(&SessionFilter { projects, ..SessionFilter::default() })?)
}

fn delete(arguments: &Delete, environment: &Environment, plain: bool) -> Result<Outcome> {
    let folder = folder_here(environment);
    let index = folder.list().map_err(said)?;
    let mut ids: Vec<&str> = index
        .summaries
        .iter()
        .map(|one| one.session_id.as_str())
        .filter(|id| id.starts_with(&arguments.id))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let id = match ids[..] {
        [id] => id,
        [] => {
            let message = format!("there is no summary of a session `{}` here", arguments.id);
            return Err(advised(message, "`thru summaries list` lists them"));
        }
        _ => {
            let message = format!("several sessions start with `{}`", arguments.id);
            return Err(advised(message, format!("write more of it: {}", ids.join(", "))));
        }
    };
    let number = index.summaries.iter().filter(|one| one.session_id == id).count() as u64;
    let what = if number == 1 { "1 summary" } else { &format!("{number} summaries") };
    let place = environment.shown(&folder.path().join(id));
    let mut page = Page::new(environment, plain);
    if !arguments.yes {
        if !environment.terminal.interactive {
            return Err(advised(
                format!("nothing was removed: this would remove {what} in {place}"),
                "add `--yes` if you mean it; journal and store keep what they hold",
            ));
        }
        let question = format!("Remove {what} in {place}? Journal and store keep what they hold.");
        if !shared::ask(environment, &question, false)? {
            page.line("Nothing was changed.");
            page.print()?;
            return Ok(Outcome::Nothing);
        }
    }
    let deleted = folder.delete(id, &compaction::options(&environment.config)).map_err(said)?;
    if arguments.json {
        page.json(&json!({
            "version": 1,
            "kind": "summaries-deleted",
            "session_id": id,
            "summaries": deleted.summaries,
        }))?;
    } else {
        page.line(format!(
            "Removed {what} in {place}. `thru summaries rebuild --session {}` writes them again.",
            id.chars().take(8).collect::<String>()
        ));
    }
    page.print()?;
    Ok(Outcome::Done)
}

/// Notes in the index of a project that a session's summary was asked for.
pub(crate) fn note_loaded(
    environment: &App,
    session: &SessionRow,
    snapshot: Option<&Snapshot>,
) -> Result<()> {
    let directory = snapshot
        .and_then(|snapshot| snapshot.directory.clone())
        .or_else(|| session.facts.directory.clone());
    if let Some(root) = directory {
        let folder = compaction::folder(environment, &environment.config, Path::new(&root));
        let options = compaction::options(&environment.config);
        folder.note_loaded(session.key.id.as_str(), &options).map_err(said)?;
    }
    Ok(())
}

/// Where the summaries of the project that one stands in lie: in the nearest directory that has some.
fn folder_here(environment: &App) -> Folder {
    let folder = |root: &Path| compaction::folder(environment, &environment.config, root);
    let above = environment.directory.ancestors();
    above
        .take_while(|directory| Some(*directory) != environment.home.as_deref())
        .map(folder)
        .find(Folder::is_there)
        .unwrap_or_else(|| folder(&project_root(environment)))
}

fn said(error: SummariesError) -> Trouble {
    match &error {
        SummariesError::Refused(_) => {
            advised(error.to_string(), "remove it, if you do not know it")
        }
        SummariesError::Busy(_) => advised(error.to_string(), "try again in a moment"),
        _ => error.into(),
    }
}
