//! Writing memories: the results of distilling a session, and notes that people added.

use std::collections::HashSet;

use thru_core::{
    Certainty, Concept, FileState, Id, MemoryDecision, MemoryKind, Observation, ProjectKey,
    SessionKey, Speaker, Summary, Timestamp, WorkOutcome,
};
use thru_redact::Clean;

use super::Batch;
use crate::error::Result;
use crate::index::Collection;
use crate::query::{MemoryFlags, passage_place};
use crate::statements::Statements;
use crate::text::TextPlace;

/// A memory in its stored form. It is prepared where there is time for it, not on the thread that
/// writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMemory {
    id: Id,
    turn: u32,
    kind: MemoryKind,
    flags: MemoryFlags,
    outcome: Option<WorkOutcome>,
    at: Option<Timestamp>,
    title: String,
    tokens: u64,
    raw_tokens: u64,
    body: String,
    files: Vec<FileState>,
}

impl NewMemory {
    /// Converts an observation of a session, with the known states of the files that it names.
    pub fn observation(observation: &Observation, is_edited: bool, files: Vec<FileState>) -> Self {
        Self {
            id: observation.id,
            turn: observation.turn,
            kind: MemoryKind::Observation(observation.kind),
            flags: MemoryFlags {
                is_rule: observation.is_rule,
                is_uncertain: observation.certainty == Certainty::Low,
                is_from_person: observation.speaker == Speaker::Person && !observation.is_agreed,
                is_note: false,
                is_edited,
                is_correction: observation.speaker == Speaker::Person
                    && !observation.is_rule
                    && observation.concepts.contains(&Concept::Gotcha),
                is_refined: false,
                is_superseded: false,
                is_imported: false,
                is_untitled: observation.is_untitled(),
            },
            outcome: None,
            at: observation.at,
            title: observation.headline().into_owned(),
            tokens: observation.tokens(),
            raw_tokens: observation.raw_tokens,
            // Plain data: serialising it as JSON cannot fail.
            body: serde_json::to_string(observation).unwrap_or_default(),
            files,
        }
    }

    /// Converts a note that a person added outside of any session.
    pub fn note(observation: &Observation, is_edited: bool, files: Vec<FileState>) -> Self {
        let mut memory = Self::observation(observation, is_edited, files);
        memory.flags.is_note = true;
        memory
    }

    /// Marks the memory as imported from another program.
    pub const fn imported(mut self) -> Self {
        self.flags.is_imported = true;
        self
    }

    /// Converts the summary of a session.
    pub fn summary(summary: &Summary, files: Vec<FileState>) -> Self {
        Self {
            id: summary.id,
            turn: 0,
            kind: MemoryKind::Summary,
            flags: MemoryFlags::default(),
            outcome: Some(summary.digest.outcome),
            at: summary.at,
            title: summary.title.clone(),
            tokens: summary.tokens(),
            raw_tokens: summary.raw_tokens,
            body: serde_json::to_string(summary).unwrap_or_default(),
            files,
        }
    }

    /// Marks the memory as made by a model.
    pub const fn refined(mut self) -> Self {
        self.flags.is_refined = true;
        self
    }

    /// Marks the memory as superseded by a better one.
    pub const fn superseded(mut self) -> Self {
        self.flags.is_superseded = true;
        self
    }

    /// Returns its id.
    pub const fn id(&self) -> Id {
        self.id
    }

    fn digest(&self) -> Id {
        let files: Vec<String> = self.files.iter().map(|file| format!("{file:?}")).collect();
        Id::derive(&[
            self.body.as_bytes(),
            // An imported memory is one from the beginning, so the low byte of the flags tells all that may change.
            &[self.kind.code(), self.flags.code().to_le_bytes()[0]],
            files.join("\n").as_bytes(),
        ])
    }
}

/// The session and the project that a memory belongs to.
#[derive(Clone, Copy)]
struct MemoryOwner {
    session: Option<i64>,
    project: Option<i64>,
}

