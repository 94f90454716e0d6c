//! Closing sessions, and what becomes of those that are not closed. The names of the tests of the specification (§12)
//! stand beside those that hold them.

use insta::assert_snapshot;
use serde_json::json;
use thru_app::ask::session::{Outline, SessionOutline, outline};
use thru_app::fresh::Freshness;
use thru_app::ingest::intake::ingest_recorded;
use thru_app::ingest::rebuild::{rebuild, verify};
use thru_app::keep::capture::pause_capture;
use thru_app::keep::close::{self, Close, Closed, Closer};
use thru_app::{Result, TroubleKind};
use thru_core::{Clock, Id, SystemClock, Timestamp};
use thru_intake::OnLoss;
use thru_store::Episode;

use crate::home::{Home, call, shown};
use crate::records::{Author, ONE, TWO, file};

/// The first prompt of a session.
const QUESTION: &str = "Why do uploads fail?";

/// A conversation in the project of the home.
fn author(home: &Home, session: &str) -> Author {
    let mut author = Author::of(session).in_directory(home.project().to_str().unwrap());
    author.asks(QUESTION).says("They are retried too often; the budget is spent.");
    author
}

fn write(home: &Home, session: &str, author: &Author) {
    home.write(&file(session), author.text());
}

/// A session that is active: it was told something, and answered.
fn active(home: &Home, session: &str) -> Author {
    let author = author(home, session);
    write(home, session, &author);
    home.hook(session, "SessionStart", json!({ "source": "startup" }));
    home.prompt(session, 1, QUESTION);
    home.stop(session, "They are retried too often; the budget is spent.");
    author
}

/// The session goes on.
fn goes_on(home: &Home, session: &str, author: &mut Author) {
    author.asks("And what now?").says("A budget of three tries.");
    write(home, session, author);
    home.prompt(session, 2, "And what now?");
    home.stop(session, "A budget of three tries.");
}

fn try_close(home: &Home, session: Option<&str>, reason: Option<&str>) -> Result<Closed> {
    let request = Close {
        session: session.map(str::to_owned),
        reason: reason.map(str::to_owned),
        closer: Closer::Command,
    };
    close::close(&home.here(), &request, call())
}

fn close(home: &Home, session: &str, reason: &str) -> Closed {
    try_close(home, Some(session), Some(reason)).unwrap()
}

fn session(home: &Home, id: &str) -> SessionOutline {
    let request = Outline::new(id, Freshness::Recorded);
    outline(&home.here(), &request, call()).unwrap()
}

fn uuids(episodes: &[Episode]) -> Vec<Id> {
    episodes.iter().map(|one| one.uuid).collect()
}

/// `test_explicit_close_indexes`
#[test]
fn a_close_indexes_at_once_and_keeps_the_reason() {
    let home = Home::new();
    active(&home, ONE);
    let closed = close(&home, ONE, "story_complete");
    assert_eq!(closed.message, "Session 11111111 is closed and indexed.");
    let known = session(&home, ONE).session;
    assert_eq!(known.state, Some("ended"));
    assert_eq!(known.close_reason.as_deref(), Some("asked:story_complete"));
    assert_eq!(known.indexing, "indexed");
    assert_eq!(known.episode_uuid, closed.episode_uuid);
    assert!(verify(&home.here(), call()).unwrap().clean);
}

