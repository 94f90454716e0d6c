//! `thru daemon`: a process that outlives its starter, inherits nothing from it, and runs once.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::Deref;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, getsid, kill_process};
use serde_json::Value;

use crate::home::{Home, Ran};
use crate::records::{Author, file};

/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(30);

/// A home whose daemon ends with it.
struct Place(Home);

impl Deref for Place {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.thru(&["daemon", "stop", "--force"]);
    }
}

impl Place {
    fn new() -> Self {
        Self(Home::new())
    }

    /// The number of the process that is the daemon now.
    fn number(&self) -> Pid {
        let status = self.json(&["daemon", "status", "--json"]);
        let number = status["daemon"]["pid"].as_i64().unwrap_or_else(|| panic!("{status}"));
        Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
    }

    fn is_running(&self) -> bool {
        self.thru(&["daemon", "status"]).code == 0
    }

    /// Hides what differs from run to run.
    fn hiding(&self) -> insta::internals::SettingsBindDropGuard {
        let mut settings = self.filters();
        settings.add_filter(r"process \d+", "process [number]");
        settings.add_filter(r"version \d[\w.-]*", "version [version]");
        settings.add_filter(r"\d{4}-\d\d-\d\d[T ][\d:]+Z?", "[time]");
        settings.add_filter(r"\b\d+ ms", "[time]");
        settings.add_filter(r"\[age\] *ago|just now", "[age]");
        settings.add_filter(&regex(env!("CARGO_BIN_EXE_thru")), "[thru]");
        settings.bind_to_scope()
    }
}

fn regex(text: &str) -> String {
    text.replace('.', "\\.")
}

