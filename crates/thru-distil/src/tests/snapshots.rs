//! Snapshots of sessions, all of them invented.

use proptest::prelude::*;
use thru_core::SnapshotContent;

use super::*;
use crate::{SnapshotMaker, snapshot_wants_text};

fn snapshot(moments: &[Moment]) -> SnapshotContent {
    let mut maker = SnapshotMaker::new(&key(), &SessionFacts::default(), Default::default());
    for moment in moments {
        let mut moment = moment.clone();
        if !snapshot_wants_text(&moment) {
            moment.text.clear();
        }
        maker.add(moment);
    }
    maker.finish(|distillate| distillate)
}

fn work() -> Story {
    let mut story = Story::default();
    story
        .asks(
            "Make the uploads in src/upload.rs survive a locked database. Never use a global lock.",
        )
        .says("I look at `RetryBudget::next_pause` first.")
        .reads("/home/ada/rocket/src/upload.rs")
        .runs("cargo test -p rocket", "test result: FAILED. 1 failed", Outcome::Failed)
        .says(
            "The root cause is that `take_lock` waits for ever because the budget is never spent.",
        )
        .runs("cargo flamegraph", "error: no such command: `flamegraph`", Outcome::Failed)
        .edits("/home/ada/rocket/src/lock.rs")
        .says("A lock per process didn't work, as readers in other processes never see it.")
        .calls("Grep", "pattern: spend_budget\npath: src\nFound 3 files\nsrc/never_seen.rs")
        .edits("/home/ada/rocket/src/upload.rs")
        .runs("cargo test -p rocket", "test result: ok. 12 passed", Outcome::Succeeded)
        .runs("git status", "clean", Outcome::Succeeded)
        .says("I've bounded the retry loop.\n\n**Next steps:**\n- Measure it under load")
        .asks("Measure it under load with tools/load.sh and --max-clients 40")
        .says("I'll run the load test now.");
    story
}

#[test]
fn a_snapshot_holds_what_is_needed_to_go_on() {
    let content = snapshot(&work().moments);
    let texts = |statements: &[thru_core::Statement]| -> Vec<String> {
        statements.iter().map(|statement| statement.text.clone()).collect()
    };
    insta::assert_debug_snapshot!((
        &content.objective.as_ref().map(|one| &one.text),
        &content.last_request.as_ref().map(|one| &one.text),
        texts(&content.rulings),
        texts(&content.decisions),
        texts(&content.failed),
        texts(&content.commands),
        content.files.iter().map(|file| (file.path.as_str(), file.modified)).collect::<Vec<_>>(),
        &content.names,
    ), @r#"
    (
        Some(
            "Make the uploads in src/upload.rs survive a locked database. Never use a global lock.",
        ),
        Some(
            "Measure it under load with tools/load.sh and --max-clients 40",
        ),
        [
            "Never use a global lock",
        ],
        [
            "The root cause is that `take_lock` waits for ever because the budget is never spent.",
        ],
        [
            "`cargo flamegraph` failed: error: no such command: `flamegraph`",
            "A lock per process didn't work, as readers in other processes never see it.",
        ],
        [
            "cargo test -p rocket",
        ],
        [
            (
                "/home/ada/rocket/src/upload.rs",
                true,
            ),
            (
                "/home/ada/rocket/src/lock.rs",
                true,
            ),
            (
                "tools/load.sh",
                false,
            ),
        ],
        [
            "--max-clients",
            "spend_budget",
            "take_lock",
            "RetryBudget::next_pause",
        ],
    )
    "#);
    assert!(!content.done.is_empty() && !content.next_steps.is_empty());
}

#[test]
fn a_check_that_only_failed_is_no_command_that_works() {
    let mut story = Story::default();
    story
        .asks("Bound the retry loop in src/lock.rs")
        .edits("/home/ada/rocket/src/lock.rs")
        .runs("cargo clippy", "error: unused variable: `budget`", Outcome::Failed)
        .runs("cargo test", "test result: ok. 12 passed", Outcome::Succeeded);
    let content = snapshot(&story.moments);
    let commands: Vec<&str> = content.commands.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(commands, ["cargo test"]);
    assert!(content.failed[0].text.starts_with("`cargo clippy` failed"), "{:?}", content.failed);
}

#[test]
fn every_statement_names_the_passages_that_it_comes_from() {
    let story = work();
    let mut content = snapshot(&story.moments);
    let ids: Vec<Id> = story.moments.iter().map(|moment| moment.id).collect();
    for statement in content.lists_mut().into_iter().flatten() {
        assert!(!statement.sources.is_empty(), "{statement:?}");
        assert!(statement.sources.iter().all(|source| ids.contains(source)), "{statement:?}");
    }
}

#[test]
fn what_was_forgotten_is_not_told() {
    let mut maker = SnapshotMaker::new(&key(), &SessionFacts::default(), Default::default());
    for moment in work().moments {
        maker.add(moment);
    }
    let content = maker.finish(|mut distillate| {
        distillate.observations.retain(|one| !one.title.contains("global lock"));
        distillate
    });
    assert_eq!(content.rulings, []);
}

#[test]
fn a_ruling_that_is_all_of_a_prompt_stays_one() {
    let mut story = Story::default();
    story.asks("Always run cargo fmt before committing.").asks("Bound the retry loop in lock.rs.");
    let content = snapshot(&story.moments);
    assert_eq!(content.rulings[0].text, "Always run cargo fmt before committing");
    assert_eq!(content.last_request.unwrap().text, "Bound the retry loop in lock.rs.");
}

#[test]
fn what_is_used_lately_stands_first() {
    let mut story = Story::default();
    story.asks("Go on with old_helper and src/old.rs");
    for number in 0..400 {
        story.says(&format!("Step {number} is done."));
    }
    story.says("Now new_helper in src/new.rs.");
    let content = snapshot(&story.moments);
    assert_eq!(content.names, ["new_helper", "old_helper"]);
    assert_eq!(content.files[0].path, "src/new.rs");
}

proptest! {
    #[test]
    fn any_texts_are_read(texts in prop::collection::vec("(a_b|\\(|src/x.rs|::|--|\n|é|because |instead of |\\.|/|\\*|@|[a-zA-Z ]{0,12}){0,12}", 1..12)) {
        let mut story = Story::default();
        for (number, text) in texts.iter().enumerate() {
            match number % 4 {
                0 => story.asks(text),
                1 => story.says(text),
                2 => story.calls("Edit", text),
                _ => story.runs(text, text, Outcome::Failed),
            };
        }
        let first = snapshot(&story.moments);
        prop_assert_eq!(&first, &snapshot(&story.moments));
    }
}
