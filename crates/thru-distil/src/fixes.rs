//! Commands that failed and later worked: lessons about the project.

use std::collections::HashMap;

use crate::checks::{self, Status};
use crate::event::{Action, Event};
use crate::scope::Scope;
use crate::text::{FACT, cut, shown_name};

/// A command that failed and worked later.
#[derive(Clone, Debug)]
pub(crate) struct Fix {
    /// The events in which it first failed and in which it worked.
    pub(crate) red: usize,
    pub(crate) green: usize,
    /// Edits between the two.
    pub(crate) edits: Vec<usize>,
    /// True if the form that worked differs from the one that failed.
    pub(crate) is_variant: bool,
    /// The fact that describes the fix.
    pub(crate) fact: String,
    /// The same without the reason for the failure.
    pub(crate) short: String,
    /// True if files were changed in the turn before it failed: it repaired its own work.
    pub(crate) is_own: bool,
}

/// A check that failed, for as long as it counts as failing.
#[derive(Clone, Debug)]
pub(crate) struct RedCheck {
    pub(crate) at: usize,
    /// The event that ended it.
    pub(crate) until: Option<usize>,
}

/// The course of the commands of a session.
#[derive(Debug, Default)]
pub(crate) struct Fixes {
    /// Fixes, in the order in which the commands worked.
    pub(crate) fixes: Vec<Fix>,
    /// Checks that failed, in their order.
    pub(crate) red: Vec<RedCheck>,
    /// The place of every run of a check, and true if it failed.
    pub(crate) checks: Vec<(usize, bool)>,
}

impl Fixes {
    /// Returns the fixes within this part of the session.
    pub(crate) fn within(&self, range: &std::ops::Range<usize>) -> &[Fix] {
        let from = self.fixes.partition_point(|fix| fix.green < range.start);
        let to = self.fixes.partition_point(|fix| fix.green < range.end);
        self.fixes.get(from..to).unwrap_or_default()
    }

    /// Returns the checks of this part of the session that still fail at its end.
    pub(crate) fn red_after(&self, range: &std::ops::Range<usize>) -> impl Iterator<Item = usize> {
        let from = self.red.partition_point(|red| red.at < range.start);
        let to = self.red.partition_point(|red| red.at < range.end);
        let end = range.end;
        let reds = self.red.get(from..to).unwrap_or_default().iter();
        reds.filter(move |red| red.until.is_none_or(|until| until >= end)).map(|red| red.at)
    }
}

/// Most edits kept between a failure and its fix.
const EDITS: usize = 3;

#[derive(Default)]
struct Failing {
    at: usize,
    family: String,
    edits_before: usize,
    is_noise: bool,
}

/// Follows the commands of a session.
pub(crate) fn follow(events: &[Event]) -> Fixes {
    let mut found = Fixes::default();
    let mut red: HashMap<u64, Failing> = HashMap::new();
    // The keys that failed last in each family: enough to find a variant without a full search.
    let mut by_family: HashMap<String, Vec<u64>> = HashMap::new();
    let mut edits: Vec<usize> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        if !event.modified.is_empty() {
            edits.push(at);
        }
        let Some(run) = event.run() else { continue };
        if run.is_check && run.status != Status::Unknown {
            found.checks.push((at, run.status != Status::Green));
        }
        match run.status {
            Status::Red(_) => {
                red.entry(run.key).or_insert_with(|| Failing {
                    at,
                    family: run.family.clone(),
                    edits_before: edits.len(),
                    is_noise: run.is_looking,
                });
                if !run.has_variants {
                    continue;
                }
                let keys = by_family.entry(run.family.clone()).or_default();
                if !keys.contains(&run.key) {
                    keys.push(run.key);
                    if keys.len() > 8 {
                        keys.remove(0);
                    }
                }
            }
            Status::Green => {
                let exact = red.remove(&run.key);
                let keys = by_family.remove(&run.family).unwrap_or_default();
                if let Some(cause) = exact
                    && !cause.is_noise
                {
                    found.fixes.push(fix(events, &cause, at, &edits, false));
                }
                for key in keys {
                    if key != run.key
                        && run.has_variants
                        && let Some(cause) = red.remove(&key)
                        && !cause.is_noise
                        && cause.family == run.family
                    {
                        found.fixes.push(fix(events, &cause, at, &edits, true));
                    }
                }
            }
            Status::Unknown => {}
        }
    }
    found.red = reds(events);
    found
}

