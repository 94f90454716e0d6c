//! The combined effect of all decisions of people: later ones over earlier ones, without those that were
//! undone.

use std::collections::{BTreeMap, HashMap, HashSet};

use thru_core::{
    FileState, HOOK_RECORD, INJECTED_RECORD, Id, MemoryDecision, Observation, PassageKind,
    ProjectKey, SNAPSHOT_RECORD, SessionFacts, SessionKey, Speaker, Statement, Timestamp,
};
use thru_journal::journal::{Cursor, Item, Journal};
use thru_redact::Report;
use thru_store::{Batch, NewMemory, OperationRow, PassageFilter, Store};

use crate::refine::{put_refinement, settle};
use crate::sessions::Indexer;
use crate::{Forgotten, ImportedMemory, Intake, Operation, RecordedMemory, Result};

/// A record of the journal that holds an operation.
struct Recorded {
    key: String,
    at: Timestamp,
    operation: Operation,
    body: serde_json::Value,
}

/// The combined effect of the decisions.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    /// The user's rules of redaction, by name.
    pub(crate) rules: BTreeMap<String, String>,
    /// Sessions that the user had forgotten.
    pub(crate) forgotten: HashSet<SessionKey>,
    /// Names of projects; `None` if the last one was undone.
    names: BTreeMap<ProjectKey, Option<String>>,
    /// Project merges, from one into another, and true for those that still hold.
    merges: Vec<(ProjectKey, ProjectKey, bool)>,
    memories: HashMap<Id, MemoryDecision>,
    /// The sessions of memories that were ever decided about.
    sessions: HashMap<Id, SessionKey>,
    recorded: Vec<(Id, Timestamp, RecordedMemory)>,
    hidden_facts: HashSet<Id>,
    /// Projects whose graph was cleared, and when.
    cleared: BTreeMap<ProjectKey, Timestamp>,
    undone: HashMap<String, String>,
}

impl Decisions {
    /// Combines operations, the earliest first.
    fn from_operations<'a>(
        operations: impl DoubleEndedIterator<Item = (&'a str, Timestamp, &'a Operation)> + Clone,
    ) -> Self {
        let mut decisions = Self::default();
        // From the end: an undo that was itself undone has no effect.
        for (key, _, operation) in operations.clone().rev() {
            if let Operation::OperationUndone { operation } = operation
                && !decisions.undone.contains_key(key)
            {
                decisions.undone.entry(operation.clone()).or_insert_with(|| key.to_owned());
            }
        }
        for (key, at, operation) in operations {
            let holds = !decisions.undone.contains_key(key);
            decisions.add(key, at, operation, holds);
        }
        decisions
    }

    fn add(&mut self, key: &str, at: Timestamp, operation: &Operation, holds: bool) {
        if let Operation::MemoryEdited { memory, session: Some(session), .. }
        | Operation::MemoryForgotten { memory, session: Some(session) }
        | Operation::MemorySeparated { memory, session: Some(session) } = operation
        {
            self.sessions.insert(*memory, session.clone());
        }
        match operation {
            // Names are reset if the last one was undone, so those that no longer hold count too.
            Operation::ProjectRenamed { project, name } => {
                let known = self.names.entry(project.clone()).or_default();
                if holds {
                    *known = Some(name.clone());
                }
            }
            // Both are known from then on, merged or not.
            Operation::ProjectMerged { from, into } => {
                self.merges.push((from.clone(), into.clone(), holds));
            }
            _ if !holds => {}
            Operation::RuleAdded { name, pattern } => {
                self.rules.insert(name.clone(), pattern.clone());
            }
            Operation::RuleRemoved { name } => {
                self.rules.remove(name);
            }
            Operation::SessionForgotten { session, .. } => {
                self.forgotten.insert(session.clone());
            }
            Operation::MemoryRecorded(recorded) => {
                self.recorded.push((RecordedMemory::id(key), at, recorded.clone()))
            }
            Operation::MemoryEdited { memory, edit, .. } => {
                self.memories.entry(*memory).or_default().edit.merge(edit.clone());
            }
            Operation::MemoryForgotten { memory, .. } => {
                self.memories.entry(*memory).or_default().forgotten = true;
            }
            Operation::MemorySeparated { memory, .. } => {
                self.memories.entry(*memory).or_default().kept_apart = true;
            }
            Operation::FactHidden { fact } => _ = self.hidden_facts.insert(*fact),
            Operation::GraphCleared { project } => _ = self.cleared.insert(project.clone(), at),
            Operation::DirectoryPlaced { .. }
            | Operation::SessionClosed { .. }
            | Operation::EpisodeRetired(_)
            | Operation::QuestionAsked(_)
            | Operation::QuestionSettled { .. }
            | Operation::TurnRefined(_)
            | Operation::SessionRefined(_)
            | Operation::Delivered { .. }
            | Operation::CommitsSeen { .. }
            // The vault reads these from the list.
            | Operation::NoteLineChanged { .. }
            | Operation::NoteHidden { .. }
            | Operation::NotePromoted { .. }
            | Operation::NoteArchived { .. }
            | Operation::NoteUnarchived { .. }
            | Operation::MemoryImported(_)
            | Operation::OperationUndone { .. } => {}
        }
    }
}

