//! Snippets: the part of a passage that shows why it was found.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use thru_core::unstyled_parts;
use thru_store::index::QueryTerms;
use thru_store::index::tokenizer::Terms;

/// Most lines of a snippet, and its characters for each where that allows more.
const MOST_LINES: usize = 5;
const CHARACTERS_PER_LINE: usize = 60;
const CHARACTERS_PER_CALL_LINE: usize = 90;
/// Bytes before a match in which the start of its line or its sentence is looked for.
const LEAD: usize = 100;
/// Bytes of words before a match whose line and sentence begin further away.
const WORDS_BEFORE: usize = 40;

/// Bytes at the beginning of an item that are shown of it where others follow, and of words behind a match in it.
const HEAD: usize = 80;
const WORDS_AFTER: usize = 40;
/// Characters of the longest word that is left out where it has no room; a longer one is cut.
const LONGEST_WORD: usize = 24;

/// A part of a text, with the words of the query marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The part, on one line; each item of a list, row of a table, heading and line of code begins another.
    pub text: String,
    /// Byte ranges of the words in it.
    pub marks: Vec<Range<usize>>,
}

/// The measures of a snippet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cut<'a> {
    /// The weights of the query's terms: 1 where there is none.
    pub weights: &'a [f32],
    /// Its length in characters.
    pub length: usize,
    /// The byte where it begins if the text holds nothing of the query.
    pub otherwise: usize,
    /// True for a call of a tool: its lines are no sentences.
    pub is_call: bool,
    /// True for a call that failed: its end says why.
    pub is_failed: bool,
    /// The length of the text's opening that stands before the stretch: it says what it is about.
    pub opening: usize,
    /// The words beside those of the query that tell what it asks for.
    pub sought: Sought,
}

/// The kind of thing that a question asks for, as far as words give it away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sought {
    /// Anything.
    #[default]
    Anything,
    /// A reason.
    Reason,
    /// A number.
    Number,
}

impl Sought {
    /// Returns true if a term gives what is sought.
    fn is_told_by(self, term: &str) -> bool {
        const REASONS: [&str; 7] = ["becaus", "caus", "reason", "sinc", "explain", "due", "weil"];
        match self {
            Self::Anything => false,
            Self::Reason => REASONS.contains(&term),
            Self::Number => term.starts_with(|c: char| c.is_ascii_digit()),
        }
    }
}

/// Returns the stretch of about `length` characters of `text` that holds most of the query, or the one at
/// byte `otherwise` if it holds none of it; of a long one two stretches, if another one holds what the first does not.
pub fn snippet(text: &str, query: &QueryTerms, cut: &Cut<'_>) -> Snippet {
    let Cut { length, opening, is_call, .. } = *cut;
    let places = Places::of(text, query, cut);
    let mut writer = Writer {
        snippet: Snippet::default(),
        marks: places.marks(),
        room: length,
        lines: most_lines(text, length, is_call),
        is_call,
    };
    let parts = parts(text, &places, cut, writer.lines);
    let opening = command_of(text, if is_call { opening } else { 0 });
    let mut first = parts.first().map_or(0, |part| part.from);
    if first > 0 && !opening.is_empty() {
        if opening.end + WORDS_BEFORE.max(length / 4) >= first {
            first = 0;
        } else {
            for word in text[opening].split_whitespace() {
                writer.push(' ', word, word.as_ptr().addr() - text.as_ptr().addr());
            }
        }
    }
    for (number, part) in parts.iter().enumerate() {
        let from = if number == 0 { first } else { part.from };
        writer.begin(&text[..from], number > 0);
        // What is left to the parts after it.
        let kept = if number + 1 == parts.len() { 0 } else { SHARES - part.share };
        let (room, lines) = (writer.room * kept / SHARES, writer.lines * kept / SHARES / 2);
        writer.room -= room;
        writer.lines -= lines;
        writer.write(text, from);
        writer.room += room;
        writer.lines += lines;
    }
    writer.snippet
}

/// The words of a query in a text.
struct Places {
    /// Each with the number of its term; [`TELLING`] for a word that gives what is asked for.
    all: Vec<(Range<usize>, usize)>,
    /// The weights of the terms.
    weights: Vec<f32>,
}

