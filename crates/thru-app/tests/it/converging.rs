//! Two machines over one vault: what people write, what memory learns, and folders that a program carries over late, in
//! any order and with conflict copies.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::time::{Duration, SystemTime};

use jiff::SignedDuration;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use thru_app::vault::{Following, Look, SyncVault, compact, resolve, sync, unarchive};
use thru_core::{Clock, SystemClock};
use thru_vault::Note;

use crate::home::call;
use crate::records::{ONE, TWO, file};
use crate::vaulted::{Vaulted, decided, files};

const THREE: &str = "33333333-cccc-4ccc-8ccc-000000000003";

/// Something that happens on a machine. Numbers choose a note, and a line in it.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Vault and memory are brought together.
    Sync,
    /// The daemon does so: it looks at every file, or at the notes of new sessions only.
    Follow(Look),
    /// A session goes on.
    Continue,
    /// A file, or all of them, reach the other machine.
    Carry(usize),
    CarryAll,
    /// A person writes.
    Edit(usize, usize),
    Tell(usize),
    Prose(usize),
    Tick(usize, usize),
    Remove(usize, usize),
    Move(usize),
    Property(usize),
    /// Memory learns something, outside of the vault.
    Remember,
    Compact(usize),
    Unarchive(usize),
    /// Conflict copies are merged.
    Resolve,
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let (note, line) = (0usize..12, 0usize..40);
    let step = prop_oneof![
        4 => Just(Step::Sync),
        2 => Just(Step::Follow(Look::Sessions)),
        1 => Just(Step::Follow(Look::Everywhere)),
        1 => Just(Step::Continue),
        4 => note.clone().prop_map(Step::Carry),
        2 => Just(Step::CarryAll),
        4 => (note.clone(), line.clone()).prop_map(|(note, line)| Step::Edit(note, line)),
        3 => note.clone().prop_map(Step::Tell),
        2 => note.clone().prop_map(Step::Prose),
        1 => (note.clone(), line.clone()).prop_map(|(note, line)| Step::Tick(note, line)),
        1 => (note.clone(), line).prop_map(|(note, line)| Step::Remove(note, line)),
        1 => note.clone().prop_map(Step::Move),
        1 => note.prop_map(Step::Property),
        1 => Just(Step::Remember),
        1 => (0usize..3).prop_map(Step::Compact),
        1 => (0usize..3).prop_map(Step::Unarchive),
        1 => Just(Step::Resolve),
    ];
    (0usize..2, step)
}

/// A line of ours: its text, the same with all that is nested in it, and its box.
struct Chosen {
    text: Range<usize>,
    whole: Range<usize>,
    task: Option<(usize, char)>,
}

/// The files of a vault, by path.
type Files = BTreeMap<String, String>;

struct World {
    machines: [Vaulted; 2],
    /// The daemons of both.
    following: [Following; 2],
    /// The turns that were added to the session that each has alone.
    turns: [usize; 2],
    /// Each file as both machines had it last.
    common: Files,
    /// Marks that people or memory wrote and that no person took away.
    marks: BTreeSet<String>,
    next: usize,
}

impl World {
    fn new() -> Self {
        let machine = |own: &str| {
            let mut machine = Vaulted::of(&[(ONE, decided(ONE)), (own, decided(own))]);
            // Later than anything that is written here, so that no note has to rest.
            machine.now = SystemClock.now() + SignedDuration::from_hours(1);
            machine.home.set(&[("vault.compact_days", "3650")]);
            machine
        };
        Self {
            machines: [machine(TWO), machine(THREE)],
            following: Default::default(),
            turns: [0, 0],
            common: Files::new(),
            marks: BTreeSet::new(),
            next: 0,
        }
    }

