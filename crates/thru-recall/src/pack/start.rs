//! The pack of a starting session: how the last one ended, what is open, decided and wished, what else was
//! done, and what the work is done with. Chosen by value, not by age alone; each part has a share of the
//! budget.

use std::collections::{HashMap, HashSet};

use thru_core::{
    Concept, Digest, FileState, MemoryKind, ObservationType, Statement, Summary, Timestamp,
    WorkOutcome, file_name,
};
use thru_redact::Redactor;
use thru_store::{MemoryBody, MemoryFilter, MemoryRow, Newest, Result, SessionPlace, Store};

use super::detail::{adds, came_of, details};
use super::in_play::{Sessions, commands_in_play, files_in_play};
use super::render::Section;
use super::{Draft, Occasion, PackRequest, standing};
use crate::freshness::{Freshness, Presence};
use crate::memories::normal;
use crate::session_context::{ContextLimits, session_context};
use crate::tiers::Tier;
use crate::unfinished;

/// Observations that are valued: the latest …
const LATEST: usize = 300;
/// … the latest decisions, and those about a file in current work.
const DECISIONS: usize = 60;
const BY_FILE: usize = 120;
/// Maximum number of rules, and characters of each.
const RULES: usize = 10;
const RULE_LENGTH: usize = 160;
/// Files of the project that are checked for recent changes …
const FILES_LOOKED_AT: usize = 150;
/// … which are those in this time.
const LATELY_DAYS: f64 = 3.0;
/// The time after which an observation's value by age is halved.
const HALF_LIFE_DAYS: f64 = 14.0;
/// Branches whose names say nothing about the current work.
const TRUNKS: [&str; 5] = ["main", "master", "trunk", "develop", "HEAD"];
/// Maximum number of decisions told by themselves, …
const DECISIONS_TOLD: usize = 3;
/// … and of those, of older ones, …
const OLDER_TOLD: usize = 1;
/// … of observations of the last session and of this branch, …
const WORK_TOLD: usize = 5;
/// … of sessions before that, …
const EARLIER: usize = 5;
/// … of those that were left open, …
const OPEN: usize = 2;
/// … and the days after which an open session is forgotten about.
const OPEN_DAYS: f64 = 14.0;
/// … if it said what comes next, else fewer.
const OPEN_DAYS_UNKNOWN: f64 = 4.0;
/// The budget from which on all else is told by value.
const PLENTY: u64 = 2_000;
/// Characters of a title, and of what came of it.
const TITLE: usize = 140;
const CAME_OF: usize = 140;
/// Statements of each kind that a model made of the last session.
const MADE: usize = 3;
/// The beginning of a step that the session stopped at.
const UNFINISHED: &str = "Not finished: ";
/// The share of its words that makes a title say the same as another.
const SAME: f64 = 0.75;
/// Number of the best observations whose files are checked on disk.
const CHECKED: usize = 80;

/// A memory that may be injected, and its value.
pub(super) struct Valued {
    pub(super) memory: MemoryRow,
    pub(super) files: Vec<FileState>,
    pub(super) place: SessionPlace,
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
    if matches!(request.occasion, Occasion::Compact) && request.session.is_some() {
        return itself(store, redactor, request);
    }
    let mut drafts = rules(store, request)?;
    let summaries = summaries(store, request, None, None)?;
    let mut valued = observations(store, request, None, None, &summaries)?;
    without_wishes(&mut valued, &drafts);
    let bodies = bodies(store, &summaries)?;
    let last = if request.limits.last_summary { last_of(store, request, &bodies)? } else { None };
    let mut said = Said::default();
    if let Some((last, is_of_branch)) = last {
        let later = later_than(last.0, &bodies);
        let about = last_session(store, redactor, request, (last, is_of_branch), &valued, &later)?;
        about.iter().for_each(|line| said.details.push(line.text.clone()));
        said.titles.push(words_of(&last.0.title));
        drafts.extend(about);
    }
    let earlier = bodies.iter().filter(|one| last.is_none_or(|(last, _)| last.0.row != one.0.row));
    let open = left_open(request, earlier.clone(), &bodies, &mut said.titles);
    let weighed = valued.len();
    let sessions = Sessions::of(&summaries, &valued, request);
    drafts.extend(files_in_play(&sessions, request));
    drafts.extend(commands_in_play(store, &sessions)?);
    let is_open =
        |row: i64| open.iter().any(|line| line.memory.as_ref().is_some_and(|it| it.row == row));
    let over = earlier.filter(|one| !is_open(one.0.row));
    let sessions = earlier_sessions(store, request, over, &valued, &mut said)?;
    drafts.extend(open);
    let last = last.and_then(|(last, _)| last.0.session);
    drafts.extend(best(store, request, valued, last, &mut said)?);
    drafts.extend(sessions);
    let noun = if weighed == 1 { "observation" } else { "observations" };
    Ok((drafts, format!("{weighed} {noun} weighed")))
}

