//! Our own ranking, in the names that a labelled set uses.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::Result;
use thru_intake::Intake;
use thru_recall::{Ranking, Request, Weights};
use thru_store::index::{Candidates, IndexFilter, TextIndex};
use thru_store::{PassageFilter, PassageRow, Store};

/// A ranking in names of sessions and records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranked {
    /// Sessions, best first.
    pub(crate) sessions: Vec<String>,
    /// Passages, best first: the first two records of each, as `SESSION#UUID`.
    pub(crate) passages: Vec<Vec<String>>,
    /// How sure the system is.
    pub(crate) confidence: f64,
}

/// A filled store, open to be asked.
pub(crate) struct Engine {
    index: TextIndex,
    /// By row.
    pub(crate) passages: HashMap<i64, PassageRow>,
    /// By row of the source: the session's name in the set.
    pub(crate) sources: HashMap<i64, String>,
}

impl Engine {
    /// `names` gives the session's name in the set by the path of a file.
    pub(crate) fn open(intake: &Intake, names: &BTreeMap<String, String>) -> Result<Self> {
        let store = Store::open_to_read(intake.layout())?;
        let index = TextIndex::open(intake.layout(), &store)?;
        let sources = store
            .sources()?
            .into_iter()
            .filter_map(|source| Some((source.row, names.get(&source.path)?.clone())))
            .collect();
        let all = PassageFilter::After { row: 0, limit: i64::MAX as usize };
        let passages =
            store.passages(all)?.into_iter().map(|passage| (passage.row, passage)).collect();
        Ok(Self { index, passages, sources })
    }

    /// The candidates for a question and their order, as `thru search` gets them.
    pub(crate) fn order(&self, query: &str) -> Result<(Candidates, Ranking)> {
        let request = Request {
            query: query.to_owned(),
            filter: IndexFilter::default(),
            ..Request::default()
        };
        let (candidates, ranking, _) = thru_recall::order(&self.index, &request)?;
        Ok((candidates, ranking))
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

    /// The order of the same candidates by other weights, in names.
    pub(crate) fn reordered(&self, candidates: &Candidates, weights: &Weights) -> Ranked {
        self.names(candidates, &thru_recall::rank(candidates, weights))
    }

    /// The name of the session that a passage belongs to.
    fn session_of(&self, row: i64) -> Option<&str> {
        self.sources.get(&self.passages.get(&row)?.source).map(String::as_str)
    }

    /// The first two records of a passage.
    pub(crate) fn records(&self, row: i64) -> Vec<String> {
        let Some(passage) = self.passages.get(&row) else { return Vec::new() };
        let Some(session) = self.session_of(row) else { return Vec::new() };
        let records = passage.records.iter().take(2);
        records.map(|record| format!("{session}#{}", record.id)).collect()
    }
}
