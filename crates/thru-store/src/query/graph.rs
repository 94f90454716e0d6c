//! The graph: entities, and the facts that held of them.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use thru_core::{EndReason, EntityKind, Evidence, EvidenceRole, FactEnd, Id, Relation, Timestamp};

use super::in_list;
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;
use crate::write::OPEN;

/// An entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityRow {
    /// Its row.
    pub row: i64,
    /// The row of its project, if it has one.
    pub project: Option<i64>,
    /// Its kind.
    pub kind: EntityKind,
    /// Its key.
    pub key: String,
    /// The name shown to people.
    pub name: String,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRow {
    /// Its row.
    pub row: i64,
    /// Its id.
    pub id: Id,
    /// The entity that it is about.
    pub subject: EntityRow,
    /// The relation.
    pub relation: Relation,
    /// The other end, if that is an entity.
    pub object: Option<EntityRow>,
    /// The other end, if that is a value.
    pub value: Option<String>,
    /// The limits within which it holds.
    pub scope: String,
    /// A remark.
    pub note: String,
    /// The first moment at which it held.
    pub from: Timestamp,
    /// Its end, if it has one.
    pub end: Option<FactEnd>,
}

impl FactRow {
    /// Returns the words for its other end.
    pub fn object_shown(&self) -> &str {
        match (&self.object, &self.value) {
            (Some(entity), _) => &entity.name,
            (None, Some(value)) => value,
            (None, None) => "",
        }
    }
}

/// The time of facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FactTime {
    /// Those that hold.
    #[default]
    Now,
    /// Those that held at a moment, as it was known at another one.
    At(Timestamp, Option<Timestamp>),
    /// Those that began or ended from a moment on, and before another one.
    Changed(Timestamp, Timestamp),
    /// All, those that ended too.
    Ever,
}

/// A filter of facts. By default all that hold are listed.
#[derive(Clone, Debug, Default)]
pub struct FactFilter {
    /// Rows of projects.
    pub projects: Option<Vec<i64>>,
    /// With one of these entities at either end.
    pub entities: Option<Vec<i64>>,
    /// Of these relations.
    pub relations: Option<Vec<Relation>>,
    /// With these ids.
    pub ids: Option<Vec<Id>>,
    /// That a passage of one of these sessions shows.
    pub sessions: Option<Vec<i64>>,
    /// Their time.
    pub time: FactTime,
    /// Only those that follow this one.
    pub after: Option<(Timestamp, Id)>,
    /// At most this many, latest first.
    pub limit: Option<usize>,
}

/// The facts that nothing took out of the graph.
const SHOWN: &str = "f.id NOT IN (SELECT id FROM hidden_facts) AND NOT EXISTS
     (SELECT 1 FROM cleared_graphs c WHERE c.project = f.project AND f.valid_from < c.before)";

impl Store {
    /// Lists facts, latest first, without those that were taken out of the graph.
    pub fn facts(&self, filter: &FactFilter) -> Result<Vec<FactRow>> {
        let mut conditions = vec![SHOWN.to_owned()];
        let mut parameters: Vec<Value> = Vec::new();
        if let Some(projects) = &filter.projects {
            conditions.push(format!("f.project IN ({})", in_list(projects.len())));
            parameters.extend(projects.iter().map(|row| Value::from(*row)));
        }
        if let Some(entities) = &filter.entities {
            let list = in_list(entities.len());
            conditions.push(format!("(f.subject IN ({list}) OR f.object IN ({list}))"));
            let both = entities.iter().chain(entities);
            parameters.extend(both.map(|row| Value::from(*row)));
        }
        if let Some(relations) = &filter.relations {
            conditions.push(format!("f.relation IN ({})", in_list(relations.len())));
            parameters.extend(relations.iter().map(|one| Value::from(i64::from(one.code()))));
        }
        if let Some(ids) = &filter.ids {
            conditions.push(format!("f.id IN ({})", in_list(ids.len())));
            parameters.extend(ids.iter().map(|id| Value::from(id.as_bytes().to_vec())));
        }
        if let Some(sessions) = &filter.sessions {
            let list = in_list(sessions.len());
            // By their keys first, of which there is an index.
            conditions.push(format!(
                "f.fold IN (SELECT fold FROM openings WHERE session IN ({list})) AND EXISTS
                 (SELECT 1 FROM evidence e JOIN passages p ON p.id = e.passage
                  WHERE e.fact = f.row AND p.session IN ({list}))"
            ));
            let both = sessions.iter().chain(sessions);
            parameters.extend(both.map(|row| Value::from(*row)));
        }
        let mut moments = |condition: &str, moments: &[Timestamp]| {
            conditions.push(condition.to_owned());
            parameters.extend(moments.iter().map(|one| Value::from(one.as_millisecond())));
        };
        match filter.time {
            FactTime::Now => moments("f.reason IS NULL", &[]),
            // An end that was not known yet is none.
            FactTime::At(at, known) => {
                let at = known.map_or(at, |known| at.min(known));
                moments("f.valid_from <= ? AND f.valid_to > ?", &[at, at]);
            }
            FactTime::Changed(from, to) => moments(
                "(f.valid_from >= ? AND f.valid_from < ? OR f.reason IS NOT NULL AND f.valid_to >= ? AND f.valid_to < ?)",
                &[from, to, from, to],
            ),
            FactTime::Ever => {}
        }
        if let Some((from, id)) = filter.after {
            conditions.push("(f.valid_from < ? OR f.valid_from = ? AND f.id > ?)".to_owned());
            let from = Value::from(from.as_millisecond());
            parameters.extend([from.clone(), from, Value::from(id.as_bytes().to_vec())]);
        }
        parameters.push(Value::from(filter.limit.map_or(-1, |limit| limit as i64)));
        let sql = format!(
            "SELECT f.row, f.id, f.relation, f.literal, f.scope, f.note, f.valid_from, f.valid_to, f.reason,
                    f.ended_by, s.id, s.project, s.kind, s.key, s.name, o.id, o.project, o.kind, o.key, o.name
             FROM facts f JOIN entities s ON s.id = f.subject LEFT JOIN entities o ON o.id = f.object
             WHERE {} ORDER BY f.valid_from DESC, f.id LIMIT ?",
            conditions.join(" AND ")
        );
        self.select(&sql, params_from_iter(parameters), fact)
    }

