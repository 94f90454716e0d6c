//! What people changed in notes, as decisions in the journal.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use thru_core::{Id, MemoryEdit, ObservationType, ProjectKey, SessionKey};
use thru_intake::{Intake, LineChange, Operation, RecordedMemory, WrittenIn};
use thru_redact::Report;
use thru_store::Store;
use thru_vault::{
    Change, Front, LineId, Memory, Note, Plan, PlannedLine, Property, Record, Shows, Told, Value,
    changes,
};

use super::sync::BY_HAND;
use super::synced::Taken;
use crate::app::App;
use crate::ask::memory;
use crate::call::Call;
use crate::keep::remember::{clean_text, title_and_text};
use crate::trouble::Result;

/// Decisions that are being collected.
pub(super) struct Taking<'a> {
    store: &'a Store,
    projects: HashMap<String, ProjectKey>,
    /// The number of times that something was told in a note and taken back, by note, title and text.
    taken_back: HashMap<(Id, String, Option<String>), u32>,
    /// The memories that have a text below their title, also where a note shows the title alone.
    with_text: HashSet<Id>,
    forgets: bool,
    operations: Vec<Operation>,
    /// The note and the text of what was told, by the place of its decision.
    told: Vec<(usize, Id, String)>,
    /// The texts that people wrote in the place of lines which several notes may show.
    said: HashMap<LineId, String>,
    /// The texts that others took the place of, by note.
    apart: BTreeMap<Id, BTreeSet<String>>,
    taken: Taken,
}