/// The number of a word that gives what is asked for: a reason, a number.
const TELLING: usize = usize::MAX;

impl Places {
    fn of(text: &str, query: &QueryTerms, cut: &Cut<'_>) -> Self {
        let wanted: HashMap<&str, usize> =
            query.in_all_forms().map(|(number, form)| (form, number)).collect();
        let mut all: Vec<(Range<usize>, usize)> = Vec::new();
        Terms::default().tokenize(text, |term, place| {
            let number = wanted.get(term).copied();
            let number = number.or_else(|| cut.sought.is_told_by(term).then_some(TELLING));
            if let Some(number) = number {
                all.push((place.start..place.end, number));
            }
        });
        let terms = query.terms.len();
        let weights = (0..terms).map(|at| cut.weights.get(at).copied().unwrap_or(1.0)).collect();
        let found = Self { all, weights };
        if found.marks().is_empty() { Self { all: Vec::new(), ..found } } else { found }
    }

    /// The places of the query's own words.
    fn marks(&self) -> Vec<Range<usize>> {
        let own = self.all.iter().filter(|(_, term)| *term != TELLING);
        own.map(|(place, _)| place.clone()).collect()
    }

    /// What some terms weigh. What only tells is worth a word where a word of the query stands beside it.
    fn weight(&self, terms: &BTreeSet<usize>) -> f32 {
        let own = |term: &usize| self.weights.get(*term).copied();
        let usual = self.weights.iter().sum::<f32>() / self.weights.len().max(1) as f32;
        let sum: f32 = terms.iter().filter_map(own).sum();
        sum + if sum > 0.0 && terms.contains(&TELLING) { usual } else { 0.0 }
    }

    /// The stretch of `length` bytes outside of `shown` whose distinct terms, without the `known` ones, weigh most, with
    /// these.
    fn best_stretch(
        &self,
        length: usize,
        shown: &Range<usize>,
        known: &BTreeSet<usize>,
    ) -> Option<(Range<usize>, BTreeSet<usize>)> {
        let is_free = |place: &Range<usize>| place.end <= shown.start || place.start >= shown.end;
        let free: Vec<&(Range<usize>, usize)> = self
            .all
            .iter()
            .filter(|(place, term)| is_free(place) && !known.contains(term))
            .collect();
        let mut best: Option<(f32, Range<usize>, BTreeSet<usize>)> = None;
        for (number, (first, _)) in free.iter().enumerate().take(500) {
            let until = first.start + length;
            let within = || free[number..].iter().take_while(|(place, _)| place.end <= until);
            // In their order: a sum of fractions depends on it.
            let terms: BTreeSet<usize> = within().map(|(_, term)| *term).collect();
            let sum = self.weight(&terms);
            if best.as_ref().is_none_or(|(most, ..)| sum > *most) {
                let end = within().last().map_or(first.end, |(place, _)| place.end);
                best = Some((sum, first.start..end, terms));
            }
        }
        best.map(|(_, stretch, terms)| (stretch, terms))
    }
}

/// A part of a text that is shown.
struct Part {
    /// The byte at which it begins.
    from: usize,
    /// Its share of the room, of [`SHARES`].
    share: usize,
}

/// The shares that the room of a snippet has, and those that the first stretch takes of two.
const SHARES: usize = 10;
const OF_FIRST: usize = 6;
/// Bytes of the end of a call that failed.
const END: usize = 160;
/// The length from which a snippet may have two stretches.
const LONG: usize = 400;
/// The least share of the weight of all words in a text for which a second stretch is shown.
const WORTH_A_STRETCH: f32 = 0.2;

