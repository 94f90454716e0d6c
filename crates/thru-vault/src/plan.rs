//! The content that a note shall have, and putting it into the note that a person may have changed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use thru_core::{Id, content_hash, plain_line};

use crate::base::is_same;
use crate::changes::without_category;
use crate::escape::{LONGEST, escaped, unescaped};
use crate::front::{Front, Property, Unreadable, Value, list};
use crate::note::{LARGEST, Line, LineId, Note, first_newline, joined, line_end};
use crate::properties;

/// The note that memory calls for. It follows from memory alone: dates are those of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The id of the note, which it keeps wherever a person moves it.
    pub id: Id,
    /// Its folder below the vault, with `/` between the parts.
    pub folder: String,
    /// Its file name without the ending.
    pub name: String,
    /// The properties at its top.
    pub properties: Vec<Property>,
    /// Its title.
    pub title: String,
    /// Its sections, in order.
    pub sections: Vec<Section>,
    /// The note that it only leads to. It is written once that one lies elsewhere.
    pub points_to: Option<Id>,
}

/// A section: a heading of level 2 with lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The heading.
    pub name: &'static str,
    /// The lines, in order. Those nested in another stand behind it.
    pub lines: Vec<PlannedLine>,
}

/// A line of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedLine {
    /// Its id.
    pub id: LineId,
    /// The heading of level 3 that it stands under.
    pub group: Option<String>,
    /// The line that it is nested in.
    pub parent: Option<LineId>,
    /// The state of its box, if it is a task.
    pub task: Option<bool>,
    /// Its text as Markdown, on one line.
    pub text: String,
    /// The thing that it shows.
    pub shows: Shows,
}

/// The thing that a line shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The title of a memory.
    Title(Id),
    /// The text of a memory below its title.
    Text(Id),
    /// Something that follows from a session, and can only be overwritten in the vault.
    Derived,
}

impl PlannedLine {
    /// Makes a line that follows from other things.
    pub fn derived(parts: &[&[u8]], text: String) -> Self {
        let id = LineId::new(&Id::derive(parts));
        Self { id, group: None, parent: None, task: None, text, shows: Shows::Derived }
    }

    /// The same under a heading of level 3.
    #[must_use]
    pub fn under(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// The same as a task.
    #[must_use]
    pub fn task(mut self, is_done: bool) -> Self {
        self.task = Some(is_done);
        self
    }

    /// True if a line of a note with these words, or with this hash of them, says it; a person may leave the category out.
    pub fn is_said_by(&self, words: &str) -> bool {
        says(words, &self.text)
            || is_same(words, &self.text)
            || is_same(words, without_category(&self.text).1)
    }

    /// Returns what it says, without a category and as people write it.
    pub fn words(&self) -> String {
        unescaped(without_category(&self.text).1)
    }

    /// Returns it as a line of a note.
    fn written(&self, indent: &str, marker: char, newline: &str) -> String {
        let task = match self.task {
            None => "",
            Some(true) => "[x] ",
            Some(false) => "[ ] ",
        };
        format!("{indent}{marker} {task}{} {}{newline}", self.text, self.id)
    }
}

/// The reason why a note was left as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Its frontmatter cannot be edited.
    #[error(transparent)]
    Front(#[from] Unreadable),
    /// A merge of a version control is not finished.
    #[error("it holds the marks of an unfinished merge")]
    ConflictMarks,
    /// It is longer than any note that we edit.
    #[error("it is longer than 5 MB")]
    TooLong,
    /// The edited note would not read as it should.
    #[error("lines of Throughline cannot be put in without changing how the rest reads")]
    Unsafe,
}

impl Plan {
    /// Returns its path below the vault.
    pub fn path(&self) -> String {
        format!("{}/{}.md", self.folder, self.name)
    }

    /// Returns every line.
    pub fn lines(&self) -> impl Iterator<Item = &PlannedLine> {
        self.sections.iter().flat_map(|section| &section.lines)
    }

