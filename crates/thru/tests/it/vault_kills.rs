//! The vault, whose writers are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

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

/// Runs a command that is killed, and the same again to its end. Each note is as it was or as it shall be, never between.
/// Returns true if it was killed.
fn kill(home: &Home, arguments: &[&str], killed: impl FnOnce() -> bool) -> bool {
    let folder = vault(home);
    let before = notes(&folder);
    let is_killed = killed();
    let left = notes(&folder);
    // What was done already is refused.
    home.thru(arguments);
    home.thru(&["vault", "sync"]).expect(0);
    let after = notes(&folder);
    for (path, text) in left {
        let is_whole = [&before, &after].iter().any(|all| all.get(&path) == Some(&text));
        assert!(is_whole, "{arguments:?}: {}: {text}", path.display());
    }
    let names = |all: &BTreeMap<PathBuf, String>| -> BTreeSet<String> {
        all.keys().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    };
    assert_eq!((names(&before), before.len()), (names(&after), after.len()), "{arguments:?}");
    let leftovers: Vec<PathBuf> =
        files(&folder).into_iter().filter(|path| is_hidden(path)).collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
    is_killed
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
            true
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

/// Runs the program until its main thread makes a system call for the nth time, and kills it there. Returns false if it
/// came to its end.
fn killed_at(home: &Home, arguments: &[&str], call: &str, number: u32) -> bool {
    let program = home.command();
    let mut command = Command::new("strace");
    command
        .env_clear()
        .args(["-f", "-qq", "-o", "/dev/null", "-e"])
        .arg(format!("trace={call}"))
        .arg("-e")
        .arg(format!("inject={call}:signal=SIGKILL:when={number}"))
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
    use std::os::unix::process::ExitStatusExt as _;
    let status = command.status().expect("strace");
    status.signal() == Some(9) || status.code() == Some(128 + 9)
}
