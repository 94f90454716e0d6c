//! Reading: rows in the vocabulary of `thru-core`.

mod passages;
mod projects;
mod sessions;
mod sources;

use rusqlite::Connection;

use crate::error::Result;

pub(crate) use passages::passage_place;
pub use passages::{PassageFilter, PassageRow, ScoredFile, SourceRecord};
pub use projects::{ProjectName, ProjectRow};
pub(crate) use projects::merged_project;
pub use sessions::{SessionFilter, SessionRow};
pub(crate) use sources::sources_of;
pub use sources::{Counts, SourceCursor, SourceRow};

/// Reads the agent of a session.
fn agent(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<thru_core::Agent> {
    let name: String = row.get(column)?;
    name.parse().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Text,
            Box::new(error),
        )
    })
}

/// Place holders for a list of values.
fn in_list(count: usize) -> String {
    let mut list = "?,".repeat(count);
    list.pop();
    list
}

fn count(connection: &Connection, sql: &str) -> Result<u64> {
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}
