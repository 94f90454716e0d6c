//! A message of the model as the Messages API sends it: whole, or as a stream of events.

use std::io::{self, Write};
use std::thread;

use serde_json::{Value, json};

use crate::script::Block;

/// Output tokens that every message reports. Nothing depends on the number.
const OUTPUT_TOKENS: u64 = 20;

/// A message to be sent.
pub(crate) struct Message<'m> {
    /// Distinguishes messages and their tool calls from those of every other message.
    pub(crate) id: String,
    pub(crate) model: &'m str,
    /// The size of the request in bytes, from which its tokens are estimated.
    pub(crate) size: usize,
    pub(crate) blocks: &'m [Block],
}

impl Message<'_> {
    /// Returns the message as a single JSON value.
    pub(crate) fn whole(&self) -> Value {
        let content: Vec<Value> =
            (0..).zip(self.parts()).map(|(at, b)| self.content(at, b)).collect();
        self.envelope(&json!(content), self.stop_reason().into(), OUTPUT_TOKENS)
    }

    /// Writes the message as a stream, with its pauses.
    pub(crate) fn stream(&self, writer: &mut impl Write) -> io::Result<()> {
        let start = self.envelope(&json!([]), Value::Null, 1);
        event(writer, json!({ "type": "message_start", "message": start }))?;
        let mut index = 0;
        for block in self.blocks {
            let (empty, delta) = match block {
                Block::Pause(time) => {
                    thread::sleep(*time);
                    continue;
                }
                Block::Tokens(_) => continue,
                Block::Text(text) => (
                    json!({ "type": "text", "text": "" }),
                    json!({ "type": "text_delta", "text": text }),
                ),
                Block::Call { name, input } => (
                    json!({ "type": "tool_use", "id": self.call_id(index), "name": name, "input": {} }),
                    json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
                ),
            };
            event(
                writer,
                json!({ "type": "content_block_start", "index": index, "content_block": empty }),
            )?;
            event(
                writer,
                json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            )?;
            event(writer, json!({ "type": "content_block_stop", "index": index }))?;
            index += 1;
        }
        let usage = json!({ "output_tokens": OUTPUT_TOKENS });
        let end = json!({ "stop_reason": self.stop_reason(), "stop_sequence": null });
        event(writer, json!({ "type": "message_delta", "delta": end, "usage": usage }))?;
        event(writer, json!({ "type": "message_stop" }))
    }

    fn parts(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| !matches!(block, Block::Pause(_) | Block::Tokens(_)))
    }

    fn content(&self, index: usize, block: &Block) -> Value {
        match block {
            Block::Text(text) => json!({ "type": "text", "text": text }),
            Block::Call { name, input } => {
                json!({ "type": "tool_use", "id": self.call_id(index), "name": name, "input": input })
            }
            Block::Pause(_) | Block::Tokens(_) => Value::Null,
        }
    }

    fn call_id(&self, index: usize) -> String {
        format!("toolu_{}_{index}", self.id)
    }

    fn stop_reason(&self) -> &'static str {
        let is_call = |block: &Block| matches!(block, Block::Call { .. });
        if self.blocks.iter().any(is_call) { "tool_use" } else { "end_turn" }
    }

    fn tokens(&self) -> u64 {
        let said = self.blocks.iter().find_map(|block| match block {
            Block::Tokens(tokens) => Some(*tokens),
            _ => None,
        });
        // About four bytes per token.
        said.unwrap_or(self.size as u64 / 4)
    }

    fn envelope(&self, content: &Value, stop_reason: Value, output_tokens: u64) -> Value {
        json!({
            "id": format!("msg_{}", self.id),
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": null,
            "usage": {
                "input_tokens": self.tokens(),
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": output_tokens,
            },
        })
    }
}

fn event(writer: &mut impl Write, data: Value) -> io::Result<()> {
    let kind = data["type"].as_str().unwrap_or_default();
    write!(writer, "event: {kind}\ndata: {data}\n\n")?;
    writer.flush()
}
