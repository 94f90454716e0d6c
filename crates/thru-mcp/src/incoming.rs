//! Incoming lines: one JSON-RPC message each. An invalid line is answered here, as JSON-RPC demands, so
//! that no line can end the conversation.

use std::io::BufRead;

use rmcp::model::ClientJsonRpcMessage;
use serde_json::Value;
use thru_core::rpc::{self, BAD_PARAMS, NO_JSON, NO_REQUEST};

/// Longest line, in bytes. No valid message is nearly as long; a longer line is skipped, not stored.
pub const LONGEST_LINE: usize = 4 * 1024 * 1024;

/// The contents of a line.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// An invalid message, with the error response.
    Refused(Value),
    /// An invalid message that needs no response.
    Ignored,
}

/// Parses a line.
pub fn read_line(line: &[u8]) -> Incoming {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Incoming::Ignored;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return refused(&Value::Null, NO_JSON, format!("not JSON: {error}")),
    };
    let Value::Object(fields) = &value else {
        let why = match value {
            Value::Array(_) => "batches are not supported: send each message on a line of its own",
            _ => "a message is a JSON object",
        };
        return refused(&Value::Null, NO_REQUEST, why.to_owned());
    };
    let is_request = fields.contains_key("method") && fields.contains_key("id");
    let id = fields.get("id").cloned().unwrap_or_default();
    if is_request && !(id.is_string() || id.is_i64()) {
        return refused(&id, NO_REQUEST, "an id is a text or a whole number".to_owned());
    }
    if !fields.contains_key("method") {
        // A response: we send no requests.
        let is_answer = fields.contains_key("result") || fields.contains_key("error");
        return match is_answer {
            true => Incoming::Ignored,
            false => refused(&id, NO_REQUEST, "a request names its method".to_owned()),
        };
    }
    if !rpc::is_versioned(fields) {
        return refused(&id, NO_REQUEST, "only JSON-RPC 2.0 is supported".to_owned());
    }
    match serde_json::from_value::<ClientJsonRpcMessage>(value) {
        Ok(
            message @ (ClientJsonRpcMessage::Request(_) | ClientJsonRpcMessage::Notification(_)),
        ) => Incoming::Message(Box::new(message)),
        _ if !is_request => Incoming::Ignored,
        Ok(_) => refused(&id, NO_REQUEST, "not a request".to_owned()),
        Err(error) => refused(&id, BAD_PARAMS, format!("invalid parameters: {error}")),
    }
}

/// Returns the error response to a line that is too long.
pub(crate) fn too_long() -> Value {
    let why = format!("a line of more than {} MiB is not read", LONGEST_LINE / 1024 / 1024);
    rpc::error(&Value::Null, NO_REQUEST, &why)
}

fn refused(id: &Value, code: i64, why: String) -> Incoming {
    Incoming::Refused(rpc::error(id, code, &why))
}

/// The result of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The line is in the buffer, without its end.
    Whole,
    /// The line was too long and was discarded.
    TooLong,
    /// There are no more.
    End,
}

/// Reads the next line into a buffer that never grows beyond the maximum.
pub(crate) fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<Line> {
    line.clear();
    let (mut is_too_long, mut is_begun) = (false, false);
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            available => available?,
        };
        if available.is_empty() {
            return Ok(match (is_begun, is_too_long) {
                (false, _) => Line::End,
                (true, true) => Line::TooLong,
                (true, false) => Line::Whole,
            });
        }
        is_begun = true;
        let newline = available.iter().position(|byte| *byte == b'\n');
        let piece = &available[..newline.unwrap_or(available.len())];
        if line.len() + piece.len() > LONGEST_LINE {
            is_too_long = true;
            *line = Vec::new();
        }
        if !is_too_long {
            line.extend_from_slice(piece);
        }
        let used = newline.map_or(available.len(), |at| at + 1);
        input.consume(used);
        if newline.is_some() {
            return Ok(if is_too_long { Line::TooLong } else { Line::Whole });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn code(line: &str) -> (i64, Value) {
        match read_line(line.as_bytes()) {
            Incoming::Refused(answer) => {
                (answer["error"]["code"].as_i64().unwrap(), answer["id"].clone())
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn what_is_no_request_is_refused_with_the_number_for_it() {
        assert_eq!(code("{"), (NO_JSON, Value::Null));
        assert_eq!(code("hello"), (NO_JSON, Value::Null));
        assert_eq!(code("[]"), (NO_REQUEST, Value::Null));
        assert_eq!(code("7"), (NO_REQUEST, Value::Null));
        assert_eq!(code("{}"), (NO_REQUEST, Value::Null));
        assert_eq!(code(r#"{"id":3,"method":"ping"}"#), (NO_REQUEST, json!(3)));
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
            (NO_REQUEST, Value::Null)
        );
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#), (NO_REQUEST, json!(1.5)));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":"a","method":7}"#), (BAD_PARAMS, json!("a")));
        let deep = "[".repeat(100_000);
        assert_eq!(code(&deep), (NO_JSON, Value::Null));
    }

    #[test]
    fn what_wants_no_answer_gets_none() {
        for line in [
            "",
            " \r",
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","method":7}"#,
        ] {
            let read = read_line(line.as_bytes());
            assert!(!matches!(read, Incoming::Message(_)), "{line}");
        }
        let ping = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r";
        assert!(matches!(read_line(ping.as_bytes()), Incoming::Message(_)));
    }

    #[test]
    fn lines_are_read_whole_or_passed_over() {
        let mut input = vec![b'a'; LONGEST_LINE + 1];
        input.extend_from_slice(b"\nshort\n\nlast");
        let mut input = std::io::BufReader::with_capacity(100, &input[..]);
        let mut line = Vec::new();
        assert_eq!(next_line(&mut input, &mut line).unwrap(), Line::TooLong);
        for wanted in ["short", "", "last"] {
            assert_eq!(next_line(&mut input, &mut line).unwrap(), Line::Whole);
            assert_eq!(line, wanted.as_bytes());
        }
        assert_eq!(next_line(&mut input, &mut line).unwrap(), Line::End);
    }

    proptest! {
        #[test]
        fn any_line_is_read(line: Vec<u8>) {
            read_line(&line);
        }

        #[test]
        fn any_request_is_read(method in "[a-z/]{0,12}", id in any::<Option<i64>>(), params in ".{0,20}") {
            let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            read_line(message.to_string().as_bytes());
        }
    }
}
