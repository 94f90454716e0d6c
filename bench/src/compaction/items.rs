//! The items used before a boundary and again after it, and their presence in a text.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use thru_core::file_name;

use super::boundary::Boundary;
use crate::uses::{By, Use};
use crate::words::{commands, contains, files, has_in_order, identifiers, places, telling};

/// The longest prompt, in bytes, in which rulings are looked for: longer ones are briefs.
const LONGEST_PROMPT: usize = 2_000;

/// Telling words that a decision must have, at least and at most.
const FEWEST_WORDS: usize = 3;
const MOST_WORDS: usize = 25;

/// The kinds of items, each of which counts the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    File,
    Identifier,
    Command,
    Decision,
}

impl Class {
    pub(super) const ALL: [Self; 4] = [Self::File, Self::Identifier, Self::Command, Self::Decision];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::File => "files",
            Self::Identifier => "identifiers",
            Self::Command => "commands",
            Self::Decision => "decisions",
        }
    }
}

/// An item used on both sides of a boundary.
pub(super) struct Items {
    pub(super) all: Vec<Item>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) enum Item {
    File {
        path: String,
        /// True if other files of the session have its name.
        is_ambiguous: bool,
    },
    Identifier(String),
    Command(Vec<String>),
    Decision {
        text: String,
        words: BTreeSet<String>,
    },
}

