//! What is new in the memory since a caller last looked: for surfaces that stay open.
//!
//! It follows from the store alone, whichever process wrote it. A moment has a form as text, which a caller can keep and
//! bring back, even to a daemon that was started anew.

use std::fmt;
use std::fs::Metadata;
use std::str::FromStr;
use std::time::SystemTime;

use jiff::SignedDuration;
use serde::Serialize;
use thru_core::{Agent, SessionId, SessionKey, Timestamp};
use thru_store::{LastRows, Store};

use crate::app::App;
use crate::trouble::{Result, Trouble};

/// Sessions and memories told one by one; of more, only that there are many.
const MOST: usize = 200;

/// The time after which a write has a stamp of its own.
const SETTLED: SignedDuration = SignedDuration::from_secs(1);

/// A moment of the memory of one home.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    generation: String,
    rows: LastRows,
}

impl Moment {
    /// Reads the moment that it is in a store.
    pub(crate) fn of(store: &Store) -> Result<Self> {
        Ok(Self { generation: store.generation()?, rows: store.last_rows()? })
    }

    /// Returns the rows of the sessions whose memories were written since then; `None` if something was decided or told
    /// meanwhile, or it is another store.
    pub(crate) fn distilled_since(&self, store: &Store) -> Result<Option<Vec<i64>>> {
        let now = Self::of(store)?;
        let is_same =
            self.generation == now.generation && self.rows.operation == now.rows.operation;
        match is_same && self.rows.memory <= now.rows.memory {
            true => Ok(store.sessions_distilled_since(self.rows.memory)?.into_iter().collect()),
            false => Ok(None),
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LastRows { passage, memory, operation, injection, phase } = self.rows;
        write!(f, "{}-{passage}-{memory}-{operation}-{injection}-{phase}", self.generation)
    }
}

impl FromStr for Moment {
    type Err = Trouble;

    fn from_str(text: &str) -> Result<Self> {
        let invalid = || Trouble::invalid("that is no moment of a memory");
        let mut parts = text.rsplitn(6, '-');
        let mut row = || parts.next().and_then(|part| part.parse().ok()).ok_or_else(invalid);
        let (phase, injection, operation) = (row()?, row()?, row()?);
        let (memory, passage) = (row()?, row()?);
        let generation = parts.next().ok_or_else(invalid)?.to_owned();
        Ok(Self { generation, rows: LastRows { passage, memory, operation, injection, phase } })
    }
}

/// Something that is new: what to ask for, not what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Change {
    /// A session has new passages, or another phase.
    Session {
        /// The session.
        #[serde(flatten)]
        session: SessionChanged,
        /// True if it has new passages.
        has_grown: bool,
        /// The phase of its conversation, if that changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        state: Option<String>,
    },
    /// A memory was made, or made anew.
    Memory {
        /// Its id.
        id: String,
    },
    /// Something was decided: told, corrected, forgotten, taken back.
    Decision,
    /// A session was given something.
    Briefing(SessionChanged),
    /// Too much changed to tell, or it is another store: everything is to be asked for anew.
    Reset,
}

/// A session that something is new about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionChanged {
    /// Its agent.
    pub agent: Agent,
    /// Its id.
    pub id: SessionId,
}

impl From<SessionKey> for SessionChanged {
    fn from(key: SessionKey) -> Self {
        Self { agent: key.agent, id: key.id }
    }
}

/// The state of the store's files: it is the same only where nothing was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stamp([Option<(u64, Option<SystemTime>)>; 2]);

impl Stamp {
    /// Looks at the files, and does not open them.
    pub fn look(app: &App) -> Self {
        let database = app.layout.database();
        let stamp = |metadata: Metadata| (metadata.len(), metadata.modified().ok());
        let files = [database.with_extension("db-wal"), database];
        Self(files.map(|file| file.metadata().ok().map(stamp)))
    }

    /// Names what an answer of the store alone says now: otherwise after every write, and after a minute, for answers tell ages.
    /// `None` where nothing is written, and just after a write: another within the same tick of the file system's clock
    /// would leave the same stamp.
    pub fn name(&self, now: Timestamp) -> Option<String> {
        let mut name = (now.as_second() / 60).to_string();
        for (bytes, written) in self.0.iter().flatten() {
            let written = Timestamp::try_from((*written)?).ok()?;
            if now.duration_since(written) < SETTLED {
                return None;
            }
            name.push_str(&format!("-{bytes:x}-{:x}", written.as_nanosecond()));
        }
        self.0[1].map(|_| name)
    }
}

/// Returns the moment that it is now, and what is new since another; nothing since none.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn since(app: &App, moment: Option<&Moment>) -> Result<(Moment, Vec<Change>)> {
    let Some(store) = Store::open_if_there(&app.layout)? else {
        return Ok((Moment::default(), Vec::new()));
    };
    let _reading = store.snapshot()?;
    let now = Moment::of(&store)?;
    let Some(then) = moment.filter(|then| **then != now) else { return Ok((now, Vec::new())) };
    let is_ahead = then.rows.passage > now.rows.passage || then.rows.memory > now.rows.memory;
    if then.generation != now.generation || is_ahead {
        return Ok((now, vec![Change::Reset]));
    }
    let new = store.rows_since(then.rows, MOST + 1)?;
    if new.sessions.len() > MOST || new.memories.len() > MOST {
        return Ok((now, vec![Change::Reset]));
    }
    let sessions = new.sessions.into_iter().map(|news| Change::Session {
        session: news.key.into(),
        has_grown: news.has_grown,
        state: news.phase,
    });
    let memories = new.memories.into_iter().map(|id| Change::Memory { id: id.to_string() });
    let decisions = (new.operations > 0).then_some(Change::Decision);
    let given = new.given.into_iter().map(|key| Change::Briefing(key.into()));
    let changes = sessions.chain(memories).chain(decisions).chain(given);
    Ok((now, changes.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_can_be_kept_as_text() {
        let rows = LastRows { passage: 7, memory: 8, operation: 0, injection: 9, phase: 4 };
        let moment = Moment { generation: "k3f9a-x".to_owned(), rows };
        assert_eq!(moment.to_string().parse::<Moment>().unwrap(), moment);
        for wrong in ["", "k3f9a", "k3f9a-1-2-3-4", "k3f9a-1-2-3-4-x"] {
            assert!(wrong.parse::<Moment>().is_err(), "{wrong}");
        }
    }
}
