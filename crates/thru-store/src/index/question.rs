//! A question to an index: words, and a filter. `thru-recall` decides what to make of the evidence.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use tantivy::collector::{Collector, SegmentCollector, TopDocs};
use tantivy::columnar::Column;
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, EnableScoring, Occur, Query, RangeQuery, TermQuery,
    TermSetQuery,
};
use tantivy::schema::IndexRecordOption;
use tantivy::{
    DocAddress, DocId, DocSet, Score, SegmentOrdinal, SegmentReader, TERMINATED, TantivyError, Term,
};
use thru_core::{Agent, Concept, MemoryKind, PassageKind, Timestamp};

use super::collection::Collection;
use super::evidence::{Candidate, Statistics, evidence, reach};
use super::fields::{codes_of, normal_path};
use super::search::TextIndex;
use super::tokenizer::Language;
use crate::error::Result;

/// The most documents with the same text that are looked at. "yes" occurs thousands of times.
const OF_ONE_TEXT: usize = 16;

/// The filter of a search. By default everything is searched.
#[derive(Clone, Debug, Default)]
pub struct IndexFilter {
    /// Rows of projects.
    pub projects: Option<Vec<i64>>,
    /// Rows of sessions.
    pub sessions: Option<Vec<i64>>,
    /// Sessions of these agents.
    pub agents: Option<Vec<Agent>>,
    /// A suffix of the path of a file that the passage touched.
    pub file: Option<String>,
    /// At or after this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Memories of these kinds.
    pub kinds: Option<Vec<MemoryKind>>,
    /// Passages of these kinds.
    pub passages: Option<Vec<PassageKind>>,
    /// Memories with any of these concepts.
    pub concepts: Option<Vec<Concept>>,
}

/// The words of a query, as tokenized by [`super::tokenizer::Terms`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryTerms {
    /// The language of the query, if it is not English but one whose words are known.
    pub language: Option<Language>,
    /// Distinct terms.
    pub terms: Vec<String>,
    /// Pairs of adjacent terms, as indices into `terms`.
    pub pairs: Vec<(usize, usize)>,
    /// Terms that are names, as indices into `terms`: no answer has another word for them.
    pub names: Vec<usize>,
    /// Other forms of a term, by its index: a document that holds one holds the term.
    pub forms: BTreeMap<usize, Vec<String>>,
}

impl QueryTerms {
    /// Returns a term and its other forms.
    pub fn forms_of(&self, number: usize) -> impl Iterator<Item = &str> {
        let other = self.forms.get(&number).into_iter().flatten();
        self.terms.get(number).into_iter().chain(other).map(String::as_str)
    }

    /// Returns all terms in all forms, each with the index of its term.
    pub fn in_all_forms(&self) -> impl Iterator<Item = (usize, &str)> {
        (0..self.terms.len())
            .flat_map(|number| self.forms_of(number).map(move |form| (number, form)))
    }
}

/// The candidates that an index returns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// The best by BM25, sorted by row.
    pub found: Vec<Candidate>,
    /// The inverse document frequency of each term.
    pub idf: Vec<f32>,
    /// The number of documents in the index.
    pub documents: u64,
}

/// A question to an index.
pub struct Question<'i> {
    index: &'i TextIndex,
    terms: &'i QueryTerms,
    filter: &'i IndexFilter,
    statistics: Statistics,
}

/// A document in one of the index's parts.
type Place = (usize, DocAddress);

impl TextIndex {
    /// Prepares a question.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub fn ask<'i>(
        &'i self,
        terms: &'i QueryTerms,
        filter: &'i IndexFilter,
    ) -> Result<Question<'i>> {
        let statistics = Statistics::collect(&self.parts, self.fields, terms)?;
        Ok(Question { index: self, terms, filter, statistics })
    }

    /// Returns the passages that hold any of the terms: the best `depth` by BM25.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub fn candidates(
        &self,
        terms: &QueryTerms,
        filter: &IndexFilter,
        depth: usize,
    ) -> Result<Candidates> {
        let question = self.ask(terms, filter)?;
        Ok(Candidates {
            found: question.best(depth)?,
            idf: question.statistics.idf,
            documents: self.documents(),
        })
    }
}

