//! The time of hooks: whole processes, as agents start them, beside one that does nothing and beside
//! the disk. What is compared is measured in turn, so that a busy machine is busy for all of it.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use rusqlite::Connection;
use serde_json::{Value, json};
use thru_agents::hooks::{self, HookInput};
use thru_capture::session::Session;
use thru_capture::{Recorder, session_key};
use thru_core::{Clock, Layout, PassageKind, SystemClock};
use thru_journal::journal::{Cursor, Item, Journal};
use thru_redact::Redactor;
use thru_store::{PassageFilter, Store};

use super::yardsticks::{do_nothing, milliseconds};
use crate::metrics::{median, quantile};
use crate::process::{Program, Task};

/// Runs of each: small events, large ones, waves of events at once, and answers.
const SMALL: usize = 300;
const LARGE: usize = 60;
const WAVES: usize = 50;
const ANSWERS: usize = 60;
/// Runs of a compaction.
const COMPACTIONS: usize = 15;
/// Events of a wave.
const AT_ONCE: usize = 20;
/// Events that wait to be brought in when a session starts.
const PENDING: usize = 200;

/// Times of one kind of hook.
struct Row {
    name: &'static str,
    /// Milliseconds.
    times: Vec<f64>,
    /// The target in milliseconds.
    target: &'static str,
}

/// The home in which hooks are called.
struct Bench<'b> {
    program: &'b Program,
    home: &'b Path,
    /// The machine, as the program names it in the journal.
    host: String,
    /// A directory whose project the home knows best.
    directory: String,
    /// Prompts of that home.
    prompts: Vec<String>,
    number: usize,
}

/// Measures hooks in a home, which they change.
pub(super) fn run(program: &Program, home: &Path) -> Result<()> {
    fs::create_dir_all(home)?;
    eprintln!("bringing the home up to date …");
    program.run(home, Task::Intake)?;
    let mut bench = Bench::new(program, home)?;
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut rows = bench.small()?;
    rows.extend(bench.synced()?);
    rows.push(bench.waves()?);
    rows.extend(bench.answers()?);
    rows.extend(bench.compactions()?);
    let load_after = fs::read_to_string("/proc/loadavg").unwrap_or_default();

    let (first, last) = (load.trim(), load_after.trim());
    println!("Load before: {first}; after: {last}.\n");
    println!(
        "| hook, whole process | median, ms | × true | p99, ms | max, ms | n | target |\n|---|---|---|---|---|---|---|"
    );
    let nothing = rows.first().and_then(|row| median(&row.times)).unwrap_or(f64::NAN);
    for row in &rows {
        let value = |share| quantile(&row.times, share).unwrap_or(f64::NAN);
        let middle = median(&row.times).unwrap_or(f64::NAN);
        println!(
            "| {} | {middle:.2} | {:.1} | {:.2} | {:.2} | {} | {} |",
            row.name,
            middle / nothing,
            value(0.99),
            value(1.0),
            row.times.len(),
            row.target
        );
    }
    let post = rows.get(1).and_then(|row| median(&row.times)).unwrap_or(f64::NAN);
    let slowest = rows.get(1).and_then(|row| quantile(&row.times, 0.99)).unwrap_or(f64::NAN);
    println!(
        "\nPostToolUse 3 kB takes {:.2} times the median of /bin/true (target 3), p99 {:.2} times (target 6).\n",
        post / nothing,
        slowest / nothing
    );
    let as_json: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "name": row.name,
                "n": row.times.len(),
                "median_ms": median(&row.times),
                "p99_ms": quantile(&row.times, 0.99),
                "max_ms": quantile(&row.times, 1.0),
            })
        })
        .collect();
    println!("{}", json!({ "load": [first, last], "ratio": post / nothing, "hooks": as_json }));
    Ok(())
}

impl<'b> Bench<'b> {
    fn new(program: &'b Program, home: &'b Path) -> Result<Self> {
        let host = crate::home::host(program, home)?;
        let (directory, prompts) = place(home)?;
        Ok(Self { program, home, host, directory, prompts, number: 0 })
    }