    /// Returns a hash of it and of the lines that are left alone. A note that followed it follows it still.
    pub fn fingerprint(&self, hidden: &HashSet<LineId>) -> Id {
        let mut parts: Vec<&[u8]> = vec![self.title.as_bytes()];
        for property in &self.properties {
            parts.push(property.key.as_bytes());
            match &property.value {
                Value::Text(text) => parts.push(text.as_bytes()),
                Value::Members(members) => parts.extend(members.iter().map(String::as_bytes)),
            }
        }
        for section in &self.sections {
            parts.push(section.name.as_bytes());
            for line in &section.lines {
                parts.extend([line.id.as_str().as_bytes(), line.text.as_bytes()]);
                parts.push(match line.task {
                    None => b"",
                    Some(false) => b" ",
                    Some(true) => b"x",
                });
            }
        }
        let mut hidden: Vec<&LineId> = hidden.iter().collect();
        hidden.sort_unstable();
        parts.extend(hidden.into_iter().map(|line| line.as_str().as_bytes()));
        Id::derive(&parts)
    }

    /// Returns the note as it is written first, without these lines.
    ///
    /// # Errors
    /// Fails if the note would not read as it should.
    pub fn new_note(&self, hidden: &HashSet<LineId>) -> Result<String, Refusal> {
        let front: String = self.properties.iter().map(|property| property.lines("\n")).collect();
        let mut text = format!("---\n{front}---\n# {}\n", heading(&self.title));
        for section in &self.sections {
            text.push_str(&format!("\n## {}\n", section.name));
        }
        self.put_into(&text, None, hidden)
    }

    /// Puts it into the note as it lies on disk, given the note as we wrote it last. Every byte that is not ours stays.
    /// Lines that the person changed stay as they are, and lines that the person removed stay away. Without the
    /// note as it was last written, only missing lines are added. Lines that are hidden are neither added, changed nor
    /// removed.
    ///
    /// # Errors
    /// Fails if the note cannot be edited safely.
    pub fn put_into(
        &self,
        disk: &str,
        base: Option<&str>,
        hidden: &HashSet<LineId>,
    ) -> Result<String, Refusal> {
        if disk.len() as u64 > LARGEST {
            return Err(Refusal::TooLong);
        }
        let note = Note::parse(disk);
        if note.has_conflict_marks() {
            return Err(Refusal::ConflictMarks);
        }
        let front = Front::read(&note)?;
        let base = base.map(Note::parse);
        let mut splices = Splices::default();
        properties::put(&self.properties, (&note, &front), base.as_ref(), &mut splices);
        let expected = self.put_lines(&note, base.as_ref(), hidden, &mut splices);
        let text = splices.apply(disk);
        if text == disk {
            return Ok(text);
        }
        // It could not be read back.
        if text.len() as u64 > LARGEST {
            return Err(Refusal::TooLong);
        }
        verify(&note, &text, &expected).then_some(text).ok_or(Refusal::Unsafe)
    }

    /// Returns the hashes of its title as a heading and as an alias.
    pub(crate) fn titles(&self) -> BTreeSet<Id> {
        [heading(&self.title), bare(&self.title)].map(|one| content_hash(one.as_bytes())).into()
    }

    /// Returns a note with its title in the place of the one that we gave it before, if no person changed that.
    pub fn retitled(&self, disk: &str, given: &BTreeSet<Id>) -> String {
        let note = Note::parse(disk);
        let current = self.titles();
        let is_old = |text: &str| {
            let hash = content_hash(text.as_bytes());
            given.contains(&hash) && !current.contains(&hash)
        };
        let mut splices = Splices::default();
        if let Some(old) = note.headings.iter().find(|one| one.level == 1 && is_old(&one.title)) {
            let lines = &disk[old.range.clone()];
            splices
                .replace(old.range.clone(), lines.replacen(&old.title, &heading(&self.title), 1));
        }
        if let Ok(front) = Front::read(&note)
            && let Some(Value::Members(aliases)) = front.value("aliases", disk)
            && let Some(range) = front.range("aliases")
            && aliases.iter().any(|one| is_old(one))
        {
            let kept: Vec<String> = aliases.into_iter().filter(|one| !is_old(one)).collect();
            let newline = first_newline(&disk[range.clone()]);
            splices.replace(range, list("aliases", &kept, newline));
        }
        splices.apply(disk)
    }

    /// Returns the lines that a note shows as they are planned.
    pub fn lines_as_planned(&self, disk: &str) -> HashSet<LineId> {
        let note = Note::parse(disk);
        let planned: HashMap<&LineId, &str> =
            self.lines().map(|line| (&line.id, line.text.as_str())).collect();
        let own = note
            .own_lines()
            .filter(|(id, line)| planned.get(id).is_some_and(|text| says(&line.words(disk), text)));
        own.map(|(id, _)| id.clone()).collect()
    }

