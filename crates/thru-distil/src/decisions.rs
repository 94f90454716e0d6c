//! Decisions: those of a person, in a dialogue or a prompt, and those the agent states in its prose.

use thru_core::{Certainty, Concept, Observation, ObservationType, Speaker};

use crate::answers::DialogAnswer;
use crate::event::Action;
use crate::segment::Turn;
use crate::session::{Draft, Session};
use crate::text::{FACT, TITLE, cut};
use crate::title;

/// Most answers in one observation.
const ANSWERS: usize = 4;

/// Most choices taken from the agent's prose in one turn.
const CHOICES: usize = 2;

/// Adds the decisions of a turn.
pub(crate) fn observe(session: &Session<'_>, turn: &Turn, drafts: &mut Vec<Draft>) {
    let mut choices = 0;
    let mut pending: Vec<(usize, &DialogAnswer)> = Vec::new();
    for place in turn.range.clone() {
        let Some(event) = session.events.get(place) else { break };
        if !event.modified.is_empty() {
            flush(session, &mut pending, drafts);
        }
        match &event.action {
            Action::Answered(answers) => {
                for answer in answers {
                    pending.push((place, answer));
                    if pending.len() >= ANSWERS {
                        flush(session, &mut pending, drafts);
                    }
                }
            }
            Action::Approved(plan) => {
                let mut observation = by_person(session, "plan", 0, place);
                let title = plan
                    .title
                    .clone()
                    .or_else(|| plan.points.first().map(|point| title::shaped(point)));
                observation.title = title.unwrap_or_else(|| "Approve the plan".to_owned());
                observation.facts = plan
                    .points
                    .iter()
                    .map(|point| session.statement(point.clone(), &[place]))
                    .collect();
                drafts.push(Draft { place, observation });
            }
            Action::Declined(declined) => {
                let mut observation = by_person(session, "declined", 0, place);
                observation.title = title::shaped(&declined.words);
                observation.narrative = Some(session.statement(declined.words.clone(), &[place]));
                if !declined.is_certain {
                    observation.certainty = Certainty::Low;
                }
                observation.concepts.insert(Concept::Gotcha);
                drafts.push(Draft { place, observation });
            }
            Action::Asked(request) => {
                for (ordinal, ruling) in request.rulings.iter().enumerate() {
                    let mut observation = by_person(session, "ruling", ordinal, place);
                    observation.title.clone_from(&ruling.title);
                    observation.narrative =
                        Some(session.statement(ruling.sentence.clone(), &[place]));
                    observation.is_rule = ruling.is_rule;
                    observation.concepts.insert(match ruling.is_rule {
                        true => Concept::Pattern,
                        false => Concept::Gotcha,
                    });
                    drafts.push(Draft { place, observation });
                }
            }
            Action::Wrote(text) if choices < CHOICES => {
                if let Some(choice) = &text.choice {
                    choices += 1;
                    let mut observation =
                        session.blank("choice", 0, place, ObservationType::Decision);
                    observation.title.clone_from(&choice.title);
                    observation.narrative =
                        Some(session.statement(choice.sentence.clone(), &[place]));
                    observation.certainty = Certainty::Low;
                    observation.concepts.insert(match choice.is_trade_off {
                        true => Concept::TradeOff,
                        false => Concept::WhyItExists,
                    });
                    observation.sources = session.ids(&[place]);
                    drafts.push(Draft { place, observation });
                }
            }
            _ => {}
        }
    }
    flush(session, &mut pending, drafts);
}

fn by_person(session: &Session<'_>, detector: &str, ordinal: usize, place: usize) -> Observation {
    let mut observation = session.blank(detector, ordinal, place, ObservationType::Decision);
    observation.speaker = Speaker::Person;
    observation.sources = session.ids(&[place]);
    observation
}

/// Turns consecutive answers into one decision.
fn flush(
    session: &Session<'_>,
    pending: &mut Vec<(usize, &DialogAnswer)>,
    drafts: &mut Vec<Draft>,
) {
    let answers = std::mem::take(pending);
    let Some(&(place, _)) = answers.first() else { return };
    let places: Vec<usize> = answers.iter().map(|(place, _)| *place).collect();
    // Several observations may begin in the same call: each starts at a different question.
    let ordinal = drafts.iter().rev().take_while(|draft| draft.place == place).count();
    let mut observation = by_person(session, "answers", ordinal, place);
    observation.title = answers_title(&answers);
    observation.facts = answers
        .iter()
        .map(|(place, answer)| {
            session.statement(
                cut(&format!("{} → {}", answer.question, answer.answer), FACT),
                &[*place],
            )
        })
        .collect();
    observation.concepts.insert(Concept::TradeOff);
    observation.sources = session.ids(&places);
    observation.at = places.iter().filter_map(|place| session.events.get(*place)?.at).max();
    let mut counted = places;
    counted.dedup();
    observation.raw_tokens = counted
        .iter()
        .filter_map(|place| session.events.get(*place))
        .map(|event| event.tokens)
        .sum();
    drafts.push(Draft { place, observation });
}

fn answers_title(answers: &[(usize, &DialogAnswer)]) -> String {
    if let [(_, answer)] = answers {
        let whole = format!("{} → {}", answer.question, answer.answer);
        if whole.chars().count() <= TITLE {
            return whole;
        }
    }
    let mut title = String::new();
    let worth: Vec<&DialogAnswer> =
        answers.iter().map(|(_, answer)| *answer).filter(|answer| !is_procedural(answer)).collect();
    let first = answers.first().map(|(_, answer)| *answer);
    for answer in worth.into_iter().chain(first).take(answers.len().max(1)) {
        let header =
            answer.header.as_deref().unwrap_or_else(|| answer.question.trim_end_matches('?'));
        let part = match is_empty_header(header) {
            true => answer.answer.clone(),
            false => format!("{header}: {}", answer.answer),
        };
        if title.is_empty() {
            title = cut(&part, TITLE);
        } else if !title.contains(&part)
            && title.chars().count() + part.chars().count() + 2 <= TITLE
        {
            title.push_str("; ");
            title.push_str(&part);
        }
    }
    title
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
    answer.question.starts_with("More questions")
        || ["next", "continue", "proceed", "yes", "no", "you decide", "done", "skip"].iter().any(
            |word| {
                lower == *word || lower.starts_with("next ") || lower.starts_with("more questions")
            },
        )
}
