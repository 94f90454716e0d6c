//! The content of one text of the agent: completed work, findings, announcements, decisions, questions
//! and remaining work.

use crate::cause;
use crate::choice::{self, Choice};
use crate::exchange;
use crate::gate::{is_telling_finding, stands_alone, worth};
use crate::landing;
use crate::phrase::{self, Strength};
use crate::points;
use crate::proposal::Proposal;
use crate::prose::{self, LineKind};
use crate::remaining::{self, Remaining};
use crate::report;
use crate::restated::Opening;
use crate::text::{self, one_line, unmarked};
use crate::title;
use crate::verbs;
use crate::verdict::{self, Statement};
use crate::wording;

/// Bytes of a text that are looked at at each end: the important parts are at its beginning or its end.
const HEAD: usize = 8 * 1024;
const TAIL: usize = 4 * 1024;

/// Beginnings of sentences about the conversation itself, in lower case.
#[rustfmt::skip]
const META: [&str; 71] = ["i looked", "i've looked", "i checked", "i've checked", "i reviewed", "i've reviewed", "makes sense", "no action", "step ", "committed", "commit `", "commit is", "background ", "pushed", "pr created", "running ", "done", 
    "let me", "let's", "i'll", "i’ll", "i will", "i'm going", "i need", "now ", "here's", "here is", "here are",
    "looking at", "i see", "you're right", "sorry", "based on", "would you", "want me", "do you", "should i",
    "what would", "i don't", "i can", "i have", "i now have", "launch", "wait", "actually", "give it", "try ", "go ahead",
    "feel free", "all three", "all done", "please", "you can", "you should", "ready to", "ready for", "commit succe",
    "commit success", "committed success", "context updated", "working directory", "working tree", "no response", "if you",
    "still ", "time to", "next,", "agent ", "the agent", "spawning", "proceeding",
];

/// Length from which a text that explains something may stand for the report of its turn, in bytes.
const EXPLAINING: usize = 160;

/// The content of one text of the agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentText {
    /// True if a sentence before any list says something about the work.
    pub(crate) has_lead: bool,
    /// A title from a sentence about completed work.
    pub(crate) action: Option<(String, Strength)>,
    /// A title from an item about completed work.
    pub(crate) item: Option<String>,
    /// The number of items about completed work.
    pub(crate) items: usize,
    /// A title from the sentence with the finding.
    pub(crate) finding: Option<String>,
    /// A title from the last announcement.
    pub(crate) announced: Option<String>,
    /// Its statements about remaining work and about the checks.
    pub(crate) remaining: Remaining,
    /// The number of the pull request that it says is merged.
    pub(crate) merged: Option<u64>,
    /// A choice with its reason.
    pub(crate) choice: Option<Choice>,
    /// Its beginning, if it answers a person.
    pub(crate) opening: Option<Box<Opening>>,
    /// Questions, options and offers at its end.
    pub(crate) proposal: Option<Box<Proposal>>,
    /// The reasons that it gives, each with its weight.
    pub(crate) explanations: Vec<(u8, String)>,
    /// The text as a report: cleaned and shortened. Only of texts that close a turn or report.
    pub(crate) report: String,
    /// True if its action leads up to a list that was not seen yet.
    is_lead: bool,
    /// Its statements, of which one may be its verdict. Only of texts that close a turn or report.
    pub(crate) statements: Vec<Statement>,
    /// The sentence with which it answers. Only of texts that close a turn or report.
    pub(crate) answer: Option<String>,
    /// What the items of its first list begin with. Only of texts that close a turn or report.
    pub(crate) points: Vec<String>,
    /// The text until it is known whether it closes a turn.
    text: Option<Box<str>>,
    /// Its last sentence, if it is a short text between two calls.
    pub(crate) remark: Option<String>,
    /// Length of the text in bytes.
    pub(crate) length: usize,
}

/// The list that the lines belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Lead,
    Done,
    Next,
    Options,
    Other,
}

impl AgentText {
    /// Parses one text.
    pub(crate) fn parse(text: &str) -> Self {
        let text = text::without_fenced(text);
        let text = text::ends(&text, HEAD, TAIL);
        let mut parsed = Self { length: text.len(), ..Self::default() };
        parsed.remaining = Remaining::parse(&text);
        parsed.merged = landing::said_merged(&text);
        let mut section = Section::Lead;
        let mut last_sentence = "";
        for line in prose::lines(&text) {
            match line.kind {
                LineKind::Blank => continue,
                LineKind::Heading => {
                    section = section_of(line.text);
                    parsed.heading(line.text);
                }
                LineKind::Item => parsed.item(line.text, &mut section),
                LineKind::Text => parsed.paragraph(line.text, &mut section),
            }
            last_sentence = prose::sentences(line.text).last().unwrap_or_default();
        }
        if parsed.length < 400 {
            let remark = one_line(&unmarked(last_sentence.trim_end_matches([':', '.'])), 140);
            let remark = report::without_announcement(&remark).to_owned();
            parsed.remark = (remark.split_whitespace().count() >= 4).then_some(remark);
        }
        parsed.proposal = Proposal::parse(&text).map(Box::new);
        parsed.text = Some(text.into());
        parsed
    }

