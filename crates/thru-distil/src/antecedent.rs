//! The antecedents of decisions: what "it", "ours" and the like stand for, in the words of those who name it.

use crate::answered::proposal_before;
use crate::event::Action;
use crate::gate::stands_alone;
use crate::prose;
use crate::reply;
use crate::restated::Opening;
use crate::session::Session;
use crate::subject;
use crate::text::{TITLE, capitalised, uncapitalised};
use crate::verdict;
use crate::wording;

/// Events around a prompt among which what it is about is looked for.
const REACH: usize = 400;

/// Words that a decision shares with what names its object.
const SHARED: usize = 2;

/// Most words with a meaning of a decision that the agent may say in full.
const SHORT: usize = 3;

/// Most words of a sentence that repeats a decision.
const NAMING: usize = 14;

/// A decision that a reader understands alone.
pub(crate) struct Named {
    pub(crate) title: String,
    /// The place of the event that names what the person left out.
    pub(crate) source: Option<usize>,
}

/// Returns a decision with what it is about, or `None` if that is said nowhere.
pub(crate) fn named(
    session: &Session<'_>,
    place: usize,
    title: String,
    said: Option<&str>,
    answer: Option<(usize, &Opening)>,
) -> Option<Named> {
    let hesitates =
        ["Thinking ", "Leaning ", "Inclined "].iter().any(|start| title.starts_with(start));
    let points = reply::points(&title);
    if !hesitates && !points && !reply::lacks_object(&title) {
        let fuller = by_name(session, place, &title).or_else(|| in_full(answer, &title));
        if fuller.is_none() && reply::is_thin(&title) {
            return None;
        }
        let plain = || Named { title: with_topic(session, place, title), source: None };
        return Some(fuller.unwrap_or_else(plain));
    }
    let chooses = ["Agreed", "Chose", "Refused"].iter().any(|start| title.starts_with(start));
    if chooses {
        let title = match points {
            true => asked_about(session, place, &title).unwrap_or(title),
            false => title,
        };
        return Some(Named { title, source: None });
    }
    let words = format!("{title} {}", said.unwrap_or_default());
    let found = by_name(session, place, &title)
        .or_else(|| in_whole(&title, said))
        .or_else(|| restated(answer, &words))
        .or_else(|| done(session, place, &words))
        .or_else(|| because(session, place, &title))
        .or_else(|| {
            let is_open = points || says_what_points(said) || reply::is_relative(&title);
            (!is_open).then_some(Named { title, source: None })
        })
        .filter(|found| !reply::is_thin(&found.title))?;
    Some(Named { title: with_topic(session, place, found.title), ..found })
}

/// Returns the whole sentence, whose other clause may name it: "the two are new, so no need for compatibility".
fn in_whole(title: &str, said: Option<&str>) -> Option<Named> {
    let whole = reply::without_softeners(said.filter(|said| said.chars().count() <= TITLE)?);
    let is_decision = !reply::asks(whole) && !reply::is_of_moment(whole);
    let says_more = reply::significant(whole).len() >= reply::significant(title).len() + 2;
    let whole = reply::as_decision(reply::titled(whole));
    let is_named = !reply::points(&whole) && !reply::lacks_object(&whole) && !whole.ends_with('…');
    (is_decision && says_more && is_named).then_some(Named { title: whole, source: None })
}

/// Returns the decision as the agent says it again in its answer, or as what it does now.
fn restated(answer: Option<(usize, &Opening)>, words: &str) -> Option<Named> {
    let (at, opening) = answer?;
    let told = opening.restates(words);
    let told = told.map(|said| reply::as_decision(reply::titled(&reply::in_imperative(said))));
    // "This release" is clear enough in a decision.
    let told = told
        .map(|said| without_condition(&said).to_owned())
        .filter(|said| !said.ends_with('…') && stands_alone(&said.replace(" this ", " the ")));
    let least = if opening.agrees { 1 } else { SHARED };
    let announced = || opening.announced.clone().filter(|done| reply::shares(done, words, least));
    Some(Named { title: told.or_else(announced)?, source: Some(at) })
}

/// Returns true for "the two are new, so no need for compatibility": what they are was said before.
fn says_what_points(said: Option<&str>) -> bool {
    said.is_some_and(|said| reply::points(&capitalised(reply::without_softeners(said))))
}

/// Returns "A hard break is cleaner" for "A hard break is cleaner if few use it": the person knows that few do.
fn without_condition(said: &str) -> &str {
    let parted = said.split_once(" if ").filter(|(_, condition)| condition.contains(' '));
    parted.map_or(said, |(said, _)| said)
}

