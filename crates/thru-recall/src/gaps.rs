//! The words of a question that its answer lacks: those that nothing mentions, and names that belong to something else.
//!
//! Another word may stand for a word, but nothing stands for a name. Where all the other words of a question about GitLab
//! are found and GitLab is not, what was found is about something else, however well it fits.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;
use thru_store::Result;
use thru_store::index::tokenizer::Terms;
use thru_store::index::{Candidate, Candidates, IndexFilter, QueryTerms, TextIndex};

use crate::query::{is_foreign, is_stop_word};

/// Terms of the longest question. What is longer was pasted, and its names are the machine's.
const LONGEST_QUESTION: usize = 24;
/// Letters of the shortest name that is judged: "CI", "PR" and "UI" have other words.
const SHORTEST_NAME: usize = 3;
/// Letters of the shortest beginning that makes two words the same name in two forms ("postgres", "postgresql"), …
const SHORTEST_BEGINNING: usize = 4;
/// … and the least tenths of the longer one that it is.
const LEAST_SHARED: usize = 8;
/// Longer words that are looked at.
const MOST_LONGER: usize = 50;
/// A name in more than one of so many passages narrows nothing: it may well go without saying.
const OFTEN: u64 = 50;
/// … and than this many, in a small store.
const LEAST_OFTEN: u64 = 3;
/// Passages with a name that are looked at. With more it is part of everything.
const DEPTH: usize = 1_000;
/// Messages in which a word has to stand for its absence elsewhere to say anything.
const SAID: usize = 8;
/// Such messages in each session that has any. Words that carry a subject come in clusters, others are spread evenly.
const CLUSTERED: f32 = 2.5;

/// The share of a question's words, rare ones weighing more, from which one that nothing shown holds is told.
const WEIGHTY: f32 = 0.25;
/// Unknown words that are told. More say the same: ask in other words.
const MOST_TOLD: usize = 3;

/// A word of a question that its answer lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Gap {
    /// Nothing mentions the word.
    Unknown {
        /// The word, as typed.
        word: String,
        /// True if it is a name.
        is_name: bool,
    },
    /// The name is mentioned, but by nothing that was found.
    Elsewhere {
        /// The name, as typed.
        word: String,
    },
    /// No session speaks of both.
    Apart {
        /// The name, as typed.
        word: String,
        /// The other word.
        other: String,
    },
    /// Much of the question, or the kind of thing that it asks for, is the word, and nothing that is shown holds it.
    Unsaid {
        /// The word, as typed.
        word: String,
    },
    /// Nothing that was found is of the time that was asked about.
    OtherTime,
}

impl Gap {
    /// Returns true if the question cannot be answered without the word.
    pub fn is_telling(&self) -> bool {
        !matches!(self, Self::Unknown { is_name: false, .. } | Self::Unsaid { .. })
    }

    /// Says what gaps there are in a sentence for each kind; nothing where there are none.
    pub fn sentences(gaps: &[Self]) -> String {
        let (mut unknown, mut unsaid) = (Vec::new(), Vec::new());
        let mut sentences = Vec::new();
        for gap in gaps {
            match gap {
                Self::Unknown { word, .. } => unknown.push(format!("\"{word}\"")),
                Self::Unsaid { word } => unsaid.push(format!("\"{word}\"")),
                Self::Elsewhere { word } => {
                    sentences.push(format!("\"{word}\" is mentioned, but in nothing near this."));
                }
                Self::Apart { word, other } => {
                    sentences
                        .push(format!("No session speaks of both \"{word}\" and \"{other}\"."));
                }
                Self::OtherTime => sentences.push("Nothing near this is of that time.".to_owned()),
            }
        }
        for (start, mut words) in
            [("Nothing shown mentions", unsaid), ("Nothing mentions", unknown)]
        {
            words.truncate(MOST_TOLD);
            let Some(last) = words.pop() else { continue };
            let before = words.join(", ");
            let or = if before.is_empty() { "" } else { " or " };
            sentences.insert(0, format!("{start} {before}{or}{last}."));
        }
        sentences.join(" ")
    }
}

/// A question, and where it was asked.
pub(crate) struct Asked<'a> {
    pub(crate) query: &'a str,
    pub(crate) terms: &'a QueryTerms,
    pub(crate) filter: &'a IndexFilter,
    /// Tells words of English, in lower case.
    pub(crate) is_word: Option<fn(&str) -> bool>,
    pub(crate) passages: &'a TextIndex,
    pub(crate) memories: &'a TextIndex,
}

