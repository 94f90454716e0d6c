//! Decisions: those of a person, in a dialogue, an answer or a prompt, and those the agent states in its
//! prose.

use std::collections::BTreeSet;

use thru_core::{Concept, Id, Merged, Observation, ObservationType, Speaker, Statement};

use crate::answered::{Made, answered, numbered, proposal_before};
use crate::antecedent::{self, Named};
use crate::dialogs::Dialogue;
use crate::event::{Action, Event};
use crate::gate::{is_name, stands_alone};
use crate::lacking;
use crate::plans;
use crate::prose;
use crate::reply::{self, Decided, Reply};
use crate::request::Request;
use crate::restated::{self, Opening};
use crate::rules::{Force, Ruling};
use crate::segment::Turn;
use crate::session::{Draft, Session};
use crate::text::{self, FACT, TITLE, cut};
use crate::undone;
use crate::verdict;
use crate::work::{self, FACTS};

/// Most choices taken from the agent's prose in one turn.
const CHOICES: usize = 2;

/// Longest narrative and fact, in characters.
const WORDS: usize = 400;

/// Events before a prompt among which the text that it answers is looked for.
pub(crate) const REACH: usize = 400;

/// Words that a decision shares with the one that replaces it.
const SAME: usize = 3;

/// Adds the decisions of a turn.
pub(crate) fn observe(session: &Session<'_>, turn: &Turn, drafts: &mut Vec<Draft>) {
    let mut choices = 0;
    let asked_back = session.events.get(turn.range.start).and_then(Event::request);
    let retells = turn.asks_memory || asked_back.is_some_and(|request| request.asks_back);
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
            // What memory said, or the person asked about, was decided then.
            Action::Wrote(text) if choices < CHOICES && !retells => {
                if let Some(choice) = &text.choice {
                    choices += 1;
                    // The work tells what was tried.
                    let is_told = |one: &Draft| {
                        one.observation.turn == turn.number
                            && one.observation.title.starts_with(work::STILL_FAILING)
                    };
                    if drafts.iter().any(is_told) {
                        continue;
                    }
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
    ruled(session, request, place, drafts);
    let Some(reply) = &request.reply else { return };
    let answer = restated::after(session, place);
    let opening = answer.map(|(_, opening)| opening);
    let replied = Replied { session, request, reply, place, opening };
    let Some(mut made) = replied.made() else { return };
    // The person's own words say it better than the option's, where they stand alone.
    if made.is_agreement
        && let Some(decided) = replied.decided()
        && (made.title.is_empty() || !decided.title.contains("something"))
    {
        made.title.clone_from(&decided.title);
    }
    let mut known = vec![made.title.clone()];
    let wish = opening.and_then(|opening| opening.wishes(&made.title));
    let is_fuller = |wish: &String| {
        !wish.ends_with('…')
            && !reply::is_specific(&made.title)
            && reply::says_more(wish, &made.title)
    };
    if let Some(wish) = wish.filter(is_fuller) {
        made.title = wish;
    }
    let is_told = |ruling: &str| !made.title.is_empty() && ruling.starts_with(&made.title);
    if rulings(request).any(|one| is_told(&one.title)) {
        return;
    }
    let mut observation = by_person(session, "reply", 0, place);
    let said = reply.decided.iter().find(|one| one.title == made.title);
    let said = said.map(|one| one.sentence.as_str());
    let chosen = reply::as_decision(made.title);
    let Some(Named { title, source: naming }) =
        antecedent::named(session, place, chosen.clone(), said, answer)
    else {
        known.push(chosen);
        return others(session, request, opening, place, known, drafts);
    };
    let is_tried = said.is_some_and(|said| reply::is_hedged(said, &title));
    let advised = opening.filter(|_| is_tried).and_then(|one| one.recommends(&title));
    observation.title = advised.unwrap_or(title);
    let places: Vec<usize> = made.source.into_iter().chain([place]).chain(naming).collect();
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
    known.extend([chosen, observation.title.clone()]);
    drafts.push(Draft { place, observation });
    for (ordinal, title) in numbered(session, reply, place).into_iter().enumerate().skip(1) {
        let mut observation = by_person(session, "numbered", ordinal, place);
        observation.title = title;
        observation.concepts.insert(Concept::TradeOff);
        drafts.push(Draft { place, observation });
    }
    others(session, request, opening, place, known, drafts);
}

/// Returns the rules, wishes and corrections in a prompt, without the corrections that say by themselves what is decided:
/// "no, use the blue blade instead of the red one".
fn rulings(request: &Request) -> impl Iterator<Item = &Ruling> {
    let decides = |sentence: &str| {
        let decided = request.reply.iter().flat_map(|reply| &reply.decided);
        decided.filter(|one| one.is_clear).any(|one| sentence.contains(&one.sentence))
    };
    let rulings = request.rulings.iter();
    rulings.filter(move |one| one.force != Force::Correction || !decides(&one.sentence))
}

/// Adds the rules, wishes and corrections in a prompt.
fn ruled(session: &Session<'_>, request: &Request, place: usize, drafts: &mut Vec<Draft>) {
    let mut corrected = None;
    for (ordinal, ruling) in rulings(request).enumerate() {
        let mut observation = by_person(session, "ruling", ordinal, place);
        observation.title.clone_from(&ruling.title);
        observation.narrative = reply::says_more(&ruling.sentence, &ruling.title)
            .then(|| session.statement(ruling.sentence.clone(), &[place]));
        observation.is_rule = ruling.force == Force::Rule;
        observation.concepts.insert(match ruling.force {
            Force::Rule | Force::Wish => Concept::Pattern,
            Force::Correction => Concept::Gotcha,
        });
        if reply::dangles(&ruling.title) || reply::suspects(&ruling.sentence) {
            continue;
        }
        if ruling.force == Force::Correction {
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
}

/// A reply to the agent's last text, with the beginning of its answer.
struct Replied<'r, 's> {
    session: &'r Session<'s>,
    request: &'r Request,
    reply: &'r Reply,
    place: usize,
    opening: Option<&'r Opening>,
}

impl Replied<'_, '_> {
    /// The decision: that of the first rule which finds one, unless it is a ruling or was only considered.
    fn made(&self) -> Option<Made> {
        let rules: [fn(&Self) -> Option<Made>; 4] =
            [Self::chosen, Self::stated, Self::restated, Self::agreed];
        let made = rules.iter().find_map(|rule| rule(self))?;
        let mut said = self.reply.decided.iter().filter(|one| one.title == made.title);
        let is_hedged = said.any(|one| !is_taken_up(one, self.opening));
        (!self.is_ruled(&made.title) && !is_hedged).then(|| taken_up(made, self.opening))?
    }

    /// An option of the agent's, or a proposal.
    fn chosen(&self) -> Option<Made> {
        answered(self.session, self.reply, self.place)
    }

    /// A sentence that says what is decided.
    fn stated(&self) -> Option<Made> {
        let title = self.decided()?.title.clone();
        let before = proposal_before(self.session, self.place);
        let about = before.as_ref().and_then(|(_, proposal)| {
            proposal.advice.clone().or_else(|| proposal.question().map(str::to_owned))
        });
        Some(Made { title, source: before.map(|(source, _)| source), about, ..Made::default() })
    }

    /// A sentence that decides without naming what: the agent's answer names it.
    fn restated(&self) -> Option<Made> {
        let open = self.reply.decided.iter().filter(|one| !one.is_clear);
        let restated = open.filter_map(|one| self.opening?.restates(&one.sentence));
        let title = restated.map(reply::titled).find(|title| stands_alone(title))?;
        Some(Made { title, ..Made::default() })
    }

    /// What the person proposes, and the agent agrees to.
    fn agreed(&self) -> Option<Made> {
        let (opening, proposed) = (self.opening?, self.reply.proposed.as_ref()?);
        let agrees = opening.agrees || opening.confirms && proposed.is_statement;
        agrees.then(|| Made { title: proposed.title.clone(), ..Made::default() })
    }

    /// The first sentence that says what is decided, and is no ruling.
    fn decided(&self) -> Option<&Decided> {
        let mut clear = self.reply.decided.iter().filter(|one| one.is_clear);
        let decided = clear.find(|one| !self.is_ruled(&one.sentence));
        decided.filter(|decided| is_taken_up(decided, self.opening))
    }

    fn is_ruled(&self, sentence: &str) -> bool {
        rulings(self.request).any(|one| one.sentence == sentence)
    }
}

/// Returns the choice of an option as the agent took it up: what it says that it does instead, where it understood another
/// one, or `None` if that cannot be told.
fn taken_up(made: Made, opening: Option<&Opening>) -> Option<Made> {
    let option = made.chosen.as_deref().filter(|_| made.others.len() < 2);
    let question = made.question.as_deref().unwrap_or_default();
    match opening.zip(option).and_then(|(opening, option)| opening.takes_instead(option, question))
    {
        Some(title) => Some(Made { title: title?, chosen: None, others: Vec::new(), ..made }),
        None => Some(made),
    }
}

/// Returns true unless a decision is hedged and the agent does not take it up: "maybe we should x" asks first.
fn is_taken_up(decided: &Decided, opening: Option<&Opening>) -> bool {
    !reply::is_hedged(&decided.sentence, &decided.title)
        || opening.is_some_and(|one| one.takes_up(&decided.title))
}

/// Adds the other decisions in a prompt that decides more than once.
fn others(
    session: &Session<'_>,
    request: &Request,
    opening: Option<&Opening>,
    place: usize,
    mut known: Vec<String>,
    drafts: &mut Vec<Draft>,
) {
    known.extend(rulings(request).map(|one| one.title.clone()));
    let decided = request.reply.iter().flat_map(|reply| &reply.decided);
    let clear = decided.filter(|one| one.is_clear);
    for (ordinal, decided) in clear.enumerate() {
        let title = reply::as_decision(decided.title.clone());
        let is_new = |said: &String| {
            let words = reply::significant(&title);
            let shared = reply::significant(said);
            words.iter().filter(|word| shared.contains(word)).count() * 3 < words.len() * 2
        };
        let is_open = title.contains("something") || reply::points_early(&title);
        let is_open = is_open || reply::is_thin(&title) || !is_taken_up(decided, opening);
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

/// Words of a finding among which its subject is looked for.
const SUBJECT: usize = 8;

/// Fewest words that a finding shares with what settles it.
const SETTLED: usize = 3;

/// Takes the titles of findings that a decision or work settled: what was advised or held for better then is over, and the
/// report still tells it.
pub(crate) fn settle_findings(drafts: &mut [Draft]) {
    for at in 0..drafts.len() {
        let Some(one) = drafts.get(at).map(|draft| &draft.observation) else { continue };
        if one.kind != ObservationType::Discovery || one.title.is_empty() {
            continue;
        }
        let advice = one.title.strip_prefix(verdict::RECOMMENDED);
        let words = reply::significant(advice.unwrap_or(&one.title));
        let turns = one.turn..=one.turn + LATER;
        let is_lack = lacking::tells_a_lack(&one.title);
        let settles = |other: &Observation| {
            if is_lack && other.turn > one.turn && supplies(&other.title, &one.title) {
                return turns.contains(&other.turn) && !other.files_modified.is_empty();
            }
            let is_decided = other.kind == ObservationType::Decision && other.turn > one.turn;
            if is_decided && turns.contains(&other.turn) && drops(&other.title, &one.title) {
                return true;
            }
            let known = reply::significant(&other.title);
            let shared = words.iter().filter(|word| known.contains(word)).count();
            let is_made = other.kind != ObservationType::Discovery
                && (other.turn > one.turn || other.kind == ObservationType::Decision);
            is_made
                && turns.contains(&other.turn)
                && shared >= SETTLED
                && (advice.is_some() || shared * 5 >= words.len() * 3)
        };
        if drafts.iter().any(|draft| settles(&draft.observation))
            && let Some(draft) = drafts.get_mut(at)
        {
            draft.observation.title.clear();
        }
    }
}

/// Returns true if a decision does away with the subject of a finding: "Drop the relay" ends "The relay polls twice".
fn drops(decision: &str, finding: &str) -> bool {
    const VERBS: [&str; 6] = ["abandon ", "delete ", "drop ", "remove ", "replace ", "stop using "];
    const ENDS: [&str; 7] = [" with ", " by ", " from ", " in ", " and ", " for ", ", "];
    let Some(verb) = VERBS.iter().find(|verb| text::begins(decision, verb)) else { return false };
    let object = &decision[verb.len()..];
    let end = ENDS.iter().filter_map(|end| object.find(end)).min().unwrap_or(object.len());
    let object = object[..end].trim_end_matches(" entirely").trim_end_matches(" completely");
    let object = reply::significant(object);
    let subject: Vec<&str> = finding.split(' ').take(SUBJECT).collect();
    let subject = reply::significant(&subject.join(" "));
    object.len() >= 2 && object.iter().all(|word| subject.contains(word))
}

/// Returns true if work names what a finding said was lacking.
fn supplies(work: &str, finding: &str) -> bool {
    let names = |title: &str| -> Vec<String> {
        let words = title.split(' ').map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        words.filter(|word| is_name(word)).map(str::to_lowercase).collect()
    };
    // The first word has a capital anyhow.
    let done = work.split_once(' ').map_or("", |(_, rest)| rest);
    let known = names(finding);
    names(done).iter().any(|name| known.contains(name))
}

/// Returns what the agent said that it did or would do, before a prompt.
fn deed_before<'s>(session: &'s Session<'_>, place: usize) -> Option<(usize, &'s str)> {
    let start = place.saturating_sub(REACH);
    let events = session.events.get(start..place)?;
    let mut texts =
        events.iter().enumerate().rev().filter_map(|(at, event)| Some((at, event.agent_text()?)));
    let (at, said) = texts.next()?;
    let deed = said.action.as_ref().map(|(deed, _)| deed.as_str());
    let deed = deed.or(said.announced.as_deref()).or(prose::sentences(&said.report).next())?;
    Some((start + at, deed))
}
