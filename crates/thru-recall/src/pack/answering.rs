//! The part of a report that answers a prompt: from the sentence on that holds most of what the prompt asks for, with the
//! code, the values and the links that follow it.

use std::collections::{BTreeSet, HashMap};

use thru_store::index::QueryTerms;
use thru_store::index::tokenizer::Terms;

use super::render::recorded;
use super::speaker::{depends, sentences};

/// Units of a text that are looked at.
const UNITS: usize = 400;
/// The worth of a word that the title holds already, relative to others.
const IN_TITLE: f32 = 0.5;

/// A sentence, an item of a list, or a line of code.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    text: String,
    /// The line that it stands in.
    line: usize,
}

/// The part that answers, and its worth.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) worth: f32,
}

/// Returns the part of a text that answers a query behind a title; `None` where no sentence holds a word of it.
pub(super) fn answering(
    text: &str,
    query: &QueryTerms,
    title: &str,
    longest: usize,
) -> Option<Answer> {
    let wanted: HashMap<&str, usize> =
        query.in_all_forms().map(|(number, form)| (form, number)).collect();
    let held = |text: &str| {
        let mut held: BTreeSet<usize> = BTreeSet::new();
        Terms::default().tokenize(text, |term, _| held.extend(wanted.get(term).copied()));
        held
    };
    let known = held(title);
    let worth = |unit: &Unit| -> f32 {
        held(&unit.text).iter().map(|one| if known.contains(one) { IN_TITLE } else { 1.0 }).sum()
    };
    let units = units(text);
    let (mut at, mut most) = (0, 0.0);
    for (place, unit) in units.iter().enumerate() {
        let worth = worth(unit);
        if worth > most {
            (at, most) = (place, worth);
        }
    }
    let first = units.get(at).filter(|_| most > 0.0)?;
    let before = at.checked_sub(1).and_then(|before| units.get(before));
    if depends(&first.text) && before.is_some_and(|before| before.line == first.line) {
        at -= 1;
    }
    let mut told: Vec<&str> = Vec::new();
    let mut room = longest;
    for unit in &units[at..] {
        let length = unit.text.chars().count() + 2;
        // The end of half a sentence misleads.
        if length > room && !told.is_empty() {
            break;
        }
        room = room.saturating_sub(length);
        told.push(&unit.text);
    }
    while told.len() > 1 && told.last().is_some_and(|last| last.ends_with(':')) {
        told.pop();
    }
    let told = told.into_iter().fold(String::new(), |told, next| match told.chars().last() {
        None => next.to_owned(),
        Some('.' | '!' | '?' | ':' | ';') => format!("{told} {next}"),
        Some(_) => format!("{told}; {next}"),
    });
    Some(Answer { text: recorded(&told, longest), worth: most })
}

fn units(text: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut is_code = false;
    for (line, written) in text.lines().enumerate() {
        let bare = written.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            is_code = !is_code;
        } else if is_code {
            if !bare.is_empty() {
                units.push(Unit { text: format!("`{}`", bare.replace('`', "'")), line });
            }
        } else if bare.chars().any(char::is_alphanumeric) && !bare.starts_with('#') {
            let bare = without_mark(bare).replace("**", "");
            let sentences = sentences(&bare).map(|text| Unit { text: text.to_owned(), line });
            units.extend(sentences);
        }
        if units.len() >= UNITS {
            break;
        }
    }
    units
}

/// An item without its bullet or number, a row of a table without its bars at both ends.
fn without_mark(line: &str) -> &str {
    let line =
        line.trim_start_matches(['-', '*', '+', '>', '•', '|', ' ']).trim_end_matches(['|', ' ']);
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")) {
        Some(item) if rest.len() < line.len() => item.trim_start(),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::analyse;

    #[test]
    fn an_answer_begins_with_the_sentence_that_answers() {
        let report = "The kiln is ready. I cleaned the shelves.\n\n\
            ## Glaze\n1. **Cone 6** fits the white clay. It melts at 1222 degrees.\n\
            2. Set the damper in `kiln.toml`:\n```toml\ndamper = \"half\"\n```\n- See https://kiln.example/damper.";
        let told = |query: &str, title: &str| {
            answering(report, &analyse(query), title, 90).map(|answer| answer.text)
        };
        assert_eq!(
            told("how to set the damper", "Fire the kiln").as_deref(),
            Some(
                "Set the damper in `kiln.toml`: `damper = \"half\"`; See https://kiln.example/damper."
            )
        );
        // The sentence before it says what "it" is.
        assert_eq!(
            told("when does it melt", "Fire the kiln").as_deref(),
            Some("Cone 6 fits the white clay. It melts at 1222 degrees.")
        );
        // The title tells of the kiln already.
        assert_eq!(
            told("kiln shelves", "Fire the kiln").as_deref(),
            Some("I cleaned the shelves. Cone 6 fits the white clay. It melts at 1222 degrees.")
        );
        assert_eq!(told("the pump", "Fire the kiln"), None);
    }
}
