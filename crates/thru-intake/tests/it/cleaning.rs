//! What older rules left is cleaned in parts, while others write (invariant I-5).

use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use proptest::prelude::*;
use thru_intake::{Cleaned, Cleaning, Operation, RedactionReport};
use thru_store::Store;

use crate::dump::{self, answers};
use crate::machine::Machine;
use crate::records::{Author, ONE, TWO, conversation, file, prompt_of};

const THREE: &str = "33333333-3333-4333-8333-333333333333";

/// What is allowed when it is read stands for what older rules did not know.
fn token() -> String {
    ["gh", "p_", "0123456789abcdefghijABCDEFGHIJ012345"].concat()
}

/// A session that names the token, and goes on.
fn growing() -> Author {
    let mut author = Author::of(ONE);
    author.asks(&format!("Push with {}, please.", token()));
    author.runs("toolu_1", "git push").gets("toolu_1", &format!("remote: {}", token()));
    author.says("Pushed.").asks("Now bound the retries").runs("toolu_2", "cargo test");
    author.gets("toolu_2", "all passed").says("They are bounded.");
    author
}

/// A home that was read when the token was allowed.
fn unclean() -> Machine {
    let mut machine = Machine::new();
    machine.options.allow = vec!["ghp_.*".to_owned()];
    machine.write(&file(ONE), growing().first(4));
    machine.write(&file(TWO), conversation(TWO).text());
    let spilled = format!("projects/-home-ada-rocket/{ONE}/tool-results/toolu_1.txt");
    machine.write(&spilled, token());
    let list = prompt_of(THREE, 1_772_355_601_000, &format!("{} in a list", token()));
    machine.write("history.jsonl", list);
    machine.import();
    machine.options.allow.clear();
    machine
}

/// As hooks and people do between two parts.
fn go_on(machine: &Machine) {
    machine.write(&file(ONE), growing().text());
    machine.import();
}

fn part(machine: &Machine, under_way: &mut Option<Cleaning>) -> Option<RedactionReport> {
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    let never = AtomicBool::new(false);
    match Cleaning::part(under_way, &intake, lock, Duration::ZERO, &never).unwrap() {
        Cleaned::Whole { report, problems } => {
            assert_eq!(problems, []);
            Some(report)
        }
        Cleaned::Unfinished => None,
        Cleaned::Waiting => panic!("nothing reads"),
    }
}

fn holds_token(machine: &Machine) -> bool {
    let mut pending = vec![machine.layout().root().to_owned()];
    let mut files = machine.dump().join("\n").into_bytes();
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => pending.push(entry.path()),
                false => files.extend(fs::read(entry.path()).unwrap()),
            }
        }
    }
    String::from_utf8_lossy(&files).contains(&token())
}

/// What happens between two parts.
#[derive(Clone, Copy, Debug)]
enum Between {
    Nothing,
    /// The process ends, and another one continues.
    Killed,
    /// A session goes on, and is imported.
    Imported,
    /// A person has the store made again.
    Rebuilt,
}

fn between() -> impl Strategy<Value = Between> {
    prop_oneof![
        4 => Just(Between::Nothing),
        3 => Just(Between::Killed),
        2 => Just(Between::Imported),
        1 => Just(Between::Rebuilt),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parts_with_anything_between_them_give_what_one_go_gives(all in prop::collection::vec(between(), 0..10)) {
        let (whole, parted) = (unclean(), unclean());
        go_on(&whole);
        let intake = whole.intake();
        let at_once =
            intake.apply_rules(&intake.lock(&mut |_| false).unwrap(), &mut |_, _| {}).unwrap();
        let mut under_way = None;
        let (mut all, mut is_rebuilt) = (all.into_iter(), false);
        let report = loop {
            if let Some(report) = part(&parted, &mut under_way) {
                break report;
            }
            match all.next().unwrap_or(Between::Nothing) {
                Between::Nothing => {}
                Between::Killed => under_way = None,
                Between::Imported => go_on(&parted),
                Between::Rebuilt => {
                    // The mark goes with the store.
                    _ = parted.rebuild();
                    is_rebuilt = true;
                }
            }
        };
        prop_assert!(is_rebuilt || report.rewritten == at_once.rewritten, "{report:?} {at_once:?}");
        prop_assert!(is_rebuilt || report.redacted.secrets == at_once.redacted.secrets);
        go_on(&parted);
        prop_assert!(!holds_token(&parted));
        parted.assert_same_as(&whole);
        parted.assert_sound();
        prop_assert_eq!(answers(&parted.layout(), &["push"]), answers(&whole.layout(), &["push"]));
        let rows = fs::read_dir(parted.layout().index()).unwrap().count();
        prop_assert_eq!(rows, 2, "an index of passages and one of memories");
        prop_assert!(part(&parted, &mut None).is_some_and(|report| report == RedactionReport::default()));
    }
}

#[test]
fn questions_are_answered_and_decisions_hold_while_it_is_cleaned() {
    let machine = unclean();
    let mut under_way = None;
    let mut parts = 0;
    while part(&machine, &mut under_way).is_none() {
        parts += 1;
        assert_ne!(answers(&machine.layout(), &["push"]).len(), 0, "after part {parts}");
        if parts == 2 {
            let session = crate::machine::key(TWO);
            let forgotten = Operation::SessionForgotten { session, passages: Vec::new() };
            let intake = machine.intake();
            let lock = intake.lock(&mut |_| false).unwrap();
            intake.record_and_apply(&lock, &[forgotten]).unwrap();
            drop(lock);
            go_on(&machine);
        }
        machine.assert_sound();
    }
    assert!(parts > 2, "only {parts} parts");
    let kept = dump::store(&machine.layout()).join("\n");
    assert!(kept.contains("They are bounded") && !kept.contains(TWO), "{kept}");
    assert!(!holds_token(&machine));
}

#[test]
fn a_store_stays_where_newer_rules_find_nothing() {
    let mut machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.options.allow = vec!["never".to_owned()];
    machine.import();
    let layout = machine.layout();
    let generation = || Store::open_to_read(&layout).unwrap().generation().unwrap();
    let before = generation();
    machine.options.allow.clear();
    let report = part(&machine, &mut None).unwrap();
    assert_eq!((report.rewritten, report.rebuilt), (0, false));
    assert_eq!(generation(), before);
    // One that an interrupted run may have left unclean does not stay.
    machine.options.allow = vec!["never again".to_owned()];
    let mut under_way = None;
    machine.write(&file(TWO), conversation(TWO).text());
    machine.write(&file(THREE), conversation(THREE).text());
    machine.import();
    assert!(part(&machine, &mut under_way).is_none(), "two threads take two files");
    under_way = None;
    while part(&machine, &mut under_way).is_none() {}
    assert_ne!(generation(), before);
}
