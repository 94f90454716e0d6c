//! Schemas of the answers, as strict modes want them: every object names all its members, requires them,
//! and allows no others.

use serde_json::{Map, Value, json};
use thru_core::{Concept, ObservationType, Relation};

/// Returns the schema of an answer about a turn.
pub(super) fn turn() -> Value {
    let types = ObservationType::ALL.map(ObservationType::as_str);
    let concepts = Concept::ALL.map(Concept::as_str);
    let relations = Relation::CLAIMED.map(Relation::as_str);
    object([
        (
            "observations",
            list(object([
                ("type", one_of(&types)),
                ("title", text()),
                ("narrative", text()),
                ("facts", list(object([("text", text()), ("cite", cite())]))),
                ("concepts", list(one_of(&concepts))),
                ("files_read", texts()),
                ("files_modified", texts()),
                (
                    "relations",
                    list(object([
                        ("relation", one_of(&relations)),
                        ("subject", text()),
                        ("object", text()),
                    ])),
                ),
                ("cite", cite()),
            ])),
        ),
        (
            "summary",
            object([
                ("request", text()),
                ("investigated", texts()),
                ("learned", texts()),
                ("completed", texts()),
                ("next_steps", texts()),
            ]),
        ),
    ])
}

/// Returns the schema of an answer about a session.
pub(super) fn session() -> Value {
    object([
        ("title", text()),
        ("request", text()),
        ("investigated", texts()),
        ("learned", texts()),
        ("completed", texts()),
        ("next_steps", texts()),
        ("topics", texts()),
        ("code_changes", list(object([("file", text()), ("description", text())]))),
        (
            "key_decisions",
            list(object([
                ("decision", text()),
                ("rationale", text()),
                ("alternatives", texts()),
                ("cite", cite()),
            ])),
        ),
        (
            "errors_resolved",
            list(object([
                ("error", text()),
                ("root_cause", text()),
                ("fix", text()),
                ("verification", text()),
                ("cite", cite()),
            ])),
        ),
        ("outcomes", texts()),
        ("context_for_continuation", texts()),
        ("tags", texts()),
    ])
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let required: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let required = json!(required);
    let properties: Map<String, Value> =
        members.into_iter().map(|(name, form)| (name.to_owned(), form)).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn one_of(names: &[&str]) -> Value {
    json!({ "type": "string", "enum": names })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn texts() -> Value {
    list(text())
}

fn cite() -> Value {
    list(json!({ "type": "integer" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the demands of strict modes on every object in a schema.
    fn check(schema: &Value) {
        match schema["type"].as_str() {
            Some("object") => {
                assert_eq!(schema["additionalProperties"], json!(false));
                let properties = schema["properties"].as_object().unwrap();
                let mut required: Vec<&str> = schema["required"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|v| v.as_str().unwrap())
                    .collect();
                required.sort_unstable();
                let mut names: Vec<&str> = properties.keys().map(String::as_str).collect();
                names.sort_unstable();
                assert_eq!(required, names);
                properties.values().for_each(check);
            }
            Some("array") => check(&schema["items"]),
            Some("string" | "integer") => {}
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn schemas_are_strict() {
        check(&turn());
        check(&session());
        assert_eq!(turn()["properties"].as_object().unwrap().len(), 2);
        assert_eq!(session()["properties"].as_object().unwrap().len(), 13);
    }
}
