//! Statements in one call each: prepared once, run, and read.

use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::error::Result;
use crate::store::Store;
use crate::write::Batch;

/// Runs statements, which stay prepared in the cache of the connection.
pub(crate) trait Statements {
    /// The connection that runs them.
    fn connection(&self) -> &Connection;

    /// Returns what `read` makes of each row.
    fn select<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C> {
        let mut statement = self.connection().prepare_cached(sql)?;
        let rows = statement.query_map(parameters, read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns what `read` makes of the first row, if there is one.
    fn find<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.connection().prepare_cached(sql)?.query_row(parameters, read).optional()?)
    }

    /// Returns what `read` makes of the first row; without one it fails.
    fn one<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        Ok(self.connection().prepare_cached(sql)?.query_row(parameters, read)?)
    }

    /// Returns true if there is a row.
    fn exists(&self, sql: &str, parameters: impl Params) -> Result<bool> {
        Ok(self.connection().prepare_cached(sql)?.exists(parameters)?)
    }

    /// Runs a statement that returns no rows, and returns the number of rows that it changed.
    fn run(&self, sql: &str, parameters: impl Params) -> Result<usize> {
        Ok(self.connection().prepare_cached(sql)?.execute(parameters)?)
    }
}

impl Statements for Store {
    fn connection(&self) -> &Connection {
        &self.connection
    }
}

impl Statements for Batch<'_> {
    fn connection(&self) -> &Connection {
        &self.transaction
    }
}

impl Statements for Connection {
    fn connection(&self) -> &Connection {
        self
    }
}
