//! A message of the model as the Responses API streams it.

use std::io::{self, Write};
use std::thread;

use serde_json::{Value, json};

use crate::script::Block;

/// Size of every message in tokens; nothing depends on it.
const OUTPUT_TOKENS: u64 = 20;

/// Streams a message. `id` distinguishes it, and its calls of tools, from every other message; `size` is that
/// of the request, in bytes, and stands for its tokens.
pub(crate) fn stream(
    writer: &mut impl Write,
    id: &str,
    size: usize,
    blocks: &[Block],
) -> io::Result<()> {
    event(
        writer,
        &json!({ "type": "response.created", "response": { "id": format!("resp_{id}") } }),
    )?;
    let mut tokens = size as u64 / 4;
    for (at, block) in blocks.iter().enumerate() {
        let item = match block {
            Block::Pause(time) => {
                thread::sleep(*time);
                continue;
            }
            Block::Tokens(said) => {
                tokens = *said;
                continue;
            }
            Block::Text(text) => json!({
                "type": "message",
                "id": format!("msg_{id}_{at}"),
                "role": "assistant",
                "content": [{ "type": "output_text", "text": text }],
            }),
            Block::Call { name, input } => json!({
                "type": "function_call",
                "id": format!("fc_{id}_{at}"),
                "call_id": format!("call_{id}_{at}"),
                "name": name,
                "arguments": input.to_string(),
            }),
        };
        event(writer, &json!({ "type": "response.output_item.done", "item": item }))?;
    }
    let usage = json!({
        "input_tokens": tokens,
        "input_tokens_details": null,
        "output_tokens": OUTPUT_TOKENS,
        "output_tokens_details": null,
        "total_tokens": tokens + OUTPUT_TOKENS,
    });
    let response = json!({ "id": format!("resp_{id}"), "usage": usage });
    event(writer, &json!({ "type": "response.completed", "response": response }))
}

fn event(writer: &mut impl Write, data: &Value) -> io::Result<()> {
    let kind = data["type"].as_str().unwrap_or_default();
    write!(writer, "event: {kind}\ndata: {data}\n\n")?;
    writer.flush()
}