/// The parts to show, in the order of the text.
fn parts(text: &str, places: &Places, cut: &Cut<'_>, most_lines: usize) -> Vec<Part> {
    let length = cut.length;
    if text.len() <= length && text.lines().count() <= most_lines {
        return vec![Part { from: 0, share: SHARES }];
    }
    let none = BTreeSet::new();
    let Some((stretch, known)) = places.best_stretch(length / 2, &(0..0), &none) else {
        let from = readable_start(text, &(cut.otherwise..cut.otherwise), length, most_lines);
        return vec![Part { from, share: SHARES }];
    };
    let begin = |stretch: &Range<usize>, share: usize| {
        readable_start(text, stretch, length * share / SHARES, most_lines * share / SHARES)
    };
    let alone = Part { from: begin(&stretch, SHARES), share: SHARES };
    let shown = alone.from..(alone.from + length).max(stretch.end);
    let end = text.trim_end();
    if cut.is_failed && end.len() > shown.end {
        let last = end.rfind('\n').map_or(0, |newline| newline + 1).max(shown.end);
        let last = text.ceil_char_boundary(last.max(end.len().saturating_sub(END)));
        let share = ((end.len() - last) * SHARES).div_ceil(length).min(OF_FIRST);
        let from = begin(&stretch, SHARES - share);
        return vec![Part { from, share: SHARES - share }, Part { from: last, share }];
    }
    if !cut.is_call && cut.opening > 0 && alone.from > 0 {
        let share = (cut.opening * SHARES).div_ceil(length).min(SHARES - 1);
        let from = begin(&stretch, SHARES - share);
        return match from <= cut.opening + WORDS_BEFORE {
            true => vec![Part { from: 0, share: SHARES }],
            false => vec![Part { from: 0, share }, Part { from, share: SHARES - share }],
        };
    }
    if length < LONG {
        return vec![alone];
    }
    let Some((second, terms)) = places.best_stretch(length / 4, &shown, &known) else {
        return vec![alone];
    };
    let all: BTreeSet<usize> = places.all.iter().map(|(_, term)| *term).collect();
    if places.weight(&terms) < WORTH_A_STRETCH * places.weight(&all) {
        return vec![alone];
    }
    let (first, other) = (begin(&stretch, OF_FIRST), begin(&second, SHARES - OF_FIRST));
    let mut parts =
        vec![Part { from: first, share: OF_FIRST }, Part { from: other, share: SHARES - OF_FIRST }];
    parts.sort_by_key(|part| part.from);
    if parts[1].from <= parts[0].from + length * parts[0].share / SHARES {
        parts = vec![Part { share: SHARES, ..parts.swap_remove(0) }];
    }
    parts
}

/// A snippet that is being written.
struct Writer {
    snippet: Snippet,
    /// What is looked for, by its places in the text.
    marks: Vec<Range<usize>>,
    /// Characters that there is room for.
    room: usize,
    /// Lines that there are left.
    lines: usize,
    is_call: bool,
}

impl Writer {
    /// Marks what was left out before a part.
    fn begin(&mut self, before: &str, is_other: bool) {
        let text = &mut self.snippet.text;
        let is_marked = text.ends_with('…') || !before.contains(char::is_alphanumeric);
        if !is_marked {
            text.push_str(if text.is_empty() { "…" } else { " …" });
        }
        if is_other {
            text.push('\n');
        }
    }

    /// Writes a text from a byte on, as far as the room goes.
    fn write(&mut self, text: &str, from: usize) {
        let is_call = self.is_call;
        let (mut at, mut in_item, mut goes_on) = (from, false, false);
        let mut in_code = text[..from].lines().filter(|line| is_fence(line)).count() % 2 == 1;
        for line in text[from..].split_inclusive('\n') {
            let start = at;
            at += line.len();
            if line.trim().is_empty() || is_rule(line) || is_call && is_setting(line) {
                continue;
            }
            let line = if is_call { without_number(line) } else { line };
            if is_fence(line) {
                (in_code, in_item) = (!in_code, true);
                continue;
            }
            let is_own = in_code || is_call || is_item(line) || is_heading(line);
            // A backslash continues a command on the next line.
            let breaks = !goes_on && (is_own || in_item && !line.starts_with(char::is_whitespace));
            let (line, end) =
                line.trim_end().strip_suffix(" \\").map_or((line, false), |line| (line, true));
            goes_on = end && (in_code || is_call);
            in_item = is_own || in_item && !breaks;
            if breaks && start > from {
                self.lines = self.lines.saturating_sub(1);
                if self.lines == 0 {
                    return self.end();
                }
            }
            let mut blank = if breaks { '\n' } else { ' ' };
            let is_blank = |c: char| c.is_whitespace() || c.is_control();
            let head = self.head_of(text, line);
            for word in unstyled_parts(line).flat_map(|part| part.split(is_blank)) {
                let place = word.as_ptr().addr() - text.as_ptr().addr();
                if place >= head && !word.is_empty() {
                    self.snippet.text.push_str("…\n");
                    break;
                }
                if !word.is_empty() && !self.push(blank, word, place) {
                    return self.end();
                }
                blank = if word.is_empty() { blank } else { ' ' };
            }
        }
    }

