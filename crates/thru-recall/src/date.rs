//! Dates as people write them: `2026-03-01`, `yesterday`, `2 weeks ago`, `last week`.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

/// The error for a text that is no known form of a date.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a date: write `2026-03-01`, `yesterday`, `2 weeks ago` or `3d`")]
pub struct InvalidDate(String);

/// Parses the moment that `text` names, as of `now` in `zone`. A day means its beginning.
///
/// # Errors
/// Fails if the text is no known form of a date.
pub fn parse_date(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, InvalidDate> {
    let invalid = || InvalidDate(text.to_owned());
    let normal = text.trim().to_lowercase();
    if let Ok(timestamp) = text.trim().parse::<Timestamp>() {
        return Ok(timestamp);
    }
    let today = now.to_zoned(zone.clone());
    let start =
        |date: Date| date.to_zoned(zone.clone()).map(|day| day.timestamp()).map_err(|_| invalid());
    if normal.len() == 10
        && let Ok(date) = normal.parse::<Date>()
    {
        return start(date);
    }
    if let Ok(time) = normal.replace(' ', "T").parse::<DateTime>() {
        return time.to_zoned(zone.clone()).map(|time| time.timestamp()).map_err(|_| invalid());
    }
    if let Ok(month) = format!("{normal}-01").parse::<Date>()
        && normal.len() == 7
    {
        return start(month);
    }
    match normal.as_str() {
        "now" => return Ok(now),
        "today" => return start(today.date()),
        "yesterday" => return start(today.date().yesterday().map_err(|_| invalid())?),
        "last week" => return back(&today, 1.week()).ok_or_else(invalid),
        "last month" => return back(&today, 1.month()).ok_or_else(invalid),
        "last year" => return back(&today, 1.year()).ok_or_else(invalid),
        _ => {}
    }
    let normal = normal.strip_suffix("ago").unwrap_or(&normal).trim();
    let digits = normal.find(|c: char| !c.is_ascii_digit()).unwrap_or(normal.len());
    let (number, unit) = normal.split_at(digits);
    let number: i64 = match number {
        "" => match unit.split_once(' ') {
            Some(("a" | "an" | "one", _)) => 1,
            _ => return Err(invalid()),
        },
        number => number.parse().map_err(|_| invalid())?,
    };
    let unit =
        unit.trim().trim_start_matches("an ").trim_start_matches("a ").trim_start_matches("one ");
    let span = match unit.trim().trim_end_matches('s') {
        "min" | "minute" => Span::new().try_minutes(number),
        "h" | "hour" | "hr" => Span::new().try_hours(number),
        "d" | "day" => Span::new().try_days(number),
        "w" | "week" | "wk" => Span::new().try_weeks(number),
        "m" | "mo" | "month" => Span::new().try_months(number),
        "y" | "year" | "yr" => Span::new().try_years(number),
        _ => return Err(invalid()),
    };
    span.ok().and_then(|span| back(&today, span)).ok_or_else(invalid)
}

fn back(from: &Zoned, span: Span) -> Option<Timestamp> {
    from.checked_sub(span).ok().map(|moment| moment.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        let now: Timestamp = "2026-11-20T15:30:00Z".parse().unwrap();
        parse_date(text, now, &TimeZone::UTC).map_or_else(|e| e.to_string(), |t| t.to_string())
    }

    #[test]
    fn dates_as_people_write_them() {
        for (text, moment) in [
            ("2026-03-01", "2026-03-01T00:00:00Z"),
            ("2026-03", "2026-03-01T00:00:00Z"),
            ("2026-03-01 12:30", "2026-03-01T12:30:00Z"),
            ("2026-03-01T12:30:00+02:00", "2026-03-01T10:30:00Z"),
            ("today", "2026-11-20T00:00:00Z"),
            ("Yesterday", "2026-11-19T00:00:00Z"),
            ("2 weeks ago", "2026-11-06T15:30:00Z"),
            ("a month ago", "2026-10-20T15:30:00Z"),
            ("an hour ago", "2026-11-20T14:30:00Z"),
            ("3d", "2026-11-17T15:30:00Z"),
            ("last week", "2026-11-13T15:30:00Z"),
        ] {
            assert_eq!(parsed(text), moment, "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_said_to_be_none() {
        for text in
            ["", "soon", "32 of may", "9999999999999999999 days", "999999999999 years ago", "-3d"]
        {
            assert!(parsed(text).contains("is not a date"), "{text}");
        }
    }
}