/// Drops the observations that are wishes told as rules.
fn without_wishes(valued: &mut Vec<Valued>, rules: &[Draft]) {
    let wishes = rules.iter().filter_map(|rule| rule.memory.as_ref());
    let wishes: Vec<&str> =
        wishes.filter(|rule| !rule.flags.is_rule).map(|rule| rule.title.as_str()).collect();
    valued.retain(|one| !wishes.iter().any(|wish| standing::is_same_wish(wish, &one.memory.title)));
}

/// The session itself, from its memories: there is no snapshot of it.
fn itself(
    store: &Store,
    redactor: &Redactor,
    request: &PackRequest<'_>,
) -> Result<(Vec<Draft>, String)> {
    let mut drafts = rules(store, request)?;
    let summaries = summaries(store, request, request.session, None)?;
    let mut valued = observations(store, request, request.session, None, &summaries)?;
    without_wishes(&mut valued, &drafts);
    if let Some(own) = bodies(store, &summaries)?.first() {
        drafts.extend(last_session(store, redactor, request, (own, false), &valued, &[])?);
    }
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

/// The session to go on from: the latest on this branch, else the latest of all. One that did nothing, or
/// only asked the memory, is none. True if it is told because of its branch.
fn last_of<'b, 's>(
    store: &Store,
    request: &PackRequest<'_>,
    summaries: &'b [Digested<'s>],
) -> Result<Option<(&'b Digested<'s>, bool)>> {
    let branch = request.branch.as_deref().filter(|branch| !TRUNKS.contains(branch));
    let places = places(store, summaries.iter().map(|(summary, _)| *summary))?;
    let is_here = |summary: &MemoryRow| {
        let place = summary.session.and_then(|row| places.get(&row));
        branch.is_some() && place.is_some_and(|place| place.branch.as_deref() == branch)
    };
    let here = summaries.iter().filter(|(summary, _)| is_here(summary)).map(|one| (one, true));
    for (summary, is_of_branch) in here.chain(summaries.iter().map(|one| (one, false))) {
        if did_something(store, summary)? {
            return Ok(Some((summary, is_of_branch)));
        }
    }
    Ok(None)
}

/// Returns true if a session worked on something but the memory itself.
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
type Digested<'s> = (&'s MemoryRow, Box<Summary>);

/// Returns the summaries with their texts.
fn bodies<'s>(store: &Store, summaries: &'s [MemoryRow]) -> Result<Vec<Digested<'s>>> {
    let mut bodies = Vec::with_capacity(summaries.len());
    for summary in summaries {
        if let MemoryBody::Summary(body) = store.body_of(summary)? {
            bodies.push((summary, body));
        }
    }
    Ok(bodies)
}

