//! The later before the earlier: of what answers about as well, the last says how things stand.

use std::cmp::Reverse;
use std::collections::HashSet;

use thru_core::PassageKind;
use thru_store::index::{Candidate, Candidates};
use thru_store::{Result, Store};

use super::saying::{is_asking, is_intent, is_order};
use super::{FoundMemory, SessionHits};
use crate::rank::{PassageScore, Ranking};

/// The question, as far as it decides over what is later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asks {
    /// It asks how something stands.
    pub(super) state: bool,
    /// It asks how to do something.
    pub(super) how: bool,
}

/// Sessions in which a later answer is looked for, and the best passages of each among which it is.
const SESSIONS: usize = 5;
const PASSAGES: usize = 10;
/// The share of the score of the best answer of a session, and of its words of the question, with which a later one is as good.
const AS_GOOD: f32 = 0.9;
/// … and the shares of its words, or of what its turn has to do with the question, for the last words of a later turn, which say
/// how something stands.
const OF_WORDS: f32 = 0.8;
const OF_TURN: f32 = 0.7;
/// … and the shares of its score and words with which a person who replies to it has the last word.
const REPLY: f32 = 0.75;
const OF_REPLY: f32 = 0.2;

/// Puts the last answer of each session before those that are hardly better, and behind the word of a person what came of it.
/// What was said first may have been wrong, or changed since.
///
/// # Errors
/// Fails if the store cannot be read.
pub(super) fn last_answers_first(
    store: &Store,
    ranking: &mut Ranking,
    candidates: &Candidates,
    asks: Asks,
) -> Result<()> {
    let found = |score: &PassageScore| &candidates.found[score.candidate];
    for session in ranking.sessions.iter().take(SESSIONS) {
        let is_own = |score: &&PassageScore| found(score).session == session.session;
        let own: Vec<PassageScore> = ranking.passages.iter().filter(is_own).copied().collect();
        let Some(last) = last_answer(store, &own, candidates, asks)? else { continue };
        let mut leading = vec![last];
        if found(&last).kind == PassageKind::Human {
            let is_outcome = |score: &&PassageScore| {
                score.is_last_words() && turn(found(score)) == turn(found(&last))
            };
            leading.extend(own.iter().find(is_outcome));
        }
        let leads =
            |score: &PassageScore| leading.iter().any(|one| one.candidate == score.candidate);
        ranking.passages.retain(|score| !leads(score));
        let first = ranking.passages.iter().position(|score| is_own(&score)).unwrap_or(0);
        ranking.passages.splice(first..first, leading);
    }
    Ok(())
}

/// The last answer of a session that is as good as the first of its passages, which are all its `own`.
fn last_answer(
    store: &Store,
    own: &[PassageScore],
    candidates: &Candidates,
    asks: Asks,
) -> Result<Option<PassageScore>> {
    let found = |score: &PassageScore| &candidates.found[score.candidate];
    let says = |score: &PassageScore| -> Result<bool> {
        let passage = store.passages_of_rows(&[found(score).row])?.pop();
        let Some(passage) = passage else { return Ok(false) };
        Ok(says(passage.kind, &store.text_of(&passage)?))
    };
    let Some(best) = own.first() else { return Ok(None) };
    let first = (*best, found(best));
    let is_later = |score: &&PassageScore| {
        let one = (**score, found(score));
        time(one.1) > time(first.1)
            && (is_as_good(one, first)
                || asks.state
                    && (says_how_it_stands(one, first) || !asks.how && is_reply(one, first)))
    };
    let mut later: Vec<&PassageScore> = own.iter().take(PASSAGES).filter(is_later).collect();
    later.sort_by_key(|score| Reverse(time(found(score))));
    for score in later {
        // A question of the agent waits for its reply: only what says how it stands overtakes it.
        if says(score)? && (asks.state || says(best)?) {
            return Ok(Some(*score));
        }
    }
    Ok(None)
}

/// A passage with its score.
type Scored<'a> = (PassageScore, &'a Candidate);

