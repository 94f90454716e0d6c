//! An export for people: memories as Markdown, below the sessions that they come from.

use std::io::Write;

use thru_core::{Statement, one_line};
use thru_redact::{Clean, Redactor};
use thru_store::{MemoryBody, MemoryRow};

use super::Exporting;
use crate::ask::cleaned;
use crate::ask::memory::{self, MemoryEntry};
use crate::trouble::Result;

/// Characters of a heading.
const HEADING: usize = 200;

impl Exporting<'_> {
    pub(super) fn write_markdown(&self, output: &mut dyn Write) -> Result<()> {
        let redactor = self.intake.redactor();
        let heading = |name: &str| one_line(cleaned(redactor, name).get(), HEADING);
        let of =
            self.header.project.as_ref().map(|key| format!(" of {}", heading(key.default_name())));
        writeln!(output, "# Memory{}\n\nExported {:.0}.", of.unwrap_or_default(), self.header.at)?;
        let of_none = |memory: &&MemoryRow| {
            memory.session.is_none_or(|row| self.sessions.iter().all(|session| session.row != row))
        };
        let told: Vec<&MemoryRow> = self.memories.iter().filter(of_none).collect();
        if !told.is_empty() {
            writeln!(output, "\n## Told")?;
        }
        told.into_iter().try_for_each(|memory| self.write_memory(redactor, memory, output))?;
        for session in &self.sessions {
            let of_it = |memory: &&MemoryRow| memory.session == Some(session.row);
            let mut memories = self.memories.iter().filter(of_it).peekable();
            if memories.peek().is_none() {
                continue;
            }
            let title = session.title.as_deref().unwrap_or("A session without a title");
            writeln!(output, "\n## {}", heading(title))?;
            let project = session.project_name.as_deref().map(heading).unwrap_or_default();
            let started = session.started.map(|at| at.to_string()).unwrap_or_default();
            let agent = session.key.agent.display_name();
            writeln!(output, "\n{project} · {agent} · {started} · `{}`", session.key.id.as_str())?;
            memories.try_for_each(|memory| self.write_memory(redactor, memory, output))?;
        }
        Ok(())
    }

    fn write_memory(
        &self,
        redactor: &Redactor,
        row: &MemoryRow,
        output: &mut dyn Write,
    ) -> Result<()> {
        let session = memory::session_of(&self.store, row)?;
        let entry = MemoryEntry::new(&self.store, redactor, row, session.as_ref())?;
        let body = memory::body(&self.store, redactor, row)?;
        writeln!(output, "\n### {}\n", one_line(entry.headline().get(), HEADING))?;
        let at = entry.at.map(|at| format!(" · {at}")).unwrap_or_default();
        writeln!(output, "{}{at} · `{}`", entry.kind, row.id)?;
        let (sections, files) = parts(&body);
        for (label, statements) in sections {
            if !statements.is_empty() {
                writeln!(output, "\n**{label}**")?;
            }
            for statement in statements {
                // As quotations: whatever a text holds, the headings of the export are its own.
                let text = statement.text.trim().replace('\n', "\n> ");
                writeln!(output, "\n> {text}")?;
            }
        }
        if !files.is_empty() {
            let files: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
            writeln!(output, "\n**Changed files** {}", files.join(", "))?;
        }
        Ok(())
    }
}

/// The statements of a memory below their labels, and the files that it changed.
fn parts(body: &Clean<MemoryBody>) -> (Vec<(&str, &[Statement])>, &[String]) {
    match body.get() {
        MemoryBody::Observation(body) => (
            vec![
                ("Asked", body.asked.as_slice()),
                ("In short", body.narrative.as_slice()),
                ("Report", body.report.as_slice()),
                ("Facts", &body.facts),
            ],
            &body.files_modified,
        ),
        MemoryBody::Summary(body) => (body.digest.sections().into(), &body.digest.files),
    }
}
