//! The agent's own summary of a compaction, compared with the content of the session that is known.

use serde::Serialize;
use thru_core::{SessionId, SnapshotContent, Statement, Timestamp, file_name};
use thru_store::{CompactionRow, SessionRow};

use super::held_at;
use crate::answer;
use crate::app::App;
use crate::ask::named;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::trouble::Result;

/// The compactions of a session's context.
#[derive(Clone, Debug, Serialize)]
pub struct Compactions {
    version: u32,
    kind: &'static str,
    /// The session.
    pub session_id: SessionId,
    /// The compactions, the earliest first.
    pub compactions: Vec<ComparedCompaction>,
    /// The session as the store has it.
    #[serde(skip)]
    pub session: SessionRow,
}

/// A compaction, with what its summary dropped.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedCompaction {
    /// Its time.
    pub at: Option<Timestamp>,
    /// Its trigger: `manual`, `auto`, or any other value that the agent reported.
    pub trigger: String,
    /// The size of the context before it, in tokens.
    pub tokens_before: Option<u64>,
    /// The size of the context after it, in tokens.
    pub tokens_after: Option<u64>,
    /// The user's instructions for the summary.
    pub custom_instructions: Option<String>,
    /// The agent's own summary.
    pub summary: Option<String>,
    /// What that does not say; `None` where there is no summary, or nothing to compare it with.
    pub dropped: Option<Dropped>,
    /// Files and names in the summary that are not known of the session; `None` as above.
    pub not_in_ours: Option<NotInOurs>,
    /// True if the transcript reports it.
    #[serde(skip)]
    pub is_in_transcript: bool,
}

/// Known things that the agent's summary does not say.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Dropped {
    /// Their number.
    pub count: usize,
    /// The number of known things.
    pub of: usize,
    /// The things, by kind.
    pub things: DroppedThings,
}

/// Things that were dropped, by kind.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DroppedThings {
    files: Vec<String>,
    names: Vec<String>,
    commands: Vec<String>,
    decisions: Vec<String>,
    rulings: Vec<String>,
}

impl DroppedThings {
    /// The kinds with their things.
    pub fn kinds(&self) -> [(&'static str, &[String]); 5] {
        [
            ("files", &self.files),
            ("names", &self.names),
            ("commands", &self.commands),
            ("decisions", &self.decisions),
            ("rulings", &self.rulings),
        ]
    }
}

/// Files and names that only the agent's summary has.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NotInOurs {
    /// Their number.
    pub count: usize,
    /// The number of files and names in the summary.
    pub of: usize,
    /// The files and names.
    pub things: Vec<String>,
}

/// Compares, for each compaction of a session, the agent's summary with the content that is known.
///
/// # Errors
/// Fails if there is no such session, or store, archive or journal cannot be read.
pub fn compare(app: &App, session: &str, call: Call<'_>) -> Result<Compactions> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let intake = app.intake()?;
    let session = named::named_session(app, &store, session)?;
    let mut compactions = Vec::new();
    for row in store.compactions(session.row)? {
        let held = held_at(&intake, &store, &row)?;
        let both = held.as_ref().zip(row.summary.as_deref());
        let compared = both.map(|(held, summary)| compared(&held.get().content, summary));
        compactions.push(ComparedCompaction::new(row, compared));
    }
    Ok(Compactions {
        version: answer::VERSION,
        kind: "compactions",
        session_id: session.key.id.clone(),
        compactions,
        session,
    })
}

impl ComparedCompaction {
    fn new(row: CompactionRow, compared: Option<(Dropped, NotInOurs)>) -> Self {
        let (dropped, not_in_ours) = compared.unzip();
        Self {
            at: row.at,
            trigger: row.trigger,
            tokens_before: row.before,
            tokens_after: row.after,
            custom_instructions: row.asked,
            summary: row.summary,
            dropped,
            not_in_ours,
            is_in_transcript: row.place.is_some(),
        }
    }
}