    /// Returns the lines that a note does not have yet, by what they say. Where a person wrote one of them without an id, it is
    /// the same line: a process may have been killed after it took the words in, and before it noted that.
    pub fn missing(&self, disk: &str) -> BTreeMap<String, LineId> {
        let note = Note::parse(disk);
        let here: HashSet<&LineId> = note.own_lines().map(|(id, _)| id).collect();
        let missing = self.lines().filter(|line| !here.contains(&line.id));
        missing.map(|line| (unescaped(without_category(&line.text).1), line.id.clone())).collect()
    }

    fn put_lines<'p>(
        &'p self,
        note: &Note<'_>,
        base: Option<&Note<'_>>,
        hidden: &HashSet<LineId>,
        splices: &mut Splices,
    ) -> Expected<'p> {
        let mut expected = Expected::default();
        let planned: HashMap<&LineId, &PlannedLine> =
            self.lines().map(|line| (&line.id, line)).collect();
        let base_ids: HashMap<&LineId, (String, bool)> = base.map_or_else(HashMap::new, |base| {
            base.own_lines()
                .map(|(id, line)| (id, (line.words(base.source), line.is_done())))
                .collect()
        });
        for (id, line) in note.own_lines() {
            let words = line.words(note.source);
            let before = base_ids.get(id);
            let is_untouched = before.is_some_and(|(before, _)| is_same(before, &words));
            match planned.get(id) {
                Some(planned) if is_untouched && !hidden.contains(id) => {
                    if !says(&words, &planned.text) {
                        splices.replace(line.text.clone(), planned.text.clone());
                    }
                    if let (Some(is_done), Some((at, mark)), Some((_, was_done))) =
                        (planned.task, line.task, before)
                        && *was_done == line.is_done()
                        && is_done != line.is_done()
                    {
                        splices.replace(
                            at..at + mark.len_utf8(),
                            if is_done { "x" } else { " " }.to_owned(),
                        );
                    }
                    expected.ids.insert(id.clone());
                }
                None if is_untouched && !hidden.contains(id) => {
                    remove(note, line, splices);
                }
                _ => {
                    expected.ids.insert(id.clone());
                }
            }
        }
        let here: HashSet<&LineId> = note.own_lines().map(|(id, _)| id).collect();
        let is_missing = |line: &PlannedLine| {
            !here.contains(&line.id)
                && !hidden.contains(&line.id)
                && !base_ids.contains_key(&line.id)
        };
        for section in &self.sections {
            let missing: Vec<&PlannedLine> =
                section.lines.iter().filter(|line| is_missing(line)).collect();
            if !missing.is_empty() {
                self.insert(note, section, &missing, splices, &mut expected);
            }
        }
        expected
    }

    fn insert<'p>(
        &self,
        note: &Note<'_>,
        section: &Section,
        missing: &[&'p PlannedLine],
        splices: &mut Splices,
        expected: &mut Expected<'p>,
    ) {
        let newline = note.newline();
        let new: HashSet<&LineId> = missing.iter().map(|line| &line.id).collect();
        let heading = note
            .headings
            .iter()
            .position(|one| one.level == 2 && one.title.eq_ignore_ascii_case(section.name));
        // Lines below one heading of level 3, or below none.
        let mut blocks: Vec<(Option<&str>, Vec<&'p PlannedLine>)> = Vec::new();
        for line in missing {
            let is_nested = line.parent.is_some();
            // A line whose parent is there already goes below it; one whose parent a person removed goes nowhere.
            if let Some(parent) = &line.parent
                && !new.contains(parent)
            {
                if let Some(above) = note.with_id(parent) {
                    let lead = indent_of(note, above);
                    let text = line.written(&format!("{lead}  "), '-', newline);
                    splices.insert(above.whole.end, with_break(note, above.whole.end, &text));
                    expected.ids.insert(line.id.clone());
                }
                continue;
            }
            match blocks.last_mut() {
                Some((group, lines)) if is_nested || *group == line.group.as_deref() => {
                    lines.push(line);
                }
                _ => blocks.push((line.group.as_deref(), vec![line])),
            }
        }
        if heading.is_none() && !blocks.is_empty() {
            expected.headings.push(section.name);
        }
        for (number, (group, lines)) in blocks.iter().enumerate() {
            let mut text = String::new();
            for line in lines {
                let indent = if line.parent.is_some() { "  " } else { "" };
                text.push_str(&line.written(indent, '-', newline));
                expected.ids.insert(line.id.clone());
            }
            let at = heading.and_then(|heading| place(note, heading, *group));
            match (at, heading) {
                (Some(at), _) => splices.insert(at, with_break(note, at, &text)),
                (None, Some(heading)) => {
                    let end = content_end(note, heading);
                    if let Some(group) = group {
                        let gap = if is_below_heading(note, end) { "" } else { newline };
                        text = format!("{gap}### {group}{newline}{text}");
                        expected.headings.push(group);
                    }
                    splices.insert(end, with_break(note, end, &text));
                }
                (None, None) => {
                    if let Some(group) = group {
                        text = format!("### {group}{newline}{text}");
                        expected.headings.push(group);
                    }
                    if number == 0 {
                        text = format!("{newline}## {}{newline}{text}", section.name);
                    } else if group.is_some() {
                        text = format!("{newline}{text}");
                    }
                    let at = self.section_place(note, section);
                    splices.insert(at, with_break(note, at, &text));
                }
            }
        }
    }

    /// Returns the place of a section that the note does not have: behind the nearest one before it that it has, else at
    /// the end.
    fn section_place(&self, note: &Note<'_>, section: &Section) -> usize {
        let names = self.sections.iter().map(|one| one.name);
        let before: Vec<&str> = names.take_while(|name| *name != section.name).collect();
        let heading = before.iter().rev().find_map(|name| {
            note.headings
                .iter()
                .position(|one| one.level == 2 && one.title.eq_ignore_ascii_case(name))
        });
        match heading {
            Some(heading) => content_end(note, heading),
            None => trimmed_end(note.source, note.body, note.source.len()),
        }
    }
}

