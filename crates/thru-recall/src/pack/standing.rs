//! Standing rules: those that still hold. A later rule about the same thing takes the place of an
//! earlier one, and a wish that was made in two sessions is a rule.

use std::collections::HashSet;

use thru_core::{Id, MemoryKind, ObservationType};
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
    let mut words: Vec<String> =
        words(call.unwrap_or(title)).filter(|word| !EMPTY.contains(&word.as_str())).collect();
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

/// Words that carry no meaning of their own in a rule.
#[rustfmt::skip]
const EMPTY: [&str; 58] = [
    "a", "all", "also", "always", "an", "and", "any", "are", "as", "be", "by", "every", "everything", "ever", "future",
    "going", "forward", "i", "is", "it", "just", "keep", "make", "must", "now", "of", "only", "or", "please", "prefer", "project",
    "remember", "repo", "run", "running", "should", "sure", "that", "the", "their", "them", "then", "this", "to", "us", "use", "used", "uses",
    "using", "want", "we", "with", "write", "you", "your", "our", "codebase", "here",
];

/// Things of which a project has one: naming another takes its place.
const ONE_OF: [&[&str]; 13] = [
    &["npm", "pnpm", "yarn", "bun", "deno"],
    &["pip", "uv", "poetry", "pipenv", "conda", "hatch"],
    &["jest", "vitest", "mocha", "jasmine", "ava"],
    &["pytest", "unittest", "nose"],
    &["tabs", "spaces"],
    &["british", "american"],
    &[
        "english",
        "german",
        "french",
        "spanish",
        "italian",
        "dutch",
        "portuguese",
        "japanese",
        "chinese",
    ],
    &["single", "double"],
    &["prettier", "biome", "dprint"],
    &["eslint", "biome", "oxlint"],
    &["black", "ruff", "yapf"],
    &["squash", "rebase", "merge"],
    &["snake_case", "camelcase", "kebab-case", "pascalcase"],
];

/// A rule in its parts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Saying {
    wanted: Vec<String>,
    refused: Vec<String>,
    /// The place or case that it is limited to.
    scope: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Wanted,
    Refused,
    Scope,
}

impl Saying {
    fn parse(rule: &str) -> Self {
        let mut lower = rule.to_lowercase().replace('’', "'");
        for lasting in [
            "from now on",
            "in the future",
            "in future",
            "going forward",
            "in this project",
            "in this repo",
            "in this codebase",
        ] {
            lower = lower.replace(lasting, " ");
        }
        let lower = lower
            .replace("instead of", " not ")
            .replace("rather than", " not ")
            .replace("no longer", " not ")
            .replace("do not", " not ");
        let mut saying = Self::default();
        for clause in lower.split([',', ';', '.', ':']) {
            let mut part = Part::Wanted;
            for word in words(clause) {
                match word.as_str() {
                    "not" | "never" | "don't" | "dont" | "avoid" | "stop" | "without" | "no"
                    | "over" => part = Part::Refused,
                    "but" => part = Part::Wanted,
                    "in" | "for" | "when" | "on" | "inside" | "under" | "before" | "after"
                    | "during" | "if" | "while" => part = Part::Scope,
                    "because" | "since" => break,
                    word if EMPTY.contains(&word) => {}
                    word => match part {
                        Part::Wanted => saying.wanted.push(word.to_owned()),
                        Part::Refused => saying.refused.push(word.to_owned()),
                        Part::Scope => saying.scope.push(word.to_owned()),
                    },
                }
            }
        }
        saying
    }

    /// Returns true if this rule, the later one, takes the place of an earlier one.
    fn supersedes(&self, earlier: &Self) -> bool {
        let is_as_wide =
            self.scope.is_empty() || self.scope.iter().any(|word| earlier.scope.contains(word));
        if !is_as_wide || self == earlier {
            return false;
        }
        let within =
            |a: &[String], b: &[String]| !a.is_empty() && a.iter().all(|word| b.contains(word));
        let turns = within(&self.refused, &earlier.wanted)
            || earlier.wanted.is_empty() && within(&earlier.refused, &self.wanted);
        turns || self.names_another(earlier) || self.counts_differently(earlier)
    }

    /// Returns true if both want one of the same kind, and not the same one.
    fn names_another(&self, earlier: &Self) -> bool {
        ONE_OF.iter().any(|kind| {
            let of_kind = |said: &Self| -> Vec<String> {
                said.wanted.iter().filter(|word| kind.contains(&word.as_str())).cloned().collect()
            };
            let (new, old) = (of_kind(self), of_kind(earlier));
            !new.is_empty() && !old.is_empty() && !new.iter().any(|word| old.contains(word))
        })
    }

    /// Returns true if both say the same but for their numbers.
    fn counts_differently(&self, earlier: &Self) -> bool {
        let is_number = |word: &&String| word.bytes().all(|byte| byte.is_ascii_digit());
        let split = |said: &Self| -> (Vec<String>, Vec<String>) {
            said.wanted.iter().cloned().partition(|word| is_number(&word))
        };
        let ((new, words), (old, known)) = (split(self), split(earlier));
        !new.is_empty()
            && !old.is_empty()
            && new != old
            && !words.is_empty()
            && words == known
            && self.scope == earlier.scope
    }
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| {
        !(c.is_alphanumeric() || matches!(c, '\'' | '-' | '_' | '.' | '/' | '+' | '#'))
    })
    .map(|word| word.trim_matches(|c: char| matches!(c, '\'' | '-' | '.' | '/')).to_lowercase())
    .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_rule_about_the_same_thing_takes_its_place() {
        for (earlier, later, expected) in [
            ("Always npm", "From now on pnpm instead of npm", true),
            ("Always use npm", "From now on use pnpm", true),
            ("Run the tests with jest", "Use vitest", true),
            ("Use tabs", "Indent with spaces, not tabs", true),
            ("Use American spelling", "Use British spelling", true),
            ("Always squash before merging", "Never squash", true),
            ("Never mock the network", "Always mock the network", true),
            ("Lines may have 80 characters", "Lines may have 100 characters", true),
            ("From now on use pnpm", "Always use npm", true),
            ("Always run the linter", "Use pnpm instead of npm", false),
            ("Use spaces", "Use tabs, not spaces in makefiles", false),
            ("Use tabs in makefiles", "Use spaces in python files", false),
            ("Use pnpm, not npm", "Always use pnpm", false),
            ("Always write tests first", "Never push to main", false),
            ("Never push to main", "Never force push to main", false),
            ("Answer in German", "Answer in German", false),
        ] {
            let supersedes = Saying::parse(later).supersedes(&Saying::parse(earlier));
            assert_eq!(supersedes, expected, "{earlier} / {later}");
        }
    }

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
