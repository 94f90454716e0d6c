//! Writing questions to models, their costs and their results.

use thru_core::{Id, Question, Spent, Timestamp};
use thru_lifecycle::content::{Content, ContentHash};

use super::Batch;
use crate::error::Result;
use crate::query::JobKind;
use crate::statements::Statements;

/// A turn, reduced to what is needed to ask a model about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewTurn {
    /// Its number.
    pub turn: u32,
    /// The hash and number of its filtered messages.
    pub content: Content,
    /// Tokens (estimated) of its passages.
    pub tokens: u64,
    /// The time of its latest record.
    pub at: Option<Timestamp>,
}

/// The outcome of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Unknown: it counts with the maximum that it may have cost.
    Unknown,
    /// It was answered.
    Answered,
    /// Tokens were spent, and the answer was of no use.
    Wasted,
    /// Nothing was spent.
    Free,
}

impl Fate {
    const ALL: [Self; 4] = [Self::Unknown, Self::Answered, Self::Wasted, Self::Free];

    fn code(self) -> u8 {
        Self::ALL.iter().position(|fate| *fate == self).unwrap_or_default() as u8
    }

    pub(crate) fn from_code(code: u8) -> Self {
        Self::ALL.get(usize::from(code)).copied().unwrap_or(Self::Unknown)
    }
}

/// The result of a model about a turn, or about a session as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRefinement {
    /// The key of the journal's record.
    pub key: String,
    /// True if it is about the session as a whole.
    pub is_whole: bool,
    /// The content that it is about: it is valid for that content only.
    pub content: ContentHash,
    /// The hash of everything that was sent.
    pub input: Id,
    /// The time it was made.
    pub at: Timestamp,
    /// All of it, as JSON.
    pub body: String,
}

