//! `thru export`: memory as JSON Lines, and what `thru import` makes of such a file.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use thru_app::Result;
use thru_app::ask::log::is_of_vault;
use thru_app::keep::export::{self, Export, ExportForm, ExportImported};

use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, count, plural};

/// One JSON object a line: a header, then sessions with their passages, memories, and what people
/// decided. Everything goes through the redactor once more. `thru import FILE` brings what people told
/// and decided into another memory; transcripts are carried by copying `archive/` and `journal/`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru export --out memory.jsonl              everything\n  \
    thru export --project rocket --since 2026-01-01\n  \
    thru export --project rocket --markdown     memories to read\n  \
    thru export --project rocket --decisions    what you told and decided, to share\n  \
    thru export | jq -r 'select(.kind == \"memory\") | .body.title'\n  \
    thru import memory.jsonl                    import what was told and decided")]
pub(crate) struct ExportArguments {
    /// Only this project
    #[arg(long, short)]
    project: Option<String>,
    /// Only what happened since: `2026-03-01`, `yesterday`, `2 weeks ago`
    #[arg(long)]
    since: Option<String>,
    /// Only what people and agents told, and what people decided: no transcript, and nothing made of one
    #[arg(long)]
    decisions: bool,
    /// Markdown for people: the memories, below their sessions
    #[arg(long, conflicts_with = "decisions")]
    markdown: bool,
    /// Write to this file, which must not be there yet
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &ExportArguments, environment: &Environment) -> Result<Outcome> {
    let ExportArguments { project, since, decisions, markdown, out } = arguments;
    let form = if *markdown { ExportForm::Markdown } else { ExportForm::Lines };
    let request =
        Export { project: project.clone(), since: since.clone(), only_decisions: *decisions, form };
    let shown = environment.progress();
    let Some(path) = out.as_ref().map(|path| environment.directory.join(path)) else {
        let mut output = BufWriter::new(environment.streams.output());
        export::export(&environment.app, &request, &mut output, shown.call())?;
        output.flush()?;
        return Ok(Outcome::Done);
    };
    let counts = export::export_to(&environment.app, &request, &path, shown.call())?;
    let mut page = environment.page();
    page.line(format!(
        "Wrote {}, {}, {} and {} to {}.",
        plural(counts.sessions, "session"),
        plural(counts.passages, "passage"),
        plural(counts.memories, "memory"),
        plural(counts.decisions, "decision"),
        environment.shown(&path)
    ));
    page.line("Treat it as confidential: redaction has gaps.");
    page.print()
}

/// Imports what people told and decided elsewhere.
pub(crate) fn import_decisions(
    paths: &[PathBuf],
    dry_run: bool,
    as_json: bool,
    environment: &Environment,
) -> Result<Outcome> {
    let plan = export::plan_import(paths)?;
    let mut page = environment.page();
    if dry_run {
        match as_json {
            true => page.json(&plan)?,
            false => {
                let read = plural(plan.decisions(), "decision");
                page.line(format!("{read} to import, unless they are here already."));
            }
        }
    } else {
        let shown = environment.progress();
        let imported = export::import_decisions(&environment.app, &plan, shown.call())?;
        page.put(as_json, &imported, |page| show_imported(page, &imported))?;
    }
    if !as_json && !plan.others.is_empty() {
        page.line(format!("Not imported: {}.", kinds_of(&plan.others)));
        let hint = "They are made from transcripts; to move those, copy `archive/` and `journal/`.";
        page.toned(Tone::Quiet, hint);
    }
    page.print()
}

/// Kinds of lines, each with its number.
fn kinds_of(numbers: &BTreeMap<String, u64>) -> String {
    let shown = numbers.iter().map(|(kind, number)| match kind.rsplit_once('-') {
        Some((noun, done)) => format!("{} {done}", plural(*number, &noun.replace('-', " "))),
        None if kind == "distilled" => plural(*number, "distilled memory"),
        None if matches!(kind.as_str(), "session" | "passage") => plural(*number, kind),
        None => format!("{} {kind}", count(*number)),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn show_imported(page: &mut Page, imported: &ExportImported) {
    let new: u64 = imported.new.values().sum();
    match new {
        0 => page.line("Nothing new."),
        _ => {
            let listed = match imported.new.keys().any(|kind| is_of_vault(kind)) {
                true => "all but the archived notes",
                false => "them",
            };
            page.line(format!(
                "Imported {} ({}). `thru log` lists {listed}.",
                plural(new, "decision"),
                kinds_of(&imported.new)
            ));
        }
    }
    if imported.known > 0 {
        page.line(format!("{} known already.", plural(imported.known, "decision")));
    }
    if !imported.left_out.is_empty() {
        page.line(format!(
            "Skipped what would remove something here: {}. `thru redact add` and `thru forget` do that.",
            kinds_of(&imported.left_out)
        ));
    }
    if imported.not_understood > 0 {
        let decisions = plural(imported.not_understood, "decision");
        page.line(format!("{decisions} in a form that this version does not know."));
    }
}
