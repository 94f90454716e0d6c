//! Memories in answers: as an entry of a list, and whole.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use thru_core::{
    FileState, ForeignName, Id, IdPrefix, Made, MemoryKind, Merged, ProjectKey, SessionId,
    Timestamp, WorkOutcome,
};
use thru_recall::{Freshness, Since};
use thru_redact::{Clean, Redactor, Report};
use thru_store::{
    MemoryBody, MemoryFilter, MemoryFlags, MemoryRow, SessionFilter, SessionRow, Store,
};

use super::cleaned;
use super::session::SessionEntry;
use crate::app::App;
use crate::disk::RealDisk;
use crate::trouble::{Listing, MemoryAction, Remedy, Result, Trouble};

/// Reads the memory whose id starts so; `None` where there is none.
///
/// # Errors
/// Fails if `id` is not an id, several memories or also a passage start so, or the store cannot be read.
pub fn memory_named(store: &Store, id: &str) -> Result<Option<MemoryRow>> {
    if let Some(named) = ForeignName::parse(id) {
        return imported_as(store, &named);
    }
    let prefix: IdPrefix = id.parse()?;
    let mut found = store.memories_by_prefix(&prefix, 4)?;
    match found.len() {
        0 => Ok(None),
        // Ids that are shown are unique among both; one from yesterday may no longer be.
        1 if prefix.complete().is_none() && !store.passages_by_prefix(&prefix, 1)?.is_empty() => {
            let own = store.short_id(&found[0].id)?;
            Err(Trouble::ambiguous(format!("a memory and a passage start with `{id}`"))
                .advise(format!("write more of it: the memory is {own}")))
        }
        1 => Ok(Some(found.swap_remove(0))),
        _ => {
            let ids = found.iter().map(|memory| store.short_id(&memory.id));
            Err(Trouble::ambiguous(format!("several memories start with `{id}`"))
                .with(Remedy::WriteMore(ids.collect::<Result<_, _>>()?)))
        }
    }
}

/// Reads the memory that has this name in the program it was imported from.
fn imported_as(store: &Store, named: &ForeignName) -> Result<Option<MemoryRow>> {
    let mut found = store.memories_imported_as(named)?;
    if found.len() < 2 {
        return Ok(found.pop());
    }
    let ids = found.iter().map(|memory| store.short_id(&memory.id));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    Err(Trouble::ambiguous(format!("{named} was imported from several places"))
        .advise(format!("name one by its id: {}", ids.join(", "))))
}

/// Reads the memory whose id starts so, for an action that only memories allow.
///
/// # Errors
/// As [`memory_named`], and where the id names a session, a passage or nothing.
pub fn required_memory(store: &Store, id: &str, action: MemoryAction) -> Result<MemoryRow> {
    // The id of a session may hold characters that no id of ours has.
    let is_name = ForeignName::parse(id).is_some();
    if (is_name || id.parse::<IdPrefix>().is_ok())
        && let Some(memory) = memory_named(store, id)?
    {
        return Ok(memory);
    }
    if is_name {
        return Err(no_memory(id));
    }
    if names_session(store, id)? {
        return Err(Trouble::not_found(format!("`{id}` is a session, not a memory"))
            .with(Remedy::NotASession(action)));
    }
    if !store.passages_by_prefix(&id.parse()?, 1)?.is_empty() {
        return Err(Trouble::not_found(format!(
            "`{id}` is a passage: a part of a session as it was recorded"
        ))
        .with(Remedy::NotAPassage(action)));
    }
    Err(no_memory(id))
}

pub(super) fn no_memory(id: &str) -> Trouble {
    Trouble::not_found(format!("there is no memory `{id}`")).with(Remedy::See(Listing::Memories))
}

/// True if a session's id starts so. Fewer than four characters name none.
pub(super) fn names_session(store: &Store, id: &str) -> Result<bool> {
    let id_prefix = Some(id.to_owned());
    let filter = SessionFilter { id_prefix, limit: Some(1), ..SessionFilter::default() };
    Ok(id.len() >= 4 && !store.sessions(&filter)?.is_empty())
}

/// Reads the session of a memory, where it comes from one.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn session_of(store: &Store, memory: &MemoryRow) -> Result<Option<SessionRow>> {
    match memory.session {
        Some(row) => Ok(store.session(row)?),
        None => Ok(None),
    }
}

