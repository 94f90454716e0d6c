//! Questions what was decided: a later decision leads, and what it overruled follows.

use std::collections::HashSet;

use thru_core::{MemoryKind, ObservationType, PassageKind};
use thru_store::index::tokenizer::Terms;
use thru_store::index::{Candidate, Candidates, QueryTerms};
use thru_store::{Result, Store};

use crate::query::analyse;
use crate::rank::{PassageScore, Ranking};
use crate::search::FoundMemory;

/// Passages in which a change of mind is looked for, and those that are shown first.
const LOOKED_AT: usize = 40;
const LEADING: usize = 2;
/// Words of the longest question what was decided. A longer text only speaks of decisions.
const LONGEST: usize = 16;
/// Memories among which decisions are looked for.
pub(crate) const DECISIONS: usize = 12;
/// The share of the best decision's words that another holds which is about the same.
const SAME: f32 = 0.75;
/// The share of the question's words that a change of mind holds.
const HELD: f32 = 0.6;

/// Words that ask for decisions.
const ASKING: [&str; 6] = ["decide", "decided", "decision", "decisions", "agree", "agreed"];

/// Words beside those that say nothing of the subject: "list the decisions that were made about …".
const FILLING: [&str; 6] = ["list", "made", "make", "show", "take", "taken"];

/// Words of a change of mind. Each is looked for between blanks and signs.
const OVERRULING: [&str; 18] = [
    "instead of",
    "no longer",
    "replace",
    "replaced",
    "replaces",
    "replacing",
    "replaced by",
    "pivot",
    "switch to",
    "switched to",
    "switching to",
    "move to",
    "moving to",
    "new direction",
    "superseded",
    "supersedes",
    "rejected",
    "changed our mind",
];

/// Returns the subject of a question what was decided; `None` for other questions.
pub(crate) fn decided(query: &str, terms: &QueryTerms) -> Option<QueryTerms> {
    asks_for_decision(query).then(|| subject(query, terms))
}

fn asks_for_decision(query: &str) -> bool {
    let words = query.split_whitespace().take(LONGEST + 1);
    words.clone().count() <= LONGEST && words.into_iter().any(asks)
}

fn asks(word: &str) -> bool {
    is_one_of(&ASKING, word)
}

fn is_one_of(words: &[&str], word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    words.contains(&word.as_str())
}

/// The words of such a question that say what it is about; all where it says nothing else.
fn subject(query: &str, terms: &QueryTerms) -> QueryTerms {
    let tells = |word: &&str| !asks(word) && !is_one_of(&FILLING, word);
    let rest: Vec<&str> = query.split_whitespace().filter(tells).collect();
    let subject = analyse(&rest.join(" "));
    let is_word = |term: &String| terms.terms.contains(term);
    if subject.terms.iter().any(is_word) { subject } else { terms.clone() }
}

/// Decisions before other memories: they say why.
pub(crate) fn decisions_first(mut found: Vec<FoundMemory>) -> Vec<FoundMemory> {
    found.sort_by_key(|one| !(decides(one) && one.hit.is_near()));
    found
}

/// The share of a memory's score with which a later one that holds as much of the question tells as much.
const AS_GOOD: f32 = 0.9;

/// A later memory before one of an earlier session that is hardly better: what was noted first may have changed since.
pub(crate) fn later_first(mut found: Vec<FoundMemory>) -> Vec<FoundMemory> {
    let is_as_good = |one: &FoundMemory, other: &FoundMemory| {
        one.hit.memory.at > other.hit.memory.at
            && one.hit.memory.session != other.hit.memory.session
            && one.hit.score >= other.hit.score * AS_GOOD
            && one.hit.coverage >= other.hit.coverage
    };
    for at in 1..found.len() {
        if is_as_good(&found[at], &found[at - 1]) {
            found.swap(at - 1, at);
        }
    }
    found
}

fn decides(one: &FoundMemory) -> bool {
    one.hit.memory.kind == MemoryKind::Observation(ObservationType::Decision)
}

/// Decisions about the same as the best of them, the latest first, then the other memories. Where there is no decision, all
/// near memories count as such.
pub(crate) fn newest_first(mut found: Vec<FoundMemory>, most: usize) -> Vec<FoundMemory> {
    let is_any = found.iter().any(|one| decides(one) && one.hit.is_near());
    let counts = |one: &FoundMemory| one.hit.is_near() && (decides(one) || !is_any);
    let covered = found.iter().filter(|one| counts(one)).map(|one| one.hit.coverage);
    let best = covered.fold(0.0, f32::max);
    found.sort_by_key(|one| {
        let is_first = counts(one) && one.hit.coverage >= best * SAME;
        (!is_first, std::cmp::Reverse(one.hit.memory.at.filter(|_| is_first)))
    });
    found.truncate(most);
    found
}

