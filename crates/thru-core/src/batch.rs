//! The output of transcript readers: the form in which history enters the store.
//!
//! Every agent's reader produces it, so that no code after the readers knows any agent's format.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Id, Outcome, PassageKind, RecordId, SessionId, Timestamp};

/// One human prompt, one assistant text block, or one tool call with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Derived from the source record, so that a copy of the record is the same passage.
    pub id: Id,
    /// The session that this file records.
    pub session: SessionId,
    /// The turn it belongs to, from 1; 0 before the first prompt.
    pub turn: u32,
    /// Its position among the passages of its file.
    pub ordinal: u32,
    /// Its kind.
    pub kind: PassageKind,
    /// The subagent that spoke, if any.
    pub agent_id: Option<String>,
    /// The searchable text.
    pub text: String,
    /// The tool that ran.
    pub tool: Option<String>,
    /// The agent's own id of the tool call, if there is one.
    pub call: Option<String>,
    /// The command line, if the tool is a shell.
    pub command: Option<String>,
    /// The files that the call named.
    pub files: Vec<FileTouch>,
    /// The hash of the whole new content of the file, if the call wrote all of it.
    pub written: Option<Id>,
    /// The outcome of the call; `None` for prose.
    pub outcome: Option<Outcome>,
    /// The records it was made from.
    pub records: Vec<RecordId>,
    /// The lines (1-based) of those records in its file, in the same order.
    pub lines: Vec<u64>,
    /// The time at which the first of the records was written.
    pub timestamp: Option<Timestamp>,
    /// The session in which the record was first written, if this one is a copy of it.
    pub copied_from: Option<SessionId>,
}

impl Passage {
    /// Returns a fingerprint by which the same event is recognised in records of hooks and in
    /// transcripts: a tool call by its id, prose and a call without an id by their words. Unique within a
    /// session only, and not even there if the same words occur twice.
    pub fn fingerprint(&self) -> u64 {
        if let (PassageKind::Tool, Some(call)) = (self.kind, self.call.as_deref()) {
            return fingerprint(&[call]);
        }
        /// The number of bytes of a text that every source keeps, however long it is.
        const KEPT: usize = 64 * 1024;
        let text = &self.text[..self.text.floor_char_boundary(KEPT)];
        let words: Vec<&str> = text.split_whitespace().collect();
        fingerprint(&words)
    }
}

/// Hashes to 64 bits: enough to distinguish the events of one session.
fn fingerprint(parts: &[&str]) -> u64 {
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    let id = Id::derive(&parts);
    id.as_bytes().iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

/// The result of a tool call from an earlier batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amendment {
    /// The passage of the call.
    pub passage: Id,
    /// The text to append to its text, on a line of its own.
    pub text: String,
    /// The outcome of the call.
    pub outcome: Outcome,
    /// The record of the result.
    pub record: RecordId,
    /// The line of that record.
    pub line: u64,
    /// The files that only the result names.
    pub files: Vec<FileTouch>,
}

/// A file that a tool call named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTouch {
    /// The path as the agent wrote it.
    pub path: String,
    /// The kind of access.
    pub access: Access,
}

/// The access of a tool call to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// The file was read.
    Read,
    /// The file was written, edited or created.
    Modified,
}

/// The facts about a session as a whole, as far as it was read. Deltas [`merge`](Self::merge).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SessionFacts {
    /// The earliest time in any record.
    pub first: Option<Timestamp>,
    /// The latest time in any record.
    pub last: Option<Timestamp>,
    /// The directory that the session started in.
    pub directory: Option<String>,
    /// Its time, where deltas do not come in the order of their times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory_at: Option<Timestamp>,
    /// The branch that was checked out there at its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_branch: Option<String>,
    /// The name of its project, as an editor gives it. It counts where no directory is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The branch that was checked out last.
    pub branch: Option<String>,
    /// The last seen version of the agent.
    pub version: Option<String>,
    /// The models that answered.
    pub models: std::collections::BTreeSet<String>,
    /// The title that the user gave.
    pub user_title: Option<String>,
    /// The title that the agent made up.
    pub agent_title: Option<String>,
    /// The first human prompt, cut to a line.
    pub first_prompt: Option<String>,
    /// Its time, where deltas do not come in the order of their times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_prompt_at: Option<Timestamp>,
    /// The session that this one is a forked or resumed copy of.
    pub forked_from: Option<SessionId>,
    /// Tokens as the agent's provider counted them.
    pub usage: Usage,
    /// The number of compactions of the context.
    pub compactions: u32,
    /// The number of errors returned by the provider.
    pub api_errors: u32,
    /// The pull requests linked to the session.
    pub pull_requests: std::collections::BTreeSet<String>,
}

