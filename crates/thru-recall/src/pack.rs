//! Context packs: what a session, or a prompt, is given from memory, within a budget of tokens.
//!
//! A pack holds facts with their sources and never instructions: everything in it is fenced and marked
//! as recorded data (invariant I-8), what a person said is told from what a tool printed, and nothing
//! in it can close the fence. Silence is a valid answer.

mod compact;
mod prompt;
mod render;
mod resume;
mod start;
mod words;

use std::collections::HashSet;
use std::time::Duration;

use jiff::tz::TimeZone;
use thru_core::{
    Concept, Id, Layout, MemoryKind, SessionId, Snapshot, Timestamp, estimated_tokens,
};
use thru_redact::{Clean, Redactor, Report};
use thru_store::{MemoryRow, Result, Store};

use crate::freshness::Disk;
use crate::open::OpenFiles;
use crate::sense::{Awaited, Meaning};
use crate::tiers::Tier;
use render::{Section, Texts, render};
pub use render::{fenced, plain, plain_lines, recorded};
pub(crate) use words::cues;
pub use words::{calls_for_memory, deserves_silence};

/// No pack is longer, whatever its budget in tokens: the agents cut what is.
pub const LONGEST_PACK: usize = 10_000;

/// No line of a pack has more characters.
const LONGEST_LINE: usize = 400;

/// A session in which nothing happened for longer than this was idle.
pub const IDLE_TIMEOUT: Duration = Duration::from_mins(30);

/// When a pack is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A session starts, or starts over.
    Start,
    /// A session goes on that still has its context: only what changed since counts.
    Resume,
    /// A session goes on whose context was compacted: it is about that session itself.
    Compact,
    /// A person typed this.
    Prompt(String),
    /// A person typed this in a session that was idle: what changed since, and what bears on it.
    Return {
        /// How long the session was idle before.
        idle_for: Duration,
        /// What was typed.
        prompt: String,
    },
}

/// What may be put into a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tokens (estimated) at a start and after a compaction.
    pub start_tokens: u64,
    /// Tokens (estimated) at a prompt, on a resume and on a return.
    pub prompt_tokens: u64,
    /// How many observations at most.
    pub observations: usize,
    /// How many sessions to tell of that were left unfinished.
    pub sessions: usize,
    /// Only observations of these kinds; all where it is empty.
    pub kinds: Vec<MemoryKind>,
    /// Only observations with one of these concepts; all where it is empty.
    pub concepts: Vec<Concept>,
    /// Whether to tell how the last session ended.
    pub last_summary: bool,
    /// After this time without anything a session was idle: it is told so when it goes on.
    pub idle_timeout: Duration,
    /// How many of the last session's doings are told.
    pub hot: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start_tokens: 2_000,
            prompt_tokens: 500,
            observations: 50,
            sessions: 10,
            kinds: Vec::new(),
            concepts: Vec::new(),
            last_summary: true,
            idle_timeout: IDLE_TIMEOUT,
            hot: 5,
        }
    }
}

/// For whom and when a pack is made.
pub struct PackRequest<'a> {
    /// The rows of the project and of all that was merged into it; none where one stands in none.
    pub projects: Vec<i64>,
    /// The name of the project.
    pub project: Option<String>,
    /// When it is given.
    pub occasion: Occasion,
    /// The row of the session that it is given to, where it is known already.
    pub session: Option<i64>,
    /// Memories that the session was given before and still has in its context: no prompt is given
    /// them again.
    pub told: HashSet<Id>,
    /// What the session held when its context was compacted, where anybody knows.
    pub snapshot: Option<&'a Snapshot>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The time.
    pub now: Timestamp,
    /// The user's time zone.
    pub zone: TimeZone,
    /// The files of this machine.
    pub disk: &'a dyn Disk,
    /// What may be put into it.
    pub limits: Limits,
}

/// A line of a pack.
#[derive(Clone, Debug, PartialEq)]
pub struct PackLine {
    /// The memory that it tells of; nothing where it tells of the session itself.
    pub memory: Option<MemoryRow>,
    /// The shortest prefix of the memory's id that names it alone.
    pub short_id: Option<String>,
    /// The agent's id of the session that it comes from.
    pub session: Option<SessionId>,
    /// What it says.
    pub text: Clean<String>,
    /// By which rule it is there.
    pub tier: Tier,
    /// Why it is there, its tier first.
    pub reason: String,
}