    fn files(&self, machine: usize) -> Files {
        let root = self.machines[machine].folder();
        let relative = files(&root).into_iter().map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path.strip_prefix(&root).unwrap().to_string_lossy().into_owned(), text)
        });
        relative.collect()
    }

    /// Writes a file as another program does. No two writes have the same time.
    fn write(&mut self, machine: usize, path: &str, text: Option<&str>) {
        let path = self.machines[machine].folder().join(path);
        let Some(text) = text else { return fs::remove_file(path).unwrap() };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.next += 1;
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + self.next as u64);
        fs::File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
    }

    fn mark(&mut self, what: &str) -> String {
        self.next += 1;
        let mark = format!("{what}{}x", self.next);
        self.marks.insert(mark.clone());
        mark
    }

    /// A person took this text away, or wrote something else in its place.
    fn gone(&mut self, text: &str) {
        self.marks.retain(|mark| !text.contains(mark.as_str()));
    }

    /// Carries a file to the other machine, as programs do that keep folders the same.
    fn carry(&mut self, from: usize, path: &str) {
        let to = 1 - from;
        let read = |machine| {
            let path = World::folder(&self.machines, machine).join(path);
            fs::read_to_string(path).ok()
        };
        let (ours, theirs) = (read(from), read(to));
        let common = self.common.get(path).cloned();
        if ours == common && ours != theirs {
            return;
        }
        if ours != theirs {
            match (&ours, &theirs) {
                _ if theirs == common => self.write(to, path, ours.as_deref()),
                (Some(_), None) => self.write(to, path, ours.as_deref()),
                // What was changed outlives a removal.
                (None, _) => {}
                (Some(_), Some(other)) => {
                    self.next += 1;
                    let stem = path.rsplit_once('.').unwrap().0;
                    let copy = format!("{stem}.sync-conflict-20260301-{:06}-ABCDEFG.md", self.next);
                    self.write(to, &copy, Some(other));
                    self.write(to, path, ours.as_deref());
                }
            }
        }
        match ours {
            Some(text) => self.common.insert(path.to_owned(), text),
            None => self.common.remove(path),
        };
    }

    fn folder(machines: &[Vaulted; 2], machine: usize) -> std::path::PathBuf {
        machines[machine].folder()
    }

    fn carry_all(&mut self, from: usize) {
        let paths: BTreeSet<String> =
            self.files(0).into_keys().chain(self.files(1).into_keys()).collect();
        for path in paths {
            self.carry(from, &path);
        }
    }

    fn sync(&self, machine: usize) {
        let vaulted = &self.machines[machine];
        if vaulted.sync().loss.is_some() {
            let request = SyncVault { accept: true, ..SyncVault::default() };
            sync(&vaulted.app(), &request, call()).unwrap();
        }
    }

    /// Chooses a note that is no copy.
    fn note(&self, machine: usize, number: usize) -> Option<(String, String)> {
        let notes: Vec<_> = self
            .files(machine)
            .into_iter()
            .filter(|(path, _)| path.ends_with(".md") && !path.contains("sync-conflict"))
            .collect();
        (!notes.is_empty()).then(|| notes[number % notes.len()].clone())
    }

    /// Changes a line of ours in a note.
    fn line(
        &mut self,
        machine: usize,
        (number, line): (usize, usize),
        change: impl FnOnce(&mut Self, &str, Chosen) -> String,
    ) {
        let Some((path, text)) = self.note(machine, number) else { return };
        let note = Note::parse(&text);
        let lines: Vec<_> = note.own_lines().filter(|(_, line)| !line.is_quoted).collect();
        if lines.is_empty() {
            return;
        }
        let (_, line) = lines[line % lines.len()];
        let chosen = Chosen { text: line.text.clone(), whole: line.whole.clone(), task: line.task };
        let changed = change(self, &text, chosen);
        self.write(machine, &path, Some(&changed));
    }

    /// Lets the session of one machine go on.
    fn go_on(&mut self, machine: usize) {
        let session = [TWO, THREE][machine];
        let mut author = decided(session);
        self.turns[machine] += 1;
        for turn in 0..self.turns[machine] {
            author
                .asks(&format!("Let's use one lock file for each part{turn}, not a global lock."));
            author.says("Agreed.");
        }
        let vaulted = &self.machines[machine];
        vaulted.home.write(&file(session), author.text());
        vaulted.home.import();
    }

    fn step(&mut self, machine: usize, step: Step) {
        match step {
            Step::Sync => self.sync(machine),
            Step::Follow(look) => {
                let app = self.machines[machine].app();
                self.following[machine].sync(&app, look, call()).unwrap();
            }
            Step::Continue => self.go_on(machine),
            Step::Carry(number) => {
                if let Some((path, _)) = self.note(machine, number) {
                    self.carry(machine, &path);
                }
            }
            Step::CarryAll => self.carry_all(machine),
            Step::Edit(note, line) => self.line(machine, (note, line), |world, text, line| {
                world.gone(&text[line.text.clone()]);
                let mark = world.mark("edited");
                replaced(text, line.text.clone(), &format!("one word is {mark}"))
            }),
            Step::Tick(note, line) => self.line(machine, (note, line), |_, text, line| {
                let Some((at, mark)) = line.task else { return text.to_owned() };
                replaced(text, at..at + mark.len_utf8(), "x")
            }),
            Step::Remove(note, line) => self.line(machine, (note, line), |world, text, line| {
                world.gone(&text[line.whole.clone()]);
                replaced(text, line.whole.clone(), "")
            }),
            Step::Tell(number) => {
                let Some((path, text)) = self.note(machine, number) else { return };
                let heading = ["## Decisions Made\n", "## Key Decisions\n", "## Preferences\n"];
                let Some(heading) = heading.into_iter().find(|one| text.contains(one)) else {
                    return;
                };
                let mark = self.mark("told");
                let text = text.replacen(heading, &format!("{heading}- a word is {mark}\n"), 1);
                self.write(machine, &path, Some(&text));
            }
            Step::Prose(number) => {
                let Some((path, text)) = self.note(machine, number) else { return };
                let mark = self.mark("prose");
                self.write(machine, &path, Some(&format!("{text}\nSome {mark} words.\n")));
            }
            Step::Property(number) => {
                let Some((path, text)) = self.note(machine, number) else { return };
                let mark = self.mark("property");
                let text = text.replacen("---\n", &format!("---\n{mark}: {mark}\n"), 1);
                self.write(machine, &path, Some(&text));
            }
            Step::Move(number) => {
                let Some((path, text)) = self.note(machine, number) else { return };
                self.next += 1;
                let to = format!("moved/note {}.md", self.next);
                self.write(machine, &path, None);
                self.write(machine, &to, Some(&text));
            }
            Step::Remember => {
                let mark = self.mark("remembered");
                self.machines[machine].home.remember(&format!("The word is {mark}"));
            }
            Step::Compact(session) => {
                let session = [ONE, TWO, THREE][session];
                // That of the other machine is not known here.
                let _ = compact(&self.machines[machine].app(), session, call());
            }
            Step::Unarchive(session) => {
                let session = [ONE, TWO, THREE][session];
                let _ = unarchive(&self.machines[machine].app(), session, call());
            }
            Step::Resolve => {
                let _ = resolve(&self.machines[machine].app(), call());
            }
        }
    }

    /// Lets everything reach both machines. Returns the vault that both have then, if they come to one.
    fn settle(&mut self) -> Result<Files, String> {
        let mut last = None;
        let mut differing = BTreeMap::new();
        for _ in 0..12 {
            for machine in 0..2 {
                self.sync(machine);
                self.carry_all(machine);
                self.carry_all(1 - machine);
                resolve(&self.machines[machine].app(), call()).unwrap();
                self.carry_all(machine);
                self.carry_all(1 - machine);
            }
            let both = (self.files(0), self.files(1));
            if both.0 == both.1 && last.as_ref() == Some(&both) {
                return Ok(both.0);
            }
            differing = differences(&both.0, last.as_ref().map_or(&both.1, |last| &last.0));
            last = Some(both);
        }
        Err(format!("{differing:#?}"))
    }

    /// Lets everything reach both machines, and returns what went wrong.
    fn ending(&mut self) -> Result<(), String> {
        let vault = self.settle()?;
        let all: String = vault.values().map(String::as_str).collect();
        let lost: Vec<&String> = self.marks.iter().filter(|mark| !all.contains(*mark)).collect();
        match lost.is_empty() {
            true => Ok(()),
            false => Err(format!("{lost:?} lost from {vault:#?}")),
        }
    }
}

