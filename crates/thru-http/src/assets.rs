//! The page: modules that are served as they are written, from the binary.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// A part of the page.
struct Asset {
    name: &'static str,
    form: &'static str,
    content: &'static [u8],
}

/// The table of [`ASSETS`]: names of files in `page/`.
macro_rules! assets {
    ($($name:literal $form:ident)*) => {
        [$(Asset { name: $name, form: $form, content: include_bytes!(concat!("../page/", $name)) }),*]
    };
}

const CSS: &str = "text/css; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

static ASSETS: &[Asset] = &assets![
    "api.js" JAVASCRIPT
    "app.js" JAVASCRIPT
    "briefings.js" JAVASCRIPT
    "facts.js" JAVASCRIPT
    "health.js" JAVASCRIPT
    "index.html" HTML
    "memory.js" JAVASCRIPT
    "parts.js" JAVASCRIPT
    "preact.LICENSE" TEXT
    "preact.js" JAVASCRIPT
    "privacy.js" JAVASCRIPT
    "projects.js" JAVASCRIPT
    "search.js" JAVASCRIPT
    "sessions.js" JAVASCRIPT
    "style.css" CSS
    "today.js" JAVASCRIPT
];

/// The tags of the parts, which change with their content.
static TAGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let tag = |asset: &Asset| format!("\"{}\"", &blake3::hash(asset.content).to_hex()[..16]);
    ASSETS.iter().map(tag).collect()
});

/// Serves the page itself.
pub(crate) async fn index(headers: HeaderMap) -> Result<Response, Problem> {
    part("index.html", &headers)
}

/// Serves a part of the page.
pub(crate) async fn serve(
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    part(&name, &headers)
}

fn part(name: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let found = ASSETS.iter().zip(TAGS.iter()).find(|(asset, _)| asset.name == name);
    let missing = || Problem::new(StatusCode::NOT_FOUND, "no_route", "there is nothing here");
    let (asset, tag) = found.ok_or_else(missing)?;
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let mut response = match known {
        Some(tags) if tags.contains(tag.as_str()) => StatusCode::NOT_MODIFIED.into_response(),
        _ => Body::from(asset.content).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.form));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}
