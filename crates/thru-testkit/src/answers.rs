//! The answers of a model that knows one session.

use serde_json::json;

use crate::provider::{ModelServer, ReceivedRequest, body, ollama};

/// The answer about any turn.
pub fn turn() -> String {
    json!({
        "observations": [{
            "type": "bugfix",
            "title": "The oxidiser valve was closed by a lock that nobody released",
            "narrative": "The valve stayed shut because the lock was never released. It now opens in 9999 ms.",
            "facts": [{ "text": "The lock is released when the valve opens", "cite": [1] }],
            "concepts": ["problem-solution"],
            "files_read": [],
            "files_modified": ["src/nowhere.rs"],
            "cite": [1],
        }],
        "summary": {
            "request": "Find out why the valve stays shut",
            "investigated": [], "learned": ["The lock was never released"],
            "completed": [], "next_steps": [],
        },
    })
    .to_string()
}

/// The answer about any session.
pub fn session() -> String {
    json!({
        "title": "Why the valve stayed shut",
        "request": "Find out why the valve stays shut",
        "investigated": [], "learned": ["The lock was never released"], "completed": [],
        "next_steps": [], "topics": ["valves"], "code_changes": [],
        "decisions": [{ "decision": "Release the lock early", "rationale": "the valve waits for it", "alternatives": [], "cite": [1] }],
        "errors_resolved": [], "outcomes": [], "context_for_continuation": [], "tags": ["valve"],
    })
    .to_string()
}

/// True if a question is about a session as a whole.
pub fn is_about_session(asked: &ReceivedRequest) -> bool {
    body(asked).to_string().contains("errors_resolved")
}

/// A model that answers everything.
pub fn willing() -> ModelServer {
    ModelServer::answering(|asked| match is_about_session(asked) {
        true => ollama(&session()),
        false => ollama(&turn()),
    })
    .unwrap()
}
