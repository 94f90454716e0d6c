//! Memories: read, told, corrected, forgotten, and decisions taken back.

use axum::http::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use thru_app::ask::get::{Get, Pieces, Sources, get as pieces};
use thru_app::ask::log::{AskLog, LogSubject, log};
use thru_app::ask::memories::{self, ListMemories, MemoryState};
use thru_app::ask::timeline::{Around, AroundWhat, MemoriesAround, around};
use thru_app::fresh::Freshness;
use thru_app::keep::edit::{Edit, edit};
use thru_app::keep::forget::{self, Forget};
use thru_app::keep::remember::{Remember, Remembered, remember};
use thru_app::keep::undo::undo;
use thru_app::{App, Call, Result};
use thru_core::ObservationType;

use super::{Named, Route, change, look, names, scope};

/// Entries of a list where no number is asked for, and at most.
const USUAL: usize = 50;
const MOST: usize = 500;
/// Memories before and after another.
const AROUND: usize = 5;

pub(super) fn routes() -> Vec<Route> {
    vec![
        look("/memories", "Lists memories, the latest first.", list),
        change(
            Method::POST,
            "/memories",
            "Remembers a text: for every project, unless `project` names one.",
            tell,
        ),
        look(
            "/memories/{id}",
            "Shows memories and passages whole; several ids are separated by commas.",
            show,
        ),
        look(
            "/memories/{id}/history",
            "Tells what was decided about a memory, and to whom it was given.",
            |input: Named, app, call| memories::history(app, &input.id, call),
        ),
        look("/memories/{id}/timeline", "Shows what was remembered before and after it.", timeline),
        change(Method::PATCH, "/memories/{id}", "Corrects a memory.", correct),
        change(Method::POST, "/memories/forget", "Forgets memories until it is undone.", forget),
        change(Method::POST, "/undo", "Takes a decision back.", |input: UndoInput, app, call| {
            undo(app, input.operation.as_deref(), call)
        }),
        look("/log", "Lists decisions, the latest first.", |input: LogInput, app, call| {
            let limit = input.limit.unwrap_or(USUAL).clamp(1, MOST);
            let LogInput { subject, cursor, .. } = input;
            log(app, &AskLog { limit, subject: subject.into(), cursor }, call)
        }),
    ]
}

/// Memories to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    /// Only this project, by its name or key.
    project: Option<String>,
    /// Only this session, by the start of its id.
    session: Option<String>,
    /// Only these types, separated by commas.
    r#type: Option<String>,
    /// Only those in this state.
    #[serde(default)]
    state: State,
    /// Not before this day, as people write one.
    since: Option<String>,
    /// Before this day or moment: the time of the last entry of the page before.
    until: Option<String>,
    /// Where the page begins: `next` of the page before.
    cursor: Option<String>,
    /// Entries at most.
    limit: Option<usize>,
}

/// The state of memories.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// Those that answers draw on.
    #[default]
    InForce,
    /// Those that a person corrected.
    Edited,
    /// Those that a person or an agent told.
    Told,
    /// Those that were forgotten, by the decisions that `/undo` takes back; the days are those of the decisions.
    Forgotten,
}

fn list(input: ListInput, app: &App, call: Call<'_>) -> Result<memories::MemoryList> {
    let request = ListMemories {
        kinds: names(input.r#type.as_deref())?,
        project: scope(input.project),
        session: input.session,
        state: match input.state {
            State::InForce => MemoryState::InForce,
            State::Edited => MemoryState::Edited,
            State::Told => MemoryState::Told,
            State::Forgotten => MemoryState::Forgotten,
        },
        since: input.since,
        until: input.until,
        cursor: input.cursor,
        limit: input.limit.unwrap_or(USUAL).clamp(1, MOST),
    };
    memories::list(app, &request, call)
}

/// A text to remember.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TellInput {
    /// The text.
    text: String,
    /// Its title; its first line where there is none.
    title: Option<String>,
    /// Its type: `decision` where none is given.
    r#type: Option<String>,
    /// True if every session that starts is given it.
    #[serde(default)]
    rule: bool,
    /// The project that it holds in, by its name or key. Without it the text holds for every project, and may be given to any
    /// session that starts.
    project: Option<String>,
}

