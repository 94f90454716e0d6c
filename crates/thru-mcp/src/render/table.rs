//! Memories and passages as one line each.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use thru_app::ask::EntryKind;
use thru_app::ask::memory::{MemoryEntry, MemoryFiles};
use thru_app::ask::passage::PassageEntry;
use thru_app::ask::search::{FoundRow, RankedPassage};
use thru_app::words::day_and_time;
use thru_core::{Outcome, PassageKind, estimated_tokens, plain_line};
use thru_recall::{Snippet, recorded};

use super::Renderer;

/// Characters of a snippet before the first match.
const BEFORE_MARK: usize = 40;
/// Characters of a passage that stands for itself.
const OPENING: usize = 240;
/// Width of the title of a row, in letters; a non-ASCII one counts as two. Twenty rows stay below 1,200
/// tokens.
const LONGEST_TITLE: usize = 140;
/// Characters of a path.
const LONGEST_PATH: usize = 80;

/// A row of a table.
pub(super) struct Row {
    id: String,
    at: Option<Timestamp>,
    kind: EntryKind,
    title: String,
    tokens: u64,
    /// The file that a memory is about.
    file: Option<String>,
    /// The changes of its files since.
    since: Option<String>,
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
            title: renderer.visible(&memory.listed()).into_owned(),
            tokens: memory.tokens,
            file: files
                .about
                .as_deref()
                .map(|path| plain_line(&renderer.cleaned(path), LONGEST_PATH)),
            since: files.note().map(|note| plain_line(&renderer.cleaned(&note), LONGEST_PATH)),
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
            file: None,
            since: None,
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
        format!("{}\n", self.line(&format!("{} | ", age(self.at, now))))
    }

    /// The id and the title.
    pub(super) fn brief(&self) -> String {
        format!("{} {}", self.id, cut(&recorded(&self.title, LONGEST_TITLE).replace('|', "¦")))
    }

    fn day(&self, zone: &TimeZone) -> String {
        let when = day_and_time(self.at, zone);
        when.split_once(' ').map_or(when.as_str(), |(day, _)| day).to_owned()
    }

    fn time(&self, zone: &TimeZone) -> String {
        let when = day_and_time(self.at, zone);
        when.split_once(' ').map_or("-", |(_, time)| time).to_owned()
    }

    fn line(&self, when: &str) -> String {
        let since = self.since.as_ref().map_or_else(String::new, |note| format!(" ({note})"));
        let title = cut(&recorded(&self.title, 2 * LONGEST_TITLE).replace('|', "¦"));
        format!("{} | {when}{} | {title}{since} | {}", self.id, self.kind.as_str(), self.tokens)
    }
}

/// Renders rows in their order, by day and file, with the time; `>` marks those with `true`.
pub(super) fn by_time(rows: &[(Row, bool)], zone: &TimeZone) -> String {
    let mut text = "id | time | type | title | tokens\n".to_owned();
    let mut headings = Headings::default();
    for (row, is_marked) in rows {
        headings.before(row, zone, &mut text);
        let mark = if *is_marked { '>' } else { ' ' };
        text.push_str(&format!("{mark} {}\n", row.line(&format!("{} | ", row.time(zone)))));
    }
    text
}

/// Renders rows, the best first, by day and file: the days and the files of a day in the order of their best rows. Each
/// row has its rank.
pub(super) fn by_rank(rows: &[Row], zone: &TimeZone) -> String {
    let mut places: Vec<(String, Option<&str>)> = Vec::new();
    let mut groups: Vec<(usize, usize, usize)> = Vec::new();
    for (rank, row) in rows.iter().enumerate() {
        let place = (row.day(zone), row.file.as_deref());
        let day = places.iter().position(|(day, _)| *day == place.0).unwrap_or(places.len());
        let file = places.iter().position(|known| *known == place).unwrap_or(places.len());
        groups.push((day, file, rank));
        places.push(place);
    }
    groups.sort_unstable();
    let (mut text, mut headings) = (String::new(), Headings::default());
    for row in groups.into_iter().filter_map(|(_, _, rank)| Some((rank + 1, rows.get(rank)?))) {
        let (rank, row) = row;
        headings.before(row, zone, &mut text);
        text.push_str(&format!("{rank} | {}\n", row.line("")));
    }
    text
}

/// The day and the file that the rows so far stand under.
#[derive(Default)]
struct Headings {
    day: String,
    file: Option<String>,
}

impl Headings {
    /// Writes the day and the file of a row, where they differ from those of the row before.
    fn before(&mut self, row: &Row, zone: &TimeZone, text: &mut String) {
        let day = row.day(zone);
        if day != self.day {
            text.push_str(&format!("{day}\n"));
            *self = Self { day, file: None };
        }
        if row.file != self.file {
            text.push_str(&format!("{}:\n", row.file.as_deref().unwrap_or("General")));
            self.file.clone_from(&row.file);
        }
    }
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
