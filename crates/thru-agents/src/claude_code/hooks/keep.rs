//! What of an input is kept: all of it, as long as it is small. Of a tool's long input and response
//! both ends stay, with the true length; the transcript, and so the archive, has the rest.

use serde_json::Value;

use super::Event;
use crate::text::{self, PROSE_LIMIT};

/// Bytes kept of a tool's input, and of its response.
const TOOL_LIMIT: usize = 64 * 1024;
/// Bytes that every text in them may keep however long the others are.
const FLOOR: usize = 256;
/// What is still longer than this many times its limit is kept as the text that it is, shortened.
const LARGEST: usize = 4;
/// Elements kept of a list in them.
const ELEMENTS: usize = 1_000;
/// Values nested deeper are kept as the text that they are.
const DEPTH: usize = 40;
/// Members that repeat at full length what is elsewhere.
const DROPPED: [&str; 1] = ["originalFile"];

/// What is kept of a payload.
pub fn keep(event: &Event, mut payload: Value) -> Value {
    if let Value::Object(fields) = &mut payload {
        for (name, field) in fields {
            let limit = match name.as_str() {
                "tool_input" | "tool_response" => TOOL_LIMIT,
                "error" if event.is_tool_use() => TOOL_LIMIT,
                _ => PROSE_LIMIT,
            };
            let mut room = limit;
            shorten(field, &mut room, DEPTH);
            // Many small values are long as well.
            let written = field.to_string();
            if written.len() > LARGEST * limit {
                *field = Value::String(text::cap(written, limit));
            }
        }
    }
    payload
}

/// Shortens a value to about `room` bytes of text, from its beginning on.
fn shorten(value: &mut Value, room: &mut usize, depth: usize) {
    match value {
        Value::String(text) => {
            if text.len() > FLOOR.max(*room) {
                *text = text::cap(std::mem::take(text), FLOOR.max(*room));
            }
            *room = room.saturating_sub(text.len());
        }
        Value::Array(_) | Value::Object(_) if depth == 0 => {
            let mut text = Value::String(value.to_string());
            shorten(&mut text, room, 0);
            *value = text;
        }
        Value::Array(items) => {
            if items.len() > ELEMENTS {
                let count = items.len();
                items.truncate(ELEMENTS);
                items.push(Value::String(format!("[... {count} elements in all ...]")));
            }
            items.iter_mut().for_each(|item| shorten(item, room, depth - 1));
        }
        Value::Object(fields) => {
            fields.retain(|name, _| !DROPPED.contains(&name.as_str()));
            fields.values_mut().for_each(|field| shorten(field, room, depth - 1));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_texts_keep_both_ends_and_their_length() {
        let long = format!("head{}tail", "x".repeat(1_000_000));
        let payload = json!({
            "session_id": "s",
            "tool_input": { "content": long, "file_path": "/a" },
            "tool_response": { "originalFile": long, "stdout": "short" },
        });
        let kept = keep(&Event::PostToolUse, payload);
        let content = kept["tool_input"]["content"].as_str().unwrap();
        assert!(content.len() <= TOOL_LIMIT && content.starts_with("head"));
        assert!(content.ends_with("tail") && content.contains("[... 1000008 bytes in all ...]"));
        assert_eq!(kept["tool_input"]["file_path"], "/a");
        assert_eq!(kept["tool_response"], json!({ "stdout": "short" }));
    }

    #[test]
    fn hostile_shapes_are_bounded() {
        let many: Vec<String> = (0..50_000).map(|n| format!("{n:040}")).collect();
        let kept = keep(&Event::PostToolUse, json!({ "tool_response": many }));
        assert_eq!(kept["tool_response"].as_array().unwrap().len(), ELEMENTS + 1);
        let numbers: serde_json::Map<String, Value> =
            (0..200_000).map(|n| (format!("key-{n}"), json!(n))).collect();
        let kept = keep(&Event::PostToolUse, json!({ "tool_input": numbers }));
        assert!(kept["tool_input"].as_str().unwrap().len() <= TOOL_LIMIT);
        let mut deep = json!("x");
        for _ in 0..100 {
            deep = json!([deep]);
        }
        assert!(keep(&Event::PostToolUse, json!({ "tool_input": deep })).to_string().len() < 400);
    }
}
