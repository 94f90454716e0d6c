//! The briefings that sessions were given: what they cost, the reason for each line, and the use that was made of it.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Agent, Id, SessionId, Timestamp};
use thru_recall::{LaterUsage, later_usage, parse_date};
use thru_redact::{Clean, Redactor};
use thru_store::{InjectionRow, Store};

use super::{Opened, cleaned, named, pages};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::Freshness;
use crate::trouble::Result;

/// A request for briefings.
#[derive(Clone, Debug)]
pub struct ListBriefings {
    /// The start of the id of the session that they were given to.
    pub session: Option<String>,
    /// The first day, as people write one.
    pub since: Option<String>,
    /// The place behind which it begins: `next` of the page before.
    pub cursor: Option<String>,
    /// Maximum number of briefings.
    pub limit: usize,
}

/// Briefings, the latest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "briefings")]
pub struct BriefingList {
    version: u32,
    /// True if there are more.
    pub more: bool,
    /// The cursor of the next page, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The briefings.
    pub briefings: Vec<Briefing>,
}

/// One briefing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Briefing {
    /// The agent.
    pub agent: Agent,
    /// The session that it was given to.
    pub session_id: SessionId,
    /// Its title; `None` where nothing was said in it yet.
    pub title: Option<Clean<String>>,
    /// Its project.
    pub project: Option<Clean<String>>,
    /// Its time.
    pub at: Option<Timestamp>,
    /// Its occasion.
    pub occasion: String,
    /// Tokens (estimated).
    pub tokens: u64,
    /// Its memories, in order.
    pub memories: Vec<BriefingMemory>,
}

/// A memory in a briefing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefingMemory {
    /// The start of its id.
    pub id: String,
    /// Its id.
    pub full_id: Id,
    /// Its kind; `None` if it is no longer remembered.
    #[serde(rename = "type")]
    pub kind: Option<&'static str>,
    /// Its title as it is now; `None` if it is no longer remembered.
    pub title: Option<Clean<String>>,
    /// The reason for it.
    pub reason: Clean<String>,
    /// True if the session asked for it by its id later.
    pub fetched: bool,
    /// True if the session worked on one of its files later.
    pub touched: bool,
}

/// Lists briefings, the latest first.
///
/// # Errors
/// Fails if a session or a day cannot be understood, or the store cannot be read.
pub fn list(app: &App, request: &ListBriefings, call: Call<'_>) -> Result<BriefingList> {
    let Opened { store, intake, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let date = |text: &String| parse_date(text, app.clock.now(), app.zone());
    let since = request.since.as_ref().map(date).transpose()?;
    let session = match &request.session {
        Some(id) => Some(named::named_session(app, &store, id)?.row),
        None => None,
    };
    let mut injections = store.injections(since)?;
    injections.retain(|injection| session.is_none_or(|session| session == injection.session));
    injections.reverse();
    // Several may be of one moment: the place is the moment, and the number of its briefings that were told.
    let place: Option<(Option<Timestamp>, usize)> = pages::place(request.cursor.as_deref())?;
    let (mut at, mut told) = place.unwrap_or_default();
    if place.is_some() {
        let same = injections.iter().filter(|one| one.at == at).count();
        injections.retain(|one| one.at <= at);
        injections.drain(..told.min(same));
    }
    let mut places = Vec::new();
    for injection in &injections {
        told = if injection.at == at { told + 1 } else { 1 };
        at = injection.at;
        places.push((at, told));
    }
    let next = pages::cut(&mut places, request.limit, |place| *place)?;
    injections.truncate(request.limit);
    let mut by_session: HashMap<i64, Vec<InjectionRow>> = HashMap::new();
    for injection in &injections {
        by_session.entry(injection.session).or_default().push(injection.clone());
    }
    let redactor = intake.redactor();
    let mut known = HashMap::new();
    for (session, given) in by_session {
        let Some(key) = store.session_key(session)? else { continue };
        let row = store.session(session)?;
        known.insert(session, (key, row, later_usage(&store, session, &given)?));
    }
    let mut briefings = Vec::new();
    for InjectionRow { session, at, occasion, tokens, memories } in injections {
        let Some((key, row, usage)) = known.get(&session) else { continue };
        let memories = memories.into_iter().map(|(memory, reason)| {
            let usage = usage.get(&memory).copied().unwrap_or_default();
            line(&store, redactor, memory, &reason, usage)
        });
        let clean = |text: &Option<String>| text.as_deref().map(|text| cleaned(redactor, text));
        briefings.push(Briefing {
            agent: key.agent,
            session_id: key.id.clone(),
            title: row.as_ref().and_then(|row| clean(&row.title)),
            project: row.as_ref().and_then(|row| clean(&row.project_name)),
            at,
            occasion,
            tokens,
            memories: memories.collect::<Result<_>>()?,
        });
    }
    Ok(BriefingList { version: answer::VERSION, more: next.is_some(), next, briefings })
}

fn line(
    store: &Store,
    redactor: &Redactor,
    id: Id,
    reason: &str,
    usage: LaterUsage,
) -> Result<BriefingMemory> {
    let memory = store.memory(&id)?;
    Ok(BriefingMemory {
        id: match &memory {
            Some(_) => store.short_id(&id)?,
            None => format!("{id:.8}"),
        },
        full_id: id,
        kind: memory.as_ref().map(|memory| memory.kind.as_str()),
        title: memory.map(|memory| cleaned(redactor, &memory.title)),
        reason: cleaned(redactor, reason),
        fetched: usage.fetched,
        touched: usage.touched,
    })
}
