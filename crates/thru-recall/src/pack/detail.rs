//! What stands behind the title of a memory: what came of it, or the reason for it.

use thru_store::MemoryBody;

use super::said::alike;
use super::words::is_file;
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

/// What came of the work of a memory, in whole sentences: the message of its commit, else the report of its turn. Left out are
/// a list of what was changed in which file, and what only names the commit or pull request that it `landed` as.
pub(super) fn came_of(body: &MemoryBody, landed: Option<&str>, longest: usize) -> Option<String> {
    let MemoryBody::Observation(body) = body else { return None };
    let is_landing = |piece: &&str| landed.is_some_and(|known| piece.contains(known));
    let told = |text: &str| {
        let text = before_files(text);
        let kept: Vec<&str> =
            pieces(text).filter(|one| !is_landing(one) && !is_reference(one)).collect();
        whole(from_the_point(&kept.join(" ")), longest)
    };
    let mut texts = body.narrative.iter().chain(&body.report).map(|one| told(&one.text));
    texts.find(|text| !says_nothing(text) && adds(text, std::slice::from_ref(&body.title)))
}

/// A report without the sentence that says what the title in front of it says.
pub(super) fn behind_title<'t>(report: &'t str, title: &str) -> &'t str {
    let end = ends(report).next().unwrap_or_default();
    let (first, rest) = report.split_at(end);
    if normal(first) == normal(title) && !rest.is_empty() { rest.trim_start() } else { report }
}

/// True for a name with its value and no more: "Branch: `fix/kiln`".
fn is_reference(piece: &str) -> bool {
    piece.split_once(": ").is_some_and(|(name, value)| {
        let value = value.trim_end_matches([';', '.']);
        let code = value.strip_prefix('`').and_then(|value| value.strip_suffix('`'));
        let is_address = || value.contains("://") && !value.contains(' ');
        name.split(' ').count() <= 3 && (code.is_some_and(|it| !it.contains('`')) || is_address())
    })
}

/// The sentences and items of a text that fit, at least one.
pub(super) fn whole(text: &str, longest: usize) -> String {
    let fits = |end: &usize| text[..*end].chars().count() <= longest;
    let end = ends(text).take_while(fits).last().or_else(|| ends(text).next());
    text[..end.unwrap_or_default()].trim_end_matches(';').to_owned()
}

/// The part of a report before it goes through what it changed file by file.
fn before_files(text: &str) -> &str {
    let mut start = 0;
    for end in ends(text) {
        if is_of_file(text[start..end].trim_start()) {
            return text[..start].trim_end();
        }
        start = end;
    }
    text
}

/// True for "`src/kiln.rs` — Reads the cone", behind a heading too: "Changes: kiln.rs (lines 3-9): reads the cone".
fn is_of_file(piece: &str) -> bool {
    const HEADING: usize = 8;
    let words: Vec<&str> = piece.split(' ').take(HEADING).collect();
    let leads = |at: usize| at.checked_sub(1).is_none_or(|before| words[before].ends_with(':'));
    let is_entry = |(at, word): (usize, &&str)| {
        let bare = word.trim_end_matches(':');
        let next = words.get(at + 1).copied().unwrap_or_default();
        let is_head = bare.len() < word.len()
            || ["—", "–", "-", "("].iter().any(|mark| next.starts_with(mark));
        leads(at) && is_head && is_file(bare.trim_matches(['`', '*', '(', ')']))
    };
    words.iter().enumerate().any(is_entry)
}

/// The sentences of a text, and the items of its lists.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    ends(text).map(move |end| text[std::mem::replace(&mut start, end)..end].trim())
}

/// The ends of the sentences of a text, and of the items of its lists.
fn ends(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    let marks = text.match_indices(['.', '!', '?', ';']).map(|(at, mark)| at + mark.len());
    let ends = marks.filter(|end| text[*end..].starts_with(char::is_whitespace));
    ends.chain((!text.is_empty()).then_some(text.len()))
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
    let (question, answer) = title.split_once(" → ").unzip();
    let starts = std::iter::once(title).chain(question).chain(answer);
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
    fn what_came_of_work_is_told_in_sentences() {
        let told = |text: &str| before_files(text).to_owned();
        for list in [
            "`src/kiln.rs` — Reads the cone. It is bent.",
            "Backend changes: `src/kiln.rs`: Reads the cone;",
            "kiln.rs (lines 3-9): Reads the cone;",
        ] {
            assert_eq!(
                told(&format!("The kiln holds its ramp. {list}")),
                "The kiln holds its ramp."
            );
        }
        let prose = "The note in kiln.rs (line 3) says that cones are read twice. It is right.";
        assert_eq!(told(prose), prose);
        assert_eq!(
            whole("Cones are read; ramps are held; kilns cool.", 33),
            "Cones are read; ramps are held"
        );
        assert_eq!(whole("Cones are read.", 3), "Cones are read.");
        assert_eq!(behind_title("Drop `cone 4`. It bends.", "Drop cone 4"), "It bends.");
        for whole in ["Drop cone 4.", "Drop cone 4 and 5. They bend."] {
            assert_eq!(behind_title(whole, "Drop cone 4"), whole);
        }
        assert!(is_reference("Commit: `fix: hold the ramp`;"));
        assert!(is_reference("PR: https://git.example/kiln/pull/4"));
        assert!(!is_reference("Held: the ramp of `kiln.rs`"));
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
