//! `thru restore`: put a session back where its agent can resume it.

use thru_app::Result;
use thru_app::ingest::rebuild;

use crate::environment::Environment;
use crate::ui::{Outcome, Tone, plural, size};

/// Agents delete old transcripts, some after 30 days. The archive keeps them; this writes one
/// back, with its subagents and spilled results, never over a file that is there.
#[derive(Debug, clap::Args)]
pub(crate) struct RestoreArguments {
    /// The session's id, or the start of it; or `latest`
    session: String,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &RestoreArguments, environment: &Environment) -> Result<Outcome> {
    let answer =
        rebuild::restore(&environment.app, &arguments.session, environment.progress().call())?;
    let restored = &answer.restored;
    environment.answer(arguments.json, &answer, |page| {
        let files = plural(restored.files.len() as u64, "file");
        page.line(format!("Restored {files} ({}):", size(restored.bytes)));
        for file in restored.files.iter().take(10) {
            page.line(format!("  {}", environment.shown(file)));
        }
        if restored.files.len() > 10 {
            page.line("  …");
        }
        if !restored.kept.is_empty() {
            page.line(format!(
                "Left alone because it already exists: {}.",
                plural(restored.kept.len() as u64, "file")
            ));
        }
        let resume = page.paint(Tone::Id, &answer.resume_command);
        match &restored.directory {
            Some(directory) => page.line(format!("Resume it in {directory} with `{resume}`.")),
            None => page.line(format!("Resume it with `{resume}`.")),
        }
    })
}
