//! Lines about sessions: how the last one ended, those before it, and those that were left open.

use std::collections::{HashMap, HashSet};

use thru_core::{
    Digest, MemoryKind, ObservationType, Statement, Summary, Timestamp, WorkOutcome, is_trunk,
};
use thru_redact::Redactor;
use thru_store::{MemoryBody, MemoryFilter, MemoryRow, Newest, Result, SessionPlace, Store};

use super::detail::{adds, came_of, details};
use super::render::Section;
use super::said::{
    Said, alike, cut, day, days_between, files_not_named, is_new, names_something, tier, words_of,
};
use super::speaker::TitleSpeaker;
use super::valued::{Valued, is_open, places};
use super::{Draft, Occasion, PackRequest};
use crate::memories::normal;
use crate::session_context::{ContextLimits, session_context};
use crate::tiers::Tier;
use crate::unfinished;

/// … of sessions before that, …
const EARLIER: usize = 5;
/// … of those that were left open, …
const OPEN: usize = 2;
/// … and the days after which an open session is forgotten about.
pub(super) const OPEN_DAYS: f64 = 14.0;
/// … if it said what comes next, else fewer.
const OPEN_DAYS_UNKNOWN: f64 = 4.0;
/// Characters of a title, and of what came of it.
pub(super) const TITLE: usize = 140;
pub(super) const CAME_OF: usize = 140;
/// Statements of each kind that a model made of the last session.
const MADE: usize = 3;
/// The beginning of a step that the session stopped at.
const UNFINISHED: &str = "Not finished: ";
/// The label of completed work.
const DONE: &str = "Done";

/// Summaries of the project's last sessions, the latest first; after a compaction, that session's.
pub(super) fn summaries(
    store: &Store,
    request: &PackRequest<'_>,
    about: Option<i64>,
    since: Option<Timestamp>,
) -> Result<Vec<MemoryRow>> {
    let mut found = store.memories(&MemoryFilter {
        projects: about.is_none().then(|| request.projects.clone()),
        session: about,
        kinds: Some(vec![MemoryKind::Summary]),
        since,
        limit: Some(request.limits.sessions.max(1) + 1),
        ..MemoryFilter::default()
    })?;
    // A starting session knows nothing yet, and a continuing one knows itself.
    if about.is_none() {
        found.retain(|summary| request.session.is_none() || summary.session != request.session);
    }
    Ok(found)
}

/// The branches that sessions were on.
pub(super) struct Branches(HashMap<i64, SessionPlace>);

impl Branches {
    /// Reads those of some sessions.
    pub(super) fn of(store: &Store, sessions: &[MemoryRow]) -> Result<Self> {
        places(store, sessions).map(Self)
    }

    fn branch(&self, summary: &MemoryRow) -> Option<&str> {
        summary.session.and_then(|row| self.0.get(&row)?.branch.as_deref())
    }

    /// Returns the ends of the sessions on the branch of this one, its own among them.
    fn ends<'b>(
        &'b self,
        summary: &'b MemoryRow,
        bodies: &'b [Digested<'_>],
    ) -> impl Iterator<Item = Timestamp> + 'b {
        let branch = self.branch(summary);
        let here = bodies.iter().filter(move |(other, _)| self.branch(other) == branch);
        here.filter_map(|(other, _)| other.at)
    }

    /// Returns the end of the latest session before this one on its branch.
    pub(super) fn before(&self, summary: &MemoryRow, bodies: &[Digested<'_>]) -> Option<Timestamp> {
        self.ends(summary, bodies).filter(|end| Some(*end) < summary.at).max()
    }
}

/// The session to go on from: the latest on this branch, else the latest of all. One that did nothing, or
/// only asked the memory, is none. True if it is told because of its branch.
pub(super) fn last_of<'b, 's>(
    store: &Store,
    request: &PackRequest<'_>,
    summaries: &'b [Digested<'s>],
    branches: &Branches,
) -> Result<Option<(&'b Digested<'s>, bool)>> {
    let branch = request.branch.as_deref().filter(|branch| !is_trunk(branch));
    let is_here = |summary: &MemoryRow| branch.is_some() && branches.branch(summary) == branch;
    let here = summaries.iter().filter(|(summary, _)| is_here(summary)).map(|one| (one, true));
    for (summary, is_of_branch) in here.chain(summaries.iter().map(|one| (one, false))) {
        if did_something(store, summary)? {
            return Ok(Some((summary, is_of_branch)));
        }
    }
    Ok(None)
}

