//! The changes that a daemon notices in folders.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use thru_daemon::poke;

use crate::stage::{LONG, Stage, until, write};

/// Returns true if the news since then include this path, or everything.
fn noticed(stage: &Stage, since: usize, path: &Path) -> bool {
    let steps = stage.steps();
    let of = |news: &thru_daemon::News| news.everything || news.changed.iter().any(|it| it == path);
    steps.iter().skip(since).any(of)
}

#[test]
fn files_that_come_grow_and_go_are_noticed() {
    let stage = Stage::new();
    let folder = stage.watched();
    let _daemon = stage.start();
    let file = folder.join("one/session.jsonl");
    write(&file, "{}\n");
    until(|| noticed(&stage, 1, &file) || noticed(&stage, 1, &folder.join("one")));
    let since = stage.steps().len();
    let mut open = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
    open.write_all(b"{}\n").unwrap();
    until(|| noticed(&stage, since, &file));
    let since = stage.steps().len();
    std::fs::remove_file(&file).unwrap();
    until(|| noticed(&stage, since, &file));
}

#[test]
fn reading_is_no_change() {
    let stage = Stage::new();
    let folder = stage.watched();
    write(&folder.join("a/b.jsonl"), "{}\n");
    let _daemon = stage.start();
    for _ in 0..50 {
        std::fs::read(folder.join("a/b.jsonl")).unwrap();
        std::fs::read_dir(folder.join("a")).unwrap().count();
    }
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(stage.steps().len(), 1, "{:?}", stage.steps());
}

#[test]
fn a_folder_that_goes_and_comes_back_is_watched_again() {
    let stage = Stage::new();
    let folder = stage.watched();
    let _daemon = stage.start();
    std::fs::remove_dir_all(&folder).unwrap();
    let mut client = stage.client();
    until(|| client.status(LONG).unwrap()["missing_folders"] == true);
    write(&folder.join("one/session.jsonl"), "{}\n");
    until(|| client.status(LONG).unwrap()["missing_folders"] == false);
    let since = stage.steps().len();
    let file = folder.join("one/other.jsonl");
    write(&file, "{}\n");
    until(|| noticed(&stage, since, &file));
}

#[test]
fn a_folder_that_is_replaced_at_once_is_watched_again() {
    let stage = Stage::new();
    let folder = stage.watched();
    let _daemon = stage.start();
    std::fs::remove_dir(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    // From the moment the folder is noticed, its changes are.
    let mut number = 0;
    until(|| {
        number += 1;
        let file = folder.join(format!("{number}.jsonl"));
        write(&file, "{}\n");
        std::thread::sleep(Duration::from_millis(100));
        stage.steps().iter().any(|news| news.changed.contains(&file))
    });
}

#[test]
fn a_folder_that_is_not_there_yet_is_watched_once_it_is() {
    let stage = Stage::new();
    let folder = stage.folder.path().join("later");
    *stage.notes.folders.lock().unwrap() = vec![folder.clone()];
    let _daemon = stage.start();
    write(&folder.join("session.jsonl"), "{}\n");
    stage.wait_for_steps(2);
    assert!(stage.steps()[1].everything);
    // And no longer, once it is not to be watched.
    *stage.notes.folders.lock().unwrap() = Vec::new();
    stage.client().ingest(LONG).unwrap();
    let since = stage.steps().len();
    write(&folder.join("session.jsonl"), "{}\n{}\n");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(stage.steps().len(), since);
}

#[test]
fn more_changes_than_can_be_told_are_all() {
    let stage = Stage::in_memory();
    let folder = stage.watched();
    let _daemon = stage.start();
    let mut round = 0;
    until(|| {
        // During a step, so that they are ingested together, however slow the machine is.
        let before = stage.steps().len();
        stage.notes.hold.store(true, Ordering::Relaxed);
        poke(&stage.paths.socket);
        stage.wait_for_steps(before + 1);
        for number in 0..1_200 {
            std::fs::write(folder.join(format!("{round}-{number}")), "").unwrap();
        }
        round += 1;
        std::thread::sleep(Duration::from_millis(200) * round);
        stage.notes.hold.store(false, Ordering::Relaxed);
        stage.wait_for_steps(before + 2);
        stage.steps().iter().skip(1).any(|news| news.everything)
    });
}

#[test]
fn five_thousand_folders_are_watched() {
    let stage = Stage::in_memory();
    let folder = stage.watched();
    for number in 0..5_000 {
        std::fs::create_dir(folder.join(number.to_string())).unwrap();
    }
    let _daemon = stage.start();
    let file = folder.join("4999/session.jsonl");
    write(&file, "{}\n");
    until(|| noticed(&stage, 1, &file));
}

#[test]
fn where_files_cannot_be_watched_they_are_polled() {
    let mut stage = Stage::new();
    stage.settings.watch = false;
    stage.settings.poll_interval = Duration::from_millis(30);
    let _folder: PathBuf = stage.watched();
    let _daemon = stage.start();
    stage.wait_for_steps(4);
    assert!(stage.steps().iter().all(|news| news.everything));
    let status = stage.client().status(LONG).unwrap();
    assert_eq!(status["watching"], "polling");
    assert_eq!(status["polling_because"], "watching is switched off");
}
