//! Queries are arbitrary text, as are the texts they find: every query is valid, and every snippet marks
//! real matches.
//!
//! The first line of an input is the query, the rest the text for the snippet.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_fuzz::lossy;
use thru_recall::{Cut, analyse, in_english, snippet};

fuzz_target!(|data: &[u8]| {
    let input = lossy(data);
    let (query, text) = input.split_once('\n').unwrap_or((&input, &input));
    for query in [query, text] {
        in_english(query);
        let terms = analyse(query);
        assert_eq!(terms, analyse(query), "a query has two meanings");
        for (at, term) in terms.terms.iter().enumerate() {
            assert!(!term.is_empty() && !terms.terms[..at].contains(term), "{terms:?}");
        }
        for &(a, b) in &terms.pairs {
            assert!(a != b && a.max(b) < terms.terms.len(), "{terms:?}");
        }
        for length in [0, 1, 7, 80, 240] {
            let otherwise = text.floor_char_boundary(length);
            let cut = Cut { length, otherwise, opening: length / 4, ..Cut::default() };
            let snippet = snippet(text, &terms, &cut);
            // Ellipses are not counted, nor the spaces before them.
            assert!(snippet.text.chars().count() <= length + 5, "{length}: {snippet:?}");
            // Lists and tables keep their lines.
            let may_stand = |c: char| c == '\n' || !c.is_control();
            assert!(snippet.text.chars().all(may_stand), "{snippet:?}");
            let mut end = 0;
            for mark in &snippet.marks {
                assert!(mark.start >= end && mark.start < mark.end, "{snippet:?}");
                assert!(snippet.text.get(mark.clone()).is_some(), "{snippet:?}");
                end = mark.end;
            }
        }
    }
});
