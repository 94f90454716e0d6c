//! The identity of a daemon, and the comparison of two by version.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use thru_core::Timestamp;

/// The version of the socket protocol. It goes up when an older client could not talk to a newer daemon;
/// additions do not change it.
pub const PROTOCOL: u32 = 1;

/// The program that runs, or would run, as the daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its version, such as `0.1.0`.
    pub version: String,
    /// Tells two builds of a version apart. For people; nothing depends on it.
    pub build: String,
    /// The home that it works for.
    pub home: String,
}

/// The daemon's description of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the program.
    pub version: String,
    /// The version of its protocol.
    pub protocol: u32,
    /// Its process id.
    pub pid: u32,
    /// The time when it started.
    pub started: Timestamp,
    /// The build of its version.
    #[serde(default)]
    pub build: String,
    /// The home that it works for; empty of versions that did not say.
    #[serde(default)]
    pub home: String,
}

impl Identity {
    /// True if the running daemon that sent this works for the same home.
    pub(crate) fn is_of_home(&self, hello: &Hello) -> bool {
        hello.home.is_empty() || hello.home == self.home
    }

    /// Compares the running daemon that sent this with the one that this program would start. Only an older
    /// one is ever replaced, so that two installations in one home never end each other in turns.
    pub(crate) fn compare(&self, hello: &Hello) -> Ordering {
        let theirs = (hello.protocol, release(&hello.version));
        theirs.cmp(&(PROTOCOL, release(&self.version)))
    }
}

/// The numbers of a version, ordered so that a release comes after its pre-releases.
fn release(version: &str) -> (Vec<u64>, bool, Vec<u64>) {
    // Build metadata after a `+` does not count.
    let version = version.split('+').next().unwrap_or_default();
    let (numbers, before) = version.split_once('-').unwrap_or((version, ""));
    let parse = |text: &str| {
        let parts = text.split(|c: char| !c.is_ascii_digit());
        parts.filter_map(|part| part.parse().ok()).collect()
    };
    (parse(numbers), before.is_empty(), parse(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_releases_are() {
        let rows = ["0.1.0-beta.2", "0.1.0", "0.1.1", "0.2.0-rc.1", "0.2.0", "0.10.0", "1.0.0"];
        for pair in rows.windows(2) {
            assert!(release(pair[0]) < release(pair[1]), "{pair:?}");
        }
        assert_eq!(release("1.0.0+b1"), release("1.0.0"));
    }

    #[test]
    fn another_protocol_counts_before_the_version() {
        let identity =
            Identity { version: "1.0.0".to_owned(), build: String::new(), home: String::new() };
        let hello = |version: &str, protocol| Hello {
            version: version.to_owned(),
            protocol,
            pid: 1,
            started: Timestamp::UNIX_EPOCH,
            build: "other".to_owned(),
            home: String::new(),
        };
        assert_eq!(identity.compare(&hello("1.0.0", PROTOCOL)), Ordering::Equal);
        assert_eq!(identity.compare(&hello("0.9.0", PROTOCOL)), Ordering::Less);
        assert_eq!(identity.compare(&hello("0.9.0", PROTOCOL + 1)), Ordering::Greater);
    }
}
