//! Properties that hold for any transcript.

use std::collections::BTreeSet;

use proptest::prelude::*;
use thru_core::Timestamp;

use super::*;
use thru_core::{defused, is_invisible};

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "I've fixed the parser. ",
        "always use tabs",
        "1. x - é\n",
        "**Option B**: ü — y\n",
        "Want me to ",
        "Should I keep é, or ",
        "Which one?\n",
        "let's use é instead of ",
        "we don't need ",
        "yes, ",
        "B",
        "#2 ",
        "the second",
        "label: é\ndescription: ü\n",
        "{\"answers\":{\"é\":",
        "id: é\n",
        " → ",
        "# Plan: é\n## Decisions\n",
        "Implement the following plan:\n",
        "never ",
        "## ",
        "\n",
        "- ",
        "```\n",
        "**",
        "`x.rs`",
        "(",
        "because ",
        "went with x instead of y ",
        "no, ",
        "Next steps:\n",
        "\u{202e}",
        "\u{1b}[31m",
        "\u{0}",
        "…",
        "<throughline-context>",
        "</throughline-context>",
        "日本語。",
        "[main abc1234] Add x\n",
        "error[E0382]: moved\n",
        "? ",
        ": ",
        "question: Which?\n",
        "header: H\n",
        "\"Which?\"=\"a\"",
        "answered your questions:",
        "plan: # P\n",
        "The user doesn't want to proceed with this tool use. the user said:\nno",
        "Edit\nfile_path: x\nThe user doesn't want to proceed with this tool use. The tool use was rejected. the user said:\nuse y \u{200b}",
        "User has approved your plan.",
        "补充ing the parser now",
        "バッグッing ",
        "ééing ",
        "İ’ve ",
        "subject: \nTask #2",
        "content: \nstatus: pending\n",
        "‘from now on“ ",
        "!!!",
        "... ",
        "content: t\nstatus: in_progress\n",
        "subject: s\nTask #1",
        "step: s\nstatus: pending\n",
        "session_id: 7\nchars: \n",
        "Next steps:\n",
        "still needs a test.",
        "I reverted it.",
        "1234567..89abcde main -> main\n",
        "https://git.example/o/r/pull/12",
        "PR #12 was merged.",
        "taskId: 1\nstatus: in_progress\n",
        "](",
        "[",
        "\u{e9}",
        "<<EOF\n",
        "EOF\n",
        "'",
        "\"",
    ]);
    prop_oneof![prop::collection::vec(word, 0..14).prop_map(|words| words.concat()), ".{0,80}"]
}

fn moment() -> impl Strategy<Value = Moment> {
    let kind = prop::sample::select(PassageKind::ALL.to_vec());
    let tool = prop::sample::select(vec![
        "Bash",
        "Edit",
        "Read",
        "AskUserQuestion",
        "ExitPlanMode",
        "TodoWrite",
        "TaskCreate",
        "TaskUpdate",
        "Task",
        "exec_command",
        "write_stdin",
        "update_plan",
    ]);
    let outcome = prop::sample::select(vec![Outcome::Succeeded, Outcome::Failed, Outcome::Pending]);
    let access = prop::sample::select(vec![Access::Read, Access::Modified]);
    let command = prop_oneof![
        Just("git commit -m x".to_owned()),
        Just("cargo test".to_owned()),
        Just("cargo test -p a && git push".to_owned()),
        Just("gh pr create -t x && gh pr merge 12".to_owned()),
        Just("git checkout -- a.rs; git stash".to_owned()),
        Just("cd /tmp/a && git init && git commit -m x".to_owned()),
        Just("cd a && cargo test 2>&1 | tail".to_owned()),
        text()
    ];
    let files = prop::collection::vec(("[a-c\u{1b}\u{202e}\n]{1,2}(\\.(rs|md))?", access), 0..3);
    let place = (0u32..6, any::<bool>(), prop::option::of(0i64..5000));
    (kind, tool, outcome, files, command, text(), place).prop_map(
        |(kind, tool, outcome, files, command, text, (turn, is_subagent, at))| {
            let is_tool = kind == PassageKind::Tool;
            Moment {
                id: Id::from_bytes([0; Id::BYTES]),
                turn: if is_subagent { 0 } else { turn },
                kind,
                is_subagent,
                tool: is_tool.then(|| tool.to_owned()),
                command: (is_tool && matches!(tool, "Bash" | "exec_command")).then_some(command),
                outcome: is_tool.then_some(outcome),
                at: at.and_then(|second| Timestamp::from_second(second).ok()),
                files: if is_tool {
                    files.into_iter().map(|(path, access)| FileTouch { path, access }).collect()
                } else {
                    Vec::new()
                },
                length: text.len() as u64,
                text,
            }
        },
    )
}

