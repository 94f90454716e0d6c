//! `thru rebuild`: make store and index again.

use thru_app::Result;
use thru_app::ingest::rebuild;
use thru_intake::OnLoss;

use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Tone, plural};

/// Store and index are made from journal and archive alone, with the same ids and the same answers.
/// The old ones stay in use until the new ones are whole, and for good where journal and archive no
/// longer hold all that the old store holds.
#[derive(Debug, clap::Args)]
pub(crate) struct RebuildArguments {
    /// Continue if the new store would hold less than the old one
    #[arg(long)]
    accept_loss: bool,
}

pub(crate) fn run(arguments: &RebuildArguments, environment: &Environment) -> Result<Outcome> {
    let shown = shared::Shown::new(environment);
    let cancelled = shared::cancellation()?;
    let on_loss = if arguments.accept_loss { OnLoss::Accept } else { OnLoss::Refuse };
    let rebuilt = rebuild::rebuild(&environment.app, on_loss, shown.call_until(&cancelled))?;
    let mut page = environment.page();
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
    if !report.lost.is_none() {
        page.line(page.paint(Tone::Bad, &format!("Lost: {}.", report.lost)));
    }
    for (place, message) in &report.problems {
        page.line(page.paint(Tone::Bad, &format!("{place}: {message}")));
    }
    page.print()?;
    Ok(if report.problems.is_empty() { Outcome::Done } else { Outcome::Wrong })
}
