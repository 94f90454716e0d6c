//! What a transcript reader makes of records: the form in which history enters the store.
//!
//! Every agent's reader produces these, so that nothing behind the readers knows any agent's format.

use std::collections::BTreeMap;

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
    /// Its place among the passages of its file.
    pub ordinal: u32,
    /// Who speaks.
    pub kind: PassageKind,
    /// The subagent that spoke, if one did.
    pub agent_id: Option<String>,
    /// The searchable text.
    pub text: String,
    /// The tool that ran.
    pub tool: Option<String>,
    /// The agent's own id of the tool call, where it gives one.
    pub call: Option<String>,
    /// The command line, where the tool is a shell.
    pub command: Option<String>,
    /// Files that the call named.
    pub files: Vec<FileTouch>,
    /// The hash of what the call wrote, where that is the whole content of the file that it changed.
    pub written: Option<Id>,
    /// How the call ended; nothing for prose.
    pub outcome: Option<Outcome>,
    /// The records it was made from.
    pub records: Vec<RecordId>,
    /// The lines (1-based) of its file that those records stand on, in the same order.
    pub lines: Vec<u64>,
    /// When the first of the records was written.
    pub timestamp: Option<Timestamp>,
    /// The session the record was first written in, where this one is a copy of it.
    pub copied_from: Option<SessionId>,
}

impl Passage {
    /// What the same event is known by wherever it was recorded, by a hook or in a transcript: a tool
    /// call by its id, prose by its words. Unique within a session only, and not even there where the
    /// same words are said twice.
    pub fn fingerprint(&self) -> Option<u64> {
        match self.kind {
            PassageKind::Tool => self.call.as_deref().map(|call| fingerprint(&[call])),
            PassageKind::Human | PassageKind::Assistant => {
                /// Bytes of a text that every source keeps, however long it is.
                const KEPT: usize = 64 * 1024;
                let text = &self.text[..self.text.floor_char_boundary(KEPT)];
                let words: Vec<&str> = text.split_whitespace().collect();
                Some(fingerprint(&words))
            }
        }
    }
}

/// Half of a hash: enough to tell the events of one session apart.
fn fingerprint(parts: &[&str]) -> u64 {
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    let id = Id::derive(&parts);
    id.as_bytes().iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

/// The result of a tool call that an earlier batch held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amendment {
    /// The passage of the call.
    pub passage: Id,
    /// What to append to its text, on a line of its own.
    pub text: String,
    /// How the call ended.
    pub outcome: Outcome,
    /// The record of the result.
    pub record: RecordId,
    /// The line that record stands on.
    pub line: u64,
    /// Files that only the result names.
    pub files: Vec<FileTouch>,
}

/// A file that a tool call named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTouch {
    /// The path as the agent wrote it.
    pub path: String,
    /// What was done with it.
    pub access: Access,
}

/// What a tool call did with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// It was looked at.
    Read,
    /// It was written, edited or created.
    Modified,
}

/// What is known of a session as a whole, as far as it was read. Deltas [`merge`](Self::merge).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SessionFacts {
    /// The earliest time that any record gives.
    pub first: Option<Timestamp>,
    /// The latest time that any record gives.
    pub last: Option<Timestamp>,
    /// The directory that the session started in.
    pub directory: Option<String>,
    /// The branch that was checked out last.
    pub branch: Option<String>,
    /// The agent's version, last seen.
    pub version: Option<String>,
    /// Models that answered.
    pub models: std::collections::BTreeSet<String>,
    /// The title that the user gave.
    pub user_title: Option<String>,
    /// The title that the agent made up.
    pub agent_title: Option<String>,
    /// The first human prompt, cut to a line.
    pub first_prompt: Option<String>,
    /// The session that this one was forked or resumed from as a copy.
    pub forked_from: Option<SessionId>,
    /// Tokens as the agent's provider counted them.
    pub usage: Usage,
    /// How often the context was compacted.
    pub compactions: u32,
    /// Errors that the provider answered with.
    pub api_errors: u32,
    /// Pull requests that the session is linked to.
    pub pull_requests: std::collections::BTreeSet<String>,
}

/// Tokens, counted once per message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// Something in a transcript that could not be read as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of trouble, as a stable name (`broken-json`, `not-utf8`, …).
    pub kind: &'static str,
    /// The line (1-based) it was first met on.
    pub line: u64,
    /// How often it was met in this batch.
    pub count: u64,
}

/// What a transcript says of the moment when the context was compacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// The record that says so.
    pub record: RecordId,
    /// Passages of the file before it.
    pub ordinal: u32,
    /// When.
    pub at: Option<Timestamp>,
    /// What for: `manual`, `auto`, or whatever else the agent says.
    pub trigger: String,
    /// What the context came to in tokens before …
    pub before: Option<u64>,
    /// … and after.
    pub after: Option<u64>,
}

/// What the agent itself put in the place of a context that was compacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactSummary {
    /// The record of the [`Boundary`] that it stands behind.
    pub boundary: RecordId,
    /// Its words.
    pub text: String,
}

/// What one read of a transcript produced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadBatch {
    /// New passages in the order of the file.
    pub passages: Vec<Passage>,
    /// Results of calls from earlier batches.
    pub amendments: Vec<Amendment>,
    /// Where the context was compacted.
    pub boundaries: Vec<Boundary>,
    /// The agent's own summaries behind boundaries, of this batch or of earlier ones.
    pub compact_summaries: Vec<CompactSummary>,
    /// What the records say of the session, to be merged into what is known.
    pub facts: SessionFacts,
    /// How many records of each type were met, unknown types included.
    pub record_types: BTreeMap<String, u64>,
    /// What could not be read as it should be, a row per kind.
    pub diagnostics: Vec<Diagnostic>,
}

impl Usage {
    /// Adds what `other` counted.
    pub const fn add(&mut self, other: &Self) {
        // A transcript may claim any number; none of them may stop us.
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_creation = self.cache_creation.saturating_add(other.cache_creation);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
    }
}

impl SessionFacts {
    /// Adds what was read later.
    pub fn merge(&mut self, later: Self) {
        self.first = earliest(self.first, later.first);
        self.last = self.last.max(later.last);
        self.directory = self.directory.take().or(later.directory);
        self.branch = later.branch.or(self.branch.take());
        self.version = later.version.or(self.version.take());
        self.models.extend(later.models);
        self.user_title = later.user_title.or(self.user_title.take());
        self.agent_title = later.agent_title.or(self.agent_title.take());
        self.first_prompt = self.first_prompt.take().or(later.first_prompt);
        self.forked_from = self.forked_from.take().or(later.forked_from);
        self.usage.add(&later.usage);
        self.compactions = self.compactions.saturating_add(later.compactions);
        self.api_errors = self.api_errors.saturating_add(later.api_errors);
        self.pull_requests.extend(later.pull_requests);
    }

    /// What somebody called the session: the user's word, else the agent's.
    pub fn given_title(&self) -> Option<&str> {
        [&self.user_title, &self.agent_title]
            .into_iter()
            .find_map(|title| title.as_deref().filter(|title| !title.trim().is_empty()))
    }
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
