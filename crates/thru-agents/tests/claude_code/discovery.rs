//! Finding files: the real layout, old layouts, copies elsewhere, and what must not be followed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use thru_agents::agents::discover_path;
use thru_agents::agents::{Recent, discover_recent};
use thru_agents::claude_code::discover;
use thru_agents::{Discovery, Homes};
use thru_core::{Agent, SourceKind};

use crate::support::{SESSION, fixture};

fn put(path: impl AsRef<Path>, content: &[u8]) {
    fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn names(found: &Discovery) -> Vec<String> {
    found
        .sources
        .iter()
        .map(|s| {
            format!(
                "{} {} {}",
                s.kind.as_str(),
                s.session.as_str(),
                s.archive_name.replace(SESSION, "S")
            )
        })
        .map(|line| line.replace(SESSION, "S"))
        .collect()
}

fn layout(config: &Path) {
    let slug = config.join("projects/-home-ada-orrery");
    put(slug.join(format!("{SESSION}.jsonl")), b"");
    put(slug.join("agent-old1.jsonl"), &fixture("agent-a9f.jsonl"));
    put(slug.join("renamed.jsonl"), &fixture("v2_1.jsonl"));
    put(slug.join("notes.jsonl"), b"{\"role\":\"user\"}\n");
    put(slug.join("memory/MEMORY.md"), b"");
    let session = slug.join(SESSION);
    put(session.join("subagents/agent-a9f.jsonl"), b"{}\n");
    put(session.join("subagents/agent-a9f.meta.json"), b"{}");
    put(session.join("subagents/workflows/wf_1/agent-b.jsonl"), b"");
    put(session.join("workflows/wf_1.json"), b"{}");
    put(session.join("tool-results/toolu_1.txt"), b"spilled");
    put(session.join("else/agent-x.jsonl"), b"");
    put(config.join("history.jsonl"), &fixture("history.jsonl"));
}

#[test]
fn the_real_layout_is_found_whole() {
    let dir = tempfile::tempdir().unwrap();
    layout(dir.path());
    let found = discover(dir.path(), &|_| false);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    insta::assert_snapshot!(names(&found).join("\n"), @r###"
    main S claude-code/-home-ada-orrery/S.jsonl
    subagent S claude-code/-home-ada-orrery/S/subagents/agent-a9f.jsonl
    attachment S claude-code/-home-ada-orrery/S/subagents/agent-a9f.meta.json
    subagent S claude-code/-home-ada-orrery/S/subagents/workflows/wf_1/agent-b.jsonl
    attachment S claude-code/-home-ada-orrery/S/tool-results/toolu_1.txt
    attachment S claude-code/-home-ada-orrery/S/workflows/wf_1.json
    subagent S claude-code/-home-ada-orrery/agent-old1.jsonl
    main S claude-code/-home-ada-orrery/renamed.jsonl
    prompt-history  claude-code/history.jsonl
    "###);
    let agent =
        found.sources.iter().find(|s| s.archive_name.ends_with("subagents/agent-a9f.jsonl"));
    let agent = agent.unwrap();
    assert_eq!((agent.agent_id.as_deref(), agent.size), (Some("a9f"), 3));
    assert!(agent.modified.is_some());
}

#[test]
fn what_is_to_be_skipped_is_skipped() {
    let dir = tempfile::tempdir().unwrap();
    layout(dir.path());
    let found = discover(dir.path(), &|path| path.ends_with("-home-ada-orrery"));
    assert_eq!(names(&found), ["prompt-history  claude-code/history.jsonl"]);
    let found = discover(dir.path(), &|path| path.extension().is_some_and(|e| e == "jsonl"));
    assert!(found.sources.iter().all(|source| source.kind == SourceKind::Attachment));
}

#[test]
fn a_fresh_installation_has_nothing() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(discover(&dir.path().join("nowhere"), &|_| false), Discovery::default());
}

#[test]
fn copies_elsewhere_are_found_by_what_they_hold() {
    let dir = tempfile::tempdir().unwrap();
    layout(&dir.path().join("backup/.claude"));
    put(dir.path().join("plain/team__talk.jsonl"), &fixture("v1_0.jsonl"));
    put(
        dir.path().join("plain/no session.jsonl"),
        b"{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"y\"}\n",
    );
    put(dir.path().join("plain/rollout.jsonl"), b"{\"type\":\"session_meta\",\"payload\":{}}\n");
    let hostile = b"{\"type\":\"user\",\"sessionId\":\"../../x\",\"message\":{}}\n";
    put(dir.path().join("plain/hostile.jsonl"), hostile);
    let found = discover_path(dir.path());
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    insta::assert_snapshot!(names(&found).join("\n"), @r###"
    subagent S claude-code/-home-ada-orrery/S/subagents/agent-a9f.jsonl
    attachment S claude-code/-home-ada-orrery/S/subagents/agent-a9f.meta.json
    subagent S claude-code/-home-ada-orrery/S/subagents/workflows/wf_1/agent-b.jsonl
    attachment S claude-code/-home-ada-orrery/S/tool-results/toolu_1.txt
    attachment S claude-code/-home-ada-orrery/S/workflows/wf_1.json
    subagent S claude-code/-home-ada-orrery/agent-old1.jsonl
    main S claude-code/-home-ada-orrery/renamed.jsonl
    prompt-history  claude-code/.claude/history.jsonl
    main hostile claude-code/plain/hostile.jsonl
    main file-no-session claude-code/plain/no session.jsonl
    main S claude-code/plain/team__talk.jsonl
    "###);
}

#[test]
fn a_file_that_is_named_and_is_no_transcript_is_a_problem() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path().join("a.txt"), b"hello");
    put(dir.path().join("b.txt"), &fixture("v2_1.jsonl"));
    let found = discover_path(&dir.path().join("a.txt"));
    assert_eq!((found.sources.len(), found.problems.len()), (0, 1));
    assert_eq!(discover_path(&dir.path().join("b.txt")).sources.len(), 1);
    assert_eq!(discover_path(&dir.path().join("missing")).problems.len(), 1);
}

