//! The words that make up dates, in English and German, all in lower case.

use jiff::civil::Weekday;

/// The month that a word certainly names: `january`, `märz`. `may` and `march` are other words, too.
pub(super) fn month(word: &str) -> Option<i8> {
    Some(match word {
        "january" | "januar" | "jänner" => 1,
        "february" | "februar" => 2,
        "märz" | "maerz" => 3,
        "april" => 4,
        "mai" => 5,
        "june" | "juni" => 6,
        "july" | "juli" => 7,
        "august" => 8,
        "september" => 9,
        "october" | "oktober" => 10,
        "november" => 11,
        "december" | "dezember" => 12,
        _ => return None,
    })
}

/// The month that a word names if other words say that it is one.
pub(super) fn month_or_other_word(word: &str) -> Option<i8> {
    Some(match word {
        "march" => 3,
        "may" => 5,
        _ => return month(word),
    })
}

/// The month that a word stands for beside a day or a year.
pub(super) fn month_beside_number(word: &str) -> Option<i8> {
    Some(match word {
        "jan" => 1,
        "feb" => 2,
        "mar" | "mär" => 3,
        "apr" => 4,
        "jun" => 6,
        "jul" => 7,
        "aug" => 8,
        "sep" | "sept" => 9,
        "oct" | "okt" => 10,
        "nov" => 11,
        "dec" | "dez" => 12,
        _ => return month_or_other_word(word),
    })
}

/// The weekday that a word names.
pub(super) fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" | "montag" => Weekday::Monday,
        "tuesday" | "dienstag" => Weekday::Tuesday,
        "wednesday" | "mittwoch" => Weekday::Wednesday,
        "thursday" | "donnerstag" => Weekday::Thursday,
        "friday" | "freitag" => Weekday::Friday,
        "saturday" | "samstag" | "sonnabend" => Weekday::Saturday,
        "sunday" | "sonntag" => Weekday::Sunday,
        _ => return None,
    })
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// The unit that a word names, and true if it may be a single one: `week`, not `weeks`.
pub(super) fn unit(word: &str) -> Option<(Unit, bool)> {
    Some(match word {
        "hour" | "stunde" => (Unit::Hour, true),
        "hours" | "stunden" => (Unit::Hour, false),
        "day" | "tag" => (Unit::Day, true),
        "days" | "tage" | "tagen" => (Unit::Day, false),
        "week" | "woche" => (Unit::Week, true),
        "weeks" | "wochen" => (Unit::Week, false),
        "month" | "monat" | "monats" => (Unit::Month, true),
        "months" | "monate" | "monaten" => (Unit::Month, false),
        "year" | "jahr" | "jahres" => (Unit::Year, true),
        "years" | "jahre" | "jahren" => (Unit::Year, false),
        _ => return None,
    })
}

/// The number that a word names, up to a thousand.
pub(super) fn number(word: &str) -> Option<i32> {
    Some(match word {
        "a" | "an" | "one" | "ein" | "eine" | "einem" | "einen" | "einer" => 1,
        "two" | "zwei" => 2,
        "three" | "drei" => 3,
        "four" | "vier" => 4,
        "five" | "fünf" => 5,
        "six" | "sechs" => 6,
        "seven" | "sieben" => 7,
        "eight" | "acht" => 8,
        "nine" | "neun" => 9,
        "ten" | "zehn" => 10,
        "eleven" | "elf" => 11,
        "twelve" | "zwölf" => 12,
        _ => return digits(word, 1..=4).filter(|number| *number <= 1_000),
    })
}

/// The year that a word of four digits names, of this century.
pub(super) fn year(word: &str) -> Option<i16> {
    digits(word, 4..=4).filter(|year| (2000..2100).contains(year)).and_then(|y| y.try_into().ok())
}

/// The day of a month: `3`, `3rd`, `3.`; and true if it is written as an ordinal.
pub(super) fn day_of_month(word: &str) -> Option<(i8, bool)> {
    let ordinal = ["st", "nd", "rd", "th", "."].iter().find_map(|end| word.strip_suffix(end));
    let day = one_or_two_digits(ordinal.unwrap_or(word))?;
    (1..=31).contains(&day).then_some((day, ordinal.is_some()))
}

/// A day or a month as a number.
pub(super) fn one_or_two_digits(word: &str) -> Option<i8> {
    digits(word, 1..=2)?.try_into().ok()
}

/// Returns true if a word says that a date is not in the past, or not one date.
pub(super) fn is_elsewhere(word: &str) -> bool {
    matches!(word, "next" | "every" | "each" | "jede" | "jeden" | "jedem" | "jedes")
        || has_stem(word, "nächste")
        || has_stem(word, "kommende")
}

/// Returns true if a word follows "may" as a verb: the most frequent ones.
#[rustfmt::skip]
pub(super) fn follows_verb(word: &str) -> bool {
    matches!(
        word,
        "be" | "have" | "not" | "also" | "still" | "never" | "only" | "even" | "well" | "i" | "we" | "it"
            | "affect" | "break" | "cause" | "change" | "contain" | "differ" | "exist" | "explain" | "fail"
            | "get" | "help" | "include" | "lead" | "need" | "require" | "take" | "want" | "work"
    )
}

/// Returns true for `last` and the like, which name the previous one.
pub(super) fn is_last(word: &str) -> bool {
    matches!(word, "last" | "previous")
        || ["letzte", "vorige", "vergangene"].iter().any(|stem| has_stem(word, stem))
}

/// Returns true for `this` and the like.
pub(super) fn is_this(word: &str) -> bool {
    word == "this" || has_stem(word, "diese")
}

/// Returns true if a German word is the stem with one of its endings.
fn has_stem(word: &str, stem: &str) -> bool {
    word.strip_prefix(stem).is_some_and(|ending| matches!(ending, "" | "n" | "r" | "s" | "m"))
}

fn digits(word: &str, length: std::ops::RangeInclusive<usize>) -> Option<i32> {
    let is_number = length.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { word.parse().ok() } else { None }
}
