//! Answers of searches and lists as rows.

use std::collections::HashMap;

use thru_app::ask::memories::{ListMemories, MemoryState, list as list_memories};
use thru_app::ask::memory::MemoryEntry;
use thru_app::ask::passage::PassageEntry;
use thru_app::ask::search::{AnswerSize, Found, FoundRow, Search, Verdict, search};
use thru_app::ask::session::{Outline, SessionEntry, outline};
use thru_app::ask::sessions::{ListSessions, list as list_sessions};
use thru_app::ask::{EntryKind, ProjectScope};
use thru_app::fresh::Freshness;
use thru_app::words::age;
use thru_app::{App, Call, Result};
use thru_core::{Id, MemoryKind, Outcome, PassageKind, Timestamp};

use crate::state::{Line, List, Place, Question, Row, Shown, Target};
use crate::text::one_line;
use crate::tone::Tone;

/// Memories and sessions that are listed where nothing is searched for.
const LATEST: usize = 200;
/// Passages that a search lists.
const PASSAGES: usize = 30;
/// Columns kept of a title; no terminal shows more on a row.
const TITLE: usize = 300;

/// Answers a question.
pub(super) fn list(app: &App, question: &Question, call: Call<'_>) -> Result<List> {
    if question.query.is_empty() { latest(app, question, call) } else { found(app, question, call) }
}

fn scope(question: &Question) -> ProjectScope {
    match question.place {
        Place::Project => question.start.clone(),
        Place::Everywhere | Place::Session(_) => ProjectScope::Everywhere,
    }
}

fn session_of(question: &Question) -> Option<String> {
    match &question.place {
        Place::Session(id) => Some(id.clone()),
        Place::Project | Place::Everywhere => None,
    }
}

/// The latest sessions and memories.
fn latest(app: &App, question: &Question, call: Call<'_>) -> Result<List> {
    let mut dated: Vec<(Option<Timestamp>, Row)> = Vec::new();
    let mut project = None;
    if question.shown != Shown::Memories {
        let sessions = match session_of(question) {
            Some(id) => {
                let request = Outline::new(id, Freshness::Recorded);
                vec![outline(app, &request, call)?.session]
            }
            None => {
                let request = ListSessions {
                    project: scope(question),
                    agents: Vec::new(),
                    since: None,
                    until: None,
                    cursor: None,
                    limit: LATEST,
                };
                let listed = list_sessions(app, &request, call)?;
                project = listed.project;
                listed.sessions
            }
        };
        dated.extend(sessions.iter().map(|one| (one.ended, session_row(app, one))));
    }
    if question.shown != Shown::Sessions {
        let request = ListMemories {
            project: scope(question),
            session: session_of(question),
            kinds: Vec::new(),
            state: MemoryState::InForce,
            since: None,
            until: None,
            cursor: None,
            limit: LATEST,
        };
        let listed = list_memories(app, &request, call)?;
        project = listed.project;
        let memories = listed.memories.iter().map(|one| &one.entry);
        dated.extend(memories.map(|one| (one.at, memory_row(app, one))));
    }
    // A session stands before its memories, and within one session the order is its own.
    if matches!(question.place, Place::Project | Place::Everywhere) {
        dated.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    }
    let rows: Vec<Row> = dated.into_iter().map(|(_, row)| row).collect();
    let note = rows.is_empty().then(|| Line::new(Tone::Quiet, "Nothing here yet."));
    let project = project.map(|name| name.get().clone());
    Ok(List { rows, project, note, is_waiting: false })
}

