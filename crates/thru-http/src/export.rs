//! The export, as it is written: lines of JSON or Markdown, however many there are.
//!
//! It takes as long as its client reads. It has a thread of its own, so that one that reads slowly, or not at all, keeps no
//! question waiting.

use std::io::{self, BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use thru_app::keep::export::{Export, ExportForm, export as write_export};
use thru_app::{Call, Patience, Trouble};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::oneshot;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{StreamExt, once};

use crate::ask::WRITER;
use crate::connections::Connection;
use crate::problem::Problem;
use crate::server::Shared;

/// Exports at a time.
pub(crate) const EXPORTS: usize = 2;
/// Pieces under way to a client that reads slowly.
const PIECES: usize = 8;
/// Bytes of a piece.
const PIECE: usize = 64 * 1024;
/// The time after which a client that reads nothing is given up.
const STALLED: Duration = Duration::from_secs(30);
/// The pause between two looks at whether a slow client has read on.
const LOOK: Duration = Duration::from_millis(5);

/// What to export.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportInput {
    project: Option<String>,
    since: Option<String>,
    #[serde(default)]
    format: Format,
}

/// The form of an export.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Jsonl,
    Md,
}

/// A writer to a client.
struct Pieces {
    /// Nothing once it was given up.
    client: Option<Sender<io::Result<Bytes>>>,
    /// The time that the client may take for one.
    patience: Duration,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let client = self.client.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut piece = Ok(Bytes::copy_from_slice(bytes));
        let deadline = Instant::now() + self.patience;
        loop {
            piece = match client.try_send(piece) {
                Ok(()) => {
                    self.client = Some(client);
                    return Ok(bytes.len());
                }
                Err(TrySendError::Closed(_)) => return Err(io::ErrorKind::BrokenPipe.into()),
                Err(TrySendError::Full(_)) if Instant::now() > deadline => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(TrySendError::Full(piece)) => piece,
            };
            thread::sleep(LOOK);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Exports memory as JSON Lines or Markdown, as `thru export` does.
pub(crate) async fn export(
    State(shared): State<Arc<Shared>>,
    Extension(connection): Extension<Arc<Connection>>,
    input: Result<Query<ExportInput>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Problem> {
    let Query(ExportInput { project, since, format }) =
        input.map_err(|error| Problem::invalid(format!("the parameters: {error}")))?;
    let place = Arc::clone(&shared.exports).try_acquire_owned().map_err(|_| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "other exports are under way")
    })?;
    let (client, mut receiver) = channel(PIECES);
    let (done, result) = oneshot::channel();
    let work = move || {
        let form = match format {
            Format::Jsonl => ExportForm::Lines,
            Format::Md => ExportForm::Markdown,
        };
        let request = Export { project, since, only_decisions: false, form };
        let written = catch_unwind(AssertUnwindSafe(|| write(&shared, &request, client.clone())));
        let written = written.unwrap_or_else(|_| Err(Trouble::failed("internal error")));
        if written.is_err() {
            // The client must not take a part for the whole, and one that does not read never learns of an error.
            let error = client.try_send(Err(io::Error::other("the export failed")));
            if matches!(error, Err(TrySendError::Full(_))) {
                connection.end();
            }
        }
        drop(place);
        // The client may be gone.
        let _ = done.send(written);
    };
    let failed = || Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", "no export");
    thread::Builder::new().name("export".to_owned()).spawn(work).map_err(|_| failed())?;
    // What fails before the first piece has a reason to be told.
    let Some(Ok(first)) = receiver.recv().await else {
        result.await.map_err(|_| failed())??;
        return Err(failed());
    };
    let pieces = once(Ok(first)).chain(ReceiverStream::new(receiver));
    let form = match format {
        Format::Jsonl => "application/x-ndjson",
        Format::Md => "text/markdown; charset=utf-8",
    };
    Ok(([(header::CONTENT_TYPE, form)], Body::from_stream(pieces)).into_response())
}

fn write(
    shared: &Shared,
    request: &Export,
    client: Sender<io::Result<Bytes>>,
) -> thru_app::Result<()> {
    let never = AtomicBool::new(false);
    let call = Call::unwatched(Patience::Within(WRITER), &never);
    let mut output =
        BufWriter::with_capacity(PIECE, Pieces { client: Some(client), patience: STALLED });
    shared.backend.call(|app| write_export(app, request, &mut output, call))?;
    Ok(output.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_reads_nothing_is_given_up() {
        let (client, receiver) = channel(1);
        let mut pieces = Pieces { client: Some(client), patience: Duration::from_millis(20) };
        assert_eq!(pieces.write(b"one").unwrap(), 3);
        assert_eq!(pieces.write(b"two").unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(receiver);
        assert_eq!(pieces.write(b"three").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
