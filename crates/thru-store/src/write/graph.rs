//! Writing the graph: what sessions show, and the facts that are folded of it.

use std::collections::BTreeSet;

use thru_core::{Entity, Fact, Id, Object, ProjectKey, SessionId, SessionKey, Timestamp};
use thru_redact::Clean;

use super::Batch;
use crate::error::Result;
use crate::statements::Statements;

/// The end of a fact that still holds.
pub(crate) const OPEN: i64 = i64::MAX;

/// An opening in its stored form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOpening {
    /// The hash of the key that it bears on.
    pub fold: Id,
    /// All of it, as JSON.
    pub body: String,
}

/// A key whose facts in one project have to be made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfoldedKey {
    /// The hash of the key.
    pub fold: Id,
    /// The project; `None` for sessions that belong to none.
    pub project: Option<(i64, ProjectKey)>,
}

impl UnfoldedKey {
    /// Returns the project's row as it is stored with facts.
    fn project_row(&self) -> i64 {
        self.project.as_ref().map_or(0, |(row, _)| *row)
    }
}

/// An opening as it is stored, with its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOpening {
    /// Its session.
    pub session: SessionKey,
    /// Its place in the session.
    pub place: u32,
    /// All of it, as JSON.
    pub body: String,
}

impl Batch<'_> {
    /// Replaces what a session shows. The keys that it bears on, and bore on before, have to be folded again.
    pub fn put_openings(&self, session: i64, openings: &Clean<Vec<NewOpening>>) -> Result<()> {
        let openings = openings.get();
        let known = {
            let mut statement = self
                .transaction
                .prepare_cached("SELECT body FROM openings WHERE session = ?1 ORDER BY place")?;
            let bodies = statement.query_map([session], |row| row.get(0))?;
            bodies.collect::<rusqlite::Result<Vec<String>>>()?
        };
        if known.iter().eq(openings.iter().map(|opening| &opening.body)) {
            return Ok(());
        }
        self.unfold(session)?;
        self.run("DELETE FROM openings WHERE session = ?1", [session])?;
        let mut insert = self.transaction.prepare_cached(
            "INSERT INTO openings (session, place, fold, body) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for (place, opening) in openings.iter().enumerate() {
            insert.execute((session, place, opening.fold.as_bytes(), &opening.body))?;
        }
        self.unfold(session)
    }

    /// Marks the keys that a session bears on to be folded again in its project.
    pub(super) fn unfold(&self, session: i64) -> Result<()> {
        self.run(
            "INSERT OR IGNORE INTO unfolded (fold, project)
             SELECT DISTINCT o.fold, coalesce(s.project, 0)
             FROM openings o JOIN sessions s ON s.id = o.session WHERE o.session = ?1",
            [session],
        )?;
        Ok(())
    }

    /// Removes what a session shows, with all facts that depend on it: what others show of the same has to be folded again.
    pub fn remove_openings(&self, session: i64) -> Result<()> {
        self.unfold(session)?;
        self.run("DELETE FROM openings WHERE session = ?1", [session])?;
        self.clear_unfolded()?;
        Ok(())
    }

    /// Removes the facts of all keys that have to be folded again, and returns these.
    pub fn clear_unfolded(&self) -> Result<Vec<UnfoldedKey>> {
        let keys = {
            let mut statement = self.transaction.prepare_cached(
                "SELECT u.fold, u.project, p.key
                 FROM unfolded u LEFT JOIN projects p ON p.id = u.project
                 ORDER BY u.fold, u.project",
            )?;
            let keys = statement.query_map([], |row| {
                let (project, key): (i64, Option<String>) = (row.get(1)?, row.get(2)?);
                Ok(UnfoldedKey {
                    fold: Id::from_bytes(row.get(0)?),
                    project: key.map(|key| (project, ProjectKey::from_stored(key))),
                })
            })?;
            keys.collect::<rusqlite::Result<Vec<_>>>()?
        };
        let mut entities: BTreeSet<i64> = BTreeSet::new();
        for key in &keys {
            let place = (key.fold.as_bytes(), key.project_row());
            let mut statement = self.transaction.prepare_cached(
                "SELECT subject, object FROM facts WHERE fold = ?1 AND project = ?2",
            )?;
            let mut rows = statement.query(place)?;
            while let Some(row) = rows.next()? {
                entities.insert(row.get(0)?);
                entities.extend(row.get::<_, Option<i64>>(1)?);
            }
            for sql in [
                "DELETE FROM evidence WHERE fact IN
                     (SELECT row FROM facts WHERE fold = ?1 AND project = ?2)",
                "DELETE FROM facts WHERE fold = ?1 AND project = ?2",
            ] {
                self.run(sql, place)?;
            }
        }
        let mut sweep = self.transaction.prepare_cached(
            "DELETE FROM entities WHERE id = ?1
             AND NOT EXISTS (SELECT 1 FROM facts WHERE subject = ?1)
             AND NOT EXISTS (SELECT 1 FROM facts WHERE object = ?1)",
        )?;
        for entity in entities {
            sweep.execute([entity])?;
        }
        Ok(keys)
    }

    /// Returns the openings of a key in its project. Reads the project's sessions one by one: other projects may have
    /// thousands of openings of a common key.
    pub fn openings_of(&self, key: &UnfoldedKey) -> Result<Vec<StoredOpening>> {
        let project = key.project.as_ref().map(|(row, _)| *row);
        self.select(
            "SELECT s.agent, s.session, o.place, o.body
             FROM sessions s CROSS JOIN openings o INDEXED BY openings_by_fold
                 ON o.fold = ?1 AND o.session = s.id
             WHERE s.project IS ?2",
            (key.fold.as_bytes(), project),
            |row| {
                Ok(StoredOpening {
                    session: SessionKey {
                        agent: crate::query::agent(row, 0)?,
                        id: SessionId::new(row.get::<_, String>(1)?),
                    },
                    place: row.get(2)?,
                    body: row.get(3)?,
                })
            },
        )
    }

    /// Writes the facts of a key in one project. They are made of clean openings.
    pub fn put_facts(&self, key: &UnfoldedKey, facts: &[Fact]) -> Result<()> {
        let project = key.project_row();
        for fact in facts {
            let subject = self.entity(project, &fact.subject)?;
            let (object, literal) = match &fact.object {
                Object::Entity(entity) => (Some(self.entity(project, entity)?), None),
                Object::Value(value) => (None, Some(value.as_str())),
            };
            let end = fact.end.as_ref();
            self.run(
                "INSERT INTO facts (id, fold, project, subject, relation, object, literal, scope, note,
                     valid_from, valid_to, reason, ended_by)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                rusqlite::params![
                                    fact.id.as_bytes(),
                                    key.fold.as_bytes(),
                                    project,
                                    subject,
                                    fact.relation.code(),
                                    object,
                                    literal,
                                    fact.scope,
                                    fact.note,
                                    fact.from.as_millisecond(),
                                    end.map_or(OPEN, |end| Timestamp::as_millisecond(end.at)),
                                    end.map(|end| end.reason.code()),
                                    end.and_then(|end| end.by.as_ref()).map(Id::as_bytes),
                                ],
            )?;
            let row = self.transaction.last_insert_rowid();
            let mut insert = self.transaction.prepare_cached(
                "INSERT OR IGNORE INTO evidence (fact, role, passage) VALUES (?1, ?2, ?3)",
            )?;
            for shown in &fact.evidence {
                insert.execute((row, shown.role.code(), shown.passage.as_bytes()))?;
            }
        }
        Ok(())
    }

    /// Replaces what was taken out of the graph: facts one by one, and all of a project that began before a moment.
    pub fn set_hidden_facts(
        &self,
        facts: impl IntoIterator<Item = Id>,
        cleared: impl IntoIterator<Item = (i64, Timestamp)>,
    ) -> Result<()> {
        self.transaction.execute("DELETE FROM hidden_facts", [])?;
        self.transaction.execute("DELETE FROM cleared_graphs", [])?;
        for fact in facts {
            self.run("INSERT OR IGNORE INTO hidden_facts (id) VALUES (?1)", [fact.as_bytes()])?;
        }
        for (project, before) in cleared {
            self.run(
                "INSERT OR REPLACE INTO cleared_graphs (project, before)
                 SELECT id, ?2 FROM projects WHERE id = ?1 OR merged_into = ?1",
                (project, before.as_millisecond()),
            )?;
        }
        Ok(())
    }

    /// Says that every key is folded.
    pub fn all_folded(&self) -> Result<()> {
        self.transaction.execute("DELETE FROM unfolded", [])?;
        Ok(())
    }

    fn entity(&self, project: i64, entity: &Entity) -> Result<i64> {
        let known = self.find(
            "SELECT id FROM entities WHERE project = ?1 AND kind = ?2 AND key = ?3",
            (project, entity.kind.code(), &entity.key),
            |row| row.get(0),
        )?;
        if let Some(id) = known {
            return Ok(id);
        }
        self.run(
            "INSERT INTO entities (project, kind, key, name) VALUES (?1, ?2, ?3, ?4)",
            (project, entity.kind.code(), &entity.key, &entity.name),
        )?;
        Ok(self.transaction.last_insert_rowid())
    }
}
