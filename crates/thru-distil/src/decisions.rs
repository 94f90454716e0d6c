//! Decisions: those of a person, in a dialogue, an answer or a prompt, and those the agent states in its
//! prose.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use thru_core::{Concept, Id, Merged, Observation, ObservationType, Speaker, Statement};

use crate::dialogs::Dialogue;
use crate::event::{Action, Event};
use crate::gate::stands_alone;
use crate::pattern;
use crate::plans;
use crate::proposal::{Choice, Proposal};
use crate::prose;
use crate::reply::{self, Form, Reply};
use crate::request::Request;
use crate::restated::{self, Opening};
use crate::rules::Force;
use crate::segment::Turn;
use crate::session::{Draft, Session};
use crate::text::{FACT, TITLE, cut, uncapitalised};
use crate::undone;
use crate::verbs;
use crate::verdict;
use crate::work::FACTS;

/// Most choices taken from the agent's prose in one turn.
const CHOICES: usize = 2;

/// Longest narrative and fact, in characters.
const WORDS: usize = 400;

/// Events before a prompt among which the text that it answers is looked for.
const REACH: usize = 400;

/// Most answers to numbered questions in one prompt.
const MOST: usize = 6;

/// Words that a decision shares with the one that replaces it.
const SAME: usize = 3;

/// Texts of the agent among which the options that a person names are looked for.
const TEXTS: usize = 3;

