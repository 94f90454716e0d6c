//! A home without a daemon, for however long: hooks and commands do its work, or leave a process that does.

use serde_json::{Value, json};
use thru_agents::hooks::{self, HookInput};
use thru_capture::session::Session;
use thru_capture::{Recorder, session_key};
use thru_core::Timestamp;
use thru_intake::Intake;
use thru_journal::journal::Journal;
use thru_redact::Redactor;
use thru_store::Store;
use thru_store::index::rows_behind;

use crate::faulting::eventually;
use crate::home::Home;
use crate::hooking::{hook, layout, payload, prompt, stop};
#[cfg(target_os = "linux")]
use crate::mcp::client::Client;
use crate::records::{ONE, TWO};

/// The machine's name in the journal, as in the binary.
const HOST: &str = "test";

/// Records prompts of a session of an hour ago, without a process for each.
fn record_prompts(home: &Home, number: usize, bytes: usize) {
    let layout = layout(home);
    let journal = Journal::open(layout.journal(), HOST).unwrap();
    let redactor = Redactor::builtin();
    let recorder = Recorder { journal: &journal, redactor: &redactor, skip_tools: &[] };
    let begin = Timestamp::now().as_second() - 3_600;
    for number in 0..number {
        let text = format!("Question {number} about the sextant {}", "and more ".repeat(bytes / 9));
        let more = json!({ "prompt_id": format!("p{number}"), "prompt": text });
        let raw = payload(home, TWO, "UserPromptSubmit", more).to_string();
        let input =
            HookInput::parse(hooks::ADAPTERS[0], "UserPromptSubmit", raw.as_bytes()).unwrap();
        let session = Session::at(&layout, &session_key(&input));
        let at = Timestamp::from_second(begin + number as i64).unwrap();
        recorder.record(&input, raw.as_bytes(), &session, at).unwrap();
    }
}

fn start(home: &Home, session: &str) -> Value {
    hook(home, session, "SessionStart", json!({ "source": "startup" }))
}

fn news(home: &Home) -> u64 {
    let Ok(store) = Store::open_to_read(&layout(home)) else { return u64::MAX };
    Intake::news(&layout(home), HOST, &store).unwrap_or(u64::MAX)
}

#[test]
fn hooks_on_a_fresh_home_make_a_store() {
    let home = Home::new();
    start(&home, ONE);
    assert!(Store::open_to_read(&layout(&home)).is_ok());
}

#[test]
fn a_start_leaves_a_large_backlog_to_another_process() {
    for has_store in [false, true] {
        let home = Home::new();
        if has_store {
            start(&home, ONE);
        }
        record_prompts(&home, 100, 12_000);
        assert!(news(&home) > 1_000_000);
        // On a busy machine a start may run out of its time before it looks.
        let mut later = 0;
        eventually(|| {
            later += 1;
            start(&home, &format!("44444444-dddd-4ddd-8ddd-{later:012}"));
            std::thread::sleep(std::time::Duration::from_secs(2));
            news(&home) < 10_000
        });
        home.thru(&["verify"]).expect(0);
    }
}

#[test]
fn the_process_that_is_left_behind_waits_for_one_that_writes() {
    let home = Home::new();
    start(&home, ONE);
    record_prompts(&home, 1, 0);
    let lock = std::fs::File::open(layout(&home).run().join("intake.lock")).unwrap();
    lock.lock().unwrap();
    let mut left = home.command().args(["intake", "--left-behind"]).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    assert!(left.try_wait().unwrap().is_none());
    drop(lock);
    assert!(left.wait().unwrap().success());
    assert_eq!(news(&home), 0);
}

#[test]
fn rows_that_the_index_lacks_are_indexed_by_the_next_question() {
    let home = Home::new();
    start(&home, ONE);
    record_prompts(&home, 2_600, 0);
    // Brings them into the store, and leaves the index as it is.
    home.thru(&["sessions"]).expect(0);
    let found = home.json(&["search", "--all", "--json", "sextant"]);
    assert_eq!(found["left_out"], 0, "{found}");
    let store = Store::open_to_read(&layout(&home)).unwrap();
    assert!(rows_behind(&layout(&home), &store).unwrap() < 1_000);
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_of_tools_makes_the_index_and_starts_no_process() {
    let home = Home::new();
    start(&home, ONE);
    record_prompts(&home, 2_600, 0);
    home.thru(&["sessions"]).expect(0);
    let mut client = Client::start(&home);
    client.call("search", json!({ "query": "sextant", "project": "*" }));
    eventually(|| {
        assert_eq!(client.children(), "");
        let store = Store::open_to_read(&layout(&home)).unwrap();
        rows_behind(&layout(&home), &store).unwrap() < 1_000
    });
}

#[test]
fn a_conversation_without_tools_is_told_to_later_sessions() {
    let home = Home::new();
    start(&home, TWO);
    prompt(&home, TWO, 1, "Which port does the periscope service listen on? We decided on 4711.");
    stop(&home, TWO, "The periscope service listens on port 4711, as decided.");
    hook(&home, TWO, "SessionEnd", json!({ "reason": "other" }));
    // On a busy machine the first start may run out of its time.
    let mut later = 0;
    eventually(|| {
        later += 1;
        let session = format!("44444444-dddd-4ddd-8ddd-{later:012}");
        start(&home, &session).to_string().contains("periscope")
    });
}
