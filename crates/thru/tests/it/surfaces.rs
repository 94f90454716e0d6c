//! One question, several surfaces: the command line and HTTP give the same bytes, MCP the same ids, order and verdict.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::home::{Home, Ran};
use crate::mcp::client::{Client, demo};

/// Ids and types in the rows of a table.
fn rows(table: &str) -> Vec<(String, String)> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_start_matches(['>', ' ']).split(" | ").collect();
        match cells[..] {
            [id, _, kind, _, tokens] if tokens.parse::<u64>().is_ok() => {
                Some((id.to_owned(), kind.to_owned()))
            }
            _ => None,
        }
    };
    table.lines().filter_map(row).collect()
}

/// Ids and types in the rows of an answer to a search, which stand by day and file, in the order of their ranks.
fn ranked_rows(table: &str) -> Vec<(String, String)> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_start_matches(['>', ' ']).split(" | ").collect();
        match cells[..] {
            [rank, id, kind, _, _] => {
                Some((rank.parse::<u64>().ok()?, id.to_owned(), kind.to_owned()))
            }
            _ => None,
        }
    };
    let mut rows: Vec<_> = table.lines().filter_map(row).collect();
    rows.sort();
    rows.into_iter().map(|(_, id, kind)| (id, kind)).collect()
}

fn ids<'v>(list: impl IntoIterator<Item = &'v Value>) -> Vec<String> {
    list.into_iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.shown()))
}

/// The verdict on a search, as an agent reads it.
fn verdict(table: &str) -> &'static str {
    let says = |words: &str| table.contains(words);
    match says("Nothing found") || says("No sure match") {
        true => "nothing",
        false if says("Nothing answers this") => "unsure",
        false => "found",
    }
}

#[test]
fn a_search_has_one_verdict_and_one_order() {
    let home = demo();
    home.tell(&["Needle valves leak below zero degrees in the winter of the north"]);
    let served = Served::start(&home);
    let mut client = Client::start(&home);
    client.initialize("2025-11-25");
    for (query, nearest) in [
        ("why did we drop the global lock", false),
        ("SQLITE_BUSY", false),
        ("retry budget of the uploader", false),
        ("lock", false),
        ("quantum chromodynamics", false),
        ("needle quantum chromodynamics lattice gauge", false),
        ("needle quantum chromodynamics lattice gauge", true),
    ] {
        let mut arguments = vec!["search", "--all", "--json", "-n", "20", query];
        arguments.extend(nearest.then_some("--nearest"));
        let ran = home.thru(&arguments);
        let found = json_of(&ran);
        let path = format!("search?q={}&limit=20&nearest={nearest}", query.replace(' ', "+"));
        assert_eq!(served.get(&format!("/api/v1/{path}")), ran.stdout, "{path}");
        let asked = json!({ "query": query, "project": "*", "limit": 20, "nearest": nearest });
        let table = client.call("search", asked);
        assert_eq!(verdict(&table), found["verdict"], "{query}: {table}");
        assert_eq!(found["verdict"] == "nothing", ran.code == 1, "{query}: {table}");
        let rows = ranked_rows(&table);
        assert_eq!(rows.is_empty(), ran.code == 1, "{query}: {table}");
        if rows.is_empty() {
            continue;
        }
        let is_passage = |kind: &str| matches!(kind, "prompt" | "answer" | "tool");
        let (passages, memories): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|(_, kind)| is_passage(kind));
        let memories: Vec<String> = memories.into_iter().map(|(id, _)| id).collect();
        let mut known = ids(found["memories"].as_array().unwrap());
        known.retain(|id| memories.contains(id));
        let both = memories.iter().take(known.len());
        assert_eq!(known, both.cloned().collect::<Vec<_>>(), "{query}: {table}");
        let sessions = found["sessions"].as_array().unwrap();
        let mut hits: Vec<&Value> =
            sessions.iter().flat_map(|one| one["passages"].as_array().unwrap()).collect();
        hits.sort_by_key(|hit| hit["rank"].as_u64());
        let passages: Vec<String> = passages.into_iter().map(|(id, _)| id).collect();
        let hits = ids(hits.into_iter().take(passages.len()));
        assert_eq!(passages, hits, "{query}: {table}");
    }
}

