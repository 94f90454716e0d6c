//! Summaries of a session and of each of its turns.

use std::collections::BTreeMap;

use thru_core::{
    Certainty, Digest, Observation, ObservationType, SessionSections, Speaker, Statement, Summary,
};

use crate::ending;
use crate::event::Event;
use crate::gate::{is_understood, stands_alone};
use crate::prose;
use crate::request::{self, Request};
use crate::segment::Turn;
use crate::session::{ASKED, Session, is_committed};
use crate::subject;
use crate::text::{FACT, cut, one_line, shown_name};
use crate::verbs;

/// Longest list of a digest.
const LIST: usize = 8;

/// The title of a session of which nothing tells what it was about.
pub const UNTITLED: &str = "Session without a description";

/// Most files named as changed: the observations name them all.
const FILES: usize = 6;

/// Most files named as looked into.
const LOOKED_INTO: usize = 5;

/// Returns the summary of a session, if anything happened in it beside questions to memory.
pub(crate) fn summarise(session: &Session<'_>, observations: &[Observation]) -> Option<Summary> {
    let has_work = session.events.iter().any(Event::is_work);
    if observations.is_empty() && !has_work {
        return None;
    }
    let mut digest = session_digest(session, observations);
    drop_empty(&mut digest);
    let title = title_of(session, observations, &digest);
    Some(Summary {
        id: Summary::id_of(session.agent, session.id),
        title,
        turns: turn_digests(session, observations),
        digest,
        sections: SessionSections::default(),
        at: session.events.iter().filter_map(|event| event.at).max(),
        raw_tokens: session.events.iter().map(|event| event.tokens).sum(),
    })
}

/// Drops statements without words.
fn drop_empty(digest: &mut Digest) {
    digest.request = digest.request.take().filter(|request| !request.text.is_empty());
    digest.state = digest.state.take().filter(|state| !state.text.is_empty());
    for statements in digest.lists_mut() {
        statements.retain(|statement| !statement.text.is_empty());
    }
}

/// Returns the title of a session: the user's own, the request of the turn with the most work, or the
/// work done in it.
fn title_of(session: &Session<'_>, observations: &[Observation], digest: &Digest) -> String {
    if let Some(given) = session.user_title {
        return given.to_owned();
    }
    if let [only] = committed(session).as_slice()
        && stands_alone(&subject::of_commit(only))
    {
        return subject::of_commit(only);
    }
    let main = main_turn(session, observations);
    let asked = main.and_then(|turn| request_of(session, turn));
    let first = session.events.iter().filter_map(Event::request).find(|request| !request.is_slight);
    let of_main = |one: &&Observation| main.is_some_and(|turn| turn.number == one.turn);
    let has_commit = |one: &&Observation| is_work(one) && is_committed(one);
    let says_action = |one: &&Observation| {
        is_work(one) && one.title.split(' ').next().is_some_and(verbs::is_imperative)
    };
    let title_of = |one: &Observation| one.title.clone();
    let of_request = |request: &Request| request.plan.clone().or_else(|| request.title.clone());
    let candidates = [
        asked.and_then(|request| request.plan.clone()),
        // Commits of documents and plans accompany those of the work.
        observations
            .iter()
            .filter(of_main)
            .filter(has_commit)
            .min_by_key(|one| one.kind == ObservationType::Change)
            .map(title_of),
        asked.filter(|request| !request.is_slight).and_then(of_request),
        observations.iter().filter(of_main).find(says_action).map(title_of),
        first.and_then(of_request),
        observations.iter().find(says_action).map(title_of),
        session.agent_title.map(str::to_owned),
        observations.iter().find(|one| is_work(one)).map(title_of),
        first.and_then(|request| request.fallback.clone()),
        observations.iter().find(|one| !one.title.is_empty()).map(title_of),
        digest.request.as_ref().and_then(|asked| request::first_line(&asked.text)),
    ];
    let candidates = || candidates.iter().flatten().filter(|title| !title.is_empty());
    candidates()
        .find(|title| stands_alone(title))
        .or_else(|| candidates().next())
        .cloned()
        .unwrap_or_else(|| UNTITLED.to_owned())
}

/// Returns the subjects of the commits of a session, each once.
fn committed<'s>(session: &'s Session<'_>) -> Vec<&'s str> {
    let runs = session.events.iter().filter_map(Event::run);
    let made = runs.flat_map(|run| run.commits.iter().map(|commit| commit.subject.as_str()));
    let names = |subject: &&str| is_understood(subject, 1) && !subject::only_saves(subject);
    let mut subjects: Vec<&str> = made.filter(names).collect();
    subjects.sort_unstable();
    subjects.dedup();
    subjects
}

fn is_work(observation: &Observation) -> bool {
    !matches!(observation.kind, ObservationType::Decision | ObservationType::Discovery)
}

/// Returns the turn with the most work; the first of equals.
fn main_turn<'s>(session: &'s Session<'_>, observations: &[Observation]) -> Option<&'s Turn> {
    let mut weights: BTreeMap<u32, u64> = BTreeMap::new();
    for one in observations.iter().filter(|one| is_work(one)) {
        // Files count more than words: a long conversation about one line is not the main thing.
        let weight = one.raw_tokens / 16 + 2000 * one.files_modified.len().min(50) as u64;
        *weights.entry(one.turn).or_default() += weight;
    }
    let most = *weights.values().max()?;
    // The first turn sets the goal unless another one did far more.
    let (number, _) = weights.iter().find(|(_, weight)| **weight * 5 >= most * 3)?;
    session.turns.iter().find(|turn| turn.number == *number)
}

