//! What a reader weeks later learns from titles, decisions and open lines.

use thru_core::{ObservationType, Outcome, WorkOutcome};

use super::Story;

/// Returns the titles of a story by kind: decisions, or what was found and done.
fn titles(story: &Story, decisions: bool) -> Vec<String> {
    let told = story.observations().into_iter();
    told.filter(|one| (one.kind == ObservationType::Decision) == decisions)
        .map(|one| one.title)
        .collect()
}

/// Returns the decisions of a prompt and the agent's answer to it.
fn decided(prompt: &str, answer: &str) -> Vec<String> {
    let mut story = Story::default();
    story.asks(prompt).says(answer);
    titles(&story, true)
}

fn commit(subject: &str, body: &str) -> (String, String) {
    let command = format!("git commit -m \"{subject}\n\n{body}\"");
    (command, format!("[main 1a2b3c4] {subject}\n 1 file changed"))
}

#[test]
fn a_proposal_that_is_hedged_decides_once_the_agent_takes_it_up() {
    let proposal = "maybe the seedlings should stay in the north greenhouse";
    let told = ["The seedlings should stay in the north greenhouse"];
    for (answer, decisions) in [
        ("Agreed, the seedlings stay in the north greenhouse.", &told[..]),
        ("Yes. I'll note it.", &told[..]),
        ("I would rather move the seedlings: the north one is too cold.", &[]),
        ("The sensors report twice a minute.", &[]),
        // Agreement for some cases is none yet, and advice says it better than the proposal.
        ("I agree: if the heating holds, the seedlings stay in the north greenhouse.", &[]),
        (
            "Yes. I'd keep the seedlings in the north greenhouse, not in the cellar.",
            &["Keep the seedlings in the north greenhouse, not in the cellar"],
        ),
    ] {
        assert_eq!(decided(proposal, answer), decisions, "{answer}");
    }
    let denied = "the pump logs should not be in the folder of the day it should be in the folder of the house sitting beside the readings of its sensors";
    assert_eq!(
        decided(denied, "Let me look."),
        [
            "The pump logs should be in the folder of the house sitting beside the readings of its sensors"
        ]
    );
    // The hedge is about the rest of the sentence.
    assert_eq!(
        decided("anything below 4 degrees must be heated, maybe write it down", "Noted."),
        ["Anything below 4 degrees must be heated"]
    );
}

#[test]
fn a_decision_is_told_with_its_object_or_not_at_all() {
    let answer = "I agree.\n\nThe change is made:\n\n- No legacy formats in `beds/old.toml`.\n- The reader is half as long now, and it has one way to go for every bed in the house.";
    assert_eq!(
        decided("and we don't need legacy formats this will confuse people", answer),
        ["No legacy formats in beds/old.toml"]
    );
    assert_eq!(decided("let's use sqlite for caching", "Let me look."), ["Use sqlite for caching"]);
    let new = "the two formats are new, so no need for backward compatibility";
    assert_eq!(decided(new, "Let me look at the readers."), [""; 0]);
    for thin in ["we need to use a framework", "we want the opinion of the gardener"] {
        assert_eq!(decided(thin, "Let me look at the beds."), [""; 0], "{thin}");
    }
}

#[test]
fn yes_to_a_question_is_told_as_what_it_decides() {
    let mut story = Story::default();
    story
        .asks("how should watering work?")
        .says("Two questions.\n\n1. Are you okay replacing the valve controller entirely?\n2. Do you want a log?")
        .asks("1 - yeah, 2 - later");
    let told = titles(&story, true);
    assert_eq!(told.first().map(String::as_str), Some("Replace the valve controller entirely"));
}

#[test]
fn an_answer_that_repeats_its_question_is_told_with_its_subject() {
    let call = "questions: question: Do you want the watering page to show a plain list?\nheader: Page\noptions: label: Plain list\ndescription: One line per bed\nlabel: Map\ndescription: A drawing\nUser has answered your questions: \"Do you want the watering page to show a plain list?\"=\"Plain list\". You can now continue with the user's answers in mind.";
    let mut story = Story::default();
    story.asks("Plan the page").calls("AskUserQuestion", call);
    assert_eq!(titles(&story, true), ["Watering page: plain list"]);
}

