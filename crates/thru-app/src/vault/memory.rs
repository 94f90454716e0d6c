//! The content of notes, read from the store.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use thru_core::{EntityKind, Id, Relation, Timestamp};
use thru_intake::{LineChange, Operation, RecordedMemory};
use thru_lifecycle::conversation::MessageState;
use thru_redact::{Clean, Redactor};
use thru_store::{
    FactFilter, MemoryBody, MemoryFilter, MemoryRow, OperationRow, SessionFilter, SessionRow, Store,
};
use thru_vault::{Archived, Decided, GraphFact, LineId, Memory, SessionMemory, Tells, ToldMemory};

use crate::app::App;
use crate::ask::{cleaned, memory};
use crate::trouble::Result;

/// The name of sessions that belong to no project.
const NO_PROJECT: &str = "elsewhere";

/// Reads everything that notes are made of, but for what is known of the vault on this machine.
///
/// # Errors
/// Fails if the store cannot be read.
pub(super) fn load(app: &App, store: &Store, redactor: &Redactor) -> Result<Memory> {
    let operations = store.operations()?;
    let filter = MemoryFilter { oldest_first: true, ..MemoryFilter::default() };
    let (bodies, notes) = bodies(store, redactor, store.memories(&filter)?)?;
    let rows = store.sessions(&SessionFilter::default())?;
    let sessions = sessions(app, redactor, rows, bodies);
    let told = told(store, redactor, &operations, notes)?;
    let facts = facts(store, redactor)?;
    let decided = decided(&operations, redactor);
    Ok(Memory { sessions, told, facts, decided, ..Memory::default() })
}

/// Reads what the notes of these sessions are made of, as long as what is known of them stands in no other note.
///
/// # Errors
/// Fails if the store cannot be read.
pub(super) fn load_sessions(
    app: &App,
    store: &Store,
    redactor: &Redactor,
    rows: &[i64],
) -> Result<Memory> {
    let mut memories = Vec::new();
    for row in rows {
        let filter =
            MemoryFilter { session: Some(*row), oldest_first: true, ..MemoryFilter::default() };
        memories.extend(store.memories(&filter)?);
    }
    let (bodies, _) = bodies(store, redactor, memories)?;
    let filter = SessionFilter { rows: Some(rows.to_vec()), ..SessionFilter::default() };
    let sessions = sessions(app, redactor, store.sessions(&filter)?, bodies);
    let of_session = |one: &SessionMemory| {
        [one.key.id.as_str().to_owned(), Memory::note_of(&one.key).to_string()]
    };
    let words: Vec<String> = sessions.iter().flat_map(of_session).collect();
    let operations = store.operations_with(&words)?;
    let mut notes = Vec::new();
    for id in written_in(&operations).keys() {
        notes.extend(store.memory(id)?);
    }
    notes.sort_by_key(|row| (row.at, row.row));
    let (_, notes) = self::bodies(store, redactor, notes)?;
    let told = told(store, redactor, &operations, notes)?;
    let decided = decided(&operations, redactor);
    Ok(Memory { sessions, told, decided, ..Memory::default() })
}

/// The bodies of memories by their sessions, in order.
type Bodies = HashMap<Option<i64>, Vec<Clean<MemoryBody>>>;
/// What was recorded outside of sessions.
type NoteBodies = Vec<(MemoryRow, Clean<MemoryBody>)>;

/// Reads the bodies of memories.
fn bodies(
    store: &Store,
    redactor: &Redactor,
    rows: Vec<MemoryRow>,
) -> Result<(Bodies, NoteBodies)> {
    let mut rows: Vec<(usize, MemoryRow)> = rows.into_iter().enumerate().collect();
    // Texts that were written together lie together, and are unpacked together.
    rows.sort_unstable_by_key(|(_, row)| row.row);
    let mut read = Vec::with_capacity(rows.len());
    for (place, row) in rows {
        let body = memory::body(store, redactor, &row)?;
        read.push((place, row, body));
    }
    read.sort_unstable_by_key(|(place, ..)| *place);
    let (mut bodies, mut notes) = (Bodies::new(), Vec::new());
    for (_, row, body) in read {
        match row.flags.is_note {
            true => notes.push((row, body)),
            false => bodies.entry(row.session).or_default().push(body),
        }
    }
    Ok((bodies, notes))
}

fn sessions(
    app: &App,
    redactor: &Redactor,
    rows: Vec<SessionRow>,
    mut bodies: Bodies,
) -> Vec<SessionMemory> {
    let mut sessions = Vec::new();
    for row in rows {
        let Some(own) = bodies.remove(&Some(row.row)) else { continue };
        sessions.extend(session(app, redactor, &row, own));
    }
    sessions.sort_by_key(|one| (one.started, one.key.clone()));
    sessions
}

fn told(
    store: &Store,
    redactor: &Redactor,
    operations: &[OperationRow],
    notes: NoteBodies,
) -> Result<Vec<ToldMemory>> {
    let written_in = written_in(operations);
    let mut told = Vec::new();
    for (row, body) in notes {
        let MemoryBody::Observation(observation) = body.into_inner() else { continue };
        let project = row.project.map(|row| store.project_name(row)).transpose()?.flatten();
        let named = store.foreign_name(&row)?;
        told.push(ToldMemory {
            teller: memory::teller(&row.flags, named.as_ref()),
            written_in: written_in.get(&observation.id).cloned(),
            project: project.map(|name| cleaned(redactor, &name).into_inner()),
            observation: *observation,
        });
    }
    Ok(told)
}

