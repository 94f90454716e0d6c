//! The small files for programs: the metadata of each summary, and the list of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thru_core::{Snapshot, Timestamp};

/// The version of the format of both files.
pub(crate) const VERSION: u32 = 1;

/// The metadata of a summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The agent's id of the session.
    pub session_id: String,
    /// The time of the compaction.
    pub timestamp: Timestamp,
    /// The trigger of the compaction: `manual` or `auto`.
    #[serde(default)]
    pub trigger: String,
    /// The directory of the session.
    #[serde(default)]
    pub cwd: String,
    /// The title of the session.
    #[serde(default)]
    pub title: String,
    /// Its topics.
    #[serde(default)]
    pub topics: Vec<String>,
    /// The files that it changed.
    #[serde(default)]
    pub files_modified: Vec<String>,
    /// Number of prompts, texts and tool calls before the compaction.
    #[serde(default)]
    pub message_count: u64,
    /// The path of the summary, relative to the folder of summaries.
    #[serde(default)]
    pub summary_path: String,
    /// The agent of the session.
    #[serde(default)]
    pub agent: String,
    /// The key of the event that it was made for.
    #[serde(default)]
    pub event: String,
    /// Instructions that the user gave the compaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
}

/// The list of summaries, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// The version of the format.
    pub version: u32,
    /// The summaries.
    #[serde(default)]
    pub summaries: Vec<Metadata>,
    /// The session whose summary was last asked for.
    #[serde(default)]
    pub last_loaded: Option<String>,
    /// Sessions whose summaries the user removed, and the time of the latest that was there: up to it none is written again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub removed: BTreeMap<String, Timestamp>,
}

/// Serializes either file.
pub(crate) fn json(value: &impl serde::Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

impl Default for Index {
    fn default() -> Self {
        Self {
            version: VERSION,
            summaries: Vec::new(),
            last_loaded: None,
            removed: BTreeMap::new(),
        }
    }
}

impl Metadata {
    /// Returns the metadata of the summary at `path`.
    pub(crate) fn from_snapshot(snapshot: &Snapshot, path: String) -> Self {
        /// Maximum number of files listed.
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
