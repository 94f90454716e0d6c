//! `thru status`: the state of the memory, in one screen.

use thru_app::ask::status::{Recording, Status, status};
use thru_app::health::{Daemon, reading_line};
use thru_app::ingest::reading::{self, Stop};
use thru_app::{App, Result};
use thru_core::{Agent, Timestamp};

use super::models;
use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, ago, day_and_time, plural, size};

/// What is kept, whether recording is on, and whether anything wants looking after. Looks at little;
/// `thru doctor` looks at everything.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru status           how things are\n  \
    thru status --json    for a status line or a script")]
pub(crate) struct StatusArguments {
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &StatusArguments, environment: &Environment) -> Result<Outcome> {
    let status = status(environment, environment.progress().call())?;
    environment.answer(arguments.json, &status, |page| show(page, &status, environment))
}

/// Shows the state of the memory and the most useful next step: for `thru` alone.
pub(crate) fn front(environment: &Environment) -> Result<Outcome> {
    let status = status(environment, environment.progress().call())?;
    let mut page = environment.page();
    show(&mut page, &status, environment);
    page.gap();
    page.toned(Tone::Heading, "Next");
    let (command, what) = next_step(&status, environment);
    for (command, what) in [(command, what), ("thru --help", "list all commands")] {
        page.line(format!("  {}  {what}", page.paint(Tone::Id, &format!("{command:19}"))));
    }
    page.print()
}

/// The step that helps most: what is wrong first, then what is missing.
fn next_step(status: &Status, environment: &App) -> (&'static str, &'static str) {
    let is_wrong = status.failures_last_day > 0
        || status.jobs.dead > 0
        || status.journal_alarm
        || matches!(status.daemon, Daemon::Hangs(_));
    match status.recording {
        _ if is_wrong => ("thru doctor", "find out what is wrong and how to fix it"),
        Recording::Paused => ("thru capture resume", "resume recording"),
        _ if reading::stopped(&environment.layout) == Some(Stop::Import) => {
            ("thru import", "finish the import that was stopped")
        }
        Recording::NotConnected if status.sessions == 0 => {
            ("thru up", "connect your agents and read their history; it asks first")
        }
        Recording::NotConnected => ("thru install", "connect your agents"),
        _ if status.sessions == 0 => ("thru import", "read the history that agents left"),
        Recording::On | Recording::OffHere | Recording::StoppedHere | Recording::Off => {
            ("thru search WORDS", "find where something was said or done")
        }
    }
}

