//! Proposals: the questions, options and offers at the end of the agent's text, so that a short answer
//! to them can be understood later.

use std::sync::LazyLock;

use crate::pattern::Regex;

use crate::pattern;
use crate::prose;
use crate::reply;
use crate::text::{capitalised, one_line, unmarked};
use crate::title;

/// Bytes of the end of a text that are looked at: proposals stand there.
const TAIL: usize = 4 * 1024;

/// Most options, questions and points that are kept, and characters of each.
const MOST: usize = 6;
const LENGTH: usize = 240;

/// An option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The letter or number by which it can be named, in lower case.
    pub(crate) label: Option<String>,
    /// The option in few words.
    pub(crate) head: String,
    /// All of it.
    pub(crate) text: String,
}

/// The questions, options and offers of one text of the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// The questions at the end, in their order.
    pub(crate) questions: Vec<Choice>,
    /// The options.
    pub(crate) options: Vec<Choice>,
    /// The heading under which the options stand.
    pub(crate) topic: Option<String>,
    /// True if a list offers the options, rather than only standing near the question.
    pub(crate) is_offered: bool,
    /// The action that the agent offers to take.
    pub(crate) offer: Option<String>,
    /// The recommendation.
    pub(crate) advice: Option<String>,
    /// The statement before the final question.
    pub(crate) before: Option<String>,
    /// The items of the last list that offers no choice.
    pub(crate) points: Vec<String>,
}

static ITEM: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:[-*•]\s+)?(?:\*\*|__)?(?:(?:option|approach|choice|alternative|path)\s+)?([a-h]|\d{1,2})(?:\*\*)?(?:\s+\([^)]{1,30}\))?(?:\*\*)?(?:[.):]|\s+[—–-]\s)\s*(.{3,})$",
    )
});

static OFFER: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:.{0,160}?[\s,;:—–-])??
        (?: (?:do\s+you\s+)?want\s+(?:me\s+)?to | (?:would\s+you\s+)?like\s+(?:me\s+)?to | would\s+you\s+prefer\s+(?:me\s+)?to
          | should\s+(?:i|we) | shall\s+(?:i|we) | (?:can|may|could)\s+(?:i|we)
          | (?:are\s+)?you\s+ok(?:ay)?\s+(?:with\s+)?(?:me\s+|us\s+)? | ready\s+(?:for\s+me\s+)?to
          | (?:is\s+it\s+)?ok(?:ay)?\s+(?:to|if\s+i) | make\s+sense\s+to | (?:how|what)\s+about )
        \s+ (?:(?:go\s+ahead\s+and|just|now|also|then|instead)\s+)* (\S.{4,})$",
    )
});

/// Offers without a question.
static OFFERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:if\s+you(?:'d|’d)?\s+(?:want|like|prefer)|let\s+me\s+know\s+if\s+you(?:'d|’d)?\s+(?:want|like))[\s,]+
        (?:me\s+to|i\s+can|i\s+could|i(?:'ll|’ll)|i\s+will) \s+ (?:(?:go\s+ahead\s+and|just|now|also|then)\s+)* (\S.{4,})$",
    )
});

static ADVICE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix) \b(?: i(?:'d|’d|\s+would)?\s+(?:also\s+|still\s+|strongly\s+)?(?:recommend|suggest|prefer|propose|favou?r)
          | i(?:'d|’d|\s+would)\s+(?:go\s+with|keep|use|avoid|call|not|make|start|treat|rename|put|mark|split|standardi[sz]e|remove|drop|merge|consolidate|stay)
          | my\s+(?:recommendation|pick|suggestion|instinct|preference|vote|take|choice)
          | (?:better|best|cleanest|cleaner|simplest|right|safest)\s+(?:default|option|choice|approach|path|fix|setup|way|design|fit)\s+(?:is|would\s+be|here) )\b
        | ^(?:so\s+)?(?:yes|no)\s*[:,—]\s*\S.{20,} | ^recommend(?:ed|ation)\b",
    )
});

