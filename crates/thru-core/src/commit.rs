//! Commits as the log of a repository's HEAD tells them.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{Timestamp, one_line};

/// Longest line of a log that is read, in bytes, and longest subject, in characters.
const LINE: usize = 4 * 1024;
const SUBJECT: usize = 160;

/// Most commits told of one span of time.
const MOST: usize = 20;

/// A commit that a repository tells of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SeenCommit {
    /// The time it was made.
    pub at: Timestamp,
    /// Its abbreviated hash.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
}

/// The log of a repository's HEAD: `.git/logs/HEAD`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadLog {
    /// Earliest first.
    moves: Vec<Move>,
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Move {
    at: Timestamp,
    hash: String,
    /// True if HEAD is at the same commit as before.
    stays: bool,
    /// The branch that was checked out afterwards, as far as the log tells it.
    branch: Option<String>,
    act: Act,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Act {
    Commit(String),
    /// A commit took the place of the one before.
    Amend(String),
    /// Another branch was checked out; the one before.
    Checkout(String),
}

impl HeadLog {
    /// Parses a log, or its end. The branch checked out now tells of the lines back to the last checkout.
    pub fn parse(log: &[u8], branch: Option<&str>) -> Self {
        let mut on = branch.map(str::to_owned);
        let mut moves: Vec<Move> = Vec::new();
        for line in log.split(|byte| *byte == b'\n').rev() {
            if line.len() > LINE {
                continue;
            }
            let Some(mut one) = parse_line(&String::from_utf8_lossy(line)) else { continue };
            one.branch = on.clone();
            if let Act::Checkout(from) = &one.act {
                on = Some(from.clone());
            }
            moves.push(one);
        }
        moves.reverse();
        Self { moves }
    }

    /// Returns the commits made within a span of time on a branch, or on one that began there; on any branch where none is
    /// given. Earliest first.
    pub fn commits(&self, branch: Option<&str>, within: &Range<Timestamp>) -> Vec<SeenCommit> {
        let mut followed: BTreeSet<&str> = branch.into_iter().collect();
        let mut commits: Vec<SeenCommit> = Vec::new();
        for one in self.moves.iter().filter(|one| within.contains(&one.at)) {
            let on = one.branch.as_deref();
            let subject = match &one.act {
                Act::Checkout(from) => {
                    // A new branch begins where the other one is.
                    if one.stays && followed.contains(from.as_str()) {
                        followed.extend(on);
                    }
                    continue;
                }
                Act::Commit(subject) | Act::Amend(subject) => subject,
            };
            let is_followed = branch.is_none() || on.is_some_and(|on| followed.contains(on));
            if !is_followed {
                continue;
            }
            if matches!(one.act, Act::Amend(_)) {
                commits.pop();
            }
            let (at, hash) = (one.at, one.hash.clone());
            commits.push(SeenCommit { at, hash, subject: subject.clone() });
        }
        commits.drain(..commits.len().saturating_sub(MOST));
        commits
    }
}

/// Parses `old new Name <address> seconds zone<tab>act`.
fn parse_line(line: &str) -> Option<Move> {
    let (head, message) = line.split_once('\t')?;
    let mut hashes = head.split(' ');
    let (old, new) = (hashes.next()?, hashes.next()?);
    let is_hash = |hash: &str| {
        matches!(hash.len(), 40 | 64) && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let seconds: i64 = head.rsplit(' ').nth(1)?.parse().ok()?;
    let at = Timestamp::from_second(seconds).ok()?;
    let (act, rest) = message.split_once(": ")?;
    let subject = || Some(one_line(rest, SUBJECT)).filter(|subject| !subject.is_empty());
    let act = match act {
        "commit" | "commit (initial)" => Act::Commit(subject()?),
        "commit (amend)" => Act::Amend(subject()?),
        "checkout" => {
            let (from, _) = rest.strip_prefix("moving from ")?.split_once(" to ")?;
            Act::Checkout(from.to_owned())
        }
        _ => return None,
    };
    let is_whole = is_hash(old) && is_hash(new);
    let hash = new.get(..8).filter(|_| is_whole)?.to_owned();
    Some(Move { at, hash, stays: old == new, branch: None, act })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(old: u32, new: u32, at: i64, act: &str) -> String {
        format!("{old:040x} {new:040x} A. Potter <a@kiln.example> {at} +0200\t{act}\n")
    }

    fn span(from: i64, to: i64) -> Range<Timestamp> {
        Timestamp::from_second(from).unwrap()..Timestamp::from_second(to).unwrap()
    }

    fn subjects(
        log: &str,
        now: &str,
        branch: Option<&str>,
        within: Range<Timestamp>,
    ) -> Vec<String> {
        let commits = HeadLog::parse(log.as_bytes(), Some(now)).commits(branch, &within);
        commits.into_iter().map(|commit| commit.subject).collect()
    }

    #[test]
    fn commits_are_those_of_the_time_and_the_branch() {
        let log = [
            line(0, 1, 100, "commit (initial): Build the kiln"),
            line(1, 2, 200, "commit: Fire it"),
            line(2, 2, 210, "checkout: moving from main to glaze"),
            line(2, 3, 220, "commit: Mix a glaze"),
            line(3, 4, 230, "commit (amend): Mix a blue glaze"),
            line(4, 2, 240, "checkout: moving from glaze to main"),
            line(2, 9, 250, "checkout: moving from main to other"),
            line(9, 5, 260, "commit: Paint the door"),
            line(5, 6, 270, "rebase (pick): Paint the door again"),
        ]
        .concat();
        let told = |branch, within| subjects(&log, "other", branch, within);
        assert_eq!(told(Some("main"), span(0, 205)), ["Build the kiln", "Fire it"]);
        // "glaze" began on main within the time; "other" was there before.
        assert_eq!(told(Some("main"), span(150, 900)), ["Fire it", "Mix a blue glaze"]);
        assert_eq!(told(Some("other"), span(0, 900)), ["Paint the door"]);
        assert_eq!(told(None, span(201, 900)), ["Mix a blue glaze", "Paint the door"]);
    }

    #[test]
    fn broken_lines_cost_only_themselves() {
        let good = line(1, 2, 200, "commit: Fire the kiln");
        let log = [
            b"\xff\xfe\t: \n".as_slice(),
            good.as_bytes(),
            b"1 2 3\tcommit: x\n",
            &[b'a'; LINE + 1],
        ];
        let log = HeadLog::parse(&log.concat(), Some("main"));
        let commits = log.commits(Some("main"), &span(0, 900));
        assert_eq!(commits[0].subject, "Fire the kiln");
        assert_eq!(commits[0].hash, "00000000");
    }

    proptest! {
        #[test]
        fn any_log_is_read(log in proptest::collection::vec(any::<u8>(), 0..600)) {
            let commits = HeadLog::parse(&log, Some("main")).commits(None, &span(0, 900));
            prop_assert!(commits.len() <= MOST);
        }
    }
}
