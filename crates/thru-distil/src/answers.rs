//! Decisions that a person made in the client's own dialogues: answered questions, approved plans,
//! declined calls.

use std::sync::LazyLock;

use crate::pattern::Regex;

use crate::pattern;
use crate::prose::{self, LineKind};
use crate::reply;
use crate::text::{one_line, unmarked};
use crate::title;

/// A question and the answer that a person chose or wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DialogAnswer {
    /// The question.
    pub(crate) question: String,
    /// The short name that the agent gave the question.
    pub(crate) header: Option<String>,
    /// The answer.
    pub(crate) answer: String,
    /// The explanation that the agent gave the chosen option.
    pub(crate) meaning: Option<String>,
    /// The options that were not chosen.
    pub(crate) others: Vec<String>,
    /// True if the answer is none of the options.
    pub(crate) is_own: bool,
    /// The option that an answer in own words begins with.
    pub(crate) repeated: Option<String>,
}

/// A plan that a person approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The plan's heading.
    pub(crate) title: Option<String>,
    /// The plan's main points.
    pub(crate) points: Vec<String>,
    /// The first sentences of its context: the reason for it.
    pub(crate) reason: Option<String>,
    /// What it is to bring about, as it says itself.
    pub(crate) goal: Option<String>,
}

/// Longest question, answer and explanation, in characters.
const QUESTION: usize = 480;
const ANSWER: usize = 400;
const MEANING: usize = 180;

/// A question as it was asked.
#[derive(Default)]
struct Question<'t> {
    text: &'t str,
    id: Option<&'t str>,
    header: Option<&'t str>,
    /// The options with their explanations.
    options: Vec<(&'t str, Option<&'t str>)>,
}

/// Returns the answers in the text of a call that asked a person: `AskUserQuestion`, `ask_user` or
/// `request_user_input`.
pub(crate) fn answers(text: &str) -> Vec<DialogAnswer> {
    const ANSWERED: [&str; 5] = [
        "answered your questions:",
        "answered Claude's questions:",
        "answered the questions:",
        "\nUser responded: ",
        "\nUser selected: ",
    ];
    let marker = ANSWERED.iter().find_map(|marker| text.find(marker).map(|at| at + marker.len()));
    let marker = marker.or_else(|| text.find("{\"answers\":"));
    let (input, result) = text.split_at(marker.unwrap_or(text.len()));
    let is_plain = input.ends_with("responded: ") || input.ends_with("selected: ");
    let mut answers = Vec::new();
    for question in questions(input).into_iter().take(8) {
        let listed;
        let answer = if is_plain {
            Some(result)
        } else if result.starts_with('{') {
            listed = question.id.and_then(|id| listed_answer(result, id));
            listed.as_deref()
        } else {
            quoted_answer(result, question.text).or_else(|| {
                text.lines().find_map(|line| line.strip_prefix(question.text)?.strip_prefix(": "))
            })
        };
        if let Some(answer) = answer.map(str::trim).filter(|answer| !answer.is_empty()) {
            let is_chosen = |label: &str| answer.contains(label);
            let meaning = question.options.iter().find(|(label, _)| is_chosen(label));
            let repeated = meaning.is_none().then(|| repeated(answer, &question.options));
            answers.push(DialogAnswer {
                is_own: meaning.is_none(),
                repeated: repeated.flatten().map(|option| one_line(option, MEANING)),
                question: one_line(question.text, QUESTION),
                header: question.header.map(|header| one_line(header, 30)),
                answer: one_line(answer, ANSWER),
                meaning: meaning
                    .and_then(|(_, meaning)| *meaning)
                    .map(|text| one_line(text, MEANING)),
                others: question
                    .options
                    .iter()
                    .filter(|(label, _)| !is_chosen(label))
                    .take(4)
                    .map(|(label, _)| one_line(label, 80))
                    .collect(),
            });
        }
    }
    answers
}

/// Fewest words with a meaning of an answer that repeats an option.
const REPEATED: usize = 3;