/// Reads the decisions before the store is opened for writing: from the store's list up to its cursor, and from
/// there on from the journal itself.
pub(crate) fn decisions(store: Option<&Store>, journal: &Journal) -> Result<Decisions> {
    let known = |store: &Store| -> thru_store::Result<_> {
        Ok((applied(store)?, store.operations()?, store.forgotten()?))
    };
    // Without a readable store, the journal alone decides.
    let known = store.and_then(|store| known(store).ok());
    let (cursor, listed, forgotten) = known.unwrap_or_default();
    let (recorded, _) = read(journal, cursor)?;
    let mut decisions = combine(&listed, &recorded);
    decisions.forgotten.extend(forgotten);
    Ok(decisions)
}

fn combine(listed: &[OperationRow], recorded: &[Recorded]) -> Decisions {
    let listed: Vec<(&str, Timestamp, Operation)> = listed
        .iter()
        .filter_map(|row| {
            let operation = Operation::read(&row.kind, &row.body)?;
            Some((row.key.as_str(), row.at.unwrap_or_default(), operation))
        })
        .collect();
    let listed = listed.iter().map(|(key, at, operation)| (*key, *at, operation));
    let recorded =
        recorded.iter().map(|record| (record.key.as_str(), record.at, &record.operation));
    // By time first: segments are sorted by host name, which may change. What was recorded in one millisecond stays in
    // the order of the journal.
    let mut all: Vec<(&str, Timestamp, &Operation)> = listed.chain(recorded).collect();
    all.sort_by_key(|(_, at, _)| at.as_millisecond());
    Decisions::from_operations(all.into_iter())
}

/// The operations after a cursor, in order, and the cursor at the end of the journal.
fn read(journal: &Journal, cursor: Cursor) -> Result<(Vec<Recorded>, Cursor)> {
    let mut stream =
        journal.stream(cursor)?.without(&[HOOK_RECORD, INJECTED_RECORD, SNAPSHOT_RECORD]);
    let mut found = Vec::new();
    for item in &mut stream {
        // Lines that are no records are reported by `verify`.
        let Item::Entry(entry) = item? else { continue };
        // Other kinds, those of hooks say, are applied elsewhere.
        if let Some(operation) = Operation::read(&entry.kind, &entry.body) {
            let (key, at) = (entry.key.clone(), entry.at);
            found.push(Recorded { key, at, operation, body: entry.body });
        }
    }
    Ok((found, stream.cursor().clone()))
}

fn applied(store: &Store) -> thru_store::Result<Cursor> {
    Ok(cursor(store.journal_cursor()?))
}

/// The lines by which copies of this session may be titled.
fn first_lines(store: &Store, session: i64) -> Result<HashSet<String>> {
    let mut lines = HashSet::new();
    for passage in store.passages(PassageFilter::Session(session))? {
        if passage.kind == PassageKind::Human {
            let mut facts = SessionFacts::default();
            thru_agents::note_prompt(&store.text_of(&passage)?, &mut facts);
            lines.extend(facts.first_prompt);
        }
    }
    Ok(lines)
}

/// Parses a store's journal cursor; the beginning of the journal if there is none.
pub(crate) fn cursor(stored: Option<String>) -> Cursor {
    stored.and_then(|stored| serde_json::from_str(&stored).ok()).unwrap_or_default()
}

