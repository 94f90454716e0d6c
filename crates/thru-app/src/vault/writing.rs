//! Writing what memory calls for: notes, and the archive of those of old sessions.

use std::collections::{HashMap, HashSet};

use thru_core::{Id, SessionKey, content_hash};
use thru_intake::Operation;
use thru_vault::{
    ARCHIVED, Archived, Failure, Followed, LineId, Memory, Notes, Plan, Refusal, SessionMemory,
    Size, Thresholds, VaultError, folded, holds_other_text, is_name_outdated, only_lines,
    with_apart, with_ids,
};

use super::sync::{BY_HAND, Here, QUIET, Run, is_older};
use super::synced::{CompactedNote, FailedNote};
use super::taking;
use crate::call::Call;
use crate::fresh;
use crate::trouble::Result;

/// The reason in an archived note.
const THRESHOLD: &str = "Compaction threshold exceeded";

/// The file with views over our notes.
const VIEWS_FILE: &str = "Throughline.base";
/// The views. They name properties of ours, so that they hold wherever notes are moved to.
const VIEWS: &str = include_str!("views.base");

/// A session whose note is compacted now.
struct Due {
    session: SessionKey,
    reason: &'static str,
    /// The limit that the note reached; `None` if a person asked for it.
    reached: Option<String>,
}

/// The notes that were given what is known of sessions.
#[derive(Default)]
struct Given {
    /// Their ids and names, by the note of the session.
    targets: HashMap<Id, Vec<(Id, String)>>,
    /// Those that could not be written, and why.
    trouble: HashMap<Id, String>,
}

