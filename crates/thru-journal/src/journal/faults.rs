//! The journal after a power cut, or the failure of an operation, at any of its steps.
//!
//! A scenario with everything in it (appends with and without sync, segments that follow each other, a
//! spill, sealing, rewriting) runs on a disk that records what was synced. A first run counts its
//! steps; then, for every step, another run ends there or fails there, and the contents of the disk are
//! opened again.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use thru_core::Timestamp;
use thru_redact::{Clean, Redactor, Report};

use super::disk::{self, Disk};
use super::{Change, Cursor, Durability, Entry, Item, Journal, scan, segment};
use crate::error::{Error, Result};

/// The contents of a directory: files by name.
type Image = BTreeMap<String, Vec<u8>>;

/// A disk in a real directory that knows what a power cut would leave of it.
#[derive(Debug, Default)]
struct Faulty {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    steps: u64,
    /// The step that fails, or before which the power is cut.
    fault: Option<(u64, Fault)>,
    /// Every file that ever existed, by its inode. Kept open, so that no inode is used twice.
    files: HashMap<u64, File>,
    /// The synced content of each file.
    contents: HashMap<u64, Vec<u8>>,
    /// The synced names, and their inodes.
    names: BTreeMap<String, u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    PowerCut,
    Fails(io::ErrorKind),
}

impl Faulty {
    fn with(fault: Option<(u64, Fault)>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { fault, ..State::default() }) })
    }

    /// Counts a step; returns its result.
    fn step(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.steps += 1;
        match state.fault {
            Some((at, Fault::PowerCut)) if state.steps >= at => Err(io::Error::other("no power")),
            Some((at, Fault::Fails(kind))) if state.steps == at => Err(kind.into()),
            _ => Ok(()),
        }
    }

    fn note(&self, path: &Path, file: &File) {
        let file = (inode(file), File::open(path).unwrap());
        self.state.lock().unwrap().files.entry(file.0).or_insert(file.1);
    }

    /// Returns the possible contents after a power cut now: of what was not synced nothing, all, or a
    /// part.
    fn images(&self, dir: &Path) -> HashSet<Image> {
        let state = self.state.lock().unwrap();
        let (synced, live) = (&state.names, names(dir));
        let all: BTreeSet<&String> = synced.keys().chain(live.keys()).collect();
        let changed: Vec<&String> =
            all.into_iter().filter(|name| synced.get(*name) != live.get(*name)).collect();
        let mut choices = vec![synced.clone(), live.clone()];
        for name in changed {
            choices.push(with_name_of(synced, name, &live));
            choices.push(with_name_of(&live, name, synced));
        }
        let mut images = HashSet::new();
        for names in choices {
            for part in [0, 1, 2] {
                let content = |inode: &u64| {
                    let synced = state.contents.get(inode).cloned().unwrap_or_default();
                    let live = content_of(&state.files[inode]);
                    match live.strip_prefix(synced.as_slice()) {
                        Some(more) => [&synced, &more[..more.len() * part / 2]].concat(),
                        None if part == 0 => synced,
                        None => live,
                    }
                };
                images.insert(names.iter().map(|(n, inode)| (n.clone(), content(inode))).collect());
            }
        }
        images
    }
}

impl Disk for Faulty {
    fn open(&self, path: &Path) -> io::Result<File> {
        self.step()?;
        let file = disk::System.open(path)?;
        self.note(path, &file);
        Ok(file)
    }

    fn create_new(&self, path: &Path) -> io::Result<File> {
        self.step()?;
        let file = disk::System.create_new(path)?;
        self.note(path, &file);
        Ok(file)
    }

    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        let result = self.step();
        // A failed write has written a part.
        let end = if result.is_ok() { bytes.len() } else { bytes.len() / 2 };
        file.write_all(&bytes[..end]).and(result)
    }

    fn cut(&self, file: &File, len: u64) -> io::Result<()> {
        self.step()?;
        disk::System.cut(file, len)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.step()?;
        let mut state = self.state.lock().unwrap();
        let content = content_of(&state.files[&inode(file)]);
        state.contents.insert(inode(file), content);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        disk::System.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        disk::System.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        self.step().map_err(|error| Error::io(path, error))?;
        self.state.lock().unwrap().names = names(path);
        Ok(())
    }
}

/// A disk that never syncs: for journals that are only inspected.
#[derive(Debug)]
struct Hasty;

impl Disk for Hasty {
    fn sync(&self, _: &File) -> io::Result<()> {
        Ok(())
    }

    fn sync_dir(&self, _: &Path) -> Result<()> {
        Ok(())
    }
}

fn inode(file: &File) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&file.metadata().unwrap())
}

