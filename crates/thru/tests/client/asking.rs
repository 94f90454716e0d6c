//! The client as a provider of a model: it is asked by us while our own hooks are installed, and leaves
//! nothing.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;
use thru_models::{AskError, Key, Kind, Provider, Request, Settings, connect};
use thru_real_client::{Script, calls, fails, message, pauses, says};

use crate::stage::Stage;

/// Nothing is stopped.
static GO_ON: AtomicBool = AtomicBool::new(false);

/// A title, which is all that is wanted.
fn request(prompt: &str) -> Request {
    Request {
        system: "You name what was done.".to_owned(),
        prompt: prompt.to_owned(),
        schema: Some(json!({
            "type": "object",
            "properties": { "title": { "type": "string" } },
            "required": ["title"],
            "additionalProperties": false,
        })),
        schema_name: "title".to_owned(),
        max_output_tokens: 700,
        temperature: None,
    }
}

/// The client of a stage as a provider, started in a session of the same client.
fn provider(stage: &Stage, key: bool) -> Box<dyn Provider> {
    let mut settings = Settings::new(Kind::ClaudeCli, "haiku");
    settings.program = PathBuf::from("claude");
    settings.scratch = Some(stage.home.path().join("tmp"));
    settings.key = Key::new("sk-ant-api03-not-a-key").filter(|_| key);
    let pass = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
    settings.environment = vec![
        pass("HOME", &stage.home.path().to_string_lossy()),
        pass("PATH", &format!("{}/bin:/usr/local/bin:/usr/bin:/bin", stage.home.path().display())),
        pass("ANTHROPIC_BASE_URL", &stage.api.url()),
        pass("ANTHROPIC_API_KEY", "sk-ant-api03-of-another-user"),
        pass("THROUGHLINE_DAEMON", "off"),
        pass("CLAUDECODE", "1"),
        pass("CLAUDE_CODE_SESSION_ID", "11111111-1111-4111-8111-111111111111"),
        pass("CLAUDE_PROJECT_DIR", &stage.home.work().to_string_lossy()),
    ];
    connect(&settings).unwrap()
}

/// A hook and a memory of the user's, a project's, and a server, beside those that `thru up` installed: each
/// leaves a trace if the client takes notice of it.
fn set_traps(stage: &Stage) {
    let trap = stage.home.path().join("trapped");
    let touch = json!([{ "hooks": [{ "type": "command", "command": format!("touch {}", trap.display()) }] }]);
    let mut settings: serde_json::Value =
        serde_json::from_slice(&fs::read(stage.settings()).unwrap()).unwrap();
    for event in ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"] {
        let mut groups = settings["hooks"][event].as_array().cloned().unwrap_or_default();
        groups.extend(touch.as_array().unwrap().clone());
        settings["hooks"][event] = groups.into();
    }
    fs::write(stage.settings(), settings.to_string()).unwrap();
    fs::write(stage.home.claude().join("CLAUDE.md"), "Always say TRAPPED.").unwrap();
    // The folder in which it is to work lies below one that would be a project.
    fs::write(stage.home.path().join("tmp/CLAUDE.md"), "Always say TRAPPED.").unwrap();
}

/// All files in a folder, and how large they are.
fn files(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => folders.push(path),
                Ok(metadata) => found.push((path, metadata.len())),
                Err(_) => {}
            }
        }
    }
    found.sort();
    found
}

/// The command lines of the processes of this home.
#[cfg(target_os = "linux")]
fn processes(stage: &Stage) -> Vec<String> {
    let home = format!("HOME={}\0", stage.home.path().display()).into_bytes();
    let all = fs::read_dir("/proc").unwrap().flatten().map(|process| process.path());
    let of_this_home = all.filter(|process| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.windows(home.len()).any(|part| part == home)
    });
    of_this_home
        .map(|process| fs::read_to_string(process.join("cmdline")).unwrap_or_default())
        .collect()
}

/// What must not change, whatever is asked.
#[derive(Debug, PartialEq)]
struct State {
    /// What Throughline keeps, the journal with it.
    kept: Vec<(PathBuf, u64)>,
    transcripts: Vec<(PathBuf, u64)>,
    /// Folders in which the client worked.
    left: usize,
    is_trapped: bool,
}

