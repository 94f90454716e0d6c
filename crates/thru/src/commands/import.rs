//! `thru import`: read the history that is there.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use thru_app::ask::ProjectScope;
use thru_app::embedding::who_embeds;
use thru_app::ingest::foreign::ImportForeign;
use thru_app::ingest::import::{self, Import, Imported, PlannedImport};
use thru_app::keep::export::is_export;
use thru_app::{Call, Patience, Progress, Result, Unit};
use thru_core::{Agent, ForeignSource};
use thru_intake::{ImportReport, SourceProblem};

use super::import_foreign::{self, Wishes};
use super::of_agents::OfAgents;
use super::{export, shared};
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Shown, Tone, count, plural, size};

/// Without a path: everything that your agents left on this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru import                     everything in ~/.claude, ~/.codex and ~/.copilot\n  \
    thru import --agent codex       only what Codex left there\n  \
    thru import backup/projects     transcripts in a folder\n  \
    thru import --dry-run           only say what there is to read\n  \
    thru import memory.jsonl        what was told and decided, from an export\n  \
    thru import --from claude-mem   the memories of claude-mem\n\n\
    You can stop it at any time; the next run continues there. CLAUDE_CONFIG_DIR, CODEX_HOME \
    and COPILOT_HOME say where agents keep their files, where that is elsewhere.")]
