//! Answers in JSON, whatever the types of their members.

use serde_json::{Map, Value};
use thru_core::{ClaimedRelation, find_object};

use super::{
    CITES, ClaimedChange, ClaimedDecision, ClaimedError, ClaimedFact, ClaimedObservation, FACTS,
    FILES, LIST, OBSERVATIONS, RELATIONS, SessionAnswer, TurnAnswer, TurnSummary, Unusable,
    bounded, concept_of, kind_of, numbers_in, relation_of, without_cites,
};

/// Member names under which models put the text of something that should have been a string.
const TEXTS: [&str; 12] = [
    "text",
    "fact",
    "title",
    "name",
    "file",
    "path",
    "description",
    "content",
    "value",
    "summary",
    "statement",
    "step",
];

/// Returns the first object in a text that can be read, or the list that the text is. The surrounding text
/// does not matter.
pub(super) fn within(text: &str) -> Option<Value> {
    let list = serde_json::from_str(text).ok().filter(Value::is_array);
    list.or_else(|| find_object(text))
}

/// Reads an answer about a turn.
pub(super) fn turn(value: &Value) -> Result<TurnAnswer, Unusable> {
    let listed: &[Value] = match value {
        Value::Array(items) => items,
        _ => &[],
    };
    let root = unwrapped(value, &["observations", "observation", "summary", "title"]);
    let Some(root) = root else {
        // A bare list is a list of observations.
        let observations: Vec<ClaimedObservation> = observations(listed);
        return match observations.is_empty() {
            true => Err(Unusable::NoContent),
            false => Ok(TurnAnswer { observations, ..TurnAnswer::default() }),
        };
    };
    if is_schema(root) {
        return Err(Unusable::Echo);
    }
    let told = member(root, &["observations", "observation", "memories"]);
    let observations = match told {
        Some(Value::Array(items)) => observations(items),
        Some(one @ Value::Object(_)) => observations(std::slice::from_ref(one)),
        _ if root.contains_key("title") && root.contains_key("narrative") => {
            observation(root).into_iter().collect()
        }
        _ => Vec::new(),
    };
    let summary = match member(root, &["summary", "turn_summary", "digest"]) {
        Some(Value::Object(members)) => summary(members),
        Some(said) => TurnSummary { completed: texts(Some(said), LIST), ..TurnSummary::default() },
        None => summary(root),
    };
    let is_silent = told.is_none() && observations.is_empty() && summary == TurnSummary::default();
    if is_silent {
        return Err(Unusable::NoContent);
    }
    Ok(TurnAnswer { observations, summary })
}

/// Reads an answer about a session.
pub(super) fn session(value: &Value) -> Result<SessionAnswer, Unusable> {
    let known = ["title", "request", "completed", "key_decisions", "context_for_continuation"];
    let root = unwrapped(value, &known).ok_or(Unusable::NoContent)?;
    if is_schema(root) {
        return Err(Unusable::Echo);
    }
    let told = match root.get("summary") {
        Some(Value::Object(members)) if !root.contains_key("request") => summary(members),
        _ => summary(root),
    };
    let objects = |names: &[&str]| -> Vec<Value> {
        match member(root, names) {
            Some(Value::Array(items)) => items.iter().take(LIST).cloned().collect(),
            Some(one @ (Value::Object(_) | Value::String(_))) => vec![one.clone()],
            _ => Vec::new(),
        }
    };
    let list = |names: &[&str]| texts(member(root, names), LIST);
    let changes = objects(&["code_changes", "changes"]);
    let decisions = objects(&["key_decisions", "decisions"]);
    let errors = objects(&["errors_resolved", "errors"]);
    Ok(SessionAnswer {
        title: text(member(root, &["title"])),
        summary: told,
        topics: list(&["topics"]),
        code_changes: changes.iter().map(change).collect(),
        key_decisions: decisions.iter().map(decision).collect(),
        errors_resolved: errors.iter().map(error).collect(),
        outcomes: list(&["outcomes", "outcome"]),
        context: list(&["context_for_continuation", "context"]),
        tags: list(&["tags"]),
    })
}

