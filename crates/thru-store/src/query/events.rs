//! Events that hooks recorded, and injections into sessions.

use rusqlite::{Row, params_from_iter};
use thru_core::{Id, SessionId, SessionKey, Timestamp};

use super::passages::time;
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;

/// An event of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// The row of its session.
    pub session: i64,
    /// The name of the event, the same for all agents.
    pub event: String,
    /// Its time.
    pub at: Option<Timestamp>,
    /// The number of the prompt in the session, as counted by hooks.
    pub prompt: Option<u32>,
    /// The tool that ran.
    pub tool: Option<String>,
    /// Further details, as JSON.
    pub detail: String,
    /// The fingerprint of its passage, if it may be one.
    pub fingerprint: Option<u64>,
}

/// An injection of memories into a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectionRow {
    /// The row of the session.
    pub session: i64,
    /// Its time.
    pub at: Option<Timestamp>,
    /// The occasion.
    pub occasion: String,
    /// Tokens (estimated).
    pub tokens: u64,
    /// The memories and the reason for each, in order.
    pub memories: Vec<(Id, String)>,
}

/// Something that a session did later: a command, or a file that it worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaterUse {
    /// Its time.
    pub at: Option<Timestamp>,
    /// The command line or the path.
    pub text: String,
}

impl Store {
    /// Returns the last events of a session, oldest first.
    pub fn events_of_session(&self, session: i64, limit: usize) -> Result<Vec<EventRow>> {
        self.select(
            "SELECT * FROM (SELECT session, event, at, prompt, tool, detail, fingerprint, id
             FROM events WHERE session = ?1 ORDER BY at DESC, id DESC LIMIT ?2) ORDER BY at, id",
            (session, limit as i64),
            event,
        )
    }

    /// Returns the sessions that hooks reported since a time, with the reported paths of their
    /// transcripts; only those of these projects, if any are given.
    pub fn recorded_transcripts(
        &self,
        since: Timestamp,
        projects: Option<&[i64]>,
    ) -> Result<Vec<(SessionKey, String)>> {
        let of = projects.map_or_else(String::new, |projects| {
            format!("AND s.project IN ({})", super::in_list(projects.len()))
        });
        // Sessions first, and by their ends: the recent ones are few, and their sources are many and
        // large. Of some there is only the report of their start: no activity in them is known yet.
        let since = since.as_millisecond();
        let projects = projects.unwrap_or_default().iter().copied();
        let parameters = [since, since].into_iter().chain(projects);
        self.select(
            &format!(
                "SELECT s.agent, s.session, f.path
             FROM sessions s CROSS JOIN sources f ON f.session = s.id
             WHERE s.id IN (SELECT id FROM sessions WHERE ended >= ?
                            UNION ALL SELECT id FROM sessions WHERE ended IS NULL)
                 AND f.kind = 'hooks' AND f.path <> ''
                 AND (s.ended IS NOT NULL OR
                     EXISTS (SELECT 1 FROM events WHERE session = s.id AND at >= ?)) {of}
             ORDER BY s.ended",
            ),
            params_from_iter(parameters),
            |row| {
                let id = SessionId::new(row.get::<_, String>(1)?);
                Ok((SessionKey { agent: super::agent(row, 0)?, id }, row.get(2)?))
            },
        )
    }

    /// Returns the injections since a time, oldest first.
    pub fn injections(&self, since: Option<Timestamp>) -> Result<Vec<InjectionRow>> {
        let since = since.map_or(i64::MIN, Timestamp::as_millisecond);
        let mut statement = self.connection.prepare_cached(
            "SELECT id, session, at, occasion, tokens FROM injections WHERE at >= ?1
             ORDER BY at, id",
        )?;
        let mut memories = self.connection.prepare_cached(
            "SELECT memory, reason FROM injected_memories WHERE injection = ?1 ORDER BY place",
        )?;
        let rows = statement
            .query_map([since], |row| {
                let injection = InjectionRow {
                    session: row.get(1)?,
                    at: time(row, 2)?,
                    occasion: row.get(3)?,
                    tokens: row.get::<_, i64>(4)?.cast_unsigned(),
                    memories: Vec::new(),
                };
                Ok((row.get::<_, i64>(0)?, injection))
            })?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        rows.into_iter()
            .map(|(id, mut injection)| {
                injection.memories = memories
                    .query_map([id], |row| Ok((Id::from_bytes(row.get(0)?), row.get(1)?)))?
                    .collect::<rusqlite::Result<_>>()?;
                Ok(injection)
            })
            .collect()
    }

    /// Returns the command lines of a session that contain a word.
    pub fn commands_with(&self, session: i64, word: &str) -> Result<Vec<LaterUse>> {
        self.uses(
            "SELECT at, command FROM passages
             WHERE session = ?1 AND command IS NOT NULL AND instr(command, ?2) > 0",
            (session, word),
        )
    }

    /// Returns the files that a session worked on, one entry for each time.
    pub fn touches_in_time(&self, session: i64) -> Result<Vec<LaterUse>> {
        self.uses(
            "SELECT p.at, f.path FROM passages p JOIN touches t ON t.row = p.row
             JOIN files f ON f.id = t.file WHERE p.session = ?1",
            [session],
        )
    }

    fn uses(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<Vec<LaterUse>> {
        self.select(sql, parameters, |row| Ok(LaterUse { at: time(row, 0)?, text: row.get(1)? }))
    }
}

fn event(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    Ok(EventRow {
        session: row.get(0)?,
        event: row.get(1)?,
        at: time(row, 2)?,
        prompt: row.get(3)?,
        tool: row.get(4)?,
        detail: row.get(5)?,
        fingerprint: row.get::<_, Option<i64>>(6)?.map(i64::cast_unsigned),
    })
}
