//! Decisions that a person made in the client's dialogues: one for each answered question.

mod title;

use thru_core::Concept;

use self::title::Parts;
use crate::answers::DialogAnswer;
use crate::decisions::by_person;
use crate::event::{Action, Event};
use crate::object;
use crate::prose;
use crate::reply;
use crate::restated;
use crate::session::{Draft, Session};
use crate::text::cut;
use crate::verbs;

/// Longest narrative and fact, in characters.
const WORDS: usize = 400;

/// Longest question in a fact, in characters.
const QUESTION: usize = 200;

/// The questions of a turn, as far as they were asked.
#[derive(Default)]
pub(crate) struct Dialogue<'s> {
    asked: Vec<&'s DialogAnswer>,
}

impl<'s> Dialogue<'s> {
    /// Returns the decisions in the answers of one call.
    pub(crate) fn decisions(
        &mut self,
        session: &Session<'_>,
        place: usize,
        answers: &'s [DialogAnswer],
    ) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for (ordinal, answer) in answers.iter().enumerate() {
            if decides(answer) {
                let title = self.title(session, place, answer);
                drafts.push(draft(session, place, ordinal, answer, title));
            }
            self.asked.push(answer);
        }
        drafts
    }

    /// Returns the question, the answer, and as much of its meaning as a title needs.
    fn title(&self, session: &Session<'_>, place: usize, answer: &DialogAnswer) -> String {
        let question = self.question(answer);
        let turn = session.turns.iter().find(|turn| turn.range.contains(&place));
        let topic = turn.and_then(|turn| object::topic(session, turn));
        let plan = plan_after(session, place);
        let parts = Parts { answer, question, plan, topic: topic.as_deref() };
        if answer.is_own {
            return parts.in_own_words(restated::after(session, place).map(|(_, opening)| opening));
        }
        parts.title()
    }

    /// Returns the question of an answer. One that only asks for an approach means the one before it.
    fn question<'q>(&self, answer: &'q DialogAnswer) -> Option<&'q str>
    where
        's: 'q,
    {
        let own = last_question(&answer.question);
        if names_subject(own) {
            return Some(own);
        }
        let is_same = |known: &&&DialogAnswer| {
            known.header == answer.header && names_subject(last_question(&known.question))
        };
        let header = answer.header.as_ref()?;
        let known = self.asked.iter().rev().filter(|_| !is_empty_header(header)).find(is_same);
        known.map(|known| last_question(&known.question))
    }
}

/// Returns a decision of these words.
fn draft(
    session: &Session<'_>,
    place: usize,
    ordinal: usize,
    answer: &DialogAnswer,
    title: String,
) -> Draft {
    let mut observation = by_person(session, "answers", ordinal, place);
    observation.title = title;
    let meaning =
        meaning_of(answer).filter(|meaning| reply::says_more(meaning, &observation.title));
    observation.narrative =
        meaning.map(|meaning| session.statement(cut(&meaning, WORDS), &[place]));
    let fact = fact_of(answer, &observation.title);
    observation.facts = fact.map(|fact| session.statement(fact, &[place])).into_iter().collect();
    observation.concepts.insert(Concept::TradeOff);
    Draft { place, observation }
}

/// Returns the last question in a text.
fn last_question(text: &str) -> &str {
    let asks = |sentence: &&str| sentence.contains('?');
    let last = prose::sentences(text).filter(asks).last().unwrap_or(text);
    reply::question_of(last)
}

/// Returns true if a question names what it is about, rather than only asking for a choice.
fn names_subject(question: &str) -> bool {
    subject_words(question) > 0
}

/// Returns the number of words that say what a question is about, rather than that it asks for a choice.
fn subject_words(question: &str) -> usize {
    #[rustfmt::skip]
    const CHOOSING: [&str; 27] = [
        "approach", "based", "best", "choice", "choose", "direction", "do", "does", "feel", "how", "instead", "option",
        "pick", "prefer", "preferred", "preference", "proceed", "resonate", "right", "shall", "think", "tradeoff", "vision",
        "way", "what", "which", "work",
    ];
    let words = reply::significant(question);
    words.iter().filter(|word| !CHOOSING.contains(&word.as_str())).count()
}

/// Returns the heading of the plan to which the questions of a turn led.
fn plan_after<'s>(session: &'s Session<'_>, place: usize) -> Option<&'s str> {
    let events = session.events.get(place..)?;
    let turn = events.first()?.turn;
    let heading = |event: &'s Event| match &event.action {
        Action::Approved(plan) => plan.title.as_deref(),
        Action::Proposed(heading) => heading.as_deref(),
        _ => None,
    };
    events.iter().take_while(|event| event.turn == turn).find_map(heading)
}

