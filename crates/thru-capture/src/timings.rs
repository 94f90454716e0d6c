//! Times that hooks took, for `thru doctor`: the last hundred at least.

use std::time::Duration;

use thru_core::{Layout, Timestamp};

use crate::notes;

/// The file is cut back beyond this many bytes …
const LIMIT: u64 = 16 * 1024;
/// … to this many hooks.
const KEPT: usize = 100;

/// Time of one hook, from the start of the process until it had nothing left to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Its end.
    pub at: Timestamp,
    /// The event, as the agent names it.
    pub event: String,
    /// The time it took.
    pub took: Duration,
    /// True if the event was recorded.
    pub is_kept: bool,
}

/// The mark of an event that was not recorded.
const LEFT_OUT: &str = "left-out";

fn path(layout: &Layout) -> std::path::PathBuf {
    layout.run().join("hook-times")
}

/// Notes how long a hook took.
pub fn note(layout: &Layout, timing: &Timing) {
    let (at, took) = (timing.at.as_millisecond(), timing.took.as_micros());
    let event: String = timing.event.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
    let mark = if timing.is_kept { String::new() } else { format!(" {LEFT_OUT}") };
    let _ = notes::append(&path(layout), &format!("{at} {took} {event}{mark}"), LIMIT, KEPT);
}

/// The last hundred that are known, the oldest first.
pub fn list(layout: &Layout) -> Vec<Timing> {
    let lines = notes::lines(&path(layout));
    let timing = |line: &String| {
        let mut parts = line.split(' ');
        let at = Timestamp::from_millisecond(parts.next()?.parse().ok()?).ok()?;
        let took = Duration::from_micros(parts.next()?.parse().ok()?);
        let event = parts.next()?.to_owned();
        Some(Timing { at, took, event, is_kept: parts.next() != Some(LEFT_OUT) })
    };
    let known: Vec<Timing> = lines.iter().filter_map(timing).collect();
    known[known.len().saturating_sub(KEPT)..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_hundred_are_known() {
        let home = tempfile::tempdir().unwrap();
        let layout = Layout::new(home.path());
        for n in 0..1000 {
            let at = Timestamp::from_millisecond(n).unwrap();
            let took = Duration::from_micros(n as u64);
            let event = "PostToolUse".to_owned();
            note(&layout, &Timing { at, event, took, is_kept: n % 2 == 0 });
        }
        let known = list(&layout);
        assert_eq!((known.len(), known[0].took.as_micros()), (100, 900));
        assert!(known[0].is_kept && !known[1].is_kept);
    }
}
