//! Bringing vault and memory together: what people changed comes in, what memory calls for goes out.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;

use jiff::SignedDuration;
use thru_core::{Id, SessionKey, Timestamp};
use thru_vault::{
    Archived, Failure, Folder, LineId, Loss, Memory, Plan, Record, Refusal, SessionMemory, Size,
    Stamp, Thresholds, VaultError, conflict_copy, folded, note_id, with_ids,
};

use super::synced::{CompactedNote, FailedNote, VaultSynced};
use super::{Vault, attention, memory, taking};
use crate::app::App;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::trouble::Result;

/// A note that was changed more recently may be open in an editor, and is not written.
const QUIET: SignedDuration = SignedDuration::from_secs(10);
/// A note that was saved more recently may be saved again at once.
const RESTED: SignedDuration = SignedDuration::from_secs(2);
/// The reason in an archived note.
const THRESHOLD: &str = "Compaction threshold exceeded";
/// The reason in a note that a person had archived.
const BY_HAND: &str = "Compacted by hand";

/// The file with views over our notes.
const VIEWS_FILE: &str = "Throughline.base";
/// The views. They name properties of ours, so that they hold wherever notes are moved to.
const VIEWS: &str = include_str!("views.base");

/// The request to bring vault and memory together.
#[derive(Clone, Debug, Default)]
pub struct SyncVault {
    /// Takes in a loss that is too large to be taken in without being asked.
    pub accept: bool,
    /// Compacts this session whatever its size and age.
    pub compact: Option<SessionKey>,
    /// Moves the note of this session out of the archive.
    pub unarchive: Option<SessionKey>,
    /// Leaves a note to its editor that was saved a moment ago: another save may follow.
    pub lets_rest: bool,
    /// Looks for changes of people only: memory is as it was written last.
    pub only_edits: bool,
    /// Changes nothing, and counts what would be written.
    pub dry_run: bool,
}

/// Brings vault and memory together.
///
/// # Errors
/// Fails if there is no vault or it is not there, another process writes it, or store or journal cannot be used. A
/// note that cannot be written is told in the answer.
pub fn sync(app: &App, request: &SyncVault, call: Call<'_>) -> Result<VaultSynced> {
    let vault = Vault::open(app)?;
    let _lock = vault.lock()?;
    let began = Instant::now();
    let mut run = Run::new(app, &vault, request)?;
    run.find()?;
    if let Some(loss) = run.loss()? {
        run.record.loss = Some(loss);
        run.synced.loss = Some(loss.into());
        if !request.dry_run {
            run.save()?;
        }
        return Ok(run.synced);
    }
    run.record.loss = None;
    run.take_in(call)?;
    if !(request.only_edits && run.synced.taken.is_empty() && run.synced.due.is_none()) {
        run.write_out(call)?;
    }
    run.synced.milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(run.synced)
}

/// A note of ours on disk.
#[derive(Clone)]
struct Here {
    path: String,
    stamp: Stamp,
    /// Its text, if it is not as it was written last.
    text: Option<String>,
    /// True if it was saved a moment ago, and is left to its editor.
    is_restless: bool,
}

struct Run<'a> {
    app: &'a App,
    folder: Folder,
    state: PathBuf,
    record: Record,
    request: &'a SyncVault,
    now: Timestamp,
    here: HashMap<Id, Here>,
    /// Notes of which a conflict copy lies there.
    copied: HashSet<Id>,
    gone: Vec<Id>,
    synced: VaultSynced,
}

impl<'a> Run<'a> {
    fn new(app: &'a App, vault: &Vault, request: &'a SyncVault) -> Result<Self> {
        let folder = vault.folder.clone();
        Ok(Self {
            app,
            state: vault.state.clone(),
            record: Record::open(&vault.state, folder.root())?,
            request,
            now: app.clock.now(),
            here: HashMap::new(),
            copied: HashSet::new(),
            gone: Vec::new(),
            synced: VaultSynced::new(folder.root()),
            folder,
        })
    }

