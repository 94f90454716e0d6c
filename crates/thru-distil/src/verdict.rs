//! The verdict of a text: the sentence with which the agent answers, as a title.

use thru_core::defused;

use crate::cue::{self, Role};
use crate::gate::{hangs, is_about_course, is_name, is_understood, worth};
use crate::lacking::{
    bare_name, is_bare_verdict, is_code, is_open, is_passing, is_relative, is_slight,
    tells_one_of_two,
};
use crate::phrase;
use crate::prose::{self, LineKind};
use crate::reply;
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

/// Least rank of a statement that is a title.
const LEAST: i32 = 5;

/// Least rank of a statement that is most likely the point of its text.
const SURE: i32 = 12;

/// The beginning of the title of advice.
pub(crate) const RECOMMENDED: &str = "Recommended: ";

/// Most words shared with the question that count.
const SHARED: usize = 5;

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

/// A sentence as a title, and how likely it is the verdict of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    rank: i32,
    title: String,
    /// True if it says what the agent would do, not how things are.
    is_advice: bool,
    /// True if a reader needs more of the text: what holds instead, when it holds, what it points at.
    is_half: bool,
}

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

/// Returns the statement that answers a question best.
pub(crate) fn best(statements: &[Statement], question: &str) -> Option<String> {
    chosen(statements, question)
        .filter(|(rank, _)| *rank >= LEAST)
        .map(|(_, one)| one.title.clone())
}

/// Returns the statement that answers a question best, if it is most likely the point of the text and leaves nothing
/// open. Advice is told as such: the person may not follow it.
pub(crate) fn sure(statements: &[Statement], question: &str) -> Option<String> {
    let (_, one) = chosen(statements, question).filter(|(rank, _)| *rank >= SURE)?;
    let is_partial = one.is_half
        || !one.is_advice && (is_relative(&one.title) || is_bare_verdict(&one.title))
        || tells_one_of_two(&one.title, question);
    if is_open(&one.title) || is_partial || one.is_advice && is_passing(&one.title) {
        return None;
    }
    if !one.is_advice {
        return Some(one.title.clone());
    }
    let title = format!("{RECOMMENDED}{}", text::uncapitalised(&one.title));
    (title.chars().count() <= title::LENGTH).then_some(title)
}

