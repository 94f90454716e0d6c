//! Writing passages: once each, amended, merged, in any order.

use proptest::prelude::*;
use thru_core::{
    Access, Agent, FileTouch, Id, IdPrefix, Outcome, ProjectKey, ReadBatch, SessionFacts,
    SessionId, SessionKey, SourceKind, Timestamp,
};
use thru_store::index::Collection;
use thru_store::{SessionFilter, Store};

use crate::support::{Home, call, clean, id_of, key, passage, result, rows, write};

fn touch(path: &str, access: Access) -> FileTouch {
    FileTouch { path: path.to_owned(), access }
}

#[test]
fn the_same_passage_is_written_once() {
    let home = Home::new();
    let mut store = home.store();
    for _ in 0..2 {
        let mut batch = store.begin().unwrap();
        write(&mut batch, "s", vec![passage("s", 0, "one")], Vec::new());
        batch.commit().unwrap();
    }
    assert_eq!(rows(&store).len(), 1);
    assert_eq!(store.retired_rows(Collection::Passages).unwrap(), Vec::<i64>::new());
}

#[test]
fn a_result_joins_its_call_and_keeps_its_files() {
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    let read = [touch("/a/read.rs", Access::Read), touch("/a/both.rs", Access::Read)];
    write(&mut batch, "s", vec![call("s", 0, "cargo test", &read)], Vec::new());
    batch.commit().unwrap();
    let old = rows(&store)[0].row;
    let mut batch = store.begin().unwrap();
    let changed = [touch("/a/new.rs", Access::Modified), touch("/a/both.rs", Access::Modified)];
    write(&mut batch, "s", Vec::new(), vec![result("cargo test", "error", &changed)]);
    batch.commit().unwrap();
    let found = rows(&store);
    assert_eq!(found.len(), 1);
    let amended = &found[0];
    assert_eq!(store.text_of(amended).unwrap(), "cargo test\nerror");
    assert_eq!(amended.outcome, Some(Outcome::Failed));
    let files: Vec<(String, bool)> = store.files_of(amended).unwrap();
    let wanted = [("/a/both.rs", true), ("/a/new.rs", true), ("/a/read.rs", false)];
    assert_eq!(files, wanted.map(|(path, modified)| (path.to_owned(), modified)));
    let records: Vec<String> =
        amended.records.iter().map(|r| format!("{}@{}", r.id, r.line)).collect();
    assert_eq!(records, ["cargo test@1", "result@99"]);
    // The index learns that the old row was retired.
    assert!(amended.row > old);
    assert_eq!(store.retired_rows(Collection::Passages).unwrap(), [old]);
    assert_eq!(store.contradictions().unwrap(), Vec::<String>::new());
}

#[test]
fn a_call_and_its_result_can_come_in_one_transaction() {
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    write(&mut batch, "s", vec![call("s", 0, "ls", &[]), passage("s", 1, "next")], Vec::new());
    write(&mut batch, "s", Vec::new(), vec![result("ls", "a b c", &[])]);
    write(&mut batch, "s", vec![passage("s", 2, "last")], Vec::new());
    batch.commit().unwrap();
    let mut texts: Vec<String> = rows(&store).iter().map(|r| store.text_of(r).unwrap()).collect();
    texts.sort();
    assert_eq!(texts, ["last", "ls\na b c", "next"]);
}

