//! Reading a text for its statements: which of its sentences say something, and how likely each is the verdict.

use thru_core::defused;

use super::Statement;
use crate::cue::{self, Role};
use crate::gate::{hangs, is_about_course, is_name, is_understood, worth};
use crate::lacking::is_slight;
use crate::phrase;
use crate::prose::{self, LineKind};
use crate::report;
use crate::text::{self, unmarked};
use crate::title;
use crate::verbs;
use crate::wording::{self, Before, Wording};

/// Bytes of a text that are looked at: a verdict stands at its beginning.
const LOOKED_AT: usize = 4 * 1024;

/// Most sentences of a text that are looked at, and statements that are kept.
const SENTENCES: usize = 40;
const STATEMENTS: usize = 24;

/// What a statement gains by standing at the beginning of its text.
const PLACES: [i32; 8] = [8, 6, 5, 4, 3, 2, 1, 1];

/// What a statement gains by standing under what introduces the point, and loses beside it.
const AT_POINT: i32 = 4;
const ASIDE: i32 = 6;

/// What a statement loses that names nothing.
const UNNAMED: i32 = 4;

/// What a statement loses that the next sentence takes back.
const CONCEDED: i32 = 8;

/// What a statement loses that tells little later.
const SLIGHT: i32 = 6;

/// What an item loses that says what could be.
const SUPPOSED: i32 = 40;

/// What an item of a list loses against a sentence.
const LISTED: i32 = 2;

/// Length below which a statement is told with the sentence that explains it, in characters.
const SHORT: usize = 48;

/// Length below which a denial is told with what holds instead, in characters.
const DENIED: usize = 64;

/// Most names of a list in a title, and longest of them, in characters.
const NAMES: usize = 6;
const NAME: usize = 28;

/// A list whose items begin with names.
struct Listing {
    header: String,
    role: Role,
    names: Vec<String>,
    is_whole: bool,
}

/// A text while it is read.
#[derive(Default)]
struct Reader {
    found: Vec<Statement>,
    /// What the last heading, and the last line that led up to a list, say of what follows.
    heading: Role,
    lead: Option<Role>,
    /// The names in the last heading.
    subject: Option<String>,
    before: Before,
    listing: Option<Listing>,
    sentences: usize,
    items: usize,
    /// The place of the first statement since the last paragraph began.
    paragraph: usize,
    /// True if the last line that led up to a list spoke of what could be.
    supposes: bool,
    /// The denial with which the last paragraph ended: the next one may say what holds instead.
    denial: Option<Wording>,
}

/// Returns the statements of a text that a reader understands alone, the first ones first.
pub(crate) fn statements(text: &str) -> Vec<Statement> {
    let text = text::ends(text, LOOKED_AT, 0);
    let mut reader = Reader::default();
    for line in prose::lines(&text) {
        if reader.sentences >= SENTENCES || reader.found.len() >= STATEMENTS {
            break;
        }
        match line.kind {
            LineKind::Blank => {}
            LineKind::Heading => reader.heading(line.text),
            LineKind::Item => reader.item(line.text),
            LineKind::Text => reader.paragraph(line.text),
        }
    }
    reader.end_list();
    if let Some(number) = only_pull_request(&text) {
        for one in reader.found.iter_mut() {
            if let Some(rest) = one.title.strip_prefix("The PR ") {
                one.title = text::cut(&format!("PR {number} {rest}"), title::LENGTH);
            }
        }
    }
    reader.found
}

/// Returns the number of the pull request that a text is about, if it names only one.
fn only_pull_request(text: &str) -> Option<&str> {
    let mut numbers = text.split("PR ").skip(1).filter_map(|rest| {
        let digits = rest.strip_prefix('#')?.bytes().take_while(u8::is_ascii_digit).count();
        rest.get(..=digits).filter(|_| digits > 0)
    });
    let first = numbers.next()?;
    numbers.all(|number| number == first).then_some(first)
}

impl Reader {
    fn heading(&mut self, heading: &str) {
        self.end_list();
        let plain = unmarked(heading);
        let plain = plain.trim_end_matches([':', ' ']);
        self.heading = cue::role(plain);
        self.lead = None;
        self.subject = plain.split(' ').find(|word| is_reference(word)).map(str::to_owned);
        self.before = Before::default();
        self.denial = None;
        // "**The relay is polled.**" is a sentence of its own.
        if heading.starts_with("**") && !heading.trim_end_matches('*').ends_with(':') {
            self.sentence(heading, None);
        }
        self.open_list(plain, self.heading);
    }