impl<'a> Taking<'a> {
    /// Begins with nothing.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(super) fn new(app: &App, store: &'a Store, memory: &Memory) -> Result<Self> {
        let mut projects = HashMap::new();
        for session in &memory.sessions {
            if projects.contains_key(&session.project) {
                continue;
            }
            let row = store.session_by_key(&session.key).ok().flatten();
            let key = row.and_then(|row| store.project_key_of_session(row).ok().flatten());
            projects.extend(key.map(|key| (session.project.clone(), key)));
        }
        let mut taken_back = HashMap::new();
        for row in store.operations()? {
            if let Some(Operation::MemoryRecorded(told)) = Operation::read(&row.kind, &row.body)
                && let Some(place) = told.written_in
                && store.memory(&RecordedMemory::id(&row.key))?.is_none()
            {
                *taken_back.entry((place.note, told.title, told.text)).or_default() += 1;
            }
        }
        let told = memory.told.iter().map(|one| &one.observation);
        let observations = memory.sessions.iter().flat_map(|one| &one.observations).chain(told);
        let with_text = observations.filter(|one| one.narrative.is_some());
        let forgets = app.config.vault.delete_means == "forget";
        Ok(Self {
            store,
            projects,
            taken_back,
            with_text: with_text.map(|one| one.id).collect(),
            forgets,
            operations: Vec::new(),
            told: Vec::new(),
            said: HashMap::new(),
            apart: BTreeMap::new(),
            taken: Taken::default(),
        })
    }

    /// Takes in what a person changed in a note, and returns the lines with other words that memory knows nothing of. What a
    /// version of another machine lacks was not removed. Of several notes, the one that was saved last comes first.
    pub(super) fn note(
        &mut self,
        note: Id,
        plan: Option<&Plan>,
        (base, disk): (&str, &str),
        is_of_other: bool,
        unmarked: &BTreeMap<String, LineId>,
    ) -> Result<Vec<LineId>> {
        // A write that was cut short is no change of a person's.
        let as_planned = plan.map(|plan| plan.lines_as_planned(disk)).unwrap_or_default();
        let is_kept = |change: &Change| !(is_of_other && matches!(change, Change::Removed { .. }));
        let shown: HashMap<&LineId, &PlannedLine> = plan
            .map_or_else(HashMap::new, |plan| plan.lines().map(|line| (&line.id, line)).collect());
        let mut unknown = Vec::new();
        for change in changes(base, disk).into_iter().filter(is_kept) {
            match change {
                Change::Edited { line, .. } if as_planned.contains(&line) => {}
                Change::Edited { line, before, text, category } => {
                    let Some(planned) = shown.get(&line) else {
                        unknown.push(line);
                        continue;
                    };
                    self.edited(note, planned, &before, (&text, category.as_deref()))?;
                }
                Change::Ticked { line, is_done } => {
                    self.taken.ticked += 1;
                    self.line(note, &line, LineChange::Done(is_done));
                }
                Change::Removed { line } => {
                    let Some(planned) = shown.get(&line) else { continue };
                    self.taken.removed += 1;
                    match &planned.shows {
                        Shows::Title(memory) if self.forgets => self.forgotten(memory)?,
                        _ => self.line(note, &line, LineChange::Hidden),
                    }
                }
                Change::Told(told) if !unmarked.contains_key(&told.text) => {
                    let project =
                        plan.and_then(project_of).and_then(|name| self.projects.get(name));
                    let project = project.cloned();
                    self.told(note, told, project);
                }
                Change::Told(_) => {}
            }
        }
        Ok(unknown)
    }

    /// Takes in that the note of a session was archived or taken out of the archive: by a person who changed its status,
    /// or by memory on another machine. Returns true if it was.
    pub(super) fn status(
        &mut self,
        session: &SessionKey,
        is_archived: bool,
        base: Option<&str>,
        disk: &str,
    ) -> bool {
        let is_news =
            |status| base.is_none_or(|base| property(base, "status").as_deref() != Some(status));
        let session = session.clone();
        let operation = match property(disk, "status").as_deref() {
            Some("archived") if !is_archived && is_news("archived") => Operation::NoteArchived {
                session,
                reason: property(disk, "archived_reason").unwrap_or_else(|| BY_HAND.to_owned()),
            },
            Some("active") if is_archived && base.is_some() && is_news("active") => {
                Operation::NoteUnarchived { session }
            }
            _ => return false,
        };
        self.taken.statuses += 1;
        self.operations.push(operation);
        true
    }

    /// Takes in that a note is gone.
    pub(super) fn gone(&mut self, note: Id) {
        self.taken.notes += 1;
        self.operations.push(Operation::NoteHidden { note });
    }

    fn line(&mut self, note: Id, line: &LineId, change: LineChange) {
        let line = line.as_str().to_owned();
        self.operations.push(Operation::NoteLineChanged { note, line, change });
    }

    fn edited(
        &mut self,
        note: Id,
        planned: &PlannedLine,
        before: &str,
        (text, category): (&str, Option<&str>),
    ) -> Result<()> {
        let PlannedLine { id: line, shows, .. } = planned;
        // A wholly private or an empty text is no memory: the line stays as the person wrote it.
        let Ok(clean) = clean_text(text, &mut Report::default()) else { return Ok(()) };
        self.taken.edited += 1;
        if !self.counts(note, planned, before, &clean)? {
            return Ok(());
        }
        let edit = match shows {
            Shows::Derived => {
                self.line(note, line, LineChange::Text(clean));
                return Ok(());
            }
            Shows::Text(_) => MemoryEdit { narrative: Some(clean), ..MemoryEdit::default() },
            Shows::Title(id) => {
                let (title, mut narrative) = title_and_text(without_day(&clean).to_owned());
                if narrative.is_some() && self.with_text.contains(id) {
                    // Too long for a title, and the memory has another text: the line stays whole in this note.
                    narrative = None;
                    self.line(note, line, LineChange::Text(clean));
                }
                // Behind a comma stands who told it.
                let kind = category.and_then(|category| category.split(',').next());
                let kind = kind.and_then(|kind| kind.parse::<ObservationType>().ok());
                MemoryEdit { title: Some(title), narrative, kind, ..MemoryEdit::default() }
            }
        };
        let (Shows::Title(id) | Shows::Text(id)) = shows else { return Ok(()) };
        let session = self.session_of(id)?;
        self.operations.push(Operation::MemoryEdited { memory: *id, session, edit });
        Ok(())
    }

    /// Sets apart one of two texts that people wrote in the place of a line which several notes show, where the later one was
    /// written without a sight of the other. Returns true if this one counts.
    fn counts(
        &mut self,
        note: Id,
        planned: &PlannedLine,
        before: &str,
        text: &str,
    ) -> Result<bool> {
        let (Shows::Title(id) | Shows::Text(id)) = &planned.shows else { return Ok(true) };
        let said = self.said.get(&planned.id).cloned();
        let (counts, apart) = match said {
            Some(said) if without_day(&said) == without_day(text) => (false, None),
            Some(_) => (false, Some(text.to_owned())),
            None => {
                self.said.insert(planned.id.clone(), text.to_owned());
                let is_unseen = !planned.is_said_by(before)
                    && self.store.memory(id)?.is_some_and(|memory| memory.flags.is_edited);
                (true, is_unseen.then(|| planned.words()))
            }
        };
        if let Some(apart) = apart {
            self.apart.entry(note).or_default().insert(apart);
        }
        Ok(counts)
    }

    fn forgotten(&mut self, id: &Id) -> Result<()> {
        let session = self.session_of(id)?;
        self.operations.push(Operation::MemoryForgotten { memory: *id, session });
        Ok(())
    }

    fn session_of(&self, id: &Id) -> Result<Option<SessionKey>> {
        let Some(row) = self.store.memory(id)? else { return Ok(None) };
        Ok(memory::session_of(self.store, &row)?.map(|session| session.key))
    }

    fn told(&mut self, note: Id, told: Told, project: Option<ProjectKey>) {
        let Ok(text) = clean_text(&told.text, &mut Report::default()) else { return };
        self.taken.told += 1;
        let (title, text) = title_and_text(text);
        let kind = told.category.as_deref().and_then(|category| category.parse().ok());
        let kind = kind.unwrap_or(match told.section.as_str() {
            "Gotchas & Troubleshooting" | "Common Pitfalls" => ObservationType::Discovery,
            _ => ObservationType::Decision,
        });
        let known = (note, title, text);
        let again = self.taken_back.get(&known).copied().unwrap_or_default();
        let (_, title, text) = known;
        let recorded = RecordedMemory {
            title,
            text,
            kind,
            // An agent can write files too: what holds from then on is said in so many words (`thru edit --rule`).
            is_rule: false,
            files: Vec::new(),
            project,
            by_agent: false,
            states: None,
            written_in: Some(WrittenIn { note, section: told.section, again }),
        };
        self.told.push((self.operations.len(), note, told.text));
        self.operations.push(Operation::MemoryRecorded(recorded));
    }

    /// Writes the decisions into the journal, and into the record what their notes are to be given.
    pub(super) fn record(
        self,
        intake: &Intake,
        record: &mut Record,
        call: Call<'_>,
    ) -> Result<Taken> {
        for (note, texts) in self.apart {
            record.apart.entry(note).or_default().extend(texts);
        }
        if self.operations.is_empty() {
            return Ok(self.taken);
        }
        let lock = call.lock(intake)?;
        let keys = intake.record_and_apply(&lock, &self.operations)?;
        for (place, note, text) in self.told {
            if let Some(key) = keys.get(place) {
                let line = LineId::new(&RecordedMemory::id(key));
                record.unmarked.entry(note).or_default().insert(text, line);
            }
        }
        Ok(self.taken)
    }
}