#[test]
fn advice_that_work_took_up_is_no_title_any_more() {
    let mut story = Story::default();
    story
        .asks("can we remove the valve driver of the old pump?")
        .says("I would remove the `valve-2` driver of the old pump in spring, not now. The `valve-2` driver is still loaded by two houses, and both of them have to be rewired before that. Nothing else in the garden uses it any more, as far as the logs of this year show.");
    assert_eq!(
        titles(&story, false),
        ["Recommended: remove the valve-2 driver of the old pump in spring, not now"]
    );
    let (command, result) = commit("remove the valve-2 driver of the old pump", "");
    story
        .asks("the houses are rewired, delete it")
        .edits("/p/valve.rs")
        .runs(&command, &result, Outcome::Succeeded)
        .says("Done.");
    assert_eq!(titles(&story, false), ["", "Remove the valve-2 driver of the old pump"]);
}

#[test]
fn commits_that_keep_the_books_are_no_titles_beside_the_work() {
    let mut story = Story::default();
    story.asks("carry out the second part of the plan").edits("/p/src/beds.rs");
    let (command, result) = commit("feat(02): measure the moisture of each bed", "");
    story.runs(&command, &result, Outcome::Succeeded).edits("/p/plans/STATE.md");
    let (command, result) = commit("docs(02): update state after moisture plan", "");
    story.runs(&command, &result, Outcome::Succeeded).says("Both are committed.");
    assert_eq!(titles(&story, false), ["Measure the moisture of each bed (02, beds.rs)", ""]);
}

#[test]
fn a_commit_of_earlier_work_is_told_once_with_it() {
    let (command, result) = commit("Add a moisture log with one line per bed", "");
    let mut story = Story::default();
    story
        .asks("Implement the following plan:\n\n# Better moisture\n\n## Context\nThe beds are wet.\n\n- Log it")
        .edits("/p/src/beds.rs")
        .says("All done. I added a moisture log with one line per bed, and the page of the house reads it.")
        .asks("commit")
        .runs(&command, &result, Outcome::Succeeded)
        .says("Committed. All hooks passed.");
    let told = story.observations();
    assert_eq!(
        told.iter().map(|one| (one.turn, one.title.as_str())).collect::<Vec<_>>(),
        [(1, "Add a moisture log with one line per bed (beds.rs)"),]
    );
    let report = told[0].report.as_ref().unwrap();
    assert!(report.text.contains("the page of the house reads it"), "{}", report.text);
    // A commit of two turns' work is none of either.
    let (command, result) = commit("Log the moisture of each bed, sorted by name", "");
    let mut story = Story::default();
    story
        .asks("add a moisture log with one line per bed")
        .edits("/p/src/beds.rs")
        .says("Added a moisture log with one line per bed.")
        .asks("sort the beds by their names")
        .edits("/p/src/page.rs")
        .says("Sorted the beds by their names.")
        .asks("commit")
        .runs(&command, &result, Outcome::Succeeded)
        .says("Committed.");
    assert_eq!(titles(&story, false).len(), 3);
}

#[test]
fn what_did_not_help_is_told_by_what_was_tried() {
    let (command, result) = commit(
        "Fix the pump image",
        "Use the offline installer instead of the mirror to avoid the timeout",
    );
    let mut story = Story::default();
    story
        .asks("$ make image\nerror: step 4 failed with code 1")
        .edits("/p/Containerfile")
        .runs(&command, &result, Outcome::Succeeded)
        .says("Changed to the offline installer instead, which is more reliable than the mirror. Try again.")
        .asks("$ make image\nerror: step 4 failed with code 1")
        .says("Looking.");
    let told = titles(&story, false);
    assert_eq!(
        told.first().map(String::as_str),
        Some(
            "Tried, still failing: use the offline installer instead of the mirror to avoid the timeout"
        )
    );
    assert!(told.iter().all(|title| !title.starts_with("Did not help")), "{told:?}");
}

#[test]
fn an_order_to_tidy_up_leaves_nothing_open() {
    let (command, result) = commit("measure the moisture of each bed", "");
    let mut story = Story::default();
    story
        .asks("measure the moisture of each bed")
        .edits("/p/src/beds.rs")
        .runs(&command, &result, Outcome::Succeeded)
        .says("Each bed is measured now.")
        .asks("please remove this tmux session now");
    let digest = story.distilled().summary.unwrap().digest;
    assert_eq!((digest.next_steps.len(), digest.outcome), (0, WorkOutcome::Completed));
}

