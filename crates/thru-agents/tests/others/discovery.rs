//! Finding files: the layouts of the agents' homes, copies elsewhere under other names, and what belongs to
//! whom.

use std::fs;
use std::path::Path;

use thru_agents::{Discovery, Homes, agents};
use thru_core::{Agent, SessionId, Timestamp};

use crate::support::{THREAD, fixture};

const ROLLOUT: &str =
    "sessions/2026/06/18/rollout-2026-06-18T07-41-33-019ed99c-0000-7000-8000-000000000001.jsonl";
const SUBAGENT: &str =
    "sessions/2026/09/01/rollout-2026-09-01T10-00-00-01990000-0005-7000-8000-000000000005.jsonl";
const COPILOT: &str = "10fb0000-0000-4000-8000-000000000001";

fn put(path: impl AsRef<Path>, content: &[u8]) {
    fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn homes(root: &Path) -> Homes {
    let homes = Homes::new(|agent| root.join(agent.as_str()));
    put(homes.home(Agent::Codex).join(ROLLOUT), &fixture(Agent::Codex, "v0_140.jsonl"));
    put(homes.home(Agent::Codex).join(SUBAGENT), &fixture(Agent::Codex, "subagent.jsonl"));
    put(homes.home(Agent::Codex).join("sessions/2026/09/01/notes.jsonl"), b"{}\n");
    put(
        homes.home(Agent::Codex).join("history.jsonl"),
        b"{\"session_id\":\"x\",\"ts\":1,\"text\":\"y\"}\n",
    );
    put(
        homes.home(Agent::Codex).join("archived_sessions/rollout-2026-01-02T03-04-05-01990000-0009-7000-8000-000000000009.jsonl"),
        b"",
    );
    let session = homes.home(Agent::Copilot).join("session-state").join(COPILOT);
    put(session.join("events.jsonl"), &fixture(Agent::Copilot, "v1_0.jsonl"));
    put(session.join("workspace.yaml"), b"summary: Saturn\n");
    put(session.join("files/large.bin"), b"x");
    homes
}

fn names(found: &Discovery) -> Vec<String> {
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let name = |source: &thru_agents::Source| {
        format!(
            "{} {} {}",
            source.kind.as_str(),
            &source.session.as_str()[..8],
            source.archive_name
        )
    };
    found.sources.iter().map(name).collect()
}

#[test]
fn homes_are_looked_through() {
    let root = tempfile::tempdir().unwrap();
    let homes = homes(root.path());
    let codex = agents::discover(Agent::Codex, &homes, &|_| false);
    insta::assert_debug_snapshot!(names(&codex), @r#"
    [
        "main 01990000 codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-01990000-0009-7000-8000-000000000009.jsonl",
        "main 019ed99c codex/sessions/2026/06/18/rollout-2026-06-18T07-41-33-019ed99c-0000-7000-8000-000000000001.jsonl",
        "main 01990000 codex/sessions/2026/09/01/rollout-2026-09-01T10-00-00-01990000-0005-7000-8000-000000000005.jsonl",
    ]
    "#);
    let copilot = agents::discover(Agent::Copilot, &homes, &|_| false);
    insta::assert_debug_snapshot!(names(&copilot), @r#"
    [
        "main 10fb0000 copilot/session-state/10fb0000-0000-4000-8000-000000000001/events.jsonl",
        "attachment 10fb0000 copilot/session-state/10fb0000-0000-4000-8000-000000000001/workspace.yaml",
    ]
    "#);
    assert!(agents::discover(Agent::ClaudeCode, &homes, &|_| false).sources.is_empty());
    let skipped = agents::discover(Agent::Codex, &homes, &|path| path.ends_with("2026"));
    assert_eq!(skipped.sources.len(), 1);
}

#[test]
fn a_subagent_belongs_to_the_thread_that_started_it() {
    let root = tempfile::tempdir().unwrap();
    let homes = homes(root.path());
    let found = agents::discover(Agent::Codex, &homes, &|_| false);
    let own = found.sources.into_iter().find(|source| source.path.ends_with(SUBAGENT));
    let mut own = own.unwrap();
    assert_eq!(own.kind.as_str(), "main");
    agents::resolve_session(&mut own);
    assert_eq!((own.kind.as_str(), own.session.as_str()), ("subagent", THREAD));
    assert_eq!(own.agent_id.as_deref(), Some("01990000-0005-7000-8000-000000000005"));
}

#[test]
fn copies_are_known_by_what_they_hold() {
    let root = tempfile::tempdir().unwrap();
    put(root.path().join("a.jsonl"), &fixture(Agent::Codex, "v0_140.jsonl"));
    put(root.path().join("b.txt"), &fixture(Agent::Copilot, "v1_0.jsonl"));
    put(root.path().join("deep/c.jsonl"), &fixture(Agent::Codex, "subagent.jsonl"));
    put(root.path().join("other.jsonl"), b"{\"type\":\"session_meta\",\"payload\":{}}\n");
    let found = agents::discover_path(root.path());
    insta::assert_debug_snapshot!(names(&found), @r#"
    [
        "main 019ed99c codex/sessions/2026/06/18/rollout-2026-06-18T07-41-33-019ed99c-0000-7000-8000-000000000001.jsonl",
        "subagent 019ed99c codex/sessions/2026/09/01/rollout-2026-09-01T10-00-00-01990000-0005-7000-8000-000000000005.jsonl",
    ]
    "#);
    // One that is named itself is looked at whatever its name ends with.
    let named = agents::discover_path(&root.path().join("b.txt"));
    assert_eq!(
        names(&named),
        [format!("main 10fb0000 copilot/session-state/{COPILOT}/events.jsonl")]
    );
    let other = agents::discover_path(&root.path().join("other.jsonl"));
    assert!(other.sources.is_empty());
    assert_eq!(other.problems[0].message, "not a transcript of Claude Code, Codex or Copilot");
}

#[test]
fn what_grew_is_found_by_session_by_change_and_by_time() {
    let root = tempfile::tempdir().unwrap();
    let homes = homes(root.path());
    let rollout = homes.home(Agent::Codex).join(ROLLOUT);
    let events = homes.transcripts(Agent::Copilot).join(COPILOT).join("events.jsonl");

    let thread = SessionId::new(THREAD);
    assert_eq!(agents::discover_session(Agent::Codex, &rollout, &thread).sources.len(), 1);
    let another = SessionId::new("another");
    assert!(agents::discover_session(Agent::Codex, &rollout, &another).sources.is_empty());
    assert!(agents::discover_session(Agent::Copilot, &events, &another).sources.is_empty());
    let session = SessionId::new(COPILOT);
    assert_eq!(agents::discover_session(Agent::Copilot, &events, &session).sources.len(), 2);

    let changed = [rollout.as_path(), events.as_path(), events.parent().unwrap(), root.path()];
    let found = agents::discover_changed(&homes, changed, &|_| false);
    assert_eq!(found.sources.len(), 3, "{:?}", names(&found));

    let recent = |known: &[std::path::PathBuf], only_beside| {
        let since = Timestamp::now() - jiff::SignedDuration::from_hours(48);
        let recent = agents::Recent { since, known, only_beside };
        agents::discover_recent(&homes, recent, &|_| false, &|| true).sources.len()
    };
    // The folders of old days are not looked into, but at threads in them that are known.
    let known = std::slice::from_ref(&rollout);
    for only_beside in [false, true] {
        assert_eq!((recent(&[], only_beside), recent(known, only_beside)), (2, 3));
    }
}

#[test]
fn files_go_back_to_where_their_agents_look_for_them() {
    let root = tempfile::tempdir().unwrap();
    let homes = homes(root.path());
    for agent in [Agent::Codex, Agent::Copilot] {
        for source in agents::discover(agent, &homes, &|_| false).sources {
            let home = homes.home(agent);
            let back =
                agents::restore_path(agent, home, &source.path, &source.archive_name).unwrap();
            match source.path.starts_with(home.join("archived_sessions")) {
                true => assert!(back.starts_with(home.join("sessions/2026/01/02")), "{back:?}"),
                false => assert_eq!(back, source.path),
            }
        }
    }
}