/// Returns the time at which a session is over, if it is.
pub(super) fn closed(app: &App, row: &SessionRow) -> Option<Timestamp> {
    let conversation = row.lifecycle.at(app.clock.now(), &app.limits())?;
    match conversation.messages() {
        MessageState::Closed(close) => Some(close.at),
        MessageState::New | MessageState::Nothing => conversation.ended().map(|close| close.at),
    }
}

/// Reads what was decided about the vault.
///
/// # Errors
/// Fails if the store cannot be read.
pub(super) fn decisions(store: &Store, redactor: &Redactor) -> Result<Decided> {
    Ok(decided(&store.operations()?, redactor))
}

fn session(
    app: &App,
    redactor: &Redactor,
    row: &SessionRow,
    bodies: Vec<Clean<MemoryBody>>,
) -> Option<SessionMemory> {
    let (started, ended) = (row.started?, row.ended?);
    let mut session = SessionMemory {
        key: row.key.clone(),
        project: text(redactor, row.project_name.as_ref()).unwrap_or_else(|| NO_PROJECT.to_owned()),
        title: text(redactor, row.title.as_ref()),
        started,
        ended,
        closed: closed(app, row),
        directory: text(redactor, row.facts.directory.as_ref()),
        branch: text(redactor, row.facts.branch.as_ref()),
        summary: None,
        observations: Vec::new(),
    };
    for body in bodies {
        match body.into_inner() {
            MemoryBody::Observation(one) => session.observations.push(*one),
            MemoryBody::Summary(summary) => session.summary = Some(*summary),
        }
    }
    Some(session)
}

fn text(redactor: &Redactor, text: Option<&String>) -> Option<String> {
    text.map(|text| cleaned(redactor, text).into_inner())
}

/// Returns the facts that hold and that notes show.
fn facts(store: &Store, redactor: &Redactor) -> Result<Vec<GraphFact>> {
    let relations = Some(vec![Relation::FixedBy, Relation::DependsOn, Relation::Toolchain]);
    let rows = store.facts(&FactFilter { relations, ..FactFilter::default() })?;
    let numbers: Vec<i64> = rows.iter().map(|row| row.row).collect();
    let mut evidence = store.evidence_of(&numbers)?;
    let mut projects: HashMap<i64, Option<String>> = HashMap::new();
    let clean = |text: &str| cleaned(redactor, text).into_inner();
    let mut facts = Vec::new();
    for row in rows {
        let Some(project) = row.subject.project else { continue };
        if let Entry::Vacant(unknown) = projects.entry(project) {
            unknown.insert(store.project_name(project)?);
        }
        let Some(Some(project)) = projects.get(&project) else { continue };
        let other = clean(row.object_shown());
        let tells = match row.relation {
            Relation::FixedBy => Tells::Fixed {
                problem: clean(&row.subject.name),
                by: other,
                file: row
                    .object
                    .filter(|object| object.kind == EntityKind::File)
                    .map(|object| clean(&object.key)),
            },
            _ => Tells::BuiltOf(
                format!("built with {other} {}", clean(&row.note)).trim_end().to_owned(),
            ),
        };
        let shown = evidence.remove(&row.row).unwrap_or_default().into_iter();
        facts.push(GraphFact {
            id: row.id,
            project: clean(project),
            from: row.from,
            passages: shown.map(|one| one.passage).collect(),
            tells,
        });
    }
    Ok(facts)
}

/// Returns the decisions that hold, earliest first.
fn holding(operations: &[OperationRow]) -> impl Iterator<Item = (&OperationRow, Operation)> {
    let holding = operations.iter().filter(|row| row.undone.is_none());
    holding.filter_map(|row| Some((row, Operation::read(&row.kind, &row.body)?)))
}

/// Returns the places in the vault where memories were written.
fn written_in(operations: &[OperationRow]) -> HashMap<Id, (Id, String)> {
    let told = holding(operations).filter_map(|(row, operation)| match operation {
        Operation::MemoryRecorded(RecordedMemory { written_in: Some(place), .. }) => {
            Some((RecordedMemory::id(&row.key), (place.note, place.section)))
        }
        _ => None,
    });
    told.collect()
}

fn decided(operations: &[OperationRow], redactor: &Redactor) -> Decided {
    let mut decided = Decided::default();
    for (row, operation) in holding(operations) {
        match operation {
            Operation::NoteArchived { session, reason } => {
                let at = row.at.unwrap_or(Timestamp::UNIX_EPOCH);
                decided.taken_out.remove(&session);
                decided.archived.insert(session, Archived { at, reason });
            }
            Operation::NoteUnarchived { session } => {
                decided.archived.remove(&session);
                decided.taken_out.insert(session);
            }
            Operation::NotePromoted { note } => {
                let at = row.at.unwrap_or(Timestamp::UNIX_EPOCH);
                decided.promoted.insert(note, at);
            }
            Operation::NoteHidden { note } => {
                decided.hidden_notes.insert(note);
            }
            Operation::NoteLineChanged { note, line, change } => {
                let Some(line) = LineId::parse(&line) else { continue };
                match change {
                    LineChange::Text(text) => {
                        let text = cleaned(redactor, &text).into_inner();
                        decided.texts.entry(note).or_default().insert(line, text);
                    }
                    LineChange::Done(is_done) => {
                        decided.done.insert(line, is_done);
                    }
                    LineChange::Hidden => {
                        decided.hidden.entry(note).or_default().insert(line);
                    }
                }
            }
            _ => {}
        }
    }
    decided
}
