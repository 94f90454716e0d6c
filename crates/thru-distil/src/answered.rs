//! Decisions in answers: what a reply decides about the agent's last text.

use std::sync::LazyLock;

use crate::pattern::Regex;
use thru_core::ObservationType;

use crate::decisions::REACH;
use crate::event::Action;
use crate::pattern;
use crate::proposal::{Choice, Proposal};
use crate::prose;
use crate::reply::{self, Form, Reply};
use crate::session::Session;
use crate::text::{TITLE, cut, uncapitalised};
use crate::title;
use crate::verbs;
use crate::wording;

/// Most answers to numbered questions in one prompt.
const MOST: usize = 6;

/// Texts of the agent among which the options that a person names are looked for.
const TEXTS: usize = 3;

/// A decision made of an answer and what it answers.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) title: String,
    /// The place of the agent's text.
    pub(crate) source: Option<usize>,
    pub(crate) question: Option<String>,
    pub(crate) chosen: Option<String>,
    pub(crate) others: Vec<String>,
    /// The agent's recommendation or statement.
    pub(crate) about: Option<String>,
    /// True if the person's own sentence may stand in for the title.
    pub(crate) is_agreement: bool,
}

/// Returns the last text of the agent before a prompt, if it proposes something.
pub(crate) fn proposal_before<'s>(
    session: &'s Session<'_>,
    place: usize,
) -> Option<(usize, &'s Proposal)> {
    let (at, proposal) = texts_before(session, place).next()?;
    proposal.map(|proposal| (at, proposal))
}

/// Returns the agent's texts before a prompt, the last first: the last of each turn.
fn texts_before<'s>(
    session: &'s Session<'_>,
    place: usize,
) -> impl Iterator<Item = (usize, Option<&'s Proposal>)> {
    let start = place.saturating_sub(REACH);
    let events = session.events.get(start..place).unwrap_or_default();
    let mut is_last = true;
    events.iter().enumerate().rev().filter_map(move |(at, event)| match &event.action {
        Action::Asked(_) => {
            is_last = true;
            None
        }
        Action::Wrote(text) if is_last => {
            is_last = false;
            Some((start + at, text.proposal.as_deref()))
        }
        _ => None,
    })
}

/// Returns the decision that a reply makes about the agent's last text.
pub(crate) fn answered(session: &Session<'_>, reply: &Reply, place: usize) -> Option<Made> {
    if let Form::Picks(labels) = &reply.form {
        return texts_before(session, place).take(TEXTS).find_map(|(source, proposal)| {
            let made = picked(labels, reply, proposal?)?;
            Some(Made { source: Some(source), ..made })
        });
    }
    let (source, proposal) = proposal_before(session, place)?;
    let made = match &reply.form {
        Form::Ok if reply.rest.split_whitespace().count() > 3 => {
            let asked = proposal.offer.as_deref().or(proposal.question()).unwrap_or_default();
            if reply::alike(asked, &reply.rest) {
                agreed(reply, proposal)
            } else {
                matched(reply, proposal)
            }
        }
        Form::Yes | Form::Ok => agreed(reply, proposal),
        Form::No => refused(reply, proposal),
        Form::All => all(proposal),
        Form::Free | Form::Picks(_) => matched(reply, proposal),
    };
    let made = made.or_else(|| plainly(reply, proposal))?;
    let question = made.question.or_else(|| proposal.question().map(str::to_owned));
    Some(Made { source: Some(source), question, ..made })
}

/// Answers to numbered questions: "1 - yes, 2 - only there".
static NUMBERED: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"(?:^|[,;.]\s*)\(?(\d{1,2})\)?\s*[-–—.:)]\s*([^,;.]{2,80})"));

