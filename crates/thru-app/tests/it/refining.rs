//! Asking models about earlier turns: what is sent, what is believed, what it may cost.

use std::fs;

use serde_json::{Value, json};
use thru_app::ingest::jobs::{self, JobSelection};
use thru_app::models::distil::{Distil, Distilled, distil};
use thru_app::models::meters::Meters;
use thru_app::models::setting::{self, SetModel};
use thru_app::models::trial::try_models;
use thru_app::{Listing, Remedy, TroubleKind};
use thru_store::Store;
use thru_testkit::answers::{is_about_session, session, turn, willing};
use thru_testkit::provider::{ModelServer, ReceivedRequest, Response, error, ollama};

use crate::home::{Home, call};
use crate::records::{Author, ONE, TWO, file};

/// A home with a session of two turns, and this model set.
fn home_with(server: &ModelServer) -> Home {
    let home = Home::new();
    let mut author = Author::of(ONE);
    author
        .asks("Why does the oxidiser valve stay shut? The lock must be released when it opens.")
        .says("I look at the valve and its lock.")
        .runs("toolu_1", "cargo test valve")
        .gets("toolu_1", "error: the lock is held")
        .says("The lock was never released, so the valve stayed shut. Release the lock early.")
        .asks("Good. My token is ghp_abcdefghijklmnopqrstuvwxyz0123456789 and <private>my birthday</private>; run the tests again.")
        .runs("toolu_2", "cargo test valve")
        .gets("toolu_2", "test result: ok. 3 passed")
        .says("All tests pass now: the valve opens.");
    home.write(&file(ONE), author.text());
    home.import();
    set(&home, server);
    home
}

fn set(home: &Home, server: &ModelServer) {
    let request = SetModel {
        provider: "ollama".to_owned(),
        model: Some("llama3.2:3b".to_owned()),
        url: Some(server.url()),
        ..SetModel::default()
    };
    setting::set(&home.app(), &request).unwrap();
}

fn request(run: bool, again: bool) -> Distil {
    let since = "20 years ago".to_owned();
    Distil { since, until: None, project: None, session: None, again, run }
}

fn run(home: &Home) -> Distilled {
    distil(&home.app(), &request(true, false), call()).unwrap()
}

/// The numbers of a run: turns, sessions, questions that failed.
fn numbers(distilled: &Distilled) -> (u64, u64, u64) {
    let done = distilled.done.as_ref().unwrap();
    (done.turns, done.sessions, done.failed)
}

fn meters(home: &Home) -> Meters {
    let app = home.app();
    let store = Store::open_to_read(&app.layout).unwrap();
    let jobs = store.jobs().unwrap();
    Meters::read(&app, Some(&store), &jobs).unwrap().unwrap()
}

/// The memories that a search finds.
fn memories(home: &Home) -> Value {
    serde_json::to_value(home.search("valve").memories).unwrap()
}

#[test]
fn nothing_is_asked_where_no_model_is_set() {
    let home = Home::imported();
    let refused = distil(&home.app(), &request(true, false), call()).unwrap_err();
    assert_eq!(refused.kind(), TroubleKind::Refused);
    assert_eq!(refused.remedy(), Some(&Remedy::See(Listing::Providers)));
    let priced = distil(&home.app(), &request(false, false), call()).unwrap();
    assert!(!priced.is_empty() && priced.asked.is_none() && priced.done.is_none());
}

#[test]
fn a_price_is_shown_before_anything_is_sent() {
    let server = willing();
    let home = home_with(&server);
    let priced = distil(&home.app(), &request(false, false), call()).unwrap();
    let expected = json!({
        "version": 1, "kind": "distil", "turns": 2, "sessions": 1, "done": null,
        "estimated": { "input_tokens": 5_004, "output_tokens": 1_050, "cost_micros": 0 },
    });
    assert_eq!(serde_json::to_value(&priced).unwrap(), expected);
    assert_eq!(priced.left, (500_000, 5_000_000));
    assert!(server.requests().is_empty());
}