    /// Returns the passages that show facts, by the facts' rows.
    pub fn evidence_of(&self, facts: &[i64]) -> Result<HashMap<i64, Vec<Evidence>>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT role, passage FROM evidence WHERE fact = ?1 ORDER BY role, passage",
        )?;
        let mut found = HashMap::new();
        for fact in facts {
            let evidence = statement.query_map([fact], |row| {
                let role = code(row, 0, EvidenceRole::from_code)?;
                Ok(Evidence { role, passage: Id::from_bytes(row.get(1)?) })
            })?;
            found.insert(*fact, evidence.collect::<rusqlite::Result<_>>()?);
        }
        Ok(found)
    }

    /// Returns the ids of the episodes whose sessions show facts, by the facts' rows.
    pub fn episodes_showing(&self, facts: &[i64]) -> Result<HashMap<i64, Vec<Id>>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT n.uuid FROM evidence e JOIN passages p ON p.id = e.passage
             JOIN episodes n ON n.session = p.session AND n.retired IS NULL
             WHERE e.fact = ?1 ORDER BY n.as_of, n.uuid",
        )?;
        let mut found = HashMap::new();
        for fact in facts {
            let episodes = statement.query_map([fact], |row| Ok(Id::from_bytes(row.get(0)?)))?;
            found.insert(*fact, episodes.collect::<rusqlite::Result<_>>()?);
        }
        Ok(found)
    }

    /// True if no key waits for its facts.
    pub fn is_folded(&self) -> Result<bool> {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM unfolded)";
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    /// Returns the number of openings that are no JSON, and of facts that no passage shows.
    pub fn graph_problems(&self) -> Result<(u64, u64)> {
        let unread = "SELECT count(*) FROM openings WHERE NOT json_valid(body)";
        let unshown = "SELECT count(*) FROM facts f WHERE NOT EXISTS
             (SELECT 1 FROM evidence e JOIN passages p ON p.id = e.passage WHERE e.fact = f.row)";
        Ok((super::count(&self.connection, unread)?, super::count(&self.connection, unshown)?))
    }

    /// Returns the rows of the files with these keys in a project.
    pub fn file_entities(&self, project: Option<i64>, keys: &[&str]) -> Result<Vec<i64>> {
        let sql = format!(
            "SELECT id FROM entities WHERE project = ? AND kind = ? AND key IN ({}) ORDER BY id",
            in_list(keys.len())
        );
        let kind = i64::from(EntityKind::File.code());
        let numbers = [project.unwrap_or_default(), kind].map(Value::from);
        let keys = keys.iter().map(|key| Value::from((*key).to_owned()));
        self.select(&sql, params_from_iter(numbers.into_iter().chain(keys)), |row| row.get(0))
    }

    /// Returns the entities with this key or name, else those whose path or symbol ends so, else those that hold all of these
    /// words and are neither sessions nor symbols; those with the shortest keys first.
    pub fn entities_named(
        &self,
        projects: Option<&[i64]>,
        name: &str,
        limit: usize,
    ) -> Result<Vec<EntityRow>> {
        let exact = self.entities_called(projects, name, limit)?;
        if !exact.is_empty() {
            return Ok(exact);
        }
        let end = escaped(name.trim_start_matches("./"));
        let ends = vec![format!("%/{end}"), format!("%#{end}")];
        let either = "(key LIKE ? ESCAPE '\\' OR key LIKE ? ESCAPE '\\')";
        let ending = self.entities(either, ends, projects, limit)?;
        if !ending.is_empty() {
            return Ok(ending);
        }
        let words: Vec<String> =
            name.split_whitespace().take(8).map(|word| format!("%{}%", escaped(word))).collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        // Titles of sessions and names within names hold words of any question.
        let (session, symbol) = (EntityKind::Session.code(), EntityKind::Symbol.code());
        let each = vec!["(key || ' ' || name) LIKE ? ESCAPE '\\'"; words.len()].join(" AND ");
        let named = format!("kind NOT IN ({session}, {symbol}) AND {each}");
        self.entities(&named, words, projects, limit)
    }

    /// Returns the entities that have exactly this key or name.
    pub fn entities_called(
        &self,
        projects: Option<&[i64]>,
        name: &str,
        limit: usize,
    ) -> Result<Vec<EntityRow>> {
        self.entities("(key = ? OR name = ?)", vec![name.to_owned(); 2], projects, limit)
    }

    /// Returns the projects of this name, as things of the graph.
    pub fn project_entities(&self, projects: Option<&[i64]>, name: &str) -> Result<Vec<EntityRow>> {
        let project = EntityKind::Project.code();
        let of_name = format!(
            "kind = {project} AND project IN
             (SELECT p.id FROM projects p LEFT JOIN projects m ON m.id = p.merged_into
              WHERE coalesce(m.name, p.name) = ?)"
        );
        self.entities(&of_name, vec![name.to_owned()], projects, usize::MAX >> 1)
    }

    /// Returns those of all entities that are wanted.
    pub fn entities_that(&self, is_wanted: impl Fn(&EntityRow) -> bool) -> Result<Vec<EntityRow>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id, project, kind, key, name FROM entities ORDER BY id")?;
        let all = statement.query_map([], |row| entity(row, 0))?;
        let wanted = all.filter(|one| one.as_ref().map_or(true, &is_wanted));
        Ok(wanted.collect::<rusqlite::Result<_>>()?)
    }

    fn entities(
        &self,
        condition: &str,
        texts: Vec<String>,
        projects: Option<&[i64]>,
        limit: usize,
    ) -> Result<Vec<EntityRow>> {
        let mut parameters: Vec<Value> = texts.into_iter().map(Value::from).collect();
        let mut within = String::new();
        if let Some(projects) = projects {
            within = format!(" AND project IN ({})", in_list(projects.len()));
            parameters.extend(projects.iter().map(|row| Value::from(*row)));
        }
        parameters.push(Value::from(limit as i64));
        let sql = format!(
            "SELECT id, project, kind, key, name FROM entities WHERE ({condition}){within}
             ORDER BY length(key), key, kind, project LIMIT ?"
        );
        self.select(&sql, params_from_iter(parameters), |row| entity(row, 0))
    }
}

