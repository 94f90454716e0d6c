//! Over streamable HTTP.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use thru_sinks::{ConnectError, Key, Retry, Settings, Sink, SinkError, Transport};
use thru_testkit::http::{ReceivedRequest, Response, Server};

use crate::{GO_ON, delivery};

fn body(asked: &ReceivedRequest) -> Value {
    serde_json::from_slice(&asked.body).unwrap_or_default()
}

fn answer(asked: &ReceivedRequest, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": body(asked)["id"], "result": result })
}

fn content(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}

/// Returns a server that knows its clients by sessions, and answers tool calls with `call`.
fn server(call: impl Fn(&ReceivedRequest) -> Response + Send + Sync + 'static) -> Server {
    Server::answering(move |asked| match body(asked)["method"].as_str() {
        Some("initialize") => {
            let result = json!({
                "protocolVersion": "2025-06-18",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "test", "version": "1" },
            });
            Response::json(200, answer(asked, &result)).with("Mcp-Session-Id", "session-1")
        }
        Some("notifications/initialized") => Response::new(202, "text/plain", ""),
        Some("tools/call") => call(asked),
        _ => Response::json(200, ""),
    })
    .unwrap()
}

fn sink(server: &Server) -> Sink {
    Sink::connect(Settings::new(Transport::Url(format!("{}/mcp", server.url())))).unwrap()
}

fn methods(server: &Server) -> Vec<String> {
    let name = |asked: &ReceivedRequest| {
        body(asked)["method"].as_str().unwrap_or(&asked.method).to_owned()
    };
    server.requests().iter().map(name).collect()
}

#[test]
fn a_tool_is_called_in_the_way_of_the_protocol() {
    let server = server(|asked| Response::json(200, answer(asked, &content("kept", false))));
    let mut settings = Settings::new(Transport::Url(format!("{}/mcp", server.url())));
    settings.key = Key::new("key-0123456789");
    let sink = Sink::connect(settings).unwrap();
    assert_eq!(server.requests().len(), 0);
    sink.deliver(&delivery(), &GO_ON).unwrap();
    sink.deliver(&delivery(), &GO_ON).unwrap();
    drop(sink);
    let wanted = ["initialize", "notifications/initialized", "tools/call", "tools/call", "DELETE"];
    assert_eq!(methods(&server), wanted);
    let requests = server.requests();
    let call = &requests[2];
    let params = json!({ "name": "memory_add", "arguments": delivery().arguments });
    assert_eq!(
        body(call),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params })
    );
    assert_eq!((call.method.as_str(), call.path.as_str()), ("POST", "/mcp"));
    assert_eq!(call.header("accept"), "application/json, text/event-stream");
    assert_eq!(call.header("authorization"), "Bearer key-0123456789");
    assert_eq!(call.header("mcp-protocol-version"), "2025-06-18");
    assert_eq!(
        (requests[0].header("mcp-session-id"), requests[0].header("mcp-protocol-version")),
        ("", "")
    );
    assert!(requests[1..].iter().all(|asked| asked.header("mcp-session-id") == "session-1"));
    assert_eq!(body(&requests[0])["params"]["clientInfo"]["name"], "throughline");
}

#[test]
fn an_answer_may_come_in_a_stream_that_does_not_end() {
    let server = server(|asked| {
        let other = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {} });
        let ping = json!({ "jsonrpc": "2.0", "id": body(asked)["id"], "method": "ping" });
        let answer = answer(asked, &content("kept", false));
        let stream = format!(
            "event: message\ndata: {other}\n\ndata: {ping}\n\nevent: message\r\ndata: {answer}\r\n\r\n"
        );
        Response::new(200, "text/event-stream; charset=utf-8", stream).without_end()
    });
    sink(&server).deliver(&delivery(), &GO_ON).unwrap();
}

#[test]
fn a_server_that_forgot_us_is_told_again() {
    let is_first = AtomicBool::new(true);
    let calls = Mutex::new(0);
    let server = server(move |asked| {
        *calls.lock().unwrap() += 1;
        // The second call comes after the server was restarted.
        if *calls.lock().unwrap() == 2 && is_first.swap(false, Ordering::Relaxed) {
            return Response::json(
                404,
                json!({ "jsonrpc": "2.0", "error": { "code": -32_001, "message": "Session not found" } }),
            );
        }
        Response::json(200, answer(asked, &content("kept", false)))
    });
    let sink = sink(&server);
    sink.deliver(&delivery(), &GO_ON).unwrap();
    sink.deliver(&delivery(), &GO_ON).unwrap();
    let calls = methods(&server).iter().filter(|method| *method == "initialize").count();
    assert_eq!(calls, 2);
}

#[track_caller]
fn fails(
    call: impl Fn(&ReceivedRequest) -> Response + Send + Sync + 'static,
    said: &str,
    retry: Retry,
) {
    let server = server(call);
    let sink = sink(&server);
    let error = sink.deliver(&delivery(), &GO_ON).unwrap_err();
    assert_eq!((error.to_string().as_str(), error.retry()), (said, retry), "{error:?}");
}