    fn payload(&mut self, fields: Value) -> Vec<u8> {
        self.number += 1;
        let mut payload = json!({
            "session_id": "bench-session",
            "transcript_path": "/nowhere/bench-session.jsonl",
            "cwd": self.directory,
            "mark": format!("{}-{}", std::process::id(), self.number),
        });
        if let (Value::Object(payload), Value::Object(fields)) = (&mut payload, fields) {
            payload.extend(fields);
        }
        payload.to_string().into_bytes()
    }

    fn tool_use(&mut self, bytes: usize) -> Vec<u8> {
        let line = "   Compiling rocket v0.1.0 (/home/ada/rocket)\n";
        let output = line.repeat(bytes / line.len());
        let id = format!("toolu_{}_{}", std::process::id(), self.number);
        self.payload(json!({
            "tool_name": "Bash",
            "tool_use_id": id,
            "prompt_id": "p",
            "tool_input": { "command": "cargo build --workspace", "description": "Build" },
            "tool_response": { "stdout": output, "stderr": "", "interrupted": false },
            "duration_ms": 1200,
        }))
    }

    fn time(&self, event: &str, input: &[u8]) -> Result<f64> {
        let started = Instant::now();
        self.program.hook(self.home, event, input)?;
        Ok(milliseconds(started.elapsed()))
    }

    /// A tool's hook beside a process that does nothing.
    fn small(&mut self) -> Result<Vec<Row>> {
        eprintln!("hooks of tools …");
        let (mut nothing, mut small, mut large) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..SMALL {
            let input = self.tool_use(3_000);
            nothing.push(milliseconds(do_nothing(&input)?));
            small.push(self.time("PostToolUse", &input)?);
            if number % (SMALL / LARGE) == 0 {
                let input = self.tool_use(1_000_000);
                large.push(self.time("PostToolUse", &input)?);
            }
        }
        Ok(vec![
            row("/bin/true", nothing, ""),
            row("PostToolUse, 3 kB", small, "p99 10, median 4 × /bin/true"),
            row("PostToolUse, 1 MB", large, "median 15"),
        ])
    }

    /// Records that a power cut must not take, beside what the disk takes for one.
    fn synced(&mut self) -> Result<Vec<Row>> {
        eprintln!("hooks that wait for the disk …");
        let path = self.home.join("run/bench-append");
        let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
        let mut times: HashMap<&str, Vec<f64>> = HashMap::new();
        for _ in 0..SMALL / 3 {
            let said = json!({ "prompt_id": "p", "last_assistant_message": "done ".repeat(100) });
            // A machine's prompt is kept like any other and gets no answer.
            let wake = json!({ "prompt": "<task-notification>".to_owned() + &"done ".repeat(100) });
            for (event, fields) in [
                ("PostToolUse", json!({ "tool_name": "Bash", "tool_input": said.clone() })),
                ("Stop", said.clone()),
                ("SessionEnd", said),
                ("UserPromptSubmit", wake),
            ] {
                let input = self.payload(fields);
                times.entry(event).or_default().push(self.time(event, &input)?);
                let started = Instant::now();
                file.write_all(&input)?;
                file.sync_data()?;
                times.entry("").or_default().push(milliseconds(started.elapsed()));
            }
        }
        drop(file);
        fs::remove_file(path)?;
        let mut take = |event: &str| times.remove(event).unwrap_or_default();
        Ok(vec![
            row("one append with fdatasync, no process", take(""), ""),
            row("PostToolUse of that size, no fdatasync", take("PostToolUse"), ""),
            row("Stop", take("Stop"), ""),
            row("SessionEnd", take("SessionEnd"), ""),
            row("UserPromptSubmit, no answer", take("UserPromptSubmit"), ""),
        ])
    }