impl Batch<'_> {
    /// Replaces the turns of a session.
    pub fn put_turns(&self, session: i64, turns: &[NewTurn]) -> Result<()> {
        self.run("DELETE FROM turns WHERE session = ?1", [session])?;
        let mut insert = self.transaction.prepare_cached(
            "INSERT OR REPLACE INTO turns (session, turn, content, messages, tokens, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        for turn in turns {
            insert.execute((
                session,
                turn.turn,
                turn.content.hash.as_bytes(),
                turn.content.messages.cast_signed(),
                turn.tokens.cast_signed(),
                turn.at.map(Timestamp::as_millisecond),
            ))?;
        }
        Ok(())
    }

    /// Writes a refinement, once, and marks the session to be distilled again. Returns true if it is
    /// new.
    pub fn put_refinement(&self, session: i64, refinement: &NewRefinement) -> Result<bool> {
        let written = self.run(
            "INSERT OR IGNORE INTO refinements (key, session, whole, content, input, at, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (
                &refinement.key,
                session,
                refinement.is_whole,
                refinement.content.as_bytes(),
                refinement.input.as_bytes(),
                refinement.at.as_millisecond(),
                &refinement.body,
            ),
        )?;
        if written > 0 {
            self.run("UPDATE sessions SET stale = 1 WHERE id = ?1", [session])?;
            // The jobs that waited for it are done.
            self.run(
                "DELETE FROM jobs WHERE session = ?1 AND content = ?2
                 AND (kind = 'refine-session') = ?3",
                (session, refinement.content.as_bytes(), refinement.is_whole),
            )?;
        }
        Ok(written > 0)
    }

    /// Writes a question, with the maximum that it may cost.
    pub fn put_question(&self, key: &str, at: Timestamp, question: &Question) -> Result<()> {
        let Spent { input, output, cost } = question.spent;
        self.run(
            "INSERT INTO spending
                 (key, at, project, provider, model, purpose, input, output, cost, state)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0)
             ON CONFLICT (key) DO UPDATE SET at = excluded.at, project = excluded.project,
                 provider = excluded.provider, model = excluded.model,
                 purpose = excluded.purpose",
            (
                key,
                at.as_millisecond(),
                question.project.as_ref().map(|project| project.as_str()),
                &question.provider,
                &question.model,
                question.purpose.as_str(),
                input.cast_signed(),
                output.cast_signed(),
                cost.map(|cost| cost.0.cast_signed()),
            ),
        )?;
        Ok(())
    }

    /// Records the outcome and the real cost of a question. The question itself may be read later,
    /// since it may be in another segment of the journal.
    pub fn settle_question(
        &self,
        key: &str,
        at: Timestamp,
        fate: Fate,
        spent: Spent,
    ) -> Result<()> {
        self.run(
            "INSERT INTO spending
                 (key, at, provider, model, purpose, input, output, cost, state)
             VALUES (?1, ?6, '', '', '', ?3, ?4, ?5, ?2)
             ON CONFLICT (key) DO UPDATE SET state = excluded.state, input = excluded.input,
                 output = excluded.output, cost = excluded.cost",
            (
                key,
                fate.code(),
                spent.input.cast_signed(),
                spent.output.cast_signed(),
                spent.cost.map(|cost| cost.0.cast_signed()),
                at.as_millisecond(),
            ),
        )?;
        Ok(())
    }

    /// Adds a question job about this content, unless there was one before: content that failed for
    /// good is not tried again automatically.
    pub fn put_question_job(
        &self,
        kind: JobKind,
        session: i64,
        content: ContentHash,
        due: Timestamp,
    ) -> Result<()> {
        self.run(
            "INSERT INTO jobs (kind, session, turn, reason, created, due, content)
             VALUES (?1, ?2, ?3, 'new', ?4, ?4, ?5)
             ON CONFLICT (kind, session, turn) DO UPDATE SET content = excluded.content,
                 due = excluded.due, attempts = 0, dead = 0, error = NULL
             WHERE jobs.content IS NOT excluded.content",
            (kind.as_str(), session, kind.turn(), due.as_millisecond(), content.as_bytes()),
        )?;
        Ok(())
    }

    /// Makes the pending questions about a session due now, because it was closed.
    pub fn hurry_question_jobs(&self, session: i64, now: Timestamp) -> Result<()> {
        self.run(
            "UPDATE jobs SET due = min(due, ?2)
             WHERE session = ?1 AND kind = 'refine-turn' AND dead = 0 AND attempts = 0",
            (session, now.as_millisecond()),
        )?;
        Ok(())
    }

    /// Returns the recorded turns of a session.
    pub fn turns_of(&self, session: i64) -> Result<Vec<NewTurn>> {
        self.select("SELECT turn, content, messages, tokens, at FROM turns WHERE session = ?1 ORDER BY turn", [session], |row| {
            let hash = ContentHash::from_bytes(row.get(1)?);
            Ok(NewTurn {
                turn: row.get(0)?,
                content: Content { hash, messages: row.get::<_, i64>(2)?.cast_unsigned() },
                tokens: row.get::<_, i64>(3)?.cast_unsigned(),
                at: row.get::<_, Option<i64>>(4)?.map(super::time),
            })
        })
    }

    /// True if a model has refined this content.
    pub fn is_refined(&self, session: i64, is_whole: bool, content: ContentHash) -> Result<bool> {
        self.exists(
            "SELECT 1 FROM refinements WHERE session = ?1 AND whole = ?2 AND content = ?3",
            (session, is_whole, content.as_bytes()),
        )
    }

    /// Records a delivery.
    pub fn put_delivered(&self, session: i64, key: &Id, at: Timestamp) -> Result<()> {
        self.run(
            "INSERT OR IGNORE INTO deliveries (key, session, at) VALUES (?1, ?2, ?3)",
            (key.as_bytes(), session, at.as_millisecond()),
        )?;
        Ok(())
    }

    /// Deletes the refinements of a session, the jobs for more, and the commits seen in its time.
    pub(super) fn remove_refinements_of(&self, session: i64) -> Result<()> {
        for table in ["turns", "refinements", "deliveries", "commits"] {
            let sql = format!("DELETE FROM {table} WHERE session = ?1");
            self.transaction.execute(&sql, [session])?;
        }
        Ok(())
    }
}
