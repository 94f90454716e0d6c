//! Helpers of several commands: progress, questions, cancellation.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use thru_app::ask::ProjectScope;
use thru_app::fresh::Prepared;
use thru_app::{App, Call, Patience, Progress, Result, Trouble, Unit};
use thru_config::Note;
use thru_core::Timestamp;

use crate::environment::Environment;
use crate::ui::{Page, Streams, Tone, count, size};

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
    for note in &environment.notes {
        if note.is_of_project() || note.is_only_a_word() {
            mention(environment, note);
        } else {
            return Err(Trouble::failed(note.to_string())
                .advise("correct the file; `thru config show` lists the settings"));
        }
    }
    Ok(())
}

/// Progress: sentences as lines, and the stages of long work as bars on a terminal, else as a line now and then.
pub(crate) struct Shown {
    look: Look,
    errors: Streams,
    columns: usize,
    stage: Mutex<Option<Stage>>,
}

/// The form in which stages are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Bars,
    Lines,
    Nothing,
}

/// The stage that the work is in.
struct Stage {
    name: String,
    bar: ProgressBar,
    /// The time of the next line.
    next_line: Instant,
}

/// The time that a stage takes before a line is written of it.
const FIRST_LINE: Duration = Duration::from_secs(2);
/// The time between two lines.
const NEXT_LINE: Duration = Duration::from_secs(10);

impl Shown {
    /// Progress for the terminal of this process.
    pub(crate) fn new(environment: &Environment) -> Self {
        Self::unless(false, environment)
    }

    /// Progress for the terminal of this process, without stages if it is to be quiet.
    pub(crate) fn unless(quiet: bool, environment: &Environment) -> Self {
        let look = match environment.terminal.errors {
            _ if quiet => Look::Nothing,
            true => Look::Bars,
            false => Look::Lines,
        };
        Self {
            look,
            errors: environment.streams.clone(),
            columns: environment.terminal.error_columns(),
            stage: Mutex::default(),
        }
    }

    /// A call that waits for other processes as long as it takes: the user sees it and can stop it.
    pub(crate) fn call(&self) -> Call<'_> {
        Call::unattended(Patience::Endless).heard_by(self)
    }

    /// The same, which ends early once the flag is set.
    pub(crate) fn call_until<'a>(&'a self, cancelled: &'a AtomicBool) -> Call<'a> {
        Call::new(self, Patience::Endless, cancelled)
    }
}

impl Progress for Shown {
    fn note(&self, message: &str) {
        let _ = writeln!(self.errors.errors(), "{}", crate::ui::fold(message, self.columns));
    }

    fn remark(&self, message: &str) {
        let Ok(stage) = self.stage.lock() else { return };
        match stage.as_ref() {
            Some(stage) if self.look == Look::Bars => stage.bar.println(message),
            _ if self.look == Look::Bars => self.note(message),
            _ => {}
        }
    }

    fn step(&self, name: &str, done: u64, total: u64, unit: Unit) {
        let Ok(mut current) = self.stage.lock() else { return };
        if self.look == Look::Nothing {
            return;
        }
        if current.as_ref().is_none_or(|stage| stage.name != name) {
            if let Some(before) = current.take() {
                before.bar.finish_and_clear();
            }
            let bar = match self.look {
                Look::Bars => ProgressBar::new(total).with_style(style(unit, total)),
                _ => ProgressBar::hidden(),
            };
            bar.set_message(name.to_owned());
            let next_line = Instant::now() + FIRST_LINE;
            *current = Some(Stage { name: name.to_owned(), bar, next_line });
        }
        let Some(stage) = current.as_mut() else { return };
        if stage.bar.is_finished() {
            stage.bar.reset();
        }
        stage.bar.set_length(total);
        stage.bar.set_position(done);
        stage.bar.tick();
        if total > 0 && done >= total {
            stage.bar.finish_and_clear();
        } else if self.look == Look::Lines && Instant::now() >= stage.next_line {
            stage.next_line = Instant::now() + NEXT_LINE;
            self.note(&line(name, done, total, unit));
        }
    }
}

/// The look of a bar.
fn style(unit: Unit, total: u64) -> ProgressStyle {
    let figures = match (unit, total) {
        (Unit::Items, 0) => "",
        (Unit::Files | Unit::Texts | Unit::Sessions, 0) => "{pos}",
        (Unit::Bytes, 0) => "{decimal_bytes}",
        (Unit::Items, _) => "{bar:24} {pos}/{len}",
        (Unit::Files, _) => "{bar:24} {pos}/{len} files {eta} left",
        (Unit::Sessions, _) => "{bar:24} {pos}/{len} sessions {eta} left",
        (Unit::Texts, _) => "{bar:24} {pos}/{len} texts {per_sec} {eta} left",
        (Unit::Bytes, _) => {
            "{bar:24} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta} left"
        }
    };
    ProgressStyle::with_template(&format!("{{msg}} {figures}"))
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// How far a stage is, in a line: `Embedding: 120 of 4,356 texts.`
fn line(name: &str, done: u64, total: u64, unit: Unit) -> String {
    let amount = |number: u64| match unit {
        Unit::Bytes => size(number),
        _ => count(number),
    };
    let noun = match unit {
        Unit::Items | Unit::Bytes => "",
        Unit::Files => " files",
        Unit::Sessions => " sessions",
        Unit::Texts => " texts",
    };
    match (done, total) {
        (0, 0) => format!("{name}…"),
        (done, 0) => format!("{name}: {}{noun}.", amount(done)),
        (done, total) => format!("{name}: {} of {}{noun}.", amount(done), amount(total)),
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Ok(mut stage) = self.stage.lock()
            && let Some(stage) = stage.take()
        {
            stage.bar.finish_and_clear();
        }
    }
}

/// The projects that a question is about.
#[derive(Debug, clap::Args)]
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

/// Mentions a part of the settings without effect, on standard error.
pub(crate) fn mention(environment: &Environment, note: &Note) {
    // An answer is not lost for it.
    let _ = environment.tell(&format!("note: {}", crate::failure::sentence(&note.to_string())));
}

/// Shows what is missing from an answer, below it.
pub(crate) fn show_prepared(page: &mut Page, prepared: &Prepared) {
    for line in prepared.sentences() {
        page.line(page.paint(Tone::Bad, &line));
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
