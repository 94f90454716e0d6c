//! `thru embed`, and what is said of vectors elsewhere: with the real bundled model, and with servers of
//! our own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::{Value, json};
use thru_store::vectors::{ModelFolder, Vectors};
use thru_testkit::provider::{ModelServer, ReceivedRequest, Response};

use crate::home::Home;
use crate::records::{Author, ONE, TWO, file};

/// A server of embeddings that speaks Ollama's format.
fn ollama() -> ModelServer {
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

fn set(home: &Home, server: &ModelServer) {
    home.thru(&["config", "set", "embedding.provider", "ollama"]).expect(0);
    home.thru(&["config", "set", "embedding.model", "a-model"]).expect(0);
    home.thru(&["config", "set", "embedding.url", &server.url()]).expect(0);
}

fn folders(home: &Home) -> Vec<ModelFolder> {
    ModelFolder::all(&home.data().join("vectors")).unwrap()
}

fn vectors(folder: &ModelFolder) -> Vectors {
    Vectors::open(&folder.path, folder.dimensions.unwrap(), &folder.model).unwrap()
}

fn meaning(home: &Home) -> Value {
    home.json(&["status", "--json"])["meaning"].clone()
}

/// The line of `thru doctor` about vectors, and what to do.
fn diagnosis(home: &Home) -> String {
    let findings = home.json(&["doctor", "--json"]);
    let findings = findings["findings"].as_array().unwrap().clone();
    let ours = findings.iter().filter(|finding| finding["check"] == "meaning");
    let said = ours.map(|finding| {
        let text = |key: &str| finding[key].as_str().unwrap_or("-").to_owned();
        format!("{}: {}\n  {}", text("level"), text("line"), text("remedy"))
    });
    said.collect::<Vec<_>>().join("\n")
}

/// Where this checkout has the files of the bundled model.
fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/all-MiniLM-L6-v2")
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

fn vector(answer: &Value) -> Vec<f32> {
    serde_json::from_value(answer["vector"].clone()).unwrap()
}

#[test]
fn what_has_no_vectors_is_embedded_and_that_is_said() {
    let home = Home::imported();
    let _settings = home.settings();
    let limited = home.json(&["embed", "--limit", "5", "--json"]);
    assert_eq!((&limited["texts"], &limited["embedded"]), (&json!(5), &json!(5)));
    assert_snapshot!(diagnosis(&home), @"
    note: 5 of 12 texts have vectors (bundled minilm-l6-v2-int8, [size])
      search finds the others by words until they are embedded: `thru embed` does it
    ");
    assert_snapshot!(home.shown(&["embed"]), @"
    Embedded 7 texts (7 vectors) in [time].
    12 of 12 texts have vectors (bundled minilm-l6-v2-int8, [size]).
    ");
    assert_snapshot!(home.shown(&["embed"]), @"
    Embedded 0 texts (0 vectors) in [time].
    12 of 12 texts have vectors (bundled minilm-l6-v2-int8, [size]).
    ");
    assert_snapshot!(diagnosis(&home), @"
    ok: all 12 texts have vectors (bundled minilm-l6-v2-int8, [size])
      -
    ");
    assert_eq!(meaning(&home)["embedded"], 12);
    assert_eq!(meaning(&home)["remote_host"], Value::Null);
}

#[test]
fn what_means_the_same_is_near() {
    let home = Home::new();
    let mut author = Author::of(ONE);
    author.asks("The build fails because a dependency is missing");
    author.asks("Which pears ripen in September?");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    let none = home.thru(&["embed", "--text", "anything"]);
    assert!(none.stderr.contains("nothing is embedded yet"), "{}", none.shown());
    home.thru(&["embed"]).expect(0);
    let question = home.json(&["embed", "--text", "compilation breaks without that library"]);
    let query = thru_store::vectors::Query::new(&vector(&question)).unwrap();
    let vectors = vectors(&folders(&home)[0]);
    let similarity =
        |text| vectors.similarity(&query, thru_store::vectors::text_key(text)).unwrap();
    let (near, far) = (
        similarity("The build fails because a dependency is missing"),
        similarity("Which pears ripen in September?"),
    );
    assert!(near > far + 0.2, "{near} {far}");
    home.thru(&["config", "set", "embedding.provider", "none"]).expect(0);
    let off = home.thru(&["embed", "--text", "anything"]);
    assert!(off.stderr.contains("embedding.provider"), "{}", off.shown());
}

#[test]
fn a_model_that_cannot_be_used_is_explained_and_search_goes_on() {
    let home = Home::imported();
    let _settings = home.settings();
    let folder = home.folder().join("model");
    home.thru(&["config", "set", "embedding.folder", folder.to_str().unwrap()]).expect(0);
    assert_snapshot!(diagnosis(&home), @"
    problem: the embedding model is missing: [folder]/model/network.onnx cannot be read (No such file or directory (os error 2))
      put the model's files of this release at [folder]/model, or use those in the program with `thru config set embedding.folder ''`; until then search uses words only
    ");
    fs::create_dir(&folder).unwrap();
    for name in ["network.onnx", "vocab.txt"] {
        fs::copy(bundled().join(name), folder.join(name)).unwrap();
    }
    let weights = fs::read(bundled().join("model.onnx")).unwrap();
    fs::write(folder.join("model.onnx"), &weights[..1_000_000]).unwrap();
    assert_snapshot!(diagnosis(&home), @"
    problem: [folder]/model/model.onnx is not the embedding model of this version: it has 1000000 bytes, not 22927825
      put the model's files of this release at [folder]/model, or use those in the program with `thru config set embedding.folder ''`; until then search uses words only
    ");
    assert_snapshot!(home.shown(&["embed"]), @"
    -- stderr --
    error: [folder]/model/model.onnx is not the embedding model of this version: it has 1000000 bytes, not 22927825.
    hint: `thru doctor` says what can be done.
    -- exit 2 --
    ");
    let mut other = weights;
    let last = other.len() - 1;
    other[last] ^= 1;
    fs::write(folder.join("model.onnx"), &other).unwrap();
    assert_snapshot!(diagnosis(&home), @"
    problem: [folder]/model/model.onnx is not the embedding model of this version: its content is another
      put the model's files of this release at [folder]/model, or use those in the program with `thru config set embedding.folder ''`; until then search uses words only
    ");
    home.thru(&["search", "--all", "pear"]).expect(0);
}

#[test]
fn damaged_vectors_are_found_and_made_again() {
    let home = Home::imported();
    let _settings = home.settings();
    home.thru(&["embed"]).expect(0);
    let segment = home.data().join("vectors/minilm-l6-v2-int8/00000001.vectors");
    let mut bytes = fs::read(&segment).unwrap();
    let place = bytes.len() - 40;
    bytes[place] ^= 1;
    fs::write(&segment, bytes).unwrap();
    assert_snapshot!(diagnosis(&home), @"
    problem: [folder]/home/vectors/minilm-l6-v2-int8/00000001.vectors: its content does not match its checksum
      `thru embed` recreates these vectors; until then search finds their texts by words
    ");
    assert_snapshot!(home.shown(&["embed"]), @"
    Removed 1 damaged file of vectors; what they held is embedded again.
    Embedded 4 texts (4 vectors) in [time].
    12 of 12 texts have vectors (bundled minilm-l6-v2-int8, [size]).
    ");
    assert!(diagnosis(&home).starts_with("ok: all 12"), "{}", diagnosis(&home));
}

#[test]
fn a_server_s_vectors_lie_apart_and_others_are_pruned() {
    let home = Home::imported();
    let mut settings = home.filters();
    settings.add_filter(r"a-model-[0-9a-f]{6}-[0-9a-f]{6}", "[model]");
    let _settings = settings.bind_to_scope();
    home.thru(&["embed"]).expect(0);
    let server = ollama();
    set(&home, &server);
    home.thru(&["embed"]).expect(0);
    assert_eq!(folders(&home).len(), 2);
    assert!(folders(&home).iter().all(|folder| vectors(folder).len() >= 12));
    assert_snapshot!(diagnosis(&home), @"
    ok: all 12 texts have vectors (a-model at 127.0.0.1, [size])
      -
    note: vectors take [size] of models that are not in use: minilm-l6-v2-int8
      `thru embed --prune` removes them
    ");
    assert_snapshot!(home.shown(&["embed", "--prune"]), @"Removed the vectors of minilm-l6-v2-int8 ([size]).");
    assert_snapshot!(home.shown(&["embed", "--prune"]), @"No other model has vectors here.");
    assert_eq!(folders(&home).len(), 1);
    assert_eq!(meaning(&home)["embedded"], 12);
}

#[test]
fn a_model_is_chosen_by_its_name_once_it_gave_a_vector() {
    let home = Home::imported();
    let server = ollama();
    home.thru(&["config", "set", "embedding.url", &server.url()]).expect(0);
    home.thru(&["embed", "--model", "ollama/a-model"]).expect(0);
    assert_eq!(meaning(&home)["embedded"], 12);
    let is_chosen = || home.thru(&["config", "get", "embedding.model"]).stdout.contains("a-model");
    assert!(is_chosen());
    let silent = ModelServer::answering(|_| Response::json(404, "no such model")).unwrap();
    home.thru(&["config", "set", "embedding.url", &silent.url()]).expect(0);
    let refused = home.thru(&["embed", "--model", "ollama/another"]);
    assert!(refused.stderr.contains("gives no vector"), "{}", refused.shown());
    let unknown = home.thru(&["embed", "--model", "another"]);
    assert!(unknown.stderr.contains("names no model"), "{}", unknown.shown());
    assert!(is_chosen());
}

#[test]
fn a_server_is_sent_no_question_and_nothing_told_where_that_is_off() {
    let home = Home::imported();
    let project = home.project();
    let mut there = Author::of(TWO).in_directory(project.to_str().unwrap());
    there.asks("About pears").says("Pears it is.");
    home.write(&file(TWO), there.text());
    home.thru(&["import"]).expect(0);
    home.inside(&["remember", "Zebrafish are counted on Mondays"]).expect(0);
    home.thru(&["remember", "--global", "Lemurs are counted on Fridays"]).expect(0);
    fs::write(project.join(".throughline.toml"), "models.off = true\n").unwrap();
    let server = ollama();
    set(&home, &server);
    home.thru(&["embed"]).expect(0);
    home.inside(&["search", "where the quagga grazes"]);
    let seen = sent(&server);
    assert!(seen.contains("Lemurs") && !seen.contains("Zebrafish"), "{seen}");
    assert!(!seen.contains("quagga"), "{seen}");
    home.thru(&["search", "where the quagga grazes"]);
    assert!(sent(&server).contains("quagga"), "elsewhere it may be asked");
}

#[test]
fn servers_that_cannot_be_asked_are_explained() {
    let home = Home::imported();
    let _settings = home.settings();
    home.thru(&["config", "set", "embedding.provider", "openai"]).expect(0);
    assert_snapshot!(home.shown(&["embed"]), @"
    -- stderr --
    error: the embedding server has no default model.
    hint: `thru config set embedding.model NAME` names one.
    -- exit 2 --
    ");
    home.thru(&["config", "set", "embedding.model", "m"]).expect(0);
    home.thru(&["config", "set", "embedding.url", "http://203.0.113.7"]).expect(0);
    assert_snapshot!(home.shown(&["embed"]), @"
    -- stderr --
    error: what is sent to 203.0.113.7 would not be encrypted.
    hint: give an https:// address as `embedding.url`.
    -- exit 2 --
    ");
    let server = ModelServer::answering(|_| Response::json(404, "no such model")).unwrap();
    set(&home, &server);
    let refused = home.thru(&["embed"]);
    assert!(refused.stderr.contains("status 404"), "{}", refused.shown());
    home.thru(&["config", "set", "embedding.url", "https://embed.example.com"]).expect(0);
    assert_eq!(meaning(&home)["remote_host"], "embed.example.com");
    fs::write(home.folder().join("work/.throughline.toml"), "embedding.url = 'https://x.org'\n")
        .unwrap();
    assert_eq!(meaning(&home)["remote_host"], "embed.example.com", "no project chooses");
}

#[test]
fn killed_at_any_moment_the_next_goes_on_and_nothing_comes_twice() {
    let home = Home::new();
    let mut author = Author::of(ONE);
    for number in 0..300 {
        author.asks(&format!("What of number {number}?")).says(&format!("It is number {number}."));
    }
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    let server = ollama();
    set(&home, &server);
    let mut killed = 0;
    for round in 0..12_u64 {
        let mut child = home.command().arg("embed").stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(30 + 37 * (round % 5)));
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    home.thru(&["embed"]).expect(0);
    let state = meaning(&home);
    assert!(state["texts"].as_u64().unwrap() >= 600 && killed > 0, "{state}");
    assert_eq!(state["embedded"], state["texts"]);
    let folders = folders(&home);
    assert_eq!(vectors(&folders[0]).len() as u64, state["texts"].as_u64().unwrap());
    assert!(diagnosis(&home).starts_with("ok:"), "{}", diagnosis(&home));
}

/// Its daemon ends with it.
struct Attended(Home);

impl Drop for Attended {
    fn drop(&mut self) {
        self.0.thru(&["daemon", "stop", "--force"]);
    }
}

#[test]
fn the_daemon_embeds_what_comes_and_says_what_a_question_means() {
    let attended = Attended(Home::with_history());
    let home = &attended.0;
    home.thru(&["daemon", "start"]).expect(0);
    let deadline = Instant::now() + Duration::from_mins(1);
    let is_done = || {
        // There may be no memory yet.
        let status: Value =
            serde_json::from_str(&home.thru(&["status", "--json"]).stdout).unwrap_or_default();
        let state = &status["meaning"];
        state["texts"].as_u64() > Some(0) && state["embedded"] == state["texts"]
    };
    while !is_done() {
        assert!(Instant::now() < deadline, "{}", home.shown(&["daemon", "logs"]));
        std::thread::sleep(Duration::from_millis(100));
    }
    let socket = home.data().join("run/daemon.sock");
    let long = Duration::from_secs(20);
    let mut client = thru_daemon::Client::connect(&socket, long).unwrap();
    let asked = json!({ "text": "where do pears grow" });
    let answer = client.call_tool("embed", &asked, long).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["model"], "minilm-l6-v2-int8");
    let own = home.json(&["embed", "--text", "where do pears grow"]);
    assert!(cosine(&vector(&answer), &vector(&own)) > 0.999);
    // In one go or in parts, as they came; the line follows the vectors.
    while !home.shown(&["daemon", "logs"]).contains("; 0 to go") {
        assert!(Instant::now() < deadline, "{}", home.shown(&["daemon", "logs"]));
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn without_embedding_the_daemon_has_no_thread_for_it() {
    for (provider, threads) in [("bundled", 1), ("none", 0)] {
        let attended = Attended(Home::with_history());
        let home = &attended.0;
        home.thru(&["config", "set", "embedding.provider", provider]).expect(0);
        home.thru(&["daemon", "start"]).expect(0);
        let process = loop {
            let status = home.json(&["daemon", "status", "--json"])["daemon"].clone();
            if status["steps"].as_u64() > Some(0) {
                break status["pid"].as_u64().unwrap();
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
        let names =
            tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok());
        assert_eq!(names.filter(|name| name.trim() == "embedding").count(), threads);
    }
}
