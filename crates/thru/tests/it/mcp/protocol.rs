//! The protocol: each revision's beginning, lists, resources, prompts.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::client::{Client, ages, demo, with_meta};
use crate::home::Home;

const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

fn names<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|item| item[name].as_str().unwrap()).collect()
}

#[test]
fn each_revision_with_a_handshake_is_agreed_on() {
    let home = Home::new();
    for version in HANDSHAKES {
        let mut client = Client::start(&home);
        let agreed = client.initialize(version);
        assert_eq!(agreed["protocolVersion"], version);
        assert_eq!(agreed["serverInfo"]["name"], "throughline");
        assert!(agreed["instructions"].as_str().unwrap().contains("Three steps"));
        assert_eq!(agreed["capabilities"], json!({ "tools": {}, "resources": {}, "prompts": {} }));
        assert!(agreed.get("resultType").is_none());
        assert_eq!(client.request("ping", json!({}))["result"], json!({}));
        let (rest, status, errors) = client.end();
        assert_eq!((rest, status.code(), errors.as_str()), (vec![], Some(0), ""), "{version}");
    }
}

#[test]
fn an_unknown_revision_is_answered_with_the_newest_that_has_a_handshake() {
    let home = Home::new();
    for version in ["2099-01-01", "2026-07-28", "1.0", ""] {
        let mut client = Client::start(&home);
        assert_eq!(client.initialize(version)["protocolVersion"], "2025-11-25", "{version}");
        assert!(client.request("tools/list", json!({}))["result"].get("ttlMs").is_none());
    }
}

#[test]
fn the_stateless_revision_needs_no_handshake() {
    let home = demo();
    let mut client = Client::start(&home);
    let found = client.stateless("server/discover", json!({}))["result"].clone();
    assert_eq!(found["resultType"], "complete");
    assert_eq!(found["supportedVersions"].as_array().unwrap().last().unwrap(), "2026-07-28");
    assert!(found["instructions"].as_str().unwrap().contains("Three steps"));
    assert!(found["ttlMs"].is_u64() && found["cacheScope"] == "private", "{found}");
    for (method, list) in [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        let result = client.stateless(method, json!({}))["result"].clone();
        assert_eq!(result["resultType"], "complete", "{method}");
        assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "private", "{method}");
        assert!(!result[list].as_array().unwrap().is_empty(), "{method}");
    }
    let call = json!({ "name": "search", "arguments": { "query": "global lock" } });
    let result = client.stateless("tools/call", call)["result"].clone();
    assert_eq!(result["resultType"], "complete");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("global lock"));
    // What went with the handshake.
    for method in ["ping", "logging/setLevel"] {
        let answer = client.stateless(method, json!({ "level": "info" }));
        assert_eq!(answer["error"]["code"], -32_601, "{method}: {answer}");
    }
    let other = client.request("tools/list", with_meta(json!({}), "2027-01-01"));
    assert_eq!(other["error"]["code"], -32_022);
    assert_eq!(other["error"]["data"]["requested"], "2027-01-01");
    assert_eq!(other["error"]["data"]["supported"].as_array().unwrap().len(), 5);
    let bare = client.request("server/discover", json!({}));
    assert_eq!(bare["error"]["code"], -32_602, "{bare}");
    // A client that probed and fell back.
    assert_eq!(client.initialize("2025-06-18")["protocolVersion"], "2025-06-18");
    assert!(client.request("tools/list", json!({}))["result"].get("resultType").is_none());
}

#[test]
fn the_tools_are_these_and_cost_little() {
    let home = Home::new();
    let mut client = Client::start(&home);
    let instructions = client.initialize("2025-11-25")["instructions"].clone();
    let listed = client.request("tools/list", json!({}))["result"].clone();
    assert_eq!(
        names(&listed["tools"], "name"),
        [
            "search",
            "timeline",
            "get_observations",
            "facts",
            "get_session",
            "remember",
            "forget",
            "session_tracking_close",
            "session_tracking_list_unindexed",
            "session_tracking_sync_history",
            "session_tracking_status"
        ]
    );
    for tool in listed["tools"].as_array().unwrap() {
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
        assert!(tool["title"].is_string() && tool["inputSchema"]["type"] == "object", "{tool}");
        assert!(tool.get("outputSchema").is_none(), "{tool}");
    }
    let instructions = instructions.as_str().unwrap().len();
    let all = listed.to_string().len() + instructions;
    assert!(instructions <= 2_000 && all <= 8_000, "{instructions} of {all}");
}

