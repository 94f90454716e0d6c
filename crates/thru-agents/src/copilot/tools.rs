//! The content of a tool call (text, files, command line), and of its result.

use std::borrow::Cow;

use serde_json::value::RawValue;
use thru_core::{Access, FileTouch, content_hash};

use super::record::Data;
use crate::passages::{PATH_LIMIT, ToolCall, ToolResult};
use crate::{json, patch, render};

/// Reads the call in a `tool.execution_start` event.
pub(super) fn call(data: &Data<'_>) -> ToolCall {
    let tool = data.tool_name.as_deref().unwrap_or_default();
    let input = data.arguments.map(render::flat).unwrap_or_default();
    let member = |name| data.arguments.and_then(|arguments| text_member(arguments, name));
    let command = match tool {
        "bash" | "powershell" | "local_shell" => member("command"),
        _ => None,
    };
    let access = match tool {
        "view" | "show_file" => Some(Access::Read),
        "edit" | "create" | "str_replace_editor" => Some(Access::Modified),
        _ => None,
    };
    let path = access.and_then(|_| member("path"));
    let path = path.filter(|path| !path.is_empty() && path.len() <= PATH_LIMIT);
    let touched = path.zip(access).map(|(path, access)| FileTouch { path, access });
    let patched = command.as_deref().unwrap_or(&input.text);
    let patched = Some(patched)
        .filter(|text| (tool == "apply_patch" || command.is_some()) && patch::is_in(text));
    let mut files: Vec<FileTouch> = touched.into_iter().collect();
    files.extend(patched.map(patch::files).unwrap_or_default());
    let written = match tool {
        // Redacted content differs from the content of the file.
        "create" => member("file_text")
            .filter(|content| !content.contains("[redacted:") && !content.contains("[private]"))
            .map(|content| content_hash(content.as_bytes())),
        _ => patched.and_then(patch::written),
    };
    ToolCall {
        id: data.tool_call_id.as_deref().unwrap_or_default().to_owned(),
        tool: tool.to_owned(),
        written,
        files,
        command,
        blanked: input.blanked,
        input: input.text,
        outcome: None,
    }
}

/// Reads the result in a `tool.execution_complete` event.
pub(super) fn result(data: &Data<'_>) -> ToolResult {
    let said = data.result.or(data.error).map(|result| {
        let members = json::members(result.get());
        let part = ["content", "message"]
            .into_iter()
            .find_map(|name| members.iter().find(|(key, _)| key == name));
        render::flat(part.map_or(result, |(_, value)| value))
    });
    ToolResult {
        text: said.filter(|said| !said.blanked).map(|said| said.text).unwrap_or_default(),
        failed: data.success.map(|success| success.get() == "false"),
        files: Vec::new(),
    }
}

fn text_member(object: &RawValue, name: &str) -> Option<String> {
    let members = json::members(object.get());
    let (_, value) = members.iter().find(|(key, _)| key == name)?;
    json::string(value.get()).map(Cow::into_owned)
}