    /// The byte at which an item of a list is cut, so that there is room for those after it: behind its beginning and its last
    /// word of the query. Other lines are not cut, nor is a text with room enough.
    fn head_of(&self, text: &str, line: &str) -> usize {
        let start = line.as_ptr().addr() - text.as_ptr().addr();
        let end = start + line.len();
        let rest = &text[end..];
        let is_last = !rest.lines().find(|line| !line.trim().is_empty()).is_some_and(is_item);
        if self.is_call || !is_item(line) || is_last || rest.len() + line.len() <= self.room {
            return usize::MAX;
        }
        let own = self.marks.iter().filter(|mark| mark.start >= start && mark.start < end);
        let told = own.map(|mark| mark.end + WORDS_AFTER).max().unwrap_or_default();
        let head = told.max(start + HEAD);
        if head + WORDS_AFTER >= end { usize::MAX } else { head }
    }

    /// Marks that more follows, without a last line that holds no more than the mark of an item.
    fn end(&mut self) {
        let text = &mut self.snippet.text;
        let is_mark =
            |line: &str| ["-", "*", "•", "|", ""].contains(&line.trim_matches(['\n', ' ', '…']));
        let last = text.rfind('\n').filter(|at| is_mark(&text[*at..]));
        text.truncate(last.unwrap_or(text.len()));
        if !text.ends_with('…') {
            text.push_str(" …");
        }
    }

    /// Adds a word that stands at this place of the text. Returns false if there is no more room.
    fn push(&mut self, blank: char, word: &str, place: usize) -> bool {
        let Snippet { text, marks } = &mut self.snippet;
        if self.room == 0 {
            text.push('…');
            return false;
        }
        if !text.is_empty() && !text.ends_with(['…', '\n']) {
            text.push(blank);
            self.room = self.room.saturating_sub(1);
        }
        let letters = self.room.max(1);
        if !text.is_empty() && (letters + 1..=LONGEST_WORD).contains(&word.chars().count()) {
            text.truncate(text.trim_end().len());
            text.push('…');
            return false;
        }
        let shown = word.char_indices().nth(letters).map_or(word.len(), |(end, _)| end);
        let start = text.len();
        text.push_str(&word[..shown]);
        self.room = self.room.saturating_sub(word[..shown].chars().count());
        let here = place..place + shown;
        for mark in self.marks.iter().filter(|mark| mark.start < here.end && mark.end > here.start)
        {
            let from = start + mark.start.max(here.start) - place;
            let to = start + mark.end.min(here.end) - place;
            match marks.last_mut() {
                Some(last) if last.end >= from => last.end = last.end.max(to),
                _ => marks.push(from..to),
            }
        }
        let is_whole = shown == word.len();
        if !is_whole {
            text.push('…');
        }
        is_whole
    }
}

/// The first line of a call, as far as `most` bytes go: its command.
fn command_of(text: &str, most: usize) -> Range<usize> {
    let Some(line) = text.lines().next().filter(|_| most > 0) else { return 0..0 };
    if line.len() <= most {
        return 0..line.len();
    }
    let shown = &line[..line.floor_char_boundary(most)];
    0..shown.rfind(char::is_whitespace).unwrap_or(shown.len())
}

/// The most lines of a snippet. Those of a call are short, and a text that has room enough is shown whole.
fn most_lines(text: &str, length: usize, is_call: bool) -> usize {
    let own = match is_call {
        _ if text.len() <= length => CHARACTERS_PER_LINE / 2,
        true => CHARACTERS_PER_CALL_LINE,
        false => CHARACTERS_PER_LINE,
    };
    MOST_LINES.max(length / own)
}

