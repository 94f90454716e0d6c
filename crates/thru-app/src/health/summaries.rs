//! Our slash commands, and the summaries that compactions leave in projects.

use super::finding::Finding;
use super::seen::Seen;
use crate::compaction;
use crate::words::plural;

/// Our slash commands, if there are any.
pub(super) fn commands(seen: &Seen<'_>) -> Option<Finding> {
    let agents = || seen.agents.iter().map(|one| (one.adapter.setup, one.site(seen)));
    if !agents().any(|(setup, site)| setup.has_commands(&site)) {
        return None;
    }
    let changed: Vec<_> =
        agents().flat_map(|(setup, site)| setup.changed_commands(&site)).collect();
    let shown: Vec<String> = changed.iter().map(|path| seen.shown(path)).collect();
    Some(match shown.is_empty() {
        true => {
            Finding::ok("commands", "/load-session, /sessions, /recall, /remember and two skills")
        }
        false => Finding::note(
            "commands",
            format!("changed by hand, and left as they are: {}", shown.join(", ")),
            "remove them, then run `thru install` to get Throughline's again",
        ),
    })
}

/// Projects into which summaries could not be written.
pub(super) fn not_written(seen: &Seen<'_>) -> Option<Finding> {
    let troubles = compaction::troubles(&seen.app.layout);
    let (_, why) = troubles.iter().next()?;
    let projects = plural(troubles.len() as u64, "project");
    Some(Finding::note(
        "summaries",
        format!("not written in {projects}: {why}"),
        "`thru summaries rebuild` tries again; `summaries.enabled = false` stops it; nothing is lost",
    ))
}