impl Question<'_> {
    /// Returns the inverse document frequency of each term.
    pub fn idf(&self) -> &[f32] {
        &self.statistics.idf
    }

    /// Returns the inverse document frequency of each term, 0 for one that no document holds.
    pub fn known_idf(&self) -> Vec<f32> {
        let Statistics { idf, is_known, .. } = &self.statistics;
        idf.iter().zip(is_known).map(|(idf, is_known)| if *is_known { *idf } else { 0.0 }).collect()
    }

    /// Returns the documents that hold any of the terms: the best `depth` by BM25, sorted by row.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub fn best(&self, depth: usize) -> Result<Vec<Candidate>> {
        let search = restricted(self.words(), required(self.index, self.filter));
        let mut best = Vec::new();
        if let Some(first) = self.index.parts.first() {
            for (part_number, part) in self.index.parts.iter().enumerate() {
                // One set of statistics for all parts, or their scores could not be compared.
                let scoring = EnableScoring::enabled_from_statistics_provider(
                    &first.searcher,
                    &part.searcher,
                );
                let hits = part.searcher.search_with_executor(
                    &search,
                    &TopDocs::with_limit(depth).order_by_score(),
                    &tantivy::Executor::single_thread(),
                    scoring,
                )?;
                best.extend(hits.into_iter().map(|(score, address)| (score, part_number, address)));
            }
        }
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        best.truncate(depth);
        self.evidence(best.into_iter().map(|(_, part, address)| (part, address)).collect())
    }

    /// Returns the documents whose text has one of these keys, sorted by row. Of a text that occurs in
    /// very many documents only some are looked at, chosen by id.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub fn with_texts(&self, keys: &[u64]) -> Result<Vec<Candidate>> {
        let found = self.among("text_key", keys.to_vec())?;
        let mut of_text: HashMap<Option<u64>, Vec<Candidate>> = HashMap::new();
        for candidate in found {
            of_text.entry(candidate.text_key).or_default().push(candidate);
        }
        let mut found: Vec<Candidate> = Vec::new();
        for mut of_one in of_text.into_values() {
            of_one.sort_by_key(|candidate| candidate.key);
            of_one.truncate(OF_ONE_TEXT);
            found.extend(of_one);
        }
        found.sort_by_key(|candidate| candidate.row);
        Ok(found)
    }

    /// Returns the documents of these rows, sorted by row.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub fn with_rows(&self, rows: &[i64]) -> Result<Vec<Candidate>> {
        let rows = rows.iter().map(|row| *row as u64).collect();
        self.among("row", rows)
    }

    /// Returns the documents of these sessions, sorted by row.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub fn of_sessions(&self, sessions: &[i64]) -> Result<Vec<Candidate>> {
        self.among("session", sessions.iter().map(|session| *session as u64).collect())
    }

    /// Returns the keys of all texts that match the filter, sorted; `None` if there is no filter.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub fn text_keys(&self) -> Result<Option<Vec<u64>>> {
        let required = required(self.index, self.filter);
        if required.is_empty() {
            return Ok(None);
        }
        let query = restricted(Box::new(AllQuery), required);
        let mut keys = Vec::new();
        for part in &self.index.parts {
            keys.extend(part.searcher.search(&query, &Values("text_key"))?);
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(Some(keys))
    }

    /// Returns the rows that touched any of these files (a suffix of the path suffices), sorted.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub fn rows_touching(&self, files: &[String]) -> Result<Vec<i64>> {
        let field = self.index.fields.file;
        let files = files.iter().map(|file| Term::from_field_text(field, &normal_path(file)));
        let query = Box::new(TermSetQuery::new(files)) as Box<dyn Query>;
        let query = restricted(query, required(self.index, self.filter));
        let mut rows = Vec::new();
        for part in &self.index.parts {
            rows.extend(part.searcher.search(&query, &Values("row"))?);
        }
        let mut rows: Vec<i64> = rows.into_iter().map(|row| row as i64).collect();
        rows.sort_unstable();
        Ok(rows)
    }

    /// Returns the documents with one of these values in a field that match the filter. Each value is
    /// looked up on its own: as a query, a set of values would be compared with every document of the
    /// column, or get a scorer for each.
    fn among(&self, field: &str, mut values: Vec<u64>) -> Result<Vec<Candidate>> {
        values.sort_unstable();
        let required = required(self.index, self.filter);
        let required = (!required.is_empty()).then(|| restricted(Box::new(AllQuery), required));
        let mut places: Vec<Place> = Vec::new();
        for (number, part) in self.index.parts.iter().enumerate() {
            let weight = match &required {
                Some(query) => {
                    Some(query.weight(EnableScoring::disabled_from_searcher(&part.searcher))?)
                }
                None => None,
            };
            for (segment_ord, segment) in (0..).zip(part.searcher.segment_readers()) {
                let known = segment.fast_fields().u64(field)?;
                let from = values.partition_point(|value| *value < known.min_value());
                let until = values.partition_point(|value| *value <= known.max_value());
                let values = &values[from..until.max(from)];
                let mut documents = having(segment, field, values)?;
                if let Some(weight) = weight.as_ref().filter(|_| !documents.is_empty()) {
                    let mut wanted = weight.scorer(segment, 1.0)?;
                    documents.retain(|&document| reach(wanted.as_mut(), document));
                }
                let place = |doc_id| (number, DocAddress { segment_ord, doc_id });
                places.extend(documents.into_iter().map(place));
            }
        }
        self.evidence(places)
    }

    fn evidence(&self, mut places: Vec<Place>) -> Result<Vec<Candidate>> {
        places.sort_unstable();
        let mut found = Vec::with_capacity(places.len());
        for segment in places.chunk_by(|a, b| (a.0, a.1.segment_ord) == (b.0, b.1.segment_ord)) {
            let (part, address) = segment[0];
            let (reader, columns) = self.index.parts[part].segment(address.segment_ord)?;
            let documents: Vec<DocId> = segment.iter().map(|(_, address)| address.doc_id).collect();
            let fields = self.index.fields;
            found.extend(evidence(
                reader,
                columns,
                fields,
                self.terms,
                &self.statistics,
                &documents,
            )?);
        }
        found.sort_by_key(|candidate: &Candidate| candidate.row);
        // A row that was replaced while it was being indexed may be in both parts.
        found.dedup_by_key(|candidate| candidate.row);
        Ok(found)
    }

    fn words(&self) -> Box<dyn Query> {
        let field = self.index.fields.text;
        let words = self.terms.in_all_forms().map(|(_, term)| {
            let term = Term::from_field_text(field, term);
            let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
            (Occur::Should, Box::new(query) as Box<dyn Query>)
        });
        Box::new(BooleanQuery::new(words.collect()))
    }
}

