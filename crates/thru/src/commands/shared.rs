//! Helpers of several commands: progress, questions, cancellation.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use thru_app::Trouble;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use thru_app::ask::ProjectScope;
use thru_app::fresh::Prepared;
use thru_app::{Call, Patience, Progress, Result, Unit};

use crate::environment::Environment;
use crate::ui::{Page, Streams, Tone};

/// Something in the user's own configuration that has no effect is an error here; hooks go on with it.
/// A project's file comes with whatever was cloned: what it says wrongly is only mentioned. What another user may write
/// is not used at all.
pub(crate) fn refuse_settings(environment: &Environment) -> Result<()> {
    environment.refuse_foreign()?;
    for note in &environment.notes {
        if note.is_of_project() {
            let text = crate::ui::printable(&note.to_string());
            let _ = writeln!(environment.streams.errors(), "note: {text}.");
        } else {
            return Err(Trouble::failed(note.to_string()).advise(
                "correct the file, or use `thru config set`; `thru config show` lists the settings",
            ));
        }
    }
    Ok(())
}

/// Progress on the terminal: sentences as lines, an upgrade of the store as a bar.
pub(crate) struct Shown {
    visible: bool,
    errors: Streams,
    bar: Mutex<Option<ProgressBar>>,
}

impl Shown {
    /// Progress for the terminal of this process.
    pub(crate) fn new(environment: &Environment) -> Self {
        Self::unless(false, environment)
    }

    /// Progress for the terminal of this process, without bars if it is to be quiet.
    pub(crate) fn unless(quiet: bool, environment: &Environment) -> Self {
        Self {
            visible: environment.terminal.errors && !quiet,
            errors: environment.streams.clone(),
            bar: Mutex::default(),
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
        let _ = writeln!(self.errors.errors(), "{message}");
    }

    fn remark(&self, message: &str) {
        let Ok(bar) = self.bar.lock() else { return };
        match bar.as_ref() {
            Some(bar) => bar.println(message),
            None if self.visible => self.note(message),
            None => {}
        }
    }

    fn step(&self, stage: &str, done: u64, total: u64, unit: Unit) {
        let Ok(mut bar) = self.bar.lock() else { return };
        if !self.visible {
            return;
        }
        let bar = bar.get_or_insert_with(|| {
            ProgressBar::new(total).with_style(bar_style(match unit {
                Unit::Items => "{pos}/{len}",
                Unit::Files => "{pos}/{len} files {eta} left",
                Unit::Texts => "{pos}/{len} texts {per_sec} {eta} left",
                Unit::Bytes => {
                    "{decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta} left"
                }
            }))
        });
        if bar.is_finished() {
            bar.reset();
        }
        bar.set_message(stage.to_owned());
        bar.set_length(total);
        bar.set_position(done);
        if total > 0 && done >= total {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Ok(mut bar) = self.bar.lock()
            && let Some(bar) = bar.take()
        {
            bar.finish_and_clear();
        }
    }
}

/// The projects that `--project` and `--all` name.
pub(crate) fn project_scope(project: Option<&str>, all: bool) -> ProjectScope {
    match (project, all) {
        (Some(name), _) => ProjectScope::Named(name.to_owned()),
        (None, true) => ProjectScope::Everywhere,
        (None, false) => ProjectScope::Here,
    }
}

/// Shows what is missing from an answer, below it.
pub(crate) fn show_prepared(page: &mut Page, prepared: &Prepared) {
    for line in prepared.sentences() {
        page.line(page.paint(Tone::Bad, &line));
    }
}

/// The look of every progress bar.
pub(crate) fn bar_style(figures: &str) -> ProgressStyle {
    let template = format!("{{msg}} {{bar:24}} {figures}");
    ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A progress bar over files.
pub(crate) fn files_bar(
    environment: &Environment,
    doing: &'static str,
    quiet: bool,
) -> ProgressBar {
    match environment.terminal.errors && !quiet {
        true => ProgressBar::new(0).with_style(bar_style("{pos}/{len} files")).with_message(doing),
        false => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
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
