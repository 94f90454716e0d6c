//! The features of a document that ranking needs, looked up in the index.

use std::sync::Arc;

use tantivy::columnar::Column;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, SegmentReader, Term};
use thru_core::PassageKind;

use super::fields::{Fields, kind_of_code};
use super::question::QueryTerms;
use super::search::Part;
use crate::error::Result;

/// BM25's constants, as Tantivy fixes them.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Two words further apart than this are unrelated.
const FARTHEST_PAIR: u32 = 16;

/// A passage or a memory that holds words of the query.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its row in the store.
    pub row: i64,
    /// Breaks ties, the same way in every build of the store.
    pub key: u64,
    /// The row of its session.
    pub session: i64,
    /// The row of its source.
    pub source: i64,
    /// Its position among the passages of its source.
    pub ordinal: u32,
    /// Its turn in the session.
    pub turn: u32,
    /// The kind of passage; meaningless for a memory.
    pub kind: PassageKind,
    /// True if it belongs to a subagent.
    pub is_subagent: bool,
    /// True if it only repeats what is remembered of other passages: one of our own tool calls, or a
    /// look into old sessions.
    pub is_echo: bool,
    /// Its time in milliseconds since 1970; 0 if unknown.
    pub at: i64,
    /// Its approximate length in terms.
    pub length: u32,
    /// The key of its text among the vectors, if it may have one.
    pub text_key: Option<u64>,
    /// The BM25 contribution of each query term.
    pub contributions: Vec<f32>,
    /// The proximity of the query's word pairs: the sum over pairs of the mean of their inverse
    /// document frequencies, divided by the square root of the smallest distance in words.
    pub proximity: f32,
}

impl Candidate {
    /// Returns what the words of the query in it weigh together.
    pub fn held(&self) -> f32 {
        self.contributions.iter().sum()
    }

    /// True if it holds a word of the query, and not only its meaning.
    pub fn holds_any(&self) -> bool {
        self.contributions.iter().any(|one| *one > 0.0)
    }
}

/// The statistics of the whole collection that BM25 needs.
pub(super) struct Statistics {
    pub(super) idf: Vec<f32>,
    /// For each term, true if any document holds it.
    pub(super) is_known: Vec<bool>,
    average_length: f32,
}

impl Statistics {
    pub(super) fn collect(parts: &[Arc<Part>], fields: Fields, query: &QueryTerms) -> Result<Self> {
        let Some(first) = parts.first() else {
            let terms = query.terms.len();
            let is_known = vec![false; terms];
            return Ok(Self { idf: vec![0.0; terms], is_known, average_length: 1.0 });
        };
        let mut documents = 0;
        let mut tokens = 0;
        for segment in first.searcher.segment_readers() {
            documents += u64::from(segment.max_doc());
            tokens += segment.inverted_index(fields.text)?.total_num_tokens();
        }
        let mut idf = Vec::with_capacity(query.terms.len());
        let mut is_known = Vec::with_capacity(query.terms.len());
        for number in 0..query.terms.len() {
            let (mut frequency, mut is_elsewhere) = (0, false);
            for form in query.forms_of(number) {
                let term = Term::from_field_text(fields.text, form);
                frequency += first.searcher.doc_freq(&term)?;
                let holds =
                    |part: &Arc<Part>| part.searcher.doc_freq(&term).is_ok_and(|count| count > 0);
                is_elsewhere |= parts[1..].iter().any(holds);
            }
            is_known.push(frequency > 0 || is_elsewhere);
            let frequency = frequency.min(documents) as f32;
            let documents = documents as f32;
            idf.push((1.0 + (documents - frequency + 0.5) / (frequency + 0.5)).ln());
        }
        Ok(Self {
            idf,
            is_known,
            average_length: (tokens as f32 / documents.max(1) as f32).max(1.0),
        })
    }
}

