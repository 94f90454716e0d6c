//! The API: a table of routes. Each is a plain function from its input to an answer of the application.

mod figures;
mod graph;
mod memories;
mod privacy;
mod projects;
mod search;
mod sessions;

use std::str::FromStr;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::IntoResponse;
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thru_app::ask::ProjectScope;
use thru_app::ask::changes::Stamp;
use thru_app::{App, Call, Result, Trouble};

use crate::ask::{ask, body};
use crate::problem::Problem;
use crate::server::Shared;

/// The path that all routes start with.
pub(crate) const PREFIX: &str = "/api/v1";

/// A route, and what the description of the API says of it.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// The path below [`PREFIX`].
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    /// What its answers follow from.
    pub(crate) basis: Basis,
    /// The schema of its input: parameters, or a body with the parameters of the path.
    pub(crate) input: fn(&mut SchemaGenerator) -> Schema,
    /// The schema of its answer.
    pub(crate) output: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) handler: MethodRouter<Arc<Shared>>,
}

/// What an answer follows from: one that follows from the store alone has a tag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// More than the store: indexes, settings, directories, processes.
    More,
    /// The store, once it is up to date.
    UpToDate,
    /// The store as it is.
    Recorded,
}

/// All routes.
pub(crate) fn routes() -> Vec<Route> {
    let mut routes = Vec::new();
    routes.extend(search::routes());
    routes.extend(memories::routes());
    routes.extend(sessions::routes());
    routes.extend(projects::routes());
    routes.extend(graph::routes());
    routes.extend(figures::routes());
    routes.extend(privacy::routes());
    routes
}

