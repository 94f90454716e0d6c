//! Lines about sessions: how the last one ended, those before it, and those that were left open.

use std::collections::{HashMap, HashSet};

use thru_core::{
    Digest, MemoryKind, PassageKind, Statement, Summary, Timestamp, WorkOutcome, is_trunk,
};
use thru_redact::Redactor;
use thru_store::{MemoryBody, MemoryFilter, MemoryRow, Newest, Result, SessionPlace, Store};

use super::detail::{adds, behind_title};
use super::orders::is_order;
use super::render::Section;
use super::said::{
    alike, cut, day, days_between, files_not_named, is_new, names_nothing_new, names_something,
    tier,
};
use super::speaker::TitleSpeaker;
use super::turns::{Report, Turns};
use super::valued::{LATELY_DAYS, Valued, is_open, places};
use super::{Draft, LONGEST_LINE, Occasion, PackRequest};
use crate::memories::normal;
use crate::session_context::{ContextLimits, session_context};
use crate::unfinished;

/// Maximum number of sessions before the last one that are named, and characters of the title of each, …
const EARLIER: usize = 3;
const SHORT_TITLE: usize = 70;
/// … of those that were left open, …
const OPEN: usize = 2;
/// … and the days after which an open session is forgotten about.
pub(super) const OPEN_DAYS: f64 = 14.0;
/// … if it said what comes next, else fewer.
const OPEN_DAYS_UNKNOWN: f64 = 4.0;
/// The beginning of a step that waits for a commit whose outcome the session did not see: it was mostly made.
const COMMIT_UNSEEN: &str = "Not committed yet: ";
/// The beginning of a step whose commit failed.
const COMMIT_FAILED: &str = "The commit fails: ";
/// Characters of a title, and of what came of it.
pub(super) const TITLE: usize = 140;
pub(super) const CAME_OF: usize = 140;
/// Characters of what came of its work.
pub(super) const REPORT: usize = 260;
/// The end of the state of work that another session may have committed since.
const UNCOMMITTED: &str = "nothing committed";
/// Statements of each kind that a model made of the last session.
const MADE: usize = 3;
/// Characters of the state of work.
const STATE: usize = 160;
/// Characters of the name of a branch.
const BRANCH: usize = 50;
/// Words with a meaning from which on a step says which work it is a step of.
const TELLING: usize = 3;
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

    /// True for a session on the branch that is checked out, unless that is a trunk.
    pub(super) fn is_here(&self, summary: &MemoryRow, request: &PackRequest<'_>) -> bool {
        let branch = request.branch.as_deref().filter(|branch| !is_trunk(branch));
        branch.is_some() && self.branch(summary) == branch
    }

    /// Returns the branch of a session that worked on another one than the one checked out, unless it is a trunk.
    fn elsewhere(&self, summary: &MemoryRow, request: &PackRequest<'_>) -> Option<&str> {
        let is_elsewhere =
            |branch: &&str| !is_trunk(branch) && request.branch.as_deref() != Some(*branch);
        self.branch(summary).filter(is_elsewhere)
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

/// The session to go on from.
pub(super) struct LastSession<'b, 's> {
    /// Its summary.
    pub(super) digested: &'b Digested<'s>,
    /// True if it is told because of its branch.
    pub(super) is_of_branch: bool,
    /// The branch that it worked on, if that is another one.
    branch: Option<&'b str>,
    /// What came of the work that its title names.
    work: Option<Report>,
    /// What a later turn did besides, on the branch that is checked out.
    after: Option<Report>,
}

impl<'b, 's> LastSession<'b, 's> {
    /// Finds the latest session on this branch, else the latest of all. One that did nothing, or only asked the
    /// memory, is none.
    pub(super) fn find(
        store: &Store,
        request: &PackRequest<'_>,
        summaries: &'b [Digested<'s>],
        branches: &'b Branches,
        observations: &[Valued],
    ) -> Result<Option<Self>> {
        let is_here = |(summary, _): &&Digested<'_>| branches.is_here(summary, request);
        let here = summaries.iter().filter(is_here).map(|one| (one, true));
        for (digested, is_of_branch) in here.chain(summaries.iter().map(|one| (one, false))) {
            if did_something(store, digested)? {
                let (summary, _) = digested;
                let branch = branches.elsewhere(summary, request);
                let own = observations.iter().filter(|one| one.memory.session == summary.session);
                let turns = Turns::of(store, own, &digested.1.title)?;
                let work = turns.work(store, digested)?;
                // The last of several works says little to a session that takes up another one, unless nothing else says how it
                // ended.
                let is_told = work.is_some() || digested.1.digest.state.is_some();
                let after = match is_of_branch || !is_told {
                    true => turns.after(store, digested)?,
                    false => None,
                };
                return Ok(Some(Self { digested, is_of_branch, branch, work, after }));
            }
        }
        Ok(None)
    }

    /// A session that goes on itself: it has no end yet.
    pub(super) const fn itself(digested: &'b Digested<'s>) -> Self {
        Self { digested, is_of_branch: false, branch: None, work: None, after: None }
    }

    /// True for a memory of this session, if the session left its work undone.
    pub(super) fn is_at_work(&self, memory: &MemoryRow) -> bool {
        let (summary, body) = self.digested;
        memory.session == summary.session && is_open(summary) && body.digest.state.is_none()
    }

    /// True for a memory of work on one of its files.
    pub(super) fn worked_on(&self, one: &Valued) -> bool {
        let files = &self.digested.1.digest.files;
        one.files.iter().any(|file| file.modified && files.contains(&file.path))
    }

    /// True if its line tells a memory of it: one of the turn of the report, or of the commit or pull request
    /// that the state of the work names.
    pub(super) fn tells(&self, memory: &MemoryRow, details: &[String]) -> bool {
        let (summary, body) = self.digested;
        let mut reports = self.work.iter().chain(&self.after);
        let is_reported = reports.any(|report| report.turn == memory.turn);
        memory.session == summary.session
            && (is_reported || details.iter().any(|detail| is_told_by_state(detail, body)))
    }
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
    // Nothing came of a request that was given up before its answer.
    if !has_said && body.digest.outcome == WorkOutcome::Abandoned {
        let newest = store.newest_passages(session, Newest { kind: None, within: 1, limit: 1 })?;
        if newest.first().is_none_or(|last| last.kind != PassageKind::Assistant) {
            return Ok(false);
        }
    }
    let kind = Some(PassageKind::Tool);
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

/// The lines about the session to go on from: its title, how far it came and its report on one, then what is left.
pub(super) fn last_session(
    store: &Store,
    redactor: &Redactor,
    request: &PackRequest<'_>,
    last: &LastSession<'_, '_>,
    observations: &[Valued],
    later: &[&Summary],
) -> Result<Vec<Draft>> {
    let (summary, body) = last.digested;
    let line = |detail: bool, text: String, reason: &str| Draft {
        memory: Some((*summary).clone()),
        section: Section::LastSession { is_of_branch: last.is_of_branch, detail },
        tier: tier(summary, request),
        text,
        reason: reason.to_owned(),
    };
    let draft = |text: String, reason: &str| line(true, text, reason);
    let Digest { request: asked, completed, next_steps, open_questions, decisions, .. } =
        &body.digest;
    let mut told = vec![body.title.clone()];
    let mut head = titled(store, request, last.digested, (last.branch, how_far(body)))?;
    if let Some(Report { text, .. }) = &last.work {
        head = format!("{head}: {}", cut(behind_title(text, &body.title), REPORT));
        told.push(text.clone());
    }
    let changed = most_changed(store, last.digested)?;
    if let Some(files) = files_not_named(changed.into_iter(), &head) {
        head = format!("{head} [{files}]");
    }
    let mut drafts = vec![line(false, head, "what the last session did")];
    let compact = matches!(request.occasion, Occasion::Compact);
    if let Some(Report { text, .. }) = &last.after {
        told.push(text.clone());
        let label = if last.work.is_some() { "Then" } else { "At the end" };
        drafts.push(draft(format!("{label}: {text}"), "what it did after that"));
    }
    let has_report = last.work.is_some() || last.after.is_some();
    // What came of it says what was asked for, and so does how far it came.
    let is_over = !compact && body.digest.state.is_some();
    let asked = asked.as_ref().filter(|asked| !has_report && !is_over && adds(&asked.text, &told));
    if let Some(asked) = asked {
        told.push(asked.text.clone());
        drafts.push(draft(
            format!("The user asked: {}", cut(&asked.text, 240)),
            "what was asked for",
        ));
    }
    if compact && let Some(session) = summary.session {
        let task = task_of(store, redactor, session)?;
        let is_known = |task: &String| told.iter().any(|text| alike(text, task));
        if let Some(task) = task.filter(|task| !is_known(task)) {
            let text = format!("The user asked last: {}", cut(&task, 240));
            drafts.push(draft(text, "what was asked for last"));
            told.push(task);
        }
    }
    // What a model made of the session.
    let sections = &body.sections;
    let decided = sections.key_decisions.iter().map(|one| ("Decided", one.to_string()));
    let resolved = sections.errors_resolved.iter().map(|one| ("Fixed", one.to_string()));
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
        (DONE, completed, if has_report || is_over { 0 } else { most }, "what was done"),
        ("Decided", decisions, if compact { 8 } else { 0 }, "what was decided"),
        ("Next", next_steps, most, "what was left to do"),
        ("Open question", open_questions, most, "what was left open"),
    ];
    for (label, statements, most, reason) in lists {
        let is_deed = matches!(label, DONE | "Decided");
        let mut count = 0;
        for statement in statements {
            let text = normal(&statement.text);
            let is_over = !is_deed
                && (unfinished::was_done(&statement.text, later)
                    || is_settled(&statement.text, body));
            // After a compaction all observations of the session follow, with their ids.
            let is_repeated =
                compact && observations.iter().any(|one| normal(&one.memory.title) == text);
            let is_seen = compact || is_deed || is_telling(&statement.text);
            // A second step about the same thing says little.
            let steps: Vec<&str> = drafts.iter().skip(1).map(|line| line.text.as_str()).collect();
            let is_repeated =
                is_repeated || !compact && !is_deed && names_nothing_new(&statement.text, &steps);
            if count < most && is_seen && !is_over && !is_repeated && adds(&statement.text, &told) {
                count += 1;
                told.push(statement.text.clone());
                drafts.push(draft(labelled(label, &cut(&statement.text, 160)), reason));
            }
        }
    }
    Ok(drafts)
}

