//! The work that is open at the end of a session.

use thru_core::{Digest, Outcome, WorkOutcome};

use super::Story;

impl Story {
    /// Runs a command of Codex, in a folder.
    fn executes(&mut self, command: &str, result: &str, outcome: Outcome) -> &mut Self {
        let text =
            format!("exec_command\ncmd: {command}\nworkdir: /p\nyield_time_ms: 1000\n{result}");
        let moment = self.push(thru_core::PassageKind::Tool, Some("exec_command"), &text);
        moment.command = Some(command.to_owned());
        moment.outcome = Some(outcome);
        self
    }

    /// Reads on from a running command.
    fn polls(&mut self, session: u32, result: &str, outcome: Outcome) -> &mut Self {
        let text =
            format!("write_stdin\nsession_id: {session}\nchars: \nyield_time_ms: 1000\n{result}");
        self.push(thru_core::PassageKind::Tool, Some("write_stdin"), &text).outcome = Some(outcome);
        self
    }

    fn digest(&self) -> Digest {
        self.distilled().summary.unwrap().digest
    }
}

fn steps(digest: &Digest) -> Vec<&str> {
    digest.next_steps.iter().map(|step| step.text.as_str()).collect()
}

fn state(digest: &Digest) -> &str {
    digest.state.as_ref().map_or("", |state| state.text.as_str())
}

const RED: &str = "Tests: 1 failed, 4 passed";
const GREEN: &str = "Tests: 5 passed";

#[test]
fn a_wider_check_that_passes_ends_a_narrow_one_that_failed() {
    let mut story = Story::default();
    story
        .asks("add a limit to the upload size")
        .edits("/p/src/upload.ts")
        .runs("npx jest src/upload.test.ts", RED, Outcome::Failed)
        .edits("/p/src/upload.ts")
        .runs("npm test", GREEN, Outcome::Succeeded)
        .says("The upload is limited to 10 MB now.");
    let digest = story.digest();
    assert_eq!((steps(&digest), digest.outcome), (vec![], WorkOutcome::Completed));
    assert_eq!(state(&digest), "`npm test` passes; nothing committed");
}

#[test]
fn a_narrow_check_that_passes_ends_no_wider_one() {
    let mut story = Story::default();
    story
        .asks("add a limit to the upload size")
        .edits("/p/src/upload.ts")
        .runs("npm test", RED, Outcome::Failed)
        .runs("npx jest src/upload.test.ts", GREEN, Outcome::Succeeded)
        .says("The upload is limited now, but the tests of the login still fail.");
    let digest = story.digest();
    assert_eq!(digest.outcome, WorkOutcome::Blocked);
    assert_eq!(steps(&digest)[0], "`npm test` fails: Tests: 1 failed, 4 passed");
}

#[test]
fn a_commit_or_a_push_ends_what_failed_before() {
    for landing in ["git commit -qm 'Limit uploads'", "git push -q origin main"] {
        let mut story = Story::default();
        story
            .asks("add a limit to the upload size")
            .edits("/p/src/upload.ts")
            .runs("npm test", RED, Outcome::Failed)
            .runs(landing, "", Outcome::Succeeded)
            .says("Done.");
        assert_eq!(steps(&story.digest()), [""; 0], "{landing}");
    }
    let mut story = Story::default();
    story
        .asks("add a limit to the upload size")
        .edits("/p/src/upload.ts")
        .runs("npm test", RED, Outcome::Failed)
        .runs("git commit -qm 'WIP: limit uploads'", "", Outcome::Succeeded)
        .says("I stopped here; next: repair the failing upload test.");
    let digest = story.digest();
    assert_eq!(steps(&digest).len(), 2);
    assert_eq!(steps(&digest)[1], "repair the failing upload test.");
}

#[test]
fn failures_that_the_agent_explains_are_no_open_work() {
    let mut story = Story::default();
    story
        .asks("add a limit to the upload size")
        .edits("/p/src/upload.ts")
        .runs("npm test", RED, Outcome::Failed)
        .says("The limit is in. One login test fails, which is pre-existing and unrelated.");
    assert_eq!(steps(&story.digest()), [""; 0]);
}

