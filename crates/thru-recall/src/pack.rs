//! Context packs: the memories injected into a session or before a prompt, within a budget of tokens.
//!
//! A pack holds facts with their sources and never instructions: everything in it is fenced and marked as
//! recorded data (invariant I-8), a person's words are told from a tool's output, and nothing in it can
//! close the fence. Silence is a valid answer.

mod answering;
mod calls;
mod commands;
mod compact;
mod detail;
mod earlier;
mod facts;
mod named;
mod orders;
mod prompt;
mod render;
mod resume;
mod said;
mod sessions;
mod speaker;
mod standing;
mod start;
mod turns;
mod typed;
mod valued;
mod words;

use std::collections::HashSet;
use std::time::Duration;

use jiff::tz::TimeZone;
use thru_core::{
    Concept, Id, Layout, MemoryKind, SessionId, Snapshot, Timestamp, estimated_tokens,
    quarter_tokens,
};
use thru_redact::{Clean, Redactor, Report};
use thru_store::{MemoryRow, Result, Store};

use crate::freshness::Disk;
use crate::meaning::{LazyMeaning, PendingEmbedding};
use crate::open::OpenFiles;
use crate::tiers::Tier;
use orders::Verdict;
pub use orders::{agent_notes, orders_held_back};
use render::{Section, Texts, render};
pub use render::{fenced, recorded};
pub use words::{calls_for_memory, deserves_silence};
pub(crate) use words::{cues, is_no_request};

/// Maximum characters of a pack, whatever its budget in tokens: agents truncate longer ones.
pub const LONGEST_PACK: usize = 10_000;

/// Maximum characters of a line, of the one that names the last session, and of one that answers a prompt.
const LONGEST_LINE: usize = 400;
const LONGEST_HEAD: usize = 600;
const LONGEST_ANSWER: usize = 700;

/// The time without activity after which a session counts as idle.
pub const IDLE_TIMEOUT: Duration = Duration::from_mins(30);

/// The occasion of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A session starts, or starts over.
    Start,
    /// A session resumes with its context: only later changes count.
    Resume,
    /// A session continues after a compaction: the pack is about that session itself.
    Compact,
    /// A person typed this prompt.
    Prompt(String),
    /// A person typed a prompt in a session that was idle: the pack has later changes, and what bears on
    /// it.
    Return {
        /// The time that the session was idle.
        idle_for: Duration,
        /// The prompt.
        prompt: String,
    },
}

/// Limits of the content of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Budget at a start and after a compaction, in estimated tokens.
    pub start_tokens: u64,
    /// Budget at a prompt, on a resume and on a return, in estimated tokens.
    pub prompt_tokens: u64,
    /// Maximum number of observations.
    pub observations: usize,
    /// Maximum number of unfinished sessions to mention.
    pub sessions: usize,
    /// Limits observations to these kinds; empty for all.
    pub kinds: Vec<MemoryKind>,
    /// Limits observations to those with one of these concepts; empty for all.
    pub concepts: Vec<Concept>,
    /// True to include what the last session did.
    pub last_summary: bool,
    /// The time without activity after which a session is told that it was idle.
    pub idle_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start_tokens: 900,
            prompt_tokens: 500,
            observations: 50,
            sessions: 10,
            kinds: Vec::new(),
            concepts: Vec::new(),
            last_summary: true,
            idle_timeout: IDLE_TIMEOUT,
        }
    }
}

/// The recipient and the circumstances of a pack.
pub struct PackRequest<'a> {
    /// The rows of the project and of all that were merged into it; empty outside of projects.
    pub projects: Vec<i64>,
    /// The name of the project.
    pub project: Option<String>,
    /// The occasion.
    pub occasion: Occasion,
    /// The row of the receiving session, if it is known already.
    pub session: Option<i64>,
    /// Memories already injected into the session's context; prompts do not get them again.
    pub told: HashSet<Id>,
    /// The snapshot of the session before its compaction, if there is one.
    pub snapshot: Option<&'a Snapshot>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The current time.
    pub now: Timestamp,
    /// The user's time zone.
    pub zone: TimeZone,
    /// The files of this machine.
    pub disk: &'a dyn Disk,
    /// Limits of the content.
    pub limits: Limits,
}