    /// Reads its beginning as an answer to a person. Before [`AgentText::settle`], which drops the text.
    pub(crate) fn open(&mut self) {
        self.opening = self.text.as_deref().and_then(Opening::of_text).map(Box::new);
    }

    /// Makes the report, if the text closes a turn, explains something or is long enough to be one anyway: most texts
    /// stand between two calls.
    pub(crate) fn settle(&mut self, closes: bool) {
        let Some(text) = self.text.take() else { return };
        let explains = self.length >= EXPLAINING && !self.explanations.is_empty();
        if closes || explains || self.is_report() {
            self.report = report::of_text(&text);
            self.statements = verdict::statements(&text);
            self.answer = exchange::answer(&text);
            self.points = points::of_text(&text);
        }
    }

    /// Returns true if it concludes something rather than being a remark between two calls.
    pub(crate) fn is_report(&self) -> bool {
        self.length >= 400 || self.items >= 2
    }

    fn heading(&mut self, heading: &str) {
        let is_announcement = heading.trim_end_matches('*').ends_with(':');
        if is_announcement && let Some(title) = phrase::of_announcement(heading) {
            self.announce(title);
        } else if self.finding.is_none() && !self.has_lead && !title::is_label(heading) {
            // A report may begin with its result as a heading.
            self.consider(heading);
        }
    }

    fn item(&mut self, item: &str, section: &mut Section) {
        if self.choice.is_none() {
            self.choice = choice::parse(item);
        }
        if *section == Section::Lead {
            *section = Section::Other;
        }
        if *section == Section::Next {
            return;
        }
        self.explain(item);
        let sentence = prose::sentences(item).next().unwrap_or_default();
        // "Updated the guide:" is told by the first item of its list.
        if std::mem::take(&mut self.is_lead)
            && let Some((title, Strength::Action)) = &mut self.action
        {
            let whole =
                format!("{title}: {}", text::plain(sentence).trim_end_matches(['.', ';', ':']));
            let whole = text::cut(&whole, title::LENGTH);
            // "Add three relays: the first one" tells one of three.
            if title.chars().count() <= title::LENGTH / 2 && !counts(title) && stands_alone(&whole)
            {
                *title = whole;
            }
        }
        if let Some((title, Strength::Action)) = phrase::of_action(sentence) {
            if self.item.is_none() && stands_alone(&title) {
                self.item = Some(title);
            }
            *section = Section::Done;
        }
        self.items += usize::from(*section == Section::Done && is_whole(item));
    }

    fn paragraph(&mut self, line: &str, section: &mut Section) {
        for sentence in prose::sentences(line) {
            if remaining::opens(sentence) {
                *section = Section::Next;
                continue;
            }
            if self.choice.is_none() {
                self.choice = choice::parse(sentence);
            }
            self.explain(sentence);
            if let Some(title) = phrase::of_announcement(sentence) {
                self.announce(title);
            }
            if offers(sentence) {
                *section = Section::Options;
                continue;
            }
            match section {
                Section::Next if !line.ends_with(':') => *section = Section::Other,
                Section::Lead => {
                    self.notice(sentence);
                    self.consider(sentence);
                }
                _ if self.action.is_none() => self.consider(sentence),
                _ => {}
            }
        }
    }

    /// Notes that a sentence says something about the work.
    fn notice(&mut self, sentence: &str) {
        if self.has_lead {
            return;
        }
        let sentence = unmarked(phrase::without_openers(sentence));
        let is_empty = is_meta(&sentence) || is_cheer(&sentence) || title::is_label(&sentence);
        self.has_lead = sentence.split_whitespace().count() >= 4
            && !sentence.ends_with([':', '?'])
            && !is_empty
            && !phrase::points_elsewhere(&sentence)
            && !is_label_line(&sentence);
    }

    /// Takes completed work or a finding from a sentence, if it states one.
    fn consider(&mut self, sentence: &str) {
        let strength = self.action.as_ref().map(|(_, strength)| *strength);
        // What a list told before is more than a remark behind it.
        if strength != Some(Strength::Action)
            && self.item.is_none()
            && let Some((title, found)) = phrase::of_action(sentence)
            && strength.is_none_or(|known| found > known)
            && stands_alone(&title)
        {
            self.action = Some((title, found));
            self.is_lead = sentence.ends_with(':');
        }
        if !phrase::is_deed(sentence)
            && let Some(found) = finding(sentence)
            && self.finding.as_ref().is_none_or(|known| worth(&found) > worth(known) + 3)
        {
            self.finding = Some(found);
        }
    }

    fn explain(&mut self, sentence: &str) {
        if self.explanations.len() < 4 {
            self.explanations.extend(cause::explanation(sentence));
        }
    }

