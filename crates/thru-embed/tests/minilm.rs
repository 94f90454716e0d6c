//! The bundled model against the original's vectors of the same sentences.

#![allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use serde::Deserialize;
use thru_embed::{EmbedError, Embedder, LoadMode, MiniLm, ModelFiles, check_model};

/// A sentence, as `tools/make-embedding-model` recorded it.
#[derive(Deserialize)]
struct Reference {
    text: String,
    vector: Vec<f32>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/all-MiniLM-L6-v2")
}

fn references() -> Vec<Reference> {
    let text = std::fs::read_to_string(folder().join("references.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn vectors_are_those_of_the_original() {
    let model = MiniLm::load(&ModelFiles::BuiltIn, 1, LoadMode::Quick).unwrap();
    let references = references();
    let texts: Vec<&str> = references.iter().map(|reference| reference.text.as_str()).collect();
    let vectors = model.embed(&texts, &AtomicBool::new(false)).unwrap();
    let mut sum = 0.0;
    for (reference, vector) in references.iter().zip(&vectors) {
        let likeness = cosine(&reference.vector, vector);
        // Processors without instructions for int8 dot products (VNNI) round differently: a single letter shows it.
        assert!(likeness >= 0.98, "{likeness} for {:?}", reference.text);
        sum += likeness;
    }
    assert!(sum / references.len() as f32 >= 0.99);
}

#[test]
fn a_text_has_one_vector_whatever_stands_beside_it() {
    let model = MiniLm::load(&ModelFiles::BuiltIn, 2, LoadMode::Quick).unwrap();
    let stop = AtomicBool::new(false);
    let alone = model.embed(&["the queue starves"], &stop).unwrap();
    let long = "another text that is much longer than the first one ".repeat(20);
    let together = model.embed(&[&long, "the queue starves", ""], &stop).unwrap();
    assert!(cosine(&alone[0], &together[1]) > 0.9999);
    assert!(together.iter().flatten().all(|component| component.is_finite()));
}

#[test]
fn the_model_gives_the_same_however_it_is_held() {
    let stop = AtomicBool::new(false);
    let once = MiniLm::load(&ModelFiles::BuiltIn, 1, LoadMode::Quick).unwrap();
    let often = MiniLm::load(&ModelFiles::BuiltIn, 1, LoadMode::Verified).unwrap();
    let beside = often.with_threads(2);
    let files = ModelFiles::Folder(folder());
    let mapped = MiniLm::load(&files, 1, LoadMode::Quick).unwrap();
    let read = MiniLm::load(&files, 1, LoadMode::Verified).unwrap();
    let wanted = once.embed(&["the queue starves"], &stop).unwrap();
    for model in [often, beside, mapped, read] {
        let vectors = model.embed(&["the queue starves"], &stop).unwrap();
        assert!(cosine(&wanted[0], &vectors[0]) > 0.9999);
    }
}

#[test]
fn embedding_stops_on_request() {
    let model = MiniLm::load(&ModelFiles::BuiltIn, 1, LoadMode::Quick).unwrap();
    let stopped = model.embed(&["text"], &AtomicBool::new(true));
    assert!(matches!(stopped, Err(EmbedError::Stopped)));
}

#[test]
fn other_files_are_refused() {
    let copy = tempfile::tempdir().unwrap();
    let files = ModelFiles::Folder(copy.path().to_owned());
    let load = || MiniLm::load(&files, 1, LoadMode::Quick).map(drop);
    let check = || check_model(copy.path());
    assert!(matches!(load(), Err(EmbedError::Missing { .. })));
    for name in ["model.onnx", "network.onnx", "vocab.txt"] {
        std::fs::copy(folder().join(name), copy.path().join(name)).unwrap();
    }
    check().unwrap();
    let path = copy.path().join("model.onnx");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.pop().unwrap();
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(load(), Err(EmbedError::Foreign { .. })));
    assert!(matches!(check(), Err(EmbedError::Foreign { .. })));
    bytes.push(last ^ 1);
    std::fs::write(&path, &bytes).unwrap();
    let often = MiniLm::load(&files, 1, LoadMode::Verified).map(drop);
    assert!(matches!(often, Err(EmbedError::Foreign { .. })));
    assert!(matches!(check(), Err(EmbedError::Foreign { .. })));
    std::fs::copy(folder().join("model.onnx"), &path).unwrap();
    let network = copy.path().join("network.onnx");
    let length = std::fs::metadata(&network).unwrap().len() as usize;
    std::fs::write(&network, vec![0; length]).unwrap();
    assert!(matches!(load(), Err(EmbedError::Failed(_))));
    assert!(matches!(check(), Err(EmbedError::Foreign { .. })));
}
