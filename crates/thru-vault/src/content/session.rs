//! The note of a session.

use thru_core::{Statement, Timestamp};

use super::entity::Entities;
use super::{
    Dated, Memory, Names, SessionMemory, day, is_decision, is_shown, memory_lines, minute,
    project_folder, project_tag, put, sections,
};
use crate::escape::{code, escaped};
use crate::front::Property;
use crate::plan::{Plan, PlannedLine, Section, bare};
use crate::properties::FAILED;

/// The sections of a session's note.
const SECTIONS: [&str; 6] =
    ["Context", "Work Log", "Decisions Made", "Open Questions", "Next Steps", "Related Entities"];

/// Makes the note of a session.
pub(super) fn plan(
    memory: &Memory,
    session: &SessionMemory,
    entities: &Entities<'_>,
    names: &Names,
) -> Plan {
    let id = Memory::note_of(&session.key);
    let title =
        session.title.clone().unwrap_or_else(|| format!("Session {}", session.key.id.short()));
    let archived = memory.decided.archived.get(&session.key);
    let folder = project_folder(&session.project);
    Plan {
        id,
        folder: match archived {
            Some(_) => format!("{folder}/archive/sessions"),
            None => format!("{folder}/sessions"),
        },
        name: names.get(&id),
        properties: properties(memory, session, &title),
        sections: content(session, entities, names),
        title,
        points_to: None,
    }
}

fn properties(memory: &Memory, session: &SessionMemory, title: &str) -> Vec<Property> {
    let archived = memory.decided.archived.get(&session.key);
    let failed = memory.failed.get(&session.key);
    let status = match (archived, failed) {
        (Some(_), _) => "archived",
        (None, Some((_, false))) => FAILED,
        (None, _) => "active",
    };
    let updated = archived.map_or(session.ended, |archived| archived.at.max(session.ended));
    let mut properties = vec![
        Property::text("type", "session"),
        Property::text("project", &session.project),
        Property::members("tags", vec!["session".to_owned(), project_tag(&session.project)]),
        Property::members("aliases", vec![bare(title)]),
        Property::text("created", day(session.started)),
        Property::text("updated", day(updated)),
        Property::text("status", status),
    ];
    if let Some(archived) = archived {
        properties.push(Property::text("archived_date", day(archived.at)));
        properties.push(Property::text("archived_reason", &archived.reason));
    } else if let Some((error, is_archive)) = failed {
        let key = if *is_archive { "archive_error" } else { "error" };
        properties.push(Property::text(key, thru_core::plain_line(error, 300)));
    }
    properties.push(Property::text("thru_id", Memory::note_of(&session.key).to_string()));
    properties
}

fn content(session: &SessionMemory, entities: &Entities<'_>, names: &Names) -> Vec<Section> {
    let mut all = sections(&SECTIONS);
    let note = Memory::note_of(&session.key);
    let derived = |kind: &str, text: &str, shown: String| {
        PlannedLine::derived(&[kind.as_bytes(), note.as_bytes(), text.as_bytes()], shown)
    };
    let digest = session.summary.as_ref().map(|summary| &summary.digest);
    let request = digest.and_then(|digest| digest.request.as_ref());
    put(
        &mut all,
        "Context",
        request.map(|one| derived("request", "", format!("asked: {}", escaped(&one.text)))),
    );
    put(&mut all, "Context", [derived("place", "", place(session))]);
    let state = digest.and_then(|digest| digest.state.as_ref());
    put(
        &mut all,
        "Context",
        state.map(|one| derived("state", "", format!("state: {}", escaped(&one.text)))),
    );
    put(&mut all, "Work Log", work_log(session));
    for one in session.observations.iter().filter(|one| is_shown(one) && is_decision(one)) {
        put(&mut all, "Decisions Made", memory_lines(one, Dated::No, None));
    }
    let statements = |statements: fn(&thru_core::Digest) -> &Vec<Statement>| {
        digest.map_or(&[][..], |digest| statements(digest).as_slice())
    };
    if session.observations.iter().all(|one| !is_decision(one)) {
        for one in statements(|digest| &digest.decisions) {
            put(&mut all, "Decisions Made", [derived("decision", &one.text, escaped(&one.text))]);
        }
    }
    for one in statements(|digest| &digest.open_questions) {
        put(&mut all, "Open Questions", [derived("question", &one.text, escaped(&one.text))]);
    }
    for one in statements(|digest| &digest.next_steps) {
        let line = derived("step", &one.text, escaped(&one.text)).task(false);
        put(&mut all, "Next Steps", [line]);
    }
    for entity in entities.of_session(session) {
        let link = names.link(&entity.note, &entity.shown);
        let line = derived("entity", &entity.note.to_string(), format!("touches {link}"));
        put(&mut all, "Related Entities", [line]);
    }
    all
}

fn place(session: &SessionMemory) -> String {
    let directory = session.directory.as_deref().map(thru_core::file_name).unwrap_or_default();
    let mut place = match directory.is_empty() {
        true => format!("session {} of {}", code(session.key.id.as_str()), session.key.agent),
        false => format!(
            "session {} of {} in {}",
            code(session.key.id.as_str()),
            session.key.agent,
            code(directory)
        ),
    };
    if let Some(branch) = session.branch.as_deref().filter(|branch| !branch.is_empty()) {
        place.push_str(&format!(", branch {}", code(branch)));
    }
    place
}

/// The work by turns: below the time of each, what was done in it.
fn work_log(session: &SessionMemory) -> Vec<PlannedLine> {
    let mut lines = Vec::new();
    let mut group: Option<(u32, String)> = None;
    let done = session.observations.iter().filter(|one| is_shown(one) && !is_decision(one));
    for one in done {
        let heading = match &group {
            Some((turn, heading)) if *turn == one.turn => heading.clone(),
            _ => minute(one.at.unwrap_or(session.started)),
        };
        group = Some((one.turn, heading.clone()));
        lines.extend(
            memory_lines(one, Dated::No, None).into_iter().map(|line| line.under(&heading)),
        );
    }
    if lines.is_empty()
        && let Some(summary) = &session.summary
    {
        let note = Memory::note_of(&session.key);
        let heading = minute(session.started);
        lines.extend(summary.digest.completed.iter().map(|one| {
            let parts: [&[u8]; 3] = [b"done", note.as_bytes(), one.text.as_bytes()];
            PlannedLine::derived(&parts, escaped(&one.text)).under(&heading)
        }));
    }
    lines.extend(session.closed.map(|at| closing(session, at)));
    lines
}

/// The closing entry of the work log. It has one id for each end: a session that goes on ends again.
fn closing(session: &SessionMemory, at: Timestamp) -> PlannedLine {
    let note = Memory::note_of(&session.key);
    let parts: [&[u8]; 3] = [b"end", note.as_bytes(), &at.as_millisecond().to_le_bytes()];
    PlannedLine::derived(&parts, "Session completed. Work finalized.".to_owned())
        .under(format!("{} - Session End", minute(at)))
}
