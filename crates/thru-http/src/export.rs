//! The export, as it is written: lines of JSON, however many there are.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use thru_app::keep::export::{Export, export as write_export};
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{StreamExt, once};

use crate::ask::call;
use crate::problem::Problem;
use crate::server::Shared;

/// Pieces under way to a client that reads slowly.
const PIECES: usize = 8;
/// Bytes of a piece.
const PIECE: usize = 64 * 1024;

/// What to export.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportInput {
    project: Option<String>,
    since: Option<String>,
}

/// A writer to a client.
struct Pieces(Sender<io::Result<Bytes>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = Bytes::copy_from_slice(bytes);
        self.0.blocking_send(Ok(piece)).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Exports memory as JSON Lines, as `thru export` does.
pub(crate) async fn export(
    State(shared): State<Arc<Shared>>,
    input: Result<Query<ExportInput>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Problem> {
    let Query(ExportInput { project, since }) =
        input.map_err(|error| Problem::invalid(format!("the parameters: {error}")))?;
    let (sender, mut receiver) = channel(PIECES);
    let writing = tokio::spawn(call(shared, move |app, call| {
        let mut output = BufWriter::with_capacity(PIECE, Pieces(sender.clone()));
        let written =
            write_export(app, &Export { project, since, only_decisions: false }, &mut output, call)
                .and_then(|_| Ok(output.flush()?));
        if written.is_err() {
            // The client must not take a part for the whole.
            let _ = sender.blocking_send(Err(io::Error::other("the export failed")));
        }
        written
    }));
    // What fails before the first piece has a reason to be told.
    let Some(Ok(first)) = receiver.recv().await else {
        let failed =
            || Problem::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "failed", "no export");
        writing.await.map_err(|_| failed())??;
        return Err(failed());
    };
    let pieces = once(Ok(first)).chain(ReceiverStream::new(receiver));
    let form = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((form, Body::from_stream(pieces)).into_response())
}
