//! When something goes wrong, the client works as if we were not there.

use std::fs;

use thru_real_client::{Script, fails};

use crate::stage::{FENCE, Stage, TURN_EVENTS, WRITE, packing};

#[test]
fn a_failure_of_the_model_is_recorded() {
    let Some(stage) = Stage::new(Script::new().on("fail", [fails(529)])) else { return };
    let run = stage.ask("Please fail", &[]);
    assert_eq!(run.code, Some(1), "as without us");
    assert_eq!(run.result()["api_error_status"], 529);
    // The client does not wait for the last but one: it and the last come in any order.
    let wanted = ["SessionStart", "UserPromptSubmit", "StopFailure", "SessionEnd"];
    stage.expect_events_in_any_order(&run.session(), &wanted);
}

#[test]
fn a_memory_that_cannot_be_written_does_no_harm() {
    let Some(stage) = Stage::new(packing()) else { return };
    // A file takes the place of the folder, so that not even root can write there.
    let _ = fs::remove_dir_all(stage.data());
    fs::create_dir_all(stage.data().parent().unwrap()).unwrap();
    fs::write(stage.data(), "not a folder").unwrap();
    let run = stage.ask(WRITE, &[]);
    assert_eq!(run.code, Some(0));
    assert_eq!(run.result()["result"], "The packing list is written.");
    assert!(stage.api.requests().iter().all(|request| !request.conversation().contains(FENCE)));
}

#[test]
fn a_memory_that_is_broken_does_no_harm() {
    let Some(stage) = Stage::new(packing()) else { return };
    stage.asks(WRITE, &[]);
    stage.take_in();
    fs::write(stage.data().join("memory.db"), "not a database").unwrap();
    let session = stage.asks("Good morning", &[]);
    stage.expect_events(&session, &TURN_EVENTS);
}

#[test]
fn while_recording_is_paused_nothing_is_recorded() {
    let Some(stage) = Stage::new(packing()) else { return };
    stage.thru(&["capture", "pause"]);
    stage.asks(WRITE, &[]);
    assert!(stage.journal().is_empty());
    stage.thru(&["capture", "resume"]);
    let session = stage.asks("Good morning", &[]);
    stage.expect_events(&session, &TURN_EVENTS);
}

#[test]
fn a_client_that_is_killed_loses_nothing_that_was_recorded() {
    let slow = std::time::Duration::from_secs(60);
    let wait = thru_real_client::message([thru_real_client::pauses(slow)]);
    let Some(stage) = Stage::new(Script::new().on("Wait", [wait])) else { return };
    let mut client = stage.home.client(&stage.api);
    let mut child =
        client.args(["-p", "Wait for me"]).stdin(std::process::Stdio::null()).spawn().unwrap();
    let started = std::time::Instant::now();
    while stage.api.requests().is_empty() {
        assert!(started.elapsed().as_secs() < 30, "the client asks nothing");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let journal = stage.journal();
    let events: Vec<_> = journal.iter().map(|entry| entry.event.as_str()).collect();
    assert_eq!(events, ["SessionStart", "UserPromptSubmit"]);
    stage.thru(&["intake"]);
    let shown = stage.json(&["session", "show", &journal[0].session, "--json"]);
    assert_eq!(shown["turns"][0]["prompt"]["text"], "Wait for me");
}