/// Returns a decision against something as the agent repeats it in the turn with its name: "No need for the old path",
/// "No support for `kiln/old.toml`".
fn by_name(session: &Session<'_>, place: usize, title: &str) -> Option<Named> {
    let needless = title.strip_prefix("No need for ").filter(|_| !reply::is_specific(title))?;
    let ends = [", ", ". ", " this ", " that ", " as ", " because ", " since "];
    let end = ends.iter().filter_map(|end| needless.find(end)).min().unwrap_or(needless.len());
    let object = reply::significant(&needless[..end]);
    let events = session.events.iter().enumerate().skip(place + 1).take(REACH);
    let mut events = events.take_while(|(_, event)| !matches!(event.action, Action::Asked(_)));
    events.find_map(|(at, event)| {
        let text = event.agent_text().filter(|_| !event.is_subagent)?;
        let said = prose::sentences(&text.report).flat_map(|said| {
            let last = said.rsplit_once(": ").map(|(_, last)| last);
            [Some(said), last].into_iter().flatten()
        });
        let repeats = |said: &&str| {
            let known = reply::significant(said);
            ["No ", "Drop ", "Remove "].iter().any(|no| said.starts_with(no))
                && said.contains('`')
                && said.split(' ').count() <= NAMING
                && !object.is_empty()
                && object.iter().all(|word| known.contains(word))
        };
        let title = reply::titled(said.into_iter().find(repeats)?);
        Some(Named { title, source: Some(at) })
    })
}

/// Returns a decision of few words as the agent says it in full, if it agrees.
fn in_full(answer: Option<(usize, &Opening)>, title: &str) -> Option<Named> {
    let is_short = !reply::is_specific(title) && reply::significant(title).len() <= SHORT;
    let (at, opening) = answer.filter(|_| is_short)?;
    let restated = opening.restates(title)?;
    let place = restated.split_once(", ").map_or("", |(place, _)| place);
    let said = reply::with_place(wording::stated(restated)?.title, place);
    let is_same = reply::shares(&said, title, SHARED) && reply::says_more(&said, title);
    is_same.then_some(Named { title: said, source: Some(at) })
}

/// Returns a decision behind the agent's statement about the same: "x is better than y: rename to x".
fn because(session: &Session<'_>, place: usize, title: &str) -> Option<Named> {
    let start = place.saturating_sub(REACH);
    let mut before = session.events.get(start..place)?.iter().enumerate().rev();
    let (at, text) = before.find_map(|(at, event)| Some((at, event.agent_text()?)))?;
    let statement = verdict::best(&text.statements, title)?;
    let object = title.split_once(' ').map_or("", |(_, object)| object);
    let whole = format!("{statement}: {}", uncapitalised(title));
    let is_same = reply::shares(&statement, object, 1) && whole.chars().count() <= TITLE;
    is_same.then_some(Named { title: whole, source: Some(start + at) })
}

/// Returns a short decision behind the topic that the agent asked about: "What do you think about x?"
fn with_topic(session: &Session<'_>, place: usize, title: String) -> String {
    let asked = proposal_before(session, place).and_then(|(_, proposal)| proposal.question());
    let topic = asked.and_then(|asked| asked.rsplit_once(" about ")).map(|(_, topic)| topic);
    let Some(topic) = topic.map(|topic| topic.trim_end_matches(['?', ' '])) else { return title };
    let whole = format!("{}: {}", capitalised(topic), uncapitalised(&title));
    let is_topic = (2..=6).contains(&topic.split(' ').count())
        && !reply::points(topic)
        && reply::alike(topic, &title)
        && reply::says_more(topic, &title);
    if is_topic && whole.chars().count() <= TITLE { whole } else { title }
}

/// Returns a choice behind the sentence that led up to the question.
fn asked_about(session: &Session<'_>, place: usize, title: &str) -> Option<String> {
    let (_, proposal) = proposal_before(session, place)?;
    let about = proposal.before.as_ref().filter(|before| stands_alone(before))?;
    let whole = format!("{}: {}", reply::titled(about), uncapitalised(title));
    (whole.chars().count() <= TITLE).then_some(whole)
}

/// Returns what was then done about the same, up to the next prompt that asks for something.
fn done(session: &Session<'_>, place: usize, words: &str) -> Option<Named> {
    let events = session.events.iter().enumerate().skip(place + 1).take(REACH);
    let mut prompts = 0;
    let events = events.take_while(|(_, event)| {
        prompts +=
            usize::from(matches!(&event.action, Action::Asked(request) if !request.is_slight));
        prompts == 0
    });
    let is_same = |title: &String| stands_alone(title) && reply::shares(title, words, SHARED);
    events.filter(|(_, event)| !event.is_subagent).find_map(|(at, event)| {
        let told = match &event.action {
            Action::Ran(run) => {
                run.commits.iter().map(|one| subject::of_commit(&one.subject)).find(is_same)?
            }
            Action::Wrote(text) => {
                text.action.as_ref().map(|(title, _)| title.clone()).filter(is_same)?
            }
            _ => return None,
        };
        Some(Named { title: reply::titled(&told), source: Some(at) })
    })
}
