//! The description of the API against what is answered: a small reader of the schemas that it is made of.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use thru_testkit::records::{Author, conversation};

use crate::home::{Home, SESSION, Served};

/// The session with work in it.
const OTHER: &str = "4f1c9a52-0000-4000-8000-000000000002";

/// What is wrong with a value, and the fields that the schema names for it.
struct Read {
    faults: Vec<String>,
    fields: BTreeSet<String>,
}

/// The schemas of a description.
struct Schemas(Value);

impl Schemas {
    /// Returns what is wrong with a value that stands by itself: a field that is described nowhere is wrong, too.
    fn whole(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let Read { mut faults, fields } = self.read(schema, value, at);
        let is_described = !fields.is_empty() && !fields.contains("*");
        for name in value.as_object().into_iter().flatten().map(|(name, _)| name) {
            if is_described && !fields.contains(name) {
                faults.push(format!("{at}/{name} is not described"));
            }
        }
        faults
    }

    fn read(&self, schema: &Value, value: &Value, at: &str) -> Read {
        let mut read = Read { faults: Vec::new(), fields: BTreeSet::new() };
        let keywords = schema.as_object().cloned().unwrap_or_default();
        for (keyword, says) in &keywords {
            match keyword.as_str() {
                "$ref" => {
                    let place = says.as_str().unwrap().strip_prefix('#').unwrap();
                    read.add(self.read(self.0.pointer(place).unwrap(), value, at));
                }
                "allOf" => {
                    says.as_array()
                        .unwrap()
                        .iter()
                        .for_each(|one| read.add(self.read(one, value, at)));
                }
                "anyOf" | "oneOf" => {
                    let tried =
                        says.as_array().unwrap().iter().map(|one| self.read(one, value, at));
                    let (fit, mut others): (Vec<_>, Vec<_>) =
                        tried.partition(|one| one.faults.is_empty());
                    match fit.is_empty() {
                        true => read.add(others.remove(0)),
                        false => fit.into_iter().for_each(|one| read.add(one)),
                    }
                }
                "properties" => {
                    for (name, one) in says.as_object().unwrap() {
                        read.fields.insert(name.clone());
                        if let Some(value) = value.get(name) {
                            read.faults.extend(self.whole(one, value, &format!("{at}/{name}")));
                        }
                    }
                }
                "additionalProperties" if says.is_object() => {
                    read.fields.insert("*".to_owned());
                    for (name, value) in value.as_object().into_iter().flatten() {
                        read.faults.extend(self.whole(says, value, &format!("{at}/{name}")));
                    }
                }
                "items" => {
                    for (number, value) in value.as_array().into_iter().flatten().enumerate() {
                        read.faults.extend(self.whole(says, value, &format!("{at}/{number}")));
                    }
                }
                "prefixItems" => {
                    let items = value.as_array().into_iter().flatten();
                    for (says, value) in says.as_array().unwrap().iter().zip(items) {
                        read.faults.extend(self.whole(says, value, at));
                    }
                }
                _ if fits(keyword, says, value) => {}
                _ => read.faults.push(format!("{at} is not {keyword} {says}: {value}")),
            }
        }
        read
    }
}

impl Read {
    fn add(&mut self, other: Self) {
        self.faults.extend(other.faults);
        self.fields.extend(other.fields);
    }
}

/// True if a value is as a keyword about it alone says.
fn fits(keyword: &str, says: &Value, value: &Value) -> bool {
    match keyword {
        "type" => match says {
            Value::Array(all) => all.iter().any(|one| fits("type", one, value)),
            one => match one.as_str().unwrap() {
                "null" => value.is_null(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_i64() || value.is_u64(),
                "number" => value.is_number(),
                "string" => value.is_string(),
                "array" => value.is_array(),
                "object" => value.is_object(),
                other => panic!("no type: {other}"),
            },
        },
        "required" => {
            says.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some())
        }
        "enum" => says.as_array().unwrap().contains(value),
        "const" => says == value,
        "minimum" => value.is_null() || value.as_f64().unwrap() >= says.as_f64().unwrap(),
        "maximum" => value.is_null() || value.as_f64().unwrap() <= says.as_f64().unwrap(),
        "minItems" => value.as_array().is_none_or(|all| all.len() as u64 >= says.as_u64().unwrap()),
        "maxItems" => value.as_array().is_none_or(|all| all.len() as u64 <= says.as_u64().unwrap()),
        "additionalProperties"
        | "uniqueItems"
        | "title"
        | "description"
        | "format"
        | "default"
        | "pattern" => true,
        other => panic!("a keyword that is read nowhere: {other}"),
    }
}

