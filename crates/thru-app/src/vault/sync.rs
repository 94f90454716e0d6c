//! Bringing vault and memory together: what people changed comes in, what memory calls for goes out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;

use jiff::SignedDuration;
use thru_core::{Id, SessionKey, Timestamp, content_hash};
use thru_intake::Operation;
use thru_vault::{
    Folder, Loss, Memory, Plan, Record, SessionMemory, Stamp, conflict_copy, note_id,
};

use super::reach::Reach;
use super::synced::VaultSynced;
use super::{Vault, attention, memory, taking};
use crate::app::App;
use crate::call::Call;
use crate::fresh;
use crate::trouble::Result;

/// A note that was changed more recently may be open in an editor, and is not written.
pub(super) const QUIET: SignedDuration = SignedDuration::from_secs(10);
/// A note that was saved more recently may be saved again at once.
const RESTED: SignedDuration = SignedDuration::from_secs(2);
/// Notes that may be gone without their lines being missed.
const FEW: usize = 2;
/// The reason in a note that a person had archived.
pub(super) const BY_HAND: &str = "Compacted by hand";

/// The request to bring vault and memory together.
#[derive(Clone, Debug, Default)]
pub struct SyncVault {
    /// Takes in a loss that is too large to be taken in without being asked.
    pub accept: bool,
    /// Decisions about notes, which take effect only if the vault is there and no loss stops it.
    pub decided: Vec<Operation>,
    /// Compacts this session whatever its size and age.
    pub compact: Option<SessionKey>,
    /// Moves this note to those of all projects.
    pub promote: Option<Id>,
    /// Moves the note of this session out of the archive.
    pub unarchive: Option<SessionKey>,
    /// Leaves a note to its editor that was saved a moment ago: another save may follow. Where only sessions are new, writes
    /// only their notes.
    pub in_background: bool,
    /// Notes that a copy was merged into a moment ago: no other program is writing them.
    pub merged: BTreeSet<Id>,
    /// Changes nothing, and counts what would be written.
    pub dry_run: bool,
}

/// Brings vault and memory together.
///
/// # Errors
/// Fails if there is no vault or it is not there, another process writes it, or store or journal cannot be used. A
/// note that cannot be written is reported in the answer.
pub fn sync(app: &App, request: &SyncVault, call: Call<'_>) -> Result<VaultSynced> {
    let vault = Vault::open(app)?;
    let _lock = vault.lock()?;
    let mut record = Record::open(&vault.state, vault.folder.root())?;
    if !request.dry_run {
        record.drop_texts()?;
    }
    let mut run = Run::new(app, &vault, record, request);
    run.follow(call)?;
    Ok(run.synced)
}

/// A note of ours on disk.
#[derive(Clone)]
pub(super) struct Here {
    pub(super) path: String,
    pub(super) stamp: Stamp,
    /// Its text, if it is not as it was written last.
    pub(super) text: Option<String>,
    /// True if it was saved a moment ago, and is left to its editor.
    pub(super) is_restless: bool,
    /// True if a conflict copy of it lies there. Until both are merged, neither is read or written: which of two texts is
    /// the later one could not be told any more.
    pub(super) is_forked: bool,
}

impl Here {
    /// The note with this text, or as it was written last.
    pub(super) const fn new(path: String, stamp: Stamp, text: Option<String>) -> Self {
        Self { path, stamp, text, is_restless: false, is_forked: false }
    }

    /// Returns its file name without the ending.
    pub(super) fn name(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".md").unwrap_or(name)
    }
}

pub(super) struct Run<'a> {
    pub(super) app: &'a App,
    pub(super) folder: Folder,
    state: PathBuf,
    pub(super) record: Record,
    pub(super) request: &'a SyncVault,
    pub(super) now: Timestamp,
    pub(super) here: HashMap<Id, Here>,
    gone: Vec<Id>,
    /// Notes that are to be renamed.
    pub(super) renamed: HashSet<Id>,
    /// True if other notes, or the same, may have to follow what is new in the vault.
    pub(super) has_news: bool,
    /// True if there are other files than the record tells of.
    is_unlisted: bool,
    pub(super) synced: VaultSynced,
}

impl<'a> Run<'a> {
    pub(super) fn new(app: &'a App, vault: &Vault, record: Record, request: &'a SyncVault) -> Self {
        let folder = vault.folder.clone();
        Self {
            app,
            state: vault.state.clone(),
            record,
            request,
            now: app.clock.now(),
            here: HashMap::new(),
            gone: Vec::new(),
            renamed: HashSet::new(),
            has_news: false,
            is_unlisted: false,
            synced: VaultSynced::new(folder.root()),
            folder,
        }
    }

