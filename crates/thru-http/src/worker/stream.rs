//! The stream of claude-mem's viewer: rows as they come, without names or ids of events.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use thru_app::ask::changes::{self, Change, Moment, Stamp};
use thru_app::ask::session::{Outline, outline};
use thru_app::fresh::Freshness;
use thru_app::{App, Call};
use thru_config::WorkerApi;
use thru_core::{MemoryKind, Summary};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use super::read::{all_projects, prompt_rows, waiting, whole};
use super::{Failure, admit, rows};
use crate::ask::call;
use crate::events::{HEARTBEAT, LOOK};
use crate::problem::Problem;
use crate::server::{Shared, ended};

/// Messages under way to a client.
const MESSAGES: usize = 64;

/// A message: its type and its fields.
type Message = (&'static str, Map<String, Value>);

/// Opens a stream.
pub(super) async fn stream(State(shared): State<Arc<Shared>>) -> Result<Response, Failure> {
    let slot = Arc::clone(&shared.streams).try_acquire_owned().map_err(|_| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "too many streams are open")
    })?;
    let first = call(Arc::clone(&shared), |app, call| Ok(first(app, call))).await??;
    let (sender, receiver) = channel(MESSAGES);
    tokio::spawn(tell(shared, first, sender, slot));
    let keep = KeepAlive::new().interval(HEARTBEAT);
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(keep).into_response())
}

/// The messages that every stream begins with.
fn first(app: &App, call: Call<'_>) -> Result<(Moment, Vec<Message>), Failure> {
    admit(app, WorkerApi::Read)?;
    let (now, _) = changes::since(app, None)?;
    let messages = vec![
        ("connected", Map::new()),
        ("initial_load", all_projects(app, call)?),
        ("processing_status", waiting(app, call)?),
    ];
    Ok((now, messages))
}

/// Sends what is new until the client goes away, the server ends, or the routes are switched off.
async fn tell(
    shared: Arc<Shared>,
    (mut moment, mut messages): (Moment, Vec<Message>),
    sender: Sender<Result<Event, Infallible>>,
    _slot: OwnedSemaphorePermit,
) {
    let mut ending = shared.ending.clone();
    let mut seen = Seen::default();
    let mut stamp = Stamp::look(shared.backend.app());
    loop {
        for message in messages.drain(..) {
            if sender.send(Ok(event(shared.backend.app(), message))).await.is_err() {
                return;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = sender.closed() => return,
            () = ended(&mut ending) => return,
        }
        let now = Stamp::look(shared.backend.app());
        if now == stamp {
            continue;
        }
        let since = moment.clone();
        let mut known = std::mem::take(&mut seen);
        let looked = call(Arc::clone(&shared), move |app, call| {
            let (at, changes) = changes::since(app, Some(&since))?;
            let messages =
                admit(app, WorkerApi::Read).and_then(|()| known.messages(app, changes, call)).ok();
            Ok((at, messages, known))
        });
        // A store that cannot be read now is looked at again.
        if let Ok((at, new, known)) = looked.await {
            let Some(new) = new else { return };
            (stamp, moment, messages, seen) = (now, at, new, known);
        }
    }
}

/// The sessions that a stream told of, with the number of the last prompt of each.
#[derive(Default)]
struct Seen(HashMap<String, u32>);

impl Seen {
    fn messages(
        &mut self,
        app: &App,
        changes: Vec<Change>,
        call: Call<'_>,
    ) -> Result<Vec<Message>, Failure> {
        let mut messages = Vec::new();
        let mut memories = Vec::new();
        for change in changes {
            match change {
                Change::Memory { id } => memories.push(id),
                Change::Session { session, has_grown, state } => {
                    let id = session.id.as_str();
                    let number = Summary::id_of(session.agent, id).number();
                    if has_grown {
                        messages.extend(self.of_session(app, id, number, call)?);
                    }
                    if state.as_deref() == Some("ended") {
                        messages
                            .push(("session_completed", object(json!({ "sessionDbId": number }))));
                    }
                }
                Change::Reset => messages.push(("initial_load", all_projects(app, call)?)),
                Change::Decision | Change::Briefing(_) => {}
            }
        }
        for memory in whole(memories, app, call)? {
            let row = rows::memory(&memory);
            messages.push(match memory.entry.kind {
                MemoryKind::Summary => ("new_summary", object(json!({ "summary": row }))),
                MemoryKind::Observation(_) => {
                    ("new_observation", object(json!({ "observation": row })))
                }
            });
        }
        messages.push(("processing_status", waiting(app, call)?));
        Ok(messages)
    }

    /// Tells the start of a session that is new to the stream, and the prompts that are.
    fn of_session(
        &mut self,
        app: &App,
        id: &str,
        number: u64,
        call: Call<'_>,
    ) -> Result<Vec<Message>, Failure> {
        let mut messages = Vec::new();
        let told = outline(app, &Outline::new(id, Freshness::AsItIs), call)?;
        if !self.0.contains_key(id) {
            let project = told.session.project.as_ref().map(|name| name.get());
            let fields = json!({ "sessionDbId": number, "project": project });
            messages.push(("session_started", object(fields)));
        }
        let last = self.0.entry(id.to_owned()).or_default();
        let new = told.turns.iter().filter(|turn| turn.number > *last);
        let ids = new.filter_map(|turn| Some(turn.prompt.as_ref()?.id.clone())).collect();
        for row in prompt_rows(ids, app, call)? {
            messages.push(("new_prompt", object(json!({ "prompt": row }))));
        }
        *last = told.session.turns.max(*last);
        messages.push(("observation_queued", object(json!({ "sessionDbId": number }))));
        Ok(messages)
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn event(app: &App, (kind, mut fields): Message) -> Event {
    fields.insert("type".to_owned(), kind.into());
    fields.insert("timestamp".to_owned(), app.clock.now().as_millisecond().into());
    Event::default().data(Value::Object(fields).to_string())
}