#[test]
fn a_command_is_open_only_with_what_it_is_about() {
    let steps = |story: &Story| {
        let digest = story.distilled().summary.unwrap().digest;
        digest.next_steps.into_iter().map(|step| step.text).collect::<Vec<_>>()
    };
    let mut story = Story::default();
    story
        .asks("how are the beds?")
        .reads("/p/src/beds.rs")
        .says("Dry.\n\n**Next:** `/garden:water 12`");
    assert_eq!(steps(&story), [""; 0]);
    let (command, result) = commit("measure the moisture of each bed", "");
    let mut story = Story::default();
    story
        .asks("/garden:water 12")
        .edits("/p/src/beds.rs")
        .runs(&command, &result, Outcome::Succeeded)
        .reads("/p/src/pump.rs");
    assert_eq!(
        steps(&story),
        ["Not finished: /garden:water 12 (last done: measure the moisture of each bed)"]
    );
}

/// Returns the title of a commit of two files on a branch, after a prompt and before a report.
fn committed(prompt: &str, subject: &str, report: &str) -> String {
    let (command, result) = commit(subject, "");
    let result = result.replace("[main ", "[feat/phase-7-frost-alarm ");
    let mut story = Story::default();
    story
        .asks(prompt)
        .edits("/p/src/beds.rs")
        .edits("/p/src/pump.rs")
        .runs(&command, &result, Outcome::Succeeded)
        .says(report);
    titles(&story, false).remove(0)
}

#[test]
fn a_commit_is_told_with_what_its_report_names() {
    for (subject, report, title) in [
        (
            "fix(beds): drop retired watering policy",
            "Done.\n\n- `flood_at_noon` is dropped from the watering settings, a retired policy.\n- All 12 tests pass.",
            "Drop retired watering policy (beds, flood_at_noon)",
        ),
        (
            "water from one place",
            "Changed:\n- Moved the watering into `pump.yml`, so that one place knows the hours.\n- Watering the place by hand is documented in `guide.md`.",
            "Water from one place: move the watering into pump.yml, so that one place knows the hours",
        ),
        // Half a list would say something else.
        (
            "heat the beds at night",
            "Enabled the heating of the beds at night in `house_1`, `house_2`, `house_3`, and turned it off in all the others.",
            "Heat the beds at night (house_1)",
        ),
        // The person may have named it.
        ("replace the old guard", "Done.", "Replace the old guard (night_guard)"),
        // Nothing in the report is about the same, or the title names it already.
        (
            "water from one place",
            "The sensors of `bed_3` report twice a minute.",
            "Water from one place",
        ),
        (
            "water from pump-yard only",
            "Water comes from `pump-yard` only, as `valve.rs` says.",
            "Water from pump-yard only",
        ),
        // What is left or foretold is no work.
        (
            "water from one place",
            "Not moved yet: one place of the water in `valve.rs`.",
            "Water from one place",
        ),
        // Of a title with names, the person's word for it.
        (
            "use the Frostwatch relay",
            "The Frostwatch relay replaces `night_guard`, and `log_hours` with it.",
            "Use the Frostwatch relay (night_guard)",
        ),
        // The number of a phase says less than its branch.
        ("docs(7): capture the context", "Committed.", "Capture the context (phase 7 frost alarm)"),
        ("feat(8): heat the seedlings", "Committed.", "Heat the seedlings (8)"),
        // A kind of work says less than what was done.
        (
            "fix: address review comments",
            "I've replaced the polling of `bed_3` with a relay.",
            "Address review comments: replace the polling of bed_3 with a relay",
        ),
    ] {
        let told = committed("please replace the old night_guard", subject, report);
        assert_eq!(told, title, "{subject}");
    }
}

#[test]
fn a_list_of_what_was_done_tells_more_than_a_remark_behind_it() {
    let mut story = Story::default();
    story
        .asks("hm, is that smell from the pump?")
        .edits("/p/src/beds.rs")
        .edits("/p/src/pump.rs")
        .says("Implemented the rest:\n\n- Added a frost alarm with `bed_3` as its sensor\n- Wrote the guide\n\nOn the smell: I renamed the old pump helpers.");
    assert_eq!(titles(&story, false), ["Add a frost alarm with bed_3 as its sensor"]);
}

