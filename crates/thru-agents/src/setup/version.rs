//! Versions of agents' programs.

use std::fmt;

/// The version of an agent's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientVersion {
    major: u32,
    minor: u32,
    patch: u32,
}

impl ClientVersion {
    /// Returns the version with these three numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// Parses the output of `--version`: `2.1.197 (Claude Code)`, `codex-cli 0.169.0`.
    pub fn parse(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(Self::of_word)
    }

    fn of_word(word: &str) -> Option<Self> {
        // A pre-release counts as its release; that is near enough.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_the_client_prints() {
        for (printed, version) in [
            ("2.1.197 (Claude Code)\n", Some(ClientVersion::new(2, 1, 197))),
            ("codex-cli 0.169.0", Some(ClientVersion::new(0, 169, 0))),
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
}
