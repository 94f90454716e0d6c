//! Merging a note with a conflict copy of it, without the version that both began with.
//!
//! Lines are told apart by their ids, and by the texts that they had on this machine: one that was replaced here is old,
//! and one that was never seen here is a change. What the note cannot take in goes into a callout.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use thru_core::{Id, content_hash};

use crate::base::{hash_of, is_same};
use crate::changes::told_in;
use crate::escape::escaped;
use crate::front::{Front, Value, list};
use crate::note::{Line, LineId, Note, first_newline};
use crate::plan::{Splices, content_end, with_break};
use crate::properties::is_ours;

/// The texts that lines of a note had before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Earlier(BTreeMap<LineId, BTreeSet<Id>>);

impl Earlier {
    /// Adds the lines of a version that the next one lacks, or has with another text.
    pub(crate) fn add(&mut self, before: &str, after: &str) {
        let (before, after) = (Note::parse(before), Note::parse(after));
        let kept: HashMap<&LineId, String> =
            after.own_lines().map(|(id, line)| (id, line.words(after.source))).collect();
        for (id, line) in before.own_lines() {
            let words = line.words(before.source);
            if kept.get(id).is_none_or(|kept| !is_same(&words, kept)) {
                self.0.entry(id.clone()).or_default().insert(hash_of(&words));
            }
        }
    }

    fn knows(&self, line: &LineId) -> bool {
        self.0.contains_key(line)
    }

    fn had(&self, line: &LineId, words: &str) -> bool {
        self.0.get(line).is_some_and(|texts| texts.contains(&content_hash(words.as_bytes())))
    }
}

/// Returns a note with what only a copy of it says, given the version that this machine had last and the texts of lines
/// before it. Of a line that both changed, the text of the note stands.
pub fn merged(
    note: &str,
    copy: &str,
    copy_name: &str,
    (base, earlier): (Option<&str>, &Earlier),
) -> String {
    let mut merge = Merge::new(note, copy);
    merge.lines(base, earlier);
    merge.properties();
    merge.prose();
    let text = merge.splices.clone().apply(note);
    let after = Note::parse(&text);
    let ids: HashSet<&LineId> = after.own_lines().map(|(id, _)| id).collect();
    let said: HashSet<String> = after.lines.iter().map(|line| line.words(after.source)).collect();
    // Where text of the person's would swallow what is put into it, all of it goes into the callout.
    let is_whole = merge.here.own_lines().all(|(id, _)| ids.contains(id))
        && merge.put_in.iter().all(|id| ids.contains(id))
        && merge.told.iter().all(|words| said.contains(words));
    match is_whole {
        true => merge.with_callout(text, copy_name),
        false => {
            let mut merge = Merge::new(note, copy);
            merge.prose();
            merge.with_callout(note.to_owned(), copy_name)
        }
    }
}

/// Returns a note with these texts of people in a callout at its end, where it does not hold them. Others took their place.
pub fn with_apart(note: &str, texts: &BTreeSet<String>) -> String {
    let known: HashSet<&str> = note.lines().map(bare).collect();
    let lines: Vec<String> = texts.iter().map(|text| format!("- {}", escaped(text))).collect();
    let lines = lines.iter().map(String::as_str).filter(|line| !known.contains(line));
    let title = "Written elsewhere at the same time";
    with_callout(note.to_owned(), title, lines, first_newline(note))
}

/// Returns a note with lines in a callout at its end.
fn with_callout<'t>(
    mut note: String,
    title: &str,
    lines: impl Iterator<Item = &'t str>,
    newline: &str,
) -> String {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return note;
    }
    if !note.is_empty() && !note.ends_with('\n') {
        note.push_str(newline);
    }
    note.push_str(&format!("{newline}> [!question] {title}{newline}"));
    for line in lines {
        note.push_str(&format!("> {line}{newline}"));
    }
    note
}

