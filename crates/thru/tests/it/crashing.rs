//! Killed at random moments, then run once to the end: everything is there once (invariants I-1, I-3
//! and I-4). A few rounds; many more are in `thru-bench crash`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use thru_core::Layout;
use thru_journal::journal::{Cursor, Item, Journal};

use crate::dump;
use crate::home::Home;
use crate::records::Author;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// A history of this many sessions of about 100 kB.
fn history(home: &Home, sessions: u64) {
    let words = ["lock", "retry", "budget", "writer", "cursor", "queue", "parser", "index"];
    let mut dice = Dice(0x5eed);
    for session in 1..=sessions {
        let id = format!("{session:08x}-aaaa-4aaa-8aaa-{session:012x}");
        let mut author =
            Author::of(&id).in_directory(&format!("/home/ada/project-{}", session % 5));
        for number in 0..40 {
            let mut text = || -> String {
                (0..120).map(|_| format!("{} ", words[dice.throw(8) as usize])).collect()
            };
            author.asks(&text()).says(&text());
            author.runs(&format!("toolu_{number}"), "make all");
            author.gets(&format!("toolu_{number}"), &text());
        }
        home.write(&format!("projects/-home-ada-project/{id}.jsonl"), author.text());
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), &target).unwrap()),
        }
    }
}

#[test]
fn killed_at_any_moment_nothing_is_lost_and_nothing_comes_twice() {
    let home = Home::new();
    history(&home, 60);
    let started = Instant::now();
    home.thru(&["import"]).expect(0);
    let took = started.elapsed();
    home.thru(&["verify"]).expect(0);
    let wanted = dump::dump(&Layout::new(home.data()));
    let whole = home.folder().join("whole");
    copy(&home.data(), &whole);
    let mut dice = Dice(0xc0ffee);
    for round in 0..5 {
        let rebuilding = round % 2 == 1;
        fs::remove_dir_all(home.data()).unwrap();
        if rebuilding {
            copy(&whole, &home.data());
        }
        let command = if rebuilding { "rebuild" } else { "import" };
        for _ in 0..=dice.throw(3) {
            let mut child =
                home.command().arg(command).stdout(std::process::Stdio::null()).spawn().unwrap();
            let part = dice.throw(1_000) as u32;
            std::thread::sleep(took * part / 1_000 + Duration::from_millis(1));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        home.thru(&[command]).expect(0);
        home.thru(&["verify"]).expect(0);
        let found = dump::dump(&Layout::new(home.data()));
        assert!(found == wanted, "round {round} ({command}) differs");
    }
}

/// Calls a hook, and kills it after a while if it is to die. Says whether it came to its end.
fn call(home: &Home, event: &str, payload: &serde_json::Value, dies: Option<Duration>) -> bool {
    let mut hook = home.command();
    hook.args(["hook", "claude-code", event]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = hook.spawn().unwrap();
    // Who is killed does not read.
    let _ = child.stdin.take().unwrap().write_all(payload.to_string().as_bytes());
    if let Some(life) = dies {
        std::thread::sleep(life);
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
            return false;
        }
    }
    child.wait().unwrap().success()
}

#[test]
fn hooks_killed_at_any_moment_lose_nothing_they_acknowledged() {
    let home = Home::new();
    fs::create_dir_all(home.data()).unwrap();
    let mut dice = Dice(0xdecade);
    let mut acknowledged = BTreeMap::new();
    let started = Instant::now();
    let payload = |mark: u64| {
        json!({
            "session_id": format!("{:08x}-aaaa-4aaa-8aaa-000000000001", mark % 3),
            "cwd": "/home/ada/rocket",
            "tool_name": "Bash",
            "tool_use_id": format!("toolu_{mark}"),
            "tool_input": { "command": format!("make part-{mark}") },
            "tool_response": { "stdout": "line of output\n".repeat(1 << (mark % 12)) },
        })
    };
    assert!(call(&home, "PostToolUse", &payload(0), None));
    let took = started.elapsed();
    acknowledged.insert(0, true);
    for round in 0..5 {
        // Two sessions and an intake, all at once.
        let lives: Vec<Option<Duration>> = (0..8)
            .map(|_| (dice.throw(2) == 0).then(|| took * dice.throw(1_500) as u32 / 1_000))
            .collect();
        let life = took * dice.throw(3_000) as u32 / 1_000;
        let (home, payload) = (&home, &payload);
        std::thread::scope(|scope| {
            let hooks: Vec<_> = lives
                .chunks(4)
                .enumerate()
                .map(|(half, lives)| {
                    scope.spawn(move || {
                        let marks = (1 + round * 8 + half as u64 * 4)..;
                        marks
                            .zip(lives)
                            .map(|(mark, life)| {
                                (mark, call(home, "PostToolUse", &payload(mark), *life))
                            })
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            let mut intake = home.command().arg("intake").spawn().unwrap();
            std::thread::sleep(life);
            intake.kill().unwrap();
            intake.wait().unwrap();
            acknowledged.extend(hooks.into_iter().flat_map(|hook| hook.join().unwrap()));
        });
    }
    home.thru(&["intake"]).expect(0);
    let layout = Layout::new(home.data());
    let mut recorded: BTreeMap<u64, usize> = BTreeMap::new();
    for item in Journal::open(layout.journal(), "test").unwrap().stream(Cursor::default()).unwrap()
    {
        // What a kill cut in two is no record.
        let Item::Entry(stored) = item.unwrap() else { continue };
        let Some(call) = stored.body["payload"]["tool_use_id"].as_str() else { continue };
        *recorded.entry(call.strip_prefix("toolu_").unwrap().parse().unwrap()).or_default() += 1;
    }
    let database = rusqlite::Connection::open(layout.database()).unwrap();
    for (mark, acknowledged) in acknowledged {
        let records = recorded.get(&mark).copied().unwrap_or(0);
        assert!(records <= 1 && (records == 1 || !acknowledged), "{mark}: {records} records");
        for sql in [
            "SELECT count(*) FROM events e JOIN passages p ON p.fingerprint = e.fingerprint
             WHERE p.command = ?1",
            "SELECT count(*) FROM passages WHERE command = ?1",
        ] {
            let command = format!("make part-{mark}");
            let rows: usize = database.query_row(sql, [command], |row| row.get(0)).unwrap();
            assert_eq!(rows, records, "{mark}");
        }
    }
    // A rebuild replaces a store that no other process has open.
    drop(database);
    let settled = dump::dump(&layout);
    home.thru(&["rebuild"]).expect(0);
    assert_eq!(dump::dump(&layout), settled);
}
