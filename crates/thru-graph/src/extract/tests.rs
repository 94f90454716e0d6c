//! The openings of made-up sessions.

use thru_core::{Agent, ClaimedRelation, Object, ObservationType, Relation, SessionId};
use thru_distil::{CheckRun, Failure, GitStep};

use super::*;
use crate::edit::file_edit;

fn step(second: i64) -> Step {
    Step {
        id: Id::derive(&[&second.to_le_bytes()]),
        at: Some(Timestamp::from_second(second).unwrap()),
        is_subagent: false,
        modified: Vec::new(),
        acts: false,
        decides: false,
        checks: Vec::new(),
        git: Vec::new(),
        git_folder: ".".to_owned(),
        moved_to: None,
    }
}

fn edit(second: i64, path: &str) -> Step {
    Step { modified: vec![path.to_owned()], ..step(second) }
}

fn git(second: i64, git: Vec<GitStep>) -> Step {
    Step { git, acts: true, ..step(second) }
}

fn check(second: i64, passed: bool) -> Step {
    let failure = Failure {
        is_test: false,
        key: "E0382: moved".to_owned(),
        file: Some("src/a.rs".to_owned()),
    };
    let run = CheckRun {
        command: "cargo test".to_owned(),
        filter: String::new(),
        folder: ".".to_owned(),
        passed,
        failures: if passed { Vec::new() } else { vec![failure] },
        is_whole: true,
        is_prepared: false,
        makes: false,
    };
    Step { checks: vec![run], ..step(second) }
}

fn commit(hash: &str) -> GitStep {
    GitStep::Committed {
        hash: hash.to_owned(),
        branch: Some("main".to_owned()),
        subject: "Melt".to_owned(),
        closes: vec![7],
        paths: vec!["src/new.rs".to_owned()],
    }
}

fn openings(steps: &[Step]) -> Vec<Opening> {
    openings_with(steps, &[])
}

fn openings_with(steps: &[Step], edits: &[FileEdit]) -> Vec<Opening> {
    openings_of(steps, edits, &[])
}

fn openings_of(steps: &[Step], edits: &[FileEdit], refined: &[Observation]) -> Vec<Opening> {
    let key = SessionKey { agent: Agent::ClaudeCode, id: SessionId::new("s1") };
    extract(&SessionCourse {
        key: &key,
        title: Some("Fire the kiln"),
        directory: Some("/p/kiln"),
        first_branch: None,
        branch: Some("main"),
        steps,
        edits,
        observations: &[],
        refined,
    })
}

/// Renders openings as `subject RELATION object [scope]` and `run folder branch outcome: failures; edits; commit`.
fn shown(steps: &[Step]) -> Vec<String> {
    openings(steps).into_iter().map(line).collect()
}

fn line(opening: Opening) -> String {
    match opening.claim {
        Claim::Event { subject, relation, object, .. } => {
            format!("{} {relation} {}", subject.shown(), object.shown())
        }
        Claim::Candidate { subject, relation, object } => {
            format!("{} {relation} {} (a model)", subject.shown(), object.shown())
        }
        Claim::Value { subject, relation, object, scope, .. } => {
            let object = object.as_ref().map_or("-", Object::shown);
            format!("{} {relation} {object} [{scope}]", subject.shown())
        }
        Claim::Run { command, folder, branch, passed, failures, edits, commit, .. } => {
            let failures: Vec<&str> = failures.iter().map(|one| one.entity.shown()).collect();
            let edits: Vec<&str> = edits.iter().map(|edit| edit.file.shown()).collect();
            let commit = commit.as_ref().map_or("-", |made| made.commit.shown());
            format!(
                "{} in {folder:?} on {branch}: {passed} {failures:?} {edits:?} {commit}",
                command.key
            )
        }
    }
}