impl Run<'_> {
    /// Writes what memory calls for, and notes that all follows memory as it is in this state.
    pub(super) fn write_out(&mut self, state: Followed, call: Call<'_>) -> Result<()> {
        let store = fresh::open(self.app, self.freshness(), call)?;
        let intake = self.app.intake_beside(&store)?;
        let mut memory = self.load(&store, intake.redactor())?;
        drop(store);
        self.rename(&mut memory);
        let due = self.due(&memory);
        for one in &due {
            memory.failed.remove(&one.session);
            let archived = Archived { at: self.now, reason: one.reason.to_owned() };
            memory.decided.archived.insert(one.session.clone(), archived);
        }
        self.name_archived(&mut memory, &due);
        let notes = memory.notes();
        self.clear_forgotten(&notes.ids())?;
        let mut paths = self.paths();
        // What is known goes into the other notes before the note that it comes from is archived.
        let given = self.write_notes(&memory, &notes, &due, &mut paths);
        let (archived, failed) = self.archive(&memory, &notes, &due, &given, &mut paths);
        self.write_pointers(&memory, &notes, &mut paths);
        drop(notes);
        self.mark_failed(&mut memory, failed, &mut paths);
        self.record.left.clone_from(&self.synced.left);
        if self.request.dry_run {
            return Ok(());
        }
        if !archived.is_empty() {
            let lock = call.lock(&intake)?;
            intake.record_and_apply(&lock, &archived)?;
        }
        self.record.archiving.clear();
        self.write_views()?;
        self.record.follows = self.is_done().then_some(state);
        self.record.synced = Some(self.now);
        self.record.closed = Some(self.now);
        self.record.behind = None;
        self.synced.is_compared = true;
        self.save()
    }

    /// Has the notes renamed whose names hold what was taken out of the titles of their sessions.
    fn rename(&mut self, memory: &mut Memory) {
        for session in &memory.sessions {
            let note = Memory::note_of(&session.key);
            if memory.names.get(&note).is_some_and(|name| is_name_outdated(session, name)) {
                memory.names.remove(&note);
                self.renamed.insert(note);
            }
        }
    }

    /// True if no note has to be looked at again.
    pub(super) const fn is_done(&self) -> bool {
        self.synced.waiting == 0 && self.synced.due.is_none()
    }

    /// Returns the paths that are taken.
    pub(super) fn paths(&self) -> HashSet<String> {
        let own = self.here.values().map(|here| &here.path);
        let others = self.record.others.keys().chain(&self.record.copies);
        own.chain(others).map(|path| folded(path)).collect()
    }

    /// Chooses the names of notes that go into the archive or come out of it. Where the original is kept, it keeps the
    /// name as well.
    fn name_archived(&self, memory: &mut Memory, due: &[Due]) {
        if self.app.config.vault.keep_original {
            for one in due {
                if let Some(name) = memory.names.get_mut(&Memory::note_of(&one.session))
                    && !name.ends_with(ARCHIVED)
                {
                    name.push_str(ARCHIVED);
                }
            }
        }
        if let Some(session) = &self.request.unarchive
            && let Some(name) = memory.names.get_mut(&Memory::note_of(session))
            && let Some(original) = name.strip_suffix(ARCHIVED)
        {
            *name = original.to_owned();
        }
    }

    /// Writes every note but those that are archived now and those that lead to others.
    fn write_notes(
        &mut self,
        memory: &Memory,
        notes: &Notes<'_>,
        due: &[Due],
        paths: &mut HashSet<String>,
    ) -> Given {
        let due: HashSet<Id> = due.iter().map(|one| Memory::note_of(&one.session)).collect();
        let links: HashMap<String, Id> =
            due.iter().map(|note| (format!("[[{}", notes.name(note)), *note)).collect();
        let moved = self.request.unarchive.as_ref().map(Memory::note_of).or(self.request.promote);
        let mut given = Given::default();
        for mut plan in notes.plans() {
            for session in sessions_of(&plan, &links) {
                given.targets.entry(session).or_default().push((plan.id, plan.name.clone()));
            }
            let is_later = due.contains(&plan.id) || plan.points_to.is_some();
            if is_later || self.stays_away(memory, &plan.id) {
                continue;
            }
            let is_renamed = self.is_to_be_renamed(&plan);
            if is_renamed
                && let Some((folder, _)) =
                    self.here.get(&plan.id).and_then(|here| here.path.rsplit_once('/'))
            {
                plan.folder = folder.to_owned();
            }
            let is_moved = is_renamed || moved == Some(plan.id) || self.is_to_be_moved(&plan.id);
            let written = match is_moved {
                true => self.relocate(&plan, memory, paths).map(drop),
                false => self.write_note(&plan, memory, paths),
            };
            if is_moved && written.is_ok() {
                self.record.moving.remove(&plan.id);
            }
            if let Err(error) = written {
                given.trouble.insert(plan.id, error.to_string());
                self.synced.left.insert(plan.path(), error.to_string());
            }
        }
        given
    }

    /// True if a person changed the status of a note, which then goes to its place, and left it alone since.
    fn is_to_be_moved(&self, note: &Id) -> bool {
        let here = self.here.get(note);
        self.record.moving.contains(note)
            && here.is_some_and(|here| !here.is_restless && self.is_quiet(note, here))
    }

    /// True if a note has another name than it is to have, because what that holds was taken out of memory.
    fn is_to_be_renamed(&self, plan: &Plan) -> bool {
        self.here.get(&plan.id).is_some_and(|here| {
            self.renamed.contains(&plan.id)
                && here.name() != plan.name
                && !here.is_restless
                && self.is_quiet(&plan.id, here)
        })
    }

    /// Moves the notes of these sessions into the archive. Returns that as decisions, and the failures of those that cannot
    /// be moved.
    fn archive(
        &mut self,
        memory: &Memory,
        notes: &Notes<'_>,
        due: &[Due],
        given: &Given,
        paths: &mut HashSet<String>,
    ) -> (Vec<Operation>, Vec<(SessionKey, Failure)>) {
        let (mut archived, mut failed) = (Vec::new(), Vec::new());
        let due: HashMap<&SessionKey, &Due> = due.iter().map(|one| (&one.session, one)).collect();
        for session in &memory.sessions {
            let Some(one) = due.get(&session.key) else { continue };
            let plan = notes.session(session);
            if self.stays_away(memory, &plan.id) {
                continue;
            }
            let targets = given.targets.get(&plan.id).map_or(&[][..], Vec::as_slice);
            let error = targets.iter().find_map(|(target, _)| given.trouble.get(target)).cloned();
            let outcome = match error {
                Some(error) => Err((false, error)),
                None => {
                    self.relocate(&plan, memory, paths).map_err(|error| (true, error.to_string()))
                }
            };
            let session = one.session.id.to_string();
            match outcome {
                Ok(path) => {
                    self.record.failures.remove(&plan.id);
                    archived.push(Operation::NoteArchived {
                        session: one.session.clone(),
                        reason: one.reason.to_owned(),
                    });
                    self.synced.compacted.push(CompactedNote {
                        session,
                        note: plan.name,
                        reached: one.reached.clone(),
                        updated: targets.iter().map(|(_, name)| name.clone()).collect(),
                        archived_to: path,
                    });
                }
                Err((is_archive, error)) => {
                    let failure = Failure { is_archive, error: error.clone(), at: self.now };
                    let here = self.here.get(&plan.id);
                    let path = here.map_or_else(|| plan.path(), |here| here.path.clone());
                    failed.push((one.session.clone(), failure));
                    self.synced.failed.push(FailedNote { session, note: path, is_archive, error });
                }
            }
        }
        (archived, failed)
    }

    /// Marks the notes of sessions whose compaction failed, as far as they can be written.
    fn mark_failed(
        &mut self,
        memory: &mut Memory,
        failed: Vec<(SessionKey, Failure)>,
        paths: &mut HashSet<String>,
    ) {
        let sessions: HashSet<SessionKey> = failed.iter().map(|(one, _)| one.clone()).collect();
        for (session, failure) in failed {
            memory.decided.archived.remove(&session);
            memory.failed.insert(session.clone(), (failure.error.clone(), failure.is_archive));
            self.record.failures.insert(Memory::note_of(&session), failure);
        }
        if sessions.is_empty() {
            return;
        }
        let notes = memory.notes();
        for session in memory.sessions.iter().filter(|one| sessions.contains(&one.key)) {
            let plan = notes.session(session);
            if let Err(error) = self.write_note(&plan, memory, paths) {
                self.synced.left.insert(plan.path(), error.to_string());
            }
        }
    }

    /// Writes the notes that lead to others, where these lie elsewhere by now.
    fn write_pointers(&mut self, memory: &Memory, notes: &Notes<'_>, paths: &mut HashSet<String>) {
        for plan in notes.leading() {
            let target = plan.points_to.and_then(|note| self.here.get(&note));
            let is_elsewhere =
                target.is_some_and(|target| folded(&target.path) != folded(&plan.path()));
            if !is_elsewhere || self.stays_away(memory, &plan.id) {
                continue;
            }
            if let Err(error) = self.write_note(&plan, memory, paths) {
                self.synced.left.insert(plan.path(), error.to_string());
            }
        }
    }

    /// Writes the views of Obsidian over our notes, once: changed or removed, they are the person's.
    fn write_views(&mut self) -> Result<()> {
        if !self.record.has_views {
            match self.folder.create(VIEWS_FILE, VIEWS) {
                Ok(_) | Err(VaultError::Exists(_)) => self.record.has_views = true,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Finds the sessions that are over and whose note reached a limit.
    fn due(&mut self, memory: &Memory) -> Vec<Due> {
        let mut due = Vec::new();
        for session in &memory.sessions {
            if memory.decided.archived.contains_key(&session.key) {
                continue;
            }
            let id = Memory::note_of(&session.key);
            let here = self.here.get(&id);
            if here.is_some_and(|here| here.is_forked) {
                continue;
            }
            let busy = here.filter(|here| here.is_restless || !self.is_quiet(&id, here));
            if let Some(stamp) = busy.map(|here| here.stamp) {
                self.look_again(stamp, QUIET);
                continue;
            }
            if self.request.compact.as_ref() == Some(&session.key) {
                let session = session.key.clone();
                due.push(Due { session, reason: BY_HAND, reached: None });
                continue;
            }
            if session.closed.is_none() || memory.decided.taken_out.contains(&session.key) {
                continue;
            }
            if let Some(reached) = self.reached(session) {
                let (session, reached) = (session.key.clone(), Some(reached));
                due.push(Due { session, reason: THRESHOLD, reached });
            }
        }
        due
    }

    /// Returns the limit that the note of a session reached, in words; `None` if it reached none.
    pub(super) fn reached(&self, session: &SessionMemory) -> Option<String> {
        let vault = &self.app.config.vault;
        let limits = Thresholds { lines: vault.compact_lines, days: vault.compact_days };
        let text = self.text(&Memory::note_of(&session.key)).unwrap_or_default();
        Size::of(&text, session.started, self.now).reached(&limits)
    }

    /// True for a note that a person deleted, unless it is there again: moved, or brought back by another machine.
    pub(super) fn stays_away(&self, memory: &Memory, note: &Id) -> bool {
        memory.decided.hidden_notes.contains(note) && !self.here.contains_key(note)
    }

    /// Returns the text of a note as it lies on disk.
    fn text(&self, id: &Id) -> Option<String> {
        let here = self.here.get(id)?;
        here.text.clone().or_else(|| Some(self.folder.read(&here.path).ok()??.text))
    }

    /// Returns the lines that are neither added to a note, nor changed or removed: a person took them out, or put other words
    /// in the place of what memory no longer says, or another machine wrote them.
    fn hidden(&self, memory: &Memory, plan: &Plan) -> HashSet<LineId> {
        let planned: HashSet<&LineId> = plan.lines().map(|line| &line.id).collect();
        let decided = &memory.decided;
        let removed = decided.hidden.get(&plan.id).into_iter().flatten();
        let rewritten = decided.texts.get(&plan.id).into_iter().flat_map(|texts| texts.keys());
        let rewritten = rewritten.filter(|line| !planned.contains(line));
        let foreign = self.record.foreign.get(&plan.id).into_iter().flatten();
        removed.chain(rewritten).chain(foreign).cloned().collect()
    }

    /// Writes a note where it lies, or a new one.
    pub(super) fn write_note(
        &mut self,
        plan: &Plan,
        memory: &Memory,
        paths: &mut HashSet<String>,
    ) -> Result<(), NoteError> {
        let hidden = &self.hidden(memory, plan);
        let print = plan.fingerprint(hidden);
        let Some(here) = self.here.get(&plan.id).cloned() else {
            let text = plan.new_note(hidden)?;
            let path = free_path(plan, paths);
            if !self.request.dry_run {
                let stamp = self.folder.create(&path, &text)?;
                self.record.note(plan.id, &path, stamp, &text, true)?;
                self.record.planned(plan, print);
                self.here.insert(plan.id, Here::new(path, stamp, None));
            }
            self.synced.created += 1;
            return Ok(());
        };
        if here.is_forked || here.text.is_none() && self.record.is_as_planned(&plan.id, print) {
            self.synced.unchanged += 1;
            return Ok(());
        }
        let disk = match self.text(&plan.id) {
            Some(text) => text,
            // Too long, or no text.
            None => return Err(Refusal::TooLong.into()),
        };
        if here.is_restless {
            self.synced.wait(&here.path);
            return Ok(());
        }
        let base = self.record.base(&plan.id);
        if base.is_none() {
            // Ids that memory does not know are not ours to remove later.
            let foreign = taking::foreign(Some(plan), "", &disk);
            self.record.foreign.entry(plan.id).or_default().extend(foreign);
        }
        // Once a line of another machine says what memory says here, it is kept up to date like any other.
        if let Some(foreign) = self.record.foreign.get_mut(&plan.id)
            && !foreign.is_empty()
        {
            let known = plan.lines_as_planned(&disk);
            foreign.retain(|line| !known.contains(line));
        }
        let wanted = self.wanted(plan, &disk, base.as_deref(), hidden)?;
        if wanted == disk {
            self.synced.unchanged += 1;
            let is_as_written = self
                .record
                .notes
                .get(&plan.id)
                .is_some_and(|known| (&known.path, known.stamp) == (&here.path, here.stamp));
            let is_known = is_as_written && base.is_some();
            if !is_known && !self.request.dry_run {
                self.record.note(plan.id, &here.path, here.stamp, &disk, false)?;
            }
            self.record.apart.remove(&plan.id);
            self.record.planned(plan, print);
            return Ok(());
        }
        if !self.is_quiet(&plan.id, &here) {
            self.synced.wait(&here.path);
            self.look_again(here.stamp, QUIET);
            return Ok(());
        }
        self.synced.changed += 1;
        if self.request.dry_run {
            return Ok(());
        }
        let written = self.folder.replace(&here.path, &disk, &wanted, &mut |_| None)?;
        match written {
            Some((text, stamp)) => {
                self.record.unmarked.remove(&plan.id);
                self.record.apart.remove(&plan.id);
                self.record.note(plan.id, &here.path, stamp, &text, true)?;
                self.record.planned(plan, print);
                self.here.insert(plan.id, Here::new(here.path, stamp, None));
            }
            // Another program wrote it at this moment: the next sync takes that in first.
            None => {
                self.synced.changed -= 1;
                self.synced.wait(&here.path);
            }
        }
        Ok(())
    }

    /// Returns the text that a note gets: with ids behind what was told in it, the plan put in, and what others took the place
    /// of at its end.
    fn wanted(
        &self,
        plan: &Plan,
        disk: &str,
        base: Option<&str>,
        hidden: &HashSet<LineId>,
    ) -> Result<String, NoteError> {
        let mut unmarked = plan.missing(disk);
        unmarked.extend(self.record.unmarked.get(&plan.id).cloned().unwrap_or_default());
        let marked = with_ids(disk, &taking::unmarked_places(disk, &unmarked));
        let marked = plan.retitled(&marked, &self.record.titles(&plan.id));
        let text = plan.put_into(&marked, base, hidden)?;
        Ok(match self.record.apart.get(&plan.id) {
            Some(apart) => with_apart(&text, apart),
            None => text,
        })
    }

    /// True if no other program wrote a note a moment ago.
    fn is_quiet(&self, note: &Id, here: &Here) -> bool {
        let known = self.record.notes.get(note);
        let is_ours = known.is_some_and(|known| known.by_us && known.stamp == here.stamp);
        is_ours || self.request.merged.contains(note) || is_older(here.stamp, QUIET, self.now)
    }

    /// Moves the note of a session to its place, in the archive or out of it: written there, read back and compared before
    /// the original goes.
    fn relocate(
        &mut self,
        plan: &Plan,
        memory: &Memory,
        paths: &mut HashSet<String>,
    ) -> Result<String, NoteError> {
        let hidden = &self.hidden(memory, plan);
        let original = self.here.get(&plan.id).cloned();
        if original.as_ref().is_some_and(|original| original.is_forked) {
            return Err(NoteError::Forked);
        }
        // A process that was killed had moved it, and not yet said so.
        if let Some(path) = original.as_ref().map(|original| original.path.clone())
            && folded(&path) == folded(&plan.path())
        {
            return self.write_note(plan, memory, paths).map(|()| path);
        }
        let disk = self.text(&plan.id);
        let text = match (&original, &disk) {
            (Some(_), Some(disk)) => {
                let base = self.record.base(&plan.id);
                self.wanted(plan, disk, base.as_deref(), hidden)?
            }
            (Some(_), None) => return Err(Refusal::TooLong.into()),
            (None, _) => plan.new_note(hidden)?,
        };
        let path = free_path(plan, paths);
        if self.request.dry_run {
            self.synced.created += usize::from(original.is_none());
            return Ok(path);
        }
        if original.is_some() {
            // A process that is killed before the original goes leaves two: this one is known to be ours.
            let hash = content_hash(text.as_bytes());
            self.record.archiving.insert(path.clone(), hash);
            self.record.save()?;
        }
        let stamp = self.folder.create(&path, &text)?;
        let read_back = self.folder.read(&path)?.map(|content| content.text);
        if read_back.as_deref() != Some(text.as_str()) {
            // What another program made of the copy stays, and is merged as one.
            self.folder.remove(&path, &text).ok();
            return Err(NoteError::Unverified);
        }
        if let (Some(original), Some(disk)) = (&original, &disk)
            && let Err(error) = self.folder.remove(&original.path, disk)
        {
            // A person writes it at this moment: the copy goes, and the next sync tries again.
            self.folder.remove(&path, &text)?;
            return Err(error.into());
        }
        self.record.apart.remove(&plan.id);
        self.record.note(plan.id, &path, stamp, &text, true)?;
        self.record.planned(plan, plan.fingerprint(hidden));
        if let Some(original) = &original {
            paths.remove(&folded(&original.path));
        }
        self.synced.created += usize::from(original.is_none());
        self.here.insert(plan.id, Here::new(path.clone(), stamp, None));
        Ok(path)
    }

    /// Takes our lines out of notes that memory no longer calls for: those of sessions that were forgotten. A note that
    /// holds nothing else goes as a whole; lines of another machine and text of a person's stay.
    fn clear_forgotten(&mut self, planned: &HashSet<Id>) -> Result<()> {
        let over: Vec<Id> = self
            .record
            .notes
            .keys()
            .filter(|id| self.here.contains_key(id) && !planned.contains(id))
            .copied()
            .collect();
        for id in over {
            let (Some(here), Some(disk)) = (self.here.get(&id).cloned(), self.text(&id)) else {
                continue;
            };
            if self.request.dry_run || here.is_forked {
                continue;
            }
            let foreign = self.record.foreign.get(&id).cloned().unwrap_or_default();
            if foreign.is_empty() && !holds_other_text(&disk) {
                self.folder.remove(&here.path, &disk)?;
                self.synced.removed += 1;
                self.record.drop_note(&id)?;
                self.here.remove(&id);
                continue;
            }
            let text = only_lines(&disk, &foreign);
            if text != disk
                && let Some((text, stamp)) =
                    self.folder.replace(&here.path, &disk, &text, &mut |_| None)?
            {
                self.record.note(id, &here.path, stamp, &text, true)?;
                self.synced.changed += 1;
                self.here.insert(id, Here::new(here.path.clone(), stamp, None));
            }
            if foreign.is_empty() {
                let why = "memory no longer holds what it was about, and what is left is yours: remove it yourself";
                self.synced.left.insert(here.path, why.to_owned());
            }
        }
        Ok(())
    }
}

/// Returns the sessions among these that a note links to because it was given what their notes say.
fn sessions_of(plan: &Plan, links: &HashMap<String, Id>) -> impl Iterator<Item = Id> {
    let references = plan.sections.iter().filter(|section| section.name == "References");
    let lines = references.flat_map(|section| &section.lines);
    lines.filter_map(|line| links.get(line.text.split_once("]]")?.0).copied())
}

/// Returns the path of a new note. Where another has it, the id makes the difference.
fn free_path(plan: &Plan, paths: &mut HashSet<String>) -> String {
    let mut path = plan.path();
    if !paths.insert(folded(&path)) {
        let id = LineId::new(&plan.id);
        path = format!("{}/{} {}.md", plan.folder, plan.name, id.as_str());
        paths.insert(folded(&path));
    }
    path
}

/// The reason why a note was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoteError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Disk(#[from] VaultError),
    #[error("a conflict copy of it has to be merged first")]
    Forked,
    #[error("Archive verification failed. Session not moved.")]
    Unverified,
}
