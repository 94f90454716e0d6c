//! The confidence that something answers the question at all: a probability, fitted on questions with and
//! without answers.

use thru_store::index::{Candidate, Candidates};

use super::evidence::{Evidence, Found, best_similarity};
use super::{PassageScore, SessionScore};

/// The confidence below which nothing counts as found.
pub const CONFIDENT: f32 = 0.35;

/// A query of more words than these is a question and not a name.
const NAMES: usize = 3;
/// The share of the largest idf that a word has which names something.
const RARE: f32 = 0.5;
/// Number of documents below which frequencies say little: some days of work.
const SMALL_STORE: u64 = 1_000;

/// The inputs of the confidence: how well the best passages (of all, and of messages) hold the words of the
/// question, the cosine of the passage nearest in meaning, that of the nearest memory, the mean of the nearest titles of work,
/// the share of the question's names that the best session misses, the share of its words that was said in that session, and
/// the logarithm of their number: a short text is near to many by chance.
type Signals = [f32; 7];

/// A weighted sum of signals with a constant, which becomes a probability.
struct Calibration {
    /// In the order of the signals.
    weights: Signals,
    /// The constant term.
    constant: f32,
}

/// The cosine of the nearest memory as a share of the nearest passage's: the median over questions with answers.
const USUAL_MEMORY: f32 = 0.88;

/// The same for the titles of work, where none is near.
const USUAL_TITLES: f32 = 0.62;

/// With query embeddings.
const WITH_MEANING: Calibration =
    Calibration { weights: [2.9, 6.6, 5.0, 8.1, -3.0, 1.0, 1.0], constant: -12.87 };
/// The addition to the constant for a question in another language: it is farther from everything.
const FOREIGN: f32 = 1.4;
/// With words only.
const WORDS_ONLY: Calibration =
    Calibration { weights: [10.0, 0.0, 0.0, 0.0, -2.0, 0.0, 0.0], constant: -12.0 };

/// The signals of a question.
fn signals(
    candidates: &Candidates,
    evidence: &Evidence,
    found: &Found,
    best: Option<i64>,
) -> Signals {
    // A word that no document holds has no idf here: a name or a word of another language says nothing
    // about how well the others are met.
    let whole: f32 = candidates.idf.iter().sum();
    // With the largest idf that can occur here, so that the value does not grow with the store.
    let expected = (whole * rarest(candidates)).sqrt();
    let prose = candidates
        .found
        .iter()
        .zip(&evidence.words)
        .filter(|(candidate, _)| candidate.kind.is_prose())
        .map(|(_, words)| *words * evidence.best_words)
        .fold(0.0, f32::max);
    let share = |value: f32, of: f32| if of > 0.0 { value / of } else { 0.0 };
    let passage = best_similarity(found);
    let memories = found.sessions.values().map(|session| session.nearest);
    let memory = memories.filter(|cosine| *cosine > 0.0).reduce(f32::max);
    let words = share(f32::midpoint(evidence.best_words, prose), expected);
    // Where nothing was distilled, the nearest memory is as near as one usually is.
    let titles = found.titles.unwrap_or(passage * USUAL_TITLES);
    let of_best = candidates.found.iter().filter(|one| Some(one.session) == best && !one.is_echo);
    let prose = of_best.clone().filter(|one| one.kind.is_prose());
    let said = held(candidates, prose);
    let said = said.iter().zip(&candidates.idf).filter(|(is_said, _)| **is_said);
    let said: f32 = said.map(|(_, idf)| idf).sum();
    let missed = missed_names(candidates, found, of_best);
    let length = ((1 + candidates.idf.len()) as f32).ln();
    let memory = memory.unwrap_or(passage * USUAL_MEMORY);
    [words, passage, memory, titles, missed, share(said, whole), length]
}

/// For each word of the question, true if one of some passages holds it.
fn held<'c>(candidates: &Candidates, passages: impl Iterator<Item = &'c Candidate>) -> Vec<bool> {
    let mut held = vec![false; candidates.idf.len()];
    for one in passages {
        for (held, part) in held.iter_mut().zip(&one.contributions) {
            *held |= *part > 0.0;
        }
    }
    held
}

/// The largest idf that a word can have here.
fn rarest(candidates: &Candidates) -> f32 {
    ((2 + candidates.documents) as f32).ln()
}

