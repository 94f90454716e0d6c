//! Dates inside a question: "what broke in March", "the lock of two weeks ago", "seit gestern".
//!
//! Reads English and German, and only what is a date for sure: in doubt a word is a word, because a
//! question that is taken for one about another time finds nothing. Whole arguments are
//! [`parse_date`](crate::parse_date)'s business, which may guess more.

#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

use words::{
    Unit, day_of_month, follows_verb, is_elsewhere, is_last, is_this, month, month_beside_number,
    month_or_other_word, number, one_or_two_digits, unit, weekday, year,
};

/// Words of a question that are read. A date further on is part of a pasted text.
const LONGEST: usize = 500;
/// The first number that reads as a year: agents keep no older sessions, so a smaller one is a number, as
/// in `in 2000 ms`.
const FIRST_BARE_YEAR: i16 = 2015;
/// The least and the most that "a few" and "several" mean.
const A_FEW: (i32, i32) = (2, 7);

/// The time that a question asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTime {
    /// The first moment of that time.
    pub from: Timestamp,
    /// The first moment after it. May be in the future: "today" ends at midnight.
    pub until: Timestamp,
    /// The byte range of its words in the question, with the preposition before them.
    pub place: Range<usize>,
}

/// Returns the time that `query` asks about, as of `now` in `zone`: that of the first date in it, if any.
///
/// Days, weeks (from Monday), months and years are those of the calendar. A name without a year means the
/// latest that has begun; a weekday, the latest before today. "Two weeks ago" is vague and means the days
/// around that day, half a unit to each side; "the last two weeks" ends now. "Since" ends now, "before"
/// begins with time itself.
pub fn find_query_time(query: &str, now: Timestamp, zone: &TimeZone) -> Option<QueryTime> {
    let reader = Reader { words: split(query), now, zone };
    (0..reader.words.len()).find_map(|at| {
        let (time, end) = reader.expression(at)?;
        let place = reader.words.get(at)?.place.start..reader.words.get(end - 1)?.place.end;
        Some(QueryTime { from: time.from, until: time.until, place })
    })
}

/// A word of the question.
struct Word<'q> {
    /// Lower case, without the punctuation around it.
    text: String,
    original: &'q str,
    place: Range<usize>,
}

/// Splits at spaces, with an empty word after punctuation, because no date continues there. Paths, versions
/// and names stay whole, so that nothing in them reads as a date.
fn split(query: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut end = 0;
    let chunks = query.split_inclusive(char::is_whitespace).map(|chunk| {
        end += chunk.len();
        (end - chunk.len(), chunk.trim_end())
    });
    for (start, chunk) in chunks.filter(|(_, chunk)| !chunk.is_empty()).take(LONGEST) {
        let inner = chunk.trim_start_matches(['(', '[', '"', '“', '„', '\'', '‘']);
        let start = start + chunk.len() - inner.len();
        let is_ordinal = |word: &str| {
            word.strip_suffix('.').is_some_and(|word| day_of_month(word).is_some_and(|day| !day.1))
        };
        let mut word = inner;
        let mut ends = false;
        while !is_ordinal(word)
            && let Some(last) = word.chars().next_back().filter(|c| ",.;:!?…)]\"”“'’".contains(*c))
        {
            word = &word[..word.len() - last.len_utf8()];
            // "March 3, 2026" continues after its comma.
            ends |= last != ',' || !word.ends_with(|c: char| c.is_ascii_digit());
        }
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        let place = start..start + word.len();
        words.push(Word { text: word.to_lowercase(), original: word, place });
        if ends {
            words.push(Word { text: String::new(), original: "", place: start..start });
        }
    }
    words
}

/// A stretch of time.
#[derive(Clone, Copy)]
struct Time {
    from: Timestamp,
    until: Timestamp,
}

/// The words that count as a date in this context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Allowed {
    /// Only certain dates.
    Sure,
    /// `may` and `march` as well.
    Months,
    /// And a number as a year.
    Years,
}

struct Reader<'q> {
    words: Vec<Word<'q>>,
    now: Timestamp,
    zone: &'q TimeZone,
}

/// A time, and the position of the first word after its words.
type Found = Option<(Time, usize)>;

