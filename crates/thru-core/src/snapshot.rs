//! The state of a session at the moment when its context is compacted: enough to continue with.

use serde::{Deserialize, Serialize};

use crate::{SessionKey, Statement, Timestamp, WorkOutcome};

/// The kind of journal record that holds a [`Snapshot`].
pub const SNAPSHOT_RECORD: &str = "snapshot";

/// The state of a session at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Snapshot {
    /// The session.
    pub session: SessionKey,
    /// The event that it was made for: the key of the hook's record, or the agent's id of the record in
    /// the transcript.
    pub event: String,
    /// The time of the compaction.
    pub at: Timestamp,
    /// The trigger: `manual`, `auto`, or any other value that the agent reported.
    pub trigger: String,
    /// The user's instructions for the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
    /// The root of the project that the session works in, or the directory that it started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The number of prompts, texts and tool calls before that moment.
    pub messages: u64,
    /// The content.
    pub content: SnapshotContent,
}

/// The content of a snapshot, each list sorted by importance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SnapshotContent {
    /// The subject of the session, in at most 100 characters.
    pub title: String,
    /// The person's objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<Statement>,
    /// The last request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_request: Option<Statement>,
    /// The requests before that, latest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Statement>,
    /// The progress of the work.
    pub outcome: WorkOutcome,
    /// Completed work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<Statement>,
    /// Findings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<Statement>,
    /// Decisions, with the reason if one was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Statement>,
    /// The person's rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rulings: Vec<Statement>,
    /// Failed attempts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Statement>,
    /// Errors that were resolved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<Statement>,
    /// What must be known to go on, as a model tells it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Statement>,
    /// Work that remains to be done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<Statement>,
    /// Questions that were not answered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<Statement>,
    /// The files that are being worked on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileInPlay>,
    /// Commands that succeeded, as they were typed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Statement>,
    /// Names from the code that the work is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The subjects, in a few words each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
}

/// A file that is being worked on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct FileInPlay {
    /// Its path, as the agent wrote it.
    pub path: String,
    /// True if it was changed; false if it was only read.
    pub modified: bool,
    /// The work on it, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The last turn in which it was touched.
    pub turn: u32,
}

impl Snapshot {
    /// Calls `each` with every text, file names included: no ids.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        let Self {
            trigger,
            custom_instructions,
            directory,
            content,
            session: _,
            event: _,
            at: _,
            messages: _,
        } = self;
        each(trigger);
        custom_instructions.iter_mut().chain(directory).for_each(&mut *each);
        content.texts(each);
    }
}

impl SnapshotContent {
    /// Calls `each` with every text, file names included: no ids, no names of kinds.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        let Self {
            title,
            objective,
            last_request,
            requests,
            done,
            learned,
            decisions,
            rulings,
            failed,
            resolved,
            context,
            next_steps,
            open_questions,
            files,
            commands,
            names,
            topics,
            outcome: _,
        } = self;
        each(title);
        let lists = [
            done,
            learned,
            decisions,
            rulings,
            failed,
            resolved,
            context,
            next_steps,
            open_questions,
            commands,
            requests,
        ];
        let single = objective.iter_mut().chain(last_request);
        let statements = single.chain(lists.into_iter().flatten());
        statements.for_each(|statement| statement.texts(each));
        for FileInPlay { path, what, modified: _, turn: _ } in files {
            each(path);
            what.iter_mut().for_each(&mut *each);
        }
        names.iter_mut().chain(topics).for_each(&mut *each);
    }

    /// Moves the statements that share words with the user's instructions to the front of every list.
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

    /// Returns every list of statements.
    pub const fn lists_mut(&mut self) -> [&mut Vec<Statement>; 11] {
        [
            &mut self.done,
            &mut self.learned,
            &mut self.decisions,
            &mut self.rulings,
            &mut self.failed,
            &mut self.resolved,
            &mut self.context,
            &mut self.next_steps,
            &mut self.open_questions,
            &mut self.commands,
            &mut self.requests,
        ]
    }
}
