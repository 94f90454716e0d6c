//! Questions to models, their costs and their results.

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use thru_core::{Id, Made, MemoryKind, Micros, SessionId, SessionKey, Spent, Timestamp};
use thru_lifecycle::content::ContentHash;

use super::memories::MemoryRow;
use super::passages::time;
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;
use crate::write::Fate;

/// The result of a model about a turn, or about a session as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefinementRow {
    /// The key of the journal's record.
    pub key: String,
    /// True if it is about the session as a whole.
    pub is_whole: bool,
    /// The content that it is about: it is valid for that content only.
    pub content: ContentHash,
    /// The time it was made.
    pub at: Timestamp,
    /// All of it, as JSON.
    pub body: String,
}

/// A turn, reduced to what is needed to ask a model about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// The row of its session.
    pub session: i64,
    /// The agent and id of its session.
    pub key: SessionKey,
    /// Its number.
    pub turn: u32,
    /// The hash of its filtered messages.
    pub content: ContentHash,
    /// The number of its filtered messages.
    pub messages: u64,
    /// Tokens (estimated) of its passages.
    pub tokens: u64,
    /// The time of its latest record.
    pub at: Option<Timestamp>,
    /// True if a model has refined its current content.
    pub is_refined: bool,
}

/// A filter of turns. By default all of them are read.
#[derive(Clone, Debug, Default)]
pub struct TurnFilter {
    /// Of sessions of these projects.
    pub projects: Option<Vec<i64>>,
    /// Of this session.
    pub session: Option<i64>,
    /// At or after this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
}

/// A filter of spending. By default all of it is added up.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpendingFilter<'a> {
    /// At or after this time.
    pub since: Option<Timestamp>,
    /// For sessions of this project, by its key.
    pub project: Option<&'a str>,
}

/// The spending on one model for one purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendingRow {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The purpose of the questions.
    pub purpose: String,
    /// The outcome of the questions.
    pub fate: Fate,
    /// The number of questions.
    pub questions: u64,
    /// Their cost; where it is unknown, the maximum that they may have cost.
    pub spent: Spent,
}

impl Store {
    /// Returns the refinements of a session, earliest first.
    pub fn refinements(&self, session: i64) -> Result<Vec<RefinementRow>> {
        self.select(
            "SELECT key, whole, content, at, body FROM refinements WHERE session = ?1
             ORDER BY at, key",
            [session],
            |row| {
                Ok(RefinementRow {
                    key: row.get(0)?,
                    is_whole: row.get(1)?,
                    content: ContentHash::from_bytes(row.get(2)?),
                    at: time(row, 3)?.unwrap_or_default(),
                    body: row.get(4)?,
                })
            },
        )
    }

    /// Returns true if a model has told of a session as a whole.
    pub fn is_refined(&self, session: i64) -> Result<bool> {
        self.exists("SELECT 1 FROM refinements WHERE session = ?1 AND whole", [session])
    }

    /// Returns an earlier refinement of exactly this input. The caller checks the session that it was
    /// made for.
    pub fn refinement_of_input(&self, input: &Id) -> Result<Option<String>> {
        self.find(
            "SELECT body FROM refinements WHERE input = ?1 ORDER BY at DESC LIMIT 1",
            [input.as_bytes()],
            |row| row.get(0),
        )
    }

    /// Returns the hash of a turn as it was distilled.
    pub fn turn_content(&self, session: i64, turn: u32) -> Result<Option<ContentHash>> {
        self.find(
            "SELECT content FROM turns WHERE session = ?1 AND turn = ?2",
            (session, turn),
            |row| Ok(ContentHash::from_bytes(row.get(0)?)),
        )
    }

