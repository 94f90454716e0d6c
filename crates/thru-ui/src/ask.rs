//! Requests of the screen as questions and actions of the application, and the answers as rows and lines.

mod lines;
mod rows;

use thru_app::ask::get::{Get, Piece, Sources, get};
use thru_app::ask::memories::history;
use thru_app::ask::session::{Outline, outline};
use thru_app::fresh::Freshness;
use thru_app::ingest::rebuild::resumable;
use thru_app::keep::edit::{Edit, edit};
use thru_app::keep::forget::{Forget, Forgetting, forget_or_preview};
use thru_app::keep::undo::undo;
use thru_app::words::plural;
use thru_app::{App, Call, Result, Trouble};
use thru_store::MemoryBody;

use crate::state::{Answer, Change, Draft, Line, Request, Target, Then};

/// Words an error with its advice.
pub type Wording = fn(&Trouble) -> String;

/// Answers a request.
pub(crate) fn answer(app: &App, request: Request, wording: Wording, call: Call<'_>) -> Answer {
    let worded = |trouble: Trouble| wording(&trouble);
    match request {
        Request::List(question) => {
            let listed = rows::list(app, &question, call).map_err(worded);
            Answer::Listed(question, listed)
        }
        Request::Read(target) => {
            let read = read(app, &target, call).map_err(worded);
            Answer::Read(target, read)
        }
        Request::Preview(target) => {
            let preview = preview(app, &target, call).map_err(worded);
            Answer::Previewed(target, preview)
        }
        Request::Forget(target) => {
            let said = forget(app, &target, call).map_err(worded);
            Answer::Changed(said.map(|said| Change { said, then: Then::Gone(target) }))
        }
        Request::Undo => Answer::Changed(take_back(app, call).map_err(worded)),
        Request::ResumeLine(session) => {
            let line = resumable(app, &session, call).map(|session| session.shell_line());
            Answer::ResumeLine(line.map_err(worded))
        }
        Request::Draft(id) => Answer::Drafted(draft(app, id, call).map_err(worded)),
        Request::Correct(draft) => {
            let said = correct(app, draft, call).map_err(worded);
            Answer::Changed(said.map(|said| Change { said, then: Then::Listed }))
        }
    }
}

fn read(app: &App, target: &Target, call: Call<'_>) -> Result<Vec<Line>> {
    match target {
        Target::Session(id) => {
            let request = Outline::new(id, Freshness::Recorded);
            Ok(lines::session(app, &outline(app, &request, call)?))
        }
        Target::Memory(id) | Target::Passage(id) => Ok(match piece(app, id, call)? {
            Piece::Memory(piece) => lines::memory(app, &piece.memory),
            Piece::Passage(piece) => lines::passage(app, &piece),
            Piece::Unknown { trouble, .. } => return Err(trouble),
        }),
    }
}

fn piece(app: &App, id: &str, call: Call<'_>) -> Result<Piece> {
    let request =
        Get { ids: vec![id.to_owned()], sources: Sources::None, freshness: Freshness::Recorded };
    let pieces = get(app, &request, call)?.all_known()?.pieces;
    pieces.into_iter().next().ok_or_else(|| Trouble::not_found(format!("there is no `{id}`")))
}

fn to_forget(target: &Target) -> Forget {
    match target {
        Target::Session(id) => Forget::Session { id: id.clone(), with_effects: false },
        Target::Memory(id) | Target::Passage(id) => Forget::Memories(vec![id.clone()]),
    }
}

/// The question before something is forgotten.
fn preview(app: &App, target: &Target, call: Call<'_>) -> Result<String> {
    let Forgetting::Preview(preview) = forget_or_preview(app, &to_forget(target), true, call)?
    else {
        return Ok(String::new());
    };
    let mut question = String::new();
    for memory in &preview.memories {
        question.push_str(memory.headline().get());
        question.push_str("\n\nForget this memory? It can be brought back.");
    }
    for session in &preview.sessions {
        let title = session.title.as_ref().map_or("untitled", |title| title.get());
        let passages = plural(session.passages, "passage");
        question.push_str(&format!(
            "{title}\n\nForget this session with {passages}? This cannot be undone."
        ));
    }
    Ok(question)
}

fn forget(app: &App, target: &Target, call: Call<'_>) -> Result<String> {
    let forgetting = forget_or_preview(app, &to_forget(target), false, call)?;
    let Forgetting::Done(forgotten) = forgetting else { return Ok(String::new()) };
    let mut said = match forgotten.sessions.is_empty() {
        true => "Forgotten. `u` brings it back.".to_owned(),
        false => format!("The session and {} are gone.", plural(forgotten.passages, "passage")),
    };
    if !forgotten.summaries_left.is_empty() {
        said.push_str(" A summary in its project could not be removed.");
    }
    if forgotten.is_unswept {
        said.push_str(" Vectors were not swept: run `thru rebuild`.");
    }
    Ok(said)
}

fn take_back(app: &App, call: Call<'_>) -> Result<Change> {
    let Some(undone) = undo(app, None, call)? else {
        return Ok(Change { said: "There is nothing to undo.".to_owned(), then: Then::Listed });
    };
    // What was undone may be what made it: then there is nothing to show.
    let then = match undone.memory.map(|id| piece(app, &id, call)) {
        Some(Ok(Piece::Memory(piece))) => {
            Then::Restored(rows::memory_row(app, &piece.memory.entry))
        }
        _ => Then::Listed,
    };
    let said = format!("Undid: {} (`thru undo {}` does it again)", undone.text.get(), undone.id);
    Ok(Change { said, then })
}

fn draft(app: &App, id: String, call: Call<'_>) -> Result<Draft> {
    let base = history(app, &id, call)?.base;
    let Piece::Memory(piece) = piece(app, &id, call)? else {
        return Err(Trouble::not_found(format!("`{id}` is no memory")));
    };
    let MemoryBody::Observation(observation) = piece.memory.body.get() else {
        return Err(Trouble::refused("a summary follows from its session and cannot be edited"));
    };
    let text = observation.narrative.as_ref().map(|narrative| narrative.text.clone());
    Ok(Draft {
        id,
        base,
        title: observation.headline().into_owned(),
        text: text.unwrap_or_default(),
    })
}

fn correct(app: &App, draft: Draft, call: Call<'_>) -> Result<String> {
    let request = Edit {
        id: draft.id,
        title: Some(draft.title),
        text: Some(draft.text).filter(|text| !text.is_empty()),
        kind: None,
        is_rule: None,
        agreed: None,
        base: Some(draft.base),
    };
    Ok(format!("{} `u` undoes it.", edit(app, &request, call)?.said()))
}
