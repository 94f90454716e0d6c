//! Prompts: the texts in `prompts/`, each with a version, focused by the kind of work.

use std::sync::LazyLock;

use serde_json::Value;
use thru_core::{Concept, Id, ObservationType, estimated_tokens};

use super::profile::{Activity, ActivityProfile};
use super::schema;

/// The version of the prompt about a turn. Another text needs another version.
pub const TURN_PROMPT_VERSION: &str = "turn/2";

/// The version of the prompt about a session.
pub const SESSION_PROMPT_VERSION: &str = "session/1";

const TURN: &str = include_str!("prompts/turn.v2.md");
const SESSION: &str = include_str!("prompts/session.v1.md");

/// The separator between the system part and the user part of a prompt.
const PARTS: &str = "\n---\n";

/// One request to a model, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The version of the prompt.
    pub version: &'static str,
    /// The instructions to the model.
    pub system: String,
    /// The record, fenced.
    pub user: String,
    /// A name for the answer's schema, for providers that want one.
    pub schema_name: &'static str,
    /// The JSON schema of the answer.
    pub schema: Value,
}

impl Request {
    /// Returns the tokens (estimated) of the whole request.
    pub fn tokens(&self) -> u64 {
        estimated_tokens(&self.system)
            + estimated_tokens(&self.user)
            + estimated_tokens(&self.schema.to_string())
    }

    /// Returns a key of the request: equal exactly if the request is equal.
    pub fn content_key(&self) -> Id {
        Id::derive(&[
            b"refinement",
            self.version.as_bytes(),
            self.system.as_bytes(),
            self.user.as_bytes(),
        ])
    }
}

/// Returns the texts of all prompts, to recognise an answer that repeats one.
pub(super) const fn texts() -> [&'static str; 2] {
    [TURN, SESSION]
}

/// Builds the request about a turn.
pub(super) fn turn(record: &str, profile: &ActivityProfile) -> Request {
    let (system, user) = filled(TURN, record, profile);
    Request {
        version: TURN_PROMPT_VERSION,
        system,
        user,
        schema_name: "turn_memory",
        schema: schema::turn(),
    }
}

/// Builds the request about a session.
pub(super) fn session(record: &str, profile: &ActivityProfile) -> Request {
    let (system, user) = filled(SESSION, record, profile);
    Request {
        version: SESSION_PROMPT_VERSION,
        system,
        user,
        schema_name: "session_memory",
        schema: schema::session(),
    }
}

fn filled(prompt: &str, record: &str, profile: &ActivityProfile) -> (String, String) {
    let (system, user) = prompt.split_once(PARTS).unwrap_or((prompt, ""));
    let types = ObservationType::ALL.map(ObservationType::as_str).join(", ");
    let concepts = Concept::ALL.map(Concept::as_str).join(", ");
    let focus =
        profile.dominant().map_or(String::new(), |activity| format!("- {}\n", focus(activity)));
    let system = system
        .replace("{{types}}", &types)
        .replace("{{concepts}}", &concepts)
        .replace("{{focus}}\n", &focus);
    (system, user.trim_end().replace("{{record}}", record))
}

/// Returns the focus of the questions, by the kind of work.
fn focus(activity: Activity) -> &'static str {
    match activity {
        Activity::Building => {
            "Above all: what was built, how it is used, and which choices shaped it."
        }
        Activity::Fixing => {
            "Above all: the symptom, its root cause, what fixed it, and how that was verified."
        }
        Activity::Configuring => {
            "Above all: which settings, versions and commands make it work, and what did not."
        }
        Activity::Exploring => {
            "Above all: what was found out about how things work here, and where that is seen."
        }
        Activity::Refactoring => {
            "Above all: what the structure is now, why it was changed, and what stayed the same."
        }
        Activity::Reviewing => {
            "Above all: what was found wanting, how grave it is, and where it stands."
        }
        Activity::Testing => {
            "Above all: what is tested now, what failed and why, and how tests are run."
        }
        Activity::Documenting => {
            "Above all: what is documented now, where, and what was decided on the way."
        }
    }
}

/// The most tokens that everything but the record of a turn costs.
pub(super) static BESIDE_TURN: LazyLock<u64> = LazyLock::new(|| beside(turn));

/// The most tokens that everything but the record of a session costs.
pub(super) static BESIDE_SESSION: LazyLock<u64> = LazyLock::new(|| beside(session));

fn beside(request: fn(&str, &ActivityProfile) -> Request) -> u64 {
    let steered =
        Activity::ALL.map(|activity| request("", &ActivityProfile::only(activity)).tokens());
    steered.into_iter().max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_short_and_whole() {
        for request in
            [turn("", &ActivityProfile::default()), session("", &ActivityProfile::default())]
        {
            assert!(!request.system.contains("{{") && !request.user.contains("{{"), "{request:?}");
            assert!(request.user.contains("<recorded-") && request.user.contains("</recorded-"));
            assert!(
                estimated_tokens(&request.system) <= 450,
                "{}",
                estimated_tokens(&request.system)
            );
        }
        let fixing = turn("", &ActivityProfile::only(Activity::Fixing)).system;
        assert!(fixing.contains("root cause") && fixing.len() < 450 * 4, "{}", fixing.len());
        assert!(*BESIDE_TURN < 900, "{}", *BESIDE_TURN);
    }

    #[test]
    fn the_record_fills_nothing_in() {
        let request = turn("{{types}} {{focus}}\n {{record}}", &ActivityProfile::default());
        assert!(request.user.contains("{{types}} {{focus}}\n {{record}}"));
    }
}
