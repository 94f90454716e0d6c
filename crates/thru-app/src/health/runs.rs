//! The work of hooks: recording, failures, latency.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::SignedDuration;
use thru_agents::hooks::Event;
use thru_capture::failures::{self, Failure};
use thru_capture::lost;
use thru_capture::pause;
use thru_capture::timings::{self, Timing};
use thru_core::{Layout, Timestamp};

use super::finding::Finding;
use super::seen::Seen;
use crate::App;
use crate::words::{ago, day_and_time, plural};

/// Longer than this is felt by the user.
const SLOW: Duration = Duration::from_millis(100);
/// The same before a compaction, where a hook reads the rest of the transcript and distils it.
const SLOW_BEFORE_COMPACTION: Duration = Duration::from_millis(1_000);

/// The state of recording in this folder.
pub(super) fn recording(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "recording";
    let app = seen.app;
    let now = app.clock.now();
    if let Some(paused) = pause::current(&app.layout, now) {
        let line = format!("recording is {}", pause_text(paused.end(), app));
        return Finding::note(CHECK, line, "`thru capture resume` ends the pause");
    }
    if app.config.capture.off {
        return Finding::note(
            CHECK,
            "recording is off in this folder, by `capture.off`",
            "`thru config show --origin` says where it is set",
        );
    }
    if app.notes.iter().any(|note| note.is_about_what_is_kept()) {
        return Finding::note(
            CHECK,
            "recording is off in this folder, because its settings cannot be understood",
            "fix them to resume recording",
        );
    }
    match seen.hooks.is_empty() {
        true => Finding::ok(CHECK, "nothing is recorded until an agent is connected"),
        false => Finding::ok(CHECK, "on"),
    }
}

/// Returns the failures of the last day.
pub fn recent_failures(layout: &Layout, now: Timestamp) -> Vec<Failure> {
    let day = SignedDuration::from_hours(24);
    failures::list(layout)
        .into_iter()
        .filter(|failure| now.duration_since(failure.at) <= day)
        .collect()
}

/// Failures of hooks.
pub(super) fn failures(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "failures";
    let app = seen.app;
    let now = app.clock.now();
    let known = failures::list(&app.layout);
    if let Some(lost) = lost::known(&app.layout) {
        let events = plural(lost.events, "event");
        let line = format!("{events} could not be recorded, the last {}", ago(lost.last, now));
        // On a full disk the reason could not be written down either.
        let reason = known.iter().rfind(|failure| failure.lost && failure.at >= lost.first);
        return match reason {
            Some(failure) => Finding::problem(
                CHECK,
                format!("{line}: {}", failure.reason),
                "mend that; what the transcripts hold of them is read from there",
            ),
            None => Finding::problem(
                CHECK,
                line,
                "a full disk is the usual cause: free some space; what the transcripts hold of them is read from there",
            ),
        };
    }
    let Some(last) = known.last() else { return Finding::ok(CHECK, "no hook failed") };
    let recent = recent_failures(&app.layout, now).len();
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for failure in &known {
        *reasons.entry(&failure.reason).or_default() += 1;
    }
    let mut reasons: Vec<(u64, &str)> = reasons.into_iter().map(|(why, n)| (n, why)).collect();
    reasons.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    let mut shown: Vec<String> =
        reasons.iter().take(3).map(|(number, why)| format!("{why} ({number})")).collect();
    let more: u64 = reasons.iter().skip(3).map(|(number, _)| number).sum();
    if more > 0 {
        shown.push(format!("others ({more})"));
    }
    let line = format!(
        "{} known, {recent} in the last day, the last {}: {}",
        plural(known.len() as u64, "failure"),
        ago(last.at, now),
        shown.join("; ")
    );
    let remedy = "`thru doctor --report` shows the last five with the shape of their input";
    match recent {
        0 => Finding::note(CHECK, line, remedy),
        _ => Finding::problem(CHECK, line, remedy),
    }
}

/// Latency of the hooks of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Latency {
    pub(super) event: String,
    pub(super) runs: usize,
    pub(super) median: Duration,
    pub(super) p99: Duration,
    pub(super) longest: Duration,
}

