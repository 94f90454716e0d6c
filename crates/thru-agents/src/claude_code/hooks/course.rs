//! What an event means for the course of its session.

use serde_json::Value;
use thru_lifecycle::conversation::Event as Course;

use super::{Event, text};

/// What an event means for the course of its session. `detail` holds the event's `source` or `reason`.
pub fn course(event: &Event, detail: &Value) -> Course {
    match event {
        Event::SessionStart => match text(detail, "source") {
            // The start of a fork names the session that it came from and says no other word: that one
            // is taken to go on, until it has been silent for long enough.
            Some("resume") => Course::Resumed,
            // The same session, with a shorter context.
            Some("compact") => Course::Checkpoint,
            _ => Course::Started,
        },
        Event::UserPromptSubmit => Course::Prompt,
        Event::Stop | Event::StopFailure => Course::Stopped,
        Event::SessionEnd => match text(detail, "reason") {
            // Another session was chosen in the same terminal.
            Some("resume") => Course::Left,
            reason => Course::Ended(reason.unwrap_or("other").to_owned()),
        },
        Event::PostToolUse | Event::PostToolUseFailure => Course::Activity,
        // Subagents may end behind the turn that started them, and one of them makes compactions.
        Event::SubagentStop | Event::PreCompact | Event::PostCompact | Event::Unknown(_) => {
            Course::Checkpoint
        }
    }
}
