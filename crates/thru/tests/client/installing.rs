//! Getting in, and out again.

use std::fs;

use serde_json::{Value, json};

use crate::stage::{PACKING_EVENTS, Stage, WRITE, packing, packs};

#[test]
fn a_plugin_records_as_settings_do() {
    let Some(stage) = Stage::bare(packing()) else { return };
    stage.thru(&["install", "--as", "plugin"]);
    assert!(!stage.settings().exists(), "settings are left alone");
    let run = stage.ask(WRITE, &[]);
    let plugins: Vec<_> = run.events().filter(|event| event["subtype"] == "init").collect();
    assert_eq!(plugins[0]["plugins"][0]["name"], "throughline");
    stage.expect_events(&run.session(), &PACKING_EVENTS);
}

#[test]
fn settings_and_plugin_together_record_and_tell_once() {
    let Some(stage) = Stage::new(packing()) else { return };
    let hooks = fs::read_to_string(stage.settings()).unwrap();
    assert!(hooks.contains("SessionStart"), "{hooks}");
    stage.thru(&["install", "--as", "plugin"]);
    // The installer keeps one form only; the user copies the settings of another machine.
    fs::write(stage.settings(), hooks).unwrap();
    let session = stage.asks(WRITE, &[]);
    // Events without an id of their own are recorded by both; they are told apart when they are taken in.
    let mut events = stage.events(&session);
    assert!(events.len() > PACKING_EVENTS.len(), "both run: {events:?}");
    events.dedup();
    assert_eq!(events, PACKING_EVENTS);

    stage.take_in();
    let sessions = stage.json(&["sessions", "--json"]);
    assert_eq!(sessions["sessions"][0]["passages"], 5, "{sessions}");
    stage.thru(&["remember", "Ropes come from Bristol"]);
    stage.api.take_requests();
    stage.asks("Good morning", &[]);
    let told = stage.api.requests()[0].conversation();
    assert_eq!(packs(&told).len(), 1, "{told}");
    assert_eq!(stage.records("injected").len(), 1);
}

#[test]
fn a_second_installation_changes_nothing() {
    let Some(stage) = Stage::new(packing()) else { return };
    let once = fs::read(stage.settings()).unwrap();
    stage.thru(&["up", "--yes"]);
    stage.thru(&["install"]);
    assert_eq!(fs::read(stage.settings()).unwrap(), once);
    let session = stage.asks(WRITE, &[]);
    stage.expect_events(&session, &PACKING_EVENTS);
}

#[test]
fn what_was_there_stays_and_comes_back_as_it_was() {
    let Some(stage) = Stage::bare(packing()) else { return };
    // A hook of the user's, in the user's formatting.
    let mark = stage.home.path().join("mark");
    let hook = json!({ "type": "command", "command": format!("echo seen >> {}", mark.display()) });
    let own = format!(
        "{{ \"model\": \"opus\",\n\t\"hooks\": {{\"Stop\": [ {{\"hooks\": [ {hook} ]}} ] }} }}\n"
    );
    fs::write(stage.settings(), &own).unwrap();

    stage.thru(&["up", "--yes"]);
    let session = stage.asks(WRITE, &[]);
    stage.expect_events(&session, &PACKING_EVENTS);
    assert_eq!(fs::read_to_string(&mark).unwrap(), "seen\n");

    stage.thru(&["uninstall"]);
    // The client itself wrote its settings anew meanwhile: what they say is as it was.
    let left: Value = serde_json::from_str(&fs::read_to_string(stage.settings()).unwrap()).unwrap();
    assert_eq!(left["hooks"], json!({ "Stop": [{ "hooks": [hook] }] }));
    let before = stage.journal().len();
    stage.asks(WRITE, &[]);
    assert_eq!(fs::read_to_string(&mark).unwrap(), "seen\nseen\n");
    assert_eq!(stage.journal().len(), before, "nothing is recorded any more");
}
