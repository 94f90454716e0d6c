//! The lifecycle of sessions, their episodes, and the sessions that have none.

use rusqlite::{Connection, Row, params_from_iter};
use thru_core::{Id, SessionId, SessionKey, Timestamp};
use thru_lifecycle::content::{Content, ContentHash};
use thru_lifecycle::conversation::{CLOCKS_DIFFER, Event};
use thru_lifecycle::{CloseReason, Conversation, Indexing, Limits};

use super::passages::time;
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;

/// A session as it was indexed: replaced only as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// Its id, derived from the session and its content.
    pub uuid: Id,
    /// The hash of the filtered conversation.
    pub content: ContentHash,
    /// The version of the filter.
    pub filter: u32,
    /// The number of its messages.
    pub messages: u64,
    /// The latest record in it.
    pub as_of: Option<Timestamp>,
    /// The time it was indexed.
    pub indexed: Timestamp,
    /// The reason for indexing it.
    pub reason: String,
    /// The time it was replaced.
    pub retired: Option<Timestamp>,
}

/// The lifecycle of a session, and the progress of its indexing.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionState {
    /// The row of the session.
    pub row: i64,
    /// Its agent and id.
    pub key: SessionKey,
    /// The reported events of its lifecycle.
    pub lifecycle: ReportedLifecycle,
    /// The hash and size of what was distilled.
    pub content: Option<Content>,
    /// True if part of it was not distilled yet.
    pub is_stale: bool,
    /// The state of its indexing.
    pub indexing: Indexing,
    /// Its current episode.
    pub episode: Option<Episode>,
}

/// The reported lifecycle of a session. Its state also depends on the time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportedLifecycle {
    /// The state by the reports of hooks and people.
    reported: Option<Conversation>,
    /// The times of the first and the last known record.
    records: Option<(Timestamp, Timestamp)>,
}

impl ReportedLifecycle {
    pub(super) fn new(
        reported: Option<&str>,
        first: Option<Timestamp>,
        last: Option<Timestamp>,
    ) -> Self {
        Self {
            reported: reported.and_then(|reported| serde_json::from_str(reported).ok()),
            records: last.map(|last| (first.unwrap_or(last), last)),
        }
    }

    /// Returns the time of the last known activity.
    pub fn last(&self) -> Option<Timestamp> {
        let reported = self.reported.as_ref().map(Conversation::last);
        reported.max(self.records.map(|(_, last)| last))
    }

    /// Returns the state of the conversation at a time; `None` if nothing was reported of it.
    pub fn at(&self, now: Timestamp, limits: &Limits) -> Option<Conversation> {
        // Reports from a clock that ran ahead lie in the future.
        let ahead = now.checked_add(CLOCKS_DIFFER).unwrap_or(now);
        let conversation = match (&self.reported, self.records) {
            // Hooks do not always run: the transcript may know more.
            (Some(reported), Some((_, last))) if last > reported.last() && last <= ahead => {
                Conversation::apply(Some(reported.clone()), Event::Activity, last, limits)
                    .conversation
            }
            // Hooks only reported its ends, but the transcript shows messages in between.
            (Some(reported), Some((first, last))) if !reported.is_listed() => {
                between(reported, first, last, limits)
            }
            (Some(reported), _) => reported.clone(),
            (None, Some((first, last))) => {
                let known = Conversation::from_record(first.min(now), last.min(now), 1, limits);
                match last > ahead {
                    // It is unknown whether the turn goes on.
                    true => {
                        Conversation::apply(Some(known), Event::Stopped, now, limits).conversation
                    }
                    false => known,
                }
            }
            (None, None) => return None,
        };
        Some(conversation.at(now, limits).conversation)
    }

    /// Returns the reason why the session may be indexed as it is; `None` while it goes on.
    pub fn left(&self, now: Timestamp, limits: &Limits) -> Option<CloseReason> {
        self.at(now, limits)?.left()
    }
}