#[test]
fn a_command_that_was_wrong_checked_nothing() {
    let mut story = Story::default();
    story
        .asks("add a limit to the upload size")
        .edits("/p/src/upload.ts")
        .runs("npm run lint", "error: Missing script \"lint\"", Outcome::Failed)
        .says("The limit is in.");
    let digest = story.digest();
    assert_eq!((steps(&digest), digest.outcome), (vec![], WorkOutcome::Completed));
}

#[test]
fn later_results_belong_to_the_command_that_was_running() {
    let mut story = Story::default();
    story
        .asks("add a limit to the upload size")
        .edits("/p/src/upload.ts")
        .executes("npm test", "", Outcome::Succeeded)
        .polls(7, "", Outcome::Succeeded)
        .polls(7, RED, Outcome::Failed)
        .says("One test fails and I cannot proceed without the fixture.");
    assert_eq!(steps(&story.digest())[0], "`npm test` fails: Tests: 1 failed, 4 passed");
    story
        .asks("here is the fixture")
        .executes("npm test", "", Outcome::Succeeded)
        .polls(8, GREEN, Outcome::Succeeded)
        .executes("git commit -m 'Limit uploads' && git push", "", Outcome::Succeeded)
        .polls(
            9,
            "[main abc1234] Limit uploads\n 1 file changed\n   a1..b2  main -> main",
            Outcome::Succeeded,
        )
        .says("Pushed.");
    let digest = story.digest();
    assert_eq!((steps(&digest), digest.outcome), (vec![], WorkOutcome::Completed));
    assert_eq!(state(&digest), "pushed abc1234 \"Limit uploads\" to main");
}

#[test]
fn the_state_is_the_last_step_on_the_way() {
    let mut story = Story::default();
    story.asks("limit uploads").edits("/p/src/upload.ts").runs(
        "git commit -m 'Limit uploads'",
        "[fix/up abc1234] Limit uploads\n 1 file changed",
        Outcome::Succeeded,
    );
    assert_eq!(state(&story.digest()), "committed abc1234 \"Limit uploads\" on fix/up");
    story.runs(
        "gh pr create -t 'feat(form): limit \"big\" uploads' -b y",
        "https://git.example/o/r/pull/12",
        Outcome::Succeeded,
    );
    assert_eq!(state(&story.digest()), "PR #12 \"Limit 'big' uploads (form)\" opened");
    story.runs(
        "git commit -m 'Name the limit'",
        "[fix/up abc1235] Name the limit\n 1 file changed",
        Outcome::Succeeded,
    );
    assert_eq!(
        state(&story.digest()),
        "PR #12 \"Limit 'big' uploads (form)\" opened; committed abc1235 \"Name the limit\" on fix/up"
    );
    story.runs(
        "gh pr merge --squash",
        "✓ Squashed and merged pull request o/r#12",
        Outcome::Succeeded,
    );
    assert_eq!(state(&story.digest()), "PR #12 \"Limit 'big' uploads (form)\" merged");
    story.edits("/p/CHANGELOG.md").says("Merged, and the changelog is updated.");
    assert_eq!(
        state(&story.digest()),
        "PR #12 \"Limit 'big' uploads (form)\" merged; CHANGELOG.md changed since, not committed"
    );
}

#[test]
fn a_stale_list_of_tasks_is_no_open_work() {
    let list = "todos: content: Add the limit\nstatus: completed\ncontent: Run the tests\nstatus: in_progress";
    let mut story = Story::default();
    story.asks("limit the size of uploads").edits("/p/src/upload.ts").calls("TodoWrite", list);
    let digest = story.digest();
    assert_eq!((steps(&digest), digest.outcome), (vec!["Run the tests"], WorkOutcome::InProgress));
    story.says("I've limited uploads to 10 MB, in the form and on the server.");
    let digest = story.digest();
    assert_eq!((steps(&digest), digest.outcome), (vec![], WorkOutcome::Completed));
}

