//! `thru session`: one session.

mod context;

use thru_app::Result;
use thru_app::ask::memory::relative;
use thru_app::ask::session::{self, Outline, SessionDigest, TouchedPath, TurnOutline};
use thru_app::fresh::Freshness;
use thru_core::Outcome as CallOutcome;
use thru_redact::Clean;
use thru_store::MemoryBody;

use super::entries::session_heading;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, cut, day_and_time, one_line, plural, printable, wrap};

/// One session.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Outline of a session: prompts, conclusions, files, commands and how they ended
    Show(Show),
    /// Print what a session held, to continue its work in another one
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
    id: String,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The session's id, or the start of it; or `latest`
    #[arg(default_value = "latest")]
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

/// Commands listed per turn before the rest is only counted.
const COMMANDS_SHOWN: usize = 6;
/// Files listed before the rest is only counted.
const FILES_SHOWN: usize = 12;
/// Statements shown of each part of the summary.
const DIGEST_SHOWN: usize = 4;
/// Lines shown of a prompt or a conclusion.
const LINES_SHOWN: usize = 4;

pub(crate) fn run(command: &Command, environment: &Environment) -> Result<Outcome> {
    match command {
        Command::Show(arguments) => show(arguments, environment),
        Command::Load(arguments) => load(arguments, environment),
    }
}

fn load(arguments: &Load, environment: &Environment) -> Result<Outcome> {
    let request = session::Load { id: arguments.id.clone(), freshness: Freshness::Recorded };
    let held = session::load(environment, &request, environment.progress().call())?;
    environment.answer(arguments.json, &held, |page| {
        if held.is_silent {
            page.line(format!(
                "Nothing is known about what session {} held.",
                held.session_id.short()
            ));
        } else {
            for line in held.text.get().lines() {
                page.line(line);
            }
        }
    })?;
    if held.is_silent {
        return Ok(Outcome::Nothing);
    }
    held.note_loaded(environment);
    Ok(Outcome::Done)
}

fn show(arguments: &Show, environment: &Environment) -> Result<Outcome> {
    let request = Outline::new(&arguments.id, Freshness::Recorded);
    let outline = session::outline(environment, &request, environment.progress().call())?;
    if arguments.json {
        return environment.answer(true, &outline, |_| {});
    }
    let mut page = environment.page();
    let session = &outline.session;
    session_heading(&mut page, session, environment);
    let mut about = vec![
        format!(
            "{} to {}",
            day_and_time(session.started, environment.zone()),
            day_and_time(session.ended, environment.zone())
        ),
        plural(u64::from(session.turns), "turn"),
        plural(session.passages, "passage"),
    ];
    if session.compactions > 0 {
        about.push(plural(u64::from(session.compactions), "compaction"));
    }
    page.toned(Tone::Quiet, &about.join(" · "));
    let mut about = vec![session.agent.display_name().to_owned()];
    about.extend(session.agent_version.clone());
    about.extend(session.models.iter().filter(|model| !model.starts_with('<')).cloned());
    about.extend(session.branch.as_ref().map(|branch| format!("branch {}", branch.get())));
    if session.tokens.output > 0 {
        about.push(format!("{} written", plural(session.tokens.output, "token")));
    }
    page.toned(Tone::Quiet, &one_line(&about.join(" · "), page.columns()));
    if let Some(directory) = session.root() {
        page.toned(Tone::Quiet, &one_line(directory, page.columns()));
    }
    if let Some(origin) = &session.forked_from {
        page.toned(Tone::Quiet, &format!("continues session {origin}"));
    }
    let standing = outline.standing.line(environment.zone());
    page.toned(Tone::Quiet, &one_line(&standing, page.columns()));
    if let Some(kinds) = outline.kinds_of_work() {
        let kinds = format!("kinds of work: {kinds}");
        page.toned(Tone::Quiet, &one_line(&kinds, page.columns()));
    }
    if let Some(digest) = &outline.digest {
        show_digest(&mut page, digest);
    }
    context::show(&mut page, &outline.context, arguments.full, environment);
    for turn in &outline.turns {
        show_turn(&mut page, turn, arguments.full, environment);
    }
    show_files(&mut page, &outline.files, session.root());
    page.print()
}

/// The end of the session, in a few lines.
fn show_digest(page: &mut Page, digest: &SessionDigest) {
    let MemoryBody::Summary(summary) = digest.body.get() else { return };
    let id = page.paint(Tone::Id, &digest.id);
    page.gap();
    page.line(format!("{id}  {}", summary.digest.outcome.as_str()));
    let room = page.columns().saturating_sub(11);
    let digest = &summary.digest;
    for (label, statements) in [
        ("Done", digest.completed.as_slice()),
        ("State", digest.state.as_slice()),
        ("Next", &digest.next_steps),
        ("Open", &digest.open_questions),
    ] {
        for statement in statements.iter().take(DIGEST_SHOWN) {
            let mut label = page.paint(Tone::Quiet, &format!("   {label:6}"));
            for line in wrap(&one_line(&statement.text, 4 * room), room) {
                page.line(format!("{label}  {line}"));
                label = " ".repeat(9);
            }
        }
    }
}

fn show_turn(page: &mut Page, turn: &TurnOutline, full: bool, environment: &Environment) {
    let number = turn.number;
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
            page.toned(Tone::Heading, heading);
        }
    }
    for command in turn.commands.iter().take(COMMANDS_SHOWN) {
        let (mark, tone) = match command.outcome {
            Some(CallOutcome::Failed) => ("✗", Tone::Bad),
            Some(CallOutcome::Pending) => ("…", Tone::Quiet),
            _ => ("✓", Tone::Good),
        };
        let runs = command.repeated();
        let room = page.columns().saturating_sub(8 + runs.len());
        let line = one_line(command.line.get(), room);
        page.line(format!("   {} $ {line}{runs}", page.paint(tone, mark)));
    }
    let hidden = turn.commands.len().saturating_sub(COMMANDS_SHOWN);
    let shown: u64 =
        turn.commands.iter().take(COMMANDS_SHOWN).map(|command| u64::from(command.runs)).sum();
    if turn.tool_calls > shown {
        let commands = if hidden > 0 {
            format!("{}, ", plural(hidden as u64, "more command"))
        } else {
            String::new()
        };
        let line = format!("   {commands}{} in all", plural(turn.tool_calls, "tool call"));
        page.toned(Tone::Quiet, &line);
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
        page.toned(Tone::Quiet, &format!("   … {more}"));
    }
}

fn show_files(page: &mut Page, files: &[TouchedPath], directory: Option<&str>) {
    let modified: Vec<&TouchedPath> = files.iter().filter(|file| file.modified > 0).collect();
    if files.is_empty() {
        return;
    }
    page.gap();
    let heading =
        format!("Files: {} changed, {} read", modified.len(), files.len() - modified.len());
    page.toned(Tone::Heading, &heading);
    for file in modified.iter().take(FILES_SHOWN) {
        let path =
            one_line(relative(file.path.get(), directory), page.columns().saturating_sub(20));
        page.line(format!(
            "   {path}  {}",
            page.paint(Tone::Quiet, &plural(file.modified, "change"))
        ));
    }
    if modified.len() > FILES_SHOWN {
        let more = plural((modified.len() - FILES_SHOWN) as u64, "more file");
        page.toned(Tone::Quiet, &format!("   … {more}"));
    }
}