/// Returns the documents of a segment that have one of these values, in order.
fn having(segment: &SegmentReader, field: &str, values: &[u64]) -> Result<Vec<DocId>> {
    let field = segment.schema().get_field(field)?;
    let inverted = segment.inverted_index(field)?;
    let mut documents = Vec::new();
    for value in values {
        let term = Term::from_field_u64(field, *value);
        let postings = inverted.read_postings(&term, IndexRecordOption::Basic);
        let Some(mut postings) = postings.map_err(TantivyError::from)? else { continue };
        while postings.doc() != TERMINATED {
            if segment.alive_bitset().is_none_or(|alive| alive.is_alive(postings.doc())) {
                documents.push(postings.doc());
            }
            postings.advance();
        }
    }
    documents.sort_unstable();
    Ok(documents)
}

/// Returns the conditions of the filter as queries.
fn required(index: &TextIndex, filter: &IndexFilter) -> Vec<Box<dyn Query>> {
    let fields = index.fields;
    let mut required: Vec<Box<dyn Query>> = Vec::new();
    for (field, rows) in [(fields.project, &filter.projects), (fields.session, &filter.sessions)] {
        if let Some(rows) = rows {
            let rows = rows.iter().map(|row| Term::from_field_u64(field, *row as u64));
            required.push(Box::new(TermSetQuery::new(rows)));
        }
    }
    if let Some(agents) = &filter.agents {
        let agents =
            agents.iter().map(|agent| Term::from_field_u64(fields.agent, agent.code().into()));
        required.push(Box::new(TermSetQuery::new(agents)));
    }
    let kinds = match index.collection {
        Collection::Memories => {
            let kinds = filter.kinds.as_deref();
            kinds.map(|kinds| kinds.iter().map(|kind| kind.code()).collect::<Vec<_>>())
        }
        Collection::Passages => {
            let kinds = filter.passages.as_deref();
            kinds.map(|kinds| kinds.iter().flat_map(|kind| codes_of(*kind)).collect())
        }
    };
    if let Some(codes) = kinds {
        let kinds = codes.into_iter().map(|code| Term::from_field_u64(fields.kind, code.into()));
        required.push(Box::new(TermSetQuery::new(kinds)));
    }
    if let Some(concepts) = &filter.concepts {
        let tags =
            concepts.iter().map(|concept| Term::from_field_text(fields.tag, concept.as_str()));
        required.push(Box::new(TermSetQuery::new(tags)));
    }
    if let Some(file) = &filter.file {
        let term = Term::from_field_text(fields.file, &normal_path(file));
        required.push(Box::new(TermQuery::new(term, IndexRecordOption::Basic)));
    }
    if filter.since.is_some() || filter.until.is_some() {
        let bound = |time: Timestamp| Term::from_field_i64(fields.at, time.as_millisecond());
        required.push(Box::new(RangeQuery::new(
            filter.since.map_or(Bound::Unbounded, |time| Bound::Included(bound(time))),
            filter.until.map_or(Bound::Unbounded, |time| Bound::Excluded(bound(time))),
        )));
    }
    required
}

/// Restricts a query by conditions that do not contribute to the score.
fn restricted(query: Box<dyn Query>, required: Vec<Box<dyn Query>>) -> BooleanQuery {
    let required = required
        .into_iter()
        .map(|query| (Occur::Must, Box::new(ConstScoreQuery::new(query, 0.0)) as Box<dyn Query>));
    BooleanQuery::new(std::iter::once((Occur::Must, query)).chain(required).collect())
}

/// Collects the values of a column, except 0, which means none.
struct Values(&'static str);

struct ValuesOfSegment {
    column: Column<u64>,
    values: Vec<u64>,
}

impl Collector for Values {
    type Fruit = Vec<u64>;
    type Child = ValuesOfSegment;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<ValuesOfSegment> {
        Ok(ValuesOfSegment { column: segment.fast_fields().u64(self.0)?, values: Vec::new() })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, fruits: Vec<Vec<u64>>) -> tantivy::Result<Vec<u64>> {
        Ok(fruits.into_iter().flatten().collect())
    }
}

impl SegmentCollector for ValuesOfSegment {
    type Fruit = Vec<u64>;

    fn collect(&mut self, document: DocId, _: Score) {
        self.values.extend(self.column.first(document).filter(|value| *value != 0));
    }

    fn harvest(self) -> Vec<u64> {
        self.values
    }
}
