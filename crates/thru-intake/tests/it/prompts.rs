//! The agent's list of prompts fills in for transcripts that are gone, and only for those.

use thru_core::PassageKind;

use crate::dump;
use crate::machine::{Machine, assert_same};
use crate::records::{ONE, TWO, conversation, file, prompt_of};

const LIST: &str = "history.jsonl";

fn list() -> String {
    prompt_of(ONE, 1_772_355_601_000, "Why does the importer lock the database?")
        + &prompt_of(TWO, 1_772_355_700_000, "A prompt whose transcript is gone")
        + &prompt_of(ONE, 1_772_355_800_000, "Thanks. Does it survive a crash?")
}

#[test]
fn prompts_of_lost_transcripts_are_kept() {
    let machine = Machine::with([(LIST, &list())]);
    machine.import();
    let human = dump::texts(&machine.layout(), PassageKind::Human);
    insta::assert_snapshot!(human.join("\n"), @r"
    A prompt whose transcript is gone
    Thanks. Does it survive a crash?
    Why does the importer lock the database?
    ");
    machine.assert_sound();
}

#[test]
fn a_list_gives_the_same_before_and_after_the_transcript() {
    let text = conversation(ONE).text();
    let at_once = Machine::with([(LIST, &list()), (&file(ONE), &text)]);
    at_once.import();
    at_once.assert_sound();
    let human = dump::texts(&at_once.layout(), PassageKind::Human);
    insta::assert_snapshot!(human.join("\n"), @r"
    A prompt whose transcript is gone
    Thanks. Does it survive a crash?
    Why does the importer lock the database?
    ");
    for files in
        [[(LIST, list()), (&file(ONE), text.clone())], [(&file(ONE), text.clone()), (LIST, list())]]
    {
        let machine = Machine::new();
        for (name, content) in files {
            machine.write(name, content);
            machine.import();
        }
        machine.assert_sound();
        machine.assert_same_as(&at_once);
    }
    let incremental = at_once.dump();
    at_once.rebuild();
    assert_same(&at_once.dump(), &incremental);
}

#[test]
fn a_list_that_grows_gives_the_same() {
    let list = list();
    let machine = Machine::new();
    for end in list.match_indices('\n').map(|(at, _)| at + 1) {
        machine.write(LIST, &list[..end]);
        machine.import();
    }
    let whole = Machine::with([(LIST, &list)]);
    whole.import();
    machine.assert_same_as(&whole);
}

#[test]
fn a_list_that_was_cut_at_its_beginning_loses_nothing() {
    let machine = Machine::with([(LIST, &list())]);
    machine.import();
    let before = dump::texts(&machine.layout(), PassageKind::Human);
    let rest: String = list().lines().skip(1).map(|line| format!("{line}\n")).collect();
    machine.write(LIST, rest + &prompt_of(TWO, 1_772_355_900_000, "One more"));
    machine.import();
    let mut wanted = before;
    wanted.push("One more".to_owned());
    wanted.sort();
    assert_eq!(dump::texts(&machine.layout(), PassageKind::Human), wanted);
    machine.assert_sound();
}
