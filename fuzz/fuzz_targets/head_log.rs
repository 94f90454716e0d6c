//! The log of a repository's HEAD is arbitrary bytes: whatever it holds, commits are few, within the time, and short.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_core::{HeadLog, Timestamp};

fuzz_target!(|data: &[u8]| {
    let within = Timestamp::from_second(0).unwrap()..Timestamp::from_second(2_000_000_000).unwrap();
    for branch in [None, Some("main")] {
        let commits = HeadLog::parse(data, Some("main")).commits(branch, &within);
        assert!(commits.len() <= 20, "{}", commits.len());
        for commit in commits {
            assert!(within.contains(&commit.at), "{commit:?}");
            assert!(commit.subject.chars().count() <= 160, "{commit:?}");
            assert!(!commit.subject.chars().any(char::is_control), "{commit:?}");
            assert!(commit.hash.len() == 8 && commit.hash.is_ascii(), "{commit:?}");
        }
    }
});