/// True if a session worked on something but the memory itself.
fn did_something(store: &Store, (summary, body): &Digested<'_>) -> Result<bool> {
    const LOOKED_AT: usize = 60;
    let Digest { completed, learned, next_steps, open_questions, decisions, files, .. } =
        &body.digest;
    if !files.is_empty() {
        return Ok(true);
    }
    let lists = [completed, learned, next_steps, open_questions, decisions];
    let has_said = lists.iter().any(|list| !list.is_empty());
    if !has_said && body.digest.request.is_none() {
        return Ok(false);
    }
    let Some(session) = summary.session else { return Ok(has_said) };
    let kind = Some(thru_core::PassageKind::Tool);
    let calls =
        store.newest_passages(session, Newest { kind, within: LOOKED_AT, limit: LOOKED_AT })?;
    let is_ours = |passage: &thru_store::PassageRow| {
        let tool = passage.tool.as_deref().unwrap_or_default();
        let command = passage.command.as_deref().unwrap_or_default();
        tool.contains("throughline") || command == "thru" || command.starts_with("thru ")
    };
    Ok(calls.iter().any(|call| !is_ours(call)) || calls.is_empty() && has_said)
}

/// A summary with its texts, which are read once.
pub(super) type Digested<'s> = (&'s MemoryRow, Box<Summary>);

/// Returns the summaries with their texts.
pub(super) fn bodies<'s>(store: &Store, summaries: &'s [MemoryRow]) -> Result<Vec<Digested<'s>>> {
    let mut bodies = Vec::with_capacity(summaries.len());
    for summary in summaries {
        if let MemoryBody::Summary(body) = store.body_of(summary)? {
            bodies.push((summary, body));
        }
    }
    Ok(bodies)
}

