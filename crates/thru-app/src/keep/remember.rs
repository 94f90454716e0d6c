//! Remembering what a person or an agent tells.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Id, ObservationType, ProjectKey, TITLE_LENGTH};
use thru_intake::{Operation, RecordedMemory, Triplet};
use thru_redact::{Clean, Redactor, Report};
use thru_store::{Store, StoreError};

use super::teller;
use crate::answer;
use crate::app::App;
use crate::ask::{ProjectScope, named};
use crate::call::Call;
use crate::fresh;
use crate::trouble::{Remedy, Result, Trouble, TroubleKind};
use crate::words::printable;

/// Characters of a text. A longer one is a document, not a memory.
const LONGEST_TEXT: usize = 8_000;

/// The request to remember something.
#[derive(Clone, Debug)]
pub struct Remember {
    /// The text.
    pub text: String,
    /// Its title. Without one, a short text is its own title and a long one gets its first line.
    pub title: Option<String>,
    /// The type of the memory.
    pub kind: ObservationType,
    /// True if every session that starts is given it.
    pub is_rule: bool,
    /// Files that it is about, relative to the caller's directory.
    pub files: Vec<String>,
    /// The projects in which it holds. A project of the caller's that is not known yet begins with it.
    pub scope: ProjectScope,
    /// True if an agent tells it of its own accord. What an agent tells in its shell is found out by itself.
    pub by_agent: bool,
}

/// The memory that was kept.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "remembered")]
pub struct Remembered {
    version: u32,
    /// The shortest start of the id that names the memory alone.
    #[serde(rename = "id")]
    pub short_id: String,
    /// The id.
    #[serde(rename = "full_id")]
    pub id: Id,
    /// The project in which it holds; `None` where it holds in every one.
    pub project: Option<Clean<String>>,
    /// True if something private, or something that looked like a secret, was left out.
    #[serde(rename = "redacted")]
    pub is_redacted: bool,
    /// True if it counts as an agent's note, which sessions that start are told once a person agrees.
    pub by_agent: bool,
}

/// Keeps a memory.
///
/// # Errors
/// Fails if the text is empty, too long or wholly private, if the title is not one short line, if there is no such
/// project, and if the journal cannot be written.
pub fn remember(app: &App, request: &Remember, call: Call<'_>) -> Result<Remembered> {
    keep(app, request, None, call)
}

/// Keeps a memory whose text makes a statement about two things. No fact follows from it.
///
/// # Errors
/// As [`remember`].
pub fn state(app: &App, request: &Remember, states: Triplet, call: Call<'_>) -> Result<Remembered> {
    keep(app, request, Some(states), call)
}

fn keep(
    app: &App,
    request: &Remember,
    states: Option<Triplet>,
    call: Call<'_>,
) -> Result<Remembered> {
    fresh::make_again_if_lost(app, call)?;
    let scoped = project(app, &request.scope)?;
    let by_agent = request.by_agent || teller::is_agent(app, &[&request.text], call);
    let mut report = Report::default();
    // As everything else, before it reaches the journal; and before it is cut, so that no part of a
    // secret passes for something else.
    let text = clean_text(&request.text, &mut report)?;
    let title =
        request.title.as_deref().map(|title| clean_title(title, &mut report)).transpose()?;
    let states = states.map(|states| clean_triplet(states, &mut report)).transpose()?;
    let (title, rest) = match title {
        Some(title) => (title, Some(text)),
        None => title_and_text(text),
    };
    let file = |file: &String| app.directory.join(file).to_string_lossy().into_owned();
    let recorded = RecordedMemory {
        title,
        text: rest,
        kind: request.kind,
        // Only what a person says is a rule.
        is_rule: request.is_rule && !by_agent,
        files: request.files.iter().map(file).collect(),
        project: scoped.as_ref().map(|scoped| scoped.key.clone()),
        by_agent,
        states,
        written_in: None,
    };
    let intake = app.intake()?;
    intake.record(&scoped.as_ref().map_or_else(Vec::new, ScopedProject::placing))?;
    let keys = intake.record_memory(&call.lock(&intake)?, recorded)?;
    let id = RecordedMemory::id(&keys);
    let store = Store::open_to_read(&app.layout)?;
    let clean = |name: String| intake.redactor().clean_text(&name, &mut Report::default());
    Ok(Remembered {
        version: answer::VERSION,
        short_id: store.short_id(&id)?,
        id,
        project: scoped.map(|scoped| clean(scoped.name)),
        is_redacted: !report.is_empty(),
        by_agent,
    })
}