/// The files that a session changed, those that it worked on most first.
fn most_changed<'d>(store: &Store, (summary, body): &'d Digested<'_>) -> Result<Vec<&'d str>> {
    let mut files: Vec<&str> = body.digest.files.iter().map(String::as_str).collect();
    if let Some(session) = summary.session {
        let worked_on = store.files_of_session(session)?;
        let place = |path: &str| worked_on.iter().position(|file| file.path == path);
        files.sort_by_cached_key(|path| place(path).unwrap_or(usize::MAX));
    }
    Ok(files)
}

/// Returns what a session was asked for last.
fn task_of(store: &Store, redactor: &Redactor, session: i64) -> Result<Option<String>> {
    let limits = ContextLimits {
        files: 0,
        tools: 0,
        entities: 0,
        events: 0,
        hot: 0,
        ..ContextLimits::default()
    };
    let task = session_context(store, redactor, session, limits)?.task;
    Ok(task.map(thru_redact::Clean::into_inner))
}

/// Returns the hash of the commit or the number of the pull request that the state of the work names.
pub(super) fn landed_as(body: &Summary) -> Option<&str> {
    const FEWEST: usize = 7;
    let is_reference = |word: &&str| {
        let is_hash = word.len() >= FEWEST && word.chars().all(|c| c.is_ascii_hexdigit());
        is_hash || word.len() > 1 && word.chars().all(|c| c.is_ascii_digit())
    };
    let state = &body.digest.state.as_ref()?.text;
    state.split(|c: char| !c.is_alphanumeric()).find(is_reference)
}