/// Returns true for a later answer that holds as much as an answer that is no better.
fn is_as_good((score, one): Scored<'_>, (best, first): Scored<'_>) -> bool {
    is_answer(one)
        && is_answer(first)
        && score.score >= best.score * AS_GOOD
        && score.words() >= best.words() * AS_GOOD
}

/// Returns true for the last words of a later turn about the same.
fn says_how_it_stands((score, one): Scored<'_>, (best, first): Scored<'_>) -> bool {
    turn(one) != turn(first)
        && score.is_last_words()
        && score.score >= best.score * AS_GOOD
        && (score.words() >= best.words() * OF_WORDS || score.turn() >= best.turn() * OF_TURN)
}

/// Returns true for a person who replies to the best passage, in its words.
fn is_reply((score, one): Scored<'_>, (best, first): Scored<'_>) -> bool {
    one.kind == PassageKind::Human
        && turn(one) == (first.source, first.turn + 1)
        && score.score >= best.score * REPLY
        && score.words() >= best.words() * OF_REPLY
}

/// Returns true for what the main agent said.
fn is_answer(one: &Candidate) -> bool {
    one.kind == PassageKind::Assistant && !one.is_subagent && !one.is_echo
}

/// Returns true if a text says something by itself, and leaves nothing open.
fn says(kind: PassageKind, text: &str) -> bool {
    let is_open = |text: &str| text.trim_end_matches(['*', ')', '"', ' ', '\n']).ends_with('?');
    match kind {
        PassageKind::Human => !is_order(text),
        _ => !is_intent(text) && !is_asking(text) && !is_open(text),
    }
}

const fn turn(one: &Candidate) -> (i64, u32) {
    (one.source, one.turn)
}

const fn time(one: &Candidate) -> (i64, u32) {
    (one.at, one.ordinal)
}

/// The shares of the score of the first session, of that of its best passage, and of its words and its meaning, with which a
/// later one answers as well.
const AS_GOOD_SESSION: f32 = 0.85;
const AS_GOOD_PASSAGE: f32 = 0.93;

/// Puts the last of the sessions that answer about as well as the first one before it, and returns the earlier ones that it
/// overtook.
pub(super) fn last_session_first(sessions: &mut [SessionHits]) -> HashSet<i64> {
    let at = |one: &SessionHits| one.hits.first().and_then(|hit| hit.passage.at);
    let reaches =
        |one: &SessionHits, first: &SessionHits, share: f32, value: fn(&PassageScore) -> f32| {
            let most =
                |of: &SessionHits| of.hits.iter().map(|hit| value(&hit.score)).fold(0.0, f32::max);
            most(one) >= most(first) * share
        };
    let is_as_good = |one: &SessionHits, first: &SessionHits| {
        at(one) > at(first)
            && one.score.score >= first.score.score * AS_GOOD_SESSION
            && reaches(one, first, AS_GOOD_PASSAGE, |score| score.score)
            && reaches(one, first, AS_GOOD, PassageScore::words)
            && reaches(one, first, AS_GOOD, PassageScore::meaning)
    };
    let later = (1..sessions.len()).filter(|place| is_as_good(&sessions[*place], &sessions[0]));
    let Some(last) = later.max_by_key(|place| at(&sessions[*place])) else { return HashSet::new() };
    sessions[..=last].rotate_right(1);
    let latest = at(&sessions[0]);
    let overtaken = sessions[1..=last].iter().filter(|one| at(one) < latest);
    overtaken.map(|one| one.session.row).collect()
}

/// Memories of sessions that a later one overtook say it last, and only if they are sure.
pub(super) fn without_overtaken(
    mut memories: Vec<FoundMemory>,
    overtaken: &HashSet<i64>,
) -> Vec<FoundMemory> {
    let is_overtaken = |one: &FoundMemory| {
        one.hit.memory.session.is_some_and(|session| overtaken.contains(&session))
    };
    memories.retain(|one| !is_overtaken(one) || one.hit.is_sure());
    memories.sort_by_key(is_overtaken);
    memories
}