    /// Finds the notes of ours, wherever a person moved them.
    fn find(&mut self) -> Result<()> {
        let scan = self.folder.scan()?;
        let known_hashes: HashSet<Id> = self.record.notes.values().map(|one| one.hash).collect();
        for path in &scan.unfinished {
            if !self.request.dry_run {
                self.folder.clear_up(path, |hash| known_hashes.contains(hash))?;
            }
        }
        let by_path: HashMap<String, Id> =
            self.record.notes.iter().map(|(id, one)| (one.path.clone(), *id)).collect();
        let mut unknown = Vec::new();
        let mut others = BTreeMap::new();
        for found in scan.notes {
            if let Some(id) = by_path.get(&found.path) {
                let is_same =
                    self.record.notes.get(id).is_some_and(|known| known.stamp == found.stamp);
                let text = match is_same {
                    true => None,
                    false => self.folder.read(&found.path)?.map(|content| content.text),
                };
                self.here.insert(
                    *id,
                    Here { path: found.path, stamp: found.stamp, text, is_restless: false },
                );
            } else if self.record.others.get(&found.path) == Some(&found.stamp) {
                others.insert(found.path, found.stamp);
            } else {
                unknown.push(found);
            }
        }
        for found in unknown {
            let name = found.path.rsplit('/').next().unwrap_or_default();
            let is_copy = conflict_copy(name.strip_suffix(".md").unwrap_or(name)).is_some();
            let text = self.folder.read(&found.path)?.map(|content| content.text);
            match text.as_deref().and_then(note_id) {
                // A copy that a program made of two versions, or a person.
                Some(id) if is_copy || self.here.contains_key(&id) => {
                    self.copied.insert(id);
                    self.synced.copies.insert(found.path);
                }
                Some(id) => {
                    let here =
                        Here { path: found.path, stamp: found.stamp, text, is_restless: false };
                    self.here.insert(id, here);
                }
                None if is_copy => {
                    self.synced.copies.insert(found.path);
                }
                None => {
                    others.insert(found.path, found.stamp);
                }
            }
        }
        self.record.others = others;
        self.record.copies.clone_from(&self.synced.copies);
        self.gone =
            self.record.notes.keys().filter(|id| !self.here.contains_key(id)).copied().collect();
        Ok(())
    }

    /// In the background, others bring in what hooks recorded.
    const fn freshness(&self) -> Freshness {
        if self.request.lets_rest { Freshness::AsItIs } else { Freshness::Recorded }
    }

    fn save(&self) -> Result<()> {
        self.record.save()?;
        attention::keep(&self.state, &self.record)
    }

    /// Returns the loss that is too large to be taken in, unless the person accepts it.
    fn loss(&self) -> Result<Option<Loss>> {
        if self.request.accept {
            return Ok(None);
        }
        let mut loss = Loss {
            notes: self.gone.len(),
            lines: 0,
            of: self.record.notes.values().map(|one| one.lines).sum(),
        };
        for (id, here) in &self.here {
            let (Some(base), Some(text)) = (self.record.base(id), &here.text) else { continue };
            loss.lines += taking::removed(&base, text);
        }
        let is_empty = self.here.is_empty() && !self.gone.is_empty();
        Ok((is_empty || loss.is_large()).then_some(loss))
    }

    /// Passes over notes that were saved a moment ago.
    fn leave_restless(&mut self) {
        let now = self.now;
        let is_restless = |here: &Here| here.text.is_some() && !is_older(here.stamp, RESTED, now);
        let restless = self.here.values_mut().filter(|here| is_restless(here));
        let number = restless.map(|here| here.is_restless = true).count();
        if number > 0 {
            self.look_again(RESTED);
        }
    }

    fn look_again(&mut self, after: SignedDuration) {
        let due = self.now.checked_add(after).unwrap_or(self.now);
        self.synced.due = Some(self.synced.due.map_or(due, |known| known.min(due)));
    }

    /// Takes in what people changed.
    fn take_in(&mut self, call: Call<'_>) -> Result<()> {
        if self.request.lets_rest {
            self.leave_restless();
        }
        let edited: Vec<(Id, String, String)> = self
            .here
            .iter()
            .filter(|(_, here)| !here.is_restless)
            .filter_map(|(id, here)| {
                let (base, text) = (self.record.base(id)?, here.text.clone()?);
                (base != text).then_some((*id, base, text))
            })
            .collect();
        if edited.is_empty() && self.gone.is_empty() || self.request.dry_run {
            return Ok(());
        }
        let store = fresh::open(self.app, self.freshness(), call)?;
        let intake = self.app.intake_beside(&store)?;
        let memory = self.load(&store, intake.redactor())?;
        let plans: HashMap<Id, Plan> =
            memory.plans().into_iter().map(|plan| (plan.id, plan)).collect();
        let mut taking = taking::Taking::new(self.app, &store, &memory);
        for (id, base, text) in &edited {
            let unmarked = self.record.unmarked.entry(*id).or_default();
            let foreign = taking::foreign(plans.get(id), base, text);
            let is_of_other = self.copied.contains(id) || !foreign.is_empty();
            taking.note(*id, plans.get(id), (base, text), is_of_other, unmarked)?;
            if !foreign.is_empty() {
                self.record.foreign.entry(*id).or_default().extend(foreign);
            }
        }
        for id in &self.gone {
            if plans.contains_key(id) {
                taking.gone(*id);
            }
        }
        self.synced.taken = taking.record(&intake, &mut self.record.unmarked, call)?;
        for (id, _, text) in edited {
            if let Some(here) = self.here.get(&id) {
                self.record.note(id, &here.path, here.stamp, &text, false)?;
            }
        }
        for id in std::mem::take(&mut self.gone) {
            self.record.drop_note(&id)?;
        }
        self.save()
    }

