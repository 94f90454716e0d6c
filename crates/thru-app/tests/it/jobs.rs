//! The queue of work that waits and work that failed.

use std::path::PathBuf;

use thru_app::ingest::jobs::{self, JobSelection, JobState};
use thru_app::keep::close::{Close, Closer, close};
use thru_app::{Listing, Remedy, TroubleKind};

use crate::home::{Home, call};
use crate::records::{Author, ONE, conversation, file};

/// The place of the archive of a subagent of the session.
fn obstacle(home: &Home) -> PathBuf {
    let entry = format!("archive/claude-code/-home-ada-rocket/{ONE}/subagents/agent-a1.jsonl.zst");
    home.data().join(entry)
}

/// A session of which a part cannot be read: something lies where it is to be archived.
fn failing() -> Home {
    let home = Home::new();
    home.write(&file(ONE), conversation(ONE).text());
    let part = format!("projects/-home-ada-rocket/{ONE}/subagents/agent-a1.jsonl");
    let mut author = Author::of(ONE).starting_at_record(100);
    author.asks("Look for the lock").says("It is in the store.");
    home.write(&part, author.text());
    std::fs::create_dir_all(obstacle(&home)).unwrap();
    home.import();
    home
}

fn queue(home: &Home) -> Vec<jobs::JobEntry> {
    jobs::list(&home.app(), call()).unwrap().jobs
}

#[test]
fn where_nothing_failed_there_is_nothing_to_do() {
    let home = Home::imported();
    assert!(queue(&home).is_empty());
    let retried = jobs::retry(&home.app(), &JobSelection::All, call()).unwrap();
    assert!(retried.retried.is_empty());
    let refused = jobs::cancel(&home.app(), &[7], call()).unwrap_err();
    assert_eq!(refused.kind(), TroubleKind::NotFound);
    assert_eq!(refused.remedy(), Some(&Remedy::See(Listing::Jobs)));
}

#[test]
fn a_job_that_was_given_up_can_be_tried_again() {
    let home = failing();
    let database = rusqlite::Connection::open(home.data().join("memory.db")).unwrap();
    database.execute("UPDATE jobs SET dead = 1, attempts = 5", []).unwrap();
    drop(database);
    let jobs = jobs::list(&home.app(), call()).unwrap();
    assert_eq!((jobs.dead, jobs.jobs[0].state, jobs.jobs[0].due), (1, JobState::Dead, None));
    let numbers = JobSelection::Numbers(vec![jobs.jobs[0].number]);
    assert_eq!(jobs::retry(&home.app(), &numbers, call()).unwrap().retried, [1]);
    let job = &queue(&home)[0];
    assert_eq!((job.state, job.attempts), (JobState::Waiting, 0));
}

#[test]
fn a_job_can_be_taken_out() {
    let home = failing();
    assert_eq!(jobs::cancel(&home.app(), &[1], call()).unwrap().cancelled, [1]);
    assert!(queue(&home).is_empty());
    // Until the session is closed.
    std::fs::remove_dir(obstacle(&home)).unwrap();
    let request = Close { session: Some(ONE.to_owned()), reason: None, closer: Closer::Command };
    let closed = close(&home.app(), &request, call()).unwrap();
    assert!(closed.episode_uuid.is_some(), "{closed:?}");
}
