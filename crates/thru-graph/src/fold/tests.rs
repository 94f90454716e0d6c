//! The facts of made-up sessions, and properties of folding.

use std::collections::BTreeMap;

use proptest::prelude::*;
use thru_core::EntityKind;

use super::*;
use crate::opening::{Commit, Edit, FoldKey, Problem};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn opening(session: &str, second: i64, claim: Claim) -> SessionOpening {
    let passage = Id::derive(&[session.as_bytes(), &second.to_le_bytes()]);
    let key = FoldKey::new(&["test"]);
    let opening = Opening { key, at: at(second), passage, claim };
    SessionOpening { session: session.to_owned(), place: second as u32, opening }
}

fn value(session: &str, second: i64, version: Option<&str>) -> SessionOpening {
    let claim = Claim::Value {
        subject: Entity::new(EntityKind::File, "Cargo.toml"),
        relation: Relation::DependsOn,
        object: version.map(|version| Object::Value(version.to_owned())),
        scope: String::new(),
        note: String::new(),
    };
    opening(session, second, claim)
}

/// A run of `cargo test` that fails with these tests, after edits of these files.
fn run(second: i64, filter: &str, failures: &[&str], edits: &[&str]) -> SessionOpening {
    let problem = |name: &&str| Problem {
        entity: Entity::new(EntityKind::Test, *name),
        file: Some(format!("src/{name}.rs")),
    };
    let edit = |file: &&str| Edit {
        file: Entity::new(EntityKind::File, *file),
        passage: Id::derive(&[b"edit", file.as_bytes()]),
        at: at(second - 1),
    };
    let claim = Claim::Run {
        command: Entity::new(EntityKind::Command, "cargo test"),
        folder: String::new(),
        branch: "main".to_owned(),
        filter: filter.to_owned(),
        passed: failures.is_empty(),
        failures: failures.iter().map(problem).collect(),
        is_whole: true,
        edits: edits.iter().map(edit).collect(),
        acted: false,
        commit: None,
    };
    opening("one", second, claim)
}

/// Renders facts as `subject RELATION object [scope] from..to reason (note)`.
fn shown(openings: Vec<SessionOpening>) -> Vec<String> {
    let facts = fold("kiln", openings);
    let shown = facts.iter().map(|fact| {
        let end = fact
            .end
            .as_ref()
            .map_or(String::new(), |end| format!("{} {}", end.at.as_second(), end.reason));
        let note = if fact.note.is_empty() { String::new() } else { format!(" ({})", fact.note) };
        format!(
            "{} {} {} [{}] {}..{end}{note}",
            fact.subject.key,
            fact.relation,
            fact.object.shown(),
            fact.scope,
            fact.from.as_second(),
        )
    });
    let mut shown: Vec<String> = shown.collect();
    shown.sort();
    shown
}

#[test]
fn commits_are_a_check_where_hooks_refused_one() {
    let commit = |second, failures: &[&str]| {
        let mut one = run(second, "", failures, &["src/melts.rs"]);
        if let Claim::Run { command, .. } = &mut one.opening.claim {
            "git commit".clone_into(&mut command.key);
        }
        one
    };
    assert_eq!(shown(vec![commit(1, &[]), commit(2, &[])]), [""; 0]);
    assert_eq!(
        shown(vec![commit(1, &["melts"]), commit(2, &[])]),
        [
            "git commit FAILED_WITH melts [on main] 1..2 fixed",
            "git commit OUTCOME fail [on main] 1..2 superseded",
            "git commit OUTCOME pass [on main] 2..",
            "melts FIXED_BY src/melts.rs [on main] 2..",
        ]
    );
}

#[test]
fn an_error_in_a_file_is_mended_there() {
    let history = |edited: &str| {
        let mut red = run(10, "", &["melts"], &[]);
        if let Claim::Run { failures, .. } = &mut red.opening.claim {
            failures[0].entity.kind = EntityKind::Error;
        }
        let mut green = run(20, "", &[], &[edited]);
        if let Claim::Run { acted, .. } = &mut green.opening.claim {
            *acted = true;
        }
        let facts = fold("kiln", vec![red, green]);
        let failed = facts.iter().find(|fact| fact.relation == Relation::FailedWith);
        failed.and_then(|fact| Some(fact.end.as_ref()?.reason.to_string())).unwrap()
    };
    assert_eq!(history("src/melts.rs"), "fixed");
    // A tool that runs for one package names the file from there.
    assert_eq!(history("crates/kiln/src/melts.rs"), "fixed");
    assert_eq!(history("other_src/melts.rs"), "gone");
    assert_eq!(history("src/other.rs"), "gone");
}