/// Returns the latency of hooks by event.
pub(super) fn latencies(timings: &[Timing]) -> Vec<Latency> {
    let mut events: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    for timing in timings {
        events.entry(&timing.event).or_default().push(timing.took);
    }
    let of_event = |(event, mut took): (&str, Vec<Duration>)| {
        took.sort_unstable();
        Latency {
            event: event.to_owned(),
            runs: took.len(),
            median: percentile(&took, 50),
            p99: percentile(&took, 99),
            longest: percentile(&took, 100),
        }
    };
    events.into_iter().map(of_event).collect()
}

/// Returns the smallest duration that this many of a hundred do not exceed.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

/// Returns a duration as people read it.
pub(super) fn milliseconds(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1000.0)
}

/// Latency of the last hundred hooks.
pub(super) fn latency(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "latency";
    let timings = timings::list(&seen.app.layout);
    if timings.is_empty() {
        return Finding::ok(CHECK, "no hook has run yet");
    }
    let mut took: Vec<Duration> = timings.iter().map(|timing| timing.took).collect();
    took.sort_unstable();
    let slowest = latencies(&timings).into_iter().max_by_key(|event| event.p99);
    let line = format!(
        "the last {}: half within {}, 99 % within {}, longest {} ({})",
        plural(took.len() as u64, "hook"),
        milliseconds(percentile(&took, 50)),
        milliseconds(percentile(&took, 99)),
        milliseconds(percentile(&took, 100)),
        slowest.map(|event| event.event).unwrap_or_default(),
    );
    match timings.iter().filter(|hook| is_slow(hook)).count() * 100 > timings.len() {
        true => Finding::note(
            CHECK,
            line,
            "a slow or full disk is the usual cause; `thru doctor --report` has the times by event",
        ),
        false => Finding::ok(CHECK, line),
    }
}

fn is_slow(hook: &Timing) -> bool {
    let limit = match hook.event == Event::PreCompact.as_str() {
        true => SLOW_BEFORE_COMPACTION,
        false => SLOW,
    };
    hook.took > limit
}

/// Returns a pause in words: until its end, or until it is ended.
pub fn pause_text(end: Option<Timestamp>, app: &App) -> String {
    match end {
        Some(end) => format!("paused until {}", day_and_time(Some(end), app.zone())),
        None => "paused until you resume it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_before_a_compaction_may_take_its_time() {
        let slow = |event: &str, milliseconds| {
            let took = Duration::from_millis(milliseconds);
            is_slow(&Timing {
                at: Timestamp::UNIX_EPOCH,
                event: event.to_owned(),
                took,
                is_kept: true,
            })
        };
        assert!(!slow("PreCompact", 400) && slow("PreCompact", 1_100));
        assert!(!slow("PostToolUse", 90) && slow("PostToolUse", 110));
    }

    #[test]
    fn percentiles_are_of_what_was_measured() {
        let took: Vec<Duration> = (1..=100).map(Duration::from_millis).collect();
        for (percent, expected) in [(50, 50), (99, 99), (100, 100)] {
            assert_eq!(percentile(&took, percent), Duration::from_millis(expected));
        }
        assert_eq!(percentile(&took[..1], 99), Duration::from_millis(1));
        assert_eq!(percentile(&[], 99), Duration::ZERO);
    }

    #[test]
    fn latencies_are_told_apart_by_event() {
        let timing = |event: &str, took| Timing {
            at: Timestamp::UNIX_EPOCH,
            event: event.to_owned(),
            took: Duration::from_millis(took),
            is_kept: true,
        };
        let found = latencies(&[timing("Stop", 3), timing("PostToolUse", 5), timing("Stop", 1)]);
        let shown: Vec<_> = found.iter().map(|l| (l.event.as_str(), l.runs, l.longest)).collect();
        let ms = Duration::from_millis;
        assert_eq!(shown, [("PostToolUse", 1, ms(5)), ("Stop", 2, ms(3))]);
    }
}
