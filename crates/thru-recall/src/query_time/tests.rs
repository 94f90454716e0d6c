//! Tables of questions with and without dates.

use super::*;
use proptest::prelude::*;

/// A Friday afternoon.
const NOW: &str = "2026-11-20T15:30:00Z";

/// The rules of Europe/Berlin, whatever time zones the machine knows.
fn berlin() -> TimeZone {
    TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
}

/// The parsed words and time in a zone, from and until, days without their midnight.
fn read(query: &str, now: &str, zone: &TimeZone) -> Option<(String, String)> {
    let when = find_query_time(query, now.parse().unwrap(), zone)?;
    let show = |moment: Timestamp| {
        let text = moment.to_zoned(zone.clone()).datetime().to_string();
        text.strip_suffix("T00:00:00").map_or(text.clone(), str::to_owned)
    };
    let time = format!("{} {}", show(when.from), show(when.until));
    Some((query[when.place].to_owned(), time))
}

/// Checks cases of query, words and time at [`NOW`].
fn check(cases: &[(&str, &str, &str)]) {
    for (query, words, time) in cases {
        let (read_words, read_time) = read(query, NOW, &TimeZone::UTC).unwrap_or_default();
        assert_eq!((read_words.as_str(), read_time.as_str()), (*words, *time), "{query}");
    }
}

#[test]
fn months_and_days_by_name() {
    check(&[
        ("what broke in March", "in March", "2026-03-01 2026-04-01"),
        ("what broke last march?", "last march", "2026-03-01 2026-04-01"),
        ("last November", "last November", "2025-11-01 2025-12-01"),
        ("in march 2025 or so", "in march 2025", "2025-03-01 2025-04-01"),
        ("March 2025", "March 2025", "2025-03-01 2025-04-01"),
        ("in december", "in december", "2025-12-01 2026-01-01"),
        ("the April release", "April", "2026-04-01 2026-05-01"),
        ("at the end of May", "of May", "2026-05-01 2026-06-01"),
        ("on March 3", "on March 3", "2026-03-03 2026-03-04"),
        ("3 March", "3 March", "2026-03-03 2026-03-04"),
        ("on the 3rd of may", "on the 3rd of may", "2026-05-03 2026-05-04"),
        ("3 May", "3 May", "2026-05-03 2026-05-04"),
        ("(March 3rd 2026)", "March 3rd 2026", "2026-03-03 2026-03-04"),
        ("March 3, 2025, again", "March 3, 2025", "2025-03-03 2025-03-04"),
        ("the dec 8 crash", "dec 8", "2025-12-08 2025-12-09"),
        ("November 20", "November 20", "2026-11-20 2026-11-21"),
        ("November 21", "November 21", "2025-11-21 2025-11-22"),
        ("on February 29", "on February 29", "2024-02-29 2024-03-01"),
        ("in may", "in may", "2026-05-01 2026-06-01"),
        ("in the year 2025", "in the year 2025", "2025-01-01 2026-01-01"),
        ("in 2025", "in 2025", "2025-01-01 2026-01-01"),
    ]);
}

#[test]
fn dates_in_numbers() {
    check(&[
        ("around 2026-03.", "around 2026-03", "2026-03-01 2026-04-01"),
        ("the log of 2026-03-05", "of 2026-03-05", "2026-03-05 2026-03-06"),
        ("on 5.3.2026", "on 5.3.2026", "2026-03-05 2026-03-06"),
        ("am 05.03.2026.", "am 05.03.2026", "2026-03-05 2026-03-06"),
    ]);
}

#[test]
fn days_and_weeks_seen_from_today() {
    check(&[
        ("what did I do today?", "today", "2026-11-20 2026-11-21"),
        ("yesterday's bug", "yesterday", "2026-11-19 2026-11-20"),
        ("the day before yesterday", "day before yesterday", "2026-11-18 2026-11-19"),
        ("this week", "this week", "2026-11-16 2026-11-23"),
        ("in the last week", "in the last week", "2026-11-09 2026-11-16"),
        ("the past week", "past week", "2026-11-13 2026-11-20T15:30:00"),
        ("this month", "this month", "2026-11-01 2026-12-01"),
        ("last month", "last month", "2026-10-01 2026-11-01"),
        ("this year", "this year", "2026-01-01 2027-01-01"),
        ("last year", "last year", "2025-01-01 2026-01-01"),
        ("last Tuesday", "last Tuesday", "2026-11-17 2026-11-18"),
        ("on Tuesday", "on Tuesday", "2026-11-17 2026-11-18"),
        ("on Friday", "on Friday", "2026-11-13 2026-11-14"),
        ("3 days ago", "3 days ago", "2026-11-17 2026-11-18"),
        ("two weeks ago", "two weeks ago", "2026-11-03 2026-11-10"),
        ("a month ago", "a month ago", "2026-10-05 2026-11-05"),
        ("a year ago", "a year ago", "2025-05-22 2026-05-22"),
        ("an hour ago", "an hour ago", "2026-11-20T14:00:00 2026-11-20T15:00:00"),
        ("a few days ago", "a few days ago", "2026-11-13 2026-11-19"),
        ("a couple of days ago", "a couple of days ago", "2026-11-13 2026-11-19"),
        ("the last 3 days", "last 3 days", "2026-11-17 2026-11-20T15:30:00"),
        ("in the past few days", "in the past few days", "2026-11-13 2026-11-20T15:30:00"),
        ("in the last hour", "in the last hour", "2026-11-20T14:30:00 2026-11-20T15:30:00"),
    ]);
}