/// What is given.
#[derive(Clone, Debug, Default)]
pub struct Pack {
    /// Its lines, in order.
    pub lines: Vec<PackLine>,
    /// The whole text, fenced; empty where there is nothing to say.
    pub text: Clean<String>,
    /// Tokens (estimated) of the text.
    pub tokens: u64,
    /// Why it is silent, or what it was chosen from.
    pub note: String,
}

/// A line before its budget is known.
struct Draft {
    memory: Option<MemoryRow>,
    section: Section,
    text: String,
    tier: Tier,
    reason: String,
}

/// Makes the pack of an occasion. What a prompt means is waited for only where it is not answered with
/// silence anyway. What is put into the pack passes the redactor once more.
pub fn pack(
    layout: &Layout,
    store: &Store,
    redactor: &Redactor,
    request: &PackRequest<'_>,
    meaning: Awaited<'_>,
) -> Result<Pack> {
    let meaning = Meaning::new(layout, &OpenFiles::default(), meaning);
    let (drafts, note) = match &request.occasion {
        Occasion::Prompt(prompt) => prompt::drafts(layout, store, request, prompt, &meaning)?,
        Occasion::Return { idle_for, prompt } => {
            let mut since = resume::on_return(store, redactor, request, *idle_for, prompt)?;
            let (bearing, note) = prompt::drafts(layout, store, request, prompt, &meaning)?;
            since.extend(bearing);
            (since, note)
        }
        Occasion::Resume => resume::drafts(store, redactor, request)?,
        Occasion::Compact => match request.snapshot {
            Some(snapshot) => {
                compact::drafts(store, request, snapshot, start::rules(store, request)?)?
            }
            None => start::drafts(store, redactor, request)?,
        },
        Occasion::Start => start::drafts(store, redactor, request)?,
    };
    let budget = match request.occasion {
        Occasion::Start | Occasion::Compact => request.limits.start_tokens,
        Occasion::Resume | Occasion::Prompt(_) | Occasion::Return { .. } => {
            request.limits.prompt_tokens
        }
    };
    let frame = render(request, &Texts::default());
    let mut room = budget.saturating_sub(estimated_tokens(&frame));
    let mut letters = LONGEST_PACK.saturating_sub(frame.chars().count());
    let mut pack = Pack { note, ..Pack::default() };
    let mut headings = std::collections::BTreeSet::new();
    let mut lines: Vec<(Section, Clean<String>, PackLine)> = Vec::new();
    for draft in drafts {
        let Draft { memory, section, text, tier, reason } = draft;
        let reason = format!("{tier}: {reason}");
        let short_id = match &memory {
            Some(memory) => Some(store.short_id(&memory.id)?),
            None => None,
        };
        // Plain first: what nobody sees may keep the parts of a secret apart.
        let text = render::plain(&text, LONGEST_LINE);
        let text = redactor.clean_text(&text, &mut Report::default());
        let heading = section.heading(request);
        let written = text.derive(|text| {
            let known = short_id.as_deref().zip(memory.as_ref());
            render::line(known, section, text)
        });
        let mut cost = estimated_tokens(written.get()) + 1;
        let mut length = written.get().chars().count() + 1;
        if !headings.contains(&heading) {
            cost += estimated_tokens(&heading) + 1;
            length += heading.chars().count() + 2;
        }
        if cost > room || length > letters {
            continue;
        }
        room -= cost;
        letters -= length;
        headings.insert(heading);
        let session = match memory.as_ref().and_then(|memory| memory.session) {
            Some(row) => store.session_key(row)?.map(|key| key.id),
            None => None,
        };
        lines.push((section, written, PackLine { memory, short_id, session, text, tier, reason }));
    }
    if lines.is_empty() {
        return Ok(pack);
    }
    lines.sort_by_key(|(section, ..)| *section);
    let written = Clean::gather(lines.iter().map(|(_, written, _)| written));
    pack.text = written.map(|written| {
        let mut texts = Texts::default();
        for ((section, ..), written) in lines.iter().zip(written) {
            texts.add(section.heading(request), written.clone());
        }
        render(request, &texts)
    });
    pack.tokens = estimated_tokens(pack.text.get());
    pack.lines = lines.into_iter().map(|(.., line)| line).collect();
    Ok(pack)
}