    fn load(&self, store: &thru_store::Store, redactor: &thru_redact::Redactor) -> Result<Memory> {
        let mut memory = memory::load(self.app, store, redactor)?;
        for (id, here) in &self.here {
            let name = here.path.rsplit('/').next().unwrap_or_default();
            // Notes that lead to others have one name in every project, and are not linked.
            if name != "_index.md" {
                memory.names.insert(*id, name.strip_suffix(".md").unwrap_or(name).to_owned());
            }
        }
        for session in &memory.sessions {
            if let Some(failure) = self.record.failures.get(&Memory::note_of(&session.key)) {
                let failed = (failure.error.clone(), failure.is_archive);
                memory.failed.insert(session.key.clone(), failed);
            }
        }
        Ok(memory)
    }

    /// Writes what memory calls for.
    fn write_out(&mut self, call: Call<'_>) -> Result<()> {
        let store = fresh::open(self.app, self.freshness(), call)?;
        let intake = self.app.intake_beside(&store)?;
        let mut memory = self.load(&store, intake.redactor())?;
        drop(store);
        let due = self.due(&memory);
        let reached: HashMap<SessionKey, Option<String>> =
            due.iter().map(|(session, _, reached)| (session.clone(), reached.clone())).collect();
        let archived_before: HashSet<SessionKey> =
            memory.decided.archived.keys().cloned().collect();
        for (session, reason, _) in &due {
            memory.failed.remove(session);
            let archived = Archived { at: self.now, reason: (*reason).to_owned() };
            memory.decided.archived.insert(session.clone(), archived);
        }
        let plans = memory.plans();
        let sessions: HashMap<Id, &SessionMemory> =
            memory.sessions.iter().map(|one| (Memory::note_of(&one.key), one)).collect();
        let mut paths: HashSet<String> =
            self.here.values().map(|here| folded(&here.path)).collect();
        // What is known goes into the other notes before the note that it comes from is archived.
        let mut trouble: HashMap<Id, String> = HashMap::new();
        let is_due =
            |plan: &Plan| sessions.get(&plan.id).is_some_and(|one| reached.contains_key(&one.key));
        for plan in plans.iter().filter(|plan| !is_due(plan)) {
            if memory.decided.hidden_notes.contains(&plan.id) {
                continue;
            }
            let hidden = &self.hidden(&memory, &plan.id);
            let is_moved = sessions
                .get(&plan.id)
                .is_some_and(|session| self.request.unarchive.as_ref() == Some(&session.key));
            let written = match is_moved {
                true => self.relocate(plan, hidden, &mut paths).map(drop),
                false => self.write_note(plan, hidden, &mut paths),
            };
            if let Err(error) = written {
                trouble.insert(plan.id, error.to_string());
                self.synced.left.insert(plan.path(), error.to_string());
            }
        }
        let mut archived = Vec::new();
        for plan in plans.iter().filter(|plan| is_due(plan)) {
            let Some(session) = sessions.get(&plan.id) else { continue };
            if memory.decided.hidden_notes.contains(&plan.id) {
                continue;
            }
            let hidden = &self.hidden(&memory, &plan.id);
            let targets = targets(&plans, plan);
            let error = targets.iter().find_map(|target| trouble.get(&target.id)).cloned();
            let outcome = match error {
                Some(error) => Err((false, error)),
                None => self
                    .relocate(plan, hidden, &mut paths)
                    .map_err(|error| (true, error.to_string())),
            };
            match outcome {
                Ok(path) => {
                    self.record.failures.remove(&plan.id);
                    archived.push(session.key.clone());
                    self.synced.compacted.push(CompactedNote {
                        session: session.key.id.to_string(),
                        note: plan.name.clone(),
                        reached: reached.get(&session.key).cloned().unwrap_or_default(),
                        updated: targets.iter().map(|target| target.name.clone()).collect(),
                        archived_to: path,
                    });
                }
                Err((is_archive, error)) => {
                    let failure = Failure { is_archive, error: error.clone(), at: self.now };
                    self.record.failures.insert(plan.id, failure);
                    self.fail(&mut memory.clone(), session, &archived_before, hidden, &mut paths);
                    let note = self
                        .here
                        .get(&plan.id)
                        .map_or_else(|| plan.path(), |here| here.path.clone());
                    let session = session.key.id.to_string();
                    self.synced.failed.push(FailedNote { session, note, is_archive, error });
                }
            }
        }
        self.clear_forgotten(&plans)?;
        self.record.left.clone_from(&self.synced.left);
        if self.request.dry_run {
            return Ok(());
        }
        if !archived.is_empty() {
            taking::record_archived(
                &intake,
                archived,
                |session| {
                    due.iter()
                        .find(|(one, ..)| one == session)
                        .map_or(THRESHOLD, |(_, reason, _)| reason)
                },
                call,
            )?;
        }
        self.write_views()?;
        self.record.synced = Some(self.now);
        self.save()
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

    /// Finds the sessions that are over and whose note reached a limit, each with the reason and the limit.
    fn due(&mut self, memory: &Memory) -> Vec<(SessionKey, &'static str, Option<String>)> {
        let vault = &self.app.config.vault;
        let limits = Thresholds { lines: vault.compact_lines, days: vault.compact_days };
        let mut due = Vec::new();
        for session in &memory.sessions {
            if memory.decided.archived.contains_key(&session.key) {
                continue;
            }
            let id = Memory::note_of(&session.key);
            if self.here.get(&id).is_some_and(|here| here.is_restless || !self.is_quiet(&id, here))
            {
                self.look_again(QUIET);
                continue;
            }
            if self.request.compact.as_ref() == Some(&session.key) {
                due.push((session.key.clone(), BY_HAND, None));
                continue;
            }
            if session.closed.is_none() || memory.decided.taken_out.contains(&session.key) {
                continue;
            }
            let text = self.text(&id).unwrap_or_default();
            if let Some(reached) = Size::of(&text, session.started, self.now).reached(&limits) {
                due.push((session.key.clone(), THRESHOLD, Some(reached)));
            }
        }
        due
    }

    /// Returns the text of a note as it lies on disk.
    fn text(&self, id: &Id) -> Option<String> {
        let here = self.here.get(id)?;
        let known = here.text.clone().or_else(|| self.record.base(id));
        known.or_else(|| Some(self.folder.read(&here.path).ok()??.text))
    }

    /// Returns the lines that are neither added to a note nor removed: a person took them out, or another machine wrote them.
    fn hidden(&self, memory: &Memory, note: &Id) -> HashSet<LineId> {
        let removed = memory.decided.hidden.get(note).into_iter().flatten();
        let foreign = self.record.foreign.get(note).into_iter().flatten();
        removed.chain(foreign).cloned().collect()
    }

    /// Writes a note where it lies, or a new one.
    fn write_note(
        &mut self,
        plan: &Plan,
        hidden: &HashSet<LineId>,
        paths: &mut HashSet<String>,
    ) -> Result<(), NoteError> {
        let Some(here) = self.here.get(&plan.id).cloned() else {
            let text = plan.new_note(hidden)?;
            let path = free_path(plan, paths);
            if !self.request.dry_run {
                let stamp = self.folder.create(&path, &text)?;
                self.record.note(plan.id, &path, stamp, &text, true)?;
                self.here.insert(plan.id, Here { path, stamp, text: None, is_restless: false });
            }
            self.synced.created += 1;
            return Ok(());
        };
        let disk = match self.text(&plan.id) {
            Some(text) => text,
            // Too long, or no text.
            None => return Err(Refusal::TooLong.into()),
        };
        if here.is_restless {
            self.synced.waiting += 1;
            return Ok(());
        }
        let base = self.record.base(&plan.id);
        if base.is_none() {
            // Ids that memory does not know are not ours to remove later.
            let foreign = taking::foreign(Some(plan), "", &disk);
            self.record.foreign.entry(plan.id).or_default().extend(foreign);
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
            return Ok(());
        }
        if !self.is_quiet(&plan.id, &here) {
            self.synced.waiting += 1;
            self.look_again(QUIET);
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
                self.record.note(plan.id, &here.path, stamp, &text, true)?;
                let path = here.path;
                self.here.insert(plan.id, Here { path, stamp, text: None, is_restless: false });
            }
            // Another program wrote it at this moment: the next sync takes that in first.
            None => {
                self.synced.changed -= 1;
                self.synced.waiting += 1;
            }
        }
        Ok(())
    }

