//! `thru embed`: making the vectors that are missing.

use thru_app::Result;
use thru_app::embedding::fill::{self, EmbedReport};

use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, count, plural, size};

/// Makes vectors of what people and agents said and of memories, so that search finds what means the
/// same, whatever words it uses. The daemon does it in the background; here it is done at once, memories
/// first, then the newest.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru embed                embed all that has no vectors yet\n  \
    thru embed --limit 1000   the first thousand in that order\n  \
    thru embed --model ollama/bge-m3\n  \
    \u{20}                         with another model from now on, which knows more languages\n  \
    thru embed --prune        remove the vectors of models that are not in use\n\n\
    You can stop it at any time; the next run continues there.")]
pub(crate) struct EmbedArguments {
    /// At most so many texts
    #[arg(long, value_name = "N", conflicts_with = "prune")]
    limit: Option<usize>,
    /// Use this model from now on: `bundled`, `ollama/MODEL` or `openai/MODEL`
    #[arg(long, value_name = "MODEL", conflicts_with = "prune")]
    model: Option<String>,
    /// Remove the vectors of other models instead
    #[arg(long)]
    prune: bool,
    /// Show the vector of this text instead
    #[arg(long, value_name = "TEXT", hide = true, conflicts_with_all = ["limit", "prune", "model"])]
    text: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &EmbedArguments, environment: &Environment) -> Result<Outcome> {
    match &arguments.text {
        _ if arguments.prune => prune(arguments, environment),
        Some(text) => environment.answer(true, &fill::query_vector(environment, text)?, |_| {}),
        None => embed(arguments, environment),
    }
}

fn embed(arguments: &EmbedArguments, environment: &Environment) -> Result<Outcome> {
    let cancelled = shared::cancellation()?;
    let shown = environment.progress_unless(arguments.json);
    let chosen =
        arguments.model.as_deref().map(|name| fill::choose(environment, name)).transpose()?;
    let app = chosen.as_ref().unwrap_or(environment);
    let report = fill::embed(app, arguments.limit, shown.call_until(&cancelled))?;
    drop(shown);
    environment.answer(arguments.json, &report, |page| tell(page, &report))?;
    Ok(if report.interrupted { Outcome::Interrupted } else { Outcome::Done })
}

fn tell(page: &mut Page, report: &EmbedReport) {
    if let Some(host) = &report.remote_host {
        let text = format!(
            "{host} will receive everything said in sessions, all memories and every question."
        );
        page.toned(Tone::Bad, &text);
    }
    if report.damaged_files > 0 {
        let files = plural(report.damaged_files, "damaged file");
        page.line(format!("Removed {files} of vectors; what they held is embedded again."));
    }
    page.line(format!(
        "Embedded {} ({}) in {:.1} s.",
        plural(report.texts, "text"),
        plural(report.vectors, "vector"),
        report.seconds
    ));
    if report.left_out > 0 {
        let texts = plural(report.left_out, "text");
        page.line(format!("{texts} left out: the server refused them."));
    }
    page.line(format!(
        "{} of {} have vectors ({}, {}).",
        count(report.embedded),
        plural(report.of, "text"),
        report.embedder,
        size(report.bytes)
    ));
    if report.interrupted {
        page.line("Stopped. Run `thru embed` again to continue.");
    }
}

fn prune(arguments: &EmbedArguments, environment: &Environment) -> Result<Outcome> {
    let pruned = fill::prune(environment)?;
    environment.answer(arguments.json, &pruned, |page| {
        for one in &pruned.removed {
            page.line(format!("Removed the vectors of {} ({}).", one.model, size(one.bytes)));
        }
        if pruned.removed.is_empty() {
            page.line("No other model has vectors here.");
        }
    })
}
