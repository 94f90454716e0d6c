//! The text of a summary, for people.

use std::fmt::Write;

use thru_core::{Snapshot, Statement, visible};

/// A short excerpt of the code that a session wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The file.
    pub path: String,
    /// Some of its lines.
    pub code: String,
}

/// The warning above all: no rule finds every secret, and this file lies in a project that others may see.
const CAUTION: &str =
    "> May hold secrets that no rule of redaction knows. Read it before you share it.";

/// Maximum characters of a statement.
const LONGEST: usize = 600;
/// Maximum number of files and names listed.
const LISTED: usize = 40;

/// Renders a snapshot as a summary.
pub fn markdown(snapshot: &Snapshot, excerpts: &[&Excerpt]) -> String {
    let content = &snapshot.content;
    let mut page = Page::default();
    let title = if content.title.is_empty() { "Session" } else { &content.title };
    page.line(&format!("# {}", plain(title)));
    page.gap();
    let directory = snapshot.directory.as_deref().map(|at| format!(" in {}", code(at)));
    page.line(&format!(
        "Session {}{}, compacted ({}) at {} after {} messages.",
        code(snapshot.session.id.as_str()),
        directory.unwrap_or_default(),
        plain(&snapshot.trigger),
        snapshot.at.strftime("%Y-%m-%d %H:%M UTC"),
        snapshot.messages,
    ));
    page.gap();
    page.line(CAUTION);
    if let Some(asked) = &snapshot.custom_instructions {
        page.gap();
        page.line(&format!("> The user asked to keep: {}", plain(asked)));
    }

    page.section("Topics Discussed");
    page.one("Objective: ", content.objective.as_ref());
    page.one("Asked last: ", content.last_request.as_ref());
    if !content.topics.is_empty() {
        let topics: Vec<String> = content.topics.iter().map(|topic| plain(topic)).collect();
        page.bullet(&format!("Subjects: {}", topics.join(", ")));
    }
    page.statements("Learned: ", &content.learned);

    page.section("Code Changes");
    let (modified, read): (Vec<_>, Vec<_>) = content.files.iter().partition(|file| file.modified);
    for file in modified.iter().take(LISTED) {
        let what = file.what.as_deref().map(|what| format!(": {}", plain(what)));
        page.bullet(&format!("{}{}", code(&file.path), what.unwrap_or_default()));
        for excerpt in excerpts.iter().filter(|excerpt| excerpt.path == file.path) {
            page.code(&excerpt.code);
        }
    }
    let read: Vec<String> = read.iter().take(LISTED).map(|file| code(&file.path)).collect();
    if !read.is_empty() {
        page.bullet(&format!("Read or named: {}", read.join(", ")));
    }

    page.section("Decisions Made");
    page.statements("", &content.decisions);
    page.statements("The user ruled: ", &content.rulings);

    page.section("Key Outcomes");
    page.bullet(&format!("State of the work: {}", content.outcome.as_str()));
    page.statements("", &content.done);
    page.statements("Fixed: ", &content.resolved);
    page.statements("Did not work: ", &content.failed);

    page.section("Context for Continuation");
    page.statements("", &content.context);
    page.statements("Next: ", &content.next_steps);
    page.statements("Open: ", &content.open_questions);
    page.bullets("Command that worked: ", content.commands.iter().map(|run| code(&run.text)));
    let names: Vec<String> = content.names.iter().take(LISTED).map(|name| code(name)).collect();
    if !names.is_empty() {
        page.bullet(&format!("Names: {}", names.join(", ")));
    }

    page.section("Tags");
    let tags: Vec<String> = content.topics.iter().filter_map(|topic| tag(topic)).collect();
    if !tags.is_empty() {
        page.line(&tags.join(" "));
    }
    page.end_section();
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
    /// True while the section is empty.
    is_empty: bool,
}

impl Page {
    fn section(&mut self, name: &str) {
        self.end_section();
        self.gap();
        let _ = writeln!(self.text, "## {name}");
        self.is_empty = true;
    }

    fn end_section(&mut self) {
        if self.is_empty {
            self.line("Nothing that is known.");
        }
    }

    fn gap(&mut self) {
        self.text.push('\n');
    }

    fn line(&mut self, line: &str) {
        if std::mem::take(&mut self.is_empty) {
            self.gap();
        }
        self.text.push_str(line);
        self.gap();
    }

    fn bullet(&mut self, text: &str) {
        self.line(&format!("- {text}"));
    }

    fn bullets(&mut self, label: &str, texts: impl Iterator<Item = String>) {
        texts.for_each(|text| self.bullet(&format!("{label}{text}")));
    }

    fn one(&mut self, label: &str, statement: Option<&Statement>) {
        self.bullets(label, statement.map(|statement| plain(&statement.text)).into_iter());
    }

    fn statements(&mut self, label: &str, statements: &[Statement]) {
        self.bullets(label, statements.iter().map(|statement| plain(&statement.text)));
    }

    /// A code block that its content cannot end.
    fn code(&mut self, code: &str) {
        let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        self.gap();
        self.line(&format!("  {fence}"));
        for line in code.lines() {
            let visible: String = visible(line).collect();
            self.line(&format!("  {}", visible.trim_end()));
        }
        self.line(&format!("  {fence}"));
    }
}

fn plain(text: &str) -> String {
    thru_core::plain_line(text, LONGEST)
}

/// A name between backticks, as it was written.
fn code(text: &str) -> String {
    let text = plain(text);
    match text.contains('`') {
        true => format!("`` {text} ``"),
        false => format!("`{text}`"),
    }
}

fn tag(topic: &str) -> Option<String> {
    let words = topic.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let tag = words.map(str::to_lowercase).collect::<Vec<_>>().join("-");
    (!tag.is_empty()).then(|| format!("#{tag}"))
}