    /// Returns the text that a note gets: with ids behind what was told in it, and the plan put in.
    fn wanted(
        &self,
        plan: &Plan,
        disk: &str,
        base: Option<&str>,
        hidden: &HashSet<LineId>,
    ) -> Result<String, NoteError> {
        let marked = match self.record.unmarked.get(&plan.id) {
            Some(unmarked) if !unmarked.is_empty() => {
                with_ids(disk, &taking::unmarked_places(disk, unmarked))
            }
            _ => disk.to_owned(),
        };
        Ok(plan.put_into(&marked, base, hidden)?)
    }

    /// True if no other program wrote a note a moment ago.
    fn is_quiet(&self, note: &Id, here: &Here) -> bool {
        let known = self.record.notes.get(note);
        let is_ours = known.is_some_and(|known| known.by_us && known.stamp == here.stamp);
        is_ours || is_older(here.stamp, QUIET, self.now)
    }

    /// Moves the note of a session to its place, in the archive or out of it: written there, read back and compared before
    /// the original goes.
    fn relocate(
        &mut self,
        plan: &Plan,
        hidden: &HashSet<LineId>,
        paths: &mut HashSet<String>,
    ) -> Result<String, NoteError> {
        let original = self.here.get(&plan.id).cloned();
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
        let stamp = self.folder.create(&path, &text)?;
        let read_back = self.folder.read(&path)?.map(|content| content.text);
        if read_back.as_deref() != Some(text.as_str()) {
            return Err(NoteError::Unverified);
        }
        if let (Some(original), Some(disk)) = (&original, &disk)
            && let Err(error) = self.folder.remove(&original.path, disk)
        {
            // A person writes it at this moment: the copy goes, and the next sync tries again.
            self.folder.remove(&path, &text)?;
            return Err(error.into());
        }
        self.record.note(plan.id, &path, stamp, &text, true)?;
        self.synced.created += usize::from(original.is_none());
        self.here
            .insert(plan.id, Here { path: path.clone(), stamp, text: None, is_restless: false });
        Ok(path)
    }

