//! Language models and the delivery of insights, as far as the user wants them. Nothing is sent to find
//! out.

use super::finding::Finding;
use super::seen::Seen;
use crate::deliver;
use crate::models::Models;
use crate::words::{one_line, plural};

/// Whom the settings say to ask.
pub(super) fn models(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "models";
    let models = match Models::from_config(seen.app) {
        Ok(None) => return Finding::ok(CHECK, "none is set: memories are made without a model"),
        Ok(Some(models)) => models,
        Err(error) => {
            let line = one_line(&format!("{error:#}"), 120);
            return Finding::problem(CHECK, line, "`thru models` lists what can be set");
        }
    };
    let name = models.first().map_or("", |link| link.name.as_str());
    let store = seen.store.as_ref().ok().and_then(Option::as_ref);
    let jobs = store.and_then(|store| store.jobs().ok()).unwrap_or_default();
    let failed = jobs.iter().filter(|job| job.is_question() && job.error.is_some());
    let count = failed.clone().count() as u64;
    match failed.filter_map(|job| job.error.as_deref()).next() {
        Some(error) => Finding::note(
            CHECK,
            format!(
                "{}: {} without an answer: {}",
                name,
                plural(count, "question"),
                one_line(error, 80)
            ),
            "`thru models test` asks one small question; `thru jobs` lists what waits",
        ),
        None if models.chain().has_no_price() => Finding::note(
            CHECK,
            format!(
                "{name} is asked; what it costs is not known, so limits in cents are checked only after answers that tell their cost"
            ),
            "`models.input_price_cents` and `models.output_price_cents` say it",
        ),
        None => Finding::ok(CHECK, format!("{name} is asked")),
    }
}

/// The server of the user's choice; `None` if there is none.
pub(super) fn sink(seen: &Seen<'_>) -> Option<Finding> {
    const CHECK: &str = "sinks.mcp";
    let target = seen.app.config.sinks.mcp()?;
    Some(match deliver::connect(seen.app, target) {
        Ok(_) => Finding::ok(CHECK, "what is known about sessions is delivered"),
        Err(error) => Finding::problem(
            CHECK,
            one_line(&format!("{error:#}"), 120),
            "`thru config set sinks.mcp ''` switches it off",
        ),
    })
}