#[test]
fn stretches_and_open_ends() {
    check(&[
        ("between March and May", "between March and May", "2026-03-01 2026-06-01"),
        ("between November and February", "between November and February", "2025-11-01 2026-03-01"),
        ("from march to may 2025", "from march to may 2025", "2025-03-01 2025-06-01"),
        (
            "between the 3rd of March and March 10",
            "between the 3rd of March and March 10",
            "2026-03-03 2026-03-11",
        ),
        (
            "from last week until yesterday",
            "from last week until yesterday",
            "2026-11-09 2026-11-20",
        ),
        ("since April", "since April", "2026-04-01 2026-11-20T15:30:00"),
        ("since 2025", "since 2025", "2025-01-01 2026-11-20T15:30:00"),
        ("since two weeks ago", "since two weeks ago", "2026-11-03 2026-11-20T15:30:00"),
        ("before April", "before April", "1970-01-01 2026-04-01"),
        ("after March", "after March", "2026-04-01 2026-11-20T15:30:00"),
        ("until May 2025", "until May 2025", "1970-01-01 2025-06-01"),
    ]);
}

#[test]
fn german() {
    check(&[
        ("was ging im März schief", "im März", "2026-03-01 2026-04-01"),
        ("im Jahr 2025", "im Jahr 2025", "2025-01-01 2026-01-01"),
        ("am 3. März", "am 3. März", "2026-03-03 2026-03-04"),
        ("3. Mai 2025", "3. Mai 2025", "2025-05-03 2025-05-04"),
        ("letzten Oktober", "letzten Oktober", "2026-10-01 2026-11-01"),
        ("letzte Woche", "letzte Woche", "2026-11-09 2026-11-16"),
        ("im letzten Monat", "im letzten Monat", "2026-10-01 2026-11-01"),
        ("dieses Jahr", "dieses Jahr", "2026-01-01 2027-01-01"),
        (
            "in den letzten zwei Wochen",
            "in den letzten zwei Wochen",
            "2026-11-06 2026-11-20T15:30:00",
        ),
        ("in den letzten Tagen", "in den letzten Tagen", "2026-11-13 2026-11-20T15:30:00"),
        ("heute", "heute", "2026-11-20 2026-11-21"),
        ("Was war gestern?", "gestern", "2026-11-19 2026-11-20"),
        ("vorgestern", "vorgestern", "2026-11-18 2026-11-19"),
        ("vor zwei Wochen", "vor zwei Wochen", "2026-11-03 2026-11-10"),
        ("vor einem Monat", "vor einem Monat", "2026-10-05 2026-11-05"),
        ("vor ein paar Tagen", "vor ein paar Tagen", "2026-11-13 2026-11-19"),
        ("letzten Dienstag", "letzten Dienstag", "2026-11-17 2026-11-18"),
        ("am Dienstag", "am Dienstag", "2026-11-17 2026-11-18"),
        ("zwischen März und Mai", "zwischen März und Mai", "2026-03-01 2026-06-01"),
        ("von gestern bis heute", "von gestern bis heute", "2026-11-19 2026-11-21"),
        ("seit April", "seit April", "2026-04-01 2026-11-20T15:30:00"),
        ("seit drei Tagen", "seit drei Tagen", "2026-11-17 2026-11-20T15:30:00"),
        ("vor dem 5.3.2026", "vor dem 5.3.2026", "1970-01-01 2026-03-05"),
    ]);
}

#[test]
fn the_first_of_several_wins() {
    check(&[
        ("was it yesterday or last week", "yesterday", "2026-11-19 2026-11-20"),
        ("in 500 ms, not in March", "in March", "2026-03-01 2026-04-01"),
    ]);
}