pub(crate) struct ImportArguments {
    /// Files and folders to read instead
    paths: Vec<PathBuf>,
    #[command(flatten)]
    of: OfAgents,
    /// Import the memories of another program: claude-mem, basic-memory, or markdown for folders of notes
    #[arg(long, value_name = "PROGRAM", conflicts_with = "agents")]
    from: Option<ForeignSource>,
    /// With --from: the memories are about this project
    #[arg(long, short, requires = "from", conflicts_with = "global")]
    project: Option<String>,
    /// With --from: the memories hold in every project
    #[arg(long, short, requires = "from")]
    global: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Only say what would be read
    #[arg(long)]
    dry_run: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// Files listed that could not be read, before the rest is only counted.
const PROBLEMS_SHOWN: usize = 10;

pub(crate) fn run(arguments: &ImportArguments, environment: &Environment) -> Result<Outcome> {
    let paths: Vec<PathBuf> =
        arguments.paths.iter().map(|path| environment.directory.join(path)).collect();
    if arguments.from.is_none() && !paths.is_empty() && paths.iter().all(|path| is_export(path)) {
        return export::import_decisions(&paths, arguments.dry_run, arguments.json, environment);
    }
    if let Some(source) = arguments.from {
        let scope = match (&arguments.project, arguments.global) {
            (_, true) => Some(ProjectScope::Everywhere),
            (name, false) => name.clone().map(ProjectScope::Named),
        };
        let request = ImportForeign { source, paths, scope };
        let ImportArguments { yes, dry_run, json, .. } = *arguments;
        return import_foreign::run(&request, Wishes { yes, dry_run, json }, environment);
    }
    let (app, shown) = (&environment.app, environment.progress());
    let request = Import { paths, agents: arguments.of.filter().unwrap_or_default() };
    let planned = match arguments.dry_run {
        true => import::plan(app, &request)?,
        // Another import may be at work on the same files: what is left to do is seen when it is done.
        false => import::plan_locked(app, &request, shown.call())?,
    };
    let mut page = environment.page();
    if !arguments.json {
        describe(&mut page, &planned, &request, arguments, environment);
    }
    if arguments.dry_run || planned.found == 0 {
        if arguments.json {
            page.json(&planned.answer())?;
        } else {
            list_problems(&mut page, &planned.plan.problems, environment);
        }
        return page.end(Outcome::found(arguments.dry_run));
    }
    let is_empty = planned.plan.is_empty();
    if !is_empty && environment.terminal.interactive && !arguments.yes && !arguments.json {
        page.print()?;
        if !shared::ask(environment, "Archive and index it?", true)? {
            page.line("Nothing was changed.");
            return page.end(Outcome::Nothing);
        }
    }
    let imported = perform(environment, planned, arguments.json)?;
    if arguments.json {
        page.json(&imported)?;
    } else {
        tell(&mut page, &imported.report, environment);
        conclude(&mut page, &imported.report, environment)?;
    }
    page.end(if imported.report.interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// Reads what was planned, with a progress bar unless it is to be quiet.
pub(crate) fn perform(
    environment: &Environment,
    planned: PlannedImport,
    quiet: bool,
) -> Result<Imported> {
    let cancelled = shared::cancellation()?;
    let shown = environment.progress_unless(quiet);
    let bytes = planned.plan.bytes;
    planned.import(shown.call_until(&cancelled), &mut |report| show_progress(&shown, bytes, report))
}

/// Shows how far an import of so many bytes is.
pub(crate) fn show_progress(shown: &Shown, bytes: u64, report: &ImportReport) {
    let distilled = &report.distilled;
    let (done, of) = (distilled.sessions as u64, distilled.of as u64);
    match of {
        0 => shown.step("Reading history", report.bytes, bytes, Unit::Bytes),
        _ if done < of => shown.step("Distilling", done, of, Unit::Sessions),
        _ => shown.step("Finishing the index", 0, 0, Unit::Items),
    }
}

fn describe(
    page: &mut Page,
    planned: &PlannedImport,
    request: &Import,
    arguments: &ImportArguments,
    environment: &Environment,
) {
    let PlannedImport { plan, found, .. } = planned;
    let place = |agent: Agent| match arguments.paths[..] {
        [] => environment.shown(environment.homes.home(agent)),
        [ref path] => environment.shown(path),
        ref paths => plural(paths.len() as u64, "path"),
    };
    if *found == 0 {
        let wanted: Vec<Agent> =
            Agent::ALL.into_iter().filter(|agent| request.wants(*agent)).collect();
        let names = either(wanted.iter().map(|agent| agent.display_name().to_owned()).collect());
        let mut places: Vec<String> = wanted.into_iter().map(place).collect();
        places.dedup();
        let but = match environment.config.capture.ignore.is_empty() {
            true => "",
            false => ", apart from what `capture.ignore` leaves out",
        };
        page.line(format!("There is no history of {names} in {}{but}.", either(places)));
        let demo = page.paint(Tone::Id, "thru demo");
        page.line(format!(
            "`{demo}` shows what it would look like; `thru import PATH` reads other places."
        ));
        return;
    }
    for (agent, share) in &plan.shares {
        let files = plural(share.files as u64, "file");
        let to_read = (share.bytes > 0).then(|| format!(", {} to read", size(share.bytes)));
        page.line(format!(
            "{} history in {}: {} in {files}{}.",
            agent.display_name(),
            place(*agent),
            plural(share.sessions as u64, "session"),
            to_read.unwrap_or_default(),
        ));
    }
    if plan.unchanged > 0 && (arguments.dry_run || plan.is_empty()) {
        let (files, have) = (
            plural(plan.unchanged as u64, "file"),
            if plan.unchanged == 1 { "has" } else { "have" },
        );
        page.line(format!("{files} {have} not changed since the last import."));
    }
    if plan.left_out > 0 {
        let files = plural(plan.left_out as u64, "file");
        let them = if plan.left_out == 1 { "it" } else { "them" };
        page.line(format!("{files} left out by your settings, or because you forgot {them}."));
    }
}

/// Joins alternatives: `a, b or c`.
fn either(mut names: Vec<String>) -> String {
    match (names.pop(), names.is_empty()) {
        (Some(last), false) => format!("{} or {last}", names.join(", ")),
        (last, _) => last.unwrap_or_default(),
    }
}

/// Says what was read.
pub(crate) fn tell(page: &mut Page, report: &ImportReport, environment: &Environment) {
    if report.bytes > 0 {
        let took = report.elapsed.as_secs_f64();
        let read = match report.sessions {
            0 => size(report.bytes),
            sessions => format!("{} ({})", plural(sessions as u64, "session"), size(report.bytes)),
        };
        let new = plural(report.written.passages, "new passage");
        page.line(format!("Read {read} in {took:.1} s: {new}."));
    } else if !report.interrupted && report.problems.is_empty() {
        page.line("Nothing new to read.");
    }
    if report.distilled.memories > 0 {
        page.line(format!(
            "Distilled {}: {} (observations and summaries).",
            plural(report.distilled.sessions as u64, "session"),
            plural(report.distilled.memories, "memory"),
        ));
    }
    if report.distilled.failed > 0 {
        let sessions = plural(report.distilled.failed as u64, "session");
        let line = format!(
            "{sessions} could not be distilled: a bug in Throughline. They are searchable."
        );
        page.toned(Tone::Bad, &line);
    }
    let secrets: u64 = report.redacted.secrets.values().sum();
    if secrets > 0 {
        let mut rules: Vec<(&String, &u64)> = report.redacted.secrets.iter().collect();
        rules.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), (*name).clone()));
        let shown: Vec<String> =
            rules.iter().take(4).map(|(name, number)| format!("{name} {number}")).collect();
        let more = if rules.len() > 4 { ", …" } else { "" };
        page.line(format!("Redacted {} ({}{more}).", plural(secrets, "secret"), shown.join(", ")));
    }
    if report.redacted.private > 0 {
        page.line(format!("Left out {}.", plural(report.redacted.private, "private text")));
    }
    let broken: u64 = report.diagnostics.values().sum();
    if broken > 0 {
        let kinds: Vec<String> =
            report.diagnostics.iter().map(|(kind, number)| format!("{kind} {number}")).collect();
        let lines = plural(broken, "line");
        page.line(format!(
            "{lines} could not be read as records and were kept as they are ({}).",
            kinds.join(", ")
        ));
    }
    list_problems(page, &report.problems, environment);
    if report.interrupted {
        page.line(
            "Stopped. What was read is searchable. The rest is read when you run the same command again.",
        );
    }
}

