//! The scripted answers of the model.

use std::time::Duration;

use serde_json::Value;

use crate::Request;

/// Answers, each with the prompt that it is for.
#[derive(Clone, Debug, Default)]
pub struct Script {
    rules: Vec<Rule>,
    summary: Option<String>,
}

/// The answers to prompts that contain certain words.
#[derive(Clone, Debug)]
struct Rule {
    words: String,
    answers: Vec<ScriptedAnswer>,
}

/// The answer to one request.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptedAnswer {
    /// A message of the model.
    Message(Vec<Block>),
    /// An HTTP status instead of a message.
    Error(u16),
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A text.
    Text(String),
    /// A tool call.
    Call {
        /// The tool's name.
        name: String,
        /// The tool's input.
        input: Value,
    },
    /// A pause before the next block. Not part of the message.
    Pause(Duration),
    /// The number of tokens that the message reports for the conversation. Not part of the message.
    Tokens(u64),
}

impl Script {
    /// Returns a script that answers "ok" to everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds answers to a prompt that contains these words. The first answers the prompt, each further
    /// one the results of the tools that the one before called. After the last, the answer is "ok". If
    /// several rules match a prompt, the first one applies.
    #[must_use]
    pub fn on(mut self, words: &str, answers: impl Into<Vec<ScriptedAnswer>>) -> Self {
        self.rules.push(Rule { words: words.to_owned(), answers: answers.into() });
        self
    }

    /// Sets the summary that the model writes when a conversation is compacted.
    #[must_use]
    pub fn summary(mut self, text: &str) -> Self {
        self.summary = Some(text.to_owned());
        self
    }

    /// Returns the answer to a request.
    pub(crate) fn answer(&self, request: &Request) -> ScriptedAnswer {
        let ok = || message([says("ok")]);
        if request.wants_summary() {
            let text = self.summary.as_deref().unwrap_or("Nothing to say.");
            return message([says(&format!("<summary>{text}</summary>"))]);
        }
        // A request without tools is one of the client's own, for a title or a topic.
        if !request.has_tools() {
            return ok();
        }
        let (prompt, step) = request.prompt();
        self.rules
            .iter()
            .find(|rule| prompt.contains(&rule.words))
            .and_then(|rule| rule.answers.get(step).cloned())
            .unwrap_or_else(ok)
    }
}

/// Returns a message of these blocks.
pub fn message(blocks: impl Into<Vec<Block>>) -> ScriptedAnswer {
    ScriptedAnswer::Message(blocks.into())
}

/// Returns an HTTP error with this status.
pub const fn fails(status: u16) -> ScriptedAnswer {
    ScriptedAnswer::Error(status)
}

/// Returns a text block.
pub fn says(text: &str) -> Block {
    Block::Text(text.to_owned())
}

/// Returns a tool call.
pub fn calls(name: &str, input: Value) -> Block {
    Block::Call { name: name.to_owned(), input }
}

/// Returns a pause before the next block.
pub const fn pauses(time: Duration) -> Block {
    Block::Pause(time)
}

/// Returns the number of tokens to report as read for this message.
pub const fn reads(tokens: u64) -> Block {
    Block::Tokens(tokens)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(messages: Value) -> Request {
        Request::new(json!({ "model": "m", "tools": [{ "name": "Bash" }], "messages": messages }))
    }

    #[test]
    fn answers_follow_the_results_of_tools() {
        let script = Script::new().on(
            "count",
            [message([calls("Bash", json!({ "command": "ls" }))]), message([says("three")])],
        );
        let asked = json!({ "role": "user", "content": "please count" });
        let called = json!({ "role": "assistant", "content": [] });
        let result =
            json!({ "role": "user", "content": [{ "type": "tool_result", "content": "3" }] });
        let first = request(json!([asked]));
        let second = request(json!([asked, called, result]));
        let third = request(json!([asked, called, result, called, result]));
        assert_eq!(script.answer(&first), message([calls("Bash", json!({ "command": "ls" }))]));
        assert_eq!(script.answer(&second), message([says("three")]));
        assert_eq!(script.answer(&third), message([says("ok")]));
    }

    #[test]
    fn a_compaction_gets_its_summary() {
        let script = Script::new().on("count", [fails(500)]).summary("All was counted.");
        let asked = request(json!([{ "role": "user", "content": [
            { "type": "text", "text": "count" },
            { "type": "text", "text": "CRITICAL: Respond with TEXT ONLY. … a <summary> block" },
        ] }]));
        let told = message([says("<summary>All was counted.</summary>")]);
        assert_eq!(script.answer(&asked), told);
    }
}
