//! Vectors of a server: what it is sent, and where its vectors lie.

use std::fs;

use serde_json::{Value, json};
use thru_app::TroubleKind;
use thru_app::embedding::fill::{embed, prune, query_vector};
use thru_store::vectors::ModelFolder;
use thru_testkit::provider::{ModelServer, ReceivedRequest, Response};

use crate::home::{Home, call};
use crate::records::{Author, ONE, TWO, conversation, file};

/// A server of embeddings that speaks Ollama's format.
fn server() -> ModelServer {
    ModelServer::answering(embeddings).unwrap()
}

fn embeddings(asked: &ReceivedRequest) -> Response {
    let body: Value = serde_json::from_slice(&asked.body).unwrap();
    let vector = |text: &Value| {
        let mut vector = vec![1.0; 8];
        let text = text.as_str().unwrap();
        vector[text.len() % 8] += text.len() as f32;
        vector
    };
    let vectors: Vec<Vec<f32>> = body["input"].as_array().unwrap().iter().map(vector).collect();
    Response::json(200, json!({ "embeddings": vectors }))
}

/// Everything that a server was sent.
fn sent(server: &ModelServer) -> String {
    let bodies = server.requests().into_iter().map(|asked| String::from_utf8(asked.body).unwrap());
    bodies.collect::<Vec<_>>().join("\n")
}

fn set(home: &Home, model: &str, server: &ModelServer) {
    home.set(&[
        ("embedding.provider", "ollama"),
        ("embedding.model", model),
        ("embedding.url", &server.url()),
    ]);
}

fn folders(home: &Home) -> Vec<ModelFolder> {
    ModelFolder::all(&home.data().join("vectors")).unwrap()
}

#[test]
fn texts_are_embedded_up_to_the_limit_and_then_the_rest() {
    let home = Home::imported();
    let server = server();
    set(&home, "a-model", &server);
    let some = embed(&home.app(), Some(2), call()).unwrap();
    assert_eq!((some.texts, some.embedded), (2, 2));
    let rest = embed(&home.app(), None, call()).unwrap();
    assert_eq!((rest.embedded, rest.embedded), (rest.of, rest.texts + 2));
    assert_eq!(embed(&home.app(), None, call()).unwrap().texts, 0);
}

#[test]
fn damaged_vectors_are_made_again() {
    let home = Home::imported();
    let server = server();
    set(&home, "a-model", &server);
    let all = embed(&home.app(), None, call()).unwrap();
    let segment = folders(&home)[0].path.join("00000001.vectors");
    let mut bytes = fs::read(&segment).unwrap();
    let place = bytes.len() - 40;
    bytes[place] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let again = embed(&home.app(), None, call()).unwrap();
    assert_eq!((again.damaged_files, again.embedded), (1, all.of));
    assert!(again.texts > 0);
}

#[test]
fn the_vectors_of_models_lie_apart_and_others_are_pruned() {
    let home = Home::imported();
    let server = server();
    for model in ["first", "second"] {
        set(&home, model, &server);
        embed(&home.app(), None, call()).unwrap();
    }
    assert_eq!(folders(&home).len(), 2);
    let removed = prune(&home.app()).unwrap().removed;
    assert!(matches!(&removed[..], [one] if one.model.starts_with("first")), "{removed:?}");
    assert!(prune(&home.app()).unwrap().removed.is_empty());
    assert!(folders(&home)[0].model.starts_with("second"));
}

#[test]
fn a_server_is_sent_cleaned_text_of_projects_that_allow_it() {
    let home = Home::new();
    let project = home.project();
    fs::write(project.join(".throughline.toml"), "models.off = true\n").unwrap();
    let mut hidden = Author::of(TWO).in_directory(project.to_str().unwrap());
    hidden.asks("About zebrafish").says("Zebrafish it is.");
    home.write(&file(TWO), hidden.text());
    home.write(&file(ONE), conversation(ONE).text());
    home.import();
    let server = server();
    set(&home, "a-model", &server);
    let done = embed(&home.app(), None, call()).unwrap();
    assert!(done.embedded < done.of, "{done:?}");
    query_vector(&home.app(), "my token is ghp_abcdefghijklmnopqrstuvwxyz0123456789").unwrap();
    let sent = sent(&server);
    assert!(sent.contains("my token is") && !sent.contains("ghp_"), "{sent}");
    assert!(!sent.to_lowercase().contains("zebrafish"));
}

#[test]
fn a_query_is_cleaned_before_it_is_cut() {
    let home = Home::imported();
    let server = server();
    set(&home, "a-model", &server);
    embed(&home.app(), None, call()).unwrap();
    // Cut first, what is left of the token is too short to be known as one.
    let text = format!("{}/ghp_abcdefghijklmnopqrstuvwxyz0123456789", "a".repeat(885));
    query_vector(&home.app(), &text).unwrap();
    assert!(!sent(&server).contains("ghp_"));
}

#[test]
fn a_server_that_cannot_be_asked_is_explained() {
    let home = Home::imported();
    home.set(&[("embedding.provider", "none")]);
    let off = embed(&home.app(), None, call()).unwrap_err();
    assert!(off.kind() == TroubleKind::Refused && off.message().contains("embedding.provider"));
    home.set(&[("embedding.provider", "openai")]);
    let unnamed = embed(&home.app(), None, call()).unwrap_err();
    assert_eq!(unnamed.kind(), TroubleKind::Invalid);
    home.set(&[("embedding.model", "m"), ("embedding.url", "http://203.0.113.7")]);
    let open = embed(&home.app(), None, call()).unwrap_err();
    assert_eq!(open.message(), "what is sent to 203.0.113.7 would not be encrypted");
}
