//! What models were asked, what it cost, and what they made.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params_from_iter};
use thru_core::{Id, Made, MemoryKind, Micros, SessionId, SessionKey, Spent, Timestamp};
use thru_lifecycle::content::ContentHash;

use super::memories::MemoryRow;
use super::passages::time;
use crate::error::Result;
use crate::store::Store;
use crate::write::Fate;

/// What a model made of a turn, or of a session as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefinementRow {
    /// The key of the journal's record.
    pub key: String,
    /// Whether it is about the session as a whole.
    pub is_whole: bool,
    /// What it is about: it holds for nothing else.
    pub content: ContentHash,
    /// When it was made.
    pub at: Timestamp,
    /// All of it, as JSON.
    pub body: String,
}

/// A turn as far as a model may be asked about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// The row of its session.
    pub session: i64,
    /// Which session.
    pub key: SessionKey,
    /// Its number.
    pub turn: u32,
    /// The hash of what the filter keeps of it, and how many messages that is.
    pub content: ContentHash,
    /// How many messages the filter keeps.
    pub messages: u64,
    /// Tokens (estimated) of its passages.
    pub tokens: u64,
    /// The latest record in it.
    pub at: Option<Timestamp>,
    /// Whether a model made something of it as it is now.
    pub is_refined: bool,
}

/// Which turns to read. Nothing set means: all of them.
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

/// Which spending to add up. Nothing set means: all of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpendingFilter<'a> {
    /// At or after this time.
    pub since: Option<Timestamp>,
    /// For sessions of this project, by its key.
    pub project: Option<&'a str>,
}

/// What was spent on one model, for one purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendingRow {
    /// Who was asked.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// What for.
    pub purpose: String,
    /// What became of the questions.
    pub fate: Fate,
    /// How many questions.
    pub questions: u64,
    /// What they came to; where nobody knows, the most that they may have.
    pub spent: Spent,
}

impl Store {
    /// What models made of a session, the earliest first.
    pub fn refinements(&self, session: i64) -> Result<Vec<RefinementRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT key, whole, content, at, body FROM refinements WHERE session = ?1
             ORDER BY at, key",
        )?;
        let rows = statement.query_map([session], |row| {
            Ok(RefinementRow {
                key: row.get(0)?,
                is_whole: row.get(1)?,
                content: ContentHash::from_bytes(row.get(2)?),
                at: time(row, 3)?.unwrap_or_default(),
                body: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// What a model made of exactly this input before. Whose session that was is for the caller to see.
    pub fn refinement_of_input(&self, input: &Id) -> Result<Option<String>> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT body FROM refinements WHERE input = ?1 ORDER BY at DESC LIMIT 1",
            )?
            .query_row([input.as_bytes()], |row| row.get(0))
            .optional()?)
    }

    /// The hash of a turn as it was distilled.
    pub fn turn_content(&self, session: i64, turn: u32) -> Result<Option<ContentHash>> {
        Ok(self
            .connection
            .prepare_cached("SELECT content FROM turns WHERE session = ?1 AND turn = ?2")?
            .query_row((session, turn), |row| Ok(ContentHash::from_bytes(row.get(0)?)))
            .optional()?)
    }

    /// Turns, the latest first.
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
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT t.session, s.agent, s.session, t.turn, t.content, t.messages, t.tokens, t.at,
                 EXISTS (SELECT 1 FROM refinements r WHERE r.session = t.session AND r.whole = 0
                         AND r.content = t.content)
             FROM turns t JOIN sessions s ON s.id = t.session WHERE {}
             ORDER BY t.at DESC, t.session, t.turn DESC",
            conditions.join(" AND ")
        ))?;
        let rows = statement.query_map(params_from_iter(parameters), turn)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The sum of what was spent, and of what may have been.
    pub fn spent(&self, filter: SpendingFilter<'_>) -> Result<Spent> {
        let rows = self.spending(filter)?;
        Ok(rows.into_iter().fold(Spent::default(), |sum, row| sum.plus(row.spent)))
    }

    /// What was spent, by provider, model, purpose and what became of it.
    pub fn spending(&self, filter: SpendingFilter<'_>) -> Result<Vec<SpendingRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT provider, model, purpose, state, count(*), sum(input), sum(output), sum(cost)
             FROM spending WHERE at >= ?1 AND (?2 IS NULL OR project = ?2)
             GROUP BY provider, model, purpose, state ORDER BY provider, model, purpose, state",
        )?;
        let since = filter.since.map_or(i64::MIN, Timestamp::as_millisecond);
        let rows = statement.query_map((since, filter.project), |row| {
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
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Whether something was delivered.
    pub fn is_delivered(&self, key: &Id) -> Result<bool> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM deliveries WHERE key = ?1")?
            .exists([key.as_bytes()])?)
    }

    /// How a model made a memory; nothing where none did.
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
        let body: Option<String> = self
            .connection
            .prepare_cached(&format!(
                "SELECT body FROM refinements WHERE session = ?1 AND whole = ?2
                     AND content = ({of}) ORDER BY at DESC, key DESC LIMIT 1"
            ))?
            .query_row((session, is_whole, memory.turn), |row| row.get(0))
            .optional()?;
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
