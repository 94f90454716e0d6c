//! `replay`: plays real transcripts as the hooks that they came with, and compares what is remembered
//! with what an import of the same transcripts gives, alone and together, in both orders (invariants
//! I-1, I-3 and I-4).

pub(crate) mod calls;
mod compare;
mod rows;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use jiff::Timestamp;
use regex::Regex;
use serde_json::Value;
use thru_agents::agents::discover_path;
use thru_core::SourceKind;

use crate::home::{copy, temporary_directory};
use crate::process::{Program, Task, machine};
use crate::store_dump::{Dump, fingerprint_of_call};
use calls::{Call, Caller, Silent};
use compare::{Known, Tally, compare};

/// Differences that are shown.
const SHOWN: usize = 20;

/// The arguments of `replay`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The program to call
    #[arg(long, value_name = "PATH")]
    thru: PathBuf,
    /// The folder of Claude Code's transcripts
    #[arg(long, value_name = "DIR")]
    transcripts: PathBuf,
    /// Call every hook twice at once, as where it is registered in settings and by a plugin
    #[arg(long)]
    twice: bool,
    /// Leave the homes here, to look at them
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// The records of a session, of all its files, in order of time.
pub(crate) struct Session {
    pub(crate) id: String,
    /// The transcript as Claude Code would name it.
    pub(crate) path: PathBuf,
    /// Each with the file that it is in.
    pub(crate) records: Vec<(PathBuf, String)>,
}

/// The part of a session that was played.
#[derive(Default)]
struct Played {
    calls: BTreeMap<&'static str, usize>,
    silent: HashMap<i64, Silent>,
    unheard: HashSet<String>,
    last_words: Vec<String>,
    absolute: usize,
    /// Its files, every record with the time at which its hooks were called.
    files: BTreeMap<PathBuf, String>,
}

/// Plays, compares and prints tables. Fails where something is different without an explanation.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = temporary_directory()?;
    let at = |name: &str| folder.path().join(name);
    let projects = at("claude/projects/replay");
    fs::create_dir_all(&projects)?;
    let program = Program::new(&arguments.thru, &at("claude"))?;
    let sessions = sessions(&arguments.transcripts, &projects)?;
    ensure!(!sessions.is_empty(), "there are no transcripts");
    println!("{}. {} sessions.\n", machine(), sessions.len());

    let hooks = home(&at("hooks"))?;
    let started = Instant::now();
    let mut played = BTreeMap::new();
    for session in &sessions {
        let told = play(&program, &hooks, session, arguments.twice)?;
        played.insert(session.id.as_str(), told);
    }
    let took = started.elapsed();
    program.run(&hooks, Task::Intake)?;
    program.run(&hooks, Task::Verify)?;
    let hooks_first = at("hooks-first");
    copy(&hooks, &hooks_first)?;

    for (path, content) in played.values().flat_map(|played| &played.files) {
        fs::create_dir_all(path.parent().context("a file without a folder")?)?;
        fs::write(path, content)?;
    }
    let import = home(&at("import"))?;
    program.run(&import, Task::Import)?;

    let mut tally = Tally::default();
    let (told, transcribed) = (rows::of(&hooks)?, rows::of(&import)?);
    for (session, played) in &played {
        let known = Known {
            session,
            silent: &played.silent,
            unheard: &played.unheard,
            last_words: &played.last_words,
        };
        let of = |rows: &BTreeMap<String, Vec<rows::Row>>| {
            rows.get(*session).cloned().unwrap_or_default()
        };
        compare(&of(&told), &of(&transcribed), &known, &mut tally);
    }
    print_calls(&played, took.as_secs_f64());
    print_tally(&tally);

    let wanted = Dump::of(&import)?;
    let mut wrong = tally.unexplained.len();
    let import_first = at("import-first");
    copy(&import, &import_first)?;
    for session in &sessions {
        play(&program, &import_first, session, arguments.twice)?;
    }
    for (name, home) in
        [("hooks, then import", &hooks_first), ("import, then hooks", &import_first)]
    {
        program.run(home, Task::Intake)?;
        program.run(home, Task::Import)?;
        wrong += same(name, home, &wanted)?;
        let before = Dump::of(home)?;
        program.run(home, Task::Rebuild)?;
        program.run(home, Task::Verify)?;
        wrong += differ(&format!("{name}, then rebuild"), &before, home)?;
    }
    // The last home has all: what hooks alone tell must survive a rebuild too.
    let before = Dump::of(&hooks)?;
    program.run(&hooks, Task::Rebuild)?;
    wrong += differ("hooks alone, then rebuild", &before, &hooks)?;
    if let Some(keep) = &arguments.keep {
        let kept = folder.keep();
        fs::rename(&kept, keep).with_context(|| format!("left in {}", kept.display()))?;
    }
    if wrong > 0 {
        bail!("{wrong} differences that nothing explains");
    }
    Ok(())
}

