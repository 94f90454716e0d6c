//! The interface between the surface and a memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use thru_redact::Clean;

use crate::asked::{
    Close, Forget, Get, ListUnindexed, Place, Remember, Search, Session, SyncHistory, Timeline,
};
use crate::told::{Around, Forgotten, Found, Piece, Project, Remembered, SessionName, SessionTold};

/// A memory that answers requests. Everything here may block; several calls may run at once.
pub trait Memory: Send + Sync + 'static {
    /// Finds memories and passages that answer a question.
    ///
    /// # Errors
    ///
    /// Returns a [`Trouble`] if the store cannot be read or the call is cancelled.
    fn search(&self, asked: &Search, call: &Call) -> Result<Found, Trouble>;

    /// Returns the rows around an anchor; `None` if a query found nothing.
    ///
    /// # Errors
    ///
    /// Returns a [`Trouble`] if the anchor is unknown, the store cannot be read or the call is cancelled.
    fn timeline(&self, asked: &Timeline, call: &Call) -> Result<Option<Around>, Trouble>;

    /// Returns memories and passages in full, one for each id, in order.
    ///
    /// # Errors
    ///
    /// Returns a [`Trouble`] if the store cannot be read or the call is cancelled.
    fn get(&self, asked: &Get, call: &Call) -> Result<Vec<Piece>, Trouble>;

    /// Returns one session.
    ///
    /// # Errors
    ///
    /// Returns a [`Trouble`] if no session has this id, or the store cannot be read.
    fn session(&self, asked: &Session, call: &Call) -> Result<SessionTold, Trouble>;

    /// Stores a text as a memory.
    ///
    /// # Errors
    ///
    /// Returns a [`Trouble`] if the text is unusable, or cannot be stored.
    fn remember(&self, asked: &Remember) -> Result<Remembered, Trouble>;

    /// Previews or performs forgetting.
    ///
    /// # Errors
    ///
    /// Returns a [`Trouble`] if the store cannot be read or written.
    fn forget(&self, asked: &Forget) -> Result<Forgotten, Trouble>;

    /// Closes a session and indexes it.
    ///
    /// # Errors
    ///
    /// Returns a document with the reason in the same form (`status`) as a success.
    fn close(&self, asked: &Close) -> Result<Clean<Value>, Clean<Value>>;

    /// Returns the sessions whose index is missing or stale.
    ///
    /// # Errors
    ///
    /// Returns a [`Trouble`] if the store cannot be read.
    fn list_unindexed(&self, asked: &ListUnindexed) -> Result<Clean<Value>, Trouble>;

    /// Returns the history that is not imported yet, and the cost of importing it. Changes nothing.
    ///
    /// # Errors
    ///
    /// Returns a [`Trouble`] if the transcripts or the store cannot be read.
    fn sync_history(&self, asked: &SyncHistory) -> Result<Clean<Value>, Trouble>;

    /// Returns the state of the memory.
    ///
    /// # Errors
    ///
    /// Returns a [`Trouble`] if the store cannot be read.
    fn status(&self) -> Result<Clean<Value>, Trouble>;

    /// Returns the context that a session starting in a project now would get, in its fence; empty if
    /// there is nothing to say.
    ///
    /// # Errors
    ///
    /// Returns a [`Trouble`] if the project is unknown, or the store cannot be read.
    fn context(&self, project: &Place, call: &Call) -> Result<Clean<String>, Trouble>;

    /// Returns the latest sessions of the current project, at most `most`; of all projects if the
    /// current one is unknown.
    ///
    /// # Errors
    ///
    /// Returns a [`Trouble`] if the store cannot be read.
    fn sessions(&self, most: usize) -> Result<Vec<SessionName>, Trouble>;

    /// Returns the current project, if anything is known of it.
    ///
    /// # Errors
    ///
    /// Returns a [`Trouble`] if the store cannot be read.
    fn project(&self) -> Result<Option<Project>, Trouble>;

    /// Redacts a text.
    fn clean(&self, text: &str) -> Clean<String>;

    /// Returns the time, and the user's time zone.
    fn now(&self) -> (Timestamp, TimeZone);
}

/// The reason a request failed, with advice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// It failed.
    #[error("{message}")]
    Failed {
        /// The failure, in a sentence or two, advice included.
        message: String,
    },
    /// The client cancelled the call.
    #[error("the call was cancelled")]
    Cancelled,
}

impl Trouble {
    /// Creates a failure with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into() }
    }
}

/// Receives the progress of a call.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// A running call: reports its progress, and may be cancelled.
#[derive(Clone)]
pub struct Call {
    tell: Option<Tell>,
    cancelled: Arc<AtomicBool>,
}

impl Call {
    /// Creates a call without progress reports that is never cancelled.
    pub fn unwatched() -> Self {
        Self { tell: None, cancelled: Arc::default() }
    }

    /// Creates a call that reports progress to `tell`, if there is one, and is over once `cancelled` is
    /// set.
    pub fn new(tell: Option<Tell>, cancelled: Arc<AtomicBool>) -> Self {
        Self { tell, cancelled }
    }

    /// Reports progress.
    pub fn tell(&self, message: &str) {
        if let Some(tell) = &self.tell {
            tell(message);
        }
    }

    /// Returns true if the call was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the flag behind [`Self::is_cancelled`], for work that polls one.
    pub fn cancelled(&self) -> &AtomicBool {
        &self.cancelled
    }
}