/// Says what there is now.
fn conclude(page: &mut Page, report: &ImportReport, environment: &Environment) -> Result<()> {
    let Some(memory) = import::memory(environment, environment.progress().call())? else {
        return Ok(());
    };
    page.line(format!(
        "Memory: {} passages of {} in {}.",
        count(memory.passages),
        plural(memory.sessions, "session"),
        plural(memory.projects, "project")
    ));
    if memory.unembedded > 0 {
        let (texts, who) = (plural(memory.unembedded, "text"), who_embeds(environment));
        page.line(format!("{texts} not embedded yet; found by words only until {who}."));
    }
    if report.sources > 0 && memory.passages > 0 {
        let example = page.paint(Tone::Id, "thru search WORDS");
        let context = page.paint(Tone::Id, "thru context");
        page.line(format!(
            "Try `{example}`, or `{context}` in a project to see what a session there would get."
        ));
    }
    Ok(())
}

fn list_problems(page: &mut Page, problems: &[SourceProblem], environment: &Environment) {
    if problems.is_empty() {
        return;
    }
    let files = plural(problems.len() as u64, "file");
    page.toned(Tone::Bad, &format!("{files} could not be read:"));
    for problem in problems.iter().take(PROBLEMS_SHOWN) {
        page.line(format!("  {}: {}", environment.shown(&problem.path), problem.message));
    }
    if problems.len() > PROBLEMS_SHOWN {
        page.line("  …");
    }
}

/// Imports what agents left without a word: for the demo.
pub(crate) fn import_quietly(environment: &Environment) -> Result<Duration> {
    let started = Instant::now();
    let call = Call::unattended(Patience::Endless);
    import::plan_locked(&environment.app, &Import::default(), call)?.import(call, &mut |_| {})?;
    Ok(started.elapsed())
}
