//! `thru daemon start`, `stop`, `restart` and `status`.

use std::time::{Duration, Instant};
use thru_app::App;
use thru_app::Trouble;

use serde_json::{Value, json};
use thru_app::Result;
use thru_core::Timestamp;
use thru_daemon::{Client, Ensured, Hello, Holder, Paths, Probe, Stopped, holder, probe};

use super::{Outcome, ensure_running, identity, paths_in_use};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, age, day_and_time, size};

/// How long somebody who sits there waits for a daemon to come up …
const START: Duration = Duration::from_secs(10);
/// … and to finish what it is doing.
const STOP: Duration = Duration::from_secs(30);
/// How long a daemon has to say how it is.
const ANSWER: Duration = Duration::from_secs(2);

pub(super) fn start(environment: &Environment, plain: bool) -> Result<Outcome> {
    let mut page = Page::new(environment, plain);
    let ensured = ensure_running(environment, START)
        .map_err(|error| advised(error.to_string(), "`thru daemon logs` says why"))?;
    page.line(match ensured {
        Ensured::Running(hello) => format!("The daemon runs already: {}.", who(&hello)),
        Ensured::Started(hello) => format!("The daemon runs: {}.", who(&hello)),
        Ensured::Spawned => "The daemon was started.".to_owned(),
        Ensured::Newer(hello) => {
            format!("A daemon of a newer version runs, and is left alone: {}.", who(&hello))
        }
        Ensured::Elsewhere => {
            return Err(advised(
                "somebody else is starting the daemon and is not done",
                "`thru daemon status` says whether it runs by now",
            ));
        }
        Ensured::Hung(holder) => return Err(hung(holder.as_ref())),
    });
    page.print()?;
    Ok(Outcome::Done)
}

pub(super) fn stop(force: bool, environment: &Environment, plain: bool) -> Result<Outcome> {
    let mut page = Page::new(environment, plain);
    page.line(end(force, environment)?);
    page.print()?;
    Ok(Outcome::Done)
}

pub(super) fn restart(environment: &Environment, plain: bool) -> Result<Outcome> {
    end(false, environment)?;
    start(environment, plain)
}

/// Ends the daemon; says how that went.
fn end(force: bool, environment: &Environment) -> Result<String> {
    let paths = paths_in_use(environment);
    match thru_daemon::stop(&paths, &identity(environment), STOP)? {
        Stopped::NotRunning => Ok("The daemon does not run.".to_owned()),
        Stopped::Ended(hello) => Ok(format!("The daemon ended: {}.", who(&hello))),
        Stopped::Ending(hello) => Err(advised(
            format!("the daemon is still at work: {}", who(&hello)),
            "it ends when that is done",
        )),
        Stopped::Hung(Some(holder)) if force => kill(&holder, &paths),
        Stopped::Hung(holder) => Err(hung(holder.as_ref())),
    }
}

/// Kills a daemon that does not answer: only while it holds the lock, and only if the process of that
/// number is one of ours. Numbers are given to others once a process is gone.
#[cfg(unix)]
fn kill(named: &Holder, paths: &Paths) -> Result<String> {
    use rustix::process::{Pid, Signal, kill_process};
    let not_ours = || {
        advised(
            format!("process {} does not look like a daemon of ours", named.pid),
            "look what it is, and end it yourself",
        )
    };
    let number = i32::try_from(named.pid).ok().and_then(Pid::from_raw);
    let number = number.filter(|_| is_ours(named.pid)).ok_or_else(not_ours)?;
    // Who holds the lock now is who we looked at, or we are too late and none has to be killed.
    if holder(&paths.lock).as_ref() != Some(named) {
        return Ok("The daemon has ended meanwhile.".to_owned());
    }
    kill_process(number, Signal::KILL).map_err(std::io::Error::from)?;
    let deadline = Instant::now() + ANSWER;
    while holder(&paths.lock).is_some() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(format!("The daemon was killed: process {}. Nothing recorded is lost.", named.pid))
}

#[cfg(not(unix))]
fn kill(named: &Holder, _: &Paths) -> Result<String> {
    Err(advised(
        format!("process {} does not answer", named.pid),
        format!("`taskkill /F /PID {}` ends it", named.pid),
    ))
}

/// Whether the process of this number runs a program of our name.
#[cfg(unix)]
fn is_ours(number: u32) -> bool {
    let name = match std::fs::read_link(format!("/proc/{number}/exe")) {
        Ok(program) => program.file_name().map(|name| name.to_string_lossy().into_owned()),
        Err(_) => std::process::Command::new("ps")
            .args(["-o", "comm=", "-p", &number.to_string()])
            .output()
            .ok()
            .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
            .and_then(|program| program.rsplit('/').next().map(str::to_owned)),
    };
    name.is_some_and(|name| name.starts_with("thru"))
}

