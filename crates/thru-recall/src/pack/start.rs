//! The pack of a starting or compacted session: chosen by value, not by age alone.

use std::collections::{HashMap, HashSet};

use thru_core::{
    Concept, Digest, FileState, MemoryKind, ObservationType, Statement, Timestamp, WorkOutcome,
    file_name,
};
use thru_redact::Redactor;
use thru_store::{MemoryBody, MemoryFilter, MemoryRow, Result, SessionPlace, Store};

use super::render::Section;
use super::{Draft, Occasion, PackRequest, standing};
use crate::freshness::{Freshness, Presence};
use crate::memories::normal;
use crate::session_context::{ContextLimits, session_context};
use crate::tiers::Tier;

/// Observations that are valued: the latest …
const LATEST: usize = 300;
/// … the latest decisions, and those about a file in current work.
const DECISIONS: usize = 60;
const BY_FILE: usize = 120;
/// Maximum number of rules, and characters of each.
const RULES: usize = 20;
const RULE_LENGTH: usize = 240;
/// Files of the project that are checked for recent changes …
const FILES_LOOKED_AT: usize = 150;
/// … which are those in this time.
const LATELY_DAYS: f64 = 3.0;
/// The time after which an observation's value by age is halved.
const HALF_LIFE_DAYS: f64 = 14.0;
/// Branches whose names say nothing about the current work.
const TRUNKS: [&str; 5] = ["main", "master", "trunk", "develop", "HEAD"];
/// Files named of a last session that changed none.
const HOT_FILES: usize = 5;
/// Number of the best observations whose files are checked on disk.
const CHECKED: usize = 80;

/// A memory that may be injected, and its value.
pub(super) struct Valued {
    pub(super) memory: MemoryRow,
    files: Vec<FileState>,
    place: SessionPlace,
    value: f64,
    reasons: Vec<String>,
    /// Checked on disk once, and only if it may matter.
    freshness: Option<Freshness>,
}

pub(super) fn drafts(
    store: &Store,
    redactor: &Redactor,
    request: &PackRequest<'_>,
) -> Result<(Vec<Draft>, String)> {
    let mut drafts = Vec::new();
    let about = match request.occasion {
        Occasion::Compact => request.session,
        _ => None,
    };
    drafts.extend(rules(store, request)?);
    let wishes = drafts.iter().filter_map(|draft: &Draft| draft.memory.as_ref());
    let wishes: Vec<String> =
        wishes.filter(|rule| !rule.flags.is_rule).map(|rule| rule.title.clone()).collect();
    let summaries = summaries(store, request, about, None)?;
    let mut valued = observations(store, request, about, None, &summaries)?;
    valued.retain(|one| !wishes.iter().any(|wish| standing::is_same_wish(wish, &one.memory.title)));
    if request.limits.last_summary
        && let Some(last) = summaries.first()
    {
        drafts.extend(last_session(store, redactor, request, last, &valued)?);
    }
    drafts.extend(left_open(store, request, summaries.get(1..).unwrap_or_default())?);
    let weighed = valued.len();
    drafts.extend(told(request, valued));
    let noun = if weighed == 1 { "observation" } else { "observations" };
    Ok((drafts, format!("{weighed} {noun} weighed")))
}

/// The rules of people for this project and for every project, the latest first.
pub(super) fn rules(store: &Store, request: &PackRequest<'_>) -> Result<Vec<Draft>> {
    let rules = standing::rules(store, request)?;
    rules
        .into_iter()
        .take(RULES)
        .map(|rule| {
            let day = day(rule.at, request);
            let reason = match rule.is_global() {
                true => "a rule for every project",
                false if !rule.flags.is_rule => "wished in two sessions",
                false => "a rule",
            };
            Ok(Draft {
                text: format!("\"{}\" ({day})", words_of_rule(store, &rule)?),
                tier: tier(&rule, request),
                section: Section::Rules,
                reason: reason.to_owned(),
                memory: Some(rule),
            })
        })
        .collect()
}

/// The text of a rule, whole even if its title was cut.
fn words_of_rule(store: &Store, rule: &MemoryRow) -> Result<String> {
    if !rule.title.ends_with('…') {
        return Ok(cut(&rule.title, RULE_LENGTH));
    }
    Ok(match store.body_of(rule)? {
        MemoryBody::Observation(body) => {
            cut(body.narrative.as_ref().map_or(&body.title, |said| &said.text), RULE_LENGTH)
        }
        MemoryBody::Summary(body) => cut(&body.title, RULE_LENGTH),
    })
}

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

