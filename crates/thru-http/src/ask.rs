//! Requests of the application: on a thread that may block, answered as every surface answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thru_app::{App, Call, Patience, answer};

use crate::problem::Problem;
use crate::server::Shared;

/// The time that an answer waits for another process that writes.
pub(crate) const WRITER: Duration = Duration::from_secs(20);

/// The result of a route.
pub(crate) type Answer = Result<Response, Problem>;

/// Sets its flag when the request is over, so that the call ends early.
struct Cancel(Arc<AtomicBool>);

impl Drop for Cancel {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Asks the application, and answers with the bytes that the command line prints with `--json`.
pub(crate) async fn ask<T: Serialize>(
    shared: Arc<Shared>,
    work: impl FnOnce(&App, Call<'_>) -> thru_app::Result<T> + Send + 'static,
) -> Answer {
    let text = call(shared, move |app, call| answer::json(&work(app, call)?)).await?;
    Ok(json(text))
}

/// Calls the application.
pub(crate) async fn call<T: Send + 'static>(
    shared: Arc<Shared>,
    work: impl FnOnce(&App, Call<'_>) -> thru_app::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let cancel = Cancel(Arc::clone(&cancelled));
    let working = tokio::task::spawn_blocking(move || {
        let call = Call::unwatched(Patience::Within(WRITER), &cancelled);
        shared.backend.call(|app| work(app, call))
    });
    let done = working.await;
    drop(cancel);
    match done {
        Ok(answered) => Ok(answered?),
        // The panic message may quote recorded text.
        Err(_) => Err(Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "failed",
            "internal error; nothing is lost",
        )),
    }
}

/// An answer in JSON.
pub(crate) fn json(mut text: String) -> Response {
    text.push('\n');
    let mut response = Body::from(text).into_response();
    let form = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, form);
    response
}

/// Reads the body of a change.
///
/// # Errors
/// Fails if it is not JSON, or not what the route takes.
pub(crate) fn body<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|error| Problem::invalid(format!("the body: {error}")))
}
