//! Decisions: those of a person, in a dialogue, an answer or a prompt, and those the agent states in its
//! prose.

use thru_core::{Concept, Observation, ObservationType, Speaker};

use crate::answers::{DialogAnswer, Plan};
use crate::event::{Action, Event};
use crate::proposal::{Choice, Proposal};
use crate::prose;
use crate::reply::{self, Form, Reply};
use crate::request::Request;
use crate::rules::Force;
use crate::segment::Turn;
use crate::session::{Draft, Session};
use crate::text::{FACT, TITLE, cut, uncapitalised};
use crate::title;
use crate::verbs;
use crate::verdict;

/// Most answers in one observation.
const ANSWERS: usize = 4;

/// Most choices taken from the agent's prose in one turn.
const CHOICES: usize = 2;

/// Longest narrative and fact, in characters.
const WORDS: usize = 400;

/// Events before a prompt among which the text that it answers is looked for.
const REACH: usize = 400;

/// Least room that the heading of a plan needs, in characters.
const LEAST: usize = 20;

/// Texts of the agent among which the options that a person names are looked for.
const TEXTS: usize = 3;

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
                // Each title shows all of its answers.
                for answer in answers.iter().filter(|answer| decides(answer)) {
                    if !fits(&pending, answer) {
                        flush(session, &mut pending, drafts);
                    }
                    pending.push((place, answer));
                }
            }
            Action::Approved(plan) => drafts.extend(approved(session, plan, place)),
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
                    let mut observation =
                        session.blank("choice", 0, place, ObservationType::Decision);
                    observation.title.clone_from(&choice.title);
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
    flush(session, &mut pending, drafts);
}

/// Returns true if the title of these answers has room for another.
fn fits(pending: &[(usize, &DialogAnswer)], answer: &DialogAnswer) -> bool {
    let length = |answer: &DialogAnswer| named_answer(answer).chars().count() + 2;
    let known: usize = pending.iter().map(|(_, answer)| length(answer)).sum();
    pending.len() < ANSWERS && known + length(answer) <= TITLE + 2
}

fn by_person(session: &Session<'_>, detector: &str, ordinal: usize, place: usize) -> Observation {
    let mut observation = session.blank(detector, ordinal, place, ObservationType::Decision);
    observation.speaker = Speaker::Person;
    observation.sources = session.ids(&[place]);
    observation
}

