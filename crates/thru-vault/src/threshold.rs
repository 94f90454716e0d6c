//! The size and age at which a session's note is compacted.

use thru_core::Timestamp;

/// The limits of a session's note. Reaching one of them is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Lines.
    pub lines: u64,
    /// Days since it was made.
    pub days: u64,
}

/// The size and age of a session's note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Its lines.
    pub lines: u64,
    /// Its age in days.
    pub days: u64,
}

impl Size {
    /// Measures a note.
    pub fn of(text: &str, created: Timestamp, now: Timestamp) -> Self {
        let seconds = now.as_second().saturating_sub(created.as_second());
        let days = u64::try_from(seconds / (24 * 60 * 60)).unwrap_or(0);
        Self { lines: text.lines().count() as u64, days }
    }

    /// Returns the limit that it reached, in words; `None` if it reached none.
    pub fn reached(&self, limits: &Thresholds) -> Option<String> {
        let lines = format!("exceeds {} lines", limits.lines);
        let days = format!("exceeds {} days old", limits.days);
        match (self.lines >= limits.lines, self.days >= limits.days) {
            (true, true) => Some(format!("{lines} and {days}")),
            (true, false) => Some(lines),
            (false, true) => Some(days),
            (false, false) => None,
        }
    }

    /// Returns the sentence about a note and its limits.
    pub fn sentence(&self, limits: &Thresholds) -> String {
        match self.reached(limits) {
            Some(reached) => format!("Session note {reached}. Triggering compaction..."),
            None => format!(
                "Session note below threshold ({} lines, {} day{} old). Keeping active.",
                self.lines,
                self.days,
                if self.days == 1 { "" } else { "s" }
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Thresholds = Thresholds { lines: 500, days: 3 };

    fn size(lines: usize, days: i64) -> Size {
        let now: Timestamp = "2025-11-18T12:00:00Z".parse().unwrap();
        let created = Timestamp::from_second(now.as_second() - days * 86_400).unwrap();
        Size::of(&"x\n".repeat(lines), created, now)
    }

    /// "Threshold Testing": "Test Case 1: Line Threshold … Test Case 4: Neither Threshold".
    #[test]
    fn the_cases_of_threshold_testing() {
        for (lines, days, expected) in [
            (600, 1, Some("exceeds 500 lines")),
            (300, 4, Some("exceeds 3 days old")),
            (600, 4, Some("exceeds 500 lines and exceeds 3 days old")),
            (200, 1, None),
        ] {
            assert_eq!(size(lines, days).reached(&LIMITS).as_deref(), expected);
        }
    }

    /// "3. Check Compaction Threshold": "Line threshold: >= 500 lines", "Age threshold: >= 3 days", and its two displays.
    #[test]
    fn the_limits_themselves_are_reached_and_said() {
        assert!(size(500, 0).reached(&LIMITS).is_some() && size(499, 2).reached(&LIMITS).is_none());
        assert!(size(1, 3).reached(&LIMITS).is_some());
        assert_eq!(
            size(623, 1).sentence(&LIMITS),
            "Session note exceeds 500 lines. Triggering compaction..."
        );
        assert_eq!(
            size(487, 1).sentence(&LIMITS),
            "Session note below threshold (487 lines, 1 day old). Keeping active."
        );
    }
}