#[test]
fn a_value_ends_where_the_next_begins() {
    let history = [
        value("one", 10, Some("1")),
        value("two", 20, Some("1")),
        value("two", 30, Some("2")),
        value("one", 40, None),
    ];
    assert_eq!(
        shown(history.to_vec()),
        [
            "Cargo.toml DEPENDS_ON 1 [] 10..30 superseded",
            "Cargo.toml DEPENDS_ON 2 [] 30..40 removed",
        ]
    );
    // Without the session that ended it, the old value is back.
    let left = history.into_iter().filter(|one| one.session == "one").take(1).collect();
    assert_eq!(shown(left), ["Cargo.toml DEPENDS_ON 1 [] 10.."]);
}

#[test]
fn a_revert_of_a_revert_is_a_change_of_its_own() {
    let versions = [(10, "1"), (20, "2"), (30, "1"), (40, "2")];
    let history = versions.map(|(second, version)| value("one", second, Some(version)));
    assert_eq!(
        shown(history.to_vec()),
        [
            "Cargo.toml DEPENDS_ON 1 [] 10..20 superseded",
            "Cargo.toml DEPENDS_ON 1 [] 30..40 superseded",
            "Cargo.toml DEPENDS_ON 2 [] 20..30 superseded",
            "Cargo.toml DEPENDS_ON 2 [] 40..",
        ]
    );
}

#[test]
fn two_worktrees_have_outcomes_of_their_own() {
    let mut elsewhere = run(20, "", &[], &["src/melts.rs"]);
    if let Claim::Run { branch, .. } = &mut elsewhere.opening.claim {
        "glaze".clone_into(branch);
    }
    assert_eq!(
        shown(vec![run(10, "", &["melts"], &[]), elsewhere]),
        [
            "cargo test FAILED_WITH melts [on main] 10..",
            "cargo test OUTCOME fail [on main] 10..",
            "cargo test OUTCOME pass [on glaze] 20..",
        ]
    );
}

/// A rule in these words.
fn rule(session: &str, second: i64, words: &str) -> SessionOpening {
    let id = format!("{session}-{words}");
    let claim = Claim::Event {
        subject: Entity::new(EntityKind::Project, "."),
        relation: Relation::Ruled,
        object: Object::Entity(Entity::new(EntityKind::Rule, id).named(words)),
        note: String::new(),
    };
    opening(session, second, claim)
}

#[test]
fn a_rule_takes_the_place_of_one_about_the_same_thing() {
    let history = vec![
        rule("one", 10, "Always npm"),
        rule("one", 15, "Never push to main"),
        rule("two", 20, "Use pnpm instead of npm"),
        rule("two", 30, "Always npm"),
        rule("three", 40, "Always npm"),
    ];
    assert_eq!(
        shown(history),
        [
            ". RULED Always npm [] 10..20 superseded",
            ". RULED Always npm [] 30..",
            ". RULED Never push to main [] 15..",
            ". RULED Use pnpm instead of npm [] 20..30 superseded",
            "two-Always npm REPLACES Use pnpm instead of npm [] 30..",
            "two-Use pnpm instead of npm REPLACES Always npm [] 20..",
        ]
    );
}

#[test]
fn redacted_values_are_never_equal() {
    let history = vec![
        value("one", 10, Some("[redacted:token]")),
        value("one", 20, Some("[redacted:token]")),
    ];
    assert_eq!(shown(history).len(), 2);
}

