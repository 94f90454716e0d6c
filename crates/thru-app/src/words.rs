//! Figures and recorded text in the sentences that every surface shows.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use thru_core::visible;

/// Text without what could steer a terminal or turn its words around: control characters other than line breaks and
/// tabs, and characters that are not visible.
pub fn printable(text: &str) -> String {
    visible(text).collect()
}

/// A number with its noun: `1 session`, `2 sessions`.
pub fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A number with its thousands apart.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// `2026-03-01 14:05`, in a time zone.
pub fn day_and_time(moment: Option<Timestamp>, zone: &TimeZone) -> String {
    moment.map_or_else(
        || "undated".to_owned(),
        |moment| moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

/// Bytes: `512 B`, `1.4 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut amount = bytes as f64;
    let mut unit = "B";
    for larger in UNITS {
        if amount < 1000.0 {
            break;
        }
        amount /= 1000.0;
        unit = larger;
    }
    if unit == "B" || amount >= 100.0 {
        format!("{amount:.0} {unit}")
    } else {
        format!("{amount:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_cannot_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\u{202e}c\r\n\td\u{7}"), "abc\n\td");
    }

    #[test]
    fn numbers_and_sizes() {
        assert_eq!(plural(1, "session"), "1 session");
        assert_eq!(plural(12_345, "session"), "12,345 sessions");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1_440_000), "1.4 MB");
        assert_eq!(size(53_000_000_000), "53.0 GB");
    }
}
