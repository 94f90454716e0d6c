//! What a person sees: the application's answer to a question, with its gate and its default screen.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use thru_agents::Homes;
use thru_app::ask::search::{AnswerSize, Found, FoundRow, RankedPassage, Search, Verdict, search};
use thru_app::{App, Call, Machine, Patience, Places};
use thru_config::Config;
use thru_core::Layout;
use thru_recall::TurnEnds;

use super::engine::{Engine, Ranked};

/// The application over a home, asked as `thru search --all --nearest` asks it.
pub(super) struct Screen {
    app: App,
}

/// A screen in the names of a labelled set.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// True if the screen claims to answer.
    pub(super) is_sure: bool,
    /// The sessions and passages on it.
    pub(super) shown: Ranked,
    /// The passages on it, each with the turn shown beside it.
    pub(super) with_turns: Vec<Vec<String>>,
}

impl Screen {
    /// Opens a home. The program's files and variables are out of reach.
    pub(super) fn open(home: &Path, words_only: bool) -> Self {
        let nowhere = home.join("nowhere");
        let places = Places {
            layout: Layout::new(home),
            config_file: home.join("config.toml"),
            homes: Homes::new(|_| nowhere.clone()),
            home: None,
        };
        let machine = Machine {
            host: "bench".to_owned(),
            temp_dir: std::env::temp_dir(),
            variables: vec![("THROUGHLINE_DAEMON".into(), "off".into())],
            ..Machine::default()
        };
        let mut config = Config::default();
        if words_only {
            config.embedding.provider = thru_config::EmbeddingProvider::None;
        }
        Self { app: App::new(places, Arc::new(machine), nowhere, config, Vec::new()) }
    }

    /// Asks a question.
    pub(super) fn see(&self, engine: &Engine, query: &str) -> Result<Seen> {
        let request = Search {
            query: query.to_owned(),
            project: thru_app::ask::ProjectScope::Everywhere,
            size: AnswerSize::default(),
            nearest: true,
            turns: TurnEnds::Both,
            ..Search::default()
        };
        let found = search(&self.app, &request, Call::unattended(Patience::Endless))?;
        Ok(seen(engine, &found))
    }
}

fn seen(engine: &Engine, found: &Found) -> Seen {
    let mut passages = Vec::new();
    for row in found.rows() {
        if let FoundRow::Passage(passage) = row {
            passages.push(passage);
        }
    }
    let ids: HashSet<_> = passages.iter().map(|one| one.entry.full_id).collect();
    let mut known = HashSet::new();
    let in_order = found.sessions.iter().flat_map(|session| &session.passages);
    let sessions = in_order
        .filter(|one| ids.contains(&one.entry.full_id))
        .filter_map(|one| engine.session_of_id(&one.entry.full_id))
        .filter(|name| known.insert((*name).to_owned()))
        .map(str::to_owned)
        .collect();
    let records: Vec<Vec<String>> =
        passages.iter().map(|one| engine.records_of_id(&one.entry.full_id)).collect();
    let with_turn = |one: &&RankedPassage, own: &Vec<String>| {
        let ends = one.prompt.iter().chain(&one.result);
        let of_turn = ends.flat_map(|end| engine.records_of_id(&end.full_id));
        own.iter().cloned().chain(of_turn).collect()
    };
    Seen {
        is_sure: found.verdict == Verdict::Answered,
        with_turns: passages.iter().zip(&records).map(|(one, own)| with_turn(one, own)).collect(),
        shown: Ranked { sessions, passages: records, confidence: f64::from(found.confidence) },
    }
}
