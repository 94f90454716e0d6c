//! The words of the model, decided beforehand.

use std::time::Duration;

use serde_json::Value;

use crate::Request;

/// Answers by the prompt they are for.
#[derive(Clone, Debug, Default)]
pub struct Script {
    rules: Vec<Rule>,
    summary: Option<String>,
}

/// The answers to a prompt that contains some words.
#[derive(Clone, Debug)]
struct Rule {
    words: String,
    answers: Vec<Answer>,
}

/// The answer to one request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A message of the model.
    Message(Vec<Block>),
    /// An HTTP status instead of a message.
    Error(u16),
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Text.
    Text(String),
    /// A call of a tool.
    Call {
        /// The tool's name.
        name: String,
        /// Its arguments.
        input: Value,
    },
    /// Not part of the message: the model takes its time here.
    Pause(Duration),
    /// Not part of the message: the tokens that the conversation is said to have come to.
    Tokens(u64),
}

impl Script {
    /// A model that says "ok" to everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers a prompt that contains these words; the answers follow one another: the first answers the
    /// prompt, each further one the results of the tools that the one before called. After the last,
    /// the answer is "ok". Of several rules for one prompt the first holds.
    #[must_use]
    pub fn on(mut self, words: &str, answers: impl Into<Vec<Answer>>) -> Self {
        self.rules.push(Rule { words: words.to_owned(), answers: answers.into() });
        self
    }

    /// The summary that the model writes when a conversation is compacted.
    #[must_use]
    pub fn summary(mut self, text: &str) -> Self {
        self.summary = Some(text.to_owned());
        self
    }

    /// The answer to a request.
    pub(crate) fn answer(&self, request: &Request) -> Answer {
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

/// A message of these blocks.
pub fn message(blocks: impl Into<Vec<Block>>) -> Answer {
    Answer::Message(blocks.into())
}

/// A refusal with an HTTP status.
pub const fn fails(status: u16) -> Answer {
    Answer::Error(status)
}

/// Text.
pub fn says(text: &str) -> Block {
    Block::Text(text.to_owned())
}

/// A call of a tool.
pub fn calls(name: &str, input: Value) -> Block {
    Block::Call { name: name.to_owned(), input }
}

/// Time that passes before the next block.
pub const fn pauses(time: Duration) -> Block {
    Block::Pause(time)
}

/// So many tokens are said to have been read for this message.
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
