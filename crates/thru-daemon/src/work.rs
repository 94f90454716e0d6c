//! The daemon's work, supplied by its starter.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use thru_core::Timestamp;

/// Maximum number of changed files; beyond it, everything counts as changed.
const MOST_PATHS: usize = 1_000;

/// News: the changes to ingest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// True after a poke by a hook, or a request to ingest.
    pub poked: bool,
    /// Files that changed, appeared or disappeared. A folder stands for everything in it.
    pub changed: BTreeSet<PathBuf>,
    /// True if anything may have changed: a full scan is needed.
    pub everything: bool,
}

impl News {
    /// Returns news that anything may have changed.
    pub fn everything() -> Self {
        Self { everything: true, ..Self::default() }
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        !self.poked && !self.everything && self.changed.is_empty()
    }

    /// Adds a changed file. Beyond a maximum, everything counts as changed.
    pub fn add(&mut self, path: PathBuf) {
        if self.everything {
            return;
        }
        self.changed.insert(path);
        if self.changed.len() > MOST_PATHS {
            self.add_everything();
        }
    }

    /// Marks everything as changed.
    pub fn add_everything(&mut self) {
        self.everything = true;
        self.changed.clear();
    }

    /// Adds other news.
    pub fn merge(&mut self, other: Self) {
        self.poked |= other.poked;
        match other.everything {
            true => self.add_everything(),
            false => other.changed.into_iter().for_each(|path| self.add(path)),
        }
    }
}

/// The state after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The time of the next work that needs no news: a session that times out, say.
    pub due: Option<Timestamp>,
    /// True while sessions are active. The daemon does not end by itself then.
    pub busy: bool,
    /// True if there is more of the same to do. The next step follows after a breath, in which others can write.
    pub more: bool,
    /// True if the work has taken memory that only a new process gives back.
    pub renew: bool,
}

/// The error of a step. Logged as one short line: it must not quote the content of sessions.
pub type WorkError = Box<dyn std::error::Error + Send + Sync>;

/// The work of the daemon. One thread owns it, so no two parts of it run at the same time. An error or a
/// panic costs one step only; its news come again.
pub trait Work {
    /// Ingests news. Should check `stop` now and then, and return soon once it is set.
    ///
    /// # Errors
    /// Fails if the news could not be ingested; they come again.
    fn ingest(&mut self, news: &News, stop: &AtomicBool) -> Result<Outcome, WorkError>;

    /// Returns the current time of the next work that needs no news: other processes change it as well.
    /// Called now and then.
    fn due(&mut self) -> Option<Timestamp> {
        None
    }

    /// Returns the folders to watch, with everything in them. They need not exist. Called after every step.
    fn watched(&mut self) -> Vec<PathBuf>;

    /// Returns the work's part of `thru daemon status`. Called after every step.
    fn status(&mut self) -> Value;
}

/// Calls that must not wait for a running step: they run on threads of their own.
pub trait Service: Send + Sync {
    /// Begins what runs beside the work. Called once, as soon as this is the only daemon of its home.
    fn begin(&self) {}

    /// Answers the call of an MCP tool.
    ///
    /// # Errors
    /// Fails if the tool does not exist, its arguments are invalid, or it failed.
    fn call(&self, tool: &str, arguments: &Value) -> Result<Value, ToolError>;

    /// Syncs hooks' writes without waiting for the disk. Called within a second after a poke.
    ///
    /// # Errors
    /// Fails if the writes cannot be synced.
    fn sync(&self) -> Result<(), WorkError>;
}

/// The error of a tool call.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The tool does not exist.
    #[error("there is no tool `{0}`")]
    Unknown(String),
    /// The arguments are invalid.
    #[error("{0}")]
    Arguments(String),
    /// The tool failed: an object with its `message`, and more for programs.
    #[error("{}", .0["message"].as_str().unwrap_or("the tool failed"))]
    Failed(Value),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_paths_than_can_be_kept_are_everything() {
        let mut news = News::default();
        for number in 0..=MOST_PATHS {
            news.add(PathBuf::from(format!("/a/{number}")));
        }
        assert!(news.everything && news.changed.is_empty());
        news.add(PathBuf::from("/b"));
        assert!(news.changed.is_empty(), "everything is in it already");
    }

    #[test]
    fn merging_loses_nothing() {
        let mut news = News { poked: true, ..News::default() };
        news.merge(News { changed: [PathBuf::from("/a")].into(), ..News::default() });
        assert!(news.poked && news.changed.len() == 1);
        news.merge(News::everything());
        assert_eq!(news, News { poked: true, everything: true, changed: BTreeSet::new() });
    }
}