/// A text of a memory as it is kept: clean and without invisible characters.
///
/// # Errors
/// Fails if the text is empty, too long or wholly private.
pub(crate) fn clean_text(text: &str, report: &mut Report) -> Result<String> {
    let redactor = Redactor::builtin();
    if redactor.is_wholly_private(text) {
        return Err(Trouble::refused("nothing is left to remember once private text is taken out")
            .advise("write it without `<private>` tags"));
    }
    let text = redactor.clean_text(&printable(text), report).into_inner();
    let text = text.trim();
    if text.is_empty() {
        return Err(Trouble::invalid("there is nothing to remember")
            .advise("write what you want remembered"));
    }
    if text.chars().count() > LONGEST_TEXT {
        return Err(Trouble::invalid(format!("that is longer than {LONGEST_TEXT} characters"))
            .advise("remember the point of it, and name the document as a file that it is about"));
    }
    Ok(text.to_owned())
}

/// A title as it is kept: clean, one line, at most [`TITLE_LENGTH`] characters.
///
/// # Errors
/// As [`clean_text`], and if it is longer.
pub(super) fn clean_title(title: &str, report: &mut Report) -> Result<String> {
    let title = clean_text(title, report)?;
    if title.chars().count() > TITLE_LENGTH || title.contains(['\n', '\r']) {
        return Err(Trouble::invalid(format!(
            "a title is one line of 1 to {TITLE_LENGTH} characters"
        ))
        .advise("put the rest into the text"));
    }
    Ok(title)
}

/// The parts of a statement as they are kept: each as a title.
fn clean_triplet(states: Triplet, report: &mut Report) -> Result<Triplet> {
    Ok(Triplet {
        source: clean_title(&states.source, report)?,
        relation: clean_title(&states.relation, report)?,
        target: clean_title(&states.target, report)?,
    })
}

/// A short text is its own title; of a long one, its first line is, cut between words.
pub(crate) fn title_and_text(text: String) -> (String, Option<String>) {
    let first = text.lines().next().unwrap_or_default().trim();
    if text.chars().count() <= TITLE_LENGTH && first == text {
        return (text, None);
    }
    let mut title: String = first.chars().take(TITLE_LENGTH).collect();
    if title.len() < first.len() {
        let end = title.rfind(char::is_whitespace).filter(|end| *end > TITLE_LENGTH / 2);
        title.truncate(
            end.unwrap_or_else(|| title.char_indices().next_back().map_or(0, |(at, _)| at)),
        );
        title.push('…');
    }
    (title, Some(text))
}

/// A project in which a memory holds.
pub(crate) struct ScopedProject {
    pub(crate) key: ProjectKey,
    name: String,
    /// The directories that belong to it from now on: the caller's, and the one above that claims it.
    directories: Vec<PathBuf>,
}

impl ScopedProject {
    /// Returns the operations that record its new directories.
    pub(crate) fn placing(&self) -> Vec<Operation> {
        let directories = self.directories.iter().map(|path| path.to_string_lossy().into_owned());
        directories
            .map(|directory| Operation::DirectoryPlaced { directory, project: self.key.clone() })
            .collect()
    }
}

/// A project that begins with a memory, by the name that its teller gives it.
fn begun(name: &str) -> Result<ScopedProject> {
    let name = clean_title(name, &mut Report::default())?;
    Ok(ScopedProject { key: ProjectKey::named(&name), name, directories: Vec::new() })
}

/// The project in which a memory holds; `None` for every project. One that is named by a key of its own begins with it.
pub(crate) fn project(app: &App, scope: &ProjectScope) -> Result<Option<ScopedProject>> {
    Ok(match scope {
        ProjectScope::Everywhere => None,
        ProjectScope::Named(name) => {
            let begun = name.strip_prefix("name:").map(begun).transpose()?;
            let store = match Store::open_to_read(&app.layout) {
                Err(StoreError::Missing { .. }) if begun.is_some() => return Ok(begun),
                Err(StoreError::Missing { .. }) => {
                    return Err(Trouble::not_found(format!(
                        "there is no project `{name}`: nothing was recorded yet"
                    ))
                    .with(Remedy::Import));
                }
                store => store?,
            };
            let project = match named::named_project(&store, name) {
                Err(trouble) if trouble.kind() == TroubleKind::NotFound && begun.is_some() => {
                    return Ok(begun);
                }
                project => project?,
            };
            Some(ScopedProject { key: project.key, name: project.name, directories: Vec::new() })
        }
        ProjectScope::Here => {
            let store = Store::open_if_there(&app.layout)?;
            let settled = named::project_of_directory(app, &app.directory, store.as_ref())?;
            let mut name = settled.project.default_name().to_owned();
            let mut directories = vec![app.directory.clone()];
            directories.extend(settled.root.filter(|root| *root != app.directory));
            if let Some(store) = &store {
                if let Some(row) = store.project_by_key(&settled.project)? {
                    name = store.project_name(row)?.unwrap_or(name);
                }
                let known = store.directories()?;
                directories.retain(|path| !known.contains(&*path.to_string_lossy()));
            }
            Some(ScopedProject { key: settled.project, name, directories })
        }
    })
}
