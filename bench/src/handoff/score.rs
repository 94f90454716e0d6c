//! The names on the lines of a pack, and those that a session uses.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use thru_core::{MemoryKind, ObservationType, file_name};
use thru_recall::PackLine;

use crate::uses::{By, Use};
use crate::words::{commands, contains, files, has_in_order, identifiers, telling};

/// Files read at the beginning that a pack may name.
const FIRST_READS: usize = 8;

/// Telling words that a decision must have left.
const FEWEST_WORDS: usize = 3;

/// Programs that show files.
const SHOWING: [&str; 7] = ["cat", "head", "tail", "sed", "nl", "less", "bat"];

/// Names in texts.
#[derive(Default)]
pub(super) struct Names {
    files: BTreeSet<String>,
    identifiers: BTreeSet<String>,
    commands: BTreeSet<Vec<String>>,
    /// The telling words of each paragraph.
    paragraphs: Vec<BTreeSet<String>>,
    /// All of their telling words.
    words: BTreeSet<String>,
    /// All of the text: what stands in it is known.
    text: String,
}

/// Words that so many sessions use that they say nothing about one.
pub(super) struct Common(HashSet<String>);

impl Common {
    /// Those that more than one session in six uses.
    pub(super) fn of<'s>(sessions: impl Iterator<Item = &'s [Use]>) -> Self {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut all = 0;
        for uses in sessions {
            all += 1;
            for word in Names::of(uses).words {
                *counts.entry(word).or_default() += 1;
            }
        }
        Self(
            counts.into_iter().filter(|(_, count)| count * 6 > all).map(|(word, _)| word).collect(),
        )
    }
}

/// The use that a session makes of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Used {
    /// Of a name on it.
    Name(String),
    /// Of two uncommon words on it, at least: it speaks of the same.
    Words(String),
}

