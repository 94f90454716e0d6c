//! Candidates for an answer: the passages that hold words of the query, with the evidence that a
//! ranking needs. What to make of the evidence is decided in `thru-recall`.

use std::collections::HashSet;
use std::ops::Bound;

use tantivy::collector::TopDocs;
use tantivy::columnar::Column;
use tantivy::directory::MmapDirectory;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{
    BooleanQuery, ConstScoreQuery, EnableScoring, Occur, Query, RangeQuery, TermQuery, TermSetQuery,
};
use tantivy::schema::IndexRecordOption;
use tantivy::{
    DocAddress, DocId, DocSet, Index, IndexReader, ReloadPolicy, Searcher, SegmentReader, Term,
};
use thru_core::{Agent, Concept, Layout, MemoryKind, PassageKind, Timestamp};

use super::collection::{Collection, Sessions};
use super::directory::ReadingDirectory;
use super::fields::{Fields, kind_of_code, normal_path, register_tokenizer};
use super::writer::payload;
use crate::error::Result;
use crate::store::Store;

/// Rows beyond the index that a query looks at. They are there only between a write of the store and
/// the index commit behind it (or after a crash in between).
const LONGEST_TAIL: usize = 2_000;

/// BM25's constants, as Tantivy fixes them.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Two words further apart than this have nothing to do with each other.
const FARTHEST_PAIR: u32 = 16;

/// Where to search. Nothing set means: everywhere.
#[derive(Clone, Debug, Default)]
pub struct IndexFilter {
    /// Rows of projects.
    pub projects: Option<Vec<i64>>,
    /// Rows of sessions.
    pub sessions: Option<Vec<i64>>,
    /// Sessions of these agents.
    pub agents: Option<Vec<Agent>>,
    /// The end of the path of a file that the passage touched.
    pub file: Option<String>,
    /// Not before this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Memories of these kinds.
    pub kinds: Option<Vec<MemoryKind>>,
    /// Memories with any of these concepts.
    pub concepts: Option<Vec<Concept>>,
}

/// The words of a query, as [`super::tokenizer::Terms`] makes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryTerms {
    /// Distinct terms.
    pub terms: Vec<String>,
    /// Terms that stood next to each other, as places in `terms`.
    pub pairs: Vec<(usize, usize)>,
}

/// A passage or a memory that holds words of the query.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its row in the store.
    pub row: i64,
    /// Orders what is otherwise equal, in every build of the store alike.
    pub key: u64,
    /// The row of its session.
    pub session: i64,
    /// The row of its source.
    pub source: i64,
    /// Its place among the passages of its source.
    pub ordinal: u32,
    /// Who speaks, of a passage; without meaning for a memory.
    pub kind: PassageKind,
    /// Whether it is a subagent's.
    pub is_subagent: bool,
    /// When, in milliseconds since 1970; 0 where unknown.
    pub at: i64,
    /// What each term of the query adds to its BM25 score.
    pub contributions: Vec<f32>,
    /// How near the pairs of the query stand to each other: the sum over pairs of the mean of their
    /// inverse document frequencies, divided by the root of the smallest distance in words.
    pub proximity: f32,
}

/// What an index answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// The best by BM25, in the order of their rows.
    pub found: Vec<Candidate>,
    /// The inverse document frequency of each term.
    pub idf: Vec<f32>,
}

/// One index, open to search.
pub struct TextIndex {
    collection: Collection,
    parts: Vec<Part>,
    fields: Fields,
    /// Rows of the store that are newer than the index and too many to look at.
    pub rows_left_out: u64,
}

/// The index on disk, or the small one in memory.
struct Part {
    searcher: Searcher,
    // Keeps the files of the searcher open.
    _reader: IndexReader,
}

impl TextIndex {
    /// Opens the index of the passages of this store.
    pub fn open(layout: &Layout, store: &Store) -> Result<Self> {
        Self::open_collection(layout, store, Collection::Passages)
    }

