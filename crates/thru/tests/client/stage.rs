//! A home with the client in it, and `thru` beside it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thru_real_client::{
    MessagesApi, Run, Script, SealedHome, Terminal, calls, finish, message, says,
};

/// The variable that names the client.
const CLIENT: &str = "THRU_CLAUDE";

/// How long what goes on in the background may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often the journal is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(50);

/// The fence around what we inject.
pub(crate) const FENCE: &str = "<throughline-context";

/// The other end of it.
const FENCE_END: &str = "</throughline-context>";

/// The client, the model and `thru`.
pub(crate) struct Stage {
    pub(crate) home: SealedHome,
    pub(crate) api: MessagesApi,
}

/// A hook event in the journal.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) event: String,
    pub(crate) session: String,
    pub(crate) payload: Value,
}

/// No test leaves a daemon behind.
impl Drop for Stage {
    fn drop(&mut self) {
        if self.home.path().join(".local/share/throughline/run/daemon.lock").exists() {
            self.try_thru(&["daemon", "stop", "--force"]);
        }
    }
}

impl Stage {
    /// The client as it comes; `None` where there is none.
    pub(crate) fn bare(script: Script) -> Option<Self> {
        let client = client()?;
        // A test that wants a daemon says so: it outlives the process that starts it.
        let home = SealedHome::new(&client).unwrap().with_variable("THROUGHLINE_DAEMON", "off");
        Some(Self { home, api: MessagesApi::start(script).unwrap() })
    }

    /// The client after `thru up`.
    pub(crate) fn new(script: Script) -> Option<Self> {
        let stage = Self::bare(script)?;
        stage.thru(&["up", "--yes"]);
        Some(stage)
    }

    /// The client after `thru up`, with a daemon that hooks start and that ends with the stage.
    pub(crate) fn with_daemon(script: Script) -> Option<Self> {
        let home = SealedHome::new(&client()?).unwrap();
        let stage = Self { home, api: MessagesApi::start(script).unwrap() };
        stage.thru(&["up", "--yes"]);
        Some(stage)
    }

