//! The meaning of a line for private turns.

use thru_core::SourceKind;

use super::history::Entry;
use super::prompt;
use super::record::Record;
use crate::cleaner::Heard;

/// Returns the meaning of this line in a file of this kind; `None` if it cannot be parsed.
pub(crate) fn heard(kind: SourceKind, line: &str) -> Option<Heard> {
    let record = || Record::parse(line).ok();
    let heard = match kind {
        SourceKind::PromptHistory => Entry::parse(line)?.typed().map(Heard::Entry),
        SourceKind::Attachment | SourceKind::Hooks => None,
        SourceKind::Main => prompt::typed(&record()?).map(Heard::Prompt),
        // An instruction from the parent agent to a subagent starts nothing that ends a private turn.
        SourceKind::Subagent => prompt::told(&record()?).map(Heard::Echo),
    };
    Some(heard.unwrap_or(Heard::Nothing))
}