    fn paragraph(&mut self, line: &str) {
        self.end_list();
        if self.lead.take().is_some() {
            self.heading = Role::Plain;
        }
        self.before = Before::default();
        let sentences: Vec<&str> = prose::sentences(line).collect();
        if let Some(denied) = self.denial.take()
            && let Some(next) = sentences.first().filter(|next| says_instead(next))
            && let Some(last) = self.found.last_mut()
        {
            match joined(&denied, next) {
                Some(title) => last.title = title,
                None => last.is_half = true,
            }
        }
        if sentences.first().is_some_and(|first| cue::turns(first)) {
            for conceded in self.found.iter_mut().skip(self.paragraph) {
                conceded.rank -= CONCEDED;
            }
        }
        self.paragraph = self.found.len();
        self.supposes = false;
        for (at, sentence) in sentences.iter().enumerate() {
            self.sentence(sentence, sentences.get(at + 1).copied());
            self.before = Before::of(sentence);
        }
        let last = sentences.last().map(|last| unmarked(last)).unwrap_or_default();
        if let Some(lead) = last.strip_suffix(':') {
            let role = cue::role(lead);
            self.lead = Some(role);
            self.supposes = cue::supposes(lead);
            self.open_list(lead, role);
        }
    }

    /// Takes a sentence of a paragraph. The one behind it may explain it.
    fn sentence(&mut self, sentence: &str, next: Option<&str>) {
        let place = PLACES.get(self.sentences).copied().unwrap_or_default();
        self.sentences += 1;
        let place = match self.heading {
            Role::Aside => place - ASIDE,
            Role::Point => place + AT_POINT,
            Role::Plain => place,
        };
        self.take(sentence, next, place);
    }

    fn item(&mut self, item: &str) {
        self.items += 1;
        let first = prose::sentences(item).next().unwrap_or_default();
        self.list(first);
        let role = self.lead.unwrap_or(self.heading);
        let place = match role {
            Role::Aside => -ASIDE,
            Role::Point => AT_POINT,
            Role::Plain => 0,
        };
        // The first items say what a list is about. What they order is still to be done.
        // "So the flow would be: the kiln reads it" is no fact yet.
        let is_supposed = self.supposes && !is_order(&unmarked(first));
        let place = place - if is_supposed { SUPPOSED } else { 0 };
        let place = place - LISTED + if self.items <= 2 && role == Role::Plain { 2 } else { 0 };
        let place =
            if is_order(&unmarked(first)) && role != Role::Point { place - ASIDE } else { place };
        self.take(first, None, place);
        self.denial = None;
    }

    fn take(&mut self, sentence: &str, next: Option<&str>, place: i32) {
        self.denial = None;
        // What the agent did is told by what came of it.
        if wording::is_deed(sentence) {
            return;
        }
        if let Some(said) = wording::stated_after(sentence, &self.before) {
            if is_about_course(&said.title) {
                return;
            }
            let said = self.completed(said);
            // "It is not a. It is b."
            let is_denied = next.is_some_and(|next| denies(sentence, next));
            let is_conceded = next.is_some_and(cue::turns);
            let rank = place + rank_of(&said, sentence)
                - if is_denied { AT_POINT + 1 } else { 0 }
                - if is_conceded { CONCEDED } else { 0 };
            let whole = next.and_then(|next| joined(&said, next));
            let is_half = said.is_partial
                || is_denied && whole.is_none()
                || points(sentence) && !said.is_advice;
            let title = whole.unwrap_or_else(|| said.title.clone());
            let rank = rank - if !said.is_advice && is_slight(&title) { SLIGHT } else { 0 };
            self.found.push(Statement { rank, title, is_advice: said.is_advice, is_half });
            self.denial = Some(said).filter(|said| next.is_none() && said.title.contains(" not "));
        }
    }

    /// Puts the name in the heading before advice that names nothing: "#12: keep it open".
    fn completed(&self, said: Wording) -> Wording {
        match &self.subject {
            Some(subject) if !said.is_named && said.is_advice => {
                let title = format!("{subject}: {}", text::uncapitalised(&said.title));
                match title.chars().count() <= title::LENGTH {
                    true => Wording { title, is_named: true, ..said },
                    false => said,
                }
            }
            _ => said,
        }
    }

    fn open_list(&mut self, header: &str, role: Role) {
        let words = header.split_whitespace().count();
        let is_header = (1..=7).contains(&words) && role != Role::Aside && !title::is_label(header);
        self.listing = is_header.then(|| Listing {
            header: header.to_owned(),
            role,
            names: Vec::new(),
            is_whole: true,
        });
    }

    fn list(&mut self, item: &str) {
        if let Some(listing) = &mut self.listing {
            match leading_name(item) {
                Some(name) => listing.names.push(name),
                None => listing.is_whole = false,
            }
        }
    }

    /// Takes a list whose items begin with names as one statement: "Ready to close: #12, #14".
    fn end_list(&mut self) {
        let Some(listing) = self.listing.take() else { return };
        let references = listing.names.iter().filter(|name| is_reference(name)).count();
        if !listing.is_whole || references < 2 || references < listing.names.len() {
            return;
        }
        let mut title = format!("{}:", text::capitalised(&listing.header));
        let mut told = 0;
        for name in listing.names.iter().take(NAMES) {
            let joint = if told == 0 { " " } else { ", " };
            if title.chars().count() + joint.len() + name.chars().count() > title::LENGTH - 12 {
                break;
            }
            title = title + joint + name;
            told += 1;
        }
        if told < listing.names.len() {
            title = format!("{title} and {} more", listing.names.len() - told);
        }
        let title = defused(&text::plain(&title)).into_owned();
        if is_understood(&title, 2) {
            let place = if listing.role == Role::Point { 8 } else { 3 };
            let rank = place + 2;
            self.found.push(Statement { rank, title, is_advice: false, is_half: false });
        }
    }
}

