//! A line from an MCP client. It is a message, needs no answer, or gets a JSON-RPC error with the id
//! that was sent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use thru_mcp::{Incoming, read_line};

fuzz_target!(|line: &[u8]| {
    // A mark of the byte order and blanks that JSON does not know are no part of a message.
    let text = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    let sent: Value = serde_json::from_slice(text).unwrap_or_default();
    match read_line(line) {
        Incoming::Message(_) => assert!(sent.get("method").is_some_and(Value::is_string)),
        Incoming::Refused(answer) => {
            assert_eq!(answer["jsonrpc"], "2.0");
            assert!(matches!(answer["error"]["code"].as_i64(), Some(-32_700 | -32_600 | -32_602)));
            assert!(answer["error"]["message"].is_string());
            // An id is a string or a number; what is none of them is answered without one.
            let id = sent.get("id").filter(|id| id.is_string() || id.is_number());
            assert_eq!(answer["id"], id.cloned().unwrap_or_default());
        }
        Incoming::Ignored => {}
    }
});