#[test]
fn a_timeline_has_the_same_rows_in_the_same_order() {
    let home = demo();
    let mut client = Client::of_revision(&home, "2025-11-25");
    let anchor = home.memory_of("bugfix", "lost update in the session index");
    let told = home.json(&["timeline", &anchor, "--json", "--before", "2", "--after", "4"]);
    let parts = [told["before"].as_array().unwrap(), &vec![told["anchor"].clone()]];
    let mut known: Vec<String> = parts.into_iter().flat_map(ids).collect();
    known.extend(ids(told["after"].as_array().unwrap()));
    let asked = json!({ "anchor": anchor, "depth_before": 2, "depth_after": 4 });
    let table = client.call("timeline", asked);
    let rows: Vec<String> = rows(&table).into_iter().map(|(id, _)| id).collect();
    assert_eq!(rows, known, "{table}");
    let nothing = home.thru(&["timeline", "--query", "quantum chromodynamics", "--json"]);
    assert_eq!(nothing.code, 1);
    let table = client.call("timeline", json!({ "query": "quantum chromodynamics" }));
    assert!(table.contains("Nothing found"), "{table}");
}

#[test]
fn a_session_and_a_memory_are_named_alike() {
    let home = demo();
    let mut client = Client::of_revision(&home, "2025-11-25");
    let told = home.json(&["session", "show", "5b1f", "--json"]);
    let outline = client.call("get_session", json!({ "id": "5b1f" }));
    let mut rest = outline.as_str();
    for turn in told["turns"].as_array().unwrap() {
        for said in ["prompt", "conclusion"] {
            let id = turn[said]["id"].as_str().unwrap();
            let (_, after) = rest.split_once(id).unwrap_or_else(|| panic!("{id}: {outline}"));
            rest = after;
        }
    }
    let memory = home.memory_of("bugfix", "lost update in the session index");
    let shown = home.json(&["show", &memory, "--json"]);
    let shown = &shown["memories"][0];
    let read = client.call("get_observations", json!({ "ids": memory }));
    let heading = format!(
        "## {} {}: {}",
        shown["id"].as_str().unwrap(),
        shown["type"].as_str().unwrap(),
        shown["title"].as_str().unwrap()
    );
    assert!(read.contains(&heading), "{heading}: {read}");
    assert_eq!(home.thru(&["show", "zzzzz", "--json"]).code, 2);
    assert!(client.fails("get_observations", json!({ "ids": "zzzzz" })).contains("there is no"));
}

#[test]
fn a_context_is_the_same_text() {
    let home = demo();
    let mut client = Client::of_revision(&home, "2025-11-25");
    let told = home.json(&["context", "--project", "rocket", "--json"]);
    let uri = json!({ "uri": "throughline://project/rocket/context" });
    let read = client.request("resources/read", uri);
    let text = &read["result"]["contents"][0]["text"];
    assert_eq!(*text, told["text"], "{read}");
    assert!(text.as_str().is_some_and(|text| !text.is_empty()));
}