impl Items {
    pub(super) fn of(boundary: &Boundary) -> Self {
        let (before, after) = (&boundary.before, &boundary.after);
        let mut all = files_of(before, after);
        let named = |uses: &[Use]| {
            let mut names = gather(uses, identifiers);
            let edits = uses.iter().filter(|one| one.by == By::Edit);
            names.extend(edits.flat_map(|one| identifiers(&one.text)));
            names
        };
        let (earlier, later) = (named(before), named(after));
        all.extend(earlier.intersection(&later).cloned().map(Item::Identifier));
        let [earlier, later] = [before, after].map(|uses| {
            let lines = uses.iter().filter(|one| one.by == By::Command);
            lines.flat_map(|one| commands(&one.text)).collect::<BTreeSet<_>>()
        });
        all.extend(earlier.intersection(&later).cloned().map(Item::Command));
        all.extend(decisions(before, after));
        Self { all }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl Item {
    pub(super) const fn class(&self) -> Class {
        match self {
            Self::File { .. } => Class::File,
            Self::Identifier(_) => Class::Identifier,
            Self::Command(_) => Class::Command,
            Self::Decision { .. } => Class::Decision,
        }
    }

    /// Returns true if a text holds it.
    pub(super) fn is_in(&self, text: &str) -> bool {
        match self {
            Self::File { path, is_ambiguous: false } => contains(text, file_name(path)),
            Self::File { path, is_ambiguous: true } => {
                let name = file_name(path);
                let folder = path.strip_suffix(name).unwrap_or_default().trim_end_matches('/');
                let folder = file_name(folder);
                text.lines().any(|line| {
                    contains(line, name) && (folder.is_empty() || places(line, folder).count() > 0)
                })
            }
            Self::Identifier(name) => contains(text, name),
            Self::Command(words) => text.lines().any(|line| has_in_order(line, words)),
            Self::Decision { words, .. } => text.lines().any(|line| says(line, words)),
        }
    }

    pub(super) fn shown(&self) -> String {
        match self {
            Self::File { path, .. } => path.clone(),
            Self::Identifier(name) => name.clone(),
            Self::Command(words) => words.join(" "),
            Self::Decision { text, .. } => text.clone(),
        }
    }
}

/// Names in all that was typed or said, paths left out.
fn gather(uses: &[Use], names: fn(&str) -> BTreeSet<String>) -> BTreeSet<String> {
    let uses = uses.iter().filter(|one| !matches!(one.by, By::Path | By::Read | By::Edit));
    uses.flat_map(|one| names(&one.text)).collect()
}

fn files_of(before: &[Use], after: &[Use]) -> Vec<Item> {
    let of = |uses: &[Use]| -> BTreeSet<String> {
        let paths = uses.iter().filter(|one| matches!(one.by, By::Path | By::Read));
        let mut found: BTreeSet<String> =
            paths.map(|one| one.text.clone()).filter(|path| !files(path).is_empty()).collect();
        found.extend(gather(uses, files));
        found
    };
    let (before, after) = (of(before), of(after));
    // A short name is the one longest path that ends so.
    let all: BTreeSet<&String> = before.iter().chain(&after).collect();
    let mut names: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for path in &all {
        names.entry(file_name(path)).or_default().push(path);
    }
    let whole = |path: &String| -> Option<String> {
        let same = names.get(file_name(path))?;
        let ends_so = |known: &&&String| {
            known
                .strip_suffix(path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/') || path.starts_with('/'))
        };
        let longer: Vec<_> = same.iter().filter(ends_so).collect();
        let longest: Vec<_> = longer
            .iter()
            .filter(|one| {
                !longer.iter().any(|other| other.len() > one.len() && other.ends_with(one.as_str()))
            })
            .collect();
        match longest.as_slice() {
            [one] => Some((***one).clone()),
            // It could be any of them.
            _ => None,
        }
    };
    let [before, after] = [before.clone(), after.clone()]
        .map(|paths| paths.iter().filter_map(whole).collect::<BTreeSet<String>>());
    let both: BTreeSet<&String> = before.intersection(&after).collect();
    let wholes: BTreeSet<&String> = before.union(&after).collect();
    let shared =
        |path: &str| wholes.iter().filter(|other| file_name(other) == file_name(path)).count() > 1;
    both.into_iter()
        .map(|path| Item::File { path: path.clone(), is_ambiguous: shared(path) })
        .collect()
}

/// Rulings, answers and choices before a boundary that are spoken of after it.
fn decisions(before: &[Use], after: &[Use]) -> Vec<Item> {
    let paragraphs: Vec<BTreeSet<String>> = after
        .iter()
        .filter(|one| !matches!(one.by, By::Path | By::Read | By::Command | By::Edit))
        .flat_map(|one| one.text.split('\n'))
        .map(telling)
        .filter(|words| words.len() >= FEWEST_WORDS)
        .collect();
    let mut known: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    let mut found = Vec::new();
    for text in before.iter().flat_map(decided) {
        let words = telling(&text);
        let is_telling = (FEWEST_WORDS..=MOST_WORDS).contains(&words.len());
        let recurs =
            paragraphs.iter().any(|one| one.intersection(&words).count() >= most_of(&words));
        if is_telling && recurs && known.insert(words.clone()) {
            found.push(Item::Decision { text, words });
        }
    }
    found
}

/// The sentences that rule, answer or choose.
fn decided(one: &Use) -> Vec<String> {
    let (Some(ruling), Some(choice)) = (
        pattern(
            r"\b(always|never|must|should(n't)?|don'?t|do not|instead|only|prefer|make sure|rather|no need|we (want|need)|let'?s)\b",
        ),
        pattern(
            r"\b(decided|chose|chosen|going with|instead of|rather than|root cause|because|turns out|the (issue|problem|fix|bug) (is|was)|trade-?off)\b",
        ),
    ) else {
        return Vec::new();
    };
    let sentences = || one.text.split_inclusive(['.', '!', '?', '\n']).map(str::trim);
    let those = |pattern: &Regex| -> Vec<String> {
        let said = sentences().filter(|sentence| pattern.is_match(sentence));
        said.map(str::to_owned).collect()
    };
    match one.by {
        By::Answer => vec![one.text.clone()],
        By::Person if one.text.len() <= LONGEST_PROMPT => those(&ruling),
        By::Agent => those(&choice),
        _ => Vec::new(),
    }
}

fn pattern(source: &str) -> Option<Regex> {
    Regex::new(&format!("(?i){source}")).ok()
}

fn says(line: &str, words: &BTreeSet<String>) -> bool {
    telling(line).intersection(words).count() >= most_of(words)
}

/// The number of telling words that stand for a decision.
fn most_of(words: &BTreeSet<String>) -> usize {
    words.len().div_ceil(2).max(FEWEST_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(all: &[(By, &str)]) -> Vec<Use> {
        all.iter().map(|(by, text)| Use { by: *by, text: (*text).to_owned() }).collect()
    }

    #[test]
    fn what_is_on_both_sides_counts_once() {
        let before = uses(&[
            (By::Path, "/p/src/lock.rs"),
            (By::Path, "/p/src/pack/mod.rs"),
            (By::Path, "/p/src/mod.rs"),
            (By::Command, "cargo test -p thru | tail"),
            (By::Agent, "take_lock waits because the retry budget was exhausted by readers."),
        ]);
        let after = uses(&[
            (By::Agent, "I look at lock.rs and src/pack/mod.rs again: take_lock."),
            (By::Agent, "The retry budget is exhausted when readers wait."),
            (By::Command, "cargo test -p thru"),
        ]);
        let boundary = Boundary {
            path: "x".into(),
            session: "s".to_owned(),
            before,
            after,
            summary: None,
            prefix: Vec::new(),
        };
        let items = Items::of(&boundary);
        assert_eq!(
            items.all.iter().map(Item::shown).collect::<Vec<_>>(),
            [
                "/p/src/lock.rs",
                "/p/src/pack/mod.rs",
                "take_lock",
                "cargo test thru",
                "take_lock waits because the retry budget was exhausted by readers.",
            ]
        );
        let held = |text: &str| items.all.iter().filter(|item| item.is_in(text)).count();
        assert_eq!(held("src: lock.rs\nsrc/pack: mod.rs\n`cargo test -p thru`\ntake_lock"), 4);
        assert_eq!(held("mod.rs"), 0);
        assert_eq!(held("Readers exhausted the retry budget"), 1);
    }
}