#[test]
fn without_an_id_the_only_active_session_here_is_meant() {
    let home = Home::new();
    active(&home, ONE);
    assert_eq!(try_close(&home, None, None).unwrap().session_id.unwrap().as_str(), ONE);
    // It is over: now there is none.
    assert_snapshot!(shown(&try_close(&home, None, None).unwrap_err()), @r#"
    NotFound: no session is at work in project rocket
    Some(Choose(["11111111 (ended: Why do uploads fail?)"]))
    "#);
}

#[test]
fn a_command_closes_the_session_that_runs_it_and_no_other() {
    let home = Home::new();
    active(&home, ONE);
    active(&home, TWO);
    let request = Close { session: None, reason: None, closer: Closer::Command };
    let own = |id: &str| {
        let app = home.here_with(&[("CLAUDE_CODE_SESSION_ID", id)]);
        close::close(&app, &request, call())
    };
    assert_eq!(own(TWO).unwrap().session_id.unwrap().as_str(), TWO);
    // Where nothing is known of it, no other one is closed instead.
    let refused = own("0f8fad5b-0000").unwrap_err();
    assert_eq!(refused.kind(), TroubleKind::NotFound);
    assert!(refused.message().contains("nothing has been recorded yet"), "{refused}");
    assert_eq!(session(&home, ONE).session.state, Some("active"));
}

#[test]
fn a_server_that_closes_its_session_twice_gets_the_same_episode() {
    let home = Home::new();
    active(&home, ONE);
    let app = home.here_with(&[("CLAUDE_CODE_SESSION_ID", ONE)]);
    let request = Close { session: None, reason: None, closer: Closer::Server };
    let first = close::close(&app, &request, call()).unwrap();
    let again = close::close(&app, &request, call()).unwrap();
    assert_eq!(again.episode_uuid, first.episode_uuid);
    assert!(first.episode_uuid.is_some());
    // After `/clear`, the session at work is another one.
    active(&home, TWO);
    let cleared = close::close(&app, &request, call()).unwrap();
    assert_eq!(cleared.session_id.unwrap().as_str(), TWO);
}

/// What must not be read is not read by a close either.
#[test]
fn a_close_reads_nothing_that_must_not_be_read() {
    for case in ["ignored", "off", "paused"] {
        let home = Home::new();
        let mut author = active(&home, ONE);
        ingest_recorded(&home.here(), call()).unwrap();
        match case {
            "ignored" => {
                let agent = home.folder().join("claude");
                home.configure(&format!("capture.ignore = [\"{}/**\"]\n", agent.display()));
            }
            "off" => home.configure("session_tracking.enabled = false\n"),
            _ => {
                pause_capture(&home.here(), None).unwrap();
            }
        }
        author.asks("Where is the unmistakable zeppelin?");
        write(&home, ONE, &author);
        let _ = try_close(&home, Some(ONE), None);
        ingest_recorded(&home.here(), call()).unwrap();
        let told = serde_json::to_string(&session(&home, ONE)).unwrap();
        assert!(told.contains("uploads") && !told.contains("unmistakable"), "{case}: {told}");
    }
}

/// Hooks told of its ends alone: it is indexed all the same.
#[test]
fn a_session_of_which_hooks_told_only_the_ends_is_indexed() {
    let home = Home::new();
    home.hook(ONE, "SessionStart", json!({ "source": "startup" }));
    write(&home, ONE, &author(&home, ONE));
    home.hook(ONE, "SessionEnd", json!({ "reason": "other" }));
    ingest_recorded(&home.here(), call()).unwrap();
    let known = session(&home, ONE).session;
    assert_eq!((known.indexing, known.state), ("indexed", Some("ended")));
}

/// Without distilling it is unknown what there is to index; once it is on again, it is indexed.
#[test]
fn what_was_not_distilled_is_not_taken_for_indexed() {
    let home = Home::new();
    active(&home, ONE);
    home.configure("distil.enabled = false\n");
    let refused = try_close(&home, Some(ONE), None).unwrap_err();
    assert_snapshot!(shown(&refused), @r#"
    Refused: session 11111111 is closed and not indexed: `distil.enabled` is off
    Some(Set { key: "distil.enabled", value: Some("true") })
    "#);
    home.configure("");
    close(&home, ONE, "again");
    assert_eq!(session(&home, ONE).session.indexing, "indexed");
}

#[test]
fn of_several_active_sessions_one_has_to_be_named() {
    let home = Home::new();
    active(&home, ONE);
    active(&home, TWO);
    let refused = shown(&try_close(&home, None, None).unwrap_err());
    assert!(refused.contains("11111111") && refused.contains("22222222"), "{refused}");
    let refused = refused.replace("11111111", "[id]").replace("22222222", "[id]");
    assert_snapshot!(refused, @r#"
    Ambiguous: 2 sessions are at work in project rocket
    Some(Choose(["[id] (active: Why do uploads fail?)", "[id] (active: Why do uploads fail?)"]))
    "#);
    assert_snapshot!(shown(&try_close(&home, Some("3333"), None).unwrap_err()), @"
    NotFound: there is no session `3333`
    Some(See(Sessions))
    ");
}

/// `test_parallel_sessions`
#[test]
fn sessions_of_one_project_do_not_close_each_other() {
    let home = Home::new();
    active(&home, ONE);
    active(&home, TWO);
    close(&home, ONE, "done");
    let (one, two) = (session(&home, ONE).session, session(&home, TWO).session);
    assert_eq!((one.state, two.state), (Some("ended"), Some("active")));
    assert_eq!(two.indexing, "unindexed");
    assert_eq!(try_close(&home, None, None).unwrap().session_id.unwrap().as_str(), TWO);
}

/// `test_explicit_close_skips_unchanged`
#[test]
fn what_has_not_changed_is_not_indexed_again() {
    let home = Home::new();
    active(&home, ONE);
    let first = close(&home, ONE, "first");
    let again = close(&home, ONE, "again");
    assert_eq!(again.episode_uuid, first.episode_uuid);
    let (before, after) = again.message.split_once("(hash: ").unwrap();
    assert_eq!(before, "Session 11111111 is unchanged ");
    assert!(after.ends_with("): it is indexed already."), "{after}");
    // Hooks told more that does not count.
    home.hook(ONE, "SessionEnd", json!({ "reason": "clear" }));
    let again = close(&home, ONE, "handoff");
    assert_eq!(again.episode_uuid, first.episode_uuid);
    assert_eq!(home.episodes(ONE).len(), 1);
}

/// `test_explicit_close_replaces_changed`, `test_session_resume_replace`
#[test]
fn what_has_changed_is_replaced_and_what_was_is_kept() {
    let home = Home::new();
    let mut author = active(&home, ONE);
    let first = close(&home, ONE, "first");
    goes_on(&home, ONE, &mut author);
    assert_eq!(session(&home, ONE).session.state, Some("active"));
    let second = close(&home, ONE, "second");
    assert_ne!(second.episode_uuid, first.episode_uuid);
    assert_snapshot!(second.message, @"Session 11111111 is closed and reindexed; the previous version is kept but no longer used.");
    let known = session(&home, ONE);
    let retired: Vec<Id> =
        known.standing.retired_episodes.iter().map(|one| one.episode_uuid).collect();
    assert_eq!(Some(retired), first.episode_uuid.map(|uuid| vec![uuid]));
    assert_eq!(known.session.close_reason.as_deref(), Some("asked:second"));
    // Earlier episodes are still known by their ids, also when everything is made anew.
    let before = home.episodes(ONE);
    rebuild(&home.here(), OnLoss::Refuse, call()).unwrap().unwrap();
    assert_eq!(uuids(&home.episodes(ONE)), uuids(&before));
    assert!(verify(&home.here(), call()).unwrap().clean);
}

#[test]
fn a_session_in_which_nothing_was_said_has_nothing_to_index() {
    let home = Home::new();
    home.hook(ONE, "SessionStart", json!({ "source": "startup" }));
    // There is nothing yet that it could be listed by.
    assert_snapshot!(shown(&try_close(&home, Some(ONE), None).unwrap_err()), @"
    NotFound: there is no session `11111111-aaaa-4aaa-8aaa-000000000001`
    Some(See(Sessions))
    ");
    assert_snapshot!(shown(&try_close(&home, None, None).unwrap_err()), @r#"
    NotFound: no session is at work in project rocket
    Some(Run { command: "sessions --all", purpose: "lists the sessions of all projects; name one by its id, or run this in its project" })
    "#);
}

/// `test_timeout_fallback`
#[test]
fn a_session_that_is_never_closed_is_closed_by_time() {
    let home = Home::new();
    write(&home, ONE, &author(&home, ONE));
    home.import();
    let known = session(&home, ONE).session;
    assert_eq!(known.close_reason.as_deref(), Some("inactivity_timeout"));
    assert_eq!(known.indexing, "indexed");
    assert_eq!(close(&home, ONE, "late").episode_uuid, known.episode_uuid);
}

/// The system's clock, three quarters of an hour later.
struct Later;

impl Clock for Later {
    fn now(&self) -> Timestamp {
        SystemClock.now() + std::time::Duration::from_mins(45)
    }
}

#[test]
fn an_explicit_close_keeps_its_reason_after_time_closed_the_session() {
    let home = Home::new();
    active(&home, ONE);
    let mut app = home.here();
    app.clock = std::sync::Arc::new(Later);
    let known = || {
        let request = Outline::new(ONE, Freshness::Recorded);
        outline(&app, &request, call()).unwrap().session
    };
    let close = |reason: &str| {
        let (session, reason) = (Some(ONE.to_owned()), Some(reason.to_owned()));
        let request = Close { session, reason, closer: Closer::Command };
        close::close(&app, &request, call()).unwrap()
    };
    ingest_recorded(&app, call()).unwrap();
    let by_time = known();
    assert_eq!(by_time.close_reason.as_deref(), Some("inactivity_timeout"));
    assert_eq!(close("story_complete").episode_uuid, by_time.episode_uuid);
    assert_eq!(known().close_reason.as_deref(), Some("asked:story_complete"));
    // Once asked, it stays so.
    close("another");
    assert_eq!(known().close_reason.as_deref(), Some("asked:story_complete"));
    assert_eq!(home.episodes(ONE).len(), 1);
}

#[test]
fn a_session_that_only_its_transcript_tells_of_is_closed_by_its_id() {
    let home = Home::new();
    active(&home, ONE);
    ingest_recorded(&home.here(), call()).unwrap();
    let mut later = Author::of(TWO).in_directory(home.project().to_str().unwrap());
    later.asks("Where is the sextant?").says("In the drawer.");
    write(&home, TWO, &later);
    let closed = close(&home, TWO, "done");
    assert!(closed.episode_uuid.is_some(), "{}", closed.message);
}

#[test]
fn a_fresh_session_of_codex_is_closed_without_a_daemon() {
    let home = Home::new();
    let id = "019c5a32-0000-7000-8000-0000000000c7";
    let line = |kind: &str, payload: serde_json::Value| {
        json!({ "timestamp": "2026-03-01T09:00:00.000Z", "type": kind, "payload": payload })
            .to_string()
    };
    let says = |role: &str, kind: &str, text: &str| {
        let content = json!([{ "type": kind, "text": text }]);
        line("response_item", json!({ "type": "message", "role": role, "content": content }))
    };
    let meta = json!({ "id": id, "timestamp": "2026-03-01T09:00:00.000Z", "cwd": home.project(),
        "originator": "codex_cli_rs", "cli_version": "0.98.0", "source": "cli" });
    let rollout = [
        line("session_meta", meta),
        says("user", "input_text", "Where is the sextant?"),
        line("event_msg", json!({ "type": "user_message", "message": "Where is the sextant?" })),
        says("assistant", "output_text", "In the drawer below the charts."),
    ];
    let day = SystemClock.now().strftime("%Y/%m/%d").to_string();
    let folder = home.folder().join("codex/sessions").join(day);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("rollout-2026-03-01T09-00-00-{id}.jsonl"));
    std::fs::write(file, rollout.join("\n") + "\n").unwrap();
    // The store knows of another agent alone.
    active(&home, ONE);
    ingest_recorded(&home.here(), call()).unwrap();
    // From its own shell, without a name.
    let request = Close { session: None, reason: Some("done".to_owned()), closer: Closer::Command };
    let app = home.here_with(&[("CODEX_THREAD_ID", id)]);
    let closed = close::close(&app, &request, call()).unwrap();
    assert!(closed.episode_uuid.is_some(), "{}", closed.message);
    assert_eq!(session(&home, id).session.close_reason.as_deref(), Some("asked:done"));
}

#[test]
fn thirty_closes_at_once_of_a_new_session_agree() {
    let home = Home::new();
    active(&home, ONE);
    let closed: Vec<Closed> = std::thread::scope(|scope| {
        let closers: Vec<_> = (0..30)
            .map(|number| {
                let home = &home;
                scope.spawn(move || close(home, ONE, &format!("reason_{number}")))
            })
            .collect();
        closers.into_iter().map(|closer| closer.join().unwrap()).collect()
    });
    let first = closed[0].episode_uuid;
    assert!(first.is_some() && closed.iter().all(|one| one.episode_uuid == first), "{closed:?}");
    assert_eq!(home.episodes(ONE).len(), 1);
}

/// `test_full_hybrid_flow`: explicit close, then intake that indexes what was left, then time.
#[test]
fn whichever_layer_comes_first_a_session_is_indexed_once() {
    let home = Home::new();
    active(&home, ONE);
    let closed = close(&home, ONE, "first");
    active(&home, TWO);
    home.hook(TWO, "SessionEnd", json!({ "reason": "clear" }));
    let request = Outline::new(TWO, Freshness::Indexed);
    let known = outline(&home.here(), &request, call()).unwrap();
    assert_eq!(known.preparation.indexed, 1);
    assert_eq!(known.session.close_reason.as_deref(), Some("agent:clear"));
    ingest_recorded(&home.here(), call()).unwrap();
    home.import();
    for id in [ONE, TWO] {
        assert_eq!(home.episodes(id).len(), 1);
    }
    assert_eq!(session(&home, ONE).session.episode_uuid, closed.episode_uuid);
}

#[test]
fn latest_is_never_a_session_of_another_project() {
    let home = Home::new();
    write(&home, ONE, &author(&home, ONE));
    home.import();
    let named = |app| outline(&app, &Outline::new("latest".to_owned(), Freshness::AsItIs), call());
    assert_eq!(named(home.app_in(&home.project())).unwrap().session.id.as_str(), ONE);
    assert_snapshot!(shown(&named(home.app()).unwrap_err()), @r#"
    NotFound: there is no earlier session in this project
    Some(Run { command: "sessions --all", purpose: "lists the sessions of all projects; name one of them by its id" })
    "#);
    let request =
        Close { session: Some("latest".to_owned()), reason: None, closer: Closer::Command };
    let closed = close::close(&home.app(), &request, call()).unwrap_err();
    assert_eq!(closed.kind(), TroubleKind::NotFound);
    let unnamed = Close { session: None, ..request };
    assert_snapshot!(shown(&close::close(&home.app(), &unnamed, call()).unwrap_err()), @r#"
    NotFound: no session is at work here
    Some(Run { command: "sessions --all", purpose: "lists the sessions of all projects; name one by its id, or run this in its project" })
    "#);
}