    /// Returns turns, latest first.
    pub fn turns(&self, filter: &TurnFilter) -> Result<Vec<TurnRow>> {
        let mut conditions = vec!["1".to_owned()];
        let mut parameters: Vec<Value> = Vec::new();
        if let Some(projects) = &filter.projects {
            conditions.push(format!("s.project IN ({})", super::in_list(projects.len())));
            parameters.extend(projects.iter().map(|row| Value::from(*row)));
        }
        if let Some(session) = filter.session {
            conditions.push("t.session = ?".to_owned());
            parameters.push(Value::from(session));
        }
        for (condition, time) in [("t.at >= ?", filter.since), ("t.at < ?", filter.until)] {
            if let Some(time) = time {
                conditions.push(condition.to_owned());
                parameters.push(Value::from(time.as_millisecond()));
            }
        }
        self.select(
            &format!(
            "SELECT t.session, s.agent, s.session, t.turn, t.content, t.messages, t.tokens, t.at,
                 EXISTS (SELECT 1 FROM refinements r WHERE r.session = t.session AND r.whole = 0
                         AND r.content = t.content)
             FROM turns t JOIN sessions s ON s.id = t.session WHERE {}
             ORDER BY t.at DESC, t.session, t.turn DESC",
            conditions.join(" AND ")
        ),
            params_from_iter(parameters),
            turn,
        )
    }

    /// Returns the sum of what was spent, including the maximum for questions of unknown cost.
    pub fn spent(&self, filter: SpendingFilter<'_>) -> Result<Spent> {
        let rows = self.spending(filter)?;
        Ok(rows.into_iter().fold(Spent::default(), |sum, row| sum.plus(row.spent)))
    }

    /// Returns the spending by provider, model, purpose and outcome.
    pub fn spending(&self, filter: SpendingFilter<'_>) -> Result<Vec<SpendingRow>> {
        let since = filter.since.map_or(i64::MIN, Timestamp::as_millisecond);
        self.select(
            "SELECT provider, model, purpose, state, count(*), sum(input), sum(output), sum(cost)
             FROM spending WHERE at >= ?1 AND (?2 IS NULL OR project = ?2)
             GROUP BY provider, model, purpose, state ORDER BY provider, model, purpose, state",
            (since, filter.project),
            |row| {
                let number =
                    |column| Ok::<_, rusqlite::Error>(row.get::<_, i64>(column)?.max(0) as u64);
                Ok(SpendingRow {
                    provider: row.get(0)?,
                    model: row.get(1)?,
                    purpose: row.get(2)?,
                    fate: Fate::from_code(row.get(3)?),
                    questions: number(4)?,
                    spent: Spent {
                        input: number(5)?,
                        output: number(6)?,
                        cost: row.get::<_, Option<i64>>(7)?.map(|cost| Micros(cost.max(0) as u64)),
                    },
                })
            },
        )
    }

    /// True if something was delivered.
    pub fn is_delivered(&self, key: &Id) -> Result<bool> {
        self.exists("SELECT 1 FROM deliveries WHERE key = ?1", [key.as_bytes()])
    }

    /// Returns how a model made a memory; `None` if it was not made by a model.
    pub fn made(&self, memory: &MemoryRow) -> Result<Option<Made>> {
        let Some(session) = memory.session.filter(|_| memory.flags.is_refined) else {
            return Ok(None);
        };
        let is_whole = memory.kind == MemoryKind::Summary;
        // Both take the same parameters.
        let of = match is_whole {
            true => "SELECT content FROM sessions WHERE id = ?1 AND ?3 = ?3",
            false => "SELECT content FROM turns WHERE session = ?1 AND turn = ?3",
        };
        let body: Option<String> = self.find(
            &format!(
                "SELECT body FROM refinements WHERE session = ?1 AND whole = ?2
                     AND content = ({of}) ORDER BY at DESC, key DESC LIMIT 1"
            ),
            (session, is_whole, memory.turn),
            |row| row.get(0),
        )?;
        Ok(body.and_then(|body| {
            let mut body: serde_json::Value = serde_json::from_str(&body).ok()?;
            serde_json::from_value(body["made"].take()).ok()
        }))
    }
}

fn turn(row: &Row<'_>) -> rusqlite::Result<TurnRow> {
    Ok(TurnRow {
        session: row.get(0)?,
        key: SessionKey {
            agent: super::agent(row, 1)?,
            id: SessionId::new(row.get::<_, String>(2)?),
        },
        turn: row.get(3)?,
        content: ContentHash::from_bytes(row.get(4)?),
        messages: row.get::<_, i64>(5)?.cast_unsigned(),
        tokens: row.get::<_, i64>(6)?.cast_unsigned(),
        at: time(row, 7)?,
        is_refined: row.get(8)?,
    })
}
