//! The life of a daemon: its work and its end.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::SignedDuration;
use thru_core::{Clock, Timestamp};
use thru_daemon::{End, Outcome, Program, RunError, poke};

use crate::stage::{LONG, Movable, Stage, until};

#[test]
fn a_poke_is_brought_in_and_synced_and_several_count_as_one() {
    let mut stage = Stage::new();
    stage.settings.debounce = Duration::from_millis(200);
    let _daemon = stage.start();
    assert!(stage.steps()[0].everything, "what came before it started");
    for _ in 0..20 {
        poke(&stage.paths.socket);
    }
    stage.wait_for_steps(2);
    assert!(stage.steps()[1].poked && !stage.steps()[1].everything);
    until(|| stage.notes.synced.load(Ordering::Relaxed) > 0);
    assert!(stage.steps().len() < 5, "{:?}", stage.steps());
}

#[test]
fn syncing_does_not_wait_for_the_work_in_hand() {
    let stage = Stage::new();
    let _daemon = stage.start();
    stage.notes.hold.store(true, Ordering::Relaxed);
    poke(&stage.paths.socket);
    stage.wait_for_steps(2);
    let synced = stage.notes.synced.load(Ordering::Relaxed);
    poke(&stage.paths.socket);
    until(|| stage.notes.synced.load(Ordering::Relaxed) > synced);
    assert_eq!(stage.steps().len(), 2);
    stage.notes.hold.store(false, Ordering::Relaxed);
    stage.wait_for_steps(3);
}

#[test]
fn who_wakes_it_can_wait_until_that_is_done() {
    let stage = Stage::new();
    let _daemon = stage.start();
    let before = stage.steps().len();
    let answer = stage.client().ingest(LONG).unwrap();
    assert_eq!(answer["done"], true);
    assert!(stage.steps().len() > before);
    stage.notes.hold.store(true, Ordering::Relaxed);
    assert!(stage.client().ingest(Duration::from_millis(50)).is_err(), "not for ever");
    stage.notes.hold.store(false, Ordering::Relaxed);
}

#[test]
fn a_jump_of_the_clock_has_everything_looked_at() {
    let mut stage = Stage::new();
    let clock = Arc::new(Movable(Mutex::new(0)));
    stage.clock = Arc::clone(&clock) as Arc<dyn Clock>;
    let _daemon = stage.start();
    *clock.0.lock().unwrap() = 3600;
    stage.wait_for_steps(2);
    assert!(stage.steps()[1].everything);
    *clock.0.lock().unwrap() = 0;
    stage.wait_for_steps(3);
    assert!(stage.log().contains("the clock jumped"));
}

#[test]
fn what_is_due_is_done_when_it_is_due() {
    let stage = Stage::new();
    let due = Timestamp::now() + SignedDuration::from_millis(300);
    *stage.notes.outcome.lock().unwrap() = Outcome { due: Some(due), ..Outcome::default() };
    let _daemon = stage.start();
    stage.wait_for_steps(2);
    assert!(Timestamp::now() >= due);
    assert!(stage.steps()[1].is_empty(), "nothing else came");
}

#[test]
fn what_is_always_due_does_not_keep_it_busy() {
    let stage = Stage::new();
    let past = Timestamp::UNIX_EPOCH;
    *stage.notes.outcome.lock().unwrap() = Outcome { due: Some(past), ..Outcome::default() };
    let _daemon = stage.start();
    stage.wait_for_steps(3);
    let times = stage.notes.times.lock().unwrap().clone();
    assert!(times[1] - times[0] >= Duration::from_secs(1));
    assert!(times[2] - times[1] >= Duration::from_secs(2), "ever more rarely");
}

#[test]
fn work_in_parts_goes_on_after_a_breath_and_lets_news_in() {
    let mut stage = Stage::new();
    stage.settings.idle_exit = Some(Duration::from_millis(100));
    *stage.notes.outcome.lock().unwrap() = Outcome { more: true, ..Outcome::default() };
    let daemon = stage.start();
    stage.wait_for_steps(5);
    let times = stage.notes.times.lock().unwrap().clone();
    let breaths: Vec<_> = times.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(breaths.iter().all(|breath| *breath >= Duration::from_millis(150)), "{breaths:?}");
    stage.client().ingest(LONG).unwrap();
    *stage.notes.outcome.lock().unwrap() = Outcome::default();
    assert_eq!(daemon.end().unwrap(), End::Idle);
}

#[test]
fn it_ends_when_there_is_nothing_to_do_but_not_while_there_is() {
    let mut stage = Stage::new();
    stage.settings.idle_exit = Some(Duration::from_millis(100));
    *stage.notes.outcome.lock().unwrap() = Outcome { busy: true, ..Outcome::default() };
    let daemon = stage.start();
    std::thread::sleep(Duration::from_millis(300));
    *stage.notes.outcome.lock().unwrap() = Outcome::default();
    // It is still running, or this would not reach it.
    stage.client().ingest(LONG).unwrap();
    assert_eq!(daemon.end().unwrap(), End::Idle);
    assert!(!stage.paths.socket.exists(), "nothing of it is left");
    assert!(thru_daemon::holder(&stage.paths.lock).is_none());
}