/// Adds the decisions in a prompt: rulings, an approved plan, and an answer to the agent's last text.
fn asked(session: &Session<'_>, request: &Request, place: usize, drafts: &mut Vec<Draft>) {
    if let Some(plan) = &request.approved {
        drafts.extend(approved(session, plan, place));
    }
    let decides = |sentence: &str| {
        let decided = request.reply.iter().flat_map(|reply| &reply.decided);
        decided.filter(|one| one.is_clear).any(|one| sentence.contains(&one.sentence))
    };
    let mut corrected = None;
    for (ordinal, ruling) in request.rulings.iter().enumerate() {
        let mut observation = by_person(session, "ruling", ordinal, place);
        observation.title.clone_from(&ruling.title);
        observation.narrative = says_more(&ruling.sentence, &ruling.title)
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
            let Some((source, deed)) = before.filter(|(_, deed)| alike(deed, &ruling.sentence))
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
    observation.title = reply::as_decision(made.title);
    if reply::lacks_object(&observation.title)
        && let Some(about) = subject_before(session, place)
    {
        let room = TITLE.saturating_sub(observation.title.chars().count() + 7);
        let about = reply::titled_in(&about, room.max(TITLE / 2));
        let title = reply::titled_in(&observation.title, TITLE - about.chars().count() - 7);
        if !about.ends_with('…') && !title.ends_with('…') {
            observation.title = format!("{title} (on: {})", uncapitalised(&about));
        }
    }
    let places: Vec<usize> = made.source.into_iter().chain([place]).collect();
    let is_new = |said: &str| says_more(said, &observation.title);
    let source = made.source.unwrap_or(place);
    // The person's reason; where the title holds all of it, the agent's.
    let about = made.about.filter(|about| is_new(about));
    let (narrative, about) = match is_new(&reply.words) {
        true => (Some(format!("\"{}\"", cut(&reply.words, WORDS - 2))), about),
        false => (about.map(|about| format!("The agent had said: {about}")), None),
    };
    let facts = [
        made.question.filter(|question| is_new(question)).map(|asked| format!("Asked: {asked}")),
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
    drafts.push(Draft { place, observation });
}

/// Returns true if a text says more than a title does.
fn says_more(text: &str, title: &str) -> bool {
    let known = reply::significant(title);
    reply::significant(text).iter().any(|word| !known.contains(word))
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
            if alike(asked, &reply.rest) {
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
    let title = format!("{} → {answer}", question_of(&question.text));
    let questions: Vec<&str> = proposal.questions.iter().map(|one| one.text.as_str()).collect();
    (!answer.is_empty()).then(|| Made {
        title: reply::titled(&title),
        question: Some(questions.join(" ")),
        about: proposal.advice.clone(),
        ..Made::default()
    })
}

/// Returns the first question in a text, without what follows it.
fn question_of(text: &str) -> &str {
    text.find('?').map_or(text, |at| &text[..=at])
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
    let question = question_of(proposal.question()?);
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
    if !is_answer || !reply::asks_for_decision(question) || reply::is_procedure(&offered(question))
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

/// Returns true if two texts share a word that carries meaning.
fn alike(a: &str, b: &str) -> bool {
    let known = reply::significant(a);
    reply::significant(b).iter().any(|word| word.len() >= 4 && known.contains(word))
}

/// Returns the decision to carry out a plan.
fn approved(session: &Session<'_>, plan: &Plan, place: usize) -> Option<Draft> {
    let name = plan.title.as_deref().or_else(|| plan.points.first().map(String::as_str))?;
    let mut observation = by_person(session, "plan", 0, place);
    observation.title = plan_decision(name, &plan.points);
    observation.narrative =
        plan.reason.as_ref().map(|reason| session.statement(reason.clone(), &[place]));
    observation.facts =
        plan.points.iter().map(|point| session.statement(point.clone(), &[place])).collect();
    Some(Draft { place, observation })
}

/// Returns the title of an approved plan: its heading, and where that only names an aim, the measures that it takes.
fn plan_decision(name: &str, points: &[String]) -> String {
    let approved = |said: &str| format!("Approved the plan: {said}");
    let fits = |title: &String| title.chars().count() <= TITLE;
    let plain = || reply::titled(&approved(name));
    if !is_aim(name) {
        return plain();
    }
    let measures = points.iter().filter_map(|point| measure(point));
    let mut measures = measures.filter(|measure| says_more(measure, name));
    let (first, second) = (measures.next(), measures.next());
    let Some(first) = first else { return plain() };
    let both = second.map(|second| format!("{first}; {second}"));
    let room = TITLE.saturating_sub(approved(&first).chars().count() + 3);
    let short = || reply::titled_in(name, room.max(LEAST));
    [
        both.as_ref().map(|both| approved(&format!("{name} — {both}"))),
        Some(approved(&format!("{name} — {first}"))),
        Some(approved(&format!("{} — {first}", short()))).filter(|title| !title.contains('…')),
        both.map(|both| approved(&both)),
    ]
    .into_iter()
    .flatten()
    .find(fits)
    .unwrap_or_else(|| reply::titled(&approved(&first)))
}

/// Returns true for a heading that says what is to become better, not by which change.
fn is_aim(heading: &str) -> bool {
    let first = heading.split(' ').next().unwrap_or_default().to_lowercase();
    let is_better =
        ["improve", "reduce", "optimize", "optimise", "enhance", "increase", "clean", "polish"];
    is_better.contains(&first.as_str()) || verbs::kind_of(heading) == Some(ObservationType::Bugfix)
}

/// Returns a point of a plan as a measure: "2. Backend: Add a cache" becomes "add a cache".
fn measure(point: &str) -> Option<String> {
    let is_order = |said: &str| {
        let first = said.split(' ').next().unwrap_or_default();
        (verbs::is_imperative(first) || reply::is_verb(first)) && !reply::is_procedure(said)
    };
    let said = title::shaped(point);
    let parts =
        [" — ", " – ", " - ", ": "].iter().filter_map(|mark| Some(said.split_once(mark)?.1));
    let order = std::iter::once(said.as_str()).chain(parts).find(|said| is_order(said))?;
    let order = order.split(" (").next().unwrap_or(order).trim_end();
    (order.split(' ').count() >= 4 && !is_checking(order)).then(|| uncapitalised(order))
}

/// Returns true for a step that only tests or documents the others.
fn is_checking(order: &str) -> bool {
    let lower = order.to_lowercase();
    ["test", "changelog", "documentation", "verif"].iter().any(|word| lower.contains(word))
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
    let meanings: Vec<String> =
        answers.iter().filter_map(|(_, answer)| meaning_of(answer)).collect();
    if !meanings.is_empty() {
        let reason = cut(&meanings.join(" "), WORDS);
        observation.narrative = Some(session.statement(reason, &places));
    }
    observation.facts = answers
        .iter()
        .filter_map(|(place, answer)| {
            Some(session.statement(fact_of(answer, &observation.title)?, &[*place]))
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

/// Returns the meaning of an answer: the words beside the option that was chosen.
fn meaning_of(answer: &DialogAnswer) -> Option<String> {
    let meaning = answer.meaning.as_deref()?.trim_end_matches('.');
    let chosen = answer.answer.trim_end_matches(" (Recommended)");
    Some(format!("{chosen}: {meaning}."))
}

/// Returns a question, its answer and what was not chosen, without what the title says.
fn fact_of(answer: &DialogAnswer, title: &str) -> Option<String> {
    let others: Vec<&str> =
        answer.others.iter().map(String::as_str).filter(|other| !leaves_it(other)).collect();
    let is_titled = title.starts_with(&format!("{} → ", question_of(&answer.question)))
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

fn answers_title(answers: &[(usize, &DialogAnswer)]) -> String {
    if let [(_, answer)] = answers {
        let named = named_answer(answer);
        let others = answer.others.iter().filter(|other| !leaves_it(other));
        let others: Vec<String> = others.map(|one| crate::proposal::head(one)).collect();
        let over = format!("{named} over {}", others.join(" and "));
        if !others.is_empty() && answer.meaning.is_some() && over.chars().count() <= TITLE {
            return over;
        }
        if named.chars().count() <= TITLE {
            return named;
        }
        return reply::decision_in(&answer.answer).unwrap_or_else(|| match &answer.header {
            Some(header) => reply::titled(&format!("{header}: {}", answer.answer)),
            None => reply::titled(&answer.answer),
        });
    }
    let mut title = String::new();
    for (_, answer) in answers {
        if !title.is_empty() {
            title.push_str("; ");
        }
        title.push_str(&named_answer(answer));
    }
    cut(&title, TITLE)
}

/// Returns the answer behind the name of its question.
fn named_answer(answer: &DialogAnswer) -> String {
    let chosen = answer.answer.trim_end_matches(" (Recommended)");
    let chosen =
        if answer.meaning.is_some() { chosen.to_owned() } else { crate::proposal::head(chosen) };
    // The question says more than its short name, where there is room for it.
    let whole = format!("{} → {chosen}", question_of(&answer.question));
    if whole.chars().count() <= TITLE {
        return whole;
    }
    match answer.header.as_deref() {
        Some(header) if !is_empty_header(header) => format!("{header}: {chosen}"),
        _ => match TITLE.checked_sub(chosen.chars().count() + 3).filter(|room| *room >= LEAST) {
            Some(room) => {
                let question = reply::titled_in(question_of(&answer.question), room);
                if question.ends_with('…') { chosen } else { format!("{question} → {chosen}") }
            }
            None => chosen,
        },
    }
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
            && reply::is_procedure(&offered(&answer.question))
}

/// Returns a question without its first words: "Should I commit?" becomes "commit?".
fn offered(question: &str) -> String {
    let lower = question.to_lowercase();
    let start =
        ["should i ", "shall i ", "do you want me to ", "want me to ", "would you like me to "];
    start.iter().find_map(|start| lower.strip_prefix(start)).unwrap_or(&lower).to_owned()
}
