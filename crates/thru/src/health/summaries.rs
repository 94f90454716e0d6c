//! Our slash commands, and the summaries that compactions leave in projects.

use super::{Finding, Seen};
use crate::installing;
use crate::ui::plural;
use thru_app::compaction;

/// Our commands in Claude Code's folder, where there are any: who does not want them has none.
pub(super) fn commands(seen: &Seen<'_>) -> Option<Finding> {
    if !installing::has_commands(seen.environment) {
        return None;
    }
    let changed = installing::changed_commands(seen.environment);
    let shown: Vec<String> = changed.iter().map(|path| seen.shown(path)).collect();
    Some(match shown.is_empty() {
        true => {
            Finding::ok("commands", "/load-session, /sessions, /recall, /remember and two skills")
        }
        false => Finding::note(
            "commands",
            format!("changed by somebody, and left as they are: {}", shown.join(", ")),
            "remove them, then `thru install`, to have ours again",
        ),
    })
}

/// Projects into which summaries could not be written.
pub(super) fn not_written(seen: &Seen<'_>) -> Option<Finding> {
    let troubles = compaction::troubles(&seen.environment.layout);
    let (_, why) = troubles.iter().next()?;
    let projects = plural(troubles.len() as u64, "project");
    Some(Finding::note(
        "summaries",
        format!("not written in {projects}: {why}"),
        "`thru summaries rebuild` tries again; `summaries.enabled = false` stops it; nothing is lost",
    ))
}
