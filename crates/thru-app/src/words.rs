//! Figures and recorded text in the sentences that every surface shows.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use thru_core::visible;
use thru_recall::{MeaningUse, Part};

/// Text without what could steer a terminal or turn its words around: control characters other than line breaks and
/// tabs, and characters that are not visible.
pub fn printable(text: &str) -> String {
    visible(text).collect()
}

/// A number with its noun: `1 session`, `2 sessions`, `3 memories`.
pub fn plural(number: u64, noun: &str) -> String {
    let noun = if number == 1 { noun.to_owned() } else { thru_core::plural_noun(noun) };
    format!("{} {noun}", count(number))
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

/// Text on one line, cut to this many characters.
pub fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = printable(&words.join(" "));
    match line.char_indices().nth(most) {
        Some(_) => line.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => line,
    }
}

/// Text of at most so many characters, without its middle where it is longer: its beginning says what it is, its end
/// which. Where that costs little, words stay whole.
pub fn without_middle(text: &str, most: usize) -> String {
    /// Characters given up on either side for a whole word.
    const SPARED: usize = 12;
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= most {
        return text.to_owned();
    }
    let after = most / 2;
    let (start, end) =
        (&letters[..most.saturating_sub(after + 1)], &letters[letters.len() - after..]);
    let is_break = |letter: &char| !letter.is_alphanumeric();
    let whole = |at: Option<usize>, part: &[char]| {
        at.filter(|at| *at < SPARED.min(part.len() / 2)).unwrap_or(0)
    };
    let is_whole = letters.get(start.len()).is_none_or(is_break);
    let spare = if is_whole { 0 } else { whole(start.iter().rev().position(is_break), start) };
    let skipped = whole(end.iter().position(is_break), end);
    let shown = start[..start.len() - spare].iter().chain(&['…']).chain(&end[skipped..]);
    shown.collect()
}

/// `now`, `5 min`, `3 h`, `2 days`, `4 weeks`, `7 months`, `2 years`.
pub fn age(then: Option<Timestamp>, now: Timestamp) -> String {
    let Some(then) = then else { return "undated".to_owned() };
    let seconds = now.as_second() - then.as_second();
    let (number, unit) = match seconds {
        ..60 => return "now".to_owned(),
        60..3_600 => return format!("{} min", seconds / 60),
        3_600..86_400 => return format!("{} h", seconds / 3_600),
        86_400..1_209_600 => (seconds / 86_400, "day"),
        1_209_600..5_184_000 => (seconds / 604_800, "week"),
        5_184_000..63_072_000 => (seconds / 2_592_000, "month"),
        _ => (seconds / 31_536_000, "year"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

/// `just now`, `5 min ago`, `3 h ago`.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    match age(Some(then), now).as_str() {
        "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    }
}

/// The parts of a score: those that add or take most first.
pub fn made_of(parts: &[Part]) -> String {
    let shown = parts.iter().filter(|part| part.contribution().abs() >= 0.005).map(|part| {
        format!("{} {:.2} × {:.2} = {:.2}", part.name, part.value, part.weight, part.contribution())
    });
    shown.collect::<Vec<_>>().join("; ")
}

/// The use made of meaning, in a sentence.
pub fn meaning(meaning: &MeaningUse) -> String {
    match meaning {
        MeaningUse::Compared { model, vectors } => {
            format!("Meaning: compared with {} ({model}).", plural(*vectors as u64, "vector"))
        }
        MeaningUse::Without { without } => {
            format!("Meaning: not compared, {}. Words alone were looked for.", printable(without))
        }
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
        assert_eq!(plural(2, "memory"), "2 memories");
        assert_eq!(plural(2, "day"), "2 days");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1_440_000), "1.4 MB");
        assert_eq!(size(53_000_000_000), "53.0 GB");
    }

    #[test]
    fn both_ends_of_a_long_name_are_told() {
        for (text, most, shown) in [
            ("tests/e2e.spec.ts", 20, "tests/e2e.spec.ts"),
            ("crates/thru-app/src/health/runs.rs", 20, "crates/…/runs.rs"),
            ("Sharing a folder with others shows it to them", 24, "Sharing a … it to them"),
            ("0123456789abcdefghij", 9, "0123…ghij"),
            ("数据库连接在导入期间", 5, "数据…期间"),
            ("ab", 0, "…"),
        ] {
            assert_eq!(without_middle(text, most), shown);
        }
    }

    #[test]
    fn ages_in_a_word_or_two() {
        let now: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        for (then, shown) in [
            ("2026-11-20T12:00:30Z", "now"),
            ("2026-11-20T11:55:00Z", "5 min"),
            ("2026-11-20T03:00:00Z", "9 h"),
            ("2026-11-19T03:00:00Z", "1 day"),
            ("2026-11-01T12:00:00Z", "2 weeks"),
            ("2026-03-01T12:00:00Z", "8 months"),
            ("2023-03-01T12:00:00Z", "3 years"),
        ] {
            assert_eq!(age(Some(then.parse().unwrap()), now), shown);
        }
        assert_eq!(age(None, now), "undated");
    }
}
