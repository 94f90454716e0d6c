//! Rounds in which hooks are killed while others work: several sessions at once, a segment of the
//! journal that fills up, intake, an import, rules that take effect, memories that are told, a session that is
//! forgotten, a directory that is trusted, agents being connected and disconnected. Afterwards everything that was
//! acknowledged is there once, and nothing else twice.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
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
pub(super) const SESSIONS: usize = 3;
const TURNS: usize = 2;
const TOOLS: usize = 6;
/// The size of a segment of the journal, and the room left in it at first.
const SEGMENT: u64 = 16 * 1024 * 1024;
const LEFT: u64 = 64 * 1024;

/// The state that rounds start from.
pub(super) struct Hooks {
    thru: PathBuf,
    /// A journal whose segment is nearly full.
    full: TempDir,
    can_install: bool,
    /// The duration of a hook that is not killed.
    takes: Duration,
}

/// Counts over all rounds so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) played: usize,
    pub(super) killed: usize,
    /// Killed, and recorded all the same.
    pub(super) kept: usize,
    /// Others that were killed: intake, import, redaction, telling, forgetting, trust, installation.
    pub(super) disturbed: usize,
    /// Acknowledged late: the watch ended the hook, which is noted.
    pub(super) late: usize,
}

/// The session that is forgotten in a round.
const FORGOTTEN: usize = 9;
const FORGOTTEN_ID: &str = "00000009-aaaa-4aaa-8aaa-000000000009";

/// Sessions in two directories of one declared name. The second directory is kept apart until a person trusts it.
const NAMED: usize = 7;
const CLAIMING: usize = 8;

/// The work of others in a round.
#[derive(Default)]
struct Disturbed {
    /// Number of processes that were killed.
    killed: usize,
    /// The memories that were told, and if that was acknowledged.
    told: Vec<(String, bool)>,
    /// For each time that the second directory was trusted, if that was acknowledged.
    trusted: Vec<bool>,
}

/// A hook that was called.
pub(super) struct Called {
    pub(super) mark: u64,
    pub(super) acknowledged: bool,
}

/// The way a session leaves a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transcript {
    /// Half of the sessions have their first turn in it from the beginning, so that both tell of it.
    Begun,
    /// Half of the sessions write each turn when it is over, as agents do.
    Growing,
}

/// A session that is played.
#[derive(Clone, Copy)]
pub(super) struct Player<'a> {
    pub(super) program: &'a Program,
    pub(super) home: &'a Path,
    pub(super) claude: &'a Path,
    /// The duration of a hook that is not killed.
    pub(super) takes: Duration,
    pub(super) transcript: Transcript,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { played, killed, kept, disturbed, late } = self;
        write!(
            f,
            "{played} events, {killed} killed ({kept} of them had been kept), {disturbed} others \
             killed, {late} late; none lost, none twice"
        )
    }
}

impl Hooks {
    pub(super) fn prepare(thru: &Path) -> Result<Self> {
        let thru = fs::canonicalize(thru)?;
        let full = temporary_directory()?;
        let (home, claude) = (full.path().join("home"), full.path().join("claude"));
        fs::create_dir_all(&home)?;
        fs::create_dir_all(&claude)?;
        let program = Program::new(&thru, &claude)?;
        let host = crate::home::host(&program, &home)?;
        let journal = Layout::new(&home).journal();
        let segment = fs::read_dir(&journal)?.next().context("no segment was written")??;
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
        let forgotten = id_of(FORGOTTEN);
        write_turn(&claude.join(format!("projects/rocket/{forgotten}.jsonl")), &forgotten, 0)?;
        let program = Program::new(&self.thru, &claude)?;
        let claiming = claim_a_name(&program, folder, &home)?;
        let over = AtomicBool::new(false);
        let seeds: Vec<u64> = (0..=SESSIONS).map(|_| rng.next()).collect();
        let (called, disturbed) = std::thread::scope(|scope| {
            let disturber = scope.spawn(|| {
                let rng = Rng::part(seeds[SESSIONS], 0);
                self.disturb(&program, &home, &claude, &claiming, &over, rng)
            });
            let sessions: Vec<_> = (0..SESSIONS)
                .map(|number| {
                    let player = Player {
                        program: &program,
                        home: &home,
                        claude: &claude,
                        takes: self.takes,
                        transcript: Transcript::Begun,
                    };
                    let rng = Rng::part(seeds[number], 1);
                    scope.spawn(move || player.play(number, rng))
                })
                .collect();
            let called: Vec<_> = sessions
                .into_iter()
                .map(|session| session.join().unwrap_or_else(|_| bail!("a session panicked")))
                .collect();
            over.store(true, Ordering::Release);
            (called, disturber.join().unwrap_or_else(|_| bail!("the disturber panicked")))
        });
        let Disturbed { killed, told, trusted } = disturbed?;
        counts.disturbed += killed;
        let called: Vec<Called> =
            called.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        settle(&program, &home)?;
        check(&program, &home, &claude, &called, counts)?;
        check_decisions(&home, &told)?;
        check_trust(&home, &trusted)?;
        if rng.chance(0.2) {
            // A rebuild also reads what an import that was killed had only put into the archive.
            program.run(&home, Task::Import)?;
            let before = Dump::of(&home)?;
            program.run(&home, Task::Rebuild)?;
            super::compare(&before, &home)?;
        }
        Ok(())
    }

