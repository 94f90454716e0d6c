//! Forgotten sessions stay forgotten (invariant I-7), restored ones are not read twice.

use std::fs;

use thru_intake::{IntakeError, Operation};

use crate::dump;
use crate::machine::{Machine, assert_same, key};
use crate::records::{Author, ONE, TWO, conversation, file, prompt_of};

fn two_sessions() -> Machine {
    let mut other = Author::of(TWO);
    other.asks("About zebrafish").says("Zebrafish it is.");
    let subagent = format!("projects/-home-ada-rocket/{TWO}/subagents/agent-a1.jsonl");
    let machine = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        (&file(TWO), &other.text()),
        (&subagent, &Author::of(TWO).starting_at_record(9).asks("Find zebrafish").text()),
        (
            "history.jsonl",
            &(prompt_of(TWO, 1_772_355_601_000, "About zebrafish")
                + &prompt_of("gone", 1_772_355_602_000, "Something else")),
        ),
    ]);
    machine.import();
    machine
}

#[test]
fn a_forgotten_session_leaves_no_word_and_does_not_come_back() {
    let machine = two_sessions();
    machine.forget(TWO);
    machine.assert_sound();
    let forgotten = machine.dump();
    let all = forgotten.join("\n").to_lowercase();
    assert!(!all.contains("zebrafish"), "{all}");
    assert!(all.contains("something else"));
    // By no way in.
    machine.import();
    assert_same(&machine.dump(), &forgotten);
    machine.write(&file(TWO), conversation(TWO).text());
    machine.write(
        "history.jsonl",
        fs::read_to_string(machine.claude().join("history.jsonl")).unwrap()
            + &prompt_of(TWO, 1_772_355_609_000, "More zebrafish"),
    );
    machine.import();
    machine.import_paths(&[&machine.claude()]);
    let all = machine.dump().join("\n").to_lowercase();
    assert!(!all.contains("zebrafish"), "{all}");
    let before = machine.dump();
    machine.rebuild();
    assert_same(&machine.dump(), &before);
    machine.assert_sound();
}

#[test]
fn no_file_holds_a_word_of_a_forgotten_session() {
    const WORD: &[u8] = b"zebrafish";
    let machine = two_sessions();
    // One segment, in which what was deleted would stay until there is another.
    machine.rebuild();
    let holding = || -> Vec<String> {
        let mut folders = vec![machine.layout().root().to_owned()];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if fs::read(&path)
                    .unwrap()
                    .to_ascii_lowercase()
                    .windows(WORD.len())
                    .any(|window| window == WORD)
                {
                    found.push(path.display().to_string());
                }
            }
        }
        found
    };
    assert!(!holding().is_empty(), "the index holds its words as they are");
    machine.forget(TWO);
    assert_eq!(holding(), Vec::<String>::new());
}

fn lose_store(machine: &Machine) {
    for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let _ = fs::remove_file(machine.layout().root().join(name));
    }
}

#[test]
fn a_forgotten_session_does_not_come_back_after_the_store_was_lost() {
    let machine = two_sessions();
    machine.forget(TWO);
    lose_store(&machine);
    machine.import();
    assert!(!machine.dump().join("\n").to_lowercase().contains("zebrafish"));
}

#[test]
fn a_session_that_was_half_forgotten_does_not_come_back_by_a_rebuild() {
    let machine = two_sessions();
    // Killed after the tombstone, before anything was removed.
    let session = key(TWO);
    machine
        .intake()
        .record(&[Operation::SessionForgotten { session, passages: Vec::new() }])
        .unwrap();
    machine.rebuild();
    let all = dump::store(&machine.layout()).join("\n").to_lowercase();
    assert!(!all.contains("zebrafish"), "{all}");
}

#[test]
fn a_session_that_was_half_forgotten_is_gone_from_the_archive_after_the_next_import() {
    let machine = two_sessions();
    let session = key(TWO);
    machine
        .intake()
        .record(&[Operation::SessionForgotten { session, passages: Vec::new() }])
        .unwrap();
    machine.import();
    let all = machine.dump().join("\n").to_lowercase();
    assert!(!all.contains("zebrafish"), "{all}");
}

#[test]
fn forgetting_an_origin_gives_what_a_rebuild_gives() {
    let mut fork = Author::of(TWO);
    fork.forks(&conversation(ONE), 4).asks("Another way?");
    let machine =
        Machine::with([(&file(ONE), &conversation(ONE).text()), (&file(TWO), &fork.text())]);
    machine.import();
    machine.forget(ONE);
    let before = machine.dump();
    machine.rebuild();
    assert_same(&machine.dump(), &before);
}

