//! Decisions that a person made in the client's dialogues: one for each answered question.

use thru_core::Concept;

use crate::answers::DialogAnswer;
use crate::decisions::by_person;
use crate::prose;
use crate::reply;
use crate::restated;
use crate::session::{Draft, Session};
use crate::text::{TITLE, cut};

/// Longest narrative and fact, in characters.
const WORDS: usize = 400;

/// Least room that an explanation needs in a title, in characters.
const LEAST: usize = 20;

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
        let chosen = chosen(answer);
        let question = self.question(answer);
        if answer.is_own {
            return in_own_words(session, place, answer, question);
        }
        let fits = |title: &String| title.chars().count() <= TITLE;
        let meaning = answer.meaning.as_deref();
        let explained = |start: &str| {
            let room = TITLE.saturating_sub(start.chars().count() + 2);
            let whole = meaning.filter(|_| room >= LEAST)?;
            let meaning = reply::titled_in(whole, room);
            let is_shortened = meaning.len() + 1 < whole.len();
            let is_cut = meaning.matches('(').count() != meaning.matches(')').count();
            let whole = meaning.split(" (").next().filter(|_| is_cut);
            let meaning = whole.unwrap_or(&meaning);
            // A cut leaves half of a pair: "groups them and decides".
            let half = meaning.rsplit_once(" and ").filter(|(_, half)| half.split(' ').count() < 3);
            let meaning = half.filter(|_| is_shortened).map_or(meaning, |(whole, _)| whole);
            (!meaning.ends_with('…')).then(|| format!("{start}: {meaning}"))
        };
        let with_question =
            |asked: &str, said: &str| Some(format!("{asked} → {said}")).filter(fits);
        // A question that points at what was said before it does not stand alone.
        let is_whole = prose::sentences(&answer.question).count() < 2 || meaning.is_none();
        let questions = question.filter(|_| is_whole).map(shorter).unwrap_or_default();
        let mut asked =
            questions.iter().map(String::as_str).filter(|asked| !reply::points_early(asked));
        // "Both" says nothing without what it stands for.
        if !chosen.contains(' ')
            && let Some(whole) = asked
                .clone()
                .find_map(|asked| explained(&format!("{asked} → {chosen}")).filter(fits))
        {
            return whole;
        }
        let header = answer.header.as_deref().filter(|header| !is_empty_header(header));
        let named = header.map_or(chosen.to_owned(), |header| format!("{header}: {chosen}"));
        asked
            .find_map(|asked| with_question(asked, chosen))
            .or_else(|| explained(chosen).filter(|_| reply::names_something(chosen)))
            .unwrap_or_else(|| explained(&named).unwrap_or_else(|| reply::titled(&named)))
    }

    /// Returns the question of an answer. One that only asks for an approach means the one before it.
    fn question(&self, answer: &'s DialogAnswer) -> Option<&'s str> {
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

/// Returns the title of an answer that is none of the options.
fn in_own_words(
    session: &Session<'_>,
    place: usize,
    answer: &DialogAnswer,
    question: Option<&str>,
) -> String {
    let said = answer.answer.as_str();
    // "We can discuss it later, but right now it is x": what holds comes last.
    let held = said
        .split_once(", but ")
        .map(|(_, held)| held)
        .filter(|held| held.split_whitespace().count() >= 3 && !reply::asks(held));
    let about = |sentence: &&str| question.is_some_and(|asked| reply::alike(asked, sentence));
    let sentences: Vec<&str> = prose::sentences(held.unwrap_or(said)).collect();
    let telling = sentences.iter().copied().skip(1).rfind(about).filter(|_| held.is_none());
    let telling = telling.or(sentences.first().copied()).unwrap_or(said);
    let answered = question.into_iter().flat_map(shorter).find_map(|asked| {
        let whole = format!("{asked} → {}", telling.trim_end_matches(['.', '!', ' ']));
        (whole.chars().count() <= TITLE).then_some(whole)
    });
    reply::decision_in(said)
        .or_else(|| {
            restated::after(session, place).and_then(|(_, opening)| opening.concludes(said))
        })
        .or(answered)
        .unwrap_or_else(|| match answer.header.as_deref() {
            Some(header) if !is_empty_header(header) => {
                reply::titled(&format!("{header}: {telling}"))
            }
            _ => reply::titled(telling),
        })
}

/// Returns the last question in a text.
fn last_question(text: &str) -> &str {
    let asks = |sentence: &&str| sentence.contains('?');
    let last = prose::sentences(text).filter(asks).last().unwrap_or(text);
    reply::question_of(last)
}

/// Returns ever shorter forms of a question: without what leads up to it, then without its second half.
fn shorter(question: &str) -> Vec<String> {
    let mut forms = vec![question.to_owned()];
    let led = [": ", " — ", ", "].iter().filter_map(|joint| question.split_once(joint));
    let leads = |rest: &&str| {
        let is_question = reply::asks(rest) && rest.ends_with('?');
        is_question && !["or ", "and "].iter().any(|joint| rest.starts_with(joint))
    };
    let led = led.map(|(_, rest)| rest).find(leads);
    forms.extend(led.map(crate::text::capitalised));
    let last = forms.last().cloned().unwrap_or_default();
    let half = [", or ", " or ", " (", ", "].iter().find_map(|joint| {
        let (half, _) = last.split_once(joint)?;
        (half.split_whitespace().count() >= 4).then(|| format!("{half}?"))
    });
    forms.extend(half);
    forms
}

/// Returns true if a question names what it is about, rather than only asking for a choice.
fn names_subject(question: &str) -> bool {
    #[rustfmt::skip]
    const CHOOSING: [&str; 24] = [
        "approach", "based", "best", "choice", "choose", "direction", "do", "feel", "how", "instead", "option", "pick",
        "prefer", "preferred", "preference", "proceed", "resonate", "right", "shall", "think", "tradeoff", "vision", "way", "which",
    ];
    let words = reply::significant(question);
    words.iter().any(|word| {
        !CHOOSING.contains(&word.as_str()) && !["what", "does", "work"].contains(&word.as_str())
    })
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
    !lower.ends_with('?')
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
    answer.answer.trim_end_matches(" (Recommended)")
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
    let fact = match (is_titled, others.is_empty()) {
        (true, true) => return None,
        (true, false) => format!("Not chosen: {}", others.join(", ")),
        (false, true) => format!("{} → {}", answer.question, answer.answer),
        (false, false) => {
            format!("{} → {}; not: {}", answer.question, answer.answer, others.join(", "))
        }
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
        || ["yes", "no"].contains(&lower.as_str())
            && reply::is_procedure(&reply::offered(last_question(&answer.question)))
}