#[test]
fn an_error_is_said_once_and_everything_is_tried_again() {
    let stage = Stage::new();
    stage.notes.fail.store(true, Ordering::Relaxed);
    let _daemon = stage.start();
    for steps in 2..5 {
        poke(&stage.paths.socket);
        stage.wait_for_steps(steps);
    }
    stage.notes.fail.store(false, Ordering::Relaxed);
    // By itself, after a while.
    let before = stage.steps().len();
    stage.wait_for_steps(before + 1);
    assert!(stage.steps()[before].everything);
    assert_eq!(stage.log().matches("the disk is full").count(), 1);
}

#[test]
fn a_panic_costs_one_step_and_three_the_daemon() {
    let stage = Stage::new();
    let daemon = stage.start();
    stage.notes.panic.store(true, Ordering::Relaxed);
    poke(&stage.paths.socket);
    stage.wait_for_steps(2);
    stage.notes.panic.store(false, Ordering::Relaxed);
    assert_eq!(stage.client().ingest(LONG).unwrap()["done"], true, "it lives");
    stage.notes.panic.store(true, Ordering::Relaxed);
    poke(&stage.paths.socket);
    assert_eq!(daemon.end().unwrap(), End::Panicked, "after three more");
    assert!(stage.log().contains("panicked again and again"));
}

#[test]
fn it_ends_when_its_home_is_gone() {
    for goes in ["home", "home/run/daemon.lock", "home/run/daemon.sock"] {
        let stage = Stage::new();
        let daemon = stage.start();
        let path = stage.folder.path().join(goes);
        match path.is_dir() {
            true => std::fs::remove_dir_all(path).unwrap(),
            false => std::fs::remove_file(path).unwrap(),
        }
        assert_eq!(daemon.end().unwrap(), End::Removed, "{goes}");
    }
}

#[test]
fn it_does_not_work_for_a_home_that_is_gone() {
    let mut stage = Stage::new();
    stage.settings.check_interval = LONG;
    let folder = stage.watched();
    let daemon = stage.start();
    std::fs::remove_dir_all(stage.folder.path().join("home")).unwrap();
    std::fs::write(folder.join("session.jsonl"), "{}").unwrap();
    assert_eq!(daemon.end().unwrap(), End::Removed);
    assert_eq!(stage.steps().len(), 1, "the change was no longer news");
}

#[test]
fn a_daemon_of_a_deleted_home_leaves_its_successor_alone() {
    let mut stage = Stage::new();
    stage.settings.check_interval = Duration::from_millis(300);
    let first = stage.start();
    std::fs::remove_dir_all(stage.folder.path().join("home")).unwrap();
    let second = stage.start_as("1.0.0", |_| {});
    stage.wait_for_steps(2);
    assert_eq!(first.end().unwrap(), End::Removed);
    assert!(stage.client().hello(LONG).is_ok(), "its socket is still there");
    drop(second);
}

#[test]
fn it_ends_when_its_program_is_replaced() {
    let stage = Stage::new();
    let program = stage.folder.path().join("thru");
    std::fs::write(&program, "old").unwrap();
    let daemon = stage.start_as("1.0.0", |setup| {
        setup.program = Some(Program::at(&program).unwrap());
    });
    stage.wait_for_steps(1);
    let new = stage.folder.path().join("new");
    std::fs::write(&new, "newer").unwrap();
    std::fs::rename(new, &program).unwrap();
    assert_eq!(daemon.end().unwrap(), End::Replaced);
}

#[test]
fn it_ends_for_a_new_process_when_its_work_asks_for_one() {
    let stage = Stage::new();
    let daemon = stage.start();
    stage.wait_for_steps(1);
    stage.notes.outcome.lock().unwrap().renew = true;
    // What a client waits for is done before.
    assert_eq!(stage.client().ingest(LONG).unwrap()["done"], true);
    assert_eq!(daemon.end().unwrap(), End::Renewed);
    stage.notes.outcome.lock().unwrap().renew = false;
    stage.start();
}

#[test]
fn there_is_one_at_a_time() {
    let stage = Stage::new();
    let daemon = stage.start();
    let second = stage.start_as("1.0.0", |_| {}).end();
    assert!(matches!(second, Err(RunError::AlreadyRunning)));
    daemon.stopper.stop();
    assert_eq!(daemon.end().unwrap(), End::Requested);
    stage.start();
}

#[test]
fn it_ends_although_work_is_in_hand_and_a_client_waits() {
    let stage = Stage::new();
    let daemon = stage.start();
    stage.notes.hold.store(true, Ordering::Relaxed);
    let mut client = stage.client();
    let waiting = std::thread::spawn(move || client.ingest(LONG));
    stage.wait_for_steps(2);
    daemon.stopper.stop();
    assert_eq!(daemon.end().unwrap(), End::Requested);
    let told = waiting.join().unwrap();
    assert!(told.is_err() || told.is_ok_and(|told| told["done"] == false));
}