    fn announce(&mut self, title: String) {
        if stands_alone(&title) {
            self.announced = Some(title);
        }
    }
}

/// Returns true if a title says how many things its list has.
fn counts(title: &str) -> bool {
    const NUMBERS: [&str; 9] =
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "several"];
    title
        .split(' ')
        .skip(1)
        .any(|word| word.bytes().all(|byte| byte.is_ascii_digit()) || NUMBERS.contains(&word))
}

/// Returns true if an item makes sense by itself.
fn is_whole(item: &str) -> bool {
    let item = item.trim_end_matches('*');
    !item.ends_with(['?', ':', ',']) && !item.ends_with(" or") && !item.ends_with(" and")
}

fn section_of(heading: &str) -> Section {
    if remaining::opens(heading) { Section::Next } else { Section::Other }
}

/// Returns true if a sentence introduces suggestions, none of which is a fact yet.
fn offers(sentence: &str) -> bool {
    let sentence = sentence.trim_end_matches('*');
    sentence.ends_with([':', '?'])
        && ["option", "should i", "would you", "want me", "either", "could "]
            .iter()
            .any(|word| text::find_ignoring_case(sentence, word).is_some())
}

/// Returns true if a title only says how a check ended or that something was committed: true, but not
/// the topic of the work.
pub(crate) fn is_status(title: &str) -> bool {
    let lower = title.to_ascii_lowercase();
    let about_checks = ["test", "lint", "typecheck", "type check", "build", "check"]
        .iter()
        .any(|check| lower.contains(check));
    let passes = ["pass", "clean", "green", "succe"].iter().any(|pass| lower.contains(pass));
    about_checks && passes
        || lower.starts_with("commit ")
        || lower.starts_with("push")
        || lower.starts_with("mark ") && lower.contains("complete")
        || lower.starts_with("update") && lower.contains(" task")
}

/// Returns true for "All changes pushed successfully!", which fits any work.
fn is_cheer(sentence: &str) -> bool {
    let words = sentence.split_whitespace().count();
    words < 9 && (sentence.ends_with('!') || sentence.contains("successfully"))
}

/// Returns true if a sentence is about the conversation rather than about the work.
pub(crate) fn is_meta(sentence: &str) -> bool {
    let lower: String = sentence.chars().take(40).collect::<String>().to_lowercase();
    let is_about_lists = lower.contains("tasks complete") || lower.contains("tasks are complete");
    META.iter().any(|meta| lower.starts_with(meta)) || is_about_lists
}

fn finding(sentence: &str) -> Option<String> {
    let cleaned = text::plain(sentence);
    let cleaned = phrase::without_openers(&cleaned);
    let first = cleaned.split_whitespace().next().unwrap_or_default();
    if phrase::is_fragment(cleaned)
        || is_label_line(cleaned)
        || first.ends_with("ing") && verbs::imperative_of_gerund(first).is_some()
    {
        return None;
    }
    let words = cleaned.split_whitespace().count();
    let says_something = (5..60).contains(&words) && !cleaned.ends_with(['?', ':']);
    (says_something
        && wording::has_verb(cleaned)
        && !cleaned.starts_with('/')
        && !is_meta(cleaned)
        && !foretells(cleaned)
        && !phrase::points_elsewhere(cleaned))
    .then(|| title::shaped(cleaned))
    .filter(|title| is_telling_finding(title))
}

/// Returns true if a sentence tells what is going to happen: a plan, not a finding.
pub(crate) fn foretells(sentence: &str) -> bool {
    let mut words = sentence.split_whitespace().take(8);
    words.any(|word| word == "will" || word.ends_with("’ll") || word.ends_with("'ll"))
}

/// Returns true for "Risk level: medium": a filled-in form rather than a sentence.
pub(crate) fn is_label_line(sentence: &str) -> bool {
    sentence
        .split_once(": ")
        .is_some_and(|(label, _)| label.split_whitespace().count() <= 3 && !label.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read() {
        let parsed = AgentText::parse(
            "Perfect! All done. I've moved the cache into its own module.\n\n## Changes\n- **Cache**: Added eviction by age\n- `store.rs` - Removed the old map\n\n**Next steps:**\n- Measure the hit rate\n\nShould I open a pull request?",
        );
        assert_eq!(parsed.action.unwrap().0, "Move the cache into its own module");
        assert_eq!(parsed.item.as_deref(), Some("Add eviction by age"));
        assert_eq!(parsed.items, 2);
        assert_eq!(parsed.remaining.steps, ["Measure the hit rate"]);
        assert_eq!(parsed.remaining.questions, ["Should I open a pull request?"]);
    }

    #[test]
    fn an_announcement_is_not_a_finding() {
        let parsed = AgentText::parse("Now let me add the retry loop to the client:");
        assert_eq!(parsed.announced.as_deref(), Some("Add the retry loop to the client"));
        assert_eq!((parsed.finding, parsed.action), (None, None));
    }
}