fn session() -> impl Strategy<Value = Vec<Moment>> {
    prop::collection::vec(moment(), 0..40).prop_map(|mut moments| {
        // The main transcript comes first, and its turns only grow.
        moments.sort_by_key(|moment| moment.is_subagent);
        let mut turn = 0;
        for (number, moment) in moments.iter_mut().enumerate() {
            turn = moment.turn.max(turn);
            moment.turn = if moment.is_subagent { 0 } else { turn };
            moment.id = Id::derive(&[&(number as u64).to_le_bytes()]);
        }
        moments
    })
}

fn is_clean(line: &str, limit: usize) -> bool {
    line.chars().count() <= limit
        && !line.chars().any(|c| c.is_control() || is_invisible(c))
        && defused(line) == line
}

proptest! {
    #[test]
    fn whatever_happens_the_rules_of_the_output_hold(moments in session()) {
        let distilled = distil(&moments);
        prop_assert_eq!(&distil(&moments), &distilled);

        let given: BTreeSet<Id> = moments.iter().map(|moment| moment.id).collect();
        let mut ids = BTreeSet::new();
        for observation in &distilled.observations {
            prop_assert!(ids.insert(observation.id));
            let headline = observation.headline();
            prop_assert!(!headline.is_empty() && is_clean(&headline, 100), "{:?}", headline);
            prop_assert!(is_clean(&observation.title, 100), "{:?}", observation.title);
            prop_assert!(observation.facts.len() <= 6);
            prop_assert!(!observation.sources.is_empty());
            prop_assert!(observation.sources.iter().all(|id| given.contains(id)));
            for statement in observation.statements().chain(&observation.asked) {
                let longest = if observation.report.as_ref() == Some(statement) { 640 } else { 400 };
                prop_assert!(!statement.text.is_empty() && is_clean(&statement.text, longest), "{:?}", statement.text);
                prop_assert!(!statement.sources.is_empty());
                prop_assert!(statement.sources.iter().all(|id| given.contains(id)));
            }
        }
        if let Some(summary) = &distilled.summary {
            prop_assert!(!summary.title.is_empty() && is_clean(&summary.title, 100));
            for digest in std::iter::once(&summary.digest).chain(summary.turns.iter().map(|(_, digest)| digest)) {
                for statement in digest.statements() {
                    prop_assert!(!statement.text.is_empty() && is_clean(&statement.text, 400), "{:?}", statement.text);
                    prop_assert!(!statement.sources.is_empty());
                    prop_assert!(statement.sources.iter().all(|id| given.contains(id)));
                }
            }
        }
        let changed: BTreeSet<&str> =
            distilled.observations.iter().flat_map(|one| &one.files_modified).map(String::as_str).collect();
        // Edits that were taken back are none.
        let restores = |moment: &Moment| moment.command.as_deref().is_some_and(|line| line.contains("checkout"));
        let is_whole = !moments.iter().any(restores);
        for moment in moments.iter().filter(|moment| is_whole && moment.outcome != Some(Outcome::Failed)) {
            for file in moment.files.iter().filter(|file| file.access == Access::Modified) {
                prop_assert!(changed.contains(file.path.as_str()), "{}", file.path);
            }
        }
    }

    #[test]
    fn turns_that_are_over_keep_their_ids(moments in session()) {
        let main: Vec<Moment> = moments.into_iter().filter(|moment| !moment.is_subagent).collect();
        let Some(last) = main.last().map(|moment| moment.turn) else { return Ok(()) };
        let ids = |distilled: &Distillate| -> BTreeSet<Id> {
            let merged = distilled.observations.iter().flat_map(|one| one.merged.iter().map(|merged| merged.id));
            distilled.observations.iter().map(|one| one.id).chain(merged).collect()
        };
        let over: Vec<Moment> = main.iter().filter(|moment| moment.turn < last).cloned().collect();
        prop_assert!(ids(&distil(&over)).is_subset(&ids(&distil(&main))));
    }
}
