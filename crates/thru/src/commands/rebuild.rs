//! `thru rebuild`: make store and index again.

use thru_app::Result;
use thru_app::ingest::rebuild;
use thru_app::keep::redact::UnreadPlace;
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
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &RebuildArguments, environment: &Environment) -> Result<Outcome> {
    let shown = environment.progress_unless(arguments.json);
    let cancelled = shared::cancellation()?;
    let on_loss = if arguments.accept_loss { OnLoss::Accept } else { OnLoss::Refuse };
    let rebuilt = rebuild::rebuild(&environment.app, on_loss, shown.call_until(&cancelled))?;
    let Some(rebuilt) = rebuilt else {
        environment.tell("Stopped. The old store and index are in use as before.")?;
        return Ok(Outcome::Interrupted);
    };
    environment.answer(arguments.json, &rebuilt, |page| {
        page.line(format!(
            "Made {} again from {} in {:.1} s.",
            plural(rebuilt.passages, "passage"),
            plural(rebuilt.files as u64, "archived file"),
            rebuilt.milliseconds as f64 / 1e3
        ));
        if let Some(lost) = &rebuilt.lost {
            page.toned(Tone::Bad, &format!("Lost: {lost}."));
        }
        for UnreadPlace { place, message } in &rebuilt.unread {
            page.toned(Tone::Bad, &format!("{place}: {message}"));
        }
    })?;
    Ok(if rebuilt.unread.is_empty() { Outcome::Done } else { Outcome::Wrong })
}
