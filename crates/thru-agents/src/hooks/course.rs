//! The meaning of an event for the course of its session.

use serde_json::Value;
use thru_lifecycle::conversation::Event as Course;

use super::Event;
use super::fields::text;

/// Returns the meaning of an event for the course of its session. `details` are its
/// [`Payload::details`](super::Payload::details).
pub fn course(event: &Event, details: &Value) -> Course {
    match event {
        Event::SessionStart => match text(details, "/source") {
            // A fork starts under the id of its origin and is not told apart: the origin counts as going on
            // until it has been silent for long enough.
            Some("resume") => Course::Resumed,
            // The same session, with a shorter context.
            Some("compact") => Course::Checkpoint,
            _ => Course::Started,
        },
        Event::UserPromptSubmit => Course::Prompt,
        Event::Stop | Event::StopFailure | Event::Interrupt => Course::Stopped,
        Event::SessionEnd => match text(details, "/reason") {
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