fn last_session(
    store: &Store,
    redactor: &Redactor,
    request: &PackRequest<'_>,
    summary: &MemoryRow,
    observations: &[Valued],
) -> Result<Vec<Draft>> {
    let MemoryBody::Summary(body) = store.body_of(summary)? else { return Ok(Vec::new()) };
    let line = |detail: bool, text: String, reason: &str| Draft {
        memory: Some(summary.clone()),
        section: Section::LastSession { detail },
        tier: tier(summary, request),
        text,
        reason: reason.to_owned(),
    };
    let draft = |text: String, reason: &str| line(true, text, reason);
    let Digest { request: asked, completed, next_steps, open_questions, decisions, .. } =
        &body.digest;
    let ended = body.digest.outcome.as_str();
    let mut drafts = vec![line(
        false,
        format!("{} ({}, {ended})", cut(&body.title, 200), day(summary.at, request)),
        "how the last session ended",
    )];
    if let Some(asked) = asked.as_ref().filter(|asked| normal(&asked.text) != normal(&body.title)) {
        drafts.push(draft(
            format!("The user asked: {}", cut(&asked.text, 320)),
            "what was asked for",
        ));
    }
    let compact = matches!(request.occasion, Occasion::Compact);
    let most = if compact { 8 } else { 3 };
    let lists: [(&str, &[Statement], usize, &str); 4] = [
        ("Done", completed, most, "what was done"),
        ("Decided", decisions, if compact { 8 } else { 0 }, "what was decided"),
        ("Next", next_steps, most, "what was left to do"),
        ("Open question", open_questions, most, "what was left open"),
    ];
    for (label, statements, most, reason) in lists {
        // After a compaction all observations of the session follow, with their ids.
        let is_new = |statement: &&Statement| {
            let text = normal(&statement.text);
            let is_told = |one: &Valued| normal(&one.memory.title) == text;
            text != normal(&body.title) && !(compact && observations.iter().any(is_told))
        };
        for statement in statements.iter().filter(is_new).take(most) {
            drafts.push(draft(format!("{label}: {}", cut(&statement.text, 200)), reason));
        }
    }
    let files = files_line(&body.digest.files);
    let changed_nothing = files.is_none();
    drafts.extend(files.map(|files| draft(files, "what was changed")));
    if let Some(session) = summary.session.filter(|_| tier(summary, request) == Tier::Hot) {
        let limits = ContextLimits {
            files: HOT_FILES,
            tools: 0,
            events: 0,
            hot: request.limits.hot,
            ..Default::default()
        };
        let context = session_context(store, redactor, session, limits)?;
        let known = [Some(body.title.as_str()), asked.as_ref().map(|asked| asked.text.as_str())];
        let is_known = |task: &str| known.iter().flatten().any(|text| alike(text, task));
        let task = context.task.filter(|task| !is_known(task.get()));
        let task = task.map(|task| format!("The last request: {}", task.get()));
        drafts.extend(task.map(|task| draft(task, "what was asked for last")));
        let files: Vec<&str> = context.files.iter().map(|file| file.path.get().as_str()).collect();
        if changed_nothing && !files.is_empty() {
            drafts.push(draft(format!("Files: {}", files.join(", ")), "what was worked on"));
        }
        let actions = context.hot.iter().map(|one| format!("Lately: {}", one.summary.get()));
        drafts.extend(actions.map(|action| draft(action, "what was done last")));
    }
    Ok(drafts)
}

/// Returns true if two texts say the same, one of them perhaps truncated.
pub(super) fn alike(a: &str, b: &str) -> bool {
    let (a, b) = (normal(a), normal(b));
    !a.is_empty() && !b.is_empty() && (a.starts_with(&b) || b.starts_with(&a))
}

fn files_line(files: &[String]) -> Option<String> {
    let names: Vec<&str> = files.iter().take(6).map(|path| file_name(path)).collect();
    let more = files.len().saturating_sub(names.len());
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("Files changed: {}{rest}", names.join(", ")))
}

/// Earlier unfinished sessions.
fn left_open(
    store: &Store,
    request: &PackRequest<'_>,
    summaries: &[MemoryRow],
) -> Result<Vec<Draft>> {
    let mut drafts = Vec::new();
    let open = summaries.iter().filter(|summary| is_open(summary));
    for summary in open.take(request.limits.sessions.min(4)) {
        let MemoryBody::Summary(body) = store.body_of(summary)? else { continue };
        let next = body.digest.next_steps.first().or(body.digest.open_questions.first());
        let next =
            next.map_or_else(String::new, |next| format!("; next: {}", cut(&next.text, 120)));
        drafts.push(Draft {
            tier: tier(summary, request),
            text: format!(
                "{} ({}, {}){next}",
                cut(&body.title, 200),
                body.digest.outcome.as_str(),
                day(summary.at, request)
            ),
            memory: Some(summary.clone()),
            section: Section::Open,
            reason: "an earlier session did not finish".to_owned(),
        });
    }
    Ok(drafts)
}

