//! Errors as answers: problem details (RFC 9457).

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use thru_app::{Trouble, TroubleKind, wording};

/// A reason why a request was not carried out.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    /// The kind, for programs.
    kind: &'static str,
    detail: String,
}

impl Problem {
    /// A problem with the request itself, before the application is asked.
    pub(crate) fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> Self {
        Self { status, kind, detail: detail.into() }
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
        Self { status, kind, detail: wording::sentences(&trouble) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { status, kind, detail } = self;
        let body = json!({
            "type": format!("urn:throughline:problem:{kind}"),
            "title": status.canonical_reason().unwrap_or_default(),
            "status": status.as_u16(),
            "kind": kind,
            "detail": detail,
        });
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
