//! What the surface needs of a memory, whoever keeps it.

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

/// A memory that can be asked. Everything here may block; several calls may run at once.
pub trait Memory: Send + Sync + 'static {
    /// Finds memories and passages that answer a question.
    fn search(&self, asked: &Search, call: &Call) -> Result<Found, Trouble>;
    /// What happened around something; nothing where a question found nothing.
    fn timeline(&self, asked: &Timeline, call: &Call) -> Result<Option<Around>, Trouble>;
    /// Memories and passages whole, one for each id, in order.
    fn get(&self, asked: &Get, call: &Call) -> Result<Vec<Piece>, Trouble>;
    /// One session.
    fn session(&self, asked: &Session, call: &Call) -> Result<SessionTold, Trouble>;
    /// Keeps a text for good.
    fn remember(&self, asked: &Remember) -> Result<Remembered, Trouble>;
    /// Says what would be forgotten, or forgets it.
    fn forget(&self, asked: &Forget) -> Result<Forgotten, Trouble>;
    /// Closes a session and indexes it. What did not work is told in the same form (`status`).
    fn close(&self, asked: &Close) -> Result<Clean<Value>, Clean<Value>>;
    /// Sessions that are not indexed as they are.
    fn list_unindexed(&self, asked: &ListUnindexed) -> Result<Clean<Value>, Trouble>;
    /// What is not remembered yet, and what bringing it in would cost. Changes nothing.
    fn sync_history(&self, asked: &SyncHistory) -> Result<Clean<Value>, Trouble>;
    /// How things are.
    fn status(&self) -> Result<Clean<Value>, Trouble>;
    /// What a session that starts in a project now would be given; empty where there is nothing to say. It comes
    /// in its fence.
    fn context(&self, project: &Place, call: &Call) -> Result<Clean<String>, Trouble>;
    /// The latest sessions of the project that one stands in, at most so many; of all where one stands in none.
    fn sessions(&self, most: usize) -> Result<Vec<SessionName>, Trouble>;
    /// The project that one stands in, where anything is known of it.
    fn project(&self) -> Result<Option<Project>, Trouble>;
    /// Text without what must not be shown.
    fn clean(&self, text: &str) -> Clean<String>;
    /// The time, and the user's time zone.
    fn now(&self) -> (Timestamp, TimeZone);
}

/// Why something could not be done, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// It failed.
    #[error("{message}")]
    Failed {
        /// What happened, in a sentence or two, advice included.
        message: String,
    },
    /// Nobody waits for it any more.
    #[error("the call was cancelled")]
    Cancelled,
}

impl Trouble {
    /// It failed, and this is why.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into() }
    }
}

/// Hears how far a call is.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// A call that goes on: somebody may be told how far it is, and may no longer wait for it.
#[derive(Clone)]
pub struct Call {
    tell: Option<Tell>,
    cancelled: Arc<AtomicBool>,
}

impl Call {
    /// A call that nobody watches.
    pub fn unwatched() -> Self {
        Self { tell: None, cancelled: Arc::default() }
    }

    /// A call whose progress is told by `tell`, where there is one, and that is over once `cancelled` is set.
    pub fn new(tell: Option<Tell>, cancelled: Arc<AtomicBool>) -> Self {
        Self { tell, cancelled }
    }

    /// Tells how far it is.
    pub fn tell(&self, message: &str) {
        if let Some(tell) = &self.tell {
            tell(message);
        }
    }

    /// Whether nobody waits for it any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The flag behind that, for work that looks at one.
    pub fn cancelled(&self) -> &AtomicBool {
        &self.cancelled
    }
}