#[test]
fn what_is_only_sometimes_a_date_is_none() {
    for query in [
        "",
        "this may fail",
        "may 404 be cached",
        "only 3 may run",
        "what I tried before may be wrong",
        "the last may fail",
        "what is “before” may say more",
        "the state it is in may not hold",
        "march through the list",
        "it is late, may we stop",
        "the sun module of mar.rs",
        "sat solver, dec and oct numbers",
        "finishes in 500 ms",
        "in 2000 ms",
        "in 2048 bytes",
        "in 2030",
        "version 2025.1",
        "what is 2025",
        "v5.3.2026",
        "/var/log/2026-03-05T10-00-file.log",
        "logs/2026-03-05/out.txt",
        "CVE-2026-03",
        "2026-13-05 2026-02-30 31.2.2026 2026-3 2026.03.05 2026-03.05 5-3-2026 5.3.26",
        "`yesterday`",
        "in 3 days",
        "next March",
        "nächsten Dienstag",
        "a job that runs every Monday",
        "what came last? March on",
        "the last day",
        "the week",
        "two weeks",
        "99999999999 days ago",
        "2000 days ago",
        "vor den Tests",
        "before the release",
        "since the refactoring",
        "between files and folders",
    ] {
        assert_eq!(read(query, NOW, &TimeZone::UTC), None, "{query}");
    }
}

#[test]
fn days_are_those_of_the_zone() {
    let berlin = berlin();
    for (query, now, from, until) in [
        // Half an hour into Saturday in Berlin.
        ("today", "2026-11-20T23:30:00Z", "2026-11-20T23:00:00Z", "2026-11-21T23:00:00Z"),
        ("in March", NOW, "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"),
        // The clocks went forward in that night: a day of 23 hours, and back: one of 25.
        ("yesterday", "2026-03-30T10:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
        ("on 25.10.2026", NOW, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
        ("two hours ago", "2026-03-29T02:00:00Z", "2026-03-28T23:30:00Z", "2026-03-29T00:30:00Z"),
    ] {
        let when = find_query_time(query, now.parse().unwrap(), &berlin).unwrap();
        assert_eq!(
            (when.from.to_string().as_str(), when.until.to_string().as_str()),
            (from, until),
            "{query}"
        );
    }
    // A month that has begun in Berlin but not in Greenwich.
    let now = "2026-02-28T23:30:00Z";
    assert_eq!(read("in March", now, &berlin).unwrap().1, "2026-03-01 2026-04-01");
    assert_eq!(read("in March", now, &TimeZone::UTC).unwrap().1, "2025-03-01 2025-04-01");
}

#[test]
fn a_date_far_behind_is_not_looked_for() {
    let pasted = "word ".repeat(LONGEST);
    assert_eq!(read(&format!("{pasted}yesterday"), NOW, &TimeZone::UTC), None);
}

/// Words that dates are made of, and some that are not.
const PIECES: &str = "since|seit|vor|before|after|between|zwischen|and|und|from|to|bis|in|im|on|the|last|\
    letzten|past|this|next|a|few|two|1000|3|3rd|3\\.|31|2025|2026-02-29|2026-03|31\\.12\\.2099|day|days|hours|weeks|\
    month|months|Jahren|ago|may|March|Mär|feb|Dienstag|friday|today|gestern|of|İ|„|,|\\.";

proptest! {
    #[test]
    fn any_text_is_read(text in ".{0,60}", seconds in 0i64..7_000_000_000) {
        let now = Timestamp::from_second(seconds).unwrap();
        let _ = find_query_time(&text, now, &TimeZone::UTC);
    }

    #[test]
    fn a_time_that_is_read_is_not_empty(
        words in prop::collection::vec(PIECES, 0..8),
        gap in "[ \u{a0},]{1,2}",
        seconds in 0i64..7_000_000_000,
    ) {
        let text = words.join(&gap);
        let now = Timestamp::from_second(seconds).unwrap();
        for zone in [TimeZone::UTC, berlin()] {
            if let Some(when) = find_query_time(&text, now, &zone) {
                prop_assert!(when.from < when.until, "{} {:?}", text, when);
                let place = text.get(when.place.clone());
                prop_assert!(place.is_some_and(|place| place == place.trim() && !place.is_empty()));
                // The words that were read are read again alone, unless a word before forbade it.
                let alone = find_query_time(place.unwrap_or_default(), now, &zone);
                prop_assert!(alone.is_some(), "{}", text);
            }
        }
    }
}
