//! The spelling of an index's terms: how many documents hold one, and which terms lie near another.

use std::collections::BTreeMap;
use std::io;

use tantivy::Term;
use tantivy_fst::Automaton;

use super::search::TextIndex;
use super::tokenizer::Language;
use crate::error::Result;

impl TextIndex {
    /// Returns the number of documents that hold a term, replaced ones included.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub fn frequency(&self, term: &str) -> Result<u64> {
        let term = Term::from_field_text(self.fields.text, term);
        let counts = self.parts.iter().map(|part| part.searcher.doc_freq(&term));
        Ok(counts.sum::<tantivy::Result<u64>>()?)
    }

    /// Returns the terms that begin with `beginning`, at most `most` of each segment.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub fn terms_beginning(&self, beginning: &str, most: usize) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for part in &self.parts {
            for segment in part.searcher.segment_readers() {
                let inverted = segment.inverted_index(self.fields.text)?;
                let range = inverted.terms().range().ge(beginning.as_bytes());
                let mut terms = range.into_stream().map_err(tantivy)?;
                for _ in 0..most {
                    if !terms.advance() || !terms.key().starts_with(beginning.as_bytes()) {
                        break;
                    }
                    found.push(String::from_utf8_lossy(terms.key()).into_owned());
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Returns the terms that become `term` by at most `edits` changed, missing or additional bytes and begin with the
    /// same one, each with the number of documents that hold it. Reads only the parts of the dictionary that may match.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub fn terms_near(&self, term: &str, edits: u8) -> Result<Vec<(String, u64)>> {
        let mut near = Vec::new();
        for part in &self.parts {
            for segment in part.searcher.segment_readers() {
                let inverted = segment.inverted_index(self.fields.text)?;
                let automaton = Near { term: term.as_bytes(), edits };
                let mut found =
                    inverted.terms().search(automaton).into_stream().map_err(tantivy)?;
                while found.advance() {
                    let text = String::from_utf8_lossy(found.key()).into_owned();
                    near.push((text, u64::from(found.value().doc_freq)));
                }
            }
        }
        near.sort_unstable();
        near.dedup_by(|(text, count), (kept, all)| {
            let is_same = text == kept;
            *all += if is_same { *count } else { 0 };
            is_same
        });
        Ok(near)
    }

    /// Returns the terms with the same stem in a language as `word`, which is in lower case: the most frequent ones, at
    /// most `most`, in the order of the alphabet. Reads only the terms that begin as the stem does.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub fn forms(&self, word: &str, language: Language, most: usize) -> Result<Vec<String>> {
        let stem = language.stem(word);
        let shared = word.char_indices().zip(stem.chars()).find(|((_, a), b)| a != b);
        let prefix = &word[..shared.map_or(stem.len().min(word.len()), |((at, _), _)| at)];
        if prefix.len() < SHORTEST_PREFIX {
            return Ok(Vec::new());
        }
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for part in &self.parts {
            for segment in part.searcher.segment_readers() {
                let inverted = segment.inverted_index(self.fields.text)?;
                let range = inverted.terms().range().ge(prefix.as_bytes());
                let mut terms = range.into_stream().map_err(tantivy)?;
                while terms.advance() && terms.key().starts_with(prefix.as_bytes()) {
                    let term = String::from_utf8_lossy(terms.key());
                    if language.stem(&term) == stem {
                        *found.entry(term.into_owned()).or_default() +=
                            u64::from(terms.value().doc_freq);
                    }
                }
            }
        }
        let mut found: Vec<(String, u64)> = found.into_iter().collect();
        found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut forms: Vec<String> = found.into_iter().map(|(term, _)| term).take(most).collect();
        forms.sort_unstable();
        Ok(forms)
    }
}

/// Bytes that the forms of a word have to share, so that little of the dictionary is read.
const SHORTEST_PREFIX: usize = 3;

fn tantivy(error: io::Error) -> tantivy::TantivyError {
    error.into()
}

/// Accepts the terms within some edits of a term (Levenshtein, by bytes) that begin with the same byte.
struct Near<'t> {
    term: &'t [u8],
    edits: u8,
}

/// The edits that each beginning of the term is away from what was read; `None` once no term can match.
type Row = Option<Vec<u8>>;

impl Automaton for Near<'_> {
    type State = (usize, Row);

    fn start(&self) -> Self::State {
        (0, Some((0..=self.term.len()).map(|length| length.min(255) as u8).collect()))
    }

    fn is_match(&self, (_, row): &Self::State) -> bool {
        row.as_ref().and_then(|row| row.last()).is_some_and(|edits| *edits <= self.edits)
    }

    fn can_match(&self, (_, row): &Self::State) -> bool {
        row.is_some()
    }

    fn accept(&self, (read, row): &Self::State, byte: u8) -> Self::State {
        let next = match row {
            Some(row) if *read > 0 || self.term.first() == Some(&byte) => self.next(row, byte),
            _ => None,
        };
        (read + 1, next)
    }
}

impl Near<'_> {
    fn next(&self, row: &[u8], byte: u8) -> Row {
        let mut next = Vec::with_capacity(row.len());
        next.push(row[0].saturating_add(1));
        for (at, own) in self.term.iter().enumerate() {
            let changed = row[at].saturating_add(u8::from(*own != byte));
            let left_out = next[at].saturating_add(1).min(row[at + 1].saturating_add(1));
            next.push(changed.min(left_out));
        }
        next.iter().any(|edits| *edits <= self.edits).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn accepts(term: &str, edits: u8, text: &str) -> bool {
        let near = Near { term: term.as_bytes(), edits };
        let end = text.bytes().fold(near.start(), |state, byte| near.accept(&state, byte));
        near.is_match(&end)
    }

    #[test]
    fn terms_within_the_edits_are_accepted() {
        assert!(accepts("branch", 2, "branch") && accepts("brnach", 2, "branch"));
        assert!(accepts("concurency", 1, "concurrency") && !accepts("concurency", 1, "current"));
        assert!(!accepts("ranch", 1, "branch"), "another first letter");
        assert!(!accepts("branch", 1, ""));
    }

    proptest! {
        #[test]
        fn one_letter_more_or_less_is_one_edit(term in "[a-zäß]{2,12}", at in 0usize..12, more in "[a-z]") {
            let mut at = 1 + at % term.len();
            while !term.is_char_boundary(at) {
                at += 1;
            }
            let longer = format!("{}{more}{}", &term[..at], &term[at..]);
            prop_assert!(accepts(&term, 1, &longer) && accepts(&longer, 1, &term));
            prop_assert!(accepts(&term, 0, &term));
        }
    }
}
