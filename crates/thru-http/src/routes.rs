//! The router: guards before everything, then the API, the page and MCP.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Router, middleware};
use serde::{Deserialize, Serialize};
use thru_app::App;

use crate::api::{PREFIX, routes};
use crate::ask::{Answer, body, json};
use crate::guard::{LONGEST_BODY, guard};
use crate::problem::Problem;
use crate::server::Shared;
use crate::{assets, events, export, openapi, worker};

pub(crate) fn router(shared: Arc<Shared>, app: &App) -> Router {
    let mut router = Router::new();
    for route in routes() {
        router = router.route(&format!("{PREFIX}{}", route.path), route.handler);
    }
    worker::add_to(router)
        .route(&format!("{PREFIX}/session"), post(session))
        .route(&format!("{PREFIX}/events"), get(events::events))
        .route(&format!("{PREFIX}/export"), get(export::export))
        .route(&format!("{PREFIX}/openapi.json"), get(openapi::serve))
        .route("/health", get(health))
        .route("/", get(assets::index))
        .route("/assets/{name}", get(assets::serve))
        .route_service("/mcp", thru_mcp::http_service(app.clone(), LONGEST_BODY))
        .fallback(async || Problem::new(StatusCode::NOT_FOUND, "no_route", "there is nothing here"))
        .method_not_allowed_fallback(async || {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "not with that method")
        })
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard))
        .with_state(shared)
}

/// The code of a link.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Code {
    code: String,
}

/// Exchanges the code of a link for a session.
async fn session(State(shared): State<Arc<Shared>>, bytes: Bytes) -> Answer {
    let Code { code } = body(&bytes)?;
    let failed = || Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", "no random numbers");
    let session = shared.access.redeem(&code, shared.port).map_err(|_| failed())?;
    let session = session.ok_or_else(|| {
        Problem::new(
            StatusCode::UNAUTHORIZED,
            "no_code",
            "the link was used already, or is older than a minute; `thru view` makes a new one",
        )
    })?;
    json_of(&session)
}

/// The session that a page has.
#[derive(Deserialize)]
struct Known {
    #[serde(rename = "for")]
    name: Option<String>,
}

/// The answer to a page that looks for its server.
#[derive(Serialize)]
struct Health {
    status: &'static str,
    product: &'static str,
    version: &'static str,
    proof: Option<String>,
}

/// Says who this is, before a page sends its token.
async fn health(State(shared): State<Arc<Shared>>, Query(known): Query<Known>) -> Answer {
    let name = known.name.filter(|name| name.len() <= 64);
    json_of(&Health {
        status: "ok",
        product: "throughline",
        version: env!("CARGO_PKG_VERSION"),
        proof: name.map(|name| shared.access.proof(&name, shared.port)),
    })
}

fn json_of(answer: &impl Serialize) -> Answer {
    Ok(json(thru_app::answer::json(answer)?))
}