/// Words that announce options.
static OFFERING: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:options?|alternatives?|approaches|choices?|choose|either|prefer|preference|want|could|would you|which|ways|paths|pick|decide|decision|decisions|possibilities)\b",
    )
});

/// A list in the text.
#[derive(Default)]
struct List {
    items: Vec<Choice>,
    topic: Option<String>,
    is_offered: bool,
    asks: bool,
}

impl Proposal {
    /// Parses the end of a text. Returns `None` if it proposes nothing.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let cut = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
        let cut = match cut {
            0 => 0,
            cut => text[cut..].find('\n').map_or(cut, |at| cut + at),
        };
        let (head, text) = text.split_at(cut);
        let mut lists: Vec<List> = Vec::new();
        let mut sentences: Vec<String> = Vec::new();
        let mut questions: Vec<Choice> = Vec::new();
        let mut intro = String::new();
        let mut heading: Option<String> = None;
        let mut is_in_list = false;
        // A block of code may begin before the end.
        let mut is_fenced = head.lines().filter(|line| is_fence(line.trim())).count() % 2 == 1;
        for line in text.lines() {
            let trimmed = line.trim();
            if is_fence(trimmed) {
                is_fenced = !is_fenced;
                continue;
            }
            if is_fenced || trimmed.is_empty() || trimmed.starts_with(['|', '>', '<']) {
                continue;
            }
            let depth = line.len() - line.trim_start().len();
            if is_heading(trimmed) {
                heading = topic(trimmed);
            }
            if let Some((label, rest)) = item(trimmed) {
                // Items below an option explain it.
                if is_in_list
                    && depth >= 2
                    && lists.last().is_some_and(|list| !list.items.is_empty())
                {
                    continue;
                }
                let rest = unmarked(rest);
                // "A) Start small - can we do it at all?" is an option with its explanation.
                let end = [" - ", " — ", " – "].iter().filter_map(|mark| rest.find(mark)).min();
                let start = &rest[..end.unwrap_or(rest.len())];
                let asks = prose::sentences(start).take(2).any(is_question);
                if asks {
                    questions.push(choice(label.clone(), &rest));
                }
                if !is_in_list {
                    let is_offered = OFFERING.is_match(&intro) || intro.ends_with('?');
                    // "Options:" says nothing of what they are for.
                    let topic = heading.clone().filter(|_| intro.split(' ').count() <= 2);
                    lists.push(List { topic, is_offered, ..List::default() });
                }
                is_in_list = true;
                if let Some(list) = lists.last_mut() {
                    list.asks |= asks;
                    if list.items.len() < MOST {
                        list.items.push(choice(label, &rest));
                    }
                }
                continue;
            }
            if is_in_list && depth >= 2 {
                continue;
            }
            is_in_list = false;
            let plain = unmarked(trimmed.trim_start_matches('#').trim_start());
            for sentence in prose::sentences(&plain) {
                if is_question(sentence) {
                    questions.push(choice(None, sentence));
                }
                sentences.push(one_line(sentence, LENGTH + 80));
            }
            intro = plain;
        }
        Self::from_parts(lists, &sentences, questions)
    }

    fn from_parts(
        lists: Vec<List>,
        sentences: &[String],
        mut questions: Vec<Choice>,
    ) -> Option<Self> {
        let excess = questions.len().saturating_sub(MOST);
        questions.drain(..excess);
        let mut proposal = Self { questions, ..Self::default() };
        // Only a question or an offer in the last sentences is still open.
        let last: Vec<&String> = sentences.iter().rev().take(4).collect();
        let has_labels = |list: &List| {
            list.items.len() >= 2 && list.items.iter().all(|item| item.label.is_some())
        };
        let lettered = |list: &List| {
            has_labels(list)
                && list.items.iter().all(|item| {
                    item.label
                        .as_deref()
                        .is_some_and(|label| label.starts_with(char::is_alphabetic))
                })
        };
        for list in lists.into_iter().rev() {
            if list.asks || list.items.len() < 2 {
                continue;
            }
            let is_offered = list.is_offered || lettered(&list);
            if proposal.options.is_empty() && (is_offered || has_labels(&list)) {
                proposal.is_offered = is_offered;
                if !is_offered {
                    proposal.points = texts(&list.items);
                }
                proposal.options = list.items;
                proposal.topic = list.topic;
            } else if proposal.points.is_empty() {
                proposal.points = texts(&list.items);
            }
        }
        let asking: Vec<&&String> = last.iter().filter(|sentence| is_question(sentence)).collect();
        if let Some(question) = asking.first() {
            // "Want me to add that?" may repeat a question that names it.
            let offered = |question: &&&String| {
                offer(&OFFER, question.trim_end_matches(['?', '*', '"', ')']))
            };
            proposal.offer = offered(question).map(|first| {
                let mut offers = asking.iter().filter_map(offered);
                offers.find(|one| reply::names_something(one)).unwrap_or(first)
            });
            if !proposal.is_offered
                && let Some(alternatives) = alternatives(question)
            {
                proposal.options = alternatives;
                proposal.is_offered = true;
            }
        }
        if proposal.offer.is_none() {
            proposal.offer = last
                .iter()
                .find_map(|sentence| offer(&OFFERS, sentence.trim_end_matches(['.', '!', '?'])));
        }
        let advises = |sentence: &&String| !is_question(sentence) && ADVICE.is_match(sentence);
        let late = sentences.iter().rev().take(8);
        proposal.advice = late
            .filter(advises)
            .find(|advice| !advice.ends_with(':'))
            .map(|advice| one_line(advice, LENGTH));
        proposal.before = sentences
            .iter()
            .rev()
            .find(|sentence| {
                !is_question(sentence)
                    && !sentence.ends_with(':')
                    && sentence.split_whitespace().count() >= 5
            })
            .map(|sentence| one_line(sentence, LENGTH));
        let is_empty = proposal.questions.is_empty()
            && proposal.options.is_empty()
            && proposal.offer.is_none()
            && proposal.advice.is_none();
        (!is_empty).then_some(proposal)
    }

    /// The final question, in one line.
    pub(crate) fn question(&self) -> Option<&str> {
        self.questions.last().map(|question| question.text.as_str())
    }
}