fn chosen<'s>(statements: &'s [Statement], question: &str) -> Option<(i32, &'s Statement)> {
    let asked = reply::significant(question);
    let topic = question.split_whitespace().map(bare_name).find(|word| is_code(word));
    let rank = |one: &Statement| {
        let shared = |text: &str| {
            reply::significant(text).iter().filter(|word| asked.contains(word)).count()
        };
        let subject: Vec<&str> = one.title.split(' ').take(4).collect();
        let of_topic = topic.is_some_and(|topic| subject.iter().any(|one| bare_name(one) == topic));
        let of_subject = match shared(&subject.join(" ")) {
            _ if of_topic => 8,
            0 => 0,
            _ => 2,
        };
        one.rank + i32::try_from(shared(&one.title).min(SHARED)).unwrap_or_default() + of_subject
    };
    let mut best: Option<(i32, &Statement)> = None;
    for one in statements {
        let rank = rank(one);
        if best.is_none_or(|(known, _)| rank > known) {
            best = Some((rank, one));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str, question: &str) -> String {
        best(&statements(text), question).unwrap_or_default()
    }

    #[test]
    fn the_sentence_that_answers_is_the_verdict() {
        for (text, title) in [
            (
                "No. I'd keep the ramp in the profile for now. The kiln reads it once.",
                "Keep the ramp in the profile for now",
            ),
            (
                "For this kiln, I’d start with gas, not electricity. Gas is there already.",
                "Start with gas, not electricity",
            ),
            (
                "When both `cone` and `ramp` are set, `ramp` does not call the sensor. It waits.",
                "ramp does not call the sensor (when both cone and ramp are set)",
            ),
            (
                "I would not make `cone.json` the entry point of the loader.",
                "Do not make cone.json the entry point of the loader",
            ),
            (
                "That relay is polled by the damper thread.\n\n- `relay.rs`",
                "The relay is polled by the damper thread",
            ),
            ("The common standard: cones, ramps, glazes.", ""),
            ("The worker is still firing the kiln in its worktree.", ""),
            ("Let me look at the kiln profile first.", ""),
        ] {
            assert_eq!(verdict(text, ""), title, "{text}");
        }
        // Of two statements, the one about the question.
        let text = "The glaze melts at cone six. The damper closes when the relay drops.";
        assert_eq!(
            verdict(text, "why does the damper relay drop and close?"),
            "The damper closes when the relay drops"
        );
    }

    #[test]
    fn only_what_is_most_likely_the_point_is_sure() {
        let told = |text: &str, question: &str| sure(&statements(text), question);
        let question = "should the damper of `kiln-2` get a relay of its own?";
        for (text, title) in [
            (
                "The damper of `kiln-2` has no relay of its own. It is driven by `fire`.",
                Some("The damper of kiln-2 has no relay of its own: it is driven by fire"),
            ),
            (
                "I would give the damper of `kiln-2` a relay of its own.",
                Some("Recommended: give the damper of kiln-2 a relay of its own"),
            ),
            ("I would not give the damper of `kiln-2` a relay of its own.", None),
            ("The damper of `kiln-2` probably has no relay of its own.", None),
            ("The glaze melts at cone six.", None),
            ("That damper relay of `kiln-2` is driven by `fire`.", None),
            ("The closest relay is `kiln-2-damper`, which `fire` drives.", None),
            (
                "When the damper of `kiln-2` was closed by hand and the log of the last firing is kept for the relay, `kiln-2` gets a relay of its own.",
                None,
            ),
            ("The damper of `kiln-2` might be driven by the relay of `fire`.", None),
            (
                "The damper of `kiln-2` is not driven by `fire`. It is driven by a relay in the shed that `kiln-1` shares with the glaze mill.",
                Some(
                    "The damper of kiln-2 is driven by a relay in the shed that kiln-1 shares with the glaze mill",
                ),
            ),
            (
                "The damper of `kiln-2` does not use a relay.\n\nIt is driven by `fire`:\n\n- by day",
                Some("The damper of kiln-2 does not use a relay: it is driven by fire"),
            ),
            (
                "The damper of `kiln-2` has a relay of its own. But `fire` never reads it today.",
                None,
            ),
            (
                "The damper of `kiln-2` has a relay of its own.\n\nHowever, `fire` never reads it.",
                None,
            ),
        ] {
            assert_eq!(told(text, question).as_deref(), title, "{text}");
        }
    }

    #[test]
    fn a_comparison_is_told_with_both_sides() {
        let text = "`kiln.toml` holds the ramp of each cone in the shed.\n\nThe other one is read at night.";
        let told = |question: &str| sure(&statements(text), question);
        assert_eq!(told("what is the difference between `kiln.toml` and `cone.toml`?"), None);
        assert_eq!(
            told("what is in `kiln.toml`?").as_deref(),
            Some("kiln.toml holds the ramp of each cone in the shed")
        );
    }

    #[test]
    fn the_point_is_told_rather_than_what_stands_beside_it() {
        for (text, title) in [
            (
                "The trap is not “two relays at one damper.” The trap is **a relay that `fire` polls twice**.",
                "The trap is a relay that fire polls twice",
            ),
            (
                "The relay at the `damper` is named `relay-2`. It is **read-only** since March.",
                "The relay at the damper is named relay-2: it is read-only since March",
            ),
            (
                "The kiln already reads `cone.toml`.\n\nRoot cause: `glaze.toml` overrides the cone with:\n\n- `cone = 6`",
                "glaze.toml overrides the cone",
            ),
            (
                "`ramp.toml` holds the ramp today. So I would remove it with the next profile, not now.",
                "Remove ramp.toml with the next profile, not now",
            ),
            (
                "Not yet ready as it is, because the PR is still a draft and the damper opens late.\n\nSee PR #12.",
                "PR #12 is still a draft and the damper opens late",
            ),
            (
                "**#31 verdict**\n\n- Recommendation: keep open until the damper closes in time.",
                "#31: keep open until the damper closes in time",
            ),
            (
                "I found several.\n\n**Recommend closing**\n- `kiln-7`: done by the new ramp.\n- `kiln-9`: superseded.",
                "Recommend closing: kiln-7, kiln-9",
            ),
        ] {
            assert_eq!(verdict(text, ""), title, "{text}");
        }
    }

    #[test]
    fn what_could_be_is_no_statement() {
        let items =
            "\n1. The `kiln-2` relay opens the damper\n2. The `fire` thread polls the relay";
        assert_eq!(verdict(&format!("So the flow would be:{items}"), ""), "");
        assert_eq!(
            verdict(
                &format!("The relays today:{items}"),
                "which relay opens the damper of kiln-2?"
            ),
            "The kiln-2 relay opens the damper"
        );
    }

    #[test]
    fn a_denial_is_told_with_what_holds() {
        assert_eq!(
            verdict(
                "`kiln-2` does not keep the last ramp. For each cone, it stores every ramp apart:",
                ""
            ),
            "kiln-2 does not keep the last ramp: for each cone, it stores every ramp apart"
        );
    }

    #[test]
    fn a_short_statement_is_told_with_its_reason() {
        assert_eq!(
            verdict("Stage 12 is a poor fit. Its goal is the `ramp` of the damper.", ""),
            "Stage 12 is a poor fit: its goal is the ramp of the damper"
        );
    }
}
