//! The information in the names of Codex's files: thread and day, archive name, and the path to restore
//! to. Pure functions of names; nothing here touches the disk.

use std::path::{Path, PathBuf};

use thru_core::Agent;

use crate::RestoreError;
use crate::names::{is_uuid, safe_parts};

/// The folder of rollouts, in subfolders by year, month and day.
pub(super) const SESSIONS: &str = "sessions";

/// The folder of rollouts that the user archived in Codex, without subfolders.
pub(super) const ARCHIVED: &str = "archived_sessions";

/// The parts of a rollout's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RolloutName<'n> {
    /// The day on which it was begun: `2026-06-18`.
    pub(super) day: &'n str,
    pub(super) thread: &'n str,
}

/// Parses `rollout-2026-06-18T07-41-33-<thread>.jsonl`.
pub(super) fn rollout(name: &str) -> Option<RolloutName<'_>> {
    let stem = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
    let (begun, thread) = stem.split_at_checked(stem.len().checked_sub(36)?)?;
    let begun = begun.strip_suffix('-')?;
    let shape = |(at, byte): (usize, u8)| match at {
        4 | 7 | 13 | 16 => byte == b'-',
        10 => byte == b'T',
        _ => byte.is_ascii_digit(),
    };
    let is_moment = begun.len() == 19 && begun.bytes().enumerate().all(shape);
    (is_moment && is_uuid(thread)).then(|| RolloutName { day: &begun[..10], thread })
}

/// Returns the archive name of a rollout. It does not depend on the folder, as Codex moves rollouts that
/// the user archives.
pub(super) fn archive_name(file: &str, day: &str) -> String {
    let agent = Agent::Codex.as_str();
    format!("{agent}/{SESSIONS}/{}/{file}", day.replace('-', "/"))
}

/// Returns the name that Codex gives the rollout of a thread begun at `moment`, a timestamp as its
/// records write it.
pub(super) fn rollout_name(thread: &str, moment: &str) -> Option<String> {
    let seconds = moment.get(..19)?.replace(':', "-");
    let name = format!("rollout-{seconds}-{thread}.jsonl");
    rollout(&name).is_some().then_some(name)
}

/// Returns the path to which the archived rollout is restored, so that Codex can resume it.
pub(crate) fn restore_path(home: &Path, archive_name: &str) -> Result<PathBuf, RestoreError> {
    let not_ours = || RestoreError::NotAnArchiveName(archive_name.to_owned());
    let archived = archive_name
        .strip_prefix(Agent::Codex.as_str())
        .and_then(|rest| rest.strip_prefix('/'))
        .ok_or_else(not_ours)?;
    let parts = safe_parts(Path::new(archived))
        .ok_or_else(|| RestoreError::Escapes(archive_name.to_owned()))?;
    match parts.as_slice() {
        [SESSIONS, .., _] => {
            Ok(parts.iter().fold(home.to_path_buf(), |path, part| path.join(part)))
        }
        _ => Err(not_ours()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: &str = "01a1ffbd-efe1-7183-aee9-0dd339b3f973";

    #[test]
    fn names_of_rollouts_say_day_and_thread() {
        let name = format!("rollout-2026-06-18T07-41-33-{THREAD}.jsonl");
        assert_eq!(rollout(&name), Some(RolloutName { day: "2026-06-18", thread: THREAD }));
        assert_eq!(rollout_name(THREAD, "2026-06-18T07:41:33.518Z"), Some(name));
        for other in [
            format!("rollout-{THREAD}.jsonl"),
            format!("rollout-2026-06-18-07-41-33-{THREAD}.jsonl"),
            format!("rollout-2026-06-18T07-41-33-{THREAD}.jsonl.zst"),
            "rollout-ä.jsonl".to_owned(),
            format!("{THREAD}.jsonl"),
        ] {
            assert_eq!(rollout(&other), None, "{other}");
        }
        assert_eq!(rollout_name("../x", "2026-06-18T07:41:33.518Z"), None);
        assert_eq!(rollout_name(THREAD, "[private]"), None);
    }

    #[test]
    fn rollouts_go_back_below_their_home_and_nowhere_else() {
        let name = format!("rollout-2026-06-18T07-41-33-{THREAD}.jsonl");
        let archived = archive_name(&name, "2026-06-18");
        assert_eq!(archived, format!("codex/sessions/2026/06/18/{name}"));
        let home = Path::new("/home/u/.codex");
        assert_eq!(restore_path(home, &archived), Ok(home.join("sessions/2026/06/18").join(&name)));
        for other in [
            "codex/../x",
            "codex/sessions/../../x",
            "codex/auth.json",
            "claude-code/a/b",
            "",
            "codex",
        ] {
            assert!(restore_path(home, other).is_err(), "{other}");
        }
    }
}