impl Batch<'_> {
    /// Replaces the memories of a session. Memories that did not change keep their rows.
    pub fn put_memories(
        &mut self,
        session: i64,
        title: Option<&str>,
        memories: &Clean<Vec<NewMemory>>,
    ) -> Result<()> {
        let project: Option<i64> = self
            .find("SELECT project FROM sessions WHERE id = ?1", [session], |row| row.get(0))?
            .flatten();
        let owner = MemoryOwner { session: Some(session), project };
        let kept: HashSet<Id> = memories.get().iter().map(|memory| memory.id).collect();
        for (row, id) in self.memories_of_session(session)? {
            if !kept.contains(&id) {
                self.remove_memory_row(row)?;
            }
        }
        for memory in memories.get() {
            self.put(owner, memory)?;
        }
        self.run(
            "UPDATE sessions SET stale = 0, summary_title = ?2 WHERE id = ?1",
            (session, title),
        )?;
        self.combine_facts(session)?;
        Ok(())
    }

    /// Writes a note that a person added, replacing its previous version. Without a project it applies
    /// everywhere.
    pub fn put_note(
        &mut self,
        project: Option<&ProjectKey>,
        memory: &Clean<NewMemory>,
    ) -> Result<()> {
        let project = project.map(|key| self.project(key)).transpose()?;
        self.put(MemoryOwner { session: None, project }, memory.get())
    }

    /// Returns the ids of the notes that people added outside of sessions, without imported ones.
    pub fn note_ids(&self) -> Result<Vec<Id>> {
        self.select(
            "SELECT id FROM memories WHERE session IS NULL AND flags & 256 = 0",
            [],
            |row| Ok(Id::from_bytes(row.get(0)?)),
        )
    }

    /// Deletes a memory and records it as retired, since the index may hold it.
    pub fn remove_memory(&mut self, id: &Id) -> Result<()> {
        let row: Option<i64> =
            self.find("SELECT row FROM memories WHERE id = ?1", [id.as_bytes()], |row| row.get(0))?;
        row.map_or(Ok(()), |row| self.remove_memory_row(row))
    }

    /// Marks a session to be distilled again.
    pub fn distil_again(&self, session: &SessionKey) -> Result<()> {
        self.run(
            "UPDATE sessions SET stale = 1 WHERE agent = ?1 AND session = ?2",
            (session.agent.as_str(), session.id.as_str()),
        )?;
        Ok(())
    }

    /// Marks every session to be distilled again.
    pub fn distil_all_again(&self) -> Result<()> {
        self.transaction.execute("UPDATE sessions SET stale = 1", [])?;
        Ok(())
    }

    /// Records the version of a projection.
    pub fn set_projection_version(&self, projection: &str, version: u32) -> Result<()> {
        self.run(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)",
            (crate::query::version_key(projection), version),
        )?;
        Ok(())
    }

    /// Replaces all decisions of people about memories.
    pub fn set_memory_decisions<'a>(
        &self,
        decisions: impl Iterator<Item = (&'a Id, &'a MemoryDecision)>,
    ) -> Result<()> {
        self.transaction.execute("DELETE FROM memory_decisions", [])?;
        for (id, decision) in decisions {
            self.run(
                "INSERT INTO memory_decisions (id, decision) VALUES (?1, ?2)",
                (id.as_bytes(), serde_json::to_string(decision).unwrap_or_default()),
            )?;
        }
        Ok(())
    }

    fn put(&mut self, owner: MemoryOwner, memory: &NewMemory) -> Result<()> {
        let digest = memory.digest();
        let known = self.find(
            "SELECT row, digest, session, project FROM memories WHERE id = ?1",
            [memory.id.as_bytes()],
            |row| Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )?;
        match known {
            Some((_, known, session, project))
                if Id::from_bytes(known) == digest
                    && (session, project) == (owner.session, owner.project) =>
            {
                return Ok(());
            }
            Some((row, ..)) => self.remove_memory_row(row)?,
            None => {}
        }
        let text = self.writer.push(&self.transaction, &memory.body)?;
        self.run(
            "INSERT INTO memories (id, session, project, turn, kind, flags, outcome, at, title,
                 tokens, raw_tokens, digest, block, start, length)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            rusqlite::params![
                memory.id.as_bytes(),
                owner.session,
                owner.project,
                memory.turn,
                memory.kind.code(),
                memory.flags.code(),
                memory.outcome.map(outcome_code),
                memory.at.map(Timestamp::as_millisecond),
                memory.title,
                memory.tokens as i64,
                memory.raw_tokens as i64,
                digest.as_bytes(),
                text.block,
                text.start,
                text.length,
            ],
        )?;
        let row = self.transaction.last_insert_rowid();
        for file in &memory.files {
            self.name_file(&file.path)?;
            self.run(
                "INSERT OR REPLACE INTO memory_files (row, file, modified, at, content)
                 SELECT ?1, id, ?3, ?4, ?5 FROM files WHERE path = ?2",
                (
                    row,
                    file.path.as_str(),
                    file.modified,
                    file.at.map(Timestamp::as_millisecond),
                    file.content.as_ref().map(Id::as_bytes),
                ),
            )?;
        }
        Ok(())
    }

    fn memories_of_session(&self, session: i64) -> Result<Vec<(i64, Id)>> {
        self.select("SELECT row, id FROM memories WHERE session = ?1", [session], |row| {
            Ok((row.get(0)?, Id::from_bytes(row.get(1)?)))
        })
    }

    /// Deletes the memories of a session.
    pub fn remove_memories_of(&self, session: i64) -> Result<()> {
        self.blank_texts("memories", "session = ?1", [session])?;
        for (row, _) in self.memories_of_session(session)? {
            self.retire(Collection::Memories, row)?;
        }
        Ok(())
    }

    /// Assigns the memories of a session to its project, with new rows, so that the index sees the
    /// change.
    pub(super) fn place_memories(&self, session: i64) -> Result<()> {
        for (row, _) in self.memories_of_session(session)? {
            let new = self.renew(Collection::Memories, row)?;
            self.run(
                "UPDATE memories SET project = (SELECT project FROM sessions WHERE id = session)
                 WHERE row = ?1",
                [new],
            )?;
        }
        Ok(())
    }

    fn remove_memory_row(&mut self, row: i64) -> Result<()> {
        let place: TextPlace =
            self.one("SELECT block, start, length FROM memories WHERE row = ?1", [row], |row| {
                passage_place(row, 0)
            })?;
        self.drop_text(place);
        self.retire(Collection::Memories, row)
    }
}

const OUTCOMES: [WorkOutcome; 4] =
    [WorkOutcome::Completed, WorkOutcome::Blocked, WorkOutcome::InProgress, WorkOutcome::Abandoned];

fn outcome_code(outcome: WorkOutcome) -> u8 {
    OUTCOMES.iter().position(|one| *one == outcome).unwrap_or_default() as u8
}

pub(crate) fn outcome_of_code(code: u8) -> Option<WorkOutcome> {
    OUTCOMES.get(usize::from(code)).copied()
}
