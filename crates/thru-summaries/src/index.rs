//! The small files that programs read: one about each summary, and the list of them.

use serde::{Deserialize, Serialize};
use thru_core::{Snapshot, Timestamp};

/// The form of both files.
pub(crate) const VERSION: u32 = 1;

/// What is known of one summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The agent's id of the session.
    pub session_id: String,
    /// When the context was compacted.
    pub timestamp: Timestamp,
    /// What for: `manual` or `auto`.
    #[serde(default)]
    pub trigger: String,
    /// The directory of the session.
    #[serde(default)]
    pub cwd: String,
    /// What the session was called.
    #[serde(default)]
    pub title: String,
    /// What it was about.
    #[serde(default)]
    pub topics: Vec<String>,
    /// Files that were changed.
    #[serde(default)]
    pub files_modified: Vec<String>,
    /// Prompts, texts and tool calls before that moment.
    #[serde(default)]
    pub message_count: u64,
    /// Where the summary lies, from the folder of summaries on.
    #[serde(default)]
    pub summary_path: String,
    /// Whose session it was.
    #[serde(default)]
    pub agent: String,
    /// The event that it was made for.
    #[serde(default)]
    pub event: String,
    /// What the user asked the compaction to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
}

/// The list of summaries, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// The form of the file.
    pub version: u32,
    /// The summaries.
    #[serde(default)]
    pub summaries: Vec<Metadata>,
    /// The session whose summary was asked for last.
    #[serde(default)]
    pub last_loaded: Option<String>,
}

/// Either file.
pub(crate) fn json(value: &impl serde::Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

impl Default for Index {
    fn default() -> Self {
        Self { version: VERSION, summaries: Vec::new(), last_loaded: None }
    }
}

impl Metadata {
    /// What is known of the summary that lies at `path`.
    pub(crate) fn of(snapshot: &Snapshot, path: String) -> Self {
        /// Files that are named at most.
        const FILES: usize = 100;
        let content = &snapshot.content;
        let modified = content.files.iter().filter(|file| file.modified);
        Self {
            session_id: snapshot.session.id.as_str().to_owned(),
            timestamp: snapshot.at,
            trigger: snapshot.trigger.clone(),
            cwd: snapshot.directory.clone().unwrap_or_default(),
            title: content.title.clone(),
            topics: content.topics.clone(),
            files_modified: modified.map(|file| file.path.clone()).take(FILES).collect(),
            message_count: snapshot.messages,
            summary_path: path,
            agent: snapshot.session.agent.as_str().to_owned(),
            event: snapshot.event.clone(),
            custom_instructions: snapshot.custom_instructions.clone(),
        }
    }
}