/// Returns the lines of a note that our last version of it does not have, and that do not say what memory says here: another
/// machine wrote them.
pub(super) fn foreign(plan: Option<&Plan>, base: &str, disk: &str) -> Vec<LineId> {
    let Some(plan) = plan else { return Vec::new() };
    let as_planned = plan.lines_as_planned(disk);
    let (base, disk) = (Note::parse(base), Note::parse(disk));
    let known: HashSet<&LineId> = base.own_lines().map(|(id, _)| id).collect();
    let ids = disk.own_lines().map(|(id, _)| id);
    ids.filter(|id| !as_planned.contains(*id) && !known.contains(id)).cloned().collect()
}

/// Returns the number of our lines that are gone from a note.
pub(super) fn removed(base: &str, disk: &str) -> usize {
    changes(base, disk).iter().filter(|change| matches!(change, Change::Removed { .. })).count()
}

/// Finds the places of what was told in a note, behind which ids go.
pub(super) fn unmarked_places(
    disk: &str,
    unmarked: &BTreeMap<String, LineId>,
) -> Vec<(Range<usize>, LineId)> {
    if unmarked.is_empty() {
        return Vec::new();
    }
    let mut places: BTreeMap<&LineId, Range<usize>> = BTreeMap::new();
    for change in changes("", disk) {
        if let Change::Told(told) = change
            && let Some(line) = unmarked.get(&told.text)
        {
            places.entry(line).or_insert(told.range);
        }
    }
    places.into_iter().map(|(line, range)| (range, line.clone())).collect()
}

/// Returns a text in the properties of a note.
fn property(text: &str, key: &str) -> Option<String> {
    let note = Note::parse_front(text);
    Front::read(&note).ok()?.text(key, text)
}

/// Returns the project in the properties of a note.
fn project_of(plan: &Plan) -> Option<&str> {
    plan.properties.iter().find_map(|property| match property {
        Property { key: "project", value: Value::Text(name) } if name != "global" => {
            Some(name.as_str())
        }
        _ => None,
    })
}

/// Returns a line without the day that stands before titles in notes of several sessions.
fn without_day(text: &str) -> &str {
    let Some((day, rest)) = text.split_once(": ") else { return text };
    let is_day = day.len() == 10
        && day.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if is_day { rest } else { text }
}
