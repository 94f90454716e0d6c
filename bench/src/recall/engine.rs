//! Our own ranking, in the names that a labelled set uses.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Result;
use thru_core::{Id, Layout, PassageKind};
use thru_embed::{Embedder, LoadMode, MiniLm, ModelFiles};
use thru_intake::{Embedding, Intake};
use thru_recall::{OrderRequest, Ordered, PendingEmbedding, Ranking, without_embedding};
use thru_store::index::{Candidates, IndexFilter, TextIndex};
use thru_store::{PassageFilter, PassageRow, Store};

use crate::home::copy;

/// A ranking in names of sessions and records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranked {
    /// Sessions, best first.
    pub(crate) sessions: Vec<String>,
    /// Passages, best first: the first two records of each, as `SESSION#UUID`.
    pub(crate) passages: Vec<Vec<String>>,
    /// The confidence of the system.
    pub(crate) confidence: f64,
}

/// A filled store, open to be asked.
pub(crate) struct Engine {
    layout: Layout,
    store: Store,
    index: TextIndex,
    model: Option<MiniLm>,
    /// By row.
    pub(crate) passages: HashMap<i64, PassageRow>,
    /// By id.
    rows: HashMap<Id, i64>,
    /// By row of the source: the session's name in the set.
    pub(crate) sources: HashMap<i64, String>,
}

impl Engine {
    /// `names` gives the session's name in the set by the path of a file. Without a model only words are
    /// looked for.
    pub(crate) fn open(
        intake: &Intake,
        names: &BTreeMap<String, String>,
        model: Option<MiniLm>,
    ) -> Result<Self> {
        let store = Store::open_to_read(intake.layout())?;
        let index = TextIndex::open(intake.layout(), &store)?;
        let sources = store
            .sources()?
            .into_iter()
            .filter_map(|source| Some((source.row, names.get(&source.path)?.clone())))
            .collect();
        let all = PassageFilter::After { row: 0, limit: i64::MAX as usize };
        let passages: HashMap<i64, PassageRow> =
            store.passages(all)?.into_iter().map(|passage| (passage.row, passage)).collect();
        let rows = passages.values().map(|passage| (passage.id, passage.row)).collect();
        Ok(Self { layout: intake.layout().clone(), store, index, model, passages, rows, sources })
    }

    /// The candidates for a question and their order, as `thru search` gets them.
    pub(crate) fn order(&self, query: &str, filter: IndexFilter) -> Result<Ordered> {
        let request = OrderRequest { query: query.to_owned(), filter, when: None };
        let embedding: PendingEmbedding<'_> = match &self.model {
            None => without_embedding("not measured"),
            Some(model) => Box::new(move || {
                let vectors = model.embed(&[query], &AtomicBool::new(false));
                let vector = vectors.map_err(|error| error.to_string())?.pop().unwrap_or_default();
                Ok((model.model().to_owned(), vector))
            }),
        };
        Ok(thru_recall::order(&self.layout, &self.index, &self.store, &request, embedding)?)
    }

    /// The rows of the sessions that have these names.
    pub(crate) fn session_rows(&self, names: &HashSet<String>) -> Vec<i64> {
        let rows: HashSet<i64> = self
            .passages
            .values()
            .filter(|passage| {
                self.sources.get(&passage.source).is_some_and(|name| names.contains(name))
            })
            .map(|passage| passage.session)
            .collect();
        rows.into_iter().collect()
    }

    /// The order in names.
    pub(crate) fn names(&self, candidates: &Candidates, ranking: &Ranking) -> Ranked {
        // Where several files of the set say they are one session, the one with the best passage
        // stands for it first.
        let mut by_session: HashMap<i64, Vec<&str>> = HashMap::new();
        for score in &ranking.passages {
            let candidate = &candidates.found[score.candidate];
            let Some(name) = self.session_of(candidate.row) else { continue };
            let names = by_session.entry(candidate.session).or_default();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut seen = HashSet::new();
        let sessions = ranking
            .sessions
            .iter()
            .flat_map(|score| by_session.get(&score.session).into_iter().flatten())
            .filter(|name| seen.insert(**name))
            .map(|name| (*name).to_owned())
            .collect();
        let passages = ranking
            .passages
            .iter()
            .map(|score| self.records(candidates.found[score.candidate].row))
            .collect();
        Ranked { sessions, passages, confidence: f64::from(ranking.confidence) }
    }

    /// The name of the session that a passage belongs to.
    pub(crate) fn session_of(&self, row: i64) -> Option<&str> {
        self.sources.get(&self.passages.get(&row)?.source).map(String::as_str)
    }

    /// The same by the passage's id.
    pub(crate) fn session_of_id(&self, id: &Id) -> Option<&str> {
        self.session_of(*self.rows.get(id)?)
    }

    /// The first two records of a passage, by its id.
    pub(crate) fn records_of_id(&self, id: &Id) -> Vec<String> {
        self.rows.get(id).map(|row| self.records(*row)).unwrap_or_default()
    }

    /// The records of each tool call among these records.
    pub(crate) fn tool_calls(&self, records: &HashSet<String>) -> Vec<Vec<String>> {
        let calls = self.passages.values().filter(|passage| passage.kind == PassageKind::Tool);
        calls
            .map(|passage| self.records(passage.row))
            .filter(|own| own.iter().any(|record| records.contains(record)))
            .collect()
    }

    /// The first two records of a passage.
    pub(crate) fn records(&self, row: i64) -> Vec<String> {
        let Some(passage) = self.passages.get(&row) else { return Vec::new() };
        let Some(session) = self.session_of(row) else { return Vec::new() };
        let records = passage.records.iter().take(2);
        records.map(|record| format!("{session}#{}", record.id)).collect()
    }
}

/// Makes vectors of everything in a store; with a folder to keep them in, only of what it does not have yet.
pub(crate) fn embed(intake: &Intake, kept: Option<&Path>) -> Result<MiniLm> {
    let model = MiniLm::load(&ModelFiles::BuiltIn, 2, LoadMode::Verified)?;
    let vectors = intake.layout().vectors();
    if let Some(kept) = kept.filter(|kept| kept.is_dir()) {
        copy(kept, &vectors)?;
    }
    let started = Instant::now();
    let told = Cell::new(Instant::now());
    let how = Embedding {
        embedder: &model,
        most: None,
        may_see: &|_| true,
        stop: &AtomicBool::new(false),
    };
    let done = intake.embed(&how, &mut |done| {
        if told.get().elapsed().as_secs() >= 10 {
            told.set(Instant::now());
            eprintln!("{} texts embedded, {} to go", done.texts, done.waiting);
        }
    })?;
    let coverage = intake.coverage(model.model())?;
    println!(
        "{} texts embedded in {:.1} s ({} vectors); {} texts have vectors now, {:.1} MB.",
        done.texts,
        started.elapsed().as_secs_f64(),
        done.vectors,
        coverage.embedded,
        coverage.bytes as f64 / 1e6,
    );
    if let Some(kept) = kept {
        copy(&vectors, kept)?;
    }
    Ok(model)
}