/// A path without the directory that its session worked in.
pub fn relative<'p>(path: &'p str, directory: Option<&str>) -> &'p str {
    directory
        .and_then(|directory| path.strip_prefix(directory))
        .and_then(|rest| rest.strip_prefix(['/', '\\']))
        .unwrap_or(path)
}

/// A memory that was merged into another automatically.
pub struct Merge {
    /// The memory that was taken in.
    pub merged: Merged,
    /// The memory that took it in.
    pub into: MemoryRow,
}

/// Returns every automatic merge, the latest first, reading no further than the iterator is driven: each step looks
/// into a memory.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn merges(store: &Store) -> Result<impl Iterator<Item = Result<Merge>>> {
    let memories = store.memories(&MemoryFilter::default())?.into_iter();
    Ok(memories.flat_map(|into| match store.body_of(&into) {
        Ok(MemoryBody::Observation(body)) => {
            let merges = body.merged.into_iter();
            merges.map(|merged| Ok(Merge { merged, into: into.clone() })).collect()
        }
        Ok(MemoryBody::Summary(_)) => Vec::new(),
        Err(error) => vec![Err(error.into())],
    }))
}

/// A memory without its body.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryEntry {
    /// The shortest id that names it alone.
    pub id: String,
    /// Its id.
    pub full_id: Id,
    /// `summary` or `observation`.
    #[serde(rename = "kind")]
    pub class: &'static str,
    /// Its kind.
    #[serde(rename = "type", serialize_with = "kind_name")]
    #[schemars(with = "String")]
    pub kind: MemoryKind,
    /// Its title; empty where no line of its turn is sure to tell it alone.
    pub title: Clean<String>,
    /// The beginning of what was said, in quotation marks, where it has no title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Clean<String>>,
    /// Its time.
    pub at: Option<Timestamp>,
    /// The turn that it comes from; 0 for the whole session.
    pub turn: u32,
    /// Its session.
    pub session: Option<SessionId>,
    /// The name of its project.
    pub project: Option<Clean<String>>,
    /// The key of its project, where another one has the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_key: Option<ProjectKey>,
    /// True if it is a rule of the user's.
    pub rule: bool,
    /// True if it was taken from prose by its shape.
    pub uncertain: bool,
    /// True if a person said it.
    pub of_person: bool,
    /// True if it was told and not distilled.
    pub told: bool,
    /// True if it was edited.
    pub edited: bool,
    /// True if a model made it.
    pub refined: bool,
    /// True if something that a model made takes its place.
    pub superseded: bool,
    /// Its name in the program that it was imported from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported: Option<ForeignName>,
    /// The one who told it, if that was not the user.
    #[serde(skip)]
    pub teller: Option<String>,
    /// The outcome of the work, of a summary.
    #[serde(serialize_with = "outcome_name")]
    #[schemars(with = "Option<String>")]
    pub outcome: Option<WorkOutcome>,
    /// Tokens (estimated) to read all of it.
    pub tokens: u64,
    /// Tokens (estimated) of the passages that it stands for.
    pub raw_tokens: u64,
}

fn kind_name<S: Serializer>(kind: &MemoryKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}

fn outcome_name<S: Serializer>(
    outcome: &Option<WorkOutcome>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    outcome.map(WorkOutcome::as_str).serialize(serializer)
}

impl MemoryEntry {
    /// Makes an entry of a memory.
    pub(crate) fn new(
        store: &Store,
        redactor: &Redactor,
        memory: &MemoryRow,
        session: Option<&SessionRow>,
    ) -> Result<Self> {
        let (project, project_key) = match memory.project {
            Some(project) => (store.project_name(project)?, store.key_of_shared_name(project)?),
            None => (None, None),
        };
        let flags = memory.flags;
        let imported = store.foreign_name(memory)?;
        let (headline, is_untitled) = (cleaned(redactor, &memory.title), memory.is_untitled());
        Ok(Self {
            id: store.short_id(&memory.id)?,
            full_id: memory.id,
            class: if memory.kind == MemoryKind::Summary { "summary" } else { "observation" },
            kind: memory.kind,
            title: if is_untitled { Clean::default() } else { headline.clone() },
            excerpt: is_untitled.then_some(headline),
            at: memory.at,
            turn: memory.turn,
            session: session.map(|session| session.key.id.clone()),
            project: project.map(|name| cleaned(redactor, &name)),
            project_key,
            rule: flags.is_rule,
            uncertain: flags.is_uncertain,
            of_person: flags.is_from_person,
            told: flags.is_note,
            edited: flags.is_edited,
            refined: flags.is_refined,
            superseded: flags.is_superseded,
            teller: teller(&flags, imported.as_ref()),
            imported,
            outcome: memory.outcome,
            tokens: memory.tokens,
            raw_tokens: memory.raw_tokens,
        })
    }

