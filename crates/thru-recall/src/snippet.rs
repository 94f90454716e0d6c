//! Snippets: the part of a passage that shows why it was found.

use std::collections::HashSet;
use std::ops::Range;

use thru_store::index::QueryTerms;
use thru_store::index::tokenizer::Terms;

/// A part of a text, with the words of the query marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The part, on one line.
    pub text: String,
    /// Byte ranges of the words in it.
    pub marks: Vec<Range<usize>>,
}

/// Returns the stretch of about `length` characters of `text` that holds most of the query, or the one at
/// byte `otherwise` if it holds none of it.
pub fn snippet(text: &str, query: &QueryTerms, length: usize, otherwise: usize) -> Snippet {
    let wanted: HashSet<&str> = query.terms.iter().map(String::as_str).collect();
    let mut places: Vec<(usize, usize, String)> = Vec::new();
    Terms::default().tokenize(text, |term, place| {
        if wanted.contains(term) {
            places.push((place.start, place.end, term.to_owned()));
        }
    });
    let start = if places.is_empty() { otherwise } else { best_start(&places, length) };
    let from = line_or_word_start(text, start);
    let mut snippet = Snippet::default();
    if from > 0 {
        snippet.text.push('…');
    }
    let mut gap = false;
    let mut shown = 0;
    let mut marks =
        places.iter().map(|(start, end, _)| *start..*end).filter(|m| m.start >= from).peekable();
    for (at, character) in text[from..].char_indices().map(|(at, character)| (from + at, character))
    {
        if shown >= length {
            snippet.text.push('…');
            break;
        }
        while marks.peek().is_some_and(|mark| mark.end <= at) {
            marks.next();
        }
        if character.is_whitespace() || character.is_control() {
            gap = !snippet.text.is_empty();
            continue;
        }
        if std::mem::take(&mut gap) && !snippet.text.ends_with('…') {
            snippet.text.push(' ');
            shown += 1;
        }
        let inside = marks.peek().is_some_and(|mark| mark.contains(&at));
        let here = snippet.text.len();
        snippet.text.push(character);
        shown += 1;
        if inside {
            match snippet.marks.last_mut() {
                Some(last) if last.end == here => last.end = snippet.text.len(),
                _ => snippet.marks.push(here..snippet.text.len()),
            }
        }
    }
    snippet
}

/// Returns the start of the stretch of `length` bytes that holds the most distinct terms.
fn best_start(places: &[(usize, usize, String)], length: usize) -> usize {
    let mut best = (0, 0);
    for (number, (start, _, _)) in places.iter().enumerate().take(500) {
        let terms: HashSet<&str> = places[number..]
            .iter()
            .take_while(|(_, end, _)| *end <= start + length * 3 / 4)
            .map(|(_, _, term)| term.as_str())
            .collect();
        if terms.len() > best.0 {
            best = (terms.len(), *start);
        }
    }
    best.1
}

/// Moves a start back to a nearby start of a line or a word, so that the snippet reads well.
fn line_or_word_start(text: &str, at: usize) -> usize {
    const LEAD: usize = 40;
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    if at - line <= LEAD * 2 {
        return line;
    }
    let mut from = at - LEAD;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    // A blank may take up to three bytes.
    let blank = text[from..at].char_indices().find(|(_, character)| character.is_whitespace());
    blank.map_or(from, |(offset, character)| from + offset + character.len_utf8())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analyse;

    fn marked(text: &str, query: &str, length: usize) -> String {
        let snippet = snippet(text, &analyse(query), length, 0);
        let mut shown = snippet.text.clone();
        for mark in snippet.marks.iter().rev() {
            shown.insert(mark.end, ']');
            shown.insert(mark.start, '[');
        }
        shown
    }

    #[test]
    fn the_best_stretch_is_shown_with_the_words_marked() {
        let text = format!(
            "{}\nThe importer failed:\n  lock timeout in importer.rs\n{}",
            "x ".repeat(400),
            "y ".repeat(400)
        );
        insta::assert_snapshot!(marked(&text, "lock timeouts of the importer", 60), @"…The [importer] failed: [lock] [timeout] in [importer].rs y y y y y y…");
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        insta::assert_snapshot!(marked("getUserName broke", "user name", 80), @"get[UserName] broke");
        insta::assert_snapshot!(marked("nothing here", "elsewhere", 80), @"nothing here");
    }

    #[test]
    fn without_any_of_the_words_it_begins_where_it_is_told() {
        let text = format!("{}\n\nThe pear tree bears fruit.", "apples and plums ".repeat(40));
        let at = text.find("The pear").unwrap();
        let shown = |query: &str| snippet(&text, &analyse(query), 40, at).text;
        assert_eq!(shown("orchard"), "…The pear tree bears fruit.");
        assert!(shown("plums").starts_with("apples"), "{}", shown("plums"));
    }

    #[test]
    fn a_blank_of_several_bytes_before_the_match_is_passed_over_whole() {
        for blank in ['\u{a0}', '\u{2003}', '\u{3000}', '\u{85}'] {
            let text = format!("{}{blank}before it the needle", "x".repeat(100));
            assert_eq!(marked(&text, "needle", 60), "…before it the [needle]");
        }
    }

    /// A long text of words and of all of Unicode's blanks.
    fn spaced_text() -> impl Strategy<Value = String> {
        let blank = proptest::sample::select(
            ('\0'..='\u{3000}').filter(|character| character.is_whitespace()).collect::<Vec<_>>(),
        );
        proptest::collection::vec(("[a-zé数🦀]{1,30}", blank), 1..40).prop_map(|words| {
            words.into_iter().map(|(word, blank)| format!("{word}{blank}")).collect()
        })
    }

    proptest! {
        #[test]
        fn any_blank_and_any_character_may_stand_before_the_match(before in spaced_text(), length in 100usize..300) {
            let text = format!("{before} needle");
            let snippet = snippet(&text, &analyse("needle"), length, 0);
            for mark in snippet.marks {
                // The end of the snippet may cut the word.
                let marked = snippet.text.get(mark).unwrap_or_default();
                prop_assert!(!marked.is_empty() && "needle".starts_with(marked), "{marked:?}");
            }
        }

        #[test]
        fn marks_lie_in_the_snippet(text in "(.|\n){0,300}", query in ".{0,30}", length in 1usize..100) {
            let snippet = snippet(&text, &analyse(&query), length, 0);
            for mark in snippet.marks {
                prop_assert!(snippet.text.get(mark).is_some());
            }
        }
    }
}
