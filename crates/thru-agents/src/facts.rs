//! Facts about a session that its records state apart from passages, as far as they are the same for all
//! agents.

use thru_core::{ReadBatch, SessionFacts, Timestamp};

use crate::batch::note;
use crate::blank::{BLANK, spoken};
use crate::json::Text;
use crate::text::head;

/// Bytes kept of a title, a path, a branch and similar values.
const VALUE_LIMIT: usize = 4096;

/// Bytes kept of the first prompt, which can serve as a title.
const FIRST_PROMPT_LIMIT: usize = 240;

/// Parses the record's timestamp, and notes one that is invalid.
pub(crate) fn timestamp(text: &Text<'_>, line: u64, batch: &mut ReadBatch) -> Option<Timestamp> {
    let text = text.as_deref().filter(|&text| text != BLANK && !text.is_empty())?;
    let timestamp = text.parse().ok();
    if timestamp.is_none() {
        note(batch, "bad-timestamp", line);
    }
    timestamp
}

/// Extends the session's time span to include `at`.
pub(crate) fn note_time(at: Timestamp, facts: &mut SessionFacts) {
    facts.first = Some(facts.first.map_or(at, |first| first.min(at)));
    facts.last = facts.last.max(Some(at));
}

/// Keeps the beginning of the first prompt that is neither a slash command nor a shell command.
pub fn note_prompt(text: &str, facts: &mut SessionFacts) {
    if facts.first_prompt.is_none() && !text.starts_with('/') && !text.starts_with("! ") {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let line = lines.clone().find(|line| !is_marker(line)).or_else(|| lines.next());
        facts.first_prompt = line.map(|line| head(line, FIRST_PROMPT_LIMIT).to_owned());
    }
}

/// True for a line that only marks what follows, as templates have it: `[[ ## query ## ]]`, `<task>`, `---`, `@[User]:`.
fn is_marker(line: &str) -> bool {
    let is_within = |(open, close): (char, char)| {
        let inside = line.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        inside.is_some_and(|inside| {
            !inside.trim_start_matches(open).trim_end_matches(close).contains([open, close])
        })
    };
    [('[', ']'), ('{', '}'), ('<', '>')].into_iter().any(is_within)
        || line.starts_with("```")
        || line.ends_with(':') && !line.contains(char::is_whitespace)
        || !line.contains(char::is_alphanumeric)
}

/// Replaces the kept value by the latest one, if there is one.
pub(crate) fn keep_last(kept: &mut Option<String>, seen: Option<&str>) {
    if let Some(seen) = seen
        && kept.as_deref() != Some(seen)
    {
        *kept = Some(seen.to_owned());
    }
}

/// Keeps the directory in which the session began with the branch that was checked out there, and the last branch.
pub(crate) fn note_place(directory: Option<&str>, branch: Option<&str>, facts: &mut SessionFacts) {
    if facts.directory.is_none() && directory.is_some() {
        facts.directory = directory.map(str::to_owned);
        facts.first_branch = branch.map(str::to_owned);
    }
    keep_last(&mut facts.branch, branch);
}

/// Returns a short value, unless it is absent, empty or blanked.
pub(crate) fn short<'t>(text: &'t Text<'_>) -> Option<&'t str> {
    spoken(text.as_deref()).map(|text| head(text, VALUE_LIMIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_not_named_by_a_marker() {
        for (prompt, named) in [
            ("[[ ## question ## ]]\nWhy is the pump slow?", "Why is the pump slow?"),
            ("<task>\n\n  Mend the valve\n</task>", "Mend the valve"),
            ("---\n```rust\nfn main() {}", "fn main() {}"),
            ("@[System]:\nMend the pump.\n@[User]:\nnow", "Mend the pump."),
            ("<b>Mend</b> the <i>valve</i>", "<b>Mend</b> the <i>valve</i>"),
            ("[pump] mend it [now]", "[pump] mend it [now]"),
            ("[Image #1]", "[Image #1]"),
        ] {
            let mut facts = SessionFacts::default();
            note_prompt(prompt, &mut facts);
            assert_eq!(facts.first_prompt.as_deref(), Some(named), "{prompt}");
        }
    }
}