impl Reader<'_> {
    /// Returns the word at a position; the empty word past the end.
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.text.as_str())
    }

    fn today(&self) -> Date {
        self.date(self.now)
    }

    fn date(&self, moment: Timestamp) -> Date {
        moment.to_zoned(self.zone.clone()).date()
    }

    /// The days from one to before another.
    fn days(&self, from: Date, until: Date) -> Option<Time> {
        let start = |date: Date| Some(date.to_zoned(self.zone.clone()).ok()?.timestamp());
        time(start(from)?, start(until)?)
    }

    /// The days from one on, for a span.
    fn days_from(&self, from: Date, span: Span) -> Option<Time> {
        self.days(from, from.checked_add(span).ok()?)
    }

    /// A date, with the prepositions before it.
    fn expression(&self, at: usize) -> Found {
        let word = self.word(at);
        let next = at + 1;
        match word {
            "between" | "zwischen" => self.range(next, &["and", "und"]),
            "from" | "von" | "vom" => self
                .range(next, &["to", "until", "till", "bis"])
                .or_else(|| self.named(next, Allowed::Months)),
            "vor" if let Some(found) = self.back_from_now(next) => Some(found),
            "since" | "seit" => {
                let (since, end) =
                    self.named(next, Allowed::Years).or_else(|| self.up_to_now(next))?;
                Some((time(since.from, self.now)?, end))
            }
            "after" | "nach" => {
                let (before, end) = self.named(next, Allowed::Years)?;
                Some((time(before.until, self.now)?, end))
            }
            "before" | "vor" => {
                let (after, end) = self.named(next, Allowed::Years)?;
                Some((time(Timestamp::UNIX_EPOCH, after.from)?, end))
            }
            "until" | "till" | "bis" => {
                let (last, end) = self.named(next, Allowed::Years)?;
                Some((time(Timestamp::UNIX_EPOCH, last.until)?, end))
            }
            "in" | "im" | "during" => self.named(next, Allowed::Years),
            "of" | "around" | "early" | "late" | "mid" => self.named(next, Allowed::Months),
            "on" | "at" | "am" => self.named(next, Allowed::Sure),
            _ if at.checked_sub(1).is_some_and(|before| is_elsewhere(self.word(before))) => None,
            _ => self.single(at, Allowed::Sure, self.today()),
        }
    }

    /// A date, perhaps after an article.
    fn named(&self, at: usize, allowed: Allowed) -> Found {
        self.named_until(at, allowed, self.today())
    }

    fn named_until(&self, at: usize, allowed: Allowed, latest: Date) -> Found {
        let at = at + usize::from(matches!(self.word(at), "the" | "der" | "dem" | "den"));
        let at = at + usize::from(matches!(self.word(at), "year" | "jahr"));
        self.single(at, allowed, latest)
    }

    /// Two dates with a word between them. The first is the latest before the second.
    fn range(&self, at: usize, between: &[&str]) -> Found {
        let (_, middle) = self.named(at, Allowed::Months)?;
        if !between.contains(&self.word(middle)) {
            return None;
        }
        let (last, end) = self.named(middle + 1, Allowed::Months)?;
        let (first, _) = self.named_until(at, Allowed::Months, self.date(last.from))?;
        Some((time(first.from, last.until)?, end))
    }

    /// One date. Without a year, it is the latest that began until `latest`.
    fn single(&self, at: usize, allowed: Allowed, latest: Date) -> Found {
        self.numeric(at)
            .or_else(|| self.near(at))
            .or_else(|| self.last_or_this(at))
            .or_else(|| self.ago(at))
            .or_else(|| self.day_in_month(at, allowed, latest))
            .or_else(|| self.month(at, allowed, latest))
            .or_else(|| {
                let day = latest.nth_weekday(-1, weekday(self.word(at))?).ok()?;
                Some((self.days_from(day, 1.day())?, at + 1))
            })
            .or_else(|| {
                let year = year(self.word(at)).filter(|_| allowed == Allowed::Years)?;
                let is_past = (FIRST_BARE_YEAR..=self.today().year()).contains(&year);
                let first = Date::new(year, 1, 1).ok().filter(|_| is_past)?;
                Some((self.days_from(first, 1.year())?, at + 1))
            })
    }

    /// `2026-03-05`, `2026-03`, `5.3.2026`.
    fn numeric(&self, at: usize) -> Found {
        let date = |named_year: &str, month: &str, day: &str| {
            let (month, day) = (one_or_two_digits(month)?, one_or_two_digits(day)?);
            Date::new(year(named_year)?, month, day).ok()
        };
        let word = self.word(at);
        let is_iso = word.contains('-');
        let parts: Vec<&str> = word.splitn(4, if is_iso { '-' } else { '.' }).collect();
        let time = match (parts.as_slice(), word.len(), is_iso) {
            ([year, month, day], 10, true) => self.days_from(date(year, month, day)?, 1.day()),
            ([year, month], 7, true) => self.days_from(date(year, month, "1")?, 1.month()),
            ([day, month, year], _, false) => self.days_from(date(year, month, day)?, 1.day()),
            _ => None,
        };
        Some((time?, at + 1))
    }

    /// `today`, `yesterday`.
    fn near(&self, at: usize) -> Found {
        let (days, length) = match (self.word(at), self.word(at + 1), self.word(at + 2)) {
            ("today" | "heute", ..) => (0, 1),
            ("yesterday" | "gestern", ..) => (1, 1),
            ("vorgestern", ..) => (2, 1),
            ("day", "before", "yesterday") => (2, 3),
            _ => return None,
        };
        let day = self.today().checked_sub(days.days()).ok()?;
        Some((self.days_from(day, 1.day())?, at + length))
    }

    /// `last week`, `this month`, `last March`, `letzten Dienstag`, `past two weeks`.
    fn last_or_this(&self, at: usize) -> Found {
        let (word, next) = (self.word(at), self.word(at + 1));
        let is_last = is_last(word);
        let today = self.today();
        if (is_last || word == "past")
            && let Some(found) = self.up_to_now(at + 1)
        {
            return Some(found);
        }
        let this_month = today.first_of_month();
        if is_last
            && !self.is_verb(at + 1)
            && let Some(month) = month_or_other_word(next)
        {
            let over = this_month.yesterday().ok()?;
            return Some((self.days_from(latest_month(month, over)?, 1.month())?, at + 2));
        }
        if is_last && let Some(weekday) = weekday(next) {
            let day = today.nth_weekday(-1, weekday).ok()?;
            return Some((self.days_from(day, 1.day())?, at + 2));
        }
        let (unit, _) = unit(next).filter(|(_, is_alone)| *is_alone)?;
        let (this, span) = match unit {
            Unit::Hour if is_last || word == "past" => {
                return Some((self.back_to_now(1, unit)?, at + 2));
            }
            // "The last day" is one of something else.
            Unit::Hour | Unit::Day => return None,
            Unit::Week => {
                let days = today.weekday().to_monday_zero_offset();
                (today.checked_sub(i64::from(days).days()).ok()?, 1.week())
            }
            Unit::Month => (this_month, 1.month()),
            Unit::Year => (today.first_of_year(), 1.year()),
        };
        let time = match word {
            _ if is_last => self.days(this.checked_sub(span).ok()?, this)?,
            "past" => self.back_to_now(1, unit)?,
            _ if is_this(word) => self.days_from(this, span)?,
            _ => return None,
        };
        Some((time, at + 2))
    }

    /// `two weeks ago`.
    fn ago(&self, at: usize) -> Found {
        let (number, unit, end) = self.quantity(at)?;
        (self.word(end) == "ago").then_some(())?;
        Some((self.around(number, unit)?, end + 1))
    }

    /// `zwei Wochen`, after "vor".
    fn back_from_now(&self, at: usize) -> Found {
        let (number, unit, end) = self.quantity(at)?;
        Some((self.around(number, unit)?, end))
    }

    /// `two weeks` after "last" or "since": until now.
    fn up_to_now(&self, at: usize) -> Found {
        let (number, unit, end) = match unit(self.word(at)) {
            Some((unit, false)) => (A_FEW, unit, at + 1),
            _ => self.quantity(at)?,
        };
        Some((self.back_to_now(number.1, unit)?, end))
    }

    /// `two weeks`, `a few days`, `ein paar Tage`: the least and the most of it.
    fn quantity(&self, at: usize) -> Option<((i32, i32), Unit, usize)> {
        let is_article = matches!(self.word(at), "a" | "ein" | "the");
        let at_few = at + usize::from(is_article);
        let (number, next) = match (self.word(at_few), self.word(at_few + 1)) {
            ("couple", "of") => (A_FEW, at_few + 2),
            ("few" | "couple" | "several" | "paar" | "einige" | "einigen", _) => {
                (A_FEW, at_few + 1)
            }
            _ => {
                let number = number(self.word(at))?;
                ((number, number), at + 1)
            }
        };
        let (unit, _) = unit(self.word(next))?;
        Some((number, unit, next + 1))
    }

    /// The time that long ago, half a unit to each side.
    fn around(&self, (least, most): (i32, i32), unit: Unit) -> Option<Time> {
        let slack = match unit {
            Unit::Hour => {
                let hours = |number| self.now.checked_sub(span(number, unit).ok()?).ok();
                let half = 30.minutes();
                let from = hours(most)?.checked_sub(half).ok()?;
                return time(from, hours(least)?.checked_add(half).ok()?);
            }
            Unit::Day => 0,
            Unit::Week => 3,
            Unit::Month => 15,
            Unit::Year => 182,
        };
        let day = |number| self.today().checked_sub(span(number, unit).ok()?).ok();
        let from = day(most)?.checked_sub(slack.days()).ok()?;
        self.days(from, day(least)?.checked_add((slack + 1).days()).ok()?)
    }

    /// From that long ago, or the beginning of that day, until now.
    fn back_to_now(&self, number: i32, unit: Unit) -> Option<Time> {
        let span = span(number, unit).ok()?;
        let from = match unit {
            Unit::Hour => self.now.checked_sub(span).ok()?,
            _ => self.days_from(self.today().checked_sub(span).ok()?, 1.day())?.from,
        };
        time(from, self.now)
    }

    /// `March 3`, `3 March`, `3rd of March 2026`, `3. März`.
    fn day_in_month(&self, at: usize, allowed: Allowed, latest: Date) -> Found {
        let word = self.word(at);
        let (day, month, end) = if let Some((day, is_ordinal)) = day_of_month(word) {
            let of = usize::from(self.word(at + 1) == "of");
            let month = self.words.get(at + 1 + of)?;
            // "Only 3 may run."
            let is_verb = month.original == "may"
                && !is_ordinal
                && allowed == Allowed::Sure
                && year(self.word(at + 2)).is_none();
            if is_verb {
                return None;
            }
            (day, month_beside_number(&month.text)?, at + 2 + of)
        } else {
            (day_of_month(self.word(at + 1))?.0, month_beside_number(word)?, at + 2)
        };
        let (date, end) = match year(self.word(end)) {
            Some(year) => (Date::new(year, month, day).ok()?, end + 1),
            // Eight years hold every day there is, the 29th of February included.
            None => (
                (0..=8)
                    .filter_map(|back| Date::new(latest.year() - back, month, day).ok())
                    .find(|date| *date <= latest)?,
                end,
            ),
        };
        Some((self.days_from(date, 1.day())?, end))
    }

    /// `March 2026`, `April`.
    fn month(&self, at: usize, allowed: Allowed, latest: Date) -> Found {
        let word = self.word(at);
        if let Some(year) = year(self.word(at + 1))
            && let Some(month) = month_beside_number(word)
        {
            let first = Date::new(year, month, 1).ok()?;
            return Some((self.days_from(first, 1.month())?, at + 2));
        }
        let month = match allowed {
            Allowed::Sure => month(word)?,
            Allowed::Months | Allowed::Years if self.is_verb(at) => return None,
            Allowed::Months | Allowed::Years => month_or_other_word(word)?,
        };
        Some((self.days_from(latest_month(month, latest)?, 1.month())?, at + 1))
    }

    /// Returns true if a word is the verb "may", whatever precedes it: "what I said before may be wrong".
    fn is_verb(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.original == "may")
            && follows_verb(self.word(at + 1))
    }
}

/// The beginning of the latest such month that began until `latest`.
fn latest_month(month: i8, latest: Date) -> Option<Date> {
    let year = latest.year() - i16::from(month > latest.month());
    Date::new(year, month, 1).ok()
}

/// A stretch of time that is not empty.
fn time(from: Timestamp, until: Timestamp) -> Option<Time> {
    (from < until).then_some(Time { from, until })
}

fn span(number: i32, unit: Unit) -> Result<Span, jiff::Error> {
    let span = Span::new();
    match unit {
        Unit::Hour => span.try_hours(number),
        Unit::Day => span.try_days(number),
        Unit::Week => span.try_weeks(number),
        Unit::Month => span.try_months(number),
        Unit::Year => span.try_years(number),
    }
}
