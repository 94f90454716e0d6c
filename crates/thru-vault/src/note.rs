//! A note as ranges of its text: frontmatter, headings, list items, and the lines that carry an id of ours.
//!
//! A note is never printed from this model. It is parsed to find ranges, and edited by splicing the original text.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};
use thru_core::Id;

/// The most bytes of a note that are read. A longer one is left alone.
pub(crate) const LARGEST: u64 = 5 << 20;

/// The id of a line of ours: the beginning of an [`Id`], which is long enough to stay unique.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LineId(String);

impl LineId {
    /// Characters of the id.
    pub const CHARS: usize = 10;
    /// The beginning of each block id of ours.
    const MARK: &str = "^t-";

    /// Returns the id of the line that shows the thing with this id.
    pub fn new(id: &Id) -> Self {
        Self(id.to_string().chars().take(Self::CHARS).collect())
    }

    /// Returns the id as text, which is also the beginning of the id of what the line shows.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses the id of a line.
    pub fn parse(id: &str) -> Option<Self> {
        Self::is_id(id).then(|| Self(id.to_owned()))
    }

    fn is_id(id: &str) -> bool {
        id.len() == Self::CHARS
            && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    }

    /// Parses the block id at the end of a text. Returns it with the text before it.
    pub(crate) fn split(text: &str) -> Option<(&str, Self)> {
        let (before, id) = text.rsplit_once(Self::MARK)?;
        let is_apart = before.is_empty() || before.ends_with(char::is_whitespace);
        (Self::is_id(id) && is_apart).then(|| (before, Self(id.to_owned())))
    }
}

impl fmt::Display for LineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Self::MARK, self.0)
    }
}

/// A note, parsed.
#[derive(Clone, Debug)]
pub struct Note<'s> {
    /// Its text.
    pub source: &'s str,
    /// The text between the marks of its frontmatter.
    pub front: Option<Range<usize>>,
    /// The beginning of what follows the frontmatter.
    pub body: usize,
    /// Its headings that stand in no quote and no list, in order.
    pub headings: Vec<Heading>,
    /// Its list items, and the paragraphs with an id of ours, in order.
    pub lines: Vec<Line>,
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Its level, from 1.
    pub level: usize,
    /// Its text.
    pub title: String,
    /// Its lines.
    pub range: Range<usize>,
}

/// A list item, or a paragraph with an id of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its text without marker, check box and id.
    pub text: Range<usize>,
    /// Its own lines, from the margin to the end of the last one, without what is nested in it.
    pub own: Range<usize>,
    /// The same with what is nested in it.
    pub whole: Range<usize>,
    /// Its id, if it is a line of ours. Only the first of several lines with one id has it.
    pub id: Option<LineId>,
    /// True if an earlier line has the same id: a person copied it.
    pub is_copy: bool,
    /// The character in its check box.
    pub task: Option<(usize, char)>,
    /// The number of items around it.
    pub depth: usize,
    /// The place of the last heading above it.
    pub heading: Option<usize>,
    /// True if it stands in a quote or a callout.
    pub is_quoted: bool,
}

impl Line {
    /// Returns its text on one line.
    pub fn words(&self, source: &str) -> String {
        joined(&source[self.text.clone()])
    }

    /// True if its box is ticked.
    pub fn is_done(&self) -> bool {
        matches!(self.task, Some((_, 'x' | 'X')))
    }
}

/// Returns a text with single blanks between its words.
pub(crate) fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An item while its end is not known.
struct Open {
    start: usize,
    end: usize,
    /// The start of the first block that is nested in it.
    nested: Option<usize>,
    has_paragraph: bool,
    is_item: bool,
    heading: Option<usize>,
    quotes: usize,
    depth: usize,
}

impl<'s> Note<'s> {
    /// Parses a note. Every text is one.
    pub fn parse(source: &'s str) -> Self {
        let mut note = Self::parse_front(source);
        note.read_body();
        note
    }

