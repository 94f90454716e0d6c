//! Writing the notes of the sessions that memory learned something of, and no others.

use std::collections::HashSet;

use thru_core::Id;
use thru_store::Store;
use thru_vault::{Followed, Memory, Plan, SessionMemory};

use super::memory;
use super::reach::Reach;
use super::sync::{Here, Run};
use crate::call::Call;
use crate::fresh;
use crate::trouble::Result;

impl Run<'_> {
    /// Writes the notes of sessions that are new in memory, and looks at no other file. Returns false, and writes nothing, if
    /// every file has to be looked at.
    pub(super) fn follow_sessions(&mut self, call: Call<'_>) -> Result<bool> {
        let record = &self.record;
        let is_unsettled =
            record.loss.is_some() || !record.copies.is_empty() || !record.moving.is_empty();
        if is_unsettled || !self.folder.root().is_dir() {
            return Ok(false);
        }
        let store = fresh::open(self.app, self.freshness(), call)?;
        let state = self.state(&store)?;
        match self.reach(&state, &store)? {
            Reach::Nothing => Ok(true),
            Reach::Sessions(rows) => {
                let known = self.record.notes.iter();
                let known =
                    known.map(|(id, note)| (*id, Here::new(note.path.clone(), note.stamp, None)));
                self.here = known.collect();
                self.write_sessions(&rows, &state, &store)
            }
            Reach::Everything => Ok(false),
        }
    }

    /// Writes the notes of these sessions alone. Returns false, and writes nothing, if others have to follow, because they say
    /// what is known of a session or are to be given it, or if a note is not as it was found.
    pub(super) fn write_sessions(
        &mut self,
        rows: &[i64],
        state: &Followed,
        store: &Store,
    ) -> Result<bool> {
        // Intake would read every decision.
        let redactor = self.app.redactor();
        let mut memory = memory::load_sessions(self.app, store, &redactor, rows)?;
        let is_told_elsewhere = |one: &SessionMemory| {
            memory.is_compacted(one) || one.closed.is_some() && self.reached(one).is_some()
        };
        if memory.sessions.iter().any(is_told_elsewhere) {
            return Ok(false);
        }
        let own: HashSet<Id> =
            memory.sessions.iter().map(|one| Memory::note_of(&one.key)).collect();
        // The name and the path of a new note have to differ from those of all others.
        let has_new = own.iter().any(|note| !self.here.contains_key(note));
        self.complete(&mut memory, |note| has_new || own.contains(note));
        let mut paths = if has_new { self.paths() } else { HashSet::new() };
        let notes = memory.notes();
        let plans: Vec<Plan> = memory.sessions.iter().map(|one| notes.session(one)).collect();
        let is_as_found = |plan: &Plan| match self.here.get(&plan.id) {
            Some(here) => self.folder.stamp(&here.path) == Some(here.stamp),
            None => self.folder.path(&plan.path()).symlink_metadata().is_err(),
        };
        if !plans.iter().all(is_as_found) {
            return Ok(false);
        }
        for plan in plans {
            if !self.stays_away(&memory, &plan.id)
                && let Err(error) = self.write_note(&plan, &memory, &mut paths)
            {
                self.synced.left.insert(plan.path(), error.to_string());
            }
        }
        self.record.left.clone_from(&self.synced.left);
        self.synced.is_compared = true;
        let is_over = memory.sessions.iter().any(|one| one.closed.is_some());
        if is_over && self.synced.created + self.synced.changed > 0 {
            self.record.behind.get_or_insert(self.now);
        }
        if self.is_done() {
            self.record.follows = Some(state.clone());
            self.record.closed = Some(self.now);
        }
        self.save()?;
        Ok(true)
    }
}