fn show(page: &mut Page, status: &Status, environment: &App) {
    let now = environment.clock.now();
    let ago = |then: Timestamp| ago(then, now);
    let bytes = &status.bytes;
    let mut row = |name: &str, tone: Option<Tone>, text: String| {
        let name = page.paint(Tone::Quiet, &format!("{name:13}"));
        let text = tone.map_or(text.clone(), |tone| page.paint(tone, &text));
        page.line(format!("{name}{text}"));
    };
    match status.recording {
        Recording::On => row("recording", Some(Tone::Good), "on".to_owned()),
        Recording::Paused => {
            row("recording", Some(Tone::Bad), shared::pause_text(status.paused_until, environment));
        }
        Recording::OffHere => {
            row("recording", Some(Tone::Bad), "off in this folder, by `capture.off`".to_owned());
        }
        Recording::StoppedHere => {
            let text = "off in this folder: its `.throughline.toml` cannot be understood";
            row("recording", Some(Tone::Bad), text.to_owned());
        }
        Recording::Off => {
            let is_hooks = environment.config.session_tracking.enabled;
            let setting = if is_hooks { "hooks.enabled" } else { "session_tracking.enabled" };
            row("recording", Some(Tone::Bad), format!("off, by `{setting}`"));
        }
        Recording::NotConnected => {
            row("recording", None, "no; `thru install` connects your agents".to_owned());
        }
    }
    for line in &status.held_back {
        row("", Some(Tone::Bad), format!("{line}; `thru doctor` says what to do"));
    }
    if status.journal_alarm {
        let text = format!(
            "the journal is beyond its cap of {}; nothing is dropped. `thru doctor` says more",
            size(status.journal_cap)
        );
        row("alarm", Some(Tone::Bad), text);
    }
    if let Some(left) = status.disk_full {
        let text = format!("{} left; on a full disk nothing more is recorded", size(left));
        row("disk", Some(Tone::Bad), text);
    }
    if status.lost_events > 0 {
        let events = plural(status.lost_events, "event");
        let text = format!("{events} could not be recorded; `thru doctor` says why");
        row("lost", Some(Tone::Bad), text);
    }
    if status.failures_last_day > 0 {
        let number = status.failures_last_day;
        let text = format!("{number} in hooks in the last day; `thru doctor` says more");
        row("failures", Some(Tone::Bad), text);
    }
    if status.jobs.dead > 0 {
        let jobs = plural(status.jobs.dead as u64, "job");
        let text = format!("{jobs} given up after too many failures; `thru jobs` lists them");
        row("jobs", Some(Tone::Bad), text);
    } else if status.jobs.waiting > 0 {
        row("jobs", None, format!("{} waiting", plural(status.jobs.waiting as u64, "job")));
    }
    let mut agents = Vec::new();
    for agent in Agent::ALL {
        let sessions = status.sessions_by_agent.get(&agent).copied().unwrap_or_default();
        let hooks = status.events_by_agent.get(&agent).map(|events| plural(*events, "hook"));
        if sessions > 0 || hooks.is_some() {
            let sessions = plural(sessions, "session");
            let hooks = hooks.map_or_else(String::new, |hooks| format!(" ({hooks})"));
            agents.push(format!("{}, {sessions}{hooks}", agent.display_name()));
        }
    }
    if !agents.is_empty() {
        row("agents", None, agents.join("; "));
    }
    row(
        "memory",
        None,
        format!(
            "{} in {}, {}, {}",
            plural(status.sessions, "session"),
            plural(status.projects, "project"),
            plural(status.passages, "passage"),
            plural(status.memories, "memory"),
        ),
    );
    let tone = status.meaning.current.is_err().then_some(Tone::Bad);
    row("meaning", tone, status.meaning.line());
    if let Some(line) = status.meaning.others_line() {
        row("", None, format!("{line}; `thru embed --prune` removes them"));
    }
    if let Some(hook) = &status.last_event {
        let when = day_and_time(Some(hook.at), environment.zone());
        let event = shared::event_words(&hook.event);
        row("last event", None, format!("{event} at {when}, {}", ago(hook.at)));
    }
    let last = status.last_intake.map_or_else(
        || "nothing imported yet; `thru import` reads what is there".to_owned(),
        |at| format!("{}, {}", day_and_time(Some(at), environment.zone()), ago(at)),
    );
    row("last intake", None, last);
    if let Some(models) = &status.models {
        for (name, tone, text) in models::rows(models) {
            row(name, tone, text);
        }
    }
    if status.pending_records > 0 {
        let records = plural(status.pending_records, "record");
        row("waiting", None, format!("{records} to be imported"));
    }
    if status.unindexed_sessions > 0 {
        let sessions = plural(status.unindexed_sessions as u64, "session");
        let when = match environment.config.distil.enabled {
            true => "to be indexed; the next question does it",
            false => "not indexed; none is while `distil.enabled` is off",
        };
        row("unindexed", None, format!("{sessions} {when}"));
    }
    row("data", None, format!("{} in {}", size(bytes.all), environment.shown(&status.directory)));
    row(
        "",
        None,
        format!(
            "archive {}, store {}, index {}, vectors {}, journal {}",
            size(bytes.archive),
            size(bytes.store),
            size(bytes.index),
            size(bytes.vectors),
            size(bytes.journal)
        ),
    );
    let tone = matches!(status.daemon, Daemon::Hangs(_)).then_some(Tone::Bad);
    row("daemon", tone, status.daemon.line());
    if let Some(address) = &status.page {
        row("page", None, format!("at {address}; `thru view` opens it"));
    }
    row("transcripts", None, reading_line(environment, &status.daemon).to_owned());
}