    /// Does what others do meanwhile, and kills it.
    fn disturb(
        &self,
        program: &Program,
        home: &Path,
        claude: &Path,
        claiming: &Path,
        over: &AtomicBool,
        mut rng: Rng,
    ) -> Result<Disturbed> {
        const WORK: [&[&str]; 9] = [
            &["intake"],
            &["redact", "add", "ticket", "ticket-[0-9]{5}"],
            &["redact", "--apply"],
            &["import", "--yes"],
            &["forget", "--session", FORGOTTEN_ID, "--yes"],
            &["projects", "trust"],
            &["remember", "--global"],
            &["install"],
            &["uninstall"],
        ];
        let work = if self.can_install { &WORK[..] } else { &WORK[..7] };
        let mut done = Disturbed::default();
        while !over.load(Ordering::Acquire) {
            let mut words = rng.pick(work).to_vec();
            let title = format!("Told as number {}", done.told.len());
            let (tells, trusts) = (words[0] == "remember", words[0] == "projects");
            if tells {
                words.push(&title);
            } else if trusts {
                words.push(claiming.to_str().context("a path that is no text")?);
            }
            let mut child = program.command_of(home, &words).env("HOME", claude).spawn()?;
            std::thread::sleep(Duration::from_micros(rng.below(40_000) as u64));
            if rng.chance(0.7) && child.try_wait()?.is_none() {
                child.kill()?;
                done.killed += 1;
            }
            let acknowledged = child.wait()?.success();
            if tells {
                done.told.push((title, acknowledged));
            } else if trusts {
                done.trusted.push(acknowledged);
            }
            whole_settings(claude)?;
        }
        Ok(done)
    }
}

impl Player<'_> {
    /// Plays a session, killing some of its hooks.
    pub(super) fn play(&self, number: usize, mut rng: Rng) -> Result<Vec<Called>> {
        let id = id_of(number);
        let transcript = self.claude.join(format!("projects/rocket/{id}.jsonl"));
        let is_written = rng.chance(0.5);
        let begins = is_written && self.transcript == Transcript::Begun;
        if begins {
            write_turn(&transcript, &id, 0)?;
        }
        let mut called = Vec::new();
        let mut mark = number as u64 * 1_000;
        let mut play = |event: &str, fields: Value, kills: bool| -> Result<()> {
            mark += 1;
            let mut payload = json!({
                "session_id": id, "transcript_path": transcript, "cwd": "/home/ada/rocket",
                "mark": mark,
            });
            if let (Value::Object(payload), Value::Object(fields)) = (&mut payload, fields) {
                payload.extend(fields);
            }
            let input = payload.to_string();
            // A daemon needs a moment to have something to be killed at.
            if self.transcript == Transcript::Growing && rng.chance(0.5) {
                std::thread::sleep(Duration::from_millis(rng.below(120) as u64));
            }
            let mut child = self.program.start_hook(self.home, event, input.as_bytes())?;
            let dies = kills && rng.chance(0.25);
            if dies {
                // Several run at once, so that each takes longer.
                std::thread::sleep(self.takes.mul_f64(2.0 * rng.unit()));
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
            let fields = json!({ "prompt": prompt(turn), "prompt_id": prompt_id });
            play("UserPromptSubmit", fields, true)?;
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
            if is_written && self.transcript == Transcript::Growing {
                write_turn(&transcript, &id, turn)?;
            }
            let said = format!("Part {turn} is done, see ticket-12345.");
            let fields = json!({ "prompt_id": prompt_id, "last_assistant_message": said });
            play("Stop", fields, true)?;
        }
        play("SessionEnd", json!({ "reason": "other" }), false)?;
        Ok(called)
    }
}

/// The id of the session of this number.
pub(super) fn id_of(number: usize) -> String {
    format!("{number:08x}-aaaa-4aaa-8aaa-00000000000{number}")
}

fn prompt(turn: usize) -> String {
    format!("Please build part {turn} of the rocket for ticket-12345")
}

fn call(session: &str, turn: usize, tool: usize) -> String {
    format!("toolu_{session}_{turn}_{tool}")
}

