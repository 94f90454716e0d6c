//! Explanations: sentences in which an agent says why something is so, most of them between two calls.

use crate::event::Event;
use crate::phrase;
use crate::text::{find_ignoring_case, one_line, unmarked};

/// Longest explanation kept, in characters.
const LONGEST: usize = 200;

/// Fewest words of an explanation.
const FEWEST: usize = 8;

/// Phrases that explain, in lower case, with their weight.
const EXPLAINING: [(&str, u8); 30] = [
    ("root cause", 4),
    ("the reason", 3),
    ("because", 3),
    ("turns out", 3),
    ("caused by", 3),
    ("due to", 3),
    ("instead of", 2),
    ("rather than", 2),
    ("so that", 2),
    ("the issue is", 3),
    ("the issue was", 3),
    ("the problem is", 3),
    ("the problem was", 3),
    ("the fix is", 3),
    ("the fix was", 3),
    ("the bug", 2),
    ("is missing", 2),
    ("was missing", 2),
    ("which means", 2),
    ("requires", 2),
    ("needs to be", 1),
    ("must be", 1),
    ("not supported", 2),
    ("doesn't support", 2),
    ("does not support", 2),
    ("already in use", 2),
    ("conflicts with", 2),
    ("workaround", 2),
    ("fails when", 3),
    ("only works", 2),
];

/// Returns the sentence as an explanation and its weight, if it is one that tells something by itself.
pub(crate) fn explanation(sentence: &str) -> Option<(u8, String)> {
    // Most sentences are too short: they are not searched for phrases.
    if sentence.split_whitespace().count() < FEWEST {
        return None;
    }
    let weight: u8 = EXPLAINING
        .iter()
        .filter(|(phrase, _)| find_ignoring_case(sentence, phrase).is_some())
        .map(|(_, weight)| *weight)
        .sum();
    let said = unmarked(phrase::without_openers(sentence));
    let is_whole = !said.ends_with(['?', ':'])
        && !is_of_author(&said)
        && said.split_whitespace().count() >= FEWEST
        && said.chars().count() <= LONGEST * 3 / 2;
    // What names code says more.
    let names = u8::from(said.contains(['`', '_', '/', '(']));
    (weight >= 2 && is_whole).then(|| (weight + names, one_line(&said, LONGEST)))
}

/// Returns true if the author tells of the own work: "I'm reading the logs because …".
fn is_of_author(said: &str) -> bool {
    said.split_whitespace()
        .any(|word| matches!(word, "I" | "I'm" | "I’m" | "I'll" | "I’ll" | "I've" | "I’ve" | "Let"))
}

/// Returns the weightiest explanations of these events that no report holds, in their order, with their places.
pub(crate) fn among<'e>(
    events: impl Iterator<Item = (usize, &'e Event)>,
    report: &str,
    most: usize,
) -> Vec<(usize, String)> {
    let mut found: Vec<(u8, usize, &str)> = Vec::new();
    for (at, event) in events {
        for (weight, text) in event.agent_text().into_iter().flat_map(|said| &said.explanations) {
            let start = thru_core::head(text, 40);
            if !report.contains(start) && !found.iter().any(|(.., known)| known.starts_with(start))
            {
                found.push((*weight, at, text));
            }
        }
    }
    found.sort_by_key(|(weight, at, _)| (std::cmp::Reverse(*weight), *at));
    found.truncate(most);
    found.sort_by_key(|(_, at, _)| *at);
    found.into_iter().map(|(_, at, text)| (at, text.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_explanations() {
        let said = |sentence| explanation(sentence).map(|(_, text)| text);
        assert_eq!(
            said("The kiln stops early because `ramp()` reads the profile of the cone before."),
            Some(
                "The kiln stops early because `ramp()` reads the profile of the cone before."
                    .to_owned()
            )
        );
        assert_eq!(said("Now let me run the tests of the kiln module again to see"), None);
        assert_eq!(said("Is that because the kiln is cold or because of the glaze?"), None);
    }
}
