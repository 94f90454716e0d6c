//! Sessions that close themselves: indexed once, when it is worth it, in spite of kills.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rusqlite::Connection;
use thru_core::{Id, SessionKey, Timestamp};
use thru_intake::{DistilScope, ImportOptions, ImportReport, Indexed};
use thru_journal::journal::Journal;
use thru_lifecycle::Indexing;
use thru_store::{Episode, SessionState, Store};

use crate::machine::{Machine, key};
use crate::records::{Author, ONE, TWO, conversation, file};

const FINISHED: DistilScope<'_> = DistilScope::Finished { within: Duration::MAX };

/// Some minutes after the last record of `conversation`.
fn soon(minutes: i64) -> Timestamp {
    Timestamp::from_second(1_772_355_600 + 20 + minutes * 60).unwrap()
}

fn import(machine: &Machine, now: Timestamp, scope: DistilScope<'_>) -> ImportReport {
    let intake = machine.intake_at(now);
    let lock = intake.lock(&mut |_| false).unwrap();
    let plan = intake.plan(machine.discover(), None).unwrap();
    let options = ImportOptions { excluded: &|_| false, distil: scope, index: false };
    let never = AtomicBool::new(false);
    intake.import(&lock, plan, &options, &never, &mut |_, _, _| {}, &mut |_| {}).unwrap()
}

fn close(machine: &Machine, now: Timestamp, session: &SessionKey, reason: &str) -> Indexed {
    let intake = machine.intake_at(now);
    let lock = intake.lock(&mut |_| false).unwrap();
    intake.record_close(&lock, session, reason).unwrap();
    drop(lock);
    let asked = std::slice::from_ref(session);
    import(machine, now, DistilScope::These(asked)).indexed.get(session).unwrap().clone()
}

fn session_state(machine: &Machine, session: &str) -> SessionState {
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let row = store.session_by_key(&key(session)).unwrap().unwrap();
    store.session_state(row).unwrap().unwrap()
}

fn episodes(machine: &Machine, session: &str) -> Vec<Episode> {
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let row = store.session_by_key(&key(session)).unwrap().unwrap();
    store.episodes(row).unwrap()
}

/// The current and earlier episodes of a session, without their times.
fn identity(episodes: &[Episode]) -> Vec<(Id, bool, u64, String)> {
    let told = episodes
        .iter()
        .map(|one| (one.uuid, one.retired.is_some(), one.messages, one.reason.clone()));
    told.collect()
}

#[test]
fn sessions_for_which_there_is_no_time_are_left_to_the_next_run() {
    let with_twenty = || {
        let machine = Machine::new();
        for number in 0..20 {
            let session = ONE.replace("0001", &format!("{number:04}"));
            machine.write(&file(&session), conversation(&session).text());
        }
        machine
    };
    let machine = with_twenty();
    let in_no_time = DistilScope::Finished { within: Duration::ZERO };
    let first = import(&machine, soon(31), in_no_time).distilled;
    assert!(first.sessions > 0 && first.sessions < first.of && first.is_unfinished(), "{first:?}");
    let mut done = first.sessions;
    loop {
        let next = import(&machine, soon(31), in_no_time).distilled;
        assert_eq!(next.of, 20 - done);
        done += next.sessions;
        if !next.is_unfinished() {
            break;
        }
    }
    assert_eq!(done, 20);
    let at_once = with_twenty();
    import(&at_once, soon(31), FINISHED);
    assert_eq!(machine.dump(), at_once.dump());
}

#[test]
fn a_session_that_goes_on_waits_until_it_is_left() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    import(&machine, soon(1), DistilScope::All);
    assert_eq!(session_state(&machine, ONE).indexing, Indexing::Unindexed);
    assert!(session_state(&machine, ONE).content.is_some(), "it is distilled all the same");
    // Time alone closes it; the next run indexes it.
    let report = import(&machine, soon(31), FINISHED);
    assert!(matches!(report.indexed.get(&key(ONE)), Some(Indexed::New(_))), "{report:?}");
    let [episode] = &episodes(&machine, ONE)[..] else { panic!() };
    assert_eq!((episode.reason.as_str(), episode.retired), ("inactivity_timeout", None));
    assert_eq!(session_state(&machine, ONE).indexing, Indexing::Indexed);
    // Once.
    assert_eq!(import(&machine, soon(200), FINISHED).indexed.iter().count(), 0);
}

#[test]
fn an_explicit_close_indexes_at_once_and_an_unchanged_session_is_skipped() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    import(&machine, soon(1), DistilScope::All);
    let Indexed::New(first) = close(&machine, soon(2), &key(ONE), "story_complete") else {
        panic!()
    };
    assert_eq!(episodes(&machine, ONE)[0].reason, "asked:story_complete");
    assert_eq!(session_state(&machine, ONE).indexing, Indexing::Indexed);
    // Nothing was said since: nothing is recorded, and nothing is made.
    let intake = machine.intake_at(soon(3));
    let lock = intake.lock(&mut |_| false).unwrap();
    let journal = Journal::open(machine.layout().journal(), "test").unwrap();
    let before = journal.size().unwrap();
    intake.record_close(&lock, &key(ONE), "again").unwrap();
    assert_eq!(journal.size().unwrap(), before);
    assert_eq!(session_state(&machine, ONE).episode.unwrap().uuid, first);
}