/// Looks up the features of some documents of one segment.
pub(super) fn evidence(
    segment: &SegmentReader,
    columns: &Columns,
    fields: Fields,
    query: &QueryTerms,
    statistics: &Statistics,
    documents: &[DocId],
) -> Result<Vec<Candidate>> {
    let mut candidates: Vec<Candidate> =
        documents.iter().map(|&document| columns.candidate(document, query.terms.len())).collect();
    let lengths = segment.get_fieldnorms_reader(fields.text)?;
    for (candidate, &document) in candidates.iter_mut().zip(documents) {
        candidate.length = lengths.fieldnorm(document);
    }
    let inverted = segment.inverted_index(fields.text)?;
    let paired = |term: usize| query.pairs.iter().any(|&(a, b)| a == term || b == term);
    // Positions of the terms that are part of a pair, per candidate and term.
    let mut positions: Vec<Vec<Vec<u32>>> = vec![Vec::new(); query.terms.len()];
    for (number, positions) in positions.iter_mut().enumerate() {
        let is_paired = paired(number);
        let wanted = if is_paired {
            IndexRecordOption::WithFreqsAndPositions
        } else {
            IndexRecordOption::WithFreqs
        };
        let mut frequencies = vec![0.0; documents.len()];
        if is_paired {
            *positions = vec![Vec::new(); documents.len()];
        }
        for form in query.forms_of(number) {
            let term = Term::from_field_text(fields.text, form);
            let postings = inverted.read_postings(&term, wanted);
            let Some(mut postings) = postings.map_err(tantivy::TantivyError::from)? else {
                continue;
            };
            for (place, &document) in documents.iter().enumerate() {
                if !reach(&mut postings, document) {
                    continue;
                }
                frequencies[place] += postings.term_freq() as f32;
                if is_paired {
                    let mut own = Vec::new();
                    postings.positions(&mut own);
                    positions[place].append(&mut own);
                }
            }
        }
        for (place, frequency) in frequencies.into_iter().enumerate().filter(|(_, f)| *f > 0.0) {
            let length = lengths.fieldnorm(documents[place]) as f32 / statistics.average_length;
            candidates[place].contributions[number] =
                statistics.idf[number] * (K1 + 1.0) * frequency
                    / (frequency + K1 * (1.0 - B + B * length));
            if is_paired {
                positions[place].sort_unstable();
            }
        }
    }
    for &(a, b) in &query.pairs {
        let weight = f32::midpoint(statistics.idf[a], statistics.idf[b]);
        for (place, (near, far)) in positions[a].iter().zip(&positions[b]).enumerate() {
            if let Some(distance) = smallest_distance(near, far).filter(|d| *d <= FARTHEST_PAIR) {
                candidates[place].proximity += weight / (distance as f32).sqrt();
            }
        }
    }
    Ok(candidates)
}

/// Seeks to a document; returns true if it is in the set. Documents must be sought in ascending order.
pub(super) fn reach<D: DocSet + ?Sized>(documents: &mut D, document: DocId) -> bool {
    if documents.doc() < document {
        documents.seek(document);
    }
    documents.doc() == document
}

/// Returns the smallest distance between two sorted lists of positions, ignoring equal positions.
fn smallest_distance(a: &[u32], b: &[u32]) -> Option<u32> {
    let (mut i, mut j) = (0, 0);
    let mut best = None;
    while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
        let distance = x.abs_diff(y);
        if distance > 0 && best.is_none_or(|best| distance < best) {
            best = Some(distance);
        }
        if x < y { i += 1 } else { j += 1 }
    }
    best
}

/// The columns of one segment that describe a hit.
pub(super) struct Columns {
    row: Column<u64>,
    key: Column<u64>,
    session: Column<u64>,
    source: Column<u64>,
    ordinal: Column<u64>,
    turn: Column<u64>,
    text_key: Column<u64>,
    kind: Column<u64>,
    at: Column<i64>,
}

impl Columns {
    pub(super) fn open(segment: &SegmentReader) -> Result<Self> {
        let fast = segment.fast_fields();
        Ok(Self {
            row: fast.u64("row")?,
            key: fast.u64("key")?,
            session: fast.u64("session")?,
            source: fast.u64("source")?,
            ordinal: fast.u64("ordinal")?,
            turn: fast.u64("turn")?,
            text_key: fast.u64("text_key")?,
            kind: fast.u64("kind")?,
            at: fast.i64("at")?,
        })
    }

    fn candidate(&self, document: DocId, terms: usize) -> Candidate {
        let number = |column: &Column<u64>| column.first(document).unwrap_or(0);
        let (kind, is_subagent, is_echo) = kind_of_code(number(&self.kind));
        Candidate {
            row: number(&self.row) as i64,
            key: number(&self.key),
            session: number(&self.session) as i64,
            source: number(&self.source) as i64,
            ordinal: number(&self.ordinal) as u32,
            turn: number(&self.turn) as u32,
            kind,
            is_subagent,
            is_echo,
            at: self.at.first(document).unwrap_or(0),
            length: 0,
            text_key: Some(number(&self.text_key)).filter(|key| *key != 0),
            contributions: vec![0.0; terms],
            proximity: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_the_smallest_and_never_zero() {
        assert_eq!(smallest_distance(&[1, 9], &[4, 10]), Some(1));
        assert_eq!(smallest_distance(&[3], &[3]), None);
        assert_eq!(smallest_distance(&[], &[3]), None);
    }
}