fn hung(holder: Option<&Holder>) -> Trouble {
    let which = holder.map_or_else(String::new, |holder| format!(" (process {})", holder.pid));
    advised(
        format!("the daemon{which} does not answer"),
        "wait a little, or end it with `thru daemon stop --force`; nothing recorded is lost",
    )
}

fn who(hello: &Hello) -> String {
    format!("process {}, version {}", hello.pid, hello.version)
}

pub(super) fn status(json: bool, environment: &Environment, plain: bool) -> Result<Outcome> {
    let paths = paths_in_use(environment);
    let found = probe(&paths, &identity(environment));
    let mut page = Page::new(environment, plain);
    let state = match &found {
        Probe::Ready(_) | Probe::Older(_) | Probe::Newer(_) => "running",
        Probe::Silent => "hung",
        Probe::Absent if holder(&paths.lock).is_some() => "hung",
        Probe::Absent => "not-running",
    };
    // Where it ends between two questions it does not say more.
    let told = match state {
        "running" => Client::connect(&paths.socket, ANSWER)
            .ok()
            .and_then(|mut client| client.status(ANSWER).ok())
            .unwrap_or(Value::Null),
        _ => Value::Null,
    };
    match json {
        true => page.json(&json!({
            "version": 1,
            "kind": "daemon",
            "state": state,
            "holder": (state == "hung").then(|| holder(&paths.lock)),
            "daemon": told,
            "socket": paths.socket,
            "log": paths.log,
        }))?,
        false => show(&mut page, state, &found, &told, &paths, environment),
    }
    page.print()?;
    Ok(match state {
        "running" => Outcome::Done,
        "hung" => Outcome::Wrong,
        _ => Outcome::Nothing,
    })
}

fn show(
    page: &mut Page,
    state: &str,
    found: &Probe,
    told: &Value,
    paths: &Paths,
    environment: &App,
) {
    let now = environment.clock.now();
    let moment = |value: &Value| value.as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let when = |at: Timestamp| match age(Some(at), now).as_str() {
        "now" => format!("{}, just now", day_and_time(Some(at), environment.zone())),
        age => format!("{}, {age} ago", day_and_time(Some(at), environment.zone())),
    };
    let mut row = |name: &str, tone: Option<Tone>, text: String| {
        let name = page.paint(Tone::Quiet, &format!("{name:13}"));
        let text = tone.map_or(text.clone(), |tone| page.paint(tone, &text));
        page.line(format!("{name}{text}"));
    };
    match (state, found) {
        ("running", Probe::Ready(hello) | Probe::Older(hello) | Probe::Newer(hello)) => {
            row("daemon", Some(Tone::Good), format!("runs: {}", who(hello)));
            match found {
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
        ("hung", _) => {
            let holder = holder(&paths.lock);
            let which =
                holder.map_or_else(String::new, |holder| format!(" (process {})", holder.pid));
            row("daemon", Some(Tone::Bad), format!("does not answer{which}"));
            row(
                "",
                None,
                "`thru daemon stop --force` ends it; nothing recorded is lost".to_owned(),
            );
        }
        _ => row("daemon", None, "does not run; it is started when it is needed".to_owned()),
    }
    if let Some(how) = told["watching"].as_str() {
        row(
            "watching",
            None,
            match told["polling_because"].as_str() {
                Some(why) => format!("by looking now and then: {why}"),
                None => format!("by {how}"),
            },
        );
        for folder in told["folders"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            row("", None, environment.shown(folder.as_ref()));
        }
        let last = &told["last"];
        if let Some(at) = moment(&last["at"]) {
            let error = last["error"].as_str();
            let tone = error.map(|_| Tone::Bad);
            let how = error.map_or_else(
                || format!("{} ms", last["milliseconds"]),
                |error| format!("failed: {error}"),
            );
            row("last intake", tone, format!("{}; {how}", when(at)));
        }
        if let Some(due) = moment(&told["due"]) {
            row("due", None, day_and_time(Some(due), environment.zone()));
        }
        if let Some(bytes) = told["memory_bytes"].as_u64() {
            row("memory", None, size(bytes));
        }
    }
    row("socket", None, environment.shown(&paths.socket));
    row("log", None, environment.shown(&paths.log));
}
