//! What the model is told, and that we do not take it for something new.

use thru_real_client::Script;

use crate::facts::delegating;
use crate::stage::{FENCE, Stage, WRITE, packing, packs};

/// What the client passes on as it is; more goes into a file, of which the model sees the beginning.
const MOST: usize = 10_000;

/// Something that only the person who told it says.
const TOLD: &str = "Ropes are ordered from Quillfeather in Bristol";

#[test]
fn where_nothing_is_known_nothing_is_told() {
    let Some(stage) = Stage::new(packing()) else { return };
    stage.asks(WRITE, &[]);
    let requests = stage.api.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| !request.conversation().contains(FENCE)));
    assert_eq!(stage.records("injected"), Vec::<serde_json::Value>::new());
}

#[test]
fn a_session_is_told_what_is_known_of_its_project() {
    let Some(stage) = Stage::new(packing()) else { return };
    stage.asks(WRITE, &[]);
    stage.take_in();
    stage.thru(&["remember", TOLD]);
    stage.api.take_requests();

    let second = stage.asks("Good morning", &[]);
    let requests = stage.api.requests();
    let told = requests[0].news();
    let packs = packs(&told);
    let [pack] = packs[..] else { panic!("one pack, not {packs:?}") };
    assert!(pack.contains(TOLD), "{pack}");
    assert!(pack.contains("packing"), "of the session before: {pack}");
    assert!(pack.chars().count() < MOST, "{} characters", pack.chars().count());

    let injected = stage.records("injected");
    assert_eq!(injected.len(), 1);
    assert_eq!(injected[0]["body"]["session"], second.as_str());
    let stats = stage.json(&["stats", "--json"]);
    assert_eq!(stats["kind"], "stats");
}

#[test]
fn what_was_told_is_not_recorded_as_said() {
    let Some(stage) = Stage::new(Script::new()) else { return };
    stage.thru(&["remember", TOLD]);
    let session = stage.asks("Good morning", &[]);
    assert!(stage.api.requests()[0].conversation().contains(TOLD));
    stage.take_in();
    let found = stage.json(&["search", "--all", "--json", "Quillfeather Bristol ropes"]);
    assert_eq!(found["sessions"].as_array().map(Vec::len), Some(0), "{found}");
    assert_eq!(found["memories"].as_array().map(Vec::len), Some(1), "{found}");
    let shown = stage.thru(&["session", "show", &session]);
    assert!(!shown.contains("Quillfeather"), "{shown}");
}

#[test]
fn a_prompt_that_memory_has_nothing_for_gets_nothing() {
    let Some(stage) = Stage::new(packing()) else { return };
    stage.asks(WRITE, &[]);
    stage.take_in();
    let session = stage.asks("Good morning", &[]);
    stage.api.take_requests();
    stage.asks("What is seven times eight?", &["--resume", &session]);
    let requests = stage.api.requests();
    // Nothing has changed since the session began, so that there is nothing to say on resuming either.
    assert!(!requests[0].news().contains(FENCE), "{}", requests[0].news());
}

#[test]
fn a_subagent_is_told_nothing() {
    let Some(stage) = Stage::new(delegating()) else { return };
    stage.thru(&["remember", TOLD]);
    stage.asks("Please delegate", &[]);
    let requests = stage.api.requests();
    let inner: Vec<_> =
        requests.iter().filter(|request| !request.conversation().contains("delegate")).collect();
    assert_eq!(inner.len(), 2, "the subagent's own requests");
    assert!(inner.iter().all(|request| !request.conversation().contains(FENCE)));
}
