//! The notes that lead to the others: one for each project, and one for the vault.

use std::collections::BTreeMap;

use thru_core::{Id, Timestamp};

use super::entity::Entities;
use super::{Memory, Names, SessionMemory, day, project_folder, put, sections};
use crate::escape::escaped;
use crate::front::Property;
use crate::plan::{Plan, PlannedLine};

const SECTIONS: [&str; 3] = ["Key Entities", "Recent Focus", "Active Goals"];
/// The most lines of a section.
const MOST: usize = 10;

/// Makes the notes that lead to the others.
pub(super) fn plans(memory: &Memory, entities: &Entities<'_>, names: &Names) -> Vec<Plan> {
    let mut projects: BTreeMap<&str, Vec<&SessionMemory>> = BTreeMap::new();
    for session in &memory.sessions {
        projects.entry(session.project.as_str()).or_default().push(session);
    }
    let mut plans: Vec<Plan> = Vec::new();
    for (project, sessions) in &mut projects {
        sessions.sort_by_key(|session| (std::cmp::Reverse(session.ended), session.key.clone()));
        plans.push(project_plan(memory, project, sessions, entities, names));
    }
    plans
}

fn project_plan(
    memory: &Memory,
    project: &str,
    sessions: &[&SessionMemory],
    entities: &Entities<'_>,
    names: &Names,
) -> Plan {
    let id = Id::derive(&[b"index note", project.as_bytes()]);
    let mut all = sections(&SECTIONS);
    let derived = |kind: &[u8], of: &Id, text: String| {
        PlannedLine::derived(&[kind, id.as_bytes(), of.as_bytes()], text)
    };
    for entity in entities.key_entities(project) {
        let link = names.link(&entity.note, &entity.shown);
        put(&mut all, "Key Entities", [derived(b"entity", &entity.note, link)]);
    }
    for session in sessions.iter().take(MOST) {
        let note = Memory::note_of(&session.key);
        let title = session.title.as_deref().unwrap_or("session");
        let text = format!("{}: {}", day(session.ended), names.link(&note, title));
        put(&mut all, "Recent Focus", [derived(b"focus", &note, text)]);
    }
    let active = sessions.iter().filter(|one| !memory.decided.archived.contains_key(&one.key));
    let steps = active.flat_map(|session| {
        let steps = session.summary.as_ref().map(|summary| summary.digest.next_steps.iter());
        steps.into_iter().flatten().map(move |step| (session, step))
    });
    for (session, step) in steps.take(MOST) {
        let note = Memory::note_of(&session.key);
        let of = Id::derive(&[note.as_bytes(), step.text.as_bytes()]);
        let text = format!("{} ({})", escaped(&step.text), names.link(&note, "session"));
        put(&mut all, "Active Goals", [derived(b"goal", &of, text)]);
    }
    let times = |time: fn(&SessionMemory) -> Timestamp| sessions.iter().map(move |one| time(one));
    let created = times(|session| session.started).min().unwrap_or_default();
    let updated = times(|session| session.ended).max().unwrap_or_default();
    Plan {
        id,
        folder: project_folder(project),
        name: "_index".to_owned(),
        properties: vec![
            Property::text("type", "project-index"),
            Property::text("project", project),
            Property::members("tags", vec!["index".to_owned(), super::project_tag(project)]),
            Property::text("created", day(created)),
            Property::text("updated", day(updated)),
            Property::text("thru_id", id.to_string()),
        ],
        title: project.to_owned(),
        sections: all,
        points_to: None,
    }
}
