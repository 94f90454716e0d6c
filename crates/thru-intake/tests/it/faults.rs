//! Files and disks that fail in the middle: what can be read is read, the rest is reported.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::Duration;

use crate::machine::{Machine, assert_same};
use crate::records::{Author, ONE, TWO, conversation, file};

#[test]
fn a_file_that_vanishes_before_it_is_read_is_reported_and_the_others_go_on() {
    let machine = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        (&file(TWO), &conversation(TWO).text()),
    ]);
    let plan = machine.plan();
    machine.remove(&file(ONE));
    let report = machine.carry_out(plan, &AtomicBool::new(false)).unwrap();
    assert_eq!(report.problems.len(), 1);
    assert!(report.problems[0].path.ends_with(format!("{ONE}.jsonl")));
    let whole = Machine::with([(&file(TWO), &conversation(TWO).text())]);
    whole.import();
    machine.assert_same_as(&whole);
    machine.assert_sound();
}

#[test]
fn a_file_that_cannot_be_read_is_reported_and_read_when_it_can() {
    let machine = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        (&file(TWO), &conversation(TWO).text()),
    ]);
    let plan = machine.plan();
    // A folder in its place cannot be read as a file, not even by root.
    machine.remove(&file(ONE));
    fs::create_dir(machine.claude().join(file(ONE))).unwrap();
    let report = machine.carry_out(plan, &AtomicBool::new(false)).unwrap();
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    assert!(report.problems[0].message.contains(ONE), "{:?}", report.problems);
    fs::remove_dir(machine.claude().join(file(ONE))).unwrap();
    machine.write(&file(ONE), conversation(ONE).text());
    assert_eq!(machine.import().problems, []);
    let whole = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        (&file(TWO), &conversation(TWO).text()),
    ]);
    whole.import();
    machine.assert_same_as(&whole);
}

#[cfg(unix)]
#[test]
fn links_in_a_circle_end() {
    use std::os::unix::fs::symlink;
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    let projects = machine.claude().join("projects");
    symlink(&projects, projects.join("-home-ada-rocket").join("loop")).unwrap();
    symlink(&projects, projects.join("again")).unwrap();
    symlink("nowhere", projects.join("-home-ada-rocket").join(format!("{TWO}.jsonl"))).unwrap();
    machine.import();
    let whole = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    whole.import();
    machine.assert_same_as(&whole);
    let walked = Machine::new();
    walked.import_paths(&[&projects]);
    walked.assert_same_as(&whole);
}

#[test]
fn a_second_import_waits_for_the_first() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    let (asked, heard) = mpsc::channel();
    std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            let intake = machine.intake();
            let _lock = intake.lock(&mut |holder| asked.send(holder).is_ok()).unwrap();
        });
        let holder = heard.recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!(holder, Some(std::process::id()));
        drop(lock);
        second.join().unwrap();
    });
}

#[test]
fn who_does_not_want_to_wait_is_told_who_is_at_work() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    let error = machine.intake().lock(&mut |_| false).unwrap_err();
    let expected =
        format!("another `thru` is writing to this memory (process {})", std::process::id());
    assert_eq!(error.to_string(), expected);
    drop(lock);
    machine.intake().lock(&mut |_| false).unwrap();
}

#[test]
fn two_imports_at_once_give_what_one_gives() {
    let machine = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        (&file(TWO), &conversation(TWO).text()),
    ]);
    // Both planned before either has read anything.
    let plans = [machine.plan(), machine.plan()];
    std::thread::scope(|scope| {
        for plan in plans {
            scope.spawn(|| {
                let intake = machine.intake();
                let lock = intake.lock(&mut |_| true).unwrap();
                let never = AtomicBool::new(false);
                intake
                    .import(
                        &lock,
                        plan,
                        &thru_intake::ImportOptions::whole(&|_| false),
                        &never,
                        &mut |_, _, _| {},
                        &mut |_| {},
                    )
                    .unwrap();
            });
        }
    });
    let whole = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        (&file(TWO), &conversation(TWO).text()),
    ]);
    whole.import();
    machine.assert_same_as(&whole);
    machine.assert_sound();
}