/// Adds the decisions of a turn.
pub(crate) fn observe(session: &Session<'_>, turn: &Turn, drafts: &mut Vec<Draft>) {
    let mut choices = 0;
    let mut dialogue = Dialogue::default();
    for place in turn.range.clone() {
        let Some(event) = session.events.get(place) else { break };
        match &event.action {
            Action::Answered(answers) => {
                drafts.extend(dialogue.decisions(session, place, answers));
            }
            Action::Approved(plan) => drafts.extend(plans::approved(session, plan, place)),
            Action::Declined(declined) => {
                let mut observation = by_person(session, "declined", 0, place);
                observation.title = declined.title();
                let narrative =
                    cut(&format!("Refused {}: \"{}\"", declined.call, declined.words), WORDS);
                observation.narrative = Some(session.statement(narrative, &[place]));
                observation.concepts.insert(Concept::Pattern);
                drafts.push(Draft { place, observation });
            }
            Action::Asked(request) => asked(session, request, place, drafts),
            // What memory said was decided then.
            Action::Wrote(text) if choices < CHOICES && !turn.asks_memory => {
                if let Some(choice) = &text.choice {
                    choices += 1;
                    // A remedy that did not help is no decision.
                    let (kind, lead) = match undone::fails_again(session, turn) {
                        true => (ObservationType::Discovery, "Did not help: "),
                        false => (ObservationType::Decision, ""),
                    };
                    let mut observation = session.blank("choice", 0, place, kind);
                    observation.title = cut(&format!("{lead}{}", choice.title), TITLE);
                    observation.narrative =
                        Some(session.statement(choice.sentence.clone(), &[place]));
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
}

/// Creates a decision of a person.
pub(crate) fn by_person(
    session: &Session<'_>,
    detector: &str,
    ordinal: usize,
    place: usize,
) -> Observation {
    let mut observation = session.blank(detector, ordinal, place, ObservationType::Decision);
    observation.speaker = Speaker::Person;
    observation.sources = session.ids(&[place]);
    observation
}

/// Adds the decisions in a prompt: rulings, an approved plan, and an answer to the agent's last text.
fn asked(session: &Session<'_>, request: &Request, place: usize, drafts: &mut Vec<Draft>) {
    if let Some(plan) = &request.approved {
        drafts.extend(plans::approved(session, plan, place));
    }
    let decides = |sentence: &str| {
        let decided = request.reply.iter().flat_map(|reply| &reply.decided);
        decided.filter(|one| one.is_clear).any(|one| sentence.contains(&one.sentence))
    };
    let mut corrected = None;
    for (ordinal, ruling) in request.rulings.iter().enumerate() {
        let mut observation = by_person(session, "ruling", ordinal, place);
        observation.title.clone_from(&ruling.title);
        observation.narrative = reply::says_more(&ruling.sentence, &ruling.title)
            .then(|| session.statement(ruling.sentence.clone(), &[place]));
        observation.is_rule = ruling.force == Force::Rule;
        observation.concepts.insert(match ruling.force {
            Force::Rule | Force::Wish => Concept::Pattern,
            Force::Correction => Concept::Gotcha,
        });
        if reply::dangles(&ruling.title) {
            continue;
        }
        if ruling.force == Force::Correction {
            if decides(&ruling.sentence) {
                continue;
            }
            // A correction says something only beside what it corrects.
            let before = *corrected.get_or_insert_with(|| deed_before(session, place));
            let Some((source, deed)) =
                before.filter(|(_, deed)| reply::alike(deed, &ruling.sentence))
            else {
                continue;
            };
            observation.facts = vec![session.statement(format!("Corrects: {deed}"), &[source])];
            observation.sources = session.ids(&[source, place]);
        }
        drafts.push(Draft { place, observation });
    }
    let Some(reply) = &request.reply else { return };
    let is_ruled = |sentence: &str| request.rulings.iter().any(|one| one.sentence == sentence);
    let decided = reply.decided.iter().find(|one| one.is_clear && !is_ruled(&one.sentence));
    let made = answered(session, reply, place).or_else(|| {
        decided.map(|decided| Made {
            title: decided.title.clone(),
            source: proposal_before(session, place).map(|(source, _)| source),
            about: proposal_before(session, place).and_then(|(_, proposal)| {
                proposal.advice.clone().or_else(|| proposal.question().map(str::to_owned))
            }),
            ..Made::default()
        })
    });
    let answer = restated::after(session, place);
    let opening = answer.map(|(_, opening)| opening);
    // A sentence that decides without naming what: the agent's answer names it.
    let made = made.or_else(|| {
        let open = reply.decided.iter().filter(|one| !one.is_clear);
        let restated = open.filter_map(|one| opening?.restates(&one.sentence));
        let title = restated.map(reply::titled).find(|title| stands_alone(title))?;
        Some(Made { title, ..Made::default() })
    });
    let made = made.or_else(|| {
        let opening = opening?;
        let proposed = reply.proposed.as_ref()?;
        if !(opening.agrees || opening.confirms && proposed.is_statement) {
            return None;
        }
        Some(Made { title: proposed.title.clone(), ..Made::default() })
    });
    let Some(mut made) = made.filter(|made| !is_ruled(&made.title)) else { return };
    // The person's own words say it better than the option's, where they stand alone.
    if made.is_agreement
        && let Some(decided) = decided
        && (made.title.is_empty() || !decided.title.contains("something"))
    {
        made.title.clone_from(&decided.title);
    }
    if request.rulings.iter().any(|one| one.title == made.title) {
        return;
    }
    let mut observation = by_person(session, "reply", 0, place);
    let said = reply.decided.iter().find(|one| one.title == made.title);
    let said = said.map(|one| one.sentence.as_str());
    let named = reply::as_decision(made.title);
    observation.title = with_object(session, place, named.clone(), said, opening);
    // A title that was completed is shown by the agent's answer, too.
    let is_restated = observation.title != named;
    let answer = answer.filter(|_| is_restated).map(|(at, _)| at);
    let places: Vec<usize> = made.source.into_iter().chain([place]).chain(answer).collect();
    let is_new = |said: &str| reply::says_more(said, &observation.title);
    let source = made.source.unwrap_or(place);
    // The person's reason; where the title holds all of it, the agent's.
    // What has no word in common with the decision led to something else.
    let decision = format!("{} {}", observation.title, reply.words);
    let about = made.about.filter(|about| is_new(about) && reply::alike(about, &decision));
    let (narrative, about) = match is_new(&reply.words) {
        true => (Some(format!("\"{}\"", cut(&reply.words, WORDS - 2))), about),
        false => (about.map(|about| format!("The agent had said: {about}")), None),
    };
    let facts = [
        made.question
            .filter(|asked| is_new(asked) && reply::alike(asked, &decision))
            .map(|asked| format!("Asked: {asked}")),
        made.chosen.filter(|chosen| is_new(chosen)).map(|chosen| format!("Chosen: {chosen}")),
        (!made.others.is_empty()).then(|| format!("Not chosen: {}", made.others.join("; "))),
        about.map(|about| format!("The agent had said: {about}")),
    ];
    observation.narrative =
        narrative.map(|narrative| session.statement(cut(&narrative, WORDS), &places));
    observation.facts = facts
        .into_iter()
        .flatten()
        .map(|fact| session.statement(cut(&fact, FACT), &[source]))
        .collect();
    observation.sources = session.ids(&places);
    observation.concepts.insert(Concept::TradeOff);
    let known = vec![named, observation.title.clone()];
    drafts.push(Draft { place, observation });
    for (ordinal, title) in numbered(session, reply, place).into_iter().enumerate().skip(1) {
        let mut observation = by_person(session, "numbered", ordinal, place);
        observation.title = title;
        observation.concepts.insert(Concept::TradeOff);
        drafts.push(Draft { place, observation });
    }
    others(session, request, reply, place, known, drafts);
}

/// Adds the other decisions in a prompt that decides more than once.
fn others(
    session: &Session<'_>,
    request: &Request,
    reply: &Reply,
    place: usize,
    mut known: Vec<String>,
    drafts: &mut Vec<Draft>,
) {
    known.extend(request.rulings.iter().map(|one| one.title.clone()));
    let clear = reply.decided.iter().filter(|one| one.is_clear);
    for (ordinal, decided) in clear.enumerate() {
        let title = reply::as_decision(decided.title.clone());
        let is_new = |said: &String| {
            let words = reply::significant(&title);
            let shared = reply::significant(said);
            words.iter().filter(|word| shared.contains(word)).count() * 2 <= words.len()
        };
        let is_open = title.contains("something") || reply::points_early(&title);
        if is_open || !known.iter().all(is_new) || reply::lacks_object(&title) {
            continue;
        }
        known.push(title.clone());
        let mut observation = by_person(session, "reply", ordinal + 1, place);
        observation.title = title;
        observation.concepts.insert(Concept::TradeOff);
        drafts.push(Draft { place, observation });
    }
}

/// Most turns between a decision that was only tried out and the one that replaces it.
const LATER: u32 = 8;

/// Puts decisions that were hedged with "maybe" into a later one about the same, which replaces them.
pub(crate) fn settle(drafts: &mut Vec<Draft>, kept_apart: &BTreeSet<Id>) {
    let said = |one: &Observation| {
        let narrative = one.narrative.as_ref().map_or("", |narrative| narrative.text.as_str());
        format!("{} {narrative}", one.title).to_lowercase()
    };
    let is_own = |one: &Observation| {
        one.kind == ObservationType::Decision && one.speaker == Speaker::Person && !one.is_rule
    };
    let mut at = 0;
    while let Some(draft) = drafts.get(at) {
        let one = &draft.observation;
        let words = said(one);
        let is_tried = is_own(one)
            && !kept_apart.contains(&one.id)
            && ["maybe ", "perhaps "].iter().any(|hedge| words.contains(hedge));
        let later = drafts.iter().skip(at + 1).position(|other| {
            let other = &other.observation;
            is_own(other)
                && (one.turn + 1..=one.turn + LATER).contains(&other.turn)
                && reply::shares(&words, &said(other), SAME)
        });
        let Some(later) = later.filter(|_| is_tried) else {
            at += 1;
            continue;
        };
        let replaced = drafts.remove(at).observation;
        if let Some(draft) = drafts.get_mut(at + later) {
            let (id, title) = (replaced.id, replaced.title);
            let text = cut(&format!("Replaces: {title}"), FACT);
            draft.observation.facts.push(Statement { text, sources: replaced.sources });
            draft.observation.facts.truncate(FACTS);
            draft.observation.merged.extend(replaced.merged);
            draft.observation.merged.push(Merged { id, title });
        }
    }
}

/// Returns a title with what it is about, where it leaves that out: in the words of the agent's answer, or beside them.
fn with_object(
    session: &Session<'_>,
    place: usize,
    title: String,
    said: Option<&str>,
    opening: Option<&Opening>,
) -> String {
    let hesitates =
        ["Thinking ", "Leaning ", "Inclined "].iter().any(|start| title.starts_with(start));
    if !hesitates && !reply::lacks_object(&title) && !reply::points_early(&title) {
        return title;
    }
    // The clause before may name it: "the two are new, so no need for compatibility".
    let whole = said.map(reply::without_softeners);
    let whole = whole.filter(|said| !reply::asks(said) && !reply::is_of_moment(said));
    if let Some(whole) = whole.filter(|said| said.chars().count() <= TITLE)
        && reply::significant(whole).len() >= reply::significant(&title).len() + 2
    {
        return reply::titled(whole);
    }
    // An agreement is to what the agent said before.
    let opens = opening.filter(|_| !title.starts_with("Agreed"));
    let restated = opens.and_then(|opening| opening.restates(&title));
    let restated = restated.map(|said| reply::as_decision(reply::titled(said)));
    // "This release" is clear enough in a decision.
    let is_clear = |said: &String| stands_alone(&said.replace(" this ", " the "));
    if let Some(restated) = restated.filter(is_clear) {
        return restated;
    }
    let about = opening.and_then(|opening| opening.about(&title)).map(str::to_owned);
    let Some(about) = about.or_else(|| subject_before(session, place)) else { return title };
    let room = TITLE.saturating_sub(title.chars().count() + 7);
    let about = reply::titled_in(&about, room.max(TITLE / 2));
    let short = reply::titled_in(&title, TITLE - about.chars().count() - 7);
    match about.ends_with('…') || short.ends_with('…') {
        true => title,
        false => format!("{short} (on: {})", uncapitalised(&about)),
    }
}

/// A decision made of an answer and what it answers.
#[derive(Default)]
struct Made {
    title: String,
    /// The place of the agent's text.
    source: Option<usize>,
    question: Option<String>,
    chosen: Option<String>,
    others: Vec<String>,
    /// The agent's recommendation or statement.
    about: Option<String>,
    /// True if the person's own sentence may stand in for the title.
    is_agreement: bool,
}

/// Returns the last text of the agent before a prompt, if it proposes something.
fn proposal_before<'s>(session: &'s Session<'_>, place: usize) -> Option<(usize, &'s Proposal)> {
    let (at, proposal) = texts_before(session, place).next()?;
    proposal.map(|proposal| (at, proposal))
}

/// Returns what the agent had said last, as a title.
fn subject_before(session: &Session<'_>, place: usize) -> Option<String> {
    let start = place.saturating_sub(REACH);
    let mut events = session.events.get(start..place)?.iter().rev();
    verdict::best(&events.find_map(Event::agent_text)?.statements, "")
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

/// Returns what the agent said that it did or would do, before a prompt.
fn deed_before<'s>(session: &'s Session<'_>, place: usize) -> Option<(usize, &'s str)> {
    let start = place.saturating_sub(REACH);
    let events = session.events.get(start..place)?;
    let mut texts =
        events.iter().enumerate().rev().filter_map(|(at, event)| Some((at, event.agent_text()?)));
    let (at, said) = texts.next()?;
    let deed = said.action.as_ref().map(|(deed, _)| deed.as_str());
    let deed =
        deed.or(said.announced.as_deref()).or(crate::prose::sentences(&said.report).next())?;
    Some((start + at, deed))
}

/// Returns the decision that a reply makes about the agent's last text.
fn answered(session: &Session<'_>, reply: &Reply, place: usize) -> Option<Made> {
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
static NUMBERED: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern::regex(r"(?:^|[,;.]\s*)\(?(\d{1,2})\)?\s*[-–—.:)]\s*([^,;.]{2,80})"));

/// Returns the answers to the agent's numbered questions, where a prompt has more than one.
fn numbered(session: &Session<'_>, reply: &Reply, place: usize) -> Vec<String> {
    let Some((_, proposal)) = proposal_before(session, place) else { return Vec::new() };
    let answers = NUMBERED.as_ref().map(|numbered| numbered.captures_iter(&reply.words));
    let answers = answers.into_iter().flatten().take(MOST).filter_map(|found| {
        let mut questions = proposal.questions.iter();
        let question = questions.find(|one| one.label.as_deref() == Some(&found[1]))?;
        let answer = found[2].trim();
        Some(reply::titled(&format!("{} → {answer}", reply::question_of(&question.text))))
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
    let answer = reply.rest.split([',', ';', '.']).next().unwrap_or_default().trim();
    let title = format!("{} → {answer}", reply::question_of(&question.text));
    let questions: Vec<&str> = proposal.questions.iter().map(|one| one.text.as_str()).collect();
    (!answer.is_empty()).then(|| Made {
        title: reply::titled(&title),
        question: Some(questions.join(" ")),
        about: proposal.advice.clone(),
        ..Made::default()
    })
}

fn chose(chosen: &[&Choice], proposal: &Proposal) -> Option<Made> {
    if chosen.is_empty() || chosen.iter().all(|option| reply::is_housekeeping(&option.head)) {
        return None;
    }
    let heads: Vec<&str> = chosen.iter().map(|option| option.head.as_str()).collect();
    let others = proposal.options.iter().filter(|option| !chosen.contains(option));
    let others: Vec<String> = others.map(|option| option.head.clone()).collect();
    Some(Made {
        title: choice_title(&heads.join(" and "), &others),
        chosen: Some(chosen.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("; ")),
        others,
        question: proposal.question().map(str::to_owned),
        about: proposal.advice.clone(),
        ..Made::default()
    })
}

/// Returns "Chose a over b", without the options that do not fit.
fn choice_title(chosen: &str, others: &[String]) -> String {
    let first = chosen.split(' ').next().unwrap_or_default();
    let (title, over) = match verbs::is_imperative(first) || reply::is_verb(first) {
        true => (format!("Chose to {}", uncapitalised(chosen)), ", not to"),
        false => (format!("Chose {chosen}"), " over"),
    };
    let is_verb = over.starts_with(',');
    let with = |others: &[String]| {
        let others: Vec<String> = match is_verb {
            true => others.iter().map(|other| uncapitalised(other)).collect(),
            false => others.to_vec(),
        };
        format!("{title}{over} {}", others.join(" and "))
    };
    let candidates = [others, others.get(..1).unwrap_or_default()];
    let found = candidates
        .into_iter()
        .filter(|listed| !listed.is_empty() && (listed.len() == others.len() || others.len() < 3))
        .map(with)
        .find(|title| title.chars().count() <= TITLE);
    found.unwrap_or_else(|| reply::titled(&title))
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
            let mut agreed = made(reply::titled(&format!("Agreed: {}", points.join("; "))));
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

/// Returns "Agreed: the advice", without the words that introduce the advice.
fn agreement(advice: &str) -> String {
    // "The better setup is probably: do x": only the end says what.
    let said = advice.split_once(": ").map(|(_, said)| said);
    let said = said.filter(|said| said.split_whitespace().count() >= 4);
    let bare = reply::without_softeners(said.unwrap_or(advice));
    let bare = [
        "I'd recommend ",
        "I recommend ",
        "I'd suggest ",
        "I would recommend ",
        "My recommendation: ",
        "Recommendation: ",
        "My pick: ",
    ]
    .iter()
    .find_map(|start| bare.strip_prefix(start))
    .unwrap_or(bare);
    reply::titled(&format!("Agreed: {bare}"))
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
    let decided = decided?;
    Some(Made { title: decided.title.clone(), about: proposal.advice.clone(), ..Made::default() })
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