    /// Waits until something holds, for as long as anything in the background may take.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::sleep(LOOK);
        }
    }

    /// Runs the client with one prompt. Whatever hooks do, the client must have nothing to say of it.
    #[track_caller]
    pub(crate) fn ask(&self, prompt: &str, options: &[&str]) -> Run {
        let run = self.home.ask(&self.api, prompt, options).unwrap();
        assert_eq!(run.stderr, "", "{prompt}");
        for event in run.events() {
            let is_trouble = event["key"] == "stop-hook-error"
                || event["level"] == "warning"
                || (event["subtype"] == "hook_response" && event["outcome"] != "success");
            assert!(!is_trouble, "{prompt}: {event}");
        }
        run
    }

    /// As [`Stage::ask`]; the run ends well. Returns the session.
    #[track_caller]
    pub(crate) fn asks(&self, prompt: &str, options: &[&str]) -> String {
        let run = self.ask(prompt, options);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(run.result()["is_error"], false, "{run:?}");
        run.session()
    }

    /// The client in a terminal; `None` where there is no tmux.
    pub(crate) fn terminal(&self) -> Option<Terminal> {
        if !Terminal::is_possible() {
            skipped("there is no tmux: nothing was tried interactively");
            return None;
        }
        Some(Terminal::start(&self.home, &self.api, &[]).unwrap())
    }

    /// Runs `thru` in this home, as a person would. It has to succeed.
    #[track_caller]
    pub(crate) fn thru(&self, arguments: &[&str]) -> String {
        let run = self.try_thru(arguments);
        assert_eq!(run.code, Some(0), "thru {arguments:?}: {run:?}");
        run.stdout
    }

    pub(crate) fn try_thru(&self, arguments: &[&str]) -> Run {
        let program = Path::new(env!("CARGO_BIN_EXE_thru"));
        finish(self.home.command(program).args(arguments)).unwrap()
    }

    /// The answer of `thru` as JSON.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.thru(arguments)).unwrap()
    }

    /// Brings in what hooks recorded, and what lies in transcripts.
    pub(crate) fn take_in(&self) {
        self.thru(&["intake"]);
        self.thru(&["import", "--yes"]);
    }

    /// All hook events in the journal, in order.
    pub(crate) fn journal(&self) -> Vec<Recorded> {
        let records = self.records("hook");
        let recorded = records.iter().map(|record| {
            let body = &record["body"];
            assert_eq!(body["agent"], "claude-code", "{record}");
            let text = |name: &str| body[name].as_str().unwrap().to_owned();
            let payload = body["payload"].clone();
            Recorded { event: text("event"), session: text("session"), payload }
        });
        recorded.collect()
    }

    /// The names of the events of a session in the journal, in order.
    pub(crate) fn events(&self, session: &str) -> Vec<String> {
        let journal = self.journal().into_iter();
        journal.filter(|entry| entry.session == session).map(|entry| entry.event).collect()
    }

    /// Fails unless the journal holds these events of a session, in this order.
    #[track_caller]
    pub(crate) fn expect_events(&self, session: &str, wanted: &[&str]) {
        Self::expect(wanted, || self.events(session));
    }

    /// As [`Stage::expect_events`], in whatever order.
    #[track_caller]
    pub(crate) fn expect_events_in_any_order(&self, session: &str, wanted: &[&str]) {
        let sorted = |mut events: Vec<String>| {
            events.sort_unstable();
            events
        };
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        Self::expect(&wanted, || sorted(self.events(session)));
    }

    /// Looks until these events are there: some are written while the client already goes on, or after
    /// it has ended.
    #[track_caller]
    fn expect(wanted: &[&str], events: impl Fn() -> Vec<String>) {
        let started = Instant::now();
        while events() != wanted {
            assert!(started.elapsed() < PATIENCE, "{wanted:?}, not {:?}", events());
            std::thread::sleep(LOOK);
        }
    }

    /// The records of a kind in the journal.
    pub(crate) fn records(&self, kind: &str) -> Vec<Value> {
        let run = self.try_thru(&["journal", "show", "--json", "-n", "100000", "--kind", kind]);
        let lines = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| line["record"].clone()).collect()
    }

    /// Everything that `thru` keeps, file by file.
    pub(crate) fn kept(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.data()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(path.clone(), fs::read(path).unwrap_or_default());
                }
            }
        }
        files
    }

    /// Where `thru` keeps it.
    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join(".local/share/throughline")
    }

    /// The settings of the client.
    pub(crate) fn settings(&self) -> PathBuf {
        self.home.claude().join("settings.json")
    }
}

/// What stands between fences in a text; each fence has its end.
#[track_caller]
pub(crate) fn packs(text: &str) -> Vec<&str> {
    let pieces: Vec<_> = text.split(FENCE).map(|piece| piece.split_once(FENCE_END)).collect();
    assert!(pieces[0].is_none(), "an end without a beginning: {text}");
    assert!(pieces[1..].iter().all(Option::is_some), "a beginning without an end: {text}");
    pieces.into_iter().flatten().map(|(pack, _)| pack).collect()
}

/// A prompt that has the model write a file and run a command that fails.
pub(crate) const WRITE: &str = "Please write the packing list";

/// What the model does then.
pub(crate) fn packing() -> Script {
    Script::new()
        .on(
            WRITE,
            [
                message([
                    says("I will write the list."),
                    calls(
                        "Write",
                        json!({ "file_path": "packing.txt", "content": "rope\nlamp\n" }),
                    ),
                ]),
                message([calls(
                    "Bash",
                    json!({ "command": "cat packing.txt; false", "description": "Show the list" }),
                )]),
                message([says("The packing list is written.")]),
            ],
        )
        .summary("A packing list was written.")
}

/// The events of that prompt in a session of its own.
pub(crate) const PACKING_EVENTS: [&str; 6] =
    ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"];

fn client() -> Option<PathBuf> {
    static SAID: Once = Once::new();
    let client = std::env::var_os(CLIENT);
    if client.is_none() {
        SAID.call_once(|| skipped(&format!("{CLIENT} does not name the client")));
    }
    client.map(PathBuf::from)
}

/// Says so past the test harness, which keeps what passing tests print to itself.
pub(crate) fn skipped(why: &str) {
    _ = writeln!(std::io::stderr(), "SKIPPED: the real client was not run: {why}");
}

/// The events of a prompt that needs no tools, in a session of its own.
pub(crate) const TURN_EVENTS: [&str; 4] =
    ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"];