/// A word of a question, by its term, and as typed.
#[derive(Clone, Copy)]
struct Word<'a> {
    at: usize,
    typed: &'a str,
    is_name: bool,
}

impl<'a> Asked<'a> {
    /// The words of the question; no parts of names, and no wholes that are made of words.
    fn words(&self) -> Vec<Word<'a>> {
        let mut found: Vec<(usize, usize, usize)> = Vec::new();
        Terms::default().tokenize(self.query, |term, place| {
            let at = self.terms.terms.iter().position(|own| own == term);
            if let Some(at) = at.filter(|_| !term.starts_with('=')) {
                found.push((at, place.start, place.end));
            }
        });
        let is_part = |(_, start, end): &(usize, usize, usize)| {
            found.iter().any(|(_, a, b)| a <= start && end <= b && b - a > end - start)
        };
        let is_word = |text: &str| {
            text.chars().count() >= SHORTEST_NAME && text.starts_with(char::is_alphabetic)
        };
        let typed = |at: &(usize, usize, usize)| &self.query[at.1..at.2];
        let words = found.iter().filter(|one| !is_part(one) && is_word(typed(one)));
        let words: Vec<Word<'a>> = words
            .map(|one| {
                let has_capital = typed(one).contains(char::is_uppercase);
                let is_name = has_capital && self.terms.names.contains(&one.0);
                Word { at: one.0, typed: &self.query[one.1..one.2], is_name }
            })
            .collect();
        // In a title every word has a capital.
        let written = self.query.split_whitespace();
        let capitals = written.clone().filter(|word| word.starts_with(char::is_uppercase));
        let is_title = capitals.count() * 2 > written.count();
        let mut seen = HashSet::new();
        let words = words.into_iter().filter(|word| seen.insert(word.at));
        words.map(|word| Word { is_name: word.is_name && !is_title, ..word }).collect()
    }

    /// The passages that hold a word within the filter: the best of them.
    fn holding(&self, word: Word<'_>, filter: &IndexFilter) -> Result<Vec<Candidate>> {
        let found = self.passages.candidates(&self.alone(word), filter, DEPTH)?.found;
        Ok(found.into_iter().filter(|one| !one.is_echo).collect())
    }

    fn alone(&self, word: Word<'_>) -> QueryTerms {
        let forms = self.terms.forms_of(word.at).map(str::to_owned).collect();
        QueryTerms { terms: forms, ..QueryTerms::default() }
    }

    /// True if nothing within a filter holds a word in any form, nor a longer or shorter one that may be the same.
    fn is_unknown(&self, word: Word<'_>, filter: &IndexFilter) -> Result<bool> {
        let mut filter = filter.clone();
        filter.projects.iter_mut().for_each(|rows| rows.push(thru_store::index::EVERYWHERE));
        for index in [self.passages, self.memories] {
            let mut same = self.alone(word);
            let Some(term) = self.terms.terms.get(word.at) else { return Ok(false) };
            let letters: Vec<usize> = term.char_indices().map(|(start, _)| start).collect();
            if letters.len() >= SHORTEST_BEGINNING {
                same.terms.extend(index.terms_beginning(term, MOST_LONGER)?);
                let shortest = SHORTEST_BEGINNING.max((letters.len() * LEAST_SHARED).div_ceil(10));
                same.terms.extend(letters.iter().skip(shortest).map(|end| term[..*end].to_owned()));
            }
            if !index.candidates(&same, &filter, 1)?.found.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A name and the word that is tied most to other sessions than the name's, though each was said often.
    fn apart(&self, words: &[Word<'_>], candidates: &Candidates) -> Result<Option<Gap>> {
        let mut apart: Option<(f32, Gap)> = None;
        // An identifier is one place in the code, and what happened there may be told in any words.
        let is_thing =
            |word: &&Word<'_>| word.is_name && word.typed.starts_with(char::is_uppercase);
        for name in words.iter().filter(is_thing) {
            let others = words.iter().filter(|word| word.at != name.at);
            let others: Vec<&Word<'_>> =
                others.filter(|other| !meet(candidates, name.at, other.at)).collect();
            if others.is_empty() {
                continue;
            }
            let holding = self.holding(*name, self.filter)?;
            let (count, sessions) = said(&holding);
            if holding.len() >= DEPTH || count < SAID {
                continue;
            }
            let sessions_of_name: Vec<i64> = sessions.iter().copied().collect();
            let within = IndexFilter { sessions: Some(sessions_of_name), ..self.filter.clone() };
            for other in others {
                let (count, its_own) = said(&self.holding(*other, self.filter)?);
                let clustered = count as f32 / its_own.len().max(1) as f32;
                let is_best = apart.as_ref().is_none_or(|(best, _)| clustered > *best);
                if count < SAID || clustered < CLUSTERED || !is_best {
                    continue;
                }
                // Of a frequent word not all passages were looked at.
                if its_own.is_disjoint(&sessions) && said(&self.holding(*other, &within)?).0 == 0 {
                    let (word, other) = (name.typed.to_owned(), other.typed.to_owned());
                    apart = Some((clustered, Gap::Apart { word, other }));
                }
            }
        }
        Ok(apart.map(|(_, gap)| gap))
    }
}

/// The number of messages among passages, and their sessions.
fn said(passages: &[Candidate]) -> (usize, HashSet<i64>) {
    let said = passages.iter().filter(|one| one.kind.is_prose());
    (said.clone().count(), said.map(|one| one.session).collect())
}

/// True if some session has both words in what was said.
fn meet(candidates: &Candidates, one: usize, other: usize) -> bool {
    let with = |at: usize| {
        let said = candidates.found.iter().filter(|one| one.kind.is_prose() && !one.is_echo);
        said.filter(move |one| holds(one, at)).map(|one| one.session)
    };
    let sessions: HashSet<i64> = with(one).collect();
    with(other).any(|session| sessions.contains(&session))
}

/// True if a passage holds a word of the question.
fn holds(candidate: &Candidate, at: usize) -> bool {
    candidate.contributions.get(at).is_some_and(|part| *part > 0.0)
}

/// The words that an answer lacks. `shown` are the candidates on the screen, `beside` what else it shows: titles, projects
/// and agents.
///
/// # Errors
/// Fails if an index cannot be read.
pub(crate) fn gaps(
    asked: &Asked<'_>,
    candidates: &Candidates,
    shown: &[usize],
    beside: &[&str],
) -> Result<Vec<Gap>> {
    let is_question = !is_foreign(asked.query, asked.terms.language)
        && asked.terms.terms.len() <= LONGEST_QUESTION;
    if shown.is_empty() || !is_question {
        return Ok(Vec::new());
    }
    let words = asked.words();
    let beside: HashSet<String> = beside.iter().flat_map(|text| terms_of(text)).collect();
    let shown: Vec<&Candidate> = shown.iter().filter_map(|at| candidates.found.get(*at)).collect();
    let turns: HashSet<(i64, u32)> = shown.iter().map(|one| (one.source, one.turn)).collect();
    let is_near = |one: &Candidate| one.kind.is_prose() && turns.contains(&(one.source, one.turn));
    let rare = (asked.passages.documents() / OFTEN).max(LEAST_OFTEN);
    let asked_for = thing_asked_for(asked.query);
    let mut gaps = Vec::new();
    let idf = |word: &Word<'_>| candidates.idf.get(word.at).copied().unwrap_or_default();
    let all: f32 = words.iter().map(idf).sum();
    for word in &words {
        let Some(term) = asked.terms.terms.get(word.at) else { continue };
        let is_shown = beside.contains(term)
            || shown.iter().any(|one| holds(one, word.at))
            || candidates.found.iter().any(|one| is_near(one) && holds(one, word.at));
        let typed = word.typed.to_owned();
        if is_shown {
            continue;
        }
        let is_held = candidates.found.iter().any(|one| holds(one, word.at));
        if !is_held && asked.is_unknown(*word, asked.filter)? {
            // What other projects write in small letters is a word.
            let is_known = |is_word| is_english(&typed, is_word);
            let is_name = word.is_name
                || is_subject(asked.query, word.typed)
                || !asked.is_word.is_none_or(is_known)
                    && asked.is_unknown(*word, &IndexFilter::default())?;
            gaps.push(Gap::Unknown { word: typed, is_name });
        } else if word.is_name && (1..=rare).contains(&asked.passages.frequency(term)?) {
            gaps.push(Gap::Elsewhere { word: typed });
        } else if asked_for.contains(&word.typed) || idf(word) >= all * WEIGHTY {
            gaps.push(Gap::Unsaid { word: typed });
        }
    }
    if !gaps.iter().any(Gap::is_telling)
        && let Some(apart) = asked.apart(&words, candidates)?
    {
        // That its words do not meet says more than that one of them is not shown.
        gaps.retain(|gap| !matches!(gap, Gap::Unsaid { .. }));
        gaps.push(apart);
    }
    Ok(gaps)
}

/// The words for the kind of thing that a question asks for: "Slack" and "channel" of "which Slack channel is told".
fn thing_asked_for(query: &str) -> Vec<&str> {
    const ASKING: [&str; 5] = ["which", "welche", "welcher", "welches", "welchen"];
    const MOST: usize = 2;
    let is_asking = |word: &str| ASKING.iter().any(|asking| word.eq_ignore_ascii_case(asking));
    let words = query.split_whitespace().skip_while(|word| !is_asking(word)).skip(1);
    let names = words.take_while(|word| !is_stop_word(&word.to_lowercase())).take(MOST);
    names.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect()
}

/// Returns true if a question asks what a word did: "what did helena say". What nothing mentions did nothing. `word` is a part of
/// `query`.
fn is_subject(query: &str, word: &str) -> bool {
    const DID: [&str; 2] = ["did", "does"];
    let start = word.as_ptr().addr() - query.as_ptr().addr();
    let before = query[..start].split_whitespace().next_back();
    let has_verb = query[start + word.len()..].starts_with(' ');
    has_verb && before.is_some_and(|before| DID.iter().any(|did| before.eq_ignore_ascii_case(did)))
}

/// Returns true if a word, or what it is a form of, is English. Many type the names of things without a capital.
fn is_english(word: &str, is_word: fn(&str) -> bool) -> bool {
    const ENDINGS: [&str; 8] = ["s", "es", "d", "ed", "ing", "er", "ers", "ly"];
    const PARTICLES: [&str; 7] = ["away", "back", "down", "off", "out", "over", "up"];
    let word = word.to_lowercase();
    let is_root =
        |root: &str| root.len() >= SHORTEST_NAME && (is_word(root) || is_word(&format!("{root}e")));
    let ends = |ending: &&str| word.strip_suffix(*ending).is_some_and(is_root);
    is_word(&word) || ENDINGS.iter().chain(&PARTICLES).any(ends)
}

/// The terms of a text.
fn terms_of(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Terms::default().tokenize(text, |term, _| terms.push(term.to_owned()));
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_english_words_are_english() {
        let is_word = |word: &str| ["cache", "lock", "quick", "throw"].contains(&word);
        for (word, wanted) in [
            ("cache", true),
            ("Caches", true),
            ("caching", true),
            ("locked", true),
            ("quickly", true),
            ("throwaway", true),
            ("terraform", false),
            ("kafkas", false),
            ("ing", false),
        ] {
            assert_eq!(is_english(word, is_word), wanted, "{word}");
        }
    }

    #[test]
    fn the_kind_of_thing_that_is_asked_for_stands_behind_which() {
        for (query, wanted) in [
            ("which Slack channel is told", vec!["Slack", "channel"]),
            ("under which url is it", vec!["url"]),
            ("Welcher Port?", vec!["Port"]),
            ("which of the two", vec![]),
            ("what is it", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(thing_asked_for(query), wanted, "{query}");
        }
    }

    #[test]
    fn what_did_something_is_told_from_other_words() {
        for (query, wanted) in [
            ("what did helena say", true),
            ("Does helena know", true),
            ("what did helena", false),
            ("did we see helena there", false),
            ("helena did it", false),
        ] {
            let start = query.find("helena").unwrap();
            assert_eq!(is_subject(query, &query[start..start + 6]), wanted, "{query}");
        }
    }

    #[test]
    fn gaps_are_told_in_plain_sentences() {
        let unknown = |word: &str| Gap::Unknown { word: word.to_owned(), is_name: true };
        let apart = Gap::Apart { word: "Kafka".to_owned(), other: "billing".to_owned() };
        for (gaps, told) in [
            (vec![], ""),
            (vec![unknown("GitLab")], "Nothing mentions \"GitLab\"."),
            (
                vec![apart, unknown("GitLab"), unknown("Slack")],
                "Nothing mentions \"GitLab\" or \"Slack\". No session speaks of both \"Kafka\" and \"billing\".",
            ),
            (
                vec![unknown("GitLab"), Gap::Unsaid { word: "url".to_owned() }],
                "Nothing mentions \"GitLab\". Nothing shown mentions \"url\".",
            ),
            (vec![Gap::OtherTime], "Nothing near this is of that time."),
            (["a", "b", "c", "d"].map(unknown).to_vec(), "Nothing mentions \"a\", \"b\" or \"c\"."),
        ] {
            assert_eq!(Gap::sentences(&gaps), told);
        }
    }
}
