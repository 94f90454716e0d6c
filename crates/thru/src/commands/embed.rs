//! `thru embed`: make vectors of what has none yet.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use thru_app::{App, Trouble};

use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::json;
use thru_app::Result;
use thru_intake::{Embedded, Embedding, Intake, IntakeError};
use thru_store::vectors::ModelFolder;

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, count, plural, size};
use thru_app::embedding::{Chosen, Lazy, may_see, of_question};

/// Makes vectors of what people and agents said and of memories, so that search finds what means the
/// same, whatever words it uses. The daemon does it in the background; here it is done at once, memories
/// first, then the newest.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru embed                embed all that has no vectors yet\n  \
    thru embed --limit 1000   the newest thousand\n  \
    thru embed --prune        remove the vectors of models that are not in use\n\n\
    Can be stopped and run again at any time: it goes on where it stopped.")]
pub(crate) struct Arguments {
    /// At most so many texts
    #[arg(long, value_name = "N", conflicts_with = "prune")]
    limit: Option<usize>,
    /// Remove the vectors of other models instead
    #[arg(long)]
    prune: bool,
    /// Show the vector of this text instead
    #[arg(long, value_name = "TEXT", hide = true, conflicts_with_all = ["limit", "prune"])]
    text: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// How often somebody who waits for the daemon to end its turn looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let chosen = Chosen::of(environment)?;
    let page = Page::new(environment, plain);
    if arguments.prune {
        return prune(page, chosen.as_ref(), arguments, environment);
    }
    let Some(chosen) = chosen else {
        return Err(advised(
            "nobody is to embed, by `embedding.provider`",
            "`thru config set embedding.provider bundled` uses the model that comes with the program",
        ));
    };
    match &arguments.text {
        Some(text) => meaning(page, text, environment),
        None => fill(page, chosen, arguments, environment),
    }
}

fn fill(
    mut page: Page,
    chosen: Chosen,
    arguments: &Arguments,
    environment: &Environment,
) -> Result<Outcome> {
    let stop = shared::cancellation()?;
    let intake = environment.intake()?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let embedder = Lazy::new(chosen.clone(), threads);
    let may_see = may_see(environment, &chosen);
    let how =
        Embedding { embedder: &embedder, most: arguments.limit, may_see: &may_see, stop: &stop };
    let bar = progress_bar(environment, arguments.json);
    let started = Instant::now();
    let damaged = intake.mend_vectors(&chosen.model())?;
    let embedded = embed(&intake, &how, &bar, &stop)?;
    bar.finish_and_clear();
    let took = started.elapsed();
    let coverage = intake.coverage(&chosen.model())?;
    if arguments.json {
        page.json(&json!({
            "version": 1,
            "kind": "embed",
            "model": chosen.model(),
            "remote_host": chosen.remote_host(),
            "texts": embedded.texts,
            "vectors": embedded.vectors,
            "left_out": embedded.left_out,
            "damaged_files": damaged,
            "embedded": coverage.embedded,
            "of": coverage.texts,
            "bytes": coverage.bytes,
            "interrupted": embedded.stopped,
            "seconds": took.as_secs_f64(),
        }))?;
    } else {
        if let Some(host) = chosen.remote_host() {
            page.line(page.paint(Tone::Bad, &seen_by(host)));
        }
        if damaged > 0 {
            let files = plural(damaged, "damaged file");
            page.line(format!("Removed {files} of vectors; what they held is embedded again."));
        }
        let done = plural(embedded.texts, "text");
        page.line(format!(
            "Embedded {done} ({}) in {:.1} s.",
            plural(embedded.vectors, "vector"),
            took.as_secs_f64()
        ));
        if embedded.left_out > 0 {
            let texts = plural(embedded.left_out, "text");
            page.line(format!("{texts} left out: the server refused them."));
        }
        page.line(format!(
            "{} of {} have vectors ({}, {}).",
            count(coverage.embedded),
            plural(coverage.texts, "text"),
            chosen.described(),
            size(coverage.bytes)
        ));
        if embedded.stopped {
            page.line("Stopped. Run `thru embed` again to go on.");
        }
    }
    page.print()?;
    Ok(if embedded.stopped { Outcome::Interrupted } else { Outcome::Done })
}

/// What is to be known of a server that is elsewhere.
pub(crate) fn seen_by(host: &str) -> String {
    format!("{host} is sent all that is said in sessions, all memories, and every question.")
}

/// Embeds as soon as nobody else does.
fn embed(
    intake: &Intake,
    how: &Embedding<'_>,
    bar: &ProgressBar,
    stop: &AtomicBool,
) -> Result<Embedded> {
    loop {
        let done = intake.embed(how, &mut |done| {
            let all = done.texts + done.left_out + done.waiting;
            let wanted = how.most.map_or(all, |most| all.min(most as u64));
            bar.set_length(wanted);
            bar.set_position(done.texts + done.left_out);
            bar.set_message("Embedding");
        });
        match done {
            Err(IntakeError::Embedding) if !stop.load(Ordering::Relaxed) => {
                bar.set_message("Waiting for another `thru` that embeds");
                std::thread::sleep(LOOK_AGAIN);
            }
            Err(IntakeError::Embedding) => {
                return Ok(Embedded { stopped: true, ..Embedded::default() });
            }
            done => return Ok(done?),
        }
    }
}

fn progress_bar(environment: &Environment, quiet: bool) -> ProgressBar {
    match environment.terminal.errors && !quiet {
        true => ProgressBar::new(0)
            .with_style(shared::bar_style("{pos}/{len} texts {per_sec} {eta} left"))
            .with_message("Looking for texts"),
        false => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
    }
}

fn prune(
    mut page: Page,
    chosen: Option<&Chosen>,
    arguments: &Arguments,
    environment: &App,
) -> Result<Outcome> {
    let in_use = chosen.map(Chosen::model);
    let mut removed = ModelFolder::all(&environment.layout.vectors())?;
    removed.retain(|folder| Some(&folder.model) != in_use.as_ref());
    for folder in removed.clone() {
        folder.remove()?;
    }
    if arguments.json {
        let removed: Vec<_> = removed
            .iter()
            .map(|folder| json!({ "model": folder.model, "bytes": folder.bytes }))
            .collect();
        page.json(&json!({ "version": 1, "kind": "embed-pruned", "removed": removed }))?;
    } else {
        for folder in &removed {
            page.line(format!("Removed the vectors of {} ({}).", folder.model, size(folder.bytes)));
        }
        if removed.is_empty() {
            page.line("There are no vectors of other models.");
        }
    }
    page.print()?;
    Ok(if removed.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

/// What a text would be looked for as: for those who want to see that it works.
fn meaning(mut page: Page, text: &str, environment: &App) -> Result<Outcome> {
    let (model, vector) = match of_question(environment, text).wait() {
        Ok(found) => found,
        Err(reason) => return Err(Trouble::failed(format!("there is no vector: {reason}"))),
    };
    page.json(&json!({ "version": 1, "kind": "vector", "model": model, "vector": vector }))?;
    page.print()?;
    Ok(Outcome::Done)
}
