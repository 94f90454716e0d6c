//! `thru rebuild`: make store and index again.

use thru_app::Result;
use thru_app::ingest::rebuild;

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, plural};

/// Store and index are made from journal and archive alone, with the same ids and the same answers.
/// The old ones stay in use until the new ones are whole.
#[derive(Debug, clap::Args)]
pub(crate) struct RebuildArguments {}

pub(crate) fn run(_: &RebuildArguments, environment: &Environment) -> Result<Outcome> {
    let shown = shared::Shown::new(environment);
    let cancelled = shared::cancellation()?;
    let rebuilt = rebuild::rebuild(&environment.app, shown.call_until(&cancelled))?;
    let mut page = Page::new(environment);
    let Some(report) = rebuilt else {
        page.line("Stopped. The old store and index are in use as before.");
        page.print()?;
        return Ok(Outcome::Interrupted);
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
