//! Changes: each is seen at once, and can be taken back.

use serde_json::json;

use crate::home::{Home, SESSION};

#[test]
fn a_memory_is_told_corrected_forgotten_and_brought_back() {
    let home = Home::new();
    let served = home.serve();
    let told = served.change("POST", "/api/v1/memories", &json!({ "text": "Use pnpm, not npm" }));
    assert_eq!(told.status, 200, "{told:?}");
    let told = told.json();
    assert_eq!((&told["kind"], &told["by_agent"]), (&json!("remembered"), &json!(false)));
    let path = format!("/api/v1/memories/{}", told["full_id"].as_str().unwrap());
    let base = served.get(&format!("{path}/history")).json()["base"].clone();

    let change = json!({ "title": "Use pnpm everywhere", "base": base });
    let changed = served.change("PATCH", &path, &change);
    assert_eq!(changed.status, 200, "{changed:?}");
    assert_eq!(changed.json()["decisions"][0]["kind"], "memory-edited");
    assert_eq!(served.get(&path).json()["memories"][0]["title"], "Use pnpm everywhere");
    // Another page that still shows the old version must not undo this one.
    let conflict = served.change("PATCH", &path, &json!({ "title": "Use yarn", "base": base }));
    assert_eq!((conflict.status, &conflict.json()["kind"]), (409, &json!("conflict")));
    let edited = served.get("/api/v1/memories?state=edited").json();
    assert_eq!(edited["memories"].as_array().unwrap().len(), 1);

    let ids = json!({ "ids": [told["full_id"]], "dry_run": true });
    let preview = served.change("POST", "/api/v1/memories/forget", &ids).json();
    assert_eq!(preview["kind"], "forget-preview");
    assert_eq!(served.get(&path).status, 200);
    let ids = json!({ "ids": [told["full_id"]] });
    assert_eq!(served.change("POST", "/api/v1/memories/forget", &ids).json()["kind"], "forgotten");
    assert_eq!(served.get(&path).status, 404);
    let forgotten = served.get("/api/v1/memories?state=forgotten").json();
    let line = &forgotten["forgotten"][0];
    assert_eq!(
        (&line["full_id"], &line["title"]),
        (&told["full_id"], &"Use pnpm everywhere".into())
    );
    assert_eq!(
        served.get("/api/v1/memories?state=forgotten&project=rocket").json()["forgotten"],
        json!(null)
    );
    let operation = json!({ "operation": line["operation"] });
    assert_eq!(served.change("POST", "/api/v1/undo", &operation).json()["kind"], "undone");
    assert_eq!(served.get("/api/v1/memories?state=forgotten").json()["forgotten"], json!(null));
    assert_eq!(served.get(&path).json()["memories"][0]["title"], "Use pnpm everywhere");
}

#[test]
fn a_session_is_forgotten_only_when_that_is_asked_for() {
    let home = Home::new();
    let served = home.serve();
    let path = format!("/api/v1/sessions/{SESSION}/forget");
    let preview = served.change("POST", &path, &json!({ "dry_run": true })).json();
    assert_eq!((&preview["kind"], &preview["passages"]), (&json!("forget-preview"), &json!(3)));
    assert_eq!(served.get(&format!("/api/v1/sessions/{SESSION}")).status, 200);
    assert_eq!(served.change("POST", &path, &json!({})).json()["passages"], 3);
    assert_eq!(served.get(&format!("/api/v1/sessions/{SESSION}")).status, 404);
    assert_eq!(served.change("POST", "/api/v1/forget", &json!({})).status, 400);
}

#[test]
fn an_id_stands_in_the_path_alone() {
    let home = Home::new();
    let served = home.serve();
    let body = json!({ "id": "other", "title": "x" });
    assert_eq!(served.change("PATCH", "/api/v1/memories/zzzzz", &body).status, 400);
    assert_eq!(served.change("POST", "/api/v1/memories", &json!(["text"])).status, 400);
}
