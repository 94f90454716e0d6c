//! The content of a tool call (text, files, command line), and what its result adds to it.

use std::borrow::Cow;

use serde_json::value::RawValue;
use thru_core::{Access, FileTouch, Id, content_hash};

use super::prompt;
use super::record::Block;
use crate::text::{self, CALL_LIMIT, RESULT_LIMIT};
use crate::{json, render};

/// Bytes kept of a tool's name and of a path.
const NAME_LIMIT: usize = 256;
const PATH_LIMIT: usize = 4096;

/// A tool call, as far as it is known at the time it is made.
pub(super) struct ToolCall {
    pub(super) name: Option<String>,
    pub(super) text: String,
    pub(super) command: Option<String>,
    pub(super) files: Vec<FileTouch>,
    /// The hash of the complete file content that the call writes, if it writes one.
    pub(super) written: Option<Id>,
    /// True if the call asks a person. The answer is then looked up in the structured result as well.
    pub(super) asks: bool,
}

/// Reads the call in a `tool_use` block; `None` if it was made in a private turn.
pub(super) fn call(block: &Block<'_>) -> Option<ToolCall> {
    let name = block.name.as_deref().map(|name| text::head(name, NAME_LIMIT)).unwrap_or_default();
    let input = block.input.map(render::flat).unwrap_or_default();
    if input.blanked {
        return None;
    }
    let mut text = name.to_owned();
    if !text.is_empty() && !input.text.is_empty() {
        text.push('\n');
    }
    text.push_str(&input.text);

    let members = block.input.map(|input| json::members(input.get())).unwrap_or_default();
    let member = |name| string_member(&members, name);
    let command = match name {
        "Bash" | "PowerShell" => member("command").map(|command| text::cap(command, CALL_LIMIT)),
        _ => None,
    };
    let access = match name {
        "Read" | "NotebookRead" => Some(Access::Read),
        // The last is what editors report.
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" | "FileSave" => Some(Access::Modified),
        // These look below a path, or run what names one.
        "Grep" | "Glob" | "LS" | "Bash" | "PowerShell" => None,
        name if name.starts_with("mcp__") => None,
        _ => Some(Access::Read),
    };
    let written = match name {
        // Redacted content differs from the content of the file.
        "Write" => member("content")
            .filter(|content| !content.contains("[redacted:"))
            .map(|content| content_hash(content.as_bytes())),
        _ => None,
    };
    let file = ["file_path", "notebook_path", "path"].into_iter().find_map(member);
    let files = access.and_then(|access| touch(file, access));
    Some(ToolCall {
        name: (!name.is_empty()).then(|| name.to_owned()),
        text: text::cap(text, CALL_LIMIT),
        command,
        files: files.into_iter().collect(),
        written,
        asks: matches!(name, "AskUserQuestion" | "ExitPlanMode"),
    })
}

/// The result of a tool call.
pub(super) struct ToolResult {
    pub(super) text: String,
    pub(super) files: Vec<FileTouch>,
}

/// Reads the result in a `tool_result` block. `structured` is the record's `toolUseResult`. It is used
/// only if the block has no text, the call is unknown, or a person answered.
pub(super) fn result(
    block: &Block<'_>,
    structured: Option<&RawValue>,
    call_is_known: bool,
    asks: bool,
) -> ToolResult {
    let content = block.content.map(render::flat).unwrap_or_default();
    let mut text = match content.blanked {
        true => String::new(),
        false => match prompt::without_reminders(&content.text) {
            Cow::Owned(text) => text,
            Cow::Borrowed(_) => content.text,
        },
    };
    let mut files = Vec::new();
    if let Some(structured) = structured
        && !content.blanked
    {
        if text.trim().is_empty() {
            text = spoken_result(structured);
        }
        if asks {
            add_decision(&mut text, structured);
        }
        if !call_is_known {
            files.extend(result_file(structured));
        }
    }
    ToolResult { text: text::cap(text, RESULT_LIMIT), files }
}

/// Returns the readable part of a structured result.
fn spoken_result(structured: &RawValue) -> String {
    const SPOKEN: [&str; 6] = ["stdout", "stderr", "result", "content", "error", "message"];
    if structured.get().starts_with('"') {
        return render::flat(structured).text;
    }
    let members = json::members(structured.get());
    let texts = SPOKEN.iter().filter_map(|name| {
        let (_, value) = members.iter().find(|(key, _)| key == name)?;
        Some(render::flat(value)).filter(|value| !value.blanked).map(|value| value.text)
    });
    texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n")
}

/// Adds the answers that a person gave, or the plan that they approved, if `text` lacks them.
fn add_decision(text: &mut String, structured: &RawValue) {
    let mut decided = Vec::new();
    for (key, value) in json::members(structured.get()) {
        match key.as_ref() {
            "answers" => decided.extend(
                json::members(value.get())
                    .into_iter()
                    .map(|(question, chosen)| (format!("{question}: "), render::flat(chosen))),
            ),
            "plan" => decided.push((String::new(), render::flat(value))),
            _ => {}
        }
    }
    for (label, decision) in decided {
        if decision.blanked || text.contains(decision.text.trim()) {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&label);
        text.push_str(&decision.text);
    }
}

fn result_file(structured: &RawValue) -> Option<FileTouch> {
    let members = json::members(structured.get());
    if let Some(path) = string_member(&members, "filePath") {
        return touch(Some(path), Access::Modified);
    }
    let (_, file) = members.iter().find(|(key, _)| key == "file")?;
    touch(string_member(&json::members(file.get()), "filePath"), Access::Read)
}

fn touch(path: Option<String>, access: Access) -> Option<FileTouch> {
    let path = path.filter(|path| !path.is_empty() && path.len() <= PATH_LIMIT)?;
    Some(FileTouch { path, access })
}

fn string_member(members: &[(Cow<'_, str>, &RawValue)], name: &str) -> Option<String> {
    let (_, value) = members.iter().find(|(key, _)| key == name)?;
    json::string(value.get()).map(Cow::into_owned)
}
