//! The courses of sessions, what they are indexed as, and which of them are not.

use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};
use thru_core::{Id, SessionId, SessionKey, Timestamp};
use thru_lifecycle::content::{Content, ContentHash};
use thru_lifecycle::conversation::{CLOCKS_DIFFER, Event};
use thru_lifecycle::{CloseReason, Conversation, Indexing, Limits};

use super::passages::time;
use crate::error::Result;
use crate::store::Store;

/// A session as it was indexed: a whole, replaced as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// Its id, made of the session and its content.
    pub uuid: Id,
    /// The hash of the filtered conversation.
    pub content: ContentHash,
    /// The version of the filter.
    pub filter: u32,
    /// How many messages it has.
    pub messages: u64,
    /// The latest record in it.
    pub as_of: Option<Timestamp>,
    /// When it was made.
    pub indexed: Timestamp,
    /// What for.
    pub reason: String,
    /// When it was replaced.
    pub retired: Option<Timestamp>,
}

/// The course of a session, and our work on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// The row of the session.
    pub row: i64,
    /// Which session.
    pub key: SessionKey,
    /// What was heard of its course.
    pub heard: Heard,
    /// What of it was distilled.
    pub content: Option<Content>,
    /// Whether something of it was not distilled yet.
    pub is_stale: bool,
    /// How far our work on it is.
    pub indexing: Indexing,
    /// What it is indexed as.
    pub episode: Option<Episode>,
}

/// What was heard of the course of a session. Where it stands depends on the time, too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    /// As hooks and people told it.
    told: Option<Conversation>,
    /// The first and the last record of all that is known.
    records: Option<(Timestamp, Timestamp)>,
}

impl Heard {
    pub(super) fn new(
        told: Option<&str>,
        first: Option<Timestamp>,
        last: Option<Timestamp>,
    ) -> Self {
        Self {
            told: told.and_then(|told| serde_json::from_str(told).ok()),
            records: last.map(|last| (first.unwrap_or(last), last)),
        }
    }

    /// When something last happened in it, as far as anybody knows.
    pub fn last(&self) -> Option<Timestamp> {
        let told = self.told.as_ref().map(Conversation::last);
        told.max(self.records.map(|(_, last)| last))
    }

    /// Where the conversation stands at a time; nothing where nothing was heard of it.
    pub fn at(&self, now: Timestamp, limits: &Limits) -> Option<Conversation> {
        // What a clock that ran ahead said is yet to come.
        let ahead = now.checked_add(CLOCKS_DIFFER).unwrap_or(now);
        let heard = match (&self.told, self.records) {
            // Hooks do not always run: the transcript may know more.
            (Some(told), Some((_, last))) if last > told.last() && last <= ahead => {
                Conversation::apply(Some(told.clone()), Event::Activity, last, limits).conversation
            }
            // Hooks told of its ends alone; something was said in between all the same.
            (Some(told), Some((first, last))) if !told.is_listed() => {
                between(told, first, last, limits)
            }
            (Some(told), _) => told.clone(),
            (None, Some((first, last))) => {
                let known = Conversation::from_record(first.min(now), last.min(now), 1, limits);
                match last > ahead {
                    // Nobody knows whether its turn goes on.
                    true => {
                        Conversation::apply(Some(known), Event::Stopped, now, limits).conversation
                    }
                    false => known,
                }
            }
            (None, None) => return None,
        };
        Some(heard.at(now, limits).conversation)
    }

    /// Why the session may be indexed as it is; nothing while it goes on.
    pub fn left(&self, now: Timestamp, limits: &Limits) -> Option<CloseReason> {
        self.at(now, limits)?.left()
    }
}

/// A conversation of which hooks told how it began and ended, and only the transcript what was said.
fn between(
    told: &Conversation,
    first: Timestamp,
    last: Timestamp,
    limits: &Limits,
) -> Conversation {
    let last = last.min(told.last());
    let said = Conversation::from_record(first.min(last), last, 1, limits);
    let end = told.ended().and_then(|close| match &close.reason {
        CloseReason::Agent(reason) => Some((Event::Ended(reason.clone()), close.at)),
        CloseReason::Asked(reason) => Some((Event::Closed(reason.clone()), close.at)),
        CloseReason::Left => Some((Event::Left, close.at)),
        CloseReason::Inactivity | CloseReason::MaxDuration => None,
    });
    match end {
        Some((event, at)) => Conversation::apply(Some(said), event, at, limits).conversation,
        None => said,
    }
}

