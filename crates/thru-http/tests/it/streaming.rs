//! The stream of what is new: ids as they come, and what was missed while a page was away.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::home::{Home, Served, with_length};

/// Opens a stream, and reads its head and its first words.
fn open(served: &Served, last: Option<&str>) -> BufReader<std::net::TcpStream> {
    let mut stream = served.connect();
    let last = last.map_or_else(String::new, |id| format!("Last-Event-ID: {id}\r\n"));
    let request = format!("GET /api/v1/events HTTP/1.1\r\n{}{last}\r\n", served.authorised());
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while !line.contains("connected") {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the stream ended");
    }
    reader
}

/// Reads the next event: its name, its id and its data.
fn next(reader: &mut BufReader<std::net::TcpStream>) -> (String, String, Value) {
    let (mut name, mut id, mut data) = (String::new(), String::new(), Value::Null);
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the stream ended");
        let line = line.trim_end();
        if let Some(value) = line.strip_prefix("event: ") {
            name = value.to_owned();
        } else if let Some(value) = line.strip_prefix("id: ") {
            id = value.to_owned();
        } else if let Some(value) = line.strip_prefix("data: ") {
            data = serde_json::from_str(value).unwrap();
        } else if line.is_empty() && !name.is_empty() {
            return (name, id, data);
        }
    }
}

#[test]
fn what_is_new_is_told_by_its_id_and_again_to_who_missed_it() {
    let home = Home::new();
    let served = home.serve();
    let mut stream = open(&served, None);
    let tell =
        |text: &str| served.change("POST", "/api/v1/memories", &json!({ "text": text })).json();
    // The stream tells what comes after its first look, which has an id.
    let mut line = String::new();
    while !line.starts_with("id: ") {
        line.clear();
        stream.read_line(&mut line).unwrap();
    }
    let first = tell("Use pnpm, not npm");
    let (name, id, data) = next(&mut stream);
    assert_eq!((name.as_str(), &data["id"]), ("memory", &first["full_id"]));
    drop(stream);
    let second = tell("Deploy on Fridays");
    let mut stream = open(&served, Some(&id));
    let mut seen = Vec::new();
    while seen.last() != Some(&second["full_id"]) {
        seen.push(next(&mut stream).2["id"].clone());
    }
    assert!(!seen.contains(&first["full_id"]), "{seen:?}");
    // A moment of another store, and one that another version told.
    for moment in ["other-1-1-1-1-1", "other-1"] {
        assert_eq!(next(&mut open(&served, Some(moment))).0, "reset", "{moment}");
    }
}

#[test]
fn a_stream_ends_with_the_session_of_its_page() {
    let home = Home::new();
    let served = home.serve();
    let mut stream = open(&served, None);
    served.server.end_sessions().unwrap();
    let mut rest = String::new();
    while stream.read_line(&mut rest).unwrap() > 0 {}
    assert_eq!(served.get("/api/v1/events").status, 401);
}

#[test]
fn the_end_of_a_session_is_told() {
    let home = Home::new();
    home.set("[http]\nworker_api = \"full\"\n");
    let served = home.serve();
    let mut stream = open(&served, None);
    let mut has_grown = |state: &str| loop {
        let (name, _, data) = next(&mut stream);
        if name == "session" && data["id"] == "editor-6" && data["state"] == state {
            return data["has_grown"].clone();
        }
    };
    report(&served, "init", &json!({ "contentSessionId": "editor-6", "prompt": "Why at noon?" }));
    assert_eq!(has_grown("active"), true);
    report(&served, "complete", &json!({ "contentSessionId": "editor-6" }));
    assert_eq!(has_grown("ended"), false);
}

/// Reports something of a session as an editor does, and has it read.
fn report(served: &Served, what: &str, body: &Value) {
    let head = format!(
        "POST /api/sessions/{what} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
         Content-Type: application/json\r\n",
        served.port
    );
    assert_eq!(served.send(&with_length(&head, &body.to_string())).status, 200);
    assert_eq!(served.get("/api/v1/sessions").status, 200);
}

#[test]
fn there_are_eight_streams_and_no_more_and_they_end_with_the_server() {
    let home = Home::new();
    let served = home.serve();
    let mut streams: Vec<_> = (0..8).map(|_| open(&served, None)).collect();
    assert_eq!(served.get("/api/v1/events").status, 503);
    drop(served);
    let mut rest = String::new();
    while streams[0].read_line(&mut rest).is_ok_and(|read| read > 0) {}
}