#[test]
fn next_steps_outlive_talk_and_end_with_their_landing() {
    let mut story = Story::default();
    story
        .asks("limit the size of uploads")
        .edits("/p/src/upload.ts")
        .says("Uploads are limited. Next: wire the limit into `form.ts`, then commit.")
        .asks("which library checks the size?")
        .says("The parser does it itself, while it reads the parts of the form.");
    assert_eq!(steps(&story.digest()), ["wire the limit into `form.ts`, then commit."]);

    let mut story = Story::default();
    story
        .asks("limit the size of uploads")
        .edits("/p/src/upload.ts")
        .says("Uploads are limited. Ready to commit when you are.")
        .asks("commit")
        .runs("git commit -qm 'Limit uploads'", "", Outcome::Succeeded)
        .says("Committed.");
    assert_eq!(steps(&story.digest()), [""; 0]);
}

#[test]
fn interrupted_and_unanswered_requests_are_not_finished() {
    let mut story = Story::default();
    story.asks("Move the upload form to its own page").edits("/p/src/form.ts");
    let digest = story.digest();
    assert_eq!(steps(&digest), ["Not finished: move the upload form to its own page"]);
    assert_eq!(digest.outcome, WorkOutcome::InProgress);

    let mut story = Story::default();
    story
        .asks("Move the upload form to its own page")
        .edits("/p/src/form.ts")
        .says("I've moved the upload form to its own page.");
    story.asks("Thanks. Does the old address still work?");
    let digest = story.digest();
    assert_eq!(digest.open_questions[0].text, "Does the old address still work?");
    assert_eq!((steps(&digest), digest.outcome), (vec![], WorkOutcome::InProgress));

    let mut story = Story::default();
    story
        .asks("Move the upload form to its own page")
        .edits("/p/src/form.ts")
        .says("I've moved the upload form to its own page.")
        .asks("/exit");
    let digest = story.digest();
    assert_eq!((steps(&digest), digest.outcome), (vec![], WorkOutcome::Completed));
}

#[test]
fn a_plan_that_was_not_approved_is_to_be_decided() {
    let mut story = Story::default();
    story.asks("plan how to limit uploads").reads("/p/src/upload.ts");
    story.calls("ExitPlanMode", "plan: # Plan: Limit uploads\n\n1. Check the size in the parser\n[Request interrupted by user for tool use]");
    story.moments.last_mut().unwrap().outcome = Some(Outcome::Failed);
    let digest = story.digest();
    assert_eq!(steps(&digest), ["Decide on the proposed plan: Limit uploads"]);
    assert_eq!(digest.outcome, WorkOutcome::InProgress);
}

#[test]
fn what_was_taken_back_was_only_tried() {
    let mut story = Story::default();
    story
        .asks("Cache the parsed configuration")
        .edits("/p/src/config.ts")
        .runs("npm test", RED, Outcome::Failed)
        .runs("git checkout -- src/config.ts", "", Outcome::Succeeded)
        .says("The cache went stale whenever a test changed the file, so I reverted it.");
    let observations = story.observations();
    assert_eq!(
        observations[0].title,
        "Tried, then reverted: cache the parsed configuration (config.ts)"
    );
    assert!(observations[0].facts[0].text.ends_with("so I reverted it."));

    let mut story = Story::default();
    story
        .asks("Cache the parsed configuration")
        .edits("/p/src/config.ts")
        .says("I've cached the parsed configuration.")
        .asks("I've reverted your changes: it must be read anew each time")
        .says("Understood, the file is read anew each time.");
    let observations = story.observations();
    assert_eq!(
        observations[0].title,
        "Tried, then reverted: cache the parsed configuration (config.ts)"
    );
    assert!(observations[0].facts[0].text.starts_with("The user: I've reverted your changes"));
}

#[test]
fn edits_that_stay_beside_one_taken_back_are_work() {
    let mut story = Story::default();
    story
        .asks("Cache the parsed configuration")
        .edits("/p/src/config.ts")
        .edits("/p/src/notes.ts")
        .runs("git restore src/notes.ts", "", Outcome::Succeeded)
        .says("I've cached the parsed configuration.");
    let observations = story.observations();
    assert_eq!(observations[0].title, "Cache the parsed configuration (config.ts)");
    assert_eq!(observations[0].files_modified, ["/p/src/config.ts"]);
}