pub(crate) fn course_of(connection: &Connection, session: i64) -> Result<Option<Course>> {
    let found = connection
        .prepare_cached(
            "SELECT agent, session, conversation, started, ended, content, messages, indexing, stale
             FROM sessions WHERE id = ?1",
        )?
        .query_row([session], |row| {
            let content: Option<[u8; 32]> = row.get(5)?;
            let messages = row.get::<_, i64>(6)?.cast_unsigned();
            let told: Option<String> = row.get(2)?;
            Ok(Course {
                row: session,
                key: SessionKey {
                    agent: super::agent(row, 0)?,
                    id: SessionId::new(row.get::<_, String>(1)?),
                },
                heard: Heard::new(told.as_deref(), time(row, 3)?, time(row, 4)?),
                content: content
                    .map(|hash| Content { hash: ContentHash::from_bytes(hash), messages }),
                is_stale: row.get(8)?,
                indexing: Indexing::from_code(row.get(7)?).unwrap_or(Indexing::Unindexed),
                episode: None,
            })
        })
        .optional()?;
    let Some(course) = found else { return Ok(None) };
    Ok(Some(Course { episode: current_episode(connection, session)?, ..course }))
}

pub(crate) fn current_episode(connection: &Connection, session: i64) -> Result<Option<Episode>> {
    Ok(connection
        .prepare_cached(&format!("{EPISODE} WHERE session = ?1 AND retired IS NULL"))?
        .query_row([session], episode)
        .optional()?)
}

const EPISODE: &str =
    "SELECT uuid, content, filter, messages, as_of, indexed, reason, retired FROM episodes";

fn episode(row: &Row<'_>) -> rusqlite::Result<Episode> {
    Ok(Episode {
        uuid: Id::from_bytes(row.get(0)?),
        content: ContentHash::from_bytes(row.get(1)?),
        filter: row.get(2)?,
        messages: row.get::<_, i64>(3)?.cast_unsigned(),
        as_of: time(row, 4)?,
        indexed: time(row, 5)?.unwrap_or_default(),
        reason: row.get(6)?,
        retired: time(row, 7)?,
    })
}

impl Store {
    /// The course of a session, and what it is indexed as.
    pub fn course(&self, session: i64) -> Result<Option<Course>> {
        course_of(&self.connection, session)
    }

    /// What a session is and was indexed as, the latest first.
    pub fn episodes(&self, session: i64) -> Result<Vec<Episode>> {
        let mut statement = self.connection.prepare_cached(&format!(
            "{EPISODE} WHERE session = ?1 ORDER BY retired IS NOT NULL, indexed DESC, uuid"
        ))?;
        let rows = statement.query_map([session], episode)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Sessions of these projects (all where there are none named) that have something to be indexed
    /// and are not, the latest first. Whether they were left is for the caller to see.
    pub fn unindexed_sessions(
        &self,
        projects: Option<&[i64]>,
        limit: usize,
    ) -> Result<Vec<Course>> {
        let places = projects.map_or_else(String::new, |projects| {
            format!("AND project IN ({})", super::in_list(projects.len()))
        });
        let sql = format!(
            "SELECT id FROM sessions WHERE indexing <> 2 AND ended IS NOT NULL {places}
             AND EXISTS (SELECT 1 FROM passages WHERE session = sessions.id)
             ORDER BY ended DESC, session LIMIT ?"
        );
        let parameters = projects.unwrap_or_default().iter().copied().chain([limit as i64]);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement
            .query_map(params_from_iter(parameters), |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<i64>>>()?;
        let courses = rows.into_iter().map(|row| self.course(row));
        courses.filter_map(Result::transpose).collect()
    }

    /// Sessions that time alone has changed.
    pub fn sessions_due(&self, now: Timestamp) -> Result<Vec<i64>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM sessions WHERE due <= ?1 ORDER BY due")?;
        let rows = statement.query_map([now.as_millisecond()], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// When there is something to do by itself next: a session is idle or over, or work that failed is to
    /// be tried again.
    pub fn next_due(&self) -> Result<Option<Timestamp>> {
        let next: Option<i64> = self.connection.query_row(
            "SELECT min(due) FROM (SELECT min(due) AS due FROM sessions WHERE due IS NOT NULL
                 UNION ALL SELECT min(due) FROM jobs WHERE dead = 0 AND kind = 'index')",
            [],
            |row| row.get(0),
        )?;
        Ok(next.and_then(|next| Timestamp::from_millisecond(next).ok()))
    }
}
