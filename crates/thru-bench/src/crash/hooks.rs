//! Rounds in which hooks are killed while others work: several sessions at once, a segment of the
//! journal that fills up, intake in the background, rules that take effect, agents being connected and
//! disconnected. Afterwards everything that was acknowledged is there once, and nothing else twice.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;
use thru_capture::failures;
use thru_core::{Layout, Timestamp};
use thru_journal::journal::{Cursor, Durability, Entry, Item, Journal};
use thru_redact::{Redactor, Report};

use crate::home::{copy, temporary_directory};
use crate::process::{Program, Task};
use crate::rng::Rng;
use crate::store_dump::{Dump, fingerprint_of_call};

/// Sessions that work at the same time, turns of each, and tools that each turn uses.
const SESSIONS: usize = 3;
const TURNS: usize = 2;
const TOOLS: usize = 6;
/// What a segment of the journal holds before the next one begins, and what is left of it at first.
const SEGMENT: u64 = 16 * 1024 * 1024;
const LEFT: u64 = 64 * 1024;
/// How long background work may take to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the rounds start from.
pub(super) struct Hooks {
    thru: PathBuf,
    /// A journal whose segment is nearly full.
    full: TempDir,
    can_install: bool,
    /// How long a hook takes when nobody kills it.
    takes: Duration,
}

/// What was counted over some rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) played: usize,
    pub(super) killed: usize,
    /// Killed, and recorded all the same.
    pub(super) kept: usize,
    /// Others that were killed: intake, redaction, installation.
    pub(super) disturbed: usize,
    /// Acknowledged late: the watch ended the hook, which is noted.
    pub(super) late: usize,
}

/// A hook that was called.
struct Called {
    mark: u64,
    acknowledged: bool,
}

