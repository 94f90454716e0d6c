//! What the world around the program does to it: closed pipes, full disks, other processes.

use std::process::{Command, Stdio};

use crate::home::Home;
use crate::records::{Author, ONE, file};

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_failure() {
    let home = Home::new();
    let mut author = Author::of(ONE);
    for number in 0..200 {
        author.asks(&format!("Question {number} {}", "word ".repeat(100)));
    }
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    for arguments in
        [&["session", "show", "1111", "--full"][..], &["sessions"], &["--help"], &["man"]]
    {
        let mut child = home
            .command()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{arguments:?}");
        assert_eq!(ended.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn two_imports_at_once_end_well() {
    let home = Home::with_history();
    let children: Vec<_> = (0..3)
        .map(|_| {
            let mut command = home.command();
            command.args(["import", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let mut passages = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        passages += report["passages"].as_u64().unwrap();
    }
    assert_eq!(home.json(&["verify", "--json"])["passages"], passages);
    home.thru(&["verify"]).expect(0);
}

#[test]
fn an_import_that_has_to_wait_says_for_whom() {
    let home = Home::imported();
    let path = home.data().join("run/intake.lock");
    let held = std::fs::File::options().read(true).write(true).open(path).unwrap();
    held.lock().unwrap();
    let mut child =
        home.command().arg("import").stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut errors = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut errors, &mut line).unwrap();
    assert!(line.contains("waiting for it to finish"), "{line}");
    held.unlock().unwrap();
    assert!(child.wait().unwrap().success());
}

/// A file system that cannot be written, where root may make one.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_home_can_be_searched() {
    let home = Home::imported();
    let data = home.data();
    let mount = |arguments: &[&str]| {
        Command::new("mount").args(arguments).arg(&data).output().is_ok_and(|o| o.status.success())
    };
    let bound = Command::new("mount").arg("--bind").args([&data, &data]).output();
    if !bound.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: only root can mount a folder read-only");
        return;
    }
    let read_only = mount(&["-o", "remount,ro,bind"]);
    let search = home.thru(&["search", "--all", "irrigation"]);
    let sessions = home.thru(&["sessions", "--all"]);
    let import = home.thru(&["import"]);
    let unmounted = Command::new("umount").arg("-l").arg(&data).output().unwrap();
    assert!(read_only && unmounted.status.success());
    sessions.expect(0);
    let import = import.expect(2);
    assert!(import.stderr.to_lowercase().contains("read-only"), "{}", import.shown());
    search.expect(0);
}