fn long(session: &str) -> String {
    let mut author = Author::of(session);
    for number in 0..120 {
        author.runs(&format!("toolu_{number}"), "make").says(&"word ".repeat(2_000));
        author.gets(&format!("toolu_{number}"), &format!("result {number}"));
    }
    author.text()
}

#[test]
fn an_import_that_was_stopped_goes_on_as_if_it_had_not_been() {
    let machine = Machine::with([(&file(ONE), &long(ONE)), (&file(TWO), &long(TWO))]);
    let report = machine.carry_out_until_asked(machine.plan()).unwrap();
    assert!(report.interrupted);
    machine.assert_sound();
    // Stopped before anything, then for good.
    let report = machine.carry_out(machine.plan(), &AtomicBool::new(true)).unwrap();
    assert!(report.interrupted);
    machine.import();
    machine.assert_sound();
    let whole = Machine::with([(&file(ONE), &long(ONE)), (&file(TWO), &long(TWO))]);
    whole.import();
    machine.assert_same_as(&whole);
}

#[test]
fn a_rebuild_that_was_stopped_leaves_all_as_it_was() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.import();
    let before = machine.dump();
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    let stopped =
        intake.rebuild(&lock, thru_intake::OnLoss::Refuse, &AtomicBool::new(true), &mut |_| {});
    assert!(matches!(stopped, Err(thru_intake::IntakeError::Interrupted)));
    drop(lock);
    assert_same(&machine.dump(), &before);
    machine.assert_sound();
    machine.rebuild();
    assert_same(&machine.dump(), &before);
}

/// A disk of a few megabytes, where root may mount one.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(at: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(at)
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Self(at.to_owned()))
    }

    fn resize(&self, size: &str) {
        let output = Command::new("mount")
            .args(["-o", &format!("remount,size={size}")])
            .arg(&self.0)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_is_reported_loses_nothing_and_the_next_import_goes_on() {
    let machine = Machine::with([(&file(ONE), &long(ONE)), (&file(TWO), &long(TWO))]);
    let Some(disk) = SmallDisk::mount(machine.layout().root(), "256k") else {
        eprintln!("SKIPPED: only root can mount a small disk");
        return;
    };
    for size in ["320k", "512k", "1m"] {
        match machine.try_import(machine.discover()) {
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("full") || message.contains("no space"), "{message}");
            }
            Ok(report) => assert_eq!(report.problems, []),
        }
        disk.resize(size);
    }
    disk.resize("64m");
    assert_eq!(machine.import().problems, []);
    machine.assert_sound();
    let whole = Machine::with([(&file(ONE), &long(ONE)), (&file(TWO), &long(TWO))]);
    whole.import();
    machine.assert_same_as(&whole);
}

#[cfg(unix)]
#[test]
fn a_home_that_cannot_be_written_is_searched_and_imports_say_so() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    let home = machine.layout().root().to_owned();
    let Some(_disk) = SmallDisk::mount(&home, "32m") else {
        eprintln!("SKIPPED: only root can mount a disk to make it read-only");
        return;
    };
    machine.import();
    let before = machine.dump();
    machine.write(&file(TWO), conversation(TWO).text());
    let read_only = Command::new("mount").args(["-o", "remount,ro"]).arg(&home).output().unwrap();
    assert!(read_only.status.success(), "{read_only:?}");
    assert_same(&machine.dump(), &before);
    assert!(!crate::dump::answers(&machine.layout(), &["import"]).is_empty());
    let error = machine.try_import(machine.discover()).unwrap_err().to_string();
    assert!(error.contains("read-only") || error.contains("Read-only"), "{error}");
    let writable = Command::new("mount").args(["-o", "remount,rw"]).arg(&home).output().unwrap();
    assert!(writable.status.success());
    machine.import();
    machine.assert_sound();
}