/// The passages about the question that speak of a change of mind beside a word of its subject, the latest first.
///
/// # Errors
/// Fails if the store cannot be read.
pub(crate) fn overruling(
    store: &Store,
    ranking: &Ranking,
    candidates: &Candidates,
    terms: &QueryTerms,
    subject: &[usize],
) -> Result<Vec<PassageScore>> {
    let idf = |at: &usize| candidates.idf.get(*at).copied().unwrap_or_default();
    let all: f32 = subject.iter().map(idf).sum();
    let mut about: Vec<(i64, PassageScore)> = Vec::new();
    for score in ranking.passages.iter().take(LOOKED_AT) {
        let one = &candidates.found[score.candidate];
        let is_held = |at: &&usize| one.contributions.get(**at).is_some_and(|held| *held > 0.0);
        let held: f32 = subject.iter().filter(is_held).map(idf).sum();
        let is_said = one.kind != PassageKind::Tool && !one.is_subagent && !one.is_echo;
        if all > 0.0 && is_said && held >= all * HELD {
            about.push((one.row, *score));
        }
    }
    let rows: Vec<i64> = about.iter().map(|(row, _)| *row).collect();
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for passage in store.passages_of_rows(&rows)? {
        let names = |line: &str| {
            let mut names = false;
            Terms::default().tokenize(line, |term, _| {
                names |= subject.iter().any(|at| terms.forms_of(*at).any(|form| form == term));
            });
            names
        };
        if store.text_of(&passage)?.lines().any(|line| changes_mind(line) && names(line)) {
            changes.push((passage.at.map_or(0, |at| at.as_millisecond()), passage.row));
        }
    }
    changes.sort_unstable();
    let latest = changes.iter().rev().take(LEADING);
    Ok(latest
        .filter_map(|(_, row)| about.iter().find(|(own, _)| own == row))
        .map(|(_, score)| *score)
        .collect())
}

/// Passages of a screen among which a later change of mind is looked for, the share of the first one's words that it holds, and
/// the terms of the question that its line names.
const ON_SCREEN: usize = 10;
const AS_MUCH: f32 = 0.75;
const NAMED: usize = 2;

/// Words of a change that was made, beside those of [`OVERRULING`].
const MADE: [&str; 4] = ["removed", "reverted", "dropped", "renamed to"];

/// Words with which people ask how something stands, or why.
const STANDING: [&str; 6] = ["why", "which", "still", "what", "is", "are"];

/// Returns true if a question asks how something stands or why: what was changed since is wrong as an answer.
pub(crate) fn asks_what_may_have_changed(query: &str) -> bool {
    query.split_whitespace().take(LONGEST).any(|word| is_one_of(&STANDING, word))
}

/// Returns true if a question asks for a reason.
pub(crate) fn asks_why(query: &str) -> bool {
    const WHY: [&str; 6] = ["why", "warum", "wieso", "weshalb", "pourquoi", "reason"];
    query.split_whitespace().take(LONGEST).any(|word| is_one_of(&WHY, word))
}

/// Words that ask for a time, at the beginning of a question, and for how something began, anywhere.
const WHEN: [&str; 4] = ["when", "wann", "quand", "cuándo"];
const BEGINNING: [&str; 5] = ["first", "originally", "initially", "zuerst", "ursprünglich"];

/// Returns true if a question asks for a time or a beginning: what came later is no better answer.
fn asks_for_beginning(query: &str) -> bool {
    let mut words = query.split_whitespace().take(LONGEST).peekable();
    words.peek().is_some_and(|word| is_one_of(&WHEN, word))
        || words.any(|word| is_one_of(&BEGINNING, word))
}

/// Words of a question for what holds, or what came of something: verbs of the present, and those that ask what was done.
const STATE: [&str; 40] = [
    "do",
    "does",
    "did",
    "don't",
    "doesn't",
    "didn't",
    "is",
    "isn't",
    "are",
    "aren't",
    "has",
    "have",
    "can",
    "could",
    "should",
    "will",
    "must",
    "still",
    "now",
    "currently",
    "current",
    "latest",
    "last",
    "or",
    "ist",
    "sind",
    "hat",
    "haben",
    "kann",
    "darf",
    "muss",
    "soll",
    "noch",
    "jetzt",
    "oder",
    "est-ce",
    "encore",
    "maintenant",
    "todavía",
    "ahora",
];

