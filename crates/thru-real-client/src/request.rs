//! Requests of the clients to the model.

use serde_json::Value;

/// The body of one request to the Messages API, or the Responses API.
#[derive(Clone, Debug)]
pub struct Request(Value);

impl Request {
    pub(crate) const fn new(body: Value) -> Self {
        Self(body)
    }

    /// Returns the body as it was received.
    pub const fn body(&self) -> &Value {
        &self.0
    }

    /// Returns all text of the conversation: of people, model, tools and hooks. The system prompt and
    /// tool descriptions are not included.
    pub fn conversation(&self) -> String {
        let mut text = String::new();
        for message in self.messages() {
            collect(content(message), &mut text);
        }
        text
    }

    /// Returns the text since the model's last message: the prompt with its additions, or tool results.
    pub fn news(&self) -> String {
        let messages = self.messages();
        let is_of_model =
            |message: &Value| message["role"] == "assistant" || message["type"] == "function_call";
        let start = messages.iter().rposition(is_of_model);
        let mut text = String::new();
        for message in messages.iter().skip(start.map_or(0, |at| at + 1)) {
            collect(content(message), &mut text);
        }
        text
    }

    /// Returns the last text of a human, and how often tools have returned since.
    pub(crate) fn prompt(&self) -> (&str, usize) {
        let mut prompt = "";
        let mut returned = 0;
        for message in self.messages() {
            // The Responses API has the result of a tool as an item of its own.
            if message["type"] == "function_call_output" {
                returned += 1;
            }
            if message["role"] != "user" {
                continue;
            }
            let results = blocks(message).any(|block| block["type"] == "tool_result");
            returned += usize::from(results);
            for text in texts(message).filter(|text| !is_of_client(text)) {
                prompt = text;
                returned = 0;
            }
        }
        (prompt, returned)
    }

    /// True if the client wants a summary in order to compact the conversation.
    pub(crate) fn wants_summary(&self) -> bool {
        let (prompt, _) = self.prompt();
        prompt.contains("Respond with TEXT ONLY") && prompt.contains("<summary>")
            || prompt.contains("CONTEXT CHECKPOINT COMPACTION")
    }

    pub(crate) fn has_tools(&self) -> bool {
        self.0["tools"].as_array().is_some_and(|tools| !tools.is_empty())
    }

    pub(crate) fn is_streaming(&self) -> bool {
        self.0["stream"] == true
    }

    pub(crate) fn model(&self) -> &str {
        self.0["model"].as_str().unwrap_or("unknown")
    }

    fn messages(&self) -> &[Value] {
        let messages = self.0.get("messages").or_else(|| self.0.get("input"));
        messages.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// True for texts in the user's name that the client wrote.
fn is_of_client(text: &str) -> bool {
    ["<system-reminder>", "<environment_context>", "# AGENTS.md instructions"]
        .iter()
        .any(|start| text.starts_with(start))
}

/// The content of a message, or the output of a tool.
fn content(message: &Value) -> &Value {
    message.get("content").or_else(|| message.get("output")).unwrap_or(&Value::Null)
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    message["content"].as_array().into_iter().flatten()
}

/// Returns the texts of a message, whose content may be a string or a list of blocks.
fn texts(message: &Value) -> impl Iterator<Item = &str> {
    let whole = message["content"].as_str();
    whole.into_iter().chain(blocks(message).filter_map(|block| block["text"].as_str()))
}

/// Appends every text in `content`, one per line: a string, a list of blocks, a tool result.
fn collect(content: &Value, text: &mut String) {
    match content {
        Value::String(string) => {
            text.push_str(string);
            text.push('\n');
        }
        Value::Array(blocks) => blocks.iter().for_each(|block| collect(block, text)),
        Value::Object(block) => {
            for name in ["text", "content"] {
                block.get(name).into_iter().for_each(|content| collect(content, text));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prompt_is_what_a_human_said_last() {
        let request = Request::new(json!({ "messages": [
            { "role": "user", "content": [
                { "type": "text", "text": "<system-reminder>today</system-reminder>" },
                { "type": "text", "text": "go" },
            ] },
            { "role": "system", "content": "context of a hook" },
            { "role": "assistant", "content": [{ "type": "text", "text": "going" }] },
            { "role": "user", "content": [{ "type": "tool_result", "content": "gone" }] },
        ] }));
        assert_eq!(request.prompt(), ("go", 1));
        assert!(request.conversation().contains("context of a hook"));
        assert_eq!(request.news(), "gone\n");
    }

    #[test]
    fn a_prompt_may_follow_a_result_in_one_message() {
        let request = Request::new(json!({ "messages": [
            { "role": "user", "content": "sleep" },
            { "role": "assistant", "content": [] },
            { "role": "user", "content": [
                { "type": "tool_result", "content": "interrupted" },
                { "type": "text", "text": "something else" },
            ] },
        ] }));
        assert_eq!(request.prompt(), ("something else", 0));
    }
}
