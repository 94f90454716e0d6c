//! One memory or passage in full.

use std::collections::HashMap;

use thru_app::ask::EntryKind;
use thru_app::ask::get::{MemoryPiece, PassagePiece};
use thru_app::ask::memory::MemoryEntry;
use thru_app::ask::passage::PassageEntry;
use thru_app::words::day_and_time;
use thru_core::{Id, Observation, Outcome, Statement, Summary, first_names, plain_line};
use thru_recall::recorded;
use thru_store::MemoryBody;

use super::{LONGEST_ANSWER, Renderer, lines};

/// Characters shown of a requested passage, …
const PASSAGE: usize = 6_000;
/// … with its source, …
const WHOLE_PASSAGE: usize = 30_000;
/// … and of a source passage of a memory.
const SOURCE: usize = 2_000;
/// Characters shown of a statement.
const STATEMENT: usize = 2_000;
/// Most files and passages named of each kind.
const NAMED: usize = 12;

/// Renders `## k3f9a decision: Title`, then the contents.
pub(super) fn memory(renderer: &Renderer, piece: &MemoryPiece) -> String {
    let (memory, entry) = (&piece.memory, &piece.memory.entry);
    let title = match memory.body.get() {
        MemoryBody::Observation(body) => recorded(&body.headline(), 120),
        MemoryBody::Summary(body) => {
            format!("{} ({})", recorded(&body.title, 120), body.digest.outcome.as_str())
        }
    };
    let mut text = format!("## {} {}: {title}\n", entry.id, entry.kind.as_str());
    let mut about = vec![day_and_time(entry.at, &renderer.zone)];
    if entry.turn > 0 {
        about.push(format!("turn {}", entry.turn));
    }
    about.extend(memory.session_entry.as_ref().map(|session| renderer.session(session)));
    about.extend(entry.marks().chain(teller(entry).map(str::to_owned)));
    about.extend(memory.files.note().map(|note| format!("{note}: it may no longer hold")));
    text.push_str(&format!("{}\n", about.join(" · ")));
    let write = Writing { ids: &memory.short_ids };
    match memory.body.get() {
        MemoryBody::Observation(body) => write.observation(&mut text, body),
        MemoryBody::Summary(body) => write.summary(&mut text, body),
    }
    let mut left_out = Vec::new();
    for passage in &piece.passages {
        let told = lines(&renderer.visible(&passage.text), "  ", SOURCE);
        if text.len() + told.len() > LONGEST_ANSWER {
            left_out.push(passage.id.as_str());
            continue;
        }
        text.push_str(&format!("Source {}\n{told}", heading(renderer, passage)));
    }
    if !left_out.is_empty() {
        text.push_str(&format!(
            "More sources, to be requested separately: {}\n",
            left_out.join(" ")
        ));
    }
    text
}

/// The one who told a memory, where it was told.
fn teller(memory: &MemoryEntry) -> Option<&'static str> {
    match (memory.told && memory.imported.is_none(), memory.of_person) {
        (true, true) => Some("told by the user"),
        (true, false) => Some("told by an agent"),
        (false, _) => None,
    }
}

/// Renders `## m2x7p tool: Bash (failed)`, then its text.
pub(super) fn passage(renderer: &Renderer, piece: &PassagePiece, with_source: bool) -> String {
    let mut text = format!("## {}\n", heading(renderer, &piece.entry));
    if let Some(session) = &piece.session {
        text.push_str(&format!("{}\n", renderer.session(session)));
    }
    let longest = if with_source { WHOLE_PASSAGE } else { PASSAGE };
    text.push_str(&lines(&renderer.visible(&piece.entry.text), "  ", longest));
    text
}

/// `m2x7p tool Bash (failed) · turn 3 · 2026-03-01 14:05`
fn heading(renderer: &Renderer, passage: &PassageEntry) -> String {
    let mut text = format!("{} {}", passage.id, EntryKind::Passage(passage.kind).as_str());
    if let Some(tool) = &passage.tool {
        text.push_str(&format!(" {}", plain_line(&renderer.visible(tool), 60)));
    }
    match passage.outcome {
        Some(Outcome::Failed) => text.push_str(" (failed)"),
        Some(Outcome::Pending) => text.push_str(" (no result)"),
        _ => {}
    }
    format!("{text} · turn {} · {}", passage.turn, day_and_time(passage.at, &renderer.zone))
}

struct Writing<'a> {
    ids: &'a HashMap<Id, String>,
}