impl Hooks {
    pub(super) fn prepare(thru: &Path) -> Result<Self> {
        let thru = fs::canonicalize(thru)?;
        let full = temporary_directory()?;
        let (home, claude) = (full.path().join("home"), full.path().join("claude"));
        fs::create_dir_all(&home)?;
        fs::create_dir_all(&claude)?;
        let program = Program::new(Some(&thru), false, &claude)?;
        // The name of the machine is the program's business: it shows in the name of the segment.
        program.hook(&home, "CwdChanged", br#"{"session_id":"first"}"#)?;
        let journal = Layout::new(&home).journal();
        let segment = fs::read_dir(&journal)?.next().context("no segment was written")??;
        let name = segment.file_name().to_string_lossy().into_owned();
        let host = name.rsplit_once('-').context("a segment without a number")?.0.to_owned();
        let journal = Journal::open(journal, &host)?;
        let filler = "x".repeat(LEFT as usize / 2);
        while segment.metadata()?.len() < SEGMENT - LEFT {
            let key = format!("filler-{}", segment.metadata()?.len());
            let body = Redactor::builtin().clean_value(json!(filler), &mut Report::default());
            let entry = Entry { key, at: Timestamp::UNIX_EPOCH, kind: "filler".to_owned(), body };
            journal.append(&entry, Durability::Buffered)?;
        }
        let started = Instant::now();
        for _ in 0..10 {
            program.hook(&home, "CwdChanged", br#"{"session_id":"first"}"#)?;
        }
        let takes = started.elapsed() / 10;
        let output = program.command_of(&home, &["install"]).env("HOME", &claude).output()?;
        let can_install = output.status.success();
        if !can_install {
            let said = String::from_utf8_lossy(&output.stderr);
            println!("Nothing is installed in these rounds: {}", said.lines().next().unwrap_or(""));
        }
        fs::remove_dir_all(&claude)?;
        Ok(Self { thru, full, can_install, takes })
    }

    /// One round, in an empty folder.
    pub(super) fn round(&self, folder: &Path, rng: &mut Rng, counts: &mut Counts) -> Result<()> {
        let (home, claude) = (folder.join("home"), folder.join("claude"));
        match rng.chance(0.5) {
            true => copy(&self.full.path().join("home"), &home)?,
            false => fs::create_dir_all(&home)?,
        }
        fs::create_dir_all(&claude)?;
        let background = rng.chance(0.5);
        fs::write(home.join("config.toml"), format!("[capture]\nbackground = {background}\n"))?;
        let program = Program::new(Some(&self.thru), false, &claude)?;
        let over = AtomicBool::new(false);
        let seeds: Vec<u64> = (0..=SESSIONS).map(|_| rng.next()).collect();
        let (called, disturbed) = std::thread::scope(|scope| {
            let disturber = scope.spawn(|| {
                self.disturb(&program, &home, &claude, &over, Rng::part(seeds[SESSIONS], 0))
            });
            let sessions: Vec<_> = (0..SESSIONS)
                .map(|number| {
                    let (program, home, claude) = (&program, &home, &claude);
                    let rng = Rng::part(seeds[number], 1);
                    scope.spawn(move || session(program, home, claude, number, self.takes, rng))
                })
                .collect();
            let called: Vec<_> = sessions
                .into_iter()
                .map(|session| session.join().unwrap_or_else(|_| bail!("a session panicked")))
                .collect();
            over.store(true, Ordering::Release);
            (called, disturber.join().unwrap_or_else(|_| bail!("the disturber panicked")))
        });
        counts.disturbed += disturbed?;
        let called: Vec<Called> =
            called.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        settle(&program, &home)?;
        check(&program, &home, &claude, &called, counts)?;
        if rng.chance(0.2) {
            let before = Dump::of(&home)?;
            program.run(&home, Task::Rebuild)?;
            super::compare(&before, &home)?;
        }
        Ok(())
    }

    /// Does what others do meanwhile, and kills it; and kills what works in the background.
    fn disturb(
        &self,
        program: &Program,
        home: &Path,
        claude: &Path,
        over: &AtomicBool,
        mut rng: Rng,
    ) -> Result<usize> {
        const WORK: [&[&str]; 5] = [
            &["intake"],
            &["redact", "add", "ticket", "ticket-[0-9]{5}"],
            &["redact", "--apply"],
            &["install"],
            &["uninstall"],
        ];
        let work = if self.can_install { &WORK[..] } else { &WORK[..3] };
        let mut killed = 0;
        while !over.load(Ordering::Acquire) {
            killed += usize::from(kill_background(home)?);
            let mut child = program.command_of(home, rng.pick(work)).env("HOME", claude).spawn()?;
            std::thread::sleep(Duration::from_micros(rng.below(40_000) as u64));
            if rng.chance(0.7) && child.try_wait()?.is_none() {
                child.kill()?;
                killed += 1;
            }
            child.wait()?;
            whole_settings(claude)?;
        }
        Ok(killed)
    }
}

/// Plays a session, killing some of its hooks.
fn session(
    program: &Program,
    home: &Path,
    claude: &Path,
    number: usize,
    takes: Duration,
    mut rng: Rng,
) -> Result<Vec<Called>> {
    let id = format!("{number:08x}-aaaa-4aaa-8aaa-00000000000{number}");
    let transcript = claude.join(format!("projects/rocket/{id}.jsonl"));
    // Half of what happens is in the transcript already, so that both tell of it.
    if rng.chance(0.5) {
        fs::create_dir_all(transcript.parent().context("a file without a folder")?)?;
        fs::write(&transcript, transcript_of(&id))?;
    }
    let mut called = Vec::new();
    let mut mark = number as u64 * 1_000;
    let mut play = |event: &str, fields: Value, kills: bool| -> Result<()> {
        mark += 1;
        let mut payload = json!({
            "session_id": id, "transcript_path": transcript, "cwd": "/home/ada/rocket", "mark": mark,
        });
        if let (Value::Object(payload), Value::Object(fields)) = (&mut payload, fields) {
            payload.extend(fields);
        }
        let mut child = program.start_hook(home, event, payload.to_string().as_bytes())?;
        let dies = kills && rng.chance(0.25);
        if dies {
            // Several run at once, so that each takes longer.
            std::thread::sleep(takes.mul_f64(2.0 * rng.unit()));
        }
        let acknowledged = match dies && child.try_wait()?.is_none() {
            true => {
                child.kill()?;
                child.wait_with_output()?;
                false
            }
            false => child.wait_with_output()?.status.success(),
        };
        called.push(Called { mark, acknowledged });
        Ok(())
    };
    play("SessionStart", json!({ "source": "startup" }), true)?;
    for turn in 0..TURNS {
        let prompt_id = format!("{id}-{turn}");
        play("UserPromptSubmit", json!({ "prompt": prompt(turn), "prompt_id": prompt_id }), true)?;
        for tool in 0..TOOLS {
            let fields = json!({
                "prompt_id": prompt_id,
                "tool_name": "Bash",
                "tool_use_id": call(&id, turn, tool),
                "tool_input": { "command": format!("make part-{turn}-{tool} # ticket-12345") },
                // Records of several pages can be cut in two.
                "tool_response": { "stdout": "line of output\n".repeat(1 << (2 * tool)) },
            });
            play("PostToolUse", fields, true)?;
        }
        let said = format!("Part {turn} is done, see ticket-12345.");
        play("Stop", json!({ "prompt_id": prompt_id, "last_assistant_message": said }), true)?;
    }
    play("SessionEnd", json!({ "reason": "other" }), false)?;
    Ok(called)
}

fn prompt(turn: usize) -> String {
    format!("Please build part {turn} of the rocket for ticket-12345")
}

fn call(session: &str, turn: usize, tool: usize) -> String {
    format!("toolu_{session}_{turn}_{tool}")
}

/// The transcript of the first turn of a session.
fn transcript_of(id: &str) -> String {
    let mut lines = vec![json!({ "type": "user", "message": { "content": prompt(0) } })];
    for tool in 0..TOOLS {
        let call = call(id, 0, tool);
        let command = format!("make part-0-{tool} # ticket-12345");
        lines.push(json!({ "type": "assistant", "message": { "content": [
            { "type": "tool_use", "id": call, "name": "Bash", "input": { "command": command } }
        ]}}));
        lines.push(json!({ "type": "user", "message": { "content": [
            { "type": "tool_result", "tool_use_id": call, "content": "line of output" }
        ]}}));
    }
    lines
        .into_iter()
        .enumerate()
        .map(|(number, mut line)| {
            line["sessionId"] = json!(id);
            line["uuid"] = json!(format!("{}-{number:012x}", &id[..23]));
            line["timestamp"] = json!("2026-11-21T01:02:03.000Z");
            format!("{line}\n")
        })
        .collect()
}

/// Kills the process that brings things in for this home, if there is one.
fn kill_background(home: &Path) -> Result<bool> {
    let Ok(text) = fs::read_to_string(home.join("run/intake.lock")) else { return Ok(false) };
    let Ok(process) = text.trim().parse::<u32>() else { return Ok(false) };
    // The number may be that of a process that ended long ago, and another's by now.
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let ours = format!("THROUGHLINE_HOME={}", home.display());
    let is_ours = environment.split(|byte| *byte == 0).any(|value| value == ours.as_bytes());
    let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let is_background = command.ends_with(b"\0--after-turn\0");
    if !is_ours || !is_background {
        return Ok(false);
    }
    Ok(Command::new("kill").args(["-9", &process.to_string()]).output()?.status.success())
}

/// Waits for what works in the background, and brings in the rest.
fn settle(program: &Program, home: &Path) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let is_free = |name: &str| match File::open(home.join("run").join(name)) {
        Ok(file) => file.try_lock().is_ok(),
        Err(_) => true,
    };
    let mut quiet = 0;
    while quiet < 3 {
        ensure!(Instant::now() < deadline, "background work does not end");
        quiet = match is_free("intake.waiting") && is_free("intake.lock") {
            true => quiet + 1,
            false => 0,
        };
        std::thread::sleep(Duration::from_millis(20));
    }
    program.run(home, Task::Intake)?;
    // Rules that were added and not applied.
    let output = program.command_of(home, &["redact", "--apply"]).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "redaction ended with {}: {said}", output.status);
    Ok(())
}