#[test]
fn what_fails_says_whether_to_try_again() {
    fails(
        |asked| Response::json(200, answer(asked, &content("disk\n full", true))),
        "the tool failed: disk full",
        Retry::Backoff,
    );
    let echo = |asked: &ReceivedRequest| {
        let text = "1 validation error: input_value='It was mended. It closes.'";
        Response::json(200, answer(asked, &content(text, true)))
    };
    fails(echo, "the tool failed: (it repeats what was sent)", Retry::Backoff);
    let unknown = |asked: &ReceivedRequest| {
        Response::json(200, answer(asked, &content("Unknown tool: x", true)))
    };
    fails(unknown, "the server rejects the delivery (-32602): Unknown tool: x", Retry::No);
    let error = |code: i64, message: &'static str| {
        move |asked: &ReceivedRequest| {
            let error = json!({ "code": code, "message": message });
            Response::json(
                200,
                json!({ "jsonrpc": "2.0", "id": body(asked)["id"], "error": error }),
            )
        }
    };
    fails(
        error(-32_602, "Unknown tool: memory_add"),
        "the server rejects the delivery (-32602): Unknown tool: memory_add",
        Retry::No,
    );
    fails(error(-32_603, "oops"), "the tool failed: oops", Retry::Backoff);
    fails(
        |_| Response::json(401, r#"{"error":"invalid_token"}"#),
        "authentication failed (401): invalid_token",
        Retry::No,
    );
    fails(|_| Response::json(500, ""), "the server failed (500): ", Retry::Backoff);
    let limited = |_: &ReceivedRequest| Response::json(429, "").with("retry-after", "9");
    fails(limited, "too many deliveries", Retry::After(Duration::from_secs(9)));
    fails(
        |_| Response::new(404, "text/plain", "no such page"),
        "the server rejects the delivery (404): no such page",
        Retry::No,
    );
    fails(
        |_| Response::new(200, "text/html", "<html>"),
        "protocol error: no answer of an MCP server, but \"text/html\"; is the url right?",
        Retry::Backoff,
    );
    fails(
        |_| Response::json(200, r#"{"jsonrpc":"2.0","id":99,"result":{}}"#),
        "protocol error: no answer of an MCP server, but \"application/json\"; is the url right?",
        Retry::Backoff,
    );
    let elsewhere =
        |_: &ReceivedRequest| Response::new(307, "text/plain", "").with("location", "/mcp/");
    fails(
        elsewhere,
        "the server rejects the delivery (300): the answer is a redirect to /mcp/; is the url right?",
        Retry::No,
    );
    fails(
        |_| Response::json(200, "x".repeat(2_000_000)),
        "the answer is longer than 1048576 bytes",
        Retry::No,
    );
    let endless = |_: &ReceivedRequest| {
        Response::new(200, "text/event-stream", "data: 1\n\n".repeat(200_000)).without_end()
    };
    fails(endless, "the answer is longer than 1048576 bytes", Retry::No);
}

#[test]
fn a_connection_that_breaks_or_is_none_is_tried_again() {
    let server = server(|_| Response::broken());
    let error = sink(&server).deliver(&delivery(), &GO_ON).unwrap_err();
    assert!(
        matches!(error, SinkError::Protocol(_)) && error.retry() == Retry::Backoff,
        "{error:?}"
    );
    let sink = sink(&server);
    drop(server);
    let error = sink.deliver(&delivery(), &GO_ON).unwrap_err();
    assert!(
        matches!(error, SinkError::Unreachable(_)) && error.retry() == Retry::Backoff,
        "{error:?}"
    );
}

#[test]
fn a_server_of_another_time_is_not_talked_to() {
    let server = Server::answering(|asked| {
        Response::json(200, answer(asked, &json!({ "protocolVersion": "2031-01-01" })))
    });
    let error = sink(&server.unwrap()).deliver(&delivery(), &GO_ON).unwrap_err();
    assert_eq!(
        error.to_string(),
        "protocol error: the server speaks version \"2031-01-01\" of MCP"
    );
}

#[test]
fn who_hangs_is_left() {
    let server = server(|_| Response::silence());
    let mut settings = Settings::new(Transport::Url(server.url()));
    settings.timeout = Duration::from_millis(200);
    let error = Sink::connect(settings).unwrap().deliver(&delivery(), &GO_ON).unwrap_err();
    assert!(matches!(error, SinkError::Timeout(_)), "{error:?}");
    let stop = AtomicBool::new(false);
    let before = server.requests().len();
    thread::scope(|scope| {
        scope.spawn(|| {
            while server.requests().len() < before + 3 {
                thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
        });
        let mut settings = Settings::new(Transport::Url(server.url()));
        settings.timeout = Duration::from_secs(100_000);
        let error = Sink::connect(settings).unwrap().deliver(&delivery(), &stop).unwrap_err();
        assert!(matches!(error, SinkError::Stopped), "{error:?}");
    });
}

#[test]
fn nothing_goes_to_another_machine_unless_allowed() {
    let refused = |url: &str, allow_remote: bool| {
        let mut settings = Settings::new(Transport::Url(url.to_owned()));
        settings.allow_remote = allow_remote;
        Sink::connect(settings).err()
    };
    for url in [
        "https://mcp.example.com/mcp",
        "http://192.168.1.2:14242/mcp",
        "http://localhost.example.com/",
        "http://nas/mcp",
    ] {
        assert!(matches!(refused(url, false), Some(ConnectError::Remote(_))), "{url}");
    }
    assert!(refused("https://mcp.example.com/mcp", true).is_none());
    assert!(refused("http://192.168.1.2:14242/mcp", true).is_none());
    assert!(matches!(
        refused("http://mcp.example.com/mcp", true),
        Some(ConnectError::NotEncrypted(_))
    ));
    assert!(matches!(refused("localhost:14242/mcp", true), Some(ConnectError::InvalidUrl(_))));
    assert!(refused("http://localhost:14242/mcp", false).is_none());
}