/// True if a line says what is planned; a person may leave the category out.
fn says(words: &str, planned: &str) -> bool {
    let words = sense(words);
    words == sense(planned) || words == sense(without_category(planned).1)
}

/// Returns a line of Markdown by which two are compared: a person may write in bold what we write between escaped stars.
fn sense(markdown: &str) -> String {
    plain_line(&unescaped(markdown), LONGEST)
}

/// Returns a heading's text on one line: brackets, bars and hashes break links to it.
pub(crate) fn heading(title: &str) -> String {
    escaped(&bare(title).replace("%%", " ").replace(": ", " - "))
}

/// Returns a name on one line without what makes a link.
pub(crate) fn bare(name: &str) -> String {
    let meant = |c: char| if matches!(c, '#' | '^' | '|' | '[' | ']' | '`') { ' ' } else { c };
    joined(&plain_line(name, 200).chars().map(meant).collect::<String>())
}

/// Returns the place in a section, or below a heading of level 3 in it, behind the last line of ours; `None` if there is
/// none. The end of the section serves as well.
fn place(note: &Note<'_>, heading: usize, group: Option<&str>) -> Option<usize> {
    let end = note.section_end(heading);
    let start = note.headings[heading].range.end;
    let below = |place: Option<usize>| match (group, place.and_then(|at| note.headings.get(at))) {
        (Some(group), Some(own)) => own.level == 3 && own.title == group,
        (None, Some(own)) => own.level == 2,
        (_, None) => false,
    };
    let own = note.lines.iter().filter(|line| line.own.start >= start && line.own.start < end);
    let last = own.rev().find(|line| {
        line.depth == 0 && !line.is_quoted && line.id.is_some() && below(line.heading)
    });
    if let Some(last) = last {
        return Some(last.whole.end);
    }
    match group {
        Some(group) => {
            let found =
                note.headings.iter().enumerate().skip(heading + 1).find(|(_, one)| {
                    one.range.start < end && one.level == 3 && one.title == group
                })?;
            Some(content_end(note, found.0))
        }
        // Below the heading, before the first group.
        None => {
            let next = note.headings.get(heading + 1).map_or(end, |next| next.range.start.min(end));
            Some(trimmed_end(note.source, start, next))
        }
    }
}

/// Returns the end of the last line with content of a section.
pub(crate) fn content_end(note: &Note<'_>, heading: usize) -> usize {
    trimmed_end(note.source, note.headings[heading].range.end, note.section_end(heading))
}

/// Returns the end of the last line between two places that is not blank.
fn trimmed_end(source: &str, start: usize, end: usize) -> usize {
    let kept = source.get(start..end).unwrap_or_default().trim_end();
    if kept.is_empty() { start } else { line_end(source, start + kept.len()).min(end) }
}

fn is_below_heading(note: &Note<'_>, at: usize) -> bool {
    note.headings.iter().any(|heading| heading.range.end == at)
}