impl Intake {
    /// Brings the store up to the journal. Sessions whose memories were decided about are marked to be
    /// distilled again.
    pub(crate) fn apply_journal(&self, store: &mut Store) -> Result<Forgotten> {
        let cursor = applied(store)?;
        let (recorded, moved) = read(&self.journal, cursor.clone())?;
        if moved == cursor {
            return Ok(Forgotten::default());
        }
        let forgotten: Vec<&SessionKey> = recorded
            .iter()
            .filter_map(|record| match &record.operation {
                Operation::SessionForgotten { session, .. } => Some(session),
                _ => None,
            })
            .collect();
        // Before the cursor moves on, so that a process killed while forgetting resumes here.
        let removed = self.remove_kept(&forgotten)?;
        let known = store.memory_decisions()?;
        let mut forgotten_rows = HashMap::new();
        let mut forgotten_prompts = HashSet::new();
        for session in &forgotten {
            if let Some(row) = store.session_by_key(session)? {
                forgotten_rows.insert(*session, row);
                forgotten_prompts.extend(first_lines(store, row)?);
            }
        }
        let projections = self.projections(Indexer::without_transcripts(self));
        let mut batch = store.begin()?;
        let mut is_decided = false;
        let mut imported = HashMap::new();
        for Recorded { key, at, operation, body } in &recorded {
            match operation {
                Operation::DirectoryPlaced { directory, project } => {
                    batch.placing_since(*at)?;
                    batch.directory(directory, project)?;
                }
                Operation::SessionForgotten { session, passages } => {
                    // Known already, or made by an earlier record of this transaction.
                    if let Some(row) = forgotten_rows.remove(session) {
                        projections.all().try_for_each(|one| one.forget(&batch, row, session))?;
                    }
                    batch.forget_session(session)?;
                    batch.leave_out(passages)?;
                }
                Operation::EpisodeRetired(retired) if !batch.is_forgotten(&retired.session)? => {
                    batch.put_retired_episode(&retired.session, &retired.episode())?;
                }
                Operation::QuestionAsked(question) => batch.put_question(key, *at, question)?,
                Operation::QuestionSettled { question, spent, error } => {
                    settle(&batch, question, *at, *spent, error.is_some())?;
                }
                Operation::TurnRefined(refined) => {
                    put_refinement(&batch, key, *at, refined, false)?;
                }
                Operation::SessionRefined(refined) => {
                    put_refinement(&batch, key, *at, refined, true)?;
                }
                Operation::Delivered { session, keys } if !batch.is_forgotten(session)? => {
                    let session = batch.session(session)?;
                    for key in keys {
                        batch.put_delivered(session, key, *at)?;
                    }
                }
                Operation::CommitsSeen { session, commits } if !batch.is_forgotten(session)? => {
                    let session = batch.session(session)?;
                    batch.put_commits(session, commits)?;
                }
                Operation::MemoryImported(memory)
                    if batch.put_import(&memory.row(key, *at, body))? =>
                {
                    imported.insert(memory.memory, memory.as_ref());
                }
                _ => {}
            }
            if operation.is_decision() {
                batch.operation(key, *at, &operation.kind(), body)?;
                is_decided = true;
            }
        }
        if !forgotten.is_empty() {
            batch.drop_unused_files()?;
            batch.begin_otherwise(&forgotten_prompts, &thru_agents::note_prompt)?;
        }
        let decided = match is_decided {
            true => {
                let decisions = combine(&batch.operations()?, &[]);
                self.apply_decisions(&mut batch, &decisions, &known)?;
                decisions.memories
            }
            false => known,
        };
        for (id, memory) in imported {
            self.put_imported(&mut batch, memory, decided.get(&id))?;
        }
        batch.set_journal_cursor(&serde_json::to_string(&moved).unwrap_or_default())?;
        batch.commit()?;
        Ok(removed)
    }

    /// Merges projects again, if sessions came to them.
    pub(crate) fn settle_projects(store: &mut Store) -> Result<()> {
        let batch = store.begin()?;
        if batch.has_merged_projects()? {
            return Ok(());
        }
        merge_projects(&batch, &combine(&batch.operations()?, &[]))?;
        Ok(batch.commit()?)
    }

    fn apply_decisions(
        &self,
        batch: &mut Batch<'_>,
        decisions: &Decisions,
        known: &HashMap<Id, MemoryDecision>,
    ) -> Result<()> {
        for (project, name) in &decisions.names {
            batch.rename_project(project, name.as_deref())?;
        }
        merge_projects(batch, decisions)?;
        batch.set_undone(&decisions.undone)?;
        batch.set_memory_decisions(decisions.memories.iter())?;
        let cleared = decisions.cleared.iter().map(|(key, at)| Ok((batch.project(key)?, *at)));
        let cleared = cleared.collect::<Result<Vec<_>>>()?;
        batch.set_hidden_facts(decisions.hidden_facts.iter().copied(), cleared)?;
        let ids: HashSet<&Id> = known.keys().chain(decisions.memories.keys()).collect();
        for id in ids {
            let decided = decisions.memories.get(id);
            if known.get(id) == decided {
                continue;
            }
            if let Some(session) = decisions.sessions.get(id) {
                batch.distil_again(session)?;
            } else if let Some(body) = batch.import_body(id)?
                && let Ok(imported) = serde_json::from_value(body)
            {
                self.put_imported(batch, &imported, decided)?;
            }
        }
        // Distilling would leave them out, but it may be off.
        for (id, decision) in &decisions.memories {
            if decision.forgotten {
                batch.remove_memory(id)?;
            }
        }
        self.put_notes(batch, decisions)
    }

