//! The single things that a check failed with: errors with their code and file, tests by name. One file per family of
//! tools; each looks for lines that only its tools print, so that a script that runs several is read as well.

mod c;
mod docker;
mod go;
mod gradle;
mod javascript;
mod lint;
mod maven;
mod pip;
mod python;
mod rust;
mod typescript;

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::pattern::Regex;
use thru_core::is_made_by_tools;

use crate::pattern;
use crate::text::one_line;

/// Most failures that are kept of one run.
const MOST: usize = 24;

/// Most lines that are looked at, from the beginning of an output and from its end.
const LINES: usize = 3000;

/// Longest line that is looked at, in bytes.
const LONGEST: usize = 1000;

/// Longest message that is kept, in characters.
const MESSAGE: usize = 160;

/// One thing that a check failed with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// True for a test, false for an error.
    pub is_test: bool,
    /// The name of a test; the code and the message of an error, without what differs from run to run.
    pub key: String,
    /// The file, as the tool wrote its path.
    pub file: Option<String>,
}

impl Failure {
    fn test(name: &str, file: Option<&str>) -> Self {
        let key = one_line(name, MESSAGE);
        Self { is_test: true, key, file: file.map(str::to_owned) }
    }

    fn error(code: &str, message: &str, file: Option<&str>) -> Self {
        let message = lasting(message);
        let key = match (code, message.as_str()) {
            ("", _) => message,
            (_, "") => code.to_owned(),
            _ => format!("{code}: {message}"),
        };
        Self { is_test: false, key: one_line(&key, MESSAGE), file: file.map(str::to_owned) }
    }
}

/// Returns a message without what differs from run to run: numbers of lines, durations, addresses.
fn lasting(message: &str) -> String {
    static CHANGING: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(
            r"0x[0-9a-fA-F]{4,}|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b|:\d+(?::\d+)?\b|\b\d+(?:\.\d+)?\s?m?s\b|\b(?:pid|line) \d+",
        )
    });
    CHANGING.replace_all(message.trim(), "…").into_owned()
}

/// Returns the failures that an output names, each once, sorted.
pub(crate) fn failures(output: &str) -> Vec<Failure> {
    let output = without_colours(output);
    let lines: Vec<&str> = output.lines().filter(|line| line.len() <= LONGEST).collect();
    let lines = match lines.len() > 2 * LINES {
        true => [&lines[..LINES], &lines[lines.len() - LINES..]].concat(),
        false => lines,
    };
    let mut found = Vec::new();
    for read in [
        rust::read,
        typescript::read,
        python::read,
        javascript::read,
        go::read,
        lint::read,
        c::read,
        pip::read,
        docker::read,
        maven::read,
        gradle::read,
    ] {
        read(&lines, &mut found);
    }
    found.retain(|failure: &Failure| failure.key.chars().any(char::is_alphanumeric));
    found.sort();
    found.dedup_by(|one, other| {
        one.is_test == other.is_test && one.key == other.key && one.file == other.file
    });
    found.truncate(MOST);
    found
}

/// Returns true if an output says that all was well: where a shell hides the exit code, only that counts.
pub(crate) fn says_passed(output: &str) -> bool {
    static PASSED: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(
            r"(?m)test result: ok\.|^\s*Finished `|\b[1-9]\d* pass(?:ed|ing)?\b|^\s*0 fail\b|\b0 errors?\b|Found 0 |no issues found|(?i:All (?:checks|tests) passed)|Checked \d+ files?\b.*No fixes|No fixes applied|compiled successfully|✓ built in|^ok\s+\S+\s|BUILD SUCCESS|Tests:\s+\d+ passed|Success: no issues",
        )
    });
    static NOT: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(
            r"(?i)\b[1-9]\d* fail(?:ed|ing|ures?)?\b|\bexit(?:ed)?(?: status| with code| code:?) [1-9]|\bERR_[A-Z]|ELIFECYCLE|\b[1-9]\d* errors?\b",
        )
    });
    let looked_at = crate::text::ends(output, 4 * 1024, 8 * 1024);
    let says = |words: &LazyLock<Regex>| words.is_match(&looked_at);
    says(&PASSED) && !says(&NOT) || is_silent_compiler(output)
}

/// Returns true where `tsc` said nothing, below the lines with which a runner names what it starts: that is how it passes,
/// and the end of what it says when it does not is an error.
fn is_silent_compiler(output: &str) -> bool {
    let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    let ends_so = output.trim_end().lines().last().is_some_and(|line| line.contains("tsc"));
    ends_so && lines.all(|line| line.starts_with(['$', '>']))
}

/// Returns a text without the sequences that colour a terminal.
fn without_colours(text: &str) -> Cow<'_, str> {
    static COLOUR: LazyLock<Regex> = LazyLock::new(|| pattern::regex("\u{1b}\\[[0-9;]*[A-Za-z]"));
    match text.contains('\u{1b}') {
        true => COLOUR.replace_all(text, ""),
        false => Cow::Borrowed(text),
    }
}

/// Returns true for a path of the project: one with an extension, and of no package that was installed.
fn is_own_file(path: &str) -> bool {
    const FOREIGN: [&str; 3] = ["/.cargo/", "/rustc/", "/usr/lib"];
    let has_extension = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    has_extension
        && !path.contains(char::is_whitespace)
        && !is_made_by_tools(path)
        && !FOREIGN.iter().any(|part| path.contains(part))
}

#[cfg(test)]
mod tests;
