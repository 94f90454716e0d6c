//! The names that are valid as session ids, path parts and record ids, whatever the agent. Pure
//! functions; nothing here touches the disk.

use std::path::{Component, Path};

/// True if `id` is usable as a session id: it must be harmless as a file name, whatever its origin.
pub(crate) fn is_session_id(id: &str) -> bool {
    id.len() <= 128
        && id.starts_with(|first: char| first.is_ascii_alphanumeric())
        && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// True if `id` is a uuid that identifies a record in every file. One of zeros does not.
pub(crate) fn is_uuid(id: &str) -> bool {
    thru_core::is_uuid(id) && id.bytes().any(|byte| !matches!(byte, b'0' | b'-'))
}

/// Returns `part` in a form that every system accepts as one part of a path.
pub(crate) fn harmless(part: &str) -> String {
    if part.is_empty() || part.chars().all(|c| c == '.') {
        return "_".to_owned();
    }
    // Nearly every part, and there may be tens of thousands.
    if part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')) {
        return part.to_owned();
    }
    let is_bad = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
    part.chars().map(|c| if is_bad(c) { '_' } else { c }).collect()
}

/// Returns the parts of a relative path, if each is a plain file name on every system.
pub(crate) fn safe_parts(path: &Path) -> Option<Vec<&str>> {
    path.components()
        .map(|component| match component {
            Component::Normal(part) => part.to_str().filter(|part| is_plain(part)),
            _ => None,
        })
        .collect()
}

fn is_plain(part: &str) -> bool {
    !part.chars().all(|c| c == '.') && !part.contains(['/', '\\', ':', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_ids_are_no_session_ids() {
        for id in
            ["", "..", "../../x", "a/b", "a\\b", ".hidden", "c:x", "ü", "a\0b", &"a".repeat(129)]
        {
            assert!(!is_session_id(id), "{id}");
        }
        assert!(
            is_session_id("0f8fad5b-d9cb-469f-a165-70867728950e") && is_session_id("session_1.2")
        );
    }

    #[test]
    fn uuids() {
        assert!(is_uuid("0f8fad5b-d9cb-469f-a165-70867728950e"));
        for other in [
            "",
            "msg_1",
            "00000000-0000-0000-0000-000000000000",
            "0f8fad5b-d9cb-469f-a165-70867728950g",
        ] {
            assert!(!is_uuid(other), "{other}");
        }
    }
}
