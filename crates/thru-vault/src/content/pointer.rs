//! Notes that lead to another: where a promoted one was, and in the place of an archived one that is kept.

use thru_core::Id;

use super::entity::Entities;
use super::{Memory, Names, SessionMemory, day, project_folder, project_tag, put, sections};
use crate::front::Property;
use crate::plan::{Plan, PlannedLine};

/// The end of the name of an archived note whose original stays: a link by the name alone leads to the original.
pub const ARCHIVED: &str = " (archived)";

/// Makes the notes that lead to others.
pub(super) fn plans(memory: &Memory, entities: &Entities<'_>, names: &Names) -> Vec<Plan> {
    let redirects = entities.promoted(memory).map(|(note, name, project)| {
        let at = memory.promoted_at(&note);
        let pointer = Pointer {
            kind: "redirect",
            folder: format!("{}/entities", project_folder(project)),
            name: format!("{name} (moved)"),
            project,
            line: format!("moved_to [[{}]]", names.get(&note)),
        };
        pointer.plan(note, vec![Property::text("created", &at), Property::text("updated", &at)])
    });
    let originals = memory.sessions.iter().filter_map(|session| {
        let archived = memory.decided.archived.get(&session.key)?;
        let note = Memory::note_of(&session.key);
        let target = names.get(&note);
        let pointer = Pointer {
            kind: "session",
            folder: format!("{}/sessions", project_folder(&session.project)),
            name: target.strip_suffix(ARCHIVED)?.to_owned(),
            project: &session.project,
            line: format!("![[{target}]]"),
        };
        Some(pointer.plan(note, properties(session, &day(archived.at))))
    });
    redirects.chain(originals).collect()
}

fn properties(session: &SessionMemory, archived: &str) -> Vec<Property> {
    vec![
        Property::text("created", day(session.started)),
        Property::text("updated", archived),
        Property::text("status", "archived"),
    ]
}

struct Pointer<'m> {
    kind: &'static str,
    folder: String,
    name: String,
    project: &'m str,
    line: String,
}

impl Pointer<'_> {
    fn plan(self, to: Id, more: Vec<Property>) -> Plan {
        let id = Id::derive(&[b"pointer note", to.as_bytes()]);
        let mut all = sections(&["References"]);
        put(
            &mut all,
            "References",
            [PlannedLine::derived(&[b"pointer", id.as_bytes()], self.line)],
        );
        let mut properties = vec![
            Property::text("type", self.kind),
            Property::text("project", self.project),
            Property::members("tags", vec!["redirect".to_owned(), project_tag(self.project)]),
        ];
        properties.extend(more);
        properties.push(Property::text("thru_id", id.to_string()));
        Plan {
            id,
            folder: self.folder,
            title: self.name.clone(),
            name: self.name,
            properties,
            sections: all,
            points_to: Some(to),
        }
    }
}