/// An answer, checked: its schema is there, and says neither more nor less.
fn check(
    served: &Served,
    schemas: &Schemas,
    asked: &RefCell<BTreeSet<String>>,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Value {
    let path = &format!("/api/v1{path}");
    let (bare, _) = path.split_once('?').unwrap_or((path, ""));
    let paths = schemas.0["paths"].as_object().unwrap();
    let is_it = |pattern: &str| {
        let (pattern, bare): (Vec<&str>, Vec<&str>) =
            (pattern.split('/').collect(), bare.split('/').collect());
        pattern.len() == bare.len()
            && pattern.iter().zip(&bare).all(|(one, other)| one == other || *one == "{id}")
    };
    let named =
        paths.get_key_value(bare).or_else(|| paths.iter().find(|(pattern, _)| is_it(pattern)));
    let (pattern, operations) = named.unwrap_or_else(|| panic!("{path} is not described"));
    asked.borrow_mut().insert(format!("{method} {pattern}"));
    let schema = &operations[method]["responses"]["200"]["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{method} {pattern} has no schema");
    let response = match body {
        None => served.get(path),
        Some(body) => served.change(&method.to_uppercase(), path, body),
    };
    assert_eq!(response.status, 200, "{method} {path}: {response:?}");
    let answer = response.json();
    let faults = schemas.whole(schema, &answer, "");
    assert!(faults.is_empty(), "{method} {path}: {faults:#?}");
    answer
}

/// A home with a bit of everything: work that fails and is repaired, a commit, a compaction.
fn full() -> Home {
    let home = Home::new();
    let directory = home.path("barge");
    fs::create_dir(&directory).unwrap();
    let mut records = Author::of(OTHER).in_directory(directory.to_str().unwrap());
    records.asks("Make the importer keep its lock short.");
    records.calls(
        "e1",
        "Edit",
        json!({ "file_path": directory.join("src/importer.rs"),
        "old_string": "lock()", "new_string": "lock_file()" }),
    );
    records.gets("e1", "The file was updated.");
    records.runs("c1", "cargo test importer").fails("c1", "Exit code 101\nerror[E0277]: no lock");
    records.runs("c2", "cargo test importer").gets("c2", "test result: ok. 3 passed");
    records.runs("c3", "git commit -m 'Lock a file at a time'");
    records.gets("c3", "[main 1a2b3c4] Lock a file at a time\n 1 file changed");
    records.says("The importer locks a file at a time.").compacts("auto", "The importer's lock.");
    records.asks("Is it done?").says("Yes.");
    home.add(OTHER, &records);
    home
}

/// Adds a session of which a part cannot be read: something lies where it is to be archived.
fn add_failing(home: &Home) {
    let session = SESSION.replace("0001", "0003");
    let part = format!("-home-ada-rocket/{session}/subagents/agent-a1.jsonl");
    fs::create_dir_all(home.path(&format!("home/archive/claude-code/{part}.zst"))).unwrap();
    let file = home.path("claude/projects").join(part);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut author = Author::of(&session).starting_at_record(100);
    fs::write(file, author.asks("Look for the lock").says("It is there.").text()).unwrap();
    home.add(&session, &conversation(&session));
}

#[test]
fn every_answer_is_as_it_is_described() {
    let home = full();
    let served = home.serve();
    let schemas = Schemas(served.get("/api/v1/openapi.json").json());
    let asked = RefCell::new(BTreeSet::new());
    let get = |path: &str| check(&served, &schemas, &asked, "get", path, None);
    let post =
        |path: &str, body: Value| check(&served, &schemas, &asked, "post", path, Some(&body));
    post("/session", json!({ "code": served.code() }));
    let found = get("/search?q=importer+lock&nearest=true&turns=true&context=2");
    assert!(found["sessions"][0]["passages"][0]["score"]["features"].is_object());
    let id = found["sessions"][0]["passages"][0]["id"].as_str().unwrap().to_owned();
    get(&format!("/rank?q=importer+lock&id={id}"));
    let rule = json!({ "text": "Locks are per file", "rule": true });
    let told = post("/memories", rule)["full_id"].as_str().unwrap().to_owned();
    let listed = get("/memories");
    assert!(listed["memories"].as_array().unwrap().len() > 2, "{listed}");
    for id in listed["memories"].as_array().unwrap().iter().map(|one| &one["id"]) {
        get(&format!("/memories/{}?source=true", id.as_str().unwrap()));
    }
    get(&format!("/memories/{id}?source=true"));
    let memory = format!("/memories/{told}");
    let edit = json!({ "title": "Lock files" });
    check(&served, &schemas, &asked, "patch", &memory, Some(&edit));
    for path in ["history", "timeline"] {
        get(&format!("{memory}/{path}"));
    }
    get("/context?project=barge");
    get("/context?project=barge&prompt=Why+does+the+importer+lock+files");
    get("/log");
    for path in ["", "/turns", "/passages", "/pack", "/pack?purpose=resume", "/pack?prompt=lock"] {
        get(&format!("/sessions/{OTHER}{path}"));
    }
    for path in ["/sessions", "/briefings", "/projects", "/status", "/stats", "/stats/context"] {
        get(path);
    }
    for path in ["/spending", "/doctor", "/settings", "/redact/rules", "/problems"] {
        get(path);
    }
    let facts = get("/facts?history=true");
    let entity = facts["facts"][0]["subject"]["id"].as_str().unwrap();
    get(&format!("/entities/{entity}"));
    get("/facts/drawing?about=src/importer.rs");
    get("/why?about=src/importer.rs");
    get("/changed?span=2020-01-01..");
    let dry = json!({ "ids": [told], "dry_run": true });
    post("/memories/forget", dry);
    post("/memories/forget", json!({ "ids": [told] }));
    assert_eq!(get("/memories?state=forgotten")["forgotten"][0]["full_id"], told);
    post("/undo", json!({}));
    post(&format!("/sessions/{OTHER}/resume"), json!({}));
    post("/capture/pause", json!({ "length": "30m" }));
    post("/capture/resume", json!({}));
    post("/redact/test", json!({ "text": "password = hunter2hunter2" }));
    post("/redact/scan", json!({ "text": "importer" }));
    post("/redact/apply", json!({ "text": "importer.rs" }));
    post("/projects/rename", json!({ "project": "barge", "name": "ship" }));
    add_failing(&home);
    let jobs = get("/jobs");
    let job = &jobs["jobs"][0]["number"];
    assert!(job.is_number(), "{jobs}");
    post(&format!("/jobs/{job}/retry"), json!({}));
    post(&format!("/jobs/{job}/cancel"), json!({}));
    post(&format!("/sessions/{OTHER}/forget"), json!({ "dry_run": true }));
    post("/projects/merge", json!({ "from": "rocket", "into": "ship" }));
    post("/forget", json!({ "project": "ship" }));
    // Nothing that is described as JSON is left out.
    let paths = schemas.0["paths"].as_object().unwrap();
    let described = paths.iter().flat_map(|(path, operations)| {
        operations.as_object().unwrap().iter().filter_map(move |(method, operation)| {
            let is_json = !operation["responses"]["200"]["content"]["application/json"].is_null();
            is_json.then(|| format!("{method} {path}"))
        })
    });
    let left: Vec<String> = described.filter(|one| !asked.borrow().contains(one)).collect();
    assert!(left.is_empty(), "{left:?}");
}
