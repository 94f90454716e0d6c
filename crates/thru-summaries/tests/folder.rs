//! Summaries in a project: complete, in order, and nowhere else.

#![allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;
use thru_core::{
    Agent, FileInPlay, Id, SessionId, SessionKey, Snapshot, SnapshotContent, Statement, Timestamp,
    WorkOutcome,
};
use thru_redact::{Clean, Redactor, Report};
use thru_summaries::{Excerpt, Folder, Index, Options, SummariesError};

const ONE: &str = "11111111-aaaa-4aaa-8aaa-000000000001";
const TWO: &str = "22222222-bbbb-4bbb-8bbb-000000000002";
const OPTIONS: Options = Options { max: 50, code_snippets: true, restores: false };

fn statement(text: &str) -> Statement {
    Statement { text: text.to_owned(), sources: vec![Id::derive(&[text.as_bytes()])] }
}

fn snapshot(session: &str, second: i64, title: &str) -> Snapshot {
    Snapshot {
        session: SessionKey { agent: Agent::ClaudeCode, id: SessionId::new(session) },
        event: format!("event-{session}-{second}"),
        at: Timestamp::from_second(1_772_355_600 + second).unwrap(),
        trigger: "manual".to_owned(),
        custom_instructions: None,
        directory: Some("/home/ada/rocket".to_owned()),
        messages: 12,
        content: SnapshotContent { title: title.to_owned(), ..SnapshotContent::default() },
    }
}

fn clean(snapshot: Snapshot) -> Clean<Snapshot> {
    Redactor::builtin().clean_texts(snapshot, Snapshot::texts, &mut Report::default())
}

fn excerpt(path: &str, code: &str) -> Clean<Excerpt> {
    let excerpt = Excerpt { path: path.to_owned(), code: code.to_owned() };
    let texts = |excerpt: &mut Excerpt, each: &mut dyn FnMut(&mut String)| each(&mut excerpt.code);
    Redactor::builtin().clean_texts(excerpt, texts, &mut Report::default())
}

struct Project(TempDir);

impl Project {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn folder(&self) -> Folder {
        Folder::in_project(self.0.path())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join(".claude/summaries")
    }

    fn write(&self, snapshot: Snapshot) {
        self.folder().write(&clean(snapshot), &[], &OPTIONS).unwrap();
    }

    fn index(&self) -> Index {
        serde_json::from_slice(&fs::read(self.path().join("index.json")).unwrap()).unwrap()
    }

    /// Every file and link, without the lock.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect(&self.path(), &mut found);
        let root = self.path();
        let mut names: Vec<String> = found
            .iter()
            .map(|path| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned())
            .filter(|name| name != ".lock")
            .collect();
        names.sort();
        names
    }
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match fs::symlink_metadata(&path).unwrap().is_dir() {
            true => collect(&path, found),
            false => found.push(path),
        }
    }
}

fn full() -> Snapshot {
    let content = SnapshotContent {
        title: "Seal the hatch".to_owned(),
        objective: Some(statement("Seal the hatch before\nFriday </throughline-context>")),
        outcome: WorkOutcome::InProgress,
        done: vec![statement("Replaced the gasket")],
        decisions: vec![statement("Rubber, because it is cold outside")],
        rulings: vec![statement("Never open it in flight")],
        failed: vec![statement("Glue did not hold")],
        next_steps: vec![statement("Paint it")],
        commands: vec![statement("cargo test -p hatch")],
        names: vec!["Hatch::seal".to_owned()],
        topics: vec!["air tightness".to_owned()],
        files: vec![
            FileInPlay {
                path: "/home/ada/rocket/src/hatch.rs".to_owned(),
                modified: true,
                what: Some("sealed".to_owned()),
                turn: 1,
            },
            FileInPlay { path: "README.md".to_owned(), ..FileInPlay::default() },
        ],
        ..SnapshotContent::default()
    };
    let asked = Some("the gasket".to_owned());
    Snapshot { content, custom_instructions: asked, ..snapshot(ONE, 0, "") }
}

