//! The answer to a hook: one JSON object or nothing.

use serde_json::{Map, Value, json};

use super::Event;

/// The answer to a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookReply {
    /// For the model.
    pub context: Option<String>,
    /// For the user, in a line.
    pub message: Option<String>,
}

/// Returns the output that Claude Code and its relatives read. A context of more than `longest` characters
/// is left out: they would cut it.
pub(crate) fn context_and_message(event: &Event, reply: &HookReply, longest: usize) -> String {
    let mut output = Map::new();
    if event.takes_context()
        && let Some(context) = reply.context.as_deref().filter(|context| !context.is_empty())
        && context.chars().count() <= longest
    {
        output.insert(
            "hookSpecificOutput".to_owned(),
            json!({ "hookEventName": event.as_str(), "additionalContext": context }),
        );
    }
    if let Some(message) = reply.message.as_ref().filter(|_| event.takes_message()) {
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

    fn answer(event: &Event, reply: &HookReply) -> String {
        context_and_message(event, reply, 10)
    }

    #[test]
    fn only_events_that_take_a_context_are_answered() {
        let reply = HookReply { context: Some("c".to_owned()), message: Some("m".to_owned()) };
        assert_eq!(
            answer(&Event::SessionStart, &reply),
            r#"{"hookSpecificOutput":{"additionalContext":"c","hookEventName":"SessionStart"},"systemMessage":"m"}"#
        );
        assert_eq!(answer(&Event::PreCompact, &reply), "");
        for event in [Event::Stop, Event::PostToolUse] {
            assert_eq!(answer(&event, &reply), r#"{"systemMessage":"m"}"#);
        }
        assert_eq!(answer(&Event::SessionStart, &HookReply::default()), "");
    }
}