impl Writing<'_> {
    fn observation(&self, text: &mut String, body: &Observation) {
        if let Some(narrative) = &body.narrative {
            text.push_str(&lines(&narrative.text, "  ", STATEMENT));
        }
        self.list(text, "Asked", body.asked.as_slice());
        self.list(text, "Reported by the agent", body.report.as_slice());
        self.list(text, "Facts", &body.facts);
        self.names(text, "Changed", &body.files_modified);
        self.names(text, "Read", &body.files_read);
        let concepts: Vec<&str> = body.concepts.iter().map(|concept| concept.as_str()).collect();
        if !concepts.is_empty() {
            text.push_str(&format!("Concepts: {}\n", concepts.join(", ")));
        }
        if !body.sources.is_empty() {
            text.push_str(&format!("From: {}\n", self.sources(&body.sources)));
        }
    }

    pub(super) fn summary(&self, text: &mut String, body: &Summary) {
        let digest = &body.digest;
        for (label, statements) in digest.sections() {
            self.list(text, label, statements);
        }
        let sections = &body.sections;
        plain_list(text, "Why", sections.key_decisions.iter().map(ToString::to_string));
        plain_list(
            text,
            "Errors resolved",
            sections.errors_resolved.iter().map(ToString::to_string),
        );
        self.list(text, "To go on", &sections.context);
        self.names(text, "Changed", &digest.files);
    }

    /// Adds statements, each with the passages that show it.
    fn list(&self, text: &mut String, label: &str, statements: &[Statement]) {
        if statements.is_empty() {
            return;
        }
        text.push_str(&format!("{label}:\n"));
        for statement in statements {
            let sources = self.sources(&statement.sources);
            let sources = if sources.is_empty() { sources } else { format!(" [{sources}]") };
            text.push_str(&format!("- {}{sources}\n", recorded(&statement.text, STATEMENT)));
        }
    }

    fn names(&self, text: &mut String, label: &str, paths: &[String]) {
        if paths.is_empty() {
            return;
        }
        let paths: Vec<String> = paths.iter().map(|path| plain_line(path, 200)).collect();
        text.push_str(&format!("{label}: {}\n", first_names(&paths, NAMED)));
    }

    fn sources(&self, sources: &[Id]) -> String {
        let known = sources.iter().filter_map(|id| self.ids.get(id)).take(NAMED);
        known.map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

fn plain_list(text: &mut String, label: &str, items: impl Iterator<Item = String>) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        text.push_str(&format!("{label}:\n"));
    }
    for item in items {
        text.push_str(&format!("- {}\n", recorded(&item, STATEMENT)));
    }
}

/// Adds the contents of a summary, without its heading.
pub(super) fn summary(text: &mut String, body: &MemoryBody) {
    let ids = HashMap::new();
    if let MemoryBody::Summary(body) = body {
        Writing { ids: &ids }.summary(text, body);
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::TimeZone;
    use thru_app::ask::memory::{MemoryFiles, WholeMemory};
    use thru_core::{MemoryKind, PassageKind};
    use thru_redact::{Clean, Redactor, Report};

    use super::*;

    fn clean(text: &str) -> Clean<String> {
        Redactor::builtin().clean_text(text, &mut Report::default())
    }

    fn summary() -> Summary {
        Summary {
            id: Id::derive(&[b"summary"]),
            title: "Logs".to_owned(),
            digest: Default::default(),
            turns: Vec::new(),
            sections: Default::default(),
            at: None,
            raw_tokens: 0,
        }
    }

    fn passage(number: usize) -> PassageEntry {
        PassageEntry {
            id: format!("p{number:04}"),
            full_id: Id::derive(&[b"passage"]),
            kind: PassageKind::Tool,
            turn: 1,
            at: None,
            subagent: None,
            tool: Some(clean("Bash")),
            command: None,
            outcome: Some(Outcome::Failed),
            records: Vec::new(),
            text: clean(&"a line of output\n".repeat(500)),
            ordinal: 0,
        }
    }

    #[test]
    fn sources_that_do_not_fit_are_named() {
        let entry = MemoryEntry {
            id: "m0000".to_owned(),
            full_id: Id::derive(&[b"summary"]),
            class: "summary",
            kind: MemoryKind::Summary,
            title: clean("Logs"),
            excerpt: None,
            at: None,
            turn: 0,
            session: None,
            project: None,
            project_key: None,
            rule: false,
            uncertain: true,
            of_person: false,
            told: false,
            edited: false,
            refined: false,
            superseded: false,
            imported: None,
            teller: None,
            outcome: None,
            tokens: 0,
            raw_tokens: 0,
        };
        let whole = WholeMemory {
            entry,
            files: MemoryFiles::default(),
            made: None,
            body: clean("").derive(|_| MemoryBody::Summary(Box::new(summary()))),
            session_entry: None,
            short_ids: HashMap::new(),
        };
        let passages = (0..30).map(passage).collect();
        let renderer = Renderer {
            redactor: Redactor::builtin(),
            zone: TimeZone::UTC,
            now: Timestamp::UNIX_EPOCH,
        };
        let told = memory(&renderer, &MemoryPiece { memory: whole, records: None, passages });
        assert!(told.len() < LONGEST_ANSWER + 300, "{}", told.len());
        assert!(told.contains("· uncertain"), "{told}");
        assert!(told.contains("Source p0000 tool Bash (failed) · turn 1 · undated"), "{told}");
        assert!(told.contains("… (2000 of 8500 characters)"), "{told}");
        let (_, named) = told.split_once("More sources, to be requested separately: ").unwrap();
        assert!(named.starts_with("p00") && named.trim_end().ends_with("p0029"), "{named}");
    }
}