    /// Many hooks at once, none of which may be lost.
    fn waves(&mut self) -> Result<Row> {
        eprintln!("hooks at once …");
        let first = self.number + 1;
        let mut times = Vec::new();
        for _ in 0..WAVES {
            let inputs: Vec<Vec<u8>> = (0..AT_ONCE).map(|_| self.tool_use(3_000)).collect();
            let bench = &*self;
            let took: Vec<Result<f64>> = std::thread::scope(|scope| {
                let hooks: Vec<_> = inputs
                    .iter()
                    .map(|input| scope.spawn(move || bench.time("PostToolUse", input)))
                    .collect();
                hooks.into_iter().filter_map(|hook| hook.join().ok()).collect()
            });
            times.extend(took.into_iter().collect::<Result<Vec<_>>>()?);
        }
        let mut records: HashMap<String, usize> = HashMap::new();
        for item in
            Journal::open(Layout::new(self.home).journal(), &self.host)?.stream(Cursor::default())?
        {
            if let Item::Entry(stored) = item?
                && let Some(mark) = stored.body["payload"]["mark"].as_str()
            {
                *records.entry(mark.to_owned()).or_default() += 1;
            }
        }
        for number in first..=self.number {
            let mark = format!("{}-{number}", std::process::id());
            let count = records.get(&mark).copied().unwrap_or(0);
            ensure!(count == 1, "event {mark} is {count} records of the journal");
        }
        Ok(row("PostToolUse, 20 at once (none lost, none twice)", times, "max 60"))
    }

    /// Hooks that answer from memory, while events of a session that was killed wait.
    fn answers(&mut self) -> Result<Vec<Row>> {
        eprintln!("hooks that answer …");
        let (mut starts, mut prompts) = (Vec::new(), Vec::new());
        let mut answered = [0; 2];
        for number in 0..ANSWERS {
            let session = format!("bench-answer-{}-{number}", std::process::id());
            self.leave_pending(number)?;
            let fields = json!({ "session_id": session, "source": "startup" });
            let input = self.payload(fields);
            let started = Instant::now();
            let answer = self.program.hook(self.home, "SessionStart", &input)?;
            starts.push(milliseconds(started.elapsed()));
            answered[0] += usize::from(answer.contains("additionalContext"));
            let Some(prompt) = self.prompts.get(number % self.prompts.len().max(1)).cloned() else {
                continue;
            };
            self.leave_pending(ANSWERS + number)?;
            let fields = json!({ "session_id": session, "prompt_id": session, "prompt": prompt });
            let input = self.payload(fields);
            let started = Instant::now();
            let answer = self.program.hook(self.home, "UserPromptSubmit", &input)?;
            prompts.push(milliseconds(started.elapsed()));
            answered[1] += usize::from(answer.contains("additionalContext"));
        }
        println!(
            "In {}: {} of {} starts and {} of {} prompts were given something.\n",
            self.directory,
            answered[0],
            starts.len(),
            answered[1],
            prompts.len()
        );
        Ok(vec![
            row("SessionStart, 200 records pending", starts, "median 30, p99 100"),
            row("UserPromptSubmit, 200 records pending", prompts, "median 30, p99 100"),
        ])
    }

    /// Measures the hook before a compaction, on an unread transcript, and the start after it.
    fn compactions(&mut self) -> Result<Vec<Row>> {
        eprintln!("compactions …");
        let project = self.home.join("bench-project");
        fs::create_dir_all(&project)?;
        let (mut kept, mut told, mut whole) = (Vec::new(), Vec::new(), 0);
        for number in 0..COMPACTIONS {
            let session = format!("{number:08x}-0000-4000-8000-{:012x}", std::process::id());
            let transcript = self.home.join(format!("{session}.jsonl"));
            fs::write(&transcript, long_session(&session, &project.to_string_lossy()))?;
            let mut fields = json!({ "session_id": session, "transcript_path": transcript,
                "cwd": project, "trigger": "auto" });
            let input = self.payload(fields.clone());
            kept.push(self.time("PreCompact", &input)?);
            let summary = project.join(".claude/summaries").join(&session).join("summary.md");
            whole += usize::from(summary.exists());
            fields["source"] = json!("compact");
            let input = self.payload(fields);
            told.push(self.time("SessionStart", &input)?);
            fs::remove_file(&transcript)?;
        }
        fs::remove_dir_all(&project)?;
        println!(
            "{whole} of {COMPACTIONS} snapshots were whole, files included, when the hook ended.\n"
        );
        Ok(vec![
            row("PreCompact, new transcript of 4 MB, snapshot and files", kept, "median 300"),
            row("SessionStart (compact)", told, "median 40"),
        ])
    }

