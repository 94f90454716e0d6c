//! A transcript that grows while it is imported: each record exactly once (invariant I-3).

use proptest::prelude::*;
use serde_json::json;

use crate::machine::{Machine, assert_same};
use crate::records::{Author, ONE, TWO, conversation, file};
use crate::{dump, records};

/// A session in which results come late, turns are private, and lines are broken or strange.
fn eventful() -> String {
    let mut author = Author::of(ONE);
    author
        .line(&json!({ "type": "summary", "summary": "Locks", "leafUuid": "x" }).to_string())
        .asks("Why does the importer lock the database?")
        .runs("toolu_1", "cargo test")
        .runs("toolu_2", "cargo clippy")
        .gets("toolu_2", "no warnings")
        .line("{ this is no JSON")
        .gets("toolu_1", "error[E0502]")
        .asks("<private>a private wish</private>")
        .says("About that wish.")
        .runs("toolu_3", "echo wish")
        .gets("toolu_3", "wish")
        .asks("And now in public? \u{1f512} naïve")
        .line(&json!({ "type": "from-the-future", "sessionId": ONE, "x": [1, 2] }).to_string())
        .line("")
        .says("It took the lock twice. TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345 is not kept.")
        .runs("toolu_4", "sleep 1");
    author.text()
}

/// The dump after one import of the whole file.
fn whole(text: &str) -> Vec<String> {
    let machine = Machine::with([(&file(ONE), text)]);
    machine.import();
    machine.assert_sound();
    machine.dump()
}

/// The dump after imports of a file that grows to these lengths.
fn grown(text: &[u8], lengths: impl IntoIterator<Item = usize>) -> Vec<String> {
    let machine = Machine::new();
    for length in lengths {
        machine.write(&file(ONE), &text[..length]);
        machine.import();
    }
    machine.assert_sound();
    machine.dump()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_way_to_grow_gives_the_same(mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..5)) {
        let text = eventful();
        let mut lengths: Vec<usize> = cuts.drain(..).map(|cut| cut.index(text.len())).collect();
        lengths.sort_unstable();
        lengths.push(text.len());
        assert_same(&grown(text.as_bytes(), lengths), &whole(&text));
    }
}

#[test]
fn growing_line_by_line_gives_the_same() {
    let text = eventful();
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    assert_same(&grown(text.as_bytes(), ends), &whole(&text));
}

#[test]
fn a_record_without_its_newline_is_read_and_the_late_newline_is_no_record() {
    let text = eventful();
    // Each step ends just before a newline, the next begins with it.
    let ends = text.match_indices('\n').map(|(at, _)| at).chain([text.len()]);
    assert_same(&grown(text.as_bytes(), ends), &whole(&text));
}

#[test]
fn an_unfinished_line_waits_for_the_rest_of_it() {
    let text = conversation(ONE).text();
    let machine = Machine::with([(&file(ONE), &text[..text.len() - 40])]);
    machine.import();
    let last = conversation(ONE).first(8).lines().count();
    assert_eq!(dump::archive(&machine.layout()).len(), last);
    machine.write(&file(ONE), &text);
    machine.import();
    assert_same(&machine.dump(), &whole(&text));
}

#[test]
fn nothing_new_means_nothing_to_do() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.import();
    let before = machine.dump();
    let plan = machine.plan();
    assert_eq!((plan.sources.len(), plan.unchanged, plan.bytes), (0, 1, 0));
    let report = machine.import();
    assert_eq!((report.written.passages, report.bytes), (0, 0));
    assert_same(&machine.dump(), &before);
}

#[test]
fn a_touched_file_brings_nothing_new() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.import();
    let before = machine.dump();
    let path = machine.claude().join(file(ONE));
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
    assert_eq!(machine.plan().sources.len(), 1);
    machine.import();
    assert_same(&machine.dump(), &before);
}

#[test]
fn a_clock_that_goes_backwards_changes_nothing() {
    let text = conversation(ONE).text();
    let machine = Machine::with([(&file(ONE), &conversation(ONE).first(4))]);
    machine.import();
    let path = machine.write(&file(ONE), &text);
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(86_400);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    machine.import();
    assert_same(&machine.dump(), &whole(&text));
    machine.assert_sound();
}

#[test]
fn records_whose_times_go_backwards_keep_the_order_of_the_file() {
    let text = conversation(ONE).text().replace("2026-03-01T09:00:03", "2019-01-01T00:00:00");
    let machine = Machine::with([(&file(ONE), &text)]);
    machine.import();
    let layout = machine.layout();
    let passages: Vec<String> = dump::store(&layout)
        .into_iter()
        .filter(|line| line.starts_with("passage ") && line.contains("cargo test --workspace"))
        .collect();
    assert!(passages[0].contains("ordinal 2 "), "{passages:?}");
    let sessions: Vec<String> =
        dump::store(&layout).into_iter().filter(|line| line.starts_with("session ")).collect();
    assert!(sessions[0].contains("2019-01-01T00:00:00Z"), "{sessions:?}");
}

#[test]
fn subagents_and_attachments_grow_with_their_session() {
    let subagent = format!("projects/-home-ada-rocket/{ONE}/subagents/agent-a1.jsonl");
    let spilled = format!("projects/-home-ada-rocket/{ONE}/tool-results/toolu_1.txt");
    let mut author = Author::of(ONE).starting_at_record(50);
    author.asks("Look at the lock.").says("It is taken twice.").runs("toolu_9", "grep -n lock");
    let growing = Machine::with([
        (&file(ONE), &conversation(ONE).first(3)),
        (&subagent, &author.first(2)),
        (&spilled, "first half"),
    ]);
    growing.import();
    author.gets("toolu_9", "12: lock()");
    for machine in [&growing, &Machine::new()] {
        machine.write(&file(ONE), conversation(ONE).text());
        machine.write(&subagent, author.text());
        machine.write(&spilled, "first half, second half");
        machine.import();
        machine.assert_sound();
    }
    let whole = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        (&subagent, &author.text()),
        (&spilled, "first half, second half"),
    ]);
    whole.import();
    growing.assert_same_as(&whole);
    let all = whole.dump().join("\n");
    assert!(all.contains("subagent Some(\"a1\")"), "{all}");
    assert!(all.contains("first half, second half"), "{all}");
}

#[test]
fn a_second_session_leaves_the_first_alone() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.import();
    let before = machine.dump();
    machine.write(&file(TWO), records::conversation(TWO).text());
    machine.import();
    let after = machine.dump();
    let changed = ["records ", "project ", "fact "];
    let lost: Vec<&String> = before
        .iter()
        .filter(|line| !changed.iter().any(|c| line.starts_with(c)) && !after.contains(line))
        .collect();
    assert_eq!(lost, Vec::<&String>::new());
    machine.assert_sound();
}
