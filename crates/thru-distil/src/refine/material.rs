//! The actual content of a turn or a session, against which an answer is checked.

use std::borrow::Cow;
use std::collections::HashSet;

use memchr::memmem;
use thru_core::{Access, FileTouch, Id, PassageKind};

use super::TurnMoment;

/// The whole text of some passages, for lookup.
#[derive(Clone, Debug, Default)]
pub struct Material {
    texts: Vec<Text>,
    files: Vec<FileTouch>,
    known: HashSet<(String, bool)>,
    /// Line ranges of files that were read: passage, first line, last line.
    lines: Vec<(usize, u64, u64)>,
}

#[derive(Clone, Debug)]
struct Text {
    passage: Id,
    kind: PassageKind,
    /// The text in lower case, with its command and its files.
    lower: String,
    /// The words of the command line.
    command: Vec<String>,
}

/// The characters allowed beside a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Border {
    /// Nothing that would make it part of a longer name.
    Name,
    /// Like `Name`, but a longer path may precede it.
    Path,
    /// No other digit.
    Number,
    /// Anything before it, nothing after it that continues the name.
    End,
    /// Nothing before it that belongs to the name, anything after it.
    Start,
}

impl Material {
    /// Collects the material of these passages.
    pub fn from_moments(moments: &[TurnMoment]) -> Self {
        let mut material = Self::default();
        moments.iter().for_each(|moment| material.add(moment));
        material
    }

    /// Adds a passage.
    pub fn add(&mut self, moment: &TurnMoment) {
        let text = match moment.tool.as_deref() {
            Some("Read") => {
                let (text, lines) = without_line_numbers(&moment.text);
                self.lines.extend(lines.map(|(from, to)| (self.texts.len(), from, to)));
                text
            }
            _ => Cow::Borrowed(moment.text.as_str()),
        };
        let mut lower = text.to_lowercase();
        let files = moment.files.iter().map(|file| file.path.as_str());
        for more in moment.command.as_deref().into_iter().chain(files) {
            lower.push('\n');
            lower.push_str(&more.to_lowercase());
        }
        if lower.contains('\\') {
            // Paths have two spellings.
            let other = lower.replace("\\\\", "/").replace('\\', "/");
            lower.push('\n');
            lower.push_str(&other);
        }
        let command = moment.command.as_deref().map(words).unwrap_or_default();
        let (passage, kind) = (moment.passage, moment.kind);
        self.texts.push(Text { passage, kind, lower, command });
        moment.files.iter().for_each(|file| self.know(file.clone()));
    }

    fn know(&mut self, file: FileTouch) {
        if self.known.insert((file.path.clone(), file.access == Access::Modified)) {
            self.files.push(file);
        }
    }

    /// Adds a file that was read or modified.
    pub fn touch(&mut self, file: FileTouch) {
        if let Some(last) = self.texts.last_mut() {
            last.lower.push('\n');
            last.lower.push_str(&file.path.to_lowercase().replace('\\', "/"));
        }
        self.know(file);
    }

    /// Returns the indexes of the passages that contain `needle` (in lower case).
    pub(super) fn places(&self, needle: &str, border: Border) -> Vec<usize> {
        if needle.is_empty() {
            return Vec::new();
        }
        let finder = memmem::Finder::new(needle);
        let holds = |text: &Text| {
            finder
                .find_iter(text.lower.as_bytes())
                .any(|at| stands_alone(&text.lower, at, needle, border))
        };
        self.texts.iter().enumerate().filter(|(_, text)| holds(text)).map(|(at, _)| at).collect()
    }

    /// Returns the passages in which a line of that number was read.
    pub(super) fn lines(&self, number: u64) -> Vec<usize> {
        let holds = self.lines.iter().filter(|(_, from, to)| (*from..=*to).contains(&number));
        holds.map(|(place, ..)| *place).collect()
    }

    /// Returns the passages in which a command ran that has these words, in this order.
    pub(super) fn runs(&self, command: &str) -> Vec<usize> {
        let sought = words(command);
        let has = |text: &Text| {
            let mut words = text.command.iter();
            !text.command.is_empty()
                && sought.iter().all(|sought| {
                    words.any(|word| word == sought || word.rsplit('/').next() == Some(sought))
                })
        };
        self.texts.iter().enumerate().filter(|(_, text)| has(text)).map(|(at, _)| at).collect()
    }

    /// Finds a file of the material by its path or by the end of it.
    pub(super) fn file(&self, said: &str, modified: bool) -> Option<&str> {
        let said = said.trim().trim_matches('`').replace('\\', "/");
        let said = said.trim_start_matches("./").trim_start_matches('…').to_lowercase();
        if said.is_empty() || said.starts_with('/') && said.len() == 1 {
            return None;
        }
        let is_it = |file: &&FileTouch| {
            let path = file.path.replace('\\', "/").to_lowercase();
            let before = path.strip_suffix(said.as_str());
            (!modified || file.access == Access::Modified)
                && before.is_some_and(|before| {
                    before.is_empty() || before.ends_with('/') || said.starts_with('/')
                })
        };
        self.files.iter().find(is_it).map(|file| file.path.as_str())
    }

