//! What must not end the conversation, and what must.

use std::io::{Read, Write};

use serde_json::{Value, json};

use super::client::{Client, demo};
use crate::home::Home;

/// The answer to a line without an id that can be read.
fn refused(client: &mut Client, line: &str) -> (Value, i64) {
    client.send(line);
    let answer = client.next();
    (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap())
}

#[test]
fn lines_that_are_no_messages_are_answered_and_the_next_one_is_served() {
    let home = demo();
    let mut client = Client::start(&home);
    // Before any handshake, and after it.
    for _ in 0..2 {
        assert_eq!(refused(&mut client, "{\"jsonrpc\": \"2.0\", "), (Value::Null, -32_700));
        assert_eq!(refused(&mut client, "\u{0}\u{1}"), (Value::Null, -32_700));
        assert_eq!(refused(&mut client, "[]"), (Value::Null, -32_600));
        assert_eq!(refused(&mut client, "{\"id\":9,\"method\":\"ping\"}"), (json!(9), -32_600));
        for line in [
            "",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}",
        ] {
            client.send(line);
        }
        let answer = client.request("no/such/method", json!({}));
        assert_eq!(answer["error"]["code"], -32_601, "{answer}");
        for (method, params) in [
            ("tools/call", json!({})),
            ("tools/call", json!({ "name": 7 })),
            ("tools/call", json!({ "name": "search", "arguments": [] })),
            ("tools/call", json!({ "name": "no_such_tool" })),
            ("resources/read", json!({})),
            ("prompts/get", json!({ "name": [] })),
            ("initialize", json!({ "protocolVersion": 3 })),
        ] {
            let answer = client.request(method, params.clone());
            assert_eq!(answer["error"]["code"], -32_602, "{method} {params}: {answer}");
        }
        // A request before `initialize` is served like any other.
        assert!(client.call("search", json!({ "query": "global lock" })).contains("b5gnk"));
        client.initialize("2025-11-25");
    }
    let text = client.request("tools/call", json!({ "name": "session_tracking_status" }));
    assert_eq!(text["result"]["isError"], false);
    let (rest, status, errors) = client.end();
    assert_eq!((rest, status.code(), errors.as_str()), (vec![], Some(0), ""));
}

#[test]
fn ids_come_back_as_they_were_sent() {
    let home = Home::new();
    let mut client = Client::start(&home);
    for id in [json!("a-1"), json!(""), json!(0), json!(-5), json!(i64::MAX)] {
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string());
        assert_eq!(client.next(), json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    }
}

#[test]
fn a_line_of_fifty_megabytes_is_refused_and_not_kept() {
    let home = Home::new();
    let mut client = Client::of_revision(&home, "2025-11-25");
    let mut line =
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\",\"params\":{\"a\":\"".to_owned();
    line.push_str(&"x".repeat(50 * 1024 * 1024));
    line.push_str("\"}}");
    assert_eq!(refused(&mut client, &line), (Value::Null, -32_600));
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    #[cfg(target_os = "linux")]
    assert!(most_memory(&client) < 100 * 1024, "{} kB", most_memory(&client));
}

/// The most memory that the server ever had, in kB.
#[cfg(target_os = "linux")]
fn most_memory(client: &Client) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.process())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn ten_thousand_calls_at_once_are_all_answered() {
    const CALLS: u64 = 10_000;
    let home = demo();
    let mut client = Client::of_revision(&home, "2025-11-25");
    // Written before anything is read, as a careless client does.
    let mut all = String::new();
    for id in 100..100 + CALLS {
        let (name, arguments) = match id % 50 {
            0 => ("search", json!({ "query": "global lock" })),
            // What is refused costs a call as well.
            _ => ("timeline", json!({})),
        };
        let params = json!({ "name": name, "arguments": arguments });
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        all.push_str(&format!("{request}\n"));
    }
    // What is asked last does not wait for all of it.
    let status = json!({ "name": "session_tracking_status", "arguments": {} });
    let others = [(1, "ping", json!({})), (2, "tools/call", status)];
    for (id, method, params) in &others {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        all.push_str(&format!("{request}\n"));
    }
    let mut input = client.take_input();
    input.write_all(all.as_bytes()).unwrap();
    let mut answered = Vec::new();
    for _ in 0..CALLS + 2 {
        let answer = client.next();
        let id = answer["id"].as_u64().unwrap();
        let said = answer["result"]["content"][0]["text"].is_string();
        assert!(said || id == 1 && answer["result"] == json!({}), "{answer}");
        answered.push(id);
    }
    for (id, method, _) in others {
        let place = answered.iter().position(|answer| *answer == id).unwrap();
        assert!(place < answered.len() / 2, "{method} was answered as number {place}");
    }
    let distinct: std::collections::BTreeSet<u64> = answered.iter().copied().collect();
    assert_eq!(distinct.len(), answered.len());
    #[cfg(target_os = "linux")]
    assert!(most_memory(&client) < 400 * 1024, "{} kB", most_memory(&client));
    drop(input);
    assert_eq!(client.wait().code(), Some(0));
}

#[test]
fn calls_that_were_sent_are_answered_after_the_input_ended() {
    let home = demo();
    let mut client = Client::start(&home);
    let ids: Vec<u64> = (0..40)
        .map(|_| {
            let params = json!({ "name": "search", "arguments": { "query": "lock" } });
            client.ask("tools/call", params)
        })
        .collect();
    let (rest, status, _) = client.end();
    let mut answered: Vec<u64> = rest.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!((answered, status.code()), (ids, Some(0)));
}

#[test]
fn who_goes_in_the_middle_of_an_answer_leaves_nothing_behind() {
    let home = demo();
    let mut command = home.command();
    command.arg("mcp").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
    input.write_all(request.repeat(100).as_bytes()).unwrap();
    let mut output = child.stdout.take().unwrap();
    output.read_exact(&mut [0; 10]).unwrap();
    drop(output);
    // The input stays open: a closed output is enough.
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(errors, "");
}

#[cfg(unix)]
#[test]
fn a_server_ends_well_on_request() {
    for signal in ["TERM", "INT"] {
        let home = Home::new();
        let mut client = Client::of_revision(&home, "2025-11-25");
        let process = client.process().to_string();
        let sent = std::process::Command::new("kill").args(["-s", signal, &process]).status();
        assert!(sent.unwrap().success());
        assert_eq!(client.wait().code(), Some(0), "{signal}");
    }
}

/// With a daemon allowed: the server starts none, and its output ends with it.
#[test]
fn nothing_stays_behind_that_holds_the_output_open() {
    let home = demo();
    let mut command = home.command();
    command.env_remove("THROUGHLINE_DAEMON").arg("mcp");
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "search", "arguments": { "query": "lock" } } });
    child.stdin.take().unwrap().write_all(format!("{call}\n").as_bytes()).unwrap();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("b5gnk") && said.lines().count() == 1, "{said}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!home.data().join("run/daemon.lock").exists());
}
