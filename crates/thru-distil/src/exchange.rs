//! Exchanges: the question or the trouble of a prompt and the sentence with which the agent answers it, as one title.

use crate::agent_text::{is_label_line, is_meta, is_status};
use crate::cue;
use crate::gate::{is_about_course, is_about_something, is_balanced, is_finished};
use crate::phrase;
use crate::prose::{self, LineKind};
use crate::reply;
use crate::report;
use crate::text::{self, capitalised, one_line, plain, uncapitalised};
use crate::title;
use crate::verbs;
use crate::wording;

/// Longest topic, in characters.
const TOPIC: usize = 66;

/// Least room in a title that an answer needs, in characters.
const ROOM: usize = 24;

/// Bytes of a text in which an answer is looked for, and most of its sentences.
const LOOKED_AT: usize = 2 * 1024;
const SENTENCES: usize = 4;

/// Most sentences of a prompt in which a topic is looked for.
const ASKED: usize = 5;

/// Most sentences of a prompt in which trouble is looked for: what follows is most often output.
const TROUBLED: usize = 2;

/// First words of questions, in lower case.
#[rustfmt::skip]
const ASKING: [&str; 33] = [
    "any", "are", "aren't", "can", "could", "did", "do", "does", "doesn't", "has", "have", "how", "is", "isn't", "should",
    "shouldn't", "was", "were", "what", "what's", "whats", "when", "where", "whether", "which", "who", "why", "will",
    "wont", "won't", "would", "whose", "wouldn't",
];

/// Words of a report of trouble, in lower case.
#[rustfmt::skip]
const TROUBLE: [&str; 36] = [
    "bad", "broke", "broken", "bug", "bugs", "cannot", "can't", "cant", "crash", "crashes", "didn't", "doesn't", "doesnt",
    "empty", "error", "errors", "fail", "failed", "failing", "fails", "hangs", "isn't", "isnt", "missing", "never",
    "rejected", "slow", "still", "stuck", "timeout", "undefined", "warning", "warnings", "weird", "won't", "wrong",
];

/// Answers in one or two words, in lower case.
const SHORT: [&str; 14] = [
    "yes",
    "no",
    "correct",
    "exactly",
    "right",
    "not yet",
    "not really",
    "not necessarily",
    "nope",
    "mostly",
    "mostly yes",
    "partly",
    "yep",
    "almost",
];

/// Returns the first sentence that asks something or reports trouble, as far as a reader who knows nothing else
/// understands it.
pub(crate) fn topic(sentences: &[String]) -> Option<String> {
    sentences.iter().take(ASKED).enumerate().find_map(|(place, sentence)| {
        let cleaned = phrase::impersonal(&plain(sentence));
        let said = lead_dropped(reply::without_softeners(phrase::without_courtesy(&cleaned)));
        let asks = is_question(said);
        let topic = fitting(said.trim_end_matches(['?', '.', '!', ' ', ':']))?;
        let topic = match asks {
            true => format!("{topic}?"),
            false if place < TROUBLED && is_trouble(topic) => topic.to_owned(),
            false => return None,
        };
        is_about_something(&topic).then(|| capitalised(&topic))
    })
}

fn is_question(said: &str) -> bool {
    let lower = said.to_lowercase().replace('’', "'");
    let mut words = lower.split_whitespace();
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    match first {
        "if" | "since" | "because" | "as" => false,
        "when" => ASKING.contains(&second),
        _ if ASKING.contains(&first) => second != "you",
        // "Could you do x?" asks for work.
        _ => said.ends_with('?') && !verbs::is_imperative(first),
    }
}

/// Returns a sentence without the words that only lead up to a question.
fn lead_dropped(sentence: &str) -> &str {
    const LEADS: [&str; 8] = [
        "do you remember ",
        "do you know ",
        "i am guessing that ",
        "i'm guessing that ",
        "i am guessing ",
        "tell me ",
        "i wonder ",
        "i'm wondering ",
    ];
    let lead = LEADS.iter().find(|lead| text::begins(sentence, lead));
    lead.map_or(sentence, |lead| &sentence[lead.len()..])
}