#[test]
fn an_order_is_told_once_with_the_work_that_carried_it_out() {
    let (command, result) = commit("remove the frost alarm of the north house", "");
    let mut story = Story::default();
    story
        .asks("let's remove the frost alarm of the north house since it never rang")
        .edits("/p/src/beds.rs")
        .edits("/p/src/pump.rs")
        .runs(&command, &result, Outcome::Succeeded)
        .says("Done.");
    assert_eq!(titles(&story, true), [""; 0]);
    assert_eq!(story.observations()[0].merged.len(), 1);
    // A rule holds on, whatever was done at once.
    story.asks("from now on remove the frost alarm of a house that is sold");
    assert_eq!(titles(&story, true).len(), 1);
}

#[test]
fn commits_that_begin_and_end_the_work_of_another_are_no_titles() {
    let mut story = Story::default();
    story.asks("carry out the quick task");
    for (subject, file) in [
        ("docs(quick-9): plan the frost alarm", "/p/plans/9.md"),
        ("feat(quick-9): ring the bell below 2 degrees", "/p/src/alarm.rs"),
        ("docs(quick-9): complete the frost alarm", "/p/plans/9-done.md"),
    ] {
        let (command, result) = commit(subject, "");
        story.edits(file).runs(&command, &result, Outcome::Succeeded);
    }
    story.says("All are committed.");
    let told: Vec<String> =
        titles(&story, false).into_iter().filter(|title| !title.is_empty()).collect();
    assert_eq!(told, ["Ring the bell below 2 degrees (quick-9, alarm.rs)"]);
}

#[test]
fn questions_doubts_and_hints_decide_nothing() {
    for (said, answer) in [
        (
            "How did we decide between the queue and the table? I would like to know why",
            "Agreed: the table keeps the importer's order, which is why we chose it over the queue.",
        ),
        (
            "perhaps we should just remove the retry mode and move the limits under the profile",
            "That is probably the cleanest model: no retry mode, and the limits under the profile.",
        ),
        ("I'd love to treat the importer as a general reader of feeds", "That would be something."),
        ("In the header, I think we should use a kind of brown", "On it."),
    ] {
        assert_eq!(decided(said, answer), [""; 0], "{said}");
    }
}

#[test]
fn what_a_decision_is_relative_to_is_told_or_the_decision_is_not() {
    assert_eq!(
        decided("seems like the best workaround is to use the older feed", "Noted."),
        [""; 0]
    );
    let renamed = commit("docs: leave import deletion to the feed's owner", "");
    let mut story = Story::default();
    story
        .asks("deletion should be handled outside of the importer, right")
        .edits("/p/README.md")
        .runs(&renamed.0, &renamed.1, Outcome::Succeeded);
    assert_eq!(titles(&story, true), [""; 0]);
}

#[test]
fn what_was_lacking_is_no_finding_once_it_was_done() {
    let mut story = Story::default();
    story
        .asks("Is the MailRelay already planned?")
        .reads("/p/PLAN.md")
        .says("The MailRelay of the importer is not planned anywhere. `PLAN.md` lists the feeds and the index alone, and no open issue names it.")
        .asks("Add the MailRelay to the importer")
        .edits("/p/src/relay.rs")
        .says("Added the MailRelay to the importer.");
    let told = titles(&story, false);
    assert!(told.iter().all(|title| !title.contains("not planned")), "{told:?}");
    assert!(told.iter().any(|title| title.contains("MailRelay")), "{told:?}");
}

#[test]
fn a_request_of_which_only_the_plan_was_written_is_planned() {
    let mut story = Story::default();
    story
        .asks("Move the feed list below the index")
        .edits("/p/plans/7-move.md")
        .says("Let me know.");
    assert_eq!(titles(&story, false), ["Planned: move the feed list below the index (7-move.md)"]);
}

#[test]
fn what_is_to_be_done_alone_is_told_with_what_it_replaces() {
    assert_eq!(
        decided(
            "We no longer need the importer image. Just run the importer directly going forward.",
            "Noted."
        ),
        ["We no longer need the importer image: just run the importer directly going forward"]
    );
}