/// Returns true if a question asks how something stands, and neither why nor how it began.
pub(crate) fn asks_for_state(query: &str) -> bool {
    let mut words = query.split_whitespace().take(LONGEST);
    !asks_why(query) && !asks_for_beginning(query) && words.any(|word| is_one_of(&STATE, word))
}

/// The latest of the first passages that is later than the first of all, is about the same, and says that it was changed.
///
/// # Errors
/// Fails if the store cannot be read.
pub(crate) fn reversal(
    store: &Store,
    wanted: &[PassageScore],
    candidates: &Candidates,
    terms: &QueryTerms,
) -> Result<Option<PassageScore>> {
    let found = |score: &PassageScore| &candidates.found[score.candidate];
    let Some(first) = wanted.first().map(found) else { return Ok(None) };
    let held = |one: &Candidate| {
        let parts = one.contributions.iter().zip(&candidates.idf);
        parts.filter(|(part, _)| **part > 0.0).map(|(_, idf)| idf).sum::<f32>()
    };
    let is_said = |one: &Candidate| one.kind != PassageKind::Tool && !one.is_subagent;
    let mut later: Vec<&PassageScore> = wanted.iter().take(ON_SCREEN).collect();
    later.retain(|score| {
        let one = found(score);
        is_said(one) && one.at > first.at && held(one) >= held(first) * AS_MUCH
    });
    later.sort_by_key(|score| std::cmp::Reverse(found(score).at));
    for score in later {
        let Some(passage) = store.passages_of_rows(&[found(score).row])?.pop() else { continue };
        let names = |line: &str| {
            let mut named = HashSet::new();
            Terms::default().tokenize(line, |term, _| {
                named
                    .extend(terms.in_all_forms().find(|(_, form)| *form == term).map(|(at, _)| at));
            });
            named.len() >= NAMED
        };
        if store
            .text_of(&passage)?
            .lines()
            .any(|line| (changes_mind(line) || speaks_of(&MADE, line)) && names(line))
        {
            return Ok(Some(*score));
        }
    }
    Ok(None)
}

/// Returns true if a line says that something takes the place of something else.
fn changes_mind(line: &str) -> bool {
    speaks_of(&OVERRULING, line)
}

fn speaks_of(phrases: &[&str], line: &str) -> bool {
    let lower = line.to_lowercase();
    phrases.iter().any(|phrase| {
        lower.match_indices(phrase).any(|(at, _)| {
            let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !is_letter(lower[..at].chars().next_back())
                && !is_letter(lower[at + phrase.len()..].chars().next())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_what_was_decided_are_told_from_others() {
        for (query, wanted) in [
            ("what did we decide about the lock", true),
            ("mfa decision", true),
            ("Decisions: retries?", true),
            ("why did the import fail", false),
            ("undecided", false),
            ("", false),
        ] {
            assert_eq!(asks_for_decision(query), wanted, "{query}");
        }
        let of = |query: &str| subject(query, &analyse(query)).terms;
        assert_eq!(of("what did we decide about the lock"), ["lock"]);
        assert_eq!(of("list the decisions that were made about the lock"), ["lock"]);
        assert_eq!(of("decisions"), analyse("decisions").terms);
    }

    #[test]
    fn questions_how_something_stands_are_told_from_those_why_and_when() {
        for (query, wanted) in [
            ("do we keep the lock in a file", true),
            ("what are we on now", true),
            ("which lock did we end up with", true),
            ("score of the last run", true),
            ("darf man den Import noch abbrechen", true),
            ("why is the lock a file", false),
            ("when did we last touch the lock", false),
            ("what is the first version that had a lock", false),
            ("lock file", false),
            ("what replaced the lock", false),
        ] {
            assert_eq!(asks_for_state(query), wanted, "{query}");
        }
    }

    #[test]
    fn a_change_of_mind_is_told_by_whole_words() {
        assert!(changes_mind("We switched to SQLite."));
        assert!(changes_mind("That means replacing the kit, not just its settings"));
        assert!(!changes_mind("The replacement character"));
        assert!(!changes_mind("Keep the lock as it is."));
    }
}