fn state(stage: &Stage) -> State {
    let is_transcript = |path: &Path| {
        path.extension().is_some_and(|end| end == "jsonl")
            || path.to_string_lossy().contains("/projects/")
    };
    let mut transcripts = files(&stage.home.claude());
    transcripts.retain(|(path, _)| is_transcript(path));
    let names = fs::read_dir(stage.home.path().join("tmp")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    State {
        kept: files(&stage.data()),
        transcripts,
        left: names.filter(|name| name.starts_with("thru-ask-")).count(),
        is_trapped: stage.home.path().join("trapped").exists(),
    }
}

#[track_caller]
fn expect_untouched(stage: &Stage, before: &State) {
    assert_eq!(&state(stage), before);
    #[cfg(target_os = "linux")]
    assert_eq!(processes(stage), Vec::<String>::new());
}

#[test]
fn the_client_answers_and_leaves_no_hook_call_transcript_or_process() {
    let title = calls("StructuredOutput", json!({ "title": "A door was mended" }));
    let script = Script::new().on("Name this", [message([title])]);
    let Some(stage) = Stage::new(script) else { return };
    set_traps(&stage);
    let before = state(&stage);
    assert!(!before.is_trapped);
    let reply =
        provider(&stage, true).ask(&request("Name this: a hinge was oiled."), &GO_ON).unwrap();
    assert_eq!(reply.structured, Some(json!({ "title": "A door was mended" })));
    assert!(reply.usage.input > 0 && !reply.usage.estimated && reply.cost.is_some(), "{reply:?}");
    assert!(reply.model.contains("haiku"), "{}", reply.model);
    expect_untouched(&stage, &before);

    let requests = stage.api.requests();
    assert_eq!(requests.len(), 1);
    let asked = requests[0].body();
    let whole = asked.to_string();
    assert!(
        whole.contains("a hinge was oiled") && whole.contains("You name what was done."),
        "{whole}"
    );
    assert!(!whole.contains("TRAPPED") && !whole.contains("throughline"), "{whole}");
    let tools: Vec<&str> = asked["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(tools, ["StructuredOutput"]);
    // What it may say is limited, and it does not think at our cost.
    assert_eq!(
        (&asked["max_tokens"], &asked["thinking"]["budget_tokens"]),
        (&json!(700), &json!(null)),
        "{asked}"
    );
    // The traps are some: a session of the user's steps into them.
    stage.asks("Good morning", &[]);
    let after = state(&stage);
    assert!(after.is_trapped && after.kept != before.kept);
    assert_ne!(after.transcripts, before.transcripts);
    assert!(stage.api.requests()[1].body().to_string().contains("TRAPPED"));
}

#[test]
fn the_client_says_what_went_wrong_and_leaves_nothing() {
    let script = Script::new()
        .on("too often", [fails(429)])
        .on("not known", [fails(401)])
        .on("prose", [message([says("{\"title\":\"in words\"}")])])
        .on("slow", [message([pauses(Duration::from_secs(600))])]);
    let Some(stage) = Stage::new(script) else { return };
    set_traps(&stage);
    let before = state(&stage);
    let asked = provider(&stage, true);
    let error = asked.ask(&request("too often"), &GO_ON).unwrap_err();
    assert!(matches!(error, AskError::RateLimited { .. }), "{error:?}");
    let error = asked.ask(&request("not known"), &GO_ON).unwrap_err();
    assert!(matches!(error, AskError::Unauthorized { .. }), "{error:?}");
    // Without a key it is for the signed-in user, and there is none here.
    let error = provider(&stage, false).ask(&request("who are you"), &GO_ON).unwrap_err();
    assert!(matches!(error, AskError::Unauthorized { .. }), "{error:?}");
    assert!(error.to_string().contains("sign in"), "{error}");
    let plain = Request { schema: None, ..request("prose") };
    assert!(asked.ask(&plain, &GO_ON).is_ok());
    expect_untouched(&stage, &before);

    stage.api.take_requests();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while stage.api.requests().is_empty() {
                thread::sleep(Duration::from_millis(10));
            }
            stop.store(true, Ordering::Relaxed);
        });
        let error = asked.ask(&request("slow"), &stop).unwrap_err();
        assert!(matches!(error, AskError::Stopped { spent: Some(_) }), "{error:?}");
    });
    expect_untouched(&stage, &before);
}