#[test]
fn work_that_a_later_turn_takes_back_is_told_as_reverted() {
    let removed = commit("Remove second check_feed() call", "");
    let restored = commit("Restore check_feed() call at the start", "");
    let mut story = Story::default();
    story
        .asks("The check is there twice")
        .edits("/p/src/feed.rs")
        .runs(&removed.0, &removed.1, Outcome::Succeeded)
        .asks("The reader is broken now")
        .edits("/p/src/feed.rs")
        .runs(&restored.0, &restored.1, Outcome::Succeeded);
    assert_eq!(
        titles(&story, false),
        [
            "Tried, then reverted: remove second check_feed() call",
            "Restore check_feed() call at the start",
        ]
    );
}

#[test]
fn a_vague_subject_is_told_with_the_points_of_the_report() {
    let vague = commit("docs(guide): restore dropped sections", "");
    let mut story = Story::default();
    story
        .asks("The merge lost parts of the guide, bring them back please")
        .edits("/p/GUIDE.md")
        .runs(&vague.0, &vague.1, Outcome::Succeeded)
        .says("Restored all that the merge had dropped:\n\n- **Feed Naming** — one name per feed\n- **Index Layout** — where the lines are kept\n- **Release Steps** — in order");
    assert_eq!(
        titles(&story, false),
        ["Restore dropped sections (guide): Feed Naming, Index Layout, Release Steps"]
    );
}

#[test]
fn a_vague_subject_of_a_document_is_told_with_what_it_says_now() {
    for (subject, report, title) in [
        (
            "docs(feeds): clarify the retries",
            "Documented it in the guide. The new note says that `feed-cli` waits ten seconds between two tries of one feed in the same house, but the daemon for none. No tests run.",
            "Clarify the retries: feed-cli waits ten seconds between two tries of one feed in the same house",
        ),
        (
            "docs: align index examples",
            "I patched the page to match:\n\n- The YAML example now uses `index: daily`\n- nothing else moved",
            "Align index examples: the YAML example now uses index: daily",
        ),
        (
            "docs: refresh the index page",
            "It now reads better. All checks pass.",
            "Refresh the index page",
        ),
    ] {
        let (command, result) = commit(subject, "");
        let mut story = Story::default();
        story
            .asks("please look after the guide")
            .edits("/p/GUIDE.md")
            .runs(&command, &result, Outcome::Succeeded)
            .says(report);
        assert_eq!(titles(&story, false), [title]);
    }
}

#[test]
fn a_vague_subject_of_code_is_told_with_what_its_file_does() {
    let (command, result) = commit("fix(feeds): harden the nightly index run", "");
    let mut story = Story::default();
    story
        .asks("the index was not written last night")
        .edits("/p/ci/night.yml")
        .edits("/p/src/index.rs")
        .runs(&command, &result, Outcome::Succeeded)
        .says("The runner was killed twice.\n\nI patched:\n\n- [night.yml](/p/ci/night.yml): starts the index run again after a kill\n- [index.rs](/p/src/index.rs): keeps what was written");
    assert_eq!(
        titles(&story, false),
        ["Harden the nightly index run: night.yml starts the index run again after a kill"]
    );
}

#[test]
fn a_merge_of_more_than_the_commit_is_told_with_it() {
    let (command, result) = commit("feat: count the pumps of a house", "");
    let mut story = Story::default();
    story
        .asks("resolve the conflicts and merge it")
        .runs(
            "gh pr view 12 --json number,title,url",
            "{\"number\":12,\"title\":\"fix(night): close all valves at dusk\",\"url\":\"https://git.example/o/r/pull/12\"}",
            Outcome::Succeeded,
        )
        .edits("/p/src/pump.rs")
        .runs(&command, &result, Outcome::Succeeded)
        .runs(
            "gh pr merge 12 --squash",
            "✓ Squashed and merged pull request #12 (fix(night): close all valves at dusk)",
            Outcome::Succeeded,
        )
        .says("Merged.");
    assert_eq!(
        titles(&story, false),
        ["Count the pumps of a house; merged #12: close all valves at dusk (pump.rs)"]
    );
}