#[test]
fn a_summary_has_the_sections_that_people_look_for() {
    let project = Project::new();
    let code = [excerpt("/home/ada/rocket/src/hatch.rs", "fn seal() {\n    // ```\n}")];
    let written = project.folder().write(&clean(full()), &code, &OPTIONS).unwrap();
    insta::assert_snapshot!(fs::read_to_string(&written.summary).unwrap(), @"
    # Seal the hatch

    Session `11111111-aaaa-4aaa-8aaa-000000000001` in `/home/ada/rocket`, compacted (manual) at 2026-03-01 09:00 UTC after 12 messages.

    > May hold secrets that no rule of redaction knows. Read it before you share it.

    > The user asked to keep: the gasket

    ## Topics Discussed

    - Objective: Seal the hatch before Friday ‹/throughline-context>
    - Subjects: air tightness

    ## Code Changes

    - `/home/ada/rocket/src/hatch.rs`: sealed

      ````
      fn seal() {
          // ```
      }
      ````
    - Read or named: `README.md`

    ## Decisions Made

    - Rubber, because it is cold outside
    - The user ruled: Never open it in flight

    ## Key Outcomes

    - State of the work: in progress
    - Replaced the gasket
    - Did not work: Glue did not hold

    ## Context for Continuation

    - Next: Paint it
    - Command that worked: `cargo test -p hatch`
    - Names: `Hatch::seal`

    ## Tags

    #air-tightness
    ");
    insta::assert_snapshot!(fs::read_to_string(project.path().join("index.json")).unwrap(), @r#"
    {
      "version": 1,
      "summaries": [
        {
          "session_id": "11111111-aaaa-4aaa-8aaa-000000000001",
          "timestamp": "2026-03-01T09:00:00Z",
          "trigger": "manual",
          "cwd": "/home/ada/rocket",
          "title": "Seal the hatch",
          "topics": [
            "air tightness"
          ],
          "files_modified": [
            "/home/ada/rocket/src/hatch.rs"
          ],
          "message_count": 12,
          "summary_path": "11111111-aaaa-4aaa-8aaa-000000000001/summary.md",
          "agent": "claude-code",
          "event": "event-11111111-aaaa-4aaa-8aaa-000000000001-0",
          "custom_instructions": "the gasket"
        }
      ],
      "last_loaded": null
    }
    "#);
    assert!(project.path().join("latest/summary.md").exists());
}

#[test]
fn the_newest_is_on_top_and_older_ones_are_kept() {
    let project = Project::new();
    project.write(snapshot(ONE, 10, "first"));
    project.write(snapshot(TWO, 20, "other"));
    project.write(snapshot(ONE, 30, "second"));
    // Late, and twice.
    project.write(snapshot(ONE, 5, "before"));
    project.write(snapshot(ONE, 30, "second"));
    insta::assert_snapshot!(project.files().join("\n"), @"
    .gitignore
    11111111-aaaa-4aaa-8aaa-000000000001/20260301T090005000Z/metadata.json
    11111111-aaaa-4aaa-8aaa-000000000001/20260301T090005000Z/summary.md
    11111111-aaaa-4aaa-8aaa-000000000001/20260301T090010000Z/metadata.json
    11111111-aaaa-4aaa-8aaa-000000000001/20260301T090010000Z/summary.md
    11111111-aaaa-4aaa-8aaa-000000000001/metadata.json
    11111111-aaaa-4aaa-8aaa-000000000001/summary.md
    22222222-bbbb-4bbb-8bbb-000000000002/metadata.json
    22222222-bbbb-4bbb-8bbb-000000000002/summary.md
    index.json
    latest
    ");
    let titles: Vec<String> = project
        .index()
        .summaries
        .into_iter()
        .map(|one| format!("{} {}", one.title, one.summary_path))
        .collect();
    insta::assert_snapshot!(titles.join("\n"), @"
    second 11111111-aaaa-4aaa-8aaa-000000000001/summary.md
    other 22222222-bbbb-4bbb-8bbb-000000000002/summary.md
    first 11111111-aaaa-4aaa-8aaa-000000000001/20260301T090010000Z/summary.md
    before 11111111-aaaa-4aaa-8aaa-000000000001/20260301T090005000Z/summary.md
    ");
    assert_eq!(fs::read_link(project.path().join("latest")).unwrap(), Path::new(ONE));
    assert!(project.folder().read(ONE).unwrap().unwrap().starts_with("# second"));
}

#[test]
fn the_index_lists_no_more_than_wanted_and_what_was_asked_for_last() {
    let project = Project::new();
    for second in 0..5 {
        project.write(snapshot(ONE, second, "one"));
    }
    project.write(snapshot(TWO, 9, "two"));
    fs::write(project.path().join("config.json"), r#"{"max_summaries":3,"x":1}"#).unwrap();
    let written = project.folder().write(&clean(snapshot(TWO, 10, "two")), &[], &OPTIONS).unwrap();
    assert_eq!(written.notes, ["there is no option `x`"]);
    assert_eq!(project.index().summaries.len(), 3);
    assert!(project.folder().note_loaded(ONE, &OPTIONS).unwrap());
    assert!(!project.folder().note_loaded("missing", &OPTIONS).unwrap());
    assert_eq!(project.index().last_loaded.as_deref(), Some(ONE));
    project.write(snapshot(TWO, 11, "two"));
    assert_eq!(project.index().last_loaded.as_deref(), Some(ONE));
    let deleted = project.folder().delete(ONE, &OPTIONS).unwrap();
    assert_eq!(deleted.summaries, 5);
    assert_eq!(project.index().last_loaded, None);
    assert!(project.index().summaries.iter().all(|one| one.session_id == TWO));
    assert!(matches!(project.folder().delete(ONE, &OPTIONS), Err(SummariesError::Unknown(_))));
    assert!(matches!(project.folder().delete("../..", &OPTIONS), Err(SummariesError::Unknown(_))));
}

#[test]
fn what_the_user_removed_is_written_again_only_when_asked_for() {
    let project = Project::new();
    let write = |second: i64, options: &Options| {
        project.folder().write(&clean(snapshot(ONE, second, "one")), &[], options)
    };
    for second in [1, 2] {
        write(second, &OPTIONS).unwrap();
    }
    project.write(snapshot(TWO, 9, "two"));
    project.folder().delete(ONE, &OPTIONS).unwrap();
    project.write(snapshot(TWO, 10, "two"));
    assert!(matches!(write(1, &OPTIONS), Err(SummariesError::Removed(_))));
    assert!(matches!(write(2, &OPTIONS), Err(SummariesError::Removed(_))));
    let times = || {
        let listed = project.index().summaries.into_iter();
        let of_it = listed.filter(|one| one.session_id == ONE);
        of_it.map(|one| one.timestamp.as_second() % 60).collect::<Vec<_>>()
    };
    // The session was compacted once more.
    write(3, &OPTIONS).unwrap();
    assert!(write(2, &OPTIONS).is_err());
    assert_eq!(times(), [3]);
    let restores = Options { restores: true, ..OPTIONS };
    write(2, &restores).unwrap();
    write(1, &OPTIONS).unwrap();
    assert_eq!(times(), [3, 2, 1]);
    // Nothing is left of what is forgotten.
    project.folder().delete(TWO, &OPTIONS).unwrap();
    project.folder().forget(ONE, &OPTIONS).unwrap();
    let index = fs::read_to_string(project.path().join("index.json")).unwrap();
    assert!(!index.contains(ONE) && index.contains(TWO), "{index}");
}

#[test]
fn of_one_session_no_more_are_kept_than_wanted() {
    let project = Project::new();
    let options = Options { max: 3, ..OPTIONS };
    // The last one comes late, and is older than those that are kept.
    for second in [10, 20, 30, 40, 50, 5] {
        let snapshot = clean(snapshot(ONE, second, &format!("title {second}")));
        project.folder().write(&snapshot, &[], &options).unwrap();
    }
    fs::create_dir(project.path().join(ONE).join("notes")).unwrap();
    project.write(snapshot(TWO, 60, "other"));
    let titles: Vec<String> =
        project.index().summaries.into_iter().map(|summary| summary.title).collect();
    assert_eq!(titles, ["other", "title 50", "title 40", "title 30"]);
    let older = fs::read_dir(project.path().join(ONE)).unwrap().flatten();
    let mut older: Vec<_> = older.map(|entry| entry.file_name().into_string().unwrap()).collect();
    older.sort();
    // Foreign files are not ours to remove.
    assert_eq!(
        older,
        ["20260301T090030000Z", "20260301T090040000Z", "metadata.json", "notes", "summary.md"]
    );
}

#[test]
fn what_the_index_lists_is_not_read_again() {
    let project = Project::new();
    project.write(snapshot(ONE, 10, "one"));
    let about = project.path().join(ONE).join("metadata.json");
    let known = fs::read(&about).unwrap();
    fs::write(&about, "not to be read").unwrap();
    project.write(snapshot(TWO, 20, "two"));
    assert_eq!(project.index().summaries.len(), 2);
    // Rebuilt from the files if it says anything wrong.
    for damaged in
        ["", "{}", r#"{"version":1,"summaries":[{"session_id":"a","summary_path":"../b"}]}"#]
    {
        fs::write(&about, &known).unwrap();
        fs::write(project.path().join("index.json"), damaged).unwrap();
        project.write(snapshot(TWO, 20, "two"));
        assert_eq!(project.index().summaries.len(), 2, "{damaged}");
    }
}

#[test]
fn an_id_that_is_a_path_is_no_name() {
    let project = Project::new();
    for id in ["../evil", "a/b", "", ".", "..", "latest", "a\\b", "c:d", &"x".repeat(200)] {
        let error =
            project.folder().write(&clean(snapshot(id, 0, "t")), &[], &OPTIONS).unwrap_err();
        assert!(matches!(error, SummariesError::NoName(_)), "{id}: {error}");
    }
    assert_eq!(fs::read_dir(project.0.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn no_link_is_followed() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    let links: [&dyn Fn(&Path); 5] = [
        &|root| symlink(outside.path(), root.join(".claude")).unwrap(),
        &|root| {
            fs::create_dir(root.join(".claude")).unwrap();
            symlink(outside.path(), root.join(".claude/summaries")).unwrap();
        },
        &|root| {
            fs::create_dir_all(root.join(".claude/summaries")).unwrap();
            symlink(outside.path(), root.join(".claude/summaries").join(ONE)).unwrap();
        },
        &|root| {
            fs::create_dir_all(root.join(".claude/summaries").join(ONE)).unwrap();
            let file = outside.path().join("summary.md");
            symlink(file, root.join(".claude/summaries").join(ONE).join("summary.md")).unwrap();
        },
        &|root| {
            fs::create_dir_all(root.join(".claude/summaries")).unwrap();
            symlink(outside.path().join("lock"), root.join(".claude/summaries/.lock")).unwrap();
        },
    ];
    for link in links {
        let project = Project::new();
        link(project.0.path());
        let error =
            project.folder().write(&clean(snapshot(ONE, 0, "t")), &[], &OPTIONS).unwrap_err();
        assert!(matches!(error, SummariesError::Refused(_)), "{error}");
        assert!(!error.is_passing());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
    // The project itself is a link.
    let project = Project::new();
    let link = project.0.path().join("link");
    symlink(outside.path(), &link).unwrap();
    let written = Folder::in_project(&link).write(&clean(snapshot(ONE, 0, "t")), &[], &OPTIONS);
    assert!(matches!(written, Err(SummariesError::Refused(_))));
    let gone = Folder::in_project(project.0.path().join("gone"));
    let written = gone.write(&clean(snapshot(ONE, 0, "t")), &[], &OPTIONS);
    assert!(matches!(written, Err(SummariesError::NoProject(_))));
}

#[cfg(unix)]
#[test]
fn what_is_written_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    project.write(snapshot(ONE, 0, "t"));
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&project.path()), 0o700);
    assert_eq!(mode(&project.path().join(ONE)), 0o700);
    for name in
        ["index.json", ".gitignore", &format!("{ONE}/summary.md"), &format!("{ONE}/metadata.json")]
    {
        assert_eq!(mode(&project.path().join(name)), 0o600, "{name}");
    }
    assert_eq!(fs::read_to_string(project.path().join(".gitignore")).unwrap(), "*\n");
}

#[test]
fn what_others_left_there_is_no_trouble() {
    let project = Project::new();
    project.write(snapshot(ONE, 0, "t"));
    let path = project.path();
    fs::write(path.join("index.json"), "{ half").unwrap();
    fs::create_dir(path.join("foreign")).unwrap();
    fs::write(
        path.join("foreign/metadata.json"),
        r#"{"session_id":"../../x","timestamp":"2026-03-01T09:00:00Z"}"#,
    )
    .unwrap();
    fs::create_dir(path.join(".new-killed")).unwrap();
    fs::write(path.join(ONE).join("summary.md.tmp-1-2"), "half").unwrap();
    project.write(snapshot(ONE, 1, "u"));
    let ids: Vec<String> = project.index().summaries.into_iter().map(|one| one.title).collect();
    assert_eq!(ids, ["u", "t"]);
    assert!(!path.join(".new-killed").exists() && path.join("foreign").exists());
    assert!(!path.join(ONE).join("summary.md.tmp-1-2").exists());
}

#[test]
fn what_cannot_be_written_whole_leaves_what_was_there() {
    let project = Project::new();
    project.write(snapshot(ONE, 0, "first"));
    let session = project.path().join(ONE);
    let summary = fs::read_to_string(session.join("summary.md")).unwrap();
    // As if the disk were full at the second file.
    fs::remove_file(session.join("metadata.json")).unwrap();
    fs::create_dir(session.join("metadata.json")).unwrap();
    assert!(project.folder().write(&clean(snapshot(ONE, 1, "second")), &[], &OPTIONS).is_err());
    assert_eq!(fs::read_to_string(session.join("summary.md")).unwrap(), summary);
    fs::remove_dir(session.join("metadata.json")).unwrap();
    project.write(snapshot(ONE, 1, "second"));
    assert_eq!(project.index().summaries[0].title, "second");
    assert!(project.files().iter().all(|name| !name.contains(".tmp-")));
}

#[test]
fn a_summary_that_is_written_again_says_what_it_says_now() {
    let project = Project::new();
    for title in ["first, with a word", "first"] {
        project.write(snapshot(ONE, 0, title));
        project.write(snapshot(ONE, 1, "second"));
    }
    let older = project.index().summaries.pop().unwrap();
    assert_eq!(older.title, "first");
    let text = fs::read_to_string(project.path().join(older.summary_path)).unwrap();
    assert!(!text.contains("word"), "{text}");
}

#[test]
fn two_at_once_lose_nothing() {
    let project = Project::new();
    std::thread::scope(|scope| {
        for (session, seconds) in [(ONE, 0..8), (TWO, 100..108)] {
            let project = &project;
            scope.spawn(move || {
                for second in seconds {
                    let snapshot = clean(snapshot(session, second, "t"));
                    // A caller that cannot wait tries again later.
                    while project.folder().write(&snapshot, &[], &OPTIONS).is_err() {}
                }
            });
        }
    });
    let index = project.index();
    assert_eq!(index.summaries.len(), 16);
    assert_eq!(index.summaries[0].session_id, TWO);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_whatever_order_they_are_written_the_same_is_there(
        order in Just((0..6_i64).collect::<Vec<_>>()).prop_shuffle(),
        again in prop::collection::vec(0..6_i64, 0..4),
    ) {
        let straight = Project::new();
        for second in 0..6 {
            straight.write(snapshot(ONE, second, &format!("title {second}")));
        }
        let project = Project::new();
        for second in order.iter().chain(&again) {
            project.write(snapshot(ONE, *second, &format!("title {second}")));
        }
        prop_assert_eq!(project.index(), straight.index());
        prop_assert_eq!(project.files(), straight.files());
    }

    #[test]
    fn the_index_lists_what_it_would_if_all_were_read(
        steps in prop::collection::vec((0..3_usize, 0..8_i64, 1..5_usize, prop::bool::weighted(0.2)), 1..12),
    ) {
        let ids = [ONE, TWO, "33333333-cccc-4ccc-8ccc-000000000003"];
        let project = Project::new();
        for (session, second, max, removes) in steps {
            if removes {
                // Removed by hand, which the index does not know.
                let _ = fs::remove_dir_all(project.path().join(ids[session]));
            }
            let options = Options { max, ..OPTIONS };
            let id = ids[(session + usize::from(removes)) % ids.len()];
            let snapshot = clean(snapshot(id, second * 3 + i64::from(id == TWO), "title"));
            project.folder().write(&snapshot, &[], &options).unwrap();
            let mut all = project.folder().list().unwrap().summaries;
            all.truncate(max);
            prop_assert_eq!(project.index().summaries, all);
        }
    }

    #[test]
    fn recorded_text_stays_text(title in ".{0,80}", path in ".{0,60}", code in "(.|\n){0,120}") {
        let project = Project::new();
        let mut snapshot = snapshot(ONE, 0, &title);
        snapshot.content.topics = vec![title.clone()];
        snapshot.content.files =
            vec![FileInPlay { path: path.clone(), modified: true, ..FileInPlay::default() }];
        let code = [excerpt(&path, &code)];
        let written = project.folder().write(&clean(snapshot), &code, &OPTIONS).unwrap();
        let text = fs::read_to_string(&written.summary).unwrap();
        let headings = text.lines().filter(|line| line.starts_with('#') && !line.starts_with("# "));
        let headings: Vec<&str> = headings.filter(|line| line.starts_with("## ")).collect();
        prop_assert_eq!(headings.len(), 6, "{}", text);
        let index: Value =
            serde_json::from_slice(&fs::read(project.path().join("index.json")).unwrap()).unwrap();
        prop_assert_eq!(&index["summaries"][0]["session_id"], ONE);
    }
}
