//! Our MCP server, as the client starts it and hands its answers to the model.

use serde_json::{Value, json};
use thru_real_client::{Script, calls, message, says};

use crate::stage::{FENCE, Stage, WRITE, packing};

/// The client may run all of our tools without asking a human.
const ALLOWED: [&str; 2] =
    ["--allowedTools", "mcp__throughline,mcp__plugin_throughline_throughline,ToolSearch"];

/// The MCP servers that a run lists at its beginning, with their state.
fn servers(events: impl Iterator<Item = Value>) -> Vec<(String, String)> {
    let mut begun = events.filter(|event| event["subtype"] == "init");
    let servers = begun.next().unwrap()["mcp_servers"].as_array().cloned().unwrap_or_default();
    let text = |server: &Value, name: &str| server[name].as_str().unwrap_or_default().to_owned();
    servers.iter().map(|server| (text(server, "name"), text(server, "status"))).collect()
}

/// A model that asks memory in three steps, by the names that tools have in a form of installation. What it
/// looks for is what `packing` left.
fn recalling(prefix: &str) -> Script {
    let tool = |name: &str| format!("{prefix}{name}");
    packing().on(
        "What did we pack",
        [
            message([calls(&tool("search"), json!({ "query": "packing list rope lamp" }))]),
            message([calls(&tool("session_tracking_status"), json!({}))]),
            message([calls(&tool("get_session"), json!({ "id": "latest" }))]),
            message([calls(&tool("remember"), json!({ "text": "Ropes come from Bristol" }))]),
            message([calls(&tool("search"), json!({ "q": "rope" }))]),
            message([says("A rope and a lamp.")]),
        ],
    )
}

#[test]
fn the_model_asks_memory_and_is_sent_what_is_remembered() {
    for (form, prefix, name) in [
        ("settings", "mcp__throughline__", "throughline"),
        ("plugin", "mcp__plugin_throughline_throughline__", "plugin:throughline:throughline"),
    ] {
        let Some(stage) = Stage::bare(recalling(prefix)) else { return };
        stage.thru(&["install", "--as", form]);
        let first = stage.asks(WRITE, &[]);
        stage.take_in();
        stage.api.take_requests();
        let run = stage.ask("What did we pack", &ALLOWED);
        assert_eq!(run.result()["is_error"], false, "{form}: {run:?}");
        let connected = (name.to_owned(), "connected".to_owned());
        assert!(servers(run.events()).contains(&connected), "{form}: {:?}", servers(run.events()));
        let told: Vec<String> = stage.api.requests().iter().map(|request| request.news()).collect();
        let [_, found, status, outline, kept, mistake] = &told[..] else {
            panic!("{form}: {told:#?}");
        };
        assert!(found.contains(FENCE) && found.contains("packing"), "{form}: {found}");
        assert!(found.contains("rank | id | type | title | tokens"), "{form}: {found}");
        assert!(status.contains("\"sessions\":"), "{form}: {status}");
        assert!(outline.contains(&first) || outline.contains("# session"), "{form}: {outline}");
        assert!(kept.contains("Remembered as "), "{form}: {kept}");
        assert!(mistake.contains("`query` is missing"), "{form}: {mistake}");
        // The client tells the model when to ask.
        let asked = stage.api.requests()[0].body().to_string();
        assert!(asked.contains("Three steps, each narrower"), "{form}");
        assert!(asked.contains("mem-search"), "{form}");
        // What memory said is not recorded again: neither by hooks, nor from the transcript.
        let session = run.session();
        assert!(!stage.events(&session).iter().any(|event| event == "PostToolUse"), "{form}");
        stage.take_in();
        let again = stage.json(&[
            "search",
            "--all",
            "--json",
            "-n",
            "50",
            "packing list rope tokens title",
        ]);
        let passages = again["sessions"].to_string();
        assert!(!passages.contains("rank | id | type"), "{form}: {passages}");
        let again = stage.json(&["search", "--all", "--json", "Bristol"]);
        assert!(again["memories"].to_string().contains("Bristol"), "{form}: {again}");
    }
}

#[test]
fn after_an_uninstall_the_client_knows_no_server_of_ours() {
    let Some(stage) = Stage::bare(packing()) else { return };
    for form in ["settings", "plugin"] {
        stage.thru(&["install", "--as", form]);
        stage.asks("Good morning", &[]);
        stage.thru(&["uninstall"]);
        let run = stage.ask("Good morning", &[]);
        let names: Vec<String> = servers(run.events()).into_iter().map(|server| server.0).collect();
        assert!(!names.iter().any(|name| name.contains("throughline")), "{form}: {names:?}");
    }
}

#[test]
fn the_session_at_work_is_closed_over_mcp() {
    let script = packing().on(
        "We are done here",
        [
            message([calls(
                "mcp__throughline__session_tracking_close",
                json!({ "reason": "handoff" }),
            )]),
            message([says("Closed.")]),
        ],
    );
    let Some(stage) = Stage::bare(script) else { return };
    stage.thru(&["install"]);
    let session = stage.asks("We are done here", &ALLOWED);
    let told = stage.api.requests().pop().unwrap().news();
    assert!(told.contains(&session) && told.contains("\"status\":\"success\""), "{told}");
}