/// A question: its input stands in the path and behind it.
fn get<I, T, F>(path: &'static str, summary: &'static str, work: F) -> Route
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    T: Serialize + JsonSchema,
    F: Fn(I, &App, Call<'_>) -> Result<T> + Clone + Send + Sync + 'static,
{
    question(path, summary, Basis::More, work)
}

/// A question to the store once it is up to date.
fn ask_up_to_date<I, T, F>(path: &'static str, summary: &'static str, work: F) -> Route
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    T: Serialize + JsonSchema,
    F: Fn(I, &App, Call<'_>) -> Result<T> + Clone + Send + Sync + 'static,
{
    question(path, summary, Basis::UpToDate, work)
}

/// A question to the store as it is: a client that names the tag of its last answer is told that nothing is new.
fn look<I, T, F>(path: &'static str, summary: &'static str, work: F) -> Route
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    T: Serialize + JsonSchema,
    F: Fn(I, &App, Call<'_>) -> Result<T> + Clone + Send + Sync + 'static,
{
    question(path, summary, Basis::Recorded, work)
}

fn question<I, T, F>(path: &'static str, summary: &'static str, basis: Basis, work: F) -> Route
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    T: Serialize + JsonSchema,
    F: Fn(I, &App, Call<'_>) -> Result<T> + Clone + Send + Sync + 'static,
{
    let handler = move |State(shared): State<Arc<Shared>>,
                        headers: HeaderMap,
                        uri: Uri,
                        path: Path| async move {
        let input: I = asked(&uri, &path.map_err(not_text)?)?;
        // Of the state before, so that what is written meanwhile makes another.
        let look = || (basis != Basis::More).then(|| tag(shared.backend.app())).flatten();
        let mut tag = look();
        let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
        let is_known = |tag: &Option<HeaderValue>| {
            let tag = tag.as_ref().and_then(|tag| tag.to_str().ok());
            known.zip(tag).is_some_and(|(known, tag)| known.contains(tag))
        };
        let mut response = StatusCode::NOT_MODIFIED.into_response();
        if basis != Basis::Recorded || !is_known(&tag) {
            let answer = ask(Arc::clone(&shared), move |app, call| work(input, app, call)).await?;
            // Bringing it up to date may have written.
            tag = tag.filter(|tag| basis == Basis::Recorded || look().as_ref() == Some(tag));
            if !is_known(&tag) {
                response = answer;
            }
        }
        response.headers_mut().extend(tag.map(|tag| (header::ETAG, tag)));
        Ok::<_, Problem>(response)
    };
    let handler = on(MethodFilter::GET, handler);
    let (input, output) = (root::<I>, named::<T>);
    Route { method: Method::GET, path, summary, basis, input, output, handler }
}

/// The tag of answers that the store alone makes.
fn tag(app: &App) -> Option<HeaderValue> {
    let name = Stamp::look(app).name(app.clock.now())?;
    HeaderValue::from_str(&format!("\"{name}\"")).ok()
}

/// A change: its input is the body, and stands in the path.
fn change<I, T, F>(method: Method, path: &'static str, summary: &'static str, work: F) -> Route
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    T: Serialize + JsonSchema,
    F: Fn(I, &App, Call<'_>) -> Result<T> + Clone + Send + Sync + 'static,
{
    let handler = move |State(shared), path: Path, bytes: Bytes| async move {
        let input: I = sent(&bytes, &path.map_err(not_text)?)?;
        ask(shared, move |app, call| work(input, app, call)).await
    };
    let filter = match method {
        Method::PATCH => MethodFilter::PATCH,
        _ => MethodFilter::POST,
    };
    let handler = on(filter, handler);
    let (input, output) = (root::<I>, named::<T>);
    Route { method, path, summary, basis: Basis::More, input, output, handler }
}

fn root<I: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
    schemas.root_schema_for::<I>()
}

fn named<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
    schemas.subschema_for::<T>()
}

/// The parameters in the path, unless they are no text.
type Path = std::result::Result<RawPathParams, RawPathParamsRejection>;

fn not_text(_: RawPathParamsRejection) -> Problem {
    Problem::invalid("the path is not UTF-8".to_owned())
}

/// Reads the input of a question.
fn asked<I: DeserializeOwned>(uri: &Uri, path: &RawPathParams) -> std::result::Result<I, Problem> {
    let query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    // `?project=` is a form that was left empty.
    let given = query.filter(|(_, value)| !value.is_empty());
    let mut pairs = form_urlencoded::Serializer::new(String::new());
    pairs.extend_pairs(given).extend_pairs(path);
    let given = pairs.finish();
    let given = serde_urlencoded::Deserializer::new(form_urlencoded::parse(given.as_bytes()));
    serde_path_to_error::deserialize(given).map_err(|error| {
        // The path of an error about the whole is a point.
        let name = Some(error.path().to_string()).filter(|path| path != ".");
        let name = name.map(|name| format!("`{name}`: ")).unwrap_or_default();
        Problem::invalid(format!("the parameters: {name}{}", error.inner()))
    })
}

/// Reads the input of a change.
fn sent<I: DeserializeOwned>(
    bytes: &Bytes,
    path: &RawPathParams,
) -> std::result::Result<I, Problem> {
    let mut given: Value = body(bytes)?;
    let Some(fields) = given.as_object_mut() else {
        return Err(Problem::invalid("the body is a JSON object"));
    };
    for (name, value) in path {
        if fields.insert(name.to_owned(), Value::from(value)).is_some() {
            return Err(Problem::invalid(format!("the body: `{name}` stands in the path")));
        }
    }
    serde_json::from_value(given).map_err(|error| Problem::invalid(format!("the body: {error}")))
}

/// The project that is named, else all of them: a page stands in no directory.
fn scope(project: Option<String>) -> ProjectScope {
    project.map_or(ProjectScope::Everywhere, ProjectScope::Named)
}

/// Reads names that are separated by commas.
fn names<T: FromStr<Err: std::fmt::Display>>(list: Option<&str>) -> Result<Vec<T>> {
    let names = list.unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty());
    names
        .map(|name| name.parse().map_err(|error: T::Err| Trouble::invalid(error.to_string())))
        .collect()
}

/// The input of a route about one thing.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// Its id, or the start of it.
    id: String,
}

/// An input without a field.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}