/// Returns the option that has all words with which an answer begins, if it is the only one.
fn repeated<'t>(answer: &str, options: &[(&'t str, Option<&'t str>)]) -> Option<&'t str> {
    // Hasty writers leave no blank between sentences.
    let start = answer.split(['.', ';', ',', '\n']).next().unwrap_or(answer);
    let words = reply::significant(start);
    let mut same = options.iter().filter(|(label, _)| {
        let known = reply::significant(label);
        words.iter().all(|word| known.contains(word))
    });
    let (label, _) = same.next().filter(|_| words.len() >= REPEATED)?;
    same.next().is_none().then_some(label)
}

/// Returns the questions that were asked, with their short names and options.
fn questions(input: &str) -> Vec<Question<'_>> {
    let mut questions: Vec<Question<'_>> = Vec::new();
    // Members that precede their question.
    let (mut id, mut header, mut is_choices) = (None, None, false);
    for line in input.lines() {
        let line = line.strip_prefix("questions: ").unwrap_or(line);
        let line = line.strip_prefix("options: ").unwrap_or(line);
        let last = questions.last_mut();
        if let Some(text) = line.strip_prefix("question: ") {
            questions.push(Question {
                text,
                id: id.take(),
                header: header.take(),
                options: Vec::new(),
            });
            is_choices = false;
        } else if let Some(text) = line.strip_prefix("header: ") {
            match last.filter(|last| last.header.is_none()) {
                Some(last) => last.header = Some(text),
                None => header = Some(text),
            }
        } else if let Some(text) = line.strip_prefix("id: ") {
            match last.filter(|last| last.id.is_none()) {
                Some(last) => last.id = Some(text),
                None => id = Some(text),
            }
        } else if let Some(last) = last {
            if let Some(label) = line.strip_prefix("choices: ") {
                is_choices = true;
                last.options.push((label, None));
            } else if let Some(label) = line.strip_prefix("label: ") {
                last.options.push((label, None));
            } else if let Some(text) = line.strip_prefix("description: ") {
                if let Some((_, meaning)) = last.options.last_mut() {
                    *meaning = Some(text);
                }
            } else if is_choices && !line.starts_with("User ") && !is_member(line) {
                last.options.push((line, None));
            }
        }
        if let Some(last) = questions.last_mut() {
            last.options.truncate(8);
        }
    }
    questions
}

/// Returns true for a line that begins with the name of a member.
fn is_member(line: &str) -> bool {
    line.split_once(": ")
        .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
}

/// Returns the answers to the question with this id in `{"answers":{"id":{"answers":["a"]}}}`.
fn listed_answer(result: &str, id: &str) -> Option<String> {
    let result = result.lines().next()?;
    let parsed: serde_json::Value = serde_json::from_str(result).ok()?;
    let given = parsed.get("answers")?.get(id)?;
    let given = given.get("answers").unwrap_or(given).as_array()?;
    let given: Vec<&str> = given.iter().filter_map(serde_json::Value::as_str).collect();
    Some(given.join("; ")).filter(|given| !given.is_empty())
}

/// Returns the text behind `"question"=` in the result, up to the next answer or the end.
fn quoted_answer<'t>(result: &'t str, question: &str) -> Option<&'t str> {
    let at = result.find(&format!("\"{question}\"=\""))?;
    let rest = &result[at + question.len() + 4..];
    let ends = ["\" user notes:", "\" selected preview:", "\", \"", "\". You can now", "\".\n"];
    let end = ends.iter().filter_map(|end| rest.find(end)).min();
    let end = end.or_else(|| rest.find('"')).unwrap_or(rest.len());
    Some(&rest[..end])
}

/// The beginning of the client's result when a person approved.
const APPROVED: &str = "\nUser has approved ";

/// Returns true if a person approved the plan in the text of an `ExitPlanMode` call. Only the client's
/// own words count; a plan that merely contains them may have been rejected.
pub(crate) fn is_approved(text: &str) -> bool {
    text.matches(APPROVED).count() == 1 && !text.contains("\nYour plan has been submitted")
}

