//! The work of Throughline for the real Codex client, which is driven by a scripted model.
//!
//! `THRU_CODEX` names the client (0.169); without it these tests say that they were skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thru_real_client::{
    MessagesApi, Run, Script, SealedCodex, Terminal, calls, finish, message, says,
};

use crate::stage::{FENCE, packs, skipped};

/// The variable that names the client.
const CLIENT: &str = "THRU_CODEX";

/// Runs hooks that the user has not trusted.
const BYPASS: &str = "--dangerously-bypass-hook-trust";

/// The client, the model and `thru`.
struct Codex {
    home: SealedCodex,
    api: MessagesApi,
}

impl Codex {
    /// The client after `thru up`; `None` where there is none.
    fn new(script: Script) -> Option<Self> {
        static SAID: Once = Once::new();
        let Some(client) = std::env::var_os(CLIENT).map(PathBuf::from) else {
            SAID.call_once(|| skipped(&format!("{CLIENT} does not name the client")));
            return None;
        };
        let api = MessagesApi::start(script).unwrap();
        let home = SealedCodex::new(&client, &api).unwrap();
        let codex = Self { home, api };
        codex.thru(&["up", "--yes"]);
        Some(codex)
    }

    /// Runs the client with one prompt. Returns the session.
    #[track_caller]
    fn asks(&self, prompt: &str, options: &[&str]) -> String {
        let run = self.home.ask(prompt, options).unwrap();
        assert_eq!(run.code, Some(0), "{run:?}");
        // Codex reports a hook that failed, and a setting that it does not like, as an error.
        let errors: Vec<Value> =
            run.events().filter(|event| event["item"]["type"] == "error").collect();
        let is_of_hooks = |error: &&Value| error.to_string().to_lowercase().contains("hook");
        let errors: Vec<_> = errors
            .iter()
            .filter(is_of_hooks)
            .filter(|error| !error.to_string().contains("bypass-hook-trust"))
            .collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert!(!run.stderr.contains("Failed"), "{}", run.stderr);
        let start = run.events().find(|event| event["type"] == "thread.started").unwrap();
        start["thread_id"].as_str().unwrap().to_owned()
    }

    /// Runs `thru` in this home, as a person would. It has to succeed.
    #[track_caller]
    fn thru(&self, arguments: &[&str]) -> String {
        let run = self.try_thru(arguments);
        assert_eq!(run.code, Some(0), "thru {arguments:?}: {run:?}");
        run.stdout
    }

    fn try_thru(&self, arguments: &[&str]) -> Run {
        let program = Path::new(env!("CARGO_BIN_EXE_thru"));
        finish(self.home.command(program).args(arguments)).unwrap()
    }

    /// The events of hooks in the journal, in order: name and payload.
    fn events(&self) -> Vec<(String, Value)> {
        let run = self.try_thru(&["journal", "show", "--json", "-n", "100000", "--kind", "hook"]);
        let lines = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .map(|line| {
                let body = &line["record"]["body"];
                assert_eq!(body["agent"], "codex", "{body}");
                (body["event"].as_str().unwrap().to_owned(), body["payload"].clone())
            })
            .collect()
    }

    fn names(&self) -> Vec<String> {
        self.events().into_iter().map(|(name, _)| name).collect()
    }

