//! `thru daemon start`, `stop`, `restart` and `status`.

use serde_json::Value;
use thru_app::Result;
use thru_app::background::control::{self, DaemonState, DaemonStatus, DaemonStop, described};
use thru_app::health::Daemon;
use thru_core::Timestamp;
use thru_daemon::{Ensured, Probe};

use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, ago, day_and_time, size};

/// Starts it; where `again` is true, one that runs ends first.
pub(super) fn start(again: bool, environment: &Environment) -> Result<Outcome> {
    let mut page = environment.page();
    let start = if again { control::restart } else { control::start };
    page.line(match start(environment)? {
        Ensured::Running(hello) => format!("The daemon is already running: {}.", described(&hello)),
        Ensured::Started(hello) => format!("The daemon runs: {}.", described(&hello)),
        Ensured::Newer(hello) => {
            let newer = described(&hello);
            format!("A daemon of a newer version runs, and is left alone: {newer}.")
        }
        Ensured::Spawned | Ensured::Elsewhere | Ensured::Hung(_) => {
            "The daemon was started.".to_owned()
        }
    });
    page.print()
}

pub(super) fn stop(force: bool, environment: &Environment) -> Result<Outcome> {
    let mut page = environment.page();
    page.line(match control::stop(environment, force)? {
        DaemonStop::NotRunning => "The daemon does not run.".to_owned(),
        DaemonStop::Ended(hello) => format!("The daemon ended: {}.", described(&hello)),
        DaemonStop::EndedMeanwhile => "The daemon has ended in the meantime.".to_owned(),
        DaemonStop::Killed(number) => {
            format!("The daemon was killed: process {number}. Nothing recorded is lost.")
        }
    });
    page.print()
}

pub(super) fn status(json: bool, environment: &Environment) -> Result<Outcome> {
    let status = control::status(environment);
    environment.answer(json, &status, |page| show(page, &status, environment))?;
    Ok(match status.state {
        DaemonState::Running => Outcome::Done,
        DaemonState::Hung => Outcome::Wrong,
        DaemonState::NotRunning => Outcome::Nothing,
    })
}

fn show(page: &mut Page, status: &DaemonStatus, environment: &Environment) {
    let report = &status.daemon;
    let now = environment.clock.now();
    let moment = |value: &Value| value.as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let when =
        |at: Timestamp| format!("{}, {}", day_and_time(Some(at), environment.zone()), ago(at, now));
    let mut row = |name: &str, tone: Option<Tone>, text: String| {
        let name = page.paint(Tone::Quiet, &format!("{name:13}"));
        let text = tone.map_or(text.clone(), |tone| page.paint(tone, &text));
        page.line(format!("{name}{text}"));
    };
    match (status.state, &status.found) {
        (DaemonState::Running, Probe::Ready(hello) | Probe::Older(hello) | Probe::Newer(hello)) => {
            row("daemon", Some(Tone::Good), format!("runs: {}", described(hello)));
            match status.found {
                Probe::Older(_) => {
                    row("", None, "older than this program; the next start replaces it".to_owned())
                }
                Probe::Newer(_) => {
                    row("", None, "newer than this program, and left alone".to_owned())
                }
                _ => {}
            }
            row("since", None, when(hello.started));
        }
        (DaemonState::Hung, _) => {
            let holder = status.holder.as_ref();
            let which =
                holder.map_or_else(String::new, |holder| format!(" (process {})", holder.pid));
            row("daemon", Some(Tone::Bad), format!("does not answer{which}"));
            row(
                "",
                None,
                "`thru daemon stop --force` ends it; nothing recorded is lost".to_owned(),
            );
        }
        _ => row("daemon", None, Daemon::look(environment).line()),
    }
    if let Some(how) = report["watching"].as_str() {
        row(
            "watching",
            None,
            match report["polling_because"].as_str() {
                Some(why) => format!("by polling: {why}"),
                None => format!("by {how}"),
            },
        );
        for folder in report["folders"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            row("", None, environment.shown(folder.as_ref()));
        }
        let last = &report["last"];
        if let Some(at) = moment(&last["at"]) {
            let error = last["error"].as_str();
            let tone = error.map(|_| Tone::Bad);
            let how = error.map_or_else(
                || format!("{} ms", last["milliseconds"]),
                |error| format!("failed: {error}"),
            );
            row("last intake", tone, format!("{}; {how}", when(at)));
        }
        if let Some(due) = moment(&report["due"]) {
            row("due", None, day_and_time(Some(due), environment.zone()));
        }
        if let Some(bytes) = report["memory_bytes"].as_u64() {
            row("memory", None, size(bytes));
        }
    }
    row("socket", None, environment.shown(&status.socket));
    row("log", None, environment.shown(&status.log));
}
