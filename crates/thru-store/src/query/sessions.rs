//! Sessions and their properties as a whole.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params_from_iter};
use thru_core::{
    Agent, Id, ProjectKey, SeenCommit, SessionFacts, SessionId, SessionKey, Timestamp,
};
use thru_lifecycle::Indexing;

use super::episodes::ReportedLifecycle;
use super::passages::time;
use super::projects::SHARED_NAME;
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;

/// One session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    /// Its row.
    pub row: i64,
    /// Its agent, and its id there.
    pub key: SessionKey,
    /// The row of its project.
    pub project: Option<i64>,
    /// The name of its project.
    pub project_name: Option<String>,
    /// The key of its project, where another one has the same name.
    pub project_key: Option<ProjectKey>,
    /// Its title.
    pub title: Option<String>,
    /// The time of its earliest record.
    pub started: Option<Timestamp>,
    /// The time of its latest record.
    pub ended: Option<Timestamp>,
    /// The number of its turns.
    pub turns: u32,
    /// The number of its passages.
    pub passages: u64,
    /// The facts that the reader found.
    pub facts: SessionFacts,
    /// The reported events of its lifecycle.
    pub lifecycle: ReportedLifecycle,
    /// The state of its indexing.
    pub indexing: Indexing,
    /// The id of its current episode.
    pub episode: Option<Id>,
}

/// The working directory and branch of a session, without the rest of its row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPlace {
    /// The directory that it started in.
    pub directory: Option<String>,
    /// The branch that was checked out last.
    pub branch: Option<String>,
    /// The time of its latest record.
    pub ended: Option<Timestamp>,
}

/// A session with a working directory and a span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedSession {
    /// Its row.
    pub row: i64,
    /// Its agent, and its id there.
    pub key: SessionKey,
    /// The directory that it started in.
    pub directory: String,
    /// The branch that was checked out last.
    pub branch: Option<String>,
    /// The time of its earliest record.
    pub started: Timestamp,
    /// The time of its latest record.
    pub ended: Timestamp,
    /// True if it has to be distilled.
    pub is_stale: bool,
}

/// A filter of sessions. By default all of them are listed.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Rows of projects.
    pub projects: Option<Vec<i64>>,
    /// Of these agents.
    pub agents: Option<Vec<Agent>>,
    /// A prefix of the session's id.
    pub id_prefix: Option<String>,
    /// Rows of sessions.
    pub rows: Option<Vec<i64>>,
    /// Only sessions with activity at or after this time.
    pub since: Option<Timestamp>,
    /// Only sessions that began before this time.
    pub until: Option<Timestamp>,
    /// Only those that follow this one.
    pub after: Option<(Option<Timestamp>, SessionId)>,
    /// At most this many, latest first.
    pub limit: Option<usize>,
}

/// The project and agent of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionBelonging {
    /// The row of its project; 0 if it has none.
    pub(crate) project: i64,
    /// Its agent.
    pub(crate) agent: Agent,
}