    /// Parses only its frontmatter.
    pub fn parse_front(source: &'s str) -> Self {
        let (front, body) = front_matter(source);
        Self { source, front, body, headings: Vec::new(), lines: Vec::new() }
    }

    fn read_body(&mut self) {
        let body = &self.source[self.body..];
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_GFM;
        let mut open: Vec<Open> = Vec::new();
        let (mut quotes, mut items) = (0_usize, 0_usize);
        let mut found: Vec<Open> = Vec::new();
        for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
            let range = range.start + self.body..range.end + self.body;
            match event {
                Event::Start(tag) => {
                    if is_block(&tag)
                        && let Some(around) = open.last_mut()
                        // The first paragraph of an item is its own text.
                        && (!matches!(tag, Tag::Paragraph)
                            || std::mem::replace(&mut around.has_paragraph, true))
                    {
                        around.nested.get_or_insert(range.start);
                    }
                    let heading = self.headings.len().checked_sub(1);
                    let begun = |is_item, depth| Open {
                        start: range.start,
                        end: range.end,
                        nested: None,
                        has_paragraph: false,
                        is_item,
                        heading,
                        quotes,
                        depth,
                    };
                    match tag {
                        Tag::BlockQuote(_) => quotes += 1,
                        Tag::Item => {
                            open.push(begun(true, items));
                            items += 1;
                        }
                        Tag::Paragraph if items == 0 => found.push(begun(false, 0)),
                        Tag::Heading { level, .. } if quotes == 0 && items == 0 => {
                            let text = self.source[range.clone()].trim_end();
                            let title = heading_title(text);
                            let end = line_end(self.source, range.start + text.len());
                            let range = line_start(self.source, range.start)..end;
                            self.headings.push(Heading { level: level as usize, title, range });
                        }
                        _ => {}
                    }
                }
                Event::End(TagEnd::BlockQuote(_)) => quotes = quotes.saturating_sub(1),
                Event::End(TagEnd::Item) => {
                    items = items.saturating_sub(1);
                    found.extend(open.pop());
                }
                Event::Rule | Event::Html(_) => {
                    if let Some(around) = open.last_mut() {
                        around.nested.get_or_insert(range.start);
                    }
                }
                _ => {}
            }
        }
        found.sort_by_key(|one| one.start);
        let mut seen = HashSet::new();
        for one in found {
            if let Some(mut line) = self.line(&one) {
                line.is_copy = line.id.as_ref().is_some_and(|id| !seen.insert(id.clone()));
                line.id = line.id.filter(|_| !line.is_copy);
                self.lines.push(line);
            }
        }
    }

    fn line(&self, open: &Open) -> Option<Line> {
        let source = self.source;
        let end = open.nested.unwrap_or(open.end).clamp(open.start, open.end);
        let own_text = source.get(open.start..end)?;
        // The range of a nested item may begin with its indent.
        let begin = open.start + own_text.len() - own_text.trim_start().len();
        let own_text = own_text.trim();
        let own_end = begin + own_text.len();
        let marker = if open.is_item { marker_length(own_text) } else { 0 };
        let (task, after) = match open.is_item {
            true => task_of(own_text, marker),
            false => (None, 0),
        };
        let start = begin + after.max(marker);
        let text = source.get(start.min(own_end)..own_end)?;
        let split = LineId::split(text);
        let id = split.as_ref().map(|(_, id)| id.clone());
        if id.is_none() && !open.is_item {
            return None;
        }
        let kept = split.map_or(text, |(before, _)| before).trim_end();
        let whole = line_start(source, open.start)
            ..line_end(source, open.start + source.get(open.start..open.end)?.trim_end().len());
        Some(Line {
            text: start.min(own_end)..start.min(own_end) + kept.len(),
            own: whole.start..line_end(source, own_end),
            whole,
            id,
            is_copy: false,
            task: task.map(|(at, mark)| (begin + at, mark)),
            depth: open.depth,
            heading: open.heading,
            is_quoted: open.quotes > 0,
        })
    }

    /// Returns the line with this id.
    pub fn with_id(&self, id: &LineId) -> Option<&Line> {
        self.lines.iter().find(|line| line.id.as_ref() == Some(id))
    }

    /// Returns the lines of ours with their ids.
    pub fn own_lines(&self) -> impl Iterator<Item = (&LineId, &Line)> {
        self.lines.iter().filter_map(|line| Some((line.id.as_ref()?, line)))
    }

    /// Returns the title of the section that a line stands in: of the last heading above it of level 2.
    pub fn section_of(&self, line: &Line) -> Option<&str> {
        let above = self.headings.get(..=line.heading?)?;
        let last = above.iter().rev().find(|heading| heading.level <= 2)?;
        (last.level == 2).then_some(last.title.as_str())
    }

    /// Returns the end of the section that a heading begins.
    pub fn section_end(&self, heading: usize) -> usize {
        let Some(level) = self.headings.get(heading).map(|one| one.level) else {
            return self.source.len();
        };
        let after = self.headings.iter().skip(heading + 1).find(|next| next.level <= level);
        after.map_or(self.source.len(), |next| line_start(self.source, next.range.start))
    }

    /// Returns the line break that it uses.
    pub fn newline(&self) -> &'static str {
        first_newline(self.source)
    }

    /// True if a merge of a version control left its marks in it.
    pub fn has_conflict_marks(&self) -> bool {
        let mut lines = self.source.lines();
        lines.any(|line| line.starts_with("<<<<<<< ")) && lines.any(|line| line == "=======")
    }
}