/// A step of reading: a call that waits for its result, the result, or both at once.
#[derive(Clone, Copy, Debug)]
enum Step {
    Call(&'static str),
    Result(&'static str),
    Whole(&'static str),
}

#[test]
fn a_call_in_two_files_is_the_same_in_any_order_of_reading() {
    use Step::{Call, Result, Whole};
    let files = [touch("/a/read.rs", Access::Read)];
    let more = [touch("/a/made.rs", Access::Modified)];
    let read = |steps: &[Step]| {
        let home = Home::new();
        let mut store = home.store();
        let batch = store.begin().unwrap();
        for session in ["a", "b"] {
            batch.session(&key(session)).unwrap();
        }
        batch.commit().unwrap();
        for step in steps {
            let mut batch = store.begin().unwrap();
            match *step {
                Call(session) => {
                    write(&mut batch, session, vec![call(session, 0, "ls", &files)], vec![])
                }
                Result(session) => {
                    write(&mut batch, session, vec![], vec![result("ls", "a b", &more)])
                }
                Whole(session) => {
                    let whole = thru_core::Passage {
                        text: "ls\na b".to_owned(),
                        outcome: Some(Outcome::Failed),
                        files: [files.clone(), more.clone()].concat(),
                        ..call(session, 0, "ls", &[])
                    };
                    write(&mut batch, session, vec![whole], vec![])
                }
            };
            batch.commit().unwrap();
        }
        assert_eq!(store.contradictions().unwrap(), Vec::<String>::new());
        let found = rows(&store);
        assert_eq!(found.len(), 1, "{steps:?}");
        let row = &found[0];
        let text = store.text_of(row).unwrap();
        let files = store.files_of(row).unwrap();
        format!("{:?} {:?} {:?} {text:?} {files:?}", row.session, row.outcome, row.records)
    };
    // "a" comes before "b", so the passage is a's; its result may be known from b alone.
    let both = [
        [Call("a"), Result("a"), Whole("b")].as_slice(),
        &[Call("a"), Whole("b"), Result("a")],
        &[Whole("b"), Call("a"), Result("a")],
        &[Call("b"), Call("a"), Result("a"), Result("b")],
        &[Call("b"), Call("a"), Result("b"), Result("a")],
        &[Call("a"), Call("b"), Result("b"), Result("a")],
        &[Call("b"), Result("b"), Call("a"), Result("a")],
    ];
    let copied = [
        [Call("a"), Whole("b")].as_slice(),
        &[Whole("b"), Call("a")],
        &[Call("b"), Call("a"), Result("b")],
        &[Call("a"), Call("b"), Result("b")],
        &[Call("b"), Result("b"), Call("a")],
    ];
    for orders in [both.as_slice(), &copied] {
        let first = read(orders[0]);
        assert!(first.contains("\"ls\\na b\""), "{first}");
        for steps in orders {
            assert_eq!(read(steps), first, "{steps:?}");
        }
    }
}

#[test]
fn a_result_without_its_call_changes_nothing() {
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    write(&mut batch, "s", vec![passage("s", 0, "one")], vec![result("never called", "x", &[])]);
    batch.commit().unwrap();
    assert_eq!(rows(&store).len(), 1);
}

#[test]
fn texts_of_any_length_come_back() {
    let home = Home::new();
    let mut store = home.store();
    let texts: Vec<String> = (0..40).map(|n| format!("{n} ").repeat(1 << (n % 17))).collect();
    let mut batch = store.begin().unwrap();
    let passages = (0..).zip(&texts).map(|(n, text)| passage("s", n, text)).collect();
    write(&mut batch, "s", passages, Vec::new());
    write(&mut batch, "s", vec![passage("s", 99, "")], Vec::new());
    batch.commit().unwrap();
    let store = Store::open_to_read(&home.layout()).unwrap();
    let found = rows(&store);
    assert_eq!(found.len(), 41);
    for (row, text) in found.iter().zip(texts.iter().map(String::as_str).chain([""])) {
        assert_eq!(store.text_of(row).unwrap(), text);
    }
}

#[test]
fn short_ids_name_one_passage_and_are_five_characters_or_more() {
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    // Ids that share their beginnings, as thousands of passages do.
    let mut passages = Vec::new();
    for (ordinal, last) in (0..).zip([0_u8, 1, 2, 128, 255]) {
        for byte in [3, 9] {
            let mut twin = passage("s", ordinal, &format!("{last} {byte}"));
            let mut bytes = [7; Id::BYTES];
            bytes[byte] = last;
            twin.id = Id::from_bytes(bytes);
            passages.push(twin);
        }
    }
    write(&mut batch, "s", passages, Vec::new());
    batch.commit().unwrap();
    let found = rows(&store);
    for row in &found {
        let short = store.short_id(&row.id).unwrap();
        assert!(short.len() >= Id::MIN_PREFIX && row.id.to_string().starts_with(&short));
        let prefix: IdPrefix = short.parse().unwrap();
        let named = store.passages_by_prefix(&prefix, 5).unwrap();
        assert_eq!(named.len(), 1, "{short}");
        if short.len() > Id::MIN_PREFIX {
            let shorter: IdPrefix = short[..short.len() - 1].parse().unwrap();
            assert!(store.passages_by_prefix(&shorter, 5).unwrap().len() > 1, "{short}");
        }
    }
}

#[test]
fn files_are_found_by_the_end_of_their_path_and_wildcards_are_letters() {
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    let paths = ["/a/src/lib.rs", "/b/lib.rs", r"C:\w\src\lib.rs", "/a/l_b%.rs", "/a/lxb.rs"];
    for (ordinal, path) in (0..).zip(paths) {
        let text = format!("touches {path}");
        write(
            &mut batch,
            "s",
            vec![call("s", ordinal, &text, &[touch(path, Access::Read)])],
            Vec::new(),
        );
    }
    batch.commit().unwrap();
    for (file, count) in [
        ("lib.rs", 3),
        ("src/lib.rs", 3),
        (r"src\lib.rs", 3),
        ("ib.rs", 0),
        ("l_b%.rs", 1),
        ("", 0),
    ] {
        assert_eq!(store.files_like(file).unwrap().len(), count, "{file}");
    }
}

#[test]
fn gone_worktrees_count_as_their_repository_in_any_order() {
    let branch = |branch: &str| Some(branch.to_owned()).filter(|branch| !branch.is_empty());
    let seen = [
        ("/p/rocket", "remote:github.com/acme/rocket", ""),
        ("/p/rocket/.worktrees/fuel", "dir:/p/rocket/.worktrees/fuel", "fuel"),
        ("/p/rocket__worktrees/pump/src", "dir:/p/rocket__worktrees/pump/src", "pump"),
        (
            "/home/ada/.codex/worktrees/4f2a/rocket",
            "dir:/home/ada/.codex/worktrees/4f2a/rocket",
            "",
        ),
        // The repository of these was never seen.
        ("/p/probe/.claude/worktrees/a", "dir:/p/probe/.claude/worktrees/a", "a"),
        ("/p/probe/.claude/worktrees/b", "dir:/p/probe/.claude/worktrees/b", "b"),
        // A checkout that is gone with its folders, and a folder of checkouts.
        ("/p/orbit", "dir:/p/orbit", "main"),
        ("/p/orbit/deep/folder", "dir:/p/orbit/deep/folder", ""),
        ("/home/ada", "dir:/home/ada", "dotfiles"),
        ("/home/ada/notes", "dir:/home/ada/notes", ""),
        ("/srv", "dir:/srv", ""),
        ("/srv/station", "dir:/srv/station", ""),
    ];
    for backwards in [false, true] {
        let home = Home::new();
        let mut store = home.store();
        let mut order: Vec<_> = seen.iter().enumerate().collect();
        if backwards {
            order.reverse();
        }
        for (number, (directory, project, checked_out)) in order {
            let mut batch = store.begin().unwrap();
            let key = SessionKey { agent: Agent::Codex, id: SessionId::new(format!("s{number}")) };
            let session = batch.session(&key).unwrap();
            let source = batch
                .source(
                    &format!("e{number}"),
                    &format!("/t/{number}"),
                    SourceKind::Main,
                    Some(session),
                )
                .unwrap();
            let facts = SessionFacts {
                directory: Some((*directory).to_owned()),
                branch: branch(checked_out),
                ..SessionFacts::default()
            };
            batch.merge_facts(session, source, facts).unwrap();
            // A session counts from its first passage on.
            let passages = vec![passage(key.id.as_str(), 0, directory)];
            let read = clean(ReadBatch { passages, ..ReadBatch::default() });
            batch.apply(Agent::Codex, source, session, &read).unwrap();
            batch.directory(directory, &ProjectKey::from_stored(*project)).unwrap();
            batch.place_session(session, directory).unwrap();
            assert!(!batch.has_merged_projects().unwrap());
            batch.part_projects().unwrap();
            batch.merge_gone_worktrees().unwrap();
            assert!(batch.has_merged_projects().unwrap());
            batch.commit().unwrap();
        }
        let mut found: Vec<(String, u64)> = store
            .projects()
            .unwrap()
            .into_iter()
            .map(|project| (project.key.to_string(), project.sessions))
            .collect();
        found.sort();
        let wanted = [
            ("dir:/home/ada", 1),
            ("dir:/home/ada/notes", 1),
            ("dir:/p/orbit", 2),
            ("dir:/p/probe", 2),
            ("dir:/srv", 1),
            ("dir:/srv/station", 1),
            ("remote:github.com/acme/rocket", 4),
        ];
        let wanted: Vec<(String, u64)> =
            wanted.into_iter().map(|(key, sessions)| (key.to_owned(), sessions)).collect();
        assert_eq!(found, wanted, "backwards: {backwards}");
    }
}

#[test]
fn merged_projects_count_as_one_however_they_were_merged() {
    let home = Home::new();
    let mut store = home.store();
    let keys = ["a", "b", "c"].map(ProjectKey::named);
    let batch = store.begin().unwrap();
    for key in &keys {
        batch.project(key).unwrap();
    }
    batch.merge_project(&keys[0], &keys[1]).unwrap();
    batch.merge_project(&keys[1], &keys[2]).unwrap();
    // In a circle, and into itself.
    batch.merge_project(&keys[2], &keys[0]).unwrap();
    batch.merge_project(&keys[2], &keys[2]).unwrap();
    batch.commit().unwrap();
    let projects = store.projects().unwrap();
    assert_eq!(projects.len(), 1, "{projects:?}");
    let top = store.project_by_key(&keys[2]).unwrap().unwrap();
    for key in &keys {
        assert_eq!(store.project_by_key(key).unwrap(), Some(top), "{key}");
    }
    assert_eq!(store.project_rows(top).unwrap().len(), 3);
}

#[test]
fn a_forgotten_session_leaves_a_tombstone_only() {
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    let files = [touch("/a.rs", Access::Modified)];
    write(&mut batch, "s", vec![call("s", 0, "gone", &files)], Vec::new());
    write(&mut batch, "t", vec![passage("t", 0, "stays")], Vec::new());
    batch.commit().unwrap();
    let row = rows(&store)[0].row;
    let mut batch = store.begin().unwrap();
    batch.forget_session(&key("s")).unwrap();
    batch.commit().unwrap();
    assert_eq!(rows(&store).len(), 1);
    assert_eq!(store.forgotten().unwrap(), [key("s")]);
    assert_eq!(store.retired_rows(Collection::Passages).unwrap(), [row]);
    assert_eq!(store.sources().unwrap().len(), 1);
    assert_eq!(store.contradictions().unwrap(), Vec::<String>::new());
}

#[test]
fn a_reset_source_is_empty_and_reads_from_its_beginning() {
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    let (_, source) = write(&mut batch, "s", vec![passage("s", 0, "one")], Vec::new());
    batch.advance(source, 7, "state").unwrap();
    batch.commit().unwrap();
    let entry = "claude-code/p/s.jsonl";
    assert_eq!(store.cursor(entry).unwrap().unwrap().lines, 7);
    let batch = store.begin().unwrap();
    batch.reset_source(source).unwrap();
    batch.commit().unwrap();
    let cursor = store.cursor(entry).unwrap().unwrap();
    assert_eq!((cursor.lines, cursor.reader), (0, None));
    assert_eq!(rows(&store), []);
}

fn facts() -> impl Strategy<Value = SessionFacts> {
    let word = || prop::option::of("[a-c]");
    let time = || prop::option::of(0_i64..100);
    (
        time(),
        time(),
        word(),
        word(),
        word(),
        word(),
        0_u32..3,
        prop::collection::btree_set("[a-c]", 0..3),
    )
        .prop_map(
            |(first, last, directory, branch, user_title, first_prompt, compactions, models)| {
                let moment =
                    |seconds: Option<i64>| seconds.map(|s| Timestamp::from_second(s).unwrap());
                SessionFacts {
                    first: moment(first),
                    last: moment(last),
                    directory,
                    branch,
                    user_title,
                    first_prompt,
                    compactions,
                    models,
                    ..SessionFacts::default()
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn facts_do_not_depend_on_which_source_was_read_first(
        facts in prop::collection::vec(facts(), 3),
        order in Just(vec![0_usize, 1, 2]).prop_shuffle(),
    ) {
        let read = |order: &[usize]| {
            let home = Home::new();
            let mut store = home.store();
            let batch = store.begin().unwrap();
            let session = batch.session(&key("s")).unwrap();
            let kinds = [SourceKind::Main, SourceKind::Subagent, SourceKind::Subagent];
            let mut combined = SessionFacts::default();
            for &number in order {
                let entry = format!("claude-code/p/{number}.jsonl");
                let source = batch.source(&entry, "/x", kinds[number], Some(session)).unwrap();
                combined = batch.merge_facts(session, source, facts[number].clone()).unwrap();
            }
            batch.commit().unwrap();
            combined
        };
        prop_assert_eq!(read(&order), read(&[0, 1, 2]));
    }
}

#[test]
fn sessions_are_listed_by_what_is_asked() {
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    for (name, first, last) in [("aaa", 10, 20), ("aab", 30, 40), ("b%_", 50, 60)] {
        let (session, source) = write(&mut batch, name, vec![passage(name, 0, name)], Vec::new());
        let moment = |seconds| Some(Timestamp::from_second(seconds).unwrap());
        let facts =
            SessionFacts { first: moment(first), last: moment(last), ..SessionFacts::default() };
        batch.merge_facts(session, source, facts).unwrap();
    }
    batch.session(&key("without a passage")).unwrap();
    batch.commit().unwrap();
    let names = |filter: SessionFilter| -> Vec<String> {
        store.sessions(&filter).unwrap().iter().map(|s| s.key.id.to_string()).collect()
    };
    let all = SessionFilter::default;
    let second = |s| Some(Timestamp::from_second(s).unwrap());
    assert_eq!(names(all()), ["b%_", "aab", "aaa"]);
    assert_eq!(names(SessionFilter { limit: Some(1), ..all() }), ["b%_"]);
    assert_eq!(names(SessionFilter { id_prefix: Some("aa".into()), ..all() }), ["aab", "aaa"]);
    assert_eq!(names(SessionFilter { id_prefix: Some("%".into()), ..all() }), Vec::<String>::new());
    assert_eq!(names(SessionFilter { id_prefix: Some("b%".into()), ..all() }), ["b%_"]);
    assert_eq!(names(SessionFilter { since: second(40), ..all() }), ["b%_", "aab"]);
    assert_eq!(names(SessionFilter { until: second(30), ..all() }), ["aaa"]);
    assert_eq!(names(SessionFilter { rows: Some(Vec::new()), ..all() }), Vec::<String>::new());
    assert_eq!(names(SessionFilter { projects: Some(Vec::new()), ..all() }), Vec::<String>::new());
}

#[test]
fn the_id_of_a_text_is_the_id_that_was_written() {
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    write(&mut batch, "s", vec![passage("s", 0, "one")], Vec::new());
    batch.commit().unwrap();
    assert_eq!(rows(&store)[0].id, id_of("one"));
}