/// Returns the answers to the agent's numbered questions, where a prompt has more than one.
pub(crate) fn numbered(session: &Session<'_>, reply: &Reply, place: usize) -> Vec<String> {
    let Some((_, proposal)) = proposal_before(session, place) else { return Vec::new() };
    let answers = NUMBERED.captures_iter(&reply.words).take(MOST).filter_map(|found| {
        let mut questions = proposal.questions.iter();
        let question = questions.find(|one| one.label.as_deref() == Some(&found[1]))?;
        let answer = found[2].trim();
        if reply::is_procedure(&reply::offered(&question.text)) {
            return None;
        }
        Some(reply::titled(&told(reply::question_of(&question.text), answer)))
    });
    answers.collect()
}

/// "B", "2 and 3": options, or numbered questions, by their labels.
fn picked(labels: &[String], reply: &Reply, proposal: &Proposal) -> Option<Made> {
    let place_of = |label: &str| match label {
        "first" | "former" => Some(0),
        "second" => Some(1),
        "third" => Some(2),
        "fourth" => Some(3),
        "fifth" => Some(4),
        "last" | "latter" => proposal.options.len().checked_sub(1),
        _ => None,
    };
    let find = |label: &String| {
        let by_label = |option: &&Choice| option.label.as_deref() == Some(label);
        let by_number = || label.parse::<usize>().ok()?.checked_sub(1);
        let by_place = || {
            let is_bare =
                proposal.is_offered && proposal.options.iter().all(|one| one.label.is_none());
            proposal.options.get(place_of(label).or_else(|| by_number().filter(|_| is_bare))?)
        };
        proposal.options.iter().find(by_label).or_else(by_place)
    };
    // "1 - yes, 2 - no": answers to numbered questions.
    let question = proposal.questions.iter().find(|one| one.label.as_ref() == labels.first());
    let Some(question) = question else {
        let chosen: Vec<&Choice> = labels.iter().filter_map(find).collect();
        return (chosen.len() == labels.len()).then(|| chose(&chosen, proposal)).flatten();
    };
    if reply::is_procedure(&reply::offered(&question.text)) {
        return None;
    }
    let answer = reply.rest.split([',', ';', '.']).next().unwrap_or_default().trim();
    let title = told(reply::question_of(&question.text), answer);
    let questions: Vec<&str> = proposal.questions.iter().map(|one| one.text.as_str()).collect();
    (!answer.is_empty()).then(|| Made {
        title: reply::titled(&title),
        question: Some(questions.join(" ")),
        about: proposal.advice.clone(),
        ..Made::default()
    })
}

/// Returns a question with its answer; with "yes", what that decides.
fn told(question: &str, answer: &str) -> String {
    let decision = reply::agreed_to(question).filter(|_| reply::is_yes(answer));
    decision.unwrap_or_else(|| format!("{question} → {answer}"))
}

fn chose(chosen: &[&Choice], proposal: &Proposal) -> Option<Made> {
    if chosen.is_empty() || chosen.iter().all(|option| reply::is_housekeeping(&option.head)) {
        return None;
    }
    let heads: Vec<&str> = chosen.iter().map(|option| option.head.as_str()).collect();
    let others = proposal.options.iter().filter(|option| !chosen.contains(option));
    let others: Vec<&Choice> = others.collect();
    let title = choice_title(&heads.join(" and "), &others);
    // An option that is told alone is told with its examples.
    let is_alone = !title.contains(" over ") && !title.contains(", not to ");
    let whole = chosen.first().filter(|_| is_alone && chosen.len() == 1).and_then(|one| {
        let end =
            [" — ", " – ", " - ", ": ", ". "].iter().filter_map(|end| one.text.find(end)).min();
        let title = choice_title(&one.text[..end?], &[]);
        (!title.ends_with('…')).then_some(title)
    });
    let others: Vec<String> = others.iter().map(|option| option.head.clone()).collect();
    let title = whole.unwrap_or(title);
    Some(Made {
        title: proposal.topic.as_ref().and_then(|topic| headed(&title, topic)).unwrap_or(title),
        chosen: Some(chosen.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("; ")),
        others,
        question: proposal.question().map(str::to_owned),
        about: proposal.advice.clone(),
        ..Made::default()
    })
}