/// Finds the text between the marks of a note's frontmatter, and the beginning of what follows.
fn front_matter(source: &str) -> (Option<Range<usize>>, usize) {
    let bom = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut at = bom;
    let mut start = None;
    for line in source[bom..].split_inclusive('\n') {
        let is_mark = line.trim_end() == "---" && !line.starts_with(char::is_whitespace);
        match (start, is_mark) {
            (None, true) => start = Some(at + line.len()),
            (None, false) => break,
            (Some(start), true) => return (Some(start..at), at + line.len()),
            (Some(_), false) => {}
        }
        at += line.len();
    }
    (None, bom)
}

const fn is_block(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::HtmlBlock
            | Tag::List(_)
            | Tag::FootnoteDefinition(_)
            | Tag::Table(_)
    )
}

/// Returns the length of the marker of a list item with the blanks behind it.
fn marker_length(item: &str) -> usize {
    let digits = item.bytes().take_while(u8::is_ascii_digit).count();
    let marker = digits + usize::from(item.len() > digits);
    let blanks = item[marker..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    marker + blanks
}

/// Finds the check box of an item: the place and the character in it, and where the text behind it begins. Boxes with
/// other characters than a blank and an x are tasks to Obsidian.
fn task_of(item: &str, marker: usize) -> (Option<(usize, char)>, usize) {
    let mut characters = item[marker..].char_indices();
    let (Some((_, '[')), Some((at, mark)), Some((_, ']'))) =
        (characters.next(), characters.next(), characters.next())
    else {
        return (None, marker);
    };
    let rest = characters.as_str();
    match rest.starts_with([' ', '\t']) || rest.is_empty() {
        true => {
            (Some((marker + at, mark)), item.len() - rest.trim_start_matches([' ', '\t']).len())
        }
        false => (None, marker),
    }
}

fn heading_title(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    let bare = line.trim_start_matches('#');
    match bare.len() < line.len() {
        true => bare.trim().trim_end_matches('#').trim_end().to_owned(),
        false => line.to_owned(),
    }
}

/// Returns the beginning of the line that holds this place.
pub(crate) fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the first line break of a text.
pub(crate) fn first_newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns the end of the line that holds this place, its line break included.
pub(crate) fn line_end(source: &str, at: usize) -> usize {
    source[at..].find('\n').map_or(source.len(), |newline| at + newline + 1)
}