#[track_caller]
fn until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !holds() {
        assert!(Instant::now() < deadline, "it never came");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn it_is_started_looked_at_and_ended() {
    let place = Place::new();
    let _hiding = place.hiding();
    assert_snapshot!(place.shown(&["daemon", "status"]), @"
    daemon       does not run, because of `THROUGHLINE_DAEMON`; nothing needs it
    socket       [folder]/home/run/daemon.sock
    log          [folder]/home/run/daemon.log
    -- exit 1 --
    ");
    assert_snapshot!(place.shown(&["daemon", "stop"]), @"The daemon does not run.");
    assert_snapshot!(place.shown(&["daemon", "start"]), @"The daemon runs: process [number], version [version]");
    assert_snapshot!(place.shown(&["daemon", "start"]), @"The daemon is already running: process [number], version [version]");
    until(|| place.json(&["daemon", "status", "--json"])["daemon"]["steps"] == 1);
    assert_snapshot!(place.shown(&["daemon", "status"]), @"
    daemon       runs: process [number], version [version]
    since        [time], [age]
    watching     by events
                 [folder]/claude/projects
    last intake  [time], [age]; [time]
    memory       [size]
    socket       [folder]/home/run/daemon.sock
    log          [folder]/home/run/daemon.log
    ");
    let first = place.number();
    assert_snapshot!(place.shown(&["daemon", "restart"]), @"The daemon runs: process [number], version [version]");
    assert_ne!(place.number(), first);
    assert_snapshot!(place.shown(&["daemon", "stop"]), @"The daemon ended: process [number], version [version]");
    assert_snapshot!(place.shown(&["daemon", "logs", "-n", "4"]), @"
    [time] info ended: asked to
    [time] info started: version [version], process [number]
    [time] info asked to end
    [time] info ended: asked to
    ");
    place.thru(&["daemon", "status"]).expect(1);
    let status = place.json(&["daemon", "status", "--json"]);
    assert_eq!((&status["kind"], &status["state"]), (&"daemon".into(), &"not-running".into()));
}

#[test]
fn twenty_starts_at_once_start_one() {
    let place = Place::new();
    let children: Vec<_> = (0..20)
        .map(|_| {
            let mut command = place.command();
            command.args(["daemon", "start"]).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let mut processes = BTreeSet::new();
    for child in children {
        let ran = Ran::from(child.wait_with_output().unwrap()).expect(0);
        let number = ran.stdout.split("process ").nth(1).unwrap().split(',').next().unwrap();
        processes.insert(number.to_owned());
    }
    assert_eq!(processes.len(), 1, "{processes:?}");
}

#[test]
fn one_that_was_killed_is_replaced() {
    let place = Place::new();
    place.thru(&["daemon", "start"]).expect(0);
    let first = place.number();
    kill_process(first, Signal::KILL).unwrap();
    until(|| !place.is_running());
    assert!(place.data().join("run/daemon.sock").exists(), "it had no time to clear up");
    place.thru(&["daemon", "start"]).expect(0);
    assert_ne!(place.number(), first);
}

#[test]
fn it_serves_the_page_once_that_is_asked_for_and_after_it_was_killed() {
    let place = Place(Home::imported());
    // A port of its own, below those that the system deals out: another test's daemon, which takes the first free one
    // from the usual port on, would otherwise listen here while this one is down.
    let port = (20_000 + std::process::id() % 10_000).to_string();
    place.thru(&["config", "set", "http.port", &port]).expect(0);
    let address = || place.json(&["status", "--json"])["page"].as_str().map(str::to_owned);
    assert!(place.thru(&["daemon", "start"]).code == 0 && address().is_none());
    let shown = place.thru(&["view", "--no-open"]);
    let (link, _) = shown.stdout.split_once('\n').unwrap();
    let (page, code) = link.split_once("/#code=").unwrap();
    assert_eq!((address().as_deref(), code.len()), (Some(page), 32));
    let answers = || {
        let host = page.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).ok()?;
        write!(stream, "GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        Some(text.contains("\"throughline\""))
    };
    assert_eq!(answers(), Some(true));
    // The pages that are open find the next one where this one was.
    kill_process(place.number(), Signal::KILL).unwrap();
    until(|| !place.is_running());
    assert!(address().is_none() && place.thru(&["daemon", "start"]).code == 0);
    until(|| answers() == Some(true));
    place.thru(&["daemon", "restart"]).expect(0);
    assert_eq!((address().as_deref(), answers()), (Some(page), Some(true)));
    place.thru(&["daemon", "stop"]);
    assert!(address().is_none() && answers().is_none());
    place.thru(&["daemon", "start"]);
    assert!(answers().is_none());
}

#[test]
fn one_that_starts_anew_listens_no_more_once_that_is_switched_off() {
    let place = Place(Home::imported());
    let port = (30_000 + std::process::id() % 2_000).to_string();
    place.thru(&["config", "set", "http.port", &port]).expect(0);
    let address = || place.json(&["status", "--json"])["page"].as_str().map(str::to_owned);
    for (key, on, off) in [("http.enabled", "true", "false"), ("http.worker_api", "full", "off")] {
        place.thru(&["config", "set", key, on]).expect(0);
        place.thru(&["daemon", "restart"]).expect(0);
        until(|| address().is_some());
        place.thru(&["config", "set", key, off]).expect(0);
        place.thru(&["daemon", "restart"]).expect(0);
        assert_eq!(address(), None, "{key}");
        let port = port.parse().unwrap();
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "{key}");
    }
}

/// What it did not come to yet, a question reads itself.
#[cfg(target_os = "linux")]
#[test]
fn a_question_is_not_older_for_it() {
    const NEW: &str = "44444444-dddd-4ddd-8ddd-000000000004";
    let place = Place(Home::imported());
    place.thru(&["daemon", "start"]).expect(0);
    let looked = || place.json(&["daemon", "status", "--json"])["daemon"]["last"].clone();
    until(|| looked()["everything"] == true);
    kill_process(place.number(), Signal::STOP).unwrap();
    let mut author = Author::of(NEW);
    author.asks("Why does the crucible crack?").says("It cools too fast.");
    place.write(&file(NEW), author.text());
    let found = place.json(&["search", "crucible", "--json"]);
    assert_eq!(found["sessions"][0]["id"], NEW, "{found}");
}

#[test]
fn an_extension_written_for_claude_mem_works_unchanged() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/worker-clients/editor.mjs");
    if Command::new("node").arg("--version").output().is_err() {
        return eprintln!("skipped: there is no node here");
    }
    let place = Place(Home::imported());
    place.thru(&["config", "set", "http.worker_api", "full"]).expect(0);
    place.thru(&["daemon", "start"]).expect(0);
    let address = || place.json(&["status", "--json"])["page"].as_str().map(str::to_owned);
    until(|| address().is_some());
    let worker = address().unwrap().replace("127.0.0.1", "localhost");
    let ran = Command::new("node").arg(script).arg(&worker).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let answers: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(answers["before"], "");
    assert_eq!(answers["begun"]["promptNumber"], 1);
    assert_eq!(answers["saved"]["status"], "queued");
    assert_eq!(answers["prompts"][0], "Why does the lamp blink twice?");
    // The command line finds it as it finds all else.
    let found = place.json(&["search", "lamp", "relay", "--json"]);
    assert_eq!(found["sessions"][0]["id"], "vscode-1");
    assert_eq!(found["sessions"][0]["project"], "lighthouse");
    let doctor = place.thru(&["doctor"]).stdout;
    assert!(
        doctor.contains("every program of this machine may read the memory and record"),
        "{doctor}"
    );
}

#[test]
fn a_signal_ends_it_in_order() {
    let place = Place::new();
    for signal in [Signal::TERM, Signal::INT] {
        place.thru(&["daemon", "start"]).expect(0);
        kill_process(place.number(), signal).unwrap();
        until(|| !place.is_running());
        until(|| !place.data().join("run/daemon.sock").exists());
    }
    let log = place.thru(&["daemon", "logs"]).expect(0).stdout;
    assert_eq!(log.matches("ended: asked to").count(), 2, "{log}");
}

#[test]
fn one_that_hangs_is_said_to_and_ended_only_by_force() {
    let place = Place::new();
    let _hiding = place.hiding();
    place.thru(&["daemon", "start"]).expect(0);
    let number = place.number();
    kill_process(number, Signal::STOP).unwrap();
    assert_snapshot!(place.shown(&["daemon", "status"]), @"
    daemon       does not answer (process [number])
                 `thru daemon stop --force` ends it; nothing recorded is lost
    socket       [folder]/home/run/daemon.sock
    log          [folder]/home/run/daemon.log
    -- exit 2 --
    ");
    assert_snapshot!(place.shown(&["daemon", "start"]), @"
    -- stderr --
    error: the daemon (process [number]) does not answer.
    hint: `thru daemon stop --force` ends it, if waiting does not help; nothing recorded is lost.
    -- exit 2 --
    ");
    assert_snapshot!(place.shown(&["daemon", "stop"]), @"
    -- stderr --
    error: the daemon (process [number]) does not answer.
    hint: `thru daemon stop --force` ends it, if waiting does not help; nothing recorded is lost.
    -- exit 2 --
    ");
    assert_snapshot!(place.shown(&["daemon", "stop", "--force"]), @"The daemon was killed: process [number]. Nothing recorded is lost.");
    assert!(!place.is_running());
}

#[cfg(target_os = "linux")]
#[test]
fn it_inherits_nothing_from_its_starter() {
    let place = Place::new();
    let mut command = place.command();
    command.env("AWS_SECRET_ACCESS_KEY", "a secret").env("THROUGHLINE_CHILD", "1");
    Ran::from(command.args(["daemon", "start"]).output().unwrap()).expect(0);
    let number = place.number();
    assert_eq!(getsid(Some(number)).unwrap(), number, "a session of its own");
    let of = format!("/proc/{}", number.as_raw_nonzero());
    let environment = fs::read_to_string(format!("{of}/environ")).unwrap();
    assert!(environment.contains("THROUGHLINE_HOME="), "{environment}");
    assert!(!environment.contains("SECRET") && !environment.contains("CHILD"), "{environment}");
    assert_eq!(fs::read_link(format!("{of}/cwd")).unwrap().to_str(), Some("/"));
    for stream in 0..3 {
        let stream = fs::read_link(format!("{of}/fd/{stream}")).unwrap();
        assert_eq!(stream.to_str(), Some("/dev/null"));
    }
}

#[test]
fn who_started_it_is_not_waited_for() {
    let place = Place::new();
    // A pipe without close-on-exec, as agents pass on to their children.
    let mut command = Command::new("sh");
    let mut child = command
        .args(["-c", "exec 9>&1; exec \"$0\" daemon start >/dev/null", env!("CARGO_BIN_EXE_thru")])
        .env("THROUGHLINE_HOME", place.data())
        .env("CLAUDE_CONFIG_DIR", place.claude())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdout.take().unwrap();
    let (told, ended) = channel();
    thread::spawn(move || {
        let mut rest = Vec::new();
        let _ = told.send(pipe.read_to_end(&mut rest).map(|_| rest));
    });
    assert!(child.wait().unwrap().success());
    let rest = ended.recv_timeout(LONG).expect("the daemon holds the pipe open");
    assert!(rest.unwrap().is_empty());
    assert!(place.is_running());
}

/// A terminal that closes takes what belongs to it along.
#[test]
fn a_terminal_that_closes_does_not_end_it() {
    let place = Place::new();
    let command = format!("'{}' daemon start", env!("CARGO_BIN_EXE_thru"));
    let ran = Command::new("script")
        .args(["-q", "-e", "-c", &command, "/dev/null"])
        .env("THROUGHLINE_HOME", place.data())
        .env("CLAUDE_CONFIG_DIR", place.claude())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match ran {
        Ok(status) => assert!(status.success()),
        Err(error) => return eprintln!("skipped: there is no `script`: {error}"),
    }
    thread::sleep(Duration::from_millis(200));
    assert!(place.is_running());
}

#[test]
fn in_the_foreground_it_says_that_there_is_one() {
    let place = Place::new();
    let _hiding = place.hiding();
    place.thru(&["daemon", "start"]).expect(0);
    let ran = Ran::from(place.command().args(["daemon", "run"]).output().unwrap());
    assert_snapshot!(ran.shown(), @"
    -- stderr --
    error: a daemon runs already.
    hint: `thru daemon stop` ends it.
    -- exit 2 --
    ");
}

#[test]
fn one_of_another_home_on_the_same_socket_is_not_taken_for_ones_own() {
    let (place, other) = (Place::new(), Place::new());
    let socket = place.folder().join("shared.sock");
    for home in [&place, &other] {
        let socket = socket.to_str().unwrap();
        home.thru(&["config", "set", "hooks.socket_path", socket]).expect(0);
    }
    place.thru(&["daemon", "start"]).expect(0);
    assert!(place.is_running() && !other.is_running());
    other.thru(&["daemon", "stop"]).expect(0);
    assert!(place.is_running());
}

#[test]
fn a_service_is_written_and_not_enabled() {
    let place = Place::new();
    let _hiding = place.hiding();
    if cfg!(target_os = "macos") {
        return;
    }
    let printed = place.thru(&["daemon", "install", "--print"]).expect(0).stdout;
    assert_snapshot!(place.shown(&["daemon", "install"]), @"
    Written: ~/.config/systemd/user/throughline.service
    It is not enabled. To have it started now and whenever you log in:

      systemctl --user daemon-reload && systemctl --user enable --now throughline.service
    ");
    let unit = place.folder().join("user/.config/systemd/user/throughline.service");
    assert_eq!(fs::read_to_string(&unit).unwrap(), printed);
    assert_snapshot!(printed, @r#"
    # Written by `thru daemon install`; `thru daemon uninstall` removes it.
    [Unit]
    Description=Throughline: memory for coding agents

    [Service]
    Type=simple
    ExecStartPre=-"[thru]" daemon stop
    ExecStart="[thru]" daemon run
    Environment="THROUGHLINE_HOME=[folder]/home"
    Environment="CLAUDE_CONFIG_DIR=[folder]/claude"
    Environment="MALLOC_ARENA_MAX=1"
    Environment="MALLOC_MMAP_THRESHOLD_=65536"
    Environment="MALLOC_TRIM_THRESHOLD_=65536"
    Restart=on-failure
    RestartSec=2
    Nice=10
    UMask=0077
    NoNewPrivileges=yes
    LockPersonality=yes
    RestrictRealtime=yes
    RestrictSUIDSGID=yes
    RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
    SystemCallArchitectures=native

    [Install]
    WantedBy=default.target
    "#);
    assert_snapshot!(place.shown(&["uninstall"]), @"
    There was nothing to remove.
    ~/.config/systemd/user/throughline.service still starts the daemon: `thru daemon uninstall` removes it.
    ");
    assert_snapshot!(place.shown(&["daemon", "uninstall"]), @"
    Removed: ~/.config/systemd/user/throughline.service
    Where it was enabled, this takes it out of the service manager:

      systemctl --user disable --now throughline.service
    ");
    assert!(!unit.exists());
    assert_snapshot!(place.shown(&["daemon", "uninstall"]), @"
    Nothing was installed.
    -- exit 1 --
    ");
}

#[test]
fn logs_are_followed() {
    let place = Place::new();
    place.thru(&["daemon", "start"]).expect(0);
    let mut follower = place
        .command()
        .args(["daemon", "logs", "--follow"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = follower.stdout.take().unwrap();
    place.thru(&["daemon", "stop"]).expect(0);
    let mut seen = String::new();
    let mut chunk = [0; 4096];
    while !seen.contains("ended: asked to") {
        let length = stdout.read(&mut chunk).unwrap();
        assert_ne!(length, 0, "{seen}");
        seen.push_str(std::str::from_utf8(&chunk[..length]).unwrap());
    }
    follower.kill().unwrap();
    follower.wait().unwrap();
    assert_eq!(seen.matches("started").count(), 1, "{seen}");
}

#[test]
fn answers_for_scripts_say_what_they_are() {
    let place = Place::new();
    place.thru(&["daemon", "start"]).expect(0);
    let status: Value = place.json(&["daemon", "status", "--json"]);
    assert_eq!((&status["version"], &status["state"]), (&1.into(), &"running".into()));
    assert_eq!(status["daemon"]["protocol"], 1);
    assert!(status["daemon"]["memory_bytes"].as_u64() > Some(0) || !cfg!(target_os = "linux"));
}

// The two below take as long as it takes to be noticed: a few seconds, since there is a folder to be
// watched that is not there.

#[test]
fn it_does_not_outlive_its_home() {
    let place = Place::new();
    place.thru(&["daemon", "start"]).expect(0);
    until(|| place.json(&["daemon", "status", "--json"])["daemon"]["steps"] == 1);
    let number = place.number();
    fs::remove_dir_all(place.data()).unwrap();
    // No process here has to wait for it, so nothing is left of it once it ended.
    until(|| rustix::process::test_kill_process(number).is_err() || is_dead(number));
    assert!(!place.data().exists(), "it did not make its home again");
}

#[test]
fn an_upgrade_is_taken_up() {
    let place = Place::new();
    let program = place.folder().join("thru");
    fs::copy(env!("CARGO_BIN_EXE_thru"), &program).unwrap();
    let mut start = Command::new(&program);
    let start = start
        .env_clear()
        .env("HOME", place.folder().join("user"))
        .env("THROUGHLINE_HOME", place.data())
        .env("CLAUDE_CONFIG_DIR", place.claude())
        .args(["daemon", "start"]);
    Ran::from(start.output().unwrap()).expect(0);
    let first = place.number();
    let new = place.folder().join("new");
    fs::copy(env!("CARGO_BIN_EXE_thru"), &new).unwrap();
    fs::rename(&new, &program).unwrap();
    until(|| {
        let status = place.json(&["daemon", "status", "--json"]);
        let number = status["daemon"]["pid"].as_i64();
        number.is_some_and(|number| number != i64::from(first.as_raw_nonzero().get()))
    });
    let log = place.thru(&["daemon", "logs"]).expect(0).stdout;
    assert!(log.contains("ended: the program was replaced"), "{log}");
}

/// The home of a user whose name is older than UTF-8.
#[cfg(target_os = "linux")]
#[test]
fn a_home_whose_name_is_no_text_gets_a_daemon() {
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new();
    let data = home.folder().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    let thru = |arguments: &[&str]| {
        let mut command = home.command();
        command.env("THROUGHLINE_HOME", &data).args(arguments);
        Ran::from(command.output().unwrap())
    };
    thru(&["daemon", "start"]).expect(0);
    let status = thru(&["daemon", "status"]);
    let stopped = thru(&["daemon", "stop"]);
    assert!(status.stdout.contains("runs: process"), "{}", status.stdout);
    assert_eq!(stopped.code, 0, "{}", stopped.stderr);
}

/// Whether a process ended that its parent did not ask for yet.
fn is_dead(number: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/stat", number.as_raw_nonzero()));
    status.is_ok_and(|status| status.rsplit(')').next().unwrap().trim().starts_with('Z'))
}
