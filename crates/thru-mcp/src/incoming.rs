//! Incoming lines: one JSON-RPC message each. An invalid line is answered here, as JSON-RPC demands, so
//! that no line can end the conversation.

use std::io::BufRead;

use rmcp::model::ClientJsonRpcMessage;
use serde_json::Value;
use thru_core::rpc::{self, BAD_PARAMS, Message, NO_REQUEST};

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
    let Message { id, method, params } = match rpc::read(line) {
        Ok(message) => message,
        Err(unread) if unread.is_unanswered => return Incoming::Ignored,
        Err(unread) => return refused(&unread.id, unread.code, &unread.why),
    };
    let mut message = rpc::notification(&method);
    for (name, value) in [("id", id.clone()), ("params", params)] {
        if let Some(value) = value {
            message[name] = value;
        }
    }
    match (serde_json::from_value::<ClientJsonRpcMessage>(message), &id) {
        (
            Ok(
                message
                @ (ClientJsonRpcMessage::Request(_) | ClientJsonRpcMessage::Notification(_)),
            ),
            _,
        ) => Incoming::Message(Box::new(message)),
        (_, None) => Incoming::Ignored,
        (Ok(_), Some(id)) => refused(id, NO_REQUEST, "not a request"),
        (Err(error), Some(id)) => refused(id, BAD_PARAMS, &format!("invalid parameters: {error}")),
    }
}

/// Returns the error response to a line that is too long.
pub(crate) fn too_long() -> Value {
    let why = format!("a line of more than {} MiB is not read", LONGEST_LINE / 1024 / 1024);
    rpc::error(&Value::Null, NO_REQUEST, &why)
}

fn refused(id: &Value, code: rpc::Code, why: &str) -> Incoming {
    Incoming::Refused(rpc::error(id, code, why))
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

    #[test]
    fn what_is_no_request_is_refused() {
        let Incoming::Refused(answer) = read_line(br#"{"id":3,"method":"ping"}"#) else { panic!() };
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(NO_REQUEST), &json!(3)));
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
