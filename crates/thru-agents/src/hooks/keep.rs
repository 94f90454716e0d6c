//! The part of a payload that is kept: all of it, as long as it is small. Of a tool's long input and
//! response both ends stay, with the true length; the transcript, and so the archive, has the rest.

use serde_json::Value;

use super::{Adapter, Event};
use crate::text::{self, PROSE_LIMIT};

/// Bytes kept of a tool's input, and of its response.
const TOOL_LIMIT: usize = 64 * 1024;
/// Bytes that every text in them keeps, however long the others are …
const FLOOR: usize = 256;
/// … until this many bytes went to such texts, to names, and to single values.
const FLOORS: usize = 64 * 1024;
/// Bytes charged for a value beside its text.
const VALUE: usize = 8;
/// Elements kept of a list in them.
const ELEMENTS: usize = 1_000;
/// Values nested deeper are kept as the text that they are.
const DEPTH: usize = 40;
/// Members that repeat at full length what is elsewhere.
const DROPPED: [&str; 1] = ["originalFile"];

/// Returns what is kept of a payload.
pub fn keep(adapter: &Adapter, event: &Event, mut payload: Value) -> Value {
    let long = adapter.capture.fields().long;
    if let Value::Object(fields) = &mut payload {
        // Fields beside a tool's call are small, or the subject of the event.
        let mut others = Room::for_texts(PROSE_LIMIT);
        fields.retain(|name, field| {
            let is_long = long.contains(&name.as_str()) || name == "error" && event.is_tool_use();
            match is_long {
                true => shorten(field, &mut Room::for_texts(TOOL_LIMIT), DEPTH),
                false if others.is_used_up() => return false,
                false => {
                    others.take(name.len());
                    shorten(field, &mut others, DEPTH);
                }
            }
            true
        });
    }
    payload
}

/// Bytes left for what is kept.
struct Room {
    /// For texts of any length.
    texts: usize,
    /// For parts that are kept whether there is room for texts or not.
    rest: usize,
}

impl Room {
    const fn for_texts(texts: usize) -> Self {
        Self { texts, rest: FLOORS }
    }

    const fn is_used_up(&self) -> bool {
        self.rest == 0
    }

    const fn take(&mut self, bytes: usize) {
        self.rest = self.rest.saturating_sub(bytes);
    }

    /// Shortens a text to the room there is.
    fn fit(&mut self, text: &mut String) {
        let limit = self.texts.max(FLOOR);
        if text.len() > limit {
            *text = text::cap(std::mem::take(text), limit);
        }
        match self.texts.checked_sub(text.len()) {
            Some(left) => self.texts = left,
            None => {
                self.texts = 0;
                self.take(text.len());
            }
        }
    }
}

/// Shortens a value to about the room there is, from its beginning on.
fn shorten(value: &mut Value, room: &mut Room, depth: usize) {
    room.take(VALUE);
    match value {
        Value::String(text) => room.fit(text),
        Value::Array(_) | Value::Object(_) if depth == 0 => {
            let mut text = value.to_string();
            room.fit(&mut text);
            *value = Value::String(text);
        }
        Value::Array(items) => {
            let (count, mut kept) = (items.len(), 0);
            while kept < count.min(ELEMENTS) && !room.is_used_up() {
                shorten(&mut items[kept], room, depth - 1);
                kept += 1;
            }
            if kept < count {
                items.truncate(kept);
                items.push(Value::String(format!("[... {count} elements in all ...]")));
            }
        }
        Value::Object(fields) => fields.retain(|name, field| {
            let is_kept =
                !DROPPED.contains(&name.as_str()) && name.len() <= FLOOR && !room.is_used_up();
            if is_kept {
                room.take(name.len());
                shorten(field, room, depth - 1);
            }
            is_kept
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::claude_code::HOOKS;

    #[test]
    fn long_texts_keep_both_ends_and_their_length() {
        let long = format!("head{}tail", "x".repeat(1_000_000));
        let payload = json!({
            "session_id": "s",
            "tool_input": { "content": long, "file_path": "/a" },
            "tool_response": { "originalFile": long, "stdout": "short" },
        });
        let kept = keep(&HOOKS, &Event::PostToolUse, payload);
        let content = kept["tool_input"]["content"].as_str().unwrap();
        assert!(content.len() <= TOOL_LIMIT && content.starts_with("head"));
        assert!(content.ends_with("tail") && content.contains("[... 1000008 bytes in all ...]"));
        assert_eq!(kept["tool_input"]["file_path"], "/a");
        assert_eq!(kept["tool_response"], json!({ "stdout": "short" }));
    }

    #[test]
    fn hostile_shapes_are_bounded() {
        let many: Vec<String> = (0..50_000).map(|n| format!("{n:040}")).collect();
        let kept = keep(&HOOKS, &Event::PostToolUse, json!({ "tool_response": many }));
        assert_eq!(kept["tool_response"].as_array().unwrap().len(), ELEMENTS + 1);
        let lists = vec![vec![7; 500]; 500];
        let fields: serde_json::Map<_, _> =
            (0..50_000).map(|n| (format!("{n:040}"), json!(n))).collect();
        let payload =
            json!({ "tool_response": lists, "tool_input": fields, "x".repeat(9): fields });
        assert!(keep(&HOOKS, &Event::PostToolUse, payload).to_string().len() < 4 * TOOL_LIMIT);
        let mut deep = json!("x");
        for _ in 0..100 {
            deep = json!([deep]);
        }
        assert!(
            keep(&HOOKS, &Event::PostToolUse, json!({ "tool_input": deep })).to_string().len()
                < 400
        );
    }
}