#[test]
fn a_spent_budget_is_told_and_the_queue_is_kept() {
    let server = willing();
    let home = home_with(&server);
    home.set(&[("budget.daily_tokens", "3400")]);
    let ran = run(&home);
    assert_eq!(numbers(&ran), (1, 0, 0));
    assert_eq!(ran.done.unwrap().exhausted, Some("today's tokens"));
    assert_eq!((server.requests().len(), meters(&home).waiting), (1, 2));
    home.set(&[("budget.daily_tokens", "60000")]);
    run(&home);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_model_on_this_machine_is_asked_where_the_first_does_not_answer() {
    let broken = ModelServer::start([error(500, "api_error", "out of order")]).unwrap();
    let local = willing();
    let home = home_with(&broken);
    home.set(&[
        ("models.fallback", "ollama"),
        ("models.fallback_model", "small"),
        ("models.fallback_url", &local.url()),
    ]);
    assert_eq!(numbers(&run(&home)).0, 2);
    assert_eq!(local.requests().len(), 3);
}

#[test]
fn nonsense_is_paid_for_twice_and_not_for_ever() {
    let server = ModelServer::start([ollama("I would rather sing.")]).unwrap();
    let home = home_with(&server);
    for times in 1..=2 {
        run(&home);
        assert_eq!(server.requests().len(), 2 * times, "the session waits for its turns");
    }
    assert!(meters(&home).today.tokens > 0, "it was paid for");
    assert!(!serde_json::to_string(&home.search("sing")).unwrap().contains("rather sing"));
}

#[test]
fn a_project_that_must_not_be_sent_is_not() {
    let server = willing();
    let home = home_with(&server);
    home.set(&[("models.off", "true")]);
    assert_eq!(run(&home).done.unwrap().skipped, 3);
    assert!(server.requests().is_empty());
}

#[test]
fn a_project_whose_file_cannot_be_read_is_not_sent() {
    let server = willing();
    for text in ["models.off = \"yes\"", "<<<<<<< HEAD\nmodels.off = true", "[models]\nof = true"] {
        let home = home_with(&server);
        fs::write(home.project().join(".throughline.toml"), text).unwrap();
        let mut author = Author::of(TWO).in_directory(home.project().to_str().unwrap());
        author
            .asks("Why does the pump stall? Look at it.")
            .runs("toolu_1", "cargo test pump")
            .gets("toolu_1", "error: the pump stalls")
            .says("The pump stalls because its belt is loose.");
        home.write(&file(TWO), author.text());
        home.import();
        let before = server.requests().len();
        run(&home);
        let sent = &server.requests()[before..];
        assert!(!sent.is_empty(), "others are sent");
        let has_pump =
            |asked: &ReceivedRequest| String::from_utf8_lossy(&asked.body).contains("pump");
        assert!(!sent.iter().any(has_pump), "{text}");
    }
}

#[test]
fn a_waste_counts_although_the_fallback_is_away() {
    let junk = ModelServer::start([ollama("I would rather sing.")]).unwrap();
    let home = home_with(&junk);
    home.set(&[
        ("models.fallback", "ollama"),
        ("models.fallback_model", "small"),
        ("models.fallback_url", "http://127.0.0.1:9"),
    ]);
    for _ in 0..2 {
        jobs::retry(&home.app(), &JobSelection::All, call()).unwrap();
        run(&home);
    }
    let queue = jobs::list(&home.app(), call()).unwrap();
    let mut turns = queue.jobs.iter().filter(|job| job.turn.is_some()).peekable();
    assert!(turns.peek().is_some() && turns.all(|job| job.attempts == 1), "{queue:?}");
}

#[test]
fn asking_again_and_again_leaves_nothing_in_the_queue() {
    let server = willing();
    let home = home_with(&server);
    run(&home);
    for _ in 0..3 {
        let again = distil(&home.app(), &request(true, true), call()).unwrap();
        assert_eq!(again.done.unwrap().reused, 3);
        assert!(jobs::list(&home.app(), call()).unwrap().jobs.is_empty());
    }
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn ten_megabytes_are_not_read_to_the_end() {
    let long = "x".repeat(10 * 1024 * 1024);
    let mut said: Value = serde_json::from_str(&turn()).unwrap();
    said["observations"][0]["narrative"] = json!(long);
    for answer in [ollama(&long), ollama(&said.to_string())] {
        let server = ModelServer::start([answer]).unwrap();
        let home = home_with(&server);
        let before = memories(&home);
        let (turns, _, failed) = numbers(&run(&home));
        assert_eq!((turns, failed), (0, 2));
        assert_eq!((memories(&home), meters(&home).waiting), (before, 3));
        let queue = jobs::list(&home.app(), call()).unwrap();
        let mut errors = queue.jobs.iter().filter_map(|job| job.error.as_deref());
        assert!(errors.any(|error| error.contains("longer than")), "{queue:?}");
    }
}

#[test]
fn a_model_that_hangs_is_given_up_and_its_question_waits() {
    let server = ModelServer::start([Response::silence()]).unwrap();
    let home = home_with(&server);
    home.set(&[("models.timeout_seconds", "1")]);
    let before = memories(&home);
    let ran = run(&home);
    assert!(ran.done.as_ref().unwrap().trouble.is_some());
    assert_eq!((server.requests().len(), numbers(&ran).2), (1, 1), "others would hang, too");
    let meters = meters(&home);
    assert_eq!((memories(&home), meters.waiting), (before, 3));
    let queue = jobs::list(&home.app(), call()).unwrap();
    let mut errors = queue.jobs.iter().filter_map(|job| job.error.as_deref());
    assert!(errors.any(|error| error.contains("no answer within 1 s")), "{queue:?}");
    // It may have answered: that counts.
    assert!(meters.today.tokens > 1_000, "{meters:?}");
}

#[test]
fn a_key_that_expires_in_the_middle_leaves_the_rest_in_the_queue() {
    let expired = error(401, "authentication_error", "the key has expired");
    let server = ModelServer::start([ollama(&turn()), expired]).unwrap();
    let home = home_with(&server);
    let ran = run(&home);
    assert_eq!(numbers(&ran), (1, 0, 1));
    let trouble = ran.done.unwrap().trouble.unwrap();
    assert!(trouble.contains("the key has expired"), "{trouble}");
    assert_eq!((server.requests().len(), meters(&home).waiting), (2, 2));
    assert!(memories(&home).to_string().contains("closed by a lock"), "what was answered is kept");
    let server = willing();
    set(&home, &server);
    run(&home);
    assert_eq!(server.requests().len(), 2, "what was answered is not asked again");
}

#[test]
fn a_trial_keeps_to_the_budget_too() {
    let server = ModelServer::start([ollama("{\"ready\": true}")]).unwrap();
    let home = home_with(&server);
    home.set(&[("budget.daily_tokens", "1200")]);
    let trial = try_models(&home.app(), call()).unwrap();
    assert!(trial.is_well());
    let refused = try_models(&home.app(), call()).unwrap_err();
    assert_eq!(refused.kind(), TroubleKind::Refused);
    assert_eq!(refused.message(), "today's tokens are spent");
    assert!(
        matches!(refused.remedy(), Some(Remedy::Run { command, .. }) if command.contains("budget"))
    );
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_answer_in_another_form_is_read() {
    let prose = |said: &str| {
        format!("Sure! Here is what happened:\n\n```json\n{said}\n```\nAnything else?")
    };
    let fenced = ModelServer::answering(move |asked| match is_about_session(asked) {
        true => ollama(&prose(&session())),
        false => ollama(&prose(&turn())),
    });
    let tags = ModelServer::answering(|asked| {
        ollama(match is_about_session(asked) {
            true => {
                "<summary><title>Why the valve stayed shut</title><request>Find out why the valve stays \
                 shut</request><learned>The lock was never released</learned></summary>"
            }
            false => {
                "<observation><type>bugfix</type>\
                 <title>The oxidiser valve was closed by a lock that nobody released</title>\
                 <narrative>The valve stayed shut because the lock was never released.</narrative>\
                 <facts><fact>The lock is released when the valve opens</fact></facts>\
                 <concepts><concept>problem-solution</concept></concepts>\
                 </observation><summary><request>Find out why the valve stays shut</request></summary>"
            }
        })
    });
    for server in [fenced, tags] {
        let server = server.unwrap();
        let home = home_with(&server);
        assert_eq!(numbers(&run(&home)), (2, 1, 0));
        let found = serde_json::to_string(&home.search("valve")).unwrap();
        assert!(found.contains("closed by a lock") && found.contains("Why the valve stayed shut"));
    }
}

#[test]
fn a_turn_that_hooks_told_and_its_transcript_tells_again_is_paid_once() {
    let server = willing();
    let home = Home::new();
    set(&home, &server);
    let asked = "Why does the oxidiser valve stay shut? Release the lock when it opens.";
    let said = "The lock was never released, so the valve stayed shut.";
    home.hook(ONE, "SessionStart", json!({ "source": "startup" }));
    home.prompt(ONE, 1, asked);
    let call_of_tool = json!({
        "prompt_id": "p1", "tool_name": "Bash", "tool_use_id": "toolu_1",
        "tool_input": { "command": "cargo test valve" },
        "tool_response": { "stdout": "error: the lock is held", "stderr": "" },
    });
    home.hook(ONE, "PostToolUse", call_of_tool);
    home.stop(ONE, said);
    home.hook(ONE, "SessionEnd", json!({ "reason": "other" }));
    home.import();
    assert_eq!(numbers(&run(&home)), (1, 1, 0));
    let mut author = Author::of(ONE).in_directory(home.project().to_str().unwrap());
    author
        .asks(asked)
        .runs("toolu_1", "cargo test valve")
        .gets("toolu_1", "error: the lock is held")
        .says(said);
    home.write(&file(ONE), author.text());
    home.import();
    let again = distil(&home.app(), &request(true, false), call()).unwrap();
    assert_eq!(server.requests().len(), 2, "{:?}", again.done);
}