/// Returns "Test bed: the small one" for "Chose the small one" under that heading, unless the title says it already.
fn headed(title: &str, topic: &str) -> Option<String> {
    let chosen = title.strip_prefix("Chose ")?;
    let chosen = chosen.strip_prefix("to ").unwrap_or(chosen);
    let whole = format!("{topic}: {}", uncapitalised(chosen));
    let is_new = reply::says_more(topic, chosen) && whole.chars().count() <= TITLE;
    (is_new && !chosen.contains(", not to ")).then_some(whole)
}

/// Returns "Chose a over b", without the options that do not fit.
fn choice_title(chosen: &str, others: &[&Choice]) -> String {
    let title = match is_order(chosen) {
        true => format!("Chose to {}", uncapitalised(chosen)),
        false => format!("Chose {chosen}"),
    };
    // "Build a trivial one" says nothing alone.
    let points = |option: &str| {
        option.ends_with(" one") || option.split(' ').any(|word| ["you", "your"].contains(&word))
    };
    let told: Vec<&&Choice> = others.iter().filter(|other| !points(&other.head)).collect();
    let with = |others: Vec<String>| match is_order(chosen) {
        true => {
            let others: Vec<String> = others.iter().map(|other| uncapitalised(other)).collect();
            format!("{title}, not to {}", others.join(" or to "))
        }
        false => format!("{title} over {}", others.join(" and ")),
    };
    let heads: Vec<String> = told.iter().map(|other| other.head.clone()).collect();
    let first = heads.get(..1).unwrap_or_default().to_vec();
    // Of an option that points at what was said, the others tell more.
    let texts = told.iter().map(|other| title::without_asides(&other.text)).collect();
    let texts: Vec<String> = if reply::points_early(chosen) { texts } else { Vec::new() };
    [texts, heads, first]
        .into_iter()
        .filter(|listed| !listed.is_empty() && (listed.len() == others.len() || others.len() < 3))
        .map(with)
        .find(|title| title.chars().count() <= TITLE)
        .unwrap_or_else(|| reply::titled(&title))
}

fn is_order(option: &str) -> bool {
    let first = option.split(' ').next().unwrap_or_default();
    verbs::is_imperative(first) || reply::is_verb(first)
}

/// "Yes" to an offer, a recommendation or a plan.
fn agreed(reply: &Reply, proposal: &Proposal) -> Option<Made> {
    let about = proposal.advice.clone().or_else(|| proposal.before.clone());
    let made =
        |title: String| Made { title, about: about.clone(), is_agreement: true, ..Made::default() };
    // "Yes, and x": the person's words say what is agreed on.
    let own = prose::sentences(&reply.rest).next().map(reply::without_softeners).filter(|own| {
        own.split_whitespace().count() >= 6
            && !reply::asks(own)
            && !reply::is_procedure(own)
            && reply::names_something(own)
    });
    // "Fix all of them" is work to do.
    if own.is_some_and(|own| verbs::kind_of(own) == Some(ObservationType::Bugfix)) {
        return None;
    }
    // "Yes" to "a or b?" needs words that tell which.
    let is_open = proposal.offer.is_none()
        || proposal.options.iter().all(|one| one.label.is_none()) && proposal.options.len() == 2;
    if proposal.is_offered && is_open {
        if let Some(made) = matched(reply, proposal) {
            return Some(made);
        }
        let has_decided = reply.decided.iter().any(|one| one.is_clear);
        let recommended =
            proposal.options.iter().find(|one| one.text.to_lowercase().contains("(recommended)"));
        return match (recommended, &proposal.advice) {
            (Some(option), _) => chose(&[option], proposal),
            (None, Some(advice)) if !reply::asks(&reply.rest) => Some(made(agreement(advice))),
            _ => match own {
                Some(own) if !has_decided => Some(made(reply::titled(own))),
                _ => has_decided.then(|| made(String::new())),
            },
        };
    }
    if let Some(own) = own {
        return Some(made(reply::titled(own)));
    }
    let is_decided = reply.decided.iter().any(|one| one.is_clear);
    match &proposal.offer {
        Some(offer) if reply::is_procedure(offer) => is_decided.then(|| made(String::new())),
        // The work itself tells that it was agreed to.
        Some(offer) if is_mere_work(offer) => is_decided.then(|| made(String::new())),
        Some(offer) if reply::names_something(offer) => {
            Some(made(reply::titled(&format!("Agreed to {offer}"))))
        }
        Some(_) => {
            let before = proposal.before.as_ref().filter(|before| !reply::is_procedure(before))?;
            Some(made(agreement(before)))
        }
        None if is_decided => Some(made(String::new())),
        None if proposal.question().is_some() && proposal.points.len() >= 2 => {
            let points: Vec<String> =
                proposal.points.iter().map(|one| crate::proposal::head(one)).collect();
            // Orders need no word before them, and what stands between them only explains.
            let mut orders = points.iter().filter(|point| is_order(point));
            let title = match (orders.next(), orders.next()) {
                (Some(first), Some(second)) => [second]
                    .into_iter()
                    .chain(orders)
                    .fold(first.clone(), |told, point| format!("{told}; {}", uncapitalised(point))),
                _ => format!("Agreed: {}", points.join("; ")),
            };
            let mut agreed = made(reply::titled(&title));
            agreed.chosen = Some(proposal.points.join("; "));
            Some(agreed)
        }
        None => {
            let is_plain =
                reply.form == Form::Yes || reply.rest.is_empty() && proposal.question().is_some();
            let advice = proposal.advice.as_ref().filter(|_| is_plain)?;
            Some(made(agreement(advice)))
        }
    }
}