#[cfg(unix)]
#[test]
fn links_that_loop_end_and_unreadable_folders_are_problems() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = tempfile::tempdir().unwrap();
    layout(dir.path());
    let projects = dir.path().join("projects");
    symlink(&projects, projects.join("-loop")).unwrap();
    symlink(&projects, projects.join(format!("-home-ada-orrery/{SESSION}/subagents/loop")))
        .unwrap();
    symlink(
        "nowhere",
        projects.join(format!("-home-ada-orrery/{}.jsonl", SESSION.replace('a', "b"))),
    )
    .unwrap();
    let before = discover(dir.path(), &|_| false);
    assert!(before.problems.is_empty(), "{:?}", before.problems);
    assert!(
        before.sources.iter().all(|s| !s.archive_name.contains("loop")),
        "{:?}",
        names(&before)
    );
    assert!(!discover_path(dir.path()).sources.is_empty());

    let locked = projects.join("-locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let found = discover(dir.path(), &|_| false);
    let may_read_all = fs::read_dir(&locked).is_ok();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(found.sources, before.sources);
    // A superuser reads files without permissions.
    assert!(may_read_all || found.problems.len() == 1);
}

#[test]
fn what_was_written_to_lately_is_found_where_something_came_or_a_session_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let homes = Homes::new(|agent| match agent {
        Agent::ClaudeCode => dir.path().to_owned(),
        agent => dir.path().join(agent.as_str()),
    });
    let (new, old) = (SESSION, "0f0e8d35-9c5e-4c6d-8a54-1f4d5c1f7a01");
    let folder = dir.path().join("projects/-home-ada-orrery");
    let path = |session: &str| folder.join(format!("{session}.jsonl"));
    let ago = |hours: u64| SystemTime::now() - Duration::from_hours(hours);
    let date = |path: &Path, hours| {
        fs::File::open(path).unwrap().set_modified(ago(hours)).unwrap();
    };
    put(path(old), b"");
    put(path(new), b"");
    date(&path(old), 100);
    let found = |known: &[PathBuf], only_beside| {
        let since = Timestamp::try_from(ago(48)).unwrap();
        let recent = Recent { since, known, only_beside };
        let found = discover_recent(&homes, recent, &|_| false, &|| true);
        found.sources.into_iter().map(|source| source.path).collect::<Vec<_>>()
    };
    // The folder changed: what is new in it is found, and nothing else.
    assert_eq!(found(&[], false), [path(new)]);
    assert_eq!(found(&[path(old)], true), [path(new)]);
    assert_eq!(found(&[], true), Vec::<PathBuf>::new());
    // Nothing came for days: only sessions that are known may have gone on.
    date(&folder, 100);
    assert_eq!(found(&[], false), Vec::<PathBuf>::new());
    assert_eq!(found(&[path(old), path(new)], false), [path(new)]);
    date(&path(old), 1);
    assert_eq!(found(&[path(old)], false), [path(old)]);
}
