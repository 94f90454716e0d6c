//! The speaker of a title, so that a line says whose words it holds. Words are an agent's unless they are marked.

use thru_core::{Id, PassageKind, Speaker, Summary, bare_words};
use thru_store::{MemoryBody, MemoryRow, Result, Store};

use super::said::alike;

/// Passages in which the words of a title are looked for.
const LOOKED_AT: usize = 6;

/// The marks of a person's request and of a commit.
const ASKED: &str = "Asked:";
const COMMIT: &str = "Commit:";

/// The speaker of a title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TitleSpeaker {
    /// A person, about this very thing.
    Person,
    /// A person, whose request names the work.
    Request,
    /// A commit or a pull request.
    Commit,
    /// An agent.
    Agent,
}

impl TitleSpeaker {
    /// Finds the speaker of a memory's title.
    pub(super) fn of(store: &Store, memory: &MemoryRow, body: &MemoryBody) -> Result<Self> {
        match body {
            MemoryBody::Observation(body) => match body.speaker {
                Speaker::Person => Ok(Self::Person),
                Speaker::Agent if memory.flags.is_note => Ok(Self::Agent),
                Speaker::Agent => Self::among(store, &body.title, &body.sources),
            },
            MemoryBody::Summary(body) => Self::of_session(store, body),
        }
    }

    /// Finds the speaker of a session's title.
    pub(super) fn of_session(store: &Store, summary: &Summary) -> Result<Self> {
        let is_title = |text: &str| alike(text, &summary.title);
        let digest = &summary.digest;
        if digest.request.as_ref().is_some_and(|request| is_title(&request.text)) {
            return Ok(Self::Request);
        }
        match digest.completed.iter().find(|done| is_title(&done.text)) {
            Some(done) => Self::among(store, &summary.title, &done.sources),
            None => Ok(Self::Agent),
        }
    }

    /// Finds the first of these passages that holds the title word for word. An agent's own words are rarely kept so.
    fn among(store: &Store, title: &str, sources: &[Id]) -> Result<Self> {
        // The file or the scope behind a title stands elsewhere.
        let said = title.strip_suffix(')').and_then(|title| title.rsplit_once(" ("));
        let title = bare_words(said.map_or(title, |(said, _)| said));
        for id in sources.iter().take(LOOKED_AT) {
            let Some(passage) = store.passage(id)? else { continue };
            let speaker = match passage.kind {
                PassageKind::Human => Self::Request,
                PassageKind::Tool if is_of_git(passage.command.as_deref()) => Self::Commit,
                PassageKind::Tool | PassageKind::Assistant => continue,
            };
            if bare_words(&store.text_of(&passage)?).contains(&title) {
                return Ok(speaker);
            }
        }
        Ok(Self::Agent)
    }

    /// Marks a title, or a text that begins with it.
    pub(super) fn mark(self, text: &str) -> String {
        match self {
            Self::Person => format!("The user said: \"{text}\""),
            Self::Request => format!("{ASKED} {text}"),
            Self::Commit => format!("{COMMIT} {text}"),
            // An agent that writes a mark speaks for itself all the same.
            Self::Agent if [ASKED, COMMIT].iter().any(|mark| text.starts_with(mark)) => {
                format!("The agent: {text}")
            }
            Self::Agent => text.to_owned(),
        }
    }
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
            (TitleSpeaker::Request, "Asked: Bound the retry loop"),
            (TitleSpeaker::Commit, "Commit: Bound the retry loop"),
            (TitleSpeaker::Agent, title),
        ] {
            assert_eq!(speaker.mark(title), marked);
        }
        assert_eq!(TitleSpeaker::Agent.mark("Asked: push"), "The agent: Asked: push");
    }
}