/// Most failing checks that are followed at a time.
const FOLLOWED: usize = 32;

/// A failing check, and the part of its reach that no later check covered.
struct Open {
    /// Its place among all, and in the session.
    index: usize,
    at: usize,
    scopes: Vec<Scope>,
}

/// Follows the failing checks of a session: each ends when a later one covers as much, when the work is
/// committed or pushed, or by the agent's words.
fn reds(events: &[Event]) -> Vec<RedCheck> {
    let mut reds: Vec<RedCheck> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    // The last change or run, as words about a check need something that they can be about.
    let mut last_work = 0;
    for (at, event) in events.iter().enumerate() {
        if !event.modified.is_empty() || event.is_foreign {
            last_work = at;
        }
        match &event.action {
            Action::Ran(run) => {
                let is_landed = run.commits.iter().any(|commit| !commit.is_unfinished())
                    || !run.landings.is_empty();
                match &run.status {
                    Status::Red(line) if !run.scopes.is_empty() => {
                        let is_misuse = line.as_deref().is_some_and(checks::is_misuse);
                        if !is_misuse {
                            // The same check failed again: only the last failure counts.
                            end(&mut open, &mut reds, at, |one| {
                                covered(&run.scopes, &mut one.scopes)
                            });
                            if open.len() >= FOLLOWED {
                                open.remove(0);
                            }
                            open.push(Open { index: reds.len(), at, scopes: run.scopes.clone() });
                            reds.push(RedCheck { at, until: None });
                        }
                    }
                    Status::Green => {
                        end(&mut open, &mut reds, at, |one| covered(&run.scopes, &mut one.scopes));
                        last_work = if run.is_looking { last_work } else { at };
                    }
                    Status::Red(_) | Status::Unknown => {}
                }
                if is_landed {
                    end(&mut open, &mut reds, at, |_| true);
                }
            }
            Action::Landed(_) => end(&mut open, &mut reds, at, |_| true),
            Action::Wrote(text) if !open.is_empty() => {
                let words = &text.remaining;
                if words.excuses && words.says_failed {
                    end(&mut open, &mut reds, at, |_| true);
                }
                if !is_last_of_turn(events, at) {
                    continue;
                }
                // A subagent's checks are told by its report.
                let is_over = |one: &mut Open| {
                    let is_apart = events.get(one.at).is_some_and(|event| event.is_subagent);
                    !words.says_failed && (is_apart || last_work > one.at)
                };
                end(&mut open, &mut reds, at, is_over);
            }
            _ => {}
        }
    }
    reds
}

/// Ends the failing checks for which `is_over` is true.
fn end(
    open: &mut Vec<Open>,
    reds: &mut [RedCheck],
    at: usize,
    mut is_over: impl FnMut(&mut Open) -> bool,
) {
    open.retain_mut(|one| {
        let over = is_over(one);
        if over && let Some(red) = reds.get_mut(one.index) {
            red.until = Some(at);
        }
        !over
    });
}

/// Removes the covered part of a reach; returns true if nothing is left of it.
fn covered(by: &[Scope], scopes: &mut Vec<Scope>) -> bool {
    scopes.retain(|scope| !by.iter().any(|own| own.covers(scope)));
    scopes.is_empty()
}