    /// Returns the title, or the excerpt that stands for it.
    pub fn headline(&self) -> &Clean<String> {
        self.excerpt.as_ref().unwrap_or(&self.title)
    }

    /// The headline in a list, behind the one who told it if that was not the user.
    pub fn listed(&self) -> Clean<String> {
        self.headline().derive(|headline| match &self.teller {
            Some(teller) => format!("{teller}: {headline}"),
            None => headline.clone(),
        })
    }

    /// The remarks to make about it, in a word or two each.
    pub fn marks(&self) -> impl Iterator<Item = String> {
        [
            (self.rule, "rule"),
            (self.of_person && !self.told, "said by the user"),
            (self.uncertain, "uncertain"),
            (self.edited, "edited"),
            (self.refined, "by a model"),
            (self.superseded, "superseded by what a model made"),
        ]
        .into_iter()
        .filter(|(is_so, _)| *is_so)
        .map(|(_, mark)| mark.to_owned())
        .chain(self.imported.as_ref().map(|named| format!("from {}", named.source)))
    }
}

/// Names the one who told a memory, if that was not the user: `told by an agent`, `from claude-mem`.
pub(crate) fn teller(flags: &MemoryFlags, imported: Option<&ForeignName>) -> Option<String> {
    match imported {
        Some(named) => Some(format!("from {}", named.source)),
        None => (flags.is_note && !flags.is_from_person).then(|| "told by an agent".to_owned()),
    }
}

/// The files of a memory as they are on this disk now.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MemoryFiles {
    /// The file that it is about most, relative to the directory of its session.
    #[serde(skip)]
    pub about: Option<String>,
    /// The number of files whose content changed since.
    #[serde(rename = "files_changed_since")]
    pub changed: usize,
    /// The number of files that no longer exist.
    #[serde(rename = "files_gone_since")]
    pub gone: usize,
    /// The number of commits that changed them after its session.
    #[serde(rename = "commits_since", skip_serializing_if = "is_zero")]
    pub commits: usize,
    /// The latest name of one that was renamed.
    #[serde(rename = "renamed_to", skip_serializing_if = "Option::is_none")]
    pub renamed: Option<Clean<String>>,
}

const fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl MemoryFiles {
    fn look(
        store: &Store,
        redactor: &Redactor,
        (memory, files): (&MemoryRow, &[FileState]),
        session: Option<&SessionRow>,
    ) -> Result<Self> {
        let root = session.and_then(|session| session.facts.directory.as_deref());
        let about = files.iter().find(|file| file.modified).or(files.first());
        let Freshness { changed, gone, .. } = Freshness::check(files, root, &RealDisk);
        let after = session.and_then(|session| session.ended).or(memory.at);
        let since = Since::look(store, memory.project, files, root, after)?;
        Ok(Self {
            about: about.map(|file| relative(&file.path, root).to_owned()),
            changed,
            gone,
            commits: since.commits,
            renamed: since.renamed.map(|name| cleaned(redactor, &name)),
        })
    }

    /// A short note, where a file changed.
    pub fn note(&self) -> Option<String> {
        let (changed, gone) = (self.changed, self.gone);
        let now = Freshness { changed, gone, of: changed + gone }.note();
        let renamed = self.renamed.as_ref().map(|name| name.get().clone());
        let since = Since { commits: self.commits, renamed };
        let notes: Vec<String> = now.into_iter().chain(since.notes()).collect();
        (!notes.is_empty()).then(|| notes.join(", "))
    }
}

/// Makes entries of memories, in their order, each with its files.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn entries<'m>(
    store: &Store,
    redactor: &Redactor,
    memories: impl IntoIterator<Item = &'m MemoryRow>,
) -> Result<Vec<(MemoryEntry, MemoryFiles)>> {
    let memories: Vec<&MemoryRow> = memories.into_iter().collect();
    if memories.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<i64> = memories.iter().map(|memory| memory.row).collect();
    let files = store.files_of_memories(&rows)?;
    let sessions = sessions_of(store, &memories)?;
    memories
        .into_iter()
        .map(|memory| {
            let session = memory.session.and_then(|row| sessions.get(&row));
            let files = files.get(&memory.row).map_or(&[][..], Vec::as_slice);
            let entry = MemoryEntry::new(store, redactor, memory, session)?;
            Ok((entry, MemoryFiles::look(store, redactor, (memory, files), session)?))
        })
        .collect()
}