/// An empty home.
fn home(path: &Path) -> Result<PathBuf> {
    fs::create_dir_all(path)?;
    Ok(path.to_owned())
}

/// Returns the sessions to play. A session that two files claim is played from the first.
pub(crate) fn sessions(transcripts: &Path, projects: &Path) -> Result<Vec<Session>> {
    let mut found: BTreeMap<String, Session> = BTreeMap::new();
    let mut seen = HashSet::new();
    for source in discover_path(transcripts).sources {
        let id = source.session.as_str().to_owned();
        let path = projects.join(format!("{id}.jsonl"));
        let target = match source.kind {
            SourceKind::Main => path.clone(),
            SourceKind::Subagent => {
                let name = source.path.file_name().context("a file without a name")?;
                projects.join(&id).join("subagents").join(name)
            }
            _ => continue,
        };
        if !seen.insert(target.clone()) {
            println!("Left out: {} has the session of another file.", source.path.display());
            continue;
        }
        let content = fs::read(&source.path)?;
        let lines =
            String::from_utf8_lossy(&content).lines().map(str::to_owned).collect::<Vec<_>>();
        let session = found.entry(id.clone()).or_insert(Session { id, path, records: Vec::new() });
        session.records.extend(lines.into_iter().map(|line| (target.clone(), line)));
    }
    let time = |line: &str| {
        let record: Value = serde_json::from_str(line).ok()?;
        record.get("timestamp")?.as_str().map(str::to_owned)
    };
    for session in found.values_mut() {
        // Subagents' records come where they happened; records without a time stay where they are.
        if session.records.iter().any(|(path, _)| *path != session.path) {
            let mut last = String::new();
            let mut timed: Vec<(String, (PathBuf, String))> = std::mem::take(&mut session.records)
                .into_iter()
                .map(|record| {
                    last = time(&record.1).unwrap_or_else(|| last.clone());
                    (last.clone(), record)
                })
                .collect();
            timed.sort_by(|a, b| a.0.cmp(&b.0));
            session.records = timed.into_iter().map(|(_, record)| record).collect();
        }
    }
    Ok(found.into_values().collect())
}

/// Calls the hooks of a session, one after the other.
fn play(program: &Program, home: &Path, session: &Session, twice: bool) -> Result<Played> {
    let mut caller = Caller::new(&session.id, &session.path.to_string_lossy());
    let mut played = Played::default();
    for (path, line) in &session.records {
        let record: Value = serde_json::from_str(line).unwrap_or_default();
        let calls = caller.record(&record);
        make(program, home, calls.before, twice, &mut played)?;
        let line = at_time(line, &record, Timestamp::now());
        let _ = writeln!(played.files.entry(path.clone()).or_default(), "{line}");
        make(program, home, calls.after, twice, &mut played)?;
    }
    make(program, home, caller.end(), twice, &mut played)?;
    played.silent =
        caller.silent.into_iter().map(|(id, why)| (fingerprint_of_call(&id), why)).collect();
    played.unheard = caller.unheard.iter().map(|typed| shown(typed)).collect();
    played.absolute = caller.absolute;
    Ok(played)
}