struct Merge<'t> {
    here: Note<'t>,
    other: Note<'t>,
    splices: Splices,
    /// The lines of the note, without ids and the marks of quotes: what was merged once stands in a callout.
    known: HashSet<&'t str>,
    /// Lines of ours that were put in.
    put_in: Vec<LineId>,
    /// The words of those that were told.
    told: Vec<String>,
    /// Lines of the copy that are dealt with, by their beginning.
    done: BTreeSet<usize>,
    /// What goes into the callout, by its place in the copy.
    apart: BTreeMap<usize, String>,
}

impl<'t> Merge<'t> {
    fn new(note: &'t str, copy: &'t str) -> Self {
        Self {
            here: Note::parse(note),
            other: Note::parse(copy),
            splices: Splices::default(),
            known: note.lines().map(bare).collect(),
            put_in: Vec::new(),
            told: Vec::new(),
            done: BTreeSet::new(),
            apart: BTreeMap::new(),
        }
    }

    /// Merges the lines of ours, and what a person told.
    fn lines(&mut self, base: Option<&str>, earlier: &Earlier) {
        let base = base.map(Note::parse);
        let last: HashMap<&LineId, String> = base
            .iter()
            .flat_map(|base| base.own_lines().map(|(id, line)| (id, line.words(base.source))))
            .collect();
        let here = self.here.clone();
        let other = self.other.clone();
        let own: HashMap<&LineId, &Line> = here.own_lines().collect();
        // What was told in both, and has its id in the copy only.
        let mut unmarked: HashMap<String, &Line> = here
            .lines
            .iter()
            .filter(|line| told_in(&here, line).is_some())
            .map(|line| (line.words(here.source), line))
            .collect();
        let said: HashSet<String> = here.lines.iter().map(|line| line.words(here.source)).collect();
        // The places of lines that were put in, by their place in the copy.
        let mut places: HashMap<usize, usize> = HashMap::new();
        for (number, line) in other.lines.iter().enumerate() {
            let words = line.words(other.source);
            let Some(id) = &line.id else {
                // An item may begin with another one on its line, and say nothing itself.
                if told_in(&other, line).is_some() && !words.is_empty() {
                    self.settle(line);
                    if !said.contains(&words) {
                        self.put(number, line, &own, &mut places);
                    }
                }
                continue;
            };
            self.settle(line);
            let is_last = |text: &str| last.get(id).is_some_and(|last| is_same(last, text));
            let is_old = |text: &String| !is_last(text) && earlier.had(id, text);
            let Some(known) = own.get(id) else {
                if let Some(told) = unmarked.remove(&words) {
                    self.splices.insert(told.text.end, format!(" {id}"));
                    self.put_in.push(id.clone());
                    continue;
                }
                match (is_old(&words), is_last(&words) || !earlier.knows(id)) {
                    (true, _) => {}
                    (false, true) => self.put(number, line, &own, &mut places),
                    (false, false) => self.set_apart(line),
                }
                continue;
            };
            let text = known.words(here.source);
            if words != text && !is_old(&words) {
                let has_one_text = !earlier.knows(id);
                if is_old(&text) || has_one_text && is_last(&text) {
                    self.splices.replace(known.text.clone(), words);
                } else if !(has_one_text && is_last(&words)) {
                    self.set_apart(line);
                }
            }
            if let (Some((at, mark)), true) = (known.task, line.is_done())
                && !known.is_done()
            {
                self.splices.replace(at..at + mark.len_utf8(), "x".to_owned());
            }
        }
    }

    /// Notes that the text of a line needs no more care.
    fn settle(&mut self, line: &Line) {
        self.done.extend(line.own.clone());
    }

    /// Puts a line of ours into the callout. Without its id: there it is the person's, and neither follows memory nor is read
    /// as what the line says now.
    fn set_apart(&mut self, line: &Line) {
        let text = self.other.source[line.own.start..line.text.end].trim();
        if !text.lines().all(|line| self.known.contains(bare(line))) {
            self.apart.insert(line.own.start, text.to_owned());
        }
    }

