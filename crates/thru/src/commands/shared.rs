//! Helpers of several commands: scopes, questions, cancellation.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use thru_app::ask::ProjectScope;
use thru_app::fresh::Prepared;
use thru_app::{App, Result, Trouble};
use thru_config::Note;
use thru_core::Timestamp;

use crate::environment::Environment;
use crate::ui::{Page, Tone};

/// Returns a pause in words, with the command that ends one without an end.
pub(crate) fn pause_text(end: Option<Timestamp>, app: &App) -> String {
    let text = thru_app::health::pause_text(end, app);
    if end.is_none() { format!("{text} (`thru capture resume`)") } else { text }
}

/// Something in the user's own configuration that has no effect is an error here; hooks go on with it.
/// A project's file comes with whatever was cloned: what it says wrongly is only mentioned. What another user may write
/// is not used at all.
pub(crate) fn refuse_settings(environment: &Environment) -> Result<()> {
    environment.refuse_foreign()?;
    let is_harmless = |note: &&Note| note.is_of_project() || note.is_only_a_word();
    if let Some(note) = environment.notes.iter().find(|note| !is_harmless(note)) {
        return Err(Trouble::failed(note.to_string())
            .advise("correct the file; `thru config show` lists the settings"));
    }
    mention(environment, &environment.notes);
    Ok(())
}

/// The projects that a question is about.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct InProjects {
    /// Only this project
    #[arg(long, short, conflicts_with = "all")]
    project: Option<String>,
    /// In all projects
    #[arg(long, short)]
    all: bool,
}

impl InProjects {
    pub(crate) const fn all() -> Self {
        Self { project: None, all: true }
    }

    pub(crate) fn scope(&self) -> ProjectScope {
        match (&self.project, self.all) {
            (Some(name), _) => ProjectScope::Named(name.clone()),
            (None, true) => ProjectScope::Everywhere,
            (None, false) => ProjectScope::Here,
        }
    }
}

/// Mentions parts of the settings without effect, and those with another program's name, on standard error.
pub(crate) fn mention(environment: &Environment, notes: &[Note]) {
    // An answer is not lost for it.
    for line in thru_app::wording::notes(notes) {
        let _ = environment.tell(&format!("note: {line}"));
    }
}

/// Shows what is missing from an answer, below it.
pub(crate) fn show_prepared(page: &mut Page, prepared: &Prepared) {
    for line in prepared.sentences() {
        page.toned(Tone::Bad, &line);
    }
}

/// What is said where vectors of what was taken out may be left.
pub(crate) const UNSWEPT: &str = "Vectors were not swept: run `thru rebuild`.";

/// Returns a flag that is set when the user presses Ctrl-C or the system asks the process to end.
pub(crate) fn cancellation() -> Result<Arc<AtomicBool>> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancelled);
    match ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)) {
        // Only tests run several commands in one process.
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(cancelled),
        Err(error) => Err(Trouble::failed(format!("Ctrl-C cannot be caught: {error}"))),
    }
}

/// Asks a question; Enter alone means `by_default`. Without a terminal to ask on, the answer is no.
pub(crate) fn ask(environment: &Environment, question: &str, by_default: bool) -> Result<bool> {
    if !environment.terminal.interactive {
        return Ok(false);
    }
    let mut errors = environment.streams.errors();
    write!(errors, "{question} {} ", if by_default { "[Y/n]" } else { "[y/N]" })?;
    errors.flush()?;
    let Some(answer) = environment.streams.read_line()? else { return Ok(false) };
    Ok(match answer.trim().to_lowercase().as_str() {
        "" => by_default,
        answer => matches!(answer, "y" | "yes"),
    })
}

/// The words for an event by its name in an agent's hooks; others keep their name.
pub(crate) fn event_words(name: &str) -> &str {
    match name {
        "SessionStart" => "session started",
        "SessionEnd" => "session ended",
        "SessionIdle" => "idle",
        "SessionResume" => "resumed",
        "UserPromptSubmit" => "prompt",
        "PreToolUse" | "PostToolUse" | "PostToolBatch" => "tool",
        "PostToolUseFailure" => "tool failed",
        "Stop" => "answered",
        "StopFailure" => "answer failed",
        "SubagentStart" => "subagent started",
        "SubagentStop" => "subagent ended",
        "PreCompact" => "compaction",
        "PostCompact" => "compacted",
        name => name,
    }
}
