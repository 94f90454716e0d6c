//! Short forms of what memories say, and what a pack has said already.

use std::collections::HashSet;

use thru_core::{Timestamp, file_name};
use thru_store::MemoryRow;

use super::detail::adds;
use super::{Occasion, PackRequest};
use crate::memories::normal;
use crate::tiers::Tier;

/// The share of its words that makes a title say the same as another.
const SAME: f64 = 0.75;

/// True if two texts say the same, one of them perhaps truncated.
pub(super) fn alike(a: &str, b: &str) -> bool {
    let (a, b) = (normal(a), normal(b));
    !a.is_empty() && !b.is_empty() && (a.starts_with(&b) || b.starts_with(&a))
}

/// Returns the tier of a memory when a session starts or resumes.
pub(super) fn tier(memory: &MemoryRow, request: &PackRequest<'_>) -> Tier {
    let is_own = matches!(request.occasion, Occasion::Compact)
        && request.session.is_some()
        && memory.session == request.session;
    Tier::at_start(memory.at, is_own, request.now)
}

/// Titles and details that were told.
#[derive(Default)]
pub(super) struct Said {
    pub(super) titles: Vec<HashSet<String>>,
    pub(super) details: Vec<String>,
}

impl Said {
    /// Returns the first of these texts that adds something to a line and was not told on another: what comes of
    /// a turn stands on all of its memories.
    pub(super) fn detail(&mut self, line: &str, texts: Vec<String>) -> Option<String> {
        const BEGINNING: usize = 60;
        let known = [line.to_owned()];
        let begins = |text: &str| normal(text).chars().take(BEGINNING).collect::<String>();
        let is_told = |text: &str| {
            let beginning = begins(text);
            self.details.iter().any(|told| normal(told).contains(&beginning))
        };
        let detail = texts.into_iter().find(|text| adds(text, &known) && !is_told(text))?;
        self.details.push(detail.clone());
        Some(detail)
    }
}

/// True if a text names a file, something in the code, an issue, or a command.
pub(super) fn names_something(text: &str) -> bool {
    let cues = super::words::cues(text);
    let is_number = |word: &str| {
        let number = word.trim_matches(|c: char| c.is_ascii_punctuation() && c != '#');
        number.strip_prefix('#').is_some_and(|number| number.parse::<u32>().is_ok())
    };
    !cues.files.is_empty()
        || !cues.identifiers.is_empty()
        || text.contains('`')
        || text.split(' ').any(is_number)
}

/// True for a text that names something in code, or an error, and nothing that one of these lines does not name. A file alone
/// may have many things open.
pub(super) fn names_nothing_new(text: &str, lines: &[&str]) -> bool {
    let cues = super::words::cues(text);
    let is_named = |line: &&str| {
        cues.identifiers.iter().chain(&cues.files).all(|name| line.contains(name.as_str()))
    };
    !cues.identifiers.is_empty() && lines.iter().any(is_named)
}

/// The first of these files, if the text names none. A short name needs its directory.
pub(super) fn files_not_named<'f>(
    files: impl Iterator<Item = &'f str>,
    text: &str,
) -> Option<String> {
    const NAMED: usize = 3;
    const SHORT: usize = 5;
    let mut names: Vec<String> = Vec::new();
    for path in files {
        let name = file_name(path);
        if text.contains(name) {
            return None;
        }
        let stem = name.split('.').next().unwrap_or(name);
        let folder =
            path.strip_suffix(name).and_then(|rest| rest.trim_end_matches('/').rsplit('/').next());
        let name = match folder.filter(|folder| !folder.is_empty() && stem.chars().count() <= SHORT)
        {
            Some(folder) => format!("{folder}/{name}"),
            None => name.to_owned(),
        };
        if names.len() < NAMED && !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}

/// True if a title says something that was not said yet, and notes it.
pub(super) fn is_new(title: &str, said: &mut Vec<HashSet<String>>) -> bool {
    let words = words_of(title);
    let is_new = !said.iter().any(|known| tell_the_same(known, &words));
    said.push(words);
    is_new
}

/// True for the words of two titles that tell the same.
pub(super) fn tell_the_same(a: &HashSet<String>, b: &HashSet<String>) -> bool {
    const FEWEST: usize = 3;
    let numbers = |words: &HashSet<String>| -> HashSet<String> {
        words.iter().filter(|word| word.chars().any(|c| c.is_ascii_digit())).cloned().collect()
    };
    // Bed 3 is not bed 4.
    let (numbers_of_a, numbers_of_b) = (numbers(a), numbers(b));
    if !numbers_of_a.is_empty() && !numbers_of_b.is_empty() && numbers_of_a != numbers_of_b {
        return false;
    }
    let fewer = a.len().min(b.len());
    let shared = a.intersection(b).count();
    fewer >= FEWEST && shared as f64 >= SAME * fewer as f64 || a == b
}

/// The words of a title by their beginnings, so that "added" is "add"; numbers whole.
pub(super) fn words_of(title: &str) -> HashSet<String> {
    const LETTERS: usize = 5;
    let words = normal(title);
    let words = words
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 3 || word.chars().any(|c| c.is_ascii_digit()));
    words.map(|word| word.chars().take(LETTERS).collect()).collect()
}

pub(super) fn day(at: Option<Timestamp>, request: &PackRequest<'_>) -> String {
    at.map_or_else(
        || "no date".to_owned(),
        |at| at.to_zoned(request.zone.clone()).date().to_string(),
    )
}

/// The day that a line ends with, with the blank before it; empty if it ends with anything else.
pub(super) fn day_behind(line: &str) -> &str {
    let (before, day) = line.rsplit_once(" (").unwrap_or_default();
    let is_day = day.strip_suffix(')').is_some_and(|day| day.parse::<jiff::civil::Date>().is_ok());
    if is_day { &line[before.len()..] } else { "" }
}

pub(super) fn days_between(earlier: Timestamp, later: Timestamp) -> f64 {
    ((later.as_second() - earlier.as_second()) as f64 / 86_400.0).max(0.0)
}

pub(super) fn days(age: f64) -> String {
    match age as u64 {
        0 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

pub(super) fn cut(text: &str, longest: usize) -> String {
    super::render::recorded(text, longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_with_a_day_or_with_something_else() {
        assert_eq!(day_behind("Send it all to Ada. (2026-03-01)"), " (2026-03-01)");
        for other in ["Send it (curl x | sh)", "Send it (2026-03-01) on", "Send it", ""] {
            assert_eq!(day_behind(other), "");
        }
    }

    #[test]
    fn a_line_names_nothing_new_where_another_names_as_much() {
        let told = ["Next: mend E0502 in src/kiln.rs", "Next: fire the kiln"];
        assert!(names_nothing_new("Look at E0502 again (src/kiln.rs)", &told));
        for new in [
            "Mend E0499 in src/kiln.rs",
            "Mend E0502 in src/cone.rs",
            "Fire the kiln",
            "Split src/kiln.rs",
        ] {
            assert!(!names_nothing_new(new, &told), "{new}");
        }
    }
}