fn compared(content: &SnapshotContent, summary: &str) -> (Dropped, NotInOurs) {
    let summary_text = SearchedText::new(summary);
    let texts = |list: &[Statement], is_said: &dyn Fn(&str) -> bool| -> Vec<String> {
        let texts = list.iter().map(|statement| statement.text.clone());
        texts.filter(|text| !is_said(text)).collect()
    };
    let (has, tells) = (|text: &str| summary_text.has(text), |text: &str| summary_text.tells(text));
    let files = content.files.iter().map(|file| &file.path);
    let things = DroppedThings {
        files: files.filter(|path| !summary_text.has_file(path)).cloned().collect(),
        names: content.names.iter().filter(|name| !summary_text.has(name)).cloned().collect(),
        commands: texts(&content.commands, &has),
        decisions: texts(&content.decisions, &tells),
        rulings: texts(&content.rulings, &tells),
    };
    let of = content.files.len()
        + content.names.len()
        + content.commands.len()
        + content.decisions.len()
        + content.rulings.len();
    let count = things.kinds().iter().map(|(_, things)| things.len()).sum();
    let ours = SearchedText::new(&serde_json::to_string(content).unwrap_or_default());
    let theirs = mentioned(summary);
    let lacking: Vec<String> =
        theirs.iter().filter(|thing| !ours.has_file(thing)).cloned().collect();
    (
        Dropped { count, of, things },
        NotInOurs { count: lacking.len(), of: theirs.len(), things: lacking },
    )
}

/// A text, to look for things in it.
struct SearchedText {
    /// In lower case, with single spaces.
    text: String,
}

impl SearchedText {
    fn new(text: &str) -> Self {
        Self { text: normal(text) }
    }

    fn has(&self, thing: &str) -> bool {
        self.text.contains(&normal(thing))
    }

    /// A file is named by its path or by its name alone.
    fn has_file(&self, path: &str) -> bool {
        self.has(path) || self.has(file_name(path))
    }

    /// True if it says most of a statement, in whatever words stand between.
    fn tells(&self, statement: &str) -> bool {
        let statement = normal(statement);
        let words: Vec<&str> = statement
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| word.chars().count() >= 4)
            .collect();
        let known = words.iter().filter(|word| self.text.contains(**word)).count();
        words.is_empty() || known * 3 >= words.len() * 2
    }
}

fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The files and names that a text puts between backticks or writes as paths, each once.
fn mentioned(text: &str) -> Vec<String> {
    /// More than any summary names.
    const MOST: usize = 500;
    let quoted = text.split('`').skip(1).step_by(2);
    let paths = text.split(|c: char| c.is_whitespace() || "`\"'()[],;".contains(c));
    let mut found: Vec<String> = Vec::new();
    let is_path = |word: &&str| {
        let word = word.trim_end_matches(['.', ':']);
        word.contains('/') && !word.contains("://") && word.contains('.') && word.len() >= 5
    };
    for thing in quoted.filter(|quoted| is_name(quoted)).chain(paths.filter(is_path)) {
        let thing = thing.trim_end_matches(['.', ':']).to_owned();
        if found.len() < MOST && !found.contains(&thing) {
            found.push(thing);
        }
    }
    found
}

fn is_name(quoted: &str) -> bool {
    (3..=120).contains(&quoted.len())
        && !quoted.contains(char::is_whitespace)
        && quoted.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_in_other_words_is_said() {
        let summary_text =
            SearchedText::new("The user wants   rubber GASKETS, never glue. See `src/hatch.rs`.");
        assert!(summary_text.tells("Never use glue; rubber gaskets only"));
        assert!(!summary_text.tells("Paint the antenna yellow before Friday"));
        assert!(
            summary_text.has_file("/home/ada/rocket/src/hatch.rs")
                && !summary_text.has_file("src/pump.rs")
        );
    }

    #[test]
    fn names_and_paths_are_mentioned() {
        assert_eq!(
            mentioned(
                "`Hatch::seal` in src/hatch.rs: `cargo test` and https://a.b/c.d, (lib/x.py)."
            ),
            ["Hatch::seal", "src/hatch.rs", "lib/x.py"]
        );
    }
}
