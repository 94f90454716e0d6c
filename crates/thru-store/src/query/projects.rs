//! Projects and the sessions that count as theirs.

use std::collections::HashMap;

use rusqlite::{Connection, params_from_iter};
use thru_core::{Agent, ProjectKey, Timestamp};

use super::passages::time;
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;

/// A project by its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectName {
    /// Its row.
    pub row: i64,
    /// Its identity.
    pub key: ProjectKey,
    /// Its display name.
    pub name: String,
    /// The projects that were merged into it.
    pub merged: Vec<ProjectKey>,
}

/// A project together with those that were merged into it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectRow {
    /// Its row.
    pub row: i64,
    /// Its identity.
    pub key: ProjectKey,
    /// Its display name.
    pub name: String,
    /// The number of its sessions.
    pub sessions: u64,
    /// The number of their passages.
    pub passages: u64,
    /// The time of its last activity.
    pub last: Option<Timestamp>,
    /// The projects that were merged into it.
    pub merged: Vec<ProjectKey>,
}

/// True where another project has the name of `p`, or of `m`, which `p` was merged into.
pub(super) const SHARED_NAME: &str = "(SELECT count(*) FROM projects q WHERE q.merged_into IS NULL
     AND q.name = coalesce(m.name, p.name) COLLATE NOCASE) > 1";

impl Store {
    /// Returns every project that is not merged into another, the last used first.
    pub fn projects(&self) -> Result<Vec<ProjectRow>> {
        self.projects_of(&Agent::ALL)
    }