    /// Writes an imported memory, or takes it out if people had it forgotten.
    fn put_imported(
        &self,
        batch: &mut Batch<'_>,
        imported: &ImportedMemory,
        decided: Option<&MemoryDecision>,
    ) -> Result<()> {
        let decision = decided.cloned().unwrap_or_default();
        if decision.forgotten {
            return Ok(batch.remove_memory(&imported.memory)?);
        }
        let mut observation = imported.observation();
        decision.edit.apply(&mut observation);
        let is_edited = !decision.edit.is_empty();
        let memory = self
            .redactor
            .clean_texts(observation, Observation::texts, &mut Report::default())
            .map(|observation| note_memory(&observation, is_edited).imported());
        Ok(batch.put_note(imported.project.as_ref(), &memory)?)
    }

    /// Writes the memories that were recorded directly and still hold.
    fn put_notes(&self, batch: &mut Batch<'_>, decisions: &Decisions) -> Result<()> {
        let mut holding = HashSet::new();
        for (id, at, recorded) in &decisions.recorded {
            let decision = decisions.memories.get(id).cloned().unwrap_or_default();
            if decision.forgotten {
                continue;
            }
            let mut observation = observation(*id, *at, recorded);
            decision.edit.apply(&mut observation);
            let is_edited = !decision.edit.is_empty();
            // The record was cleaned when it was written; the rules may be newer.
            let memory = self
                .redactor
                .clean_texts(observation, Observation::texts, &mut Report::default())
                .map(|observation| note_memory(&observation, is_edited));
            batch.put_note(recorded.project.as_ref(), &memory)?;
            holding.insert(*id);
        }
        for id in batch.note_ids()? {
            if !holding.contains(&id) {
                batch.remove_memory(&id)?;
            }
        }
        Ok(())
    }
}

/// Merges projects as people decided, and then those of gone worktrees into their repositories.
fn merge_projects(batch: &Batch<'_>, decisions: &Decisions) -> Result<()> {
    batch.part_projects()?;
    for (from, into, holds) in &decisions.merges {
        match holds {
            true => batch.merge_project(from, into)?,
            false => {
                batch.project(from)?;
                batch.project(into)?;
            }
        }
    }
    Ok(batch.merge_gone_worktrees()?)
}

fn note_memory(observation: &Observation, is_edited: bool) -> NewMemory {
    let state = |path: &String, modified| FileState {
        path: path.clone(),
        modified,
        at: observation.at,
        content: None,
    };
    let read = observation.files_read.iter().map(|path| state(path, false));
    let files = read.chain(observation.files_modified.iter().map(|path| state(path, true)));
    NewMemory::note(observation, is_edited, files.collect())
}

/// Converts a directly recorded memory into an observation.
fn observation(id: Id, at: Timestamp, recorded: &RecordedMemory) -> Observation {
    Observation {
        narrative: recorded.text.clone().map(|text| Statement { text, sources: Vec::new() }),
        files_read: recorded.files.clone(),
        speaker: if recorded.by_agent { Speaker::Agent } else { Speaker::Person },
        is_rule: recorded.is_rule,
        at: Some(at),
        ..Observation::new(id, 0, recorded.kind, recorded.title.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_of_one_millisecond_are_combined_in_the_order_of_the_journal() {
        let rule = |key: &str, pattern: &str| {
            let operation =
                Operation::RuleAdded { name: "badge".to_owned(), pattern: pattern.to_owned() };
            let (at, body) = (Timestamp::UNIX_EPOCH, serde_json::Value::Null);
            Recorded { key: key.to_owned(), at, operation, body }
        };
        for keys in [["a", "b"], ["b", "a"]] {
            let decisions = combine(&[], &[rule(keys[0], "B-[0-9]+"), rule(keys[1], "B-[0-9]{6}")]);
            assert_eq!(decisions.rules["badge"], "B-[0-9]{6}");
        }
    }
}