/// Returns true for a line that is a heading, by its mark or in bold.
fn is_heading(line: &str) -> bool {
    let bold =
        line.trim_end_matches(':').strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    line.starts_with('#') || bold.is_some_and(|bold| !bold.contains("**"))
}

/// Returns what a heading says that the lines below it are about, without its number and its article.
fn topic(heading: &str) -> Option<String> {
    let plain = unmarked(heading.trim_start_matches(['#', ' ']));
    let bare = plain.trim_start_matches(|c: char| c.is_ascii_digit() || ". )".contains(c));
    let bare = bare.trim_end_matches([':', ' ']);
    let bare = ["The ", "A ", "An "].iter().find_map(|one| bare.strip_prefix(one)).unwrap_or(bare);
    let words = bare.split(' ').count();
    let says_what = (2..=5).contains(&words)
        && !title::is_label(bare)
        && !bare.ends_with('?')
        && !OFFERING.is_match(bare);
    says_what.then(|| capitalised(bare))
}

fn texts(items: &[Choice]) -> Vec<String> {
    items.iter().take(MOST).map(|item| item.text.clone()).collect()
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Returns the label and the text of an item of a list.
fn item(line: &str) -> Option<(Option<String>, &str)> {
    if let Some(found) = ITEM.captures(line) {
        let label = found.get(1).map(|label| label.as_str().to_lowercase());
        return found.get(2).map(|rest| (label, rest.as_str()));
    }
    ["- ", "* ", "• ", "+ "]
        .iter()
        .find_map(|bullet| line.strip_prefix(bullet))
        .map(|rest| (None, rest.trim()))
}

fn choice(label: Option<String>, text: &str) -> Choice {
    Choice { label, head: head(text), text: one_line(text, LENGTH) }
}

/// Returns the first words of an option: those before its explanation.
pub(crate) fn head(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_suffix(" (Recommended)").unwrap_or(text);
    let text = text.strip_suffix(", or").unwrap_or(text);
    let end =
        [" — ", " – ", " - ", ": ", " (", "; ", ". ", " → ", ", since ", " since ", " because "]
            .iter()
            .filter_map(|end| text.find(end))
            .filter(|at| *at >= 3)
            .min()
            .unwrap_or(text.len());
    one_line(text[..end].trim_matches(['*', '"', '`', '.', ',', ' ']), 120)
}

fn is_question(sentence: &str) -> bool {
    sentence.trim_end_matches(['*', ')', '"', '_', ' ', '🙂']).ends_with('?')
        && !sentence.starts_with(['"', '“', '\'', '│', '-'])
        && sentence.split_whitespace().count() >= 1
}

fn offer(shape: &Regex, sentence: &str) -> Option<String> {
    let lower: String = sentence.chars().take(10).collect::<String>().to_lowercase();
    let is_open = ["what ", "which ", "where ", "when ", "who ", "why ", "how ", "what's"]
        .iter()
        .any(|word| lower.starts_with(word));
    if is_open && !lower.contains(" about") {
        return None;
    }
    let found = shape.captures(sentence)?.get(1)?.as_str();
    let found = found.split(", or ").next().unwrap_or(found);
    let found = found.trim_end_matches(['.', '!', '?', ' ', '*']);
    (found.split_whitespace().count() >= 2).then(|| one_line(found, LENGTH))
}

/// Splits "Should I keep x, or move it to y?" into its two alternatives.
fn alternatives(question: &str) -> Option<Vec<Choice>> {
    let question = question.trim_end_matches(['?', '*', ')', '"', ' ']);
    let joint = [", or ", "; or ", " — or ", " - or "]
        .iter()
        .find_map(|joint| question.rfind(joint).map(|at| (at, joint.len())))
        .or_else(|| question.rfind(" or ").map(|at| (at, 4)))?;
    let (first, second) = (&question[..joint.0], &question[joint.0 + joint.1..]);
    let first = match [" — ", " – ", " - ", ": "].iter().filter_map(|mark| first.rfind(mark)).max()
    {
        Some(at) if first[at..].split_whitespace().count() > 3 => {
            first[at..].trim_start_matches([' ', '—', '–', '-', ':'])
        }
        _ => first,
    };
    // "Which one, a or b?"
    let first = match first.rfind(", ") {
        Some(at) if reply::asks_openly(first) => &first[at + 2..],
        _ => first,
    };
    let first = offer(&OFFER, first).unwrap_or_else(|| first.to_owned());
    let second = offer(&OFFER, second).unwrap_or_else(|| second.to_owned());
    // "Use a or b": both are things to use.
    let (verb, rest) = first.split_once(' ').unwrap_or(("", &first));
    let other = second.split(' ').next().unwrap_or_default();
    let is_shared =
        reply::is_verb(verb) && !reply::is_verb(other) && second.split(' ').count() <= 4;
    let first = if is_shared { rest.to_owned() } else { first };
    let is_open = |text: &str| {
        let lower = text.to_lowercase();
        [
            "do you",
            "is there",
            "are there",
            "something",
            "anything",
            "not",
            "what",
            "how",
            "was ",
            "which",
            "where",
            "would you",
            "did ",
        ]
        .iter()
        .any(|start| lower.starts_with(start))
    };
    let fits = |text: &str| (1..=30).contains(&text.split_whitespace().count()) && !is_open(text);
    let is_choice = fits(&first) && fits(&second) && !reply::asks(&first);
    is_choice.then(|| vec![choice(None, &first), choice(None, &second)])
}
