//! Forgets a session for good.

use std::sync::atomic::AtomicBool;

use thru_core::{HOOK_RECORD, INJECTED_RECORD, SNAPSHOT_RECORD, SessionKey, SourceKind};
use thru_journal::archive::{EntryName, Lines};
use thru_journal::journal::Change;
use thru_redact::{Clean, Report};
use thru_store::{PassageFilter, Store};

use crate::distil::DistilScope;
use crate::sessions::Indexer;
use crate::stages::Stages;
use crate::{Intake, IntakeError, IntakeLock, Operation, Result};

/// The text that replaces a blanked one.
const BLANK: &[u8] = b"[private]";

/// Counts of the removed data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Archived files that were removed.
    pub archived: usize,
    /// Bytes of the removed files.
    pub bytes: u64,
    /// True if vectors of forgotten texts may be left, see [`IntakeError::NotSwept`].
    pub is_unswept: bool,
}

impl Intake {
    /// Forgets sessions: their passages and memories, their archived files, their prompts in lists of prompts.
    /// A tombstone without content stays, so that no import brings them back (invariant I-7). The agent's own
    /// files are left alone.
    ///
    /// # Errors
    /// Fails if the journal, the archive or the store cannot be written. The tombstone is written first: a
    /// second run resumes.
    pub fn forget(&self, _lock: &IntakeLock, keys: &[&SessionKey]) -> Result<Forgotten> {
        let store = Store::open_if_there(&self.layout)?;
        let operations = keys.iter().map(|key| {
            let row = store.as_ref().and_then(|store| store.session_by_key(key).transpose());
            let passages = match (&store, row.transpose()?) {
                (Some(store), Some(row)) => store.passages(PassageFilter::Session(row))?,
                _ => Vec::new(),
            };
            let passages = passages.into_iter().map(|passage| passage.id).collect();
            Ok(Operation::SessionForgotten { session: (*key).clone(), passages })
        });
        let operations = operations.collect::<Result<Vec<_>>>()?;
        drop(store);
        self.record(&operations)?;
        let (store, mut forgotten) = self.catch_up()?;
        store.checkpoint()?;
        forgotten.is_unswept = self.is_left_unswept()?;
        Ok(forgotten)
    }

    /// Sweeps vectors. Returns true if that has to wait, which does not make the work before it a failure.
    pub(crate) fn is_left_unswept(&self) -> Result<bool> {
        match self.sweep_vectors() {
            Err(IntakeError::NotSwept) => Ok(true),
            swept => swept.map(|_| false),
        }
    }

    /// Brings the store, memories and indexes up to the journal, and returns the counts of the removed data.
    pub(crate) fn catch_up(&self) -> Result<(Store, Forgotten)> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        let forgotten = self.apply_journal(&mut store)?;
        let (never, stages) = (AtomicBool::new(false), Stages::default());
        let projections = &self.projections(Indexer::without_transcripts(self));
        self.distil(&mut store, DistilScope::All, projections, &never, &stages, &mut |_| {})?;
        self.catch_up_index(&mut store)?;
        Ok((store, forgotten))
    }

    /// Removes these sessions from the archive and the journal.
    pub(crate) fn remove_kept(&self, keys: &[&SessionKey]) -> Result<Forgotten> {
        let mut forgotten = Forgotten::default();
        if keys.is_empty() {
            return Ok(forgotten);
        }
        self.remove_recorded(keys)?;
        for entry in self.archive.entries()? {
            let Some(reader) = self.archive.reader(&entry)? else { continue };
            let Some(info) = reader.info().cloned() else { continue };
            drop(reader);
            if info.kind == SourceKind::PromptHistory {
                self.blank_prompts_of(&entry, keys)?;
            } else if keys.iter().any(|key| info.agent == key.agent && info.session == key.id) {
                forgotten.bytes += self.archive.size(&entry)?.unwrap_or(0);
                forgotten.archived += usize::from(self.archive.remove(&entry)?);
            }
        }
        Ok(forgotten)
    }

    /// Removes the hook records of these sessions from the journal.
    fn remove_recorded(&self, keys: &[&SessionKey]) -> Result<()> {
        // Damaged lines stay: they may belong to another session. `thru redact --apply --text` removes them.
        self.journal.rewrite(&mut |stored| {
            let body = &stored.body;
            let (agent, session) = match stored.kind.as_str() {
                HOOK_RECORD | INJECTED_RECORD => (&body["agent"], &body["session"]),
                // A person wrote the reason of a close.
                SNAPSHOT_RECORD | "session-closed" | "episode-retired" | "turn-refined"
                | "session-refined" | "delivered" | "commits-seen" => {
                    (&body["session"]["agent"], &body["session"]["id"])
                }
                _ => return Change::Keep,
            };
            let is_one =
                |key: &&SessionKey| *agent == key.agent.as_str() && *session == key.id.as_str();
            match keys.iter().any(is_one) {
                true => Change::Remove,
                false => Change::Keep,
            }
        })?;
        Ok(())
    }

    fn blank_prompts_of(&self, entry: &EntryName, keys: &[&SessionKey]) -> Result<()> {
        let names = |line: &[u8]| {
            keys.iter().any(|key| memchr::memmem::find(line, key.id.as_str().as_bytes()).is_some())
        };
        // A blanked line still names its session.
        let is_to_go = |line: &[u8]| names(line) && memchr::memmem::find(line, BLANK).is_none();
        let mut reader = self.archive.reader(entry)?;
        let mut blocks = reader.iter_mut().flat_map(|reader| reader.blocks_from(0));
        // A list that does not name the session stays as it is, exact bytes included.
        let holds_any =
            |lines: &Lines| names(&lines.bytes) && lines.iter().any(|(_, l)| is_to_go(l));
        if !blocks.any(|lines| lines.as_ref().map_or(true, holds_any)) {
            return Ok(());
        }
        drop(blocks);
        drop(reader);
        self.archive.rewrite(entry, |line| -> Clean<Vec<u8>> {
            let mut report = Report::default();
            if is_to_go(line) {
                self.redactor.blank_json_line(line, &mut report)
            } else {
                self.redactor.clean_json_line(line, &mut report)
            }
        })?;
        Ok(())
    }

    /// Brings the index up to the store, in this thread.
    fn catch_up_index(&self, store: &mut Store) -> Result<()> {
        let cleared = crate::indexing::catch_up(&self.layout, store)?;
        crate::import::clear(store, std::iter::once(cleared))
    }
}
