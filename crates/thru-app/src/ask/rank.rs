//! The reasons for the rank of a passage or a memory among the answers to a question.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use thru_recall::{MeaningUse, OrderRequest, Part, SearchRequest, order};
use thru_store::index::{IndexFilter, TextIndex};
use thru_store::{PassageRow, Store};

use super::dates::{dates_as_of, time_meant};
use super::passage::named_passage;
use super::search::Feature;
use super::{ProjectScope, memory};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::embedding;
use crate::fresh::{self, Freshness};
use crate::trouble::Result;

/// Memories that are ranked to find one among them.
const RANKED: usize = 200;

/// A request for the rank of something.
#[derive(Clone, Debug)]
pub struct ExplainRank {
    /// The start of the id of a passage or a memory.
    pub id: String,
    /// The question.
    pub query: String,
    /// The projects to search.
    pub project: ProjectScope,
}

/// The rank of a passage or a memory among the answers to a question.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Ranking {
    /// The version of this form.
    pub version: u32,
    /// `rank`.
    pub kind: &'static str,
    /// The rank, from 1; `None` if it is not among the answers.
    pub rank: Option<usize>,
    /// The number of passages or memories that were ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub considered: Option<usize>,
    /// The reasons for the rank.
    #[serde(flatten)]
    pub reasons: Option<RankReasons>,
    /// The use made of meaning.
    #[serde(skip)]
    pub meaning: Option<MeaningUse>,
}

/// The reasons for a rank.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RankReasons {
    /// Those of a passage.
    Passage {
        /// Its score.
        score: f32,
        /// The features of the score.
        features: FeatureList,
        /// The cosine of its vector and the question's.
        similarity: Option<f32>,
        /// Confidence that the passages answer the question.
        confidence: f32,
        /// The rank of its session.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<SessionRank>,
    },
    /// Those of a memory.
    Memory {
        /// Its score.
        score: f32,
        /// The share of the question's words that it holds, rare words weighing more.
        coverage: f32,
        /// The number of the question's words that it holds.
        words: usize,
    },
}

/// The rank of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionRank {
    /// The rank, from 1.
    pub rank: usize,
    /// The number of sessions that were ranked.
    pub considered: usize,
    /// Its score.
    pub score: f32,
    /// The features of the score.
    pub features: FeatureList,
}

/// The features of a score, in the order of the ranking.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FeatureList(
    #[serde(serialize_with = "in_order")]
    #[schemars(with = "Vec<NamedFeature>")]
    pub Vec<Part>,
);

/// A feature with its name.
#[derive(Serialize, JsonSchema)]
struct NamedFeature {
    name: &'static str,
    #[serde(flatten)]
    feature: Feature,
}

fn in_order<S: Serializer>(parts: &[Part], serializer: S) -> Result<S::Ok, S::Error> {
    let named = |part: &Part| NamedFeature { name: part.name, feature: Feature::from(part) };
    serializer.collect_seq(parts.iter().map(named))
}

impl Ranking {
    const fn new(rank: Option<usize>, considered: Option<usize>) -> Self {
        Self {
            version: answer::VERSION,
            kind: "rank",
            rank,
            considered,
            reasons: None,
            meaning: None,
        }
    }
}

/// Explains the rank of a passage or a memory.
///
/// # Errors
/// Fails if the id or the project names nothing, or store, index or vectors cannot be read.
pub fn explain_rank(app: &App, request: &ExplainRank, call: Call<'_>) -> Result<Ranking> {
    fresh::of_whole_index(app, call, || explain(app, request, call))
}

fn explain(app: &App, request: &ExplainRank, call: Call<'_>) -> Result<Ranking> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let project = request.project.find(app, &store)?;
    let projects = project.map(|project| store.project_rows(project.row)).transpose()?;
    let filter = IndexFilter { projects, ..IndexFilter::default() };
    match memory::memory_named(&store, &request.id)? {
        Some(memory) => memory_rank(app, &store, request, filter, memory.row),
        None => {
            let passage = named_passage(&store, &request.id)?;
            passage_rank(app, &store, request, filter, &passage)
        }
    }
}

fn passage_rank(
    app: &App,
    store: &Store,
    request: &ExplainRank,
    filter: IndexFilter,
    passage: &PassageRow,
) -> Result<Ranking> {
    let query = request.query.clone();
    let embedding = embedding::embed_question(app, &query);
    let index = TextIndex::open(&app.layout, store)?;
    let now = dates_as_of(app, store, &query, filter.projects.as_deref())?;
    let when = time_meant(app, &query, now);
    let order_request = OrderRequest { query, filter, when };
    let ordered = order(&app.layout, &index, store, &order_request, Box::new(|| embedding.wait()))?;
    let all = &ordered.candidates.found;
    let mut scores = ordered.ranking.passages.iter().enumerate();
    let found = scores.find(|(_, score)| all[score.candidate].row == passage.row);
    let mut ranking = Ranking::new(found.map(|(place, _)| place + 1), Some(all.len()));
    ranking.reasons = found.map(|(_, score)| {
        let sessions = &ordered.ranking.sessions;
        let session = sessions.iter().enumerate().find(|(_, one)| one.session == passage.session);
        RankReasons::Passage {
            score: score.score,
            features: FeatureList(score.parts()),
            similarity: ordered.found.similarity.get(score.candidate).copied().flatten(),
            confidence: ordered.ranking.confidence,
            session: session.map(|(place, session)| SessionRank {
                rank: place + 1,
                considered: sessions.len(),
                score: session.score,
                features: FeatureList(session.parts()),
            }),
        }
    });
    ranking.meaning = Some(ordered.meaning_use);
    Ok(ranking)
}

fn memory_rank(
    app: &App,
    store: &Store,
    request: &ExplainRank,
    filter: IndexFilter,
    row: i64,
) -> Result<Ranking> {
    let query = request.query.clone();
    let recall = SearchRequest { query, filter, memories: RANKED, ..SearchRequest::default() };
    let results = fresh::search_store(app, store, &recall)?;
    let mut memories = results.memories.iter().enumerate();
    let Some((place, found)) = memories.find(|(_, one)| one.hit.memory.row == row) else {
        return Ok(Ranking::new(None, None));
    };
    let hit = &found.hit;
    let reasons =
        RankReasons::Memory { score: hit.score, coverage: hit.coverage, words: hit.words() };
    Ok(Ranking {
        reasons: Some(reasons),
        ..Ranking::new(Some(place + 1), Some(results.memories.len()))
    })
}
