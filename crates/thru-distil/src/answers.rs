//! Decisions that a person made in the client's own dialogues: answered questions, approved plans,
//! declined calls.

use crate::prose::{self, LineKind};
use crate::text::{one_line, unmarked};
use crate::title;

/// A question and the answer that a person chose or wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DialogAnswer {
    /// The question.
    pub(crate) question: String,
    /// The short name that the agent gave the question.
    pub(crate) header: Option<String>,
    /// The answer.
    pub(crate) answer: String,
}

/// A plan that a person approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The plan's heading.
    pub(crate) title: Option<String>,
    /// The plan's main points.
    pub(crate) points: Vec<String>,
}

/// Returns the answers in the text of an `AskUserQuestion` call.
pub(crate) fn answers(text: &str) -> Vec<DialogAnswer> {
    const ANSWERED: [&str; 3] =
        ["answered your questions:", "answered Claude's questions:", "answered the questions:"];
    let marker = ANSWERED.iter().find_map(|marker| text.find(marker).map(|at| at + marker.len()));
    let (input, result) = text.split_at(marker.unwrap_or(text.len()));
    let mut answers = Vec::new();
    for (question, header) in questions(input).into_iter().take(8) {
        let answer = quoted_answer(result, question).or_else(|| {
            text.lines().find_map(|line| line.strip_prefix(question)?.strip_prefix(": "))
        });
        if let Some(answer) = answer.map(str::trim).filter(|answer| !answer.is_empty()) {
            answers.push(DialogAnswer {
                question: one_line(question, 140),
                header: header.map(|header| one_line(header, 30)),
                answer: one_line(answer, 160),
            });
        }
    }
    answers
}

/// Returns the questions that were asked, with their short names.
fn questions(input: &str) -> Vec<(&str, Option<&str>)> {
    let mut questions: Vec<(&str, Option<&str>)> = Vec::new();
    for line in input.lines() {
        let line = line.strip_prefix("questions: ").unwrap_or(line);
        if let Some(question) = line.strip_prefix("question: ") {
            questions.push((question, None));
        } else if let Some(header) = line.strip_prefix("header: ")
            && let Some((_, known)) = questions.last_mut()
        {
            *known = Some(header);
        }
    }
    questions
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
    Plan { title: plan_title(body), points: plan_points(body) }
}

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

/// Returns the points of a plan: its numbered headings, else its first items.
fn plan_points(body: &str) -> Vec<String> {
    let mut headings = Vec::new();
    let mut items = Vec::new();
    for (number, line) in prose::lines(body).enumerate() {
        let cleaned = unmarked(line.text);
        if title::is_label(&cleaned) || cleaned.len() < 12 {
            continue;
        }
        match line.kind {
            LineKind::Heading if number > 0 && headings.len() < 5 => {
                headings.push(one_line(&cleaned, 140))
            }
            LineKind::Item if items.len() < 5 => items.push(one_line(&cleaned, 160)),
            _ => {}
        }
    }
    if headings.len() >= 2 { headings } else { items }
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
