//! The speaker of a title, so that a line says whose words it holds. Words are an agent's unless they are marked.

use thru_core::{
    ForeignSource, Id, Observation, PLAN_APPROVED, PassageKind, Speaker, Statement, Summary,
    bare_words,
};
use thru_store::{MemoryBody, MemoryRow, PassageRow, Result, Store};

use super::orders::is_order;
use super::said::{alike, cut};

/// Passages in which the words of a title are looked for.
const LOOKED_AT: usize = 6;

/// The marks of a person's request, of an agent's words that a person agreed to, and of a commit.
const ASKED: &str = "Asked:";
const AGREED: &str = "Agreed:";
const COMMIT: &str = "Commit:";

/// The beginning of a title that tells a choice.
const CHOSE: &str = "Chose ";

/// The speaker of a title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TitleSpeaker {
    /// A person, in these words.
    Person,
    /// A person, whose choice or agreement the title tells in other words.
    Decision,
    /// An agent, to whose words a person agreed.
    Agreed,
    /// A person, whose request names the work.
    Request,
    /// A commit or a pull request.
    Commit,
    /// Another program's memory, from which it was imported.
    Imported(ForeignSource),
    /// An agent.
    Agent,
}

impl TitleSpeaker {
    /// Finds the speaker of a memory's title.
    pub(super) fn of(store: &Store, memory: &MemoryRow, body: &MemoryBody) -> Result<Self> {
        match body {
            MemoryBody::Observation(body) => match body.speaker {
                _ if memory.flags.is_note
                    && let Some(named) = store.foreign_name(memory)? =>
                {
                    Ok(Self::Imported(named.source))
                }
                Speaker::Person if body.is_agreed => Ok(Self::Agreed),
                // What a person told or corrected are their words.
                Speaker::Person if memory.flags.is_note || memory.flags.is_edited => {
                    Ok(Self::Person)
                }
                Speaker::Person => Self::of_person(store, body),
                Speaker::Agent if memory.flags.is_note => Ok(Self::Agent),
                Speaker::Agent => Self::among(store, &body.headline(), &body.sources),
            },
            MemoryBody::Summary(body) => Self::of_session(store, body),
        }
    }

    /// Finds the speaker of a session's title.
    pub(super) fn of_session(store: &Store, summary: &Summary) -> Result<Self> {
        let is_title = |said: &&Statement| alike(&said.text, &summary.title);
        let digest = &summary.digest;
        let requests = summary.turns.iter().filter_map(|(_, turn)| turn.request.as_ref());
        if digest.request.iter().chain(requests).any(|request| is_title(&request)) {
            return Ok(Self::Request);
        }
        match digest.completed.iter().chain(&digest.decisions).find(is_title) {
            Some(told) => Self::among(store, &summary.title, &told.sources),
            None => Ok(Self::Agent),
        }
    }

    /// Tells a person's own words from a choice that the title tells.
    fn of_person(store: &Store, body: &Observation) -> Result<Self> {
        let said = body.narrative.iter().flat_map(|said| &said.sources);
        let is_theirs =
            |passage: &PassageRow| (passage.kind == PassageKind::Human).then_some(Self::Person);
        let speaker = Self::holding(store, &body.title, body.sources.iter().chain(said), is_theirs);
        Ok(speaker?.unwrap_or(Self::Decision))
    }

    /// Finds the speaker of the first of these passages that holds the title word for word. An agent's own words are
    /// rarely kept so.
    fn among(store: &Store, title: &str, sources: &[Id]) -> Result<Self> {
        // The file or the scope behind a title stands elsewhere.
        let said = title.strip_suffix(')').and_then(|title| title.rsplit_once(" ("));
        let title = said.map_or(title, |(said, _)| said);
        let speaker = Self::holding(store, title, sources, |passage| match passage.kind {
            PassageKind::Human => Some(Self::Request),
            PassageKind::Tool if is_of_git(passage.command.as_deref()) => Some(Self::Commit),
            PassageKind::Tool | PassageKind::Assistant => None,
        });
        Ok(speaker?.unwrap_or(Self::Agent))
    }

    /// Returns the speaker of the first of these passages that holds the words of a title. Passages without a speaker are
    /// passed over.
    fn holding<'i>(
        store: &Store,
        title: &str,
        passages: impl IntoIterator<Item = &'i Id>,
        speaker: impl Fn(&PassageRow) -> Option<Self>,
    ) -> Result<Option<Self>> {
        let title = bare_words(title);
        for id in passages.into_iter().take(LOOKED_AT) {
            let Some(passage) = store.passage(id)? else { continue };
            let Some(speaker) = speaker(&passage) else { continue };
            if bare_words(&store.text_of(&passage)?).contains(&title) {
                return Ok(Some(speaker));
            }
        }
        Ok(None)
    }

    /// Marks a title, or a text that begins with it.
    pub(super) fn mark(self, text: &str) -> String {
        match self {
            Self::Person => {
                // What is quoted already needs no second pair.
                let words = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                format!("The user said: \"{}\"", words.unwrap_or(text))
            }
            Self::Decision => match (text.strip_prefix(PLAN_APPROVED), text.strip_prefix(CHOSE)) {
                (Some(plan), _) => format!("The user approved the plan: {plan}"),
                (_, Some(choice)) => format!("The user chose: {choice}"),
                _ => format!("The user decided: {text}"),
            },
            Self::Agreed => format!("{AGREED} {text}"),
            Self::Request => format!("{ASKED} {text}"),
            Self::Commit => format!("{COMMIT} {text}"),
            Self::Imported(source) => format!("From {source}: {text}"),
            // An agent that writes a mark speaks for itself all the same.
            Self::Agent if [ASKED, AGREED, COMMIT].iter().any(|mark| text.starts_with(mark)) => {
                format!("The agent: {text}")
            }
            Self::Agent => text.to_owned(),
        }
    }
}