#[test]
fn an_edit_between_red_and_green_is_the_fix() {
    let history = vec![
        run(10, "", &["melts", "cools"], &[]),
        run(20, "", &["melts"], &["src/cools.rs"]),
        run(30, "", &[], &["src/melts.rs"]),
        run(40, "", &["melts"], &[]),
        run(50, "", &[], &[]),
    ];
    assert_eq!(
        shown(history),
        [
            "cargo test FAILED_WITH cools [on main] 10..20 fixed",
            "cargo test FAILED_WITH melts [on main] 10..30 fixed",
            "cargo test FAILED_WITH melts [on main] 40..50 flaky (came back)",
            "cargo test OUTCOME fail [on main] 10..30 superseded",
            "cargo test OUTCOME fail [on main] 40..50 superseded",
            "cargo test OUTCOME pass [on main] 30..40 superseded",
            "cargo test OUTCOME pass [on main] 50..",
            "cools FIXED_BY src/cools.rs [on main] 20..",
            "melts FIXED_BY src/melts.rs [on main] 30..40 superseded",
        ]
    );
}

#[test]
fn a_narrow_run_says_nothing_of_the_rest() {
    let history = vec![
        run(10, "", &["melts"], &[]),
        run(20, "cools", &[], &["src/melts.rs"]),
        run(30, "cools", &["cools"], &[]),
        run(40, "", &[], &["src/melts.rs"]),
    ];
    assert_eq!(
        shown(history),
        [
            "cargo test FAILED_WITH cools [on main; only cools] 30..40 fixed",
            "cargo test FAILED_WITH melts [on main] 10..40 fixed",
            "cargo test OUTCOME fail [on main; only cools] 30..40 superseded",
            "cargo test OUTCOME fail [on main] 10..40 superseded",
            "cargo test OUTCOME pass [on main; only cools] 20..30 superseded",
            "cargo test OUTCOME pass [on main] 40..",
            "cools FIXED_BY src/melts.rs [on main; only cools] 40..",
            "melts FIXED_BY src/melts.rs [on main] 40..",
        ]
    );
}

#[test]
fn many_edits_are_no_fix_of_one_thing() {
    let files = ["a.rs", "b.rs", "c.rs", "d.rs"];
    let history = vec![run(10, "", &["melts"], &[]), run(20, "", &[], &files)];
    assert!(shown(history).iter().all(|fact| !fact.contains("FIXED_BY")));
}

/// A model's claim that a test was mended by a change of this file.
fn candidate(second: i64, test: &str, file: &str) -> SessionOpening {
    let claim = Claim::Candidate {
        subject: Entity::new(EntityKind::Test, test),
        relation: Relation::FixedBy,
        object: Object::Entity(Entity::new(EntityKind::File, file)),
    };
    opening("refined", second, claim)
}

#[test]
fn a_model_adds_only_what_no_record_says() {
    let claims = || vec![candidate(3, "melts", "kiln.rs"), candidate(4, "melts", "kiln.rs")];
    let red = || run(1, "", &["melts"], &[]);
    let mut unknown = claims();
    unknown.push(red());
    assert!(shown(unknown).contains(&"melts FIXED_BY kiln.rs [] 3.. (as a model says)".to_owned()));
    let mut known = claims();
    known.extend([red(), run(2, "", &[], &["melts.rs"])]);
    let fixes = shown(known).into_iter().filter(|fact| fact.contains("FIXED_BY"));
    assert_eq!(fixes.collect::<Vec<_>>(), ["melts FIXED_BY melts.rs [on main] 2.."]);
}

/// The run, followed by a commit this many seconds later.
fn committed(mut run: SessionOpening, later: i64) -> SessionOpening {
    let made = run.opening.at.as_second() + later;
    if let Claim::Run { commit, .. } = &mut run.opening.claim {
        *commit = Some(Commit {
            commit: Entity::new(EntityKind::Commit, "abc1234"),
            passage: Id::derive(&[b"commit", &made.to_le_bytes()]),
            at: at(made),
        });
    }
    run
}

#[test]
fn a_commit_is_a_fix_from_the_time_it_was_made() {
    let red = || run(10, "", &["melts"], &[]);
    let green = || committed(run(20, "", &[], &["src/melts.rs"]), 15);
    let fixes = |history| {
        let mut shown = shown(history);
        shown.retain(|fact| fact.contains("FIXED_BY"));
        shown
    };
    assert_eq!(
        fixes(vec![red(), green(), run(40, "", &["melts"], &[])]),
        [
            "melts FIXED_BY abc1234 [on main] 35..40 superseded",
            "melts FIXED_BY src/melts.rs [on main] 20..40 superseded",
        ]
    );
    // It was back when the commit was made.
    assert_eq!(
        fixes(vec![red(), green(), run(30, "", &["melts"], &[])]),
        ["melts FIXED_BY src/melts.rs [on main] 20..30 superseded"]
    );
}

