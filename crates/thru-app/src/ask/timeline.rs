//! Timelines: the memories before and after something.

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Agent, MemoryKind};
use thru_recall::{Anchor, SearchRequest, parse_date};
use thru_store::index::IndexFilter;
use thru_store::{MemoryFilter, MemoryRow, Store};

use super::memory::{self, MemoryEntry, MemoryFiles};
use super::passage::{PassageEntry, named_passage};
use super::{Opened, ProjectScope};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::{self, Prepared};
use crate::trouble::{Context, Result};

/// A request for the memories around something.
#[derive(Clone, Debug)]
pub struct Around {
    /// The thing.
    pub anchor: AroundWhat,
    /// Maximum number of memories before it.
    pub before: usize,
    /// Maximum number of memories after it.
    pub after: usize,
    /// Only these kinds; empty means all.
    pub kinds: Vec<MemoryKind>,
    /// Only sessions of these agents; empty means all.
    pub agents: Vec<Agent>,
}

/// The thing that a timeline is about.
#[derive(Clone, Debug)]
pub enum AroundWhat {
    /// The memory or passage whose id starts so.
    Id(String),
    /// A moment, as people or programs write one, in a project.
    Moment {
        /// The moment.
        at: String,
        /// The project.
        project: ProjectScope,
    },
    /// The memory that answers a question best.
    Query {
        /// The question.
        query: String,
        /// The projects to search.
        project: ProjectScope,
    },
}

/// Memories around something, the earliest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoriesAround {
    /// The version of this form.
    pub version: u32,
    /// `timeline`.
    pub kind: &'static str,
    /// Earlier memories.
    pub before: Vec<TimelineRow>,
    /// The memory in the middle.
    pub anchor: Option<TimelineRow>,
    /// Later memories.
    pub after: Vec<TimelineRow>,
    /// The work done to bring the answer up to date.
    pub preparation: Prepared,
    /// The passage in the middle, where it is one.
    #[serde(skip)]
    pub passage: Option<PassageEntry>,
    /// True if there is something to look around.
    #[serde(skip)]
    pub is_found: bool,
}

/// A memory of a timeline.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TimelineRow {
    /// The memory.
    #[serde(flatten)]
    pub entry: MemoryEntry,
    /// Its files as they are now.
    #[serde(skip)]
    pub files: MemoryFiles,
}

impl MemoriesAround {
    /// The memories, the earliest first; `true` for the one in the middle.
    pub fn memories(&self) -> impl Iterator<Item = (&TimelineRow, bool)> {
        self.before
            .iter()
            .map(|row| (row, false))
            .chain(self.anchor.iter().map(|row| (row, true)))
            .chain(self.after.iter().map(|row| (row, false)))
    }
}

/// Reads the memories around something.
///
/// # Errors
/// Fails if an id or a project names nothing, a passage has no date, or store or index cannot be read.
pub fn around(app: &App, request: &Around, call: Call<'_>) -> Result<MemoriesAround> {
    fresh::of_whole_index(app, call, || find_around(app, request, call))
}

fn find_around(app: &App, request: &Around, call: Call<'_>) -> Result<MemoriesAround> {
    call.check()?;
    let Opened { store, intake, preparation } = Opened::up_to_date(app, call)?;
    let redactor = intake.redactor();
    let mut passage = None;
    let anchor = match &request.anchor {
        AroundWhat::Id(id) => match memory::memory_named(&store, id)? {
            Some(memory) => Some(Anchor::Memory(memory)),
            None => {
                let row = named_passage(&store, id)?;
                passage = Some(PassageEntry::read(&store, redactor, &row)?);
                let session = store.session(row.session)?;
                let project = session.as_ref().and_then(|session| session.project);
                let at = row.at.or_else(|| session.and_then(|session| session.ended));
                let at = at.context("the passage has no date")?;
                Some(Anchor::Moment { at, project, session: Some(row.session) })
            }
        },
        AroundWhat::Moment { at, project } => {
            let at = parse_date(at, app.clock.now(), app.zone())?;
            let project = project.find(app, &store)?.map(|project| project.row);
            Some(Anchor::Moment { at, project, session: None })
        }
        AroundWhat::Query { query, project } => best(app, &store, request, query, project)?,
    };
    let is_found = anchor.is_some();
    let found = match anchor {
        Some(anchor) => {
            let wanted = MemoryFilter {
                agents: (!request.agents.is_empty()).then(|| request.agents.clone()),
                kinds: (!request.kinds.is_empty()).then(|| request.kinds.clone()),
                ..MemoryFilter::default()
            };
            thru_recall::timeline(&store, anchor, request.before, request.after, wanted)?
        }
        None => thru_recall::Timeline::default(),
    };
    let rows = |memories: &[MemoryRow]| -> Result<Vec<TimelineRow>> {
        let entries = memory::entries(&store, redactor, memories)?;
        Ok(entries.into_iter().map(|(entry, files)| TimelineRow { entry, files }).collect())
    };
    Ok(MemoriesAround {
        version: answer::VERSION,
        kind: "timeline",
        before: rows(&found.before)?,
        anchor: rows(found.anchor.as_slice())?.pop(),
        after: rows(&found.after)?,
        preparation,
        passage,
        is_found,
    })
}

/// Memories among which the first that is near a question is looked for: the best by its score may not be.
const LOOKED_AT: usize = 5;

/// The memory that answers a question best.
fn best(
    app: &App,
    store: &Store,
    request: &Around,
    query: &str,
    project: &ProjectScope,
) -> Result<Option<Anchor>> {
    let project = project.find(app, store)?;
    let projects = project.map(|project| store.project_rows(project.row)).transpose()?;
    let request = SearchRequest {
        query: query.to_owned(),
        filter: IndexFilter {
            projects,
            agents: (!request.agents.is_empty()).then(|| request.agents.clone()),
            kinds: (!request.kinds.is_empty()).then(|| request.kinds.clone()),
            ..IndexFilter::default()
        },
        memories: LOOKED_AT,
        open: app.open.clone(),
        ..SearchRequest::default()
    };
    let results = fresh::search_store(app, store, &request)?;
    let near = results.memories.into_iter().find(|found| found.hit.is_near());
    Ok(near.map(|found| Anchor::Memory(found.hit.memory)))
}
