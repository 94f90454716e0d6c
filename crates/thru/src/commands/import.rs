//! `thru import`: read the history that is there.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use thru_app::ingest::exclusions::Exclusions;

use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::json;
use thru_agents::{Discovery, agents};
use thru_app::{Context, Result};
use thru_core::Agent;
use thru_intake::{How, ImportReport, Intake, IntakeLock, Plan, SourceProblem, Stage, Which};

use super::of_agents::OfAgents;
use super::{Outcome, export, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, count, plural, size};
use thru_app::embedding::{State, who_embeds};
use thru_app::keep::export::is_export;

/// Without a path: everything that Claude Code, Codex and Copilot CLI left on this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru import                     everything in ~/.claude, ~/.codex and ~/.copilot\n  \
    thru import --agent codex       only what Codex left there\n  \
    thru import backup/projects     transcripts in a folder\n  \
    thru import --dry-run           only say what there is to read\n  \
    thru import memory.jsonl        what was told and decided, from an export\n\n\
    Can be stopped and run again at any time: it goes on where it stopped. CLAUDE_CONFIG_DIR, CODEX_HOME \
    and COPILOT_HOME say where agents keep their files, where that is elsewhere.")]
pub(crate) struct Arguments {
    /// Files and folders to read instead
    paths: Vec<PathBuf>,
    #[command(flatten)]
    of: OfAgents,
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

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    if !arguments.paths.is_empty() && arguments.paths.iter().all(|path| is_export(path)) {
        let Arguments { paths, dry_run, json, .. } = arguments;
        return export::bring_in(paths, *dry_run, *json, environment, plain);
    }
    if let Some(export) = arguments.paths.iter().find(|path| is_export(path)) {
        return Err(advised(
            format!("{} is an export of `thru`, not a transcript", export.display()),
            "bring exports in by themselves: `thru import FILE`",
        ));
    }
    // Another import may be at work on the same files: what is left to do is seen when it is done.
    let lock = match arguments.dry_run {
        true => None,
        false => Some(shared::lock(&environment.intake()?, environment)?),
    };
    let prepared = prepare(environment, &arguments.paths, &arguments.of)?;
    let Prepared { plan, found, .. } = &prepared;
    let mut page = Page::new(environment, plain);
    if !arguments.json {
        describe(&mut page, plan, *found, arguments, environment);
    }
    let Some(lock) = lock.filter(|_| *found > 0) else {
        if arguments.json {
            page.json(&planned(plan))?;
        } else {
            list_problems(&mut page, &plan.problems, environment);
        }
        page.print()?;
        return Ok(if arguments.dry_run { Outcome::Done } else { Outcome::Nothing });
    };
    if !plan.is_empty() && environment.terminal.interactive && !arguments.yes && !arguments.json {
        std::mem::replace(&mut page, Page::new(environment, plain)).print()?;
        if !shared::ask(environment, "Archive and index it?", true)? {
            page.line("Nothing was changed.");
            page.print()?;
            return Ok(Outcome::Nothing);
        }
    }
    let report = perform(environment, &lock, prepared, Which::All, arguments.json)?;
    if arguments.json {
        page.json(&as_json(&report))?;
    } else {
        tell(&mut page, &report, environment);
        conclude(&mut page, &report, environment)?;
    }
    page.print()?;
    Ok(if report.interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// What there is to read.
pub(crate) struct Prepared {
    intake: Intake,
    exclusions: Exclusions,
    /// What of it is new.
    pub(crate) plan: Plan,
    /// Files there are, new or not.
    pub(crate) found: usize,
}

/// Looks for what there is to read: in these places, or where agents keep their files. Whoever
/// wants to read it then holds the lock already: who held it before may have forgotten sessions, or
/// changed rules.
pub(crate) fn prepare(
    environment: &Environment,
    paths: &[PathBuf],
    of: &OfAgents,
) -> Result<Prepared> {
    let exclusions = Exclusions::of(environment)?;
    let mut discovery = discover(paths, environment, &exclusions)?;
    discovery.sources.retain(|source| of.hold(source.agent));
    prepare_found(environment, exclusions, discovery)
}

/// The same, of files that were found already.
pub(crate) fn prepare_found(
    environment: &Environment,
    exclusions: Exclusions,
    discovery: Discovery,
) -> Result<Prepared> {
    let intake = environment.intake()?;
    let found = discovery.sources.len();
    if environment.config.capture.off {
        return Err(advised(
            "capture is off here, by `capture.off`",
            "`thru config show --origin` says where it is set",
        ));
    }
    let plan = intake.plan(discovery, Some(&|directory: &Path| exclusions.apply_to(directory)))?;
    Ok(Prepared { intake, exclusions, plan, found })
}

/// Reads it, and distils and indexes these sessions, with a progress bar unless it is to be quiet.
pub(crate) fn perform(
    environment: &Environment,
    lock: &IntakeLock,
    prepared: Prepared,
    which: Which<'_>,
    quiet: bool,
) -> Result<ImportReport> {
    let Prepared { intake, exclusions, plan, .. } = prepared;
    let excluded = |directory: &Path| exclusions.apply_to(directory);
    let cancelled = shared::cancellation()?;
    let shown = shared::Shown::new(environment);
    let call = shown.call();
    let bar = progress_bar(environment, &plan, quiet);
    let first = Cell::new(true);
    let report = intake.import(
        lock,
        plan,
        &How { distil: which, ..How::whole(&excluded) },
        &cancelled,
        &mut call.upgrading(),
        &mut |report| {
            bar.set_position(report.bytes);
            bar.set_message(match report.distilled.of {
                0 => plural(report.sessions as u64, "session"),
                of => format!(
                    "distilled {} of {}",
                    report.distilled.sessions,
                    plural(of as u64, "session")
                ),
            });
            if first.replace(false) {
                bar.tick();
            }
        },
    )?;
    bar.finish_and_clear();
    Ok(report)
}

fn discover(
    paths: &[PathBuf],
    environment: &Environment,
    exclusions: &Exclusions,
) -> Result<Discovery> {
    let mut all = Discovery::default();
    if paths.is_empty() {
        let skip = |path: &Path| exclusions.apply_to_file(path);
        for agent in Agent::ALL {
            all.append(agents::discover(agent, &environment.homes, &skip));
        }
        return Ok(all);
    }
    for path in paths {
        let path = std::path::absolute(path)
            .with_context(|| format!("{} is not a path", path.display()))?;
        if !path.exists() {
            return Err(advised(
                format!("there is nothing at {}", path.display()),
                "name a transcript (`.jsonl`) or a folder with transcripts in it",
            ));
        }
        let found = agents::discover_path(&path);
        all.sources.extend(
            found.sources.into_iter().filter(|source| !exclusions.apply_to_file(&source.path)),
        );
        all.problems.extend(found.problems);
    }
    Ok(all)
}

fn describe(
    page: &mut Page,
    plan: &Plan,
    found: usize,
    arguments: &Arguments,
    environment: &Environment,
) {
    let place = |agent: Agent| match arguments.paths[..] {
        [] => environment.shown(environment.homes.of(agent)),
        [ref path] => environment.shown(path),
        ref paths => plural(paths.len() as u64, "path"),
    };
    if found == 0 {
        let wanted: Vec<Agent> =
            Agent::ALL.into_iter().filter(|agent| arguments.of.hold(*agent)).collect();
        let names = either(wanted.iter().map(|agent| agent.display_name().to_owned()).collect());
        let mut places: Vec<String> = wanted.into_iter().map(place).collect();
        places.dedup();
        page.line(format!("There is no history of {names} in {}.", either(places)));
        let demo = page.paint(Tone::Id, "thru demo");
        page.line(format!(
            "`{demo}` shows what it would look like; `thru import PATH` reads other places."
        ));
        return;
    }
    for (agent, share) in &plan.shares {
        let files = plural(share.files as u64, "file");
        page.line(format!(
            "{} history in {}: {} in {files}, {} to read.",
            agent.display_name(),
            place(*agent),
            plural(share.sessions as u64, "session"),
            size(share.bytes)
        ));
    }
    if plan.unchanged > 0 && (arguments.dry_run || plan.is_empty()) {
        page.line(format!("{} as when last read.", plural_are(plan.unchanged as u64, "file")));
    }
    if plan.left_out > 0 {
        let files = plural(plan.left_out as u64, "file");
        page.line(format!("{files} left out by your settings, or because you had them forgotten."));
    }
}

/// Several things of which any will do: `a, b or c`.
fn either(mut of: Vec<String>) -> String {
    match (of.pop(), of.is_empty()) {
        (Some(last), false) => format!("{} or {last}", of.join(", ")),
        (last, _) => last.unwrap_or_default(),
    }
}

fn plural_are(number: u64, noun: &str) -> String {
    format!("{} {}", plural(number, noun), if number == 1 { "is" } else { "are" })
}

fn progress_bar(environment: &Environment, plan: &Plan, quiet: bool) -> ProgressBar {
    if quiet || !environment.terminal.errors || plan.is_empty() {
        return ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    }
    let figures = "{decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta} left";
    ProgressBar::new(plan.bytes).with_style(shared::bar_style(figures))
}

/// Says what was read.
pub(crate) fn tell(page: &mut Page, report: &ImportReport, environment: &Environment) {
    if report.sources > 0 || report.bytes > 0 {
        let took = report.elapsed.as_secs_f64();
        page.line(format!(
            "Read {} ({}) in {took:.1} s: {} new.",
            plural(report.sessions as u64, "session"),
            size(report.bytes),
            plural(report.written.passages, "passage"),
        ));
    }
    if report.distilled.memories > 0 {
        page.line(format!(
            "Distilled {}: {} memories (observations and summaries).",
            plural(report.distilled.sessions as u64, "session"),
            count(report.distilled.memories),
        ));
    }
    if report.distilled.failed > 0 {
        let sessions = plural(report.distilled.failed as u64, "session");
        let line = format!(
            "{sessions} could not be distilled: a bug in Throughline. They are searchable."
        );
        page.line(page.paint(Tone::Bad, &line));
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
        page.line("Stopped. What was read is searchable; run `thru import` again to go on.");
    }
}

/// Says what there is now.
fn conclude(page: &mut Page, report: &ImportReport, environment: &Environment) -> Result<()> {
    let store = shared::open_store(environment)?;
    let counts = store.counts()?;
    page.line(format!(
        "Memory: {} passages of {} in {}.",
        count(counts.passages),
        plural(counts.sessions, "session"),
        plural(counts.projects, "project")
    ));
    let waiting = State::look(environment, &environment.intake()?)?.waiting();
    if waiting > 0 {
        let (texts, who) = (plural(waiting, "text"), who_embeds(environment));
        page.line(format!(
            "{texts} to be embedded, so that they are found by what they mean: {who}."
        ));
    }
    if report.sources > 0 && counts.passages > 0 {
        let example = page.paint(Tone::Id, "thru search WORDS");
        let context = page.paint(Tone::Id, "thru context");
        page.line(format!(
            "Try `{example}`, or `{context}` in a project: what a session there would be told."
        ));
    }
    Ok(())
}

fn list_problems(page: &mut Page, problems: &[SourceProblem], environment: &Environment) {
    if problems.is_empty() {
        return;
    }
    let files = plural(problems.len() as u64, "file");
    page.line(page.paint(Tone::Bad, &format!("{files} could not be read:")));
    for problem in problems.iter().take(PROBLEMS_SHOWN) {
        page.line(format!("  {}: {}", environment.shown(&problem.path), problem.message));
    }
    if problems.len() > PROBLEMS_SHOWN {
        page.line("  …");
    }
}

fn planned(plan: &Plan) -> serde_json::Value {
    json!({
        "version": 1,
        "kind": "import-plan",
        "sessions": plan.sessions,
        "files": plan.sources.len(),
        "bytes": plan.bytes,
        "unchanged": plan.unchanged,
        "left_out": plan.left_out,
        "problems": plan.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}

/// A report as JSON.
pub(crate) fn as_json(report: &ImportReport) -> serde_json::Value {
    let stages: serde_json::Map<String, serde_json::Value> = Stage::ALL
        .into_iter()
        .map(|stage| (stage.as_str().to_owned(), json!(report.stages.spent(stage).as_secs_f64())))
        .collect();
    json!({
        "version": 1,
        "kind": "import",
        "bytes": report.bytes,
        "files": report.sources,
        "sessions": report.sessions,
        "passages": report.written.passages,
        "amended": report.written.amended,
        "copies": report.written.copies,
        "distilled_sessions": report.distilled.sessions,
        "memories": report.distilled.memories,
        "not_distilled": report.distilled.failed,
        "redacted": report.redacted.secrets,
        "private": report.redacted.private,
        "broken_lines": report.diagnostics,
        "problems": report.problems.iter().map(problem).collect::<Vec<_>>(),
        "interrupted": report.interrupted,
        "seconds": report.elapsed.as_secs_f64(),
        "stage_seconds": stages,
    })
}

fn problem(problem: &SourceProblem) -> serde_json::Value {
    json!({ "path": problem.path, "message": problem.message })
}

/// Imports what agents left without a word: for the demo.
pub(crate) fn import_quietly(environment: &Environment) -> Result<Duration> {
    let started = Instant::now();
    let intake = environment.intake()?;
    let lock = shared::lock(&intake, environment)?;
    let mut found = Discovery::default();
    for agent in Agent::ALL {
        found.append(agents::discover(agent, &environment.homes, &|_| false));
    }
    let plan = intake.plan(found, None)?;
    intake.import(
        &lock,
        plan,
        &How::whole(&|_| false),
        &std::sync::atomic::AtomicBool::new(false),
        &mut |_, _, _| {},
        &mut |_| {},
    )?;
    Ok(started.elapsed())
}
