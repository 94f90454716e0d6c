//! What stands behind the title of a memory: what came of it, or the reason for it.

use thru_store::MemoryBody;

use super::said::alike;
use crate::memories::normal;

/// The share of new words from which a text adds something to another.
const NEW: f64 = 0.4;

/// The texts behind a title that add anything to it, the most telling first.
pub(super) fn details(body: &MemoryBody) -> Vec<String> {
    let title = match body {
        MemoryBody::Observation(body) => &body.title,
        MemoryBody::Summary(body) => &body.title,
    };
    let known = [title.clone()];
    let texts = texts(body).into_iter().filter(|text| adds(text, &known));
    texts.map(|text| from_the_point(&without(&text, title)).to_owned()).collect()
}

/// The report of the memory's turn.
pub(super) fn came_of(body: &MemoryBody) -> Option<String> {
    match body {
        MemoryBody::Observation(body) => body.report.as_ref().map(|report| report.text.clone()),
        MemoryBody::Summary(_) => None,
    }
}

/// The texts behind a title, the most telling first.
fn texts(body: &MemoryBody) -> Vec<String> {
    match body {
        MemoryBody::Observation(body) => {
            let texts = body.narrative.iter().chain(&body.report);
            texts.map(|one| one.text.clone()).collect()
        }
        MemoryBody::Summary(body) => {
            body.digest.completed.iter().map(|one| one.text.clone()).collect()
        }
    }
}

/// Returns true if a text says more than those that are known.
pub(super) fn adds(text: &str, known: &[String]) -> bool {
    let words = normal(text);
    let words: Vec<&str> = words.split(' ').filter(|word| word.chars().count() > 3).collect();
    let known_words: Vec<String> = known.iter().map(|text| normal(text)).collect();
    let is_known =
        |word: &&&str| known_words.iter().any(|text| text.split(' ').any(|known| known == **word));
    let new = words.len() - words.iter().filter(is_known).count();
    !words.is_empty()
        && new as f64 >= NEW * words.len() as f64
        && !known.iter().any(|known| alike(known, text) && known.len() >= text.len())
}

/// The text behind the title, or behind the question in the title, that it begins with.
fn without(text: &str, title: &str) -> String {
    let title = title.trim_end_matches('…').trim_end_matches('.');
    let question = title.split_once(" → ").map(|(question, _)| question);
    let starts = std::iter::once(title).chain(question);
    let mut rests = starts.filter_map(|start| text.strip_prefix(start));
    let rest = rests.next().map(|rest| rest.trim_start_matches(['.', ' ', ':', ',', ';', '?']));
    rest.filter(|rest| rest.chars().count() > 20).unwrap_or(text).to_owned()
}

/// The text behind the sentences at its beginning that only say that it is done, or that the reader is right: they would
/// take the place of what was done.
pub(super) fn from_the_point(text: &str) -> &str {
    let mut rest = text;
    while let Some(end) = rest.find(". ").into_iter().chain(rest.find("! ")).min() {
        if !says_nothing(&rest[..end]) && !agrees(&rest[..end]) {
            break;
        }
        rest = rest[end + 1..].trim_start();
    }
    rest
}

/// True for "You're right to ask".
fn agrees(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.next() == Some("you") && words.take(3).any(|word| matches!(word, "right" | "correct"))
}

/// True for a text that only says that it is done and that the checks pass.
pub(super) fn says_nothing(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 71] = [
        "a", "all", "also", "and", "are", "as", "been", "both", "build", "changes", "check", "checks", "clean",
        "commit", "committed", "complete", "completed", "correctly", "created", "done", "errors", "everything",
        "finished", "fixed", "fully", "good", "great", "green", "has", "have", "hook", "hooks", "implementation",
        "implemented", "in", "is", "it", "just", "lint", "main", "merged", "no", "now", "of", "on", "pass", "passed",
        "passes", "passing", "perfect", "place", "pre", "push", "pushed", "ran", "ready", "run", "succeeded",
        "successful", "successfully", "tasks", "test", "tests", "the", "to", "typecheck", "updated", "well", "with",
        "works", "working",
    ];
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    words.all(|word| is_number(word) || WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_begins_with_the_point() {
        for (text, point) in [
            (
                "All changes are done. Kiln 4 has a cone of its own.",
                "Kiln 4 has a cone of its own.",
            ),
            ("Done! Committed and pushed. The shelf is dry.", "The shelf is dry."),
            ("You're right to ask. The cone was bent.", "The cone was bent."),
            (
                "You have two kilns on the right. Both cool.",
                "You have two kilns on the right. Both cool.",
            ),
            ("The kiln is done. It cools.", "The kiln is done. It cools."),
            ("All done.", "All done."),
        ] {
            assert_eq!(from_the_point(text), point);
        }
        assert!(says_nothing(
            "Commit succeeded — the pre-commit hook ran all 44 tests, lint clean."
        ));
        assert!(!says_nothing("Pushed to main. The glaze has a cone of its own."));
    }

    #[test]
    fn what_the_title_says_is_not_said_again() {
        let known = ["Bound the retry loop".to_owned()];
        assert!(!adds("Bound the retry loop.", &known));
        assert!(!adds("bound the retry loop now", &known));
        assert!(adds("Retries wait with jitter, two seconds at most", &known));
        assert_eq!(
            without(
                "Bound the retry loop. Two seconds at most, with jitter.",
                "Bound the retry loop"
            ),
            "Two seconds at most, with jitter."
        );
        assert_eq!(
            without(
                "Keep the old pump? It would cost a day more to part.",
                "Keep the old pump? → yes"
            ),
            "It would cost a day more to part."
        );
    }
}