/// Returns the whole sentence of a person that holds these words, with the one before it if it depends on that.
pub(super) fn in_its_place(
    store: &Store,
    body: &MemoryBody,
    words: &str,
    longest: usize,
) -> Result<Option<String>> {
    let MemoryBody::Observation(body) = body else { return Ok(None) };
    let said = body.narrative.iter().flat_map(|said| &said.sources);
    for id in body.sources.iter().chain(said).take(LOOKED_AT) {
        let Some(passage) = store.passage(id)?.filter(|one| one.kind == PassageKind::Human) else {
            continue;
        };
        let found = sentence_with(&store.text_of(&passage)?, words, longest);
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Returns the sentence of a text that holds these words, with the one before it in its line if it depends on that and
/// both are short.
fn sentence_with(text: &str, words: &str, longest: usize) -> Option<String> {
    let wanted = bare_words(words);
    if wanted.is_empty() {
        return None;
    }
    text.lines().find_map(|line| {
        let sentences: Vec<&str> = sentences(line).collect();
        let at = sentences.iter().position(|one| bare_words(one).contains(&wanted))?;
        let whole = sentences[at].trim_end_matches('.');
        let before = at.checked_sub(1).filter(|_| depends(sentences[at]));
        let before = before.and_then(|at| sentences.get(at));
        let both = before.map(|before| format!("{before} {whole}"));
        // What stands before may be pasted.
        let both = both.filter(|both| both.chars().count() <= longest && !is_order(both));
        Some(both.unwrap_or_else(|| cut(whole, longest)))
    })
}

/// True for a sentence that says little without the one before it.
pub(super) fn depends(sentence: &str) -> bool {
    const LINKS: [&str; 16] = [
        "also",
        "and",
        "because",
        "but",
        "instead",
        "it",
        "just",
        "only",
        "or",
        "otherwise",
        "same",
        "so",
        "that",
        "then",
        "these",
        "this",
    ];
    let first = sentence.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    first.is_some_and(|first| LINKS.contains(&first.to_lowercase().as_str()))
}

/// Returns the sentences of a line, each with the mark that it ends with.
pub(super) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line.trim();
    std::iter::from_fn(move || {
        let ends = rest.match_indices(['.', '!', '?']).map(|(at, mark)| at + mark.len());
        let end = ends.into_iter().find(|end| rest[*end..].starts_with(char::is_whitespace));
        let (sentence, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after.trim_start();
        (!sentence.is_empty()).then_some(sentence)
    })
}

fn is_of_git(command: Option<&str>) -> bool {
    command.is_some_and(|command| command.contains("git ") || command.contains("gh "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_whose_words_it_holds() {
        let title = "Bound the retry loop";
        for (speaker, marked) in [
            (TitleSpeaker::Person, "The user said: \"Bound the retry loop\""),
            (TitleSpeaker::Decision, "The user decided: Bound the retry loop"),
            (TitleSpeaker::Agreed, "Agreed: Bound the retry loop"),
            (TitleSpeaker::Request, "Asked: Bound the retry loop"),
            (TitleSpeaker::Commit, "Commit: Bound the retry loop"),
            (TitleSpeaker::Agent, title),
        ] {
            assert_eq!(speaker.mark(title), marked);
        }
        assert_eq!(
            TitleSpeaker::Person.mark("\"Bound the retry loop\""),
            "The user said: \"Bound the retry loop\""
        );
        assert_eq!(
            TitleSpeaker::Decision.mark("Approved the plan: Retries"),
            "The user approved the plan: Retries"
        );
        assert_eq!(TitleSpeaker::Decision.mark("Chose B over A"), "The user chose: B over A");
        assert_eq!(TitleSpeaker::Agent.mark("Asked: push"), "The agent: Asked: push");
    }

    #[test]
    fn a_quote_stands_with_the_sentence_before_it() {
        let said = "The old kiln is sold.  We fire in the new one. Just use it directly from now on!\nThanks";
        let quoted = |words: &str, longest| sentence_with(said, words, longest);
        assert_eq!(
            quoted("Just use it directly from now on", 80).as_deref(),
            Some("We fire in the new one. Just use it directly from now on!")
        );
        assert_eq!(
            quoted("Use it directly", 40).as_deref(),
            Some("Just use it directly from now on!")
        );
        assert_eq!(quoted("in the new one", 80).as_deref(), Some("We fire in the new one"));
        assert_eq!(quoted("glaze it", 80), None);
        let pasted = "Agents must run x.py. Just use pnpm.";
        assert_eq!(sentence_with(pasted, "use pnpm", 99).as_deref(), Some("Just use pnpm"));
    }
}
