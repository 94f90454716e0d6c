//! The notes that memory calls for, one by one.

use std::collections::{HashMap, HashSet};

use thru_core::Id;

use super::entity::Entities;
use super::fixes::Facts;
use super::{Dated, Memory, SessionMemory, ToldMemory, index, memory_lines, pointer, session};
use crate::changes::without_category;
use crate::escape::escaped;
use crate::names::folded;
use crate::note::LineId;
use crate::plan::Plan;

/// The notes that memory calls for. They are made one by one: all of them together are larger than memory.
pub struct Notes<'m> {
    memory: &'m Memory,
    entities: Entities<'m>,
    facts: Facts<'m>,
    names: Names,
    /// What people wrote into each note, with the section.
    told: HashMap<Id, Vec<(&'m str, &'m ToldMemory)>>,
}

impl<'m> Notes<'m> {
    pub(super) fn new(memory: &'m Memory) -> Self {
        let entities = Entities::new(memory);
        let mut told: HashMap<Id, Vec<(&str, &ToldMemory)>> = HashMap::new();
        for one in &memory.told {
            if let Some((note, section)) = &one.written_in {
                told.entry(*note).or_default().push((section, one));
            }
        }
        let names = Names::new(memory, &entities);
        Self { memory, facts: Facts::new(&memory.facts), entities, names, told }
    }

    /// Returns every note, those of sessions first.
    pub fn plans(&self) -> impl Iterator<Item = Plan> {
        let sessions = self.memory.sessions.iter().map(|one| self.session(one));
        let entities = self.entities.plans(self.memory, &self.facts, &self.names);
        sessions.chain(entities.map(|plan| self.settled(plan))).chain(self.leading())
    }

    /// Returns the note of a session.
    pub fn session(&self, session: &SessionMemory) -> Plan {
        self.settled(session::plan(self.memory, session, &self.entities, &self.names))
    }

    /// Returns the notes that lead to others.
    pub fn leading(&self) -> impl Iterator<Item = Plan> {
        let indexes = index::plans(self.memory, &self.entities, &self.names);
        let pointers = pointer::plans(self.memory, &self.entities, &self.names);
        indexes.into_iter().chain(pointers).map(|plan| self.settled(plan))
    }

    /// Returns the ids of every note.
    pub fn ids(&self) -> HashSet<Id> {
        let sessions = self.memory.sessions.iter().map(|one| Memory::note_of(&one.key));
        let entities = self.entities.names().map(|(id, _)| id);
        sessions.chain(entities).chain(self.leading().map(|plan| plan.id)).collect()
    }

    /// Returns the name of a note, by which it is linked.
    pub fn name(&self, note: &Id) -> String {
        self.names.get(note)
    }

    /// Puts what people told in a note, their texts and their ticks into its plan.
    fn settled(&self, mut plan: Plan) -> Plan {
        for (section, memory) in self.told.get(&plan.id).into_iter().flatten() {
            let lines = memory_lines(&memory.observation, Dated::No, None);
            if let Some(own) = plan.sections.iter_mut().find(|own| own.name == *section) {
                let known: HashSet<LineId> = own.lines.iter().map(|line| line.id.clone()).collect();
                own.lines.extend(lines.into_iter().filter(|line| !known.contains(&line.id)));
            }
        }
        let decided = &self.memory.decided;
        let texts = decided.texts.get(&plan.id);
        for line in plan.sections.iter_mut().flat_map(|section| &mut section.lines) {
            if let Some(text) = texts.and_then(|texts| texts.get(&line.id)) {
                let category = without_category(&line.text).0;
                let category = category.map(|category| format!("[{category}] "));
                line.text = format!("{}{}", category.unwrap_or_default(), escaped(text));
            }
            if let (Some(done), true) = (decided.done.get(&line.id), line.task.is_some()) {
                line.task = Some(*done);
            }
        }
        plan
    }
}

/// The names of notes, by which they are linked.
pub(super) struct Names {
    by_id: HashMap<Id, String>,
}

impl Names {
    fn new(memory: &Memory, entities: &Entities<'_>) -> Self {
        let mut taken: HashSet<String> = memory.names.values().map(|name| folded(name)).collect();
        let mut by_id = memory.names.clone();
        let sessions = memory
            .sessions
            .iter()
            .map(|session| (Memory::note_of(&session.key), super::session_name(session)));
        for (id, name) in sessions.chain(entities.names()) {
            if by_id.contains_key(&id) {
                continue;
            }
            let name = match taken.contains(&folded(&name)) {
                true => format!("{name} {}", LineId::new(&id).as_str()),
                false => name,
            };
            taken.insert(folded(&name));
            by_id.insert(id, name);
        }
        Self { by_id }
    }

    pub(super) fn get(&self, id: &Id) -> String {
        self.by_id.get(id).cloned().unwrap_or_else(|| "unnamed".to_owned())
    }

    /// Returns a link to a note.
    pub(super) fn link(&self, id: &Id, shown: &str) -> String {
        let name = self.get(id);
        let shown: String = shown.chars().filter(|c| !matches!(c, '[' | ']' | '|' | '`')).collect();
        let shown = thru_core::plain_line(&shown, 100);
        match shown.is_empty() || shown == name {
            true => format!("[[{name}]]"),
            false => format!("[[{name}|{shown}]]"),
        }
    }
}