/// Returns true for an offer to do work, as opposed to one to do it in a certain way.
fn is_mere_work(offer: &str) -> bool {
    let kind = verbs::kind_of(offer);
    let is_work = matches!(kind, Some(ObservationType::Feature | ObservationType::Bugfix))
        || verbs::is_mere_change(offer);
    is_work
        && !["instead", "rather than", " so that ", " only "].iter().any(|way| offer.contains(way))
}

/// Returns "Agreed: the advice", without the words that introduce the advice.
fn agreement(advice: &str) -> String {
    if let Some(said) = wording::stated(advice).filter(|said| said.is_advice) {
        return reply::titled(&format!("Agreed: {}", uncapitalised(&said.title)));
    }
    // "The better setup is probably: do x": only the end says what.
    let said = advice.split_once(": ").map(|(_, said)| said);
    let said = said.filter(|said| said.split_whitespace().count() >= 4);
    let bare = reply::without_softeners(said.unwrap_or(advice));
    let bare =
        ["I'd recommend ", "I recommend ", "I'd suggest ", "I would recommend ", "My pick: "]
            .iter()
            .find_map(|start| bare.strip_prefix(start))
            .unwrap_or(bare);
    reply::titled(&format!("Agreed: {bare}"))
}

/// Returns the agent's advice as agreed, if a person agrees with a part of it that names it: "I agree with x".
fn agreed_with(decided: &str, proposal: &Proposal) -> Option<String> {
    let part = decided.strip_prefix("I agree with ").or(decided.strip_prefix("I agree on "))?;
    let advice = proposal.advice.as_deref()?;
    let is_same =
        reply::significant(part).iter().all(|word| reply::significant(advice).contains(word));
    is_same.then(|| agreement(advice))
}

/// "No, x instead", or "no" to an offer.
fn refused(reply: &Reply, proposal: &Proposal) -> Option<Made> {
    if let Some(decided) = reply.decided.iter().find(|one| one.is_clear) {
        return Some(Made { title: decided.title.clone(), ..Made::default() });
    }
    let own = prose::sentences(&reply.rest).next().map(reply::without_softeners);
    if let Some(own) = own.filter(|own| reply::says_what(own)) {
        let about = proposal.offer.clone();
        return Some(Made { title: reply::titled(own), about, ..Made::default() });
    }
    let offer = proposal
        .offer
        .as_ref()
        .filter(|offer| !reply::is_procedure(offer) && !proposal.is_offered)?;
    let is_plain = reply.rest.is_empty() || !reply::asks(&reply.rest);
    (is_plain && reply::names_something(offer)).then(|| Made {
        title: reply::titled(&format!("Refused the offer to {offer}")),
        about: proposal.before.clone(),
        ..Made::default()
    })
}

