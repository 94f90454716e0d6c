//! Extracts what a human really typed: removes what the client wrapped around it, and tells prompts from
//! generated messages, which have the role of the user too.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::record::{Block, Record};
use crate::blank::is_blank;
use crate::{json, render};

/// Beginnings of generated texts.
const MACHINE: [&str; 13] = [
    "<local-command-stdout>",
    "<local-command-caveat>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<system-reminder>",
    "<ide_opened_file>",
    "<ide_selection>",
    "<teammate-message",
    "[Request interrupted",
    "Caveat: The messages below",
    CONTINUED,
    "Base directory for this skill:",
];

/// The beginning of the summary of a compacted conversation. Old versions do not flag the record.
const CONTINUED: &str = "This session is being continued from a previous conversation";

/// Returns the text that a person typed, if this record of a main transcript is a prompt.
pub(super) fn typed(record: &Record<'_>) -> Option<String> {
    if record.is_sidechain || record.is_meta {
        return None;
    }
    match record.kind.as_deref()? {
        "user" if !record.is_compact_summary && is_human(record.origin) => {
            typed_blocks(&record.message.as_ref()?.content)
        }
        "attachment" => {
            let attachment = record.attachment.as_ref()?;
            let queued = attachment.kind.as_deref() == Some("queued_command");
            if !queued || attachment.is_meta || !is_human(attachment.origin) {
                return None;
            }
            Some(strip(&render::flat(attachment.prompt?).text)).filter(|text| !text.is_empty())
        }
        _ => None,
    }
}

/// Returns the text that replaces a compacted context, if this record holds one.
pub(super) fn continued(record: &Record<'_>) -> Option<String> {
    if record.kind.as_deref() != Some("user") {
        return None;
    }
    let blocks = &record.message.as_ref()?.content;
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.text.as_deref()).collect();
    let text = texts.join("\n");
    let is_summary = record.is_compact_summary || text.trim_start().starts_with(CONTINUED);
    Some(text).filter(|text| is_summary && !is_blank(text))
}

/// Returns the instruction to a subagent, if this record of its own transcript holds one.
pub(super) fn told(record: &Record<'_>) -> Option<String> {
    if record.kind.as_deref() != Some("user") || record.is_meta {
        return None;
    }
    typed_blocks(&record.message.as_ref()?.content)
}

/// Returns the texts among `blocks` without generated parts; `None` if nothing is left.
pub(super) fn typed_blocks(blocks: &[Block<'_>]) -> Option<String> {
    let texts: Vec<String> = blocks
        .iter()
        .filter(|block| block.kind.as_deref() == Some("text"))
        .filter_map(|block| block.text.as_deref())
        .map(strip)
        .filter(|text| !text.is_empty())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// True if a record's `origin` is a person, or is not given.
fn is_human(origin: Option<&RawValue>) -> bool {
    match origin.map(RawValue::get) {
        None | Some("null" | "false" | "0" | "\"\"" | "[]") => true,
        Some(object) if object.starts_with('{') => json::members(object)
            .iter()
            .find(|(key, _)| key == "kind")
            .is_none_or(|(_, kind)| json::string(kind.get()).as_deref() == Some("human")),
        Some(_) => false,
    }
}

/// Returns a text without reminders, with commands as they were typed; empty if it was generated.
pub(super) fn strip(text: &str) -> String {
    let text = without_reminders(text);
    let text = text.trim();
    if text.starts_with("<command-") {
        let part = |tag| between(text, tag).unwrap_or_default();
        let typed = format!("{} {}", part("command-name"), part("command-args"));
        return typed.trim().to_owned();
    }
    if text.starts_with("<bash-input>") {
        return format!("! {}", text.replace("<bash-input>", "").replace("</bash-input>", ""));
    }
    if MACHINE.iter().any(|start| text.starts_with(start)) {
        return String::new();
    }
    text.to_owned()
}

/// Returns `text` without `<system-reminder>` blocks. An unclosed one is kept, as its end is unknown.
pub(super) fn without_reminders(text: &str) -> Cow<'_, str> {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    let mut kept = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(OPEN) {
        let Some(length) = rest[start..].find(CLOSE) else {
            break;
        };
        kept.push_str(&rest[..start]);
        rest = &rest[start + length + CLOSE.len()..];
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

fn between<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, after) = text.split_once(&format!("<{tag}>"))?;
    Some(after.split_once(&format!("</{tag}>"))?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_puts_around_a_prompt_goes() {
        for (written, typed) in [
            ("plain", "plain"),
            (
                "<system-reminder>x</system-reminder>\n hello <system-reminder>\ny</system-reminder>",
                "hello",
            ),
            ("hello <system-reminder> unclosed", "hello <system-reminder> unclosed"),
            (
                "<command-message>m</command-message>\n<command-name>/review</command-name>\n<command-args>the parser</command-args>",
                "/review the parser",
            ),
            ("<command-name>/clear</command-name>", "/clear"),
            ("<command-name>/cut", ""),
            ("<bash-input>ls -l</bash-input>", "! ls -l"),
            ("<bash-stdout>files</bash-stdout><bash-stderr></bash-stderr>", ""),
            ("<local-command-stdout></local-command-stdout>", ""),
            ("[Request interrupted by user for tool use]", ""),
            ("This session is being continued from a previous conversation that ran out", ""),
            ("  \n ", ""),
        ] {
            assert_eq!(strip(written), typed, "{written}");
        }
    }

    #[test]
    fn a_prompt_of_another_origin_is_not_human() {
        for (origin, human) in [
            ("null", true),
            ("{}", true),
            (r#"{"kind":"human"}"#, true),
            (r#"{"kind":"task-notification"}"#, false),
            (r#"{"kind":7}"#, false),
            (r#""peer""#, false),
        ] {
            let origin = RawValue::from_string(origin.to_owned()).unwrap();
            assert_eq!(is_human(Some(&origin)), human, "{origin}");
        }
    }
}