fn histories() -> impl Strategy<Value = Vec<SessionOpening>> {
    let tests = prop::sample::subsequence(vec!["melts", "cools"], 0..=2);
    let edits = prop::sample::subsequence(vec!["a.rs", "b.rs", "c.rs", "d.rs"], 0..=4);
    let commits = prop::option::of(0..20_i64);
    let runs = (0..40_i64, prop::sample::select(vec!["", "cools"]), tests, edits, commits)
        .prop_map(|(second, filter, tests, edits, later)| {
            let run = run(second, filter, &tests, &edits);
            later.map_or_else(|| run.clone(), |later| committed(run.clone(), later))
        });
    let values = (0..40_i64, "one|two|three", prop::option::of("[123]"))
        .prop_map(|(second, session, version)| value(&session, second, version.as_deref()));
    let words =
        ["Always npm", "Use pnpm instead of npm", "Never mock the net", "Always mock the net"];
    let rules = (0..40_i64, "one|two|three", prop::sample::select(words.to_vec()))
        .prop_map(|(second, session, words)| rule(&session, second, words));
    let tests = prop::sample::select(vec!["melts", "cools"]);
    let claims = (0..40_i64, tests, prop::sample::select(vec!["a.rs", "b.rs"]))
        .prop_map(|(second, test, file)| candidate(second, test, file));
    let any = prop::collection::vec(prop_oneof![runs, values, rules, claims], 0..24);
    // A session has one opening at each place.
    any.prop_map(|openings| {
        let mut places = BTreeSet::new();
        let is_new = |one: &SessionOpening| (one.session.clone(), one.place);
        openings.into_iter().filter(|one| places.insert(is_new(one))).collect()
    })
}

proptest! {
    #[test]
    fn any_order_gives_the_same_facts(history in histories(), seed in any::<u64>()) {
        let mut shuffled = history.clone();
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, (seed.rotate_left(at as u32 * 7) % (at as u64 + 1)) as usize);
        }
        prop_assert_eq!(fold("kiln", history), fold("kiln", shuffled));
    }

    #[test]
    fn facts_hold_for_a_time_and_have_a_record(history in histories()) {
        let mut times: BTreeMap<Id, Timestamp> = BTreeMap::new();
        for SessionOpening { opening, .. } in &history {
            times.insert(opening.passage, opening.at);
            if let Claim::Run { commit: Some(made), .. } = &opening.claim {
                times.insert(made.passage, made.at);
            }
        }
        let facts = fold("kiln", history);
        let mut ids = BTreeSet::new();
        for fact in &facts {
            prop_assert!(ids.insert(fact.id));
            prop_assert!(!fact.evidence.is_empty());
            for shown in &fact.evidence {
                let is_later = times.get(&shown.passage).is_some_and(|at| *at > fact.from);
                prop_assert!(shown.role != EvidenceRole::Opened || !is_later, "{fact:?}");
            }
            if let Some(end) = &fact.end {
                prop_assert!(end.at > fact.from);
                prop_assert!(end.by.is_none_or(|by| facts.iter().any(|fact| fact.id == by)));
            }
        }
    }

    #[test]
    fn a_model_changes_nothing_that_records_say(history in histories()) {
        let is_record = |one: &SessionOpening| !matches!(one.opening.claim, Claim::Candidate { .. });
        let records: Vec<SessionOpening> =
            history.iter().filter(|one| is_record(one)).cloned().collect();
        let mut facts = fold("kiln", history);
        facts.retain(|fact| fact.note != "as a model says");
        prop_assert_eq!(facts, fold("kiln", records));
    }

    #[test]
    fn one_value_holds_at_a_time(history in histories()) {
        let facts = fold("kiln", history);
        for one in &facts {
            for other in facts.iter().filter(|other| other.id != one.id) {
                let is_same_key = one.relation == other.relation
                    && matches!(one.relation, Relation::Outcome | Relation::DependsOn)
                    && one.scope == other.scope
                    && one.from <= other.from;
                let is_over = one.end.as_ref().is_some_and(|end| end.at <= other.from);
                prop_assert!(!is_same_key || is_over, "{one:?} {other:?}");
            }
        }
    }
}