/// The share of the question's names, rare ones weighing more, that none of the passages of the best session holds. Another
/// word may stand for a word, but not for a name.
fn missed_names<'c>(
    candidates: &Candidates,
    found: &Found,
    of_best: impl Iterator<Item = &'c Candidate>,
) -> f32 {
    let held = held(candidates, of_best);
    let (mut missed, mut all) = (0.0, 0.0);
    for name in &found.names {
        let idf = candidates.idf.get(*name).copied().filter(|idf| *idf > 0.0);
        let weight = idf.unwrap_or_else(|| rarest(candidates));
        all += weight;
        missed += if held.get(*name) == Some(&true) { 0.0 } else { weight };
    }
    if all > 0.0 { missed / all } else { 0.0 }
}

/// Returns true if a passage holds so much of the question that it counts as an answer whatever the
/// confidence: most words of one about a time, in what was said then; every word of a short one (a name that finds a passage with it was answered, however common
/// it is), in what was said if they were asked in a sentence, for the output of a tool may list anything; in a small store half
/// of the words, because it cannot tell which words are rare.
pub(super) fn holds_enough(candidates: &Candidates, found: &Found) -> bool {
    let words = candidates.idf.len();
    let is_small = candidates.documents < SMALL_STORE;
    let held = |one: &Candidate| one.contributions.iter().filter(|part| **part > 0.0).count();
    if let Some((from, until)) = found.when {
        let is_then = |one: &&Candidate| one.kind.is_prose() && (from..until).contains(&one.at);
        let mut then = candidates.found.iter().filter(is_then).filter(|one| !one.is_echo);
        if words > 0 && then.any(|one| held(one) * 3 >= words * 2) {
            return true;
        }
    }
    if found.is_foreign && holds_all_known(candidates) {
        return true;
    }
    let wanted = match (is_small, words <= NAMES) {
        (true, _) => words.div_ceil(2),
        (false, true) => words,
        (false, false) => return false,
    };
    // A question to memory is no answer to the next one.
    let is_question = |one: &Candidate| one.is_echo && one.kind.is_prose();
    let is_name = is_small || found.typed <= NAMES;
    let may_answer = |one: &Candidate| is_name || one.kind.is_prose();
    wanted > 0
        && candidates
            .found
            .iter()
            .any(|one| held(one) >= wanted && may_answer(one) && !is_question(one))
}

/// Sessions among which the lead of one says something.
const RIVALS: usize = 12;
/// The least share of its score by which a session leads …
const LEAD: f32 = 0.3;
/// … the first passages and those nearest in meaning, …
const FIRST: usize = 10;
/// … and how many of these are its own.
const OWN: (usize, usize) = (9, 3);
/// The confidence from which a lead counts.
const LIKELY: f32 = 0.1;

/// Returns true if one of many sessions leads so far, by words and by meaning, that it counts as an answer although the
/// confidence is low: the question tells what it did in other words.
pub(super) fn leads(
    candidates: &Candidates,
    found: &Found,
    sessions: &[SessionScore],
    passages: &[PassageScore],
    confidence: f32,
) -> bool {
    if stands_alone(candidates, sessions) {
        return true;
    }
    let [best, next, ..] = sessions else { return false };
    if confidence < LIKELY || sessions.len() < RIVALS || best.score - next.score < LEAD * best.score
    {
        return false;
    }
    let all = &candidates.found;
    let is_own = |at: usize| all[at].session == best.session;
    let mut near: Vec<(f32, usize)> = (0..all.len())
        .filter(|at| !all[*at].is_echo)
        .filter_map(|at| Some((found.similarity.get(at).copied().flatten()?, at)))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(all[a.1].key.cmp(&all[b.1].key)));
    let first = passages.iter().take(FIRST).filter(|score| is_own(score.candidate)).count();
    let near = near.iter().take(FIRST).filter(|(_, at)| is_own(*at)).count();
    first >= OWN.0 && near >= OWN.1
}

/// The share of the best score that the second session has at most where the best one stands alone, …
const SECOND: f32 = 0.1;
/// … and the share of the question's words, rare ones weighing more, that one of its messages holds then.
const TOLD: f32 = 0.65;

