//! What a starting session is told of facts.

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use thru_app::ask::context::{AskContext, ContextMoment, context};
use thru_app::ingest::intake::ingest_recorded;
use thru_core::{Clock, FixedClock};

use crate::home::{Home, call};
use crate::records::{Author, ONE, TWO, file};

/// The lines of a pack about facts, at noon of the day of the history.
fn told(home: &Home) -> Vec<String> {
    let mut app = home.app_in(&home.project());
    app.clock = Arc::new(FixedClock("2026-03-01T12:00:00Z".parse().unwrap()));
    let asked = AskContext { project: None, moment: ContextMoment::Start, session: None };
    let pack = context(&app, &asked, call()).unwrap();
    let lines = pack.text.get().lines();
    let parts = ["failed last", "fails: ", "Changed since"];
    let is_of_facts = |line: &&str| parts.iter().any(|part| line.contains(part));
    lines.filter(is_of_facts).map(str::to_owned).collect()
}

#[test]
fn a_start_tells_what_failed_last_and_what_others_changed() {
    let home = Home::new();
    let project = home.project();
    fs::create_dir(project.join(".git")).unwrap();
    fs::write(project.join(".git/HEAD"), "ref: refs/heads/fix/kiln\n").unwrap();
    let directory = project.to_string_lossy().into_owned();
    let check = "npm run typecheck";
    let failure = "src/kiln.ts(3,1): error TS2304: Cannot find name 'cone'.";
    let edit = |name: &str, old: &str, new: &str| json!({ "file_path": format!("{directory}/{name}"), "old_string": old, "new_string": new });
    let mut red = Author::of(ONE).in_directory(&directory);
    red.asks("Name the cone")
        .calls("t1", "Edit", edit("src/kiln.ts", "a", "b"))
        .gets("t1", "The file has been updated.")
        .runs("t2", &format!("{check} 2>&1 | tail -20"))
        .gets("t2", failure);
    let of_branch = |author: &Author| author.text().replace("\"main\"", "\"fix/kiln\"");
    home.write(&file(ONE), of_branch(&red));
    let mut other = Author::of(TWO).in_directory(&directory).starting_at_record(600);
    other
        .asks("Take the new zod")
        .calls("t1", "Edit", edit("package.json", "\"zod\": \"^3.22.0\"", "\"zod\": \"^4.0.0\""))
        .gets("t1", "The file has been updated.");
    home.write(&file(TWO), other.text());
    home.import();
    insta::assert_snapshot!(told(&home).join("\n"), @"
    - Next: `npm run typecheck` fails: src/kiln.ts(3,1): error TS2304: Cannot find name 'cone'.
    - Changed since, in other sessions: zod ^4.0.0
    ");
    // It passes.
    red.runs("t3", check).gets("t3", "");
    home.write(&file(ONE), of_branch(&red));
    home.import();
    insta::assert_snapshot!(told(&home).join("\n"), @"- Changed since, in other sessions: zod ^4.0.0");
}

/// The lines about its last events that a session is given when it goes on at a time.
fn last_events(home: &Home, event: &str, more: Value, at: &str) -> Vec<String> {
    let clock: Arc<dyn Clock> = Arc::new(FixedClock(at.parse().unwrap()));
    let answer = home.hook_at(&clock, &home.project(), ONE, event, more);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let lines = context.lines().filter(|line| line.contains("last events"));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_session_that_goes_on_is_told_its_last_events_whoever_told_of_them() {
    let home = Home::new();
    let mut author = Author::of(ONE).in_directory(home.project().to_str().unwrap());
    author.asks("Bound the wait").runs("t1", "just test").gets("t1", "ok").says("Bounded.");
    author.asks("And the retries?").runs("t2", "just lint").gets("t2", "ok").says("They too.");
    home.write(&file(ONE), author.text());
    home.import();
    // Hooks were installed since: the start is the first event that they tell of.
    let source = json!({ "source": "resume" });
    let told = last_events(&home, "SessionStart", source, "2026-03-01T12:00:00Z");
    insta::assert_snapshot!(told.join("\n"), @"- Its last events: [2 h ago] prompt: Bound the wait; Bash; prompt: And the retries?; Bash");
    // Hooks and transcript tell of the same.
    author.asks("Good. Commit it").runs("t3", "git commit -am wait").gets("t3", "ok");
    home.write(&file(ONE), author.text());
    home.import();
    let clock: Arc<dyn Clock> = Arc::new(FixedClock("2026-03-01T12:01:00Z".parse().unwrap()));
    for (event, more) in [
        ("UserPromptSubmit", json!({ "prompt_id": "p3", "prompt": "Good. Commit it" })),
        (
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_use_id": "t3", "tool_response": "ok",
                "tool_input": { "command": "git commit -am wait" } }),
        ),
        ("Stop", json!({ "last_assistant_message": "Committed." })),
    ] {
        home.hook_at(&clock, &home.project(), ONE, event, more);
    }
    ingest_recorded(&home.here(), call()).unwrap();
    let prompt = json!({ "prompt_id": "p4", "prompt": "continue" });
    let told = last_events(&home, "UserPromptSubmit", prompt, "2026-03-01T15:00:00Z");
    insta::assert_snapshot!(told.join("\n"), @"- Its last events: [5 h ago] Bash; [3 h ago] SessionStart: resume; [2 h ago] prompt: Good. Commit it; Bash: 2 bytes of output; Stop: Committed.");
}

#[test]
fn a_prompt_is_given_the_turn_that_spoke_of_it_in_its_midst() {
    let home = Home::new();
    let directory = home.project().to_string_lossy().into_owned();
    let edit = |name: &str| json!({ "file_path": format!("{directory}/{name}"), "old_string": "a", "new_string": "b" });
    let mut author = Author::of(ONE).in_directory(&directory);
    author
        .asks("Make the glaze shelf list load faster")
        .says("The warehouse nozzle is calibrated against the brass gauge, since the copper one drifts in frost.")
        .calls("t1", "Edit", edit("src/shelf.ts"))
        .gets("t1", "The file has been updated.")
        .says("The shelf list loads in one query now, and the nozzle is left as it was.")
        .asks("Paint the header of the shelf list green")
        .calls("t2", "Edit", edit("src/header.ts"))
        .gets("t2", "The file has been updated.")
        .says("The header is green.");
    home.write(&file(ONE), author.text());
    home.import();
    let mut app = home.app_in(&home.project());
    app.clock = Arc::new(FixedClock("2026-03-01T12:00:00Z".parse().unwrap()));
    let given = |prompt: &str| {
        let moment = ContextMoment::Prompt(prompt.to_owned());
        let pack =
            context(&app, &AskContext { project: None, moment, session: None }, call()).unwrap();
        pack.text.get().to_string()
    };
    let pack =
        given("is the warehouse nozzle calibrated by the copper gauge, and does frost matter?");
    assert!(pack.contains("brass gauge, since the copper one drifts"), "{pack}");
    assert_eq!(
        given("is the ferry to the island calibrated by the moon, and does rain matter?"),
        ""
    );
}
