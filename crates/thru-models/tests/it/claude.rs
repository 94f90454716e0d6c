//! A script in the place of `claude`, which fails in every way that a program can.

#![cfg(unix)]

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use thru_core::Micros;
use thru_models::{AskError, Key, Kind, Provider, Retry, Settings, Usage, connect};

use crate::{GO_ON, KEY, request};

/// Help text with the options that a client must know.
const HELP: &str = "--settings <x> --setting-sources <x> --strict-mcp-config --tools <x> --no-session-persistence --safe-mode";

/// A scripted `claude`, with its folder.
struct Stage {
    folder: TempDir,
    settings: Settings,
}

impl Stage {
    fn new(script: &str) -> Self {
        Self::knowing(HELP, script)
    }

    /// Creates one whose help names these options.
    fn knowing(options: &str, script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("claude");
        let text = format!(
            "#!/bin/sh\nhere={}\nif [ \"$1\" = --help ]; then echo x >> $here/helped; echo '{options}'; exit; fi\n{script}\n",
            folder.path().display()
        );
        write_program(&program, &text);
        fs::create_dir(folder.path().join("scratch")).unwrap();
        let mut settings = Settings::new(Kind::ClaudeCli, "haiku");
        settings.program = program;
        settings.scratch = Some(folder.path().join("scratch"));
        settings.timeout = Duration::from_secs(30);
        let pass = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        settings.environment = vec![
            pass("PATH", "/usr/local/bin:/usr/bin:/bin"),
            pass("HOME", "/nonexistent"),
            pass("CLAUDECODE", "1"),
            pass("CLAUDE_CODE_SESSION_ID", "s"),
            pass("ANTHROPIC_API_KEY", "the-user's"),
        ];
        Self { folder, settings }
    }

    fn provider(&self) -> Box<dyn Provider> {
        connect(&self.settings).unwrap()
    }

    /// Returns the contents of a file that the client left, one item per line.
    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Asserts that asking fails and that nothing is left behind.
    #[track_caller]
    fn fails(&self, stop: &AtomicBool) -> AskError {
        let error = self.provider().ask(&request(), stop).unwrap_err();
        self.expect_nothing_left();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("cellar door") && !shown.contains(KEY), "{shown}");
        error
    }

    #[track_caller]
    fn expect_nothing_left(&self) {
        let left = fs::read_dir(self.folder.path().join("scratch")).unwrap().count();
        assert_eq!(left, 0, "folders");
        for number in self.lines("processes") {
            let state = Command::new("ps").args(["-o", "stat=", "-p", &number]).output().unwrap();
            let state = String::from_utf8(state.stdout).unwrap();
            // A zombie that was not waited for belongs to its parent.
            assert!(state.trim().is_empty() || state.starts_with('Z'), "{number} runs: {state}");
        }
    }
}