    /// Opens an index of this store; rows that it does not hold yet are indexed in memory.
    pub fn open_collection(layout: &Layout, store: &Store, collection: Collection) -> Result<Self> {
        let fields = Fields::of(&Fields::schema())?;
        let directory = super::directory(layout, &store.generation()?, collection);
        let mut parts = Vec::new();
        let mut indexed = 0;
        if let Some(index) = open_to_read(&directory) {
            indexed = payload(&index).row;
            let part = Part::new(&index)?;
            // An index without a commit yet has no statistics that anything could be scored by.
            if part.searcher.num_docs() > 0 {
                parts.push(part);
            }
        }
        let last = store.last_row(collection)?;
        let mut rows_left_out = 0;
        if last > indexed {
            // The newest rows matter most.
            let from = indexed.max(last - LONGEST_TAIL as i64);
            rows_left_out = (from - indexed) as u64;
            parts.extend(index_in_memory(store, collection, fields, from)?);
        }
        Ok(Self { collection, parts, fields, rows_left_out })
    }

    /// Passages that the index holds, replaced ones that were not merged away included.
    pub fn documents(&self) -> u64 {
        self.parts.iter().map(|part| part.searcher.num_docs()).sum()
    }

    /// Compares the index with its store: passages that both have, passages that it lacks, and entries
    /// that belong to no passage and never did.
    pub fn compare(&self, store: &Store) -> Result<(u64, u64, u64)> {
        let mut indexed = HashSet::new();
        for part in &self.parts {
            for segment in part.searcher.segment_readers() {
                let rows = segment.fast_fields().u64("row")?;
                indexed.extend(
                    segment
                        .doc_ids_alive()
                        .filter_map(|document| rows.first(document))
                        .map(|row| row as i64),
                );
            }
        }
        let stored: HashSet<i64> = store.rows(self.collection)?.into_iter().collect();
        let retired: HashSet<i64> = store.retired_rows(self.collection)?.into_iter().collect();
        let both = indexed.intersection(&stored).count() as u64;
        let stale = indexed.iter().filter(|row| !stored.contains(row) && !retired.contains(row));
        Ok((both, stored.len() as u64 - both, stale.count() as u64))
    }

