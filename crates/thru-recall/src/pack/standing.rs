//! Standing rules: those that still hold. A later rule about the same thing takes the place of an
//! earlier one, and a wish that was made in two sessions is a rule.

use std::collections::HashSet;

use thru_core::{Id, MemoryKind, ObservationType, Saying, telling_words};
use thru_store::{MemoryFilter, MemoryRow, Result, Store};

use super::PackRequest;
use crate::memories::normal;

/// Maximum number of rules that are read, and of wishes among which repeated ones are looked for.
const RULES: usize = 60;
const WISHES: usize = 120;

/// Returns the rules of people that hold for this project and for every project, the latest first.
pub(super) fn rules(store: &Store, request: &PackRequest<'_>) -> Result<Vec<MemoryRow>> {
    Ok(standing(every(store, request)?))
}

/// Returns the ids of the rules that later ones supersede.
pub(super) fn superseded(store: &Store, request: &PackRequest<'_>) -> Result<HashSet<Id>> {
    let rules = every(store, request)?;
    let mut ids: HashSet<Id> = rules.iter().map(|rule| rule.id).collect();
    for rule in standing(rules) {
        ids.remove(&rule.id);
    }
    Ok(ids)
}

fn every(store: &Store, request: &PackRequest<'_>) -> Result<Vec<MemoryRow>> {
    let own = MemoryFilter {
        projects: Some(request.projects.clone()),
        rules: true,
        limit: Some(RULES),
        ..MemoryFilter::default()
    };
    let everywhere = MemoryFilter { projects: None, global: true, ..own.clone() };
    let wishes = MemoryFilter {
        rules: false,
        kinds: Some(vec![MemoryKind::Observation(ObservationType::Decision)]),
        limit: Some(WISHES),
        ..own.clone()
    };
    let mut rules = store.memories(&own)?;
    rules.extend(repeated(store.memories(&wishes)?));
    rules.sort_by(|a, b| b.at.cmp(&a.at).then(b.turn.cmp(&a.turn)).then(b.id.cmp(&a.id)));
    rules.extend(store.memories(&everywhere)?);
    let mut seen = HashSet::new();
    rules.retain(|rule| rule.flags.is_from_person && seen.insert(normal(&rule.title)));
    Ok(rules)
}

/// Returns the rules that no later one supersedes.
fn standing(rules: Vec<MemoryRow>) -> Vec<MemoryRow> {
    let sayings: Vec<Saying> = rules.iter().map(|rule| Saying::parse(&rule.title)).collect();
    let holds: Vec<bool> = rules
        .iter()
        .zip(&sayings)
        .map(|(rule, saying)| {
            !rules.iter().zip(&sayings).any(|(other, said)| {
                (other.at, other.turn) > (rule.at, rule.turn) && said.supersedes(saying)
            })
        })
        .collect();
    let mut holds = holds.into_iter();
    rules.into_iter().filter(|_| holds.next().unwrap_or(true)).collect()
}

/// Returns the wishes that were made in more than one session, the latest of each.
fn repeated(decisions: Vec<MemoryRow>) -> Vec<MemoryRow> {
    let mut wishes: Vec<(MemoryRow, Vec<String>)> = Vec::new();
    let mut repeated = HashSet::new();
    for memory in decisions {
        let flags = memory.flags;
        if !flags.is_from_person
            || flags.is_rule
            || flags.is_correction
            || !wishes_for(&memory.title)
        {
            continue;
        }
        let words = key(&memory.title);
        let known = wishes.iter().find(|(_, known)| is_same(known, &words));
        match known {
            Some((known, _)) if known.session != memory.session => {
                repeated.insert(known.row);
            }
            Some(_) => {}
            None => wishes.push((memory, words)),
        }
    }
    wishes.into_iter().map(|(wish, _)| wish).filter(|wish| repeated.contains(&wish.row)).collect()
}

/// Returns true for a title that asks for or against something in general.
fn wishes_for(title: &str) -> bool {
    const STARTS: [&str; 13] = [
        "refused ",
        "don't ",
        "don’t ",
        "do not ",
        "avoid ",
        "stop ",
        "please ",
        "use ",
        "keep ",
        "no ",
        "we ",
        "i ",
        "it's better ",
    ];
    let lower = title.to_lowercase();
    STARTS.iter().any(|start| lower.starts_with(start)) && !lower.starts_with("refused the offer")
}

/// Returns the words by which a wish is known again: the command of a refused call, else all of its own.
fn key(title: &str) -> Vec<String> {
    let call = title.strip_prefix("Refused `").and_then(|rest| rest.split('`').next());
    let mut words: Vec<String> = telling_words(call.unwrap_or(title)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns true if two titles make the same wish.
pub(super) fn is_same_wish(a: &str, b: &str) -> bool {
    is_same(&key(a), &key(b))
}

/// Returns true if two wishes share most of their words.
fn is_same(a: &[String], b: &[String]) -> bool {
    let shared = a.iter().filter(|word| b.contains(word)).count();
    shared > 0 && shared * 10 >= (a.len() + b.len() - shared) * 7
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_command_is_known_by_itself() {
        let (slow, again) =
            ("Refused `just test:all`: too slow", "Refused `just test:all`: use the unit tests");
        assert!(is_same(&key(slow), &key(again)));
        assert!(!is_same(&key(slow), &key("Refused `just lint`: too slow")));
        assert!(is_same(
            &key("Don't run the integration tests"),
            &key("don't run integration tests please")
        ));
        assert!(!is_same(
            &key("Don't run the integration tests"),
            &key("Don't edit the generated files")
        ));
    }
}
