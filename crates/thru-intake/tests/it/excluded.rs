//! Sessions of excluded directories are not read.

use std::path::Path;

use crate::dump;
use crate::machine::{Machine, assert_same};
use crate::records::{Author, ONE, TWO, conversation, file};

fn private_session() -> String {
    let mut author = Author::of(TWO).in_directory("/home/ada/diary");
    author.asks("Dear diary").says("Yes?");
    author.text()
}

#[test]
fn sessions_of_an_excluded_directory_are_left_out_with_all_their_files() {
    let subagent = format!("projects/-home-ada-rocket/{TWO}/subagents/agent-a1.jsonl");
    let machine = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        (&file(TWO), &private_session()),
        (&subagent, &Author::of(TWO).starting_at_record(9).asks("In secret").text()),
    ]);
    let excluded = |directory: &Path| directory == Path::new("/home/ada/diary");
    let plan = machine.intake().plan(machine.discover(), Some(&excluded)).unwrap();
    assert_eq!((plan.sources.len(), plan.left_out), (1, 2));
    machine.import_without(&excluded);
    let all = machine.dump().join("\n");
    assert!(!all.contains("diary") && !all.contains("In secret"));
}

#[test]
fn a_subagent_of_an_excluded_session_stays_out_when_only_it_changed() {
    let subagent = format!("projects/-home-ada-rocket/{TWO}/subagents/agent-a1.jsonl");
    let machine = Machine::with([(&file(TWO), &private_session())]);
    let excluded = |directory: &Path| directory == Path::new("/home/ada/diary");
    machine.import_without(&excluded);
    machine.write(&subagent, Author::of(TWO).starting_at_record(9).asks("In secret").text());
    let plan = machine.intake().plan(machine.discover(), Some(&excluded)).unwrap();
    assert_eq!(plan.sources, []);
}

#[test]
fn prompts_of_an_excluded_directory_stay_out() {
    let machine = Machine::with([(
        "history.jsonl",
        &crate::records::prompt_of(TWO, 1_772_355_601_000, "Dear diary").replace("rocket", "diary"),
    )]);
    let excluded = |directory: &Path| directory == Path::new("/home/ada/diary");
    machine.import_without(&excluded);
    let all = machine.dump().join("\n");
    assert!(!all.contains("Dear diary"), "{all}");
}

#[test]
fn what_is_skipped_is_not_found() {
    let machine =
        Machine::with([(&file(ONE), &conversation(ONE).text()), (&file(TWO), &private_session())]);
    let skip = |path: &Path| path.ends_with(format!("{TWO}.jsonl"));
    let found = thru_agents::claude_code::discover(&machine.claude(), &skip);
    machine.try_import(found).unwrap();
    let whole = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    whole.import();
    assert_same(&dump::store(&machine.layout()), &dump::store(&whole.layout()));
}
