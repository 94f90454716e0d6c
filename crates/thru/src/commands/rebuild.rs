//! `thru rebuild`: make store and index again.

use indicatif::{ProgressBar, ProgressDrawTarget};
use thru_app::Result;
use thru_intake::IntakeError;

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, plural};

/// Store and index are made from journal and archive alone, with the same ids and the same answers.
/// The old ones stay in use until the new ones are whole.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments, environment: &Environment, plain: bool) -> Result<Outcome> {
    let intake = environment.intake()?;
    let lock = shared::lock(&intake, environment)?;
    let cancelled = shared::cancellation()?;
    let bar = match environment.terminal.errors {
        true => ProgressBar::new(0)
            .with_style(shared::bar_style("{pos}/{len} files {eta} left"))
            .with_message("Rebuilding"),
        false => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
    };
    let outcome = intake.rebuild(&lock, &cancelled, &mut |report| {
        bar.set_length(report.sources as u64);
        bar.set_position(report.done as u64);
    });
    bar.finish_and_clear();
    let mut page = Page::new(environment, plain);
    let report = match outcome {
        Err(IntakeError::Interrupted) => {
            page.line("Stopped. The old store and index are in use as before.");
            page.print()?;
            return Ok(Outcome::Interrupted);
        }
        outcome => outcome?,
    };
    page.line(format!(
        "Made {} again from {} in {:.1} s.",
        plural(report.passages, "passage"),
        plural(report.sources as u64, "archived file"),
        report.elapsed.as_secs_f64()
    ));
    for (place, message) in &report.problems {
        page.line(page.paint(Tone::Bad, &format!("{place}: {message}")));
    }
    page.print()?;
    Ok(if report.problems.is_empty() { Outcome::Done } else { Outcome::Wrong })
}
