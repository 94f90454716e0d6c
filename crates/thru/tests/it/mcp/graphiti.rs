//! `thru mcp --profile graphiti`: Graphiti's tools by their names, with the shapes of their answers.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::client::Client;
use crate::facts::kiln;
use crate::home::Home;
use crate::records::{Author, TWO, file};

fn start(home: &Home) -> Client {
    let mut command = home.command();
    command.args(["mcp", "--profile", "graphiti"]).current_dir(home.project());
    let mut client = Client::of(command);
    let answer = client.initialize("2025-11-25");
    assert_eq!(answer["serverInfo"]["name"], "throughline-graphiti");
    client
}

/// The answer of a tool, in which times of this run, and ids that follow from them, stand as a word.
fn shown(client: &mut Client, tool: &str, arguments: Value) -> String {
    let mut answer = client.json(tool, arguments);
    mask(&mut answer);
    serde_json::to_string_pretty(&answer).unwrap()
}

fn mask(value: &mut Value) {
    // Later than all of the made-up history.
    let is_new = |value: &Value| value.as_str().is_some_and(|time| time > "2026-03-02");
    match value {
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(fields) => {
            let is_told = fields.get("valid_at").is_some_and(is_new);
            for (name, field) in fields {
                let is_time = name.ends_with("_at") || name == "reference_time";
                let is_id = matches!(name.as_str(), "uuid" | "episodes");
                match is_time && is_new(field) || is_told && is_id {
                    true => *field = json!("[of this run]"),
                    false => mask(field),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn nodes_and_facts_have_the_shapes_of_graphiti() {
    let home = kiln();
    let mut client = start(&home);
    let nodes = json!({ "query": "kiln.ts", "group_ids": "rocket", "max_nodes": 1 });
    assert_snapshot!(shown(&mut client, "search_nodes", nodes), @r#"
    {
      "message": "Nodes retrieved successfully",
      "nodes": [
        {
          "attributes": {
            "key": "src/kiln.ts"
          },
          "created_at": "2026-03-01T09:10:03Z",
          "group_id": "rocket",
          "labels": [
            "Entity",
            "File"
          ],
          "name": "src/kiln.ts",
          "summary": "abc1234 Name the cone changed src/kiln.ts; TS2304: Cannot find name 'cone'. (src/kiln.ts) was fixed by src/kiln.ts (on main)",
          "uuid": "yqnq6nfs68vwbcyb"
        }
      ]
    }
    "#);
    let none = json!({ "query": "wombat", "group_ids": ["rocket"] });
    assert_snapshot!(shown(&mut client, "search_nodes", none), @r#"
    {
      "message": "No relevant nodes found",
      "nodes": []
    }
    "#);
    let facts =
        json!({ "query": "what fixed the error TS2304", "group_ids": ["rocket"], "max_facts": 1 });
    assert_snapshot!(shown(&mut client, "search_memory_facts", facts), @r#"
    {
      "facts": [
        {
          "attributes": {
            "records": [
              "dg56p",
              "g0mev"
            ],
            "scope": "on main"
          },
          "created_at": "2026-03-01T09:10:05Z",
          "episodes": [
            "s9qcjbdynbrmkmfm"
          ],
          "expired_at": null,
          "fact": "TS2304: Cannot find name 'cone'. (src/kiln.ts) was fixed by abc1234 Name the cone (on main)",
          "group_id": "rocket",
          "invalid_at": null,
          "name": "FIXED_BY",
          "reference_time": "2026-03-01T09:10:05Z",
          "source_node_uuid": "e6nt3rpttkk6yv5a",
          "target_node_uuid": "d4vsz1zjq4042vg0",
          "uuid": "zd6a58dss2vwb9r0",
          "valid_at": "2026-03-01T09:10:05Z"
        }
      ],
      "message": "Facts retrieved successfully"
    }
    "#);
    let none = json!({ "query": "kiln", "group_ids": ["nowhere"] });
    assert_snapshot!(shown(&mut client, "search_memory_facts", none), @r#"
    {
      "facts": [],
      "message": "No relevant facts found"
    }
    "#);
    let wrong = json!({ "query": "kiln", "valid_at_after": "someday" });
    assert_snapshot!(shown(&mut client, "search_memory_facts", wrong), @r#"
    {
      "error": "Invalid date filter: `someday` is not a date: write `2026-03-01`, `yesterday`, `2 weeks ago` or `3d`."
    }
    "#);
    assert_snapshot!(shown(&mut client, "search_memory_facts", json!({ "query": "kiln", "max_facts": 0 })), @r#"
    {
      "error": "max_facts must be a positive integer."
    }
    "#);
}

#[test]
fn facts_are_those_of_a_moment() {
    let home = kiln();
    let mut client = start(&home);
    let mut sentences = |more: Value| {
        let mut asked = json!({ "query": "npm run typecheck", "group_ids": ["rocket"] });
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = client.json("search_memory_facts", asked);
        let facts = answer["facts"].as_array().unwrap().iter();
        facts
            .map(|fact| format!("{} {}", fact["fact"].as_str().unwrap(), fact["invalid_at"]))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_snapshot!(sentences(json!({})), @"npm run typecheck passes (on main) null");
    assert_snapshot!(sentences(json!({ "as_of": "2026-03-01T09:05:00Z" })), @r#"
    npm run typecheck failed with TS2304: Cannot find name 'cone'. (src/kiln.ts) (on main) "2026-03-01T09:10:03Z"
    npm run typecheck fails (on main) "2026-03-01T09:10:03Z"
    "#);
    assert_snapshot!(sentences(json!({ "as_at": "2026-03-01T09:05:00Z" })), @r#"
    npm run typecheck failed with TS2304: Cannot find name 'cone'. (src/kiln.ts) (on main) null
    npm run typecheck fails (on main) null
    "#);
    assert_snapshot!(sentences(json!({ "include_invalid": true, "edge_types": ["OUTCOME"] })), @r#"
    npm run typecheck passes (on main) null
    npm run typecheck fails (on main) "2026-03-01T09:10:03Z"
    "#);
    assert_snapshot!(sentences(json!({ "invalid_at_after": "2026-03-01T09:06:00" })), @r#"
    npm run typecheck failed with TS2304: Cannot find name 'cone'. (src/kiln.ts) (on main) "2026-03-01T09:10:03Z"
    npm run typecheck fails (on main) "2026-03-01T09:10:03Z"
    "#);
}

#[test]
fn episodes_are_sessions_and_what_was_told() {
    let home = kiln();
    let mut client = start(&home);
    let listed = client.json("get_episodes", json!({ "group_ids": ["rocket"], "max_episodes": 1 }));
    let uuid = listed["episodes"][0]["uuid"].clone();
    assert_snapshot!(shown(&mut client, "get_episodes", json!({ "group_id": "rocket", "last_n": 1 })), @r#"
    [
      {
        "content": "Name the cone Use pnpm instead of npm. Fix the types Name the cone (kiln.ts) Not finished: use pnpm instead of npm. Fix the types Use pnpm instead of npm committed abc1234 \"Name the cone\" on main",
        "created_at": "[of this run]",
        "group_id": "rocket",
        "name": "Name the cone",
        "source": "message",
        "source_description": "session of claude-code",
        "uuid": "s9qcjbdynbrmkmfm",
        "valid_at": "2026-03-01T09:10:06Z"
      }
    ]
    "#);
    let mut shows = client.json("get_episode_entities", json!({ "episode_uuids": [uuid] }));
    assert_eq!(shows["message"], "Retrieved provenance for 1 episode(s)");
    let edge = shows["edges"].as_array_mut().unwrap().remove(0);
    assert_snapshot!(serde_json::to_string_pretty(&edge).unwrap(), @r#"
    {
      "created_at": "2026-03-01T09:10:05Z",
      "fact": "abc1234 Name the cone changed src/kiln.ts",
      "group_id": "rocket",
      "invalid_at": null,
      "name": "TOUCHES",
      "source_node_uuid": "d4vsz1zjq4042vg0",
      "target_node_uuid": "yqnq6nfs68vwbcyb",
      "uuid": "gnqv43we8q113gtm",
      "valid_at": "2026-03-01T09:10:05Z"
    }
    "#);
    let nodes: Vec<&Value> =
        shows["nodes"].as_array().unwrap().iter().map(|one| &one["uuid"]).collect();
    for end in ["source_node_uuid", "target_node_uuid"] {
        assert!(nodes.contains(&&edge[end]), "{shows}");
    }
    assert_snapshot!(shown(&mut client, "get_entity_edge", json!({ "uuid": edge["uuid"] })), @r#"
    {
      "attributes": {
        "records": [
          "dg56p"
        ]
      },
      "created_at": "2026-03-01T09:10:05Z",
      "episodes": [
        "s9qcjbdynbrmkmfm"
      ],
      "expired_at": null,
      "fact": "abc1234 Name the cone changed src/kiln.ts",
      "group_id": "rocket",
      "invalid_at": null,
      "name": "TOUCHES",
      "reference_time": "2026-03-01T09:10:05Z",
      "source_node_uuid": "d4vsz1zjq4042vg0",
      "target_node_uuid": "yqnq6nfs68vwbcyb",
      "uuid": "gnqv43we8q113gtm",
      "valid_at": "2026-03-01T09:10:05Z"
    }
    "#);
    assert_snapshot!(shown(&mut client, "get_episode_entities", json!({ "episode_uuids": ["nothing"] })), @r#"
    {
      "error": "there is no episode `nothing`."
    }
    "#);
    assert_snapshot!(shown(&mut client, "delete_episode", json!({ "uuid": uuid })), @r#"
    {
      "error": "episode `s9qcjbdynbrmkmfm` is a recorded session. The user can run `thru forget --session 22222222-bbbb-4bbb-8bbb-000000000002`, which has it forgotten."
    }
    "#);
}

#[test]
fn what_is_told_is_found_and_ends_nothing() {
    let home = kiln();
    let mut client = start(&home);
    let memory = json!({
        "name": "Cones", "episode_body": "Cone 6 melts at noon, key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCD",
        "group_id": "rocket", "source_description": "a test", "reference_time": "2026-03-01T10:00:00",
    });
    let told = client.json("add_memory", memory);
    let message = told["message"].as_str().unwrap();
    assert!(message.starts_with("Episode 'Cones' added to group 'rocket' with UUID "), "{message}");
    let uuid = message.rsplit(' ').next().unwrap().to_owned();
    assert_snapshot!(shown(&mut client, "get_episodes", json!({ "group_ids": ["rocket"], "max_episodes": 1 })), @r#"
    {
      "episodes": [
        {
          "content": "Cone 6 melts at noon, key [redacted:anthropic-key] As of 2026-03-01T10:00:00Z. Source: a test",
          "created_at": "[of this run]",
          "group_id": "rocket",
          "name": "Cones",
          "source": "text",
          "source_description": "told by an agent",
          "uuid": "[of this run]",
          "valid_at": "[of this run]"
        }
      ],
      "message": "Episodes retrieved successfully"
    }
    "#);
    assert_snapshot!(shown(&mut client, "add_memory", json!({ "name": "x", "episode_body": "y", "reference_time": "soon" })), @r#"
    {
      "error": "Invalid reference_time: failed to parse four digit integer as year: invalid digit, expected 0-9 but got s."
    }
    "#);

    let triplet = json!({
        "source_node_name": "rocket", "edge_name": "USES", "target_node_name": "yarn",
        "fact": "Use yarn instead of pnpm", "group_id": "rocket",
    });
    assert_snapshot!(shown(&mut client, "add_triplet", triplet), @r#"
    {
      "edges": [
        {
          "created_at": "[of this run]",
          "fact": "Use yarn instead of pnpm",
          "group_id": "rocket",
          "invalid_at": null,
          "name": "USES",
          "source_node_uuid": "76bfc15ghfxgz849",
          "target_node_uuid": "vv8ccgcebkx47yfz",
          "uuid": "[of this run]",
          "valid_at": "[of this run]"
        }
      ],
      "message": "Triplet 'rocket -[USES]-> yarn' added",
      "nodes": [
        {
          "attributes": {
            "key": "rocket"
          },
          "created_at": "[of this run]",
          "group_id": "rocket",
          "labels": [
            "Entity",
            "Told"
          ],
          "name": "rocket",
          "summary": "",
          "uuid": "76bfc15ghfxgz849"
        },
        {
          "attributes": {
            "key": "yarn"
          },
          "created_at": "[of this run]",
          "group_id": "rocket",
          "labels": [
            "Entity",
            "Told"
          ],
          "name": "yarn",
          "summary": "",
          "uuid": "vv8ccgcebkx47yfz"
        }
      ]
    }
    "#);
    let found =
        client.json("search_memory_facts", json!({ "query": "yarn", "group_ids": ["rocket"] }));
    let edge = found["facts"][0]["uuid"].clone();
    assert_eq!(found["facts"][0]["attributes"]["told"], true);
    // The rule that a person gave is in force as before.
    let rules = client.json(
        "search_memory_facts",
        json!({ "query": "pnpm", "edge_types": ["RULED"], "group_ids": ["rocket"] }),
    );
    assert_eq!(rules["facts"][0]["invalid_at"], Value::Null, "{rules}");
    assert!(rules["facts"][0]["fact"].as_str().unwrap().contains("pnpm"), "{rules}");

    client.json("delete_entity_edge", json!({ "uuid": edge }));
    let found =
        client.json("search_memory_facts", json!({ "query": "yarn", "group_ids": ["rocket"] }));
    assert_eq!(found["message"], "No relevant facts found");
    let deleted = client.json("delete_episode", json!({ "uuid": uuid }));
    assert_eq!(deleted["message"], format!("Episode with UUID {uuid} deleted successfully"));
    let again = client.json("delete_episode", json!({ "uuid": uuid }));
    assert!(again["error"].as_str().unwrap().starts_with("there is no episode"), "{again}");
}

#[test]
fn what_is_taken_out_comes_back() {
    let home = kiln();
    let mut client = start(&home);
    let asked = json!({ "query": "npm run typecheck", "group_ids": ["rocket"] });
    let found = client.json("search_memory_facts", asked.clone());
    let uuid = found["facts"][0]["uuid"].as_str().unwrap();
    let deleted = client.json("delete_entity_edge", json!({ "uuid": uuid }));
    assert_eq!(deleted["message"], format!("Entity edge with UUID {uuid} deleted successfully"));
    assert_eq!(client.json("search_memory_facts", asked.clone())["facts"], json!([]));
    home.thru(&["undo"]).expect(0);
    assert_eq!(client.json("search_memory_facts", asked.clone()), found);

    let wanted = json!({ "group_ids": ["rocket"] });
    assert_snapshot!(shown(&mut client, "clear_graph", wanted), @r#"
    {
      "error": "12 facts of the group `rocket` would be taken out of the graph. Call it again with `confirm` if the user wants that."
    }
    "#);
    assert_eq!(client.json("search_memory_facts", asked.clone()), found);
    let confirmed = json!({ "group_ids": ["rocket"], "confirm": true });
    assert_snapshot!(shown(&mut client, "clear_graph", confirmed), @r#"
    {
      "message": "Graph data cleared successfully for group IDs: rocket"
    }
    "#);
    assert_eq!(client.json("search_memory_facts", asked.clone())["facts"], json!([]));
    // Neither a later import nor a rebuild brings it back, `undo` does.
    home.thru(&["rebuild"]).expect(0);
    assert_eq!(client.json("search_memory_facts", asked.clone())["facts"], json!([]));
    home.thru(&["undo"]).expect(0);
    assert_eq!(client.json("search_memory_facts", asked.clone()), found);
    // Of two projects with one name neither is cleared by it.
    let other = TWO.replace('2', "6");
    let author = Author::of(&other).in_directory("/srv/rocket").asks("Who?").text();
    home.write(&file(&other), author);
    home.thru(&["import"]).expect(0);
    let ambiguous = json!({ "group_ids": ["rocket"], "confirm": true });
    assert_snapshot!(shown(&mut client, "clear_graph", ambiguous), @r#"
    {
      "error": "2 projects are called `rocket`. name one by its key: dir:/home/ada/rocket, dir:/srv/rocket."
    }
    "#);
    let facts_of_both = client.json("search_memory_facts", asked);
    assert_eq!(facts_of_both["facts"], found["facts"]);
    assert_snapshot!(shown(&mut client, "clear_graph", json!({ "group_ids": ["nowhere"] })), @r#"
    {
      "error": "No group IDs specified for clearing."
    }
    "#);
}

/// Names that prompts in use still know, each with its arguments of then and what it is today.
#[test]
fn old_names_and_other_profiles_are_answered() {
    let home = kiln();
    let mut client = start(&home);
    for (old, old_arguments, new, new_arguments) in [
        (
            "search_memory_nodes",
            json!({ "query": "kiln", "entity": "File", "project_namespaces": ["rocket"] }),
            "search_nodes",
            json!({ "query": "kiln", "entity_types": ["File"], "group_ids": ["rocket"] }),
        ),
        (
            "search_facts",
            json!({ "query": "kiln", "group_id": "rocket" }),
            "search_memory_facts",
            json!({ "query": "kiln", "group_ids": ["rocket"] }),
        ),
    ] {
        let answer = client.json(old, old_arguments);
        assert_eq!(answer, client.json(new, new_arguments));
        assert!(
            answer["message"].as_str().unwrap().ends_with("retrieved successfully"),
            "{answer}"
        );
    }
    let bare = client.json("get_episodes", json!({ "group_id": "rocket", "last_n": 2 }));
    assert_eq!(bare.as_array().unwrap().len(), 2);
    let own = client.call("facts", json!({ "about": "kiln.ts", "project": "*" }));
    assert!(own.contains("2 facts"), "{own}");
    let tools = client.request("tools/list", json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_snapshot!(names.join(" "), @"add_memory search_nodes search_memory_facts get_entity_edge get_episodes get_episode_entities add_triplet delete_entity_edge delete_episode clear_graph get_status");
    assert_snapshot!(shown(&mut client, "get_status", json!({})), @r#"
    {
      "message": "Throughline is running and holds 2 sessions",
      "status": "ok"
    }
    "#);
    assert_snapshot!(shown(&mut client, "search_nodes", json!({})), @r#"
    {
      "error": "`query` is missing. Arguments of search_nodes: query, group_ids, max_nodes, entity_types, center_node_uuid, as_of, as_at, include_invalid."
    }
    "#);

    let mut usual = Client::of_revision(&home, "2025-11-25");
    let nodes = usual.json("search_nodes", json!({ "query": "kiln", "group_ids": ["rocket"] }));
    assert_eq!(nodes["message"], "Nodes retrieved successfully");
    drop(usual);
    home.thru(&["forget", "--session", TWO, "--yes"]).expect(0);
    let left = client.json("get_episodes", json!({ "group_ids": ["rocket"] }));
    assert_eq!(left["episodes"].as_array().unwrap().len(), 1, "{left}");
}