impl Store {
    /// Lists sessions that have a passage, latest first.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>> {
        let mut conditions =
            vec!["EXISTS (SELECT 1 FROM passages WHERE session = s.id)".to_owned()];
        let mut parameters: Vec<Value> = Vec::new();
        for (column, rows) in [("s.project", &filter.projects), ("s.id", &filter.rows)] {
            if let Some(rows) = rows {
                conditions.push(format!("{column} IN ({})", super::in_list(rows.len())));
                parameters.extend(rows.iter().map(|row| Value::from(*row)));
            }
        }
        if let Some(agents) = &filter.agents {
            conditions.push(format!("s.agent IN ({})", super::in_list(agents.len())));
            parameters.extend(agents.iter().map(|agent| Value::from(agent.as_str().to_owned())));
        }
        if let Some(prefix) = &filter.id_prefix {
            // As a range, which an index supports.
            conditions.push("s.session >= ? AND s.session < ?".to_owned());
            parameters.push(Value::from(prefix.clone()));
            parameters.push(Value::from(format!("{prefix}\u{10ffff}")));
        }
        for (condition, time) in [("s.ended >= ?", filter.since), ("s.started < ?", filter.until)] {
            if let Some(time) = time {
                conditions.push(condition.to_owned());
                parameters.push(Value::from(time.as_millisecond()));
            }
        }
        if let Some((ended, id)) = &filter.after {
            let ended = Value::from(ended.map_or(i64::MIN, Timestamp::as_millisecond));
            let column = format!("coalesce(s.ended, {})", i64::MIN);
            conditions.push(format!("({column} < ? OR {column} = ? AND s.session > ?)"));
            parameters.extend([ended.clone(), ended, Value::from(id.as_str().to_owned())]);
        }
        parameters.push(Value::from(filter.limit.map_or(-1, |limit| limit as i64)));
        // Counted per listed session through an index, not for the whole table.
        let sql = format!(
            "SELECT s.id, s.agent, s.session, s.project, coalesce(m.name, p.name), s.title,
                    s.started, s.ended, s.facts,
                    (SELECT max(turn) FROM passages WHERE session = s.id),
                    (SELECT count(*) FROM passages WHERE session = s.id),
                    s.conversation, s.indexing, e.uuid,
                    CASE WHEN {SHARED_NAME} THEN coalesce(m.key, p.key) END
             FROM sessions s
             LEFT JOIN episodes e ON e.session = s.id AND e.retired IS NULL
             LEFT JOIN projects p ON p.id = s.project
             LEFT JOIN projects m ON m.id = p.merged_into
             WHERE {conditions} ORDER BY s.ended DESC, s.session LIMIT ?",
            conditions = conditions.join(" AND ")
        );
        self.select(&sql, params_from_iter(parameters), session)
    }

    /// Returns the session of a row, if it has a passage.
    pub fn session(&self, row: i64) -> Result<Option<SessionRow>> {
        let filter = SessionFilter { rows: Some(vec![row]), ..SessionFilter::default() };
        Ok(self.sessions(&filter)?.pop())
    }

    /// Returns the working directories of sessions by their rows: cheap, while [`Store::sessions`]
    /// counts.
    pub fn places_of_sessions(&self, rows: &[i64]) -> Result<HashMap<i64, SessionPlace>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT facts ->> '$.directory', facts ->> '$.branch', ended FROM sessions WHERE id = ?1",
        )?;
        let mut places = HashMap::new();
        for row in rows {
            let place = statement
                .query_row([row], |row| {
                    Ok(SessionPlace {
                        directory: row.get(0)?,
                        branch: row.get(1)?,
                        ended: time(row, 2)?,
                    })
                })
                .optional()?;
            places.extend(place.map(|place| (*row, place)));
        }
        Ok(places)
    }

    /// Lists the sessions whose directory and time are known: those that have to be distilled, those that ended since this
    /// time, and all later than the earliest of them.
    pub fn timed_sessions(&self, since: Timestamp) -> Result<Vec<TimedSession>> {
        // By indexes only: there may be tens of thousands of sessions, and few are this late.
        self.select(
            "SELECT id, agent, session, facts ->> '$.directory', facts ->> '$.branch', started, ended, stale
             FROM sessions INDEXED BY sessions_by_end
             WHERE facts ->> '$.directory' IS NOT NULL AND started IS NOT NULL
                 AND ended >= (SELECT min(started) FROM
                     (SELECT started FROM sessions WHERE stale = 1
                      UNION ALL SELECT started FROM sessions WHERE ended >= ?1))
             ORDER BY id",
            [since.as_millisecond()],
            |row| {
                        Ok(TimedSession {
                            row: row.get(0)?,
                            key: SessionKey {
                                agent: super::agent(row, 1)?,
                                id: SessionId::new(row.get::<_, String>(2)?),
                            },
                            directory: row.get(3)?,
                            branch: row.get(4)?,
                            started: time(row, 5)?.unwrap_or_default(),
                            ended: time(row, 6)?.unwrap_or_default(),
                            is_stale: row.get(7)?,
                        })
                    },
        )
    }

    /// Returns the commits that repositories told of in the time of a session, earliest first.
    pub fn seen_commits(&self, session: i64) -> Result<Vec<SeenCommit>> {
        self.select(
            "SELECT at, hash, subject FROM commits WHERE session = ?1 ORDER BY at, hash",
            [session],
            |row| {
                Ok(SeenCommit {
                    at: time(row, 0)?.unwrap_or_default(),
                    hash: row.get(1)?,
                    subject: row.get(2)?,
                })
            },
        )
    }

    /// Returns the row of a session, even if it has no passage.
    pub fn session_by_key(&self, key: &SessionKey) -> Result<Option<i64>> {
        self.find(
            "SELECT id FROM sessions WHERE agent = ?1 AND session = ?2",
            (key.agent.as_str(), key.id.as_str()),
            |row| row.get(0),
        )
    }

    /// Returns the agent and the id of the session of a row.
    pub fn session_key(&self, row: i64) -> Result<Option<SessionKey>> {
        self.find("SELECT agent, session FROM sessions WHERE id = ?1", [row], |row| {
            let id = SessionId::new(row.get::<_, String>(1)?);
            Ok(SessionKey { agent: super::agent(row, 0)?, id })
        })
    }

    /// Returns the project and agent of a session, as the index needs them.
    pub(crate) fn belonging_of_session(&self, session: i64) -> Result<SessionBelonging> {
        let row =
            self.one("SELECT project, agent FROM sessions WHERE id = ?1", [session], |row| {
                let project: Option<i64> = row.get(0)?;
                Ok(SessionBelonging { project: project.unwrap_or(0), agent: super::agent(row, 1)? })
            })?;
        Ok(row)
    }

    /// Returns the key of the project that a session counts as, if it has one.
    pub fn project_key_of_session(&self, session: i64) -> Result<Option<ProjectKey>> {
        let key: Option<String> = self.find(
            "SELECT q.key FROM sessions s JOIN projects p ON p.id = s.project
             JOIN projects q ON q.id = coalesce(p.merged_into, p.id) WHERE s.id = ?1",
            [session],
            |row| row.get(0),
        )?;
        Ok(key.map(ProjectKey::from_stored))
    }
}

fn session(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let facts: String = row.get(8)?;
    let (started, ended) = (time(row, 6)?, time(row, 7)?);
    let reported: Option<String> = row.get(11)?;
    Ok(SessionRow {
        row: row.get(0)?,
        key: SessionKey {
            agent: super::agent(row, 1)?,
            id: SessionId::new(row.get::<_, String>(2)?),
        },
        project: row.get(3)?,
        project_name: row.get(4)?,
        title: row.get(5)?,
        started,
        ended,
        facts: serde_json::from_str(&facts).unwrap_or_default(),
        turns: row.get::<_, Option<u32>>(9)?.unwrap_or(0),
        passages: row.get(10)?,
        lifecycle: ReportedLifecycle::new(reported.as_deref(), started, ended),
        indexing: Indexing::from_code(row.get(12)?).unwrap_or(Indexing::Unindexed),
        episode: row.get::<_, Option<_>>(13)?.map(Id::from_bytes),
        project_key: row.get::<_, Option<String>>(14)?.map(ProjectKey::from_stored),
    })
}
