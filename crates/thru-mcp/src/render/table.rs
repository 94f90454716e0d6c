//! Memories and passages as one line each.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use thru_recall::recorded;

use super::day_and_time;
use crate::told::{Around, Row};

/// Width of the title of a row, in letters; a non-ASCII one counts as two. Twenty rows stay below 1,200
/// tokens.
const LONGEST_TITLE: usize = 140;

/// `k3f9a | 3d | decision | Retry uploads five times | 120`
pub(super) fn row(row: &Row, now: Timestamp, mark: Option<bool>) -> String {
    line(row, &age(row.at, now), mark)
}

fn line(row: &Row, when: &str, mark: Option<bool>) -> String {
    let mark = match mark {
        Some(true) => "> ",
        Some(false) => "  ",
        None => "",
    };
    let stale = if row.is_stale { " (files changed since)" } else { "" };
    let title = cut(&recorded(row.title.get(), 2 * LONGEST_TITLE).replace('|', "¦"));
    format!("{mark}{} | {when} | {} | {title}{stale} | {}\n", row.id, row.kind.as_str(), row.tokens)
}

/// Renders rows by day, with the time.
pub(super) fn timeline(around: &Around, zone: &TimeZone) -> String {
    let mut text = "id | time | type | title | tokens\n".to_owned();
    let mut day = String::new();
    for (place, row) in around.rows.iter().enumerate() {
        let when = day_and_time(row.at, zone);
        let (own_day, time) = when.split_once(' ').unwrap_or((&when, "-"));
        if own_day != day {
            text.push_str(&format!("{own_day}\n"));
            own_day.clone_into(&mut day);
        }
        text.push_str(&line(row, time, Some(around.anchor == Some(place))));
    }
    text
}

fn cut(text: &str) -> String {
    let mut cost = 0;
    for (at, letter) in text.char_indices() {
        cost += if letter.is_ascii() { 1 } else { 2 };
        if cost > LONGEST_TITLE {
            return format!("{}…", text[..at].trim_end());
        }
    }
    text.to_owned()
}

/// `now`, `5min`, `3h`, `2d`, `4w`, `7mo`, `2y`.
fn age(then: Option<Timestamp>, now: Timestamp) -> String {
    let Some(then) = then else { return "-".to_owned() };
    let seconds = now.as_second() - then.as_second();
    match seconds {
        ..60 => "now".to_owned(),
        60..3_600 => format!("{}min", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        86_400..1_209_600 => format!("{}d", seconds / 86_400),
        1_209_600..5_184_000 => format!("{}w", seconds / 604_800),
        5_184_000..63_072_000 => format!("{}mo", seconds / 2_592_000),
        _ => format!("{}y", seconds / 31_536_000),
    }
}