/// Moves the start of a stretch back as far as half of the room beside it, and all that the text after it leaves, allows: to
/// the start of the text, else of a paragraph, else of its line or its sentence, else of a word. Where the text after it would
/// leave room, the first of these starts is taken.
fn readable_start(text: &str, stretch: &Range<usize>, length: usize, most_lines: usize) -> usize {
    let at = stretch.start;
    let room = length.saturating_sub(stretch.len());
    let spare = room.saturating_sub(text.len() - stretch.end);
    let mut lines = text[..at].rmatch_indices('\n').map(|(newline, _)| newline + 1);
    let of_lines = lines.nth(most_lines / 2).unwrap_or(0);
    let farthest = text.ceil_char_boundary(at.saturating_sub(spare.max(room / 2)).max(of_lines));
    if farthest == 0 {
        return 0;
    }
    let ends = ["\n", ". ", "! ", "? ", "。"];
    if spare > 0 {
        let starts = ends.iter().filter_map(|end| Some(text[farthest..at].find(end)? + end.len()));
        if let Some(first) = starts.min() {
            return farthest + first;
        }
    }
    if let Some(paragraph) = text[farthest..at].find("\n\n") {
        return farthest + paragraph + 2;
    }
    let lead = text.ceil_char_boundary(at.saturating_sub(LEAD.min(room.max(WORDS_BEFORE))));
    let before = lead.min(farthest);
    let starts =
        ends.iter().filter_map(|end| Some(before + text[before..at].rfind(end)? + end.len()));
    if let Some(start) = starts.max() {
        return start;
    }
    let from = text.ceil_char_boundary(at.saturating_sub(WORDS_BEFORE));
    // A blank may take up to three bytes.
    let blank = text[from..at].char_indices().find(|(_, character)| character.is_whitespace());
    blank.map_or(from, |(offset, character)| from + offset + character.len_utf8())
}

/// Returns true for an item of a list and for a row of a table.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = after_number.len() < line.len()
        && [". ", ") "].iter().any(|mark| after_number.starts_with(mark));
    is_numbered
        || line.starts_with('|')
        || ["- ", "* ", "• "].iter().any(|mark| line.starts_with(mark))
}

/// Returns true for an input of a call that is a number, a switch or empty: "timeout: 60000", "description: ".
fn is_setting(line: &str) -> bool {
    let Some((key, value)) = line.trim_start().split_once(": ") else { return false };
    let (is_key, value) =
        (key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c)), value.trim());
    is_key && (value.is_empty() || value.parse::<f64>().is_ok() || value.parse::<bool>().is_ok())
}

/// A line without the number that a tool put before it.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < line.trim_start().len();
    rest.strip_prefix(['→', '\t']).filter(|_| is_numbered).unwrap_or(line)
}

/// Returns true for the line before and after a block of code.
fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// Returns true for a heading.
fn is_heading(line: &str) -> bool {
    line.starts_with('#') && line.trim_start_matches('#').starts_with(' ')
}

