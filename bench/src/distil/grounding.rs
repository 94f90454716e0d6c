//! The share of statements whose names occur in the passages they cite.

use std::collections::HashMap;

use anyhow::Result;
use regex::Regex;
use thru_core::{Distillate, Id, Passage, Statement};

use super::history::Session;
use crate::metrics::{median, percent, quantile};

/// Counts of grounded statements.
#[derive(Debug)]
pub(super) struct GroundingReport {
    patterns: Patterns,
    counts: Counts,
    /// Passages that a statement cites: who cites everything is never wrong.
    sources: Vec<f64>,
    /// Session, the first source, and what kind of name is not in the sources.
    misses: Vec<(String, Option<Id>, &'static str)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    statements: usize,
    grounded: usize,
    /// Statements that name something that can be looked up.
    checkable: usize,
    checkable_grounded: usize,
    without_sources: usize,
    /// Sources that the session does not have.
    unknown_sources: usize,
}

impl GroundingReport {
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            patterns: Patterns::new()?,
            counts: Counts::default(),
            sources: Vec::new(),
            misses: Vec::new(),
        })
    }

    /// Looks up every statement of a session.
    pub(super) fn add(&mut self, session: &Session, distillate: &Distillate) {
        let mut evidence = Evidence::of(&session.passages, &self.patterns.escape);
        for statement in statements(distillate) {
            let checked = self.patterns.check(statement, &mut evidence);
            let is_grounded = checked.invented.is_none();
            self.sources.push(statement.sources.len() as f64);
            self.counts.statements += 1;
            self.counts.grounded += usize::from(is_grounded);
            self.counts.checkable += usize::from(checked.names > 0);
            self.counts.checkable_grounded += usize::from(checked.names > 0 && is_grounded);
            self.counts.without_sources += usize::from(statement.sources.is_empty());
            self.counts.unknown_sources += checked.unknown_sources;
            if let Some((why, _)) = checked.invented {
                self.misses.push((session.short(), statement.sources.first().copied(), why));
            }
        }
    }

    /// Prints the statements of a session that are not grounded, for reading by hand.
    pub(super) fn explain(&self, session: &Session, distillate: &Distillate) {
        let mut evidence = Evidence::of(&session.passages, &self.patterns.escape);
        for statement in statements(distillate) {
            if let Some((why, name)) = self.patterns.check(statement, &mut evidence).invented {
                println!("NOT GROUNDED ({why} {name:?}): {}", statement.text);
            }
        }
    }

    /// Prints a table, and what is not grounded if asked for: ids and kinds only.
    pub(super) fn print(&self, misses: bool) {
        let Counts { statements, grounded, checkable, checkable_grounded, .. } = self.counts;
        let share = |part: usize, of: usize| percent((of > 0).then(|| part as f64 / of as f64));
        println!("| grounding | value |\n|---|---|");
        println!("| statements | {statements} |");
        println!("| grounded, % | {} |", share(grounded, statements));
        println!(
            "| … of those that name something, % | {} ({checkable_grounded} of {checkable}) |",
            share(checkable_grounded, checkable)
        );
        let number = |value: Option<f64>| {
            value.map_or_else(|| "–".to_owned(), |value| format!("{value:.0}"))
        };
        println!(
            "| passages per statement | median {}, p90 {}, most {} |",
            number(median(&self.sources)),
            number(quantile(&self.sources, 0.9)),
            number(quantile(&self.sources, 1.0)),
        );
        println!("| without sources | {} |", self.counts.without_sources);
        println!("| sources that the session does not have | {} |", self.counts.unknown_sources);
        let mut kinds: HashMap<&str, usize> = HashMap::new();
        for (_, _, why) in &self.misses {
            *kinds.entry(why).or_default() += 1;
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_unstable();
        for (kind, count) in kinds {
            println!("| not grounded: {kind} | {count} |");
        }
        if misses {
            println!("\nNot grounded:\n");
            for (session, source, why) in &self.misses {
                let source = source.map_or_else(|| "–".to_owned(), |source| source.to_string());
                println!("- {why}: {session} {source}");
            }
        }
        println!();
    }
}

/// A statement against the passages it cites.
struct Checked {
    /// The number of names that can be looked up.
    names: usize,
    /// The first name that is not there, and of what kind it is.
    invented: Option<(&'static str, String)>,
    unknown_sources: usize,
}

/// Every statement of a session: of its observations, of its digest, of its turns' digests.
fn statements(distillate: &Distillate) -> impl Iterator<Item = &Statement> {
    let of_observations = distillate
        .observations
        .iter()
        .flat_map(|observation| observation.narrative.iter().chain(&observation.facts));
    let of_summary = distillate.summary.iter().flat_map(|summary| {
        let turns = summary.turns.iter().flat_map(|(_, digest)| digest.statements());
        summary.digest.statements().chain(turns)
    });
    of_observations.chain(of_summary)
}

/// The passages of a session, to be looked up in.
struct Evidence<'s> {
    passages: HashMap<Id, &'s Passage>,
    /// Their texts in one line each, made when first needed.
    texts: HashMap<Id, String>,
    /// Terminal control sequences, which no statement repeats.
    escape: &'s Regex,
}

impl<'s> Evidence<'s> {
    fn of(passages: &'s [Passage], escape: &'s Regex) -> Self {
        let passages = passages.iter().map(|passage| (passage.id, passage)).collect();
        Self { passages, texts: HashMap::new(), escape }
    }

