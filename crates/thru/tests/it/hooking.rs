//! `thru hook`: called by agents in the middle of the user's work. Whatever happens, it ends well; what it says it
//! kept is kept.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::{Value, json};
use thru_capture::failures;
use thru_capture::pause::{self, Pause};
use thru_core::{Layout, SessionId, SessionKey};
use thru_journal::journal::{Journal, Stored};
use thru_store::{EventRow, Store};

use crate::home::{Home, Ran};
use crate::records::{ONE, TWO};

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// A home that knows nothing yet.
pub(crate) fn quiet() -> Home {
    Home::new()
}

fn configure(home: &Home, text: &str) {
    fs::create_dir_all(home.data()).unwrap();
    fs::write(home.data().join("config.toml"), text).unwrap();
}

pub(crate) fn layout(home: &Home) -> Layout {
    Layout::new(home.data())
}

/// A payload of this session in the project of the home, with what an event has besides.
pub(crate) fn payload(home: &Home, session: &str, event: &str, more: Value) -> Value {
    let mut payload = json!({
        "session_id": session,
        "transcript_path": transcript(home, session),
        "cwd": home.project(),
        "hook_event_name": event,
    });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload
}

/// Where the agent of a home keeps a session.
pub(crate) fn transcript(home: &Home, session: &str) -> PathBuf {
    home.claude().join(format!("projects/-home-ada-rocket/{session}.jsonl"))
}

/// A hook, called and waiting for its input.
fn called(command: &mut Command, event: &str) -> Child {
    command
        .args(["hook", "claude-code", event])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn give(mut child: Child, input: &[u8]) -> Ran {
    // Who does not want all of it has gone: that is theirs to do.
    let _ = child.stdin.take().unwrap().write_all(input);
    Ran::from(child.wait_with_output().unwrap())
}

/// Runs a hook on any input at all.
fn raw(home: &Home, event: &str, input: &[u8]) -> Ran {
    give(called(&mut home.command(), event), input)
}

/// Runs a hook, which has to end well and say nothing or one JSON object, and returns that.
#[track_caller]
pub(crate) fn hook(home: &Home, session: &str, event: &str, more: Value) -> Value {
    answer(&raw(home, event, payload(home, session, event, more).to_string().as_bytes()))
}

#[track_caller]
fn answer(ran: &Ran) -> Value {
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.shown());
    if ran.stdout.is_empty() {
        return Value::Null;
    }
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(said.is_object(), "{said}");
    said
}

/// What an answer gives the model; nothing where it gives nothing.
fn context(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

pub(crate) fn prompt(home: &Home, session: &str, number: u32, text: &str) -> Value {
    let more = json!({ "prompt_id": format!("p{number}"), "prompt": text });
    hook(home, session, "UserPromptSubmit", more)
}

pub(crate) fn bash(home: &Home, session: &str, call: &str, command: &str, output: &str) -> Value {
    let more = json!({
        "tool_name": "Bash", "tool_use_id": call, "tool_input": { "command": command },
        "tool_response": { "stdout": output, "stderr": "", "interrupted": false },
    });
    hook(home, session, "PostToolUse", more)
}

pub(crate) fn stop(home: &Home, session: &str, text: &str) -> Value {
    let more = json!({ "stop_hook_active": false, "last_assistant_message": text });
    hook(home, session, "Stop", more)
}

fn records(home: &Home, kind: &str) -> Vec<Stored> {
    let journal = Journal::open(layout(home).journal(), "test").unwrap();
    let all = journal.replay().unwrap().entries;
    all.into_iter().filter(|record| record.kind == kind).collect()
}

/// What was recorded: events in their order.
fn recorded(home: &Home) -> Vec<String> {
    let name = |record: Stored| record.body["event"].as_str().unwrap().to_owned();
    records(home, "hook").into_iter().map(name).collect()
}

/// Every byte of every file of ours.
pub(crate) fn everything(home: &Home) -> String {
    let mut all = String::new();
    let mut pending = vec![home.data()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => pending.push(entry.path()),
                false => all.push_str(&String::from_utf8_lossy(&fs::read(entry.path()).unwrap())),
            }
        }
    }
    all
}

/// The events of a session, as the store has them.
pub(crate) fn events(home: &Home, session: &str) -> Vec<EventRow> {
    let store = Store::open_to_read(&layout(home)).unwrap();
    let key = SessionKey { agent: thru_core::Agent::ClaudeCode, id: SessionId::new(session) };
    match store.session_by_key(&key).unwrap() {
        Some(row) => store.events_of_session(row, 1_000).unwrap(),
        None => Vec::new(),
    }
}

fn reasons(home: &Home) -> Vec<String> {
    failures::list(&layout(home)).into_iter().map(|failure| failure.reason).collect()
}

/// Waits until something holds; fails where it never does.
#[track_caller]
fn eventually(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "it never happened");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// True while a process works on a home; where that cannot be known, false.
fn is_at_work(home: &Home) -> bool {
    let ours = format!("THROUGHLINE_HOME={}", home.data().display());
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|one| fs::read(one.path().join("environ")).ok()).any(|environment| {
        environment.split(|byte| *byte == 0).any(|variable| variable == ours.as_bytes())
    })
}

