//! What the daemon does not know: its work. Whoever starts it hands this in.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use thru_core::Timestamp;

/// More changed files than this are as good as all.
const MOST_PATHS: usize = 1_000;

/// What there may be to bring in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// A hook said that there is something, or somebody asked to have it brought in.
    pub poked: bool,
    /// Files that changed, came or went. A folder among them stands for all that is in it.
    pub changed: BTreeSet<PathBuf>,
    /// Anything may have changed: look at all there is.
    pub everything: bool,
}

impl News {
    /// Anything may have changed.
    pub fn everything() -> Self {
        Self { everything: true, ..Self::default() }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        !self.poked && !self.everything && self.changed.is_empty()
    }

    /// Adds a file that changed. Beyond a number of them all may have changed.
    pub fn add(&mut self, path: PathBuf) {
        if self.everything {
            return;
        }
        self.changed.insert(path);
        if self.changed.len() > MOST_PATHS {
            self.add_everything();
        }
    }

    /// Anything may have changed.
    pub fn add_everything(&mut self) {
        self.everything = true;
        self.changed.clear();
    }

    /// Adds what other news say.
    pub fn merge(&mut self, other: Self) {
        self.poked |= other.poked;
        match other.everything {
            true => self.add_everything(),
            false => other.changed.into_iter().for_each(|path| self.add(path)),
        }
    }
}

/// What is left after news were brought in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// When something has to be done although no news came: a session that times out, say.
    pub due: Option<Timestamp>,
    /// Whether there are sessions at work. While there are, the daemon does not end by itself.
    pub busy: bool,
}

/// Why work could not be done. It is logged as one short line: it must not quote what people said.
pub type WorkError = Box<dyn std::error::Error + Send + Sync>;

/// The work of the daemon. One thread owns it; nothing of it runs at the same time as another part of
/// it. An error or a panic costs this step only; what it was about comes again.
pub trait Work {
    /// Brings in what there may be. Should look at `stop` now and then, and return soon once it is set.
    fn bring_in(&mut self, news: &News, stop: &AtomicBool) -> Result<Outcome, WorkError>;

    /// When something has to be done although no news came, as things are now: others work on them as
    /// well. Asked for now and then.
    fn due(&mut self) -> Option<Timestamp> {
        None
    }

    /// Folders to watch, with all that is in them. They need not exist. Asked for after every step.
    fn watched(&mut self) -> Vec<PathBuf>;

    /// What `thru daemon status` is to show of the work. Asked for after every step.
    fn status(&mut self) -> Value;
}

/// What must not wait for the work in hand: it runs on threads of its own, at the same time.
pub trait Service: Send + Sync {
    /// Answers the call of an MCP tool.
    fn call(&self, tool: &str, arguments: &Value) -> Result<Value, ToolError>;

    /// Syncs what hooks wrote without waiting for the disk. Called within a second after a poke.
    fn sync(&self) -> Result<(), WorkError>;
}

/// Why a tool gave no result.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// There is no such tool.
    #[error("there is no tool `{0}`")]
    Unknown(String),
    /// The arguments are not what the tool takes.
    #[error("{0}")]
    Arguments(String),
    /// It did not work.
    #[error("{0}")]
    Failed(String),
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
