//! The routes of claude-mem's worker, for editors and clients that were written for it. Off unless the user sets
//! `http.worker_api`.
//!
//! These clients have no token. A guard of their own turns away whatever a browser sends; other programs of this machine
//! get in. Requests and answers keep the forms that the clients know: a body is JSON whatever it is called, ids are
//! numbers, and lists in rows are JSON in a text. What is reported goes through the door that hooks use.

mod context;
mod ingest;
mod input;
mod read;
mod rows;
mod search;
mod stream;
mod table;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{RawPathParams, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, get, on};
use serde_json::{Value, json};
use thru_app::{App, Call, Trouble, TroubleKind};
use thru_config::WorkerApi;

use crate::ask::call;
use crate::problem::Problem;
use crate::server::Shared;
use input::Input;

/// The work of a route.
type Work = fn(&Input, &App, Call<'_>) -> Result<Reply, Failure>;

/// A route: its method, its path, the setting that it needs, and its work.
type Route = (MethodFilter, &'static str, WorkerApi, Work);

/// All routes but the stream.
const ROUTES: &[Route] = {
    use MethodFilter as M;
    use WorkerApi::{Full, Read};
    &[
        (M::GET, "/api/health", Read, read::health),
        (M::GET, "/api/readiness", Read, read::readiness),
        (M::GET, "/api/version", Read, read::version),
        (M::GET, "/api/stats", Read, read::stats),
        (M::GET, "/api/projects", Read, read::projects),
        (M::GET, "/api/processing-status", Read, read::processing_status),
        (M::POST, "/api/processing", Full, read::processing),
        (M::GET, "/api/observations", Read, read::observations),
        (M::GET, "/api/summaries", Read, read::summaries),
        (M::GET, "/api/prompts", Read, read::prompts),
        (M::GET, "/api/observation/{id}", Read, read::observation),
        (M::GET, "/api/session/{id}", Read, read::summary),
        (M::GET, "/api/prompt/{id}", Read, read::prompt),
        (M::POST, "/api/observations/batch", Read, read::batch),
        (M::GET, "/api/search", Read, search::search),
        (M::GET, "/api/search/observations", Read, search::observations),
        (M::GET, "/api/timeline", Read, search::timeline),
        (M::GET, "/api/timeline/by-query", Read, search::timeline),
        (M::GET, "/api/context/inject", Read, context::inject),
        (M::GET, "/api/context/preview", Read, context::inject),
        (M::GET, "/api/context/recent", Read, read::recent),
        (M::POST, "/api/context/semantic", Read, context::semantic),
        (M::POST, "/api/memory/save", Full, ingest::save),
        (M::POST, "/api/sessions/init", Full, ingest::init),
        (M::POST, "/api/sessions/observations", Full, ingest::observation),
        (M::POST, "/api/sessions/summarize", Full, ingest::summarize),
        (M::POST, "/api/sessions/complete", Full, ingest::complete),
        (M::POST, "/api/sessions/session-end", Full, ingest::complete),
        (M::POST, "/sessions/init", Full, ingest::init),
        (M::POST, "/sessions/observations", Full, ingest::observation),
        (M::POST, "/sessions/summarize", Full, ingest::summarize),
        (M::POST, "/sessions/complete", Full, ingest::complete),
        (M::POST, "/sessions/{id}/init", Full, ingest::init),
        (M::POST, "/sessions/{id}/observations", Full, ingest::observation),
        (M::POST, "/sessions/{id}/summarize", Full, ingest::summarize),
        (M::POST, "/sessions/{id}/complete", Full, ingest::complete),
    ]
};

/// True for a path of these routes.
pub(crate) fn owns(path: &str) -> bool {
    let is_api = path.starts_with("/api/") && !path.starts_with("/api/v1/");
    is_api || path.starts_with("/sessions/") || path == "/stream"
}

/// Adds the routes.
pub(crate) fn add_to(mut router: Router<Arc<Shared>>) -> Router<Arc<Shared>> {
    for &(method, path, needs, work) in ROUTES {
        let handler = move |State(shared): State<Arc<Shared>>,
                            uri: Uri,
                            path: RawPathParams,
                            headers: HeaderMap,
                            body: Bytes| async move {
            let input = Input::read(&shared, &uri, &path, &headers, &body)?;
            answer(shared, needs, input, work).await
        };
        router = router.route(path, on(method, handler));
    }
    router.route("/stream", get(stream::stream))
}

async fn answer(
    shared: Arc<Shared>,
    needs: WorkerApi,
    input: Input,
    work: Work,
) -> Result<Response, Failure> {
    let worked =
        call(shared, move |app, call| Ok(admit(app, needs).and_then(|()| work(&input, app, call))));
    Ok(worked.await??.into_response())
}

/// Admits a request where the settings offer its route.
fn admit(app: &App, needs: WorkerApi) -> Result<(), Failure> {
    let no_route = || Problem::new(StatusCode::NOT_FOUND, "no_route", "there is nothing here");
    match (app.config.http.worker_api, needs) {
        (WorkerApi::Full, _) | (WorkerApi::Read, WorkerApi::Read) => Ok(()),
        (WorkerApi::Read, _) => Err(Failure::Refused("`http.worker_api` is `read`".to_owned())),
        (WorkerApi::Off, _) => Err(Failure::Problem(no_route())),
    }
}

/// An answer in the form that clients of the worker know.
enum Reply {
    /// JSON.
    Json(Value),
    /// Text as an MCP tool answers it.
    Tool(String),
    /// The same for an error.
    ToolError(String),
    /// Plain text.
    Text(String),
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let tool = |text| json!({ "content": [{ "type": "text", "text": text }] });
        let value = match self {
            Self::Text(text) => {
                let form = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
                return (form, text).into_response();
            }
            Self::Json(value) => value,
            Self::Tool(text) => tool(text),
            Self::ToolError(text) => {
                let mut value = tool(text);
                value["isError"] = true.into();
                value
            }
        };
        crate::ask::json(value.to_string())
    }
}

/// A reason why there is no answer.
enum Failure {
    /// A field of the request is missing or wrong.
    Invalid { field: &'static str, message: String },
    /// The request cannot be read, or asks for nothing.
    Malformed(StatusCode, String),
    /// A row that is not there.
    Missing(String),
    /// A setting forbids it.
    Refused(String),
    /// An event that was not kept.
    NotStored(String),
    /// The application failed.
    Problem(Problem),
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble.kind() {
            TroubleKind::NotFound => Self::Missing(trouble.message()),
            TroubleKind::Invalid | TroubleKind::Ambiguous => {
                Self::Malformed(StatusCode::BAD_REQUEST, trouble.message())
            }
            TroubleKind::Refused => Self::Refused(trouble.message()),
            // What failed may name files of the user.
            _ => Self::Malformed(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the memory cannot be read or written now; `thru doctor` says why".to_owned(),
            ),
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, body) = match self {
            Self::Invalid { field, message } => {
                let issue = json!({ "path": [field], "message": message, "code": "invalid_type" });
                (StatusCode::BAD_REQUEST, json!({ "error": "ValidationError", "issues": [issue] }))
            }
            Self::Malformed(status, message) => (status, json!({ "error": message })),
            Self::Missing(message) => (StatusCode::NOT_FOUND, json!({ "error": message })),
            Self::Refused(message) => (StatusCode::FORBIDDEN, json!({ "error": message })),
            Self::NotStored(reason) => {
                (StatusCode::INTERNAL_SERVER_ERROR, json!({ "stored": false, "reason": reason }))
            }
            Self::Problem(problem) => return problem.into_response(),
        };
        (status, crate::ask::json(body.to_string())).into_response()
    }
}