#[test]
fn red_in_work_of_ones_own_is_no_bugfix() {
    let mut story = Story::default();
    story
        .asks("Support nested folders in the upload form")
        .edits("/p/src/form.test.ts")
        .runs("npm test", RED, Outcome::Failed)
        .edits("/p/src/form.ts")
        .runs("npm test", GREEN, Outcome::Succeeded)
        .says("The form takes nested folders now.");
    assert_ne!(story.observations()[0].kind, thru_core::ObservationType::Bugfix);
}

#[test]
fn commits_of_a_repository_made_for_a_test_are_none() {
    let mut story = Story::default();
    story
        .asks("Check how the parser reads renamed files")
        .edits("/p/src/parser.ts")
        .runs("mkdir /tmp/case && cd /tmp/case && git init -q", "", Outcome::Succeeded)
        .runs(
            "cd /tmp/case && git commit -m initial",
            "[main (root-commit) abc1234] initial",
            Outcome::Succeeded,
        )
        .says("Renamed files are read by their new name.");
    assert_eq!(state(&story.digest()), "");
    assert!(story.observations().iter().all(|one| one.facts.is_empty()));
}

#[test]
fn a_step_without_its_object_is_told_with_the_last_work() {
    let mut story = Story::default();
    story
        .asks("limit the size of uploads")
        .edits("/p/src/upload.ts")
        .runs(
            "git commit -m 'Limit uploads to 10 MB'",
            "[limits abc1234] Limit uploads to 10 MB",
            Outcome::Succeeded,
        )
        .says("The limit is in. Ready to push when you are.");
    assert_eq!(
        steps(&story.digest()),
        ["Ready to push when you are (Limit uploads to 10 MB; limits)"]
    );
    story
        .asks("does it close ticket 12?")
        .says("Not by itself. I'd close ticket 12 once this branch lands.");
    assert_eq!(steps(&story.digest()), ["I'd close ticket 12 once limits lands."]);
}

#[test]
fn a_commit_that_was_not_made_is_what_is_left() {
    for (outcome, step) in [
        (Outcome::Pending, "Not committed yet: Limit uploads to 10 MB"),
        (Outcome::Failed, "The commit fails: Limit uploads to 10 MB"),
    ] {
        let mut story = Story::default();
        story.asks("limit the size of uploads and describe it").edits("/p/src/upload.ts").runs(
            "git commit -m 'Limit uploads to 10 MB'",
            "",
            outcome,
        );
        assert!(steps(&story.digest()).contains(&step), "{:?}", steps(&story.digest()));
    }
}

#[test]
fn parts_of_a_task_that_were_done_are_not_left() {
    let mut story = Story::default();
    story
        .asks("limit the size of uploads")
        .calls("update_plan", "plan: step: Edit the upload\nstatus: completed\nstep: Run install and focused verification\nstatus: in_progress\nstep: Validate, commit and push\nstatus: pending")
        .edits("/p/src/upload.ts")
        .runs("npm test", GREEN, Outcome::Succeeded);
    assert_eq!(steps(&story.digest()), ["Commit and push (Limit the size of uploads (upload.ts))"]);
}

#[test]
fn what_a_step_points_at_is_named() {
    let mut story = Story::default();
    story
        .asks("limit the size of uploads")
        .edits("/p/src/upload.ts")
        .runs(
            "git push -u origin fix/upload-limit",
            "To example.org:shop\n * [new branch] fix/upload-limit -> fix/upload-limit",
            Outcome::Succeeded,
        )
        .says("Uploads are limited in `fix/upload-limit`.\n\nThe branch still needs to be merged.");
    assert_eq!(steps(&story.digest()), ["fix/upload-limit still needs to be merged."]);
}

#[test]
fn of_two_orders_the_last_is_left() {
    let mut story = Story::default();
    story.asks("delete the old uploads. then remove the upload form from the menu").runs(
        "rm -r uploads",
        "",
        Outcome::Succeeded,
    );
    assert_eq!(steps(&story.digest()), ["Not finished: remove the upload form from the menu"]);
}
