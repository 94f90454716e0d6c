//! The teller of a command: a person, or an agent in its shell.

use thru_core::{PassageKind, SessionKey, bare_words};
use thru_store::Newest;

use crate::app::App;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::trouble::{Result, Trouble};

/// The last prompts of a session in which words are looked for, among so many passages.
const PROMPTS: Newest = Newest { kind: Some(PassageKind::Human), within: 2_000, limit: 50 };

/// True if a command that tells these words is an agent's own: it runs in an agent's shell, and no person typed them in
/// that session. A command without words of its own cannot be known again, and is the agent's.
pub(super) fn is_agent(app: &App, words: &[&str], call: Call<'_>) -> bool {
    app.machine.is_in_agent_shell()
        && !app.machine.agent_session().is_some_and(|session| {
            !words.is_empty() && is_typed(app, &session, words, call).unwrap_or(false)
        })
}

/// Refuses a deed that only a person may do.
///
/// # Errors
/// Fails if an agent tells these words of its own accord.
pub(super) fn require_person(app: &App, words: &[&str], deed: &str, call: Call<'_>) -> Result<()> {
    match is_agent(app, words, call) {
        false => Ok(()),
        true => {
            Err(Trouble::refused(format!("only a person may {deed}, not an agent in its shell"))
                .advise("run it in a terminal of your own"))
        }
    }
}

fn is_typed(app: &App, session: &SessionKey, words: &[&str], call: Call<'_>) -> Result<bool> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let Some(row) = store.session_by_key(session)? else { return Ok(false) };
    let mut prompts = Vec::new();
    for prompt in store.newest_passages(row, PROMPTS)? {
        prompts.push(bare_words(&store.text_of(&prompt)?));
    }
    Ok(words
        .iter()
        .map(|words| bare_words(words))
        .all(|words| !words.is_empty() && prompts.iter().any(|prompt| prompt.contains(&words))))
}