    /// Looks at every file, takes in what people changed, and writes what memory calls for.
    pub(super) fn follow(&mut self, call: Call<'_>) -> Result<()> {
        let began = Instant::now();
        self.find()?;
        let had_loss = self.record.loss.is_some();
        if let Some(loss) = self.loss()? {
            self.record.loss = Some(loss);
            self.synced.loss = Some(loss.into());
            return if self.request.dry_run { Ok(()) } else { self.save() };
        }
        self.record.loss = None;
        self.decide(call)?;
        self.take_in(call)?;
        let store = fresh::open(self.app, self.freshness(), call)?;
        let state = self.state(&store)?;
        let is_moving = !self.record.moving.is_empty();
        match if had_loss || is_moving { Reach::Everything } else { self.reach(&state, &store)? } {
            Reach::Nothing => self.pass_over()?,
            Reach::Sessions(ref rows) if self.write_sessions(rows, &state, &store)? => {}
            Reach::Sessions(_) | Reach::Everything => {
                drop(store);
                self.write_out(state, call)?;
            }
        }
        self.synced.milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(())
    }

    fn decide(&self, call: Call<'_>) -> Result<()> {
        if !self.request.decided.is_empty() {
            let intake = self.app.intake()?;
            let lock = call.lock(&intake)?;
            intake.record_and_apply(&lock, &self.request.decided)?;
        }
        Ok(())
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
        let mut forked = Vec::new();
        for found in scan.notes {
            if let Some(id) = by_path.get(&found.path) {
                let is_same =
                    self.record.notes.get(id).is_some_and(|known| known.stamp == found.stamp);
                let text = match is_same {
                    true => None,
                    false => self.folder.read(&found.path)?.map(|content| content.text),
                };
                self.here.insert(*id, Here::new(found.path, found.stamp, text));
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
            if let Some(text) = &text
                && self.record.archiving.get(&found.path) == Some(&content_hash(text.as_bytes()))
                && note_id(text).is_some_and(|id| self.here.contains_key(&id))
                && !self.request.dry_run
            {
                // The half of a move that a killed process did not finish.
                self.folder.remove(&found.path, text)?;
                continue;
            }
            match text.as_deref().and_then(note_id) {
                // A copy that a program made of two versions, or a person.
                Some(id) if is_copy || self.here.contains_key(&id) => {
                    forked.push((id, found.path.clone()));
                    self.synced.copies.insert(found.path);
                }
                Some(id) => {
                    self.here.insert(id, Here::new(found.path, found.stamp, text));
                }
                None if is_copy => {
                    self.synced.copies.insert(found.path);
                }
                None => {
                    others.insert(found.path, found.stamp);
                }
            }
        }
        for (id, copy) in forked {
            if let Some(here) = self.here.get_mut(&id) {
                here.is_forked = true;
                self.synced.forks.insert(copy, (id, here.path.clone()));
            }
        }
        // Links have to follow.
        self.has_news = self.here.iter().any(|(id, here)| {
            self.record.notes.get(id).is_none_or(|known| known.path != here.path)
        });
        self.is_unlisted = self.record.others != others || self.record.copies != self.synced.copies;
        self.record.others = others;
        self.record.copies.clone_from(&self.synced.copies);
        self.gone =
            self.record.notes.keys().filter(|id| !self.here.contains_key(id)).copied().collect();
        Ok(())
    }

    /// Leaves every note as it is.
    fn pass_over(&mut self) -> Result<()> {
        self.synced.unchanged = self.here.len();
        if self.is_unlisted { self.save() } else { Ok(()) }
    }

    pub(super) fn save(&mut self) -> Result<()> {
        self.record.save()?;
        attention::keep(&self.state, &self.record)
    }

    /// Returns the loss that is too large to be taken in, unless the person accepts it.
    fn loss(&self) -> Result<Option<Loss>> {
        if self.request.accept {
            return Ok(None);
        }
        // Few notes may be deleted for themselves, however much of a small vault they are.
        let gone = self.gone.iter().filter(|_| self.gone.len() > FEW);
        let gone = gone.filter_map(|id| self.record.notes.get(id));
        let mut loss = Loss {
            notes: self.gone.len(),
            lines: gone.map(|one| one.lines).sum(),
            of: self.record.notes.values().map(|one| one.lines).sum(),
        };
        for (id, here) in self.here.iter().filter(|(_, here)| !here.is_forked) {
            let Some(text) = &here.text else { continue };
            let Some(base) = self.record.base(id) else { continue };
            loss.lines += taking::removed(&base, text);
        }
        let is_empty = self.here.is_empty() && !self.gone.is_empty();
        Ok((is_empty || loss.is_large()).then_some(loss))
    }

    /// Passes over notes that were saved a moment ago.
    fn leave_restless(&mut self) {
        let now = self.now;
        let is_restless = |here: &Here| here.text.is_some() && !is_older(here.stamp, RESTED, now);
        let mut saved = Vec::new();
        for here in self.here.values_mut().filter(|here| is_restless(here)) {
            here.is_restless = true;
            saved.push(here.stamp);
        }
        for stamp in saved {
            self.look_again(stamp, RESTED);
        }
    }

    /// Asks for another look once a file has rested for this long.
    pub(super) fn look_again(&mut self, stamp: Stamp, rest: SignedDuration) {
        let changed = Timestamp::from_nanosecond(stamp.changed.into()).unwrap_or(self.now);
        // A clock that is ahead does not put it off.
        self.look_again_at(changed.min(self.now).checked_add(rest).unwrap_or(self.now));
    }

    /// Asks for another look at this time.
    pub(super) fn look_again_at(&mut self, due: Timestamp) {
        self.synced.due = Some(self.synced.due.map_or(due, |known| known.min(due)));
    }

    /// Takes in what people changed.
    fn take_in(&mut self, call: Call<'_>) -> Result<()> {
        if self.request.in_background {
            self.leave_restless();
        }
        let rested = self.here.iter().filter(|(_, here)| !here.is_restless && !here.is_forked);
        let mut edited: Vec<(Id, Option<String>, String)> = rested
            .filter_map(|(id, here)| {
                let text = here.text.clone()?;
                let base = self.record.base(id);
                let is_last = base.is_some() && self.record.is_last(id, &text);
                (!is_last).then_some((*id, base, text))
            })
            .collect();
        let saved = |id: &Id| self.here.get(id).map(|here| here.stamp.changed);
        edited.sort_by_key(|(id, ..)| (Reverse(saved(id)), *id));
        if edited.is_empty() && self.gone.is_empty() || self.request.dry_run {
            return Ok(());
        }
        let store = fresh::open(self.app, self.freshness(), call)?;
        let intake = self.app.intake_beside(&store)?;
        let memory = self.load(&store, intake.redactor())?;
        let notes = memory.notes();
        let is_edited = |plan: &Plan| edited.iter().any(|(id, ..)| *id == plan.id);
        let plans: HashMap<Id, Plan> =
            notes.plans().filter(is_edited).map(|plan| (plan.id, plan)).collect();
        let mut taking = taking::Taking::new(self.app, &store, &memory)?;
        let sessions: HashMap<Id, &SessionMemory> =
            memory.sessions.iter().map(|one| (Memory::note_of(&one.key), one)).collect();
        // In the background a person may be writing, and what else was changed waits.
        self.has_news |= !edited.is_empty() && !self.request.in_background;
        for (id, base, text) in &edited {
            if let Some(session) = sessions.get(id) {
                let is_archived = memory.decided.archived.contains_key(&session.key);
                if taking.status(&session.key, is_archived, base.as_deref(), text) {
                    self.record.moving.insert(*id);
                }
            }
            // Without what was written last, no change can be told from what was there before.
            let Some(base) = base else { continue };
            let unmarked = self.record.unmarked.entry(*id).or_default();
            let mut foreign = taking::foreign(plans.get(id), base, text);
            let is_of_other = !foreign.is_empty();
            let unknown = taking.note(*id, plans.get(id), (base, text), is_of_other, unmarked)?;
            foreign.extend(unknown);
            // A version of another machine may lack lines of ours.
            self.has_news |= !foreign.is_empty();
            if !foreign.is_empty() {
                self.record.foreign.entry(*id).or_default().extend(foreign);
            }
        }
        if !self.gone.is_empty() {
            let ids = notes.ids();
            self.gone.iter().filter(|id| ids.contains(id)).for_each(|id| taking.gone(*id));
        }
        self.synced.taken = taking.record(&intake, &mut self.record, call)?;
        for (id, base, text) in edited {
            if let (Some(here), Some(_)) = (self.here.get(&id), base) {
                self.record.note(id, &here.path, here.stamp, &text, false)?;
            }
        }
        for id in std::mem::take(&mut self.gone) {
            self.record.drop_note(&id)?;
        }
        self.save()
    }

    pub(super) fn load(
        &self,
        store: &thru_store::Store,
        redactor: &thru_redact::Redactor,
    ) -> Result<Memory> {
        let mut memory = memory::load(self.app, store, redactor)?;
        self.complete(&mut memory, |_| true);
        Ok(memory)
    }

    /// Adds what is known of the vault on this machine, with the names of these notes.
    pub(super) fn complete(&self, memory: &mut Memory, is_named: impl Fn(&Id) -> bool) {
        for (id, here) in self.here.iter().filter(|(id, _)| is_named(id)) {
            // Notes that lead to others have one name in every project, and are not linked.
            if here.name() != "_index" {
                memory.names.insert(*id, here.name().to_owned());
            }
        }
        for session in &memory.sessions {
            if let Some(failure) = self.record.failures.get(&Memory::note_of(&session.key)) {
                let failed = (failure.error.clone(), failure.is_archive);
                memory.failed.insert(session.key.clone(), failed);
            }
        }
    }
}

/// A time of change that lies further ahead was set by a machine whose clock is wrong.
const AHEAD: SignedDuration = SignedDuration::from_mins(1);

/// True if a file was changed no later than this long ago.
pub(super) fn is_older(stamp: Stamp, age: SignedDuration, now: Timestamp) -> bool {
    let changed = Timestamp::from_nanosecond(stamp.changed.into()).unwrap_or_default();
    let since = now.duration_since(changed);
    since >= age || since < -AHEAD
}