fn make(
    program: &Program,
    home: &Path,
    calls: Vec<Call>,
    twice: bool,
    played: &mut Played,
) -> Result<()> {
    for Call { event, payload } in calls {
        *played.calls.entry(event).or_default() += 1;
        if event == "Stop"
            && let Some(said) = payload["last_assistant_message"].as_str()
        {
            played.last_words.push(said.to_owned());
        }
        let input = serde_json::to_vec(&payload)?;
        let copy = if twice { Some(program.start_hook(home, event, &input)?) } else { None };
        program.hook(home, event, &input)?;
        if let Some(copy) = copy {
            copy.wait_with_output()?;
        }
    }
    Ok(())
}

/// The record as if it had been written now.
pub(crate) fn at_time(line: &str, record: &Value, now: Timestamp) -> String {
    let mut line = line.to_owned();
    let times = [&record["timestamp"], &record["data"]["message"]["timestamp"]];
    for old in times.iter().filter_map(|time| time.as_str()) {
        let name = |time: &str| format!("\"timestamp\":\"{time}\"");
        line = line.replace(&name(old), &name(&now.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()));
    }
    line
}

/// Returns the commands that the user typed at the client itself, as a transcript's reader shows them.
fn shown(typed: &str) -> String {
    let part = |tag: &str| {
        let (_, rest) = typed.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>")).map(|(part, _)| part)
    };
    match part("bash-input") {
        Some(command) => format!("! {command}"),
        None => {
            let (name, arguments) = (part("command-name"), part("command-args"));
            let typed = format!("{} {}", name.unwrap_or_default(), arguments.unwrap_or_default());
            typed.trim().to_owned()
        }
    }
}

/// Compares a home that got hooks and transcripts with one that got transcripts alone.
fn same(name: &str, home: &Path, wanted: &Dump) -> Result<usize> {
    let left: usize = rows::of(home)?.values().flatten().filter(|row| row.is_of_hooks).count();
    println!("{name}: {left} passages of hooks left.");
    for (session, rows) in rows::of(home)? {
        for row in rows.iter().filter(|row| row.is_of_hooks).take(SHOWN) {
            let text: String = row.text.chars().take(70).collect();
            println!("  {session} turn {}: {} {text:?}", row.turn, row.kind);
        }
    }
    Ok(left + differ(name, wanted, home)?)
}

/// Prints where a home differs from what it should be. The times of sessions are left out: a hook is
/// called a moment after or before its record is written.
fn differ(name: &str, wanted: &Dump, home: &Path) -> Result<usize> {
    let times = Regex::new(r#""(first|last)":"[^"]*",?"#)?;
    let plain = |dump: &Dump| dump.map(|line| times.replace_all(line, "").into_owned());
    let differences = plain(&Dump::of(home)?).differences(&plain(wanted), usize::MAX);
    println!("{name}: {} things compared, {} differ.", wanted.len(), differences.len());
    for difference in differences.iter().take(SHOWN) {
        println!("  {difference}");
    }
    Ok(differences.len())
}

fn print_calls(played: &BTreeMap<&str, Played>, took: f64) {
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    for (event, count) in played.values().flat_map(|played| &played.calls) {
        *calls.entry(event).or_default() += count;
    }
    let all: usize = calls.values().sum();
    println!("| event | played |\n|---|---|");
    for (event, count) in calls {
        println!("| {event} | {count} |");
    }
    println!("| all | {all}, in {took:.1} s |\n");
    let absolute: usize = played.values().map(|played| played.absolute).sum();
    println!("{absolute} paths were made absolute, as the client does.\n");
}

fn print_tally(tally: &Tally) {
    println!("| hooks and import | rows |\n|---|---|");
    for (what, count) in &tally.compared {
        println!("| {what} compared | {count} |");
    }
    for (reason, count) in &tally.explained {
        println!("| explained: {reason} | {count} |");
    }
    println!("| unexplained | {} |\n", tally.unexplained.len());
    for difference in tally.unexplained.iter().take(SHOWN) {
        println!("  {difference}");
    }
}
