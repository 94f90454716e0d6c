//! One session after the other, played as hooks and as a file that grows.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use regex::{Captures, Regex};
use serde_json::{Value, json};

use crate::process::Program;
use crate::replay::calls::{Call, Caller};
use crate::replay::{Session, at_time};

/// The sessions to play, and the state shared by all lanes.
#[derive(Clone, Copy)]
pub(super) struct Lane<'a> {
    pub(super) program: &'a Program,
    pub(super) home: &'a Path,
    pub(super) sessions: &'a [Session],
    /// The next session to play.
    pub(super) next: &'a AtomicUsize,
    /// The next mark of an event.
    pub(super) marks: &'a AtomicU64,
    pub(super) over: &'a AtomicBool,
    pub(super) speed: f64,
    pub(super) longest_pause: Duration,
}

/// Counts of what was played.
#[derive(Debug, Default)]
pub(super) struct Played {
    pub(super) sessions: usize,
    pub(super) records: usize,
    /// Milliseconds that hooks took.
    pub(super) hooks: Vec<f64>,
}

impl Played {
    pub(super) fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.records += other.records;
        self.hooks.extend(other.hooks);
    }
}

impl Lane<'_> {
    /// Plays sessions until it is over. Those that were all played are played again as others.
    pub(super) fn play(&self) -> Result<Played> {
        let mut played = Played::default();
        while !self.over.load(Ordering::Acquire) {
            let number = self.next.fetch_add(1, Ordering::AcqRel);
            let session = self.sessions.get(number % self.sessions.len()).context("no session")?;
            self.session(session, number / self.sessions.len(), &mut played)?;
        }
        Ok(played)
    }

    fn session(&self, session: &Session, cycle: usize, played: &mut Played) -> Result<()> {
        let names = Names::new(cycle)?;
        let path = |path: &Path| PathBuf::from(names.of(&path.to_string_lossy()));
        let transcript = path(&session.path);
        let mut caller = Caller::new(&names.of(&session.id), &transcript.to_string_lossy());
        let mut files: BTreeMap<PathBuf, File> = BTreeMap::new();
        let mut last: Option<Timestamp> = None;
        for (file, line) in &session.records {
            if self.over.load(Ordering::Acquire) {
                return Ok(());
            }
            let line = names.of(line);
            let record: Value = serde_json::from_str(&line).unwrap_or_default();
            let at: Option<Timestamp> =
                record["timestamp"].as_str().and_then(|text| text.parse().ok());
            self.wait(last, at);
            last = at.or(last);
            let calls = caller.record(&record);
            self.call(calls.before, played)?;
            let file = match files.entry(path(file)) {
                std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::btree_map::Entry::Vacant(new) => {
                    let path = new.key();
                    fs::create_dir_all(path.parent().context("a file without a folder")?)?;
                    let file = OpenOptions::new().append(true).create(true).open(path)?;
                    new.insert(file)
                }
            };
            file.write_all((at_time(&line, &record, Timestamp::now()) + "\n").as_bytes())?;
            played.records += 1;
            self.call(calls.after, played)?;
        }
        self.call(caller.end(), played)?;
        played.sessions += 1;
        Ok(())
    }

    /// Waits as long as it took from one record to the next, or nearly.
    fn wait(&self, last: Option<Timestamp>, next: Option<Timestamp>) {
        let (Some(last), Some(next)) = (last, next) else { return };
        let seconds = next.duration_since(last).as_secs_f64() / self.speed;
        let pause = Duration::from_secs_f64(seconds.max(0.0)).min(self.longest_pause);
        let until = Instant::now() + pause;
        while !self.over.load(Ordering::Acquire) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(200)));
        }
    }

    fn call(&self, calls: Vec<Call>, played: &mut Played) -> Result<()> {
        for Call { event, mut payload } in calls {
            payload["mark"] = json!(self.marks.fetch_add(1, Ordering::AcqRel));
            let input = serde_json::to_vec(&payload)?;
            let started = Instant::now();
            let child = self.program.start_hook(self.home, event, &input)?;
            let status = child.wait_with_output()?.status;
            ensure!(status.success(), "the hook of {event} ended with {status}");
            played.hooks.push(started.elapsed().as_secs_f64() * 1e3);
        }
        Ok(())
    }
}

/// Gives sessions, records and tool calls other names each time they are played.
struct Names {
    cycle: usize,
    named: Regex,
}

impl Names {
    fn new(cycle: usize) -> Result<Self> {
        let uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
        Ok(Self { cycle, named: Regex::new(&format!(r"\b{uuid}\b|\btoolu_\w+"))? })
    }

    fn of(&self, text: &str) -> String {
        if self.cycle == 0 {
            return text.to_owned();
        }
        let renamed = |found: &Captures<'_>| {
            let name = &found[0];
            match name.get(..4).and_then(|start| u16::from_str_radix(start, 16).ok()) {
                Some(start) => format!("{:04x}{}", start ^ self.cycle as u16, &name[4..]),
                None => format!("{name}c{}", self.cycle),
            }
        };
        self.named.replace_all(text, renamed).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_plays_again_has_another_name() {
        let text = "0123abcd-1111-2222-3333-444455556666 toolu_01Ab, not 0123";
        assert_eq!(Names::new(0).unwrap().of(text), text);
        let again = Names::new(2).unwrap().of(text);
        assert_eq!(again, "0121abcd-1111-2222-3333-444455556666 toolu_01Abc2, not 0123");
    }
}