/// Returns true if one session alone has to do with the question, and a message in it holds most of what was asked.
fn stands_alone(candidates: &Candidates, sessions: &[SessionScore]) -> bool {
    let Some(best) = sessions.first() else { return false };
    if sessions.get(1).is_some_and(|next| next.score > SECOND * best.score) {
        return false;
    }
    let whole: f32 = candidates.idf.iter().sum();
    let told = |one: &Candidate| {
        let parts = one.contributions.iter().zip(&candidates.idf);
        let held: Vec<f32> = parts.filter(|(part, _)| **part > 0.0).map(|(_, idf)| *idf).collect();
        held.len() > 1 && held.iter().sum::<f32>() >= TOLD * whole
    };
    let own = candidates.found.iter().filter(|one| one.session == best.session && !one.is_echo);
    own.filter(|one| one.kind.is_prose()).any(told)
}

/// Returns true if something said holds every word of a question in another language that is known here, a rare one among
/// them: the others are that language's, and no vector of an English model is near to them.
fn holds_all_known(candidates: &Candidates) -> bool {
    let is_rare = candidates.idf.iter().any(|idf| *idf >= rarest(candidates) * RARE);
    let known = |one: &Candidate| {
        candidates.idf.iter().zip(&one.contributions).all(|(idf, part)| *idf == 0.0 || *part > 0.0)
    };
    let mut said = candidates.found.iter().filter(|one| one.kind.is_prose() && !one.is_echo);
    is_rare && said.any(known)
}

/// Returns the confidence, from 0 to 1. `best` is the session that ranks first.
pub(super) fn confidence(
    candidates: &Candidates,
    evidence: &Evidence,
    found: &Found,
    best: Option<i64>,
) -> f32 {
    if candidates.found.is_empty() {
        return 0.0;
    }
    let signals = signals(candidates, evidence, found, best);
    // While most messages have no vector yet, a lack of near vectors says nothing.
    let (calibration, more) = match has_meaning(candidates, found) {
        true => (WITH_MEANING, if found.is_foreign { FOREIGN } else { 0.0 }),
        false => (WORDS_ONLY, 0.0),
    };
    let sum: f32 = signals.iter().zip(calibration.weights).map(|(s, weight)| s * weight).sum();
    1.0 / (1.0 + (-(sum + calibration.constant + more)).exp())
}

/// Returns true if enough messages have vectors for similarity to be telling.
fn has_meaning(candidates: &Candidates, found: &Found) -> bool {
    let said = candidates
        .found
        .iter()
        .zip(&found.similarity)
        .filter(|(one, _)| one.kind.is_prose() && one.text_key.is_some());
    let (mut known, mut all) = (0, 0);
    for (_, similarity) in said {
        all += 1;
        known += usize::from(similarity.is_some());
    }
    all > 0 && known * 10 >= all * 9
}

#[cfg(test)]
mod tests {
    use thru_core::PassageKind;

    use super::*;

    fn candidate(contributions: Vec<f32>) -> Candidate {
        Candidate {
            row: 1,
            key: 1,
            session: 1,
            source: 1,
            ordinal: 1,
            turn: 1,
            length: 10,
            kind: PassageKind::Assistant,
            is_subagent: false,
            is_echo: false,
            at: 0,
            text_key: Some(1),
            contributions,
            proximity: 0.0,
        }
    }

    #[test]
    fn vectors_that_are_still_to_be_made_take_no_confidence() {
        let candidate = candidate(vec![9.0; 3]);
        let candidates = Candidates { found: vec![candidate], idf: vec![5.0; 3], documents: 1_000 };
        let confidence = |similarity: Vec<Option<f32>>| {
            let found = Found { similarity, ..Found::default() };
            let evidence = Evidence::of(&candidates, &found);
            confidence(&candidates, &evidence, &found, Some(1))
        };
        assert_eq!(confidence(vec![None]), confidence(vec![]));
        assert!(confidence(vec![None]) > CONFIDENT);
        assert!(confidence(vec![Some(0.05)]) < confidence(vec![Some(0.7)]));
    }