/// Returns true if a person reports that something does not work.
fn is_trouble(said: &str) -> bool {
    let mut words =
        said.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let first = words.clone().next().unwrap_or_default();
    let is_order = verbs::is_imperative(first);
    let is_output = first.starts_with(|c: char| c.is_ascii_digit());
    !is_order
        && !is_output
        && words.any(|word| TROUBLE.contains(&word.to_lowercase().replace('’', "'").as_str()))
}

/// Returns a sentence, or its first clauses, if that is short enough.
fn fitting(said: &str) -> Option<&str> {
    let room = said.char_indices().nth(TOPIC - 1).map_or(said.len(), |(at, _)| at);
    if room == said.len() {
        return Some(said);
    }
    let end = cut_at(&said[..room])?;
    (said[..end].split_whitespace().count() >= 4).then_some(&said[..end])
}

/// Returns the last place at which a sentence may end early.
fn cut_at(said: &str) -> Option<usize> {
    #[rustfmt::skip]
    const ENDS: [&str; 10] = [
        " - ", " — ", " – ", "; ", ": ", ". ", ", ", " so that ", " because ", " since ",
    ];
    // "It reads them, but writes none" is no half.
    let is_half = |at: usize| {
        let rest = said[at..].trim_start_matches([',', ';', ' ', '-', '—', '–']);
        rest.starts_with("but ") || "but ".starts_with(rest)
    };
    let ends = ENDS.iter().filter_map(|end| said.rfind(end));
    let end = ends.filter(|at| is_finished(&said[..*at]) && !is_half(*at)).max()?;
    // The beginning of a list says less than what it lists.
    Some(said[..end].find(": ").unwrap_or(end))
}

/// Returns the sentence with which a text answers.
pub(crate) fn answer(text: &str) -> Option<String> {
    let text = text::ends(text, LOOKED_AT, 0);
    let mut short: Option<String> = None;
    let mut seen = 0;
    for line in prose::lines(&text) {
        match line.kind {
            LineKind::Blank => continue,
            LineKind::Text => {}
            LineKind::Heading | LineKind::Item => break,
        }
        let sentences: Vec<&str> = prose::sentences(line.text).collect();
        for (at, sentence) in sentences.iter().enumerate() {
            seen += 1;
            // "It would do. But …": the answer comes then.
            if sentences.get(at + 1).is_some_and(|next| cue::turns(next)) {
                continue;
            }
            let cleaned = plain(sentence);
            let (yes, rest) = short_answer(&cleaned);
            short = short.or(yes);
            if let Some(said) = said(rest) {
                return Some(match short {
                    Some(short) => format!("{short}, {}", uncapitalised(&said)),
                    None => said,
                });
            }
            if seen >= SENTENCES {
                return short;
            }
        }
    }
    short
}

/// Splits "Yes, it is" into "Yes" and the rest.
fn short_answer(sentence: &str) -> (Option<String>, &str) {
    let end = sentence.find([',', '.', ':', ';', '!', '—', '–']);
    let (head, rest) = sentence.split_at(end.unwrap_or(sentence.len()));
    match SHORT.contains(&head.trim().to_lowercase().as_str()) {
        true => (
            Some(capitalised(head.trim())),
            rest.trim_start_matches([',', '.', ':', ';', '!', '—', '–', '-', ' ']),
        ),
        false => (None, sentence),
    }
}

/// Returns a sentence that answers, as part of a title.
fn said(sentence: &str) -> Option<String> {
    let rest = phrase::without_openers(sentence);
    let rest = rest.strip_prefix("Then ").unwrap_or(rest);
    let first = rest.split([' ', '\'', '’']).next().unwrap_or_default();
    if ["i", "you", "let"].iter().any(|person| person.eq_ignore_ascii_case(first)) {
        return wording::stated(sentence).filter(|said| said.is_advice).map(|said| said.title);
    }
    let is_answer = rest.split_whitespace().count() >= 3
        && !rest.ends_with([':', '?'])
        && !is_meta(rest)
        && !is_status(rest)
        && !is_label_line(rest)
        && !is_about_course(rest)
        && !report::announces(rest)
        && !phrase::is_fragment(rest)
        && !phrase::points_elsewhere(rest)
        && !rest.contains("http")
        && wording::has_verb(rest);
    is_answer.then(|| capitalised(rest.trim_end_matches(['.', '!', ' '])))
}