fn differences(one: &Files, two: &Files) -> BTreeMap<String, (Option<String>, Option<String>)> {
    let paths: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
    let differing = paths.into_iter().filter(|path| one.get(*path) != two.get(*path));
    differing.map(|path| (path.clone(), (one.get(path).cloned(), two.get(path).cloned()))).collect()
}

fn replaced(text: &str, range: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

/// One memory stands in several notes. Of two people who write other words in its place, each in another note, none loses a
/// word, be it on one machine or on two, and there before or after each has taken in its own.
#[test]
fn a_line_that_two_notes_show_is_edited_in_both_at_once() {
    for (other, is_carried) in [(0, false), (1, false), (1, true)] {
        let mut world = World::new();
        world.step(0, Step::Compact(0));
        world.settle().unwrap();
        let files = world.files(0);
        let (_, note) = files.iter().find(|(path, _)| path.contains("archive/sessions/")).unwrap();
        let line = note.lines().find(|line| line.starts_with("- [decision]")).unwrap();
        let id = line.rsplit(" ^t-").next().unwrap();
        let mut edited = Vec::new();
        for (machine, part) in [(0, "archive/sessions/"), (other, "entities/")] {
            let mut files = world.files(machine).into_iter();
            let (path, text) =
                files.find(|(path, text)| path.contains(part) && text.contains(id)).unwrap();
            let mark = world.mark("edited");
            let text = text.replace(&format!(" ^t-{id}"), &format!(" {mark} ^t-{id}"));
            world.write(machine, &path, Some(&text));
            edited.push((machine, path));
        }
        for (machine, path) in edited.into_iter().filter(|_| is_carried) {
            world.carry(machine, &path);
        }
        assert_eq!(world.ending(), Ok(()), "on {other}, {is_carried}");
    }
}

/// Plays steps, and returns what went wrong.
fn play(steps: &[(usize, Step)]) -> Result<(), String> {
    let mut world = World::new();
    for (machine, step) in steps {
        world.step(*machine, *step);
    }
    world.ending()
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    prop::collection::vec(step(), 1..40)
}

/// A few cases, the same in every run.
#[test]
fn two_machines_come_to_one_vault_and_lose_no_line() {
    let config = ProptestConfig {
        cases: 4,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(23),
        ..ProptestConfig::default()
    };
    converge(config);
}

/// As many as `PROPTEST_CASES` says, others in each run.
#[test]
#[ignore = "takes minutes"]
fn two_machines_come_to_one_vault_in_many_cases() {
    converge(ProptestConfig { max_shrink_iters: 80, ..ProptestConfig::default() });
}

fn converge(config: ProptestConfig) {
    let outcome =
        TestRunner::new(config).run(&steps(), |steps| play(&steps).map_err(TestCaseError::fail));
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
