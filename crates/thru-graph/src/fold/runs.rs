//! The runs of one command in one folder: its outcome by branch, what it failed with, and what mended that.

use std::collections::{BTreeMap, BTreeSet};

use thru_core::{EndReason, Entity, EntityKind, Id, Object, Relation, Timestamp};

use super::{Facts, SessionOpening, Statement};
use crate::opening::{Claim, Commit, Edit, Problem};

/// Most files that a fix is put down to: with more, the record does not say which it was.
const FILES: usize = 3;

/// One run.
struct Run<'o> {
    session: &'o str,
    at: Timestamp,
    passage: Id,
    command: &'o Entity,
    folder: &'o str,
    branch: &'o str,
    filter: &'o str,
    passed: bool,
    failures: &'o [Problem],
    is_whole: bool,
    edits: &'o [Edit],
    acted: bool,
    commit: Option<&'o Commit>,
}

impl<'o> Run<'o> {
    fn new(one: &'o SessionOpening) -> Option<Self> {
        let Claim::Run {
            command,
            folder,
            branch,
            filter,
            passed,
            failures,
            is_whole,
            edits,
            acted,
            commit,
        } = &one.opening.claim
        else {
            return None;
        };
        Some(Self {
            session: &one.session,
            at: one.opening.at,
            passage: one.opening.passage,
            command,
            folder,
            branch,
            filter,
            passed: *passed,
            failures,
            is_whole: *is_whole,
            edits,
            acted: *acted,
            commit: commit.as_ref(),
        })
    }

    /// Returns the limits within which its facts hold: `on main; in web; only -p kiln`.
    fn scope(&self) -> String {
        let parts = [("on", self.branch), ("in", self.folder), ("only", self.filter)];
        let parts = parts.iter().filter(|(_, part)| !part.is_empty());
        let parts: Vec<String> = parts.map(|(word, part)| format!("{word} {part}")).collect();
        parts.join("; ")
    }

    /// Returns true if it looked at all that a run with this filter looks at.
    fn covers(&self, filter: &str) -> bool {
        const WIDE: [&str; 6] =
            ["--workspace", "--all", "--all-targets", "--all-features", "-r", "--recursive"];
        self.filter == filter
            || self.filter.split(' ').all(|word| word.is_empty() || WIDE.contains(&word))
    }

    fn state(&self, relation: Relation, object: Object) -> Statement {
        let (subject, scope) = (self.command.clone(), self.scope());
        Statement { subject, relation, object, scope, note: String::new() }
    }
}

/// A problem that was not seen to be over.
struct Open<'o> {
    run: &'o Run<'o>,
    problem: &'o Problem,
    /// Its fact.
    place: usize,
    /// Edits since it was last seen.
    edits: Vec<&'o Edit>,
    acted: bool,
    /// The session in which it was last seen.
    seen: &'o str,
}

impl Open<'_> {
    /// States what mended it, as a run shows: these edits, and the commit that followed, unless a later run met it again
    /// before.
    fn fixes(
        &self,
        facts: &mut Facts,
        run: &Run<'_>,
        edits: &[&Edit],
        later: &[Run<'_>],
    ) -> Vec<usize> {
        let mut fix = |by: &Entity, at, passage| {
            let states = Statement {
                subject: self.problem.entity.clone(),
                relation: Relation::FixedBy,
                object: Object::Entity(by.clone()),
                scope: self.run.scope(),
                note: String::new(),
            };
            let place = facts.begin(states, at, passage);
            facts.repeat(place, run.passage);
            place
        };
        let mut fixes: Vec<usize> =
            edits.iter().map(|edit| fix(&edit.file, run.at, edit.passage)).collect();
        if let Some(made) = run.commit.filter(|made| !self.is_back_before(made, later)) {
            fixes.push(fix(&made.commit, made.at, made.passage));
        }
        fixes
    }

    /// Returns true if one of the later runs met it again before the commit was made.
    fn is_back_before(&self, made: &Commit, later: &[Run<'_>]) -> bool {
        let meets = |run: &Run<'_>| {
            run.branch == self.run.branch
                && run.failures.iter().any(|problem| problem.entity == self.problem.entity)
        };
        later.iter().take_while(|run| run.at < made.at).any(meets)
    }
}

#[derive(Default)]
struct Course<'o> {
    /// The outcome that holds, by branch and filter.
    outcomes: BTreeMap<(&'o str, &'o str), usize>,
    open: Vec<Open<'o>>,
    /// Problems that were over once, by branch, with the facts of their fixes.
    over: BTreeMap<(&'o str, &'o Entity), Vec<usize>>,
}

pub(super) fn fold(facts: &mut Facts, openings: &[SessionOpening]) {
    let runs: Vec<Run<'_>> = openings.iter().filter_map(Run::new).collect();
    // A commit is a check only where its hooks refused one.
    if runs.iter().all(|run| run.passed && run.command.key == "git commit") {
        return;
    }
    let mut course = Course::default();
    for (at, run) in runs.iter().enumerate() {
        course.outcome(facts, run);
        for open in course.open.iter_mut().filter(|open| open.run.branch == run.branch) {
            open.edits.extend(run.edits);
            open.acted |= run.acted;
        }
        course.close(facts, run, &runs[at + 1..]);
        for problem in run.failures {
            course.meet(facts, run, problem);
        }
    }
}