    /// Returns a note with what was set apart in a callout.
    fn with_callout(&self, note: String, copy_name: &str) -> String {
        let title = format!("Only in `{}`", copy_name.replace('`', ""));
        let lines = self.apart.values().flat_map(|text| text.lines());
        with_callout(note, &title, lines, self.here.newline())
    }

    /// Puts a line of the copy into its section of the note, or below its parent.
    fn put(
        &mut self,
        number: usize,
        line: &Line,
        own: &HashMap<&LineId, &Line>,
        places: &mut HashMap<usize, usize>,
    ) {
        let above = self.other.lines[..number].iter().enumerate().rev();
        let parent = above.into_iter().find(|(_, above)| above.depth + 1 == line.depth);
        let at = match parent.filter(|_| line.depth > 0) {
            Some((parent, above)) => places.get(&parent).copied().or_else(|| {
                let id = above.id.as_ref()?;
                own.get(id).map(|known| known.whole.end)
            }),
            None if line.depth > 0 => None,
            None => self.other.section_of(line).and_then(|section| {
                let heading =
                    self.here.headings.iter().position(|one| {
                        one.level == 2 && one.title.eq_ignore_ascii_case(section)
                    })?;
                Some(content_end(&self.here, heading))
            }),
        };
        let Some(at) = at.filter(|_| !line.is_quoted) else { return self.set_apart(line) };
        let newline = self.here.newline();
        let own = self.other.source[line.own.clone()].trim_end();
        let text: String = own.lines().map(|line| format!("{line}{newline}")).collect();
        self.splices.insert(at, with_break(&self.here, at, &text));
        match &line.id {
            Some(id) => self.put_in.push(id.clone()),
            None => self.told.push(line.words(self.other.source)),
        }
        places.insert(number, at);
    }

    /// Merges the properties of the person's. Ours follow from memory.
    fn properties(&mut self) {
        let (Ok(here), Ok(other)) = (Front::read(&self.here), Front::read(&self.other)) else {
            return;
        };
        let Some(end) = self.here.front.as_ref().map(|front| front.end) else { return };
        let newline = self.here.newline();
        for (key, range) in other.lines() {
            self.done.extend(range.clone());
            let lines = &self.other.source[range.clone()];
            match (here.value(key, self.here.source), other.value(key, self.other.source)) {
                _ if is_ours(key) => {}
                (Some(Value::Members(known)), Some(Value::Members(more))) => {
                    let new: Vec<String> =
                        more.into_iter().filter(|one| !known.contains(one)).collect();
                    if let (false, Some(range)) = (new.is_empty(), here.range(key)) {
                        let all = [known, new].concat();
                        self.splices.replace(range, list(key, &all, newline));
                    }
                }
                (known, value) if known.is_some() && known == value => {}
                _ if here.range(key).is_some() => {
                    self.apart.insert(range.start, lines.trim().to_owned());
                }
                _ => {
                    let lines = lines.lines().map(|line| format!("{line}{newline}"));
                    self.splices.insert(end, lines.collect());
                }
            }
        }
    }

    /// Sets apart every other line that the note does not have.
    fn prose(&mut self) {
        let mut at = 0;
        for line in self.other.source.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let words = bare(line);
            let is_text = !words.is_empty() && words != "---";
            if is_text && !self.done.contains(&start) && !self.known.contains(words) {
                self.apart.insert(start, without_id(line).to_owned());
            }
        }
    }
}

/// Returns a line without its id and the marks of quotes.
fn bare(line: &str) -> &str {
    without_id(line.trim_start_matches(['>', ' ', '\t']))
}

/// Returns a line without its id.
fn without_id(line: &str) -> &str {
    let line = line.trim_end();
    LineId::split(line).map_or(line, |(before, _)| before.trim_end())
}
