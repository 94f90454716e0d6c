//! Blanks records of a wholly private turn: the record stays, so that later records can still be
//! placed, but none of its text does.

use crate::edits::PRIVATE;
use crate::json::{self, Event};
use crate::keys;

/// Returns the line with every string value replaced that is not structural.
pub(crate) fn line(line: &[u8]) -> Vec<u8> {
    let body = line.strip_suffix(b"\n").unwrap_or(line);
    let body = body.strip_suffix(b"\r").unwrap_or(body);
    let ending = &line[body.len()..];
    let mut output = Vec::with_capacity(body.len().min(4096));
    match json::valid(body) {
        Some(document) => write_blanked(document, &mut output),
        None => write_string(&mut output),
    }
    output.extend_from_slice(ending);
    output
}

fn write_string(output: &mut Vec<u8>) {
    output.push(b'"');
    output.extend_from_slice(PRIVATE.as_bytes());
    output.push(b'"');
}

fn write_blanked(document: &str, output: &mut Vec<u8>) {
    let bytes = document.as_bytes();
    let mut done = 0;
    let mut depth = 0_usize;
    // The depth at which the walk entered a value that is blanked without exception.
    let mut payload_depth = None;
    json::walk(document, |event| match event {
        Event::Key(_) => {}
        Event::Open(key) => {
            if payload_depth.is_none() && key.is_some_and(|key| keys::is_payload(&key)) {
                payload_depth = Some(depth);
            }
            depth += 1;
        }
        Event::Close => {
            depth = depth.saturating_sub(1);
            if payload_depth == Some(depth) {
                payload_depth = None;
            }
        }
        Event::String { key, value, .. } => {
            let stays = payload_depth.is_none()
                && key.is_some_and(|key| keys::is_structural(&key, &bytes[value.clone()]));
            if !stays {
                output.extend_from_slice(&bytes[done..value.start]);
                output.extend_from_slice(PRIVATE.as_bytes());
                done = value.end;
            }
        }
    });
    output.extend_from_slice(&bytes[done..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_places_the_record_stays() {
        let record = r#"{"type":"assistant","uuid":"a-1","cwd":"/home/me","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"type":"secret plan","name":"x","list":["y",3]}},"z"]},"timestamp":"2026-01-01T00:00:00Z"}"#;
        let blanked = String::from_utf8(line(format!("{record}\n").as_bytes())).unwrap();
        let expected = r#"{"type":"assistant","uuid":"a-1","cwd":"[private]","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"type":"[private]","name":"[private]","list":["[private]",3]}},"[private]"]},"timestamp":"2026-01-01T00:00:00Z"}"#;
        assert_eq!(blanked, format!("{expected}\n"));
    }

    #[test]
    fn text_that_is_not_json_becomes_one_string() {
        assert_eq!(line(b"not json\r\n"), b"\"[private]\"\r\n");
        assert_eq!(line(b"{\"a\":\"x\xff\"}"), b"\"[private]\"");
    }
}