/// Parses the plan in the text of an `ExitPlanMode` call.
pub(crate) fn plan(text: &str) -> Plan {
    let body = text.find("plan: ").map_or("", |at| &text[at + 6..]);
    let body = body.split(APPROVED).next().unwrap_or(body);
    plan_in(body)
}

/// Parses a plan.
pub(crate) fn plan_in(body: &str) -> Plan {
    Plan {
        title: plan_title(body),
        points: plan_points(body),
        reason: plan_reason(body),
        goal: plan_goal(body),
    }
}

/// A sentence that says what a plan is to bring about.
static GOAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:the\s+)?(?:goals?|aims?|objectives?)(?:\s+of\s+this\s+plan)?(?::\s*|\s+(?:is|are)(?:\s*:|\s+to)\s+)(\S.{8,})$",
    )
});

/// Returns the goal of a plan: the sentence that names it, else the first one under its heading.
fn plan_goal(body: &str) -> Option<String> {
    let mut is_goal = false;
    for line in prose::lines(body).take(60) {
        if line.kind == LineKind::Heading {
            let heading = unmarked(line.text).to_lowercase();
            is_goal = ["goal", "objective", "aim"].iter().any(|one| heading.starts_with(one));
            continue;
        }
        for sentence in prose::sentences(line.text) {
            let said = unmarked(sentence);
            let named = GOAL.captures(&said).and_then(|found| found.get(1));
            if let Some(goal) = named.map(|goal| goal.as_str()).or(is_goal.then_some(said.as_str()))
            {
                return Some(one_line(goal.trim_end_matches('.'), REASON));
            }
        }
    }
    None
}

/// Sentences of a plan that say what it is to bring about.
static AIM: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:goals?|aims?|this\s+plan|we\s+(?:need|want|will|can)|the\s+fix|solution|approach|instead|so\s+that|should|must|replaces?|allows?|in\s+order\s+to|to\s+(?:avoid|reduce|prevent|make|keep|let))\b",
    )
});

/// Returns why a plan was made: the first sentence of its context, then what it is to bring about.
fn plan_reason(body: &str) -> Option<String> {
    const WHY: [&str; 8] =
        ["context", "problem", "background", "motivation", "why", "overview", "summary", "current"];
    const AIMS: [&str; 5] = ["goal", "approach", "solution", "objective", "aim"];
    let mut first: Option<String> = None;
    let (mut aims, mut rest): (Vec<String>, Vec<String>) = Default::default();
    let (mut is_why, mut is_aim) = (false, false);
    for line in prose::lines(body).take(400) {
        match line.kind {
            LineKind::Heading => {
                let heading = unmarked(line.text).to_lowercase();
                let begins = |all: &[&str]| {
                    heading.len() < 40 && all.iter().any(|one| heading.starts_with(one))
                };
                (is_why, is_aim) = (begins(&WHY), begins(&AIMS));
                if first.is_some() && !is_why && !is_aim {
                    break;
                }
            }
            LineKind::Text | LineKind::Item if is_why || is_aim => {
                for sentence in prose::sentences(line.text) {
                    let said = one_line(&unmarked(sentence), REASON);
                    let aims_at = is_aim || AIM.is_match(&said);
                    match (&first, aims_at) {
                        (None, _) => first = Some(said),
                        (_, true) => aims.push(said),
                        (_, false) => rest.push(said),
                    }
                }
            }
            _ => {}
        }
    }
    let mut reason = String::new();
    for said in first.into_iter().chain(aims).chain(rest) {
        if !reason.is_empty() && reason.chars().count() + said.chars().count() > REASON {
            break;
        }
        if !reason.is_empty() {
            reason.push(' ');
        }
        reason.push_str(&said);
        if !reason.ends_with(['.', '!', '?', ':', ';', '。']) {
            reason.push(';');
        }
    }
    finished(reason)
}

fn finished(reason: String) -> Option<String> {
    let reason = reason.trim_end_matches([';', ' ']).to_owned();
    (!reason.is_empty()).then_some(reason)
}

/// Longest reason of a plan, in characters.
const REASON: usize = 360;

