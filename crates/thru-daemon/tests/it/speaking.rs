//! The protocol of the socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::{Value, json};
use thru_daemon::CallError;

use crate::stage::{LONG, Stage, no_session, until};

fn lines(stage: &Stage) -> (UnixStream, BufReader<UnixStream>) {
    let stream = UnixStream::connect(&stage.paths.socket).unwrap();
    (stream.try_clone().unwrap(), BufReader::new(stream))
}

fn ask(stage: &Stage, line: &str) -> Value {
    let (mut stream, mut reader) = lines(stage);
    stream.write_all(line.as_bytes()).unwrap();
    stream.write_all(b"\n").unwrap();
    let mut answer = String::new();
    reader.read_line(&mut answer).unwrap();
    serde_json::from_str(&answer).unwrap()
}

#[test]
fn it_says_who_and_how_it_is() {
    let stage = Stage::new();
    let _daemon = stage.start();
    let hello = stage.client().hello(LONG).unwrap();
    assert_eq!((hello.version.as_str(), hello.protocol), ("1.0.0", 1));
    assert_eq!(hello.pid, std::process::id());
    let mut client = stage.client();
    until(|| client.status(LONG).unwrap()["steps"] == 1);
    let status = client.status(LONG).unwrap();
    assert_eq!(status["watching"], "events");
    assert_eq!(status["work"], json!({ "steps": 1 }));
    assert_eq!(status["last"]["everything"], true);
}

#[test]
fn a_client_that_writes_lines_is_answered_in_lines() {
    let stage = Stage::new();
    let _daemon = stage.start();
    let (mut stream, mut reader) = lines(&stage);
    // As the client of the hybrid close writes it.
    for id in 1..3 {
        let request = json!({
            "jsonrpc": "2.0",
            "id": id,
            "method": "tools/call",
            "params": { "name": "session_tracking_close", "arguments": { "session_id": "s", "reason": "hook_clear" } },
        });
        writeln!(stream, "{request}").unwrap();
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        let result: Value = serde_json::from_str(text).unwrap();
        assert_eq!(result["status"], "success");
        assert_eq!(result["given"]["reason"], "hook_clear");
    }
}

#[test]
fn what_cannot_be_answered_gets_an_error_with_its_number() {
    let stage = Stage::new();
    let _daemon = stage.start();
    let call = |tool: &str| {
        let params = json!({ "name": tool, "arguments": {} });
        ask(
            &stage,
            &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
                .to_string(),
        )
    };
    assert_eq!(ask(&stage, "{no json")["error"]["code"], -32_700);
    assert_eq!(ask(&stage, r#"{"id":1}"#)["error"]["code"], -32_600);
    assert_eq!(ask(&stage, r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#)["error"]["code"], -32_601);
    assert_eq!(call("no such tool")["error"]["code"], -32_602);
    assert_eq!(call("panics")["error"]["code"], -32_603);
    assert_eq!(call("long")["error"]["code"], -32_603);
    let failed = call("fails");
    assert_eq!(failed["result"]["isError"], true);
    let text: Value =
        serde_json::from_str(failed["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&text, &failed["result"]["structuredContent"]), (&no_session(), &no_session()));
    // And it goes on.
    assert!(stage.client().call_tool("session_tracking_close", &json!({}), LONG).is_ok());
}

#[test]
fn tools_can_be_switched_off() {
    let mut stage = Stage::new();
    stage.settings.tools_enabled = false;
    let _daemon = stage.start();
    let error = stage.client().call_tool("session_tracking_close", &json!({}), LONG).unwrap_err();
    assert!(matches!(error, CallError::Refused { code: -32_001, .. }), "{error:?}");
    assert!(stage.client().hello(LONG).is_ok());
}

#[test]
fn a_frame_that_is_too_long_ends_the_connection() {
    let stage = Stage::new();
    let _daemon = stage.start();
    let mut stream = UnixStream::connect(&stage.paths.socket).unwrap();
    stream.write_all(&u32::MAX.to_be_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let error: Value = serde_json::from_slice(&answer[4..]).unwrap();
    assert_eq!(error["error"]["code"], -32_600);
}

#[test]
fn who_says_nothing_or_says_it_slowly_is_left() {
    let mut stage = Stage::new();
    stage.settings.patience = Duration::from_millis(100);
    let _daemon = stage.start();
    // More than are served at a time, and all of them silent.
    let mut quiet: Vec<UnixStream> =
        (0..40).map(|_| UnixStream::connect(&stage.paths.socket).unwrap()).collect();
    let _ = quiet[0].write_all(b"{");
    until(|| {
        let client = thru_daemon::Client::connect(&stage.paths.socket, LONG);
        client.is_ok_and(|mut client| client.hello(LONG).is_ok())
    });
    for stream in &mut quiet {
        assert_eq!(stream.read(&mut [0; 8]).unwrap_or(0), 0, "ended by the daemon");
    }
}

#[test]
fn asked_to_stop_it_ends() {
    let stage = Stage::new();
    let daemon = stage.start();
    assert_eq!(
        ask(&stage, r#"{"jsonrpc":"2.0","id":1,"method":"stop"}"#)["result"]["stopping"],
        true
    );
    assert_eq!(daemon.end().unwrap(), thru_daemon::End::Requested);
}