/// What was acknowledged is in journal and store once, what was killed at most once.
fn check(
    program: &Program,
    home: &Path,
    claude: &Path,
    called: &[Called],
    counts: &mut Counts,
) -> Result<()> {
    let layout = Layout::new(home);
    let mut by_mark: BTreeMap<u64, Vec<(String, Value)>> = BTreeMap::new();
    let mut cut = 0;
    for item in Journal::open(layout.journal(), "bench")?.stream(Cursor::default())? {
        match item? {
            Item::Entry(stored) if stored.kind == "hook" => {
                let payload = &stored.body["payload"];
                if let Some(mark) = payload["mark"].as_u64() {
                    by_mark.entry(mark).or_default().push((stored.key, payload.clone()));
                }
            }
            Item::Entry(_) => {}
            Item::Problem(_) => cut += 1,
        }
    }
    let killed = called.iter().filter(|called| !called.acknowledged).count();
    ensure!(cut <= killed, "{cut} broken records of {killed} hooks that were killed");
    let late = failures::list(&layout);
    let late = late.iter().filter(|failure| failure.reason.contains("longer than a second"));
    let mut late = late.count();
    let database = Connection::open(layout.database())?;
    let count = |sql: &str, value: &dyn rusqlite::ToSql| -> Result<u64> {
        Ok(database.query_row(sql, [value], |row| row.get(0))?)
    };
    for Called { mark, acknowledged } in called {
        let records = by_mark.remove(mark).unwrap_or_default();
        counts.played += 1;
        counts.killed += usize::from(!acknowledged);
        counts.kept += usize::from(!acknowledged && !records.is_empty());
        match records.as_slice() {
            [] if !acknowledged => continue,
            [] if late > 0 => {
                late -= 1;
                counts.late += 1;
                continue;
            }
            [(key, payload)] => {
                let rows = count("SELECT count(*) FROM events WHERE key = ?1", key)?;
                ensure!(rows == 1, "event {mark} is {rows} rows of the store");
                if let Some(call) = payload["tool_use_id"].as_str() {
                    let known = fingerprint_of_call(call);
                    let rows =
                        count("SELECT count(*) FROM passages WHERE fingerprint = ?1", &known)?;
                    ensure!(rows == 1, "the tool use {call} is {rows} passages");
                }
            }
            records => bail!(
                "event {mark} ({}) is {} records of the journal",
                if *acknowledged { "acknowledged" } else { "killed" },
                records.len()
            ),
        }
    }
    ensure!(by_mark.is_empty(), "events that nobody sent: {:?}", by_mark.keys());
    let leaking = count("SELECT count(*) FROM passages WHERE command LIKE ?1", &"%ticket-12345%")?;
    let has_rule = layout.rules().exists();
    ensure!(leaking == 0 || !has_rule, "{leaking} commands hold what a rule takes out");
    whole_settings(claude)?;
    let (status, said) = program.finish(home, Task::Verify)?;
    // A record that was cut short by a kill is no damage.
    ensure!(status.success(), "verify ended with {status}: {said}");
    Ok(())
}

/// The agent's settings are JSON, at every moment.
fn whole_settings(claude: &Path) -> Result<()> {
    for path in [claude.join("settings.json"), claude.join(".claude/settings.json")] {
        if let Ok(text) = fs::read(&path) {
            serde_json::from_slice::<Value>(&text)
                .with_context(|| format!("{} is no JSON: {text:?}", path.display()))?;
        }
    }
    Ok(())
}