/// "30 seconds", "only for admins", "no": a short answer to a question about how things should be.
fn plainly(reply: &Reply, proposal: &Proposal) -> Option<Made> {
    let question = reply::question_of(proposal.question()?);
    let answer = prose::sentences(&reply.words).next().unwrap_or_default();
    let answer = answer.trim_end_matches(['.', '!', ' ']);
    let words = answer.split_whitespace().count();
    let is_answer = match reply.form {
        // An offer was looked at before.
        Form::Yes | Form::No => {
            proposal.offer.is_none() && !reply::asks_openly(question) && !reply::asks(&reply.rest)
        }
        Form::Free => {
            reply::asks_openly(question)
                && (1..=14).contains(&words)
                && reply::says_anything(answer)
                && !reply.is_request
                && !reply::is_order(answer)
        }
        Form::Ok | Form::All | Form::Picks(_) => false,
    };
    if !is_answer
        || !reply::asks_for_decision(question)
        || reply::is_procedure(&reply::offered(question))
    {
        return None;
    }
    if let Some(decision) = reply::agreed_to(question).filter(|_| reply::is_yes(answer)) {
        let about = proposal.advice.clone();
        return Some(Made { title: reply::titled(&decision), about, ..Made::default() });
    }
    let answer = cut(answer, TITLE / 2);
    let room = TITLE.saturating_sub(answer.chars().count() + 3);
    let question = reply::titled_in(question, room);
    let title = format!("{question} → {answer}");
    (room >= 20).then(|| Made { title, about: proposal.advice.clone(), ..Made::default() })
}

/// "Both", "all of them".
fn all(proposal: &Proposal) -> Option<Made> {
    let options: Vec<&Choice> = proposal.options.iter().collect();
    if !proposal.is_offered || options.len() < 2 {
        return None;
    }
    let heads: Vec<&str> = options.iter().map(|option| option.head.as_str()).collect();
    Some(Made {
        title: reply::titled(&format!("Chose both: {}", heads.join(" and "))),
        chosen: Some(options.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("; ")),
        ..Made::default()
    })
}

/// An answer that names one of the options by its words, or decides in words of its own.
fn matched(reply: &Reply, proposal: &Proposal) -> Option<Made> {
    let decided = reply.decided.iter().find(|one| one.is_clear);
    if reply.is_request && decided.is_none() {
        return None;
    }
    if proposal.is_offered
        && let Some(option) = named(&reply.opening, &proposal.options)
    {
        let made = chose(&[option], proposal)?;
        return Some(Made { is_agreement: true, ..made });
    }
    let title = decided?.title.clone();
    let title = agreed_with(&title, proposal).unwrap_or(title);
    Some(Made { title, about: proposal.advice.clone(), ..Made::default() })
}

/// Returns the option that shares clearly more of its own words with the answer than the others do.
fn named<'o>(answer: &str, options: &'o [Choice]) -> Option<&'o Choice> {
    let said = reply::significant(answer);
    let words: Vec<Vec<String>> =
        options.iter().map(|option| reply::significant(&option.head)).collect();
    let is_own = |word: &String| words.iter().filter(|words| words.contains(word)).count() == 1;
    let mut scores: Vec<(usize, usize)> = words
        .iter()
        .enumerate()
        .map(|(place, words)| {
            let own: Vec<&String> = words.iter().filter(|word| is_own(word)).collect();
            let hits = own.iter().filter(|word| said.contains(word)).count();
            // Half of the words that tell the option from the others, or any in a short answer.
            (if hits * 2 >= own.len().max(1) || said.len() <= 5 { hits } else { 0 }, place)
        })
        .collect();
    scores.sort_unstable_by(|a, b| b.cmp(a));
    let (best, place) = *scores.first()?;
    let second = scores.get(1).map_or(0, |(score, _)| *score);
    (best > second && said.len() <= 30).then(|| options.get(place)).flatten()
}