#[test]
fn a_model_links_only_what_the_session_shows() {
    let claims = |relation: Relation, subject: &str, object: &str| ClaimedRelation {
        relation,
        subject: subject.to_owned(),
        object: object.to_owned(),
    };
    let id = Id::derive(&[b"refined"]);
    let refined = Observation {
        sources: vec![id],
        relations: vec![
            claims(Relation::FixedBy, "E0382", "src/a.rs"),
            claims(Relation::FixedBy, "`E0382: moved`", "abc12345"),
            claims(Relation::FixedBy, "E0499", "src/a.rs"),
            claims(Relation::FixedBy, "E0382", "the second try"),
            claims(Relation::Touches, "abc1234", "docs/glaze.md"),
            claims(Relation::Touches, "fff1234", "docs/glaze.md"),
            claims(Relation::Closes, "abc12345", "#12"),
            claims(Relation::Closes, "abc12345", "twelve"),
            claims(Relation::RenamedTo, "src/old.rs", "src/new.rs"),
            claims(Relation::RenamedTo, "src/old.rs", "src/old.rs"),
            claims(Relation::MergedInto, "glaze", "main"),
            claims(Relation::MergedInto, "cone", "main"),
            claims(Relation::Ruled, "glaze", "main"),
        ],
        ..Observation::new(id, 1, ObservationType::Bugfix, "Mend the melt".to_owned())
    };
    let steps = [
        check(1, false),
        git(2, vec![commit("abc12345")]),
        git(3, vec![GitStep::OnBranch("glaze".to_owned())]),
    ];
    let claimed = openings_of(&steps, &[], &[refined]).into_iter().map(line);
    assert_eq!(
        claimed.filter(|line| line.ends_with("(a model)")).collect::<Vec<_>>(),
        [
            "E0382: moved (src/a.rs) FIXED_BY src/a.rs (a model)",
            "E0382: moved (src/a.rs) FIXED_BY abc1234 Melt (a model)",
            "abc1234 Melt TOUCHES docs/glaze.md (a model)",
            "abc1234 Melt CLOSES #12 (a model)",
            "src/old.rs RENAMED_TO src/new.rs (a model)",
            "glaze MERGED_INTO main (a model)",
        ]
    );
}

#[test]
fn a_session_shows_checks_commits_and_branches() {
    let steps = [
        check(1, false),
        edit(2, "/p/kiln/src/a.rs"),
        check(3, true),
        check(4, true),
        git(5, vec![GitStep::Added(vec!["src".to_owned()]), commit("abc12345")]),
        git(6, vec![GitStep::OnBranch("glaze".to_owned())]),
    ];
    assert_eq!(
        shown(&steps),
        [
            ". ON_BRANCH main [/p/kiln]",
            "cargo test in \"\" on main: false [\"E0382: moved (src/a.rs)\"] [] -",
            "cargo test in \"\" on main: true [] [\"src/a.rs\"] abc1234 Melt",
            "Fire the kiln COMMITTED abc1234 Melt",
            "abc1234 Melt TOUCHES src/a.rs",
            "abc1234 Melt TOUCHES src/new.rs",
            "abc1234 Melt CLOSES #7",
            ". ON_BRANCH glaze [/p/kiln]",
        ]
    );
}

#[test]
fn another_repository_is_none_of_ours() {
    let elsewhere = Step { git_folder: "/p/other".to_owned(), ..git(1, vec![commit("abc1234")]) };
    assert_eq!(shown(&[elsewhere]), [". ON_BRANCH main [/p/kiln]"]);
}

#[test]
fn worktrees_have_branches_of_their_own() {
    let mut in_worktree = check(2, true);
    in_worktree.checks[0].folder = "/p/kiln/.worktrees/glaze".to_owned();
    let steps = [check(1, true), in_worktree];
    assert_eq!(
        shown(&steps)[1..],
        [
            "cargo test in \"\" on main: true [] [] -".to_owned(),
            "cargo test in \"\" on : true [] [] -".to_owned(),
        ]
    );
}

#[test]
fn a_commit_in_a_worktree_says_nothing_of_the_branch_outside() {
    let folder = "/p/kiln/.worktrees/glaze".to_owned();
    let inside = Step { git_folder: folder, ..git(1, vec![commit("abc1234")]) };
    let mut glaze = inside;
    if let GitStep::Committed { branch, .. } = &mut glaze.git[0] {
        *branch = Some("glaze".to_owned());
    }
    assert_eq!(
        shown(&[glaze])[..2],
        [". ON_BRANCH main [/p/kiln]", ". ON_BRANCH glaze [/p/kiln/.worktrees/glaze]"]
    );
}

#[test]
fn a_session_begins_where_its_record_says() {
    let key = SessionKey { agent: Agent::Codex, id: SessionId::new("s1") };
    let steps = [git(1, vec![GitStep::SwitchedTo("glaze".to_owned())]), check(2, true)];
    let session = SessionCourse {
        key: &key,
        title: None,
        directory: Some("/p/kiln"),
        first_branch: Some("main"),
        branch: Some("glaze"),
        steps: &steps,
        edits: &[],
        observations: &[],
        refined: &[],
    };
    let branches = |session: &SessionCourse<'_>| {
        let openings = extract(session).into_iter();
        let shown = openings.filter_map(|opening| match opening.claim {
            Claim::Value { object, .. } => Some(object?.shown().to_owned()),
            _ => None,
        });
        shown.collect::<Vec<String>>()
    };
    assert_eq!(branches(&session), ["main", "glaze"]);
    // Without that, what it was before the switch is not known; a status tells what it has been.
    assert_eq!(branches(&SessionCourse { first_branch: None, ..session }), ["glaze"]);
    let seen = [check(1, true), git(2, vec![GitStep::OnBranch("glaze".to_owned())])];
    let session = SessionCourse { first_branch: None, steps: &seen, ..session };
    assert_eq!(branches(&session), ["glaze"]);
    assert!(matches!(&extract(&session)[0].claim, Claim::Value { .. }));
}

