//! The description of the API (OpenAPI 3.1), made of the types that the routes read.

use axum::http::Method;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::api::{Basis, PREFIX, Route, routes};
use crate::ask::{Answer, json as as_json};

/// The place of the schemas that answers share.
const COMPONENTS: &str = "/components/schemas";

/// Serves the description.
pub(crate) async fn serve() -> Answer {
    Ok(as_json(thru_app::answer::json(&document())?))
}

fn document() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut inputs = settings.clone().with(|it| it.inline_subschemas = true).into_generator();
    let outputs = settings.for_serialize().with(|it| it.definitions_path = COMPONENTS.into());
    let mut outputs = outputs.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for route in routes() {
        let path = paths.entry(format!("{PREFIX}{}", route.path)).or_insert_with(|| json!({}));
        path[route.method.as_str().to_lowercase()] = operation(&route, &mut inputs, &mut outputs);
    }
    paths.insert(
        format!("{PREFIX}/events"),
        json!({ "get": {
            "summary": "Streams what is new, by ids: `session`, `memory`, `decision`, `briefing`, `reset`.",
            "responses": { "200": {
                "description": "Server-sent events.", "content": { "text/event-stream": {} } } }
        }}),
    );
    paths.insert(format!("{PREFIX}/session"), exchange());
    let text = |name: &str| json!({ "name": name, "in": "query", "schema": { "type": "string" } });
    paths.insert(
        format!("{PREFIX}/export"),
        json!({ "get": {
            "summary": "Exports memory as JSON Lines, or its memories as Markdown.",
            "parameters": [text("project"), text("since"), {
                "name": "format", "in": "query", "schema": { "enum": ["jsonl", "md"] } }],
            "responses": { "200": {
                "description": "One object for each line, or the text.",
                "content": { "application/x-ndjson": {}, "text/markdown": {} } } }
        }}),
    );
    let mut schemas = outputs.take_definitions(true);
    for (name, schema) in &mut schemas {
        name_kind(name, schema);
    }
    schemas.insert("Problem".to_owned(), problem());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Throughline",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Answers are those that the command line prints with `--json`.",
        },
        "security": [{ "bearer": [] }],
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas,
        },
        "paths": paths,
    })
}

/// The exchange of a code, which alone gives a token that may change something.
fn exchange() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let object = |properties: Value| {
        let names: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
        json!({ "type": "object", "required": names, "properties": properties })
    };
    let json = |schema: Value| json!({ "application/json": { "schema": schema } });
    json!({ "post": {
        "summary": "Exchanges the code of a link for the token of a page, which may read and change.",
        "description": "`thru view --no-open` prints a link; its code is good once, within a minute.",
        "security": [],
        "requestBody": { "required": true, "content": json(object(json!({
            "code": text("What stands behind `#code=` in the link."),
        }))) },
        "responses": {
            "200": { "description": "The session.", "content": json(object(json!({
                "token": text("The bearer token. It survives restarts of the daemon, until `thru view --end-sessions`."),
                "proof": text("The mark by which a page knows this server again: `/health?for=`, with what stands before the dot of the token, answers the same."),
            }))) },
            "default": {
                "description": "A problem (RFC 9457): 401 if the code is not good any more.",
                "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } } },
        },
    }})
}

/// Adds the `kind` of an answer that `serde` tags with the name that it gives the type: the derived schema leaves it out.
fn name_kind(name: &str, schema: &mut Value) {
    let is_renamed = name.starts_with(char::is_lowercase);
    if is_renamed
        && schema["properties"]["version"].is_object()
        && schema["properties"]["kind"].is_null()
    {
        schema["properties"]["kind"] = json!({ "type": "string", "const": name });
        if let Some(required) = schema["required"].as_array_mut() {
            required.push(json!("kind"));
        }
    }
}

/// The shape of a refusal.
fn problem() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    json!({
        "type": "object",
        "required": ["type", "title", "status", "kind", "detail"],
        "properties": {
            "type": text("`urn:throughline:problem:` and the kind."),
            "title": text("The name of the status."),
            "status": { "type": "integer" },
            "kind": text("The class of the problem: `not_found`, `invalid`, `busy`."),
            "detail": text("What is wrong, in a sentence."),
            "advice": text("The next step, in a sentence, where one is known."),
            "remedy": {
                "type": "object",
                "description": "The same step for programs: its kind, and what it is about, such as `open_session` and an id.",
                "required": ["kind"],
                "properties": { "kind": { "type": "string" }, "value": {} },
            },
        },
    })
}

fn operation(route: &Route, inputs: &mut SchemaGenerator, outputs: &mut SchemaGenerator) -> Value {
    let mut schema = (route.input)(inputs).to_value();
    let is_question = route.method == Method::GET;
    let required: Vec<Value> = schema["required"].as_array().cloned().unwrap_or_default();
    let mut parameters = Vec::new();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    for (name, mut property) in properties {
        let is_in_path = route.path.contains(&format!("{{{name}}}"));
        if !is_in_path && !is_question {
            continue;
        }
        let description = property.as_object_mut().and_then(|fields| fields.remove("description"));
        parameters.push(json!({
            "name": name,
            "in": if is_in_path { "path" } else { "query" },
            "required": is_in_path || required.contains(&json!(name)),
            "description": description,
            "schema": property,
        }));
        if !is_question {
            if let Some(fields) = schema["properties"].as_object_mut() {
                fields.remove(&name);
            }
            if let Some(fields) = schema["required"].as_array_mut() {
                fields.retain(|field| *field != json!(name));
            }
        }
    }
    let mut operation = json!({
        "summary": route.summary,
        "parameters": parameters,
        "responses": {
            "200": { "description": "The answer.", "content": { "application/json": {
                "schema": (route.output)(outputs) } } },
            "default": {
                "description": "A problem (RFC 9457).", "content": { "application/problem+json": {
                    "schema": { "$ref": "#/components/schemas/Problem" } } } },
        },
    });
    if route.basis != Basis::More {
        operation["responses"]["304"] = json!({
            "description": "Nothing is new since the answer whose `ETag` the client named by `If-None-Match`.",
        });
    }
    if !is_question {
        if let Some(fields) = schema.as_object_mut() {
            fields.remove("title");
        }
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    operation
}
