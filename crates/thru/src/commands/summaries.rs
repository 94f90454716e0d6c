//! `thru summaries`: the files that compactions leave in projects.

use thru_app::compaction::summaries::{self, RebuildSummaries, SummariesRebuilt, SummaryList};
use thru_app::{Remedy, Result, Trouble};

use super::session;
use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, day_and_time, one_line, plural, short_ids};

/// The files that compactions leave in a project, under `.claude/summaries`. Journal and store hold the
/// same: files can be removed and made again.
#[derive(Debug, clap::Args)]
pub(crate) struct SummariesArguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the summaries of the current project, the newest first (the default)
    List,
    /// Write the files again from what is remembered
    Rebuild(Rebuild),
    /// Print what a session held, as `thru session load` does
    Load(session::Load),
    /// Remove the files of a session; what is remembered of it stays
    Delete(Delete),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru summaries rebuild                   all sessions of the current project\n  \
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
}

#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    /// The session's id, or the start of it
    id: String,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(arguments: &SummariesArguments, environment: &Environment) -> Result<Outcome> {
    let json = arguments.json;
    match &arguments.command {
        None | Some(Command::List) => list(json, environment),
        Some(Command::Rebuild(arguments)) => rebuild(arguments, json, environment),
        Some(Command::Load(arguments)) => {
            session::run(&session::Command::Load(arguments.clone()), environment)
        }
        Some(Command::Delete(arguments)) => delete(arguments, json, environment),
    }
}

fn list(json: bool, environment: &Environment) -> Result<Outcome> {
    let list = summaries::list(environment)?;
    environment.answer(json, &list, |page| {
        if list.summaries.is_empty() {
            page.line("There are no summaries here.");
            page.toned(Tone::Quiet, "A compaction here writes one; `thru summaries rebuild` writes those of earlier compactions.");
        } else {
            table(page, &list, environment);
            page.gap();
            let place = environment.shown(&list.folder);
            let number = plural(list.summaries.len() as u64, "summary");
            page.toned(Tone::Quiet, &format!("{number} in {place}."));
        }
        for note in &list.notes {
            page.toned(Tone::Quiet, &format!("Of `config.json` there, {note}."));
        }
    })?;
    Ok(Outcome::found(!list.summaries.is_empty()))
}

fn table(page: &mut Page, list: &SummaryList, environment: &Environment) {
    // What a session was about matters more than what started the compaction.
    let has_trigger = page.columns() >= 70;
    let trigger = |text: &str| match has_trigger {
        true => format!("{:6}  ", one_line(text, 6)),
        false => String::new(),
    };
    let ids = short_ids(list.summaries.iter().map(|one| one.session_id.as_str()));
    let wide = ids.first().map_or(8, String::len);
    let room = page.columns().saturating_sub(wide + 2 + 16 + 2 + if has_trigger { 8 } else { 0 });
    let heading = format!("{:wide$}  {:16}  {}TITLE", "SESSION", "COMPACTED", trigger("WHY"));
    page.toned(Tone::Quiet, &heading);
    for (one, id) in list.summaries.iter().zip(&ids) {
        let mark = match list.last_loaded.as_deref() == Some(one.session_id.as_str()) {
            true => "loaded last · ",
            false => "",
        };
        let title = format!("{mark}{}", one.title);
        page.line(format!(
            "{}  {}  {}{}",
            page.paint(Tone::Id, id),
            day_and_time(Some(one.timestamp), environment.zone()),
            trigger(&one.trigger),
            one_line(&title, room.max(20)),
        ));
        if let Some(about) = summaries::about(one) {
            let about = one_line(&about, page.columns().saturating_sub(10).max(20));
            page.toned(Tone::Quiet, &format!("{:10}{about}", ""));
        }
    }
}

fn rebuild(arguments: &Rebuild, json: bool, environment: &Environment) -> Result<Outcome> {
    let Rebuild { project, session } = arguments;
    let request = RebuildSummaries { project: project.clone(), session: session.clone() };
    let rebuilt = summaries::rebuild(environment, &request, environment.progress().call())?;
    environment.answer(json, &rebuilt, |page| tell(page, &rebuilt, environment))?;
    Ok(match (rebuilt.written, rebuilt.failed.is_empty()) {
        (_, false) => Outcome::Wrong,
        (0, true) => Outcome::Nothing,
        _ => Outcome::Done,
    })
}

fn tell(page: &mut Page, rebuilt: &SummariesRebuilt, environment: &Environment) {
    match (rebuilt.written, rebuilt.failed.is_empty()) {
        (0, true) if rebuilt.removed == 0 => {
            page.line("There is nothing to write: no session of these was compacted.");
        }
        (0, _) => {}
        (written, _) => page.line(format!(
            "Wrote {} into {}.",
            plural(written, "summary"),
            match rebuilt.folders.iter().collect::<Vec<_>>()[..] {
                [folder] => environment.shown(folder),
                ref folders => plural(folders.len() as u64, "folder"),
            }
        )),
    }
    if rebuilt.removed > 0 {
        let number = plural(rebuilt.removed, "summary");
        let them = if rebuilt.removed == 1 { "it" } else { "them" };
        page.line(format!("Skipped {number} that you removed; `--session ID` restores {them}."));
    }
    for one in &rebuilt.failed {
        let line = format!("Not in {}: {}", environment.shown(&one.directory), one.error);
        page.toned(Tone::Bad, &one_line(&line, page.columns().max(60)));
    }
}

fn delete(arguments: &Delete, json: bool, environment: &Environment) -> Result<Outcome> {
    let deletion = summaries::deletion(environment, &arguments.id)?;
    let number = plural(deletion.summaries, "summary");
    let place = environment.shown(&deletion.path());
    let mut page = environment.page();
    if !arguments.yes {
        if !environment.terminal.interactive {
            let message = format!(
                "nothing was removed: this would remove {number} in {place}; journal and store keep what they hold"
            );
            return Err(Trouble::refused(message).with(Remedy::Confirm));
        }
        let question =
            format!("Remove {number} in {place}? Journal and store keep what they hold.");
        if !shared::ask(environment, &question, false)? {
            page.line("Nothing was changed.");
            return page.end(Outcome::Nothing);
        }
    }
    let deleted = deletion.carry_out(environment)?;
    page.put(json, &deleted, |page| {
        page.line(format!(
            "Removed {number} in {place}. `thru summaries rebuild --session {}` writes again what was removed.",
            thru_core::short_id(&deleted.session_id)
        ))
    })?;
    page.print()
}
