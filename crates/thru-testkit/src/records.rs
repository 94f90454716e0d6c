//! Invented transcript records in the form of Claude Code's.

use serde_json::{Value, json};

/// A session of the tests.
pub const ONE: &str = "11111111-aaaa-4aaa-8aaa-000000000001";
/// Another session of the tests.
pub const TWO: &str = "22222222-bbbb-4bbb-8bbb-000000000002";

/// The name of the file of a session, below `projects/`.
pub fn file(session: &str) -> String {
    format!("projects/-home-ada-rocket/{session}.jsonl")
}

/// Writes records of one session.
#[derive(Clone)]
pub struct Author {
    session: String,
    directory: String,
    next: u64,
    lines: Vec<String>,
}

impl Author {
    /// Of this session. The uuids of its records start with the session's first eight characters.
    pub fn of(session: &str) -> Self {
        Self {
            session: session.to_owned(),
            directory: "/home/ada/rocket".to_owned(),
            next: 1,
            lines: Vec::new(),
        }
    }

    /// Sets the directory of the session.
    pub fn in_directory(mut self, directory: &str) -> Self {
        self.directory = directory.to_owned();
        self
    }

    /// Goes on with the record of this number.
    pub fn starting_at_record(mut self, number: u64) -> Self {
        self.next = number;
        self
    }

    fn uuid(&self, number: u64) -> String {
        format!("{}-0000-4000-8000-{number:012x}", &self.session[..8])
    }

    fn record(&mut self, kind: &str, mut more: Value) -> &mut Self {
        let number = self.next;
        self.next += 1;
        let record = json!({
            "type": kind,
            "uuid": self.uuid(number),
            "parentUuid": (number > 1).then(|| self.uuid(number - 1)),
            "isSidechain": false,
            "userType": "external",
            "cwd": self.directory,
            "sessionId": self.session,
            "version": "2.1.150",
            "gitBranch": "main",
            "timestamp": format!("2026-03-01T{:02}:{:02}:{:02}.000Z", 9 + number / 3600, number / 60 % 60, number % 60),
        });
        let Value::Object(record) = record else { unreachable!() };
        let all = more.as_object_mut().unwrap();
        for (key, value) in record {
            all.entry(key).or_insert(value);
        }
        self.lines.push(more.to_string());
        self
    }

    /// A person's prompt.
    pub fn asks(&mut self, text: &str) -> &mut Self {
        self.record("user", json!({ "message": { "role": "user", "content": text } }))
    }

    /// A piece of the agent's answer.
    pub fn says(&mut self, text: &str) -> &mut Self {
        self.answers(json!([{ "type": "text", "text": text }]))
    }

    /// A tool call.
    pub fn calls(&mut self, call: &str, tool: &str, input: Value) -> &mut Self {
        self.answers(json!([{ "type": "tool_use", "id": call, "name": tool, "input": input }]))
    }

    /// A shell command.
    pub fn runs(&mut self, call: &str, command: &str) -> &mut Self {
        self.calls(call, "Bash", json!({ "command": command }))
    }

    fn answers(&mut self, content: Value) -> &mut Self {
        let number = self.next;
        let id = format!("msg_{}_{number}", &self.session[..8]);
        self.record(
            "assistant",
            json!({
                "requestId": format!("req_{number}"),
                "message": {
                    "id": id, "role": "assistant", "model": "claude-test-1", "content": content,
                    "usage": { "input_tokens": 10, "output_tokens": 7,
                        "cache_creation_input_tokens": 1, "cache_read_input_tokens": 2 },
                },
            }),
        )
    }

    /// The result of a tool call.
    pub fn gets(&mut self, call: &str, text: &str) -> &mut Self {
        self.result(call, text, false)
    }

    /// The result of a tool call that failed.
    pub fn fails(&mut self, call: &str, text: &str) -> &mut Self {
        self.result(call, text, true)
    }

    fn result(&mut self, call: &str, text: &str, is_error: bool) -> &mut Self {
        let mut result = json!({ "type": "tool_result", "tool_use_id": call, "content": text });
        if is_error {
            result["is_error"] = true.into();
        }
        self.record(
            "user",
            json!({
                "message": { "role": "user", "content": [result] },
                "toolUseResult": { "stdout": text, "stderr": "" },
            }),
        )
    }

    /// A compaction: its boundary, and the summary that replaces the context.
    pub fn compacts(&mut self, trigger: &str, summary: &str) -> &mut Self {
        self.record(
            "system",
            json!({
                "subtype": "compact_boundary",
                "content": "Conversation compacted",
                "compactMetadata": { "trigger": trigger, "preTokens": 155_000, "postTokens": 9_000 },
            }),
        )
        .record(
            "user",
            json!({ "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
                "message": { "role": "user", "content": summary } }),
        )
    }

    /// Any line at all.
    pub fn line(&mut self, line: &str) -> &mut Self {
        self.lines.push(line.to_owned());
        self
    }

    /// A copy of another session's records, as a fork has them: with the new session's id, and a note
    /// of where they come from.
    pub fn forks(&mut self, other: &Self, records: usize) -> &mut Self {
        for line in other.lines.iter().take(records) {
            let mut record: Value = serde_json::from_str(line).unwrap();
            record["forkedFrom"] =
                json!({ "sessionId": other.session, "messageUuid": record["uuid"] });
            record["sessionId"] = json!(self.session);
            self.lines.push(record.to_string());
        }
        self
    }

    /// The file so far.
    pub fn text(&self) -> String {
        self.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }

    /// The first lines of the file.
    pub fn first(&self, lines: usize) -> String {
        self.lines[..lines].iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }
}

/// A session with a bit of everything.
pub fn conversation(session: &str) -> Author {
    let mut author = Author::of(session);
    author
        .asks("Why does the importer lock the database?")
        .says("Two writers open it at once. Let me look.")
        .runs("toolu_1", "cargo test --workspace")
        .gets("toolu_1", "error[E0502]: cannot borrow `store` as mutable")
        .calls(
            "toolu_2",
            "Edit",
            json!({ "file_path": "/home/ada/rocket/src/store.rs",
            "old_string": "a", "new_string": "b" }),
        )
        .gets("toolu_2", "The file has been updated.")
        .says("The lock is taken once now.")
        .asks("Thanks. Does it survive a crash?")
        .says("Yes: the cursor moves with the rows.");
    author
}

/// A session in another project: a plan for its pear trees.
pub fn orchard() -> Author {
    let mut author = Author::of(TWO).in_directory("/home/ada/orchard");
    author
        .asks("Plan the irrigation for the young pear trees")
        .says("Drip lines, twice a week; the clay keeps the water.")
        .calls(
            "toolu_1",
            "Write",
            json!({ "file_path": "/home/ada/orchard/plan.md", "content": "Pears" }),
        )
        .gets("toolu_1", "written");
    author
}

/// An entry of the list of prompts.
pub fn prompt_of(session: &str, milliseconds: u64, text: &str) -> String {
    json!({ "display": text, "pastedContents": {}, "timestamp": milliseconds,
        "project": "/home/ada/rocket", "sessionId": session })
    .to_string()
        + "\n"
}