impl<'o> Course<'o> {
    fn outcome(&mut self, facts: &mut Facts, run: &'o Run<'o>) {
        let object = Object::Value(if run.passed { "pass" } else { "fail" }.to_owned());
        let before = self.outcomes.get(&(run.branch, run.filter)).copied();
        let known = before.and_then(|place| facts.made.get(place));
        if let Some(place) = before.filter(|_| known.is_some_and(|fact| fact.object == object)) {
            facts.repeat(place, run.passage);
        } else {
            let at = facts.after(before, run.at);
            let next = facts.begin(run.state(Relation::Outcome, object), at, run.passage);
            self.outcomes.insert((run.branch, run.filter), next);
            if let Some(place) = before {
                facts.end(place, at, run.passage, EndReason::Superseded, Some(next));
            }
        }
        if !run.passed {
            return;
        }
        // All of it passed, so each part did.
        let own = self.outcomes.get(&(run.branch, run.filter)).copied();
        let narrower: Vec<(&str, &str)> = self.outcomes.keys().copied().collect();
        for key in narrower {
            let is_covered = key.0 == run.branch && key.1 != run.filter && run.covers(key.1);
            let place = self.outcomes.get(&key).copied().filter(|_| is_covered);
            let fails = |place: &usize| {
                facts.made.get(*place).is_some_and(|fact| fact.object.shown() == "fail")
            };
            if let Some(place) = place.filter(fails) {
                facts.end(place, run.at, run.passage, EndReason::Superseded, own);
                self.outcomes.remove(&key);
            }
        }
    }

    /// Ends the problems that a run shows to be over.
    fn close(&mut self, facts: &mut Facts, run: &'o Run<'o>, later: &[Run<'o>]) {
        let is_over = |open: &Open<'o>| {
            open.run.branch == run.branch
                && run.covers(open.run.filter)
                && (run.passed || run.is_whole && is_absent(open.problem, run.failures))
        };
        let (over, open) = std::mem::take(&mut self.open).into_iter().partition(is_over);
        self.open = open;
        let over: Vec<Open<'o>> = over;
        for open in over {
            let mended = mended_by(&open);
            let may_be_outside = open.acted || open.seen != run.session || !open.edits.is_empty();
            let reason = match &mended {
                Some(_) => EndReason::Fixed,
                None if may_be_outside => EndReason::Gone,
                None => EndReason::Flaky,
            };
            let fixes = mended.map_or_else(Vec::new, |edits| open.fixes(facts, run, &edits, later));
            facts.end(open.place, run.at, run.passage, reason, None);
            self.over.entry((run.branch, &open.problem.entity)).or_default().extend(fixes);
        }
    }

    /// Notes that a run failed with a problem.
    fn meet(&mut self, facts: &mut Facts, run: &'o Run<'o>, problem: &'o Problem) {
        let same = |open: &&mut Open<'o>| {
            open.run.branch == run.branch && open.problem.entity == problem.entity
        };
        if let Some(open) = self.open.iter_mut().find(same) {
            // What was edited before did not mend it.
            open.edits.clear();
            open.acted = false;
            open.seen = run.session;
            return facts.repeat(open.place, run.passage);
        }
        let object = Object::Entity(problem.entity.clone());
        let mut states = run.state(Relation::FailedWith, object);
        let fixes = self.over.get_mut(&(run.branch, &problem.entity));
        if fixes.is_some() {
            "came back".clone_into(&mut states.note);
        }
        let place = facts.begin(states, run.at, run.passage);
        for fix in fixes.map(std::mem::take).unwrap_or_default() {
            facts.end(fix, run.at, run.passage, EndReason::Superseded, Some(place));
        }
        let (edits, seen) = (Vec::new(), run.session);
        self.open.push(Open { run, problem, place, edits, acted: false, seen });
    }
}

/// Returns true if a problem is not among those of a run that names all of its kind: a runner names every test that
/// failed, and `tsc` every error; a compiler may stop before it comes to one.
fn is_absent(problem: &Problem, failures: &[Problem]) -> bool {
    let of_kind = |one: &Problem| match problem.entity.kind {
        EntityKind::Test => one.entity.kind == EntityKind::Test,
        _ => problem.entity.key.starts_with("TS") && one.entity.key.starts_with("TS"),
    };
    failures.iter().any(of_kind) && failures.iter().all(|one| one.entity != problem.entity)
}

/// Returns the edits that mended a problem, the latest of each file: none of them, if there are too many to tell; `None`, if
/// it may have been something else.
fn mended_by<'o>(open: &Open<'o>) -> Option<Vec<&'o Edit>> {
    let mut seen = BTreeSet::new();
    let latest: Vec<&Edit> =
        open.edits.iter().rev().filter(|edit| seen.insert(&edit.file)).copied().collect();
    if latest.is_empty() {
        return None;
    }
    let Problem { entity, file } = open.problem;
    if let Some(file) = file.as_ref().filter(|_| entity.kind == EntityKind::Error) {
        // A tool that runs for one package names files from there.
        let is_own = |edit: &&&Edit| {
            let before = edit.file.key.strip_suffix(file.as_str());
            before.is_some_and(|before| {
                before.is_empty() || before.ends_with('/') && file.contains('/')
            })
        };
        let own = latest.iter().find(is_own);
        // A command that formats may have mended what one that checks the format found.
        let formats = ["format", "assist/"].iter().any(|start| entity.key.starts_with(start));
        match own {
            _ if open.acted && formats => return None,
            Some(own) => return Some(vec![own]),
            None if open.acted || formats => return None,
            None => {}
        }
    }
    Some(if latest.len() <= FILES { latest } else { Vec::new() })
}
