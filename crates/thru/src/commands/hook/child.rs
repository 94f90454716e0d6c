//! The short process that brings in what hooks recorded, after a turn or a session: started by a hook
//! and left alone. It ends by itself, and at most one works while one more waits.

use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use thru_agents::claude_code::hooks::Event;
use thru_core::Layout;

/// Turns that end sooner after another wait for the next.
const NOT_SOONER: Duration = Duration::from_secs(10);

/// Whether it is time to bring in what was recorded.
pub(super) fn is_due(event: &Event, layout: &Layout) -> bool {
    match event {
        Event::SessionEnd | Event::PreCompact => true,
        Event::Stop | Event::StopFailure => {
            let last = std::fs::metadata(super::super::intake::stamp(layout))
                .and_then(|metadata| metadata.modified());
            let now = SystemTime::now();
            !last.is_ok_and(|last| now.duration_since(last).is_ok_and(|age| age < NOT_SOONER))
        }
        _ => false,
    }
}

/// Starts it. It has nothing of the hook's: an agent waits for whoever holds its pipes.
pub(super) fn start_intake(event: &Event, layout: &Layout) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command
        .args(["intake", "--in-background"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Nor does it stay in the project: that may be a worktree which goes, or have settings of its own.
    if layout.root().is_absolute() {
        command.current_dir(layout.root());
    }
    // After a turn its last words are still on their way to the transcript.
    if !matches!(event, Event::PreCompact | Event::SessionStart) {
        command.arg("--after-turn");
    }
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        const DETACHED_PROCESS: u32 = 0x0000_0008;
        command.creation_flags(DETACHED_PROCESS);
    }
    // Where it cannot be started, the next session's hook or command does its work.
    let _ = command.spawn();
}
