//! The passages of a store, by session, as far as hooks and transcripts can both know them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use rusqlite::Connection;
use thru_core::{Layout, Outcome, PassageKind, SourceKind};
use thru_store::{PassageFilter, SessionFilter, Store};

/// A passage.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) kind: PassageKind,
    /// The identity of the event on both sides.
    pub(super) fingerprint: Option<i64>,
    pub(super) is_of_subagent: bool,
    pub(super) turn: u32,
    pub(super) tool: Option<String>,
    pub(super) command: Option<String>,
    pub(super) outcome: Option<Outcome>,
    pub(super) files: Vec<String>,
    pub(super) text: String,
    /// True if only hooks report it.
    pub(super) is_of_hooks: bool,
}

/// The passages of each session, in their order.
pub(super) fn of(home: &Path) -> Result<BTreeMap<String, Vec<Row>>> {
    let layout = Layout::new(home);
    let store = Store::open_to_read(&layout)?;
    let database = Connection::open(layout.database())?;
    let mut fingerprint = database.prepare("SELECT fingerprint FROM passages WHERE row = ?1")?;
    let sources: BTreeMap<i64, SourceKind> =
        store.sources()?.into_iter().map(|source| (source.row, source.kind)).collect();
    let sessions: BTreeMap<i64, String> = store
        .sessions(&SessionFilter::default())?
        .into_iter()
        .map(|session| (session.row, session.key.id.as_str().to_owned()))
        .collect();
    let mut found: BTreeMap<String, Vec<(u32, u32, Row)>> = BTreeMap::new();
    let mut from = 0;
    loop {
        let rows = store.passages(PassageFilter::After { row: from, limit: 10_000 })?;
        let Some(last) = rows.last() else { break };
        from = last.row;
        for row in &rows {
            let Some(session) = sessions.get(&row.session) else { continue };
            let files = store.files_of(row)?.into_iter().map(|file| format!("{file:?}")).collect();
            let made = Row {
                kind: row.kind,
                fingerprint: fingerprint.query_row([row.row], |found| found.get(0))?,
                is_of_subagent: row.agent_id.is_some(),
                turn: row.turn,
                tool: row.tool.clone(),
                command: row.command.clone(),
                outcome: row.outcome,
                files,
                text: store.text_of(row)?,
                is_of_hooks: sources.get(&row.source) == Some(&SourceKind::Hooks),
            };
            found.entry(session.clone()).or_default().push((row.turn, row.ordinal, made));
        }
    }
    Ok(found
        .into_iter()
        .map(|(session, mut rows)| {
            rows.sort_by_key(|(turn, ordinal, _)| (*turn, *ordinal));
            (session, rows.into_iter().map(|(.., row)| row).collect())
        })
        .collect())
}