/// Returns the object with one of these members: the answer itself, or one that wraps it.
fn unwrapped<'v>(value: &'v Value, known: &[&str]) -> Option<&'v Map<String, Value>> {
    let mut object = value.as_object()?;
    for _ in 0..3 {
        if known.iter().any(|name| object.contains_key(*name)) || is_schema(object) {
            return Some(object);
        }
        object = object.values().find_map(Value::as_object)?;
    }
    None
}

/// Returns true if the object is the schema of the answer instead of an answer.
fn is_schema(object: &Map<String, Value>) -> bool {
    object.contains_key("additionalProperties")
        || object.get("properties").is_some_and(Value::is_object)
}

fn member<'v>(object: &'v Map<String, Value>, names: &[&str]) -> Option<&'v Value> {
    names.iter().find_map(|name| object.get(*name)).filter(|value| !value.is_null())
}

fn observations(items: &[Value]) -> Vec<ClaimedObservation> {
    let objects = items.iter().take(OBSERVATIONS * 4).filter_map(Value::as_object);
    objects.filter_map(observation).take(OBSERVATIONS).collect()
}

fn observation(said: &Map<String, Value>) -> Option<ClaimedObservation> {
    let (title, cited) = text_and_cites(member(said, &["title", "name", "headline"]));
    let (mut narrative, more) =
        text_and_cites(member(said, &["narrative", "description", "text", "content"]));
    let subtitle = text(member(said, &["subtitle"]));
    if narrative.is_empty() {
        narrative = subtitle;
    }
    if title.is_empty() && narrative.is_empty() {
        return None;
    }
    let mut cite = cites(member(said, &["cite", "cites", "sources"]));
    cite.extend(cited);
    cite.extend(more);
    cite.truncate(CITES);
    let facts = match member(said, &["facts", "fact"]) {
        Some(Value::Array(items)) => items.iter().take(FACTS).map(fact).collect(),
        Some(Value::Object(members)) if !members.contains_key("text") => {
            members.values().take(FACTS).map(fact).collect()
        }
        Some(one @ Value::Object(_)) => vec![fact(one)],
        other => texts(other, FACTS).iter().map(|text| fact(&Value::from(text.as_str()))).collect(),
    };
    let concepts = texts(member(said, &["concepts", "concept", "tags"]), LIST);
    let relations = member(said, &["relations", "relationships"]).and_then(Value::as_array);
    let relations = relations.into_iter().flatten().take(RELATIONS).filter_map(relation);
    Some(ClaimedObservation {
        kind: kind_of(&text(member(said, &["type", "kind", "category"]))),
        title,
        narrative,
        facts: facts.into_iter().filter(|fact: &ClaimedFact| !fact.text.is_empty()).collect(),
        concepts: concepts.iter().filter_map(|name| concept_of(name)).collect(),
        files_read: files(member(said, &["files_read", "filesRead"])),
        files_modified: files(member(said, &["files_modified", "filesModified", "files"])),
        relations: relations.collect(),
        cite,
    })
}

fn relation(said: &Value) -> Option<ClaimedRelation> {
    let said = said.as_object()?;
    let end = |names: &[&str]| Some(text(member(said, names))).filter(|name| !name.is_empty());
    Some(ClaimedRelation {
        relation: relation_of(&text(member(said, &["relation", "name", "type"])))?,
        subject: end(&["subject", "source", "from"])?,
        object: end(&["object", "target", "to"])?,
    })
}

fn fact(said: &Value) -> ClaimedFact {
    let (text, mut cite) = text_and_cites(Some(said));
    if let Some(members) = said.as_object() {
        cite.extend(cites(member(members, &["cite", "cites", "sources"])));
        cite.truncate(CITES);
    }
    ClaimedFact { text, cite }
}

fn change(said: &Value) -> ClaimedChange {
    match said.as_object() {
        Some(members) => ClaimedChange {
            file: text(member(members, &["file", "path", "name"])),
            description: text(member(members, &["description", "change", "text", "summary"])),
        },
        None => {
            let said = text(Some(said));
            let (file, description) = said.split_once(": ").unwrap_or((&said, ""));
            ClaimedChange { file: file.to_owned(), description: description.to_owned() }
        }
    }
}