    /// Records a session whose end was not recorded, as its hooks would have; all that was before
    /// is brought in first.
    fn leave_pending(&mut self, number: usize) -> Result<()> {
        self.program.run(self.home, Task::Intake)?;
        let layout = Layout::new(self.home);
        let journal = Journal::open(layout.journal(), &self.host)?;
        let redactor = Redactor::builtin();
        let recorder = Recorder { journal: &journal, redactor: &redactor, skip_tools: &[] };
        for _ in 0..PENDING {
            let mut raw: Value = serde_json::from_slice(&self.tool_use(3_000))?;
            raw["session_id"] = json!(format!("bench-pending-{}-{number}", std::process::id()));
            let raw = raw.to_string().into_bytes();
            let input = HookInput::parse(hooks::ADAPTERS[0], "PostToolUse", &raw)?;
            let session = Session::at(&layout, &session_key(&input));
            recorder.record(&input, &raw, &session, SystemClock.now())?;
        }
        Ok(())
    }
}

/// A transcript of about 4 MB.
fn long_session(session: &str, directory: &str) -> String {
    let mut text = String::new();
    let mut number = 0;
    let begun = SystemClock.now() - jiff::SignedDuration::from_hours(8);
    let mut line = |kind: &str, message: Value| {
        number += 1;
        let at = begun + jiff::SignedDuration::from_secs(number);
        let record = json!({
            "type": kind, "uuid": format!("{}-1111-4000-8000-{number:012x}", &session[..8]),
            "sessionId": session, "cwd": directory, "version": "2.1.150", "gitBranch": "main",
            "timestamp": at.to_string(), "isSidechain": false, "message": message,
        });
        text.push_str(&record.to_string());
        text.push('\n');
        (number, text.len())
    };
    let output = "   Compiling rocket v0.1.0 (/home/ada/rocket)\n".repeat(60);
    loop {
        let (turn, _) =
            line("user", json!({ "role": "user", "content": "Please make the valve hold." }));
        for step in 0..6 {
            let file = format!("{directory}/src/valve_{}.rs", (turn + step) % 60);
            let call = match step % 3 {
                0 => ("Bash", json!({ "command": format!("cargo test -p valve_{}", turn % 40) })),
                1 => ("Read", json!({ "file_path": file })),
                _ => (
                    "Edit",
                    json!({ "file_path": file, "old_string": "open", "new_string": format!("fn close_{turn}() {{}}") }),
                ),
            };
            let id = format!("toolu_{}_{turn}_{step}", &session[..8]);
            let said = format!("I decided to close valve {turn} first because it leaks most.");
            let content = json!([
                { "type": "text", "text": said },
                { "type": "tool_use", "id": id, "name": call.0, "input": call.1 },
            ]);
            line("assistant", json!({ "role": "assistant", "model": "m", "content": content }));
            let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": output }]);
            let (_, size) = line("user", json!({ "role": "user", "content": result }));
            if size >= 4_000_000 {
                return text;
            }
        }
    }
}

fn row(name: &'static str, times: Vec<f64>, target: &'static str) -> Row {
    Row { name, times, target }
}

/// The directory whose project has most sessions, and prompts of that project. Without one, the root.
fn place(home: &Path) -> Result<(String, Vec<String>)> {
    let layout = Layout::new(home);
    let Some(store) = Store::open_if_there(&layout)? else { return Ok(("/".into(), Vec::new())) };
    let database = Connection::open(layout.database())?;
    let known = database.query_row(
        "SELECT d.path, s.project FROM sessions s JOIN directories d ON d.project = s.project
         GROUP BY s.project ORDER BY count(DISTINCT s.id) DESC, d.path LIMIT 1",
        [],
        |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)),
    );
    let (directory, project) = match known {
        Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(("/".to_owned(), Vec::new())),
        known => known?,
    };
    let mut sessions = database.prepare("SELECT id FROM sessions WHERE project = ?1")?;
    let sessions: Vec<i64> =
        sessions.query_map([project], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut prompts = Vec::new();
    for session in sessions.iter().rev().take(ANSWERS) {
        for passage in store.passages(PassageFilter::Session(*session))? {
            if passage.kind == PassageKind::Human {
                prompts.push(store.text_of(&passage)?.chars().take(2_000).collect());
                break;
            }
        }
    }
    Ok((directory, prompts))
}