/// Returns the summaries of later sessions.
fn later_than<'b>(summary: &MemoryRow, bodies: &'b [Digested<'_>]) -> Vec<&'b Summary> {
    let later = bodies.iter().filter(|(other, _)| other.at > summary.at);
    later.map(|(_, body)| body.as_ref()).collect()
}

fn last_session(
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
        vec![line(false, titled(summary, body, request), "how the last session ended")];
    let mut told = vec![body.title.clone()];
    if let Some(asked) = asked.as_ref().filter(|asked| adds(&asked.text, &told)) {
        told.push(asked.text.clone());
        drafts.push(draft(
            format!("The user asked: {}", cut(&asked.text, 240)),
            "what was asked for",
        ));
    }
    let compact = matches!(request.occasion, Occasion::Compact);
    let result = if compact { None } else { came_of_last(store, observations, summary)? };
    let is_latest = tier(summary, request) == Tier::Hot && result.is_none();
    let result = result.filter(|result| adds(result, &told) && !is_told_by_state(result, body));
    if let Some(session) = summary.session.filter(|_| is_latest) {
        let limits = ContextLimits { files: 0, tools: 0, entities: 0, events: 0, hot: 0 };
        let task = session_context(store, redactor, session, limits)?.task;
        let task = task.map(thru_redact::Clean::into_inner);
        let is_known = |task: &String| told.iter().any(|text| alike(text, task));
        if let Some(task) = task.filter(|task| !is_known(task)) {
            let text = format!("The last request: {}", cut(&task, 240));
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
        ("Done", completed, most, "what was done"),
        ("Decided", decisions, if compact { 8 } else { 0 }, "what was decided"),
        ("Next", next_steps, most, "what was left to do"),
        ("Open question", open_questions, most, "what was left open"),
    ];
    for (label, statements, most, reason) in lists {
        let is_deed = matches!(label, "Done" | "Decided");
        // After a compaction all observations of the session follow, with their ids.
        let is_new = |statement: &&Statement| {
            let text = normal(&statement.text);
            let is_told = |one: &Valued| normal(&one.memory.title) == text;
            let is_over = !is_deed
                && (unfinished::was_done(&statement.text, later)
                    || is_settled(&statement.text, body));
            // Behind the result, a step is told for the names in it.
            let is_excerpt = statement.text.starts_with('“');
            let is_bare =
                label == "Done" && (is_excerpt || has_result && !names_something(&statement.text));
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

/// Returns true for a short report of the commit or pull request that the state of the work names.
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

/// Returns true for a request that was not answered, if the work came to a state all the same.
fn is_settled(step: &str, body: &Summary) -> bool {
    step.starts_with(UNFINISHED) && body.digest.state.is_some()
}

/// A statement behind its label, unless it begins with one.
fn labelled(label: &str, text: &str) -> String {
    match text.starts_with(UNFINISHED) {
        true => text.to_owned(),
        false => format!("{label}: {text}"),
    }
}

/// The title of a session, its day, and how far its work came.
fn titled(summary: &MemoryRow, body: &Summary, request: &PackRequest<'_>) -> String {
    let title = cut(&body.title, TITLE);
    let ended = body.digest.outcome.as_str();
    let state = body.digest.state.as_ref();
    let state = state.map_or_else(String::new, |state| format!("; {}", cut(&state.text, 120)));
    format!("{title} ({}, {ended}{state})", day(summary.at, request))
}

/// Sessions before the last one, a line each, the latest first.
fn earlier_sessions<'b, 's: 'b>(
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
        let mut text = titled(summary, body, request);
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

/// Returns true if two texts say the same, one of them perhaps truncated.
pub(super) fn alike(a: &str, b: &str) -> bool {
    let (a, b) = (normal(a), normal(b));
    !a.is_empty() && !b.is_empty() && (a.starts_with(&b) || b.starts_with(&a))
}

/// Earlier sessions that did not finish, or gave up with changes made.
fn left_open<'b, 's: 'b>(
    request: &PackRequest<'_>,
    summaries: impl Iterator<Item = &'b Digested<'s>>,
    bodies: &[Digested<'_>],
    said: &mut Vec<HashSet<String>>,
) -> Vec<Draft> {
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
                cut(&body.title, TITLE),
                body.digest.outcome.as_str(),
                day(summary.at, request)
            ),
            memory: Some((*summary).clone()),
            section: Section::Open,
            reason: "an earlier session did not finish".to_owned(),
        });
    }
    drafts
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

    fn reason(&self) -> String {
        format!("value {:.2}: {}", self.value, self.reasons.join(", "))
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
    best.map(|one| Draft {
        text: cut(&one.memory.title, TITLE),
        tier: tier(&one.memory, request),
        section: Section::day(one.memory.at.unwrap_or_default(), request),
        reason: one.reason(),
        memory: Some(one.memory),
    })
    .collect()
}

/// Decisions, and what was done in the last session and on this branch: each with what came of it, or the reason
/// for it, where that says more.
fn best(
    store: &Store,
    request: &PackRequest<'_>,
    valued: Vec<Valued>,
    last: Option<i64>,
    said: &mut Said,
) -> Result<Vec<Draft>> {
    let branch = request.branch.as_deref().filter(|branch| !TRUNKS.contains(branch));
    let mut drafts = Vec::new();
    let (mut decisions, mut older, mut works) = (0, 0, 0);
    for one in valued {
        if drafts.len() == request.limits.observations {
            break;
        }
        let is_decision = one.memory.kind == MemoryKind::Observation(ObservationType::Decision);
        // What a person told the memory is no chatter.
        let is_note = one.memory.flags.is_note;
        let is_here = one.memory.session.is_none()
            || one.memory.session == last
            || branch.is_some() && one.place.branch.as_deref() == branch;
        let is_current = is_here || bears_on_today(&one.memory, request);
        let is_wanted = match is_decision {
            _ if request.limits.start_tokens >= PLENTY => true,
            true => decisions < DECISIONS_TOLD && (is_current || older < OLDER_TOLD),
            // Sessions before that have a line each.
            false => works < WORK_TOLD && is_here,
        };
        let is_told = is_note || is_wanted && is_new(&one.memory.title, &mut said.titles);
        if !is_told {
            continue;
        }
        let title = cut(&one.memory.title, TITLE);
        let detail = said.detail(&title, details(&store.body_of(&one.memory)?));
        let changed = one.files.iter().filter(|file| file.modified);
        let files = files_not_named(changed.map(|file| file.path.as_str()), &title);
        let is_bare = detail.is_none() && files.is_none();
        // A sentence without its surroundings says little.
        if is_bare && title.starts_with('“') && !is_note {
            continue;
        }
        let mut text = match is_decision && !one.memory.flags.is_from_person {
            true => format!("The agent: {title}"),
            false => title,
        };
        if let Some(detail) = detail {
            text = format!("{text}: {}", cut(&detail, CAME_OF));
        }
        if let Some(files) = files {
            text = format!("{text} [{files}]");
        }
        match is_decision {
            true => {
                decisions += 1;
                older += usize::from(!is_current);
            }
            false => works += 1,
        }
        let at = one.memory.at.unwrap_or_default().as_millisecond();
        drafts.push(Draft {
            text: format!("{text} ({})", day(one.memory.at, request)),
            tier: tier(&one.memory, request),
            section: match is_decision {
                true => Section::Decisions { before_end: -at },
                false => Section::Work { before_end: -at },
            },
            reason: one.reason(),
            memory: Some(one.memory),
        });
    }
    Ok(drafts)
}

/// Returns true for a decision that may bear on today's work: most are about the work of their own day.
fn bears_on_today(memory: &MemoryRow, request: &PackRequest<'_>) -> bool {
    let age = memory.at.map_or(f64::MAX, |at| days_between(at, request.now));
    age <= if names_something(&memory.title) { OPEN_DAYS } else { LATELY_DAYS }
}

/// Titles and details that were told.
#[derive(Default)]
struct Said {
    titles: Vec<HashSet<String>>,
    details: Vec<String>,
}

impl Said {
    /// Returns the first of these texts that adds something to a line and was not told on another: what comes of
    /// a turn stands on all of its memories.
    fn detail(&mut self, line: &str, texts: Vec<String>) -> Option<String> {
        const BEGINNING: usize = 60;
        let known = [line.to_owned()];
        let begins = |text: &str| normal(text).chars().take(BEGINNING).collect::<String>();
        let is_told = |text: &str| {
            let beginning = begins(text);
            self.details.iter().any(|told| normal(told).contains(&beginning))
        };
        let detail = texts.into_iter().find(|text| adds(text, &known) && !is_told(text))?;
        self.details.push(detail.clone());
        Some(detail)
    }
}

/// Returns true if a text names a file, something in the code, an issue, or a command.
fn names_something(text: &str) -> bool {
    let cues = super::words::cues(text);
    let is_number = |word: &str| {
        let number = word.trim_matches(|c: char| c.is_ascii_punctuation() && c != '#');
        number.strip_prefix('#').is_some_and(|number| number.parse::<u32>().is_ok())
    };
    !cues.files.is_empty()
        || !cues.identifiers.is_empty()
        || text.contains('`')
        || text.split(' ').any(is_number)
}

/// The first of these files, if the text names none. A short name needs its directory.
fn files_not_named<'f>(files: impl Iterator<Item = &'f str>, text: &str) -> Option<String> {
    const NAMED: usize = 3;
    const SHORT: usize = 5;
    let mut names: Vec<String> = Vec::new();
    for path in files {
        let name = file_name(path);
        if text.contains(name) {
            return None;
        }
        let stem = name.split('.').next().unwrap_or(name);
        let folder =
            path.strip_suffix(name).and_then(|rest| rest.trim_end_matches('/').rsplit('/').next());
        let name = match folder.filter(|folder| !folder.is_empty() && stem.chars().count() <= SHORT)
        {
            Some(folder) => format!("{folder}/{name}"),
            None => name.to_owned(),
        };
        if names.len() < NAMED && !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}

/// Returns true if a title says something that was not said yet, and notes it.
pub(super) fn is_new(title: &str, said: &mut Vec<HashSet<String>>) -> bool {
    const FEWEST: usize = 3;
    let words = words_of(title);
    let numbers = |words: &HashSet<String>| -> HashSet<String> {
        words.iter().filter(|word| word.chars().any(|c| c.is_ascii_digit())).cloned().collect()
    };
    let is_same = |known: &HashSet<String>| {
        // Bed 3 is not bed 4.
        let (a, b) = (numbers(known), numbers(&words));
        if !a.is_empty() && !b.is_empty() && a != b {
            return false;
        }
        let fewer = known.len().min(words.len());
        let shared = known.intersection(&words).count();
        fewer >= FEWEST && shared as f64 >= SAME * fewer as f64 || *known == words
    };
    let is_new = !said.iter().any(is_same);
    said.push(words);
    is_new
}

/// The words of a title by their beginnings, so that "added" is "add"; numbers whole.
fn words_of(title: &str) -> HashSet<String> {
    const LETTERS: usize = 5;
    let words = normal(title);
    let words = words
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 3 || word.chars().any(|c| c.is_ascii_digit()));
    words.map(|word| word.chars().take(LETTERS).collect()).collect()
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
