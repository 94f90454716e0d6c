//! The stream of events: what is new, by ids. A page asks for what it shows, so that redaction has one place.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use thru_app::ask::changes::{self, Change, Moment, Stamp};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;

use crate::ask::call;
use crate::guard::bearer;
use crate::problem::Problem;
use crate::server::{Shared, ended};

/// The pause between two looks at the files of the store.
pub(crate) const LOOK: Duration = Duration::from_millis(300);
/// The time after which a silent stream says that it lives.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);
/// The time after which a client comes back that lost its stream.
const RETRY: Duration = Duration::from_secs(2);

/// Opens a stream. It goes on after the event that the client saw last.
pub(crate) async fn events(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let slot = Arc::clone(&shared.streams).try_acquire_owned().map_err(|_| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "too many pages are open")
    })?;
    // A moment that is none of ours was another version's: everything is new since.
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let last = last.map(|id| id.parse().unwrap_or_default());
    let (sender, receiver) = channel(16);
    let first = Event::default().retry(RETRY).comment("connected");
    // The channel is empty yet.
    let _ = sender.try_send(Ok(first));
    let token = bearer(&headers).unwrap_or_default().to_owned();
    tokio::spawn(tell(shared, token, last, sender, slot));
    Ok(Sse::new(ReceiverStream::new(receiver)).into_response())
}

/// Sends what is new until the client goes away, its session ends, or the server does.
async fn tell(
    shared: Arc<Shared>,
    token: String,
    last: Option<Moment>,
    sender: Sender<Result<Event, Infallible>>,
    _slot: OwnedSemaphorePermit,
) {
    let mut ending = shared.ending.clone();
    let mut moment = last;
    let mut stamp = Stamp::default();
    // Two writes within one tick of the file system's clock leave the same stamp: what is new is asked for twice.
    let mut is_settled = false;
    let mut silent_since = Instant::now();
    while shared.access.bearer(&token).is_some() {
        let now = Stamp::look(shared.backend.app());
        let is_new = now != stamp;
        if is_new || !is_settled {
            let since = moment.clone();
            let looked =
                call(Arc::clone(&shared), move |app, _| changes::since(app, since.as_ref()));
            // A store that cannot be read now is looked at again.
            if let Ok((now_at, changes)) = looked.await {
                is_settled = !is_new;
                stamp = now;
                let id = now_at.to_string();
                // So that nothing is missed by a client whose stream breaks off before the first event.
                if moment.is_none() && sender.send(Ok(Event::default().id(&id))).await.is_err() {
                    return;
                }
                moment = Some(now_at);
                for change in changes {
                    silent_since = Instant::now();
                    if sender.send(Ok(event(&change, &id))).await.is_err() {
                        return;
                    }
                }
            }
        }
        if silent_since.elapsed() >= HEARTBEAT {
            silent_since = Instant::now();
            // A page that is open is in use.
            shared.note_request();
            if sender.send(Ok(Event::default().comment("alive"))).await.is_err() {
                return;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = sender.closed() => return,
            () = ended(&mut ending) => return,
        }
    }
}

fn event(change: &Change, id: &str) -> Event {
    let name = match change {
        Change::Session { .. } => "session",
        Change::Memory { .. } => "memory",
        Change::Decision => "decision",
        Change::Briefing(_) => "briefing",
        Change::Reset => "reset",
    };
    let data = serde_json::to_string(change).unwrap_or_default();
    Event::default().event(name).id(id).data(data)
}
