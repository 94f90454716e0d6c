//! The later before the earlier: of what answers about as well, the last says how things stand.

use std::cmp::Reverse;
use std::collections::HashSet;

use thru_core::PassageKind;
use thru_store::index::{Candidate, Candidates};
use thru_store::{Result, Store};

use super::excerpts::is_plan;
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
/// … and of what it holds of the question, the share whose words a later one about the same holds, too.
const SAME: f32 = 0.5;
/// … and the shares of its words, or of what its turn has to do with the question, for the last words of a later turn, which say
/// how something stands.
const OF_WORDS: f32 = 0.8;
const OF_TURN: f32 = 0.7;
/// … and the shares of its score and words with which a person who replies to it has the last word.
const REPLY: f32 = 0.75;
const OF_REPLY: f32 = 0.2;

/// Puts the last answer of each session before those of it that are `wanted` and hardly better, and behind the word of a person
/// what came of it. What was said first may have been wrong, or changed since.
///
/// # Errors
/// Fails if the store cannot be read.
pub(super) fn last_answers_first(
    store: &Store,
    (ranking, candidates): (&Ranking, &Candidates),
    asks: Asks,
    wanted: &mut Vec<PassageScore>,
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
        let Some(first) = wanted.iter().position(|score| is_own(&score)) else { continue };
        let leads =
            |score: &PassageScore| leading.iter().any(|one| one.candidate == score.candidate);
        wanted.retain(|score| !leads(score));
        wanted.splice(first..first, leading);
    }
    Ok(())
}

/// The last answer among the passages of a session, which are its `own`, that is as good as the first of them.
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
        let text = store.text_of(&passage)?;
        // A plan is no reply but the next task.
        Ok(says(passage.kind, &text) && !is_plan(&passage, &text))
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
        && is_about_the_same(one, first)
        && score.score >= best.score * AS_GOOD
        && score.words() >= best.words() * AS_GOOD
}

/// Returns true for the last words of a later turn about the same.
fn says_how_it_stands((score, one): Scored<'_>, (best, first): Scored<'_>) -> bool {
    turn(one) != turn(first)
        && score.is_last_words()
        && is_about_the_same(one, first)
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

/// Returns true if a passage holds those of the words that another holds which weigh half of them.
fn is_about_the_same(one: &Candidate, first: &Candidate) -> bool {
    let both = one.contributions.iter().zip(&first.contributions);
    both.filter(|(own, _)| **own > 0.0).map(|(_, of_first)| of_first).sum::<f32>()
        >= first.held() * SAME
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::{Found, rank};

    /// A passage of a turn that holds so much of the question's only word, with its score.
    fn scored(passages: &[(u32, PassageKind, f32)]) -> Vec<(PassageScore, Candidate)> {
        let found: Vec<Candidate> = (1u32..)
            .zip(passages)
            .map(|(ordinal, (turn, kind, words))| Candidate {
                row: i64::from(ordinal),
                key: u64::from(ordinal),
                session: 1,
                source: 1,
                ordinal: ordinal * 10,
                turn: *turn,
                kind: *kind,
                is_subagent: false,
                is_echo: false,
                at: i64::from(ordinal),
                length: 50,
                text_key: None,
                contributions: vec![*words],
                proximity: 0.0,
            })
            .collect();
        let candidates = Candidates { found, idf: vec![1.0], documents: 2_000 };
        let ranking = rank(&candidates, &Found::default());
        let mut scored: Vec<(PassageScore, Candidate)> = ranking
            .passages
            .into_iter()
            .map(|score| (score, candidates.found[score.candidate].clone()))
            .collect();
        scored.sort_by_key(|(score, _)| score.candidate);
        scored
    }

    /// Says of each passage behind the first one which of the ways to overtake it are open to it.
    fn ways(passages: &[(u32, PassageKind, f32)]) -> Vec<(bool, bool, bool)> {
        let all = scored(passages);
        let of = |at: usize| (all[at].0, &all[at].1);
        (1..all.len())
            .map(|at| {
                let (one, first) = (of(at), of(0));
                (is_as_good(one, first), says_how_it_stands(one, first), is_reply(one, first))
            })
            .collect()
    }

    #[test]
    fn a_later_answer_is_as_good_by_its_words_or_says_how_it_stands_by_its_turn() {
        use PassageKind::{Assistant, Human};
        let answers = [(1, Assistant, 2.0), (1, Assistant, 1.9), (2, Assistant, 1.7)];
        assert_eq!(ways(&answers), [(true, false, false), (false, true, false)]);
        // What is said on the way is not what came of it, and a person asks more than one.
        let answers = [(1, Assistant, 2.0), (2, Assistant, 1.7), (2, Assistant, 0.1)];
        assert_eq!(ways(&answers), [(false, false, false), (false, false, false)]);
        assert_eq!(ways(&[(1, Assistant, 2.0), (3, Human, 1.9)]), [(false, false, false)]);
    }

    #[test]
    fn a_person_has_the_last_word_in_the_next_turn() {
        use PassageKind::{Assistant, Human};
        let replies = [(1, Assistant, 2.0), (2, Human, 1.4), (3, Human, 1.4), (2, Human, 0.1)];
        assert_eq!(
            ways(&replies),
            [(false, false, true), (false, false, false), (false, false, false)]
        );
    }

    #[test]
    fn what_only_announces_or_asks_says_nothing() {
        for (kind, text, wanted) in [
            (PassageKind::Assistant, "The lock goes into its own file.", true),
            (PassageKind::Assistant, "It is in its own file. Shall I commit it?", false),
            (PassageKind::Assistant, "Now let me move the lock:", false),
            (PassageKind::Human, "No file for it, please. Is a row enough?", true),
            (PassageKind::Human, "go on", false),
        ] {
            assert_eq!(says(kind, text), wanted, "{text}");
        }
    }
}