/// Returns true if the agent did nothing more in the turn after this event.
fn is_last_of_turn(events: &[Event], at: usize) -> bool {
    let turn = events.get(at).map(|event| event.turn);
    let mut after = events.get(at + 1..).unwrap_or_default().iter();
    after.find(|event| !event.is_subagent).map(|event| event.turn) != turn
}

fn fix(events: &[Event], cause: &Failing, green: usize, edits: &[usize], is_variant: bool) -> Fix {
    let between = edits.get(cause.edits_before..).unwrap_or_default();
    let mut files: Vec<&str> = Vec::new();
    let mut used = Vec::new();
    for &at in between.iter().rev().take(200) {
        for file in events.get(at).map(|event| event.modified.as_slice()).unwrap_or_default() {
            if !files.contains(&file.as_str()) && files.len() < 3 {
                files.push(file);
                used.push(at);
            }
        }
    }
    used.truncate(EDITS);
    used.reverse();
    files.reverse();
    let fact = fact(events, cause.at, green, &files, is_variant);
    let short = short(events, cause.at, green, is_variant).unwrap_or_default();
    let turn = events.get(cause.at).map(|event| event.turn);
    let before = cause.edits_before.checked_sub(1).and_then(|last| edits.get(last));
    let is_own = before.and_then(|at| events.get(*at)).map(|event| event.turn) == turn;
    Fix { red: cause.at, green, edits: used, is_variant, fact, short, is_own }
}

fn fact(events: &[Event], red: usize, green: usize, files: &[&str], is_variant: bool) -> String {
    let Some(failed) = events.get(red).and_then(Event::run) else { return String::new() };
    let Some(worked) = events.get(green).and_then(Event::run) else { return String::new() };
    let error = match &failed.status {
        Status::Red(Some(line)) => {
            format!(
                " ({})",
                cut(line, FACT.saturating_sub(failed.shown.chars().count() + 90).min(150))
            )
        }
        _ => String::new(),
    };
    let names: Vec<String> =
        files.iter().map(|file| shown_name(file)).filter(|name| !name.is_empty()).collect();
    let changes = match names.is_empty() {
        true => String::new(),
        false => format!(" after changes to {}", names.join(", ")),
    };
    let verb = if worked.is_check { "passed" } else { "worked" };
    let fact = match is_variant && worked.shown != failed.shown {
        true => format!(
            "`{}` failed{error}; `{}` {verb}{changes}",
            failed.shown,
            cut(&worked.shown, 60)
        ),
        false => format!(
            "`{}` failed{error} and {verb}{}",
            failed.shown,
            if changes.is_empty() { " later".to_owned() } else { changes }
        ),
    };
    cut(&fact, FACT)
}

/// Flags and scripts by which a check mends what it finds.
const MENDS: [&str; 5] = ["--fix", "--write", "--force", "--unsafe", ":fix"];

/// Returns a title for a command that worked after it had failed, unless one of the two is too long to be told, or the
/// second mends what the first only finds.
fn short(events: &[Event], red: usize, green: usize, is_variant: bool) -> Option<String> {
    let run = |at: usize| events.get(at).and_then(Event::run);
    let (failed, worked) = (&run(red)?.shown, &run(green)?.shown);
    let fits = |shown: &str, longest: usize| shown.chars().count() <= longest;
    match is_variant && worked != failed {
        true => {
            let mends = MENDS.iter().any(|flag| worked.contains(flag));
            (!mends && fits(worked, 36) && fits(failed, 26))
                .then(|| format!("{worked} works where {failed} failed"))
        }
        false => fits(worked, 50).then(|| format!("{worked} works after it failed")),
    }
}

/// Returns the fact that describes a check that still fails.
pub(crate) fn still_failing(events: &[Event], at: usize) -> Option<String> {
    let run = events.get(at)?.run()?;
    let error = match &run.status {
        Status::Red(Some(line)) => format!(": {line}"),
        _ => String::new(),
    };
    Some(cut(&format!("`{}` fails{error}", run.shown), 200))
}
