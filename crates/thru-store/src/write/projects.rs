//! Projects: those of directories, their names, and the ones that count as another.

use std::collections::BTreeMap;

use thru_core::{ProjectKey, Timestamp, holds_projects, worktree_names, worktree_root};

use super::Batch;
use crate::error::Result;
use crate::index::Collection;
use crate::statements::Statements;

impl Batch<'_> {
    /// Returns the row of a project, creating it if it is new.
    pub fn project(&self, key: &ProjectKey) -> Result<i64> {
        self.run(
            "INSERT OR IGNORE INTO projects (key, name) VALUES (?1, ?2)",
            (key.as_str(), key.default_name()),
        )?;
        self.one("SELECT id FROM projects WHERE key = ?1", [key.as_str()], |row| row.get(0))
    }

    /// Records the project of a directory. The first project stays.
    pub fn directory(&self, path: &str, key: &ProjectKey) -> Result<()> {
        let project = self.project(key)?;
        self.run(
            "INSERT OR IGNORE INTO directories (path, project) VALUES (?1, ?2)",
            (path, project),
        )?;
        Ok(())
    }

    /// Returns the directories that are known of a project.
    pub fn directories_of(&self, key: &ProjectKey) -> Result<Vec<String>> {
        crate::query::directories_of(&self.transaction, key)
    }

    /// Returns the time at which a directory was first placed, and notes `now` if none was.
    pub fn placing_since(&self, now: Timestamp) -> Result<Timestamp> {
        self.run(
            "INSERT OR IGNORE INTO meta (key, value) VALUES ('placing-since', ?1)",
            [now.to_string()],
        )?;
        let since: String =
            self.one("SELECT value FROM meta WHERE key = 'placing-since'", [], |row| row.get(0))?;
        Ok(since.parse().unwrap_or(now))
    }

    /// Assigns a session to the project of its directory. Passages that the index may hold under
    /// another project get new rows.
    pub fn place_session(&self, session: i64, directory: &str) -> Result<()> {
        let project =
            self.find("SELECT project FROM directories WHERE path = ?1", [directory], |row| {
                row.get(0)
            })?;
        self.place(session, project)
    }

    /// [`Self::place_session`] for a session that names its project and no directory.
    pub fn place_session_in(&self, session: i64, key: &ProjectKey) -> Result<()> {
        self.place(session, Some(self.project(key)?))
    }

    fn place(&self, session: i64, project: Option<i64>) -> Result<()> {
        let before: Option<i64> =
            self.one("SELECT project FROM sessions WHERE id = ?1", [session], |row| row.get(0))?;
        if before != project {
            // In the project that it leaves, too.
            self.unfold(session)?;
            self.run("UPDATE sessions SET project = ?2 WHERE id = ?1", (session, project))?;
            self.transaction.execute("DELETE FROM meta WHERE key = 'projects-merged'", [])?;
            let rows: Vec<i64> =
                self.select("SELECT row FROM passages WHERE session = ?1", [session], |row| {
                    row.get(0)
                })?;
            for row in rows {
                self.renew(Collection::Passages, row)?;
            }
            self.place_memories(session)?;
            self.unfold(session)?;
        }
        Ok(())
    }

    /// Renames a project; `None` restores its original name.
    pub fn rename_project(&self, key: &ProjectKey, name: Option<&str>) -> Result<()> {
        let project = self.project(key)?;
        let name = name.map_or_else(|| key.default_name().to_owned(), str::to_owned);
        self.transaction.execute("UPDATE projects SET name = ?2 WHERE id = ?1", (project, name))?;
        Ok(())
    }

    /// Undoes all merges of projects.
    pub fn part_projects(&self) -> Result<()> {
        self.transaction
            .execute("UPDATE projects SET merged_into = NULL WHERE merged_into IS NOT NULL", [])?;
        Ok(())
    }

    /// Merges one project into another. Merging a project into itself, or in a circle, does nothing.
    pub fn merge_project(&self, from: &ProjectKey, into: &ProjectKey) -> Result<()> {
        let (from, into) = (self.project(from)?, self.project(into)?);
        let into = crate::query::merged_project(&self.transaction, into)?;
        if crate::query::merged_project(&self.transaction, from)? != into {
            self.transaction.execute(
                "UPDATE projects SET merged_into = ?2 WHERE ?1 IN (id, merged_into)",
                (from, into),
            )?;
        }
        Ok(())
    }

    /// True if no session came to a project since [`Batch::merge_gone_worktrees`].
    pub fn has_merged_projects(&self) -> Result<bool> {
        self.exists("SELECT 1 FROM meta WHERE key = 'projects-merged'", [])
    }

    /// Merges directories outside git that are gone worktrees, or lie below a directory where an agent saw a branch, into
    /// the project of their repository, unless they were merged already. The result depends on the projects, the
    /// directories and the sessions of the store, not on their order.
    pub fn merge_gone_worktrees(&self) -> Result<()> {
        // A repository that was known by its worktrees alone, until it was seen itself.
        for key in self.unmerged()?.keys() {
            if let Some(directory) = key.outside_git()
                && let Some(into) = self.project_of_directory(directory)?
            {
                self.merge_project(key, &into)?;
            }
        }
        let projects = self.unmerged()?;
        for key in projects.keys() {
            if let Some(directory) = key.outside_git()
                && let Some(into) = self.repository_of(directory, &projects)?
                && into != *key
            {
                self.merge_project(key, &into)?;
            }
        }
        self.transaction.execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('projects-merged', '1')",
            [],
        )?;
        Ok(())
    }

    /// Returns the project of the repository that a directory outside git was part of.
    fn repository_of(
        &self,
        directory: &str,
        projects: &BTreeMap<ProjectKey, i64>,
    ) -> Result<Option<ProjectKey>> {
        if let Some(root) = worktree_root(directory) {
            let known = self.project_of_directory(root)?;
            return Ok(Some(known.unwrap_or_else(|| ProjectKey::directory(root))));
        }
        let names: Vec<&str> = worktree_names(directory).collect();
        let mut namesakes = projects.keys().filter(|key| {
            let other = key.outside_git().unwrap_or_default();
            names.contains(&key.default_name())
                && worktree_root(other).is_none()
                && worktree_names(other).next().is_none()
        });
        if let (Some(only), None) = (namesakes.next(), namesakes.next()) {
            return Ok(Some(only.clone()));
        }
        let mut above = directory;
        while let Some((parent, _)) = above.rsplit_once(['/', '\\']) {
            above = parent;
            let key = ProjectKey::directory(above);
            if let Some(project) = projects.get(&key)
                && !holds_projects(above)
                && self.has_branch(*project)?
            {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// The projects that are not merged into another.
    fn unmerged(&self) -> Result<BTreeMap<ProjectKey, i64>> {
        self.select("SELECT key, id FROM projects WHERE merged_into IS NULL", [], |row| {
            Ok((ProjectKey::from_stored(row.get::<_, String>(0)?), row.get(1)?))
        })
    }

    fn project_of_directory(&self, path: &str) -> Result<Option<ProjectKey>> {
        crate::query::project_of_directory(&self.transaction, path)
    }

    /// True if an agent saw a branch in a session of this project.
    fn has_branch(&self, project: i64) -> Result<bool> {
        self.exists(
            "SELECT 1 FROM sessions WHERE project = ?1 AND json_extract(facts, '$.branch') <> ''",
            [project],
        )
    }
}
