//! The content of a data directory, as sorted lines. Two directories with the same content have
//! the same lines, whatever numbers their rows have.

use std::collections::HashMap;
use std::sync::Arc;

use thru_core::{Layout, PassageKind, SystemClock};
use thru_intake::Intake;
use thru_journal::archive::Archive;
use thru_store::index::{IndexFilter, IndexWriter, QueryTerms, TextIndex};
use thru_store::{PassageFilter, SessionFilter, Store};

use crate::machine::options;

/// The lines of archive, store and projections.
pub fn dump(layout: &Layout) -> Vec<String> {
    let mut lines = store(layout);
    lines.extend(archive(layout));
    let intake = Intake::new(layout.clone(), Arc::new(SystemClock), options()).unwrap();
    lines.extend(intake.dump(&Store::open_to_read(layout).unwrap()).unwrap());
    lines.sort();
    lines
}

/// The lines of the archive: every line of every entry.
pub fn archive(layout: &Layout) -> Vec<String> {
    let archive = Archive::new(layout.archive());
    let mut lines = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut reader = archive.reader(&entry).unwrap().unwrap();
        let session = reader.info().map(|info| info.session.to_string()).unwrap_or_default();
        for block in reader.blocks_from(0) {
            for (number, line) in block.unwrap().iter() {
                let text = String::from_utf8_lossy(line);
                lines.push(format!("archive {entry} ({session}) {number}: {text}"));
            }
        }
    }
    lines
}

/// The lines of the store: passages, sessions, projects, cursors of files, counters.
pub fn store(layout: &Layout) -> Vec<String> {
    let store = Store::open_to_read(layout).unwrap();
    let mut lines = passages(&store);
    lines.extend(compactions(&store));
    for session in store.sessions(&SessionFilter::default()).unwrap() {
        let facts = serde_json::to_string(&session.facts).unwrap();
        lines.push(format!(
            "session {}: project {:?}, title {:?}, {:?} to {:?}, {} turns, {} passages, {facts}",
            session.key.id,
            session.project_name,
            session.title,
            session.started.map(|t| t.to_string()),
            session.ended.map(|t| t.to_string()),
            session.turns,
            session.passages,
        ));
    }
    for source in store.sources().unwrap() {
        lines.push(format!("source {} {}: {} lines", source.kind, source.entry, source.lines));
    }
    for project in store.projects().unwrap() {
        lines.push(format!(
            "project {} {}: {} sessions, {} passages, {:?}",
            project.key, project.name, project.sessions, project.passages, project.merged
        ));
    }
    for (name, count) in store.record_types().unwrap() {
        lines.push(format!("records {name}: {count}"));
    }
    for (name, count) in store.diagnostics().unwrap() {
        lines.push(format!("trouble {name}: {count}"));
    }
    lines.sort();
    lines
}

fn passages(store: &Store) -> Vec<String> {
    let sessions: HashMap<i64, String> = store
        .sessions(&SessionFilter::default())
        .unwrap()
        .into_iter()
        .map(|session| (session.row, session.key.id.to_string()))
        .collect();
    let entries: HashMap<i64, String> =
        store.sources().unwrap().into_iter().map(|source| (source.row, source.entry)).collect();
    let rows = store.passages(PassageFilter::After { row: 0, limit: 1_000_000 }).unwrap();
    rows.iter()
        .map(|row| {
            format!(
                "passage {}: session {} entry {} turn {} ordinal {} {} subagent {:?} tool {:?} \
                 command {:?} outcome {:?} at {:?} records {:?} files {:?} text {:?}",
                row.id,
                sessions[&row.session],
                entries[&row.source],
                row.turn,
                row.ordinal,
                row.kind,
                row.agent_id,
                row.tool,
                row.command,
                row.outcome,
                row.at.map(|at| at.to_string()),
                row.records.iter().map(|r| format!("{}@{}", r.id, r.line)).collect::<Vec<_>>(),
                store.files_of(row).unwrap(),
                store.text_of(row).unwrap(),
            )
        })
        .collect()
}

fn compactions(store: &Store) -> Vec<String> {
    let sessions = store.sessions(&SessionFilter::default()).unwrap();
    let mut lines = Vec::new();
    for session in sessions {
        let id = &session.key.id;
        for one in store.compactions(session.row).unwrap() {
            lines.push(format!(
                "compaction {}: session {id} at {:?} {} {:?} {:?} {:?} {:?} {:?} {:?}",
                one.record,
                one.at.map(|at| at.to_string()),
                one.trigger,
                one.place.map(|(_, ordinal)| ordinal),
                (one.before, one.after),
                one.event,
                one.asked,
                one.summary,
                store.snapshot_of(&one).unwrap().map(|snapshot| snapshot.key),
            ));
        }
        for one in store.snapshots(session.row).unwrap() {
            lines.push(format!("snapshot {}: session {id} {:?}", one.key, one.snapshot));
        }
    }
    lines
}

/// The texts of all passages of a kind, in the order of the dump.
pub fn texts(layout: &Layout, kind: PassageKind) -> Vec<String> {
    let store = Store::open_to_read(layout).unwrap();
    let rows = store.passages(PassageFilter::After { row: 0, limit: 1_000_000 }).unwrap();
    let mut texts: Vec<String> =
        rows.iter().filter(|row| row.kind == kind).map(|row| store.text_of(row).unwrap()).collect();
    texts.sort();
    texts
}

/// The index's results for some words: passages by id, with the contribution of each word to the score.
pub fn answers(layout: &Layout, words: &[&str]) -> Vec<String> {
    let store = Store::open_to_read(layout).unwrap();
    let index = TextIndex::open(layout, &store).unwrap();
    assert_eq!(index.rows_left_out, 0);
    let ids: HashMap<i64, String> = store
        .passages(PassageFilter::After { row: 0, limit: 1_000_000 })
        .unwrap()
        .into_iter()
        .map(|row| (row.row, row.id.to_string()))
        .collect();
    let mut lines = Vec::new();
    for word in words {
        let query = QueryTerms { terms: vec![(*word).to_owned()], ..QueryTerms::default() };
        let found = index.candidates(&query, &IndexFilter::default(), 1_000).unwrap();
        for candidate in found.found {
            if let Some(id) = ids.get(&candidate.row) {
                lines.push(format!("{word}: {id} {:?} {:?}", candidate.contributions, found.idf));
            }
        }
    }
    lines.sort();
    lines
}

/// Merges the index into one piece, so that equal stores give equal scores.
pub fn merge_index(layout: &Layout) {
    let store = Store::open_to_read(layout).unwrap();
    let mut index = IndexWriter::open(layout, &store, 1, 20_000_000).unwrap();
    index.catch_up(&store).unwrap();
    index.commit().unwrap();
    index.merge_all().unwrap();
    index.finish().unwrap();
}