    #[test]
    fn what_was_said_at_the_time_that_is_asked_about_is_enough() {
        let one = candidate(vec![1.0, 1.0, 0.0]);
        let candidates =
            Candidates { found: vec![one], idf: vec![1.0; 3], documents: 10 * SMALL_STORE };
        let enough = |when| {
            let found = Found { when, typed: 9, ..Found::default() };
            holds_enough(&candidates, &found)
        };
        assert!(enough(Some((0, 1))) && !enough(Some((1, 2))) && !enough(None));
    }

    #[test]
    fn words_of_another_language_do_not_count_where_the_known_ones_are_all_held() {
        let enough = |idf: Vec<f32>, is_foreign| {
            let one = candidate(vec![9.0, 0.0, 0.0, 0.0]);
            let candidates = Candidates { found: vec![one], idf, documents: 10 * SMALL_STORE };
            holds_enough(&candidates, &Found { is_foreign, typed: 9, ..Found::default() })
        };
        assert!(enough(vec![6.0, 0.0, 0.0, 0.0], true));
        assert!(!enough(vec![6.0, 0.0, 0.0, 0.0], false));
        assert!(!enough(vec![6.0, 4.0, 0.0, 0.0], true), "another known word is missing");
        assert!(!enough(vec![2.0, 0.0, 0.0, 0.0], true), "the word stands everywhere");
    }

    #[test]
    fn a_session_that_leads_many_by_words_and_meaning_is_enough() {
        let answer = |row: i64, session| Candidate { row, session, ..candidate(vec![1.0]) };
        // Ten passages of the first session, and one of each other.
        let leads = |others: i64, second: f32, own_cosine: f32, confidence: f32| {
            let own = (0..10).map(|row| answer(row, 1));
            let all = own.chain((2..2 + others).map(|one| answer(10 + one, one)));
            let all: Vec<Candidate> = all.collect();
            let cosine = |one: &Candidate| Some(if one.session == 1 { own_cosine } else { 0.4 });
            let similarity = all.iter().map(cosine).collect();
            let found = Found { similarity, ..Found::default() };
            let candidates = Candidates { found: all, idf: vec![5.0], documents: 9_000 };
            let ranking = crate::rank::rank(&candidates, &found);
            let mut sessions = ranking.sessions;
            for one in &mut sessions {
                one.score = if one.session == 1 { 10.0 } else { second };
            }
            sessions.sort_by_key(|one| one.session);
            leads(&candidates, &found, &sessions, &ranking.passages, confidence)
        };
        assert!(leads(11, 6.0, 0.5, 0.2));
        assert!(!leads(10, 6.0, 0.5, 0.2), "few rivals");
        assert!(!leads(11, 8.0, 0.5, 0.2), "another session is as good");
        assert!(!leads(11, 6.0, 0.3, 0.2), "others are nearer in meaning");
        assert!(!leads(11, 6.0, 0.5, 0.05), "too little confidence");
    }

    #[test]
    fn a_session_that_stands_alone_and_tells_most_is_enough() {
        let alone = |held: Vec<f32>, second: f32| {
            let one = candidate(held);
            let candidates =
                Candidates { found: vec![one], idf: vec![5.0, 4.0, 2.0], documents: 9_000 };
            let mut sessions = crate::rank::rank(&candidates, &Found::default()).sessions;
            let best = sessions[0];
            sessions.push(SessionScore { session: 2, score: best.score * second, ..best });
            stands_alone(&candidates, &sessions)
        };
        assert!(alone(vec![1.0, 1.0, 0.0], 0.0));
        assert!(!alone(vec![1.0, 1.0, 0.0], 0.5), "another session has to do with it");
        assert!(!alone(vec![1.0, 0.0, 1.0], 0.0), "too little is told");
    }

    #[test]
    fn a_name_that_the_best_session_misses_takes_confidence() {
        let one = candidate(vec![9.0, 9.0, 0.0]);
        let candidates =
            Candidates { found: vec![one], idf: vec![5.0, 5.0, 0.0], documents: 1_000 };
        let confidence = |names: Vec<usize>| {
            let found = Found { names, ..Found::default() };
            let evidence = Evidence::of(&candidates, &found);
            confidence(&candidates, &evidence, &found, Some(1))
        };
        assert_eq!(confidence(vec![0, 1]), confidence(vec![]));
        assert!(confidence(vec![0, 2]) < confidence(vec![]));
        assert!(confidence(vec![2]) < confidence(vec![0, 2]));
    }
}