    /// The doctor's finding on the trust in our hooks.
    fn trust(&self) -> Value {
        let report: Value =
            serde_json::from_str(&self.try_thru(&["doctor", "--json"]).stdout).unwrap();
        let findings = report["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["check"] == "trust").cloned().unwrap()
    }

    fn hooks_file(&self) -> PathBuf {
        self.home.codex().join("hooks.json")
    }

    /// Starts the client in a terminal and answers its question: all hooks are trusted.
    fn terminal_with_trust(&self) -> Option<Terminal> {
        if !Terminal::is_possible() {
            skipped("there is no tmux: Codex was not tried interactively");
            return None;
        }
        let terminal = Terminal::start_codex(&self.home, &[]).unwrap();
        terminal.wait_for("Hooks need review").unwrap();
        // It shows the question before it takes keys.
        let deadline = Instant::now() + Duration::from_secs(30);
        while !terminal.screen().unwrap().contains("› 2. Trust all") {
            assert!(Instant::now() < deadline, "{}", terminal.screen().unwrap());
            terminal.press("2").unwrap();
            std::thread::sleep(Duration::from_millis(300));
        }
        terminal.press("Enter").unwrap();
        terminal.wait_for("Ask Codex to do anything").unwrap();
        Some(terminal)
    }
}

const LIST: &str = "Please write the packing list";

/// A model that writes a list with a shell, and runs a command that fails.
fn packing() -> Script {
    let shell = |command: &str| calls("exec_command", json!({ "cmd": command }));
    Script::new()
        .on(
            LIST,
            [
                message([shell("printf 'rope\\nlamp\\n' > packing.txt; cat packing.txt")]),
                message([shell("cat nowhere.txt; false")]),
                message([says("The packing list is written.")]),
            ],
        )
        .summary("A packing list was written.")
}

const EVENTS: [&str; 6] =
    ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUse", "Stop", "SessionEnd"];

#[test]
fn a_session_is_recorded_and_told_once() {
    let Some(codex) = Codex::new(packing()) else { return };
    let session = codex.asks(LIST, &[BYPASS]);
    assert_eq!(codex.names(), EVENTS);
    let events = codex.events();
    assert!(events.iter().all(|(_, payload)| payload["session_id"] == session.as_str()));
    assert_eq!(events[1].1["prompt"], LIST);
    assert_eq!(events[2].1["tool_response"], "rope\nlamp\n");
    assert_eq!(events[4].1["last_assistant_message"], "The packing list is written.");

    let passages = || {
        let stats: Value = serde_json::from_str(&codex.thru(&["status", "--json"])).unwrap();
        stats["passages"].clone()
    };
    codex.thru(&["intake"]);
    let by_hooks = passages();
    assert_eq!(by_hooks, 4, "prompt, two calls, the last words");
    // The rollout tells the same: nothing is there twice.
    codex.thru(&["import", "--yes"]);
    assert_eq!(passages(), by_hooks);
    let found = codex.thru(&["search", "--all", "--json", "nowhere"]);
    let found: Value = serde_json::from_str(&found).unwrap();
    assert!(found.to_string().contains("nowhere.txt"), "{found}");

    // It goes on under the same id.
    let resumed = codex.home.ask("And now?", &[BYPASS, "resume", &session]).unwrap();
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    let start = codex.events().into_iter().rev().find(|(name, _)| name == "SessionStart").unwrap();
    assert_eq!((&start.1["source"], &start.1["session_id"]), (&json!("resume"), &json!(session)));
}

#[test]
fn a_session_is_given_what_is_known() {
    let Some(codex) = Codex::new(Script::new()) else { return };
    codex.thru(&["remember", "--rule", "The lamps are green."]);
    let session = codex.asks("Hello", &[BYPASS]);
    let request = codex.api.requests().first().unwrap().conversation();
    let given = packs(&request);
    assert!(given.iter().any(|pack| pack.contains("The lamps are green.")), "{request}");
    // The rollout holds what was injected; memory does not take it for anyone's words.
    codex.thru(&["import", "--yes"]);
    let shown = codex.thru(&["session", "show", &session, "--json"]);
    assert!(!shown.contains(FENCE) && !shown.contains("green"), "{shown}");
}

#[test]
fn a_private_turn_leaves_no_word() {
    let Some(codex) = Codex::new(packing()) else { return };
    codex.asks(&format!("<private>{LIST}</private>"), &[BYPASS]);
    assert_eq!(codex.names(), ["SessionStart", "Stop", "SessionEnd"]);
    assert!(!codex.events().iter().any(|(_, payload)| payload.to_string().contains("packing")));
}

#[test]
fn hooks_run_once_the_user_trusts_them() {
    let Some(codex) = Codex::new(packing()) else { return };
    let up = codex.thru(&["up", "--yes"]);
    assert!(up.contains("Trust all and continue"), "{up}");
    assert_eq!(codex.trust()["level"], "problem");
    codex.asks(LIST, &[]);
    assert_eq!(codex.names(), Vec::<String>::new(), "no hook runs without trust");

    let Some(terminal) = codex.terminal_with_trust() else { return };
    terminal.enter("/quit").unwrap();
    terminal.wait_for_end().unwrap();
    let trust = codex.trust();
    assert_eq!((&trust["level"], &trust["line"]), (&json!("ok"), &json!("Codex runs all 9 hooks")));
    codex.asks(LIST, &[]);
    assert_eq!(codex.names(), EVENTS);

    // Repeating changes nothing, so that the trust stays.
    let before = fs::read(codex.hooks_file()).unwrap();
    let up = codex.thru(&["up", "--yes"]);
    assert!(!up.contains("Trust all"), "{up}");
    assert_eq!(fs::read(codex.hooks_file()).unwrap(), before);
    // One that changed needs it again.
    let text = String::from_utf8(before).unwrap();
    fs::write(codex.hooks_file(), text.replacen("\"timeout\": 10", "\"timeout\": 11", 1)).unwrap();
    let line = codex.trust()["line"].clone();
    assert_eq!(line, "Codex skips hooks until you trust them (1 changed since)");
    codex.thru(&["uninstall"]);
    assert!(!codex.hooks_file().exists());
}

#[test]
fn a_compaction_is_survived() {
    let Some(codex) = Codex::new(packing()) else { return };
    let Some(terminal) = codex.terminal_with_trust() else { return };
    terminal.enter(LIST).unwrap();
    terminal.wait_for("The packing list is written.").unwrap();
    terminal.enter("/compact").unwrap();
    terminal.wait_for("Context compacted").unwrap();
    codex.api.take_requests();
    terminal.enter("And now?").unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while codex.api.requests().is_empty() {
        assert!(Instant::now() < deadline, "{}", terminal.screen().unwrap());
        std::thread::sleep(Duration::from_millis(50));
    }
    let names = codex.names();
    let compaction = names.iter().position(|name| name == "PreCompact").unwrap();
    assert_eq!(names[compaction..compaction + 3], ["PreCompact", "PostCompact", "SessionStart"]);
    let start = &codex.events()[compaction + 2].1;
    assert_eq!(start["source"], "compact");
    let request = codex.api.requests().first().unwrap().conversation();
    let given = packs(&request);
    assert!(given.iter().any(|pack| pack.contains("packing")), "{request}");
}

#[test]
fn every_byte_of_the_hooks_of_others_comes_back() {
    let Some(codex) = Codex::new(Script::new()) else { return };
    codex.thru(&["uninstall"]);
    let mine = "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]}]},\n  \"description\": \"mine\"}";
    fs::write(codex.hooks_file(), mine).unwrap();
    codex.thru(&["install"]);
    codex.asks("Hello", &[BYPASS]);
    assert_eq!(codex.names(), ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]);
    codex.thru(&["uninstall"]);
    assert_eq!(fs::read_to_string(codex.hooks_file()).unwrap(), mine);
}