/// Returns the heading of a plan, without a leading "plan".
pub(crate) fn plan_title(body: &str) -> Option<String> {
    let headings = prose::lines(body).filter(|line| line.kind == LineKind::Heading);
    for line in headings.take(4) {
        let heading = unmarked(line.text);
        let heading = heading.trim();
        let bare =
            ["Implementation Plan:", "Implementation Plan —", "Plan:", "Plan —", "Plan -", "PLAN:"]
                .iter()
                .find_map(|label| heading.strip_prefix(label))
                .unwrap_or(heading)
                .trim();
        let bare =
            bare.strip_suffix(" Plan").or_else(|| bare.strip_suffix(" plan")).unwrap_or(bare);
        if !title::is_label(bare) {
            return Some(title::shaped(bare));
        }
    }
    None
}

/// Returns the points of a plan: its decisions, else its numbered headings, else its first items.
fn plan_points(body: &str) -> Vec<String> {
    const DECIDED: [&str; 6] =
        ["decision", "design", "key point", "rules", "non-goal", "out of scope"];
    let mut headings = Vec::new();
    let mut decided = Vec::new();
    let mut is_decided = false;
    let mut items = Vec::new();
    for (number, line) in prose::lines(body).enumerate() {
        let cleaned = unmarked(line.text);
        if line.kind == LineKind::Heading {
            let lower = cleaned.to_lowercase();
            is_decided = DECIDED.iter().any(|word| lower.contains(word)) && lower.len() < 40;
        }
        if title::is_label(&cleaned) || cleaned.len() < 12 || says_nothing(&cleaned) {
            continue;
        }
        match line.kind {
            LineKind::Item if is_decided && decided.len() < 6 => {
                decided.push(one_line(&cleaned, 200))
            }
            LineKind::Heading if number > 0 && headings.len() < 5 => {
                headings.push(one_line(&cleaned, 140))
            }
            LineKind::Item if items.len() < 5 => items.push(one_line(&cleaned, 160)),
            _ => {}
        }
    }
    if decided.len() >= 2 {
        return decided;
    }
    if headings.len() >= 2 { headings } else { items }
}

/// Returns true for a point that is only the plan's title, a file or a part that every plan has.
fn says_nothing(point: &str) -> bool {
    let bare = point.trim_start_matches(|c: char| c.is_ascii_digit() || ". )".contains(c));
    let lower = bare.to_lowercase();
    let is_part = [
        "plan:",
        "plan -",
        "plan —",
        "file:",
        "files",
        "new file",
        "modified",
        "current state",
        "critical files",
        "verification",
        "testing",
        "implementation",
        "overview",
        "steps",
        "part ",
    ]
    .iter()
    .any(|part| lower.starts_with(part));
    is_part || !bare.trim_matches('`').contains(' ') || bare.ends_with(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_with_their_questions() {
        let text = "AskUserQuestion\nquestions: question: Which store, \"a\" or \"b\"?\nheader: Store\nmultiSelect: false\noptions: label: a\nquestion: How long?\nheader: Time\nUser has answered your questions: \"Which store, \"a\" or \"b\"?\"=\"b, but small\" user notes: x, \"How long?\"=\"One day\". You can now continue with the user's answers in mind.";
        let read: Vec<(String, String)> =
            answers(text).into_iter().map(|answer| (answer.question, answer.answer)).collect();
        assert_eq!(
            read,
            [
                ("Which store, \"a\" or \"b\"?".to_owned(), "b, but small".to_owned()),
                ("How long?".to_owned(), "One day".to_owned()),
            ]
        );
    }

    #[test]
    fn unanswered_questions_have_no_answers() {
        assert_eq!(answers("AskUserQuestion\nquestions: question: Which?\nheader: H"), []);
    }

    #[test]
    fn plans_are_read() {
        let plan = plan(
            "ExitPlanMode\nplan: # Plan: Cache the index\n\n## Context\nSlow.\n\n## 1. Add a cache module\n- x\n## 2. Use it in the reader\nUser has approved your plan. Go.",
        );
        assert_eq!(plan.title.as_deref(), Some("Cache the index"));
        assert_eq!(plan.points, ["1. Add a cache module", "2. Use it in the reader"]);
    }
}
