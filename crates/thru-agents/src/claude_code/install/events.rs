//! Which events of Claude Code we register for, and since when it knows them.

use std::fmt;

/// A version of Claude Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientVersion {
    major: u32,
    minor: u32,
    patch: u32,
}

impl ClientVersion {
    /// From three numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// From what `claude --version` prints: `2.1.197 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?;
        // A pre-release knows what the release before it knew; that is near enough.
        let numbers = word.split(['-', '+']).next()?;
        let mut numbers = numbers.split('.').map(|number| number.parse().ok());
        let version = Self::new(numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(version)
    }
}

impl fmt::Display for ClientVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Since when an event that a version does not know costs nothing. Before, one unknown name made
/// Claude Code ignore the whole settings file, the user's own permissions included.
const UNKNOWN_EVENTS_TOLERATED: ClientVersion = ClientVersion::new(2, 1, 101);

/// The events we register for, in the order of a session, with the version from which each may be
/// written. `None`: so old that every version that has the other hooks knows it.
const EVENTS: [(&str, Option<ClientVersion>); 10] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PostToolUse", None),
    // No document says when it came.
    ("PostToolUseFailure", Some(UNKNOWN_EVENTS_TOLERATED)),
    ("Stop", None),
    ("StopFailure", Some(ClientVersion::new(2, 1, 78))),
    ("SubagentStop", None),
    ("PreCompact", None),
    ("PostCompact", Some(ClientVersion::new(2, 1, 76))),
    ("SessionEnd", None),
];

/// The events that may be registered with this version of Claude Code; with an unknown version, those
/// that do no harm anywhere.
pub fn events(version: Option<ClientVersion>) -> Vec<&'static str> {
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
    fn versions_are_read_from_what_the_client_prints() {
        for (printed, version) in [
            ("2.1.197 (Claude Code)\n", Some(ClientVersion::new(2, 1, 197))),
            ("1.0.85", Some(ClientVersion::new(1, 0, 85))),
            ("2.2.0-beta.1 (Claude Code)", Some(ClientVersion::new(2, 2, 0))),
            ("2.1", None),
            ("2.1.1.1", None),
            ("command not found", None),
            ("", None),
        ] {
            assert_eq!(ClientVersion::parse(printed), version, "{printed}");
        }
        assert_eq!(ClientVersion::new(2, 1, 9).to_string(), "2.1.9");
        assert!(ClientVersion::new(2, 1, 9) < ClientVersion::new(2, 1, 10));
    }

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