/// Combines the start and end that hooks reported with the messages of the transcript.
fn between(
    reported: &Conversation,
    first: Timestamp,
    last: Timestamp,
    limits: &Limits,
) -> Conversation {
    let last = last.min(reported.last());
    let said = Conversation::from_record(first.min(last), last, 1, limits);
    let end = reported.ended().and_then(|close| match &close.reason {
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

pub(crate) fn session_state_of(
    connection: &Connection,
    session: i64,
) -> Result<Option<SessionState>> {
    let found = connection.find(
        "SELECT agent, session, conversation, started, ended, content, messages, indexing, stale
         FROM sessions WHERE id = ?1",
        [session],
        |row| {
            let content: Option<[u8; 32]> = row.get(5)?;
            let messages = row.get::<_, i64>(6)?.cast_unsigned();
            let reported: Option<String> = row.get(2)?;
            Ok(SessionState {
                row: session,
                key: SessionKey {
                    agent: super::agent(row, 0)?,
                    id: SessionId::new(row.get::<_, String>(1)?),
                },
                lifecycle: ReportedLifecycle::new(
                    reported.as_deref(),
                    time(row, 3)?,
                    time(row, 4)?,
                ),
                content: content
                    .map(|hash| Content { hash: ContentHash::from_bytes(hash), messages }),
                is_stale: row.get(8)?,
                indexing: Indexing::from_code(row.get(7)?).unwrap_or(Indexing::Unindexed),
                episode: None,
            })
        },
    )?;
    let Some(state) = found else { return Ok(None) };
    Ok(Some(SessionState { episode: current_episode(connection, session)?, ..state }))
}

pub(crate) fn current_episode(connection: &Connection, session: i64) -> Result<Option<Episode>> {
    connection.find(
        &format!("{EPISODE} WHERE session = ?1 AND retired IS NULL"),
        [session],
        episode,
    )
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
    /// Returns the lifecycle of a session and its current episode.
    pub fn session_state(&self, session: i64) -> Result<Option<SessionState>> {
        session_state_of(&self.connection, session)
    }

    /// Returns the session that was indexed as this episode, if it still is.
    pub fn session_of_episode(&self, uuid: &Id) -> Result<Option<i64>> {
        let sql = "SELECT session FROM episodes WHERE uuid = ?1 AND retired IS NULL";
        self.find(sql, [uuid.as_bytes()], |row| row.get(0))
    }

    /// Returns the current and retired episodes of a session, latest first.
    pub fn episodes(&self, session: i64) -> Result<Vec<Episode>> {
        self.select(
            &format!(
                "{EPISODE} WHERE session = ?1 ORDER BY retired IS NOT NULL, indexed DESC, uuid"
            ),
            [session],
            episode,
        )
    }

    /// Returns the sessions of these projects (of all projects if `None`) that have content to index
    /// and are not indexed, latest first. The caller checks whether they were left.
    pub fn unindexed_sessions(
        &self,
        projects: Option<&[i64]>,
        limit: usize,
    ) -> Result<Vec<SessionState>> {
        // Sessions that are not indexed are few: they are found by that, and not by the project.
        let places = projects.map_or_else(String::new, |projects| {
            format!("AND +project IN ({})", super::in_list(projects.len()))
        });
        let sql = format!(
            "SELECT id FROM sessions WHERE indexing <> 2 AND ended IS NOT NULL {places}
             AND EXISTS (SELECT 1 FROM passages WHERE session = sessions.id)
             ORDER BY ended DESC, session LIMIT ?"
        );
        let parameters = projects.unwrap_or_default().iter().copied().chain([limit as i64]);
        let rows: Vec<i64> = self.select(&sql, params_from_iter(parameters), |row| row.get(0))?;
        let states = rows.into_iter().map(|row| self.session_state(row));
        states.filter_map(Result::transpose).collect()
    }

    /// Returns the sessions whose state has changed by the passage of time alone.
    pub fn sessions_due(&self, now: Timestamp) -> Result<Vec<i64>> {
        self.select(
            "SELECT id FROM sessions WHERE due <= ?1 ORDER BY due",
            [now.as_millisecond()],
            |row| row.get(0),
        )
    }

    /// Returns the time of the next due work: a session becomes idle or ends, or a failed job is
    /// retried.
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
