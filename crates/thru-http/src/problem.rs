//! Errors as answers: problem details (RFC 9457).

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use thru_app::wording::{self, sentence};
use thru_app::{Listing, MemoryAction, Remedy, Trouble, TroubleKind};

use crate::api::PREFIX;

/// A reason why a request was not carried out.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    /// The kind, for programs.
    kind: &'static str,
    detail: String,
    /// The next step, where one is known.
    remedy: Option<Remedy>,
}

impl Problem {
    /// A problem with the request itself, before the application is asked.
    pub(crate) fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> Self {
        Self { status, kind, detail: detail.into(), remedy: None }
    }

    /// A request that does not say what it has to.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", detail)
    }

    /// A request that a guard turns away.
    pub(crate) fn forbidden(kind: &'static str, detail: &'static str) -> Self {
        Self::new(StatusCode::FORBIDDEN, kind, detail)
    }
}

impl From<Trouble> for Problem {
    fn from(trouble: Trouble) -> Self {
        let (status, kind) = match trouble.kind() {
            TroubleKind::Invalid => (StatusCode::BAD_REQUEST, "invalid"),
            TroubleKind::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            TroubleKind::Ambiguous => (StatusCode::BAD_REQUEST, "ambiguous"),
            TroubleKind::Refused => (StatusCode::FORBIDDEN, "refused"),
            TroubleKind::Conflict => (StatusCode::CONFLICT, "conflict"),
            TroubleKind::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            TroubleKind::Cancelled => (StatusCode::SERVICE_UNAVAILABLE, "cancelled"),
            TroubleKind::Failed => (StatusCode::INTERNAL_SERVER_ERROR, "failed"),
        };
        let detail = sentence(&trouble.message());
        Self { status, kind, detail, remedy: trouble.remedy().cloned() }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { status, kind, detail, remedy } = self;
        let mut body = json!({
            "type": format!("urn:throughline:problem:{kind}"),
            "title": status.canonical_reason().unwrap_or_default(),
            "status": status.as_u16(),
            "kind": kind,
            "detail": detail,
        });
        if let Some(remedy) = &remedy {
            body["advice"] = json!(sentence(&advice(remedy)));
            body["remedy"] = json!(remedy);
        }
        let mut response = (status, Body::from(body.to_string())).into_response();
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, json);
        match status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

/// Words a remedy for programs that ask over HTTP: a route where there is one, else as agents are told.
fn advice(remedy: &Remedy) -> String {
    let route =
        |method: &str, path: &str, purpose: &str| format!("`{method} {PREFIX}{path}` {purpose}");
    match remedy {
        Remedy::See(Listing::Ids | Listing::Memories) => route("GET", "/search", "shows ids"),
        Remedy::See(Listing::Projects) => route("GET", "/projects", "lists them"),
        Remedy::See(Listing::Sessions | Listing::AllSessions) => {
            route("GET", "/sessions", "lists them")
        }
        Remedy::See(Listing::Decisions) => route("GET", "/log", "lists them"),
        Remedy::See(Listing::Jobs) => route("GET", "/jobs", "lists them"),
        Remedy::See(Listing::Rules) => route("GET", "/redact/rules", "lists them"),
        Remedy::See(Listing::Settings) | Remedy::ShowSetting(_) => {
            route("GET", "/settings", "shows where each is set")
        }
        Remedy::OpenSession(id) => route("GET", &format!("/sessions/{id}"), "reads it"),
        Remedy::NotASession(MemoryAction::Forget) => {
            route("POST", "/sessions/{id}/forget", "forgets a session")
        }
        Remedy::NotASession(MemoryAction::Edit) => {
            route("GET", "/search", "shows ids of its memories")
        }
        Remedy::NotAPassage(MemoryAction::Forget) => {
            route("POST", "/redact/apply", "takes texts out of all sessions")
        }
        Remedy::NotAPassage(MemoryAction::Edit) | Remedy::ForgetOrRemember => {
            route("POST", "/memories", "keeps a better version")
        }
        Remedy::Doctor => route("GET", "/doctor", "says what can be done"),
        Remedy::Confirm => "Send it again with `confirm`, if it is meant".to_owned(),
        _ => wording::advice(remedy),
    }
}
