//! A home as the first version would have left it: for upgrades to be killed.

use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::Connection;
use thru_core::{Id, Layout};
use thru_store::Store;

/// Paths that are added so that the upgrade takes a while: they were not touched.
const FILLERS: i64 = 200_000;

/// Copies the home `new` to `old`, its store brought back to the first schema.
pub(super) fn make(new: &Path, old: &Path) -> Result<()> {
    crate::home::copy(new, old)?;
    let layout = Layout::new(old);
    for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        match std::fs::remove_file(old.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    drop(Store::open_at_schema(&layout, Id::derive(&[b"bench"]), 1)?);
    let database = Connection::open(layout.database())?;
    database.pragma_update(None, "foreign_keys", false)?;
    let source = Layout::new(new).database();
    database.execute("ATTACH ?1 AS new", [source.to_string_lossy()])?;
    database.execute_batch("BEGIN")?;
    for table in names(&database, "SELECT name FROM main.sqlite_schema WHERE type = 'table'")? {
        if table.starts_with("sqlite_") {
            continue;
        }
        let columns =
            names(&database, &format!("SELECT name FROM pragma_table_info('{table}', 'main')"))?;
        let columns = columns.join(", ");
        database
            .execute_batch(&format!(
                "DELETE FROM main.{table};
                 INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table};"
            ))
            .with_context(|| format!("cannot copy the table {table}"))?;
    }
    database.execute_batch(&format!(
        "UPDATE main.sqlite_sequence SET seq = (SELECT n.seq FROM new.sqlite_sequence n WHERE n.name = 'passages')
         WHERE name = 'passages';
         WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {FILLERS})
         INSERT INTO main.files (path) SELECT '/filler/' || (n % 997) || '/file' || n || '.rs' FROM number;
         -- One file that seems new, so that the import has a reason to open the store.
         UPDATE main.sources SET size = NULL, modified = NULL WHERE id = (SELECT min(id) FROM main.sources);
         COMMIT;"
    ))?;
    Ok(())
}

fn names(database: &Connection, sql: &str) -> Result<Vec<String>> {
    let mut statement = database.prepare(sql)?;
    let names = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(names)
}