/// The answer to a query.
fn found(app: &App, question: &Question, call: Call<'_>) -> Result<List> {
    let kinds = match question.shown {
        Shown::Memories => MemoryKind::all().map(EntryKind::Memory).collect(),
        Shown::All | Shown::Sessions => Vec::new(),
    };
    let request = Search {
        query: question.query.clone(),
        project: scope(question),
        session: session_of(question),
        kinds,
        size: AnswerSize::Passages(Some(PASSAGES)),
        // A person sees at a glance that the nearest is not it.
        nearest: true,
        ..Search::default()
    };
    let found = search(app, &request, call)?;
    let rows = match (&found.work, question.shown) {
        (Some(work), _) => {
            let sessions = work.sessions.iter().chain(&work.before);
            sessions.map(|one| session_row(app, &one.entry)).collect()
        }
        (None, Shown::Sessions) => {
            found.sessions.iter().map(|one| session_row(app, &one.entry)).collect()
        }
        (None, Shown::All | Shown::Memories) => entries(app, &found),
    };
    let project = found.project.as_ref().map(|name| name.get().clone());
    Ok(List { rows, project, note: note(&found), is_waiting: false })
}

fn entries(app: &App, found: &Found) -> Vec<Row> {
    let mut sessions: HashMap<Id, &SessionEntry> = HashMap::new();
    for session in &found.sessions {
        sessions.extend(session.passages.iter().map(|one| (one.entry.full_id, &session.entry)));
    }
    let row = |row| match row {
        FoundRow::Memory(memory) => memory_row(app, &memory.entry),
        FoundRow::Passage(passage) => Row {
            target: Target::Passage(passage.entry.id.clone()),
            label: speaker(&passage.entry),
            title: one_line(&passage.snippet.get().text, TITLE),
            age: short_age(app, passage.entry.at),
            session: sessions.get(&passage.entry.full_id).map(|one| one.id.as_str().to_owned()),
        },
    };
    found.rows().map(row).collect()
}

/// A remark on what was found, and on what the answer lacks.
fn note(found: &Found) -> Option<Line> {
    let mut said = found.remarks();
    match found.verdict {
        Verdict::Answered => {}
        Verdict::Nearest => said.push("No sure match. The nearest:".to_owned()),
        Verdict::Nothing if found.work.is_some() => {}
        Verdict::Nothing => said.push("Nothing found.".to_owned()),
    }
    said.extend(found.preparation.sentences());
    (!said.is_empty()).then(|| Line::new(Tone::Quiet, said.join(" ")))
}

pub(super) fn memory_row(app: &App, memory: &MemoryEntry) -> Row {
    Row {
        target: Target::Memory(memory.id.clone()),
        label: memory.kind.as_str().to_owned(),
        title: one_line(memory.listed().get(), TITLE),
        age: short_age(app, memory.at),
        session: memory.session.as_ref().map(|id| id.as_str().to_owned()),
    }
}

fn session_row(app: &App, session: &SessionEntry) -> Row {
    let id = session.id.as_str().to_owned();
    let title = session.title.as_ref().map_or("untitled", |title| title.get());
    Row {
        target: Target::Session(id.clone()),
        label: "session".to_owned(),
        title: one_line(title, TITLE),
        age: short_age(app, session.ended),
        session: Some(id),
    }
}

/// An age in few columns: `5m`, `3h`, `2d`, `4w`, `7mo`, `2y`.
fn short_age(app: &App, at: Option<Timestamp>) -> String {
    let age = age(at, app.clock.now());
    match age.split_once(' ') {
        Some((number, "month" | "months")) => format!("{number}mo"),
        Some((number, unit)) => format!("{number}{}", &unit[..1]),
        None => age,
    }
}

/// The speaker of a passage, in a word: `you`, `agent`, or the tool with how it ended.
pub(super) fn speaker(passage: &PassageEntry) -> String {
    match passage.kind {
        PassageKind::Human => "you".to_owned(),
        PassageKind::Assistant if passage.subagent.is_some() => "subagent".to_owned(),
        PassageKind::Assistant => "agent".to_owned(),
        PassageKind::Tool => {
            let tool = passage.tool.as_ref().map_or("tool", |tool| tool.get());
            let mark = if passage.outcome == Some(Outcome::Failed) { "✗ " } else { "" };
            format!("{mark}{}", one_line(tool, 14))
        }
    }
}
