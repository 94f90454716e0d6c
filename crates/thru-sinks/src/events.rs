//! Server-sent events, as far as MCP uses them: each event is one message.

use serde_json::Value;

/// Returns the messages of a stream, or of the beginning of one. An unfinished event is left out.
pub(crate) fn messages(stream: &[u8]) -> impl Iterator<Item = Value> {
    // A chunk may end inside a character; that is in an unfinished event.
    let text = String::from_utf8_lossy(stream).replace("\r\n", "\n").replace('\r', "\n");
    let ended = text.rfind("\n\n").map_or(0, |end| end);
    let events: Vec<Value> = text[..ended].split("\n\n").filter_map(message).collect();
    events.into_iter()
}

fn message(event: &str) -> Option<Value> {
    let data = event.lines().filter_map(|line| line.strip_prefix("data:"));
    let data: Vec<&str> = data.map(|data| data.strip_prefix(' ').unwrap_or(data)).collect();
    serde_json::from_str(&data.join("\n")).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_read_in_every_form() {
        let stream = ": a comment\n\nevent: message\nid: 1\ndata: {\"a\":\ndata: 1}\n\ndata:{\"b\":2}\r\n\r\n\
                      data: no JSON\n\ndata: {\"c\":3}\r\rretry: 5\n\ndata: {\"d\":4}\n";
        let found: Vec<Value> = messages(stream.as_bytes()).collect();
        assert_eq!(found, [json!({ "a": 1 }), json!({ "b": 2 }), json!({ "c": 3 })]);
        assert_eq!(messages(b"").count(), 0);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            _ = messages(&bytes).count();
        }

        #[test]
        fn a_stream_that_grows_only_gains_messages(cut in 0..60_usize) {
            let stream = "data: {\"a\":1}\n\nevent: x\r\ndata: \"ü\"\r\n\r\ndata: 3\n\n".as_bytes();
            let all: Vec<Value> = messages(stream).collect();
            let some: Vec<Value> = messages(&stream[..cut.min(stream.len())]).collect();
            prop_assert!(all.starts_with(&some));
        }
    }
}
