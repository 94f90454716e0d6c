//! The parts that a step leaves out when it is named as open: the work that it is about, its branch, and what was done
//! of it since.

use std::sync::LazyLock;

use crate::pattern::Regex;
use thru_core::{Observation, ObservationType, is_trunk};

use crate::checks::Status;
use crate::event::Event;
use crate::landing::Landing;
use crate::pattern;
use crate::reply;
use crate::session::Session;
use crate::text::{capitalised, cut, one_line};

/// Longest step with its object, in characters.
const STEP: usize = 200;

/// Longest subject that is added to a step, in characters.
const SUBJECT: usize = 90;

/// A commit that a session called for at its end, and that is not known to be made.
#[derive(Debug)]
pub(crate) struct Unmade<'s> {
    pub(crate) place: usize,
    pub(crate) subject: &'s str,
    /// True if it failed; else it was still running.
    fails: bool,
}

impl<'s> Unmade<'s> {
    /// Returns the last commit that was called for, unless one was made after it.
    pub(crate) fn last(events: &'s [Event]) -> Option<Self> {
        let runs = events.iter().enumerate().rev();
        let mut runs = runs.filter_map(|(at, event)| Some((at, event.is_subagent, event.run()?)));
        // The end of a subagent's commit may be unknown only because the subagent ended first.
        let (place, _, run) = runs.find(|(_, is_subagent, run)| {
            run.tries_commit && (!is_subagent || run.status != Status::Unknown)
        })?;
        let subject = run.intended.as_deref()?;
        Some(Self { place, subject, fails: matches!(run.status, Status::Red(_)) })
    }

    /// Returns the step that is left of it.
    pub(crate) fn step(&self) -> String {
        match self.fails {
            true => format!("The commit fails: {}", self.subject),
            false => format!("Not committed yet: {}", self.subject),
        }
    }
}

/// The work that the last steps of a session are about.
#[derive(Debug, Default)]
pub(crate) struct Object {
    subject: Option<String>,
    branch: Option<String>,
}

/// Steps on the way from the folder to the main branch.
static LANDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:commit(?:s|ted)?|push(?:ed)?|merged?|prs?|pull\s+requests?|this\s+branch)\b",
    )
});

