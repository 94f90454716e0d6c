//! The dates in a question.

use thru_core::Timestamp;
use thru_recall::{QueryTime, find_query_time, last_before};
use thru_store::Store;

use crate::app::App;
use crate::trouble::Result;

/// The moment from which the dates of a question are read: now, or the last session where it names a day without its year
/// on which there is none yet. Then the same day of an earlier year is meant.
pub(super) fn dates_as_of(
    app: &App,
    store: &Store,
    query: &str,
    projects: Option<&[i64]>,
) -> Result<Timestamp> {
    let (now, zone) = (app.clock.now(), app.zone());
    let Some(meant) = find_query_time(query, now, zone) else { return Ok(now) };
    let names_day = query[meant.place.clone()].contains(|c: char| c.is_ascii_digit());
    let last = last_before(store, now, projects)?.and_then(|row| row.at);
    let Some(last) = last.filter(|last| names_day && *last < meant.from) else { return Ok(now) };
    let date = |at: Timestamp| at.to_zoned(zone.clone()).date();
    let is_same_day = |then: QueryTime| {
        let (then, meant) = (date(then.from), date(meant.from));
        (then.month(), then.day()) == (meant.month(), meant.day())
    };
    let is_of_year = find_query_time(query, last, zone).is_some_and(is_same_day);
    Ok(if is_of_year { last } else { now })
}

/// The time that a question speaks of, as of some moment, in milliseconds since 1970: from, until.
pub(super) fn time_meant(app: &App, query: &str, now: Timestamp) -> Option<(i64, i64)> {
    find_query_time(query, now, app.zone())
        .map(|when| (when.from.as_millisecond(), when.until.as_millisecond()))
}
