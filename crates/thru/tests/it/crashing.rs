//! Killed at random moments, then run once to the end: everything is there once (invariants I-1, I-3
//! and I-4). A few rounds; many more are in `thru-bench crash`.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use thru_core::Layout;

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
