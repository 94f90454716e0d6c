//! Collected output: printed, or handed to a pager when it is longer than the terminal.

use std::borrow::Cow;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde::Serialize;

use super::outcome::Outcome;
use super::streams::Output;
use super::style::Paint;
use super::terminal::Terminal;
use thru_app::Result;
use thru_app::words::printable;
use thru_ui::Tone;
use thru_ui::fold::fold;
use thru_ui::table::Table;

/// A line without anything that could steer the terminal, but for the colours of [`Paint`]: titles,
/// paths and names come from transcripts and from files of cloned repositories.
fn harmless(line: &str) -> Cow<'_, str> {
    let is_bad =
        |c: char| c != '\n' && c != '\t' && printable(c.encode_utf8(&mut [0; 4])).is_empty();
    if !line.chars().any(is_bad) {
        return Cow::Borrowed(line);
    }
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(is_bad) {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let colour = rest.strip_prefix("\u{1b}[").and_then(|code| {
            let end = code.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            code[end..].starts_with('m').then_some("\u{1b}[".len() + end + 1)
        });
        let skipped = rest.chars().next().map_or(0, char::len_utf8);
        match colour {
            Some(length) => {
                kept.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            None => rest = &rest[skipped..],
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Output in the making.
pub(crate) struct Page {
    text: String,
    paint: Paint,
    terminal: Terminal,
    output: Output,
    pager: bool,
    /// True if lines are folded to the width of the terminal.
    folds: bool,
}

impl Page {
    /// An empty page.
    pub(crate) fn new(terminal: &Terminal, output: Output, color: bool, pager: bool) -> Self {
        Self {
            text: String::new(),
            paint: Paint { color },
            folds: terminal.output,
            terminal: terminal.clone(),
            output,
            pager,
        }
    }

    /// Columns there are.
    pub(crate) const fn columns(&self) -> usize {
        self.terminal.width
    }

    /// Columns that lines are folded to.
    pub(crate) const fn folded_to(&self) -> usize {
        if self.folds { self.terminal.width } else { usize::MAX }
    }

    /// The text in a tone.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        self.paint.paint(tone, text)
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(&harmless(line.as_ref()));
        self.text.push('\n');
    }

    /// Adds a table.
    pub(crate) fn table(&mut self, table: &Table) {
        let paint = self.paint;
        let lines = table.lines(self.columns(), |tone, text| paint.paint(tone, text));
        lines.iter().for_each(|line| self.line(line));
    }

    /// Adds a line in a tone.
    pub(crate) fn toned(&mut self, tone: Tone, line: &str) {
        self.line(self.paint(tone, line));
    }

    /// Adds an empty line, unless the page is empty.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Adds an answer: as JSON if that is wanted, else as `show` puts it.
    pub(crate) fn put<T: Serialize>(
        &mut self,
        json: bool,
        answer: &T,
        show: impl FnOnce(&mut Self),
    ) -> Result<()> {
        if json {
            self.json(answer)?
        } else {
            show(self)
        }
        Ok(())
    }

    /// Adds an answer as JSON, a key per line.
    pub(crate) fn json(&mut self, answer: &impl Serialize) -> Result<()> {
        self.verbatim(&thru_app::answer::json(answer)?);
        Ok(())
    }

    /// Adds lines that are for a program or a shell: the page is neither folded nor shown in a pager.
    pub(crate) fn verbatim(&mut self, text: &str) {
        self.text.push_str(&harmless(text));
        self.text.push('\n');
        self.folds = false;
        self.pager = false;
    }

    /// Prints what is on the page, and goes on with an empty one. An answer that was printed is an answer given.
    pub(crate) fn print(&mut self) -> Result<Outcome> {
        let mut text = std::mem::take(&mut self.text);
        if self.folds {
            let columns = self.terminal.width;
            text = text.split_inclusive('\n').fold(String::new(), |mut folded, line| {
                folded.push_str(&fold(line.trim_end_matches('\n'), columns));
                folded.push('\n');
                folded
            });
        }
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        if self.pager
            && self.terminal.output
            && lines >= self.terminal.height
            && self.page_through(&text)
        {
            return Ok(Outcome::Done);
        }
        self.output.write_all(text.as_bytes())?;
        self.output.flush()?;
        Ok(Outcome::Done)
    }

    /// Prints the page as the end of a command.
    pub(crate) fn end(&mut self, outcome: Outcome) -> Result<Outcome> {
        self.print()?;
        Ok(outcome)
    }

    /// Shows the page in a pager; says whether there was one.
    fn page_through(&self, text: &str) -> bool {
        let pager = self.terminal.pager.as_str();
        let mut words = pager.split_whitespace();
        let Some(program) = words.next() else { return false };
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped());
        if !self.terminal.less_is_set {
            command.env("LESS", "FRX");
        }
        let Ok(mut child) = command.spawn() else { return false };
        if let Some(mut input) = child.stdin.take() {
            // Leaving the pager early closes the pipe.
            let _ = input.write_all(text.as_bytes());
        }
        // A pager that could not start its work shows nothing: then we print.
        child.wait().is_ok_and(|status| status.success())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_pass() {
        assert_eq!(harmless("plain"), "plain");
        let line = "\u{1b}[1mbold\u{1b}[0m \u{1b}[2J\u{1b}]0;title\u{7}\u{202e}x\u{1b}";
        assert_eq!(harmless(line), "\u{1b}[1mbold\u{1b}[0m [2J]0;titlex");
    }
}
