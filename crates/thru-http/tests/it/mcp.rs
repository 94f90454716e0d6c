//! MCP over HTTP: the same tools, for clients with tokens of their own.

use serde_json::{Value, json};
use thru_core::Timestamp;
use thru_http::Clients;

use crate::home::{Home, Response, Served, with_length};

fn post(served: &Served, token: &str, headers: &str, message: &Value) -> Response {
    let head = format!(
        "POST /mcp HTTP/1.1\r\n{}Authorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}",
        served.host()
    );
    served.send(&with_length(&head, &message.to_string()))
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

#[test]
fn a_client_finds_over_http_what_it_finds_over_stdio() {
    let home = Home::new();
    let served = home.serve();
    let token = Clients::new(&home.app().layout).make("cursor", Timestamp::UNIX_EPOCH).unwrap().0;
    let client = json!({ "name": "test", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let answer = post(&served, &token, "", &request("initialize", hello));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["result"]["serverInfo"]["name"], "throughline");
    let version = "MCP-Protocol-Version: 2025-06-18\r\n";
    let noted = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(&served, &token, version, &noted).status, 202);
    let tools = post(&served, &token, version, &request("tools/list", json!({}))).json();
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, thru_mcp::TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>());
    let call = json!({ "name": "search", "arguments": { "query": "importer lock" } });
    let found = post(&served, &token, version, &request("tools/call", call)).json();
    let text = found["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("lock per"), "{text}");
}

#[test]
fn the_revision_without_a_handshake_is_spoken_too() {
    let home = Home::new();
    let served = home.serve();
    let token = Clients::new(&home.app().layout).make("zed", Timestamp::UNIX_EPOCH).unwrap().0;
    let about = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";
    let answer = post(&served, &token, headers, &request("tools/list", json!({ "_meta": about })));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.json()["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()));
}

#[test]
fn pages_and_strangers_are_no_clients() {
    let home = Home::new();
    let served = home.serve();
    let clients = Clients::new(&home.app().layout);
    let (token, _) = clients.make("cursor", Timestamp::UNIX_EPOCH).unwrap();
    let list = request("tools/list", json!({}));
    for (token, headers, status) in [
        ("", "", 401),
        ("thru_mcp_0", "", 401),
        // That of a page.
        (served.token.as_str(), "", 401),
        (token.as_str(), "Origin: https://evil.example\r\n", 403),
        (token.as_str(), "Sec-Fetch-Site: same-origin\r\n", 403),
        (token.as_str(), "Sec-Fetch-Mode: cors\r\n", 200),
    ] {
        assert_eq!(post(&served, token, headers, &list).status, status, "{token} {headers}");
    }
    // Nor is a client a page.
    let request = format!(
        "GET /api/v1/status HTTP/1.1\r\n{}Authorization: Bearer {token}\r\n\r\n",
        served.host()
    );
    assert_eq!(served.send(&request).status, 401);
    // Its hash looks like a secret, and is none.
    let applied = served.change("POST", "/api/v1/redact/apply", &json!({}));
    assert_eq!((applied.status, &applied.json()["records"]), (200, &0.into()), "{applied:?}");
    assert_eq!(post(&served, &token, "", &list).status, 200);
    clients.revoke("cursor").unwrap();
    assert_eq!(post(&served, &token, "", &list).status, 401);
}
