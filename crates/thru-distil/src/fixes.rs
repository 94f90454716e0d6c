//! Commands that failed and later worked: lessons about the project.

use std::collections::HashMap;

use crate::checks::Status;
use crate::event::Event;
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
}

/// The course of the commands of a session.
#[derive(Debug, Default)]
pub(crate) struct Fixes {
    /// Fixes, in the order in which the commands worked.
    pub(crate) fixes: Vec<Fix>,
    /// Checks that failed when they were last run.
    pub(crate) still_red: Vec<usize>,
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
    found.still_red = red
        .into_values()
        .filter(|cause| events.get(cause.at).and_then(Event::run).is_some_and(|run| run.is_check))
        .map(|cause| cause.at)
        .collect();
    found.still_red.sort_unstable();
    found
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
    let short = short(events, cause.at, green, is_variant);
    Fix { red: cause.at, green, edits: used, is_variant, fact, short }
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

/// Returns a title for a command that worked after it had failed.
fn short(events: &[Event], red: usize, green: usize, is_variant: bool) -> String {
    let run = |at: usize| events.get(at).and_then(Event::run);
    let (Some(failed), Some(worked)) = (run(red), run(green)) else { return String::new() };
    match is_variant && worked.shown != failed.shown {
        true => format!("{} works where {} failed", cut(&worked.shown, 36), cut(&failed.shown, 26)),
        false => format!("{} works after it failed", cut(&worked.shown, 50)),
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