#[test]
fn facts_and_problems_have_the_same_rows_in_the_same_order() {
    let home = demo();
    let mut client = Client::of_revision(&home, "2025-11-25");
    // Records that show a fact, with its moment.
    let known = |list: &Value| -> Vec<String> {
        let role = |fact: &Value, role: &str| {
            let evidence = fact["evidence"].as_array().unwrap();
            evidence.iter().find(|one| one["role"] == role).map(|one| one["id"].clone())
        };
        let shown = |fact: &Value| {
            let closed = role(fact, "closed").filter(|_| fact.get("end").is_some());
            closed.or_else(|| role(fact, "opened")).unwrap().as_str().unwrap().to_owned()
        };
        list.as_array().unwrap().iter().map(shown).collect()
    };
    let listed = |table: &str| -> Vec<String> {
        let rows = table.lines().filter(|line| line.matches(" | ").count() == 2).skip(1);
        rows.map(|line| line.split(" | ").next().unwrap().to_owned()).collect()
    };
    let told = home.json(&["facts", "-p", "rocket", "--history", "-n", "20", "--json"]);
    let asked = json!({ "project": "rocket", "history": true, "limit": 20 });
    let table = client.call("facts", asked);
    let facts = known(&told["facts"]);
    assert!(!facts.is_empty(), "{told}");
    assert_eq!(listed(&table), facts, "{table}");
    let told = home.json(&["problems", "--all", "-n", "20", "--json"]);
    let table = client.call("facts", json!({ "project": "*", "limit": 20 }));
    assert_eq!(listed(&table), known(&told["problems"]), "{table}");
}

#[test]
fn sessions_are_listed_in_the_same_order() {
    let home = demo();
    let mut client = Client::of_revision(&home, "2025-11-25");
    let listed = client.request("resources/list", json!({}))["result"]["resources"].clone();
    let told = home.json(&["sessions", "--all", "--json"]);
    let known = ids(told["sessions"].as_array().unwrap());
    let known: Vec<String> = known.iter().map(|id| format!("throughline://session/{id}")).collect();
    let uris = listed.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap());
    assert_eq!(uris.collect::<Vec<_>>(), known);
    assert!(!known.is_empty());
}

/// A daemon that serves the API, gone when dropped.
struct Served<'h> {
    home: &'h Home,
    host: String,
    token: String,
}

impl<'h> Served<'h> {
    fn start(home: &'h Home) -> Self {
        home.thru(&["config", "set", "http.enabled", "true"]).expect(0);
        home.thru(&["daemon", "start"]).expect(0);
        let page = home.thru(&["view", "--no-open"]).expect(0).stdout;
        let (address, _) = page.split_once("/#code=").unwrap();
        let token = std::fs::read_to_string(home.data().join("run/http.token")).unwrap();
        Self { home, host: address.strip_prefix("http://").unwrap().to_owned(), token }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let (host, token) = (&self.host, &self.token);
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

impl Drop for Served<'_> {
    fn drop(&mut self) {
        self.home.thru(&["daemon", "stop", "--force"]);
    }
}

#[test]
fn the_api_answers_with_the_bytes_that_the_command_line_prints() {
    let home = demo();
    let served = Served::start(&home);
    let memory = home.memory_of("bugfix", "lost update in the session index");
    for (path, arguments) in [
        ("search?q=SQLITE_BUSY&limit=20", vec!["search", "--all", "-n", "20", "SQLITE_BUSY"]),
        (
            "search?q=why+did+we+drop+the+global+lock",
            vec!["search", "--all", "-n", "20", "why did we drop the global lock"],
        ),
        (
            "search?q=quantum+chromodynamics&limit=5",
            vec!["search", "--all", "-n", "5", "quantum chromodynamics"],
        ),
        ("sessions", vec!["sessions", "--all", "-n", "50"]),
        ("sessions/5b1f", vec!["session", "show", "5b1f"]),
        ("projects", vec!["projects"]),
        ("context?project=rocket", vec!["context", "--project", "rocket"]),
        (
            "facts?project=rocket&history=true",
            vec!["facts", "-p", "rocket", "--history", "-n", "50"],
        ),
        ("problems", vec!["problems", "--all", "-n", "50"]),
        (&format!("memories/{memory}"), vec!["show", &memory]),
        (
            &format!("memories/{memory}/timeline?before=2&after=2"),
            vec!["timeline", &memory, "--before", "2", "--after", "2"],
        ),
    ] {
        let printed = home.thru(&[&arguments[..], &["--json"]].concat()).stdout;
        assert!(printed.len() > 30, "{path}: {printed}");
        assert_eq!(served.get(&format!("/api/v1/{path}")), printed, "{path}");
    }
}