fn decision(said: &Value) -> ClaimedDecision {
    let Some(members) = said.as_object() else {
        let (decision, cite) = text_and_cites(Some(said));
        return ClaimedDecision { decision, cite, ..ClaimedDecision::default() };
    };
    let (decision, mut cite) = text_and_cites(member(members, &["decision", "title", "text"]));
    cite.extend(cites(member(members, &["cite", "cites", "sources"])));
    ClaimedDecision {
        decision,
        rationale: text(member(members, &["rationale", "reason", "why"])),
        alternatives: texts(member(members, &["alternatives", "options"]), LIST),
        cite,
    }
}

fn error(said: &Value) -> ClaimedError {
    let Some(members) = said.as_object() else {
        let (error, cite) = text_and_cites(Some(said));
        return ClaimedError { error, cite, ..ClaimedError::default() };
    };
    let (error, mut cite) = text_and_cites(member(members, &["error", "title", "problem", "text"]));
    cite.extend(cites(member(members, &["cite", "cites", "sources"])));
    ClaimedError {
        error,
        root_cause: text(member(members, &["root_cause", "rootCause", "cause"])),
        fix: text(member(members, &["fix", "solution", "resolution"])),
        verification: text(member(members, &["verification", "verified", "check"])),
        cite,
    }
}

fn summary(said: &Map<String, Value>) -> TurnSummary {
    let list = |names: &[&str]| texts(member(said, names), LIST);
    let mut next_steps = list(&["next_steps", "nextSteps", "next"]);
    next_steps.truncate(LIST);
    TurnSummary {
        request: text(member(said, &["request"])),
        investigated: list(&["investigated"]),
        learned: list(&["learned", "learnings"]),
        completed: list(&["completed", "done"]),
        next_steps,
    }
}

/// Returns the text of a value of any type.
fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => bounded(text).to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        Some(list @ Value::Array(_)) => bounded(&texts(Some(list), LIST).join(" ")).to_owned(),
        Some(Value::Object(members)) => match TEXTS.iter().find_map(|name| members.get(*name)) {
            Some(Value::String(text)) => bounded(text).to_owned(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

fn text_and_cites(value: Option<&Value>) -> (String, Vec<u32>) {
    let said = text(value);
    let (text, cites) = without_cites(&said);
    (text.to_owned(), cites)
}

/// Returns a list of texts from a list, from one text with lines or bullets, or from an object of texts.
fn texts(value: Option<&Value>, most: usize) -> Vec<String> {
    let some = |text: &String| !text.is_empty();
    match value {
        Some(Value::Array(items)) => items
            .iter()
            .take(most * 4)
            .filter(|item| !item.is_array())
            .map(|item| text(Some(item)))
            .filter(some)
            .take(most)
            .collect(),
        Some(Value::String(said)) => lines(said, most),
        Some(Value::Object(members)) => members
            .values()
            .take(most)
            .map(|item| match item {
                Value::Array(_) => String::new(),
                item => text(Some(item)),
            })
            .filter(some)
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the lines of a text, without bullets.
pub(super) fn lines(said: &str, most: usize) -> Vec<String> {
    let bullets = |c: char| c.is_whitespace() || matches!(c, '-' | '*' | '•');
    bounded(said)
        .lines()
        .map(|line| line.trim_start_matches(bullets).trim())
        .filter(|line| !line.is_empty() && !is_nothing(line))
        .take(most)
        .map(str::to_owned)
        .collect()
}

/// Returns true for words with which models fill what should be empty.
fn is_nothing(line: &str) -> bool {
    let line = line.trim_end_matches('.');
    ["none", "n/a", "nothing", "-", "null", "[]"].iter().any(|none| line.eq_ignore_ascii_case(none))
}

fn files(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(said)) => bounded(said)
            .split([',', '\n'])
            .map(|file| file.trim().to_owned())
            .take(FILES)
            .collect(),
        other => texts(other, FILES),
    }
}

fn cites(value: Option<&Value>) -> Vec<u32> {
    match value {
        Some(Value::Number(number)) => {
            number.as_u64().and_then(|number| number.try_into().ok()).into_iter().collect()
        }
        Some(Value::String(said)) => numbers_in(said),
        Some(Value::Array(items)) => items
            .iter()
            .take(CITES)
            .flat_map(|item| match item {
                Value::Array(_) => Vec::new(),
                item => cites(Some(item)),
            })
            .take(CITES)
            .collect(),
        _ => Vec::new(),
    }
}
