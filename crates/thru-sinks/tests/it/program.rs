//! Over the pipes of a program.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use thru_sinks::{Retry, Settings, Sink, SinkError, Transport};

use crate::{GO_ON, delivery};

/// Returns a server that answers calls with these commands; `$id` is the id of the call.
fn script(call: &str) -> String {
    format!(
        r#"echo $$ >> "$here/processes"
while read -r line; do
    printf '%s\n' "$line" >> "$here/heard"
    id=${{line#*'"id":'}}; id=${{id%%[,\}}]*}}
    case $line in
    *'"method":"initialize"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"protocolVersion":"2025-11-25","capabilities":{{}}}}}}';;
    *'"method":"tools/call"'*) {call};;
    esac
done
echo bye >> "$here/heard""#
    )
}

/// A successful answer to a call.
const KEPT: &str = r#"echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}'"#;

struct Stage {
    folder: TempDir,
    settings: Settings,
}

impl Stage {
    fn new(call: &str) -> Self {
        Self::running(&script(call))
    }

    fn running(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = PathBuf::from("/bin/sh");
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        let environment = vec![
            ("here".into(), folder.path().as_os_str().to_owned()),
            ("PATH".into(), "/usr/bin:/bin".into()),
        ];
        let at = Some(folder.path().to_owned());
        let transport = Transport::Command { program, arguments, environment, folder: at };
        Self { folder, settings: Settings::new(transport) }
    }

    fn sink(&self) -> Sink {
        Sink::connect(self.settings.clone()).unwrap()
    }

    #[track_caller]
    fn fails(&self, stop: &AtomicBool) -> SinkError {
        let error = self.sink().deliver(&delivery(), stop).unwrap_err();
        self.expect_nothing_left();
        error
    }

    #[track_caller]
    fn expect_nothing_left(&self) {
        for number in lines(&self.folder.path().join("processes")) {
            let state = Command::new("ps").args(["-o", "stat=", "-p", &number]).output().unwrap();
            let state = String::from_utf8(state.stdout).unwrap();
            assert!(state.trim().is_empty() || state.starts_with('Z'), "{number} runs: {state}");
        }
    }
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn a_program_is_started_once_and_ends_when_nothing_more_comes() {
    let stage = Stage::new(KEPT);
    let sink = stage.sink();
    sink.deliver(&delivery(), &GO_ON).unwrap();
    sink.deliver(&delivery(), &GO_ON).unwrap();
    drop(sink);
    stage.expect_nothing_left();
    assert_eq!(lines(&stage.folder.path().join("processes")).len(), 1);
    let heard = lines(&stage.folder.path().join("heard"));
    assert_eq!(heard.len(), 5, "{heard:?}");
    assert!(heard[3].contains(r#""It was mended.\nIt closes.""#), "{}", heard[3]);
    assert_eq!(heard[4], "bye");
}

#[test]
fn a_program_that_ended_is_started_again() {
    let stage = Stage::new(&format!("{KEPT}; exit"));
    let sink = stage.sink();
    for _ in 0..2 {
        sink.deliver(&delivery(), &GO_ON).unwrap();
        // It exits after its answer, sooner or later.
        let number = lines(&stage.folder.path().join("processes")).pop().unwrap();
        let state =
            || Command::new("ps").args(["-o", "stat=", "-p", &number]).output().unwrap().stdout;
        while !state().starts_with(b"Z") {
            thread::sleep(Duration::from_millis(5));
        }
    }
    assert_eq!(lines(&stage.folder.path().join("processes")).len(), 2);
}

#[test]
fn what_a_program_says_and_asks_besides_is_no_answer() {
    let ask = r#"echo Welcome; echo '{"jsonrpc":"2.0","id":7,"method":"ping"}'; read -r pong; printf '%s\n' "$pong" >> "$here/heard"
        echo '{"jsonrpc":"2.0","id":"a","method":"roots/list"}'; read -r no; printf '%s\n' "$no" >> "$here/heard"; "#;
    let stage = Stage::new(&format!("{ask}{KEPT}"));
    stage.sink().deliver(&delivery(), &GO_ON).unwrap();
    let heard = lines(&stage.folder.path().join("heard"));
    assert!(heard[3].contains(r#""result":{}"#) && heard[3].contains(r#""id":7"#), "{}", heard[3]);
    assert!(heard[4].contains("-32601") && heard[4].contains(r#""id":"a""#), "{}", heard[4]);
}

#[test]
fn what_fails_is_said() {
    let failed = Stage::new(
        r#"echo '{"jsonrpc":"2.0","id":'$id',"result":{"isError":true,"content":[{"type":"text","text":"full"}]}}'"#,
    );
    assert_eq!(failed.fails(&GO_ON).to_string(), "the tool failed: full");
    for script in ["exit 3", "read -r line; exit", "read -r line; echo '{\"jsonrpc\"'"] {
        let error = Stage::running(script).fails(&GO_ON);
        assert_eq!(
            (error.to_string().as_str(), error.retry()),
            ("protocol error: the program ended", Retry::Backoff)
        );
    }
    let long = Stage::new("head -c 3000000 /dev/zero; sleep 600").fails(&GO_ON);
    assert_eq!(long.to_string(), "the answer is longer than 1048576 bytes");
    let mut missing = Stage::new("");
    if let Transport::Command { program, .. } = &mut missing.settings.transport {
        *program = PathBuf::from("/no/such/server");
    }
    assert!(matches!(missing.fails(&GO_ON), SinkError::Unreachable(_)));
}

#[test]
fn who_hangs_is_ended() {
    let mut stage = Stage::new("trap '' TERM; while :; do sleep 1; done");
    stage.settings.timeout = Duration::from_millis(300);
    assert!(matches!(stage.fails(&GO_ON), SinkError::Timeout(_)));
    stage.settings.timeout = Duration::from_secs(100_000);
    let stop = AtomicBool::new(false);
    let path = stage.folder.path().join("heard");
    let before = lines(&path).len();
    thread::scope(|scope| {
        scope.spawn(|| {
            while lines(&path).len() < before + 3 {
                thread::sleep(Duration::from_millis(10));
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert!(matches!(stage.fails(&stop), SinkError::Stopped));
    });
}