    /// Returns the files that were changed, each once.
    pub(super) fn modified(&self) -> impl Iterator<Item = &str> {
        let modified = self.files.iter().filter(|file| file.access == Access::Modified);
        modified.map(|file| file.path.as_str())
    }

    /// Returns the passage at an index.
    pub(super) fn passage(&self, place: usize) -> Option<Id> {
        self.texts.get(place).map(|text| text.passage)
    }

    /// Returns the passages that stand for all: the person's prompt and the agent's last words.
    pub(super) fn chief(&self) -> Vec<Id> {
        let asked = self.texts.iter().find(|text| text.kind == PassageKind::Human);
        let said = self.texts.iter().rfind(|text| text.kind == PassageKind::Assistant);
        let any = self.texts.first().filter(|_| asked.is_none() && said.is_none());
        let mut chief: Vec<Id> =
            asked.into_iter().chain(said).chain(any).map(|text| text.passage).collect();
        chief.dedup();
        chief
    }
}

/// Returns the words of a command line, in lower case and without quotes.
fn words(command: &str) -> Vec<String> {
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`' | '$' | '(' | ')' | ';');
    command
        .split_whitespace()
        .take(400)
        .map(|word| word.trim_matches(is_quote).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns true if the match at `at` is not part of something longer.
fn stands_alone(text: &str, at: usize, needle: &str, border: Border) -> bool {
    let before = text[..at].chars().next_back();
    let mut after = text[at + needle.len()..].chars();
    let (next, second) = (after.next(), after.next());
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let begins = needle.starts_with(is_name);
    let ends = needle.ends_with(is_name);
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    match border {
        Border::Number => !is_digit(before) && !is_digit(next),
        Border::Name => {
            (!begins || !before.is_some_and(is_name)) && (!ends || !next.is_some_and(is_name))
        }
        Border::Start => !before.is_some_and(is_name),
        Border::Path | Border::End => {
            let is_longer = next.is_some_and(|c| is_name(c) || c == '-')
                || next == Some('.') && second.is_some_and(is_name);
            let is_later = before.is_some_and(|c| is_name(c) || c == '-' || c == '.');
            !(ends && is_longer || border == Border::Path && begins && is_later)
        }
    }
}

/// Returns the text read from a file without the line numbers that the client adds, and the first and
/// last of those: they are evidence of no other number.
fn without_line_numbers(text: &str) -> (Cow<'_, str>, Option<(u64, u64)>) {
    if !text.contains('→') {
        return (Cow::Borrowed(text), None);
    }
    let mut range: Option<(u64, u64)> = None;
    let lines = text.lines().map(|line| {
        let Some((number, rest)) = line.split_once('→') else { return line };
        let Ok(number) = number.trim_start().parse::<u64>() else { return line };
        range =
            Some(range.map_or((number, number), |(from, to)| (from.min(number), to.max(number))));
        rest
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    (Cow::Owned(text), range)
}

#[cfg(test)]
mod tests {
    use thru_core::Outcome;

    use super::*;
    use crate::refine::tests::Story;

    fn material() -> Material {
        let mut story = Story::default();
        story
            .asks("Fix `parse_dates` in Reader::read, it takes 1,250 ms")
            .edits("/x/src/a.rs", "let a = 1;", "let a = port(8080);")
            .runs(
                "cd /x && cargo +nightly test -p reader 2>&1",
                "error[E0382]: moved",
                Outcome::Failed,
            );
        Material::from_moments(&story.moments)
    }

    #[test]
    fn names_are_found_whole() {
        let material = material();
        let is = |needle, border| !material.places(needle, border).is_empty();
        assert!(is("parse_dates", Border::Name) && !is("parse_date", Border::Name));
        assert!(is("src/a.rs", Border::Path) && !is("rc/a.rs", Border::Path));
        assert!(is("a.rs", Border::Path) && !is("src/a.r", Border::Path));
        assert!(is("8080", Border::Number) && !is("808", Border::Number));
        assert!(is("e0382", Border::Name));
    }

    #[test]
    fn commands_are_known_by_their_words_in_order() {
        let material = material();
        assert_eq!(material.runs("cargo test"), [2]);
        assert_eq!(material.runs("cargo test -p reader"), [2]);
        assert!(material.runs("cargo build").is_empty());
        assert!(material.runs("test cargo").is_empty());
    }

    #[test]
    fn files_are_known_by_the_ends_of_their_paths() {
        let material = material();
        for said in ["a.rs", "src/a.rs", "./src/a.rs", "/x/src/a.rs", "`SRC/a.rs`", r"src\a.rs"] {
            assert_eq!(material.file(said, true), Some("/x/src/a.rs"), "{said}");
        }
        for said in ["b.rs", "rc/a.rs", "", "/", "src"] {
            assert_eq!(material.file(said, false), None, "{said}");
        }
    }

    #[test]
    fn numbers_of_lines_are_no_evidence() {
        let (text, lines) = without_line_numbers("Read\n   17→let x;\n   19→let y;\nf → 4→5");
        assert_eq!((text.as_ref(), lines), ("Read\nlet x;\nlet y;\nf → 4→5", Some((17, 19))));
    }
}