    /// Marks the note of a session whose compaction failed, as far as it can be written.
    fn fail(
        &mut self,
        memory: &mut Memory,
        session: &SessionMemory,
        archived: &HashSet<SessionKey>,
        hidden: &HashSet<LineId>,
        paths: &mut HashSet<String>,
    ) {
        let id = Memory::note_of(&session.key);
        let Some(failure) = self.record.failures.get(&id) else { return };
        memory.failed.insert(session.key.clone(), (failure.error.clone(), failure.is_archive));
        memory.decided.archived.retain(|key, _| archived.contains(key));
        let plan = memory.plans().into_iter().find(|plan| plan.id == id);
        if let Some(plan) = plan
            && let Err(error) = self.write_note(&plan, hidden, paths)
        {
            self.synced.left.insert(plan.path(), error.to_string());
        }
    }

    /// Takes our lines out of notes that memory no longer calls for: those of sessions that were forgotten. A note in which
    /// a person changed nothing goes as a whole.
    fn clear_forgotten(&mut self, plans: &[Plan]) -> Result<()> {
        let planned: HashSet<Id> = plans.iter().map(|plan| plan.id).collect();
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
            if self.request.dry_run {
                continue;
            }
            if here.text.is_none() {
                self.folder.remove(&here.path, &disk)?;
                self.record.drop_note(&id)?;
                self.here.remove(&id);
            } else {
                let why = "memory no longer holds what it says, but it was changed by hand: remove it yourself";
                self.synced.left.insert(here.path, why.to_owned());
            }
        }
        Ok(())
    }
}

/// True if a file was changed no later than this long ago.
fn is_older(stamp: Stamp, age: SignedDuration, now: Timestamp) -> bool {
    let nanoseconds = |number: i128| u64::try_from(number).unwrap_or(0);
    stamp.changed.saturating_add(nanoseconds(age.as_nanos())) <= nanoseconds(now.as_nanosecond())
}

/// Returns the notes that are given what a session's note says: those that link to it.
fn targets<'p>(plans: &'p [Plan], session: &Plan) -> Vec<&'p Plan> {
    let link = format!("[[{}]]", session.name);
    let has_link = |plan: &&Plan| {
        let references = plan.sections.iter().find(|section| section.name == "References");
        references
            .is_some_and(|section| section.lines.iter().any(|line| line.text.starts_with(&link)))
    };
    plans.iter().filter(has_link).collect()
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
enum NoteError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Disk(#[from] VaultError),
    #[error("Archive verification failed. Session not moved.")]
    Unverified,
}