fn content_of(file: &File) -> Vec<u8> {
    let mut content = vec![0; usize::try_from(file.metadata().unwrap().len()).unwrap()];
    crate::files::read_exact_at(file, &mut content, 0).unwrap();
    content
}

fn names(dir: &Path) -> BTreeMap<String, u64> {
    let name = |item: io::Result<fs::DirEntry>| {
        let item = item.unwrap();
        let name = item.file_name().into_string().unwrap();
        (name, std::os::unix::fs::MetadataExt::ino(&item.metadata().unwrap()))
    };
    fs::read_dir(dir).unwrap().map(name).collect()
}

/// Returns the names, with one of them as it is in `others`.
fn with_name_of(
    names: &BTreeMap<String, u64>,
    name: &String,
    others: &BTreeMap<String, u64>,
) -> BTreeMap<String, u64> {
    let mut names = names.clone();
    match others.get(name) {
        Some(&inode) => _ = names.insert(name.clone(), inode),
        None => _ = names.remove(name),
    }
    names
}

/// The results of the operations in the scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Told {
    /// The acknowledged keys, with their durability.
    acknowledged: BTreeMap<String, Durability>,
    /// The keys that could not be recorded.
    refused: BTreeSet<String>,
    errors: u64,
    /// The number of refused keys that were appended again. If only the sync of the first attempt
    /// failed, the key occurs twice.
    repeated: u64,
    rewriting: bool,
    rewritten: bool,
}

const REMOVED: &str = "removed";
const REPLACED: &str = "replaced";
const SECRET: &str = "the word that has to go";

fn open(dir: &Path, disk: Arc<dyn Disk>) -> Journal {
    let journal = Journal::open(dir, "h").unwrap().with_segment_limit(450);
    Journal { disk, ..journal.with_lock_patience(Duration::ZERO) }
}

fn body(key: &str) -> Clean<Value> {
    let text = if [REMOVED, REPLACED].contains(&key) { SECRET } else { "anything" };
    clean(json!({ "of": key, "text": text }))
}

fn clean(body: Value) -> Clean<Value> {
    Redactor::builtin().clean_value(body, &mut Report::default())
}

fn entry(key: &str) -> Entry {
    let at = Timestamp::from_second(1_700_000_000).unwrap();
    Entry { key: key.to_owned(), at, kind: "noted".to_owned(), body: body(key) }
}

impl Told {
    fn append(&mut self, journal: &Journal, key: &str, durability: Durability) {
        match journal.append(&entry(key), durability) {
            Ok(()) => _ = self.acknowledged.insert(key.to_owned(), durability),
            Err(_) => {
                self.refused.insert(key.to_owned());
                self.errors += 1;
            }
        }
    }

    fn seal(&mut self, journal: &Journal) {
        self.errors += u64::from(journal.seal().is_err());
    }

    fn rewrite(&mut self, journal: &Journal) {
        self.rewriting = true;
        let rewritten = journal.rewrite(&mut |stored| match stored.key.as_str() {
            REMOVED => Change::Remove,
            REPLACED => Change::Replace(clean(json!({ "of": REPLACED, "text": "gone" }))),
            _ => Change::Keep,
        });
        self.rewritten |= rewritten.is_ok();
        self.errors += u64::from(rewritten.is_err());
    }

    /// Performs every operation of the journal.
    fn scenario(&mut self, journal: &Journal) {
        use Durability::{Buffered, Synced};
        for n in 0..4 {
            self.append(journal, &format!("synced {n}"), Synced);
            self.append(journal, &format!("buffered {n}"), Buffered);
        }
        self.append(journal, REMOVED, Synced);
        let newest = segment::newest(&journal.dir, "h").unwrap();
        if let Ok(held) = File::open(journal.dir.join(segment::name("h", newest))) {
            held.lock().unwrap();
            self.append(journal, "spilled 1", Synced);
            self.append(journal, REPLACED, Buffered);
            self.append(journal, "spilled 2", Synced);
        }
        self.append(journal, "behind the spill", Buffered);
        self.seal(journal);
        self.append(journal, "behind the sealing", Synced);
        self.rewrite(journal);
        self.append(journal, "behind the rewriting", Synced);
        self.append(journal, "last", Synced);
        self.seal(journal);
    }

    /// True if a record must exist: it was acknowledged, and not removed.
    fn expects(&self, key: &str, durability: &[Durability]) -> bool {
        let acknowledged = self.acknowledged.get(key).is_some_and(|d| durability.contains(d));
        acknowledged && !(self.rewriting && key == REMOVED)
    }