/// Returns what a statement is worth by its own words.
fn rank_of(said: &Wording, sentence: &str) -> i32 {
    let is_bold = sentence.contains("**");
    worth(&said.title).min(8) / 2
        + cue::weight(sentence)
        + if said.is_advice { 3 } else { 0 }
        + if is_bold { 2 } else { 0 }
        - if hangs(&said.title) { 4 } else { 0 }
        - if said.is_named { 0 } else { UNNAMED }
        - said.lost
        - if points(sentence) { 1 } else { 0 }
        - if !said.is_advice && is_order(&said.title) { 3 } else { 0 }
        - if wording::hints(sentence) { 2 } else { 0 }
}

/// Returns true for "That block is outdated", which takes up what was said before.
fn points(sentence: &str) -> bool {
    let said = text::plain(sentence);
    let mut words = phrase::without_openers(&said).split(' ');
    let first = words.next().unwrap_or_default();
    ["That", "This", "These", "Those"].contains(&first)
        && !words.next().is_some_and(wording::has_plain_verb)
}

fn is_order(title: &str) -> bool {
    title.split(' ').next().is_some_and(verbs::is_imperative)
}

/// Returns true if a sentence says what something is not, and the next says what it is.
fn denies(sentence: &str, next: &str) -> bool {
    let start = |text: &str| {
        let plain = text::plain(text).to_lowercase();
        plain.split(' ').take(2).collect::<Vec<_>>().join(" ")
    };
    let is_same = start(sentence) == start(next)
        || ["It is ", "It's ", "It’s ", "It stores ", "Instead"]
            .iter()
            .any(|one| next.starts_with(one));
    text::plain(sentence).contains(" not ") && is_same
}

/// Returns true if a sentence may say what holds instead of what the one before denied.
fn says_instead(next: &str) -> bool {
    ["It ", "They ", "Instead", "For each ", "Each ", "Every "]
        .iter()
        .any(|one| next.starts_with(one))
}

/// Returns a short statement with the sentence that explains it: "The relay fails: it is polled by `fire`".
fn joined(said: &Wording, next: &str) -> Option<String> {
    let denies = said.title.contains(" not ");
    let longest = if denies { DENIED } else { SHORT };
    if said.is_advice || said.title.chars().count() > longest || said.title.contains(": ") {
        return None;
    }
    let names_code = next.contains('`');
    let next = text::plain(next);
    let is_instead = denies && says_instead(&next);
    let next = if is_instead { next.trim_end_matches(':') } else { &next };
    let talks = next.split_whitespace().any(|word| {
        ["i", "you", "we", "i'll", "i’ll", "you'll"].contains(&word.to_lowercase().as_str())
    });
    let is_reason = !talks
        && !next.ends_with([':', '?'])
        && !report::announces(next)
        && !phrase::is_fragment(next)
        && !phrase::is_deed(next)
        && cue::weight(next) >= 0
        && wording::has_verb(next)
        && (names_code || is_instead || next.split_whitespace().skip(1).any(is_name));
    let next = next.trim_end_matches(['.', '!', ' ']);
    // Names keep their capitals.
    let is_common = ["The ", "It ", "Its ", "A ", "An ", "Only ", "They ", "For ", "Each "]
        .iter()
        .any(|one| next.starts_with(one));
    let next = if is_common { text::uncapitalised(next) } else { next.to_owned() };
    let title = format!("{}: {next}", said.title);
    (is_reason && title.chars().count() <= title::LENGTH).then(|| defused(&title).into_owned())
}

/// Returns the name with which an item begins: code, a number, or bold.
fn leading_name(item: &str) -> Option<String> {
    let bare = text::unmarked(item);
    let name = match bare.strip_prefix('`') {
        Some(code) => code.split('`').next()?,
        None => bare.split([' ', ':', ',']).next()?,
    };
    (2..=NAME).contains(&name.chars().count()).then(|| name.to_owned())
}

/// Returns true for a name that stands for one thing: "#12", "av-12.3", but no word and no file.
fn is_reference(word: &str) -> bool {
    let word = word.trim_matches(['`', '(', ')', ',', ':', '*', '[', ']']);
    let end = word.rsplit('.').next().unwrap_or_default();
    let is_file = word.contains('/')
        || word.contains('.') && end.chars().all(char::is_alphabetic) && end.len() <= 6;
    let has_digit = word.chars().any(|c| c.is_ascii_digit());
    !is_file && (word.starts_with('#') && has_digit || word.contains(['-', '_']) && is_name(word))
}