/// Returns true if a title says again what was asked, so that it needs no question.
pub(crate) fn restates(title: &str, topic: &str) -> bool {
    let asked = reply::significant(topic);
    let told = reply::significant(title);
    let shared = told.iter().filter(|word| asked.contains(word)).count();
    shared >= 2 && shared * 2 >= asked.len()
}

/// Returns true if an answer tells more than a verdict: "Extremely easy" and "Option 1 is simpler" do not.
pub(crate) fn tells(answer: &str, topic: &str) -> bool {
    let asked = reply::significant(topic);
    let told = reply::significant(short_answer(answer).1);
    let added: Vec<&String> = told.iter().filter(|word| !asked.contains(word)).collect();
    (added.len() >= 3 || names_code(answer)) && !wording::points_at_option(answer)
}

fn names_code(answer: &str) -> bool {
    answer.split_whitespace().any(|word| {
        let word = word.trim_end_matches(['.', ',', ';', ':', '!']);
        word.contains(['.', '_', '/', '#']) || word.chars().any(|c| c.is_ascii_digit())
    })
}

/// Returns true for the beginning of an answer that answers: "Very easy", but not "For this project".
fn is_said(told: &str) -> bool {
    #[rustfmt::skip]
    const FRONTING: [&str; 15] = [
        "after", "as", "at", "because", "by", "for", "from", "given", "if", "in", "on", "since", "under", "when", "with",
    ];
    let first = told.split(' ').next().unwrap_or_default().to_lowercase();
    told.contains(' ') && !FRONTING.contains(&first.as_str())
}

/// Returns the topic and its answer as one title.
pub(crate) fn titled(topic: &str, answer: &str) -> Option<String> {
    let room = title::LENGTH.checked_sub(topic.chars().count() + 3).filter(|room| *room >= ROOM)?;
    let first = topic.split(' ').next().unwrap_or_default().to_lowercase();
    // "What is it? Yes: we use x."
    let is_open = !topic.ends_with('?')
        || ["what", "which", "who", "where", "how", "why"].contains(&first.as_str());
    let answer = if is_open { short_answer(answer).1 } else { answer };
    if answer.is_empty() {
        return None;
    }
    let bare = title::without_asides(answer);
    let whole = [answer, bare.as_str()].into_iter().find(|one| one.chars().count() <= room);
    let told = match whole {
        Some(whole) => whole,
        None => {
            let end = bare.char_indices().nth(room).map_or(bare.len(), |(at, _)| at);
            let cut = cut_at(&bare[..end])?;
            Some(bare[..cut].trim_end_matches([' ', '-', '—', '–']))
                .filter(|told| is_said(told) && told.split(' ').count() >= 4)?
        }
    };
    // Sentences are taken as they were written, with whatever stands between their words.
    let title = one_line(&format!("{topic} → {}", capitalised(told)), title::LENGTH);
    is_balanced(&title).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(prompt: &str, text: &str) -> Option<String> {
        let sentences: Vec<String> = prose::sentences(prompt).map(str::to_owned).collect();
        titled(&topic(&sentences)?, &answer(text)?)
    }

    #[test]
    fn a_question_and_its_answer_are_one_title() {
        for (prompt, text, title) in [
            (
                "ok so how hard would it be to fire the kiln with gas?",
                "Very easy - the burner reads its profile anyway. Set `fuel`.",
                "How hard would it be to fire the kiln with gas? → Very easy - the burner reads its profile anyway",
            ),
            (
                "does the damper need its own relay",
                "No.\n\nThe burner relay drives both of them.",
                "Does the damper need its own relay? → No, the burner relay drives both of them",
            ),
            (
                "hmm, still seeing cone 6 in the glaze list",
                "Great catch! The glaze list is \u{1}\0cached for an hour.",
                "Still seeing cone 6 in the glaze list → The glaze list is cached for an hour",
            ),
        ] {
            assert_eq!(told(prompt, text).as_deref(), Some(title), "{prompt}");
        }
    }

    #[test]
    fn what_hangs_on_the_conversation_is_no_topic() {
        for prompt in [
            "is this better?",
            "what do you recommend",
            "so you prefer gas to electricity now?",
            "can you fix the kiln profile?",
            "Fire the kiln with gas",
            "why is that",
        ] {
            assert_eq!(told(prompt, "The burner reads its profile."), None, "{prompt}");
        }
    }
}
