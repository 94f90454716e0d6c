//! The routes of claude-mem's worker: the forms that its clients know, and nobody else's business.

use std::io::{BufRead, BufReader, Write};
use std::rc::Rc;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};
use thru_core::{Agent, Summary};

use crate::home::{Home, Response, SESSION, Served, with_length};

const FULL: &str = "[http]\nworker_api = \"full\"\n";

/// Asks as a client of the worker: without a token.
fn get(served: &Served, path: &str) -> Response {
    served.send(&format!("GET {path} HTTP/1.1\r\n{}\r\n", served.host()))
}

/// Sends JSON as `fetch` sends a text.
fn post(served: &Served, path: &str, body: &Value) -> Response {
    post_with(served, path, "Content-Type: text/plain;charset=UTF-8\r\n", body)
}

fn post_with(served: &Served, path: &str, headers: &str, body: &Value) -> Response {
    let head = format!("POST {path} HTTP/1.1\r\n{}{headers}", served.host());
    served.send(&with_length(&head, &body.to_string()))
}

/// An answer with the times of today taken out.
fn timeless(response: &Response) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match name.as_str() {
                        "created_at" if value.is_string() => *value = "[time]".into(),
                        "created_at_epoch" if value.is_u64() => *value = "[milliseconds]".into(),
                        _ => strip(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = response.json();
    strip(&mut value);
    format!("{} {value:#}", response.status)
}

/// Reports a session of one turn.
fn report_turn(served: &Served, session: &str) -> [Response; 4] {
    let prompt = json!({ "contentSessionId": session, "project": "harbour",
        "prompt": "Why does the crane stop at noon?", "platformSource": "vscode" });
    let call = json!({ "contentSessionId": session, "tool_name": "Bash", "tool_use_id": "t1",
        "tool_input": { "command": "cargo test crane" }, "tool_response": { "stdout": "1 test passed" } });
    let end = json!({ "contentSessionId": session,
        "last_assistant_message": "The crane waits for the tide table. I made it read the table once a day." });
    let id = json!({ "contentSessionId": session });
    [
        post(served, "/api/sessions/init", &prompt),
        post(served, "/api/sessions/observations", &call),
        post(served, "/api/sessions/summarize", &end),
        post(served, "/api/sessions/complete", &id),
    ]
}

#[test]
fn a_call_that_is_reported_without_an_id_is_found() {
    let home = Home::new();
    home.set(FULL);
    let served = home.serve();
    let call = json!({ "contentSessionId": "editor-2", "project": "harbour", "tool_name": "Bash",
        "tool_input": { "command": "dredge --depth fairway" }, "tool_response": { "stdout": "ok" } });
    assert_eq!(post(&served, "/api/sessions/observations", &call).status, 200);
    served.get("/api/v1/sessions");
    let found = served.get("/api/v1/search?q=dredge+fairway&project=harbour").json();
    assert_eq!(found["sessions"][0]["id"], "editor-2", "{found}");
}

#[test]
fn reports_are_answered_as_clients_expect_and_found_by_search() {
    let home = Home::new();
    home.set(FULL);
    let served = home.serve();
    let answers = report_turn(&served, "editor-1");
    let answers: Vec<&str> = answers.iter().map(|answer| answer.body.trim()).collect();
    assert_snapshot!(answers.join("\n"), @r#"
    {"contextInjected":false,"promptNumber":1,"sessionDbId":539316469264847,"skipped":false,"status":"initialized"}
    {"status":"queued"}
    {"status":"queued"}
    {"status":"completed"}
    "#);
    // The API of the page finds it, as the command line does.
    served.get("/api/v1/sessions");
    let found = served.get("/api/v1/search?q=tide+table+crane&project=harbour").json();
    let session = &found["sessions"][0];
    assert_eq!((&session["id"], &session["project"]), (&json!("editor-1"), &json!("harbour")));
    let prompts = get(&served, "/api/prompts?project=harbour");
    let number = prompts.json()["items"][0]["id"].to_string();
    let numberless = |response: &Response| timeless(response).replace(&number, "[number]");
    assert_snapshot!(numberless(&prompts), @r#"
    200 {
      "hasMore": false,
      "items": [
        {
          "content_session_id": "editor-1",
          "created_at": "[time]",
          "created_at_epoch": "[milliseconds]",
          "id": [number],
          "platform_source": "claude",
          "project": "harbour",
          "prompt_number": 1,
          "prompt_text": "Why does the crane stop at noon?"
        }
      ],
      "limit": 20,
      "offset": 0
    }
    "#);
    assert_snapshot!(numberless(&get(&served, "/api/search?query=crane+tide&format=json")), @r#"
    200 {
      "observations": [],
      "prompts": [
        {
          "content_session_id": "editor-1",
          "created_at": "[time]",
          "created_at_epoch": "[milliseconds]",
          "id": [number],
          "platform_source": "claude",
          "project": "harbour",
          "prompt_number": 1,
          "prompt_text": "Why does the crane stop at noon?"
        }
      ],
      "query": "crane tide",
      "sessions": [
        {
          "completed": null,
          "created_at": "[time]",
          "created_at_epoch": "[milliseconds]",
          "id": 539316469264847,
          "investigated": null,
          "learned": null,
          "next_steps": null,
          "platform_source": "claude",
          "project": "harbour",
          "request": "Why does the crane stop at noon?",
          "session_id": "editor-1"
        }
      ],
      "totalResults": 2
    }
    "#);
    let projects = get(&served, "/api/projects").json();
    assert_eq!(projects["projectsBySource"]["claude"], projects["projects"]);
    assert!(projects["projects"].as_array().unwrap().contains(&json!("harbour")));
}

#[test]
fn every_spelling_of_a_session_is_understood() {
    let home = Home::new();
    home.set(FULL);
    let served = home.serve();
    for name in ["claudeSessionId", "sessionId", "contentSessionId"] {
        for route in ["/sessions/init", "/api/sessions/init"] {
            let body = json!({ name: "editor-2", "userPrompt": format!("Look at the lighthouse by {name}, {route}") });
            assert_eq!(
                post(&served, route, &body).json()["status"],
                "initialized",
                "{name} {route}"
            );
        }
    }
    let first = post(&served, "/sessions/editor-2/init", &json!({ "userPrompt": "And the pier" }));
    let number = first.json()["sessionDbId"].as_u64().unwrap();
    assert!(number < 1 << 52);
    let repeated =
        post(&served, "/sessions/editor-2/init", &json!({ "userPrompt": "And the pier" }));
    assert_eq!(
        repeated.json(),
        json!({ "sessionDbId": number, "promptNumber": 7, "skipped": true, "reason": "duplicate", "contextInjected": false })
    );
    // Once the session is known, its number names it as well.
    served.get("/api/v1/search?q=lighthouse");
    let again = post(
        &served,
        &format!("/sessions/{number}/init"),
        &json!({ "userPrompt": "And the buoy" }),
    );
    assert_eq!(again.json()["sessionDbId"], number);
    for (route, status) in
        [("observations", "queued"), ("summarize", "queued"), ("complete", "completed")]
    {
        let body = json!({ "tool_name": "FileSave", "tool_input": "{\"path\":\"/p/a.rs\"}" });
        assert_eq!(
            post(&served, &format!("/sessions/{number}/{route}"), &body).json()["status"],
            status
        );
    }
    let prompts = get(&served, "/api/prompts").json();
    let of_editor = prompts["items"].as_array().unwrap().iter();
    assert_eq!(of_editor.filter(|one| one["content_session_id"] == "editor-2").count(), 8);
    // A saved file is a file that the session changed.
    let told = served.get("/api/v1/sessions/editor-2").json();
    assert_eq!(told["files"][0]["path"], "/p/a.rs", "{told}");
    assert_eq!(told["files"][0]["modified"], 1);
}

#[test]
fn what_is_not_to_be_kept_is_not_and_the_client_learns_why() {
    let home = Home::new();
    home.set("[http]\nworker_api = \"full\"\n[capture]\nskip_tools = [\"TodoWrite\"]\n");
    let served = home.serve();
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let report = |route: &str, mut body: Value| {
        body["contentSessionId"] = "editor-3".into();
        post(&served, &format!("/api/sessions/{route}"), &body).json()
    };
    let call =
        json!({ "tool_name": "Bash", "tool_input": { "command": "env" }, "tool_response": secret });
    assert_eq!(report("observations", call)["status"], "queued");
    assert_eq!(report("init", json!({ "prompt": format!("Use {secret}") }))["skipped"], false);
    for (body, reason) in [
        (json!({ "tool_name": "TodoWrite" }), "tool_excluded"),
        (json!({ "tool_name": "mcp__throughline__search" }), "session_memory_meta"),
    ] {
        assert_eq!(report("observations", body), json!({ "status": "skipped", "reason": reason }));
    }
    let private = report("init", json!({ "prompt": "<private>the vault opens at six</private>" }));
    assert_eq!((&private["skipped"], &private["reason"]), (&json!(true), &json!("private")));
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": "open the vault" } });
    assert_eq!(report("observations", call)["reason"], "private");
    let of_subagent = report("summarize", json!({ "agentId": "a1" }));
    assert_eq!(of_subagent["reason"], "subagent_context");
    served.get("/api/v1/search?q=vault");
    assert!(!home.holds(&secret) && !home.holds("the vault opens"));
}

#[test]
fn a_memory_is_saved_listed_and_found_by_its_number() {
    let home = Home::new();
    home.set(FULL);
    let served = home.serve();
    let text = "The harbour master closes the lock at ten. Ask for the night key before that.";
    let saved = post(&served, "/api/memory/save", &json!({ "text": text }));
    let number = saved.json()["id"].as_u64().unwrap();
    let numberless = |text: &str| text.replace(&number.to_string(), "[number]");
    assert_snapshot!(numberless(saved.body.trim()), @r#"{"id":[number],"message":"Memory saved as observation #[number]","project":null,"success":true,"title":"The harbour master closes the lock at ten. Ask for the night..."}"#);
    let single = get(&served, &format!("/api/observation/{number}"));
    assert_snapshot!(numberless(&timeless(&single)), @r#"
    200 {
      "concepts": "[]",
      "created_at": "[time]",
      "created_at_epoch": "[milliseconds]",
      "discovery_tokens": 0,
      "facts": "[]",
      "files_modified": "[]",
      "files_read": "[]",
      "id": [number],
      "memory_session_id": null,
      "merged_into_project": null,
      "narrative": "The harbour master closes the lock at ten. Ask for the night key before that.",
      "platform_source": "claude",
      "project": "unknown",
      "prompt_number": 0,
      "subtitle": null,
      "text": null,
      "title": "The harbour master closes the lock at ten. Ask for the night...",
      "type": "discovery"
    }
    "#);
    let listed = get(&served, "/api/observations?limit=1").json();
    assert_eq!(listed["items"][0]["id"], number);
    for ids in [json!([number]), json!(number.to_string()), json!(format!("[{number}]"))] {
        let batch = post(&served, "/api/observations/batch", &json!({ "ids": ids })).json();
        assert_eq!(batch[0]["id"], number, "{batch}");
    }
    // A tool of the worker tells the same in words.
    let found = get(&served, "/api/search?query=night+key+harbour+lock&type=observations").json();
    let words = found["content"][0]["text"].as_str().unwrap();
    assert!(
        words.starts_with("Found 1 result(s) matching")
            && words.contains(&format!("| #{number} |")),
        "{words}"
    );
    let around = get(&served, &format!("/api/timeline?anchor={number}&depth_before=0")).json();
    assert!(
        around["content"][0]["text"].as_str().unwrap().contains("▶ The harbour master"),
        "{around}"
    );
    // It is an agent's: no person stands behind it.
    let whole = served.get("/api/v1/log?subject=agent-notes").json();
    assert!(
        whole.to_string().contains("night key") || whole.to_string().contains("harbour master"),
        "{whole}"
    );
}

#[test]
fn wrong_requests_are_answered_in_the_worker_s_own_form() {
    let home = Home::new();
    home.set(FULL);
    let served = home.serve();
    let answers = [
        post(&served, "/api/sessions/observations", &json!({ "contentSessionId": "s" })),
        post(&served, "/api/sessions/init", &json!({ "prompt": "x" })),
        post(&served, "/api/sessions/init", &json!({ "contentSessionId": "../../x" })),
        post(&served, "/api/sessions/init", &json!(["x"])),
        post(&served, "/api/memory/save", &json!({ "text": "x", "colour": "red" })),
        post(&served, "/api/memory/save", &json!({ "text": " " })),
        post(&served, "/api/observations/batch", &json!({ "ids": "a,b" })),
        get(&served, "/api/observation/x"),
        get(&served, "/api/observation/7"),
        get(&served, "/api/observation/99999999999999999"),
        get(&served, "/api/search"),
        get(&served, "/api/search?query=zzzzqqq"),
        get(&served, "/api/timeline"),
        get(&served, "/api/context/inject"),
        get(&served, "/api/nothing"),
    ];
    let lines = answers.iter().map(|answer| format!("{} {}", answer.status, answer.body.trim()));
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    400 {"error":"ValidationError","issues":[{"code":"invalid_type","message":"Required","path":["tool_name"]}]}
    400 {"error":"ValidationError","issues":[{"code":"invalid_type","message":"Required","path":["contentSessionId"]}]}
    400 {"error":"the session id is none"}
    400 {"error":"the body is no JSON object"}
    400 {"error":"ValidationError","issues":[{"code":"invalid_type","message":"Unrecognized key: colour","path":["body"]}]}
    400 {"error":"ValidationError","issues":[{"code":"invalid_type","message":"Required","path":["text"]}]}
    400 {"error":"ValidationError","issues":[{"code":"invalid_type","message":"Expected an array of integers","path":["ids"]}]}
    400 {"error":"Invalid ID: expected a positive integer"}
    404 {"error":"Observation #7 not found"}
    404 {"error":"Observation #99999999999999999 not found"}
    500 {"error":"Either query or filters required for search"}
    200 {"content":[{"text":"No results found matching \"zzzzqqq\"","type":"text"}]}
    200 {"content":[{"text":"Error: Must provide either \"anchor\" or \"query\", and not both","type":"text"}],"isError":true}
    400 {"error":"Project(s) parameter is required"}
    404 {"detail":"there is nothing here","kind":"no_route","status":404,"title":"Not Found","type":"urn:throughline:problem:no_route"}
    "#);
}

#[test]
fn a_project_that_is_not_known_begins_with_what_is_saved_of_it() {
    let home = Home::new();
    home.set(FULL);
    let served = home.serve();
    let body = json!({ "text": "The quay floods at spring tide", "project": "harbour office" });
    let saved = post(&served, "/api/memory/save", &body).json();
    assert_eq!(saved["project"], "harbour office");
    let rows = get(&served, "/api/observations?project=harbour%20office").json();
    assert_eq!(rows["items"][0]["id"], saved["id"], "{rows}");
    let question = json!({ "contentSessionId": "editor-8", "tool_name": "AskUserQuestion" });
    let skipped = post(&served, "/api/sessions/observations", &question).json();
    assert_eq!(skipped, json!({ "status": "skipped", "reason": "tool_excluded" }));
}

#[test]
fn context_is_plain_text_and_silence_where_nothing_is_known() {
    let home = Home::new();
    home.set(FULL);
    let served = home.serve();
    let project = get(&served, "/api/projects").json()["projects"][0].as_str().unwrap().to_owned();
    let told = get(&served, &format!("/api/context/inject?projects=none,{project}"));
    assert!(told.head.contains("content-type: text/plain"), "{told:?}");
    assert_eq!(told.body, served.get(&format!("/api/v1/context?project={project}")).json()["text"]);
    let unknown = get(&served, "/api/context/inject?project=none-of-ours");
    assert_eq!((unknown.status, unknown.body.as_str()), (200, ""));
    for text in [
        "The importer locks a file",
        "The importer lock is short",
        "Lock the importer's files last",
    ] {
        let body = json!({ "text": text, "project": project });
        assert_eq!(post(&served, "/api/memory/save", &body).status, 200);
    }
    let told = |limit: usize| {
        let body = json!({ "q": "Why does the importer lock its files?", "project": project, "limit": limit });
        let answer = post(&served, "/api/context/semantic", &body).json();
        let text = answer["context"].as_str().unwrap().to_owned();
        (answer["count"].as_u64().unwrap(), text.lines().count())
    };
    let (all, lines) = told(20);
    assert!(all > 1, "{all}");
    assert_eq!(told(1), (1, lines + 1 - all as usize));
    let short = post(&served, "/api/context/semantic", &json!({ "q": "lock", "project": project }));
    assert_eq!(short.json(), json!({ "context": "", "count": 0 }));
    let recent = |project: &str| {
        let answer = get(&served, &format!("/api/context/recent?project={project}&limit=1")).json();
        answer["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let told = recent(&project);
    assert!(told.contains("\n**Request:** Why does the importer lock the database?"), "{told}");
    assert_eq!(told.matches("\n## #S").count(), 1, "{told}");
    assert_eq!(recent("none-of-ours"), "No sessions found for none-of-ours.\n");
}

#[test]
fn the_routes_are_off_unless_they_are_wanted_and_never_for_pages() {
    let home = Home::new();
    let served = home.serve();
    let prompt = json!({ "contentSessionId": "editor-4", "prompt": "x" });
    assert_eq!(get(&served, "/api/observations").status, 404);
    assert_eq!(post(&served, "/api/sessions/init", &prompt).status, 404);
    // A setting holds from the next request on.
    home.set("[http]\nworker_api = \"read\"\n");
    assert_eq!(get(&served, "/api/observations").status, 200);
    assert_eq!(post(&served, "/api/sessions/init", &prompt).status, 403);
    assert_eq!(post(&served, "/api/memory/save", &json!({ "text": "x" })).status, 403);
    home.set(FULL);
    let mode = "Sec-Fetch-Mode: cors\r\nContent-Type: text/plain\r\n";
    assert_eq!(post_with(&served, "/api/sessions/init", mode, &prompt).status, 200);
    for header in [
        format!("Origin: http://127.0.0.1:{}\r\n", served.port),
        "Origin: null\r\n".to_owned(),
        "Sec-Fetch-Site: same-origin\r\n".to_owned(),
        "Sec-Fetch-Site: none\r\n".to_owned(),
        "Sec-Fetch-Dest: empty\r\n".to_owned(),
    ] {
        for path in ["/api/observations", "/api/search?query=lock", "/stream", "/api/stats"] {
            let request = format!("GET {path} HTTP/1.1\r\n{}{header}\r\n", served.host());
            assert_eq!(served.send(&request).status, 403, "{request}");
        }
        assert_eq!(post_with(&served, "/api/sessions/init", &header, &prompt).status, 403);
    }
    let rebound = format!(
        "GET /api/observations HTTP/1.1\r\nHost: evil.example:{}\r\nConnection: close\r\n\r\n",
        served.port
    );
    assert_eq!(served.send(&rebound).status, 403);
    // Elsewhere a text is no JSON, and a token is needed as ever.
    assert_eq!(post(&served, "/api/v1/memories", &json!({ "text": "x" })).status, 415);
    assert_eq!(get(&served, "/api/v1/status").status, 401);
}

#[test]
fn the_service_says_how_it_is() {
    let home = Home::new();
    home.set(FULL);
    let served = home.serve();
    for (path, field, wanted) in [
        ("/health", "status", json!("ok")),
        ("/api/health", "initialized", json!(true)),
        ("/api/readiness", "status", json!("ready")),
        ("/api/version", "version", json!(env!("CARGO_PKG_VERSION"))),
        ("/api/processing-status", "isProcessing", json!(false)),
    ] {
        assert_eq!(get(&served, path).json()[field], wanted, "{path}");
    }
    let stats = get(&served, "/api/stats").json();
    assert_eq!(
        (&stats["database"]["sessions"], &stats["worker"]["port"]),
        (&json!(1), &json!(served.port))
    );
    let session = get(&served, "/api/summaries").json()["items"][0].clone();
    assert_eq!(session["session_id"], SESSION);
    assert_eq!(
        get(&served, &format!("/api/session/{}", session["id"])).json()["id"],
        session["id"]
    );
    let prompt = get(&served, "/api/prompts").json()["items"][0].clone();
    assert_eq!(get(&served, &format!("/api/prompt/{}", prompt["id"])).json(), prompt);
    assert_eq!(get(&served, &format!("/api/observation/{}", prompt["id"])).status, 404);
}

#[test]
fn the_stream_tells_rows_as_they_come() {
    let home = Home::new();
    home.set(FULL);
    let served = home.serve();
    let mut stream = served.connect();
    write!(stream, "GET /stream HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", served.port).unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut next = |kind: &str| -> Value {
        loop {
            let line = lines.next().unwrap().unwrap();
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let message: Value = serde_json::from_str(data).unwrap();
            assert!(message["timestamp"].is_u64());
            if message["type"] == kind {
                return message;
            }
        }
    };
    next("connected");
    assert!(next("initial_load")["projects"].is_array());
    next("processing_status");
    let saved = post(&served, "/api/memory/save", &json!({ "text": "Ships go first" })).json();
    assert_eq!(next("new_observation")["observation"]["id"], saved["id"]);
    let begun = report_turn(&served, "editor-5")[0].json();
    served.get("/api/v1/search?q=crane");
    assert_eq!(next("session_started")["sessionDbId"], begun["sessionDbId"]);
    let prompt = next("new_prompt")["prompt"].clone();
    assert_eq!(prompt["prompt_text"], "Why does the crane stop at noon?");
    let number = prompt["id"].as_u64().unwrap();
    assert_eq!(get(&served, &format!("/api/prompt/{number}")).json(), prompt);
    assert_eq!(next("session_completed")["sessionDbId"], begun["sessionDbId"]);
    // One that ends later, after all that it said was told, and one that said nothing.
    for (session, prompt) in [("editor-6", Some("And the quay?")), ("editor-7", None)] {
        if let Some(prompt) = prompt {
            let body = json!({ "contentSessionId": session, "prompt": prompt });
            post(&served, "/api/sessions/init", &body);
            served.get("/api/v1/search?q=quay");
            next("new_prompt");
        }
        post(&served, "/api/sessions/complete", &json!({ "contentSessionId": session }));
        served.get("/api/v1/search?q=quay");
        let id = Summary::id_of(Agent::ClaudeCode, session).number();
        assert_eq!(next("session_completed")["sessionDbId"], id, "{session}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_sent_gets_an_answer_and_breaks_nothing(
        route in prop::sample::select(vec![
            "/api/sessions/init", "/sessions/7/observations", "/api/sessions/summarize", "/sessions/complete",
            "/api/memory/save", "/api/observations/batch", "/api/context/semantic", "/api/processing",
        ]),
        fields in prop::collection::btree_map(
            "(contentSessionId|sessionId|prompt|tool_name|tool_input|text|title|project|ids|limit|q|[a-z]{1,6})",
            any_value(), 0..6),
        query in "[ -~&&[^ #]]{0,30}",
        search in "(/api/(search|timeline|observations|prompts|observation/[ -~&&[^ #?/%]]{1,12}))",
    ) {
        let served = SERVED.with(Clone::clone);
        let answer = post(&served.1, route, &json!(fields));
        prop_assert!((200..500).contains(&answer.status), "{route} {fields:?}\n{answer:?}");
        let answer = get(&served.1, &format!("{search}?query=x&{query}"));
        prop_assert!((200..500).contains(&answer.status), "{search} {query}\n{answer:?}");
    }
}

/// Any JSON, as deep as clients send it.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        "[a-z0-9]{1,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

thread_local! {
    /// One home for all requests of a property.
    static SERVED: Rc<(Home, Served)> = {
        let home = Home::new();
        home.set(FULL);
        let served = home.serve();
        Rc::new((home, served))
    };
}