/// True for a short report of the commit or pull request that the state of the work names.
fn is_told_by_state(report: &str, body: &Summary) -> bool {
    const SHORT: usize = 240;
    report.chars().count() <= SHORT && landed_as(body).is_some_and(|known| report.contains(known))
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
    const OWN: [&str; 3] = [UNFINISHED, "Tried", "Next step"];
    match OWN.iter().any(|start| text.starts_with(start)) {
        true => text.to_owned(),
        false => format!("{label}: {text}"),
    }
}

/// The title of a session with its speaker, its day, its branch, and how far its work came.
fn titled(
    store: &Store,
    request: &PackRequest<'_>,
    (summary, body): &Digested<'_>,
    (branch, how_far): (Option<&str>, String),
) -> Result<String> {
    let title = TitleSpeaker::of_session(store, body)?.mark(&cut(&body.title, TITLE));
    let branch = branch.filter(|branch| !how_far.contains(branch));
    let branch = branch.map_or_else(String::new, |branch| format!(" on {}", cut(branch, BRANCH)));
    Ok(format!("{title} ({}{branch}, {how_far})", day(summary.at, request)))
}

/// How far the work of a session came: its state, with the outcome where that adds to it.
fn how_far(body: &Summary) -> String {
    let state = body.digest.state.as_ref().map(|state| without_title(&state.text, &body.title));
    // A person may have committed it since.
    let state = state.map(|state| match state.strip_suffix(UNCOMMITTED) {
        Some(checks) => checks.trim_end_matches("; ").to_owned(),
        None => state,
    });
    let outcome = body.digest.outcome;
    // What was committed and names nothing more to do is not in progress.
    let is_over = outcome == WorkOutcome::Completed
        || outcome == WorkOutcome::InProgress && body.digest.next_steps.is_empty();
    match state {
        None => outcome.as_str().to_owned(),
        Some(state) if is_over || state.contains("merged") => cut(&state, STATE),
        Some(state) => format!("{}; {}", outcome.as_str(), cut(&state, STATE)),
    }
}