/// Tokens, counted once per message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Usage {
    /// Tokens read that were not cached.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens put into the provider's cache.
    pub cache_creation: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
}

/// A problem in a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of problem, as a stable name (`broken-json`, `not-utf8`, …).
    pub kind: &'static str,
    /// The line (1-based) of its first occurrence.
    pub line: u64,
    /// The number of occurrences in this batch.
    pub count: u64,
}

/// A compaction of the context, as recorded in a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// The record of it.
    pub record: RecordId,
    /// The number of passages of the file before it.
    pub ordinal: u32,
    /// Its time.
    pub at: Option<Timestamp>,
    /// The trigger: `manual`, `auto`, or any other value that the agent reported.
    pub trigger: String,
    /// The size of the context in tokens before …
    pub before: Option<u64>,
    /// … and after.
    pub after: Option<u64>,
}

/// The agent's own summary that replaced a compacted context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactSummary {
    /// The record of the [`Boundary`] that it follows.
    pub boundary: RecordId,
    /// Its text.
    pub text: String,
}

/// The result of one read of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadBatch {
    /// The new passages in the order of the file.
    pub passages: Vec<Passage>,
    /// The results of calls from earlier batches.
    pub amendments: Vec<Amendment>,
    /// The compactions of the context.
    pub boundaries: Vec<Boundary>,
    /// The agent's own summaries after boundaries of this batch or of earlier ones.
    pub compact_summaries: Vec<CompactSummary>,
    /// The facts about the session in these records, to be merged into the known ones.
    pub facts: SessionFacts,
    /// The number of records of each type, including unknown types.
    pub record_types: BTreeMap<String, u64>,
    /// The problems found, one entry per kind.
    pub diagnostics: Vec<Diagnostic>,
}

impl Usage {
    /// Adds the counts of `other`.
    pub const fn add(&mut self, other: &Self) {
        // A transcript may claim any number; overflow must not cause a panic.
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_creation = self.cache_creation.saturating_add(other.cache_creation);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
    }
}

impl SessionFacts {
    /// Merges facts that were read later.
    pub fn merge(&mut self, later: Self) {
        self.first = earliest(self.first, later.first);
        self.last = self.last.max(later.last);
        // It is that of the directory.
        if self.directory.is_none() {
            self.first_branch = later.first_branch;
        }
        let (own, other) = (&mut self.directory, later.directory);
        keep_first((own, &mut self.directory_at), (other, later.directory_at));
        self.project = self.project.take().or(later.project);
        self.branch = later.branch.or(self.branch.take());
        self.version = later.version.or(self.version.take());
        self.models.extend(later.models);
        self.user_title = later.user_title.or(self.user_title.take());
        self.agent_title = later.agent_title.or(self.agent_title.take());
        let (own, other) = (&mut self.first_prompt, later.first_prompt);
        keep_first((own, &mut self.first_prompt_at), (other, later.first_prompt_at));
        self.forked_from = self.forked_from.take().or(later.forked_from);
        self.usage.add(&later.usage);
        self.compactions = self.compactions.saturating_add(later.compactions);
        self.api_errors = self.api_errors.saturating_add(later.api_errors);
        self.pull_requests.extend(later.pull_requests);
    }

    /// Returns the title given to the session: the user's, else the agent's.
    pub fn given_title(&self) -> Option<&str> {
        [&self.user_title, &self.agent_title]
            .into_iter()
            .find_map(|title| title.as_deref().filter(|title| !title.trim().is_empty()))
    }
}

/// Keeps the value that is there, unless the other is known to be earlier.
fn keep_first<T>(
    (own, own_at): (&mut Option<T>, &mut Option<Timestamp>),
    (other, other_at): (Option<T>, Option<Timestamp>),
) {
    let is_earlier = own_at.zip(other_at).is_some_and(|(own_at, other_at)| other_at < own_at);
    if other.is_some() && (own.is_none() || is_earlier) {
        (*own, *own_at) = (other, other_at);
    }
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
