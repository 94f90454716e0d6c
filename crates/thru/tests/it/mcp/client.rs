//! A client that sends what a test tells it to, and keeps what it is sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::Home;

/// How long anything may take: a machine may be slow, and a test must end.
const PATIENCE: Duration = Duration::from_secs(120);

/// The keys with which a request of 2026-07-28 says what it speaks.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const INFO: &str = "io.modelcontextprotocol/clientInfo";

pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
}

impl Client {
    /// The processes that the server started, as the system lists them.
    #[cfg(target_os = "linux")]
    pub(crate) fn children(&self) -> String {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let of = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children"));
        tasks.flatten().filter_map(|task| of(task).ok()).collect()
    }

    /// Starts the server in the folder `work` of a home.
    pub(crate) fn start(home: &Home) -> Self {
        Self::start_in(home, &home.folder().join("work"))
    }

    pub(crate) fn start_in(home: &Home, directory: &Path) -> Self {
        let mut command = home.command();
        command.arg("mcp").current_dir(directory);
        Self::of(command)
    }

    /// Starts it by a command.
    pub(crate) fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { input: child.stdin.take(), child, lines, next: 1 }
    }

    /// After the handshake of a revision.
    pub(crate) fn of_revision(home: &Home, version: &str) -> Self {
        let mut client = Self::start(home);
        client.initialize(version);
        client
    }

    /// In a project, after the usual handshake.
    pub(crate) fn in_project(home: &Home) -> Self {
        let mut client = Self::start_in(home, &home.project());
        client.initialize("2025-11-25");
        client
    }

    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let answer = self.request(
            "initialize",
            json!({ "protocolVersion": version, "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" } }),
        );
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        answer["result"].clone()
    }

    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// Sends a request and gives its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string());
        id
    }

    /// The next message, whatever it is.
    #[track_caller]
    pub(crate) fn next(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("nothing was answered");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Messages up to the answer with this id, itself last.
    #[track_caller]
    pub(crate) fn until(&self, id: u64) -> Vec<Value> {
        let mut messages = Vec::new();
        loop {
            let message = self.next();
            let is_it = message["id"] == id;
            messages.push(message);
            if is_it {
                return messages;
            }
        }
    }

    /// Asks and waits for the answer.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.until(id).pop().unwrap()
    }

    /// The same, as revision 2026-07-28 has it.
    #[track_caller]
    pub(crate) fn stateless(&mut self, method: &str, params: Value) -> Value {
        self.request(method, with_meta(params, "2026-07-28"))
    }

    /// What a tool says, and whether it is an error.
    #[track_caller]
    pub(crate) fn try_call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{answer}");
        assert!(result.get("structuredContent").is_none(), "{answer}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["isError"] == true)
    }

    /// What a tool says that succeeds.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_error) = self.try_call(tool, arguments);
        assert!(!is_error, "{text}");
        text
    }

    /// What a tool says that fails.
    #[track_caller]
    pub(crate) fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_error) = self.try_call(tool, arguments);
        assert!(is_error, "{text}");
        text
    }

    /// What a tool says in JSON.
    #[track_caller]
    pub(crate) fn json(&mut self, tool: &str, arguments: Value) -> Value {
        serde_json::from_str(&self.call(tool, arguments)).unwrap()
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Takes the input, to write to it otherwise.
    pub(crate) fn take_input(&mut self) -> ChildStdin {
        self.input.take().unwrap()
    }

    /// Says no more. What was sent and not read, how the server ended, and what it wrote to its errors.
    pub(crate) fn end(mut self) -> (Vec<Value>, ExitStatus, String) {
        drop(self.input.take());
        let status = self.wait();
        let rest = self.lines.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (rest, status, errors)
    }

    #[track_caller]
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A client that is left over ends with the test.
impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Parameters with what a request of this revision says of itself.
pub(crate) fn with_meta(mut params: Value, version: &str) -> Value {
    params["_meta"] = json!({
        VERSION: version,
        CAPABILITIES: {},
        INFO: { "name": "test", "version": "1" },
    });
    params
}

/// The history of the demo, imported.
pub(crate) fn demo() -> Home {
    let home = Home::new();
    for (name, content) in [
        ("5b1f0c9e-8a51-4a57-9d0e-2f6c1b7a9e01", include_str!("../../../demo/lock.jsonl")),
        ("c27d4e83-1f0b-4c3e-b6a5-90d1e2f3a402", include_str!("../../../demo/retry.jsonl")),
        ("e9a86b15-7c42-4d18-8f3b-5a6b7c8d9e03", include_str!("../../../demo/orchard.jsonl")),
    ] {
        home.write(&format!("projects/-home-ada/{name}.jsonl"), content);
    }
    home.thru(&["import"]).expect(0);
    home
}

/// Hides how long ago things were.
pub(crate) fn ages() -> insta::internals::SettingsBindDropGuard {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\| (now|\d+(min|h|d|w|mo|y)) \|", "| [age] |");
    settings.bind_to_scope()
}