/// Returns a text in which `%` and `_` mean themselves.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn code<T>(row: &Row<'_>, column: usize, of: fn(u8) -> Option<T>) -> rusqlite::Result<T> {
    let code: u8 = row.get(column)?;
    of(code).ok_or_else(|| rusqlite::Error::IntegralValueOutOfRange(column, code.into()))
}

fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let at: i64 = row.get(column)?;
    Timestamp::from_millisecond(at)
        .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, at))
}

/// Reads an entity from five columns.
fn entity(row: &Row<'_>, column: usize) -> rusqlite::Result<EntityRow> {
    let (key, name): (String, String) = (row.get(column + 3)?, row.get(column + 4)?);
    Ok(EntityRow {
        row: row.get(column)?,
        project: Some(row.get(column + 1)?).filter(|project| *project != 0),
        kind: code(row, column + 2, EntityKind::from_code)?,
        name: if name.is_empty() { key.clone() } else { name },
        key,
    })
}

fn fact(row: &Row<'_>) -> rusqlite::Result<FactRow> {
    let to: i64 = row.get(7)?;
    let end = match to {
        OPEN => None,
        _ => Some(FactEnd {
            at: moment(row, 7)?,
            reason: code(row, 8, EndReason::from_code)?,
            by: row.get::<_, Option<[u8; Id::BYTES]>>(9)?.map(Id::from_bytes),
        }),
    };
    Ok(FactRow {
        row: row.get(0)?,
        id: Id::from_bytes(row.get(1)?),
        relation: code(row, 2, Relation::from_code)?,
        value: row.get(3)?,
        scope: row.get(4)?,
        note: row.get(5)?,
        from: moment(row, 6)?,
        end,
        subject: entity(row, 10)?,
        object: row.get::<_, Option<i64>>(15)?.map(|_| entity(row, 15)).transpose()?,
    })
}
