//! `thru verify`: check that what lies on the disk is what was written.

use thru_app::Result;
use thru_app::ingest::rebuild;

use crate::environment::Environment;
use crate::ui::{Outcome, Tone, plural, size};

/// Reads journal and archive to their ends, checks every checksum, and compares store and index with
/// them.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArguments {
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &VerifyArguments, environment: &Environment) -> Result<Outcome> {
    let verified =
        rebuild::verify(&environment.app, environment.progress_unless(arguments.json).call())?;
    let found = &verified.verification;
    environment.answer(arguments.json, &verified, |page| {
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
            page.toned(tone, &format!("{}: {}", finding.place, finding.message));
        }
        if verified.clean {
            page.toned(Tone::Good, "Everything is as it was written.");
        } else {
            let serious = found.findings.iter().filter(|finding| finding.serious).count();
            page.line(format!("{} found.", plural(serious as u64, "problem")));
            if verified.verification.has_lost_truth() {
                page.line(
                    "Put the files of journal and archive back from a backup if you have one. Where the agent still has the transcript, remove the damaged file of the archive: `thru import` reads it again.",
                );
            } else {
                page.line("`thru rebuild` rebuilds store and index from journal and archive.");
            }
        }
    })?;
    Ok(if verified.clean { Outcome::Done } else { Outcome::Wrong })
}