/// Returns text as it is inserted at a place: behind a line break, if what stands there has none, and below a blank line
/// if it is a paragraph.
pub(crate) fn with_break(note: &Note<'_>, at: usize, text: &str) -> String {
    let newline = note.newline();
    let before = &note.source[..at];
    if before.is_empty() || text.starts_with(newline) && before.ends_with('\n') {
        return text.to_owned();
    }
    let mut lead = String::new();
    if !before.ends_with('\n') {
        lead.push_str(newline);
    }
    let is_behind_line = note.lines.iter().any(|line| line.whole.end == at);
    let is_blank = before.trim_end_matches(['\r', ' ', '\t']).ends_with("\n\n");
    if !is_behind_line && !is_blank && !is_below_heading(note, at) && at > note.body {
        lead.push_str(newline);
    }
    format!("{lead}{text}")
}

fn indent_of<'s>(note: &Note<'s>, line: &Line) -> &'s str {
    let own = &note.source[line.own.clone()];
    &own[..own.len() - own.trim_start_matches([' ', '\t']).len()]
}

/// Removes a line of ours. What a person nested in it stays, below a line that says so.
pub(crate) fn remove(note: &Note<'_>, line: &Line, splices: &mut Splices) {
    let nested = line.own.end..line.whole.end;
    let mut rest = nested.start;
    let mut is_foreign = false;
    for (_, own) in note
        .own_lines()
        .filter(|(_, own)| own.own.start >= nested.start && own.own.end <= nested.end)
    {
        is_foreign |= !note.source[rest..own.own.start.max(rest)].trim().is_empty();
        rest = rest.max(own.own.end);
    }
    is_foreign |= !note.source[rest..nested.end.max(rest)].trim().is_empty();
    if is_foreign {
        let end = note.source[..line.own.end].trim_end().len();
        splices.replace(line.text.start..end.max(line.text.end), GONE.to_owned());
    } else {
        splices.replace(line.own.clone(), String::new());
    }
}

/// The text of a line of ours whose memory is gone, where a person nested something in it.
const GONE: &str = "(no longer remembered)";

/// The parts that an edited note must have.
#[derive(Default)]
struct Expected<'p> {
    ids: BTreeSet<LineId>,
    headings: Vec<&'p str>,
}

/// Parses the edited note and compares it with what it was: every line of ours is there once, and every heading and every
/// line of the person's is there as before.
fn verify(before: &Note<'_>, text: &str, expected: &Expected<'_>) -> bool {
    let after = Note::parse(text);
    let ids: BTreeSet<LineId> = after.own_lines().map(|(id, _)| id.clone()).collect();
    if ids != expected.ids || Front::read(&after).is_err() {
        return false;
    }
    let mut added: BTreeMap<&str, usize> = BTreeMap::new();
    for title in &expected.headings {
        *added.entry(title).or_default() += 1;
    }
    let mut old = before.headings.iter().peekable();
    for heading in &after.headings {
        if old.next_if(|old| (old.level, &old.title) == (heading.level, &heading.title)).is_some() {
            continue;
        }
        match added.get_mut(heading.title.as_str()) {
            Some(number) if *number > 0 => *number -= 1,
            _ => return false,
        }
    }
    let foreign = |note: &Note<'_>| -> Vec<String> {
        let lines = note.lines.iter().filter(|line| line.id.is_none());
        lines.map(|line| note.source[line.own.clone()].trim_end().to_owned()).collect()
    };
    let (old_lines, new_lines) = (foreign(before), foreign(&after));
    let kept = |line: &&String| !line.ends_with(GONE);
    old.next().is_none() && old_lines.iter().filter(kept).eq(new_lines.iter().filter(kept))
}

/// Replacements in a text, which do not overlap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    pub(crate) fn replace(&mut self, range: Range<usize>, text: String) {
        self.0.push((range, text));
    }

    pub(crate) fn insert(&mut self, at: usize, text: String) {
        self.replace(at..at, text);
    }

    /// Returns the text with all of them. Insertions at one place keep their order.
    pub(crate) fn apply(mut self, source: &str) -> String {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut text = String::with_capacity(source.len() + 256);
        let mut done = 0;
        for (range, new) in &self.0 {
            if range.start < done {
                continue;
            }
            text.push_str(&source[done..range.start]);
            text.push_str(new);
            done = range.end;
        }
        text.push_str(&source[done..]);
        text
    }
}