/// Returns the tier of a memory when a session starts or resumes.
pub(super) fn tier(memory: &MemoryRow, request: &PackRequest<'_>) -> Tier {
    let is_own = matches!(request.occasion, Occasion::Compact)
        && request.session.is_some()
        && memory.session == request.session;
    Tier::at_start(memory.at, is_own, request.now)
}

fn is_open(summary: &MemoryRow) -> bool {
    summary.outcome.is_some_and(WorkOutcome::is_open)
}

/// Observations with their values, the best first.
pub(super) fn observations(
    store: &Store,
    request: &PackRequest<'_>,
    about: Option<i64>,
    since: Option<Timestamp>,
    summaries: &[MemoryRow],
) -> Result<Vec<Valued>> {
    let lately = if about.is_none() { changed_lately(store, request)? } else { Vec::new() };
    let found = candidates(store, request, about, since, &lately)?;
    let found = with_concepts(store, &request.limits.concepts, found)?;
    let unfinished: HashSet<i64> = summaries
        .iter()
        .filter(|summary| is_open(summary))
        .filter_map(|summary| summary.session)
        .collect();
    let places = places(store, &found)?;
    let rows: Vec<i64> = found.iter().map(|memory| memory.row).collect();
    let mut files = store.files_of_memories(&rows)?;
    let branch = request.branch.as_deref().filter(|branch| !TRUNKS.contains(branch));
    let mut valued: Vec<Valued> = found
        .into_iter()
        .map(|memory| {
            let place = memory.session.and_then(|row| places.get(&row)).cloned();
            let files = files.remove(&memory.row).unwrap_or_default();
            let mut valued = by_itself(memory, files, place.unwrap_or_default(), request);
            let changed =
                valued.files.iter().find(|file| file.modified && lately.contains(&file.path));
            if let Some(name) = changed.map(|file| file_name(&file.path).to_owned()) {
                valued.add(0.8, format!("names {name}, which changed lately"));
            }
            if branch.is_some() && valued.place.branch.as_deref() == branch {
                valued.add(0.6, "from this branch".to_owned());
            }
            if valued.memory.session.is_some_and(|row| unfinished.contains(&row)) {
                valued.add(0.4, "its session did not finish".to_owned());
            }
            valued
        })
        .collect();
    valued.sort_by(|a, b| {
        b.value
            .total_cmp(&a.value)
            .then_with(|| b.memory.at.cmp(&a.memory.at))
            .then_with(|| a.memory.id.cmp(&b.memory.id))
    });
    let mut seen = HashSet::new();
    valued.retain(|one| seen.insert(normal(&one.memory.title)));
    for one in valued.iter_mut().take(CHECKED) {
        if one.freshness(request).is_gone() {
            one.add(-0.6, "its files are gone".to_owned());
        }
    }
    valued.sort_by(|a, b| b.value.total_cmp(&a.value));
    Ok(valued)
}

impl Valued {
    fn add(&mut self, value: f64, reason: String) {
        self.value += value;
        self.reasons.push(reason);
    }

    fn freshness(&mut self, request: &PackRequest<'_>) -> Freshness {
        let root = self.place.directory.as_deref();
        *self.freshness.get_or_insert_with(|| Freshness::check(&self.files, root, request.disk))
    }
}

/// The value of an observation by its type and age.
fn by_itself(
    memory: MemoryRow,
    files: Vec<FileState>,
    place: SessionPlace,
    request: &PackRequest<'_>,
) -> Valued {
    let value = match memory.kind {
        MemoryKind::Observation(ObservationType::Decision) => 0.9,
        MemoryKind::Observation(ObservationType::Bugfix) => 0.7,
        MemoryKind::Observation(ObservationType::Feature | ObservationType::Discovery) => 0.6,
        MemoryKind::Observation(ObservationType::Refactor) => 0.5,
        MemoryKind::Observation(ObservationType::Change) | MemoryKind::Summary => 0.4,
    };
    let age = memory.at.map_or(f64::MAX, |at| days_between(at, request.now));
    let reasons = vec![memory.kind.to_string()];
    let mut valued = Valued { memory, files, place, value, reasons, freshness: None };
    let recency = 0.5_f64.powf(age / HALF_LIFE_DAYS);
    if recency > 0.05 {
        valued.add(recency, format!("{} old", days(age)));
    }
    let is_about_itself = matches!(request.occasion, Occasion::Compact);
    if valued.memory.flags.is_correction && !is_about_itself {
        valued.add(-0.6, "a correction of that moment".to_owned());
    } else if valued.memory.flags.is_from_person {
        valued.add(0.3, "the user said it".to_owned());
    }
    valued
}

