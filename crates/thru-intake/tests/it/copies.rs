//! One record in several files: forks, resumed sessions, snapshots. It is one passage, and the answer
//! does not depend on which file was read first.

use std::fs;

use serde_json::json;

use crate::dump;
use crate::machine::{Machine, assert_same};
use crate::records::{Author, ONE, TWO, conversation, file};

fn fork() -> Author {
    let mut fork = Author::of(TWO);
    fork.forks(&conversation(ONE), 6).asks("Another way?").says("A queue in front of the lock.");
    fork
}

/// A resumed session as older versions wrote it: the records of the first one as they were.
fn resumed() -> Author {
    let mut resumed = Author::of(TWO);
    for line in conversation(ONE).text().lines() {
        resumed.line(line);
    }
    resumed.asks("Go on.").says("Where were we?");
    resumed
}

fn in_both_orders(first: &Author, second: &Author) -> Machine {
    let (one, two) = (first.text(), second.text());
    let at_once = Machine::with([(&file(ONE), &one), (&file(TWO), &two)]);
    at_once.import();
    at_once.assert_sound();
    for order in [[(ONE, &one), (TWO, &two)], [(TWO, &two), (ONE, &one)]] {
        let machine = Machine::new();
        for (session, text) in order {
            machine.write(&file(session), text);
            machine.import();
        }
        machine.assert_sound();
        machine.assert_same_as(&at_once);
    }
    let incremental = at_once.dump();
    at_once.rebuild();
    assert_same(&at_once.dump(), &incremental);
    at_once
}