    /// The text of these passages, and how many of them are not there.
    fn of_sources(&mut self, sources: &[Id]) -> (String, usize) {
        let mut all = String::new();
        let mut unknown = 0;
        for source in sources {
            let Some(passage) = self.passages.get(source) else {
                unknown += 1;
                continue;
            };
            let make = || one_line(&self.escape.replace_all(&text_of(passage), ""));
            all.push_str(self.texts.entry(*source).or_insert_with(make));
            all.push(' ');
        }
        (all, unknown)
    }
}

/// All that a passage says. Long calls are cut, but their commands and files are kept apart.
fn text_of(passage: &Passage) -> String {
    let files = passage.files.iter().map(|file| file.path.as_str());
    let all: Vec<&str> = std::iter::once(passage.text.as_str())
        .chain(passage.command.as_deref())
        .chain(files)
        .collect();
    all.join(" ")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name that can be looked up.
#[derive(Debug)]
struct Patterns {
    extension: Regex,
    hash: Regex,
    number: Regex,
    escape: Regex,
}

impl Patterns {
    fn new() -> Result<Self> {
        Ok(Self {
            extension: Regex::new(r"\.[A-Za-z0-9]{1,10}$")?,
            hash: Regex::new(r"\b[0-9a-f]{7,40}\b")?,
            number: Regex::new(r"\d{3,}")?,
            escape: Regex::new(r"\x1b\[[0-9;?]*[ -/]*[@-~]")?,
        })
    }

    fn check(&self, statement: &Statement, evidence: &mut Evidence<'_>) -> Checked {
        let names = self.names(&statement.text);
        let (text, unknown_sources) = evidence.of_sources(&statement.sources);
        let count = names.len();
        let invented = match statement.sources.is_empty() {
            true => Some(("no sources", String::new())),
            false => names.into_iter().find(|(_, name)| !text.contains(name.as_str())),
        };
        Checked { names: count, invented, unknown_sources }
    }

    /// Returns the names in a statement with their kinds: paths, quoted code, hashes, numbers.
    fn names(&self, statement: &str) -> Vec<(&'static str, String)> {
        let statement = one_line(statement);
        let mut names = Vec::new();
        // What stands behind an odd backtick is no code.
        let pieces: Vec<&str> = statement.split('`').collect();
        let quoted = pieces.iter().skip(1).step_by(2).take((pieces.len() - 1) / 2);
        for piece in quoted.flat_map(|span| span.split('…')).map(str::trim) {
            if !piece.is_empty() {
                names.push(("code", piece.to_owned()));
            }
        }
        let between = |c: char| c.is_whitespace() || "`'\"“”‘’()[]{}<>,;:…".contains(c);
        for word in statement.split(between) {
            let word = word.trim_end_matches(['.', '!', '?']);
            let file = word.rsplit('/').next().unwrap_or(word);
            if word.contains('/') && self.extension.is_match(file) {
                names.push(("path", word.to_owned()));
            }
        }
        for hash in self.hash.find_iter(&statement).map(|found| found.as_str()) {
            let has = |is: fn(&u8) -> bool| hash.as_bytes().iter().any(is);
            if has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) {
                names.push(("hash", hash.to_owned()));
            }
        }
        let numbers = self.number.find_iter(&statement);
        names.extend(numbers.map(|found| ("number", found.as_str().to_owned())));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_code_hashes_and_long_numbers() {
        let names = Patterns::new().unwrap().names(
            "Fixed `a  b` in src/x.rs: (4f0c2d1), 640 chunks in 31 s, and/or `cut… off`; `odd",
        );
        assert_eq!(
            names,
            [
                ("code", "a b"),
                ("code", "cut"),
                ("code", "off"),
                ("path", "src/x.rs"),
                ("hash", "4f0c2d1"),
                ("number", "640"),
            ]
            .map(|(kind, name)| (kind, name.to_owned()))
        );
    }

    #[test]
    fn statements_are_looked_up_in_what_they_cite() {
        let lock = include_str!("../../../crates/thru/demo/lock.jsonl");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("lock.jsonl"), lock).unwrap();
        let session = super::super::history::sessions(folder.path()).remove(0);
        let commit =
            session.passages.iter().find(|passage| passage.text.contains("[main 4f0c2d1]"));
        let sources = vec![commit.unwrap().id];
        let statement = |text: &str, sources: &[Id]| Statement {
            text: text.to_owned(),
            sources: sources.to_vec(),
        };
        let mut distillate = Distillate::default();
        let digest = thru_core::Digest {
            learned: vec![
                statement("Committed 4f0c2d1", &sources),
                statement("Committed 4f0c2d2", &sources),
                statement("All is well", &sources),
                statement("All is well", &[]),
                statement("Saw 4f0c2d1", &[Id::from_bytes([9; Id::BYTES])]),
            ],
            ..Default::default()
        };
        distillate.summary = Some(thru_core::Summary {
            sections: Default::default(),
            id: Id::from_bytes([1; Id::BYTES]),
            title: String::new(),
            digest,
            turns: Vec::new(),
            at: None,
            raw_tokens: 0,
        });
        let mut grounding = GroundingReport::new().unwrap();
        grounding.add(&session, &distillate);
        let expected = Counts {
            statements: 5,
            grounded: 2,
            checkable: 3,
            checkable_grounded: 1,
            without_sources: 1,
            unknown_sources: 1,
        };
        assert_eq!(grounding.counts, expected);
    }
}