#[test]
fn a_person_who_asks_for_help_is_no_agent() {
    let home = Home::new();
    let asked = home.command().args(["hook", "--help"]).output().unwrap();
    let help = Ran::from(asked).expect(0);
    assert!(help.stdout.contains("Usage: thru hook AGENT EVENT"), "{}", help.stdout);
    assert_eq!(home.thru(&["doctor"]).stdout.matches("--help").count(), 0);
}

#[test]
fn every_event_is_kept_as_the_agent_sent_it() {
    let home = quiet();
    let tool = json!({
        "prompt_id": "p1", "permission_mode": "default", "effort": { "level": "high" },
        "tool_name": "Bash", "tool_use_id": "toolu_1",
        "tool_input": { "command": "make", "description": "Build" },
    });
    let with = |more: Value| {
        let mut all = tool.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    for (event, more) in [
        ("SessionStart", json!({ "source": "startup" })),
        ("UserPromptSubmit", json!({ "prompt_id": "p1", "prompt": "Build it, please" })),
        ("PostToolUse", with(json!({ "tool_response": { "stdout": "built" }, "duration_ms": 12 }))),
        (
            "PostToolUseFailure",
            with(json!({ "error": "Exit code 2\nno rule", "is_interrupt": false })),
        ),
        (
            "SubagentStop",
            json!({ "agent_id": "a1", "agent_type": "Explore", "last_assistant_message": "Found." }),
        ),
        ("Stop", json!({ "prompt_id": "p1", "last_assistant_message": "It is built." })),
        (
            "StopFailure",
            json!({ "error": "server_error", "last_assistant_message": "API Error: 500" }),
        ),
        ("PreCompact", json!({ "trigger": "manual", "custom_instructions": "keep it" })),
        ("PostCompact", json!({ "trigger": "manual", "compact_summary": "<summary>x</summary>" })),
        ("CwdChanged", json!({ "old_cwd": "/a", "new_cwd": "/b" })),
        ("SessionEnd", json!({ "reason": "other", "prompt_id": "p1" })),
    ] {
        let said = hook(&home, ONE, event, more);
        match event {
            // The first start there is.
            "SessionStart" => assert!(said["systemMessage"].is_string(), "{said}"),
            _ => assert_eq!(said, Value::Null, "{event}"),
        }
    }
    let bodies: Vec<String> = records(&home, "hook")
        .into_iter()
        .map(|record| {
            let mut body = record.body;
            for same in ["session_id", "transcript_path", "cwd", "hook_event_name"] {
                assert!(body["payload"].as_object_mut().unwrap().remove(same).is_some());
            }
            if body["hash"].is_string() {
                body["hash"] = json!("[hash]");
            }
            body.to_string()
        })
        .collect();
    assert_snapshot!(bodies.join("\n"), @r#"
    {"agent":"claude-code","event":"SessionStart","hash":"[hash]","payload":{"source":"startup"},"session":"11111111-aaaa-4aaa-8aaa-000000000001"}
    {"agent":"claude-code","event":"UserPromptSubmit","payload":{"prompt":"Build it, please","prompt_id":"p1"},"prompt":1,"session":"11111111-aaaa-4aaa-8aaa-000000000001"}
    {"agent":"claude-code","event":"PostToolUse","payload":{"duration_ms":12,"effort":{"level":"high"},"permission_mode":"default","prompt_id":"p1","tool_input":{"command":"make","description":"Build"},"tool_name":"Bash","tool_response":{"stdout":"built"},"tool_use_id":"toolu_1"},"session":"11111111-aaaa-4aaa-8aaa-000000000001"}
    {"agent":"claude-code","event":"PostToolUseFailure","payload":{"effort":{"level":"high"},"error":"Exit code 2\nno rule","is_interrupt":false,"permission_mode":"default","prompt_id":"p1","tool_input":{"command":"make","description":"Build"},"tool_name":"Bash","tool_use_id":"toolu_1"},"session":"11111111-aaaa-4aaa-8aaa-000000000001"}
    {"agent":"claude-code","event":"SubagentStop","hash":"[hash]","payload":{"agent_id":"a1","agent_type":"Explore","last_assistant_message":"Found."},"session":"11111111-aaaa-4aaa-8aaa-000000000001"}
    {"agent":"claude-code","event":"Stop","hash":"[hash]","payload":{"last_assistant_message":"It is built.","prompt_id":"p1"},"session":"11111111-aaaa-4aaa-8aaa-000000000001"}
    {"agent":"claude-code","event":"StopFailure","hash":"[hash]","payload":{"error":"server_error","last_assistant_message":"API Error: 500"},"session":"11111111-aaaa-4aaa-8aaa-000000000001"}
    {"agent":"claude-code","event":"PreCompact","hash":"[hash]","payload":{"custom_instructions":"keep it","trigger":"manual"},"session":"11111111-aaaa-4aaa-8aaa-000000000001"}
    {"agent":"claude-code","event":"PostCompact","hash":"[hash]","payload":{"compact_summary":"<summary>x</summary>","trigger":"manual"},"session":"11111111-aaaa-4aaa-8aaa-000000000001"}
    {"agent":"claude-code","event":"CwdChanged","hash":"[hash]","payload":{"new_cwd":"/b","old_cwd":"/a"},"session":"11111111-aaaa-4aaa-8aaa-000000000001"}
    {"agent":"claude-code","event":"SessionEnd","hash":"[hash]","payload":{"prompt_id":"p1","reason":"other"},"session":"11111111-aaaa-4aaa-8aaa-000000000001"}
    "#);
    assert_eq!(reasons(&home), Vec::<String>::new());
}

#[test]
fn a_wholly_private_turn_leaves_no_word_and_ends_with_the_next_prompt() {
    let home = quiet();
    prompt(&home, ONE, 1, "A public <private>pangolin</private> question");
    prompt(&home, ONE, 2, "<private>zebrafish</private>");
    bash(&home, ONE, "toolu_1", "grep zebrafish", "zebrafish");
    let machine = json!({ "prompt": "<task-notification>zebrafish</task-notification>" });
    hook(&home, ONE, "UserPromptSubmit", machine);
    let failed = json!({ "tool_name": "Read", "tool_use_id": "toolu_2", "error": "zebrafish" });
    hook(&home, ONE, "PostToolUseFailure", failed);
    let done = json!({ "agent_id": "a1", "last_assistant_message": "zebrafish" });
    hook(&home, ONE, "SubagentStop", done);
    let unknown = json!({ "tool_calls": [{ "tool_input": { "path": "zebrafish" } }] });
    hook(&home, ONE, "PostToolBatch", unknown);
    stop(&home, ONE, "On the zebrafish: yes.");
    hook(&home, ONE, "PostCompact", json!({ "compact_summary": "zebrafish" }));
    hook(&home, ONE, "SessionEnd", json!({ "reason": "clear" }));
    // The session goes on, and tells where it is.
    hook(&home, ONE, "SessionStart", json!({ "source": "resume" }));
    prompt(&home, ONE, 3, "Back to work");
    bash(&home, ONE, "toolu_3", "make", "built");
    home.thru(&["intake"]).expect(0);
    let all = everything(&home);
    assert!(!all.contains("zebrafish") && !all.contains("pangolin"));
    assert!(all.contains("A public") && all.contains("Back to work"));
    let names: Vec<String> = events(&home, ONE).into_iter().map(|event| event.event).collect();
    assert_snapshot!(names.join(" "), @"UserPromptSubmit UserPromptSubmit SubagentStop PostToolBatch Stop PostCompact SessionEnd SessionStart UserPromptSubmit PostToolUse");
    // What places the session stays what it is.
    let sessions = home.json(&["sessions", "--json", "--all"]);
    let shown = sessions.to_string();
    assert!(shown.contains(r#""project":"rocket""#), "{shown}");
    let ends = records(&home, "hook");
    let end = ends.iter().find(|record| record.body["event"] == "SessionEnd").unwrap();
    assert_eq!(end.body["payload"]["reason"], "clear");
    assert_eq!(end.body["payload"]["cwd"], json!(home.project()));
}

#[test]
fn a_private_turn_is_private_though_recording_goes_on_in_the_middle_of_it() {
    let home = quiet();
    pause::set(&layout(&home), Pause::Open).unwrap();
    prompt(&home, ONE, 1, "<private>zebrafish</private>");
    pause::clear(&layout(&home)).unwrap();
    bash(&home, ONE, "toolu_1", "grep zebrafish", "zebrafish");
    stop(&home, ONE, "On the zebrafish: yes.");
    assert!(!everything(&home).contains("zebrafish"));
    // And the other way round: what began while nothing was recorded is not private any more.
    pause::set(&layout(&home), Pause::Open).unwrap();
    prompt(&home, ONE, 2, "Back to work");
    pause::clear(&layout(&home)).unwrap();
    bash(&home, ONE, "toolu_2", "make", "built");
    assert_eq!(recorded(&home), ["Stop", "PostToolUse"]);
}

#[test]
fn secrets_are_in_no_file() {
    let home = quiet();
    prompt(&home, ONE, 1, &format!("Use {SECRET}"));
    bash(&home, ONE, "toolu_1", &format!("export T={SECRET}"), &format!("T={SECRET}"));
    // Cut in the middle or not.
    let long = format!("{}{SECRET}{}", "x ".repeat(16_370), "y ".repeat(40_000));
    bash(&home, ONE, "toolu_2", "cat", &long);
    let open = format!("{}<private>{}zebrafish", "x ".repeat(30_000), "y ".repeat(40_000));
    bash(&home, ONE, "toolu_3", "cat", &open);
    stop(&home, ONE, &format!("Your token {SECRET} works."));
    raw(
        &home,
        "PostToolUse",
        format!("{{\"session_id\": 7, \"{SECRET}\": \"{SECRET}\"}}").as_bytes(),
    );
    raw(&home, SECRET, b"{}");
    home.thru(&["intake"]).expect(0);
    let all = everything(&home);
    assert!(!all.contains("ghp_") && !all.contains("zebrafish"));
    assert_eq!(recorded(&home).len(), 5);
}

#[test]
fn what_is_skipped_is_skipped() {
    let home = quiet();
    let project = home.project().join(".throughline.toml");
    fs::write(&project, "capture.skip_tools = [\"WebFetch\", \"AskUserQuestion\"]").unwrap();
    let call = |tool: &str| {
        let more = json!({ "tool_name": tool, "tool_use_id": tool, "tool_input": {},
            "tool_response": { "answers": { "Which one?": "The blue one" } } });
        hook(&home, ONE, "PostToolUse", more);
    };
    for tool in ["WebFetch", "AskUserQuestion", "mcp__throughline__search", "Read"] {
        call(tool);
    }
    fs::remove_file(&project).unwrap();
    for tool in ["TodoWrite", "Skill", "mcp__plugin_throughline_throughline__search", "WebFetch"] {
        call(tool);
    }
    let tools: Vec<Value> = records(&home, "hook")
        .into_iter()
        .map(|record| record.body["payload"]["tool_name"].clone())
        .collect();
    assert_eq!(tools, ["AskUserQuestion", "Read", "WebFetch"]);
    home.thru(&["intake"]).expect(0);
    assert!(home.shown(&["search", "--all", "blue"]).contains("The blue one"));
}

#[test]
fn nothing_is_recorded_where_it_is_unwanted() {
    let home = quiet();
    // Our own children.
    let child = payload(&home, ONE, "Stop", json!({})).to_string();
    let ran = give(called(home.command().env("THROUGHLINE_CHILD", "1"), "Stop"), child.as_bytes());
    assert_eq!(ran.shown(), "");
    // A project that is not to be recorded, though it tells the user nothing.
    fs::write(home.project().join(".throughline.toml"), "capture.off = true").unwrap();
    assert_eq!(prompt(&home, ONE, 1, "hello"), Value::Null);
    fs::remove_file(home.project().join(".throughline.toml")).unwrap();
    // A directory, or a transcript, that the user's settings leave out.
    for pattern in [home.project(), transcript(&home, ONE)] {
        configure(&home, &format!("capture.ignore = [{:?}]", pattern.to_str().unwrap()));
        assert_eq!(prompt(&home, ONE, 2, "hello"), Value::Null);
    }
    configure(&home, "");
    // While recording is paused, which the start of a session says.
    pause::set(&layout(&home), Pause::Open).unwrap();
    let started = hook(&home, ONE, "SessionStart", json!({ "source": "startup" }));
    assert_snapshot!(started["systemMessage"].as_str().unwrap(), @"Throughline: recording is paused. `thru capture resume` ends it.");
    assert_eq!(prompt(&home, ONE, 3, "hello"), Value::Null);
    assert!(!home.data().join("journal").exists());
    assert_eq!(reasons(&home), Vec::<String>::new());
}

#[test]
fn text_of_machines_and_other_programs_is_no_prompt() {
    let home = quiet();
    for (number, text, source) in [
        (1, "<task-notification>done</task-notification>", None),
        (2, "wake up", Some("loop_wakeup")),
        (3, "a real question", Some("user")),
    ] {
        let more = json!({ "prompt_id": format!("p{number}"), "prompt": text, "source": source });
        hook(&home, ONE, "UserPromptSubmit", more);
    }
    let cursor = json!({ "cursor_version": "2.0", "prompt_id": "p9", "prompt": "from elsewhere" });
    assert_eq!(hook(&home, TWO, "UserPromptSubmit", cursor), Value::Null);
    home.thru(&["intake"]).expect(0);
    let numbers: Vec<Option<u32>> = events(&home, ONE).into_iter().map(|e| e.prompt).collect();
    assert_eq!(numbers, [None, None, Some(1)]);
    assert!(events(&home, TWO).is_empty());
    assert!(!home.thru(&["search", "--all", "elsewhere"]).stdout.contains("from elsewhere"));
    let found = home.json(&["search", "--all", "--json", "question"]);
    assert_eq!(found["sessions"][0]["passages"].as_array().unwrap().len(), 1, "{found}");
}

#[test]
fn long_payloads_keep_both_ends() {
    let home = quiet();
    let long = format!("head {} tail", "x".repeat(1_000_000));
    let more = json!({ "tool_name": "Write", "tool_use_id": "t1",
        "tool_input": { "file_path": "/a", "content": long },
        "tool_response": { "originalFile": long, "stdout": long } });
    hook(&home, ONE, "PostToolUse", more);
    stop(&home, ONE, &long);
    let sizes: Vec<usize> =
        records(&home, "hook").iter().map(|record| record.body.to_string().len()).collect();
    assert!(sizes[0] < 140_000 && sizes[1] < 270_000, "{sizes:?}");
    let content = &records(&home, "hook")[0].body["payload"]["tool_input"]["content"];
    let content = content.as_str().unwrap();
    assert!(content.starts_with("head") && content.ends_with("tail"));
    assert!(content.contains("[... 1000010 bytes in all ...]"));
}

#[test]
fn two_copies_of_a_hook_are_one_event_and_one_answer() {
    let home = quiet();
    home.tell(&["Always use a retry budget", "--rule"]);
    let mut answers = 0;
    for (event, more) in [
        ("SessionStart", json!({ "source": "startup" })),
        ("UserPromptSubmit", json!({ "prompt_id": "p1", "prompt": "Which retry budget?" })),
        ("PostToolUse", json!({ "tool_name": "Bash", "tool_use_id": "t1", "tool_input": {} })),
        ("Stop", json!({ "last_assistant_message": "Three." })),
        ("UserPromptSubmit", json!({ "prompt_id": "p2", "prompt": "Thanks" })),
        ("SessionEnd", json!({ "reason": "other" })),
    ] {
        let input = payload(&home, ONE, event, more).to_string();
        let copies: Vec<Child> = (0..2).map(|_| called(&mut home.command(), event)).collect();
        let said: Vec<Value> =
            copies.into_iter().map(|copy| answer(&give(copy, input.as_bytes()))).collect();
        assert!(said.contains(&Value::Null), "{event} was answered twice: {said:?}");
        answers += said.iter().filter(|said| !context(said).is_empty()).count();
    }
    assert!(answers >= 1);
    home.thru(&["intake"]).expect(0);
    let known: Vec<(String, Option<u32>)> =
        events(&home, ONE).into_iter().map(|event| (event.event, event.prompt)).collect();
    let known: Vec<(&str, Option<u32>)> =
        known.iter().map(|(event, prompt)| (event.as_str(), *prompt)).collect();
    assert_eq!(
        known,
        [
            ("SessionStart", None),
            ("UserPromptSubmit", Some(1)),
            ("PostToolUse", None),
            ("Stop", None),
            ("UserPromptSubmit", Some(2)),
            ("SessionEnd", None),
        ]
    );
}

/// True if an input names its session, as no session can be named.
fn has_odd_id(input: &[u8]) -> bool {
    serde_json::from_slice::<Value>(input).is_ok_and(|input| input["session_id"].is_string())
}

#[test]
fn whatever_comes_in_it_ends_well() {
    let home = quiet();
    let before: Vec<_> = listing(&home);
    let deep = format!("{{\"session_id\":\"a\",\"x\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let inputs: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"hello".to_vec(),
        b"\xff\xfe\x00".to_vec(),
        b"null".to_vec(),
        b"[1,2]".to_vec(),
        b"{}".to_vec(),
        b"{\"session_id\":7}".to_vec(),
        b"{\"session_id\":\"../../x\"}".to_vec(),
        b"{\"session_id\":\"a/b\"}".to_vec(),
        b"{\"session_id\":\"\"}".to_vec(),
        format!("{{\"session_id\":\"{}\"}}", "a".repeat(1_000)).into_bytes(),
        b"{\"session_id\":\"a\"".to_vec(),
        deep.into_bytes(),
    ];
    for (number, input) in inputs.iter().enumerate() {
        let ran = raw(&home, "UserPromptSubmit", input);
        let shown = String::from_utf8_lossy(input);
        // The user hears of a session that cannot be kept under its name.
        let said = answer(&ran);
        match has_odd_id(input) {
            true => assert!(said["systemMessage"].is_string(), "{shown}: {said}"),
            false => assert_eq!(said, Value::Null, "{shown}"),
        }
        assert_eq!(reasons(&home).len(), number + 1, "{:?}", reasons(&home));
    }
    for called_so in [
        vec![],
        vec!["claude-code"],
        vec!["claude-code", "Ever/../Unheard"],
        vec!["absent", "Stop"],
        vec!["claude-code", ""],
    ] {
        let child = home
            .command()
            .arg("hook")
            .args(&called_so)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        assert_eq!(answer(&give(child, b"{\"session_id\":\"a\"}")), Value::Null);
    }
    assert_eq!(recorded(&home), Vec::<String>::new());
    // Wrong types and missing fields cost the fields, not the event.
    for odd in [
        json!({ "session_id": "a" }),
        json!({ "session_id": "a", "cwd": 7, "transcript_path": {}, "prompt": ["x"], "prompt_id": 1 }),
        json!({ "session_id": "a", "cwd": "relative/../..", "transcript_path": "/etc/passwd" }),
        json!({ "session_id": "a", "cwd": "/\u{0}/x", "tool_input": 7, "tool_name": [], "last_assistant_message": {} }),
    ] {
        for event in ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "EverUnheard"] {
            let said = answer(&raw(&home, event, odd.to_string().as_bytes()));
            let is_welcome =
                said["systemMessage"].as_str().is_some_and(|text| text.contains("from now on"));
            assert!(said.is_null() || event == "SessionStart" && is_welcome, "{event}: {said}");
        }
    }
    raw(&home, "Stop", br#"{"session_id":"a","last_assistant_message":"half \ud83d of it"}"#);
    assert_eq!(recorded(&home).len(), 21);
    home.thru(&["intake"]).expect(0);
    assert!(!everything(&home).contains("root:x:"));
    assert_eq!(listing(&home), before, "nothing is written outside of our directory");
    assert_snapshot!(failures::list(&layout(&home))[6].shape, @"16 bytes of JSON: {session_id: number}");
}

/// What lies beside our own directory.
fn listing(home: &Home) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut pending = vec![home.folder().to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            if entry.path() == home.data() || entry.path() == home.project() {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                pending.push(entry.path());
            }
            all.push(entry.path());
        }
    }
    all.sort();
    all
}

#[test]
fn an_input_without_end_is_let_go() {
    let home = quiet();
    let mut child = called(&mut home.command(), "UserPromptSubmit");
    let mut stdin = child.stdin.take().unwrap();
    let part = [b'x'; 1 << 16];
    while stdin.write_all(&part).is_ok() {}
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 0);
    // An input that stays open is left, even if it is never closed and the disk hangs as well.
    fs::remove_file(home.data().join("run/hook-failures.jsonl")).unwrap();
    let pipe = home.data().join("run/hook-failures.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = called(&mut home.command(), "UserPromptSubmit");
    let stdin = child.stdin.take().unwrap();
    let mut ended = None;
    eventually(|| {
        ended = child.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.unwrap().code(), Some(0));
    drop(stdin);
}

#[test]
fn an_event_that_did_not_come_in_time_is_counted_and_told() {
    let home = quiet();
    hook(&home, ONE, "SessionStart", json!({ "source": "startup" }));
    let mut child = called(&mut home.command(), "PostToolUse");
    let stdin = child.stdin.take().unwrap();
    assert_eq!(Ran::from(child.wait_with_output().unwrap()).code, 0);
    drop(stdin);
    let more = json!({ "prompt_id": "p1", "prompt": "hello" });
    let told = hook(&home, ONE, "UserPromptSubmit", more)["systemMessage"].to_string();
    assert!(told.contains("1 event could not be recorded since"), "{told}");
    let more = json!({ "prompt_id": "p2", "prompt": "hello again" });
    assert!(hook(&home, ONE, "UserPromptSubmit", more)["systemMessage"].is_null());
}

#[test]
fn a_hook_needs_no_listener() {
    let home = quiet();
    home.tell(&["Always use a retry budget", "--rule"]);
    let mut child = called(&mut home.command(), "SessionStart");
    drop((child.stdout.take(), child.stderr.take()));
    let input = payload(&home, ONE, "SessionStart", json!({ "source": "startup" })).to_string();
    assert_eq!(give(child, input.as_bytes()).code, 0);
    assert_eq!(recorded(&home), ["SessionStart"]);
}

#[test]
fn where_nothing_can_be_kept_the_user_is_told_and_the_agent_goes_on() {
    // Something else lies where our directories should be.
    for place in ["home", "home/journal", "home/run"] {
        let home = Home::new();
        let path = home.folder().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "not a directory").unwrap();
        for event in ["SessionStart", "UserPromptSubmit", "PostToolUse", "SessionEnd"] {
            let more = json!({ "prompt_id": "p1", "prompt": "hello", "tool_name": "Bash" });
            let said = hook(&home, ONE, event, more);
            let is_told = said["systemMessage"].is_string();
            let takes_message = event != "SessionEnd";
            assert!(takes_message || said.is_null(), "{place} {event}: {said}");
            // Of calls of tools, only the first event that is lost is worth a message.
            if place == "home/journal" && takes_message && event != "PostToolUse" {
                assert!(is_told, "{place} {event}: {said}");
            }
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "not a directory");
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_costs_what_came_then_and_nothing_else() {
    let home = quiet();
    prompt(&home, ONE, 1, "before");
    let full = |text: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 0; exec \"$0\" hook claude-code UserPromptSubmit"]);
        shell.arg(env!("CARGO_BIN_EXE_thru")).env_clear();
        for (name, value) in home.command().get_envs() {
            shell.env(name, value.unwrap());
        }
        let pipe = || Stdio::piped();
        let child = shell.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().unwrap();
        let more = json!({ "prompt_id": text, "prompt": text });
        give(child, payload(&home, ONE, "UserPromptSubmit", more).to_string().as_bytes())
    };
    let told = answer(&full("lost"));
    let told = told["systemMessage"].as_str().unwrap().to_owned();
    assert!(told.starts_with("Throughline could not record this: "), "{told}");
    prompt(&home, ONE, 2, "after");
    let texts: Vec<Value> =
        records(&home, "hook").into_iter().map(|r| r.body["payload"]["prompt"].clone()).collect();
    assert_eq!(texts, ["before", "after"]);
    home.thru(&["intake"]).expect(0);
    home.thru(&["verify"]).expect(0);
}

#[test]
fn a_hook_waits_for_no_process() {
    let home = quiet();
    home.tell(&["Always use a retry budget", "--rule"]);
    prompt(&home, ONE, 1, "one");
    // A stopped process holds every lock.
    let mut held = Vec::new();
    for directory in ["journal", "run", "run/sessions"] {
        for entry in fs::read_dir(home.data().join(directory)).unwrap().flatten() {
            if entry.file_type().unwrap().is_file() {
                let file = File::open(entry.path()).unwrap();
                file.lock().unwrap();
                held.push(file);
            }
        }
    }
    prompt(&home, ONE, 2, "two");
    bash(&home, ONE, "toolu_1", "make", "built");
    hook(&home, ONE, "SessionStart", json!({ "source": "compact" }));
    stop(&home, ONE, "Done.");
    drop(held);
    home.thru(&["intake"]).expect(0);
    assert_eq!(events(&home, ONE).len(), 5);
    assert_eq!(reasons(&home), Vec::<String>::new());
}

#[test]
fn what_is_broken_costs_no_event() {
    let home = quiet();
    home.tell(&["Always use a retry budget", "--rule"]);
    prompt(&home, ONE, 1, "one");
    let journal =
        fs::read_dir(home.data().join("journal")).unwrap().next().unwrap().unwrap().path();
    // A record that was cut short, rubbish in the notes of the session and of the rules, in the
    // settings, in the index.
    fs::OpenOptions::new()
        .append(true)
        .open(journal)
        .unwrap()
        .write_all(b"0123456789abcdef {\"v\":")
        .unwrap();
    for entry in fs::read_dir(home.data().join("run/sessions")).unwrap().flatten() {
        fs::write(entry.path(), "\u{0}rubbish").unwrap();
    }
    fs::write(layout(&home).rules(), "{").unwrap();
    prompt(&home, ONE, 2, "two");
    hook(&home, ONE, "SessionStart", json!({ "source": "resume" }));
    hook(&home, ONE, "SessionStart", json!({ "source": "clear" }));
    let all = ["UserPromptSubmit", "UserPromptSubmit", "SessionStart", "SessionStart"];
    assert_eq!(recorded(&home), all);
    // The rules cannot be read any more: nothing is kept, and the user is told.
    for config in [&b"capture.ignore = [[["[..], b"# \xff", b"capture.off = 7"] {
        fs::write(home.data().join("config.toml"), config).unwrap();
        let said = hook(&home, ONE, "SessionStart", json!({ "source": "resume" }));
        let message = said["systemMessage"].as_str().unwrap_or_default();
        assert!(message.contains("could not record this"), "{said}");
    }
    let known = reasons(&home);
    assert_eq!(
        known.iter().filter(|reason| reason.contains("config.toml")).count(),
        3,
        "{known:?}"
    );
    configure(&home, "");
    // Nor those of the project, which may say that it is not to be recorded.
    let project = home.project().join(".throughline.toml");
    fs::write(&project, "capture.off = true\n[x").unwrap();
    let said = hook(&home, ONE, "SessionStart", json!({ "source": "resume" }));
    let message = said["systemMessage"].as_str().unwrap_or_default();
    assert!(message.contains("could not record this"), "{said}");
    fs::remove_file(&project).unwrap();
    assert_eq!(recorded(&home), all);
    // A store of another time.
    let database = home.data().join("memory.db");
    assert!(database.exists());
    fs::write(&database, "this is no database, and never was").unwrap();
    for source in ["startup", "compact"] {
        let said = hook(&home, ONE, "SessionStart", json!({ "source": source }));
        assert_eq!(context(&said), "");
    }
    assert_eq!(recorded(&home).len(), 6);
    // Each start left a process behind that makes the store again.
    eventually(|| !is_at_work(&home));
    fs::remove_dir_all(home.data().join("index")).unwrap();
    fs::remove_file(&database).unwrap();
    home.thru(&["rebuild"]).expect(0);
    assert_eq!(events(&home, ONE).len(), 6, "{:?}\n{:?}", events(&home, ONE), recorded(&home));
    // All of it gone, in the middle of a session.
    fs::remove_dir_all(home.data()).unwrap();
    prompt(&home, ONE, 3, "three");
    assert_eq!(recorded(&home), ["UserPromptSubmit"]);
}

#[test]
fn a_newer_store_is_left_to_the_newer_version() {
    let home = quiet();
    home.tell(&["Always use a retry budget", "--rule"]);
    let database = home.data().join("memory.db");
    let mut bytes = fs::read(&database).unwrap();
    // The schema's version, where SQLite keeps it.
    bytes[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    fs::write(&database, &bytes).unwrap();
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(home.data().join(format!("memory.db{suffix}")));
    }
    hook(&home, ONE, "SessionStart", json!({ "source": "startup" }));
    prompt(&home, ONE, 1, "Which retry budget?");
    assert_eq!(recorded(&home), ["SessionStart", "UserPromptSubmit"]);
    assert_eq!(fs::read(&database).unwrap()[60..64], 9_999_u32.to_be_bytes());
}

#[test]
fn homes_may_have_any_name() {
    let home = quiet();
    let odd = home.folder().join("a home, with späces 'n \"quotes\"");
    let input = payload(&home, ONE, "UserPromptSubmit", json!({ "prompt": "hello" })).to_string();
    let mut command = home.command();
    let ran =
        give(called(command.env("THROUGHLINE_HOME", &odd), "UserPromptSubmit"), input.as_bytes());
    answer(&ran);
    assert!(odd.join("journal").is_dir());
    // A directory that is gone is where a session was, all the same.
    let gone = json!({ "cwd": home.folder().join("gone"), "last_assistant_message": "x" });
    hook(&home, ONE, "Stop", gone);
    assert_eq!(recorded(&home), ["Stop"]);
}

#[test]
fn a_session_is_given_what_bears_on_it_once() {
    let home = quiet();
    home.tell(&["Always use a retry budget", "--rule"]);
    home.tell(&["The staging database sleeps at night", "--type", "discovery"]);
    let started = hook(&home, ONE, "SessionStart", json!({ "source": "startup" }));
    assert!(context(&started).starts_with("<throughline-context>"), "{started}");
    assert!(context(&started).contains("Always use a retry budget"), "{started}");
    assert!(context(&started).contains("staging database"), "{started}");
    let message = started["systemMessage"].as_str().unwrap();
    assert!(message.starts_with("Throughline: 2 memories of rocket loaded, about "), "{message}");
    // It was told of this already.
    let asked = prompt(&home, ONE, 1, "Why is the staging database asleep?");
    assert_eq!(context(&asked), "", "{asked}");
    // Another session was not.
    let other = prompt(&home, TWO, 1, "Why is the staging database asleep?");
    assert!(context(&other).contains("sleeps at night"), "{other}");
    assert!(other.get("systemMessage").is_none(), "{other}");
    assert_eq!(context(&prompt(&home, TWO, 2, "Why does the staging database sleep?")), "");
    // After a compaction nothing of it is left.
    hook(&home, TWO, "SessionStart", json!({ "source": "compact" }));
    let again = prompt(&home, TWO, 3, "Why is the staging database asleep?");
    assert!(context(&again).contains("sleeps at night"), "{again}");
    // What was given is on record.
    let given: Vec<String> = records(&home, "injected")
        .iter()
        .map(|record| {
            let memories = record.body["memories"].as_array().unwrap().len();
            format!("{} {memories}", record.body["occasion"].as_str().unwrap())
        })
        .collect();
    assert_snapshot!(given.join(", "), @"start 2, prompt 1, compact 1, prompt 1");
    // Machines are given nothing.
    let woken = json!({ "prompt_id": "m", "source": "loop_wakeup", "prompt": "staging database" });
    assert_eq!(hook(&home, "new-session", "UserPromptSubmit", woken), Value::Null);
}

#[test]
fn a_resumed_session_is_told_what_changed_and_no_more() {
    let home = quiet();
    home.tell(&["Always use a retry budget", "--rule"]);
    hook(&home, ONE, "SessionStart", json!({ "source": "startup" }));
    prompt(&home, ONE, 1, "Why do uploads fail?");
    stop(&home, ONE, "They are retried too often.");
    hook(&home, ONE, "SessionEnd", json!({ "reason": "other" }));
    let resumed = hook(&home, ONE, "SessionStart", json!({ "source": "resume" }));
    assert_eq!(context(&resumed), "", "{resumed}");
    home.tell(&["The staging database sleeps at night", "--type", "discovery"]);
    let resumed = hook(&home, ONE, "SessionStart", json!({ "source": "resume", "again": true }));
    assert!(context(&resumed).contains("sleeps at night"), "{resumed}");
    assert!(context(&resumed).len() < 2_500, "{resumed}");
}

#[test]
fn a_project_may_want_no_context_or_no_message() {
    let home = quiet();
    home.tell(&["Always use a retry budget", "--rule"]);
    let project = home.project().join(".throughline.toml");
    fs::write(&project, "context.message = false").unwrap();
    let started = hook(&home, ONE, "SessionStart", json!({ "source": "startup" }));
    assert!(context(&started).contains("budget") && started.get("systemMessage").is_none());
    fs::write(&project, "context.off = true").unwrap();
    assert_eq!(hook(&home, TWO, "SessionStart", json!({ "source": "startup" })), Value::Null);
    assert_eq!(prompt(&home, TWO, 1, "Which retry budget?"), Value::Null);
    assert_eq!(recorded(&home).len(), 3);
    assert_eq!(records(&home, "injected").len(), 1);
}

#[test]
fn several_sessions_work_in_one_project_at_once() {
    let home = quiet();
    home.tell(&["Always use a retry budget", "--rule"]);
    std::thread::scope(|scope| {
        for session in ["s1", "s2", "s3"] {
            let home = &home;
            scope.spawn(move || {
                hook(home, session, "SessionStart", json!({ "source": "startup" }));
                for number in 0..3 {
                    prompt(home, session, number, &format!("question {number} of {session}"));
                    bash(home, session, &format!("{session}-{number}"), "make", "built");
                }
                hook(home, session, "SessionEnd", json!({ "reason": "other" }));
            });
        }
    });
    home.thru(&["intake"]).expect(0);
    for session in ["s1", "s2", "s3"] {
        let events = events(&home, session);
        assert_eq!(events.len(), 8, "{events:?}");
        let numbers: Vec<u32> = events.iter().filter_map(|event| event.prompt).collect();
        assert_eq!(numbers, [1, 2, 3]);
    }
    assert_eq!(reasons(&home), Vec::<String>::new());
}

#[test]
fn without_a_daemon_what_a_session_said_is_there_for_the_next_question() {
    let home = Home::new();
    prompt(&home, ONE, 1, "Why do uploads fail?");
    stop(&home, ONE, "They are retried too often.");
    let mut author = crate::records::Author::of(ONE);
    author.asks("Why do uploads fail?").says("They are retried too often.");
    home.write(&crate::records::file(ONE), author.text());
    for _ in 0..4 {
        hook(&home, ONE, "SessionEnd", json!({ "reason": "other" }));
    }
    let found = home.thru(&["search", "--all", "retried"]).expect(0);
    assert!(found.stdout.contains("retried too often"), "{}", found.shown());
    home.thru(&["verify"]).expect(0);
}
