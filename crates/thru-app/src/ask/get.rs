//! Memories and passages whole, by id.

use std::borrow::Cow;
use std::collections::BTreeSet;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::Value;
use thru_core::ForeignName;
use thru_intake::Intake;
use thru_redact::Clean;
use thru_store::{MemoryRow, PassageRow, Store};

use super::Opened;
use super::memory::{self, WholeMemory};
use super::passage::{PassageEntry, named_passage};
use super::session::SessionEntry;
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::{Freshness, Prepared};
use crate::trouble::{Remedy, Result, Trouble};

/// Passages given of those that a memory was made from.
const SOURCES: usize = 30;

/// A request for memories and passages.
#[derive(Clone, Debug)]
pub struct Get {
    /// Ids, or what starts them.
    pub ids: Vec<String>,
    /// The sources to add.
    pub sources: Sources,
    /// The freshness of the answer.
    pub freshness: Freshness,
}

/// The sources that are added to memories and passages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sources {
    /// None.
    None,
    /// The passages that a memory was made from.
    Passages,
    /// The records that a passage, or the passages of a memory, were made from.
    Records,
}

/// Memories and passages, one for each id, in order.
#[derive(Debug)]
pub struct Pieces {
    /// The pieces.
    pub pieces: Vec<Piece>,
    /// The work done to bring the answer up to date.
    pub preparation: Prepared,
}

/// A memory or a passage that was asked for.
#[derive(Debug)]
pub enum Piece {
    /// A memory.
    Memory(Box<MemoryPiece>),
    /// A passage.
    Passage(Box<PassagePiece>),
    /// Neither.
    Unknown {
        /// The id that was asked for.
        id: String,
        /// The reason.
        trouble: Trouble,
    },
}

/// A memory with its sources.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryPiece {
    /// The memory.
    #[serde(flatten)]
    pub memory: WholeMemory,
    /// The records of its passages, where they were asked for.
    #[serde(rename = "source", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Value>>")]
    pub records: Option<Vec<SourceLine>>,
    /// Its passages, where they were asked for.
    #[serde(skip)]
    pub passages: Vec<PassageEntry>,
}

/// A passage with its session and sources.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PassagePiece {
    /// The passage.
    #[serde(flatten)]
    pub entry: PassageEntry,
    /// Its session.
    pub session: Option<SessionEntry>,
    /// Its records, where they were asked for.
    #[serde(rename = "source", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Value>>")]
    pub records: Option<Vec<SourceLine>>,
}

/// A record as its agent wrote it, cleaned. It serializes as JSON where it is JSON, else as text.
#[derive(Clone, Debug)]
pub struct SourceLine(Clean<Vec<u8>>);

impl SourceLine {
    /// Its text.
    pub fn text(&self) -> Clean<String> {
        self.0.derive(|line| String::from_utf8_lossy(line).into_owned())
    }
}

impl Serialize for SourceLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_slice::<Value>(self.0.get()) {
            Ok(value) => value.serialize(serializer),
            Err(_) => serializer.serialize_str(&String::from_utf8_lossy(self.0.get())),
        }
    }
}

impl Serialize for Pieces {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pieces = || self.pieces.iter();
        let passages: Vec<&PassagePiece> = pieces()
            .filter_map(|piece| match piece {
                Piece::Passage(passage) => Some(passage.as_ref()),
                Piece::Memory(_) | Piece::Unknown { .. } => None,
            })
            .collect();
        let memories: Vec<&MemoryPiece> = pieces()
            .filter_map(|piece| match piece {
                Piece::Memory(memory) => Some(memory.as_ref()),
                Piece::Passage(_) | Piece::Unknown { .. } => None,
            })
            .collect();
        PiecesForm { version: answer::VERSION, passages, memories }.serialize(serializer)
    }
}

/// Memories and passages for programs.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "passages")]
struct PiecesForm<'a> {
    version: u32,
    passages: Vec<&'a PassagePiece>,
    memories: Vec<&'a MemoryPiece>,
}

impl JsonSchema for Pieces {
    fn schema_name() -> Cow<'static, str> {
        PiecesForm::schema_name()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        PiecesForm::json_schema(schemas)
    }
}

