//! `thru verify`: check that what lies on the disk is what was written.

use serde_json::json;
use thru_app::Result;

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, plural, size};

/// Reads journal and archive to their ends, checks every checksum, and compares store and index with
/// them.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let intake = environment.intake()?;
    // While somebody writes, the parts may well differ.
    let lock = shared::lock(&intake, environment)?;
    let bar = shared::files_bar(environment, "Checking", arguments.json);
    let found = intake.verify(&mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    drop(lock);
    let mut page = Page::new(environment, plain);
    if arguments.json {
        let findings: Vec<_> = found
            .findings
            .iter()
            .map(|f| json!({ "place": f.place, "message": f.message, "serious": f.serious }))
            .collect();
        page.json(&json!({
            "version": 1,
            "kind": "verify",
            "clean": found.is_clean(),
            "journal_records": found.journal_records,
            "archived_files": found.archived_files,
            "archived_lines": found.archived_lines,
            "archived_bytes": found.archived_bytes,
            "archived_bytes_on_disk": found.archived_bytes_on_disk,
            "passages": found.passages,
            "indexed": found.indexed,
            "findings": findings,
        }))?;
    } else {
        page.line(format!("journal  {}", plural(found.journal_records, "record")));
        page.line(format!(
            "archive  {} in {}, {} as {}",
            plural(found.archived_lines, "line"),
            plural(found.archived_files, "file"),
            size(found.archived_bytes),
            size(found.archived_bytes_on_disk)
        ));
        page.line(format!("store    {}", plural(found.passages, "passage")));
        page.line(format!("index    {}", plural(found.indexed, "passage")));
        for finding in &found.findings {
            let tone = if finding.serious { Tone::Bad } else { Tone::Quiet };
            page.line(page.paint(tone, &format!("{}: {}", finding.place, finding.message)));
        }
        if found.is_clean() {
            page.line(page.paint(Tone::Good, "All is as it was written."));
        } else {
            let serious = found.findings.iter().filter(|finding| finding.serious).count();
            page.line(format!("{} found.", plural(serious as u64, "problem")));
            page.line("`thru rebuild` makes store and index again from journal and archive.");
        }
    }
    page.print()?;
    Ok(if found.is_clean() { Outcome::Done } else { Outcome::Wrong })
}
