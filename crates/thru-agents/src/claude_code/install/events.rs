//! The events of Claude Code that hooks are registered for, with the versions that know them.

use crate::setup::ClientVersion;

/// First version that ignores an event it does not know. Before, one unknown name made Claude Code ignore
/// the whole settings file, the user's own permissions included.
const UNKNOWN_EVENTS_TOLERATED: ClientVersion = ClientVersion::new(2, 1, 101);

/// The events to register for, in the order of a session, with the first version that may have each in its
/// file. `None`: every version with hooks knows it.
const EVENTS: [(&str, Option<ClientVersion>); 10] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PostToolUse", None),
    // No document says since when it exists.
    ("PostToolUseFailure", Some(UNKNOWN_EVENTS_TOLERATED)),
    ("Stop", None),
    ("StopFailure", Some(ClientVersion::new(2, 1, 78))),
    ("SubagentStop", None),
    ("PreCompact", None),
    ("PostCompact", Some(ClientVersion::new(2, 1, 76))),
    ("SessionEnd", None),
];

/// Returns the events that may be registered with this version of Claude Code; for an unknown version, those
/// that every version takes.
pub(super) fn events(version: Option<ClientVersion>) -> Vec<&'static str> {
    EVENTS
        .into_iter()
        .filter(|(_, since)| {
            since.is_none_or(|since| version.is_some_and(|version| version >= since))
        })
        .map(|(event, _)| event)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_that_the_version_knows_are_registered() {
        let old = [
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "Stop",
            "SubagentStop",
            "PreCompact",
            "SessionEnd",
        ];
        assert_eq!(events(None), old);
        assert_eq!(events(Some(ClientVersion::new(2, 1, 75))), old);
        let later = events(Some(ClientVersion::new(2, 1, 78)));
        assert!(later.contains(&"PostCompact") && later.contains(&"StopFailure"));
        assert!(!later.contains(&"PostToolUseFailure"));
        assert_eq!(events(Some(ClientVersion::new(2, 1, 197))).len(), EVENTS.len());
    }
}
