//! Directories that say they are part of a project.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use thru_app::keep::projects;

use crate::home::{Home, call};
use crate::records::{ONE, TWO};

const CONFIG: &str = "[remote \"origin\"]\n\turl = git@github.com:acme/rocket.git\n";
const SECRET: &str = "the valve opens at seven bar";

fn write(path: PathBuf, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A repository with this configuration.
fn repository(directory: &Path, config: &str) {
    write(directory.join(".git/HEAD"), "ref: refs/heads/main\n");
    write(directory.join(".git/config"), config);
}

/// A home that remembers something of the project `work/rocket`, a clone of a remote.
fn rocket() -> Home {
    let home = Home::new();
    repository(&home.project(), CONFIG);
    home.hook(ONE, "SessionStart", json!({ "source": "startup" }));
    home.prompt(ONE, 1, "At which pressure does the valve open?");
    home.stop(ONE, "At seven bar.");
    home.hook(ONE, "SessionEnd", json!({ "reason": "exit" }));
    home.remember(SECRET);
    home.store();
    home
}

/// Returns what a session is told that starts in a directory.
fn told(home: &Home, directory: &Path) -> String {
    home.hook_in(directory, TWO, "SessionStart", json!({ "source": "startup" }))
}

/// The same for a session of its own.
fn told_later(home: &Home, directory: &Path, number: u32) -> String {
    let session = format!("44444444-dddd-4ddd-8ddd-{number:012}");
    home.hook_in(directory, &session, "SessionStart", json!({ "source": "startup" }))
}

#[test]
fn a_claim_to_a_known_project_is_given_nothing_of_it_until_a_person_agrees() {
    type Make = fn(&Path, &Path);
    let attacks: [(&str, Make); 6] = [
        ("an unpacked archive with a copied configuration", |there, _| repository(there, CONFIG)),
        ("a file that points to the repository", |there, project| {
            write(there.join(".git"), format!("gitdir: {}\n", project.join(".git").display()));
        }),
        ("a repository whose common directory is the other", |there, project| {
            repository(there, "");
            write(there.join(".git/commondir"), project.join(".git").display().to_string());
        }),
        ("a worktree that the repository does not know", |there, project| {
            let own = project.join(".git/worktrees/other");
            write(own.join("HEAD"), "ref: refs/heads/other\n");
            write(own.join("commondir"), "../..\n");
            write(own.join("gitdir"), "/elsewhere/.git\n");
            write(there.join(".git"), format!("gitdir: {}\n", own.display()));
        }),
        ("a folder named as that of the worktrees", |_, _| {}),
        #[cfg(unix)]
        ("a link to the repository", |there, project| {
            std::os::unix::fs::symlink(project.join(".git"), there.join(".git")).unwrap();
        }),
        #[cfg(not(unix))]
        ("nothing", |_, _| {}),
    ];
    for (name, make) in attacks {
        let home = rocket();
        let there = home.folder().join("work/rocket__worktrees/evil");
        fs::create_dir_all(&there).unwrap();
        make(&there, &home.project());
        let answer = told(&home, &there);
        assert!(!answer.contains(SECRET), "{name}: {answer}");
        // The session is not the other project's either.
        home.hook_in(&there, TWO, "SessionEnd", json!({ "reason": "exit" }));
        let listed = projects::projects(&home.app(), None, call()).unwrap().projects;
        let rocket = listed.iter().find(|one| one.key.as_str().starts_with("remote:")).unwrap();
        assert_eq!(rocket.sessions, 1, "{name}: {listed:?}");
    }
}

#[test]
fn a_declared_name_of_a_known_project_waits_as_well() {
    let home = Home::new();
    write(home.project().join(".throughline.toml"), "project.name = \"rocket\"");
    home.remember(SECRET);
    assert!(told(&home, &home.project()).contains(SECRET));
    let there = home.folder().join("work/other");
    write(there.join(".throughline.toml"), "project.name = \"rocket\"");
    let answer = told(&home, &there);
    assert!(!answer.contains(SECRET), "{answer}");
    assert!(answer.contains("until you run `thru projects trust` here"), "{answer}");
}

#[test]
fn a_name_that_is_declared_later_leaves_what_was_told_where_it_is() {
    let home = Home::new();
    repository(&home.project(), "");
    home.remember(SECRET);
    write(home.project().join(".throughline.toml"), "project.name = \"zeta\"");
    assert!(told(&home, &home.project()).contains(SECRET));
    let listed = projects::projects(&home.app(), None, call()).unwrap().projects;
    let names: Vec<&str> = listed.iter().map(|one| one.name.get().as_str()).collect();
    assert_eq!(names, ["rocket"]);
}

#[test]
fn a_clone_is_joined_when_a_person_says_so() {
    let home = rocket();
    let clone = home.folder().join("work/again");
    repository(&clone, CONFIG);
    let first = told(&home, &clone);
    assert!(first.contains("says it is part of rocket, known from"), "{first}");
    home.hook_in(&clone, TWO, "SessionEnd", json!({ "reason": "exit" }));
    home.store();
    // Said once.
    let second = told_later(&home, &clone, 2);
    assert!(!second.contains("says it is part of"), "{second}");

    let trusted = projects::trust(&home.app(), Some(&clone), call()).unwrap();
    assert!(trusted.is_new);
    assert_eq!(trusted.project.get(), "rocket");
    assert!(told_later(&home, &clone, 3).contains(SECRET));
    assert!(!projects::trust(&home.app(), Some(&clone), call()).unwrap().is_new);
}

#[test]
fn a_worktree_that_its_repository_knows_is_joined_without_asking() {
    let home = rocket();
    let worktree = home.folder().join("work/fuel");
    let own = home.project().join(".git/worktrees/fuel");
    write(own.join("HEAD"), "ref: refs/heads/fuel\n");
    write(own.join("commondir"), "../..\n");
    write(own.join("gitdir"), worktree.join(".git").display().to_string());
    write(worktree.join(".git"), format!("gitdir: {}\n", own.display()));
    assert!(told(&home, &worktree).contains(SECRET));
    // As is one that is gone, and a folder below.
    assert!(told_later(&home, &home.project().join(".worktrees/gone"), 2).contains(SECRET));
    assert!(told_later(&home, &home.project().join("src/deep"), 3).contains(SECRET));
}
