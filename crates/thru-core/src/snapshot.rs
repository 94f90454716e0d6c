//! What a session holds at the moment when its context is compacted: enough to go on with.

use serde::{Deserialize, Serialize};

use crate::{SessionKey, Statement, Timestamp, WorkOutcome};

/// The kind of journal record that holds a [`Snapshot`].
pub const SNAPSHOT_RECORD: &str = "snapshot";

/// What a session holds at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Snapshot {
    /// The session.
    pub session: SessionKey,
    /// The event that it was made for: the key of the hook's record, or the agent's id of the record in
    /// the transcript.
    pub event: String,
    /// When the context was compacted.
    pub at: Timestamp,
    /// What for: `manual`, `auto`, or whatever else the agent says.
    pub trigger: String,
    /// What the user asked the compaction to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
    /// The root of the project that the session works in, or the directory that it was begun in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Prompts, texts and tool calls before that moment.
    pub messages: u64,
    /// What it holds.
    pub content: SnapshotContent,
}

/// What there is to know for going on, each list in the order of what matters most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SnapshotContent {
    /// What the session is about, in at most 80 characters.
    pub title: String,
    /// What the person wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<Statement>,
    /// What was asked for last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_request: Option<Statement>,
    /// What was asked for before that, the latest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Statement>,
    /// How far the work is.
    pub outcome: WorkOutcome,
    /// What was done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<Statement>,
    /// What was found out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<Statement>,
    /// What was decided, with the reason where one was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Statement>,
    /// What the person ruled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rulings: Vec<Statement>,
    /// What was tried and did not work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Statement>,
    /// What went wrong and was put right.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<Statement>,
    /// What remains to be done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<Statement>,
    /// What was asked and not answered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<Statement>,
    /// Files that are being worked on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileInPlay>,
    /// Commands that worked, as they were typed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Statement>,
    /// Names from the code that the work is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// What it was about, in a few words each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
}

/// A file that is being worked on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct FileInPlay {
    /// Its path, as the agent wrote it.
    pub path: String,
    /// Whether it was changed; else it was only looked at.
    pub modified: bool,
    /// What was done with it, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The turn in which it was touched last.
    pub turn: u32,
}

impl Snapshot {
    /// Shows every text that it holds, paths included: no ids, no names of kinds.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        self.custom_instructions.iter_mut().chain(&mut self.directory).for_each(&mut *each);
        self.content.texts(each);
    }
}

impl SnapshotContent {
    /// Shows every text that it holds, paths included: no ids, no names of kinds.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        each(&mut self.title);
        let single = self.objective.iter_mut().chain(&mut self.last_request);
        single.for_each(|statement| each(&mut statement.text));
        for statement in self.lists_mut().into_iter().flatten() {
            each(&mut statement.text);
        }
        for file in &mut self.files {
            each(&mut file.path);
            file.what.iter_mut().for_each(&mut *each);
        }
        self.names.iter_mut().chain(&mut self.topics).for_each(&mut *each);
    }

    /// Puts first, in every list, what shares words with what the user asked to keep.
    pub fn favour(&mut self, asked: &str) {
        let words = |text: &str| -> Vec<String> {
            let words = text.split(|c: char| !c.is_alphanumeric());
            words.filter(|word| word.chars().count() >= 4).map(str::to_lowercase).collect()
        };
        let wanted = words(asked);
        if wanted.is_empty() {
            return;
        }
        let shared = |text: &str| {
            let text = text.to_lowercase();
            wanted.iter().filter(|word| text.contains(word.as_str())).count()
        };
        for list in self.lists_mut() {
            list.sort_by_key(|statement| std::cmp::Reverse(shared(&statement.text)));
        }
        self.files.sort_by_key(|file| {
            std::cmp::Reverse(shared(&file.path) + file.what.as_deref().map_or(0, shared))
        });
        self.names.sort_by_key(|name| std::cmp::Reverse(shared(name)));
        self.topics.sort_by_key(|topic| std::cmp::Reverse(shared(topic)));
    }

    /// Every list of statements.
    pub const fn lists_mut(&mut self) -> [&mut Vec<Statement>; 10] {
        [
            &mut self.done,
            &mut self.learned,
            &mut self.decisions,
            &mut self.rulings,
            &mut self.failed,
            &mut self.resolved,
            &mut self.next_steps,
            &mut self.open_questions,
            &mut self.commands,
            &mut self.requests,
        ]
    }
}