/// Returns true if an answer decides something, rather than asking back or leaving it to the agent.
fn decides(answer: &DialogAnswer) -> bool {
    let lower = answer.answer.to_lowercase();
    let about_talk = [
        "areas",
        "want to discuss",
        "like to discuss",
        "more questions",
        "anything else",
        "move to next",
        "like to clarify",
        "do next",
        "what's next",
        "like to proceed",
        "like to do with",
    ];
    let question = answer.question.to_lowercase();
    // "From my understanding, writers would potentially be able to" explains, and decides nothing.
    let explains = answer.is_own
        && (reply::hedges(&lower)
            || ["potentially", "understanding"].iter().any(|one| lower.contains(one)));
    !explains
        && !lower.ends_with('?')
        && !lower.starts_with("hm")
        && !lower.contains("depends on")
        && !lower.contains("depend on")
        && (answer.meaning.is_some() || !reply::asks(&answer.answer))
        && !leaves_it(&lower)
        && !about_talk.iter().any(|talk| question.contains(talk))
        && !is_procedural(answer)
        && !(answer.is_own && reply::is_procedure(&reply::offered(last_question(&answer.question))))
}

/// Returns true for an option that leaves the choice to the agent, or to another time.
fn leaves_it(option: &str) -> bool {
    const LEAVES: [&str; 9] = [
        "you decide",
        "up to you",
        "your call",
        "whatever",
        "no preference",
        "not sure",
        "i don't know",
        "something else",
        "other",
    ];
    let lower = option.to_lowercase();
    LEAVES.iter().any(|leaves| lower.starts_with(leaves))
}

/// Returns the option that was chosen.
fn chosen(answer: &DialogAnswer) -> &str {
    without_mark(&answer.answer)
}

/// Returns an option without the mark of what the agent would choose.
fn without_mark(option: &str) -> &str {
    option.trim_end_matches(" (Recommended)")
}

/// Returns the meaning of an answer: the words beside the option that was chosen.
fn meaning_of(answer: &DialogAnswer) -> Option<String> {
    let meaning = answer.meaning.as_deref()?.trim_end_matches('.');
    let chosen = chosen(answer);
    Some(format!("{chosen}: {meaning}."))
}

/// Returns a question, its answer and what was not chosen, without what the title says.
fn fact_of(answer: &DialogAnswer, title: &str) -> Option<String> {
    let others: Vec<&str> =
        answer.others.iter().map(String::as_str).filter(|other| !leaves_it(other)).collect();
    let is_titled = title.starts_with(&format!("{} → ", last_question(&answer.question)))
        && (answer.meaning.is_some() || title.ends_with(&answer.answer));
    let question = cut(&answer.question, QUESTION);
    let fact = match (is_titled, others.is_empty()) {
        (true, true) => return None,
        (true, false) => format!("Not chosen: {}", others.join(", ")),
        (false, true) => format!("{question} → {}", answer.answer),
        (false, false) => format!("{question} → {}; not: {}", answer.answer, others.join(", ")),
    };
    Some(cut(&fact, WORDS))
}

/// Returns true if a header says nothing about the question.
fn is_empty_header(header: &str) -> bool {
    [
        "next",
        "next step",
        "next steps",
        "action",
        "confirm",
        "proceed",
        "approach",
        "choice",
        "continue",
    ]
    .contains(&header.to_lowercase().as_str())
}

/// Returns true for an answer such as "Next area" or "continue", which only decides how to proceed.
fn is_procedural(answer: &DialogAnswer) -> bool {
    let lower = answer.answer.to_lowercase();
    ["next", "continue", "proceed", "done", "more questions", "view", "show", "start"]
        .iter()
        .any(|word| lower == *word || lower.starts_with(&format!("{word} ")) && lower.len() < 40)
        || ["yes", "no"].contains(&lower.split([',', ' ']).next().unwrap_or_default())
            && is_offer(last_question(&answer.question))
}

/// Returns true for "Would you like me to draw the pages?": an offer of work decides nothing about it.
fn is_offer(question: &str) -> bool {
    let offered = reply::offered(question);
    let first = offered.split(' ').next().unwrap_or_default();
    let is_work = question.contains(" me to ") || verbs::is_imperative(first);
    reply::is_procedure(&offered)
        || offered.len() < question.len() && is_work && !reply::is_verb(first)
}