    /// The passages that hold any of the terms: the best `depth` by BM25.
    pub fn candidates(
        &self,
        query: &QueryTerms,
        filter: &IndexFilter,
        depth: usize,
    ) -> Result<Candidates> {
        let statistics = Statistics::of(&self.parts, self.fields, &query.terms)?;
        let search = self.query(&query.terms, filter);
        let mut best = Vec::new();
        if let Some(first) = self.parts.first() {
            for (part_number, part) in self.parts.iter().enumerate() {
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
        let mut places: Vec<(usize, DocAddress)> =
            best.into_iter().map(|(_, part, address)| (part, address)).collect();
        places.sort_unstable();
        let mut found = Vec::with_capacity(places.len());
        for segment in places.chunk_by(|a, b| (a.0, a.1.segment_ord) == (b.0, b.1.segment_ord)) {
            let (part, address) = segment[0];
            let reader = self.parts[part].searcher.segment_reader(address.segment_ord);
            let documents: Vec<DocId> = segment.iter().map(|(_, address)| address.doc_id).collect();
            found.extend(evidence(reader, self.fields, query, &statistics, &documents)?);
        }
        found.sort_by_key(|candidate: &Candidate| candidate.row);
        // A row that was replaced while it was being indexed may stand in both parts.
        found.dedup_by_key(|candidate| candidate.row);
        Ok(Candidates { found, idf: statistics.idf })
    }

    fn query(&self, terms: &[String], filter: &IndexFilter) -> BooleanQuery {
        let words: Vec<(Occur, Box<dyn Query>)> = terms
            .iter()
            .map(|term| {
                let term = Term::from_field_text(self.fields.text, term);
                let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                (Occur::Should, Box::new(query) as Box<dyn Query>)
            })
            .collect();
        let words = BooleanQuery::new(words);
        let mut required: Vec<Box<dyn Query>> = Vec::new();
        for (field, rows) in
            [(self.fields.project, &filter.projects), (self.fields.session, &filter.sessions)]
        {
            if let Some(rows) = rows {
                let rows = rows.iter().map(|row| Term::from_field_u64(field, *row as u64));
                required.push(Box::new(TermSetQuery::new(rows)));
            }
        }
        if let Some(agents) = &filter.agents {
            let agents = agents
                .iter()
                .map(|agent| Term::from_field_u64(self.fields.agent, agent.code().into()));
            required.push(Box::new(TermSetQuery::new(agents)));
        }
        if let Some(kinds) = &filter.kinds {
            let kinds =
                kinds.iter().map(|kind| Term::from_field_u64(self.fields.kind, kind.code().into()));
            required.push(Box::new(TermSetQuery::new(kinds)));
        }
        if let Some(concepts) = &filter.concepts {
            let tags = concepts
                .iter()
                .map(|concept| Term::from_field_text(self.fields.tag, concept.as_str()));
            required.push(Box::new(TermSetQuery::new(tags)));
        }
        if let Some(file) = &filter.file {
            let term = Term::from_field_text(self.fields.file, &normal_path(file));
            required.push(Box::new(TermQuery::new(term, IndexRecordOption::Basic)));
        }
        if filter.since.is_some() || filter.until.is_some() {
            let bound =
                |time: Timestamp| Term::from_field_i64(self.fields.at, time.as_millisecond());
            required.push(Box::new(RangeQuery::new(
                filter.since.map_or(Bound::Unbounded, |time| Bound::Included(bound(time))),
                filter.until.map_or(Bound::Unbounded, |time| Bound::Excluded(bound(time))),
            )));
        }
        if required.is_empty() {
            return words;
        }
        let required = required.into_iter().map(|query| {
            (Occur::Must, Box::new(ConstScoreQuery::new(query, 0.0)) as Box<dyn Query>)
        });
        BooleanQuery::new(
            std::iter::once((Occur::Must, Box::new(words) as Box<dyn Query>))
                .chain(required)
                .collect(),
        )
    }
}

/// What BM25 needs to know of the whole collection.
struct Statistics {
    idf: Vec<f32>,
    average_length: f32,
}

impl Statistics {
    fn of(parts: &[Part], fields: Fields, terms: &[String]) -> Result<Self> {
        let Some(first) = parts.first() else {
            return Ok(Self { idf: vec![0.0; terms.len()], average_length: 1.0 });
        };
        let mut documents = 0;
        let mut tokens = 0;
        for segment in first.searcher.segment_readers() {
            documents += u64::from(segment.max_doc());
            tokens += segment.inverted_index(fields.text)?.total_num_tokens();
        }
        let mut idf = Vec::with_capacity(terms.len());
        for term in terms {
            let frequency =
                first.searcher.doc_freq(&Term::from_field_text(fields.text, term))? as f32;
            let documents = documents as f32;
            idf.push((1.0 + (documents - frequency + 0.5) / (frequency + 0.5)).ln());
        }
        Ok(Self { idf, average_length: (tokens as f32 / documents.max(1) as f32).max(1.0) })
    }
}

/// Looks up what the ranking wants to know of some documents of one segment.
fn evidence(
    segment: &SegmentReader,
    fields: Fields,
    query: &QueryTerms,
    statistics: &Statistics,
    documents: &[DocId],
) -> Result<Vec<Candidate>> {
    let columns = Columns::of(segment)?;
    let mut candidates: Vec<Candidate> =
        documents.iter().map(|&document| columns.candidate(document, query.terms.len())).collect();
    let lengths = segment.get_fieldnorms_reader(fields.text)?;
    let inverted = segment.inverted_index(fields.text)?;
    let paired = |term: usize| query.pairs.iter().any(|&(a, b)| a == term || b == term);
    // Positions of the terms that are part of a pair, per candidate and term.
    let mut positions: Vec<Vec<Vec<u32>>> = vec![Vec::new(); query.terms.len()];
    for (number, term) in query.terms.iter().enumerate() {
        let wanted = if paired(number) {
            IndexRecordOption::WithFreqsAndPositions
        } else {
            IndexRecordOption::WithFreqs
        };
        let term = Term::from_field_text(fields.text, term);
        let Some(mut postings) =
            inverted.read_postings(&term, wanted).map_err(tantivy::TantivyError::from)?
        else {
            continue;
        };
        if paired(number) {
            positions[number] = vec![Vec::new(); documents.len()];
        }
        for (place, &document) in documents.iter().enumerate() {
            if !reach(&mut postings, document) {
                continue;
            }
            let frequency = postings.term_freq() as f32;
            let length = lengths.fieldnorm(document) as f32 / statistics.average_length;
            candidates[place].contributions[number] =
                statistics.idf[number] * (K1 + 1.0) * frequency
                    / (frequency + K1 * (1.0 - B + B * length));
            if paired(number) {
                postings.positions(&mut positions[number][place]);
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

fn reach(postings: &mut SegmentPostings, document: DocId) -> bool {
    if postings.doc() < document {
        postings.seek(document);
    }
    postings.doc() == document
}

/// The smallest distance between two sorted lists of positions, the same position left out.
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

impl Part {
    fn new(index: &Index) -> Result<Self> {
        let reader: IndexReader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .num_warming_threads(0)
            .try_into()?;
        Ok(Self { searcher: reader.searcher(), _reader: reader })
    }
}

/// The columns of one segment that describe a hit.
struct Columns {
    row: Column<u64>,
    key: Column<u64>,
    session: Column<u64>,
    source: Column<u64>,
    ordinal: Column<u64>,
    kind: Column<u64>,
    at: Column<i64>,
}

impl Columns {
    fn of(segment: &SegmentReader) -> Result<Self> {
        let fast = segment.fast_fields();
        Ok(Self {
            row: fast.u64("row")?,
            key: fast.u64("key")?,
            session: fast.u64("session")?,
            source: fast.u64("source")?,
            ordinal: fast.u64("ordinal")?,
            kind: fast.u64("kind")?,
            at: fast.i64("at")?,
        })
    }

    fn candidate(&self, document: DocId, terms: usize) -> Candidate {
        let number = |column: &Column<u64>| column.first(document).unwrap_or(0);
        let (kind, is_subagent) = kind_of_code(number(&self.kind));
        Candidate {
            row: number(&self.row) as i64,
            key: number(&self.key),
            session: number(&self.session) as i64,
            source: number(&self.source) as i64,
            ordinal: number(&self.ordinal) as u32,
            kind,
            is_subagent,
            at: self.at.first(document).unwrap_or(0),
            contributions: vec![0.0; terms],
            proximity: 0.0,
        }
    }
}

fn open_to_read(directory: &std::path::Path) -> Option<Index> {
    // An index that is missing or damaged is as good as an empty one: the store has all its rows.
    let directory = ReadingDirectory(MmapDirectory::open(directory).ok()?);
    let index = Index::open(directory).ok()?;
    register_tokenizer(&index);
    Some(index)
}

/// The newest rows in a small index of their own, if there are any.
fn index_in_memory(
    store: &Store,
    collection: Collection,
    fields: Fields,
    after: i64,
) -> Result<Option<Part>> {
    let index = Index::create_in_ram(Fields::schema());
    register_tokenizer(&index);
    let mut writer = index.writer_with_num_threads(1, 15_000_000)?;
    let mut sessions = Sessions::new();
    let (_, added) =
        collection.documents(store, after, LONGEST_TAIL, &mut sessions, |document| {
            writer.add_document(fields.document(document))?;
            Ok(())
        })?;
    writer.commit()?;
    (added > 0).then(|| Part::new(&index)).transpose()
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
