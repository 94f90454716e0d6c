//! Reading: rows in the vocabulary of `thru-core`.

mod activity;
mod changes;
mod compactions;
mod episodes;
mod events;
mod graph;
mod holdings;
mod imports;
mod jobs;
mod memories;
mod operations;
mod passages;
mod projects;
mod refinements;
mod sessions;
mod sources;
mod texts;

use rusqlite::Connection;

use crate::error::Result;

pub use activity::{Moment, MomentFilter, Newest};
pub use changes::{LastRows, NewRows, SessionNews};
pub use compactions::{CompactionRow, SnapshotRow};
pub use episodes::{Episode, ReportedLifecycle, SessionState};
pub(crate) use episodes::{current_episode, session_state_of};
pub use events::{EventRow, InjectionRow, LaterUse};
pub use graph::{EntityRow, FactFilter, FactRow, FactTime};
pub use holdings::Holdings;
pub use jobs::{JobKind, JobRow};
pub(crate) use memories::version_key;
pub use memories::{MemoryBody, MemoryFilter, MemoryFlags, MemoryRow};
pub use operations::OperationRow;
pub(crate) use passages::passage_place;
pub use passages::{PassageFilter, PassageRow, SourceRecord, Touch, TouchedFile};
pub use projects::{ProjectName, ProjectRow};
pub(crate) use projects::{directories_of, merged_project, project_of_directory};
pub use refinements::{RefinementRow, SpendingFilter, SpendingRow, TurnFilter, TurnRow};
pub(crate) use sessions::SessionBelonging;
pub use sessions::{SessionFilter, SessionPlace, SessionRow, TimedSession};
pub(crate) use sources::sources_of;
pub use sources::{Counts, SourceCursor, SourceRow, Stamped};
pub use texts::StoredText;

/// Reads the agent of a session.
pub(crate) fn agent(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<thru_core::Agent> {
    let name: String = row.get(column)?;
    name.parse().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Text,
            Box::new(error),
        )
    })
}

/// Reads the kind of a source.
fn source_kind(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<thru_core::SourceKind> {
    let name: String = row.get(column)?;
    thru_core::SourceKind::named(&name).ok_or_else(|| {
        let error = format!("unknown kind of source `{name}`").into();
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error)
    })
}

/// Returns placeholders for a list of values.
fn in_list(count: usize) -> String {
    let mut list = "?,".repeat(count);
    list.pop();
    list
}

fn count(connection: &Connection, sql: &str) -> Result<u64> {
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}
