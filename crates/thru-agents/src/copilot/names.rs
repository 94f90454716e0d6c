//! The paths of Copilot CLI's files, in its home and in the archive. Pure functions of names; nothing
//! here touches the disk.

use std::path::{Path, PathBuf};

use thru_core::Agent;

use crate::RestoreError;
use crate::names::{is_session_id, safe_parts};

/// The folder that holds a folder per session.
pub(super) const SESSIONS: &str = "session-state";

/// The transcript in the folder of a session.
pub(super) const EVENTS: &str = "events.jsonl";

/// The file beside the transcript from which `/resume` lists sessions.
pub(super) const WORKSPACE: &str = "workspace.yaml";

/// Returns the archive name of a file of a session.
pub(super) fn archive_name(session: &str, file: &str) -> String {
    format!("{}/{SESSIONS}/{session}/{file}", Agent::Copilot.as_str())
}

/// Returns the path to which the archived file is restored, so that Copilot CLI can resume its session.
pub(crate) fn restore_path(home: &Path, archive_name: &str) -> Result<PathBuf, RestoreError> {
    let not_ours = || RestoreError::NotAnArchiveName(archive_name.to_owned());
    let archived = archive_name
        .strip_prefix(Agent::Copilot.as_str())
        .and_then(|rest| rest.strip_prefix('/'))
        .ok_or_else(not_ours)?;
    let parts = safe_parts(Path::new(archived))
        .ok_or_else(|| RestoreError::Escapes(archive_name.to_owned()))?;
    match parts.as_slice() {
        [SESSIONS, session, file] if is_session_id(session) => {
            // The archive adds a mark to the name if it has to tell files apart.
            let file = if file.starts_with("events") { EVENTS } else { file };
            Ok(home.join(SESSIONS).join(session).join(file))
        }
        _ => Err(not_ours()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_go_back_below_their_home_and_nowhere_else() {
        let home = Path::new("/home/u/.copilot");
        assert_eq!(
            restore_path(home, &archive_name("s-1", EVENTS)),
            Ok(home.join("session-state/s-1/events.jsonl"))
        );
        for other in [
            "copilot/../x/y/z",
            "copilot/session-state/../events.jsonl",
            "copilot/session-state/.ssh/config",
            "copilot/config.json",
            "codex/session-state/s/events.jsonl",
            "",
        ] {
            assert!(restore_path(home, other).is_err(), "{other}");
        }
    }
}