fn session_digest(session: &Session<'_>, observations: &[Observation]) -> Digest {
    let mut digest = Digest {
        request: goals(session, observations),
        investigated: investigated(session, 0..session.events.len()),
        ..Digest::default()
    };
    for observation in observations {
        add(&mut digest, observation, LIST);
    }
    digest.files = files(observations);
    let open = ending::open_work(session, observations);
    digest.next_steps = open.next_steps;
    digest.next_steps.truncate(LIST);
    digest.open_questions = open.questions;
    digest.outcome = open.outcome;
    digest.state = open.state;
    digest
}

/// Puts an observation into its place in a digest.
fn add(digest: &mut Digest, observation: &Observation, limit: usize) {
    let list = match observation.kind {
        ObservationType::Decision if observation.certainty == Certainty::Low => return,
        ObservationType::Decision => &mut digest.decisions,
        ObservationType::Discovery => &mut digest.learned,
        _ => &mut digest.completed,
    };
    if list.len() < limit {
        let sources = match &observation.narrative {
            Some(narrative) => narrative.sources.clone(),
            None => observation.sources.iter().take(1).copied().collect(),
        };
        let sources = if sources.is_empty() { observation.sources.clone() } else { sources };
        let text = match observation.title.as_str() {
            "" => first_told(observation),
            title => Some(title.to_owned()),
        };
        list.extend(text.map(|text| Statement { text, sources }));
    }
}

/// Returns what tells an observation without a title: the first sentence of what was said that a reader understands alone,
/// or its first fact.
fn first_told(observation: &Observation) -> Option<String> {
    match observation.narrative.iter().chain(&observation.report).next() {
        Some(said) => {
            let mut first = prose::sentences(&said.text).take(3);
            Some(one_line(first.find(|sentence| stands_alone(sentence))?, FACT))
        }
        None => Some(one_line(&observation.facts.first()?.text, FACT)),
    }
}

fn files(observations: &[Observation]) -> Vec<String> {
    let mut known = std::collections::BTreeSet::new();
    let all = observations.iter().flat_map(|observation| &observation.files_modified);
    all.filter(|file| known.insert(file.as_str())).take(FILES).cloned().collect()
}

/// Returns the first request, and a later one if most of the work was for that.
fn goals(session: &Session<'_>, observations: &[Observation]) -> Option<Statement> {
    let mut first = request(session, 0..session.events.len(), false)?;
    let later = main_turn(session, observations)
        .filter(|turn| {
            let request = request_of(session, turn);
            request.is_some_and(|asked| asked.plan.is_some() || asked.title.is_some())
        })
        .and_then(|turn| request(session, turn.range.clone(), true))
        .filter(|later| later.sources != first.sources);
    if let Some(later) = later {
        first.text = format!("{}; later: {}", cut(&first.text, 140), cut(&later.text, 140));
        first.sources.extend(later.sources);
    }
    Some(first)
}

/// Returns the request in the prompt of a turn.
fn request_of<'s>(session: &'s Session<'_>, turn: &Turn) -> Option<&'s Request> {
    session.events.get(turn.range.start)?.request()
}

/// Returns the first request; skips prompts that only drive the client.
fn request(session: &Session<'_>, range: std::ops::Range<usize>, any: bool) -> Option<Statement> {
    let mut fallback = None;
    for place in range {
        let Some(request) = session.events.get(place).and_then(Event::request) else { continue };
        let Some(text) = &request.text else { continue };
        // The same words as in the observations of its turn.
        let text = one_line(text, ASKED);
        if any || !request.is_slight {
            return Some(session.statement(text, &[place]));
        }
        fallback.get_or_insert((place, text));
    }
    fallback.map(|(place, text)| session.statement(text, &[place]))
}

fn investigated(session: &Session<'_>, range: std::ops::Range<usize>) -> Vec<Statement> {
    let mut names: Vec<String> = Vec::new();
    let mut places = Vec::new();
    for place in range {
        let Some(event) = session.events.get(place) else { break };
        for file in &event.read {
            let name = shown_name(file);
            if names.len() < LOOKED_INTO && !name.is_empty() && !names.contains(&name) {
                names.push(name);
                places.push(place);
            }
        }
        if names.len() >= LOOKED_INTO {
            break;
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    let text = crate::text::one_line(&format!("Read {}", names.join(", ")), 240);
    vec![session.statement(text, &places)]
}

/// Returns the digests of the turns that had work in them: short, as the observations hold the rest.
fn turn_digests(session: &Session<'_>, observations: &[Observation]) -> Vec<(u32, Digest)> {
    let mut digests = Vec::new();
    let mut from = 0;
    // The digest of the session covers its only turn.
    let is_only = observations
        .iter()
        .all(|one| Some(one.turn) == observations.first().map(|first| first.turn));
    for turn in &session.turns {
        let start = from;
        while observations.get(from).is_some_and(|one| one.turn == turn.number) {
            from += 1;
        }
        let own = observations.get(start..from).unwrap_or_default();
        if own.is_empty() {
            continue;
        }
        let mut digest =
            Digest { outcome: ending::turn_outcome(session, turn), ..Digest::default() };
        if !is_only {
            digest.request = own.iter().find_map(|one| one.asked.clone());
            for observation in own.iter().filter(|one| one.speaker == Speaker::Agent) {
                add(&mut digest, observation, 1);
            }
        }
        drop_empty(&mut digest);
        digests.push((turn.number, digest));
    }
    digests
}