/// The branch of the session, as a speaker points at it.
static THIS: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:this|the(?:\s+current)?)\s+(?:branch(?:\s*/\s*pr)?|pr|pull\s+request)\b(?:\s+`[^`]+`)?",
    )
});

/// The branch that holds the work, as a closing text names it.
static HELD: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"\b(?:[Ii]n|[Oo]n|[Bb]ranch:?)\s+(?:the\s+)?(?:branch\s+)?`?([a-z]+/[\w][\w.-]*)`?",
    )
});

/// Words that stand for the work of the session.
static WORK: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(r"(?i)\b(?:the|this|my)\s+(?:work|changes?|fix|patch|edits?)\b")
});

/// Words that count what only the text before names.
static POINTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(r"(?i)\b(?:both|the\s+two|the\s+three|the\s+other|these|those)\s+[a-z]{3,}")
});

/// The ways in which a branch is named on purpose.
const KINDS: [&str; 12] = [
    "feat", "feature", "fix", "bugfix", "hotfix", "docs", "chore", "refactor", "test", "ci",
    "perf", "build",
];

impl Object {
    /// Returns the last work of a session and its branch.
    pub(crate) fn of(session: &Session<'_>, observations: &[Observation]) -> Self {
        let runs = || session.events.iter().enumerate().rev();
        let last_edit = session.last_edit();
        let commit = runs().find_map(|(at, event)| Some((at, event.run()?.commits.last()?)));
        let unmade = Unmade::last(session.events).map(|unmade| unmade.subject.to_owned());
        let made = commit.filter(|(at, _)| last_edit.is_none_or(|edit| edit <= *at));
        let made = made.map(|(_, commit)| commit.subject.clone());
        let worked = || {
            let is_work = |one: &&Observation| {
                !matches!(one.kind, ObservationType::Decision | ObservationType::Discovery)
                    && !one.title.is_empty()
            };
            Some(observations.iter().rev().find(is_work)?.title.clone())
        };
        let branch = commit.and_then(|(_, commit)| commit.branch.as_deref());
        let pushed =
            || runs().find_map(|(_, event)| event.run()?.landings.iter().find_map(Landing::branch));
        let branch = branch.or_else(|| held(session)).or_else(pushed);
        let branch = branch.filter(|branch| !is_trunk(branch));
        Self {
            subject: unmade.or(made).or_else(worked).map(|subject| one_line(&subject, SUBJECT)),
            branch: branch.filter(|branch| !branch.contains(' ')).map(str::to_owned),
        }
    }

    /// Adds to a step what it is about, if it only says that something is to be committed, pushed or merged.
    pub(crate) fn complete(&self, step: &str) -> String {
        if let Some(command) = step.strip_prefix("Not finished: ").filter(|rest| is_command(rest)) {
            let done = self.subject.as_ref().map(|subject| format!(" (last done: {subject})"));
            return cut(&format!("Not finished: {command}{}", done.unwrap_or_default()), STEP);
        }
        let is_request = step.starts_with("Not finished") && step.split_whitespace().count() > 4;
        if is_command(step) {
            // A command alone says nothing.
            let whole = self.subject.as_ref().map(|subject| format!("{step} ({subject})"));
            return cut(&whole.unwrap_or_default(), STEP);
        }
        if !is_request
            && POINTS.is_match(step)
            && let Some(subject) = self.subject.as_ref().filter(|one| !reply::shares(one, step, 2))
        {
            return cut(&format!("{} ({subject})", step.trim_end_matches(['.', ' '])), STEP);
        }
        if is_request || !LANDS.is_match(step) {
            return step.to_owned();
        }
        if let Some(branch) = &self.branch
            && THIS.is_match(step)
        {
            return cut(&THIS.replace(step, branch.as_str()), STEP);
        }
        // "PR" is no name.
        let is_vague = WORK.is_match(step);
        let is_named = !is_vague && reply::is_specific(&step.replace("PR", "request"))
            || self.subject.as_ref().is_some_and(|subject| reply::shares(subject, step, 2));
        // "The work" on a branch is all of it, not only its last part.
        let subject = self.subject.as_deref().filter(|_| !is_vague || self.branch.is_none());
        let about: Vec<&str> = subject.into_iter().chain(self.branch.as_deref()).collect();
        if is_named || about.is_empty() {
            return step.to_owned();
        }
        cut(&format!("{} ({})", step.trim_end_matches(['.', ' ']), about.join("; ")), STEP)
    }
}

/// Returns the branch that the last text of a session says holds the work.
fn held<'s>(session: &'s Session<'_>) -> Option<&'s str> {
    let last = session.events.iter().rev().find_map(Event::agent_text)?;
    let named = HELD.captures_iter(&last.report).filter_map(|found| found.get(1));
    named
        .map(|branch| branch.as_str().trim_end_matches('.'))
        .find(|branch| branch.split('/').next().is_some_and(|kind| KINDS.contains(&kind)))
}

/// Returns true for a command alone: what it is about is told nowhere in it.
fn is_command(step: &str) -> bool {
    let bare = step.trim_matches(['`', ' ']);
    bare.starts_with('/') && bare.split(' ').count() <= 2
}

/// Returns the part of a task that was not done: "validate, commit and push" becomes "commit and push" once the checks
/// passed.
pub(crate) fn left_of(session: &Session<'_>, task: &str) -> Option<String> {
    let is_done = |part: &str| {
        let lower = part.to_lowercase();
        let mut words = lower.split_whitespace();
        let (first, last) = (words.next().unwrap_or_default(), words.next_back().unwrap_or(&lower));
        let checks = ["validate", "verify", "test", "check", "lint", "build", "install"];
        match first {
            "commit" => lands(session, |run| !run.commits.is_empty()),
            "push" => lands(session, |run| {
                run.landings.iter().any(|step| matches!(step, Landing::Pushed(..)))
            }),
            "run" => is_checked(session),
            first if checks.contains(&first) => is_checked(session),
            _ => {
                ["verification", "validation", "tests", "checks"].contains(&last)
                    && !["wait", "add", "write", "fix"].contains(&first)
                    && is_checked(session)
            }
        }
    };
    let mut rest = task;
    while !rest.is_empty() {
        let end = [", ", " and "].iter().filter_map(|joint| rest.find(joint)).min();
        if !is_done(&rest[..end.unwrap_or(rest.len())]) {
            return Some(capitalised(rest));
        }
        rest = end.map_or("", |end| &rest[end..]).trim_start_matches([',', ' ']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    None
}

/// Returns true if a call since the last edit brought the work so far.
fn lands(session: &Session<'_>, has: impl Fn(&crate::event::Run) -> bool) -> bool {
    let last = session.last_edit().unwrap_or(0);
    session.events[last..].iter().filter_map(Event::run).any(has)
}

/// Returns true if the last check since the last edit passed.
fn is_checked(session: &Session<'_>) -> bool {
    let last = session.last_edit();
    let check = session.fixes.checks.last();
    check.is_some_and(|(at, failed)| !failed && last.is_none_or(|last| *at > last))
}