/// Returns true for the rule between the heading of a table and its rows.
fn is_rule(line: &str) -> bool {
    line.contains("--") && line.chars().all(|c| c.is_whitespace() || "|-:+".contains(c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analyse;

    fn cut(length: usize, otherwise: usize) -> Cut<'static> {
        Cut { length, otherwise, ..Cut::default() }
    }

    fn marked(text: &str, query: &str, length: usize) -> String {
        let snippet = snippet(text, &analyse(query), &cut(length, 0));
        let mut shown = snippet.text.clone();
        for mark in snippet.marks.iter().rev() {
            shown.insert(mark.end, ']');
            shown.insert(mark.start, '[');
        }
        shown
    }

    #[test]
    fn the_best_stretch_is_shown_with_the_words_marked() {
        let text = format!(
            "{}\nThe importer failed:\n  lock timeout in importer.rs\n{}",
            "x ".repeat(400),
            "y ".repeat(400)
        );
        insta::assert_snapshot!(marked(&text, "lock timeouts of the importer", 60), @"…[lock] [timeout] in [importer].rs y y y y y y y y y y y y y y y y y…");
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        insta::assert_snapshot!(marked("getUserName broke", "user name", 80), @"get[UserName] broke");
        insta::assert_snapshot!(marked("nothing here", "elsewhere", 80), @"nothing here");
        let styled = "fine \u{1b}[31mred\u{1b}[0m user \u{1b}]0;title\u{7}name";
        insta::assert_snapshot!(marked(styled, "red name", 80), @"fine [red] user [name]");
    }

    #[test]
    fn without_any_of_the_words_it_begins_where_it_is_told() {
        let text = format!("{}\n\nThe pear tree bears fruit.", "apples and plums ".repeat(40));
        let at = text.find("The pear").unwrap();
        let shown = |query: &str| snippet(&text, &analyse(query), &cut(40, at)).text;
        assert_eq!(shown("orchard"), "…The pear tree bears fruit.");
        assert!(shown("plums").starts_with("apples"), "{}", shown("plums"));
    }

    #[test]
    fn a_snippet_begins_at_a_sentence() {
        let text =
            format!("{}. The lock was taken twice by one importer. And so on.", "x ".repeat(200));
        assert_eq!(
            marked(&text, "twice importer", 60),
            "…The lock was taken [twice] by one [importer]. And so on."
        );
    }

    #[test]
    fn an_opening_stands_before_a_stretch_that_is_far_from_it() {
        let shown = |text: &str, opening| {
            let cut = Cut { length: 80, opening, ..Cut::default() };
            snippet(text, &analyse("needle"), &cut).text
        };
        let far = format!("Yes, it is. Then {}\n\nThe needle was the cause.", "x ".repeat(200));
        assert_eq!(shown(&far, 0), "…The needle was the cause.");
        assert_eq!(shown(&far, 12), "Yes, it is. Then…\nThe needle was the cause.");
        let near = format!("Yes, it is. And the needle {}", "x ".repeat(200));
        assert!(
            shown(&near, 20).starts_with("Yes, it is. And the needle x"),
            "{}",
            shown(&near, 20)
        );
    }

    #[test]
    fn a_long_snippet_has_a_second_stretch_with_what_the_first_one_lacks() {
        let rest = "x ".repeat(600);
        let text =
            format!("{rest}\n\nThe lock was a mutex.\n\n{rest}\n\nThe queue was full.\n\n{rest}");
        let shown = |length| marked(&text, "lock mutex queue", length);
        assert!(!shown(240).contains("[queue]"), "{}", shown(240));
        assert!(shown(480).contains("…\nThe [queue] was full."), "{}", shown(480));
        assert!(shown(480).starts_with("…The [lock] was a [mutex]."), "{}", shown(480));
    }

    #[test]
    fn a_call_that_failed_shows_its_end() {
        let text = format!("command: build it\n{}\ncannot find the lock", "x ".repeat(200));
        let shown = |is_failed| {
            let cut = Cut { length: 60, is_call: true, is_failed, ..Cut::default() };
            snippet(&text, &analyse("build"), &cut).text
        };
        assert!(shown(true).ends_with("…\ncannot find the lock"), "{}", shown(true));
        assert!(shown(true).starts_with("command: build it"), "{}", shown(true));
        assert!(shown(false).ends_with("x…"), "{}", shown(false));
    }

    #[test]
    fn a_reason_is_worth_a_word() {
        let rest = "x ".repeat(200);
        let text = format!("The lock is old.\n\n{rest}\n\nThe lock is there because two write.");
        let shown = |sought| {
            snippet(&text, &analyse("lock"), &Cut { length: 60, sought, ..Cut::default() }).text
        };
        assert!(shown(Sought::Anything).starts_with("The lock is old."));
        assert_eq!(shown(Sought::Reason), "…The lock is there because two write.");
        let text = format!("The limit is low.\n\n{rest}\n\nThe limit is 5.");
        let cut = Cut { length: 60, sought: Sought::Number, ..Cut::default() };
        assert_eq!(snippet(&text, &analyse("limit"), &cut).text, "…The limit is 5.");
    }

    #[test]
    fn rare_words_choose_the_stretch() {
        let text = format!("the common words of all{}\n\nhere is rare", " x".repeat(200));
        let query = analyse("common words rare");
        let shown = |weights: &[f32]| {
            snippet(&text, &query, &Cut { weights, length: 40, ..Cut::default() }).text
        };
        assert!(shown(&[]).contains("common"), "{}", shown(&[]));
        assert_eq!(shown(&[1.0, 1.0, 5.0]), "…here is rare");
    }

    #[test]
    fn lists_and_tables_keep_their_lines() {
        let text = "Two ways:\n\n1. the lock\n   of the store\n2. a queue\nThe first.\n| a | b |\n|---|:--|\n| 1 | 2 |";
        assert_eq!(
            marked(text, "two queues", 200),
            "[Two] ways:\n1. the lock of the store\n2. a [queue]\nThe first.\n| a | b |\n| 1 | 2 |"
        );
    }

    #[test]
    fn items_that_others_follow_are_cut_behind_their_heads_and_matches() {
        let rest = "x ".repeat(60);
        let text = format!("Ways:\n- one {rest}\n- two {rest} lock {rest}\n- three {rest}\nEnd.");
        let shown = marked(&text, "ways lock", 400);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 5, "{shown}");
        assert!(lines[1].len() < 100 && lines[1].ends_with("x…"), "{shown}");
        assert!(lines[2].contains("[lock]") && lines[2].ends_with("x…"), "{shown}");
        assert!(lines[3].starts_with("- three") && lines[3].ends_with('x'), "{shown}");
        assert_eq!(marked("- one two\n- threefold four", "one", 13), "- [one] two …");
    }

    #[test]
    fn a_stretch_at_the_end_of_a_text_has_what_fits_before_it() {
        let rest = "x ".repeat(100);
        let text = format!("{rest}. One. Two.\n\nThe needle.");
        assert_eq!(marked(&text, "needle", 40), "…One. Two. The [needle].");
    }

    #[test]
    fn a_call_keeps_its_lines_without_settings_and_numbers() {
        let text = "command: cargo test\ndescription: \ntimeout: 60000\n  12→fn lock() {\n  13→}\n2 passed";
        let cut = Cut { length: 200, is_call: true, ..Cut::default() };
        let shown = snippet(text, &analyse("test"), &cut).text;
        assert_eq!(shown, "command: cargo test\nfn lock() {\n}\n2 passed");
    }

    #[test]
    fn code_and_headings_keep_their_lines() {
        let text = "Do this:\n```sh\nexport LOCK=1\n  cargo run\n```\nIt starts\nthe server.\n## Then\nLook.";
        assert_eq!(
            marked(text, "run lock", 360),
            "Do this:\nexport [LOCK]=1\ncargo [run]\nIt starts the server.\n## Then\nLook."
        );
        let text = format!("```\n{}\nthe needle\n# is here\n```\n\nAnd so on.", "x ".repeat(200));
        assert_eq!(marked(&text, "needle", 60), "…the [needle]\n# is here\nAnd so on.");
    }

    #[test]
    fn a_blank_of_several_bytes_before_the_match_is_passed_over_whole() {
        for blank in ['\u{a0}', '\u{2003}', '\u{3000}', '\u{85}'] {
            let text = format!("{}{blank}before it the needle", "x".repeat(100));
            assert_eq!(marked(&text, "needle", 60), "…before it the [needle]");
        }
    }

    /// A long text of words and of all of Unicode's blanks.
    fn spaced_text() -> impl Strategy<Value = String> {
        let blank = proptest::sample::select(
            ('\0'..='\u{3000}').filter(|character| character.is_whitespace()).collect::<Vec<_>>(),
        );
        proptest::collection::vec(("[a-zé数🦀]{1,30}", blank), 1..40).prop_map(|words| {
            words.into_iter().map(|(word, blank)| format!("{word}{blank}")).collect()
        })
    }

    proptest! {
        #[test]
        fn any_blank_and_any_character_may_stand_before_the_match(before in spaced_text(), length in 100usize..300) {
            let text = format!("{before} needle");
            let snippet = snippet(&text, &analyse("needle"), &cut(length, 0));
            for mark in snippet.marks {
                // The end of the snippet may cut the word.
                let marked = snippet.text.get(mark).unwrap_or_default();
                prop_assert!(!marked.is_empty() && "needle".starts_with(marked), "{marked:?}");
            }
        }

        #[test]
        fn marks_lie_in_the_snippet(text in "(.|\n){0,300}", query in ".{0,30}", length in 1usize..100) {
            let snippet = snippet(&text, &analyse(&query), &cut(length, 0));
            for mark in snippet.marks {
                prop_assert!(snippet.text.get(mark).is_some());
            }
        }
    }
}
