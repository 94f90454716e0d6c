//! Results as the text that tools of claude-mem answer: a table for each day and file.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use thru_app::ask::memory::WholeMemory;
use thru_app::ask::prompts::ListedPrompt;
use thru_core::{MemoryKind, ObservationType, Timestamp, one_line};

/// Characters of a title.
const TITLE: usize = 100;

/// A result.
pub(super) enum Row {
    /// An observation or a summary.
    Memory(Box<WholeMemory>),
    /// A prompt.
    Prompt(Box<ListedPrompt>),
}

impl Row {
    /// Its time.
    pub(super) fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Memory(memory) => memory.entry.at,
            Self::Prompt(prompt) => prompt.entry.at,
        }
    }

    /// True for a summary.
    pub(super) fn is_summary(&self) -> bool {
        matches!(self, Self::Memory(memory) if memory.entry.kind == MemoryKind::Summary)
    }

    fn id(&self) -> String {
        match self {
            Self::Prompt(prompt) => format!("#P{}", prompt.entry.full_id.number()),
            Self::Memory(memory) if self.is_summary() => {
                format!("#S{}", memory.entry.full_id.number())
            }
            Self::Memory(memory) => format!("#{}", memory.entry.full_id.number()),
        }
    }

    fn file(&self) -> Option<&str> {
        match self {
            Self::Memory(memory) => memory.files.about.as_deref(),
            Self::Prompt(_) => None,
        }
    }

    fn icon(&self) -> &'static str {
        match self {
            Self::Prompt(_) => "💬",
            Self::Memory(memory) => match memory.entry.kind {
                MemoryKind::Summary => "🎯",
                MemoryKind::Observation(kind) => match kind {
                    ObservationType::Bugfix => "🔴",
                    ObservationType::Feature => "🟣",
                    ObservationType::Refactor => "🔄",
                    ObservationType::Change => "✅",
                    ObservationType::Discovery => "🔵",
                    ObservationType::Decision => "⚖️",
                },
            },
        }
    }

    fn title(&self) -> String {
        let text = match self {
            Self::Memory(memory) => memory.entry.headline().get(),
            Self::Prompt(prompt) => prompt.text().get(),
        };
        one_line(text, TITLE).replace('|', "\\|")
    }

    fn tokens(&self) -> u64 {
        match self {
            Self::Memory(memory) => memory.entry.tokens,
            Self::Prompt(prompt) => prompt.text().get().chars().count() as u64 / 4,
        }
    }
}

/// Writes rows in their order. `anchor` is marked, where it is one of them.
pub(super) fn table(rows: &[Row], anchor: Option<usize>, zone: &TimeZone) -> String {
    let mut text = String::new();
    let (mut day, mut file) = (String::new(), None);
    for (at, row) in rows.iter().enumerate() {
        let time = row.at().map(|at| at.to_zoned(zone.clone()));
        let on = time.as_ref().map_or_else(String::new, |at| at.strftime("%b %-d, %Y").to_string());
        let about = row.file().unwrap_or("General").to_owned();
        if on != day || at == 0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n### {on}");
            (day, file) = (on, None);
        }
        if file.as_ref() != Some(&about) {
            let _ = writeln!(text, "\n**{about}**\n| ID | Time | T | Title | Read |");
            let _ = writeln!(text, "|----|------|---|-------|------|");
            file = Some(about);
        }
        let hour = time.map_or_else(String::new, |at| at.strftime("%-I:%M %p").to_string());
        let (mark, title) = (if anchor == Some(at) { "▶ " } else { "" }, row.title());
        let _ = writeln!(
            text,
            "| {} | {hour} | {} | {mark}{title} | ~{} |",
            row.id(),
            row.icon(),
            row.tokens()
        );
    }
    text
}
