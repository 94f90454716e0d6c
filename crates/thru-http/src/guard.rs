//! Guards: checks of every request, before any route sees it.
//!
//! A server on loopback is reached by every page in the user's browser, by pages of other local servers, and by other
//! users of the machine. Names other than our own (DNS rebinding), other origins and other sites are turned away on
//! every path; data needs a token; changes need a body that no form can send.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::access::Bearer;
use crate::connections::Connection;
use crate::problem::Problem;
use crate::server::Shared;
use crate::worker;

/// The most bytes of a body.
pub(crate) const LONGEST_BODY: usize = 1024 * 1024;

/// The time for a body to come and its answer to begin.
const ANSWER: Duration = Duration::from_secs(30);

/// The headers of every answer.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Lets a request through that is allowed, and adds the headers that every answer has.
pub(crate) async fn guard(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match check(&shared, &request) {
        Ok(()) => {
            shared.note_request();
            let answer = tokio::time::timeout(ANSWER, answer(request, next)).await;
            answer.unwrap_or_else(|_| too_slow().into_response())
        }
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// Has a request answered once all of it is there: until then, its connection rests.
async fn answer(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, LONGEST_BODY).await else { return too_long().into_response() };
    if let Some(connection) = head.extensions.get::<Arc<Connection>>() {
        connection.works();
    }
    next.run(Request::from_parts(head, Body::from(body))).await
}

fn too_long() -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", "the body is too long")
}

fn too_slow() -> Problem {
    Problem::new(StatusCode::GATEWAY_TIMEOUT, "too_slow", "it took too long; try again")
}

fn check(shared: &Shared, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let host = own_host(shared.port, headers, request.uri().authority().map(|name| name.as_str()))?;
    check_site(&host, request)?;
    if headers.contains_key(header::UPGRADE) {
        return Err(Problem::forbidden("upgrade", "this server speaks plain HTTP only"));
    }
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if length
        .is_some_and(|length| length.parse().is_ok_and(|length: u64| length > LONGEST_BODY as u64))
    {
        return Err(too_long());
    }
    let path = request.uri().path();
    if worker::owns(path) {
        return refuse_browsers(headers, "these routes are not for pages");
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_read && request.method() != Method::DELETE && !is_json(headers) {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "not_json",
            "a change is sent as application/json",
        ));
    }
    match path {
        "/mcp" => check_client(shared, headers),
        "/api/v1/session" => Ok(()),
        _ if path.starts_with("/api/") => {
            match bearer(headers).and_then(|token| shared.access.bearer(token)) {
                Some(Bearer::Page) => Ok(()),
                Some(Bearer::Program) if is_read => Ok(()),
                Some(Bearer::Program) => Err(Problem::forbidden(
                    "read_only",
                    "this token may only read; the page may change",
                )),
                None => Err(Problem::new(
                    StatusCode::UNAUTHORIZED,
                    "no_session",
                    "no valid token; `thru view` opens the page with one",
                )),
            }
        }
        // The page and its parts hold nothing of anybody's.
        _ if is_read => Ok(()),
        _ => {
            Err(Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "only GET is allowed here"))
        }
    }
}

/// Returns the name that a request calls this server by, where it is one of ours.
fn own_host(port: u16, headers: &HeaderMap, target: Option<&str>) -> Result<String, Problem> {
    let refused = || Problem::forbidden("host", "this server does not go by that name");
    let host = only(headers, header::HOST).ok_or_else(refused)?.to_ascii_lowercase();
    let names = ["127.0.0.1", "localhost", "[::1]"];
    let is_ours = |name: &str| {
        names
            .iter()
            .any(|own| name.strip_prefix(own).is_some_and(|rest| rest == format!(":{port}")))
    };
    let agrees = target.is_none_or(|target| target.eq_ignore_ascii_case(&host));
    if is_ours(&host) && agrees { Ok(host) } else { Err(refused()) }
}

/// Turns away what a page of another origin or site asks for.
fn check_site(host: &str, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let refused = || Problem::forbidden("origin", "only the page of this server may ask");
    if headers.contains_key(header::ORIGIN) {
        let origin = only(headers, header::ORIGIN).ok_or_else(refused)?;
        if origin != format!("http://{host}") {
            return Err(refused());
        }
    }
    let site = HeaderName::from_static("sec-fetch-site");
    if !headers.contains_key(&site) {
        return Ok(());
    }
    match only(headers, site) {
        Some("same-origin") => Ok(()),
        // Typed, or opened from outside the browser.
        Some("none") if *request.method() == Method::GET => Ok(()),
        _ => Err(refused()),
    }
}

/// Admits clients of MCP by tokens of their own. No page is one.
fn check_client(shared: &Shared, headers: &HeaderMap) -> Result<(), Problem> {
    refuse_browsers(headers, "MCP is not for pages")?;
    match bearer(headers) {
        Some(token) if shared.clients.admits(token) => Ok(()),
        _ => Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "no_client",
            "no valid token; `thru mcp --print-config CLIENT --http` makes one",
        )),
    }
}

/// Turns away what a browser sends, of whatever page.
fn refuse_browsers(headers: &HeaderMap, reason: &'static str) -> Result<(), Problem> {
    let is_browser =
        |name: &HeaderName| *name == header::ORIGIN || name.as_str().starts_with("sec-fetch-");
    // Node's own fetch says its mode, and nothing else that browsers say.
    let mode = HeaderName::from_static("sec-fetch-mode");
    match headers.keys().any(|name| is_browser(name) && *name != mode) {
        true => Err(Problem::forbidden("browser", reason)),
        false => Ok(()),
    }
}

/// Returns the value of a header that is there once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}

/// Returns the bearer token of a request.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers, header::AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn is_json(headers: &HeaderMap) -> bool {
    let essence = only(headers, header::CONTENT_TYPE).and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}
