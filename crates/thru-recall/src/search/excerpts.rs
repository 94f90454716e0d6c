//! The parts of the hits that are shown: the more, the likelier a hit answers.

use std::borrow::Cow;

use thru_core::{ASKING_TOOLS, Outcome, PassageKind};
use thru_redact::Clean;
use thru_store::PassageRow;
use thru_store::index::{Candidates, QueryTerms};

use super::{Hit, SessionHits};
use crate::decision::asks_why;
use crate::how_to::Told;
use crate::meaning::LazyMeaning;
use crate::snippet::{Cut, Snippet, Sought, snippet};

/// Length of a snippet, in characters.
const LENGTH: usize = 240;
/// The first passages, which are most likely to answer, and the length of their snippets; that of the very first.
pub(super) const LEADERS: usize = 3;
const LEADER_LENGTH: usize = 900;
const FIRST_LENGTH: usize = 1_200;
/// … and of what was said in as many passages behind them, and of a plan that says why further down.
const SAID_LENGTH: usize = 480;
/// Length of an outcome behind a hit: its opening, and what has to do with the question.
const OUTCOME_LENGTH: usize = 320;
/// The most that one is given where there are few.
const MOST: usize = 1_500;
/// The share of its room up to which a text is shown whole.
const WHOLE: (usize, usize) = (4, 3);
/// Passages of a full screen.
const SCREEN: usize = 10;
/// Bytes of the shortest prompt that says why as well as what.
const PLAN: usize = 1_000;
/// Bytes at the beginning of a plan in which it says why.
const REASONS: usize = 1_500;
/// The shares of a snippet that the opening of an answer, and of a command, take at most.
const OPENING: (usize, usize) = (2, 5);
const OF_COMMAND: usize = 2;
/// Bytes of a command that are shown where it leads.
const COMMAND: usize = 320;

/// Returns true for a prompt that says why as well as what.
pub(super) fn is_plan(passage: &PassageRow, text: &str) -> bool {
    passage.kind == PassageKind::Human && text.len() >= PLAN
}

/// Returns true for a tool that asks the person.
pub(super) fn asks_person(tool: Option<&str>) -> bool {
    tool.is_some_and(|tool| ASKING_TOOLS.contains(&tool))
}

/// What the parts of hits are chosen by.
pub(super) struct Excerpts<'a, 'm> {
    terms: &'a QueryTerms,
    candidates: &'a Candidates,
    told: &'a [Told],
    meaning: &'a LazyMeaning<'m>,
    asks_why: bool,
    sought: Sought,
}

impl<'a, 'm> Excerpts<'a, 'm> {
    pub(super) fn of(
        query: &str,
        terms: &'a QueryTerms,
        candidates: &'a Candidates,
        told: &'a [Told],
        meaning: &'a LazyMeaning<'m>,
    ) -> Self {
        let asks_why = asks_why(query);
        let sought = match asks_why {
            true => Sought::Reason,
            false if asks_how_many(query) => Sought::Number,
            false => Sought::Anything,
        };
        Self { terms, candidates, told, meaning, asks_why, sought }
    }

    /// Cuts the part of each hit that is shown, in the order of the screen.
    pub(super) fn cut(&self, sessions: &mut [SessionHits]) {
        let count = sessions.iter().map(|session| session.hits.len()).sum::<usize>();
        // What a short screen leaves is given to the first ones.
        let spare = SCREEN.saturating_sub(count) * LENGTH / LEADERS.min(count).max(1);
        let hits = sessions.iter_mut().flat_map(|session| &mut session.hits);
        for (place, hit) in hits.enumerate() {
            let is_plan = is_plan(&hit.passage, hit.text.get());
            let is_reason = is_plan && self.asks_why;
            let is_said =
                hit.passage.kind != PassageKind::Tool || asks_person(hit.passage.tool.as_deref());
            let length = match place {
                0 => (FIRST_LENGTH + spare).min(MOST),
                _ if place < LEADERS => (LEADER_LENGTH + spare).min(MOST),
                _ if is_reason || is_said && place < 2 * LEADERS => SAID_LENGTH,
                _ => LENGTH,
            };
            // What is little longer is shown whole.
            let whole = hit.text.get().len();
            let length = if whole <= length * WHOLE.0 / WHOLE.1 { whole } else { length };
            hit.snippet = self.snippet(hit, place < LEADERS, length);
        }
    }

