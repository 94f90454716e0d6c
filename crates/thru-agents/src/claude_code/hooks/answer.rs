//! What a hook prints: one JSON object or nothing.

use serde_json::{Map, Value, json};

use super::Event;

/// What Claude Code cuts longer texts to (characters); the rest would go to a file.
const LONGEST_CONTEXT: usize = 10_000;

/// What a hook has to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// For the model.
    pub context: Option<String>,
    /// For the user, in a line.
    pub message: Option<String>,
}

/// The output for an answer; empty where there is nothing to say. Only events that take a context get
/// one.
pub fn answer(event: &Event, answer: &Answer) -> String {
    let mut output = Map::new();
    if !event.takes_context() {
        return String::new();
    }
    if let Some(context) = answer.context.as_deref().filter(|context| !context.is_empty())
        && context.chars().count() <= LONGEST_CONTEXT
    {
        output.insert(
            "hookSpecificOutput".to_owned(),
            json!({ "hookEventName": event.as_str(), "additionalContext": context }),
        );
    }
    if let Some(message) = &answer.message {
        output.insert("systemMessage".to_owned(), json!(message));
    }
    match output.is_empty() {
        true => String::new(),
        false => Value::Object(output).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_heard_is_said() {
        let said = Answer { context: Some("c".to_owned()), message: Some("m".to_owned()) };
        assert_eq!(
            answer(&Event::SessionStart, &said),
            r#"{"hookSpecificOutput":{"additionalContext":"c","hookEventName":"SessionStart"},"systemMessage":"m"}"#
        );
        assert_eq!(answer(&Event::PreCompact, &said), "");
        assert_eq!(answer(&Event::SessionStart, &Answer::default()), "");
    }
}
