//! Figures: the cost and use of context, the work of sessions, the cost of models.

mod models;
mod work;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Agent, Id, SessionId, Timestamp};
use thru_recall::{SessionUsage, parse_date, usage};
use thru_redact::Clean;
use thru_store::{InjectionRow, Store};

pub use models::{AskModelUsage, ModelUsage, ModelUsageRow, model_usage};
pub use work::{AskWork, DayWork, ProjectWork, WorkFigures, WorkStats, work};

use super::{Opened, cleaned};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::Freshness;
use crate::trouble::Result;

/// The cost of the context that sessions were given, and the use that they made of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ContextUsage {
    /// The version of this form.
    pub version: u32,
    /// `stats`.
    pub kind: &'static str,
    /// Tokens in all.
    pub tokens: u64,
    /// Memories in all.
    pub memories: u64,
    /// Memories that their session later asked for by id.
    pub fetched: u64,
    /// Memories whose files their session later worked on.
    pub touched: u64,
    /// The figures of each occasion.
    pub occasions: Vec<OccasionUsage>,
    /// The figures of each day, the latest first.
    pub days: Vec<DayUsage>,
    /// The figures of each session, the latest first.
    pub sessions: Vec<SessionContextUsage>,
}

/// The context given at one kind of occasion.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OccasionUsage {
    /// The occasion.
    pub occasion: String,
    /// The number of times.
    pub times: u64,
    /// Tokens in all.
    pub tokens: u64,
    /// Memories in all.
    pub memories: u64,
}

/// The context given on one day.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DayUsage {
    /// The day: `2026-03-01`.
    pub day: String,
    /// The number of times.
    pub times: u64,
    /// Tokens in all.
    pub tokens: u64,
    /// Tokens of the recorded work that the memories given stand for; each memory counts once a day.
    pub work_tokens: u64,
}

/// The context given to one session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionContextUsage {
    /// Its agent.
    pub agent: Agent,
    /// The agent's id of it.
    pub id: SessionId,
    /// The last time that it was given any.
    pub last: Option<Timestamp>,
    /// The number of times.
    pub times: u64,
    /// Tokens in all.
    pub tokens: u64,
    /// Memories in all.
    pub memories: u64,
    /// Memories that it later asked for by id.
    pub fetched: u64,
    /// Memories whose files it later worked on.
    pub touched: u64,
    /// Its title.
    #[serde(skip)]
    pub title: Option<Clean<String>>,
}

/// Adds up the context that sessions were given since a day, which is written as people write one.
///
/// # Errors
/// Fails if the day cannot be understood, or the store cannot be read.
pub fn context_usage(app: &App, since: &str, call: Call<'_>) -> Result<ContextUsage> {
    let Opened { store, intake, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let since = parse_date(since, app.clock.now(), app.zone())?;
    let injections = store.injections(Some(since))?;
    let days = days(app, &store, &injections)?;
    let usage = usage(&store, injections)?;
    let mut sessions = Vec::new();
    for one in &usage.sessions {
        let Some(key) = store.session_key(one.session)? else { continue };
        let title = store.session(one.session)?.and_then(|session| session.title);
        sessions.push(SessionContextUsage {
            agent: key.agent,
            id: key.id,
            last: one.at,
            times: one.injections,
            tokens: one.tokens,
            memories: one.memories,
            fetched: one.fetched,
            touched: one.touched,
            title: title.map(|title| cleaned(intake.redactor(), &title)),
        });
    }
    let sum = |field: fn(&SessionUsage) -> u64| usage.sessions.iter().map(field).sum();
    Ok(ContextUsage {
        version: answer::VERSION,
        kind: "stats",
        tokens: sum(|one| one.tokens),
        memories: sum(|one| one.memories),
        fetched: sum(|one| one.fetched),
        touched: sum(|one| one.touched),
        occasions: usage
            .occasions
            .iter()
            .map(|(occasion, one)| OccasionUsage {
                occasion: occasion.to_string(),
                times: one.injections,
                tokens: one.tokens,
                memories: one.memories,
            })
            .collect(),
        days,
        sessions,
    })
}

fn days(app: &App, store: &Store, injections: &[InjectionRow]) -> Result<Vec<DayUsage>> {
    let mut work: HashMap<Id, u64> = HashMap::new();
    let mut given: BTreeMap<Date, (DayUsage, HashSet<Id>)> = BTreeMap::new();
    for injection in injections {
        let Some(at) = injection.at else { continue };
        let date = at.to_zoned(app.zone().clone()).date();
        let day = DayUsage { day: date.to_string(), times: 0, tokens: 0, work_tokens: 0 };
        let (day, seen) = given.entry(date).or_insert_with(|| (day, HashSet::new()));
        day.times += 1;
        day.tokens += injection.tokens;
        for (memory, _) in &injection.memories {
            if !seen.insert(*memory) {
                continue;
            }
            day.work_tokens += match work.entry(*memory) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(unknown) => {
                    let memory = store.memory(memory)?;
                    *unknown.insert(memory.map_or(0, |memory| memory.raw_tokens))
                }
            };
        }
    }
    Ok(given.into_values().rev().map(|(day, _)| day).collect())
}