/// Returns the summaries of later sessions.
pub(super) fn later_than<'b>(summary: &MemoryRow, bodies: &'b [Digested<'_>]) -> Vec<&'b Summary> {
    let later = bodies.iter().filter(|(other, _)| other.at > summary.at);
    later.map(|(_, body)| body.as_ref()).collect()
}

pub(super) fn last_session(
    store: &Store,
    redactor: &Redactor,
    request: &PackRequest<'_>,
    ((summary, body), is_of_branch): (&Digested<'_>, bool),
    observations: &[Valued],
    later: &[&Summary],
) -> Result<Vec<Draft>> {
    let line = |detail: bool, text: String, reason: &str| Draft {
        memory: Some((*summary).clone()),
        section: Section::LastSession { is_of_branch, detail },
        tier: tier(summary, request),
        text,
        reason: reason.to_owned(),
    };
    let draft = |text: String, reason: &str| line(true, text, reason);
    let Digest { request: asked, completed, next_steps, open_questions, decisions, .. } =
        &body.digest;
    let mut drafts =
        vec![line(false, titled(store, summary, body, request)?, "how the last session ended")];
    let mut told = vec![body.title.clone()];
    let compact = matches!(request.occasion, Occasion::Compact);
    let result = if compact { None } else { came_of_last(store, observations, summary)? };
    // What came of it says what was asked for.
    let asked = asked.as_ref().filter(|asked| result.is_none() && adds(&asked.text, &told));
    if let Some(asked) = asked {
        told.push(asked.text.clone());
        drafts.push(draft(
            format!("The user asked: {}", cut(&asked.text, 240)),
            "what was asked for",
        ));
    }
    let is_latest = tier(summary, request) == Tier::Hot && result.is_none();
    let result = result.filter(|result| adds(result, &told) && !is_told_by_state(result, body));
    if let Some(session) = summary.session.filter(|_| is_latest) {
        let limits = ContextLimits {
            files: 0,
            tools: 0,
            entities: 0,
            events: 0,
            hot: 0,
            ..ContextLimits::default()
        };
        let task = session_context(store, redactor, session, limits)?.task;
        let task = task.map(thru_redact::Clean::into_inner);
        let is_known = |task: &String| told.iter().any(|text| alike(text, task));
        if let Some(task) = task.filter(|task| !is_known(task)) {
            let text = format!("The user asked last: {}", cut(&task, 240));
            drafts.push(draft(text, "what was asked for last"));
            told.push(task);
        }
    }
    let has_result = result.is_some();
    if let Some(result) = result {
        drafts.push(draft(format!("It ended: {}", cut(&result, 280)), "what came of it"));
        told.push(result);
    }
    // What a model made of the session.
    let sections = &body.sections;
    let decided = sections.key_decisions.iter().map(|one| ("Decided", one.to_string()));
    let resolved = sections.errors_resolved.iter().map(|one| ("Put right", one.to_string()));
    let to_go_on = sections.context.iter().map(|one| ("To go on", one.text.clone()));
    let lists: [Vec<(&str, String)>; 3] =
        [decided.collect(), resolved.collect(), to_go_on.collect()];
    for (label, text) in lists.into_iter().flat_map(|list| list.into_iter().take(MADE)) {
        if adds(&text, &told) {
            let text = format!("{label}: {}", cut(&text, 240));
            drafts.push(draft(text, "what a model made of the session"));
        }
    }
    let most = if compact { 8 } else { 2 };
    let lists: [(&str, &[Statement], usize, &str); 4] = [
        (DONE, completed, most, "what was done"),
        ("Decided", decisions, if compact { 8 } else { 0 }, "what was decided"),
        ("Next", next_steps, most, "what was left to do"),
        ("Open question", open_questions, most, "what was left open"),
    ];
    for (label, statements, most, reason) in lists {
        let is_deed = matches!(label, DONE | "Decided");
        // After a compaction all observations of the session follow, with their ids.
        let is_new = |statement: &&Statement| {
            let text = normal(&statement.text);
            let is_told = |one: &Valued| normal(&one.memory.title) == text;
            let is_over = !is_deed
                && (unfinished::was_done(&statement.text, later)
                    || is_settled(&statement.text, body));
            // Behind the result, a step is told for the names in it.
            let is_bare = label == DONE && has_result && !names_something(&statement.text);
            let is_repeated = compact && observations.iter().any(is_told);
            let is_left_out = is_over || is_bare || is_repeated;
            adds(&statement.text, &told) && !is_left_out
        };
        for statement in statements.iter().filter(is_new).take(most) {
            drafts.push(draft(labelled(label, &cut(&statement.text, 160)), reason));
        }
    }
    Ok(drafts)
}

/// True for a short report of the commit or pull request that the state of the work names.
fn is_told_by_state(report: &str, body: &Summary) -> bool {
    const SHORT: usize = 240;
    const FEWEST: usize = 7;
    let Some(state) = &body.digest.state else { return false };
    let is_reference = |word: &&str| {
        let is_hash = word.len() >= FEWEST && word.chars().all(|c| c.is_ascii_hexdigit());
        is_hash || word.len() > 1 && word.chars().all(|c| c.is_ascii_digit())
    };
    let mut words = state.text.split(|c: char| !c.is_alphanumeric());
    report.chars().count() <= SHORT
        && words.find(is_reference).is_some_and(|word| report.contains(word))
}

/// True for a request that was not answered, if the work came to a state all the same.
fn is_settled(step: &str, body: &Summary) -> bool {
    step.starts_with(UNFINISHED) && body.digest.state.is_some()
}

/// Returns the work that a line about the last session says is done.
pub(super) fn done_of(line: &Draft) -> Option<&str> {
    let is_detail = matches!(line.section, Section::LastSession { detail: true, .. });
    line.text.strip_prefix(DONE)?.strip_prefix(": ").filter(|_| is_detail)
}

/// A statement behind its label, unless it begins with one.
fn labelled(label: &str, text: &str) -> String {
    match text.starts_with(UNFINISHED) || text.starts_with("Tried") {
        true => text.to_owned(),
        false => format!("{label}: {text}"),
    }
}

/// The title of a session with its speaker, its day, and how far its work came.
fn titled(
    store: &Store,
    summary: &MemoryRow,
    body: &Summary,
    request: &PackRequest<'_>,
) -> Result<String> {
    let title = TitleSpeaker::of_session(store, body)?.mark(&cut(&body.title, TITLE));
    let ended = body.digest.outcome.as_str();
    // A commit of the title's name is not named again.
    let named = format!(" \"{}\"", body.title);
    let state = body.digest.state.as_ref().map(|state| state.text.replacen(&named, "", 1));
    let state = state.map_or_else(String::new, |state| format!("; {}", cut(&state, 120)));
    Ok(format!("{title} ({}, {ended}{state})", day(summary.at, request)))
}

/// Sessions before the last one, a line each, the latest first.
pub(super) fn earlier_sessions<'b, 's: 'b>(
    store: &Store,
    request: &PackRequest<'_>,
    earlier: impl Iterator<Item = &'b Digested<'s>>,
    observations: &[Valued],
    said: &mut Said,
) -> Result<Vec<Draft>> {
    let mut drafts = Vec::new();
    for digested in earlier {
        if drafts.len() == EARLIER {
            break;
        }
        let (summary, body) = digested;
        if !did_something(store, digested)? || !is_new(&body.title, &mut said.titles) {
            continue;
        }
        let mut text = titled(store, summary, body, request)?;
        let results = came_of_most(store, observations, digested)?;
        if let Some(result) = said.detail(&text, results) {
            text = format!("{text}: {}", cut(&result, CAME_OF));
        }
        let files = body.digest.files.iter().map(String::as_str);
        if let Some(files) = files_not_named(files, &text) {
            text = format!("{text} [{files}]");
        }
        let at = summary.at.unwrap_or_default().as_millisecond();
        drafts.push(Draft {
            memory: Some((*summary).clone()),
            section: Section::Work { before_end: -at },
            tier: tier(summary, request),
            text,
            reason: "an earlier session".to_owned(),
        });
    }
    Ok(drafts)
}

/// The report of the last turn of a session that has one.
fn came_of_last(
    store: &Store,
    observations: &[Valued],
    summary: &MemoryRow,
) -> Result<Option<String>> {
    let own = observations.iter().map(|one| &one.memory);
    let mut own: Vec<&MemoryRow> = own.filter(|one| one.session == summary.session).collect();
    own.sort_by_key(|memory| std::cmp::Reverse(memory.turn));
    for memory in own {
        if let Some(result) = came_of(&store.body_of(memory)?) {
            return Ok(Some(result));
        }
    }
    Ok(None)
}

/// What came of the observation that a session is about: the one whose title is most like the session's, or that
/// changed most.
fn came_of_most(
    store: &Store,
    observations: &[Valued],
    (summary, body): &Digested<'_>,
) -> Result<Vec<String>> {
    let title = words_of(&body.title);
    let own = observations.iter().filter(|one| one.memory.session == summary.session);
    let own =
        own.filter(|one| one.memory.kind != MemoryKind::Observation(ObservationType::Decision));
    let most = own.max_by_key(|one| {
        let shared = words_of(&one.memory.title).intersection(&title).count();
        let changed = one.files.iter().filter(|file| file.modified).count();
        (2 * shared >= title.len(), changed, shared, one.memory.row)
    });
    most.map_or_else(|| Ok(Vec::new()), |one| Ok(details(&store.body_of(&one.memory)?)))
}

/// Earlier sessions, the last on their branches, that did not finish, or gave up with changes made.
pub(super) fn left_open<'b, 's: 'b>(
    store: &Store,
    request: &PackRequest<'_>,
    summaries: impl Iterator<Item = &'b Digested<'s>>,
    (bodies, branches): (&[Digested<'_>], &Branches),
    said: &mut Vec<HashSet<String>>,
) -> Result<Vec<Draft>> {
    let mut drafts = Vec::new();
    for (summary, body) in summaries {
        let age = summary.at.map_or(f64::MAX, |at| days_between(at, request.now));
        let gave_up = summary.outcome == Some(WorkOutcome::Abandoned);
        if drafts.len() == OPEN || age > OPEN_DAYS || !(is_open(summary) || gave_up) {
            continue;
        }
        if gave_up && body.digest.files.is_empty() {
            continue;
        }
        // A later session on the branch saw what was open, and took it up or did not.
        if branches.ends(summary, bodies).any(|end| Some(end) > summary.at) {
            continue;
        }
        let Some(next) = unfinished::still_open(body, &later_than(summary, bodies)) else {
            continue;
        };
        if next.is_some_and(|next| is_settled(next, body)) {
            continue;
        }
        // What is left to do is not known, and by now it may be done.
        let is_known = next.is_some_and(|next| !next.starts_with(UNFINISHED));
        if !is_known && age > OPEN_DAYS_UNKNOWN || !is_new(&body.title, said) {
            continue;
        }
        let next = next.map(|next| labelled("next", &cut(next, 120)));
        let next = next.map_or_else(String::new, |next| format!("; {next}"));
        drafts.push(Draft {
            tier: tier(summary, request),
            text: format!(
                "{} ({}, {}){next}",
                TitleSpeaker::of_session(store, body)?.mark(&cut(&body.title, TITLE)),
                body.digest.outcome.as_str(),
                day(summary.at, request)
            ),
            memory: Some((*summary).clone()),
            section: Section::Open,
            reason: "an earlier session did not finish".to_owned(),
        });
    }
    Ok(drafts)
}