impl Names {
    pub(super) fn of<'u>(uses: impl IntoIterator<Item = &'u Use>) -> Self {
        let mut names = Self::default();
        for Use { by, text } in uses {
            names.text.push_str(text);
            names.text.push('\n');
            match by {
                By::Path | By::Read => {
                    names.files.extend(Some(text.clone()).filter(|it| !files(it).is_empty()))
                }
                By::Edit => names.identifiers.extend(named(text)),
                _ => {
                    names.files.extend(files(text));
                    names.identifiers.extend(named(text));
                }
            }
            match by {
                By::Command => names.commands.extend(commands(text)),
                By::Person | By::Agent | By::Answer | By::Input => {
                    for words in text.split('\n').map(telling) {
                        names.words.extend(words.iter().cloned());
                        names.paragraphs.push(words);
                    }
                }
                _ => {}
            }
        }
        names
    }

    /// Returns the use that the session makes of what stands on a line and was not given already.
    fn used(&self, line: &PackLine, given: &Self, common: &Common) -> Option<Used> {
        if let Some(name) = self.name(line, given) {
            return Some(Used::Name(name));
        }
        let words = telling(line.text.get());
        let known = |word: &&String| !given.words.contains(*word) && !common.0.contains(*word);
        let shared: Vec<&str> =
            words.intersection(&self.words).filter(known).map(String::as_str).collect();
        (shared.len() >= 2).then(|| Used::Words(shared.join(" ")))
    }

    fn name(&self, line: &PackLine, given: &Self) -> Option<String> {
        let text = line.text.get();
        let file = files(text)
            .into_iter()
            .find(|file| !contains(&given.text, file_name(file)) && self.has_file(file));
        let identifier = || {
            let mut names = named(text).into_iter();
            names.find(|name| self.identifiers.contains(name) && !contains(&given.text, name))
        };
        let quoted = || {
            let mut names = quoted(text).into_iter();
            names.find(|name| contains(&self.text, name) && !contains(&given.text, name))
        };
        let command = || {
            let mut commands = self.commands.difference(&given.commands);
            let stands = |words: &&Vec<String>| {
                let program = words.iter().take(2).cloned().collect::<Vec<_>>().join(" ");
                contains(text, &program) && has_in_order(text, words)
            };
            commands.find(stands).map(|words| words.join(" "))
        };
        let decision = || {
            let words: BTreeSet<String> =
                telling(text).difference(&telling(&given.text)).cloned().collect();
            let most = words.len().div_ceil(2).max(FEWEST_WORDS);
            let is_said = |one: &BTreeSet<String>| one.intersection(&words).count() >= most;
            (is_decision(line) && self.paragraphs.iter().any(is_said))
                .then(|| "what was decided".to_owned())
        };
        file.or_else(identifier).or_else(quoted).or_else(command).or_else(decision)
    }

    /// Returns true if one path ends in the other. A bare name must be the only one of its kind.
    fn has_file(&self, file: &str) -> bool {
        let ends = |longer: &str, shorter: &str| {
            let rest = longer.strip_suffix(shorter.trim_start_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let mut same = self.files.iter().filter(|known| ends(known, file) || ends(file, known));
        let Some(first) = same.next() else { return false };
        file.contains('/') || same.all(|other| ends(other, first) || ends(first, other))
    }
}

fn is_decision(line: &PackLine) -> bool {
    line.memory.as_ref().is_some_and(|memory| {
        memory.flags.is_rule || memory.kind == MemoryKind::Observation(ObservationType::Decision)
    })
}

/// Single words between backticks: names of packages, options, tools.
fn quoted(text: &str) -> BTreeSet<String> {
    const SHORTEST: usize = 4;
    let parts = text.split('`').skip(1).step_by(2);
    let is_name = |part: &&str| {
        part.len() >= SHORTEST
            && !part.contains(char::is_whitespace)
            && !part.starts_with('-')
            && part.chars().any(char::is_alphabetic)
    };
    parts.filter(is_name).map(str::to_owned).collect()
}

/// Identifiers, and numbers of issues and pull requests, branches and commits.
fn named(text: &str) -> BTreeSet<String> {
    let mut found = identifiers(text);
    // Flags are the same everywhere.
    found.retain(|name| !name.starts_with('-'));
    for token in text.split(|c: char| c.is_whitespace() || "()[]<>{}\"'`,;|".contains(c)) {
        let token = token.trim_end_matches(['.', ':', '?', '!']);
        let number = token.strip_prefix('#').or_else(|| {
            let (before, number) = token.rsplit_once('/')?;
            before
                .ends_with("/pull")
                .then_some(number)
                .or(before.ends_with("/issues").then_some(number))
        });
        if let Some(number) =
            number.filter(|it| it.len() > 1 && it.chars().all(|c| c.is_ascii_digit()))
        {
            found.insert(format!("#{number}"));
        }
        let letters = |c: char| c.is_ascii_hexdigit() && !c.is_ascii_uppercase();
        let is_hash = (7..=40).contains(&token.len())
            && token.chars().all(letters)
            && token.chars().any(|c| c.is_ascii_digit())
            && token.chars().any(|c| c.is_ascii_alphabetic());
        let branch = token.split_once('/').is_some_and(|(kind, name)| {
            ["feat", "feature", "fix", "docs", "chore", "refactor", "test", "ci", "hotfix"]
                .contains(&kind)
                && !name.contains(['/', '.'])
                && name.len() > 3
        });
        if is_hash || branch {
            found.insert(token.chars().take(if is_hash { 7 } else { usize::MAX }).collect());
        }
    }
    found
}

/// Counts of packs of one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Occasions on which there could have been a pack.
    pub(super) occasions: usize,
    /// Tokens of each pack that said something.
    pub(super) tokens: Vec<f64>,
    pub(super) lines: usize,
    /// Those with a name that is used, and those that speak of the same without one.
    pub(super) used: (usize, usize),
    /// Characters of all lines, and of those that name something used.
    pub(super) characters: (usize, usize),
    /// Files read at the beginning, and those that the pack named.
    pub(super) reads: (usize, usize),
}