#[test]
fn what_a_fork_copied_from_a_forgotten_session_stays_forgotten() {
    let mut origin = Author::of(ONE);
    origin.asks("About zebrafish").says("Zebrafish it is.").asks("More zebrafish");
    let mut marked = Author::of(TWO);
    marked.forks(&origin, 3).asks("About sharks").says("Sharks it is.");
    // As 2.1.197 has them: the copies name neither their session nor that they are copies.
    let text = marked.text();
    let unmarked = text.lines().map(|line| {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        record.as_object_mut().unwrap().remove("forkedFrom");
        record.to_string() + "\n"
    });
    let unmarked: String = unmarked.collect();
    let third = "33333333-cccc-4ccc-8ccc-000000000003";
    for fork in [text, unmarked] {
        let machine = Machine::with([(&file(ONE), &origin.text()), (&file(TWO), &fork)]);
        machine.import();
        machine.forget(ONE);
        let forgotten = dump::store(&machine.layout());
        let all = forgotten.join("\n").to_lowercase();
        assert!(!all.contains("zebrafish"), "{all}");
        assert!(all.contains("about sharks"), "{all}");
        // By no way in: a rebuild, a lost store, a second copy of the agent's.
        machine.rebuild();
        assert_same(&dump::store(&machine.layout()), &forgotten);
        lose_store(&machine);
        machine.import();
        machine.write(&file(third), fork.replace(TWO, third));
        machine.import();
        let all = dump::store(&machine.layout()).join("\n").to_lowercase();
        assert!(!all.contains("zebrafish"), "{all}");
        machine.assert_sound();
    }
}

#[test]
fn forgetting_leaves_a_verbatim_list_of_prompts_of_others_alone() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let mut machine = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        ("history.jsonl", &prompt_of(TWO, 1_772_355_601_000, &format!("TOKEN={secret}"))),
    ]);
    machine.options.verbatim = true;
    machine.import();
    machine.forget(ONE);
    let archive = dump::archive(&machine.layout()).join("\n");
    assert!(archive.contains(secret), "{archive}");
}

/// A session that was imported, and whose files the agent then deleted.
fn deleted() -> (Machine, String) {
    let subagent = format!("projects/-home-ada-rocket/{ONE}/subagents/agent-a1.jsonl");
    let text = conversation(ONE).text();
    let machine = Machine::with([
        (&file(ONE), &text),
        (&subagent, &Author::of(ONE).starting_at_record(70).asks("Look.").text()),
    ]);
    machine.import();
    fs::remove_dir_all(machine.claude()).unwrap();
    fs::create_dir(machine.claude()).unwrap();
    (machine, text)
}

fn restore(machine: &Machine) -> Result<thru_intake::Restored, IntakeError> {
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    intake.restore(&lock, &key(ONE), &machine.claude())
}

#[test]
fn a_restored_session_is_what_it_was_and_is_not_read_twice() {
    let (machine, text) = deleted();
    let before = machine.dump();
    let restored = restore(&machine).unwrap();
    assert_eq!((restored.files.len(), restored.kept.len()), (2, 0));
    assert_eq!(restored.directory.as_deref(), Some("/home/ada/rocket"));
    let path = machine.claude().join(file(ONE));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let age = fs::metadata(&path).unwrap().modified().unwrap().elapsed().unwrap();
    assert!(age.as_secs() < 600);
    machine.import();
    assert_same(&machine.dump(), &before);
    // What the agent adds when it resumes is read, once.
    let more = Author::of(ONE).starting_at_record(500).asks("And now?").text();
    fs::write(&path, text + &more).unwrap();
    machine.import();
    assert_eq!(machine.dump().iter().filter(|line| line.contains("And now?")).count(), 2);
    machine.assert_sound();
    let incremental = machine.dump();
    machine.rebuild();
    assert_same(&machine.dump(), &incremental);
}

#[test]
fn a_redacted_session_can_be_restored_and_resumed() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let mut author = Author::of(ONE);
    author.asks(&format!("TOKEN={secret}")).says("Noted. <private>pangolin</private>");
    let machine = Machine::with([(&file(ONE), &author.text())]);
    machine.import();
    machine.remove(&file(ONE));
    let before = machine.dump();
    restore(&machine).unwrap();
    let path = machine.claude().join(file(ONE));
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains(secret) && !text.contains("pangolin"));
    assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    fs::write(&path, text + &Author::of(ONE).starting_at_record(500).asks("And now?").text())
        .unwrap();
    machine.import();
    assert_eq!(dump::archive(&machine.layout()).len(), 3);
    assert!(before.iter().filter(|l| l.starts_with("passage")).all(|l| machine.dump().contains(l)));
}

#[test]
fn restoring_never_writes_over_a_file() {
    let (machine, _) = deleted();
    machine.write(&file(ONE), "mine");
    let error = restore(&machine).unwrap_err();
    assert!(matches!(error, IntakeError::Exists(_)), "{error}");
    assert_eq!(fs::read_to_string(machine.claude().join(file(ONE))).unwrap(), "mine");
}

#[cfg(unix)]
#[test]
fn restoring_never_follows_a_link_out_of_the_folder() {
    let (machine, _) = deleted();
    let elsewhere = machine.folder().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir_all(machine.claude().join("projects")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, machine.claude().join("projects/-home-ada-rocket"))
        .unwrap();
    restore(&machine).unwrap_err();
    let written: Vec<_> = fs::read_dir(&elsewhere).unwrap().collect();
    assert!(written.is_empty(), "{written:?}");
}

#[test]
fn restoring_what_is_unknown_says_so() {
    let (machine, _) = deleted();
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    let error = intake.restore(&lock, &key("missing"), &machine.claude()).unwrap_err();
    assert!(matches!(error, IntakeError::NoSession(_)), "{error}");
}