#[test]
fn a_fork_gives_the_same_in_any_order() {
    let machine = in_both_orders(&conversation(ONE), &fork());
    let passages = dump::store(&machine.layout());
    let count = |text: &str| {
        passages.iter().filter(|l| l.starts_with("passage") && l.contains(text)).count()
    };
    assert_eq!(count("Why does the importer lock the database?"), 1);
    assert_eq!(count("A queue in front of the lock."), 1);
    let forked = passages.iter().find(|l| l.starts_with(&format!("session {TWO}"))).unwrap();
    assert!(forked.contains(&format!(r#""forked-from":"{ONE}""#)), "{forked}");
}

#[test]
fn a_resumed_session_gives_the_same_in_any_order() {
    in_both_orders(&conversation(ONE), &resumed());
}

#[test]
fn a_fork_whose_origin_is_gone_has_all_its_passages() {
    let machine = Machine::with([(&file(TWO), &fork().text())]);
    machine.import();
    let passages = dump::store(&machine.layout());
    assert!(passages.iter().any(|l| l.contains("Why does the importer lock the database?")));
    machine.assert_sound();
}

#[test]
fn a_fork_read_while_its_origin_waits_for_a_result_gives_the_same() {
    let mut origin = Author::of(ONE);
    origin.asks("Run it.").runs("toolu_1", "cargo test");
    let mut fork = Author::of(TWO);
    let early = origin.text();
    origin.gets("toolu_1", "ok. 12 passed").says("Green.");
    fork.forks(&origin, 4).asks("Again.");
    let growing = Machine::with([(&file(ONE), &early)]);
    growing.import();
    growing.write(&file(TWO), fork.text());
    growing.import();
    growing.write(&file(ONE), origin.text());
    growing.import();
    let whole = Machine::with([(&file(ONE), &origin.text()), (&file(TWO), &fork.text())]);
    whole.import();
    growing.assert_same_as(&whole);
}

/// The origin was cut off before its result came; the fork has it.
#[test]
fn a_result_goes_with_the_session_that_alone_had_it() {
    let mut origin = Author::of(ONE);
    origin.asks("Run it.").runs("toolu_1", "cargo test");
    let early = origin.text();
    origin.gets("toolu_1", "ok. 12 passed");
    let mut fork = Author::of(TWO);
    fork.forks(&origin, 3).asks("Again.").says("Not now.");
    for origin_first in [true, false] {
        let machine = Machine::new();
        let mut files = [(file(ONE), early.clone()), (file(TWO), fork.text())];
        if !origin_first {
            files.reverse();
        }
        for (name, text) in files {
            machine.write(&name, text);
            machine.import();
        }
        let tools = || dump::texts(&machine.layout(), thru_core::PassageKind::Tool);
        assert_eq!(tools(), ["Bash\ncommand: cargo test\nok. 12 passed"], "{origin_first}");
        machine.forget(TWO);
        assert_eq!(tools(), ["Bash\ncommand: cargo test"], "{origin_first}");
        machine.assert_sound();
        let forgotten = dump::store(&machine.layout());
        machine.rebuild();
        assert_same(&dump::store(&machine.layout()), &forgotten);
    }
}

/// A session as it was at three moments.
fn moments() -> [String; 3] {
    let mut author = Author::of(ONE);
    author.asks("Run it.").runs("toolu_1", "cargo test");
    let first = author.text();
    author.gets("toolu_1", "error[E0502]").runs("toolu_2", "cargo fix");
    let second = author.text();
    author.gets("toolu_2", "fixed").says("Done.");
    [first, second, author.text()]
}

#[test]
fn snapshots_of_a_session_hold_each_record_once_with_its_result() {
    let machine = Machine::new();
    let names = ["monday", "tuesday", "wednesday"];
    for (name, text) in names.iter().zip(moments()) {
        machine.write(&format!("backup/{name}/{ONE}.jsonl"), text);
    }
    machine.import_paths(&[&machine.claude().join("backup")]);
    machine.assert_sound();
    let tools: Vec<String> = dump::texts(&machine.layout(), thru_core::PassageKind::Tool);
    insta::assert_snapshot!(tools.join("\n---\n"), @r"
    Bash
    command: cargo fix
    fixed
    ---
    Bash
    command: cargo test
    error[E0502]
    ");
    let incremental = machine.dump();
    machine.rebuild();
    assert_same(&machine.dump(), &incremental);
    // In the other order, one by one.
    let backwards = Machine::new();
    for (name, text) in names.iter().zip(moments()).rev() {
        backwards.write(&format!("backup/{name}/{ONE}.jsonl"), text);
        backwards.import_paths(&[&backwards.claude().join("backup")]);
    }
    backwards.assert_same_as(&machine);
}

#[test]
fn a_snapshot_that_catches_up_later_gives_the_same() {
    let [first, second, _] = moments();
    let machine = Machine::with([
        (&format!("backup/a/{ONE}.jsonl"), &first),
        (&format!("backup/b/{ONE}.jsonl"), &second),
    ]);
    let paths = machine.claude().join("backup");
    machine.import_paths(&[&paths]);
    machine.write(&format!("backup/a/{ONE}.jsonl"), &second);
    machine.import_paths(&[&paths]);
    // Which of two equal files a passage is shown from may change with a rebuild; nothing else may.
    let dump = |machine: &Machine| -> Vec<String> {
        machine.dump().iter().map(|line| line.replace("claude-code/b/", "claude-code/a/")).collect()
    };
    let incremental = dump(&machine);
    machine.rebuild();
    assert_same(&dump(&machine), &incremental);
}

#[test]
fn snapshots_with_one_name_in_folders_of_one_name_are_read_exactly_once() {
    // Both are archived under one name, because both are the same session's.
    for threads in [1, 4] {
        let mut machine = Machine::new();
        machine.options.threads = threads;
        for (name, text) in ["monday", "tuesday", "wednesday"].iter().zip(moments()) {
            machine.write(&format!("{name}/-home-ada-rocket/{ONE}.jsonl"), text);
        }
        let report = machine.import_paths(&[&machine.claude()]);
        assert_eq!(report.problems, [], "with {threads} threads");
        machine.assert_sound();
        let whole = Machine::with([(&file(ONE), &moments()[2])]);
        whole.import();
        machine.assert_same_as(&whole);
    }
}

#[test]
fn files_with_one_name_in_folders_of_one_name_stay_apart() {
    // The sessions are told by what is in the files.
    let machine = Machine::new();
    machine.write("a/notes/log.jsonl", conversation(ONE).text());
    machine.write("b/notes/log.jsonl", conversation(TWO).text());
    machine.import_paths(&[&machine.claude()]);
    machine.assert_sound();
    let sources: Vec<String> =
        dump::store(&machine.layout()).into_iter().filter(|l| l.starts_with("source")).collect();
    assert_eq!(sources.len(), 2, "{sources:?}");
    let incremental = machine.dump();
    machine.import_paths(&[&machine.claude()]);
    assert_same(&machine.dump(), &incremental);
    machine.rebuild();
    assert_same(&machine.dump(), &incremental);
}

#[test]
fn the_same_history_moved_elsewhere_is_not_read_twice() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.import();
    let before = machine.dump();
    fs::rename(machine.claude(), machine.folder().join("moved")).unwrap();
    machine.import_paths(&[&machine.folder().join("moved/projects")]);
    assert_same(&machine.dump(), &before);
}

#[test]
fn files_that_tools_touched_are_known_from_calls_and_results() {
    let mut author = Author::of(ONE);
    author
        .asks("Write it.")
        .calls("toolu_1", "Write", json!({ "file_path": "/home/ada/rocket/a.rs", "content": "x" }))
        .gets("toolu_1", "written");
    let machine = Machine::with([(&file(ONE), &author.first(2))]);
    machine.import();
    machine.write(&file(ONE), author.text());
    machine.import();
    let all = machine.dump().join("\n");
    assert!(all.contains(r#"files [("/home/ada/rocket/a.rs", true)]"#), "{all}");
}