impl Tally {
    /// Counts a pack, and returns its lines with what is used of each.
    pub(super) fn add(
        &mut self,
        pack: &thru_recall::Pack,
        later: &[Use],
        given: &Names,
        common: &Common,
    ) -> Vec<(String, Option<Used>)> {
        self.occasions += 1;
        if pack.lines.is_empty() {
            return Vec::new();
        }
        let reads = first_reads(later, given);
        self.reads.0 += reads.len();
        let pack_names = Names {
            files: pack
                .lines
                .iter()
                .flat_map(|line| files(&line.text.get().replace("*", "")))
                .collect(),
            ..Names::default()
        };
        self.reads.1 += reads.iter().filter(|read| pack_names.names_file(read)).count();
        self.tokens.push(pack.tokens as f64);
        let used = Names::of(later);
        let mut shown: Vec<(String, Option<Used>)> = Vec::new();
        let mut list = None;
        for line in &pack.lines {
            let text = line.text.get().replace('*', "");
            let verdict = used.used(line, given, common);
            let length = text.chars().count();
            self.characters.0 += length;
            self.characters.1 += if verdict.is_some() { length } else { 0 };
            // A bare list of files counts once, on however many lines it stands.
            if is_list(&text) {
                if let Some(at) = list {
                    let (known, verdict_of_list): &mut (String, Option<Used>) = &mut shown[at];
                    known.push_str(" | ");
                    known.push_str(&text);
                    *verdict_of_list = verdict_of_list.take().or(verdict);
                    continue;
                }
                list = Some(shown.len());
            }
            shown.push((text, verdict));
        }
        self.lines += shown.len();
        for (_, verdict) in &shown {
            self.used.0 += usize::from(matches!(verdict, Some(Used::Name(_))));
            self.used.1 += usize::from(matches!(verdict, Some(Used::Words(_))));
        }
        shown
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.occasions += other.occasions;
        self.tokens.extend(&other.tokens);
        self.lines += other.lines;
        self.used.0 += other.used.0;
        self.used.1 += other.used.1;
        self.characters.0 += other.characters.0;
        self.characters.1 += other.characters.1;
        self.reads.0 += other.reads.0;
        self.reads.1 += other.reads.1;
    }
}

impl Names {
    fn names_file(&self, read: &str) -> bool {
        let read = read.trim_start_matches("./");
        self.files.iter().any(|file| {
            let rest = read.strip_suffix(file.trim_start_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        })
    }
}

/// Returns true if a line holds names of files, directories of theirs and nothing else.
fn is_list(line: &str) -> bool {
    let mut words = line.split([' ', ',']).filter(|word| !word.is_empty());
    !files(line).is_empty()
        && words.all(|word| word.ends_with("/:") || word.ends_with('/') || !files(word).is_empty())
}

/// The first files that a session reads and that were not given to it.
fn first_reads(uses: &[Use], given: &Names) -> Vec<String> {
    let mut reads: Vec<String> = Vec::new();
    for one in uses {
        let found: Vec<String> = match one.by {
            By::Read => vec![one.text.clone()],
            By::Command => shown_by(&one.text),
            _ => Vec::new(),
        };
        for path in found {
            if reads.len() < FIRST_READS
                && !reads.contains(&path)
                && !contains(&given.text, file_name(&path))
            {
                reads.push(path);
            }
        }
    }
    reads
}

/// The files that a command line shows.
fn shown_by(line: &str) -> Vec<String> {
    let parts = line.split(['\n', ';', '|', '&']);
    let showing = parts.filter(|part| {
        part.split_whitespace().next().is_some_and(|program| SHOWING.contains(&program))
    });
    showing.flat_map(files).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(all: &[(By, &str)]) -> Vec<Use> {
        all.iter().map(|(by, text)| Use { by: *by, text: (*text).to_owned() }).collect()
    }

    #[test]
    fn references_are_names() {
        let names =
            named("Merged #41 and https://git.example/a/b/pull/52 on fix/slow-lock as 4f0c2d1.");
        for name in ["#41", "#52", "fix/slow-lock", "4f0c2d1"] {
            assert!(names.contains(name), "{name}");
        }
    }

    #[test]
    fn first_reads_are_those_that_were_not_given() {
        let given = Names::of(&uses(&[(By::Person, "look at src/lock.rs")]));
        let later = uses(&[
            (By::Read, "/p/src/lock.rs"),
            (By::Command, "cd /p && sed -n 1,9p src/pack.rs | head -3; cargo test src/no.rs"),
            (By::Read, "/p/notes.md"),
        ]);
        assert_eq!(first_reads(&later, &given), ["src/pack.rs", "/p/notes.md"]);
        assert!(is_list("src/pack/: a.rs, b.rs, c.md") && !is_list("Fix src/a.rs"));
        assert_eq!(
            quoted("Run `just lint` in `rocket-core`, `-x`"),
            ["rocket-core".to_owned()].into()
        );
    }

    #[test]
    fn a_bare_name_must_be_the_only_one() {
        let names = Names::of(&uses(&[
            (By::Read, "/p/src/mod.rs"),
            (By::Read, "/p/tests/mod.rs"),
            (By::Read, "/p/src/lock.rs"),
            (By::Agent, "lock.rs waits"),
        ]));
        assert!(
            names.has_file("lock.rs") && names.has_file("src/mod.rs") && !names.has_file("mod.rs")
        );
    }
}
