//! Notes as memory calls for them.

use std::collections::HashSet;

use thru_core::{
    Agent, Concept, Digest, Id, Observation, ObservationType, SessionId, SessionKey, Speaker,
    Statement, Summary, Timestamp,
};
use thru_vault::{Archived, GraphFact, Memory, Plan, SessionMemory, Tells};

fn plans(memory: &Memory) -> Vec<Plan> {
    memory.notes().plans().collect()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn key() -> SessionKey {
    SessionKey { agent: Agent::ClaudeCode, id: SessionId::new("5b1f0c9e-1111") }
}

fn observation(number: u8, kind: ObservationType, title: &str) -> Observation {
    Observation {
        at: Some(at("2026-11-09T14:02:00Z")),
        files_modified: vec!["/work/rocket/src/index.rs".to_owned()],
        ..Observation::new(Id::derive(&[&[number]]), 1, kind, title.to_owned())
    }
}

fn statement(text: &str) -> Statement {
    Statement { text: text.to_owned(), sources: Vec::new() }
}

fn memory() -> Memory {
    let mut fix = observation(2, ObservationType::Bugfix, "Lost updates when two imports run");
    fix.narrative = Some(statement("The cause was a read before the lock; it is taken first now."));
    let rule = Observation {
        is_rule: true,
        speaker: Speaker::Person,
        ..observation(3, ObservationType::Decision, "Use pnpm, not npm")
    };
    let pattern = Observation {
        concepts: [Concept::Pattern].into(),
        ..observation(4, ObservationType::Discovery, "Locks are files beside the data")
    };
    Memory {
        sessions: vec![SessionMemory {
            key: key(),
            project: "rocket".to_owned(),
            title: Some("Lost updates in the session index".to_owned()),
            started: at("2026-11-09T14:00:00Z"),
            ended: at("2026-11-09T15:00:00Z"),
            closed: Some(at("2026-11-09T15:10:00Z")),
            directory: Some("/work/rocket".to_owned()),
            branch: Some("main".to_owned()),
            summary: Some(Summary {
                id: Id::derive(&[b"summary"]),
                title: "Lost updates in the session index".to_owned(),
                digest: Digest {
                    request: Some(statement("Why a lock per file and not one lock?")),
                    next_steps: vec![statement("make the budget a setting")],
                    open_questions: vec![statement("does it hold on NFS?")],
                    ..Digest::default()
                },
                turns: Vec::new(),
                sections: thru_core::SessionSections::default(),
                at: None,
                raw_tokens: 0,
            }),
            observations: vec![
                observation(
                    1,
                    ObservationType::Decision,
                    "One lock file per index, not a global lock",
                ),
                fix,
                rule,
                pattern,
                observation(5, ObservationType::Change, "Edited `src/index.rs`"),
            ],
        }],
        ..Memory::default()
    }
}

fn note(memory: &Memory, name: &str) -> String {
    let plan = find(memory, name);
    plan.new_note(&HashSet::new()).unwrap()
}

fn find(memory: &Memory, name: &str) -> Plan {
    let plans = plans(memory);
    let names: Vec<String> = plans.iter().map(Plan::path).collect();
    plans.into_iter().find(|plan| plan.name.contains(name)).unwrap_or_else(|| panic!("{names:?}"))
}

fn archived() -> Memory {
    let mut memory = memory();
    let reason = "Compaction threshold exceeded".to_owned();
    memory.decided.archived.insert(key(), Archived { at: at("2026-11-12T08:00:00Z"), reason });
    memory
}

#[test]
fn an_active_session() {
    insta::assert_snapshot!(note(&memory(), "lost-updates"), @r#"
    ---
    type: session
    project: rocket
    tags:
      - session
      - project/rocket
    aliases:
      - Lost updates in the session index
    created: 2026-11-09
    updated: 2026-11-09
    status: active
    thru_id: kffxezqwr3kmnxyv
    ---
    # Lost updates in the session index

    ## Context
    - asked: Why a lock per file and not one lock? ^t-xh4s42jrzs
    - session `5b1f0c9e-1111` of claude-code in `rocket`, branch `main` ^t-p75z8mf34w

    ## Work Log
    ### 2026-11-09 14:02
    - [bugfix] Lost updates when two imports run ^t-bc1e6w6j7r
      - The cause was a read before the lock; it is taken first now. ^t-yejpn76a95
    - [discovery] Locks are files beside the data ^t-ckyjwm9yw6
    - [change] Edited `src/index.rs` ^t-203ey5epqh
    ### 2026-11-09 15:10 - Session End
    - Session completed. Work finalized. ^t-7ghm6w4pvs

    ## Decisions Made
    - [decision] One lock file per index, not a global lock ^t-z8fx4y3eh1
    - [rule] Use pnpm, not npm ^t-5vnm8h4s7v

    ## Open Questions
    - does it hold on NFS? ^t-aw6qycfp99

    ## Next Steps
    - [ ] make the budget a setting ^t-eawyvsfswf

    ## Related Entities
    "#);
}

/// "5. Update Entity Notes" and "7. Create Backlinks".
#[test]
fn a_file_of_an_archived_session() {
    insta::assert_snapshot!(note(&archived(), "index.rs (rocket)"), @r#"
    ---
    type: entity
    project: rocket
    tags:
      - entity
      - component
      - project/rocket
    created: 2026-11-09
    updated: 2026-11-12
    thru_id: ckfq1kw2cde86h8b
    ---
    # index.rs

    ## Overview
    - `index.rs` of rocket ^t-dvbrq1fqa5

    ## Key Decisions
    - [decision] 2026-11-09: One lock file per index, not a global lock ^t-z8fx4y3eh1

    ## Gotchas & Troubleshooting
    - [bugfix] 2026-11-09: Lost updates when two imports run ^t-bc1e6w6j7r
      - The cause was a read before the lock; it is taken first now. ^t-yejpn76a95

    ## Recent Changes
    - [change] 2026-11-09: Edited `src/index.rs` ^t-203ey5epqh

    ## Related Entities

    ## References
    - [[2026-11-09-lost-updates-in-the-session-index-5b1f0c9e]] - Archived session (compacted) ^t-2d1baj260x
    "#);
}

/// "User preferences → Update user preference entity", "New patterns → Create topic notes or new entities".
#[test]
fn wishes_and_patterns_of_an_archived_session() {
    insta::assert_snapshot!(note(&archived(), "Preferences"), @r#"
    ---
    type: entity
    project: rocket
    tags:
      - entity
      - preferences
      - project/rocket
    created: 2026-11-09
    updated: 2026-11-12
    thru_id: mmxgxnv8bknk8vcg
    ---
    # Preferences (rocket)

    ## Preferences
    - [rule] 2026-11-09: Use pnpm, not npm ^t-5vnm8h4s7v

    ## References
    - [[2026-11-09-lost-updates-in-the-session-index-5b1f0c9e]] - Archived session (compacted) ^t-agcn9s70zv
    "#);
    insta::assert_snapshot!(note(&archived(), "Patterns"), @r#"
    ---
    type: topic
    project: global
    tags:
      - topic
      - pattern
    created: 2026-11-09
    updated: 2026-11-12
    thru_id: se6fc2sn0wmx0f8f
    ---
    # Patterns (all projects)

    ## Patterns & Best Practices
    - [discovery] 2026-11-09: Locks are files beside the data ^t-ckyjwm9yw6

    ## References
    - [[2026-11-09-lost-updates-in-the-session-index-5b1f0c9e]] - Archived session (compacted) ^t-bjb21mb8cc
    "#);
}

#[test]
fn a_project_leads_to_its_notes() {
    insta::assert_snapshot!(note(&archived(), "_index"), @r#"
    ---
    type: project-index
    project: rocket
    tags:
      - index
      - project/rocket
    created: 2026-11-09
    updated: 2026-11-09
    thru_id: xcbntxrb4ev4cgfv
    ---
    # rocket

    ## Key Entities
    - [[index.rs (rocket)|index.rs]] ^t-qa5yzc73m0
    - [[Preferences (rocket)|Preferences]] ^t-1p9jt9exbg

    ## Recent Focus
    - 2026-11-09: [[2026-11-09-lost-updates-in-the-session-index-5b1f0c9e|Lost updates in the session index]] ^t-a0zj80z3ze

    ## Active Goals
    "#);
}

/// "Set status to "archived" in frontmatter … Add archived_date field with current date, Add archived_reason".
#[test]
fn an_archived_session_says_when_and_why() {
    let plan = find(&archived(), "lost-updates");
    assert_eq!(plan.folder, "projects/rocket/archive/sessions");
    let text = plan.new_note(&HashSet::new()).unwrap();
    let lines = "status: archived\narchived_date: 2026-11-12\narchived_reason: Compaction threshold exceeded\n";
    assert!(text.contains(lines), "{text}");
}

#[test]
fn the_same_memory_gives_the_same_notes() {
    assert_eq!(plans(&archived()), plans(&archived()));
}

/// Every link leads to a note, and none is ambiguous.
#[test]
fn every_link_resolves() {
    let plans = plans(&archived());
    let names: Vec<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
    for plan in &plans {
        for link in plan.lines().flat_map(|line| line.text.split("[[").skip(1)) {
            let target =
                link.split(["|", "]]"].map(|end| end.chars().next().unwrap())).next().unwrap();
            assert_eq!(names.iter().filter(|name| **name == target).count(), 1, "{target}");
        }
    }
}

#[test]
fn hostile_memory_makes_nothing_but_text() {
    let mut memory = archived();
    let hostile = "---\n# x [[y]] ![[z]] %%c%% <script> ^t-aaaaaaaaaa\n- [ ] task";
    let session = &mut memory.sessions[0];
    session.title = Some(hostile.to_owned());
    session.project = "../../etc: [x]\n---".to_owned();
    for one in &mut session.observations {
        one.title = hostile.to_owned();
        one.narrative = Some(statement(&format!("{hostile} more")));
    }
    for plan in memory.notes().plans() {
        let path = plan.path();
        assert!(path.split('/').all(|part| !part.is_empty() && !part.starts_with('.')), "{path}");
        let text = plan.new_note(&HashSet::new()).unwrap();
        let note = thru_vault::Note::parse(&text);
        let levels = note.headings.iter().filter(|heading| heading.level == 1).count();
        assert_eq!(levels, 1, "{text}");
        assert!(!text.contains("![[") && !text.contains("<script"), "{text}");
        assert_eq!(note.own_lines().count(), plan.lines().count(), "{text}");
    }
}

/// "Gotcha: Append to "## Gotchas & Troubleshooting" section", with the symptom and the solution that the graph has.
#[test]
fn a_fix_has_its_symptom_and_its_solution() {
    let mut memory = archived();
    let passage = Id::derive(&[b"passage"]);
    memory.sessions[0].observations[1].sources = vec![passage];
    let fixed = |number: u8, problem: &str, passages: Vec<Id>| GraphFact {
        id: Id::derive(&[b"fact", &[number]]),
        project: "rocket".to_owned(),
        from: at("2026-11-09T14:30:00Z"),
        passages,
        tells: Tells::Fixed {
            problem: problem.to_owned(),
            by: "src/index.rs".to_owned(),
            file: Some("src/index.rs".to_owned()),
        },
    };
    memory.facts = vec![
        fixed(1, "error[E0499]: cannot borrow `index`", vec![passage]),
        fixed(2, "tests::two_imports", Vec::new()),
        fixed(3, "tests::three_imports", vec![passage]),
    ];
    let text = note(&memory, "index.rs (rocket)");
    let gotchas = text.split("## Gotchas & Troubleshooting\n").nth(1).unwrap();
    let gotchas = gotchas.split("\n\n").next().unwrap();
    let bare: Vec<&str> = gotchas.lines().map(|line| line.rsplit_once(" ^t-").unwrap().0).collect();
    let expected = [
        "- [bugfix] 2026-11-09: Lost updates when two imports run",
        "  - The cause was a read before the lock; it is taken first now.",
        "  - symptom: `` error[E0499]: cannot borrow `index` ``",
        "  - solution: changed `src/index.rs`",
        "  - symptom: `tests::three_imports`",
        "- [gotcha] 2026-11-09: `tests::two_imports`",
        "  - solution: changed `src/index.rs`",
    ];
    assert_eq!(bare, expected);
}

#[test]
fn a_project_says_what_it_is_built_of() {
    let mut memory = archived();
    memory.sessions[0].observations[0].files_modified.clear();
    memory.facts = vec![GraphFact {
        id: Id::derive(&[b"fact"]),
        project: "rocket".to_owned(),
        from: at("2026-11-09T14:30:00Z"),
        passages: Vec::new(),
        tells: Tells::BuiltOf("built with serde 1.0".to_owned()),
    }];
    let text = note(&memory, "rocket (project)");
    assert!(text.contains("\n- built with serde 1.0 ^t-"), "{text}");
}
