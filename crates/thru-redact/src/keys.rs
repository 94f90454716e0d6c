//! Keys of transcript records whose values are technical: ids, signatures, times.
//!
//! A key alone never exempts a value from cleaning: the value must look technical too.

use crate::assignment;

/// Values under these keys are not searched for secrets: they are random by nature, and other records
/// and the agents' own checks depend on them.
const LEFT_ALONE: [&str; 43] = [
    "agentId",
    "callId",
    "call_id",
    "cursor",
    "encrypted_content",
    "encryptedContent",
    "event_id",
    "eventId",
    "id",
    "interactionId",
    "interaction_id",
    "item_id",
    "itemId",
    "leafUuid",
    "logicalParentUuid",
    "messageId",
    "message_id",
    "parentId",
    "parent_id",
    "parentToolUseID",
    "parentUuid",
    "parent_tool_use_id",
    "promptId",
    "reasoningOpaque",
    "requestId",
    "request_id",
    "response_id",
    "responseId",
    "serviceRequestId",
    "sessionId",
    "session_id",
    "signature",
    "sourceToolAssistantUUID",
    "sourceToolUseID",
    "thread_id",
    "threadId",
    "thoughtSignature",
    "toolCallId",
    "toolUseID",
    "tool_call_id",
    "tool_use_id",
    "turn_id",
    "uuid",
];

/// Keys whose value names what another key of the object holds: `{"name": …, "value": …}`.
const LABELS: [&str; 2] = ["name", "key"];
/// Keys that do so if their value tells of a secret: `{"element": "Password field", "text": …}`.
const TELLING_LABELS: [&str; 6] = ["element", "selector", "locator", "field", "id", "title"];
/// Keys of what is named so.
const LABELLED: [&str; 5] = ["value", "text", "val", "v", "input"];

/// True if the value of this key names what another one holds.
pub(crate) fn is_label(key: &str, value: &str) -> bool {
    let is_in = |keys: &[&str]| keys.iter().any(|known| key.eq_ignore_ascii_case(known));
    // Most ids are long, and of something else.
    let may_tell = || value.len() <= if key == "id" { 24 } else { 64 };
    is_in(&LABELS)
        || is_in(&TELLING_LABELS) && may_tell() && assignment::is_telling(of_label(value))
}

/// True if the value of this key is named by another.
pub(crate) fn is_labelled(key: &str) -> bool {
    LABELLED.iter().any(|known| key.eq_ignore_ascii_case(known))
}

/// Returns the name in a label: `Password` of `Password field`.
pub(crate) fn of_label(label: &str) -> &str {
    let things = [" field", " input", " textbox", " text box", " box", " prompt"];
    things.iter().find_map(|thing| label.strip_suffix(thing)).unwrap_or(label)
}

/// Values under these keys stay when a record is blanked: without them it could not be placed.
const STRUCTURAL: [&str; 21] = [
    "agentVersion",
    "copilotVersion",
    "cli_version",
    "entrypoint",
    "isSidechain",
    "model",
    "modelId",
    "model_provider",
    "name",
    "operation",
    "originator",
    "phase",
    "role",
    "startTime",
    "status",
    "stop_reason",
    "subtype",
    "timestamp",
    "type",
    "userType",
    "version",
];

/// Values under these keys came from or go to a tool, and are blanked without exception.
const PAYLOADS: [&str; 12] = [
    "arguments",
    "content_items",
    "hookInput",
    "input",
    "metadata",
    "output",
    "parameters",
    "result",
    "structuredContent",
    "toolUseResult",
    "tool_input",
    "tool_response",
];

/// True if the value under this key is exempt from redaction. What tools are given and give back has ids of its own,
/// which nothing here depends on.
pub(crate) fn is_left_alone(key: &str, value: &[u8], in_payload: bool) -> bool {
    if key == "data" {
        // An image or a document: long base64 without white space.
        return value.len() >= 64 && value.iter().all(|byte| is_base64(*byte));
    }
    LEFT_ALONE.contains(&key) && (!in_payload || is_sealed(key)) && is_opaque(value)
}

/// True for keys of values that only their maker can read.
fn is_sealed(key: &str) -> bool {
    matches!(
        key,
        "signature"
            | "encrypted_content"
            | "encryptedContent"
            | "thoughtSignature"
            | "reasoningOpaque"
    )
}

/// True if the value under this key stays when a record is blanked.
pub(crate) fn is_structural(key: &str, value: &[u8]) -> bool {
    let known = STRUCTURAL.contains(&key) || (LEFT_ALONE.contains(&key) && !is_sealed(key));
    known && value.len() <= 128 && is_opaque(value)
}

/// True if the value under this key is blanked without exception.
pub(crate) fn is_payload(key: &str) -> bool {
    PAYLOADS.contains(&key)
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// True for one word of the characters that ids, versions and times consist of. An equals sign may only
/// be at the end, as in base64, which excludes `KEY=value`.
fn is_opaque(value: &[u8]) -> bool {
    let padding = value.iter().rev().take_while(|byte| **byte == b'=').count();
    value[..value.len() - padding].iter().all(|byte| {
        *byte != b'=' && (is_base64(*byte) || matches!(byte, b':' | b'.' | b'|' | b'~' | b'@'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn technical_values_must_look_like_it() {
        assert!(is_left_alone("id", b"toolu_01AbCd", false));
        assert!(!is_left_alone("id", b"<private>x</private>", false));
        assert!(!is_left_alone("text", b"toolu_01AbCd", false));
        assert!(is_left_alone("data", &[b'A'; 100], false));
        assert!(!is_left_alone("data", b"password=hunter2", false));
        assert!(!is_left_alone("id", b"toolu_01AbCd", true));
        assert!(is_left_alone("signature", b"AbCd", true));
        assert!(is_structural("timestamp", b"2026-01-01T00:00:00.000Z"));
        assert!(!is_structural("name", b"my private plan"));
        assert!(!is_structural("signature", b"AbCd"));
    }
}