    /// As [`Store::projects`], counting only the sessions of these agents.
    pub fn projects_of(&self, agents: &[Agent]) -> Result<Vec<ProjectRow>> {
        let mut statement = self.connection.prepare_cached(&format!(
            // A session of which only its start is known is none yet, as everywhere.
            "WITH own AS (
                 SELECT coalesce(p.merged_into, p.id) AS project, count(n.session) AS sessions,
                        max(s.ended) AS last, sum(n.passages) AS passages
                 FROM sessions s JOIN projects p ON p.id = s.project
                 LEFT JOIN (SELECT session, count(*) AS passages FROM passages GROUP BY session) n
                        ON n.session = s.id
                 WHERE s.agent IN ({})
                 GROUP BY 1)
             SELECT p.id, p.key, p.name, coalesce(own.sessions, 0), coalesce(own.passages, 0), own.last
             FROM projects p LEFT JOIN own ON own.project = p.id
             WHERE p.merged_into IS NULL ORDER BY own.last DESC, p.name",
            super::in_list(agents.len())
        ))?;
        let mut projects = statement
            .query_map(params_from_iter(agents.iter().map(|agent| agent.as_str())), |row| {
                Ok(ProjectRow {
                    row: row.get(0)?,
                    key: ProjectKey::from_stored(row.get::<_, String>(1)?),
                    name: row.get(2)?,
                    sessions: row.get(3)?,
                    passages: row.get(4)?,
                    last: time(row, 5)?,
                    merged: Vec::new(),
                })
            })?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let mut merged = self.merged_keys()?;
        for project in &mut projects {
            project.merged = merged.remove(&project.row).unwrap_or_default();
        }
        Ok(projects)
    }

    fn merged_keys(&self) -> Result<HashMap<i64, Vec<ProjectKey>>> {
        let rows: Vec<_> = self.select(
            "SELECT merged_into, key FROM projects WHERE merged_into IS NOT NULL ORDER BY key",
            [],
            |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)),
        )?;
        let mut merged: HashMap<i64, Vec<ProjectKey>> = HashMap::new();
        for (into, key) in rows {
            merged.entry(into).or_default().push(ProjectKey::from_stored(key));
        }
        Ok(merged)
    }

    /// Returns the names of every project that is not merged into another: cheap, while
    /// [`Store::projects`] counts.
    pub fn project_names(&self) -> Result<Vec<ProjectName>> {
        let mut merged = self.merged_keys()?;
        self.select(
            "SELECT id, key, name FROM projects WHERE merged_into IS NULL ORDER BY name, key",
            [],
            |row| {
                let id: i64 = row.get(0)?;
                Ok(ProjectName {
                    row: id,
                    key: ProjectKey::from_stored(row.get::<_, String>(1)?),
                    name: row.get(2)?,
                    merged: merged.remove(&id).unwrap_or_default(),
                })
            },
        )
    }

    /// True if any session, `besides` one, belongs to one of these projects.
    pub fn has_sessions(&self, projects: &[i64], besides: Option<i64>) -> Result<bool> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT 1 FROM sessions WHERE project = ?1 AND id IS NOT ?2")?;
        for project in projects {
            if statement.exists((project, besides))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the display name of the project that this one counts as.
    pub fn project_name(&self, row: i64) -> Result<Option<String>> {
        let row = merged_project(&self.connection, row)?;
        self.find("SELECT name FROM projects WHERE id = ?1", [row], |row| row.get(0))
    }

    /// Returns the key of the project that this one counts as, where its name alone would not tell which it is.
    pub fn key_of_shared_name(&self, row: i64) -> Result<Option<ProjectKey>> {
        let row = merged_project(&self.connection, row)?;
        let sql = format!(
            "SELECT p.key FROM projects p LEFT JOIN projects m ON m.id = p.merged_into
             WHERE p.id = ?1 AND {SHARED_NAME}"
        );
        let key: Option<String> = self.find(&sql, [row], |row| row.get(0))?;
        Ok(key.map(ProjectKey::from_stored))
    }

    /// Returns the identity of the project that this one counts as.
    pub fn project_key(&self, row: i64) -> Result<Option<ProjectKey>> {
        let row = merged_project(&self.connection, row)?;
        let key: Option<String> =
            self.find("SELECT key FROM projects WHERE id = ?1", [row], |row| row.get(0))?;
        Ok(key.map(ProjectKey::from_stored))
    }

    /// Returns the rows of a project and of all that were merged into it.
    pub fn project_rows(&self, row: i64) -> Result<Vec<i64>> {
        self.select("SELECT id FROM projects WHERE id = ?1 OR merged_into = ?1", [row], |row| {
            row.get(0)
        })
    }

    /// Returns the rows of the project that this one counts as, and of all that were merged into it.
    pub fn project_and_merged(&self, row: i64) -> Result<Vec<i64>> {
        self.project_rows(merged_project(&self.connection, row)?)
    }

    /// Returns the project with this identity, or the one that it was merged into.
    pub fn project_by_key(&self, key: &ProjectKey) -> Result<Option<i64>> {
        let row: Option<i64> =
            self.find("SELECT id FROM projects WHERE key = ?1", [key.as_str()], |row| row.get(0))?;
        row.map(|row| merged_project(&self.connection, row)).transpose()
    }

    /// Returns the directories that are known of a project, apart from those of projects merged into it.
    pub fn directories_of(&self, key: &ProjectKey) -> Result<Vec<String>> {
        directories_of(&self.connection, key)
    }

    /// Returns the project that a directory was found to belong to when it was first seen.
    pub fn project_of_directory(&self, path: &str) -> Result<Option<ProjectKey>> {
        project_of_directory(&self.connection, path)
    }

    /// Returns every directory whose project is known.
    pub fn directories(&self) -> Result<std::collections::HashSet<String>> {
        self.select("SELECT path FROM directories", [], |row| row.get(0))
    }
}

/// Returns the directories that are known of a project, in the order of their paths.
pub(crate) fn directories_of(connection: &Connection, key: &ProjectKey) -> Result<Vec<String>> {
    connection.select("SELECT path FROM directories WHERE project = (SELECT id FROM projects WHERE key = ?1) ORDER BY path", [key.as_str()], |row| row.get(0))
}

/// Returns the project that a directory was found to belong to when it was first seen.
pub(crate) fn project_of_directory(
    connection: &Connection,
    path: &str,
) -> Result<Option<ProjectKey>> {
    let key: Option<String> = connection.find(
        "SELECT p.key FROM directories d JOIN projects p ON p.id = d.project WHERE d.path = ?1",
        [path],
        |row| row.get(0),
    )?;
    Ok(key.map(ProjectKey::from_stored))
}

/// Returns the project that this one counts as.
pub(crate) fn merged_project(connection: &Connection, row: i64) -> Result<i64> {
    connection.one("SELECT coalesce(merged_into, id) FROM projects WHERE id = ?1", [row], |row| {
        row.get(0)
    })
}