/// Observations that may be injected.
fn candidates(
    store: &Store,
    request: &PackRequest<'_>,
    about: Option<i64>,
    since: Option<Timestamp>,
    lately: &[String],
) -> Result<Vec<MemoryRow>> {
    let kinds: Vec<MemoryKind> = match request.limits.kinds.is_empty() {
        true => MemoryKind::all().filter(|kind| *kind != MemoryKind::Summary).collect(),
        false => request.limits.kinds.clone(),
    };
    let latest = MemoryFilter {
        projects: about.is_none().then(|| request.projects.clone()),
        session: about,
        kinds: Some(kinds.clone()),
        since,
        limit: Some(LATEST),
        ..MemoryFilter::default()
    };
    let decision = MemoryKind::Observation(ObservationType::Decision);
    let decisions = MemoryFilter {
        kinds: Some(kinds.into_iter().filter(|kind| *kind == decision).collect()),
        limit: Some(DECISIONS),
        ..latest.clone()
    };
    let by_file =
        MemoryFilter { files: Some(lately.to_vec()), limit: Some(BY_FILE), ..latest.clone() };
    let everywhere = MemoryFilter { projects: None, session: None, global: true, ..latest.clone() };
    let mut found = store.memories(&latest)?;
    // The other queries are for observations that the latest leave out.
    if found.len() == LATEST {
        found.extend(store.memories(&decisions)?);
        if !lately.is_empty() {
            found.extend(store.memories(&by_file)?);
        }
    }
    if about.is_none() {
        found.extend(store.memories(&everywhere)?);
    }
    let mut seen = HashSet::new();
    found.retain(|memory| {
        seen.insert(memory.row)
            // Rules have a section of their own.
            && (!memory.flags.is_rule || since.is_some())
            && !memory.flags.is_uncertain
            && (about.is_some() || request.session.is_none() || memory.session != request.session)
    });
    Ok(found)
}

/// Keeps those with one of the requested concepts.
fn with_concepts(
    store: &Store,
    wanted: &[Concept],
    found: Vec<MemoryRow>,
) -> Result<Vec<MemoryRow>> {
    if wanted.is_empty() {
        return Ok(found);
    }
    let mut kept = Vec::new();
    for memory in found {
        if let MemoryBody::Observation(body) = store.body_of(&memory)?
            && body.concepts.iter().any(|concept| wanted.contains(concept))
        {
            kept.push(memory);
        }
    }
    Ok(kept)
}

/// Files of the project that recently changed on this disk: the current work.
fn changed_lately(store: &Store, request: &PackRequest<'_>) -> Result<Vec<String>> {
    if request.projects.is_empty() {
        return Ok(Vec::new());
    }
    let files = store.files_changed_last(&request.projects, FILES_LOOKED_AT)?;
    Ok(files
        .into_iter()
        .filter(|path| match request.disk.look(path, None) {
            Presence::There { modified: Some(modified) } => {
                days_between(modified, request.now) <= LATELY_DAYS
            }
            _ => false,
        })
        .collect())
}

/// The lines of the best observations.
pub(super) fn told(request: &PackRequest<'_>, valued: Vec<Valued>) -> Vec<Draft> {
    let best = valued.into_iter().take(request.limits.observations);
    best.map(|mut one| {
        let stale = one.freshness(request).note();
        let stale = stale.map_or_else(String::new, |note| format!(" ({note})"));
        Draft {
            text: format!("{}{stale}", cut(&one.memory.title, 200)),
            tier: tier(&one.memory, request),
            section: Section::day(one.memory.at.unwrap_or_default(), request),
            reason: format!("value {:.2}: {}", one.value, one.reasons.join(", ")),
            memory: Some(one.memory),
        }
    })
    .collect()
}

fn places<'a>(
    store: &Store,
    memories: impl IntoIterator<Item = &'a MemoryRow>,
) -> Result<HashMap<i64, SessionPlace>> {
    let mut rows: Vec<i64> = memories.into_iter().filter_map(|memory| memory.session).collect();
    rows.sort_unstable();
    rows.dedup();
    store.places_of_sessions(&rows)
}

pub(super) fn day(at: Option<Timestamp>, request: &PackRequest<'_>) -> String {
    at.map_or_else(
        || "no date".to_owned(),
        |at| at.to_zoned(request.zone.clone()).date().to_string(),
    )
}

fn days_between(earlier: Timestamp, later: Timestamp) -> f64 {
    ((later.as_second() - earlier.as_second()) as f64 / 86_400.0).max(0.0)
}

fn days(age: f64) -> String {
    match age as u64 {
        0 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

fn cut(text: &str, longest: usize) -> String {
    super::render::recorded(text, longest)
}