/// A line of a pack.
#[derive(Clone, Debug, PartialEq)]
pub struct PackLine {
    /// The memory it comes from; `None` if it is about the session itself.
    pub memory: Option<MemoryRow>,
    /// The shortest unambiguous prefix of the memory's id.
    pub short_id: Option<String>,
    /// The agent's id of the session it comes from.
    pub session: Option<SessionId>,
    /// The text.
    pub text: Clean<String>,
    /// The tier that let it in.
    pub tier: Tier,
    /// The reason for it, its tier first.
    pub reason: String,
}

/// A context pack.
#[derive(Clone, Debug, Default)]
pub struct Pack {
    /// Its lines, in order.
    pub lines: Vec<PackLine>,
    /// The whole text, fenced; empty if there is nothing to say.
    pub text: Clean<String>,
    /// Estimated tokens of the text.
    pub tokens: u64,
    /// The reason for silence, or the basis of the choice.
    pub note: String,
    /// The memories that were weighed at a prompt, with their shares of what is enough, the best first.
    pub weighed: Vec<(Id, f32)>,
}

/// A line before the budget is applied.
struct Draft {
    memory: Option<MemoryRow>,
    section: Section,
    text: String,
    tier: Tier,
    reason: String,
}

/// Makes the pack of an occasion. Waits for the query embedding of a prompt only if silence is not certain
/// anyway. All lines pass the redactor once more.
///
/// # Errors
/// Fails if the store, the index or the vectors cannot be read.
pub fn pack(
    layout: &Layout,
    store: &Store,
    redactor: &Redactor,
    request: &PackRequest<'_>,
    embedding: PendingEmbedding<'_>,
) -> Result<Pack> {
    let meaning = LazyMeaning::new(layout, &OpenFiles::default(), embedding);
    let mut weighed = Vec::new();
    let (drafts, note) = match &request.occasion {
        Occasion::Prompt(prompt) => {
            prompt::drafts(layout, store, request, prompt, &meaning, &mut weighed)?
        }
        Occasion::Return { idle_for, prompt } => {
            let mut since = resume::on_return(store, redactor, request, *idle_for, prompt)?;
            let (bearing, note) =
                prompt::drafts(layout, store, request, prompt, &meaning, &mut weighed)?;
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
    let mut room = budget.saturating_mul(4).saturating_sub(quarter_tokens(&frame));
    let mut letters = LONGEST_PACK.saturating_sub(frame.chars().count());
    let mut pack = Pack { note, weighed, ..Pack::default() };
    let mut headings = std::collections::BTreeSet::new();
    let mut lines: Vec<(Section, Clean<String>, PackLine)> = Vec::new();
    for draft in drafts {
        let verdict = orders::verdict(store, &request.occasion, &draft)?;
        let Draft { memory, section, text, tier, reason } = draft;
        let text = match verdict {
            Verdict::Told => text,
            Verdict::UpTo(end) => format!("{}{}", &text[..end], said::day_behind(&text[end..])),
            Verdict::AgentNote => format!("An agent's note: {text}"),
            Verdict::HeldBack => continue,
        };
        let reason = format!("{tier}: {reason}");
        let short_id = match &memory {
            Some(memory) => Some(store.short_id(&memory.id)?),
            None => None,
        };
        // Plain first: invisible characters could keep the parts of a secret apart.
        let longest = match section {
            Section::Relevant => LONGEST_ANSWER,
            Section::LastSession { detail: false, .. } => LONGEST_HEAD,
            _ => LONGEST_LINE,
        };
        let text = thru_core::plain_line(&text, longest);
        let text = redactor.clean_text(&text, &mut Report::default());
        let heading = section.heading(request);
        let written = text.derive(|text| {
            let known = short_id.as_deref().zip(memory.as_ref());
            render::line(known, section, text)
        });
        // With the newline, and an empty line before a heading.
        let mut cost = quarter_tokens(written.get()) + 1;
        let mut length = written.get().chars().count() + 1;
        if !headings.contains(&heading) {
            cost += quarter_tokens(&heading) + 2;
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