/// Adds a turn of a session to its transcript.
fn write_turn(path: &Path, id: &str, turn: usize) -> Result<()> {
    let mut lines = vec![json!({ "type": "user", "message": { "content": prompt(turn) } })];
    for tool in 0..TOOLS {
        let call = call(id, turn, tool);
        let command = format!("make part-{turn}-{tool} # ticket-12345");
        lines.push(json!({ "type": "assistant", "message": { "content": [
            { "type": "tool_use", "id": call, "name": "Bash", "input": { "command": command } }
        ]}}));
        lines.push(json!({ "type": "user", "message": { "content": [
            { "type": "tool_result", "tool_use_id": call, "content": "line of output" }
        ]}}));
    }
    fs::create_dir_all(path.parent().context("a file without a folder")?)?;
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    for (number, line) in lines.iter_mut().enumerate() {
        line["sessionId"] = json!(id);
        line["uuid"] = json!(format!("{}-{turn:04x}{number:08x}", &id[..23]));
        line["timestamp"] = json!(now);
        writeln!(file, "{line}")?;
    }
    Ok(())
}

/// Brings in the rest.
fn settle(program: &Program, home: &Path) -> Result<()> {
    program.run(home, Task::Intake)?;
    // Rules that were added and not applied.
    let output = program.command_of(home, &["redact", "--apply"]).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "redaction ended with {}: {said}", output.status);
    Ok(())
}

/// Checks that acknowledged events are in journal and store once, killed ones at most once.
pub(super) fn check(
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
    ensure!(by_mark.is_empty(), "events that were never sent: {:?}", by_mark.keys());
    let leaking = count("SELECT count(*) FROM passages WHERE command LIKE ?1", &"%ticket-12345%")?;
    let has_rule = layout.rules().exists();
    ensure!(leaking == 0 || !has_rule, "{leaking} commands hold what a rule takes out");
    whole_settings(claude)?;
    let (status, said) = program.finish(home, Task::Verify)?;
    // A record that was cut short by a kill is no damage.
    ensure!(status.success(), "verify ended with {status}: {said}");
    Ok(())
}

/// Checks that memories are there once if they were acknowledged, and that a session that was forgotten left nothing.
fn check_decisions(home: &Path, told: &[(String, bool)]) -> Result<()> {
    let database = Connection::open(Layout::new(home).database())?;
    let count = |sql: &str, value: &str| -> Result<u64> {
        Ok(database.query_row(sql, [value], |row| row.get(0))?)
    };
    for (title, acknowledged) in told {
        let rows = count("SELECT count(*) FROM memories WHERE title = ?1", title)?;
        ensure!(rows <= 1 && (rows == 1 || !acknowledged), "{title:?} is {rows} memories");
    }
    if count("SELECT count(*) FROM forgotten WHERE session = ?1", FORGOTTEN_ID)? > 0 {
        let left = "SELECT count(*) FROM passages p JOIN sessions s ON s.id = p.session WHERE s.session = ?1";
        let left = count(left, FORGOTTEN_ID)?;
        ensure!(left == 0, "{left} passages of a forgotten session are left");
        let archive = Layout::new(home).archive().join("claude-code/rocket");
        let kept = archive.join(format!("{FORGOTTEN_ID}.jsonl.zst"));
        ensure!(!kept.exists(), "{} is left", kept.display());
    }
    Ok(())
}

/// Has a session start in each of two directories of one declared name, and returns the second one.
fn claim_a_name(program: &Program, folder: &Path, home: &Path) -> Result<PathBuf> {
    let start = |number: usize| -> Result<PathBuf> {
        let directory = folder.join(number.to_string());
        fs::create_dir_all(&directory)?;
        fs::write(directory.join(".throughline.toml"), "project.name = \"balloon\"\n")?;
        let input = json!({ "session_id": id_of(number), "cwd": directory, "source": "startup" });
        program.hook(home, "SessionStart", input.to_string().as_bytes())?;
        program.run(home, Task::Intake)?;
        Ok(directory)
    };
    start(NAMED)?;
    start(CLAIMING)
}

/// Checks that the two directories are one project if a person's trust was acknowledged, and apart if it was never told.
fn check_trust(home: &Path, trusted: &[bool]) -> Result<()> {
    let database = Connection::open(Layout::new(home).database())?;
    let projects: u64 = database.query_row(
        "SELECT count(DISTINCT coalesce(p.merged_into, p.id)) FROM sessions s
         JOIN projects p ON p.id = s.project WHERE s.session IN (?1, ?2)",
        [id_of(NAMED), id_of(CLAIMING)],
        |row| row.get(0),
    )?;
    let wanted = match trusted {
        [] => 2..=2,
        all if all.contains(&true) => 1..=1,
        _ => 1..=2,
    };
    ensure!(wanted.contains(&projects), "two directories are {projects} projects: {trusted:?}");
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