fn sessions_of(store: &Store, memories: &[&MemoryRow]) -> Result<HashMap<i64, SessionRow>> {
    let mut rows: Vec<i64> = memories.iter().filter_map(|memory| memory.session).collect();
    rows.sort_unstable();
    rows.dedup();
    if rows.is_empty() {
        return Ok(HashMap::new());
    }
    let filter = SessionFilter { rows: Some(rows), ..SessionFilter::default() };
    Ok(store.sessions(&filter)?.into_iter().map(|session| (session.row, session)).collect())
}

/// A memory whole.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WholeMemory {
    /// All but its body.
    #[serde(flatten)]
    pub entry: MemoryEntry,
    /// Its files as they are now.
    #[serde(flatten)]
    pub files: MemoryFiles,
    /// How a model made it, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<Made>,
    /// Its body.
    pub body: Clean<MemoryBody>,
    /// Its session, where it comes from one.
    #[serde(skip)]
    pub session_entry: Option<SessionEntry>,
    /// The short ids of the passages that it names, after [`WholeMemory::naming_passages`].
    #[serde(skip)]
    pub short_ids: HashMap<Id, String>,
}

/// The version of a memory: a name for what a person sees of it, which changes with it.
///
/// # Errors
/// Fails if the store cannot be read.
pub(crate) fn version(store: &Store, memory: &MemoryRow) -> Result<String> {
    let body = match store.body_of(memory)? {
        MemoryBody::Observation(observation) => serde_json::to_vec(&observation)?,
        MemoryBody::Summary(summary) => serde_json::to_vec(&summary)?,
    };
    let flags = [memory.flags.is_rule, memory.flags.is_uncertain].map(u8::from);
    let parts = [memory.kind.as_str().as_bytes(), memory.title.as_bytes(), &flags, &body];
    Ok(Id::derive(&parts).to_string())
}

impl WholeMemory {
    /// Reads a memory.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn read(app: &App, store: &Store, redactor: &Redactor, memory: &MemoryRow) -> Result<Self> {
        let session = session_of(store, memory)?;
        let files = store.files_of_memories(&[memory.row])?.remove(&memory.row).unwrap_or_default();
        let body = body(store, redactor, memory)?;
        Ok(Self {
            entry: MemoryEntry::new(store, redactor, memory, session.as_ref())?,
            files: MemoryFiles::look(store, redactor, (memory, &files), session.as_ref())?,
            made: store.made(memory)?,
            short_ids: HashMap::new(),
            body,
            session_entry: session.map(|session| SessionEntry::new(app, redactor, &session)),
        })
    }

    /// Adds the short ids of the passages that it names.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn naming_passages(mut self, store: &Store) -> Result<Self> {
        self.short_ids = short_ids(store, self.body.get())?;
        Ok(self)
    }

    /// The directory that its session worked in.
    pub fn directory(&self) -> Option<&str> {
        let session = self.session_entry.as_ref()?;
        session.directory.as_ref().map(|directory| directory.get().as_str())
    }
}

/// The body of a memory, every text cleaned by the rules of today.
pub(crate) fn body(
    store: &Store,
    redactor: &Redactor,
    memory: &MemoryRow,
) -> Result<Clean<MemoryBody>> {
    let body = store.body_of(memory)?;
    Ok(redactor.clean_texts(
        body,
        |body, each| match body {
            MemoryBody::Observation(observation) => observation.texts(each),
            MemoryBody::Summary(summary) => summary.texts(each),
        },
        &mut Report::default(),
    ))
}

/// The short ids of every passage that a body names.
fn short_ids(store: &Store, body: &MemoryBody) -> Result<HashMap<Id, String>> {
    let facts = match body {
        MemoryBody::Observation(observation) => observation.facts.as_slice(),
        MemoryBody::Summary(_) => &[],
    };
    let mut ids = HashMap::new();
    for id in body.sources().iter().chain(facts.iter().flat_map(|fact| &fact.sources)) {
        if !ids.contains_key(id) {
            ids.insert(*id, store.short_id(id)?);
        }
    }
    Ok(ids)
}