#[test]
fn resources_are_the_same_answers_by_address() {
    let home = demo();
    let mut client = Client::of_revision(&home, "2025-11-25");
    let listed = client.request("resources/list", json!({}))["result"]["resources"].clone();
    assert_snapshot!(names(&listed, "uri").join("\n"), @"
    throughline://session/e9a86b15-7c42-4d18-8f3b-5a6b7c8d9e03
    throughline://session/c27d4e83-1f0b-4c3e-b6a5-90d1e2f3a402
    throughline://session/5b1f0c9e-8a51-4a57-9d0e-2f6c1b7a9e01
    ");
    let templates = client.request("resources/templates/list", json!({}));
    assert_snapshot!(names(&templates["result"]["resourceTemplates"], "uriTemplate").join("\n"), @"
    throughline://session/{id}
    throughline://memory/{id}
    throughline://note/{id}
    throughline://project/{id}/context
    ");
    let mut read = |uri: &str| {
        let answer = client.request("resources/read", json!({ "uri": uri }));
        match answer["result"]["contents"][0]["text"].as_str() {
            Some(text) => text.to_owned(),
            None => answer["error"].to_string(),
        }
    };
    let session = listed[0]["uri"].as_str().unwrap();
    assert!(read(session).contains("# session "));
    assert!(read("throughline://memory/b5gnk").contains("## b5gnk bugfix: "));
    assert!(read("throughline://project/rocket/context").contains("# Memory of rocket"));
    for nothing in [
        "throughline://memory/zzzzz",
        "throughline://session/ffffffff",
        "throughline://project/nowhere/context",
        "file:///etc/passwd",
        "throughline://memory/..%2f..%2fetc%2fpasswd",
    ] {
        let error = read(nothing);
        assert!(error.contains("-32002"), "{nothing}: {error}");
    }
    // A newer client is told by the number that it knows.
    let answer = client.stateless("resources/read", json!({ "uri": "throughline://memory/zzzzz" }));
    assert_eq!(answer["error"]["code"], -32_602, "{answer}");
}

#[test]
fn in_a_project_its_context_is_listed_first() {
    let home = Home::new();
    home.tell(&["Uploads are resumable", "--rule"]);
    // There are no sessions here yet.
    let mut client = Client::in_project(&home);
    let listed = client.request("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(listed, json!([]));
    let home = Home::new();
    let mut author = crate::records::Author::of(crate::records::ONE)
        .in_directory(home.project().to_str().unwrap());
    author.asks("Why do uploads fail?").says("They are retried too often.");
    home.write(&crate::records::file(crate::records::ONE), author.text());
    home.thru(&["import"]).expect(0);
    home.tell(&["Uploads are resumable", "--rule"]);
    let mut client = Client::in_project(&home);
    let listed = client.request("resources/list", json!({}))["result"]["resources"].clone();
    let uri = listed[0]["uri"].as_str().unwrap();
    assert!(uri.starts_with("throughline://project/") && uri.ends_with("/context"), "{listed}");
    let read = client.request("resources/read", json!({ "uri": uri }));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("# Memory of rocket"), "{text}");
    assert_eq!(listed[1]["uri"], format!("throughline://session/{}", crate::records::ONE));
}

#[test]
fn prompts_recall_and_hand_off() {
    let home = demo();
    let mut client = Client::of_revision(&home, "2025-11-25");
    let listed = client.request("prompts/list", json!({}))["result"]["prompts"].clone();
    assert_eq!(names(&listed, "name"), ["recall", "handoff"]);
    assert_eq!(listed[0]["arguments"][0]["name"], "question");
    let _ages = ages();
    let mut get = |params: Value| client.request("prompts/get", params);
    let recall =
        get(json!({ "name": "recall", "arguments": { "question": "Why no global lock?" } }));
    let message = &recall["result"]["messages"][0];
    assert_eq!(message["role"], "user");
    let text = message["content"]["text"].as_str().unwrap();
    assert!(text.contains("Why no global lock?") && text.contains("b5gnk"), "{text}");
    let handoff = get(json!({ "name": "handoff" }));
    let text = handoff["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("session_tracking_close"), "{text}");
    assert_eq!(get(json!({ "name": "recall" }))["error"]["code"], -32_602);
    assert_eq!(get(json!({ "name": "poem" }))["error"]["code"], -32_602);
}

#[test]
fn where_nothing_was_recorded_yet_everything_says_so() {
    let home = Home::new();
    let _settings = home.settings();
    let mut client = Client::of_revision(&home, "2025-11-25");
    assert_snapshot!(client.fails("search", json!({ "query": "anything" })), @"there is no memory at [folder]/home/memory.db. The user can run `thru import`, which reads the history that is on this machine.");
    assert_snapshot!(client.fails("get_session", json!({ "id": "latest" })), @"there is no memory at [folder]/home/memory.db. The user can run `thru import`, which reads the history that is on this machine.");
    assert_eq!(client.json("session_tracking_status", json!({}))["memories"], 0);
    assert_eq!(client.request("resources/list", json!({}))["result"]["resources"], json!([]));
}

#[test]
fn a_client_is_told_of_the_server_in_its_own_form() {
    let home = Home::new();
    let bin = home.folder().join("bin");
    std::fs::create_dir(&bin).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_thru"), bin.join("thru")).unwrap();
    let _settings = home.settings();
    let print = |client: &str| {
        let mut command = home.command();
        command.env("PATH", &bin).args(["mcp", "--print-config", client]);
        crate::home::Ran::from(command.output().unwrap()).shown()
    };
    assert_snapshot!(print("codex"), @r#"
    [mcp_servers.throughline]
    command = "[folder]/bin/thru"
    args = ["mcp"]
    -- stderr --
    For ~/.codex/config.toml:
    "#);
    assert_snapshot!(print("opencode"), @r#"
    {
      "mcp": {
        "throughline": {
          "command": [
            "[folder]/bin/thru",
            "mcp"
          ],
          "enabled": true,
          "type": "local"
        }
      }
    }
    -- stderr --
    For opencode.json, or ~/.config/opencode/opencode.json:
    "#);
    assert_snapshot!(print("emacs"), @"
    -- stderr --
    error: invalid value 'emacs' for '--print-config <CLIENT>'
      [possible values: claude-code, claude-desktop, codex, gemini, cursor, vscode, windsurf, zed, opencode, cline, copilot, qwen, kilo, goose, amp, factory, kiro]

    For more information, try '--help'.
    -- exit 2 --
    ");
}
