//! The page: modules that are served as they are written, from the binary.

use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// The level at which the parts are packed, in milliseconds when they are first asked for.
const LEVEL: i32 = 12;

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

/// A part as it is sent.
struct Form {
    /// Changes with the content, and with its coding.
    tag: String,
    content: Bytes,
}

/// A part as it is written, and packed where that makes it smaller.
struct Forms {
    plain: Form,
    packed: Option<Form>,
}

/// The forms of the parts, made once.
static FORMS: LazyLock<Vec<Forms>> = LazyLock::new(|| ASSETS.iter().map(Forms::of).collect());

impl Forms {
    fn of(asset: &Asset) -> Self {
        let name = &blake3::hash(asset.content).to_hex()[..16];
        let packed = zstd::bulk::compress(asset.content, LEVEL).ok();
        let packed = packed.filter(|packed| packed.len() < asset.content.len());
        Self {
            plain: Form { tag: format!("\"{name}\""), content: Bytes::from_static(asset.content) },
            packed: packed
                .map(|packed| Form { tag: format!("\"{name}-zstd\""), content: packed.into() }),
        }
    }

    /// The form for a client.
    fn form(&self, headers: &HeaderMap) -> &Form {
        self.packed.as_ref().filter(|_| accepts_zstd(headers)).unwrap_or(&self.plain)
    }
}

/// True if a client unpacks zstd.
fn accepts_zstd(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
    let mut codings = values.flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        let is_refused = quality.trim().strip_prefix("q=").is_some_and(|quality| {
            quality.trim().parse::<f32>().is_ok_and(|quality| quality <= 0.0)
        });
        name.trim().eq_ignore_ascii_case("zstd") && !is_refused
    })
}

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
    let found = ASSETS.iter().zip(FORMS.iter()).find(|(asset, _)| asset.name == name);
    let missing = || Problem::new(StatusCode::NOT_FOUND, "no_route", "there is nothing here");
    let (asset, forms) = found.ok_or_else(missing)?;
    let form = forms.form(headers);
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let mut response = match known {
        Some(tags) if tags.contains(form.tag.as_str()) => StatusCode::NOT_MODIFIED.into_response(),
        _ => Body::from(form.content.clone()).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.form));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if form.tag.ends_with("-zstd\"") {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("zstd"));
    }
    if let Ok(tag) = HeaderValue::from_str(&form.tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}
