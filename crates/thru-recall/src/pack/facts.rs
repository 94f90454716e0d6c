//! Lines of facts: what failed last, and what other sessions changed since the one to go on from.

use thru_core::{Relation, Timestamp};
use thru_store::{FactFilter, FactRow, FactTime, Result, Store};

use super::render::{Section, recorded};
use super::said::{day, days_between, names_nothing_new};
use super::sessions::OPEN_DAYS;
use super::{Draft, PackRequest};
use crate::tiers::Tier;

/// Facts that are looked at for a line, and those that it names.
const LOOKED_AT: usize = 40;
const NAMED: usize = 3;

/// Longest name in a line, in characters.
const NAME: usize = 90;

/// Returns the line about what failed last on this branch, if something did after a moment and no line tells it: a
/// session that came after the failure saw it, and checks that were not recorded may have passed since.
pub(super) fn problems(
    store: &Store,
    request: &PackRequest<'_>,
    after: Option<Timestamp>,
    told: &[Draft],
) -> Result<Option<Draft>> {
    let mut failing = store.facts(&FactFilter {
        projects: Some(request.projects.clone()),
        relations: Some(vec![Relation::FailedWith]),
        limit: Some(LOOKED_AT),
        ..FactFilter::default()
    })?;
    failing.retain(|fact| {
        is_here(fact, request)
            && after.is_none_or(|after| fact.from > after)
            && days_between(fact.from, request.now) <= OPEN_DAYS
    });
    let Some(latest) = failing.first() else { return Ok(None) };
    let check = format!("`{}`", recorded(&latest.subject.name, NAME));
    let lines: Vec<&str> = told.iter().map(|line| line.text.as_str()).collect();
    if lines.iter().any(|line| line.contains(&format!("{check} fails")))
        || names_nothing_new(latest.object_shown(), &lines)
    {
        return Ok(None);
    }
    // One check says enough; what else fails is a question away.
    let own = failing.iter().filter(|fact| fact.subject.row == latest.subject.row);
    let names: Vec<String> = own.clone().map(|fact| recorded(fact.object_shown(), NAME)).collect();
    let text = format!(
        "{check} failed last with {} ({})",
        named(&names, failing.len()),
        day(Some(latest.from), request)
    );
    Ok(Some(draft(text, latest.from, request, Section::Open, "fails since its last run")))
}

/// True for a fact of the branch that is checked out, as far as both are known.
fn is_here(fact: &FactRow, request: &PackRequest<'_>) -> bool {
    let branch = fact.scope.split("; ").find_map(|part| part.strip_prefix("on "));
    branch.is_none() || request.branch.is_none() || branch == request.branch.as_deref()
}

/// Returns the line about what other sessions changed since a moment, if they did.
pub(super) fn changed_since(
    store: &Store,
    request: &PackRequest<'_>,
    since: Timestamp,
) -> Result<Option<Draft>> {
    let mut changed = store.facts(&FactFilter {
        projects: Some(request.projects.clone()),
        relations: Some(vec![
            Relation::DependsOn,
            Relation::Toolchain,
            Relation::RenamedTo,
            Relation::MergedInto,
        ]),
        time: FactTime::Changed(since, request.now),
        limit: Some(LOOKED_AT),
        ..FactFilter::default()
    })?;
    changed.retain(|fact| fact.from > since);
    let Some(latest) = changed.first() else { return Ok(None) };
    let said = |fact: &FactRow| {
        let (subject, object) = (&fact.subject.name, fact.object_shown());
        let said = match fact.relation {
            Relation::RenamedTo => format!("{subject} is now {object}"),
            Relation::MergedInto => format!("{subject} was merged"),
            _ => format!("{object} {}", fact.note),
        };
        recorded(&said, NAME)
    };
    let names: Vec<String> = changed.iter().map(said).collect();
    let text = format!("Changed since, in other sessions: {}", named(&names, names.len()));
    let reason = "changed after the session to go on from";
    Ok(Some(draft(text, latest.from, request, Section::Meanwhile, reason)))
}

/// Returns the first names, and the number of all others.
fn named(names: &[String], of: usize) -> String {
    let shown = names.len().min(NAMED);
    let more = of.saturating_sub(shown);
    let rest = if more == 0 { String::new() } else { format!(", and {more} more") };
    format!("{}{rest}", names[..shown].join("; "))
}

fn draft(
    text: String,
    at: Timestamp,
    request: &PackRequest<'_>,
    section: Section,
    reason: &str,
) -> Draft {
    let tier = Tier::at_start(Some(at), false, request.now);
    Draft { memory: None, section, text, tier, reason: reason.to_owned() }
}
