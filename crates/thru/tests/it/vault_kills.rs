//! The vault, whose writers are killed, or read something else than they wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use thru_core::content_hash;

use crate::home::Home;
use crate::vaulting::{decided, vault};

/// The system calls by which files are changed. At each of them a write of the vault can end.
const CALLS: [&str; 13] = [
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "fchmod",
];

/// The system calls that put a file in the place of a note.
const PUTTING: [&str; 3] = ["rename", "renameat2", "linkat"];

/// The notes of a vault, by path. Files that are hidden are left out.
fn notes(folder: &Path) -> BTreeMap<PathBuf, String> {
    let all = files(folder).into_iter().filter(|path| !is_hidden(path));
    all.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Tells something in a note, as a person does who did it long ago. Returns the mark of it.
fn tell(folder: &Path, round: u32) -> String {
    let all = notes(folder).into_iter();
    let sessions: Vec<_> = all.filter(|(_, text)| text.contains("## Decisions Made\n")).collect();
    let (path, text) = &sessions[round as usize % sessions.len()];
    let mark = format!("told-in-round-{round}-");
    let told = format!("## Decisions Made\n- A decision {mark}\n");
    fs::write(path, text.replacen("## Decisions Made\n", &told, 1)).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + u64::from(round));
    fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    mark
}

/// The end of a command.
#[derive(Default)]
struct Ended {
    is_killed: bool,
    /// The hashes of the texts that it put in the place of notes, as far as they are known.
    written: BTreeSet<String>,
}

/// Runs a command that is killed, and the same again to its end. Each note is as it was, as it shall be, or as the killed
/// process wrote it whole: a second run may go on from there and write it once more. Returns true if it was killed.
fn kill(home: &Home, arguments: &[&str], killed: impl FnOnce() -> Ended) -> bool {
    let folder = vault(home);
    let before = notes(&folder);
    let ended = killed();
    let left = notes(&folder);
    // What was done already is refused.
    home.thru(arguments);
    home.thru(&["vault", "sync"]).expect(0);
    let after = notes(&folder);
    for (path, text) in left {
        let is_known = [&before, &after].iter().any(|all| all.get(&path) == Some(&text));
        let is_whole = || ended.written.contains(&content_hash(text.as_bytes()).to_string());
        assert!(is_known || is_whole(), "{arguments:?}: {}: {text}", path.display());
    }
    let names = |all: &BTreeMap<PathBuf, String>| -> BTreeSet<String> {
        all.keys().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    };
    assert_eq!((names(&before), before.len()), (names(&after), after.len()), "{arguments:?}");
    let leftovers: Vec<PathBuf> =
        files(&folder).into_iter().filter(|path| is_hidden(path)).collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
    ended.is_killed
}

/// True if the note of the session that the commands name lies in the archive.
fn is_in_archive(home: &Home) -> bool {
    let all = notes(&vault(home));
    let own = all.keys().find(|path| path.to_string_lossy().ends_with("-00000001.md"));
    own.is_some_and(|path| path.parent().unwrap().ends_with("archive/sessions"))
}

/// What a person wrote is there once.
fn assert_once(home: &Home, marks: &[String]) {
    let all: String = notes(&vault(home)).into_values().collect();
    for mark in marks {
        assert_eq!(all.matches(mark).count(), 1, "{mark}");
    }
}

#[test]
fn killed_at_any_moment_each_note_is_old_or_new() {
    let home = decided(6);
    home.thru(&["vault", "init", vault(&home).to_str().unwrap()]).expect(0);
    let sync = || home.command().args(["vault", "sync"]).stdout(Stdio::null()).spawn().unwrap();
    let mut seed = 0x5eed_u64;
    let mut marks = vec![tell(&vault(&home), 0)];
    let began = Instant::now();
    assert!(sync().wait().unwrap().success());
    let took = began.elapsed();
    for round in 1..13 {
        marks.push(tell(&vault(&home), round));
        kill(&home, &["vault", "sync"], || {
            let mut child = sync();
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            std::thread::sleep(took * (seed % 1_000) as u32 / 1_000);
            child.kill().unwrap();
            child.wait().unwrap();
            Ended { is_killed: true, ..Ended::default() }
        });
    }
    assert_once(&home, &marks);
}

