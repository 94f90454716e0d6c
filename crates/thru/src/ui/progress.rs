//! The progress of long work, on standard error.

use std::fmt;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use thru_app::words::{count, size};
use thru_app::{Call, Patience, Progress, Unit};
use thru_ui::fold::fold;

use super::streams::{Output, Streams};
use super::terminal::Terminal;

/// Progress: sentences as lines, and the stages of long work as bars on a terminal, else as a line now and then.
pub(crate) struct Shown {
    look: Look,
    errors: Output,
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
    /// True once it shows its rate and how long it still takes, which are not known before it ran for a while.
    is_timed: bool,
    /// The time of the next line.
    next_line: Instant,
}

/// The time after which the rate of a stage tells something.
const TIMED: Duration = Duration::from_secs(1);
/// The time that a stage takes before a line is written of it.
const FIRST_LINE: Duration = Duration::from_secs(2);
/// The time between two lines.
const NEXT_LINE: Duration = Duration::from_secs(10);

impl Shown {
    /// Progress for a terminal, without stages if it is to be quiet.
    pub(crate) fn new(terminal: &Terminal, streams: &Streams, quiet: bool) -> Self {
        let look = match terminal.errors {
            _ if quiet => Look::Nothing,
            true => Look::Bars,
            false => Look::Lines,
        };
        let columns = terminal.error_columns();
        Self { look, errors: streams.errors(), columns, stage: Mutex::default() }
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
        let _ = writeln!(self.errors.clone(), "{}", fold(message, self.columns));
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
                Look::Bars => ProgressBar::new(total).with_style(style(unit, total, false)),
                _ => ProgressBar::hidden(),
            };
            bar.set_message(name.to_owned());
            let next_line = Instant::now() + FIRST_LINE;
            *current = Some(Stage { name: name.to_owned(), bar, is_timed: false, next_line });
        }
        let Some(stage) = current.as_mut() else { return };
        if stage.bar.is_finished() {
            stage.bar.reset();
        }
        if done > 0 && !stage.is_timed && stage.bar.elapsed() >= TIMED {
            stage.bar.set_style(style(unit, total, true));
            stage.is_timed = true;
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

/// The look of a bar, with the time that is left once it is known.
fn style(unit: Unit, total: u64, is_timed: bool) -> ProgressStyle {
    let figures = match (unit, total) {
        (Unit::Items, 0) => "",
        (Unit::Files | Unit::Texts | Unit::Sessions, 0) => "{pos}",
        (Unit::Bytes, 0) => "{decimal_bytes}",
        (Unit::Items, _) => "{bar:24} {pos}/{len}",
        (Unit::Files, _) => "{bar:24} {pos}/{len} files",
        (Unit::Sessions, _) => "{bar:24} {pos}/{len} sessions",
        (Unit::Texts, _) => "{bar:24} {pos}/{len} texts",
        (Unit::Bytes, _) => "{bar:24} {decimal_bytes}/{decimal_total_bytes}",
    };
    let time = match unit {
        Unit::Items => "",
        _ if !is_timed || total == 0 => "",
        Unit::Texts => " {per_sec}{left}",
        Unit::Bytes => " {decimal_bytes_per_sec}{left}",
        Unit::Files | Unit::Sessions => "{left}",
    };
    ProgressStyle::with_template(&format!("{{msg}} {figures}{time}"))
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("left", |state: &ProgressState, text: &mut dyn fmt::Write| {
            // Less than a second is not worth a word.
            let left = state.eta().as_secs();
            let _ = match left {
                0 => Ok(()),
                _ => write!(text, " {:#} left", HumanDuration(Duration::from_secs(left))),
            };
        })
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