fn tell(input: TellInput, app: &App, call: Call<'_>) -> Result<Remembered> {
    let kind = names(input.r#type.as_deref())?.pop().unwrap_or(ObservationType::Decision);
    let request = Remember {
        text: input.text,
        title: input.title,
        kind,
        is_rule: input.rule,
        files: Vec::new(),
        scope: scope(input.project),
        by_agent: false,
    };
    remember(app, &request, call)
}

/// Memories and passages to show.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShowInput {
    /// Ids, or the start of them, separated by commas.
    id: String,
    /// True for the records that they were made from.
    #[serde(default)]
    source: bool,
}

fn show(input: ShowInput, app: &App, call: Call<'_>) -> Result<Pieces> {
    let request = Get {
        ids: names(Some(&input.id))?,
        sources: if input.source { Sources::Records } else { Sources::None },
        freshness: Freshness::Recorded,
    };
    pieces(app, &request, call)?.all_known()
}

/// A moment to look around.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TimelineInput {
    /// The id of a memory or a passage, or the start of it.
    id: String,
    /// Memories before it.
    before: Option<usize>,
    /// Memories after it.
    after: Option<usize>,
}

fn timeline(input: TimelineInput, app: &App, call: Call<'_>) -> Result<MemoriesAround> {
    let request = Around {
        anchor: AroundWhat::Id(input.id),
        before: input.before.unwrap_or(AROUND).min(100),
        after: input.after.unwrap_or(AROUND).min(100),
        kinds: Vec::new(),
        agents: Vec::new(),
    };
    around(app, &request, call)
}

/// A correction. Fields that are left out stay as they are.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditInput {
    /// The id, or the start of it.
    id: String,
    /// The new title.
    title: Option<String>,
    /// The new text.
    text: Option<String>,
    /// The new type.
    r#type: Option<String>,
    /// True to make it a rule, false to make it none.
    rule: Option<bool>,
    /// True to stand behind what an agent recorded.
    #[serde(default)]
    agree: bool,
    /// The version that was shown, as its history names it. A memory that changed since is left alone.
    base: Option<String>,
}

fn correct(input: EditInput, app: &App, call: Call<'_>) -> Result<memories::MemoryHistory> {
    let request = Edit {
        id: input.id,
        title: input.title,
        text: input.text,
        kind: names(input.r#type.as_deref())?.pop(),
        is_rule: input.rule,
        agreed: input.agree.then_some(true),
        base: input.base,
    };
    let edited = edit(app, &request, call)?;
    memories::history(app, &edited.id.to_string(), call)
}

/// Memories to forget.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForgetInput {
    /// Their ids.
    ids: Vec<String>,
    /// True to tell what would be forgotten, and forget nothing.
    #[serde(default)]
    dry_run: bool,
}

fn forget(input: ForgetInput, app: &App, call: Call<'_>) -> Result<forget::Forgetting> {
    forget::forget_or_preview(app, &Forget::Memories(input.ids), input.dry_run, call)
}

/// A decision to take back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UndoInput {
    /// Its id in the log, or that of a memory that was merged; the last one where none is given.
    operation: Option<String>,
}

/// Decisions to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LogInput {
    /// Where the page begins: `next` of the page before.
    cursor: Option<String>,
    /// Entries at most.
    limit: Option<usize>,
    /// The subject.
    #[serde(default)]
    subject: Subject,
}

/// The subject of a log.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Subject {
    /// The decisions of people.
    #[default]
    Decisions,
    /// Near-duplicates that were merged by themselves.
    Merges,
    /// Notes of agents that no person agreed to.
    AgentNotes,
}

impl From<Subject> for LogSubject {
    fn from(subject: Subject) -> Self {
        match subject {
            Subject::Decisions => Self::Decisions,
            Subject::Merges => Self::Merges,
            Subject::AgentNotes => Self::AgentNotes,
        }
    }
}