    fn snippet(&self, hit: &Hit, is_leader: bool, length: usize) -> Clean<Snippet> {
        let Hit { passage, text, .. } = hit;
        let candidate = &self.candidates.found[hit.score.candidate];
        let is_reason = self.asks_why && is_plan(passage, text.get());
        // Only its meaning matches: the snippet begins at the nearest chunk.
        let nearest = match candidate.holds_any() || is_reason {
            true => None,
            false => {
                self.meaning.get().and_then(|query| query.place_in(text.get(), candidate.text_key))
            }
        };
        let command = self.told.iter().find(|told| told.score.candidate == hit.score.candidate);
        let opening = match &passage.command {
            Some(_) if is_leader => COMMAND,
            Some(_) => length / OF_COMMAND,
            None if is_leader && passage.kind == PassageKind::Assistant => {
                length * OPENING.0 / OPENING.1
            }
            None => 0,
        };
        let cut = Cut {
            weights: if command.is_some() { &[] } else { &self.candidates.idf },
            length,
            otherwise: nearest.unwrap_or(0),
            is_call: passage.kind == PassageKind::Tool,
            is_failed: passage.outcome == Some(Outcome::Failed),
            opening,
            sought: self.sought,
        };
        let terms = command.map_or(self.terms, |told| &told.terms);
        let reasons = is_reason.then_some(REASONS);
        text.derive(|text| {
            let text = &text[..text.floor_char_boundary(reasons.unwrap_or(text.len()))];
            snippet(&without_tool(text, passage.tool.as_deref()), terms, &cut)
        })
    }

    /// The part of an outcome that is shown behind a hit.
    pub(super) fn outcome(&self, text: &Clean<String>) -> Clean<Snippet> {
        let weights = &self.candidates.idf;
        let (length, opening) = (OUTCOME_LENGTH, OUTCOME_LENGTH / 2);
        let cut = Cut { weights, length, opening, sought: self.sought, ..Cut::default() };
        text.derive(|text| snippet(text, self.terms, &cut))
    }
}

/// Returns true if a question asks for a number.
fn asks_how_many(query: &str) -> bool {
    const ASKING: [&str; 5] = ["how many", "how much", "how long", "how often", "wie viele"];
    let query = query.to_lowercase();
    ASKING.iter().any(|words| query.contains(words))
}

/// The text of a call without the name of its tool, which is shown before it; of one that asked the person the answers, each
/// behind the last sentence of its question.
fn without_tool<'t>(text: &'t str, tool: Option<&str>) -> Cow<'t, str> {
    const ANSWERED: [&str; 2] = ["answered your questions: ", "answered Claude's questions: "];
    const IS: &str = "\"=\"";
    let Some(tool) = tool else { return text.into() };
    let rest = text.strip_prefix(tool).and_then(|rest| rest.strip_prefix('\n')).unwrap_or(text);
    let is_asking = asks_person(Some(tool));
    let answer = ANSWERED.iter().find_map(|said| Some(rest.find(said)? + said.len()));
    let Some(answers) = answer.filter(|_| is_asking).map(|at| &rest[at..]) else {
        return rest.into();
    };
    // "Question"="answer", "question"="answer".
    let parts: Vec<&str> = answers.split(IS).collect();
    let mut told = String::new();
    for (number, part) in parts.iter().enumerate() {
        let question = match number {
            0 => 0,
            _ if number + 1 == parts.len() => part.len(),
            _ => part.rfind("\", \"").map_or(part.len(), |at| at + 3),
        };
        let (answer, question) = part.split_at(question);
        let before = question.rfind(". ").map_or(0, |at| at + 2);
        let is = if number > 0 { IS } else { "" };
        let quote = if before > 0 { "\"" } else { "" };
        for part in [is, answer, quote, &question[before..]] {
            told.push_str(part);
        }
    }
    told.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_shown_without_its_tool_and_a_question_by_its_answer() {
        for (text, tool, wanted) in [
            ("Bash\ncommand: ls", Some("Bash"), "command: ls"),
            ("Bash\ncommand: ls", None, "Bash\ncommand: ls"),
            (
                "AskUserQuestion\nquestions: Which?\nUser has answered your questions: \"Which?\"=\"a\"",
                Some("AskUserQuestion"),
                "\"Which?\"=\"a\"",
            ),
            ("AskUserQuestion\nquestions: Which?", Some("AskUserQuestion"), "questions: Which?"),
            (
                "AskUserQuestion\nquestions: …\nUser has answered your questions: \"It is down. Start it?\"=\"no. wait\", \"It is \"old\". Which?\"=\"a, b\". Go on.",
                Some("AskUserQuestion"),
                "\"Start it?\"=\"no. wait\", \"Which?\"=\"a, b\". Go on.",
            ),
            ("Bash\nanswered your questions: x", Some("Bash"), "answered your questions: x"),
        ] {
            assert_eq!(without_tool(text, tool), wanted);
        }
    }
}
