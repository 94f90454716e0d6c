//! How long ago, in a word or two.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `now`, `5 min`, `3 h`, `2 days`, `4 weeks`, `7 months`, `2 years`.
pub(crate) fn age(then: Option<Timestamp>, now: Timestamp) -> String {
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

/// `2026-03-01 14:05`, in the user's time zone.
pub(crate) fn day_and_time(moment: Option<Timestamp>, zone: &TimeZone) -> String {
    moment.map_or_else(
        || "undated".to_owned(),
        |moment| moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