/// Each system call of a sync, of a compaction and of taking a note out of the archive, one after the other, again and
/// again.
#[test]
#[ignore = "takes half an hour, and strace"]
fn killed_at_each_system_call_each_note_is_old_or_new() {
    const ROUNDS: u32 = 1_000;
    let home = decided(3);
    home.thru(&["vault", "init", vault(&home).to_str().unwrap()]).expect(0);
    let commands = [
        &["vault", "sync"][..],
        &["vault", "unarchive", "00000001"],
        &["vault", "compact", "00000001"],
    ];
    let (mut kills, mut round) = (0, 0);
    let mut marks = Vec::new();
    let mut places = BTreeMap::new();
    'all: loop {
        for call in CALLS {
            // The three commands take turns. A call that none of them makes so often ends the row.
            for number in 1.. {
                let mut is_killed = false;
                for command in commands {
                    marks.push(tell(&vault(&home), round));
                    round += 1;
                    is_killed |= kill(&home, command, || killed_at(&home, command, call, number));
                    assert_eq!(is_in_archive(&home), command[1] != "unarchive", "{command:?}");
                }
                if !is_killed {
                    break;
                }
                kills += 1;
                *places.entry(call).or_insert(0) = number;
                if round >= ROUNDS {
                    break 'all;
                }
            }
        }
        assert!(kills > 0, "nothing was killed");
    }
    assert_once(&home, &marks);
    eprintln!("{round} rounds, {kills} places: {places:?}");
}

/// "Archive verification failed. Session not moved.": the copy reads back as an empty file, once. The note stays active and says
/// so, and the next attempt moves it.
#[test]
fn a_copy_that_reads_back_otherwise_leaves_the_note_where_it_is() {
    if Command::new("strace").arg("-V").output().is_err() {
        return eprintln!("skipped: there is no strace");
    }
    let home = decided(1);
    home.thru(&["config", "set", "vault.compact_days", "3650"]).expect(0);
    home.thru(&["vault", "init", vault(&home).to_str().unwrap()]).expect(0);
    home.thru(&["config", "set", "vault.compact_days", "3"]).expect(0);
    let all = notes(&vault(&home));
    let note = all.keys().find(|path| path.to_string_lossy().ends_with("-00000001.md")).unwrap();
    let archive = note.parent().unwrap().with_file_name("archive/sessions");
    let copy = archive.join(note.file_name().unwrap());
    let fault = ["-P", copy.to_str().unwrap(), "-e", "inject=read:retval=0:when=1"];
    let failed =
        traced(&home, &["vault", "sync"], "read", &fault).stdout(Stdio::piped()).output().unwrap();
    let told = String::from_utf8(failed.stdout).unwrap();
    assert!(told.contains("Archive verification failed. Session not moved."), "{told}");
    let text = fs::read_to_string(note).unwrap();
    for line in ["status: active", "archive_error: Archive verification failed. Session not moved."]
    {
        assert!(text.contains(&format!("\n{line}\n")), "{text}");
    }
    assert!(!copy.exists());
    let status = home.thru(&["vault"]).expect(0).stdout;
    assert!(status.contains("Archive verification failed"), "{status}");
    home.thru(&["vault", "retry"]).expect(0);
    let text = fs::read_to_string(copy).unwrap();
    assert!(text.contains("\nstatus: archived\n") && !text.contains("archive_error"), "{text}");
    assert!(!note.exists());
}

/// Runs the program until its main thread makes a system call for the nth time, and kills it there.
fn killed_at(home: &Home, arguments: &[&str], call: &str, number: u32) -> Ended {
    use std::os::unix::process::ExitStatusExt as _;
    let calls = format!("{call},{}", PUTTING.join(","));
    let fault = ["-e", &format!("inject={call}:signal=SIGKILL:when={number}")];
    let status = traced(home, arguments, &calls, &fault).status().expect("strace");
    let is_killed = status.signal() == Some(9) || status.code() == Some(128 + 9);
    // A file beside a note has the hash of its text in its name.
    let trace = fs::read_to_string(home.folder().join("trace")).unwrap();
    let marks = trace.split(".thru-").skip(1).filter_map(|rest| rest.split('-').next());
    Ended { is_killed, written: marks.map(str::to_owned).collect() }
}

/// The program below strace, which follows these system calls and puts in a fault.
fn traced(home: &Home, arguments: &[&str], calls: &str, fault: &[&str]) -> Command {
    let program = home.command();
    let mut command = Command::new("strace");
    command
        .env_clear()
        .args(["-f", "-qq", "-o"])
        .arg(home.folder().join("trace"))
        .args(["-e", &format!("trace={calls}")])
        .args(fault)
        .arg(program.get_program())
        .args(arguments)
        .current_dir(home.folder().join("work"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.env("PATH", "/usr/bin:/bin");
    command
}
