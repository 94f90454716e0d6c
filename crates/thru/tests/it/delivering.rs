//! Insights out: an MCP server of the user's choice is told what is known of a session that was left.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use thru_testkit::provider::{ModelServer, ReceivedRequest, Response, body};

use crate::home::Home;
use crate::hooking::{hook, prompt, quiet, stop};
use crate::records::ONE;

/// An MCP server that takes what it is given, unless it is told to fail.
struct McpServer {
    server: ModelServer,
    fails: Arc<Mutex<bool>>,
}

impl McpServer {
    fn start() -> Self {
        let fails = Arc::new(Mutex::new(false));
        let is_failing = Arc::clone(&fails);
        let server =
            ModelServer::answering(move |asked| answer(asked, *is_failing.lock().unwrap()));
        Self { server: server.unwrap(), fails }
    }

    /// What its tools were called with.
    fn calls(&self) -> Vec<Value> {
        let bodies = self.server.requests();
        let bodies = bodies.iter().map(body).filter(|body| body["method"] == "tools/call");
        bodies.map(|mut body| body["params"].take()).collect()
    }
}

fn answer(asked: &ReceivedRequest, fails: bool) -> Response {
    let asked = body(asked);
    let result = match asked["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "shelf", "version": "1" },
        }),
        "tools/call" if fails => return Response::new(503, "text/plain", "not now"),
        "tools/call" => json!({ "content": [{ "type": "text", "text": "kept" }] }),
        _ => return Response::new(202, "text/plain", ""),
    };
    Response::json(200, json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }))
}

/// A home in which a session was left a moment ago.
fn left(server: &McpServer) -> Home {
    let home = quiet();
    let url = format!("{}/mcp", server.server.url());
    home.thru(&["config", "set", "sinks.mcp", &url]).expect(0);
    prompt(&home, ONE, 1, "From now on, always use a retry budget for uploads.");
    let edit = json!({ "tool_name": "Edit", "tool_use_id": "t1",
        "tool_input": { "file_path": home.project().join("src/retry.rs"),
            "old_string": "loop", "new_string": "for" },
        "tool_response": { "filePath": home.project().join("src/retry.rs") } });
    hook(&home, ONE, "PostToolUse", edit);
    stop(&home, ONE, "Uploads are retried with a budget now.");
    home.inside(&["close", ONE]).expect(0);
    home
}

#[test]
fn what_is_known_is_delivered_once() {
    let server = McpServer::start();
    let home = left(&server);
    home.thru(&["jobs", "run"]).expect(0);
    let calls = server.calls();
    let of = |tool: &str| -> Vec<&Value> {
        calls.iter().filter(|call| call["name"] == tool).map(|call| &call["arguments"]).collect()
    };
    let summaries = of("thread_persist");
    assert_eq!(summaries.len(), 1, "{calls:?}");
    assert_eq!(
        (&summaries[0]["client"], &summaries[0]["session_id"]),
        (&json!("claude-code"), &json!(ONE))
    );
    let insights = of("memory_add");
    assert!(!insights.is_empty(), "{calls:?}");
    for insight in &insights {
        assert!(insight["title"].is_string() && insight["content"].is_string(), "{insight}");
        assert!((0.0..=1.0).contains(&insight["importance"].as_f64().unwrap()), "{insight}");
        assert!(insight["labels"].as_str().unwrap().contains("decision"), "{insight}");
    }
    // Not again, not even by a store that was made anew.
    home.thru(&["rebuild"]).expect(0);
    home.thru(&["jobs", "run"]).expect(0);
    assert_eq!(server.calls().len(), calls.len());
}

#[test]
fn what_is_not_taken_waits() {
    let server = McpServer::start();
    let home = left(&server);
    *server.fails.lock().unwrap() = true;
    let ran = home.thru(&["jobs", "run"]).expect(2);
    assert!(ran.stdout.contains("sinks.mcp: the server failed (503)"), "{}", ran.shown());
    let jobs = home.json(&["jobs", "--json"]);
    assert_eq!(
        (&jobs["jobs"][0]["what"], &jobs["jobs"][0]["state"]),
        (&json!("deliver"), &json!("waiting"))
    );
    *server.fails.lock().unwrap() = false;
    home.thru(&["jobs", "retry", "--all"]).expect(0);
    home.thru(&["jobs", "run"]).expect(0);
    assert_eq!(home.json(&["jobs", "--json"])["jobs"], json!([]));
}

#[test]
fn another_machine_is_told_nothing_unless_that_is_allowed() {
    let server = McpServer::start();
    let home = left(&server);
    home.thru(&["config", "set", "sinks.mcp", "https://shelf.example/mcp"]).expect(0);
    let ran = home.thru(&["jobs", "run"]).expect(2);
    assert!(ran.stderr.contains("another machine"), "{}", ran.shown());
    assert!(server.calls().is_empty());
}
