//! `thru remember`: tell something to remember.

use serde_json::json;
use thru_app::App;
use thru_app::Result;
use thru_app::ask::named;
use thru_core::{Id, ObservationType, ProjectKey, TITLE_LENGTH};
use thru_intake::{Intake, IntakeLock, Told};
use thru_redact::{Redactor, Report};
use thru_store::{Store, StoreError};

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, printable};

/// More than this is a document, not a memory.
const LONGEST_TEXT: usize = 8_000;

/// What you tell is kept in the journal, found by searches, and given to sessions like every other
/// memory. With `--rule` it is told to every session that starts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru remember 'Use pnpm here, npm breaks the lock file' --rule\n  \
    thru remember 'Staging is rebuilt every night at 2' --global\n  \
    thru remember 'Retries are capped at 5' --type decision --file src/retry.rs")]
pub(crate) struct Arguments {
    /// What to remember
    #[arg(required = true)]
    text: Vec<String>,
    /// Its title, where the text is long
    #[arg(long)]
    title: Option<String>,
    /// What it is about
    #[arg(long = "type", value_name = "TYPE", default_value = "decision")]
    kind: ObservationType,
    /// A rule: told to every session that starts
    #[arg(long)]
    rule: bool,
    /// A file that it is about (more than once for several)
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<String>,
    /// For this project instead of the one you stand in
    #[arg(long, short, conflicts_with = "global")]
    project: Option<String>,
    /// For every project
    #[arg(long, short)]
    global: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let telling = Telling {
        text: &arguments.text.join(" "),
        title: arguments.title.as_deref(),
        kind: arguments.kind,
        is_rule: arguments.rule,
        files: &arguments.files,
        whose: match (&arguments.project, arguments.global) {
            (_, true) => Whose::Everyone,
            (Some(name), _) => Whose::Named(name),
            (None, false) => Whose::Here,
        },
        by_agent: false,
    };
    let kept = keep(&telling, environment, |intake| shared::lock(intake, environment))?;
    let mut page = Page::new(environment, plain);
    if arguments.json {
        page.json(&json!({
            "version": 1,
            "kind": "remembered",
            "id": kept.short_id,
            "full_id": kept.id,
            "project": kept.project,
            "redacted": kept.is_redacted,
        }))?;
    } else {
        let place = kept.project.as_deref().map_or("every project".to_owned(), printable);
        let id = page.paint(Tone::Id, &kept.short_id);
        page.line(format!("Remembered as {id} for {place}. `thru undo` takes it back."));
        if kept.is_redacted {
            page.line(page.paint(
                Tone::Bad,
                "Something in it was private, or looked like a secret, and was left out.",
            ));
        }
    }
    page.print()?;
    Ok(Outcome::Done)
}

/// Something that is told, whoever tells it.
pub(crate) struct Telling<'a> {
    /// What to remember.
    pub(crate) text: &'a str,
    /// Its title, where the text is long.
    pub(crate) title: Option<&'a str>,
    /// What it is about.
    pub(crate) kind: ObservationType,
    /// Whether every session that starts is told it.
    pub(crate) is_rule: bool,
    /// Files that it is about.
    pub(crate) files: &'a [String],
    /// Where it holds.
    pub(crate) whose: Whose<'a>,
    /// Whether an agent tells it, on its own.
    pub(crate) by_agent: bool,
}

/// Where something holds that is told.
#[derive(Clone, Copy)]
pub(crate) enum Whose<'a> {
    /// In the project that one stands in.
    Here,
    /// In this project.
    Named(&'a str),
    /// Everywhere.
    Everyone,
}

/// What was kept.
pub(crate) struct Kept {
    pub(crate) id: Id,
    /// The shortest start of it that names it alone.
    pub(crate) short_id: String,
    /// The project where it holds; everywhere where there is none.
    pub(crate) project: Option<String>,
    /// Whether something was left out.
    pub(crate) is_redacted: bool,
}