/// Writes a program from another process. If this one had it open for writing, a child that another test
/// starts at that moment would inherit the handle, and the system would not run the program.
fn write_program(path: &Path, text: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(path).stdin(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    shell.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(shell.wait().unwrap().success());
}

fn result(more: &serde_json::Value) -> String {
    let mut body = json!({
        "type": "result", "subtype": "success", "is_error": false, "api_error_status": null, "num_turns": 2,
        "result": "done", "stop_reason": "tool_use", "total_cost_usd": 0.001_25,
        "usage": { "input_tokens": 300, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 600, "output_tokens": 40 },
        "modelUsage": { "claude-haiku-4-5-20251001": {} },
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    format!("cat > /dev/null; cat <<'END'\n{body}\nEND")
}

#[test]
fn it_is_asked_with_every_guard() {
    let record = "cat > $here/input; for a; do printf '%s\\n' \"$a\"; done > $here/arguments; env > $here/environment; \
                  pwd > $here/folder; ls -la > $here/listing; stat -c %a . > $here/mode 2>/dev/null\n";
    let answer = result(&json!({ "structured_output": { "title": "x" } }));
    let stage = Stage::new(&format!("{record}{answer}"));
    let provider = stage.provider();
    let reply = provider.ask(&request(), &GO_ON).unwrap();
    stage.expect_nothing_left();
    assert_eq!(reply.structured, Some(json!({ "title": "x" })));
    assert_eq!(
        (reply.model.as_str(), reply.cost),
        ("claude-haiku-4-5-20251001", Some(Micros(1_250)))
    );
    assert_eq!(
        reply.usage,
        Usage { input: 1_000, output: 40, cached_input: 600, estimated: false }
    );
    assert!(!provider.is_local());

    assert_eq!(stage.lines("input").join("\n"), request().prompt);
    let schema = request().schema.unwrap().to_string();
    let arguments = stage.lines("arguments");
    let wanted = [
        "-p",
        "--output-format",
        "json",
        "--model",
        "haiku",
        "--settings",
        r#"{"disableAllHooks":true}"#,
        "--setting-sources",
        "",
        "--strict-mcp-config",
        "--tools",
        "",
        "--no-session-persistence",
        "--safe-mode",
        "--system-prompt",
        &request().system,
        "--json-schema",
        &schema,
    ];
    assert_eq!(arguments, wanted);
    let environment = stage.lines("environment");
    for set in [
        "THROUGHLINE_CHILD=1",
        "CLAUDE_CODE_SKIP_PROMPT_HISTORY=1",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS=500",
        "MAX_THINKING_TOKENS=0",
        "HOME=/nonexistent",
    ] {
        assert!(environment.iter().any(|line| line == set), "{set}: {environment:?}");
    }
    for gone in ["CLAUDECODE=", "CLAUDE_CODE_SESSION_ID=", "ANTHROPIC_API_KEY="] {
        assert!(!environment.iter().any(|line| line.starts_with(gone)), "{gone}");
    }
    let folder = PathBuf::from(&stage.lines("folder")[0]);
    assert!(
        folder.starts_with(stage.folder.path().canonicalize().unwrap().join("scratch"))
            || folder.starts_with(stage.folder.path().join("scratch"))
    );
    assert_eq!(
        stage.lines("listing").iter().filter(|line| !line.ends_with('.')).count(),
        1,
        "only the total"
    );
    if cfg!(target_os = "linux") {
        assert_eq!(stage.lines("mode"), ["700"]);
    }
    // Its options are looked up once.
    provider.ask(&request(), &GO_ON).unwrap();
    assert_eq!(stage.lines("helped").len(), 1);
}

#[test]
fn a_key_is_used_if_settings_say_so() {
    let mut stage = Stage::new(&format!("env > $here/environment\n{}", result(&json!({}))));
    stage.settings.key = Key::new(KEY);
    stage.provider().ask(&request(), &GO_ON).unwrap();
    assert!(stage.lines("environment").contains(&format!("ANTHROPIC_API_KEY={KEY}")));
}

#[test]
fn a_client_without_the_guards_is_not_asked() {
    let old =
        Stage::knowing("--settings <x> --setting-sources <x> --tools <x>", "echo >> $here/asked");
    let error = old.fails(&GO_ON);
    assert_eq!(error.to_string(), "this version of claude lacks --strict-mcp-config; update it");
    assert_eq!(old.lines("asked").len(), 0);
    // The one guard that is optional.
    let some = Stage::knowing(&HELP.replace("--safe-mode", ""), &result(&json!({})));
    some.provider().ask(&request(), &GO_ON).unwrap();
}

#[test]
fn what_it_says_of_its_trouble_is_understood() {
    let said = |more| Stage::new(&format!("{}\nexit 1", result(&more))).fails(&GO_ON);
    let error = said(json!({ "is_error": true, "result": "Not logged in · Please run /login" }));
    assert_eq!(
        error.to_string(),
        "authentication failed: Not logged in · Please run /login; run `claude` once and sign in with /login"
    );
    assert_eq!(error.retry(), Retry::No);
    for (status, text) in [
        (json!(429), "API Error"),
        (json!(null), "API Error: 429 {}"),
        (json!(null), "You've hit your limit · resets 3pm"),
    ] {
        let error = said(json!({ "is_error": true, "api_error_status": status, "result": text }));
        assert!(matches!(error, AskError::RateLimited { .. }), "{error:?}");
    }
    let error = said(
        json!({ "is_error": true, "result": "API Error: Unable to connect to API (ConnectionRefused)" }),
    );
    assert!(matches!(error, AskError::Unreachable { .. }), "{error:?}");
    let error = said(json!({ "is_error": true, "api_error_status": 529, "result": "Overloaded" }));
    assert!(matches!(error, AskError::Overloaded { .. }), "{error:?}");
    let error = said(
        json!({ "subtype": "error_max_structured_output_retries", "errors": ["no"], "result": null }),
    );
    assert!(matches!(error, AskError::Unusable { .. }), "{error:?}");
    assert_eq!(error.spent().unwrap().output, 40);
    let error = said(
        json!({ "subtype": "error_during_execution", "is_error": true, "errors": ["it broke"], "result": null }),
    );
    assert_eq!(
        (error.to_string().as_str(), error.spent().unwrap().output),
        ("protocol error: it broke", 40)
    );
    let error = said(json!({ "stop_reason": "max_tokens", "result": "{\"title\": \"" }));
    assert!(matches!(error, AskError::Truncated { .. }), "{error:?}");
}

#[test]
fn a_schema_that_it_ignored_is_found_in_its_words() {
    let stage = Stage::new(&result(&json!({ "result": "Here: {\"title\":\"in words\"}" })));
    assert_eq!(
        stage.provider().ask(&request(), &GO_ON).unwrap().structured,
        Some(json!({ "title": "in words" }))
    );
    let warned = Stage::new(&format!("echo 'warning: {{}}'; {}", result(&json!({}))));
    assert_eq!(warned.provider().ask(&request(), &GO_ON).unwrap().text, "done");
}

#[test]
fn what_is_no_answer_is_not_understood() {
    for script in [
        "echo garbage",
        "exit 1",
        "echo '{}'",
        "echo '{\"type\":\"result\"'",
        "printf '\\377\\376'",
        "kill -9 $$",
        "echo \"$(cat)\" >&2; exit 3",
    ] {
        let error = Stage::new(script).fails(&GO_ON);
        assert!(matches!(error, AskError::Protocol { spent: Some(_), .. }), "{script}: {error:?}");
    }
    let mut missing = Stage::new("");
    missing.settings.program = PathBuf::from("/no/such/claude");
    let error = missing.fails(&GO_ON);
    assert!(error.to_string().starts_with("`/no/such/claude` was not found"), "{error}");
    assert_eq!((error.retry(), error.spent()), (Retry::No, None));
}

#[test]
fn twenty_megabytes_are_not_read() {
    let stage = Stage::new("echo $$ >> $here/processes; head -c 20000000 /dev/zero; sleep 600");
    let error = stage.fails(&GO_ON);
    assert_eq!(error.to_string(), "the answer is longer than 1048576 bytes");
}

#[test]
fn who_hangs_is_ended_with_all_that_it_started() {
    let mut stage = Stage::new(
        "trap '' TERM; echo $$ >> $here/processes\n\
         sh -c 'trap \"\" TERM; echo $$ >> $0; while :; do sleep 1; done' $here/processes &\n\
         while :; do sleep 1; done",
    );
    stage.settings.timeout = Duration::from_millis(400);
    let error = stage.fails(&GO_ON);
    assert!(matches!(error, AskError::Timeout { spent: Some(_), .. }), "{error:?}");

    stage.settings.timeout = Duration::from_secs(100_000);
    let (before, stop) = (stage.lines("processes").len(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while stage.lines("processes").len() < before + 2 {
                thread::sleep(Duration::from_millis(10));
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert!(matches!(stage.fails(&stop), AskError::Stopped { spent: Some(_) }));
    });
}

#[test]
fn what_it_leaves_behind_is_ended() {
    let answer = result(&json!({}));
    let stage = Stage::new(&format!("sleep 600 & echo $! >> $here/processes\n{answer}"));
    stage.provider().ask(&request(), &GO_ON).unwrap();
    assert_eq!(stage.lines("processes").len(), 1);
    stage.expect_nothing_left();
}
