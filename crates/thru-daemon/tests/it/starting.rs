//! One daemon, however many want one, and whatever is in the way.

use std::os::unix::net::UnixListener;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use thru_daemon::{EnsureError, Ensured, Probe, Stopped, ensure, probe, stop};

use crate::stage::{Daemon, LONG, Stage, identity};

/// Starts daemons in threads, and counts them.
struct Starter<'a> {
    stage: &'a Stage,
    daemons: Mutex<Vec<Daemon>>,
    started: AtomicUsize,
}

impl<'a> Starter<'a> {
    fn new(stage: &'a Stage) -> Self {
        Self { stage, daemons: Mutex::default(), started: AtomicUsize::new(0) }
    }

    fn ensure(&self, version: &str, patience: Duration) -> Result<Ensured, EnsureError> {
        ensure(&self.stage.paths, &identity(version), patience, || {
            self.started.fetch_add(1, Ordering::Relaxed);
            let daemon = self.stage.start_as(version, |_| {});
            self.daemons.lock().unwrap().push(daemon);
            Ok(())
        })
    }

    fn started(&self) -> usize {
        self.started.load(Ordering::Relaxed)
    }
}

#[test]
fn thirty_at_once_start_one() {
    let stage = Stage::new();
    let starter = Starter::new(&stage);
    let ends: Vec<Ensured> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..30).map(|_| scope.spawn(|| starter.ensure("1.0.0", LONG).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(starter.started(), 1);
    let started = ends.iter().filter(|end| matches!(end, Ensured::Started(_))).count();
    let running = ends.iter().filter(|end| matches!(end, Ensured::Running(_))).count();
    assert_eq!((started, running), (1, 29), "{ends:?}");
}

#[test]
fn who_has_no_time_leaves_it_to_others() {
    let stage = Stage::new();
    let starter = Starter::new(&stage);
    let ends: Vec<Ensured> = thread::scope(|scope| {
        let ensure = || starter.ensure("1.0.0", Duration::ZERO).unwrap();
        let threads: Vec<_> = (0..20).map(|_| scope.spawn(ensure)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ends.iter().any(|end| matches!(end, Ensured::Spawned)));
    stage.wait_for_steps(1);
    assert!(matches!(probe(&stage.paths, &identity("1.0.0")), Probe::Ready(_)));
}

#[test]
fn what_a_killed_daemon_left_is_cleared_away() {
    let stage = Stage::new();
    std::fs::create_dir_all(&stage.paths.run).unwrap();
    drop(UnixListener::bind(&stage.paths.socket).unwrap());
    std::fs::write(&stage.paths.lock, "{\"pid\":1}").unwrap();
    assert_eq!(probe(&stage.paths, &identity("1.0.0")), Probe::Absent);
    let starter = Starter::new(&stage);
    assert!(matches!(starter.ensure("1.0.0", LONG).unwrap(), Ensured::Started(_)));
}

#[test]
fn one_that_hangs_is_said_to_hang_and_left_alone() {
    let stage = Stage::new();
    std::fs::create_dir_all(&stage.paths.run).unwrap();
    let _listener = UnixListener::bind(&stage.paths.socket).unwrap();
    let starter = Starter::new(&stage);
    assert_eq!(starter.ensure("1.0.0", LONG).unwrap(), Ensured::Hung(None));
    assert_eq!(starter.started(), 0);
    let stopped = stop(&stage.paths, &identity("1.0.0"), Duration::from_millis(100)).unwrap();
    assert_eq!(stopped, Stopped::Hung(None));
    assert!(stage.paths.socket.exists(), "nothing of it was touched");
}

#[test]
fn a_held_lock_without_a_socket_starts_no_second_one() {
    let stage = Stage::new();
    std::fs::create_dir_all(&stage.paths.run).unwrap();
    let file = std::fs::File::create(&stage.paths.lock).unwrap();
    file.lock().unwrap();
    let starter = Starter::new(&stage);
    let ended = starter.ensure("1.0.0", Duration::from_millis(600)).unwrap();
    assert_eq!((ended, starter.started()), (Ensured::Hung(None), 0));
}

#[test]
fn an_older_one_is_replaced_and_a_newer_one_is_not() {
    let stage = Stage::new();
    let old = stage.start_as("0.9.0", |_| {});
    stage.wait_for_steps(1);
    let starter = Starter::new(&stage);
    let Ensured::Started(hello) = starter.ensure("1.0.0", LONG).unwrap() else {
        panic!("not started")
    };
    assert_eq!(hello.version, "1.0.0");
    assert_eq!(old.end().unwrap(), thru_daemon::End::Requested);
    // The older program finds the newer daemon: it may call it, and end it only by name.
    let Ensured::Newer(hello) = starter.ensure("0.9.0", LONG).unwrap() else { panic!("not newer") };
    assert_eq!(hello.version, "1.0.0");
    assert_eq!(starter.started(), 1);
}

#[test]
fn one_that_does_not_come_up_is_said_not_to() {
    let stage = Stage::new();
    let ended = ensure(&stage.paths, &identity("1.0.0"), Duration::from_millis(100), || Ok(()));
    assert!(matches!(ended, Err(EnsureError::NoAnswer)));
    let fails = || Err(std::io::Error::other("no such program"));
    let ended = ensure(&stage.paths, &identity("1.0.0"), LONG, fails);
    assert!(matches!(ended, Err(EnsureError::Io(_))));
}

#[test]
fn stopping_waits_for_the_end() {
    let stage = Stage::new();
    let none = stop(&stage.paths, &identity("1.0.0"), LONG).unwrap();
    assert_eq!(none, Stopped::NotRunning);
    let _daemon = stage.start();
    let stopped = stop(&stage.paths, &identity("1.0.0"), LONG).unwrap();
    assert!(matches!(stopped, Stopped::Ended(_)), "{stopped:?}");
    assert!(!stage.paths.socket.exists());
}