impl Pieces {
    /// True if any id names something.
    pub fn has_any(&self) -> bool {
        self.pieces.iter().any(|piece| !matches!(piece, Piece::Unknown { .. }))
    }

    /// The same, where every id names something.
    ///
    /// # Errors
    /// Fails if one does not.
    pub fn all_known(mut self) -> Result<Self> {
        match self.pieces.iter().position(|piece| matches!(piece, Piece::Unknown { .. })) {
            None => Ok(self),
            Some(at) => match self.pieces.swap_remove(at) {
                Piece::Unknown { trouble, .. } => Err(trouble),
                Piece::Memory(_) | Piece::Passage(_) => Ok(self),
            },
        }
    }
}

/// Reads memories and passages. An id that names nothing costs only itself.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn get(app: &App, request: &Get, call: Call<'_>) -> Result<Pieces> {
    call.check()?;
    let Opened { store, intake, preparation } = Opened::new(app, request.freshness, call)?;
    let piece = |id: &String| {
        let found = piece(app, &store, &intake, id, request.sources);
        found.unwrap_or_else(|trouble| Piece::Unknown { id: id.clone(), trouble })
    };
    Ok(Pieces { pieces: request.ids.iter().map(piece).collect(), preparation })
}

fn piece(app: &App, store: &Store, intake: &Intake, id: &str, sources: Sources) -> Result<Piece> {
    let named = memory::memory_named(store, id);
    if let Ok(Some(memory)) = &named {
        return Ok(Piece::Memory(Box::new(memory_piece(app, store, intake, memory, sources)?)));
    }
    if ForeignName::parse(id).is_some() {
        return Err(named.err().unwrap_or_else(|| memory::no_memory(id)));
    }
    match named.and_then(|_| named_passage(store, id)) {
        Ok(passage) => {
            Ok(Piece::Passage(Box::new(passage_piece(app, store, intake, &passage, sources)?)))
        }
        Err(_) if memory::names_session(store, id)? => {
            Err(Trouble::not_found(format!("`{id}` is a session"))
                .with(Remedy::OpenSession(id.to_owned())))
        }
        Err(trouble) => Err(trouble),
    }
}

fn memory_piece(
    app: &App,
    store: &Store,
    intake: &Intake,
    memory: &MemoryRow,
    sources: Sources,
) -> Result<MemoryPiece> {
    let memory =
        WholeMemory::read(app, store, intake.redactor(), memory)?.naming_passages(store)?;
    let ids = memory.body.get().sources();
    let mut passages = Vec::new();
    let mut lines = Vec::new();
    match sources {
        Sources::None => {}
        Sources::Passages => {
            for id in ids.iter().take(SOURCES) {
                if let Some(row) = store.passage(id)? {
                    passages.push(PassageEntry::read(store, intake.redactor(), &row)?);
                }
            }
        }
        Sources::Records => {
            for id in &ids {
                if let Some(row) = store.passage(id)? {
                    lines.extend(records(store, intake, &row)?);
                }
            }
        }
    }
    let records = (sources == Sources::Records).then_some(lines);
    Ok(MemoryPiece { memory, records, passages })
}

fn passage_piece(
    app: &App,
    store: &Store,
    intake: &Intake,
    passage: &PassageRow,
    sources: Sources,
) -> Result<PassagePiece> {
    let session = store.session(passage.session)?;
    Ok(PassagePiece {
        entry: PassageEntry::read(store, intake.redactor(), passage)?,
        session: session.map(|session| SessionEntry::new(app, intake.redactor(), &session)),
        records: match sources {
            Sources::Records => Some(records(store, intake, passage)?),
            Sources::None | Sources::Passages => None,
        },
    })
}

/// The records of a passage, from archive or journal.
fn records(store: &Store, intake: &Intake, passage: &PassageRow) -> Result<Vec<SourceLine>> {
    let Some(source) = store.source(passage.source)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for record in passage.records.iter().filter(|record| seen.insert(&record.id)) {
        let line = intake.source_record(&source, record)?.ok_or_else(|| {
            Trouble::failed(format!("record {} is lost", record.id))
                .run("verify", "shows what else is missing")
        })?;
        found.push(SourceLine(line));
    }
    Ok(found)
}