/// The state of work, without the names of commits and pull requests that the title names.
fn without_title(state: &str, title: &str) -> String {
    let mut told = String::new();
    let mut rest = state;
    while let Some((before, named)) = rest.split_once(" \"") {
        let Some((name, after)) = named.split_once('"') else { break };
        told.push_str(before);
        // A title may tell the scope otherwise.
        let name = name.split(" (").next().unwrap_or_default();
        if !title.starts_with(name.trim_end_matches('…')) {
            told.push_str(&rest[before.len()..rest.len() - after.len()]);
        }
        rest = after;
    }
    told.push_str(rest);
    told
}

/// Sessions of the same stretch of work as the last one on the branch that is checked out, on one line, the latest first:
/// what they did is a question away, and what others did hardly bears on the next.
pub(super) fn earlier_sessions<'b, 's: 'b>(
    store: &Store,
    request: &PackRequest<'_>,
    earlier: impl Iterator<Item = &'b Digested<'s>>,
    last: Option<&LastSession<'_, '_>>,
    said: &mut Vec<HashSet<String>>,
) -> Result<Option<Draft>> {
    let until = last.and_then(|last| last.digested.0.at).unwrap_or(request.now);
    let mut told: Vec<String> = Vec::new();
    let mut latest = None;
    for digested in earlier {
        if told.len() == EARLIER {
            break;
        }
        let (summary, body) = digested;
        let is_of_stretch = summary.at.is_some_and(|at| days_between(at, until) <= LATELY_DAYS);
        // One order among them would hold back the line.
        if !is_of_stretch
            || !did_something(store, digested)?
            || is_order(&body.title)
            || !is_new(&body.title, said)
        {
            continue;
        }
        let title = cut(&body.title, SHORT_TITLE);
        let title = match TitleSpeaker::of_session(store, body)? {
            TitleSpeaker::Commit => title,
            // What was asked does not say what came of it.
            TitleSpeaker::Request => continue,
            speaker => speaker.mark(&title),
        };
        let id = store.short_id(&summary.id)?;
        let state = body.digest.state.as_ref().and_then(|state| landed(&state.text, &body.title));
        let state = state.map_or_else(String::new, |state| format!(", {state}"));
        told.push(format!("`{id}` {title} ({}{state})", day(summary.at, request)));
        if told.join("; ").chars().count() > LONGEST_LINE {
            told.pop();
            break;
        }
        latest = latest.or(Some(*summary));
    }
    Ok(latest.map(|latest| Draft {
        memory: None,
        section: Section::Work { before_end: -latest.at.unwrap_or_default().as_millisecond() },
        tier: tier(latest, request),
        text: told.join("; "),
        reason: "earlier sessions".to_owned(),
    }))
}