    /// Checks the invariants of a journal after any failure. Returns true if it is damaged.
    fn check(&self, journal: &Journal, durability: &[Durability]) -> bool {
        let found = journal.verify().unwrap();
        assert!(found.duplicates <= self.repeated, "{found:?}");
        let replay = journal.replay().unwrap();
        let mut missing: BTreeSet<&String> =
            self.acknowledged.keys().filter(|key| self.expects(key, durability)).collect();
        for stored in &replay.entries {
            missing.remove(&stored.key);
            let known = self.acknowledged.contains_key(&stored.key)
                || self.refused.contains(&stored.key)
                || stored.key.starts_with("afterwards");
            assert!(known, "{} was invented", stored.key);
            let unchanged = stored.body == *body(&stored.key).get();
            let replaced = self.rewriting && stored.body["text"] == "gone";
            assert!(unchanged || (replaced && stored.key == REPLACED), "{stored:?}");
        }
        assert!(missing.is_empty(), "lost: {missing:?}\n{:?}", names(&journal.dir).keys());
        if self.rewritten {
            for listed in segment::list(&journal.dir).unwrap() {
                let path = journal.dir.join(&listed.name);
                let (bytes, _) = scan::read_whole(&path).unwrap().unwrap();
                let plain = fs::read(&path).unwrap_or_default();
                for bytes in [bytes, plain] {
                    assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{listed:?}");
                }
            }
        }
        !found.problems.is_empty()
    }
}

/// Runs the scenario; returns its results, and its disk.
fn run(dir: &Path, fault: Option<(u64, Fault)>) -> (Told, Arc<Faulty>) {
    let disk = Faulty::with(fault);
    let mut told = Told::default();
    told.scenario(&open(dir, disk.clone()));
    (told, disk)
}

fn steps_of_the_scenario() -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let (told, disk) = run(dir.path(), None);
    assert_eq!((told.errors, told.rewritten), (0, true));
    assert!(!told.check(&open(dir.path(), Arc::new(Hasty)), &[Durability::Buffered]));
    disk.state.lock().unwrap().steps
}

#[test]
fn a_power_cut_at_any_step_loses_nothing_that_was_synced() {
    let mut checked = HashSet::new();
    for step in 1..=steps_of_the_scenario() + 1 {
        let dir = tempfile::tempdir().unwrap();
        let (told, disk) = run(dir.path(), Some((step, Fault::PowerCut)));
        for image in disk.images(dir.path()) {
            // The number of failed steps after the cut makes no difference.
            let acknowledged = Told { errors: 0, refused: BTreeSet::new(), ..told.clone() };
            if !checked.insert((image.clone(), acknowledged)) {
                continue;
            }
            let after = tempfile::tempdir().unwrap();
            for (name, content) in &image {
                fs::write(after.path().join(name), content).unwrap();
            }
            let journal = open(after.path(), Arc::new(Hasty));
            told.check(&journal, &[Durability::Synced]);
            // The journal continues from there.
            let before = journal.replay().unwrap();
            journal.append(&entry("afterwards 1"), Durability::Buffered).unwrap();
            journal.seal().unwrap();
            journal.append(&entry("afterwards 2"), Durability::Buffered).unwrap();
            told.check(&journal, &[Durability::Synced]);
            let read_on: Vec<String> = keys(&journal, before.cursor);
            assert_eq!(read_on, ["afterwards 1", "afterwards 2"], "step {step}");
            let whole = keys(&journal, Cursor::default());
            assert_eq!(whole.len(), before.entries.len() + 2, "step {step}");
        }
    }
    assert!(checked.len() > 100, "{}", checked.len());
}

#[test]
fn an_error_at_any_step_is_said_and_loses_nothing() {
    for step in 1..=steps_of_the_scenario() {
        let dir = tempfile::tempdir().unwrap();
        let (mut told, disk) =
            run(dir.path(), Some((step, Fault::Fails(io::ErrorKind::StorageFull))));
        assert!(told.errors > 0, "the error of step {step} was lost");
        let journal = open(dir.path(), disk);
        let both = [Durability::Buffered, Durability::Synced];
        assert!(!told.check(&journal, &both), "step {step}");
        // A failed operation succeeds when it is repeated.
        let before = told.errors;
        for key in told.refused.clone() {
            told.append(&journal, &key, Durability::Synced);
            told.repeated += 1;
        }
        told.rewrite(&journal);
        assert_eq!(told.errors, before);
        assert!(!told.check(&journal, &both), "step {step}");
        assert!(names(dir.path()).keys().all(|name| !name.contains(".tmp-")));
    }
}

fn keys(journal: &Journal, cursor: Cursor) -> Vec<String> {
    let items = journal.stream(cursor).unwrap();
    let entry = |item: Result<Item>| match item.unwrap() {
        Item::Entry(entry) => Some(entry.key),
        Item::Problem(_) => None,
    };
    items.filter_map(entry).collect()
}