#[test]
fn what_changed_is_replaced_as_a_whole_and_kept_retired() {
    let mut author = conversation(ONE);
    let machine = Machine::with([(&file(ONE), &author.text())]);
    import(&machine, soon(60), DistilScope::All);
    let first = episodes(&machine, ONE);
    author.asks("And now in French").says("Voilà.");
    machine.write(&file(ONE), author.text());
    let report = import(&machine, soon(120), DistilScope::All);
    assert!(matches!(report.indexed.get(&key(ONE)), Some(Indexed::Replaced(_))), "{report:?}");
    let now = episodes(&machine, ONE);
    assert_eq!(now.len(), 2);
    assert!(now[0].retired.is_none() && now[0].messages > first[0].messages);
    // What cites the first one finds it.
    assert_eq!((now[1].uuid, now[1].content), (first[0].uuid, first[0].content));
    assert!(now[1].retired.is_some());
    machine.assert_sound();

    // All of it is a view of journal and archive.
    machine.rebuild();
    assert_eq!(identity(&episodes(&machine, ONE)), identity(&now));
    machine.assert_sound();
}

#[test]
fn content_that_comes_back_takes_its_episode_into_use_again() {
    let first = conversation(ONE);
    let mut longer = first.clone();
    longer.says("One more thing.");
    let machine = Machine::with([(&file(ONE), &first.text())]);
    import(&machine, soon(60), DistilScope::All);
    let one = episodes(&machine, ONE)[0].uuid;
    machine.write(&file(ONE), longer.text());
    import(&machine, soon(120), DistilScope::All);
    let two = episodes(&machine, ONE)[0].uuid;
    assert_ne!(one, two);
    // Another rule of what is read may take a passage out again.
    let database = Connection::open(machine.layout().database()).unwrap();
    database
        .execute_batch(
            "DELETE FROM passages WHERE ordinal = (SELECT max(ordinal) FROM passages);
             UPDATE sessions SET stale = 1, indexing = 0;",
        )
        .unwrap();
    drop(database);
    import(&machine, soon(180), DistilScope::All);
    let known = episodes(&machine, ONE);
    assert_eq!(known.iter().map(|one| one.uuid).collect::<Vec<_>>(), [one, two]);
    assert!(known[0].retired.is_none() && known[1].retired.is_some());
    // The record of its first retirement is read again by every rebuild; it must not retire it now.
    import(&machine, soon(240), DistilScope::All);
    assert_eq!(session_state(&machine, ONE).episode.unwrap().uuid, one);
}

#[test]
fn parallel_sessions_of_one_project_are_independent() {
    let machine = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        (&file(TWO), &conversation(TWO).text()),
    ]);
    import(&machine, soon(1), DistilScope::All);
    close(&machine, soon(2), &key(ONE), "done");
    assert_eq!(session_state(&machine, ONE).indexing, Indexing::Indexed);
    assert_eq!(session_state(&machine, TWO).indexing, Indexing::Unindexed);
    assert!(episodes(&machine, TWO).is_empty());
}

#[test]
fn abandoned_work_is_done_by_the_next_run() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    import(&machine, soon(1), DistilScope::All);
    // As a process leaves it that is killed in between.
    let database = Connection::open(machine.layout().database()).unwrap();
    database.execute("UPDATE sessions SET indexing = 1", []).unwrap();
    drop(database);
    import(&machine, soon(2), FINISHED);
    let now = session_state(&machine, ONE);
    assert_eq!((now.indexing, now.episode.is_some()), (Indexing::Indexed, true));
}

#[test]
fn sessions_that_wait_for_a_question_are_left_alone_till_then() {
    let mut machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.options.index_left = false;
    import(&machine, soon(600), DistilScope::All);
    assert_eq!(session_state(&machine, ONE).indexing, Indexing::Unindexed);
    let asked = [key(ONE)];
    let report = import(&machine, soon(601), DistilScope::These(&asked));
    assert!(matches!(report.indexed.get(&key(ONE)), Some(Indexed::New(_))), "{report:?}");
}

#[test]
fn an_empty_session_is_indexed_as_nothing() {
    let mut author = Author::of(ONE);
    author.asks("/clear");
    let machine = Machine::with([(&file(ONE), &author.text())]);
    import(&machine, soon(600), DistilScope::All);
    machine.assert_sound();
}

#[test]
fn a_forgotten_session_takes_its_episodes_along() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    import(&machine, soon(1), DistilScope::All);
    close(&machine, soon(2), &key(ONE), "unmistakable");
    machine.forget(ONE);
    let journal = std::fs::read_dir(machine.layout().journal()).unwrap();
    for segment in journal.flatten() {
        let text = std::fs::read(segment.path()).unwrap();
        assert!(!String::from_utf8_lossy(&text).contains("unmistakable"), "{segment:?}");
    }
    let left = || -> i64 {
        let database = Connection::open(machine.layout().database()).unwrap();
        database.query_row("SELECT count(*) FROM episodes", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(left(), 0);
    machine.rebuild();
    assert_eq!(left(), 0);
}