/// Returns the pull request or the commit that work ended in, as its state tells it.
fn landed(state: &str, title: &str) -> Option<String> {
    let state = without_title(state, title);
    let landed = state.split("; ").next()?;
    let is_known = ["PR #", "committed ", "pushed "].iter().any(|start| landed.starts_with(start));
    // Of a name with a semicolon, half is here.
    let is_whole = landed.matches('"').count() % 2 == 0;
    (is_known && is_whole && landed.chars().count() <= BRANCH).then(|| landed.to_owned())
}

/// Earlier sessions, the last on their branches, that said what is left to do of their work.
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
        let Some(Some(next)) = unfinished::still_open(body, &later_than(summary, bodies)) else {
            continue;
        };
        let is_step = body.digest.next_steps.iter().any(|step| step.text == next);
        // A request without its end may be done by now.
        if !(is_step && is_telling(next) && names_something(next))
            || next.starts_with(UNFINISHED) && age > OPEN_DAYS_UNKNOWN
            || is_settled(next, body)
            || !is_new(&body.title, said)
        {
            continue;
        }
        let next = labelled("next", &cut(next, 120));
        drafts.push(Draft {
            tier: tier(summary, request),
            text: format!(
                "{} ({}, {}); {next}",
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

/// True for a step that says which work it is a step of, beyond bringing it to others: what was not committed is told by its
/// files, a person lands work without an agent, and "Final review" fits any work.
fn is_telling(step: &str) -> bool {
    const LANDING: [&str; 5] = ["commit", "push", "open pr", "open a pr", "merge"];
    const OFFERS: [&str; 4] = ["want me to", "should i", "shall i", "would you like"];
    let lower = step.to_lowercase();
    (names_something(step) || unfinished::words(step).len() >= TELLING)
        && ![COMMIT_UNSEEN, COMMIT_FAILED].iter().any(|start| step.starts_with(start))
        && !LANDING.iter().any(|landing| lower.starts_with(landing))
        && !OFFERS.iter().any(|offer| lower.contains(offer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_names_what_the_title_does_not() {
        let state =
            "PR #12 \"Limit uploads (form)\" opened; committed abc1234 \"Name the limit\" on main";
        assert_eq!(
            without_title(state, "Limit uploads (form): a limit on the server too"),
            "PR #12 opened; committed abc1234 \"Name the limit\" on main"
        );
        assert_eq!(
            without_title(state, "Name the limit (upload form)"),
            "PR #12 \"Limit uploads (form)\" opened; committed abc1234 on main"
        );
        assert_eq!(without_title("pushed \"Half", "Half"), "pushed \"Half");
        let of_earlier = |title: &str| landed(state, title);
        assert_eq!(of_earlier("Limit uploads (form)").as_deref(), Some("PR #12 opened"));
        assert_eq!(landed("pushed abc1234 \"Fix a; b\" to main", "Other"), None);
    }
}