#[test]
fn a_build_may_change_what_other_checks_see() {
    let mut build = check(2, false);
    build.checks[0].command = "npm run build".to_owned();
    build.checks[0].makes = true;
    let mut again = build.clone();
    again.at = Timestamp::from_second(4).ok();
    again.checks[0].passed = true;
    let mut prepared = check(5, true);
    prepared.checks[0].is_prepared = true;
    let mut failed = check(3, false);
    failed.checks[0].filter = "kiln".to_owned();
    let openings = openings(&[check(1, false), build, failed, again, prepared]);
    let acted = openings.iter().filter_map(|opening| match &opening.claim {
        Claim::Run { command, acted, .. } => Some((command.key.as_str(), *acted)),
        _ => None,
    });
    assert_eq!(
        acted.collect::<Vec<_>>(),
        [
            ("cargo test", false),
            ("npm run build", false),
            ("cargo test", true),
            ("npm run build", false),
            ("cargo test", true),
        ]
    );
}

#[test]
fn a_check_of_a_named_package_is_the_same_in_every_folder() {
    let mut inside = check(1, true);
    inside.checks[0].folder = "./web/src".to_owned();
    inside.checks[0].command = "pnpm build".to_owned();
    let mut named = inside.clone();
    named.checks[0].filter = "--filter web".to_owned();
    assert_eq!(
        shown(&[inside, named])[1..],
        [
            "pnpm build in \"web/src\" on main: true [] [] -".to_owned(),
            "pnpm build in \"\" on main: true [] [] -".to_owned(),
        ]
    );
}

#[test]
fn a_clock_that_goes_backwards_changes_no_order() {
    let steps = [check(9, false), check(3, true)];
    let openings = openings(&steps);
    assert!(openings.windows(2).all(|pair| pair[0].at <= pair[1].at));
    assert!(
        openings
            .iter()
            .any(|one| matches!(&one.claim, Claim::Value { relation: Relation::OnBranch, .. }))
    );
}

fn shown_with(steps: &[Step], texts: &[(&str, String)]) -> Vec<String> {
    let edits = steps.iter().zip(texts);
    let edits: Vec<FileEdit> = edits
        .filter_map(|(step, (path, text))| file_edit(step.id, path, &format!("Edit\n{text}")))
        .collect();
    openings_with(steps, &edits).into_iter().map(line).collect()
}

#[test]
fn what_a_session_wrote_may_move_in_it() {
    let steps = [edit(1, "src/a.rs"), edit(2, "src/a.rs"), edit(3, "src/b.rs")];
    let melt = "fn melt() {\n    1\n}";
    let written = ("src/a.rs", format!("content: {melt}"));
    let cut = ("src/a.rs", format!("old_string: {melt}\nnew_string: mod b;"));
    let moved = |texts: &[(&str, String)]| {
        let shown = shown_with(&steps, texts).into_iter();
        shown.filter(|line| line.contains("MOVED_TO")).collect::<Vec<_>>()
    };
    let put = ("src/b.rs", format!("content: {melt}"));
    assert_eq!(moved(&[written.clone(), cut.clone(), put]), ["fn melt MOVED_TO src/b.rs"]);
    let back = ("src/a.rs", format!("content: {melt}"));
    assert!(moved(&[written, cut, back]).is_empty());
}

#[test]
fn edits_show_what_files_define_and_what_moved() {
    let steps = [edit(1, "src/a.rs"), edit(2, "/p/kiln/src/b.rs"), edit(3, "src/a.rs")];
    let melt = "fn melt() {\n    1\n}";
    let texts = [
        ("src/a.rs", format!("old_string: {melt}\nnew_string: {melt}\n\nfn cool() {{}}")),
        ("/p/kiln/src/b.rs", format!("content: use crate::a;\n\n{melt}")),
        ("src/a.rs", format!("old_string: {melt}\n\nfn cool() {{}}\nnew_string: fn cool() {{}}")),
    ];
    assert_eq!(
        shown_with(&steps, &texts),
        [
            ". ON_BRANCH main [/p/kiln]",
            "Fire the kiln EDITED fn cool",
            "src/a.rs DEFINES fn cool []",
            "src/a.rs DEFINES fn melt []",
            "Fire the kiln EDITED fn melt",
            "src/b.rs DEFINES fn melt []",
            "src/a.rs DEFINES fn cool []",
            "Fire the kiln EDITED fn melt",
            "src/a.rs DEFINES - []",
            "fn melt MOVED_TO src/b.rs",
        ]
    );
}
