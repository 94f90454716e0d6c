//! Memories and passages as one line each.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use thru_app::ask::EntryKind;
use thru_app::ask::memory::{MemoryEntry, MemoryFiles};
use thru_app::ask::passage::PassageEntry;
use thru_app::ask::search::{FoundRow, RankedPassage};
use thru_app::words::day_and_time;
use thru_core::{Outcome, PassageKind, estimated_tokens};
use thru_recall::{Snippet, recorded};

use super::Renderer;

/// Characters of a snippet before the first match.
const BEFORE_MARK: usize = 40;
/// Characters of a passage that stands for itself.
const OPENING: usize = 240;
/// Width of the title of a row, in letters; a non-ASCII one counts as two. Twenty rows stay below 1,200
/// tokens.
const LONGEST_TITLE: usize = 140;

/// A row of a table.
pub(super) struct Row {
    id: String,
    at: Option<Timestamp>,
    kind: EntryKind,
    title: String,
    tokens: u64,
    is_stale: bool,
}

impl Row {
    pub(super) fn found(renderer: &Renderer, row: FoundRow<'_>) -> Self {
        match row {
            FoundRow::Memory(memory) => Self::memory(renderer, &memory.entry, &memory.files),
            FoundRow::Passage(passage) => Self::hit(renderer, passage),
        }
    }

    pub(super) fn memory(renderer: &Renderer, memory: &MemoryEntry, files: &MemoryFiles) -> Self {
        Self {
            id: memory.id.clone(),
            at: memory.at,
            kind: EntryKind::Memory(memory.kind),
            title: renderer.visible(&memory.title).into_owned(),
            tokens: memory.tokens,
            is_stale: files.is_stale(),
        }
    }

    /// A passage by its beginning.
    pub(super) fn passage(renderer: &Renderer, passage: &PassageEntry) -> Self {
        let text = renderer.visible(&passage.text);
        Self {
            id: passage.id.clone(),
            at: passage.at,
            kind: EntryKind::Passage(passage.kind),
            title: text.chars().take(OPENING).collect(),
            tokens: estimated_tokens(&text),
            is_stale: false,
        }
    }

    /// A passage by the part that matches.
    fn hit(renderer: &Renderer, hit: &RankedPassage) -> Self {
        let passage = &hit.entry;
        let tool = passage.tool.as_ref().filter(|_| passage.kind == PassageKind::Tool);
        let mark = match passage.outcome {
            Some(Outcome::Failed) => " failed",
            Some(Outcome::Pending) => " (no result)",
            _ => "",
        };
        let named = tool.map_or_else(String::new, |tool| format!("{}{mark}: ", tool.get()));
        Self {
            title: renderer.cleaned(&format!("{named}{}", answering(hit.snippet.get()))),
            tokens: estimated_tokens(passage.text.get()),
            ..Self::passage(renderer, passage)
        }
    }

    /// `k3f9a | 3d | decision | Retry uploads five times | 120`
    pub(super) fn by_age(&self, now: Timestamp) -> String {
        format!("{}\n", self.line(&age(self.at, now)))
    }

    /// The id and the title.
    pub(super) fn brief(&self) -> String {
        format!("{} {}", self.id, cut(&recorded(&self.title, LONGEST_TITLE).replace('|', "¦")))
    }

    fn line(&self, when: &str) -> String {
        let stale = if self.is_stale { " (files changed since)" } else { "" };
        let title = cut(&recorded(&self.title, 2 * LONGEST_TITLE).replace('|', "¦"));
        format!("{} | {when} | {} | {title}{stale} | {}", self.id, self.kind.as_str(), self.tokens)
    }
}

/// Renders rows by day, with the time; `>` marks those with `true`.
pub(super) fn by_day(rows: &[(Row, bool)], zone: &TimeZone) -> String {
    let mut text = "id | time | type | title | tokens\n".to_owned();
    let mut day = String::new();
    for (row, is_marked) in rows {
        let when = day_and_time(row.at, zone);
        let (own_day, time) = when.split_once(' ').unwrap_or((&when, "-"));
        if own_day != day {
            text.push_str(&format!("{own_day}\n"));
            own_day.clone_into(&mut day);
        }
        let mark = if *is_marked { '>' } else { ' ' };
        text.push_str(&format!("{mark} {}\n", row.line(time)));
    }
    text
}

/// The part of a snippet that begins shortly before its first match.
fn answering(snippet: &Snippet) -> String {
    let text = snippet.text.as_str();
    let mark = snippet.marks.first().map_or(0, |mark| mark.start);
    let before = text[..mark].chars().count();
    if before <= BEFORE_MARK {
        return text.to_owned();
    }
    let from = text[..mark].char_indices().rev().nth(BEFORE_MARK - 1).map_or(0, |(at, _)| at);
    let from = text[from..mark].find(' ').map_or(from, |space| from + space + 1);
    format!("…{}", &text[from..])
}

fn cut(text: &str) -> String {
    let mut cost = 0;
    for (at, letter) in text.char_indices() {
        cost += if letter.is_ascii() { 1 } else { 2 };
        if cost > LONGEST_TITLE {
            return format!("{}…", text[..at].trim_end());
        }
    }
    text.to_owned()
}

/// `now`, `5min`, `3h`, `2d`, `4w`, `7mo`, `2y`.
fn age(then: Option<Timestamp>, now: Timestamp) -> String {
    let Some(then) = then else { return "-".to_owned() };
    let seconds = now.as_second() - then.as_second();
    match seconds {
        ..60 => "now".to_owned(),
        60..3_600 => format!("{}min", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        86_400..1_209_600 => format!("{}d", seconds / 86_400),
        1_209_600..5_184_000 => format!("{}w", seconds / 604_800),
        5_184_000..63_072_000 => format!("{}mo", seconds / 2_592_000),
        _ => format!("{}y", seconds / 31_536_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_stands_near_the_beginning() {
        let text = format!("{} the needle lies here", "hay ".repeat(30).trim_end());
        let at = text.find("needle").unwrap();
        let snippet = Snippet { text, marks: std::iter::once(at..at + 6).collect() };
        assert_eq!(answering(&snippet), "…hay hay hay hay hay hay hay hay the needle lies here");
        let plain = Snippet { text: "needle".to_owned(), marks: Vec::new() };
        assert_eq!(answering(&plain), "needle");
        let wide = format!("{}针", "数".repeat(60));
        let at = wide.find('针').unwrap();
        let shown =
            answering(&Snippet { marks: std::iter::once(at..wide.len()).collect(), text: wide });
        assert_eq!(shown.chars().count(), BEFORE_MARK + 2);
    }
}