/// Keeps what is told. `lock` says how others that write are waited for.
pub(crate) fn keep(
    telling: &Telling<'_>,
    environment: &Environment,
    lock: impl FnOnce(&Intake) -> Result<IntakeLock>,
) -> Result<Kept> {
    let (project, name) = project(telling.whose, environment)?.unzip();
    let mut report = Report::default();
    // As everything else, before it reaches the journal; and before it is cut, so that no part of a
    // secret passes for something else.
    let text = told(telling.text, &mut report)?;
    let title = telling.title.map(|title| told(title, &mut report)).transpose()?;
    let (title, rest) = title_and_text(title.as_deref(), &text)?;
    let told = Told {
        title,
        text: rest,
        kind: telling.kind,
        is_rule: telling.is_rule,
        files: telling.files.iter().map(|file| absolute(file, environment)).collect(),
        project,
        by_agent: telling.by_agent,
    };
    let intake = environment.intake()?;
    let lock = lock(&intake)?;
    let keys = intake.tell(&lock, told)?;
    let store = Store::open_to_read(&environment.layout)?;
    let id = Told::id(&keys);
    let short_id = store.short_id(&id)?;
    Ok(Kept { id, short_id, project: name, is_redacted: !report.is_empty() })
}

/// What a person told, clean and without what nobody can see.
pub(super) fn told(text: &str, report: &mut Report) -> Result<String> {
    let redactor = Redactor::builtin();
    if redactor.is_wholly_private(text) {
        return Err(advised(
            "nothing is left to remember once private text is taken out",
            "write it without `<private>` tags",
        ));
    }
    let text = redactor.clean_text(&printable(text), report).into_inner();
    check_text(text.trim())?;
    Ok(text.trim().to_owned())
}

/// A text is neither empty nor a document.
fn check_text(text: &str) -> Result<()> {
    if text.is_empty() {
        return Err(advised("there is nothing to remember", "write what you want remembered"));
    }
    if text.chars().count() > LONGEST_TEXT {
        return Err(advised(
            format!("that is longer than {LONGEST_TEXT} characters"),
            "remember the point of it, and name the document with `--file`",
        ));
    }
    Ok(())
}

/// A short text is its own title.
fn title_and_text(title: Option<&str>, text: &str) -> Result<(String, Option<String>)> {
    if let Some(title) = title {
        check_title(title)?;
        return Ok((title.trim().to_owned(), Some(text.to_owned())));
    }
    let first = text.lines().next().unwrap_or_default().trim();
    if text.chars().count() <= TITLE_LENGTH && first == text {
        return Ok((text.to_owned(), None));
    }
    let mut title: String = first.chars().take(TITLE_LENGTH).collect();
    if title.len() < first.len() {
        let end = title.rfind(char::is_whitespace).filter(|end| *end > TITLE_LENGTH / 2);
        title.truncate(
            end.unwrap_or_else(|| title.char_indices().next_back().map_or(0, |(at, _)| at)),
        );
        title.push('…');
    }
    Ok((title, Some(text.to_owned())))
}

/// A title is one line of at most 80 characters.
pub(super) fn check_title(title: &str) -> Result<()> {
    let length = title.trim().chars().count();
    if length == 0 || length > TITLE_LENGTH || title.trim().contains(['\n', '\r']) {
        return Err(advised(
            format!("a title is one line of 1 to {TITLE_LENGTH} characters"),
            "put the rest into the text",
        ));
    }
    Ok(())
}

/// The project that it is for: as named, else where one stands; nothing for all.
fn project(whose: Whose<'_>, environment: &App) -> Result<Option<(ProjectKey, String)>> {
    if matches!(whose, Whose::Everyone) {
        return Ok(None);
    }
    if let Whose::Named(name) = whose {
        let store = match Store::open_to_read(&environment.layout) {
            Err(StoreError::Missing { .. }) => {
                return Err(advised(
                    format!("there is no project `{name}`"),
                    "nothing was recorded yet; `thru import` reads the history on this machine",
                ));
            }
            store => store?,
        };
        let project = named::named_project(&store, name)?;
        return Ok(Some((project.key, project.name)));
    }
    let key = named::key_of_directory(environment);
    let name = key.default_name().to_owned();
    Ok(Some((key, name)))
}

fn absolute(file: &str, environment: &App) -> String {
    environment.directory.join(file).to_string_lossy().into_owned()
}
